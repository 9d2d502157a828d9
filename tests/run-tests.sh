#!/bin/bash
# run-tests.sh BUILD units|e2e|smoke|root…: runs the unit tests of BUILD some at once, the end-to-end tests and the crash drills
# against its binaries by pytest, or those of them that are marked smoke, or root. The last line is the count of all.
# A test that fails has failed: nothing is tried again but the few that bear a timing mark with its reason (conftest.py).
set -u
build=$(cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
jobs=${TEST_JOBS:-4}          # unit tests at once: they, too, wait more than they compute
pytest_jobs=${PYTEST_JOBS:-6} # end-to-end tests at once: two processors are half idle with four
passed=0 failed=0 skipped=0
began=$SECONDS
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}" UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

units() {
    local log name ok bad
    rm -rf "$build/unit-logs"
    mkdir -p "$build/unit-logs"
    # MUXD_TEST_REPORTS empty: a unit test's sanitizer reports belong on its own stderr.
    find "$here/unit" -name 'test_*.c' -printf '%f\n' | sed 's/\.c$//' | sort | env -u XDG_RUNTIME_DIR -u MUXD_TEST_REPORTS xargs -P "$jobs" -I{} \
        sh -c 'timeout -k 10 300 "$1/unit/$2" >"$1/unit-logs/$2" 2>&1 </dev/null; echo "exit status $?" >>"$1/unit-logs/$2"' unit "$build" {}
    for log in "$build"/unit-logs/*; do
        [ -f "$log" ] || continue
        name=${log##*/}
        ok=$(grep -cE '^\[ +OK \]' "$log")
        bad=$(grep -oE '^\[  FAILED  \] [A-Za-z_].*' "$log" | sort -u | wc -l)
        if [ "$(tail -n 1 "$log")" != "exit status 0" ]; then
            [ "$bad" -gt 0 ] || bad=1 # it died outside of a test
            echo "FAILED $name:"
            grep -vE '^\[ (RUN|     OK)' "$log" | tail -n 60 | sed 's/^/    /'
        fi
        printf '%-40s %3d passed, %d failed\n' "$name" "$ok" "$bad"
        passed=$((passed + ok)) failed=$((failed + bad))
    done
}

# One pass of pytest; leaves "passed failed skipped" in $counts.
run_pytest() {
    rm -f "$counts"
    MUXD_BUILD=$build MUXD_COUNTS=$counts "$python" -m pytest -o cache_dir="$build/pytest-cache" -q -rfEs --tb=short "$@" </dev/null
}

# Leaves "passed failed skipped timing" in the variables of those names; they are told apart by pytest, not by its words.
read_counts() {
    if [ ! -s "$counts" ]; then
        echo "pytest did not come to its end (status $1)"
        passed_now=0 failed_now=1 skipped_now=0 timing_now=0
        return
    fi
    read -r passed_now failed_now skipped_now timing_now <"$counts"
    [ "$1" = 0 ] || [ "$failed_now" -gt 0 ] || failed_now=1
}

e2e() { # $1: pytest's -m expression or nothing
    local counts="$build/e2e-counts" passed_now failed_now skipped_now timing_now timing
    rm -rf "$build/pytest-cache"
    run_pytest -n "$pytest_jobs" -m "${1:-not alone}" "$here/crash" "$here/e2e" # the longest first: nobody waits for them at the end
    read_counts $?
    passed=$((passed + passed_now)) skipped=$((skipped + skipped_now)) failed=$((failed + failed_now - timing_now))
    timing=$timing_now
    [ "$timing" -gt 0 ] || return
    echo "=== $timing failed that bear a timing mark; once more, alone"
    run_pytest --last-failed -m "timing${1:+ and ($1)}" "$here/e2e" "$here/crash"
    read_counts $?
    echo "=== of $timing with a timing mark that had failed $passed_now passed alone"
    passed=$((passed + passed_now)) failed=$((failed + failed_now))
}

# What would hinder other tests of this user, or be hindered by them.
alone() {
    local counts="$build/alone-counts" passed_now failed_now skipped_now timing_now status=0
    run_pytest -m alone "$here/crash" "$here/e2e" || status=$?
    read_counts $((status == 5 ? 0 : status)) # 5: none of them is in this share
    passed=$((passed + passed_now)) skipped=$((skipped + skipped_now)) failed=$((failed + failed_now))
}

for what in "$@"; do
    case $what in
    units) units ;;
    e2e) e2e ""; alone ;;
    smoke) e2e smoke ;;
    root) e2e "root or smoke" ;;
    *) echo "run-tests.sh: unknown '$what'; use units, e2e, smoke or root" >&2; exit 64 ;;
    esac
done
echo "took $((SECONDS - began)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
