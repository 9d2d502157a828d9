"""What agents ask for: several steps in one call, cheap empty polls, a C-c that comes too late, what truncation left out, long lines."""
import json, re

import pytest
from conftest import wait_for


def steps(mux, session, *list_, options=()):
    return mux.ue("steps", *options, session, input=json.dumps(list_))


@pytest.mark.smoke
def test_steps_in_a_repl(mux):
    mux.session("py", "python3", "-q", options=("-e", "TERM=dumb"))  # so that it draws nothing
    answer = steps(mux, "py", {"read": {}}, {"write": "x = 6\n"}, {"write": "x * 7\n"}, {"wait": {"until": "^42"}}, {"keys": ["C-l"]},
                   {"wait": {"ready": True}}, {"read": {"max_output_tokens": 100}}, options=["--json"])
    assert answer.rc == 0 and answer.json["completed"] == 7 and "failed_step" not in answer.json
    got = answer.json["steps"]
    assert [step["kind"] for step in got] == ["read", "write", "write", "wait", "keys", "wait", "read"] and all(step["ok"] for step in got)
    assert got[3]["reason"] == "until" and got[5]["reason"] == "ready" and "42" in got[6]["output"] and "x = 6" in got[6]["output"]
    assert answer.json["name"] == "py" and answer.json["state"] == "running" and answer.json["waiting_for"]
    text = steps(mux, "py", {"write": "1+1\n"}, {"wait": "2\r?\n"}, {"read": {}})
    assert text.rc == 0 and text.out.startswith("Step 1 write: done\nStep 2 wait: until\nStep 3 read:\n")


@pytest.mark.no_pty
def test_steps_as_an_operand_a_file_or_standard_input(mux):
    mux.ue("exec", "-n", "c", "--stdin", "--argv", "-y", "0", "cat").ok()
    text = ' \n[{"write": "ping\\n"}, {"wait": {"until": "ping"}}, {"read": {}}]'
    for name in "steps.json", "[steps]":
        (mux.dir / name).write_text(text)
    for operands, given in [([text], None), (["steps.json"], None), (["./[steps]"], None), (["-"], text), ([], text)]:
        assert mux.ue("steps", "c", *operands, input=given).ok().out.endswith("Step 3 read:\nping\n"), operands
    with open(mux.dir / "huge", "wb") as file:
        file.truncate((64 << 20) + 1)
    huge = mux.ue("steps", "c", "huge")
    assert huge.rc == 125 and "'huge': more than 67108864 bytes; send less" in huge.err, huge
    gone = mux.ue("steps", "c", "gone.json")
    assert gone.rc == 125 and "'gone.json': can't be read: No such file" in gone.err, gone
    assert "SESSION [JSON|FILE|-]" in mux.ue("steps", "-h").ok().out
    mux.ue("kill", "c")


@pytest.mark.no_pty
def test_steps_stop_at_the_first_failure(mux):
    rpc = mux.rpc()
    rpc.call("exec_command", {"cmd": "cat", "stdin": True, "name": "c", "login": False, "yield_time_ms": 250})
    answer = steps(mux, "c", {"write": "one\n"}, {"wait": {"until": "two", "yield_time_ms": 50}}, {"write": "never\n"}, options=["--json"])
    assert answer.rc == 124 and answer.json["completed"] == 1 and answer.json["failed_step"] == 2 and len(answer.json["steps"]) == 2
    assert answer.json["steps"][1]["code"] == "deadline"
    wait_for(lambda: mux.ue("poll", "--raw", "--peek", "--since", "0", "c").out == "one\n", "what cat says")
    answer = steps(mux, "c", {"keys": ["Up"]}, {"write": "x"}, options=["--json"])
    assert answer.rc == 125 and answer.json["steps"][0]["code"] == "stdin_closed"
    assert steps(mux, "c", {"read": {}}).out == "Step 1 read:\none\n"
    ended = steps(mux, "c", {"keys": ["C-c"]}, {"wait": {"exit": True}}, {"write": "x"}, options=["--json"])
    assert ended.rc == 125 and ended.json["steps"][1]["reason"] == "exit" and ended.json["steps"][2]["code"] == "ended" and ended.json["signal"] == "INT"


@pytest.mark.no_pty
def test_steps_that_are_wrong_are_refused_before_the_first(mux):
    rpc = mux.rpc()
    rpc.call("exec_command", {"cmd": "cat", "stdin": True, "name": "c", "login": False, "yield_time_ms": 250})
    for wrong, words in [([{"write": "x", "read": {}}], "a second member"), ([{"type": "x"}], "unknown field `type`"), ([{}], "is empty"),
                         ([], "0 items"), (["x"], "expected an array of objects"), ([{"read": {}}] * 65, "65 items")]:
        error = rpc.error("run_steps", {"session_id": "c", "steps": [{"write": "no\n"}, *wrong] if wrong and len(wrong) < 60 else wrong})
        assert error.code == "arguments" and words in error.message, error
    failed = rpc.call("run_steps", {"session_id": "c", "steps": [{"read": {"bogus": 1}}]})
    assert failed["failed_step"] == 1 and "unknown field `bogus`" in failed["steps"][0]["error"]
    assert rpc.call("read_output", {"session_id": "c", "yield_time_ms": 0})["output"] == ""
    assert rpc.error("run_steps", {"session_id": "x", "steps": [{"read": {}}]}).code == "no_such_session"
    assert mux.ue("steps", "c", input="nonsense").rc == 125 and mux.ue("steps", "c", "/no/such/file").rc == 125
    for wrong in '[{"read": {}}', '{"read": {}}', "[]":
        said = mux.ue("steps", "c", wrong)
        assert said.rc == 125 and said.err.startswith("ue: ") and not said.out, said
    mux.ue("kill", "c")


@pytest.mark.no_pty
def test_steps_are_cancelled_and_die_with_their_connection(mux):
    rpc, other = mux.rpc(), mux.rpc()
    rpc.call("exec_command", {"cmd": "cat", "stdin": True, "name": "c", "login": False, "yield_time_ms": 250})
    params = {"session_id": "c", "steps": [{"write": "x\n"}, {"wait": {"until": "never", "yield_time_ms": 600000}}]}
    waiting = rpc.send("run_steps", params)
    other.send("run_steps", params)
    wait_for(lambda: mux.js("status")["waits"] == 2, "both waits")
    assert rpc.call("cancel", {"id": waiting}) == {"cancelled": True}
    assert rpc.recv(waiting)["error"]["data"]["code"] == "cancelled"
    other.close()
    wait_for(lambda: mux.js("status")["waits"] == 0, "the waits to be gone")
    mux.ue("kill", "c")


@pytest.mark.no_pty
def test_an_empty_poll_costs_one_line(mux):
    rpc = mux.rpc()
    started = rpc.call("exec_command", {"cmd": "echo hi; exec sleep 600", "name": "s", "login": False, "until": "hi\n", "yield_time_ms": 30000})
    number = started["session_id"]
    poll = rpc.call("read_output", {"session_id": "s", "yield_time_ms": 10})
    assert re.fullmatch(rf"Process running with session ID {number}: nothing new after \d+\.\d+ seconds\n", poll["content"]), poll
    assert rpc.call("write_stdin", {"session_id": number, "yield_time_ms": 5000})["content"].startswith(f"Process running with session ID {number}: ")
    assert mux.ue("poll", "s", "-y", "0").answer["output"] == ""  # people's verbs answer as ever
    assert rpc.call("read_output", {"session_id": "s", "since": 0, "yield_time_ms": 0})["content"].endswith("Output:\nhi\n")
    mux.ue("kill", "s")


@pytest.mark.no_pty
def test_interrupting_what_has_ended_is_no_error(mux):
    rpc = mux.rpc()
    rpc.call("exec_command", {"cmd": "exit 3", "name": "s", "login": False})
    for arguments in {"chars": "\x03"}, {"keys": ["C-c"]}:
        answer = rpc.call("write_stdin", {"session_id": "s", **arguments})
        assert answer["exit_code"] == 3 and "had ended already" in answer["note"] and "had ended already" in answer["content"]
    verb = mux.ue("write", "-k", "C-c", "s")
    assert verb.rc == 3 and "had ended already" in verb.out
    assert mux.ue("write", "s", "text").rc == 125
    assert "note" not in rpc.call("write_stdin", {"session_id": "s", "chars": "text"})


@pytest.mark.no_pty
@pytest.mark.parametrize("text", ["".join(f"line {i}\n" for i in range(5000)), "\u20ac\U0001f600z" * 9000, None], ids=["ascii", "utf8", "binary"])
def test_what_truncation_left_out_can_be_read(mux, text):
    data = text.encode() if text else bytes(range(256)) * 300
    (mux.dir / "data").write_bytes(data)
    rpc = mux.rpc()
    answer = rpc.call("exec_command", {"cmd": "cat data", "workdir": str(mux.dir), "login": False, "name": "s", "max_output_tokens": 1000})
    cut = answer["truncated"]
    shown = answer["output"]
    head = shown.split("\n\n", 1)[1].split("\u2026", 1)[0]
    tail = shown.rsplit("\u2026", 1)[1]
    assert head == data[:cut["from"]].decode(errors="replace") and tail == data[cut["to"]:].decode(errors="replace")
    got, at = b"", cut["from"]
    while at < cut["to"]:
        piece = rpc.call("read_output", {"session_id": "s", "from": at, "to": min(at + 20000, cut["to"]), "encoding": "base64", "yield_time_ms": 0})
        import base64
        got += base64.b64decode(piece["output_base64"])
        at = piece["to"]
    assert data[:cut["from"]] + got + data[cut["to"]:] == data
    again = rpc.call("read_output", {"session_id": "s", "from": cut["from"], "to": cut["from"] + 40})
    assert again["to"] == cut["from"] + 40 and "truncated" not in again and again["output"] == data[cut["from"]:cut["from"] + 40].decode(errors="replace")
    assert "truncated" not in rpc.call("exec_command", {"cmd": "echo hi", "login": False})
    assert rpc.call("shell_command", {"command": "seq 100000", "login": False})["truncated"]["from"] == 0
    assert mux.ue("poll", "--since", "2", "--to", "6", "s").answer["output"] == data[2:6].decode(errors="replace")


@pytest.mark.no_pty
def test_long_lines_are_cut_before_the_budget(mux):
    rpc = mux.rpc()
    script = "print('a' * 100000); print('short'); print('\u20ac' * 1000); print('end')"
    answer = rpc.call("exec_command", {"cmd": ["python3", "-c", script], "max_line": 100, "name": "s"})
    lines = answer["output"].splitlines()
    assert lines == ["a" * 100 + "\u202699900 chars truncated\u2026", "short", "\u20ac" * 33 + "\u2026967 chars truncated\u2026", "end"]
    assert answer["truncated"]["lines"] == 2 and answer["original_token_count"] > 25000
    assert mux.ue("poll", "--since", "0", "--max-line", "100", "s").answer["output"].splitlines() == lines
    shell = rpc.call("shell_command", {"command": f'python3 -c "{script}"', "login": False, "max_line": 100})
    assert shell["output"].splitlines()[1] == "short" and len(shell["output"]) < 400
    assert rpc.error("exec_command", {"cmd": "true", "max_line": 1}).code == "arguments"
