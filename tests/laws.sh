#!/bin/bash
# laws.sh: the laws of the house that a script can see. Run from the project's root; prints every breach, then the count.
set -u
export LC_ALL=C.UTF-8
max_file=400 max_function=60 max_line=100
breaches=0
breach() { # reads "place: what" lines
    local line
    while IFS= read -r line; do
        printf '%s\n' "$line"
        breaches=$((breaches + 1))
    done
}
mapfile -t code < <(find muxd client -name '*.c' -o -name '*.h' | sort)
mapfile -t tables < <(find muxd client -name '*.def' | sort)
[ "${#code[@]}" -gt 0 ] || { echo "laws: no C files; run it from the project's root"; exit 1; }

breach < <(awk -v max="$max_file" 'FNR == 1 && NR > 1 { check() } { file = FILENAME; lines = FNR } END { check() }
    function check() { if (lines > max) printf "%s: %d lines, at most %d\n", file, lines, max }' "${code[@]}")
breach < <(awk -v max="$max_function" '/^\{/ { start = FNR } /^\}/ && start { if (FNR - start - 1 > max)
    printf "%s:%d: a function of %d lines, at most %d\n", FILENAME, start, FNR - start - 1, max; start = 0 } FNR == 1 { start = 0 }' "${code[@]}")
breach < <(awk -v max="$max_line" 'length($0) > max { printf "%s:%d: %d columns, at most %d\n", FILENAME, FNR, length($0), max }
    /[ \t]+$/ { printf "%s:%d: blanks at the end of the line\n", FILENAME, FNR }
    /\t/ { printf "%s:%d: a tab\n", FILENAME, FNR }
    FNR == 1 && !/^\/\*/ { printf "%s:1: says nothing at its top about what it owns\n", FILENAME }' "${code[@]}" "${tables[@]}")

for library in ini.h cJSON.h cjson/cJSON.h pcre2.h seccomp.h; do
    mapfile -t users < <(grep -lE "^[ ]*#[ ]*include[ ]*[<\"]${library}[>\"]" "${code[@]}")
    [ "${#users[@]}" -le 1 ] || breach <<<"${library}: one includer a library, but: ${users[*]}"
done
breach < <(grep -nE '^[ ]*#[ ]*include[ ]*[<"]vterm' "${code[@]}" /dev/null | sed 's|$| (libvterm is the oracle of a test)|')

# Comments are removed by the preprocessor, so that they may speak of what the code may not do.
banned='strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|alloca|system|popen|mktemp|tmpnam|tempnam|sleep|usleep|signal|rand|setjmp|longjmp|assert'
memory='malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf'
for file in "${code[@]}"; do
    # An ignored or default signal needs no sigaction.
    stripped=$("${CC:-cc}" -fpreprocessed -dD -E -x c "$file" 2>/dev/null | sed -E 's/signal\(SIG[A-Z0-9]+, SIG_(IGN|DFL)\)//')
    [ -n "$stripped" ] || breach <<<"$file: the preprocessor can't read it"
    breach < <(grep -oE "(^|[^A-Za-z0-9_.>])($banned)[ ]*\(" <<<"$stripped" | sed "s|^|$file: not here: |")
    case $file in
    muxd/base/mem.c) ;;
    *) breach < <(grep -oE "(^|[^A-Za-z0-9_.>])($memory)[ ]*\(" <<<"$stripped" | sed "s|^|$file: use base/mem.h instead of |") ;;
    esac
    # A descriptor that is not close-on-exec from birth leaks into a program started at the wrong moment.
    breach < <(grep -oE "(^|[^A-Za-z0-9_.>])(pipe|dup|accept|epoll_create|inotify_init|creat)[ ]*\(" <<<"$stripped" | sed "s|^|$file: no close-on-exec: |")
done
breach < <(grep -nwE 'TODO|FIXME|XXX|HACK' "${code[@]}" "${tables[@]}" /dev/null | sed 's|$| (finish it)|')
breach < <(grep -nE '/(root|work)/' "${code[@]}" "${tables[@]}" /dev/null | sed 's|$| (a path of one machine)|')

for entry in * .[!.]*; do
    case $entry in
    Makefile | muxd | client | conf | tests | completions | README.md | CHANGELOG.md | LICENSE | build | .*) ;;
    *) git ls-files --error-unmatch "$entry" >/dev/null 2>&1 && breach <<<"$entry: the top level is fixed" ;;
    esac
done

echo "laws: ${#code[@]} files, $breaches breaches"
[ "$breaches" -eq 0 ]
