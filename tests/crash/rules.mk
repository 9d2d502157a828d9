# The fault injector of tests/crash; included by the Makefile.
$(BUILD)/crash/fault.so: tests/crash/fault.c | $(BUILD)/crash/lazy.so
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,now -o $@ $< -ldl
$(BUILD)/crash/lazy.so: tests/crash/lazy.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,lazy -o $@ $< -ldl

# A worker whose journals have a higher minor version: test_crash_versions.py.
$(BUILD)/newer/journal.o: muxd/journal/journal.c | writable
	@mkdir -p $(@D)
	$(if $(Q),@echo "CC $@")
	$(Q)$(CC) $(CPPFLAGS) -DJOURNAL_MINOR=1 $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/newer/muxd: $(BUILD)/newer/journal.o $(filter-out %/journal/journal.o,$(call obj,$(DAEMON_SRC))) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
crash-bins: $(BUILD)/crash/fault.so $(BUILD)/newer/muxd
-include $(BUILD)/newer/journal.d
