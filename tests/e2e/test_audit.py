"""[audit]: what goes on record, that it is there before anything runs, once, and that it never holds a secret."""
import json, os, signal, subprocess

import pytest
from conftest import CAP, UE, wait_for
from frames import ue_at_terminal
from test_approvals import asks, content, refusal, waiting, yes
from test_secret import give

POLICIES = """
[policy mcp]
approval = untrusted
[policy lets]
approval = on-request
[policy hasty]
approval = untrusted
ask_timeout = 1s
[rule push]
prefix = git push
decision = forbidden
justification = a person pushes
[rule touch]
prefix = touch
"""
PATCH = "*** Begin Patch\n*** Add File: {}\n+hello\n*** End Patch\n"


@pytest.fixture
def kept(mux):
    mux.configure(POLICIES)
    (mux.dir / "w").mkdir()
    return mux


def file_of(mux):
    return mux.state / "muxd/audit.jsonl"


def records(mux, *options):
    return [json.loads(line) for line in mux.ue("audit", "--json", *options).ok().out.splitlines()]


def of(mux, what, count=1):
    """The records of a kind; ends come a little after the answer's wait."""
    def look():
        found = [one for one in records(mux) if one["record"] == what]
        return (found,) if len(found) == count else None
    return wait_for(look, f"{count} records: {what}")[0]


def call(mux, cmd, tool="exec_command", meta=None, **more):
    rpc = asks(mux, cmd, tool, {"client": "codex", "call_id": "call_1", **(meta or {})}, **more)
    return rpc.result(rpc.id)


def test_who_what_where_and_how_it_ended(kept):
    kept.ue("start").ok()
    assert not file_of(kept).exists() and "nothing is on record" in kept.ue("audit").ok().err
    call(kept, "touch x", yield_time_ms=CAP * 1000)
    call(kept, "ls", "shell_command")
    begin, quick = of(kept, "allowed", 2)
    ends = of(kept, "ended", 2)
    assert begin["command"][-2:] == ["-lc", "touch x"] and begin["cwd"] == str(kept.dir / "w"), begin
    assert (begin["uid"], begin["pid"], begin["client"], begin["call_id"], begin["kind"], begin["tool"], begin["person"]) == (
        os.geteuid(), os.getpid(), "codex", "call_1", "tool", "exec_command", False)
    assert (begin["policy"], begin["rule"], begin["by"], begin["sandbox"]["mode"]) == ("mcp", "touch", "rule", "full-access")
    assert quick["tool"] == "shell_command" and quick["by"] == "policy" and quick["name"] == "ls" and "rule" not in quick
    assert [(one["session"], one["ended"], one["exit_code"], one["call_id"]) for one in ends] == [
        (begin["session"], "exited", 0, "call_1"), (quick["session"], "exited", 0, "call_1")]
    refused = refusal(asks(kept, "git push"))
    told, = of(kept, "refused")
    assert "a person pushes" in content(refused) and told["rule"] == "push" and told["command"][-1] == "git push" and "a person pushes" in told["reason"]
    timed = call(kept, "sleep 300", "shell_command", {"profile": "lets"}, timeout_ms=10)
    assert timed["timed_out"] and of(kept, "ended", 3)[-1]["ended"] == "timeout"
    call(kept, "exec sleep 300", meta={"profile": "lets"}, name="long", yield_time_ms=250)
    kept.ue("kill", "long").ok()
    killed = of(kept, "ended", 4)[-1]
    assert killed["name"] == "long" and killed["ended"] == "killed" and killed["killed_by"] == "request" and killed["signal"] > 0, killed
    assert refusal(asks(kept, ["/nowhere"], meta={"profile": "lets"})).code == "spawn"
    assert of(kept, "ended", 5)[-1]["ended"] == "not_started"
    text = kept.ue("audit").ok().out
    assert "touch x" in text and "timeout" in text and "; rule push" in text and f"process {os.getpid()}" in text, text
    # nothing has judged it
    kept.ue("exec", "true").ok()
    assert not any(one.get("kind") == "verb" for one in records(kept))
    file = file_of(kept)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o77 == 0
    ids = [one["id"] for one in records(kept)]
    assert len(ids) == len(set(ids)) and str(file) in kept.ue("status").out


def test_questions_and_their_answers(kept):
    rpc = asks(kept, "echo a >b", meta={"client": "codex"})
    approval, = waiting(kept)
    asked, = of(kept, "asked")
    assert asked["approval"] == approval["id"] and asked["command"][-1] == "echo a >b" and asked["reason"] == approval["reason"], asked
    yes(kept, approval).ok()
    rpc.result(rpc.id)
    answer, = of(kept, "answered")
    begin, = of(kept, "allowed")
    assert answer["approval"] == begin["approval"] == approval["id"] and begin["by"] == "person" and answer["span"] == "once"
    assert answer["approver"]["uid"] == os.geteuid() and answer["approver"]["evidence"] == "terminal" and answer["approver"]["pid"] != answer["pid"] == os.getpid()
    assert begin["approver"] == answer["approver"]
    rpc = asks(kept, "echo a >c")
    ue_at_terminal(kept, "deny", waiting(kept)[0]["id"], "--because", "not today").ok()
    refusal(rpc)
    denied, = of(kept, "denied")
    assert denied["reason"] == "rejected by user: not today" and denied["approver"]["evidence"] == "terminal"
    refusal(asks(kept, "echo a >d", meta={"profile": "hasty"}))
    late = of(kept, "denied", 2)[-1]
    assert "nobody has approved it" in late["reason"] and "approver" not in late
    rpc = asks(kept, "echo a >e")
    waiting(kept)
    rpc.close()
    assert of(kept, "withdrawn")[0]["reason"] == "its client has gone, or has cancelled the call"
    rpc = asks(kept, "mkdir e")
    yes(kept, waiting(kept)[0], "--always").ok()
    rpc.result(rpc.id)
    assert of(kept, "answered", 2)[-1]["always"] == ["mkdir", "e"]
    text = kept.ue("audit", "--session", str(begin["session"])).ok().out
    assert all(word in text for word in ("asked", "answered", "allowed", "ended")) and "not today" not in text and approval["id"] in text, text


def test_people_models_sandboxes_and_the_config(kept):
    kept.configure(POLICIES + "[policy]\napproval = on-request\n[policy boxed]\nsandbox = read-only\n[session d]\nargv = true\n")
    ue_at_terminal(kept, "exec", "-n", "mine", "true").ok()
    kept.ue("exec", "-n", "script", "true").ok()
    assert [(one["name"], one["kind"], one["person"]) for one in of(kept, "allowed", 2)] == [("mine", "verb", True), ("script", "verb", False)]
    with kept.popen("mcp", stdin=subprocess.PIPE) as mcp:
        for message in ({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "robot", "version": "1"}}},
                        {"id": 2, "method": "tools/call", "params": {"name": "exec_command", "arguments": {"cmd": "touch x", "workdir": str(kept.dir / "w")}}}):
            mcp.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            mcp.stdin.flush()
        model = of(kept, "allowed", 3)[-1]
        assert "robot" in model["client"] and model["policy"] == "mcp" and model["call_id"] and not model["person"], model
        mcp.communicate(timeout=CAP)
    rpc = asks(kept, "true", meta={"profile": "boxed"}, yield_time_ms=CAP * 1000)
    try:
        rpc.result(rpc.id)
        assert of(kept, "allowed", 4)[-1]["sandbox"] == {"mode": "read-only", "network": False}
    except rpc.Error as error:  # nothing here can enforce it
        assert error.code == "not_available" and of(kept, "refused")[-1]["policy"] == "boxed"
    kept.ue("exec", "-n", "d").ok()
    kept.configure("[audit]\nwhat = all\n[session d]\nargv = true\n")
    kept.ue("reload").ok()
    kept.ue("exec", "-n", "d").ok()
    found = [one for one in records(kept) if one.get("kind") == "config"]
    assert len(found) == 1 and found[0]["name"] == "d" and found[0]["command"] == ["true"]


def test_patches(kept):
    kept.configure(POLICIES + "[tools]\npatch_roots = .\n")
    meta = {"_meta": {"cwd": str(kept.dir / "w"), "client": "codex"}}
    kept.rpc().call("apply_patch", {"input": PATCH.format("new"), **meta})
    begin, = of(kept, "allowed")
    end, = of(kept, "ended")
    assert begin["files"] == [{"path": "new", "kind": "add"}] and begin["cwd"] == str(kept.dir / "w") and end["exit_code"] == 0
    assert begin["id"].removesuffix(".begin") == end["id"].removesuffix(".end") and "hello" not in file_of(kept).read_text()
    assert kept.rpc().error("apply_patch", {"input": PATCH.format("../out"), **meta}).code == "denied"
    refused, = of(kept, "refused")
    assert "patch rejected" in refused["reason"] and not (kept.dir / "out").exists()


def test_what_can_not_be_written_does_not_run(kept):
    """A directory in place of the file: nobody can write it, root neither. Nothing that goes on record runs until it is gone."""
    kept.ue("start").ok()
    call(kept, "exec sleep 300", meta={"profile": "lets"}, name="early", yield_time_ms=250)
    question = asks(kept, "echo a >b")
    approval, = waiting(kept)
    file = file_of(kept)
    file.rename(file.with_suffix(".old"))
    file.mkdir()
    for tool in "exec_command", "shell_command":
        error = refusal(asks(kept, "touch x", tool))
        assert error.code == "audit" and str(file) in content(error) and "[audit] what = off" in content(error), content(error)
    assert refusal(asks(kept, "echo a >c")).code == "audit"
    assert kept.rpc().error("apply_patch", {"input": PATCH.format("new"), "_meta": {"cwd": str(kept.dir / "w")}}).code == "audit"
    refused = yes(kept, approval)
    assert refused.rc == 125 and str(file) in refused.err, refused
    assert waiting(kept)[0]["id"] == approval["id"] and sorted((kept.dir / "w").iterdir()) == []
    assert "can't be written" in kept.js("status")["audit"]
    assert kept.ue("exec", "--raw", "echo", "judged", "by", "nobody").ok().out == "judged by nobody\n"
    kept.ue("kill", "early").ok()
    file.rmdir()
    file.with_suffix(".old").rename(file)
    end, = of(kept, "ended")  # it was owed
    assert end["name"] == "early" and end["ended"] == "killed"
    yes(kept, approval).ok()
    question.result(question.id)
    assert kept.js("status")["audit"] == "decisions" and (kept.dir / "w/b").exists()


def test_a_full_disk(kept):
    """State on a small disk of its own, which is full."""
    disk = kept.state / "muxd"
    disk.mkdir(mode=0o700)
    script = 'mount -t tmpfs -o size=256k,mode=0700 none "$0" && exec "$@"'
    inside = ["unshare", "--mount", "--propagation", "private", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c", script, str(disk)]
    done = subprocess.run([*inside, str(UE), "start"], env=kept.env, capture_output=True, timeout=CAP, cwd="/")
    if done.returncode:
        pytest.skip(f"no disk of one's own: {done.stderr[-200:]!r}")
    call(kept, "touch x", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)
    call(kept, f"head -c 1m /dev/zero >{disk}/fill; true", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)
    error = refusal(asks(kept, "touch y; : " + "y" * 5000, meta={"profile": "lets"}))
    assert error.code == "audit" and "No space left on device" in content(error) and not (kept.dir / "w/y").exists(), content(error)
    peer = kept.rpc()
    peer.call("exec_command", {"cmd": f"rm {disk}/fill", "exit": True, "_meta": {"cwd": "/", "verb": True}})
    lines = peer.call("exec_command", {"cmd": f"cat {disk}/audit.jsonl", "exit": True, "_meta": {"cwd": "/", "verb": True}})["output"].splitlines()
    assert [json.loads(line)["record"] for line in lines][:3] == ["allowed", "ended", "allowed"]
    assert call(kept, "touch z", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)["exit_code"] == 0


@pytest.mark.parametrize("how", ["killed", "upgraded"])
def test_a_new_worker_loses_and_doubles_nothing(kept, how):
    kept.ue("start").ok()
    call(kept, "until [ -e go ]; do sleep 0.05; done; exit 7", meta={"profile": "lets"}, name="long", yield_time_ms=250)
    call(kept, "touch x", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)
    of(kept, "ended")
    pid = kept.js("status")["pid"]
    if how == "killed":  # it ends while there is no worker
        os.kill(pid, signal.SIGSTOP)
        (kept.dir / "w/go").touch()
        os.kill(pid, signal.SIGKILL)
    else:
        kept.ue("upgrade").ok()
        (kept.dir / "w/go").touch()
    wait_for(lambda: kept.js("status")["pid"] != pid, "the next worker")
    end = of(kept, "ended", 2)[-1]
    assert end["name"] == "long" and end["exit_code"] == 7 and end["client"] == "codex"
    os.kill(kept.js("status")["pid"], signal.SIGKILL)
    call(kept, "touch y", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)
    of(kept, "ended", 3)
    ids = [one["id"] for one in records(kept)]
    assert len(ids) == len(set(ids)) == 6, ids


def test_an_end_that_was_owed_is_written_once(kept):
    """The worker dies behind a line that the journal knows nothing of yet, or before it."""
    kept.ue("start").ok()
    for name in "one", "two":
        call(kept, "until [ -e go ]; do sleep 0.05; done", meta={"profile": "lets"}, name=name, yield_time_ms=250)
    file, pid = file_of(kept), kept.js("status")["pid"]
    aside = file.with_suffix(".old")
    file.rename(aside)
    file.mkdir()
    (kept.dir / "w/go").touch()
    one = kept.wait_state("one", "exited")
    kept.wait_state("two", "exited")
    with open(aside, "a") as lines:
        lines.write(json.dumps({"id": f"{one['session_id']}.end", "record": "ended", "name": "one"}, separators=(",", ":")) + "\n")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: "can't be written" in kept.js("status")["audit"], "the next worker")
    file.rmdir()
    aside.rename(file)
    ends = of(kept, "ended", 2)
    assert [one["name"] for one in ends] == ["one", "two"] and "exit_code" not in ends[0] and ends[1]["exit_code"] == 0
    os.kill(kept.js("status")["pid"], signal.SIGKILL)
    call(kept, "touch y", meta={"profile": "lets"}, yield_time_ms=CAP * 1000)
    assert [one["name"] for one in of(kept, "ended", 3)] == ["one", "two", "touch"]


def test_no_secret_and_nothing_that_a_terminal_obeys(kept):
    kept.configure(POLICIES.replace("untrusted", "on-request"))
    kept.ue("start").ok()
    kept.session("asks", "/bin/cat")
    give(kept, "--stage", name="asks", word="swordfish").ok()
    call(kept, "echo swordfish; : '\x1b[31m\u202e\x07' xswordfishx", meta={"client": "evil\x1b]0;\u2066"}, env={"TOKEN": "hidden-value"}, yield_time_ms=CAP * 1000)
    kept.ue("write", "-y", "0", "asks", "typed-text")
    text = file_of(kept).read_text()
    assert "swordfish" not in text and "[secret]; : " in text and "x[secret]x" in text and "hidden-value" not in text and "typed-text" not in text, text
    shown = kept.ue("audit").ok().out
    assert not any(ord(char) < 32 and char != "\n" for char in shown) and "\u202e" not in shown and "\u2066" not in shown and "\\x1b" in shown, shown
    assert len(shown.splitlines()) == len(text.splitlines())


def test_options_and_bad_input(kept):
    kept.ue("start").ok()
    for option, value, code, words in (("--since", "yesterday", 64, "no time; write"), ("--session", "nobody", 127, "nothing is on record of such a session")):
        refused = kept.ue("audit", option, value)
        assert refused.rc == code and words in refused.err and value in refused.err, refused
    assert kept.ue("audit", "stray").rc == 64
    call(kept, "touch x", name="one", yield_time_ms=CAP * 1000)
    call(kept, "touch y", name="two", yield_time_ms=CAP * 1000)
    of(kept, "ended", 2)
    assert {one["name"] for one in records(kept, "--session", "two")} == {"two"} and len(records(kept, "--since", "1h")) == 4
    assert records(kept, "--since", "2037-01-01") == [] and len(records(kept, "--since", records(kept)[0]["time"])) == 4
    with open(file_of(kept), "a") as file:
        file.write('{"id":"torn"')
    call(kept, "touch z", yield_time_ms=CAP * 1000)
    of(kept, "ended", 3)
    assert len(records(kept)) == 6 and "1 lines were not written to their end" in kept.ue("audit").err
    # all of it, and nothing
    kept.configure(POLICIES + "[audit]\nwhat = all\nfile_size = 64k\nfiles = 2\n")
    kept.ue("reload").ok()
    kept.ue("exec", "true").ok()
    wait_for(lambda: records(kept)[-1]["record"] == "ended", "its end")
    mine = [one for one in records(kept) if one.get("kind") == "verb"]
    assert len(mine) == 1 and "by" not in mine[0] and mine[0]["command"][-1] == "true"
    for i in range(8):
        kept.ue("exec", "--argv", "--", "true", f"{i}" * 30000).ok()
    names = sorted(path.name for path in file_of(kept).parent.glob("audit.jsonl*"))
    assert names == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"], names
    assert [one["command"][1][0] for one in records(kept) if one["record"] == "allowed"][-3:] == ["5", "6", "7"]
    kept.configure(POLICIES + "[audit]\nwhat = off\n")
    kept.ue("reload").ok()
    before = len(records(kept))
    call(kept, "touch x", yield_time_ms=CAP * 1000)
    assert len(records(kept)) == before and kept.js("status")["audit"] == "off"
