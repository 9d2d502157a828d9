#!/bin/bash
# run-tests.sh BUILD units|e2e|smoke|root…: runs the unit tests of BUILD two at once, the end-to-end tests and the crash drills
# against its binaries by pytest, or those of them that are marked smoke, or root. The last line is the count of all.
set -u
build=$(cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
jobs=${TEST_JOBS:-2}          # unit tests at once
pytest_jobs=${PYTEST_JOBS:-4} # end-to-end tests: they wait more than they compute
again_max=8                   # more failures than these are no accident
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
        if [ "$(tail -n 1 "$log")" != "exit status 0" ]; then
            name=${log##*/}
            echo "=== $name failed; once more, alone:"
            sed 's/^/    /' "$log" | grep -vE '\[ (RUN|     OK)' | tail -n 60
            timeout -k 10 300 "$build/unit/$name" >"$log" 2>&1 </dev/null
            echo "exit status $?" >>"$log"
        fi
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

# A machine that others use can be so slow for a moment that a program times out. What failed runs once more, alone: only what fails
# then, too, counts as failed, but the first failure stays visible in the output above and is named again below.
e2e() { # $1: pytest's -m expression or nothing
    local counts="$build/e2e-counts" status again=0
    rm -rf "$build/pytest-cache"
    run_pytest -n "$pytest_jobs" ${1:+-m "$1"} "$here/e2e" "$here/crash"
    status=$?
    if [ ! -s "$counts" ]; then
        echo "pytest did not come to its end (status $status)"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2046 # numbers
    set -- $(cat "$counts") "${1:-}"
    passed=$((passed + $1)) skipped=$((skipped + $3))
    again=$2
    [ "$status" = 0 ] && return
    if [ "$again" -gt 0 ] && [ "$again" -le "$again_max" ]; then
        echo "=== $again failed; once more, alone"
        run_pytest --last-failed ${4:+-m "$4"} "$here/e2e" "$here/crash"
        # shellcheck disable=SC2046
        set -- $(cat "$counts" 2>/dev/null || echo 0 "$again" 0)
        echo "=== of $again that had failed $1 passed alone"
        passed=$((passed + $1)) failed=$((failed + again - $1))
    else
        failed=$((failed + (again > 0 ? again : 1)))
    fi
}

for what in "$@"; do
    case $what in
    units) units ;;
    e2e) e2e "" ;;
    smoke) e2e smoke ;;
    root) e2e "root or smoke" ;;
    *) echo "run-tests.sh: unknown '$what'; use units, e2e, smoke or root" >&2; exit 64 ;;
    esac
done
echo "took $((SECONDS - began)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
