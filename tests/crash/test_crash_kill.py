"""A kill leaves nothing of a session alive, however its programs try to escape; a normal end kills nothing."""
import os, signal, subprocess
from pathlib import Path

import pytest
from drill import CAP, Drill, gone, stat, wait_for

QUICK = "[muxd]\nkill_grace = 50ms\n"
BOTH = pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
MARK = "sleep 3171"  # what the escapees run is told from all else by its arguments

FORKER = """
import os, signal, time
for s in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    signal.signal(s, signal.SIG_IGN)
print("up", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)  # as fast as it can be without taking a whole processor
"""

ESCAPES = {
    "nohup": f"nohup {MARK} >/dev/null 2>&1 </dev/null & echo up; wait",
    "setsid": f"setsid {MARK} & sleep 0.05; echo up; wait",
    "setsid without wait": f"setsid -f {MARK}; echo up; exec sleep 300",
    "double fork": f"(setsid sh -c '{MARK} & exit' &) ; sleep 0.05; echo up; exec sleep 300",
    "ignores HUP and TERM": f"(trap '' HUP TERM INT; {MARK}) & trap '' HUP TERM INT; echo up; wait",
    "stopped": f"{MARK} & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; echo up; kill -STOP $$; wait",
    "disowned job": f"{MARK} & disown; echo up; exec sleep 300",
    "other group": f"set -m; {MARK} & echo up; wait",
    "deep": f"bash -c 'bash -c \"setsid bash -c \\\"trap : HUP TERM; {MARK} & wait; wait\\\" & wait\" & wait' & echo up; wait",
    "cleared environment": f"setsid env -i /bin/{MARK} & sleep 0.05; echo up; wait",
    "cleared environment, orphaned": f"(setsid env -i /bin/{MARK} &) ; sleep 0.05; echo up; exec sleep 300",
}


def escapees(mux):
    """Processes of the session's own kind that live, also those that shed every mark: they are children of nobody else."""
    found = []
    for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        try:
            line, fields = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "), stat(pid)
            if line.strip().endswith(mux.mark.encode()) and b"sleep" in line.split()[0] and fields and fields[0] not in "ZX":
                found.append(pid)
        except (OSError, IndexError):
            pass
    return found


@pytest.fixture
def quick(make_mux):
    mux = make_mux(config=QUICK)
    mux.mark = f"sleep 3171.{os.getpid():06d}"  # other tests' escapees are none of ours
    yield mux.start()
    for pid in escapees(mux):
        os.kill(pid, signal.SIGKILL)


def start(mux, command, tty=False, name="s"):
    n = mux.run(command.replace(MARK, mux.mark), name, tty, shell="/bin/bash")
    mux.until(n, "up")
    return n


@BOTH
@pytest.mark.parametrize("how", ESCAPES)
def test_escape(quick, how, tty):
    n = start(quick, ESCAPES[how], tty)
    wait_for(lambda: escapees(quick), "the escapee")
    answer = quick.call("kill_session", {"session_id": n})["sessions"][0]
    assert answer["survivors"] == 0 and answer["state"] == "killed", answer
    assert not escapees(quick), [Path(f"/proc/{p}/stat").read_text() for p in escapees(quick)]


@BOTH
def test_forks_fast(quick, tty):
    script = quick.dir / "forker.py"
    script.write_text(FORKER)
    n = start(quick, f"/usr/bin/python3 {script} & wait; exec sleep 300", tty)
    answer = quick.call("kill_session", {"session_id": n})["sessions"][0]
    assert answer["survivors"] == 0, answer
    assert len([p for p in quick.pids() if not gone(p)]) == len(quick.daemons())


def test_neighbours_are_left_alone(quick):
    """Each session's programs are told by their mark."""
    other = start(quick, f"setsid {MARK} & echo up; wait", name="other")
    n = start(quick, "setsid -f sleep 300; echo up; exec sleep 300")
    quick.call("kill_session", {"session_id": n})
    assert quick.state_of(other) == "running" and escapees(quick)
    quick.call("kill_session", {"session_id": other})
    assert not escapees(quick)


def test_kill_after_a_crash_is_as_complete(quick):
    n = start(quick, f"(trap '' HUP TERM; setsid -f {MARK}); setsid -f env -i /bin/{MARK}; echo up; exec sleep 300")
    wait_for(lambda: len(escapees(quick)) == 2)
    quick.kill_worker()
    assert quick.call("kill_session", {"session_id": n})["sessions"][0]["survivors"] == 0
    assert not escapees(quick)


@pytest.mark.parametrize("command, left", [(f"setsid -f {MARK}; setsid -f {MARK}; echo up", 2), (f"{MARK} & echo up", 1), ("echo up", 0)],
                         ids=["two", "one", "none"])
def test_normal_end_kills_nothing(quick, command, left):
    n = quick.run(command.replace(MARK, quick.mark) + " >/dev/null 2>&1 </dev/null", shell="/bin/bash")
    answer = quick.ended(n)
    assert answer["state"] == "exited" and answer["exit_code"] == 0
    wait_for(lambda: len(escapees(quick)) == left)
    assert quick.row(n)["children_left"] == left
    quick.call("kill_session", {"session_id": n})
    assert not escapees(quick), "the kill of an ended session ends what it left behind"


def test_killed_by_stop(make_mux):
    mux = make_mux(config=QUICK)
    mux.mark = f"sleep 3171.{os.getpid():06d}"
    mux.start()
    for how in ("setsid without wait", "ignores HUP and TERM", "stopped"):
        start(mux, ESCAPES[how], name=how.split()[0])
    mux.call("stop")
    wait_for(lambda: gone(mux.keeper))
    assert not escapees(mux)
    mux.keeper = None


def test_another_daemons_session_is_left_alone(quick):
    """Another daemon's session of the same number is none of ours."""
    stranger = subprocess.Popen(["/bin/sleep", "300"], env={"MUXD_SESSION": "1000", "MUXD_SOCKET": "/another/socket"},
                                start_new_session=True)
    try:
        n = start(quick, "echo up; exec sleep 300")
        assert n == 1000
        quick.call("kill_session", {"session_id": n})
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
