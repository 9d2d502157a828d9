# The fault injector of tests/crash; included by the Makefile.
$(BUILD)/crash/fault.so: tests/crash/fault.c | $(BUILD)/crash/lazy.so
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,now -o $@ $< -ldl
$(BUILD)/crash/lazy.so: tests/crash/lazy.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,lazy -o $@ $< -ldl
$(BUILD)/crash/slow.so: tests/crash/slow.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "FAULT $@")
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) $(WERROR) -fPIC -shared -Wl,-z,now -o $@ $< -ldl

# A worker whose journals have a higher minor version: test_crash_versions.py.
$(BUILD)/newer/journal.o: muxd/journal/journal.c | writable
	@mkdir -p $(@D)
	$(if $(Q),@echo "CC $@")
	$(Q)$(CC) $(CPPFLAGS) -DJOURNAL_MINOR=5 $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/newer/muxd: $(BUILD)/newer/journal.o $(filter-out %/journal/journal.o,$(call obj,$(DAEMON_SRC))) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)

# An older release, from the history, for test_crash_compat.py. It takes a minute, so it is made when it is asked for: make older.
OLDER := 9b024b455a922105eaef7549460d0547f41656dc
$(BUILD)/older/build/muxd: | writable
	$(if $(Q),@echo "OLDER $@")
	$(Q)rm -rf $(BUILD)/older && mkdir -p $(BUILD)/older && git archive $(OLDER) | tar -xf - -C $(BUILD)/older
	$(Q)$(MAKE) --no-print-directory -C $(BUILD)/older BUILD=build OPT=-O0 HARDEN= WERROR=-w build/muxd build/muxd-keeper >/dev/null
older: $(BUILD)/older/build/muxd
.PHONY: older
crash-bins: $(BUILD)/crash/fault.so $(BUILD)/crash/slow.so $(BUILD)/newer/muxd
-include $(BUILD)/newer/journal.d
