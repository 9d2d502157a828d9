"""ue wait: until sessions have ended, or have printed something."""
import os, signal

import pytest
from conftest import wait_for

pytestmark = pytest.mark.no_pty


def start(mux, name, script):
    mux.ue("exec", "-n", name, "--no-login", "-y", "0", script).ok()


def gate(name, then):
    return f"while [ ! -e {name} ]; do sleep 0.02; done; {then}"


@pytest.mark.smoke
def test_all_and_their_status(mux):
    start(mux, "a", gate("go", "exit 3"))
    start(mux, "b", gate("go", "exit 0"))
    waiting = mux.popen("wait", "b", "a")
    wait_for(lambda: mux.js("status")["waits"] == 2, "both waits")
    (mux.dir / "go").touch()
    result = mux.finish(waiting)
    assert result.rc == 3 and sorted(result.out.splitlines()) == ["a\texited\t3", "b\texited\t0"]
    assert mux.ue("wait", "b").rc == 0 and mux.ue("wait", "a", "b").rc == 3  # ended ones are told at once


def test_any(mux):
    start(mux, "a", gate("never", "exit 3"))
    start(mux, "b", gate("go", "exit 4"))
    waiting = mux.popen("wait", "--any", "--json", "a", "b")
    wait_for(lambda: mux.js("status")["waits"] == 2, "both waits")
    (mux.dir / "go").touch()
    result = mux.finish(waiting)
    assert result.rc == 4 and [row["name"] for row in result.json["sessions"]] == ["b"]
    wait_for(lambda: mux.js("status")["waits"] == 0, "the other wait to be gone")
    mux.ue("kill", "a")


def test_until_and_no_reader_is_moved(mux):
    start(mux, "a", gate("begin", "echo before; ") + gate("go", "echo now; exec sleep 600"))
    (mux.dir / "begin").touch()  # what exec itself would have shown is read already
    assert mux.ue("wait", "--until", "before", "a").out == "a\trunning\t-\n"
    waiting = mux.popen("wait", "--until", "now", "a")
    wait_for(lambda: mux.js("status")["waits"] == 1, "the wait")
    (mux.dir / "go").touch()
    assert mux.finish(waiting).rc == 0
    assert mux.js("poll", "a")["output"] == "before\nnow\n"
    mux.ue("kill", "a")
    assert mux.ue("wait", "--until", "never", "a").rc == 124


def test_deadline_and_errors(mux):
    start(mux, "a", "exec sleep 600")
    assert mux.ue("wait", "-y", "100", "a").rc == 124
    unknown = mux.ue("wait", "a", "nobody")
    assert unknown.rc == 127 and "'nobody'" in unknown.err
    assert mux.ue("wait").rc == 64 and mux.ue("wait", "--any", "--all", "a").rc == 64
    mux.ue("kill", "a")
    assert mux.ue("wait", "a").out.startswith("a\tkilled\t")


def test_the_worker_dies_meanwhile(mux):
    start(mux, "a", gate("go", "exit 5"))
    waiting = mux.popen("wait", "a")
    wait_for(lambda: mux.js("status")["waits"] == 1, "the wait")
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    wait_for(lambda: mux.js("status")["waits"] == 1, "the wait with the successor")
    (mux.dir / "go").touch()
    assert mux.finish(waiting).rc == 5
