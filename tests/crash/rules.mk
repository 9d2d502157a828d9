# The fault injector of tests/crash; included by the Makefile.
$(BUILD)/crash/fault.so: tests/crash/fault.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -o $@ $< -ldl
