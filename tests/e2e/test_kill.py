"""ue kill."""
import os
from pathlib import Path

import pytest
from conftest import CAP, wait_for

STUBBORN = "trap '' HUP TERM INT; echo up; while :; do sleep 0.1; done"


def up(mux, command, name="s", *options):
    mux.ue("exec", "-n", name, *options, "--until", "up", "-y", CAP * 1000, command).ok()
    return mux.listed(name)


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.smoke
@pytest.mark.no_pty
def test_killed_session_is_gone_and_keeps_its_output(mux):
    row = up(mux, "echo up; exec sleep 300")
    mux.ue("kill", "s").ok()
    assert gone(row["pid"]) and mux.listed("s")["state"] == "killed"
    assert mux.ue("poll", "--raw", "--since", "0", "s").out == "up\n"


@pytest.mark.no_pty
def test_answer_says_how_it_ended(mux):
    number = up(mux, "echo up; exec sleep 300")["session_id"]
    killed = mux.js("kill", "s")["sessions"]
    assert [(k["session_id"], k["name"]) for k in killed] == [(number, "s")]
    assert killed[0]["ended_by"] and killed[0]["exit_code"] > 128 and not killed[0]["survivors"]


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
def test_program_that_ignores_everything_is_killed(mux, options):
    row = up(mux, STUBBORN, "s", *options)
    killed = mux.js("kill", "s")["sessions"][0]
    assert killed["exit_code"] == 137 and killed["signal"] in (9, "KILL", "SIGKILL") and gone(row["pid"])


@pytest.mark.no_pty
def test_stopped_program_is_killed(mux):
    row = up(mux, "echo up; kill -STOP $$; echo never")
    assert mux.js("kill", "s")["sessions"][0]["ended_by"] == "HUP"  # it is made to go on, and so it hears of it
    assert gone(row["pid"])


def test_job_in_the_background_of_a_shell_is_killed(mux):
    mux.shell()
    child = int(mux.line("sh", "sleep 300 & echo pid=$!=")["output"].split("pid=")[-1].split("=")[0])
    mux.ue("kill", "sh").ok()
    wait_for(lambda: gone(child))


def test_foreground_program_is_killed(mux):
    mux.shell()
    mux.ue("write", "--no-ready", "--until", "inner", "-y", CAP * 1000, "-l", "sh", "bash -c 'trap \"\" HUP TERM; echo in''ner $$; while :; do sleep 0.1; done'").ok()
    mux.ue("kill", "sh").ok()
    assert mux.listed("sh")["state"] == "killed"


@pytest.mark.no_pty
def test_one_signal_by_name(mux):
    up(mux, "trap 'echo got-usr1; exit 12' USR1; echo up; while :; do sleep 0.02; done")
    mux.ue("kill", "-s", "USR1", "s").ok()
    result = mux.ue("poll", "--json", "--exit", "s")
    assert result.rc == 12 and "got-usr1" in mux.ue("poll", "--raw", "--since", "0", "s").out


@pytest.mark.no_pty
@pytest.mark.parametrize("spelling", ["SIGUSR1", "usr1", "10"])
def test_signal_spellings(mux, spelling):
    up(mux, "trap 'exit 12' USR1; echo up; while :; do sleep 0.02; done")
    mux.ue("kill", "-s", spelling, "s").ok()
    assert mux.ue("poll", "--exit", "s").rc == 12


@pytest.mark.no_pty
def test_unknown_signal_is_refused(mux):
    up(mux, "echo up; exec sleep 300")
    result = mux.ue("kill", "-s", "NOPE", "s")
    assert result.rc in (64, 125) and "NOPE" in result.err and mux.listed("s")["state"] == "running"


@pytest.mark.no_pty
def test_several_at_once(mux):
    for name in "abc":
        up(mux, "echo up; exec sleep 300", name)
    mux.ue("kill", "a", "b").ok()
    assert [mux.listed(n)["state"] for n in "abc"] == ["killed", "killed", "running"]


@pytest.mark.no_pty
def test_all(mux):
    for name in "abc":
        up(mux, "echo up; exec sleep 300", name)
    assert len(mux.js("kill", "--all")["sessions"]) == 3
    assert mux.js("list")["sessions"] == []


@pytest.mark.no_pty
def test_unknown_beside_known_kills_the_known_or_none_and_says_so(mux):
    up(mux, "echo up; exec sleep 300", "a")
    result = mux.ue("kill", "a", "nope")
    assert result.rc == 127 and "nope" in result.err


def test_own_session_only_with_self(mux):
    mux.shell()
    from conftest import UE
    answer = mux.line("sh", f"'{UE}' kill $MUXD_SESSION; echo rc=$?", "--until", r"rc=\d+\s")
    assert "rc=125" in answer["output"] and "--self" in answer["output"]
    result = mux.ue("write", "--exit", "-l", "sh", f"'{UE}' kill --self $MUXD_SESSION")
    assert mux.listed("sh")["state"] == "killed", result


@pytest.mark.no_pty
def test_waiting_client_is_told(mux):
    up(mux, "echo up; exec sleep 300")
    process = mux.popen("poll", "--json", "--exit", "s")
    wait_for(lambda: process.poll() is None)
    mux.ue("kill", "s").ok()
    answer = mux.finish(process).json
    assert answer["state"] == "killed" and answer["reason"] == "exit"


@pytest.mark.no_pty
def test_name_is_free_after_the_kill(mux):
    up(mux, "echo up; exec sleep 300")
    mux.ue("kill", "s").ok()
    assert mux.ue("exec", "-n", "s", "--raw", "echo again").ok().out == "again\n"


def passes(mux):
    """How often the daemon has read all of /proc."""
    return mux.js("status")["process_passes"]


def test_many_share_their_looks(mux):
    """Each look reads a file or two of every process: one for each session that is ended would be the square of their number."""
    count = 60
    mux.configure(f"[limits]\nmax_sessions = {count}\njournal_total = 8G\n")
    rpc = mux.rpc()
    started = [rpc.send("exec_command", {"cmd": ["/bin/sh", "-c", "sleep 300 & wait"], "yield_time_ms": 250, "name": f"s{n}"}) for n in range(count)]
    for id in started:
        rpc.result(id)
    before = passes(mux)
    assert mux.js("kill", "s0")["sessions"][0]["survivors"] == 0
    assert passes(mux) - before <= 5
    before = passes(mux)
    answer = mux.js("kill", "--all")["sessions"]
    assert len(answer) == count - 1 and all(one["survivors"] == 0 for one in answer), answer
    assert passes(mux) - before <= count // 2
    before = passes(mux)
    assert len(mux.js("list", "--all")["sessions"]) == count
    assert passes(mux) - before <= 1
