#!/bin/sh
# deps.sh build|test…: installs the Debian packages that are missing. A second run finds nothing to do and costs nothing.
set -eu
build="gcc make python3 libc6-dev pkg-config libuv1-dev libcjson-dev libinih-dev libvterm-dev libpcre2-dev"
test="libcmocka-dev python3 python3-pytest python3-pytest-xdist python3-pexpect clang libclang-rt-14-dev shellcheck cppcheck clang-tidy
    valgrind zsh fish dash lua5.4 sqlite3 gdb bc dc tcl perl ipython3 ruby nodejs vim less htop openssh-server openssh-client tmux dtach screen
    bash-completion socat man-db busybox sudo procps util-linux"

have_build() { # without dpkg too: a library that somebody built by hand is as good
    for tool in "${CC:-cc}" make pkg-config python3; do command -v "$tool" >/dev/null 2>&1 || return 1; done
    pkg-config --exists libuv libcjson inih vterm libpcre2-8 2>/dev/null
}
missing_of() { # a name that dpkg does not know at all counts as missing too
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf ' %s' "$package"
    done
}

missing=
for set in "$@"; do
    case $set in
    build) have_build && continue; wanted=$build ;;
    test) wanted=$test ;;
    *) echo "deps.sh: unknown set '$set'; use build or test" >&2; exit 64 ;;
    esac
    # shellcheck disable=SC2086 # lists of package names
    if command -v dpkg-query >/dev/null 2>&1; then missing="$missing$(missing_of $wanted)"; else missing="$missing $wanted"; fi
done
[ -n "$missing" ] || exit 0

echo "deps: missing:$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "deps: this is no Debian; please install what these packages hold with your own package manager" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        echo "deps: please run as root: apt-get install$missing" >&2
        exit 1
    fi
fi
export DEBIAN_FRONTEND=noninteractive
# The lists may be old or, in a fresh container, not there at all.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null || {
    $as_root apt-get update -q </dev/null
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null
}
