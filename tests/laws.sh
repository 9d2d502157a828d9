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

# Whoever looks for a function by its name finds one, static or not. A definition begins in the first column.
breach < <(awk 'FNR == 1 { head = "" }
    /^[A-Za-z_]/ && !/^(typedef|else|return)/ { head = $0; line = FNR }
    /^[A-Za-z_].*;[ ]*(\/\*.*)?$/ && !/\{/ || /^ .*\);/ { head = "" }
    /^\{/ || /^[A-Za-z_].*\) *\{/ { define() }
    function define() {
        gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\) */, "", head)
        if (sub(/\(.*/, "", head) && head ~ /^[A-Za-z_].*[ *][a-z_][A-Za-z0-9_]*$/ && head !~ /=/) {
            sub(/.*[ *]/, "", head)
            if (head == "main") { }
            else if (head in file && file[head] != FILENAME)
                printf "%s:%d: \"%s\" has a namesake in %s; begin it with the name of its file\n", FILENAME, line, head, file[head]
            else
                file[head] = FILENAME
        }
        head = ""
    }' "${code[@]}")

for library in ini.h cJSON.h cjson/cJSON.h pcre2.h seccomp.h; do
    mapfile -t users < <(grep -lE "^[ ]*#[ ]*include[ ]*[<\"]${library}[>\"]" "${code[@]}")
    [ "${#users[@]}" -le 1 ] || breach <<<"${library}: one includer a library, but: ${users[*]}"
done
breach < <(grep -nE '^[ ]*#[ ]*include[ ]*[<"]vterm' "${code[@]}" /dev/null | sed 's|$| (libvterm is the oracle of a test)|')

read -ra cc <<<"${CC:-cc}" # it may be two words: ccache gcc
# The preprocessor removes comments, so that they may speak of what the code may not do: of all files in one run.
banned='strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|alloca|system|popen|mktemp|tmpnam|tempnam|sleep|usleep|signal|rand|setjmp|longjmp|assert'
memory='malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf'
# A descriptor that is not close-on-exec from birth leaks into a program started at the wrong moment.
leaking='pipe|dup|accept|epoll_create|inotify_init|creat'
breach < <(awk 'FNR == 1 { printf "# 1 \"%s\"\n", FILENAME } { print }' "${code[@]}" | "${cc[@]}" -w -fpreprocessed -dD -E -x c - 2>/dev/null |
    awk -v wanted="${#code[@]}" -v banned="$banned" -v memory="$memory" -v leaking="$leaking" '
    function refuse(names, why,    rest, call) {
        for (rest = line; match(rest, "(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\("); rest = substr(rest, RSTART + RLENGTH)) {
            call = substr(rest, RSTART, RLENGTH)
            sub(/^[^A-Za-z_]/, "", call)
            printf "%s: %s%s)\n", file, why, call
        }
    }
    /^# [0-9]+ "/ {
        file = $3; gsub(/"/, "", file)
        if (file ~ /\.[ch]$/ && !(file in seen)) { seen[file]; files++ }
        next
    }
    {
        line = $0
        gsub(/signal\(SIG[A-Z0-9]+, SIG_(IGN|DFL)\)/, "", line) # an ignored or default signal needs no sigaction
        refuse(banned, "not here: ")
        if (file != "muxd/base/mem.c") refuse(memory, "use base/mem.h instead of ")
        refuse(leaking, "no close-on-exec: ")
    }
    END { if (files != wanted) printf "the preprocessor has read %d of %d files\n", files, wanted }')
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
