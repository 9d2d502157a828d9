#!/bin/bash
# lint.sh BUILD FLAGS…: cppcheck, clang-tidy (.clang-tidy names its checks) and shellcheck over the whole tree; all of them run,
# and any finding is red. FLAGS are the compiler's. What was found clean is remembered in BUILD/lint by its contents: a file, with all
# that it includes, comments and all, is not looked at again until one of them, the checks, the flags or clang-tidy change.
# MUXD_SHARE=K/N: clang's analyzer goes into depth only for the Kth of N shares of the files (from 0), and looks at all others in its
# shallow mode, which takes a fifth of the time.
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
shallow=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
share=${MUXD_SHARE:-0/1}
in_share() { # a file's name decides which share it is in
    local sum
    sum=$(cksum <<<"$1")
    [ $((${sum%% *} % ${share#*/})) = "${share%/*}" ]
}
tidy() { # one file; its stderr only counts warnings in system headers, unless it fails
    local out text key depth=()
    text=$(clang -E -C "${flags[@]}" "$1" 2>&1) || { printf '%s\n' "$text"; return 1; }
    key=$(printf '%s\n' "$settings" "$text" | sha256sum)
    key=$known/tidy/${key%% *}
    in_share "$1" || depth=("${shallow[@]}")
    for found in "$key" ${depth:+"$key.shallow"}; do # what is clean in depth is clean
        [ ! -e "$found" ] || { touch "$found"; return 0; }
    done
    out=$(clang-tidy --quiet "${depth[@]}" "$1" -- "${flags[@]}" 2>&1) || { grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed' <<<"$out"; return 1; }
    : >"$key${depth:+.shallow}"
}
jobs=$(nproc)
echo "lint: clang-tidy, ${#sources[@]} files, share $share of them in depth"
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

# What python and node can tell without a linter of theirs.
echo "lint: python, node"
python3 -W error -c 'import ast, pathlib, sys
for path in sys.argv[1:]:
    compile(pathlib.Path(path).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)
ast.parse(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), feature_version=(3, 9))' \
    client/lib/python/ue.py tests/examples/*.py tests/e2e/*.py tests/*/*.py || status=1
long=$(awk 'length($0) > 100 || /[ \t]$/ { print FILENAME ":" FNR ": more than 100 columns, or blanks at the end" }' \
    client/lib/python/ue.py client/lib/node/ue.* tests/examples/*.py tests/examples/*.mjs 2>/dev/null)
[ -z "$long" ] || { printf '%s\n' "$long"; status=1; }
if command -v node >/dev/null; then
    for script in client/lib/node/*.mjs tests/examples/*.mjs; do
        [ ! -e "$script" ] || node --check "$script" || status=1
    done
fi
exit "$status"
