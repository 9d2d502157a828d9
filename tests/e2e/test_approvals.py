"""[policy]: which commands wait for a person, what the person is shown, and that only a person's yes lets one run, once."""
import json, os, signal, subprocess, time

import pexpect
import pytest
from conftest import CAP, UE, Rpc, wait_for
from frames import frames, person, receive, ue_at_terminal

POLICIES = """
[policy mcp]
approval = untrusted
sandbox = full-access
[policy never]
approval = never
[policy asks]
approval = on-request
[policy hasty]
approval = untrusted
ask_timeout = 1s
"""


@pytest.fixture
def guarded(mux):
    mux.configure(POLICIES)
    (mux.dir / "w").mkdir()
    return mux


def asks(mux, cmd, tool="exec_command", meta=None, **more):
    """A call that is on its way."""
    rpc = mux.rpc()
    key = "cmd" if tool == "exec_command" else "command"
    rpc.id = rpc.send(tool, {key: cmd, "workdir": str(mux.dir / "w"), **more, "_meta": {"cwd": str(mux.dir), **(meta or {})}})
    return rpc


def waiting(mux, count=1):
    def look():
        found = mux.ue("approvals", "--json").ok().json["approvals"]
        return (found,) if len(found) == count else None
    return wait_for(look, f"{count} approvals")[0]


def yes(mux, approval, *how):
    return ue_at_terminal(mux, "approve", *how, approval["id"])


def refusal(rpc):
    with pytest.raises(rpc.Error) as caught:
        rpc.result(rpc.id)
    return caught.value


def content(error):
    return error.error["data"]["content"]


def test_it_waits_and_runs_after_a_yes(guarded):
    rpc = asks(guarded, "touch x", yield_time_ms=20000)
    approval, = waiting(guarded)
    assert approval["command"].endswith("-lc 'touch x'") and approval["cwd"] == str(guarded.dir / "w"), approval
    assert approval["reason"].endswith("requires approval by policy") and approval["always"] == ["touch", "x"] and approval["policy"] == "mcp"
    assert not (guarded.dir / "w/x").exists()
    text = guarded.ue("approvals").ok().out
    assert approval["id"] in text and "touch x" in text and str(guarded.dir / "w") in text
    told = yes(guarded, approval).ok()
    assert "touch x" in told.err + told.out
    answer = rpc.result(rpc.id)
    assert answer["exit_code"] == 0 and answer["reason"] == "exit", answer
    assert (guarded.dir / "w/x").exists() and guarded.ue("approvals", "--json").json["approvals"] == []
    safe = asks(guarded, "ls")
    assert safe.result(safe.id)["output"] == "x\n"


@pytest.mark.parametrize("tool, words", [
    ("exec_command", "CreateProcess { message: \"Rejected(\\\"rejected by user{}\\\")\" }"), ("shell_command", "exec command rejected by user{}")])
def test_a_no(guarded, tool, words):
    rpc = asks(guarded, "touch x", tool)
    approval, = waiting(guarded)
    ue_at_terminal(guarded, "deny", approval["id"]).ok()
    error = refusal(rpc)
    assert error.code == "denied" and content(error).endswith(words.replace("{}", "")), error.error
    rpc = asks(guarded, "touch x", tool)
    approval, = waiting(guarded)
    ue_at_terminal(guarded, "deny", approval["id"], "--because", "not today").ok()
    assert content(refusal(rpc)).endswith(words.replace("{}", ": not today"))
    assert not (guarded.dir / "w/x").exists()


def test_nobody_answers(guarded):
    for tool in "exec_command", "shell_command":
        rpc = asks(guarded, "touch x", tool, {"profile": "hasty"})
        error = refusal(rpc)
        assert "nobody has approved it within 1 s ([policy hasty] ask_timeout)" in content(error), error.error
    assert guarded.ue("approvals", "--json").json["approvals"] == [] and not (guarded.dir / "w/x").exists()


def test_the_wait_is_not_the_calls(guarded):
    """The timeout of shell_command, shorter than the wait, begins with the yes."""
    rpc = asks(guarded, "sleep 0.1; touch x", "shell_command", timeout_ms=20000)
    approval, = waiting(guarded)
    yes(guarded, approval).ok()
    answer = rpc.result(rpc.id)
    assert answer["exit_code"] == 0 and not answer["timed_out"]


def test_no_program_and_no_session_approves(guarded):
    rpc = asks(guarded, "touch x")
    approval, = waiting(guarded)
    refused = guarded.ue("approve", approval["id"])
    assert refused.rc == 126 and "for a person at a terminal" in refused.err, refused
    for method in "approve", "deny":
        error = guarded.rpc().error(method, {"approval": approval["id"], "_meta": {"verb": True, "human": True}})
        assert error.code == "denied", error
    guarded.shell("work")
    line = guarded.ue("exec", "-t", "-n", "in", "--exit", f"{UE} approve {approval['id']}; echo status $?; {UE} approve --always {approval['id']}; setsid -w {UE} approve {approval['id']}")
    assert line.rc == 126 and "status 126" in line.out and "inside the session 'in'; who is attached to it answers with C-\\ a" in line.out.replace("\r\n", ""), line
    assert waiting(guarded)[0]["id"] == approval["id"] and not (guarded.dir / "w/x").exists()
    assert person(guarded).connect().error("approve", {"approval": "zzzzz"}).code == "no_such_approval"
    peer = person(guarded).connect()
    peer.call("approve", {"approval": approval["id"]})
    assert peer.error("approve", {"approval": approval["id"]}).code == "no_such_approval"
    assert rpc.result(rpc.id)["exit_code"] == 0


def test_one_after_the_other(guarded):
    calls = []
    for name in "abcd":
        calls.append(asks(guarded, f"touch {name}"))
        waiting(guarded, len(calls))
    assert guarded.ue("approve").rc == 64 and guarded.ue("approve", "-i", "--always").rc == 64
    refused = guarded.ue("approve", "-i", input="y\n")
    assert refused.rc == 126 and len(waiting(guarded, 4)) == 4, refused
    told = ue_at_terminal(guarded, "approve", "-i", input="y\nn\n\ns\n").ok()
    assert told.out.count("? y: once") == 4 and "touch a" in told.out, told
    left, = waiting(guarded)
    assert "touch c" in left["command"]
    assert calls[0].result(calls[0].id)["exit_code"] == 0 and "rejected by user" in content(refusal(calls[1]))
    assert calls[3].result(calls[3].id)["exit_code"] == 0
    assert sorted(path.name for path in (guarded.dir / "w").iterdir()) == ["a", "d"]
    for no_answer in "abort\n", "yes\n", "q\n", "nope", "\n", "":
        assert "touch c" in ue_at_terminal(guarded, "approve", "-i", input=no_answer).ok().out
        assert waiting(guarded)[0]["id"] == left["id"]
    assert "nothing waits" in ue_at_terminal(guarded, "deny", left["id"]).ok().err + ue_at_terminal(guarded, "approve", "-i").err


def terminal(mux, *args):
    child = pexpect.spawn(str(UE), list(args), env={**mux.env, "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP, dimensions=(24, 100))
    mux.clients.append(child)
    return child


def test_a_key_of_attach_and_one_of_top_ask(guarded):
    """A yes is one key, typed alone, after the whole question was on the terminal; what is on it is safe to read."""
    guarded.shell("work")
    child = terminal(guarded, "attach", "work")
    wait_for(lambda: guarded.listed("work")["attached"] == 1, "the attachment")
    child.send("\x1ca")
    child.expect_exact("nothing waits for an approval")
    first = asks(guarded, "touch a")
    child.expect("approval .{5}: [^;]*touch a'; C-.(\x1b[^;]*)? a answers")
    second = asks(guarded, "printf '\x1b[31m\u202e' >b; : " + "y" * 4000 + "END")
    waiting(guarded, 2)
    child.send("\x1cay")  # typed before the question is there
    child.expect_exact("1 of 2 that wait for you")
    child.expect_exact("y once, s for the session, a always, n deny, q leave, Enter later")
    child.send("yn")
    child.expect_exact("several keys at once answer nothing")
    child.expect_exact("y once")
    assert len(waiting(guarded, 2)) == 2
    child.send("y")
    child.expect("2 of 2 that wait for you. approved: [^\x1b]*touch a")
    assert first.result(first.id)["exit_code"] == 0 and (guarded.dir / "w/a").exists()
    child.expect_exact("\\x1b[31m\\xe2\\x80\\xae")
    child.expect_exact("there is more to read")
    for key in "ysa":
        child.send(key)
        child.expect_exact("there is more to read")
    pages = b""
    while b"y once" not in pages:
        child.send(" ")
        child.expect_exact("\x1b[?2026l")
        pages += child.before
    assert b"END" in pages and len(waiting(guarded)) == 1, pages
    child.send("n")
    child.expect_exact("denied: ")
    refusal(second)
    child.send("\x1cd")
    child.expect_exact("detached")
    child.expect(pexpect.EOF)
    child = terminal(guarded, "top")
    child.expect_exact("p approvals")
    calls = [asks(guarded, f"touch {name}") for name in "cd"]  # they wait as long as they are kept
    child.expect("approval .{5}: a command waits for a person; p shows it")
    waiting(guarded, 2)
    child.send("p")
    child.expect_exact("Enter later")
    child.send("\r")
    child.expect_exact("2 of 2 that wait")
    child.send("s")
    child.expect("approved: [^\x1b]*touch ")
    assert len(waiting(guarded)) == 1
    child.send("q")
    child.expect(pexpect.EOF)
    assert len(calls) == 2


def test_two_at_once_and_twice(guarded):
    rpc = asks(guarded, "echo ran >>log")
    approval, = waiting(guarded)
    first, second = person(guarded).connect(), person(guarded).connect()
    ids = [(peer, peer.send("approve", {"approval": approval["id"]})) for peer in (first, second, first, second)]
    outcomes = []
    for peer, id in ids:
        try:
            peer.result(id)
            outcomes.append("yes")
        except peer.Error as error:
            outcomes.append(error.code)
    assert sorted(outcomes) == ["no_such_approval"] * 3 + ["yes"], outcomes
    rpc.result(rpc.id)
    assert (guarded.dir / "w/log").read_text() == "ran\n"


def test_not_too_many_at_once(guarded):
    guarded.configure(POLICIES + "[limits]\napprovals = 2\n")
    for count in 1, 2:
        asks(guarded, f"touch {count}")
        waiting(guarded, count)
    error = refusal(asks(guarded, "touch 3"))
    assert error.code == "limit" and "[limits] approvals" in content(error)
    assert len(waiting(guarded, 2)) == 2
    assert len(guarded.rpc().call("events", {"since": 1, "types": ["approval"]})["events"]) == 2


@pytest.mark.parametrize("tool", ["exec_command", "shell_command"])
def test_nobody_is_asked_what_nobody_can_read(guarded, tool):
    guarded.ue("start").ok()
    for more in {"cmd": "touch x; : " + "y" * 70000}, {"justification": "y" * 70000, "sandbox_permissions": "use_default"}, {"env": {"A": "y" * 70000}}:
        error = refusal(asks(guarded, more.pop("cmd", "touch x"), tool, **more))
        assert error.code == "limit" and "than the 65536 that are shown" in content(error)[-200:], content(error)[-300:]
    assert waiting(guarded, 0) == []
    assert guarded.rpc().call("events", {"since": 1, "types": ["approval"], "yield_time_ms": 0})["events"] == []
    rpc = asks(guarded, "touch x; : " + "y" * 30000, tool)
    approval, = waiting(guarded)
    assert approval["command"].endswith("y'") and approval["id"] in guarded.ue("approvals").ok().out
    event, = guarded.rpc().call("events", {"since": 1, "types": ["approval"]})["events"]
    assert event["id"] == approval["id"] and len(json.dumps(event)) < 20000
    rpc.close()


def test_the_client_goes(guarded):
    rpc = asks(guarded, "touch x")
    approval, = waiting(guarded)
    rpc.close()
    waiting(guarded, 0)
    refused = yes(guarded, approval)
    assert refused.rc == 127 and "nothing of that id waits" in refused.err, refused
    assert not (guarded.dir / "w/x").exists()


def test_a_yes_for_the_session(guarded):
    rpc = guarded.rpc()

    def call(cmd, **more):
        return rpc.send("exec_command", {"cmd": cmd, "workdir": str(guarded.dir / "w"), **more, "_meta": {"cwd": str(guarded.dir)}})
    id = call("touch x")
    yes(guarded, waiting(guarded)[0], "--session").ok()
    rpc.result(id)
    for same in ({"cmd": "touch x"}, {"cmd": "touch  x"}, {"cmd": "touch x", "login": False}):
        os.unlink(guarded.dir / "w/x")
        rpc.result(call(**same))
        assert (guarded.dir / "w/x").exists()
    for other in ({"cmd": "touch y"}, {"cmd": "touch x; true"}, {"cmd": "touch x", "workdir": str(guarded.dir)}, {"cmd": "touch x", "tty": True},
                  {"cmd": "touch x", "env": {"PATH": "/tmp"}}):
        id = call(**other)
        ue_at_terminal(guarded, "deny", waiting(guarded)[0]["id"]).ok()
        assert json.loads(rpc.line())["error"]["data"]["code"] == "denied"


def test_always_adds_a_rule_once(guarded):
    rules = guarded.conf.with_name(guarded.conf.name.removesuffix(".ini") + ".rules")
    rpc = asks(guarded, "touch 'a \"b'")
    approval, = waiting(guarded)
    again = asks(guarded, "touch 'a \"b'")
    other = [a for a in waiting(guarded, 2) if a["id"] != approval["id"]][0]
    yes(guarded, approval, "--always").ok()
    rpc.result(rpc.id)
    yes(guarded, other, "--always").ok()
    again.result(again.id)
    assert rules.read_text().count("[rule ") == 1 and 'prefix = "touch" "a \\"b"' in rules.read_text(), rules.read_text()
    assert rules.stat().st_mode & 0o777 == 0o600
    third = asks(guarded, "touch 'a \"b' c")
    assert third.result(third.id)["exit_code"] == 0
    os.kill(guarded.js("status")["pid"], signal.SIGKILL)
    third = asks(guarded, "touch 'a \"b' d")
    assert third.result(third.id)["exit_code"] == 0
    banned = asks(guarded, "python3")
    approval, = waiting(guarded)
    assert "always" not in approval
    refused = yes(guarded, approval, "--always")
    assert refused.rc != 0 and "no rule can stand for this command" in refused.err, refused
    banned.close()
    rules.write_text(rules.read_text() + "[rule broken]\n")
    refused = guarded.ue("reload")
    assert refused.rc == 125 and f"{rules}:" in refused.err and "rule broken" in refused.err, refused
    third = asks(guarded, "touch 'a \"b' e")
    assert third.result(third.id)["exit_code"] == 0


def test_always_keeps_a_link_and_what_a_dead_worker_left(guarded):
    rules = guarded.conf.with_name(guarded.conf.name.removesuffix(".ini") + ".rules")
    real = guarded.dir / "dotfiles"
    rules.symlink_to(real)
    refused = guarded.ue("start")
    assert refused.rc != 0 and str(rules) in refused.err, refused
    real.write_text("# mine\n")
    guarded.ue("start").ok()
    left = real.with_name(f"{real.name}.{guarded.js('status')['pid']}.new")
    left.write_text("half")
    rpc = asks(guarded, "touch x")
    yes(guarded, waiting(guarded)[0], "--always").ok()
    rpc.result(rpc.id)
    assert rules.is_symlink() and real.read_text().startswith("# mine\n") and '"touch" "x"' in real.read_text() and not left.exists()
    real.unlink()
    refused = guarded.ue("reload")
    assert refused.rc != 0 and str(rules) in refused.err, refused
    other = asks(guarded, "touch y")
    refused = yes(guarded, waiting(guarded)[0], "--always")
    assert refused.rc != 0 and rules.is_symlink() and not real.exists(), refused
    other.close()


def test_the_daemon_stops_while_it_waits(guarded):
    for tool in "exec_command", "shell_command":
        rpc, other = asks(guarded, "touch x", tool), asks(guarded, "touch y", tool)
        waiting(guarded, 2)
        guarded.ue("stop").ok()
        for call in rpc, other:
            error = refusal(call)
            assert error.code == "stopping" and "the daemon is being stopped; nothing was started" in content(error), error.error
    assert list((guarded.dir / "w").iterdir()) == []


@pytest.mark.parametrize("how", ["exec", "mcp"])
def test_the_worker_dies_while_it_waits(guarded, how):
    guarded.configure(POLICIES + "[policy]\napproval = untrusted\n")
    guarded.ue("start").ok()
    process = guarded.popen("exec", "--exit", "echo ran >>log", cwd=str(guarded.dir / "w")) if how == "exec" else guarded.popen("mcp", stdin=subprocess.PIPE)
    if how == "mcp":
        for message in ({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                        {"id": 2, "method": "tools/call", "params": {"name": "exec_command", "arguments": {"cmd": "echo ran >>log", "workdir": str(guarded.dir / "w")}}}):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
    before = waiting(guarded)[0]
    os.kill(guarded.js("status")["pid"], signal.SIGKILL)
    after = waiting(guarded)[0]
    assert after["id"] != before["id"] and after["command"] == before["command"]
    assert yes(guarded, before).rc == 127
    assert not (guarded.dir / "w/log").exists()
    yes(guarded, after).ok()
    wait_for((guarded.dir / "w/log").exists, "the command")
    os.kill(guarded.js("status")["pid"], signal.SIGKILL)
    if how == "exec":
        assert guarded.finish(process).rc == 0
    else:
        out, _ = process.communicate(timeout=CAP)
        guarded.background.remove(process)
        assert b'"id":2' in out
    assert (guarded.dir / "w/log").read_text() == "ran\n" and guarded.ue("approvals", "--json").json["approvals"] == []


def test_the_worker_dies_after_a_late_yes(guarded):
    """The timeout counts from the yes, also for the worker that comes next."""
    guarded.ue("start").ok()
    process = guarded.popen("mcp", stdin=subprocess.PIPE)
    call = {"command": "echo ran >>log; until [ -e go ]; do sleep 0.1; done; echo done >>log", "workdir": str(guarded.dir / "w"), "timeout_ms": 12000}
    for message in ({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                    {"id": 2, "method": "tools/call", "params": {"name": "shell_command", "arguments": call}}):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
    begun = time.monotonic()
    approval, = waiting(guarded)
    wait_for(lambda: time.monotonic() > begun + 13, "the timeout to be over, had it begun", cap=60)
    yes(guarded, approval).ok()
    wait_for((guarded.dir / "w/log").exists, "the command")
    pid = guarded.js("status")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: guarded.js("status")["pid"] != pid, "the next worker")
    (guarded.dir / "w/go").touch()
    out, _ = process.communicate(timeout=CAP)
    guarded.background.remove(process)
    assert (guarded.dir / "w/log").read_text() == "ran\ndone\n" and b"timed out" not in out, out


@pytest.mark.parametrize("round", range(6))
def test_the_worker_dies_at_the_yes(guarded, round):
    """The command runs once, or is asked for again; it never runs twice."""
    guarded.configure(POLICIES + "[policy]\napproval = untrusted\n")
    guarded.ue("start").ok()
    process = guarded.popen("exec", "--exit", "echo ran >>log; sleep 0.2", cwd=str(guarded.dir / "w"))
    approval = waiting(guarded)[0]
    pid = guarded.js("status")["pid"]
    peer = person(guarded).connect()
    if round % 2:
        os.kill(pid, signal.SIGSTOP)
    peer.send("approve", {"approval": approval["id"]})
    if round >= 4:
        wait_for((guarded.dir / "w/log").exists, "the command") if not round % 2 else None
    os.kill(pid, signal.SIGKILL)

    def settled():
        if process.poll() is not None:
            return True
        for left in guarded.ue("approvals", "--json").json["approvals"]:
            yes(guarded, left)
        return False
    wait_for(settled, "the command's end")
    assert guarded.finish(process).rc == 0
    assert (guarded.dir / "w/log").read_text() == "ran\n"


def test_what_is_shown_is_safe_to_read_and_what_runs(guarded):
    cmd = "printf '\x1b[31mred\u202e' >out; : '\n\x9b2J'"
    rpc = asks(guarded, cmd, env={"PATH": "/opt/\x1b[1m:/usr/bin:/bin"})
    approval, = waiting(guarded)
    text = guarded.ue("approvals").ok().out
    for bad in "\x1b", "\u202e", "\x9b":
        assert bad not in text and bad not in approval["command"] + approval["env"]
    assert approval["sandbox"] == "full-access"
    confined = asks(guarded, "touch y", sandbox="read-only", network=True)
    other, = [a for a in waiting(guarded, 2) if a["id"] != approval["id"]]
    assert other["sandbox"] == "read-only, network"
    confined.close()
    assert "\\x1b[31mred" in approval["command"] and "PATH=" in text and "\\x1b[1m" in approval["env"]
    yes(guarded, approval).ok()
    assert rpc.result(rpc.id)["exit_code"] == 0
    assert (guarded.dir / "w/out").read_bytes() == "\x1b[31mred\u202e".encode()


def test_what_lets_another_program_run_asks(guarded):
    """Variables of the call's own, and a shell from somewhere else."""
    w = guarded.dir / "w"
    fake = w / "bash"
    fake.write_text("#!/bin/sh\ntouch ran\n")
    fake.chmod(0o755)
    for more in {"env": {"GIT_EXTERNAL_DIFF": str(fake)}}, {"shell": str(fake)}:
        rpc = asks(guarded, "ls", **more)
        approval, = waiting(guarded)
        if "env" in more:
            assert "always" not in approval and "GIT_EXTERNAL_DIFF" in approval["env"]
        rpc.close()
        waiting(guarded, 0)
    rpc = asks(guarded, "ls", "shell_command", env={"BASH_ENV": str(fake)})
    ue_at_terminal(guarded, "deny", waiting(guarded)[0]["id"]).ok()
    refusal(rpc)
    guarded.configure(POLICIES + "[rule ls]\nprefix = ls\n[policy]\napproval = untrusted\n")
    guarded.ue("reload").ok()
    process = guarded.popen("exec", "--exit", "-e", "LD_PRELOAD=x", "ls", cwd=str(w))
    ue_at_terminal(guarded, "deny", waiting(guarded)[0]["id"]).ok()
    assert guarded.finish(process).rc == 126
    assert guarded.ue("exec", "--exit", "ls", cwd=str(w)).ok().out.endswith("bash\n")
    assert not (w / "ran").exists()
    empty = asks(guarded, "ls", env={})
    assert empty.result(empty.id)["exit_code"] == 0


def test_what_changes_after_the_question_is_asked_again(guarded):
    guarded.configure(POLICIES + "[env]\nA = 1\n")
    guarded.ue("start").ok()
    rpc = asks(guarded, "echo $A >out")
    approval, = waiting(guarded)
    guarded.configure(POLICIES + "[env]\nA = 2\n")
    guarded.ue("reload").ok()
    yes(guarded, approval).ok()
    other, = waiting(guarded)
    assert other["id"] != approval["id"] and not (guarded.dir / "w/out").exists()
    yes(guarded, other).ok()
    rpc.result(rpc.id)
    assert (guarded.dir / "w/out").read_text() == "2\n"


def test_texts_of_codex(guarded):
    dash = "\u2014"

    def refused(cmd, profile, tool="exec_command", **more):
        return content(refusal(asks(guarded, cmd, tool, {"profile": profile}, **more)))
    rm = "rejected: rm -f style commands are not permitted. Use a safer approach"
    words = refused("rm -f x", "never")
    assert words.startswith("exec_command failed for `/") and words.endswith(rm + "\\\")\" }") and "CreateProcess { message: \"Rejected(\\\"`/" in words
    assert refused("rm -f x", "never", "shell_command").endswith("-lc 'rm -f x'` " + rm)
    for profile, name in ("never", "Never"), ("hasty", "UnlessTrusted"):
        for tool, verb in ("exec_command", "cannot"), ("shell_command", "should not"):
            assert refused("true", profile, tool, sandbox_permissions="require_escalated") == (
                f"approval policy is {name}; reject command {dash} you {verb} ask for escalated permissions if the approval policy is {name}")
    assert refused("true", "asks", sandbox_permissions="with_additional_permissions") == (
        "additional permissions are disabled; enable `features.exec_permission_approvals` before using `with_additional_permissions`")
    assert refused("true", "nosuch") .startswith("there is no [policy nosuch]")
    fine = asks(guarded, "touch x", meta={"profile": "asks"}, sandbox_permissions="require_escalated", justification="may I?")
    assert fine.result(fine.id)["exit_code"] == 0  # nothing confines it anyway
    rpc = asks(guarded, "rm -f x; make all", meta={"profile": "asks"}, sandbox_permissions="use_default", justification="may I?",
               prefix_rule=["rm", "-f"])
    approval, = waiting(guarded)
    assert approval["reason"] == "may I?" and approval["always"] == ["rm", "-f", "x"]
    rpc.close()


def test_what_comes_from_inside_keeps_the_policy(guarded):
    """A command that an agent has started can't get round its policy with ue."""
    rpc = asks(guarded, f"{UE} exec -n inner touch x; {UE} exec --exit touch x", yield_time_ms=30000)
    yes(guarded, waiting(guarded)[0]).ok()
    approval, = waiting(guarded)
    assert approval["policy"] == "mcp" and "touch x" in approval["command"] and approval["from_session"]
    ue_at_terminal(guarded, "deny", approval["id"]).ok()
    ue_at_terminal(guarded, "deny", waiting(guarded)[0]["id"]).ok()
    assert "rejected by user" in rpc.result(rpc.id)["output"]
    assert not (guarded.dir / "w/x").exists()
    guarded.configure(POLICIES + "[session tame]\nargv = bash --norc\nprofile = never\n")
    guarded.ue("reload").ok()
    told = guarded.ue("write", "tame", "--ready", "-l", f"{UE} exec 'rm -f x'; echo status $?").ok()
    assert "not permitted" in guarded.ue("poll", "--text", "--since", "0", "--until", "status 126", "tame").ok().out, told


def test_people_are_told(guarded):
    guarded.configure(POLICIES + f"[hook a]\non = approval\nrun = cat >>{guarded.dir}/events\n")
    guarded.shell("work")
    peer = frames(guarded, "work")
    rpc = asks(guarded, "touch x")
    approval, = waiting(guarded)
    assert f"approval {approval['id']}: " in receive(peer, b"n").decode()
    ue_at_terminal(guarded, "deny", approval["id"]).ok()
    refusal(rpc)
    events = guarded.rpc().call("events", {"since": 1, "types": ["approval"]})["events"]
    assert [(e["state"], e["id"]) for e in events] == [("asked", approval["id"]), ("denied", approval["id"])], events
    wait_for(lambda: (guarded.dir / "events").exists() and '"state":"denied"' in (guarded.dir / "events").read_text(), "the hook")


def test_the_line_for_terminals_covers_nothing(guarded):
    """It stands in a free row, never in that of the cursor; there is one however many wait, also for who comes later and for narrow terminals."""
    guarded.shell("work")
    peer, narrow = frames(guarded, "work"), frames(guarded, "work", cols=40)
    receive(peer, b"o")

    def told(peer):
        while "notice_row" not in (status := json.loads(receive(peer, b"k"))):
            pass
        return status["notice_row"], receive(peer, b"n").decode()
    calls = [asks(guarded, "touch x")]
    first, = waiting(guarded)
    row, text = told(peer)
    assert row == 24 and text.startswith(f"approval {first['id']}: ") and len(text) < 80
    assert told(narrow)[1] == "a command waits: \x10 a"
    guarded.line("work", "seq 60; echo 'e'nd", "--until", "end\\s+sh> $")  # all rows are in use, and the cursor is in the last one
    calls.append(asks(guarded, "touch y"))
    assert told(peer) == told(narrow) == (1, "2 commands wait: \x10 a")
    assert told(frames(guarded, "work")) == (1, "2 commands wait: \x10 a")
    assert len(waiting(guarded, 2)) == len(calls)


def test_who_can_not_answer_is_not_asked(guarded):
    calls = [asks(guarded, "touch x")]
    waiting(guarded)
    told = guarded.ue("approve", "-i", input="y\n")
    assert told.rc == 126 and not told.out and "is for a person at a terminal" in told.err, told
    told = ue_at_terminal(guarded, "approve", "-i", input="").ok()
    assert told.out.endswith("Enter: later \n") and "none: it may do all that you may" in told.out and len(waiting(guarded)) == len(calls)
    guarded.shell("in")
    guarded.ue("write", "-y", 0, "-l", "in", f"TERM=xterm {UE} top").ok()
    guarded.ue("poll", "in", "--since", 0, "--until", "p approvals", "-y", CAP * 1000).ok()
    guarded.ue("write", "-y", 0, "in", "p").ok()
    guarded.ue("poll", "in", "-y", CAP * 1000, "--since", 0, "--until", "inside the.*who is attached.*C-.{1,3}a").ok()  # in two rows


def test_a_long_error_is_shown_whole(guarded):
    guarded.shell("work")
    calls = [asks(guarded, f"touch {name}") for name in "ab"]
    waiting(guarded, 2)
    guarded.conf.with_suffix(".rules").mkdir()
    child = terminal(guarded, "attach", "work")
    child.expect_exact("2 commands wait")
    child.send("\x1ca")
    child.expect_exact("1 of 2 that wait for you")
    child.expect_exact("Enter later")
    child.send("a")
    child.expect("2 of 2 that wait for you.*directory.*writable,.*the.*config")
    assert len(waiting(guarded, 2)) == len(calls)


def test_without_a_policy_nothing_asks(mux):
    mux.configure("[rule a]\nprefix = git pull\ndecision = prompt\n[policy x]\n")
    rpc = mux.rpc()
    assert rpc.call("exec_command", {"cmd": "cd /; rm -f nosuch"})["exit_code"] == 0
    error = rpc.error("exec_command", {"cmd": "git pull"})
    assert content(error) == ("exec_command failed for `/bin/bash -lc 'git pull'`: CreateProcess { message: \"Rejected(\\\"approval required by policy, "
                              "but AskForApproval is set to Never\\\")\" }")
    error = rpc.error("exec_command", {"cmd": "git pull", "_meta": {"profile": "x"}})
    assert "AskForApproval is set to Never" in content(error)
    told = mux.ue("policy", "check", "git pull")
    assert told.rc == 126 and "a person has to approve it; refused where no [policy] asks one" in told.out and "AskFor" not in told.out, told


def test_check_says_what_would_happen(guarded):
    text = guarded.ue("policy", "check", "rm -f x").ok().out
    assert "[policy mcp] would ask" in text and "[policy never] would refuse: it is dangerous, and wants a person's approval, and approval = never" in text, text
