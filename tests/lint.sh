#!/bin/bash
# lint.sh BUILD FLAGS…: cppcheck, clang-tidy (.clang-tidy names its checks) and shellcheck over the whole tree; all of them run,
# and any finding is red. FLAGS are the compiler's. What was found clean is remembered in BUILD/lint by its contents: a file, with all
# that it includes, comments and all, is not looked at again until one of them, the checks, the flags or clang-tidy change.
set -u
status=0
known=$1/lint
shift
flags=("$@")
defines=()
for flag in "$@"; do
    case $flag in -D* | -I*) defines+=("$flag") ;; esac
done
mapfile -t sources < <(find muxd client -name '*.c' | sort)
mkdir -p "$known/tidy" "$known/cppcheck" || exit 1

echo "lint: cppcheck"
cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability --suppressions-list=tests/cppcheck-suppressions.txt \
    --library=posix --cppcheck-build-dir="$known/cppcheck" -j2 "${defines[@]}" "${sources[@]}" || status=1

settings=$(cat .clang-tidy; clang-tidy --version; printf '%s\n' "${flags[@]}")
tidy() { # one file; its stderr only counts warnings in system headers, unless it fails
    local out text key
    text=$(clang -E -C "${flags[@]}" "$1" 2>&1) || { printf '%s\n' "$text"; return 1; }
    key=$(printf '%s\n' "$settings" "$text" | sha256sum)
    key=$known/tidy/${key%% *}
    if [ -e "$key" ]; then
        touch "$key"
        return 0
    fi
    out=$(clang-tidy --quiet "$1" -- "${flags[@]}" 2>&1) || { grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed' <<<"$out"; return 1; }
    : >"$key"
}
jobs=$(nproc)
echo "lint: clang-tidy, ${#sources[@]} files"
running=0
for source in "${sources[@]}"; do
    if [ "$running" -ge "$jobs" ]; then
        wait -n || status=1
        running=$((running - 1))
    fi
    tidy "$source" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || status=1
    running=$((running - 1))
done
find "$known/tidy" -type f -mtime +30 -delete

echo "lint: shellcheck"
mapfile -t scripts < <(find tests -name '*.sh' | sort)
shellcheck .ci/run "${scripts[@]}" || status=1
shellcheck --shell=bash completions/ue.bash || status=1
exit "$status"
