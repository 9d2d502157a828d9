"""muxd-keeper is a program of its own: what is said when it is missing, broken or of another version, and what dies with it (nothing)."""
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import CAP, DAEMON, KEEPER, ROOT, SANITIZED, command_line, copy_programs, wait_for

WORD = b"muxd-keep-1"  # keep.c


@pytest.fixture
def own(mux):
    """A daemon to be, from programs of its own."""
    mux.program, mux.daemon, mux.keeper = copy_programs(mux.dir / "bin")
    return mux


def put(path, content):
    fresh = path.with_name("fresh")
    fresh.write_bytes(content)
    fresh.chmod(0o755)
    fresh.rename(path)


def start(mux, *options):
    return subprocess.run([mux.daemon, *options, "-S", mux.socket, "-f", mux.conf], env=mux.env, cwd="/", stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=CAP)


def comm(pid):
    return Path(f"/proc/{pid}/comm").read_text().strip()


WAYS = pytest.mark.parametrize("options", [["-d"], []], ids=["background", "foreground"])


@WAYS
def test_missing(own, options):
    own.keeper.unlink()
    done = start(own, *options)
    assert done.returncode == 1 and done.stderr == (
        f"muxd: muxd-keeper is neither at '{own.keeper}' nor at '{own.dir}/libexec/muxd/muxd-keeper'; install muxd again (make install)\n"), done
    assert str(own.keeper) in own.ue("exec", "true").err
    wait_for(lambda: not own.pids(), "all of it to go")


@WAYS
def test_no_program(own, options):
    put(own.keeper, b"not a program")
    done = start(own, *options)
    assert done.returncode == 1 and done.stderr == f"muxd: '{own.keeper}': can't be executed: Exec format error; install muxd again (make install)\n", done
    wait_for(lambda: not own.pids(), "all of it to go")


def test_that_dies(own):
    put(own.keeper, b"#!/bin/sh\nkill -9 $$\n")
    done = start(own, "-d")
    assert done.returncode == 1 and done.stderr == "muxd: the keeper was ended by signal 9 before it listened\n", done
    assert "signal 9" in own.ue("exec", "true").err
    wait_for(lambda: not own.pids(), "all of it to go")


@WAYS
def test_of_another_version(own, options):
    put(own.keeper, own.keeper.read_bytes().replace(WORD, b"muxd-keep-0"))
    done = start(own, *options)
    assert done.returncode == 1 and done.stderr == "muxd: keeper: muxd and muxd-keeper are not of one version; install both again\n", done
    wait_for(lambda: not own.pids(), "all of it to go")


@pytest.mark.parametrize("args", [[], ["--start"], ["--start", "1:2:3", "muxd"], ["--what", "1", "muxd"], ["--resume", "x", "muxd"],
                                  ["--check", "0", "muxd"], ["--adopt", "0:0", "muxd"]], ids=lambda args: " ".join(args) or "nothing")
def test_by_hand(args):
    """Nobody is meant to start it; who does is told so, or nothing happens."""
    done = subprocess.run([KEEPER, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CAP)
    assert done.returncode in (1, 64), done
    assert args[1:] or "run muxd" in done.stderr, done


@pytest.mark.smoke
def test_names(mux):
    """What ps and pgrep show."""
    mux.ue("start").ok()
    status = mux.js("status")
    if command_line(status["pid"])[0].endswith(b"/muxd"):  # not under valgrind
        assert command_line(status["keeper_pid"])[0] == os.fsencode(KEEPER) and command_line(status["pid"])[:2] == [os.fsencode(DAEMON), b"--worker"]
        wait_for(lambda: sorted(comm(pid) for pid in mux.daemons()) == ["muxd", "muxd-keeper", "muxd-sentinel"], "the three names")


def test_whatever_lies_on_disk_now(own):
    """Who dies is made anew from the programs that were started: an installer may have replaced or removed them meanwhile."""
    own.ue("exec", "-n", "work", "-y", 0, "exec sleep 300").ok()
    own.keeper.unlink()
    put(own.daemon, b"not a program")
    for which in ("pid", "keeper_pid", "pid", "keeper_pid"):
        old = own.js("status")[which]
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: own.js("status").get(which, old) != old, f"another {which}")
        assert own.listed("work")["state"] == "running"
        assert own.ue("exec", "--raw", "echo here").ok().out == "here\n"


def law(build):
    return subprocess.run(["tests/keeper.sh", str(build)], cwd=ROOT, capture_output=True, text=True, timeout=CAP, stdin=subprocess.DEVNULL)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's build has the sanitizer's libraries")
def test_the_law_is_measured_on_what_is_linked(mux):
    if not KEEPER.with_suffix(".map").exists():
        pytest.skip("this build tells nothing of its objects")
    build = mux.dir / "build"
    build.mkdir()
    shutil.copy(KEEPER, build)
    objects = KEEPER.with_suffix(".map").read_text().splitlines()
    objects = [line.replace(line[len("LOAD "):line.index("/obj/")], str(build)) for line in objects
               if line.startswith("LOAD ") and "/obj/" in line]
    (build / "muxd-keeper.map").write_text("\n".join(objects) + "\n")
    done = law(build)
    assert done.returncode == 0 and "muxd/keep/keeper/keeper.c" in done.stdout and f"in {len(objects)} files" in done.stdout, done
    (build / "muxd-keeper.map").write_text("\n".join([*objects, f"LOAD {build}/obj/muxd/wire/json.o"]) + "\n")
    done = law(build)
    assert done.returncode == 1 and "muxd/wire/json.c: it may be linked from keep/ and base/ only" in done.stdout, done
    shutil.copy(DAEMON, build / "muxd-keeper")
    done = law(build)
    assert done.returncode == 1 and "it needs" in done.stdout and "may not allocate" in done.stdout, done
