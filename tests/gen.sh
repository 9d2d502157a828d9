#!/bin/sh
# gen.sh BUILD DIR: writes all that is generated from the tables into the tree at DIR.
set -eu
build=$1 dir=$2
mkdir -p "$dir/conf" "$dir/client"
"$build/ue" gen "$dir"
"$build/muxd" --gen "$dir"
"${PYTHON:-/usr/bin/python3}" "$(dirname "$0")/zoo/page.py" "$dir"
