# muxd: make, make run, make test, make check, make bench, make fresh, make fuzz, make zoo, make mutants, make gen, make install, make uninstall
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
PYTHON ?= /usr/bin/python3
BUILD ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0
PKGS := libcjson inih libpcre2-8
PKG_CONFIG ?= pkg-config

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wwrite-strings
HARDEN ?= -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fPIE
OPT ?= -O2 -g
CPPFLAGS += -Imuxd -I. -D_GNU_SOURCE -DMUXD_VERSION='"$(VERSION)"'
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(WERROR) $(SANITIZE) $(HARDEN)
LDFLAGS += -pie -Wl,-z,relro,-z,now $(SANITIZE)
# Less memory for each of the processes: what a program doesn't use is left out of it, and its relocations are packed where libc can
# read that (glibc from 2.36 on).
ifeq ($(SANITIZE),)
PACKED := $(shell printf '\043include <features.h>\n__GLIBC__ __GLIBC_MINOR__\n' | $(CC) -E -P - 2>/dev/null | \
	awk '$$1 == 2 && $$2 >= 36 { print "-Wl,-z,pack-relative-relocs" }')
CFLAGS += -ffunction-sections -fdata-sections
LDFLAGS += -Wl,--gc-sections $(PACKED)
endif

SHARED_ROOMS := base wire
PART_ROOMS := $(patsubst muxd/%/,%,$(wildcard muxd/parts/*/))
DAEMON_ROOMS := $(SHARED_ROOMS) config sys keep journal term patch session $(PART_ROOMS) peer cmd server
SHARED_SRC := $(foreach r,$(SHARED_ROOMS),$(wildcard muxd/$(r)/*.c))
DAEMON_SRC := $(foreach r,$(DAEMON_ROOMS),$(wildcard muxd/$(r)/*.c)) muxd/main.c
CLIENT_ROOMS := print terminal rpc attach follow mcp verbs
UE_SRC := $(foreach r,$(CLIENT_ROOMS),$(wildcard client/$(r)/*.c))
CLIENT_SRC := $(SHARED_SRC) $(UE_SRC) client/main.c
# The keeper must never fail: it is libc, its own room, what it shares with the worker, and these of base. All else is a link error.
KEEPER_SRC := $(wildcard muxd/keep/keeper/*.c) $(addprefix muxd/keep/,keep.c own_args.c sentinel.c) \
	$(addprefix muxd/base/,bug.c clock.c fdio.c)
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJ := $(filter-out %/main.o,$(call obj,$(sort $(DAEMON_SRC) $(KEEPER_SRC))))
UE_LIB_OBJ := $(call obj,$(UE_SRC))
# A sanitized daemon has no terminal to report to: this writes its reports into the runtime directory, where the tests look.
SANITIZE_OBJ := $(if $(SANITIZE),$(BUILD)/obj/tests/lib/sanitizer_reports.o)

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))

.PHONY: all writable deps test-deps run test test-root unit-bins crash-bins units e2e check check-compilers check-tests san-bins check-sanitizers check-valgrind \
	check-laws check-lint bench fresh fuzz fuzz-bins zoo mutants gen installable install uninstall clean
.DEFAULT_GOAL := all
all: $(BUILD)/muxd $(BUILD)/muxd-keeper $(BUILD)/ue

# Told before anything is installed or built.
writable:
	@place="$(BUILD)"; while [ ! -e "$$place" ]; do place=$$(dirname "$$place"); done; [ -w "$$place" ] || { \
		echo "make: '$$place' can't be written by $$(id -un); clone into a directory of yours, or name another: make BUILD=DIRECTORY" >&2; exit 1; }

DAEMON_LIBS = $(shell $(PKG_CONFIG) --libs $(PKGS))
CLIENT_LIBS = $(shell $(PKG_CONFIG) --libs libcjson)

# What runs is shown in short; V=1 shows the commands.
Q := $(if $(V),,@)
$(BUILD)/muxd: $(call obj,$(DAEMON_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
$(BUILD)/muxd-keeper: $(call obj,$(KEEPER_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -Wl,-Map=$@.map -o $@ $^
$(BUILD)/ue: $(call obj,$(CLIENT_SRC)) $(SANITIZE_OBJ)
	$(if $(Q),@echo "LINK $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CLIENT_LIBS)
$(BUILD)/obj/%.o: %.c | writable
	@mkdir -p $(@D)
	$(if $(Q),@echo "CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# A unit test links the rooms as archives, so that it pulls in just what it needs, and what keeps its forked children in check, and what
# several tests have in common.
UNIT_OBJ := $(BUILD)/obj/tests/lib/unit_child.o $(BUILD)/obj/tests/lib/unit_config.o
.SECONDARY: $(UNIT_OBJ)
$(BUILD)/libmuxd.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/libue.a: $(UE_LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/unit/%: tests/unit/%.c $(UNIT_OBJ) $(BUILD)/libmuxd.a $(BUILD)/libue.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "UNIT $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(UNIT_OBJ) $(BUILD)/libue.a $(BUILD)/libmuxd.a $(shell $(PKG_CONFIG) --libs cmocka) $(DAEMON_LIBS) $(ORACLE_LIBS)
# libvterm is what the screen is compared with, and in none of the programs.
$(BUILD)/unit/test_term_oracle: ORACLE_LIBS = $(shell $(PKG_CONFIG) --libs vterm)

# Everything below installs nothing that is there already, and starts only what it ends.
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

# What differs for root, as root; all else is tested as an ordinary user.
test-root: writable
	@[ "$$(id -u)" = 0 ] || { echo "make: test-root is for root"; exit 1; }
	@$(MAKE) --no-print-directory -j2 all unit-bins crash-bins
	@PYTHON=$(PYTHON) tests/run-tests.sh $(BUILD) root

# What the continuous integration runs (.ci/run goes through the same list and times each step).
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
# clang's build is the sanitizers'.
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
	tests/drift.sh $(BUILD)
check-lint:
	tests/lint.sh -std=gnu11 $(CPPFLAGS)

FUZZ_BUILD := $(BUILD)/fuzz-build
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60
fuzz-bins: $(foreach n,$(FUZZ_NAMES),$(BUILD)/fuzz/$(n))
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(BUILD)/libmuxd.a $(BUILD)/libue.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "FUZZ $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libue.a $(BUILD)/libmuxd.a $(DAEMON_LIBS)
fuzz:
	@$(MAKE) --no-print-directory -j2 BUILD=$(FUZZ_BUILD) CC=$(CLANG) OPT='-O1 -g' HARDEN=-fPIE \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' fuzz-bins
	tests/run-fuzz.sh $(FUZZ_BUILD) $(FUZZ_SECONDS) $(FUZZ_NAMES)

# Readiness against a zoo of programs; the full figures: make zoo ZOO_FAST=1000 ZOO_SLOW=50
ZOO_FAST ?= 30
ZOO_SLOW ?= 3
ZOO_BUSY ?= 2
zoo: all
	MUXD_BUILD=$(abspath $(BUILD)) $(PYTHON) tests/zoo/zoo.py --fast $(ZOO_FAST) --slow $(ZOO_SLOW) --busy $(ZOO_BUSY)
# One line is broken, in a copy, and the test that is named for it has to notice (tests/mutants/table). All of them, MUTANTS=10: ten of the
# day's, MUTANTS=waiter.c: those in whose name that pattern is found.
MUTANTS ?= all
mutants: all unit-bins $(BUILD)/crash/fault.so
	@PYTHON=$(PYTHON) $(PYTHON) tests/mutants/mutants.py $(BUILD) '$(MUTANTS)'
# The two commands of the README on bare Debian machines; FRESH=full: every user, for an hour; FRESH=zoo: readiness.
FRESH ?= sample
fresh:
	@tests/fresh.sh $(BUILD) $(FRESH) $(RELEASE)
# All of it takes many minutes; a part: make bench BENCH="--quick --only exec repl"
bench: all
	MUXD_BUILD=$(abspath $(BUILD)) tests/bench/run.sh $(BENCH)
include tests/bench/rules.mk
include tests/crash/rules.mk
gen: all
	tests/gen.sh $(BUILD) .

# Not every shell expands the tilde of PREFIX=~/.local.
ifneq ($(filter ~/%,$(PREFIX)),)
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
endif
BINDIR = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/muxd
SHARE = $(PREFIX)/share
# Where systemd looks for a user's units: in a home it is another place than in the system (systemd.unit(5)).
UNITDIR = $(if $(filter %/.local %/.local/,$(PREFIX)),$(SHARE),$(PREFIX)/lib)/systemd/user
UNITS := $(wildcard conf/*.service conf/*.socket)
# All that is installed: $(1) is what to do with it. Of each the directory, the mode, the files.
define places
$(call $(1),$(LIBEXECDIR),755,$(BUILD)/muxd-keeper)
$(call $(1),$(BINDIR),755,$(BUILD)/muxd $(BUILD)/ue)
$(call $(1),$(SHARE)/man/man1,644,$(wildcard client/*.1))
$(call $(1),$(SHARE)/man/man5,644,$(wildcard conf/*.5))
$(call $(1),$(SHARE)/man/man8,644,$(wildcard conf/*.8))
$(call $(1),$(SHARE)/zsh/site-functions,644,completions/_ue)
$(call $(1),$(SHARE)/fish/vendor_completions.d,644,completions/ue.fish)
$(call $(1),$(SHARE)/muxd,644,$(wildcard conf/*.ini))
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
	install -d "$(DESTDIR)$(UNITDIR)" && for unit in $(UNITS); do \
		sed 's|@BINDIR@|$(BINDIR)|g' "$$unit" > "$(DESTDIR)$(UNITDIR)/$${unit##*/}" || exit 1; done
	@case "$(DESTDIR):$$PATH:" in *":$(BINDIR):"* | [!:]*) ;; \
		*) echo "'$(BINDIR)' is not in your PATH; in this shell: PATH=$(BINDIR):\$$PATH" ;; esac
# Nothing but what was put there; directories that others use as well stay.
uninstall:
	$(call places,take)
	$(call take,$(BINDIR),,apply_patch)
	$(call take,$(SHARE)/bash-completion/completions,,ue)
	$(call take,$(UNITDIR),,$(UNITS))
	for dir in "$(DESTDIR)$(SHARE)/muxd" "$(DESTDIR)$(LIBEXECDIR)"; do \
		if [ -d "$$dir" ]; then rmdir --ignore-fail-on-non-empty "$$dir"; fi; done

-include $(wildcard $(patsubst %.o,%.d,$(call obj,$(sort $(DAEMON_SRC) $(KEEPER_SRC) $(CLIENT_SRC)))) $(addsuffix .d,$(UNIT_BIN)))
clean:
	rm -rf $(BUILD)
