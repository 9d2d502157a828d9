#!/bin/bash
# keeper.sh BUILD: muxd-keeper must never fail, so it is small and is libc and nothing else. That is measured on what is linked: prints
# each object of it with the lines of its source, and their sum; complains of one of a higher room, of another library, and of what
# allocates. Run from the project's root.
set -u
export LC_ALL=C.UTF-8
program=$1/muxd-keeper
max_lines=3400
breaches=0
breach() {
    printf 'keeper: %s\n' "$1"
    breaches=$((breaches + 1))
}
[ -s "$program.map" ] || { echo "keeper: no '$program.map'; run make first"; exit 1; }
mapfile -t sources < <(sed -n "s|^LOAD .*/obj/\\(.*\\)\\.o\$|\\1.c|p" "$program.map" | sort)
[ "${#sources[@]}" -gt 0 ] || breach "'$program.map' names no object; it must be the GNU linker's"

sum=0
for source in "${sources[@]}"; do
    lines=$(wc -l <"$source") || exit 1
    printf '%6d  %s\n' "$lines" "$source"
    sum=$((sum + lines))
    case $source in
    muxd/keep/keeper/*.c | muxd/keep/*.c | muxd/base/*.c) ;;
    *) breach "$source: it may be linked from keep/ and base/ only" ;;
    esac
done
printf '%6d  in %d files, at most %d\n' "$sum" "${#sources[@]}" "$max_lines"
[ "$sum" -le "$max_lines" ] || breach "$sum lines; it has become more than can be read in an hour"

needed=$(readelf --dynamic --wide "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux[a-z0-9_-]*\.so\.[0-9])$')
[ -z "$needed" ] || breach "it needs $(tr '\n' ' ' <<<"$needed"), and may need libc only"
memory=$(nm --dynamic --undefined-only "$program" | grep -oE '\b(malloc|calloc|realloc|reallocarray|strdup|strndup|fopen|fdopen|opendir|pthread_create|dlopen)\b')
[ -z "$memory" ] || breach "it calls $(tr '\n' ' ' <<<"$memory"), and may not allocate"

while IFS=: read -r file line text; do
    case $file in
    muxd/keep/keeper/*) ;;
    *) breach "$file:$line: $text: the keeper's own room is closed to all others" ;;
    esac
done < <(grep -nE '^[ ]*#[ ]*include[ ]*"keep/keeper/' -r muxd client)

echo "keeper: $breaches breaches"
[ "$breaches" -eq 0 ]
