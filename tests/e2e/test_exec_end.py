"""ue exec without -n, -t, -y and without a wait: it waits for the end and gives the command's status, as ssh does."""
import os, signal, subprocess

import pytest
from conftest import CAP, wait_for

SOON = "[defaults]\nyield_exec = 50ms\n"


@pytest.mark.smoke
@pytest.mark.no_pty
@pytest.mark.parametrize("options", [[], ["--raw"], ["--stdin"], ["--raw", "--stdin"], ["--argv"]], ids=" ".join)
def test_waits_longer_than_a_wait_of_exec(mux, options):
    mux.configure(SOON)
    command = ["sh", "-c", "sleep 1; echo end; exit 3"] if "--argv" in options else ["sleep 1; echo end; exit 3"]
    result = mux.ue("exec", *options, *command, input=b"")
    assert result.rc == 3
    assert (result.out if "--raw" in options else result.answer["output"]) == "end\n"


@pytest.mark.parametrize("options", [["-n", "s"], ["-t"], ["-y", "50"], ["--until", "no such"], ["--quiet", "50"]], ids=" ".join)
def test_with_a_name_a_terminal_or_a_wait_it_returns_before(mux, options):
    mux.configure(SOON)
    result = mux.ue("exec", *options, "--json", "exec sleep 600")
    assert result.json["state"] == "running" and result.json["reason"] in ("deadline", "quiet")
    assert result.rc == (124 if "--until" in options else 0)


@pytest.mark.no_pty
def test_raw_streams_while_it_runs(mux):
    with mux.popen("exec", "--raw", "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4", cwd=mux.dir) as ue:
        assert ue.stdout.readline() == b"one\n"
        (mux.dir / "go").touch()
        assert ue.stdout.readline() == b"two\n" and ue.wait() == 4


@pytest.mark.smoke
@pytest.mark.no_pty
@pytest.mark.parametrize("options", [[], ["--raw"], ["--stdin"]], ids=" ".join)
def test_interrupted_it_names_the_session_and_how_to_go_on(mux, options):
    ue = mux.popen("exec", *options, "exec sleep 600", stdin=subprocess.PIPE)
    wait_for(lambda: mux.listed("exec"))
    number = mux.listed("exec")["session_id"]
    wait_for(lambda: waits_in_ppoll(ue))
    ue.send_signal(signal.SIGINT)
    out, err = ue.communicate()
    # an interrupt that comes before the first answer finds only the name known
    word = "exec" if b"session 'exec' goes on" in err else str(number)
    assert ue.returncode == 130 and (word == "exec" or f"session {number} goes on".encode() in err), err
    for how in (f"ue poll --exit {word}", f"ue kill {word}"):
        assert how.encode() in err
    assert mux.listed("exec")["state"] == "running"
    mux.ue("kill", number).ok()


def waits_in_ppoll(process):
    with open(f"/proc/{process.pid}/wchan") as wchan, open(f"/proc/{process.pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S" and wchan.read() != ""


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [[], ["--raw"]], ids=" ".join)
def test_the_status_outlives_the_worker(mux, options):
    ue = mux.popen("exec", *options, "echo up; while [ ! -e go ]; do sleep 0.02; done; echo end; exit 5", cwd=mux.dir)
    wait_for(lambda: mux.listed("echo"))
    for _ in range(3):
        worker = mux.js("status")["pid"]
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: mux.js("status")["pid"] != worker)
    (mux.dir / "go").touch()
    out, err = ue.communicate()
    assert ue.returncode == 5 and b"up" in out and out.endswith(b"end\n")
    assert out.count(b"up\n") == 1 and out.count(b"end\n") == 1


@pytest.mark.no_pty
def test_format_by_variable(mux):
    raw = {"UE_FORMAT": "raw"}
    assert mux.ue("exec", "echo out; echo err >&2; exit 3", env=raw).raw == b"out\n"
    assert mux.ue("exec", "--json", "true", env=raw).json["state"] == "exited"
    assert mux.ue("exec", "echo hi", env={"UE_FORMAT": ""}).answer["output"] == "hi\n"
    assert mux.ue("exec", "echo hi", env={"UE_FORMAT": "model"}).answer["output"] == "hi\n"
    mux.ue("exec", "-n", "s", "--until", "up\n", "-y", CAP * 1000, "echo up; exec sleep 600").ok()
    assert mux.ue("poll", "--since", "0", "s", env=raw).ok().out == "up\n"
    assert mux.ue("poll", "--since", "0", "--to", "2", "s", env=raw).ok().answer["output"] == "up"
    assert mux.ue("call", "list_sessions", env={"UE_FORMAT": "no such"}).rc == 0


@pytest.mark.no_pty
def test_unknown_format(mux):
    result = mux.ue("exec", "true", env={"UE_FORMAT": "yaml"})
    assert result.rc == 64 and "UE_FORMAT" in result.err and "raw" in result.err
