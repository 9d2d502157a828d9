# The fault injector of tests/crash; included by the Makefile.
$(BUILD)/crash/fault.so: tests/crash/fault.c | $(BUILD)/crash/lazy.so
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,now -o $@ $< -ldl
$(BUILD)/crash/lazy.so: tests/crash/lazy.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,lazy -o $@ $< -ldl
