#!/bin/sh
# run.sh: what `make bench` runs; MUXD_BUILD names the build directory. Options are those of run.py.
exec "${PYTHON:-/usr/bin/python3}" "$(dirname "$0")/run.py" "$@"
