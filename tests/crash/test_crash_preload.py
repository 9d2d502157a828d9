"""A library that others put before ours: programs are started all the same."""
import os, shutil, subprocess

import pytest
from drill import BUILD, CAP

LAZY = BUILD / "crash" / "lazy.so"
pytestmark = pytest.mark.skipif(not LAZY.exists(), reason=f"'{LAZY}' was not built")


def works(mux):
    for tty in (False, True):
        assert mux.ended(mux.run("echo up; exit 3", tty=tty))["exit_code"] == 3
    mux.kill_worker()
    assert mux.ended(mux.run("exit 4"))["exit_code"] == 4
    mux.kill_keeper()
    assert mux.ended(mux.run("exit 5", tty=True))["exit_code"] == 5


def test_in_the_environment(make_mux):
    works(make_mux().start(env={"LD_PRELOAD": str(LAZY)}))


def test_for_the_whole_machine(make_mux):
    """/etc/ld.so.preload, in a mount name space of our own."""
    mux = make_mux()
    over = mux.dir / "etc"
    over.mkdir()
    prepare = (f"mount -t tmpfs t {over} && mkdir {over}/upper {over}/work && echo {LAZY} > {over}/upper/ld.so.preload && "
               f"mount -t overlay o -o lowerdir=/etc,upperdir={over}/upper,workdir={over}/work /etc")
    unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*unshare, prepare], capture_output=True).returncode:
        pytest.skip("no overlay over /etc can be mounted here")
    done = subprocess.run([*unshare, f"{prepare} && exec \"$@\"", "sh", str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)],
                          env=mux.env, cwd=mux.dir, stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
    assert done.returncode == 0, done
    mux.keeper = mux.call("status")["keeper_pid"]
    if os.geteuid() == 0:  # what it maps is hidden from an ordinary user
        with open(f"/proc/{mux.keeper}/maps", encoding="utf-8") as maps:
            assert LAZY.name in maps.read()
    works(mux)
