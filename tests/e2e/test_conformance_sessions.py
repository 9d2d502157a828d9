"""Conformance with the Codex shell tools, sections 10 to 12: sessions, processes, environment, events. Named as in
test_conformance_unified.py."""
import json, os, signal

import pytest
from conftest import wait_for


@pytest.fixture
def rpc(mux):
    client = mux.rpc()

    def run(cmd, **arguments):
        return client.call("exec_command", {"cmd": cmd, "login": False, "workdir": str(mux.dir), **arguments})
    client.run = run
    return client


def events(rpc):
    return rpc.call("events", {"since": 1, "yield_time_ms": 0})["events"]


# --- 10
@pytest.mark.no_pty
def test_10_1_numbers_begin_at_1000(rpc):
    assert [rpc.run("true")["number"] for _ in range(3)] == [1000, 1001, 1002]


@pytest.mark.no_pty
def test_ours_10_1_numbers_are_never_used_twice(mux, rpc):
    first = rpc.run("true")["number"]
    mux.ue("stop").ok()
    assert mux.rpc().call("exec_command", {"cmd": "true", "login": False})["number"] > first


@pytest.mark.no_pty
def test_ours_10_2_a_live_session_is_never_pruned(mux):
    mux.configure("[limits]\nmax_sessions = 2\n")
    rpc = mux.rpc()
    for name in "ab":
        rpc.call("exec_command", {"cmd": "exec sleep 600", "name": name, "login": False, "yield_time_ms": 250})
    error = rpc.error("exec_command", {"cmd": "true", "login": False})
    assert error.code == "limit" and "max_sessions" in error.message
    rpc.call("kill_session", {"all": True})


@pytest.mark.no_pty
def test_10_3_leaving_ends_no_session(mux, rpc):
    other = mux.rpc()
    other.send("exec_command", {"cmd": "exec sleep 600", "name": "s", "login": False, "yield_time_ms": 30000})
    wait_for(lambda: mux.listed("s"), "the session")
    other.close()
    assert rpc.call("list_sessions")["sessions"][0]["name"] == "s"
    rpc.call("kill_session", {"session_id": "s"})


@pytest.mark.no_pty
def test_ours_10_3_children_left_behind_are_counted_and_live(rpc):
    answer = rpc.run("sleep 600 > /dev/null 2>&1 & echo $!")
    assert answer["children_left"] == 1
    os.kill(int(answer["output"]), 0)
    rpc.call("kill_session", {"session_id": answer["number"]})


@pytest.mark.no_pty
def test_ours_10_3_a_model_can_end_a_session_with_all_its_processes(rpc):
    rpc.run("setsid sleep 600 & sleep 600", name="s", yield_time_ms=250)
    (killed,) = rpc.call("kill_session", {"session_id": "s"})["sessions"]
    assert killed["survivors"] == 0 and killed["signal"] == "HUP"


@pytest.mark.no_pty
def test_10_4_pipes(rpc):
    assert rpc.run("[ -t 1 ] || echo no tty; readlink /proc/$$/fd/0; ps -o sid= -p $$ | tr -d ' '; echo $$")["output"].split("\n")[:2] == \
        ["no tty", "/dev/null"]
    sid, pid = rpc.run("ps -o sid= -p $$; echo $$")["output"].split()
    assert sid == pid
    assert rpc.run("echo out; echo err >&2")["output"].split() == ["out", "err"]


def test_ours_10_4_both_streams_in_the_order_of_writing(mux, rpc):
    reader = mux.rpc()
    for n in range(3):
        script = f"echo one >&2; until [ -e a{n} ]; do sleep 0.02; done; echo two; until [ -e b{n} ]; do sleep 0.02; done; echo three >&2"
        whole = rpc.send("exec_command", {"cmd": script, "name": f"s{n}", "login": False, "workdir": str(mux.dir), "yield_time_ms": 30000})
        wait_for(lambda: mux.listed(f"s{n}"), "the session")
        for word, then in ("one", f"a{n}"), ("two", f"b{n}"):  # what it writes next comes when this one has been read
            reader.call("read_output", {"session_id": f"s{n}", "since": 0, "until": word, "yield_time_ms": 30000})
            (mux.dir / then).touch()
        assert rpc.result(whole)["output"] == "one\ntwo\nthree\n"


def test_10_5_terminals(rpc):
    answer = rpc.run("stty size; [ -t 0 ] && echo tty; exit 0", tty=True)
    assert answer["output"] == "24 80\r\ntty\r\n" and answer["exit_code"] == 0


def test_ours_10_5_size_and_resize(rpc):
    assert rpc.run("stty size", tty=True, rows=50, cols=132)["output"] == "50 132\r\n"


def test_ours_10_5_what_a_program_asks_its_terminal_is_answered(rpc):
    said = rpc.run(r"stty raw -echo; printf '\033[c'; dd bs=1 count=9 2>/dev/null | od -An -c", tty=True, yield_time_ms=30000)
    assert said["output"].split("\033[c")[-1].split()[:9] == ["033", "[", "?", "6", "2", ";", "2", "2", "c"], said


@pytest.mark.no_pty
@pytest.mark.parametrize("name, status", [("INT", 130), ("KILL", 137), ("TERM", 143)])
def test_10_6_death_by_signal_on_pipes(rpc, name, status):
    answer = rpc.run(f"kill -{name} $$; sleep 600")
    assert answer["exit_code"] == status and answer["signal"] == name and answer["state"] == "signaled"


def test_ours_10_6_death_by_signal_on_a_terminal_is_128_and_the_signal_too(rpc):
    assert rpc.run("kill -KILL $$", tty=True)["exit_code"] == 137


@pytest.mark.no_pty
def test_ours_10_6_who_ended_it_is_told(rpc):
    rpc.run("exec sleep 600", name="s", yield_time_ms=250)
    rpc.call("kill_session", {"session_id": "s"})
    (row,) = rpc.call("list_sessions", {"all": True})["sessions"]
    assert row["state"] == "killed" and row["killed_by"] == "request"


# --- 11
@pytest.mark.no_pty
def test_11_the_overrides(rpc):
    env = dict(line.split("=", 1) for line in rpc.run("env")["output"].splitlines() if "=" in line)
    wanted = {"NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8", "LC_ALL": "C.UTF-8", "COLORTERM": "", "PAGER": "cat",
              "GIT_PAGER": "cat", "GH_PAGER": "cat", "CODEX_CI": "1"}
    assert wanted.items() <= env.items()


def test_11_the_overrides_on_a_terminal_too(rpc):
    assert rpc.run("echo $TERM", tty=True)["output"] == "dumb\r\n"


@pytest.mark.no_pty
def test_11_secrets_are_inherited_by_default_and_excluded_on_request(mux):
    meta = {"env": {"PATH": "/usr/bin:/bin", "MY_TOKEN": "x"}}
    call = {"cmd": "echo [$MY_TOKEN]", "login": False, "_meta": meta}
    assert mux.rpc().call("exec_command", call)["output"] == "[x]\n"
    mux.configure("[env_policy]\nignore_default_excludes = no\n")
    mux.ue("reload").ok()
    assert mux.rpc().call("exec_command", call)["output"] == "[]\n"


@pytest.mark.no_pty
def test_ours_11_a_session_knows_where_it_is(mux, rpc):
    assert rpc.run("echo $MUXD_SESSION_ID $MUXD_SOCKET")["output"] == f"1000 {mux.socket}\n"


# --- 12
@pytest.mark.no_pty
def test_12_begin_and_end(rpc):
    rpc.run("echo hi; exit 3", _meta={"call_id": "c1"})
    begin, end = [event for event in events(rpc) if event["type"] in ("begin", "end")]
    assert begin["call_id"] == end["call_id"] == "c1" and begin["source"] == "unified_exec_startup" and begin["argv"][1] == "-c"
    assert end["exit_code"] == 3 and end["aggregated_output"] == "hi\n" and end["status"] == "failed" and end["duration_seconds"] >= 0


@pytest.mark.no_pty
def test_12_no_begin_when_nothing_was_started(rpc):
    rpc.error("exec_command", {"cmd": "true", "justification": "x"})
    rpc.error("exec_command", {"cmd": "true", "workdir": "/no/such"})
    rpc.run("apply_patch <<'E'\n*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\nE")
    assert [event["type"] for event in events(rpc)] == ["patch"]


def test_12_an_interaction_names_the_call_that_began(rpc):
    rpc.call("events", {"types": ["interaction"], "yield_time_ms": 0})  # somebody listens
    rpc.run("exec cat", tty=True, name="c", yield_time_ms=1000, _meta={"call_id": "c1"})
    rpc.call("write_stdin", {"session_id": "c", "chars": "hi\n", "_meta": {"call_id": "c2"}})
    rpc.call("write_stdin", {"session_id": "c", "chars": "\x04", "exit": True})
    got = [event for event in events(rpc) if event["type"] in ("interaction", "end")]
    assert [(event["type"], event.get("text")) for event in got] == [("interaction", "hi\n"), ("interaction", "\x04"), ("end", None)]
    assert {event["call_id"] for event in got} == {"c1"}


@pytest.mark.no_pty
def test_12_an_empty_poll_is_told_while_the_process_lives(rpc):
    rpc.call("events", {"types": ["interaction"], "yield_time_ms": 0})
    rpc.run("exec sleep 600", name="s", yield_time_ms=250)
    rpc.call("write_stdin", {"session_id": "s"})
    rpc.call("kill_session", {"session_id": "s"})
    rpc.call("write_stdin", {"session_id": "s"})
    assert [event["text"] for event in events(rpc) if event["type"] == "interaction"] == [""]


@pytest.mark.no_pty
def test_12_deltas_have_8192_bytes_at_most_and_end_at_characters(rpc):
    rpc.call("events", {"types": ["output"], "yield_time_ms": 0})
    rpc.run(["python3", "-c", "print('\u20ac' * 9000)"])
    pieces = [event["text"] for event in rpc.call("events", {"since": 1, "types": ["output"], "yield_time_ms": 0})["events"]]
    assert "".join(pieces) == "\u20ac" * 9000 + "\n" and max(len(piece.encode()) for piece in pieces) <= 8192


@pytest.mark.no_pty
def test_ours_12_events_have_numbers_and_can_be_asked_for_later(rpc):
    rpc.run("true")
    rpc.run("true")
    assert [event["seq"] for event in events(rpc)] == [1, 2, 3, 4, 5, 6]
