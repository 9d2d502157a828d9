"""A kill on a loaded machine: a look at the processes may take longer than any grace, and the worker may die in the middle of it."""
import os, signal

import pytest
from drill import BUILD, gone, stat, wait_for
from slow_gates import BEFORE_A_PASS, BEHIND_A_SIGSTOP, OPEN, Slow

SLOW = BUILD / "crash" / "slow.so"
pytestmark = pytest.mark.skipif(not SLOW.exists(), reason=f"'{SLOW}' was not built")


@pytest.fixture
def slow(make_mux):
    mux = make_mux(config="[muxd]\nkill_grace = 20s\n")
    mux.slow = Slow(mux, SLOW, wait_for)
    return mux.start(env=mux.slow.env)


def start(mux, on_term):
    """A session whose leader ends at SIGHUP and has left one that does not: its number. It notes each SIGTERM in the file `term`."""
    script = mux.dir / "stays"
    script.write_text(f"trap '' HUP\ntrap '{on_term}' TERM\necho $$ >pid\nuntil [ -e go ]; do sleep 0.02; done\necho bye >bye\n")
    n = mux.run(f"cd {mux.dir} && setsid -f sh {script} </dev/null >/dev/null 2>&1; exec sleep 300", "s")
    return n, int(wait_for(lambda: (mux.dir / "pid").exists() and (mux.dir / "pid").read_text().strip(), "its descendant"))


def test_graces_begin_with_the_signals(slow):
    """The look before them takes longer than the grace; the program has its time all the same."""
    n, pid = start(slow, "echo >term")
    slow.slow.shut(BEFORE_A_PASS)
    client = slow.client()
    ticket = client.begin("kill_session", {"session_id": n})
    slow.slow.wait()
    slow.slow.open_later(600)
    wait_for((slow.dir / "term").exists, "SIGTERM")
    (slow.dir / "go").touch()
    assert client.finish(ticket)["sessions"][0]["survivors"] == 0
    assert gone(pid) and (slow.dir / "bye").exists(), "it was killed in its grace"


def test_who_was_stopped_is_killed(slow):
    """The look in which it was stopped takes longer than the whole hunt may."""
    n, pid = start(slow, ": >term")
    client = slow.client()
    ticket = client.begin("kill_session", {"session_id": n})
    wait_for((slow.dir / "term").exists, "SIGTERM")
    slow.slow.shut(BEHIND_A_SIGSTOP)
    slow.slow.put_ahead(30)  # the grace is over
    slow.slow.wait()
    wait_for(lambda: stat(pid)[0] in "Tt", "it to have stopped")
    slow.slow.open_later(600)
    assert client.finish(ticket)["sessions"][0]["survivors"] == 0
    assert gone(pid) and not (slow.dir / "bye").exists()


@pytest.mark.parametrize("caller", ["stays", "gone"])
def test_a_kill_goes_on_after_the_workers_crash(make_mux, caller):
    """The next worker completes it. Who asked gets the answer from that one."""
    mux = make_mux(config="[muxd]\nkill_grace = 2s\n").start()
    n = mux.run(f"trap ': >{mux.dir}/hup' HUP; trap '' TERM; echo up; while :; do sleep 0.02; done", "s", shell="/bin/bash")
    mux.until(n, "up")
    pid = mux.row(n)["pid"]
    ue = mux.popen("kill", "s")
    wait_for((mux.dir / "hup").exists, "the kill to begin")
    if caller == "gone":
        ue.kill()
        ue.communicate()
    os.kill(mux.worker(), signal.SIGKILL)
    if caller == "stays":
        result = mux.finish(ue).ok()
        assert result.out == f"s ({n}): ended by KILL, exit status 137\n", result
    wait_for(lambda: gone(pid), "its end")
    assert mux.ended(n)["state"] == "killed" and mux.call("status")["generation"] == 2
