#!/bin/sh
# demo.sh BUILD: the main job, visibly: a private daemon in a directory of its own, a Python REPL and a shell in named
# sessions. Prints each command with its real output; exits non-zero when one of them does not answer what it must.
set -eu
build=$(cd "${1:-build}" && pwd)
home=$(mktemp -d)
chmod 700 "$home"
MUXD_SOCKET=$home/muxd.sock MUXD_CONFIG=$home/muxd.ini XDG_STATE_HOME=$home/state XDG_RUNTIME_DIR=$home HISTFILE=/dev/null
export MUXD_SOCKET MUXD_CONFIG XDG_STATE_HOME XDG_RUNTIME_DIR HISTFILE
: >"$MUXD_CONFIG"
PATH=$build:$PATH
unset MUXD_SESSION
finish() {
    status=$?
    trap - EXIT
    ue --no-start stop >/dev/null 2>&1 || true
    rm -rf "$home"
    [ "$status" = 0 ] || echo "demo: FAILED (status $status)" >&2
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

bold='' plain=''
[ ! -t 1 ] || { bold=$(printf '\033[1m'); plain=$(printf '\033[0m'); }
show() { # runs "$@", shows both; the output stays in $out
    printf '\n%s$ ue' "$bold"
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_.,:=+/-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '%s\n' "$plain"
    status=0
    out=$(ue "$@") || status=$?
    printf '%s\n' "$out"
    return "$status"
}
ended() { # the session has ended with 3, and so must ue
    "$@" && status=0 || status=$?
    [ "$status" = 3 ] || { echo "demo: the command's status should have been 3, not $status" >&2; exit 1; }
}
expect() {
    case $out in
    *"$1"*) ;;
    *) echo "demo: the answer should have held '$1'" >&2; exit 1 ;;
    esac
}
command -v python3 >/dev/null || { echo "demo: there is no python3 to show; apt-get install python3" >&2; exit 1; }

echo "A session is a program that goes on between calls. Start two, by name:"
show exec -n py -t python3 -q
show exec -n sh -t --no-login 'PS1="sh> " exec sh'
echo
echo "Type a line; the call returns when the program waits for input again:"
show write py -l '2**100'
expect 1267650600228229401496703205376
show write py -l 'x = 6 * 7'
show write py -l 'x'
expect 42
show write sh -l 'echo $((1+1)) on $(uname)'
expect "2 on Linux"
echo
echo "A slow command: look in while it runs, then wait for its end:"
show exec -n slow -y 250 'for i in 1 2 3; do echo step $i; sleep 0.5; done; exit 3'
expect "Process running with session ID"
ended show poll --exit slow
expect "step 3"
echo
echo "Kill the daemon's worker, then change to the binary on disk: nothing is lost:"
worker=$(ue status | sed -n 's/^pid: //p')
printf '\n%s$ kill -9 %s%s\n' "$bold" "$worker" "$plain"
kill -9 "$worker"
show upgrade
show write py -l 'x + 1'
expect 43
echo
echo "Any part of the output can be read again:"
ended show poll --since 0 --raw slow
expect "step 1"
show list --all
expect py
show kill py sh
show list --all
echo
echo "demo: everything answered as it must"
