"""What a verb is given must hold, or be refused by name."""
import subprocess, time
from pathlib import Path

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


@pytest.mark.parametrize("args", [("exec", "true"), ("exec", "--raw", "true"), ("exec", "--stdin", "true"), ("poll", "s"),
                                  ("poll", "--exit", "s"), ("write", "s", "x")])
def test_wait_over_the_limit_names_it(mux, args):
    mux.configure("[limits]\nmax_wait = 11s\n")
    mux.ue("exec", "-n", "s", "-y", "0", "sleep 300").ok()
    result = mux.ue(args[0], "-y", "12s", *args[1:])
    assert result.rc == 125 and "max_wait" in result.err and "12000" in result.err and "11000" in result.err, result
    assert len(mux.js("list", "--all")["sessions"]) == 1, "nothing was started"
    assert mux.ue("exec", "-y", "11s", "true").ok()
    assert mux.ue("exec", "-y", "inf", "true").ok()


def test_events_over_the_limit_names_it(mux):
    mux.configure("[limits]\nmax_wait = 11s\n")
    result = mux.ue("events", "-y", "12s")
    assert result.rc == 125 and "max_wait" in result.err and "12000" in result.err, result
    assert mux.ue("events", "-y", "0").ok()
    verb = {"verb": True}
    mux.ue("exec", "-n", "s", "-y", "0", "sleep 300").ok()
    with pytest.raises(mux.rpc().Error, match="max_wait"):
        mux.rpc().call("read_input", {"session_id": "s", "since": 1, "yield_time_ms": 12000, "_meta": verb})


def test_tools_are_clamped_as_ever(mux):
    mux.configure("[limits]\nmax_wait = 11s\n")
    assert mux.rpc().call("exec_command", {"cmd": "true", "yield_time_ms": 9999999})["exit_code"] == 0


def test_unknown_signal_names_the_nearest(mux):
    mux.ue("exec", "-n", "x", "-y", "0", "sleep 300").ok()
    result = mux.ue("kill", "-s", "TRM", "x")
    assert result.rc == 64 and "'TERM'" in result.err, result
    result = mux.call("kill_session", {"session_id": "x", "signal": "SIGHPU"})
    assert result.rc != 0 and "'HUP'" in result.out + result.err, result
    assert "INT, TERM" in mux.ue("kill", "-s", "wwwwwwwww", "x").err
    assert mux.listed("x")["state"] == "running"


def test_reload_says_what_does_not_hold_yet(mux):
    mux.ue("start").ok()
    mux.configure("[limits]\nhead = 1M\nmax_wait = 2h\n[muxd]\nlog = /dev/null\n")
    answer = mux.js("reload")
    assert answer["changes"] == 3 and answer["new_sessions"] == ["[limits] head"] and answer["after_restart"] == ["[muxd] log"], answer
    mux.configure("[limits]\nhead = 2M\nmax_wait = 2h\n")
    out = mux.ue("reload").ok().out
    assert "[limits] head holds for sessions that start from now on" in out and "[muxd] log holds when" in out
    out = mux.ue("reload").ok().out
    assert "holds" not in out


def test_a_reader_that_loses_its_place_is_named(mux):
    mux.configure("[limits]\nreaders = 3\n")
    mux.ue("exec", "-n", "s", "--until", "a", "-y", CAP * 1000, "echo a; exec sleep 300").ok()
    for name in "one", "two", "one":
        assert "replaced_reader" not in mux.js("poll", "--reader", name, "-y", "0", "s")
    assert mux.js("poll", "--reader", "three", "-y", "0", "s")["replaced_reader"] == "two"
    assert "'one'" in mux.ue("poll", "--reader", "four", "-y", "0", "s").ok().err


def switches(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line)


@pytest.mark.parametrize("raw", [(), ("--raw",)], ids=["text", "raw"])
def test_silent_standard_input_wakes_nobody(mux, raw):
    process = mux.popen("exec", "--stdin", "-n", "s", "-y", "inf", *raw, "read a; echo got $a; read b; echo then $b; exec sleep 300", stdin=subprocess.PIPE)
    wait_for(lambda: mux.listed("s"))

    def at_rest():
        before = switches(process.pid)
        end = time.monotonic() + 0.6
        wait_for(lambda: time.monotonic() > end)
        return switches(process.pid) == before
    wait_for(at_rest, "ue to sleep until something happens")
    process.stdin.write(b"one\n")
    process.stdin.flush()
    wait_for(lambda: "got one" in mux.ue("poll", "--since", "0", "--peek", "-y", "0", "s").out)
    process.stdin.write(b"two\n")
    process.stdin.flush()
    wait_for(lambda: "then two" in mux.ue("poll", "--since", "0", "--peek", "-y", "0", "s").out)
    mux.ue("kill", "s").ok()
    assert process.wait(CAP) != 0, "the end of the command is noticed though standard input stays open and silent"
    out = process.stdout.read().decode()
    assert "got one\n" in out and "then two\n" in out
    mux.background.remove(process)
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()
