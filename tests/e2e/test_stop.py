"""ue stop and the daemon's own signals."""
import os, signal
from pathlib import Path

import pytest
from conftest import CAP, UE, wait_for

pytestmark = pytest.mark.no_pty


def gone(mux):
    wait_for(lambda: not mux.pids(), "every process to be gone")


@pytest.mark.smoke
def test_ends_sessions_and_daemon(mux):
    for n in range(5):
        mux.ue("exec", "-y", "0", "exec sleep 300").ok()
    daemons = mux.daemons()
    mux.ue("stop").ok()
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in daemons))  # the worker has answered, the others follow
    assert not mux.socket.exists()
    gone(mux)


def test_ends_what_ignores_signals(mux):
    mux.ue("exec", "--until", "up", "-y", CAP * 1000, "trap '' HUP TERM INT; echo up; while :; do sleep 0.1; done").ok()
    mux.ue("stop").ok()
    gone(mux)


def test_programs_may_clean_up(mux):
    mux.configure("[muxd]\nkill_grace = 20s\n")
    mux.ue("exec", "--until", "up", "-y", CAP * 1000, "trap 'echo bye > bye; exit' HUP; echo up; while :; do sleep 0.02; done").ok()
    mux.ue("stop").ok()
    assert (mux.dir / "bye").read_text() == "bye\n"


def test_without_a_daemon(mux):
    result = mux.ue("--no-start", "stop")
    assert result.rc in (0, 69) and not mux.daemons()


def test_from_within_only_with_self(mux):
    result = mux.ue("exec", "--raw", f"'{UE}' stop; echo rc=$?").ok()
    assert "rc=125" in result.out and "--self" in result.err and mux.daemons()
    mux.ue("exec", f"'{UE}' stop --self")
    gone(mux)


def test_waiting_clients_are_told(mux):
    process = mux.popen("exec", "--json", "-n", "s", "-y", "inf", "exec sleep 300")
    wait_for(lambda: mux.listed("s"))
    mux.ue("stop").ok()
    result = mux.finish(process)
    assert result.rc != 0, result


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_the_daemon_like_ue_stop(mux, number):
    mux.ue("exec", "-y", "0", "exec sleep 300").ok()
    keeper = min(mux.daemons())
    os.kill(keeper, number)
    gone(mux)


def test_next_call_starts_anew(mux):
    mux.ue("exec", "true").ok()
    mux.ue("stop").ok()
    assert mux.ue("exec", "--raw", "echo again").ok().out == "again\n"


def test_a_slow_end_is_explained(mux):
    """The client waits as long as it takes, and says what for."""
    mux.configure("[muxd]\nkill_grace = 2500ms\n")
    mux.ue("exec", "--until", "up", "-y", CAP * 1000, "trap '' HUP TERM INT; echo up; while :; do sleep 0.1; done").ok()
    result = mux.ue("stop").ok()
    assert "ends its sessions (1)" in result.err and "stopped" in result.out
    gone(mux)
