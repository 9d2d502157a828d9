#!/bin/sh
# drift.sh BUILD: red when what is generated from the tables differs from what is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
# Generators may fill in parts of a file that is otherwise written by hand (the man pages): they start from the committed one.
for dir in conf client; do [ ! -d "$dir" ] || cp -R "$dir" "$fresh/"; done
"$here/gen.sh" "${1:-build}" "$fresh"
status=0
for dir in conf client; do
    [ -d "$dir" ] || continue
    diff -ru "$dir" "$fresh/$dir" || status=1
done
if [ "$status" = 0 ]; then echo "drift: none"; else echo "drift: run make gen"; fi
exit "$status"
