#!/bin/sh
# valgrind-build.sh BUILD OUT: makes OUT a build directory whose muxd runs under valgrind, and whatever that executes, its keeper first. ue
# finds muxd beside itself, so the tests need not know. Session programs are not followed; reports go to the runtime directory, where the tests look.
set -eu
build=$(cd "$1" && pwd) out=$2
mkdir -p "$out"
cp "$build/ue" "$build/muxd-keeper" "$build/muxd-confine" "$out/"
cat >"$out/muxd" <<WRAPPER
#!/bin/sh
exec valgrind -q --trace-children=yes --trace-children-skip='/bin/*,/usr/*,/sbin/*' --child-silent-after-fork=yes --vgdb=no \\
    --leak-check=full --errors-for-leak-kinds=definite --track-fds=no --error-exitcode=99 \\
    --log-file="\${XDG_RUNTIME_DIR:-/tmp}/valgrind.%p" '$build/muxd' "\$@"
WRAPPER
chmod +x "$out/muxd"
