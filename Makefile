# muxd: make, make run, make test, make check, make bench, make fresh, make fuzz, make zoo, make mutants, make gen, make install, make uninstall
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
PYTHON ?= /usr/bin/python3
BUILD ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0
PKGS := libcjson inih libpcre2-8 libseccomp
PKG_CONFIG ?= pkg-config

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wwrite-strings
HARDEN ?= -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fPIE
OPT ?= -O2 -g
CPPFLAGS += -Imuxd -I. -D_GNU_SOURCE -DMUXD_VERSION='"$(VERSION)"'
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(WERROR) $(SANITIZE) $(HARDEN)
LDFLAGS += -pie -Wl,-z,relro,-z,now $(SANITIZE)
# To save memory in each process, unused functions are left out, and relocations are packed where libc can read that (from
# glibc 2.36 on).
ifeq ($(SANITIZE),)
PACKED := $(shell printf '\043include <features.h>\n__GLIBC__ __GLIBC_MINOR__\n' | $(CC) -E -P - 2>/dev/null | \
	awk '$$1 == 2 && $$2 >= 36 { print "-Wl,-z,pack-relative-relocs" }')
CFLAGS += -ffunction-sections -fdata-sections
LDFLAGS += -Wl,--gc-sections $(PACKED)
endif

SHARED_ROOMS := base wire
PART_ROOMS := $(patsubst muxd/%/,%,$(wildcard muxd/parts/*/))
# In this order they lie in the program: rooms that an idle daemon does not enter come last, so that their pages are not mapped.
DAEMON_ROOMS := $(SHARED_ROOMS) config sys keep journal session peer server cmd $(PART_ROOMS) guard confine term patch
SHARED_SRC := $(foreach r,$(SHARED_ROOMS),$(wildcard muxd/$(r)/*.c))
DAEMON_SRC := $(foreach r,$(DAEMON_ROOMS),$(wildcard muxd/$(r)/*.c)) muxd/main.c
CLIENT_ROOMS := print terminal script rpc attach follow mcp play verbs
UE_SRC := $(foreach r,$(CLIENT_ROOMS),$(wildcard client/$(r)/*.c))
CLIENT_SRC := $(SHARED_SRC) $(UE_SRC) client/main.c
# The keeper must never fail: it links libc, its own room, the files that it shares with the worker, and these of base. A symbol of any
# other room is a link error.
KEEPER_SRC := $(wildcard muxd/keep/keeper/*.c) $(addprefix muxd/keep/,keep.c own_args.c sentinel.c trial.c) \
	$(addprefix muxd/base/,beside.c bug.c clock.c fdio.c)
# What runs in front of a confined command: libc only, and static, as it is executed up to twice for each. With musl, where that is installed
# (Debian's musl-tools), it starts in 0.1 ms, with glibc in 0.4. The kernel's headers lie among those of glibc.
CONFINE_SRC := $(wildcard muxd/confine/helper/*.c)
MUSL := $(if $(SANITIZE),,$(if $(filter gcc,$(CC)),$(shell command -v musl-gcc)))
CONFINE_STATIC := $(if $(SANITIZE),-pie,$(if $(MUSL),-static,-static-pie))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJ := $(filter-out %/main.o,$(call obj,$(sort $(DAEMON_SRC) $(KEEPER_SRC))))
CLIENT_LIB_OBJ := $(call obj,$(UE_SRC))
# A sanitized daemon has no terminal for its reports: this writes them into the runtime directory, where the tests look.
SANITIZE_OBJ := $(if $(SANITIZE),$(BUILD)/obj/tests/lib/sanitizer_reports.o)

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))

.PHONY: all writable deps test-deps run test test-root unit-bins crash-bins units e2e check check-compilers check-tests san-bins check-sanitizers check-valgrind \
	check-laws check-lint bench fresh fuzz fuzz-bins zoo mutants gen installable install uninstall clean
.DEFAULT_GOAL := all
all: $(BUILD)/muxd $(BUILD)/muxd-keeper $(BUILD)/muxd-confine $(BUILD)/ue

# Checked before anything is installed or built.
writable:
	@place="$(BUILD)"; while [ ! -e "$$place" ]; do place=$$(dirname "$$place"); done; [ -w "$$place" ] || { \
		echo "make: '$$place' can't be written by $$(id -un); clone into a directory of yours, or name another: make BUILD=DIRECTORY" >&2; exit 1; }

DAEMON_LIBS = $(shell $(PKG_CONFIG) --libs $(PKGS))
CLIENT_LIBS = $(shell $(PKG_CONFIG) --libs libcjson)

# Prints a short line for each command; V=1 shows the commands.
Q := $(if $(V),,@)
$(BUILD)/muxd: $(call obj,$(DAEMON_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
$(BUILD)/muxd-keeper: $(call obj,$(KEEPER_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -Wl,-Map=$@.map -o $@ $^
$(BUILD)/muxd-confine: CC := $(or $(MUSL),$(CC))
$(BUILD)/muxd-confine: CFLAGS += $(if $(MUSL),-idirafter /usr/include -idirafter /usr/include/$(shell gcc -print-multiarch))
$(BUILD)/muxd-confine: $(call obj,$(CONFINE_SRC))
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(filter-out -pie,$(LDFLAGS)) $(CONFINE_STATIC) -o $@ $^
$(BUILD)/ue: $(call obj,$(CLIENT_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CLIENT_LIBS)
$(BUILD)/obj/%.o: %.c | writable
	@mkdir -p $(@D)
	$(if $(Q),@echo "CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# A unit test links the rooms as archives, so that it pulls in only the objects that it needs, and the helpers of tests/lib.
UNIT_OBJ := $(BUILD)/obj/tests/lib/unit_child.o $(BUILD)/obj/tests/lib/unit_config.o
.SECONDARY: $(UNIT_OBJ)
$(BUILD)/libmuxd.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/libclient.a: $(CLIENT_LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/unit/%: tests/unit/%.c $(UNIT_OBJ) $(BUILD)/libmuxd.a $(BUILD)/libclient.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "UNIT $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(UNIT_OBJ) $(BUILD)/libclient.a $(BUILD)/libmuxd.a $(shell $(PKG_CONFIG) --libs cmocka) $(DAEMON_LIBS) $(ORACLE_LIBS)
# The screen is compared with libvterm, which no program links.
$(BUILD)/unit/test_term_oracle: ORACLE_LIBS = $(shell $(PKG_CONFIG) --libs vterm)

# The targets below install only packages that are missing, and end every process that they start.
deps:
	@tests/deps.sh build
test-deps:
	@tests/deps.sh build test
run: writable
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -j2 all
	@tests/demo.sh $(BUILD)

unit-bins: $(UNIT_BIN)
units: unit-bins
	tests/run-tests.sh $(BUILD) units
e2e: all crash-bins
	PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD) e2e
test: writable
	@$(MAKE) --no-print-directory test-deps
	@$(MAKE) --no-print-directory -j2 all unit-bins crash-bins
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD) units e2e

# The tests of what differs for root; all others run as an ordinary user.
test-root: writable
	@[ "$$(id -u)" = 0 ] || { echo "make: test-root is for root"; exit 1; }
	@$(MAKE) --no-print-directory -j2 all unit-bins crash-bins
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD) root

# The steps of the continuous integration (.ci/run goes through the same list and times each step).
check:
	@$(MAKE) --no-print-directory test-deps
	@$(MAKE) --no-print-directory check-compilers
	@$(MAKE) --no-print-directory check-laws
	@$(MAKE) --no-print-directory check-lint
	@$(MAKE) --no-print-directory check-tests
	@$(MAKE) --no-print-directory check-sanitizers
	@$(MAKE) --no-print-directory check-valgrind
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory zoo
	@$(MAKE) --no-print-directory mutants MUTANTS=10
check-compilers:
	$(MAKE) -j2 BUILD=$(BUILD) CC=gcc WERROR=-Werror all unit-bins
	@$(MAKE) --no-print-directory san-bins
check-tests:
	@$(MAKE) --no-print-directory -j2 all unit-bins crash-bins
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD) units e2e
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# The build with clang is the one with sanitizers.
san-bins:
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/san CC=$(CLANG) WERROR=-Werror OPT='-O1 -g' HARDEN=-fPIE SANITIZE='$(SANITIZERS)' all unit-bins crash-bins
check-sanitizers: san-bins
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD)/san units e2e
# The daemon under valgrind is slow, so only the tests marked smoke run against it.
check-valgrind: all
	@tests/valgrind-build.sh $(BUILD) $(BUILD)/valgrind
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD)/valgrind smoke
check-laws: all
	tests/floors.sh
	tests/laws.sh
	tests/keeper.sh $(BUILD)
	$(PYTHON) tests/circles.py $(BUILD)
	tests/drift.sh $(BUILD)
	$(PYTHON) tests/mutants/mutants.py --find
check-lint:
	tests/lint.sh $(BUILD) -std=gnu11 $(CPPFLAGS)

FUZZ_BUILD := $(BUILD)/fuzz-build
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(addprefix $(BUILD)/fuzz/,$(FUZZ_NAMES))
FUZZ_SECONDS ?= 60
# The rooms that read foreign bytes: of all others nothing has to be built.
FUZZ_ROOMS := $(addprefix muxd/,base wire config journal term patch guard) client/print client/terminal client/script
FUZZ_OBJ := $(call obj,$(foreach r,$(FUZZ_ROOMS),$(wildcard $(r)/*.c)))
$(BUILD)/libfuzz.a: $(FUZZ_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
fuzz-bins: $(FUZZ_BIN)
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(BUILD)/libfuzz.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "FUZZ $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libfuzz.a $(DAEMON_LIBS)
fuzz:
	@$(MAKE) --no-print-directory -j2 BUILD=$(FUZZ_BUILD) CC=$(CLANG) OPT='-O1 -g' HARDEN=-fPIE \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' fuzz-bins
	tests/run-fuzz.sh $(FUZZ_BUILD) $(FUZZ_SECONDS) $(FUZZ_NAMES)

# Readiness against a zoo of programs; the full figures: make zoo ZOO_FAST=1000 ZOO_SLOW=50, with ZOO_FIGURES=tests/zoo/figures.json (and
# make gen) also for muxd(7). Programs that are not installed are told, and left out.
ZOO_FAST ?= 30
ZOO_SLOW ?= 3
ZOO_BUSY ?= 2
zoo: all
	MUXD_BUILD=$(abspath $(BUILD)) $(PYTHON) tests/zoo/zoo.py --fast $(ZOO_FAST) --slow $(ZOO_SLOW) --busy $(ZOO_BUSY) $(if $(ZOO_FIGURES),--figures $(ZOO_FIGURES))
# Breaks one line in a copy, and the test that the row names must fail (tests/mutants/table). By default all rows; MUTANTS=10: ten that the
# day chooses; MUTANTS=waiter.c: the rows whose name contains that pattern.
MUTANTS ?= all
mutants: all unit-bins $(BUILD)/crash/fault.so $(BUILD)/crash/slow.so
	@PYTHON=$(PYTHON) $(PYTHON) tests/mutants/mutants.py $(BUILD) '$(MUTANTS)'
# The two commands of the README on bare Debian machines. FRESH=full: every user, for an hour; FRESH=zoo: readiness.
FRESH ?= sample
fresh:
	@tests/fresh.sh $(BUILD) $(FRESH) $(RELEASE)
# The whole bench takes many minutes; a part of it: make bench BENCH="--quick --only exec repl"
bench: all
	MUXD_BUILD=$(abspath $(BUILD)) tests/bench/run.sh $(BENCH)
include tests/bench/rules.mk
include tests/crash/rules.mk
include client/lib/c/rules.mk
gen: all
	tests/gen.sh $(BUILD) .

# Some shells don't expand the tilde of PREFIX=~/.local.
ifneq ($(filter ~/%,$(PREFIX)),)
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
endif
BINDIR = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/muxd
SHARE = $(PREFIX)/share
# systemd looks for a user's units in one place of a home, and in another of the system (systemd.unit(5)).
UNITDIR = $(if $(filter %/.local %/.local/,$(PREFIX)),$(SHARE),$(PREFIX)/lib)/systemd/user
UNITS := $(wildcard conf/*.service conf/*.socket)
# As it stands in a unit's quotes, and as sed takes it.
in_unit = $(subst |,\|,$(subst &,\&,$(subst %,%%,$(BINDIR))))
# The same in libue.pc: blanks are escaped (pc(5)).
empty :=
in_pc = $(subst |,\|,$(subst &,\&,$(subst $(empty) $(empty),\\ ,$(PREFIX))))
# Where python looks below PREFIX: in a directory with a version in its name, but for Debian's own.
PYTHONDIR = $(eval PYTHONDIR := $$(or $$(shell $$(PYTHON) -c 'import os, site, sys; \
	print(next((d for d in [site.getusersitepackages(), *site.getsitepackages()] if d.startswith(os.path.abspath(sys.argv[1]) + "/lib/")), ""))' \
	'$$(PREFIX)' 2>/dev/null),$$(PREFIX)/lib/python3/dist-packages))$(PYTHONDIR)
NODEDIR = $(PREFIX)/lib/node_modules/ue
# All that is installed. $(1): what to do with it; its arguments are the directory, the mode and the files.
define places
$(call $(1),$(LIBEXECDIR),755,$(BUILD)/muxd-keeper $(BUILD)/muxd-confine)
$(call $(1),$(BINDIR),755,$(BUILD)/muxd $(BUILD)/ue)
$(call $(1),$(SHARE)/man/man1,644,$(wildcard client/*.1))
$(call $(1),$(SHARE)/man/man5,644,$(wildcard conf/*.5))
$(call $(1),$(SHARE)/man/man7,644,$(wildcard conf/*.7))
$(call $(1),$(SHARE)/man/man8,644,$(wildcard conf/*.8))
$(call $(1),$(SHARE)/zsh/site-functions,644,completions/_ue)
$(call $(1),$(SHARE)/fish/vendor_completions.d,644,completions/ue.fish)
$(call $(1),$(SHARE)/muxd,644,$(wildcard conf/*.ini))
$(call $(1),$(PYTHONDIR),644,client/lib/python/ue.py)
$(call $(1),$(NODEDIR),644,$(addprefix client/lib/node/,ue.mjs ue.d.ts package.json))
$(call $(1),$(PREFIX)/include,644,client/lib/c/ue.h)
$(call $(1),$(PREFIX)/lib,644,$(BUILD)/lib/libue.a $(BUILD)/lib/libue.so.0)
endef
put = install -d "$(DESTDIR)$(1)" && install -m $(2) $(3) "$(DESTDIR)$(1)"
take = rm -f $(foreach file,$(notdir $(3)),"$(DESTDIR)$(1)/$(file)")
installable:
	@place="$(DESTDIR)$(BINDIR)"; while [ ! -e "$$place" ]; do place=$$(dirname "$$place"); done; [ -w "$$place" ] || { \
		echo "make: '$$place' can't be written by $$(id -un); install into your home: make install PREFIX=~/.local" >&2; exit 1; }
install: installable $(if $(NOBUILD),,all) # NOBUILD=1: what is built already, as it is
	$(call places,put)
	ln -sf ue "$(DESTDIR)$(BINDIR)/apply_patch"
	install -D -m 644 completions/ue.bash "$(DESTDIR)$(SHARE)/bash-completion/completions/ue"
	ln -sf libue.so.0 "$(DESTDIR)$(PREFIX)/lib/libue.so"
	install -d "$(DESTDIR)$(PREFIX)/lib/pkgconfig" && sed 's|@PREFIX@|$(in_pc)|' $(BUILD)/lib/libue.pc > "$(DESTDIR)$(PREFIX)/lib/pkgconfig/libue.pc"
	install -d "$(DESTDIR)$(UNITDIR)" && for unit in $(UNITS); do \
		sed 's|@BINDIR@|$(in_unit)|g' "$$unit" > "$(DESTDIR)$(UNITDIR)/$${unit##*/}" || exit 1; done
	@case "$(DESTDIR):$$PATH:" in *":$(BINDIR):"* | [!:]*) ;; \
		*) echo "'$(BINDIR)' is not in your PATH; in this shell: PATH=\"$(BINDIR):\$$PATH\"" ;; esac
# Removes only files that install has put there; directories that hold other files stay.
uninstall:
	$(call places,take)
	$(call take,$(BINDIR),,apply_patch)
	$(call take,$(SHARE)/bash-completion/completions,,ue)
	$(call take,$(PREFIX)/lib,,libue.so)
	$(call take,$(PREFIX)/lib/pkgconfig,,libue.pc)
	$(call take,$(UNITDIR),,$(UNITS))
	rm -f "$(DESTDIR)$(PYTHONDIR)"/__pycache__/ue.*.pyc
	for dir in "$(DESTDIR)$(SHARE)/muxd" "$(DESTDIR)$(LIBEXECDIR)" "$(DESTDIR)$(NODEDIR)"; do \
		if [ -d "$$dir" ]; then rmdir --ignore-fail-on-non-empty "$$dir"; fi; done

# The headers that each object and each program of one source was made from; gcc and clang write them as they compile (-MMD).
OBJECTS := $(call obj,$(sort $(DAEMON_SRC) $(KEEPER_SRC) $(CONFINE_SRC) $(CLIENT_SRC) $(BENCH_TURNS_SRC))) $(UNIT_OBJ) $(SANITIZE_OBJ)
PROGRAMS := $(UNIT_BIN) $(FUZZ_BIN) $(BUILD)/bench/bench-source
-include $(wildcard $(OBJECTS:.o=.d) $(addsuffix .d,$(PROGRAMS)))
clean:
	rm -rf $(BUILD)
