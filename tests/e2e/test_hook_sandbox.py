"""[hook NAME] in a sandbox: what each mode lets its command do, that nothing runs where none can be had, and that nothing outlives it."""
import json, os, shlex, sys

import pytest
from conftest import need_sandbox, wait_for
from test_hooks import events_in, hooked, is_gone, log_of
from test_sandbox import fake, gate  # noqa: F401  (fixtures)

pytestmark = pytest.mark.no_pty
WRITES = "workspace-write"


class Place:
    """A directory for a hook to work in, and one beside it that it may not write."""

    def __init__(self, mux, mode):
        self.mux, self.work, self.out = mux, mux.dir / "w", mux.dir / "outside"
        self.work.mkdir()
        self.out.mkdir()
        need_sandbox(mux.ue("sandbox", "--explain", "--mode", mode, "--no-temp", cwd=self.work))

    def configure(self, *hooks):
        self.mux.configure("".join(hooks))
        self.mux.ue("reload").ok()

    def end_one(self):
        self.mux.ue("exec", "--no-login", "echo over").ok()


def test_workspace_write_reads_its_event_and_writes_below_its_workdir(mux):
    place = Place(mux, WRITES)
    script = f"cat >event; touch {place.out}/no; touch .git/no; env >.env; echo went on; exit 5"
    place.configure(hooked(mux, "h", on="end", workdir=place.work, sandbox=WRITES, temp="no", run=script),
                    hooked(mux, "free", on="end", run=f"touch {place.out}/free"))
    place.end_one()
    wait_for(lambda: "exit status 5" in log_of(mux), "the end of the hook")
    assert events_in(place.work / "event")[0]["aggregated_output"] == "over\n"
    assert "CODEX_SANDBOX_NETWORK_DISABLED=1" in (place.work / ".env").read_text().splitlines()
    assert log_of(mux).count("Read-only file system") == 2 and "went on" in log_of(mux)
    wait_for(lambda: os.listdir(place.out) == ["free"], "the hook without a sandbox")
    assert sorted(os.listdir(place.work)) == [".env", "event"]  # what stood for missing names is gone


def test_read_only_writes_nothing_and_has_no_network(mux):
    place = Place(mux, "read-only")
    connects = shlex.quote(f"{sys.executable} -c 'import socket; s = socket.socket(); s.settimeout(1); s.connect((\"127.0.0.1\", 9))'")
    place.configure(hooked(mux, "h", on="end", workdir=place.work, sandbox="read-only", run=f"touch no; sh -c {connects} 2>&1 | tail -n 1; wc -l; exit 5"))
    place.end_one()
    wait_for(lambda: "exit status 5" in log_of(mux), "the end of the hook")
    assert not os.listdir(place.work)
    assert "touch: " in log_of(mux) and ("not permitted" in log_of(mux) or "unreachable" in log_of(mux) or "Permission" in log_of(mux)), log_of(mux)


def test_what_a_confined_hook_starts_ends_with_its_time(mux):
    """All of it: what left the session, what ignores signals, and the directories that stood for missing names."""
    place = Place(mux, WRITES)
    away = "setsid sh -c 'trap \"\" TERM HUP; exec >/dev/null 2>&1 </dev/null; touch up; sleep 600; sleep 600' & wait"
    place.configure(hooked(mux, "h", on="end", workdir=place.work, sandbox=WRITES, temp="no", timeout="3s", run=away))
    place.end_one()
    wait_for(lambda: (place.work / "up").exists(), "the hook's own process")
    inside = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and works_in(pid, place.work)]
    assert inside
    wait_for(lambda: "killed at its timeout" in log_of(mux), "the log")
    wait_for(lambda: all(map(is_gone, inside)), "the end of all of them")
    wait_for(lambda: os.listdir(place.work) == ["up"], "the end of what stood for missing names")


def works_in(pid, place):
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", place)
    except OSError:
        return False


def test_a_confined_hook_may_not_use_muxd(mux):
    """With a network a socket that is not hidden could be reached: it says itself who asks."""
    place = Place(mux, WRITES)
    ask = f"""{sys.executable} -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); print(s.recv(4096))'"""
    run = f"""{ask} {mux.socket} '{{"jsonrpc":"2.0","id":1,"method":"list_sessions"}}' 2>&1; ue list 2>&1; exit 5"""
    place.configure(hooked(mux, "h", on="end", workdir=place.work, sandbox=WRITES, network="yes", run=run))
    place.end_one()
    wait_for(lambda: "exit status 5" in log_of(mux), "the end of the hook")
    assert "sessions" not in log_of(mux).split("exit status 5")[1], log_of(mux)


def test_a_hook_without_its_sandbox_is_not_run(mux, fake):  # noqa: F811
    fake("#!/bin/sh\necho 'bwrap: no permissions to create a new namespace' >&2\nexit 1\n")
    out = mux.dir / "out"
    mux.configure(hooked(mux, "h", on="end", workdir=mux.dir, sandbox=WRITES, run="touch ran") + hooked(mux, "free", on="end", run=f"cat >>{out}"))
    for i in range(2):
        mux.ue("exec", "--no-login", "echo over").ok()
    wait_for(lambda: len(events_in(out)) == 2, "the hook that needs none")
    wait_for(lambda: log_of(mux).count("[hook h] event") == 2, "the log")
    assert log_of(mux).count("not run: ") == 2 and "can't be enforced here, and nothing runs without it" in log_of(mux)
    assert "the config asks for one" in mux.ue("doctor").out
    assert not (mux.dir / "ran").exists()


def test_the_trial_delays_nobody_and_loses_no_event(mux, fake, gate):  # noqa: F811
    """The events of that time come in their order once the trial is over; a reload meanwhile and a stop don't hang on it."""
    out = mux.dir / "out"
    fake(f"#!/bin/sh\nread line <{gate.path}\necho 'bwrap: not here' >&2\nexit 1\n")
    mux.configure(hooked(mux, "h", on="end", workdir=mux.dir, sandbox=WRITES, run="touch ran") + hooked(mux, "free", on="end", run=f"cat >>{out}"))
    for name in "ab":
        assert mux.ue("exec", "-n", name, "--no-login", "echo over").answer["output"] == "over\n"
    gate.open()
    wait_for(lambda: len(events_in(out)) == 2, "the hook behind it")
    assert {event["name"] for event in events_in(out)} == {"a", "b"} and not (mux.dir / "ran").exists()


def test_a_stop_while_the_trial_runs(mux, fake, gate):  # noqa: F811
    fake(f"#!/bin/sh\ntouch {mux.dir}/trying\nread line <{gate.path}\nexit 0\n")
    mux.configure(hooked(mux, "h", on="end", workdir=mux.dir, sandbox=WRITES, run="touch ran"))
    mux.ue("exec", "--no-login", "echo over").ok()
    wait_for(lambda: (mux.dir / "trying").exists(), "the trial")
    stop = mux.popen("stop")
    wait_for(lambda: "stopping" in log_of(mux), "the stop")
    gate.open()
    mux.finish(stop).ok()


def test_the_config_and_the_plan(mux):
    (mux.dir / "w").mkdir()
    lacks = hooked(mux, "h", on="end", run="true", sandbox=WRITES)
    mux.configure(lacks)
    told = mux.ue("list")
    assert told.rc != 0 and "it lacks; add that, or use read-only" in told.err + log_of(mux), told
    mux.configure(lacks + f"workdir = {mux.dir}/w\nwritable_roots = {mux.dir}\nnetwork = yes\n" + hooked(mux, "free", on="end", run="true"))
    for line in ("sandbox = workspace-write", f"workdir = {mux.dir}/w", "network = yes", "temp = yes"):
        assert f"[hook h] {line}" in mux.ue("config").out
    (mux.dir / "muxd.rules").touch()
    told = mux.ue("sandbox", "--explain", "--hook", "h", "--json")
    assert mux.ue("sandbox", "--explain", "--hook", "free").ok().out == "mode       full-access: no sandbox\n"
    assert "there is no [hook x] in the config" in mux.ue("sandbox", "--explain", "--hook", "x").err
    need_sandbox(told)
    assert told.json["network"] and f"writable   {mux.dir}/w\n" in told.json["text"] and f"writable   {mux.dir}\n" in told.json["text"]
