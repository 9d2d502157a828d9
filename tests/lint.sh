#!/bin/bash
# lint.sh FLAGS…: cppcheck, clang-tidy (.clang-tidy names its checks) and shellcheck over the whole tree; all of them run,
# and any finding is red. FLAGS are the compiler's.
set -u
status=0
flags=("$@")
defines=()
for flag in "$@"; do
    case $flag in -D* | -I*) defines+=("$flag") ;; esac
done
mapfile -t sources < <(find muxd client -name '*.c' | sort)

echo "lint: cppcheck"
cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability --suppressions-list=tests/cppcheck-suppressions.txt \
    --library=posix -j2 "${defines[@]}" "${sources[@]}" || status=1

echo "lint: clang-tidy, ${#sources[@]} files"
tidy() { # a few files at a time; its stderr only counts warnings in system headers, unless it fails
    local out
    out=$(clang-tidy --quiet "$@" -- "${flags[@]}" 2>&1) || { grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed' <<<"$out"; return 1; }
}
running=0
for ((at = 0; at < ${#sources[@]}; at += 8)); do
    if [ "$running" -ge 2 ]; then
        wait -n || status=1
        running=$((running - 1))
    fi
    tidy "${sources[@]:at:8}" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || status=1
    running=$((running - 1))
done

echo "lint: shellcheck"
mapfile -t scripts < <(find tests -name '*.sh' | sort)
shellcheck .ci/run "${scripts[@]}" || status=1
shellcheck --shell=bash completions/ue.bash || status=1
exit "$status"
