# libue, shared and static; included by the Makefile. It has the rooms that it shares with ue compiled into it, and shows nothing but ue_*.
LIBUE_SRC := $(wildcard client/lib/c/*.c) \
	$(addprefix client/rpc/,call_again.c connect.c context.c input_chars.c launch.c own_terminal.c release.c) \
	$(addprefix muxd/base/,beside.c beside_own.c buf.c bug.c clock.c clock_more.c err.c fdio.c limit.c limit_kind.c mem.c path.c strv.c utf8.c value.c value_escape.c) \
	$(addprefix muxd/wire/,base64.c frame.c json.c json_parse.c json_print.c json_util.c msg.c msg_answer.c msg_id.c schema.c schema_words.c tool.c)
LIBUE_OBJ := $(patsubst %.c,$(BUILD)/pic/%.o,$(LIBUE_SRC))
LIBUE := $(addprefix $(BUILD)/lib/,libue.a libue.so.0 libue.so libue.pc)
LIBUE_CFLAGS = $(filter-out -fPIE,$(CFLAGS)) -fPIC -fvisibility=hidden
all: $(LIBUE)
$(BUILD)/pic/%.o: %.c | writable
	@mkdir -p $(@D)
	$(if $(Q),@echo "PIC $<")
	$(Q)$(CC) $(CPPFLAGS) $(LIBUE_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/lib/libue.so.0: $(LIBUE_OBJ) client/lib/c/libue.map
	@mkdir -p $(@D)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,libue.so.0 -Wl,--version-script=client/lib/c/libue.map \
		$(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(LIBUE_OBJ) $(CLIENT_LIBS)
$(BUILD)/lib/libue.so: $(BUILD)/lib/libue.so.0
	$(Q)ln -sf libue.so.0 $@
# One object, in which what is hidden is local: no name of ours meets one of the program's.
$(BUILD)/lib/libue.a: $(LIBUE_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(LD) -r -o $(BUILD)/lib/libue.o $(LIBUE_OBJ)
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/lib/libue.o
	$(Q)$(AR) rcs $@ $(BUILD)/lib/libue.o
OBJCOPY ?= objcopy
# @PREFIX@ is filled in by make install.
$(BUILD)/lib/libue.pc: client/lib/c/libue.pc.in Makefile
	@mkdir -p $(@D)
	$(Q)sed 's|@VERSION@|$(VERSION)|' $< > $@
-include $(wildcard $(LIBUE_OBJ:.o=.d))
