# The small programs of make bench; included by the Makefile.
BENCH_TURNS_SRC := tests/bench/turns.c $(sort $(wildcard tests/bench/turn_*.c))
bench: $(BUILD)/bench/bench-turns $(BUILD)/bench/bench-source
$(BUILD)/bench/bench-turns: $(call obj,$(BENCH_TURNS_SRC)) $(BUILD)/lib/libue.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "BENCH $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CLIENT_LIBS)
$(BUILD)/bench/bench-source: tests/bench/source.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "BENCH $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $<
