#!/bin/sh
# deps.sh build|test…: installs the Debian packages that are missing; a second run finds nothing to do and costs nothing. An ordinary user is
# told what will be installed before sudo asks; without sudo the last line is the command for an administrator, and nothing is changed.
set -eu
build="gcc make python3 libc6-dev pkg-config libcjson-dev libinih-dev libpcre2-dev libseccomp-dev"
test="libcmocka-dev libvterm-dev python3-pytest python3-pytest-xdist python3-pexpect procps util-linux mount"
# What tests and checks make use of where the release has it; without it they skip and say so.
extra="clang libclang-rt-dev shellcheck cppcheck clang-tidy valgrind zsh fish dash lua sqlite3 gdb bc dc tcl perl ipython3 ruby nodejs vim
    less htop openssh-server openssh-client tmux dtach screen bash-completion socat man-db busybox sudo mmdebstrap bubblewrap musl-tools
    openssl redis-tools inetutils-telnet dialog fzf"

have_build() { # without dpkg too: a library that somebody built by hand is as good
    for tool in "${CC:-cc}" make pkg-config python3; do command -v "$tool" >/dev/null 2>&1 || return 1; done
    pkg-config --exists libcjson inih libpcre2-8 libseccomp 2>/dev/null
}
is_installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }
missing_of() { # a name that dpkg does not know at all counts as missing too
    for package in "$@"; do
        case $package in
        lua) command -v lua >/dev/null 2>&1 || printf ' lua' ;;
        *) is_installed "$package" || printf ' %s' "$package" ;;
        esac
    done
}
has_lists() { [ -n "$(apt-cache pkgnames libc6-dev 2>/dev/null)" ]; }
# The name that this release has for a package; nothing where it has none. Lua's packages bear the series in their names: the newest one.
name_of() {
    case $1 in
    lua) apt-cache pkgnames lua5 | grep -xE 'lua[0-9.]+' | sort -V | tail -n 1 ;;
    *) apt-cache pkgnames "$1" | grep -xF -- "$1" || true ;;
    esac
}

needed='' wanted=''
for set in "$@"; do
    case $set in
    build) have_build || needed="$needed $build" ;;
    test) needed="$needed $test" wanted="$wanted $extra" ;;
    *) echo "deps: unknown set '$set'; use build or test" >&2; exit 64 ;;
    esac
done
if ! command -v apt-get >/dev/null 2>&1; then
    [ -n "$needed" ] || exit 0
    case " $* " in *" test "*) [ -n "${needed#" $test"}" ] || exit 0 ;; esac
    echo "deps: this is no Debian; install with your own package manager what these packages hold:$needed" >&2
    exit 1
fi
# shellcheck disable=SC2086 # lists of package names
needed=$(missing_of $needed) wanted=$(missing_of $wanted)
[ -n "$needed$wanted" ] || exit 0

as_root='' update=''
[ "$(id -u)" = 0 ] || as_root=sudo
has_lists || update='apt-get update -q && ' # a fresh machine
install='apt-get install -y -q --no-install-recommends'
get() { # apt-get, as root
    # shellcheck disable=SC2086 # nothing, or sudo
    $as_root env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
tell_administrator() { # and go on, where only what tests would like to have is missing
    echo "deps: packages are missing; an administrator can install them by: $update$install$needed$wanted" >&2
    [ -z "$needed" ] || exit 1
    echo "deps: tests and checks that use them skip and say so" >&2
    exit 0
}
if [ -n "$as_root" ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        wanted=$(echo "$wanted" | sed 's/ lua\b//') # which one it is can't be told before apt has its lists
        tell_administrator
    fi
    echo "deps: sudo is about to install:$needed$wanted"
fi
[ -z "$update" ] || get apt-get update -q || tell_administrator
found='' left_out=''
for package in $wanted; do
    name=$(name_of "$package")
    if [ -n "$name" ]; then found="$found $name"; else left_out="$left_out $package"; fi
done
wanted=$found
[ -z "$left_out" ] || echo "deps: this release has no:$left_out; tests and checks that use them skip and say so"
[ -n "$needed$wanted" ] || exit 0
[ -n "$as_root" ] || echo "deps: installs:$needed$wanted"
status=0
# shellcheck disable=SC2086
get $install $needed $wanted || status=$?
if [ "$status" = 100 ] && [ -z "$update" ]; then # apt-get's own failure: the lists may be old
    # shellcheck disable=SC2086
    get apt-get update -q && get $install $needed $wanted && status=0
fi
[ "$status" = 0 ] || tell_administrator
