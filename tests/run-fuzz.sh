#!/bin/bash
# run-fuzz.sh BUILD SECONDS NAME…: each fuzz target for that long, four at once, from its committed corpus. What is found
# on the way goes to BUILD/corpus; an input that breaks a target is printed in base64 and kept in BUILD/crash-NAME-….
set -u
build=$1 seconds=$2
shift 2
[ "$#" -gt 0 ] || { echo "fuzz: no targets in tests/fuzz"; exit 1; }
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

one() {
    local name=$1 seed=tests/fuzz/corpus/$1 found=$build/corpus/$1 options=()
    mkdir -p "$found" "$seed"
    [ ! -f "tests/fuzz/$name.dict" ] || options+=("-dict=tests/fuzz/$name.dict")
    if timeout -k 10 $((seconds + 120)) "$build/fuzz/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$build/crash-$name-" "${options[@]}" "$found" "$seed" >"$build/fuzz-$name.log" 2>&1 </dev/null; then
        echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz-$name.log") inputs in $seconds s, nothing found"
    else
        grep -v '^#' "$build/fuzz-$name.log" | tail -n 60
        echo "fuzz: $name: FAILED"
        return 1
    fi
}

failed=0
running=0
for name in "$@"; do
    if [ "$running" -ge 4 ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    one "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit "$failed"
