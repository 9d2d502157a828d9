#!/bin/bash
# fresh.sh BUILD sample|full|zoo [RELEASE…]: the README's two commands on bare machines: minimal roots of
# Debian releases with git, make, sudo and what makes users, and nothing else, entered in namespaces of
# their own. In each: an ordinary user without sudo is told what is missing; one with sudo runs both
# commands; then the one without runs them; root runs them in a checkout below its home and elsewhere.
# `sample` is for every day: the user with sudo in full, and root's demonstration. `zoo` is readiness with
# the release's own programs, a thousand times each. What is tested is the last commit. Needs root,
# mmdebstrap and a mirror of Debian; else it skips and says so.
set -u
build=$1 extent=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd) || exit 1
releases=("$@")
[ "${#releases[@]}" -gt 0 ] || releases=(bookworm trixie) # Debian 12 and 13
skip() { echo "fresh: skipped: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, to make file systems and users"
command -v mmdebstrap >/dev/null || skip "'mmdebstrap' is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "no mount and PID namespaces here"
# The mirror of this machine's own sources; all Debian releases lie side by side there.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 2>/dev/null | awk '$2 == "Debian" && $3 !~ /-/ { print $1; exit }')
[ -n "$mirror" ] || skip "no mirror of Debian is configured for apt"
mkdir -p "$build/fresh" && build=$(cd "$build/fresh" && pwd) || exit 1
failed=0
results=()

# --- inside: what one root does; run by `enter`, with the new root still outside
enter() { # enter ROOT COMMAND…: in namespaces of its own, with /proc, /dev and terminals; ends with all that it started
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --pid --fork --kill-child sh -euc '
        root=$1; shift
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=755 dev "$root/dev"
        for node in null zero full random urandom tty; do : >"$root/dev/$node"; mount --bind "/dev/$node" "$root/dev/$node"; done
        mkdir "$root/dev/pts" "$root/dev/shm"
        mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$root/dev/pts"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
        chroot "$root" "$@" && status=0 || status=$?
        exit "$status"' enter "$@" </dev/null
}
as() { # as ROOT USER COMMAND: in the user's login shell
    enter "$1" su - "$2" -c "$3"
}
note() { # note STATUS WHAT SECONDS [LOG]
    local count=''
    [ -z "${4:-}" ] || count=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$4" | tail -n 1)
    [ "$1" = 0 ] || failed=$((failed + 1))
    results+=("$(printf '%-6s %4d s  %-52s %s' "$([ "$1" = 0 ] && echo ok || echo FAILED)" "$3" "$2" "$count")")
    printf '%s\n' "${results[-1]}"
}
both() { # both RELEASE ROOT USER DIRECTORY TARGET…: each target, by that user in that checkout
    local release=$1 root=$2 user=$3 dir=$4 target log began status
    shift 4
    for target in "$@"; do
        log=$build/$release-$user-${dir//\//_}-${target// /_}.log began=$SECONDS
        as "$root" "$user" "cd $dir && MUXD_SHARE=${MUXD_SHARE:-0/1} make $target" >"$log" 2>&1
        status=$?
        note "$status" "$release: $user in $dir: make $target" $((SECONDS - began)) "$log"
        [ "$status" = 0 ] || { grep -nE '^(FAILED|ERROR|E  |make: )|error:' "$log"; tail -n 25 "$log"; } | sed 's/^/    /' | tail -n 80
    done
}
refused() { # refused RELEASE ROOT USER DIRECTORY TARGET: told what is missing, status not 0, nothing half done
    local out status began=$SECONDS
    out=$(as "$2" "$3" "cd $4 && make $5" 2>&1)
    status=$?
    [ "$status" != 0 ] && grep -q '^deps: packages are missing; an administrator can install them by: apt-get' <<<"$out" &&
        [ ! -e "$2$4/build/obj" ]
    note $? "$1: $3 without sudo: make $5 says what is missing" $((SECONDS - began))
    [ "$status" != 0 ] || tail -n 20 <<<"$out"
}
checkout() { # checkout ROOT DIRECTORY USER
    git -c safe.directory='*' clone -q --no-hardlinks "$here" "$1$2" && chroot "$1" chown -R "$3:" "$2"
}
zoo() { # zoo RELEASE ROOT: with a database server to talk to, of which Debian's package would start one for all, and what is too big for each day
    local log=$build/$1-zoo.log began=$SECONDS status
    mkdir -p "$2/etc/postgresql-common"
    echo 'create_main_cluster = false' >"$2/etc/postgresql-common/createcluster.conf"
    as "$2" admin "cd muxd && make test-deps && sudo apt-get install -y -q --no-install-recommends postgresql \
            guile-3.0 ocaml ghc octave r-base-core gnuplot-nox &&
        make -s -j2 all && make -s zoo ZOO_FAST=${ZOO_FAST:-1000} ZOO_SLOW=${ZOO_SLOW:-50} ZOO_BUSY=${ZOO_BUSY:-2}" >"$log" 2>&1
    status=$?
    sed -n '/^idle/,$p' "$log"
    note "$status" "$1: zoo" $((SECONDS - began))
}
base_of() { # base_of RELEASE: the bare root, made once a day
    local base=$build/$1
    if [ -e "$base.made" ] && [ -n "$(find "$base.made" -mtime -1)" ]; then return 0; fi
    rm -rf "$base" "$base.made"
    mmdebstrap --quiet --variant=apt --include=git,make,sudo,passwd "$1" "$base" "$mirror" || return 1
    touch "$base.made"
}
layer() { # layer RELEASE NAME: a root that begins as the bare one; its place
    local place=$build/$1-$2
    umount "$place/root" 2>/dev/null
    rm -rf "$place"
    mkdir -p "$place/upper" "$place/work" "$place/root"
    mount -t overlay overlay -o "lowerdir=$build/$1,upperdir=$place/upper,workdir=$place/work" "$place/root" || return 1
    cp -L /etc/resolv.conf /etc/hosts "$place/root/etc/"
    mkdir -p "$build/$1-archives" && mount --bind "$build/$1-archives" "$place/root/var/cache/apt/archives"
    echo "$place/root"
}
away() { umount "$1/var/cache/apt/archives" "$1"; rm -rf "${1%/root}"; }

one() { # one RELEASE
    local release=$1 root began=$SECONDS
    base_of "$release" || { note 1 "$release: a bare root could be made" $((SECONDS - began)); return; }
    root=$(layer "$release" user) || { note 1 "$release: a layer over it" 0; return; }
    for user in plain admin; do
        chroot "$root" useradd -m -s /bin/bash "$user"
        checkout "$root" "/home/$user/muxd" "$user"
    done
    chroot "$root" mv /usr/bin/sudo /usr/bin/sudo.hidden
    refused "$release" "$root" plain /home/plain/muxd run
    refused "$release" "$root" plain /home/plain/muxd test
    chroot "$root" mv /usr/bin/sudo.hidden /usr/bin/sudo
    refused "$release" "$root" plain /home/plain/muxd run # sudo is there, and refuses
    echo 'admin ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/admin"
    if [ "$extent" = zoo ]; then
        zoo "$release" "$root"
        away "$root"
        return
    fi
    both "$release" "$root" admin /home/admin/muxd run test
    [ "$extent" = sample ] || both "$release" "$root" plain /home/plain/muxd run test
    away "$root"
    root=$(layer "$release" root) || { note 1 "$release: a layer over it" 0; return; }
    checkout "$root" /root/muxd root
    checkout "$root" /srv/muxd root
    if [ "$extent" = sample ]; then
        both "$release" "$root" root /root/muxd run
    else
        both "$release" "$root" root /root/muxd run test
        both "$release" "$root" root /srv/muxd run test
    fi
    away "$root"
}
for release in "${releases[@]}"; do one "$release"; done
printf '\nfresh:\n'
printf '    %s\n' "${results[@]}"
[ "$failed" = 0 ]
