"""Conformance with the Codex shell tools, sections 15 to 18 and what they change of the others: approvals, rules, sandboxes, and the tools of
ue mcp, which are confined by default. Named as in test_conformance_unified.py."""
import json, os, shlex, shutil, tempfile
from pathlib import Path

import pytest
from conftest import wait_for
from frames import ue_at_terminal
from test_approvals import asks, content, refusal, waiting, yes
from test_policy_sandbox import Place
from test_sandbox import fake  # noqa: F401  (a fixture)

pytestmark = pytest.mark.no_pty
NEVER = "approval required by policy, but AskForApproval is set to Never"


def framed(cmd, why):
    return f"exec_command failed for `/bin/bash -lc {shlex.quote(cmd)}`: CreateProcess {{ message: \"Rejected(\\\"{why}\\\")\" }}"


@pytest.fixture
def place(mux):
    """A workspace, and a directory that may not be written, with what holds by default."""
    mux.models = ""
    place = Place(mux, "")
    place.out = Path(tempfile.mkdtemp(prefix="mx", dir="/var/tmp"))  # below /tmp everything may be written
    yield place
    shutil.rmtree(place.out)


def through_mcp(mux, *calls, cwd=None):
    """The answers to tool calls: names with arguments, or the text of `params`."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
                                                                                       "clientInfo": {"name": "codex-mcp-client", "version": "0"}}})]
    for id, call in enumerate(calls, 1):
        params = call if isinstance(call, str) else json.dumps({"name": call[0], "arguments": call[1]})
        lines.append(f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}')
    told = mux.ue("mcp", input="\n".join(lines) + "\n", cwd=cwd, env={"TMPDIR": ""})
    answers = {message["id"]: message for message in map(json.loads, told.out.splitlines()) if "id" in message}
    return [answers[id] for id in range(1, len(lines))], told.err


# --- 4 and 11, in a sandbox
def test_25_a_missing_workdir_in_a_sandbox(place):
    """The same texts as without one."""
    for workdir in f"{place.dir}/gone", "gone":
        error = place.refused("exec_command", cmd="pwd", shell="/bin/bash", workdir=workdir)
        assert content(error) == framed("pwd", f"Failed to create unified exec process: '{place.dir}/gone': No such file or directory; choose "
                                        "another directory")
    error = place.refused("shell_command", command="pwd", workdir="/no/such")
    assert content(error) == "execution error: '/no/such': No such file or directory; choose another directory"


def test_11_a_sandbox_without_a_network_is_told(place):
    call = {"cmd": "echo [$CODEX_SANDBOX_NETWORK_DISABLED]", "login": False}
    assert place.call("exec_command", **call)["output"] == "[1]\n"
    assert place.call("shell_command", command=call["cmd"], login=False)["output"] == "[1]\n"
    assert place.mux.ue("exec", "--raw", call["cmd"]).ok().out == "[]\n"
    place.mux.configure("[policy mcp]\nsandbox = workspace-write\nnetwork = yes\n")
    place.mux.ue("reload").ok()
    assert place.call("exec_command", **call)["output"] == "[]\n"


def test_ours_4_1_what_a_sandbox_refused_is_told(place):
    answer = place.call("exec_command", cmd=f"touch {place.out}/x", login=False, yield_time_ms=30000)
    assert answer["exit_code"] == 1 and answer["content"].startswith("Chunk ID: ")
    assert answer["content"].splitlines()[-1].startswith(f"(the sandbox (workspace-write) refused to write '{place.out}/x'"), answer


# --- 15
@pytest.mark.parametrize("arguments, words", [
    ({"justification": "why"}, "`justification` requires an explicit `sandbox_permissions`; use `sandbox_permissions: \"require_escalated\"` for "
     "unsandboxed execution, or omit `justification`."),
    ({"sandbox_permissions": "with_additional_permissions"}, "missing `additional_permissions`; provide at least one of `network` or `file_system` "
     "when using `with_additional_permissions`"),
    ({"sandbox_permissions": "with_additional_permissions", "additional_permissions": {}}, "`additional_permissions` must include at least one "
     "requested permission in `network` or `file_system`"),
    ({"additional_permissions": {"network": {"enabled": True}}}, "`additional_permissions` requires `sandbox_permissions` set to "
     "`with_additional_permissions`"),
])
def test_15_6_asking_wrongly(place, arguments, words):
    assert content(place.refused("exec_command", cmd="true", **arguments)) == words


def test_15_5_the_frame_of_a_refusal(mux):
    """Whether a policy judges or rules alone do."""
    mux.configure("[rule f]\nprefix = git push\ndecision = forbidden\njustification = a person pushes\n[rule g]\nprefix = git fetch\ndecision = forbidden\n"
                  "[policy never]\napproval = never\n")
    rpc = mux.rpc()
    for meta in {}, {"profile": "never"}:
        for cmd, why in ("git push", "a person pushes"), ("git fetch", "policy forbids commands starting with `git fetch`"):
            words = f"`/bin/bash -lc '{cmd}'` rejected: {why}"
            error = rpc.error("exec_command", {"cmd": cmd, "shell": "/bin/bash", "_meta": {"cwd": str(mux.dir), **meta}})
            assert content(error) == framed(cmd, words)
            error = rpc.error("shell_command", {"command": cmd, "_meta": {"cwd": str(mux.dir), "env": mux.env, **meta}})
            assert content(error) == words


def test_ours_15_5_a_justification_is_for_the_model_too(mux):
    mux.configure("[rule p]\nprefix = make deploy\ndecision = prompt\njustification = look first\n")
    error = mux.rpc().error("exec_command", {"cmd": "make deploy", "shell": "/bin/bash"})
    assert content(error) == framed("make deploy", NEVER + ": look first")


def test_ours_15_a_person_answers_at_a_terminal(place):
    """Not the client, though it could ask; and what the person says stands behind Codex's words."""
    mux = place.mux
    client = mux.popen("mcp", stdin=-1, cwd=place.dir)
    for id, (method, params) in enumerate([
            ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "codex-mcp-client", "version": "0"}}),
            ("tools/call", {"name": "exec_command", "arguments": {"cmd": "rm -f x", "shell": "/bin/bash"}})]):
        client.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
    client.stdin.flush()
    approval, = waiting(mux)
    assert ue_at_terminal(mux, "deny", approval["id"], "--because", "I read it").rc == 0
    messages = [json.loads(client.stdout.readline()) for _ in range(2)]
    assert [message.get("method") for message in messages] == [None, None] and messages[1]["result"]["isError"]
    assert messages[1]["result"]["content"][0]["text"] == framed("rm -f x", "rejected by user: I read it")


def test_ours_15_7_a_yes_for_the_session_is_for_one_environment(place):
    mux, call = place.mux, {"sandbox_permissions": "require_escalated", "justification": "?", "login": False, "yield_time_ms": 30000}
    first = asks(mux, "true", **call, meta={"mcp": True})
    yes(mux, waiting(mux)[0], "--session").ok()
    assert first.result(first.id)["exit_code"] == 0
    second = asks(mux, "true", **call, env={"LD_PRELOAD": "/x"}, meta={"mcp": True})
    ue_at_terminal(mux, "deny", waiting(mux)[0]["id"]).ok()
    assert "rejected by user" in content(refusal(second))


def test_ours_15_6_a_part_can_be_asked_for(place):
    mux = place.mux
    rpc = asks(mux, f"touch {place.out}/x", login=False, yield_time_ms=30000, justification="may I?", meta={"cwd": str(place.dir), "mcp": True},
               sandbox_permissions="with_additional_permissions", additional_permissions={"file_system": {"write": [str(place.out)]}})
    approval, = waiting(mux)
    assert str(place.out) in approval["sandbox"] and approval["permissions"] == "with_additional_permissions"
    yes(mux, approval).ok()
    assert rpc.result(rpc.id)["exit_code"] == 0 and place.written() == {"out"}


def test_ours_15_4_running_again_without_the_sandbox_is_asked(place):
    """Also when it took long to fail, and when the first run had a yes already."""
    mux = place.mux
    mux.configure("[policy mcp]\napproval = untrusted\nsandbox = workspace-write\n")
    mux.ue("reload").ok()
    rpc = asks(mux, f"sleep 0.5; touch {place.out}/x", login=False, yield_time_ms=30000, meta={"cwd": str(place.dir), "mcp": True})
    first, = waiting(mux)
    yes(mux, first).ok()
    second = wait_for(lambda: [one for one in mux.js("approvals")["approvals"] if one["id"] != first["id"]], "the second question")[0]
    assert second["reason"] == "command failed; retry without sandbox?" and place.written() == set()
    yes(mux, second).ok()
    assert rpc.result(rpc.id)["exit_code"] == 0 and place.written() == {"out"}


# --- 16 and 17
def test_ours_16_a_rule_that_forbids_holds_however_it_is_spelt(mux):
    mux.configure("[rule f]\nprefix = git push\ndecision = forbidden\n[policy u]\napproval = untrusted\n[policy n]\napproval = never\n")
    mux.ue("start").ok()
    for cmd in "/opt/git push", "git -C x --no-pager push", "git push >log", "echo $(git push)", "sudo git push", "sh -c 'git push'":
        assert "decision  forbidden" in mux.ue("policy", "check", cmd).out, cmd


def test_ours_16_a_rule_that_allows_holds_for_listed_paths(mux):
    mux.configure("[rule bare]\nprefix = git status\n[rule listed]\nprefix = git log\nhost_executable = /usr/bin/git\n")
    mux.ue("start").ok()
    for cmd, decision in ("git status", "allow"), ("/usr/bin/git status", "none"), ("/usr/bin/git log", "allow"), ("/opt/git log", "none"):
        assert f"decision  {decision}" in mux.ue("policy", "check", cmd).out, cmd


RULES_FILES = [  # a rules file, what the real `codex execpolicy check` says of each command (--resolve-host-executables); None: it doesn't take the file
    ('prefix_rule(pattern=["ls"])', {"ls -l": "allow", "lsx": "none"}),
    ('prefix_rule(pattern=["git",["push","pull"]], decision="forbidden")', {"git push": "forbidden", "git pull x": "forbidden", "git status": "none", "git": "none"}),
    ('prefix_rule(pattern=[["npm","pnpm"],"install"], decision="prompt")', {"npm install x": "prompt", "pnpm install": "prompt", "npm run": "none"}),
    ('prefix_rule(pattern=["git"])\nprefix_rule(pattern=["git","push"], decision="forbidden")\nprefix_rule(pattern=["git","push","origin"], decision="prompt")',
     {"git push origin main": "forbidden", "git push": "forbidden", "git status": "allow"}),
    ('prefix_rule(["git","status"])', {"git status": "allow", "git": "none"}),
    ('prefix_rule(["a"], "prompt", ["a b"], ["c"], "why")', {"a x": "prompt", "b": "none"}),
    ('host_executable(name="git", paths=["/usr/bin/git"])\nprefix_rule(pattern=["git","status"])', {"/usr/bin/git status": "allow", "/opt/git status": "none"}),
    ('host_executable("git", [])\nprefix_rule(pattern=["git","status"])', {"/usr/bin/git status": "none", "git status": "allow"}),
    ('host_executable(name="git", paths=["/usr/bin/git"])\nhost_executable(name="git", paths=["/opt/git"])\nprefix_rule(pattern=["git","log"])',
     {"/usr/bin/git log": "none", "/opt/git log": "allow"}),
    ('prefix_rule(pattern=["/usr/bin/git","status"])', {"/usr/bin/git status": "allow", "git status": "none"}),
    ('# x\nprefix_rule(\n    pattern = ["make",  # here\n        "all",],\n    decision = \'prompt\',\n)\n', {"make all": "prompt", "make": "none"}),
    ('prefix_rule(pattern=["echo","a b"], match=["echo \'a b\' c"], not_match=["echo a b"], decision="prompt")', {"echo 'a b'": "prompt", "echo a b": "none"}),
    ('prefix_rule(pattern=["écho","日本"], decision="prompt")', {"écho 日本 x": "prompt"}), ('prefix_rule(pattern=["a"], match=[])', {"a": "allow"}),
    *[(text, None) for text in (
        'prefix_rule(pattern=["cargo"], match=["git"])', 'prefix_rule(pattern=["cargo"], not_match=["cargo x"])', 'prefix_rule(pattern=[])',
        'prefix_rule(pattern=["a",[]])', 'prefix_rule(pattern=["a"], decision="deny")', 'prefix_rule(pattern=["a"], justification=" ")',
        'prefix_rule(decision="allow")', 'prefix_rule(pattern=["a"], why="x")', 'prefix_rule(pattern=["a",1])', 'prefix_rule(pattern="git status")',
        'prefix_rule(pattern=("git","status"))', 'prefix_rule(pattern=["a",[["b"]]])', 'prefix_rule(pattern=["a"], "prompt")', 'prefix_rule(["a"], pattern=["a"])',
        'prefix_rule(["a"], "prompt", ["a"], ["b"], "why", "more")', 'prefix_rule(pattern=["a"], name="a")', 'host_executable(name="git", paths=["git"])',
        'host_executable(name="git", paths=["/usr/bin/hg"])', 'host_executable(name="/usr/bin/git", paths=["/usr/bin/git"])', 'host_executable(name="", paths=[])',
        'host_executable(paths=["/usr/bin/git"])', 'host_executable(name="git")', 'prefix_rule(pattern=["a"], pattern=["b"])',
        'prefix_rule(pattern=["a"], decision="Allow")', 'prefix_rule(pattern=["a"], decision=None)', 'prefix_rule(pattern=["git" "x"])', 'prefix_rule(pattern=["a"',
        'other_rule(pattern=["a"])', '\ufeffprefix_rule(pattern=["a"])', '  prefix_rule(pattern=["a"])', 'prefix_rule(pattern=["a"], match=[""])',
        'prefix_rule(pattern=["a"], match=["a \'"])', 'prefix_rule(pattern=["a"], match="a b")', 'prefix_rule(pattern=["a"], match=[[]])', 'print("x")')]]


def test_16_rules_files(mux):
    mux.ue("start").ok()
    rules = mux.dir / "f.rules"
    for text, decisions in RULES_FILES:
        rules.write_text(text)
        told = mux.ue("policy", "import", str(rules))
        assert (told.rc == 0) == (decisions is not None), (text, told)
        if decisions is None:
            assert "line 1: " in told.err or "line 2: " in told.err, (text, told)
            continue
        mux.configure(told.out)
        mux.ue("reload").ok()
        for cmd, decision in decisions.items():
            result = mux.rpc().call("check_policy", {"cmd": shlex.split(cmd)})
            assert result["decision"] == decision, (text, cmd, result)


def test_ours_16_rules_files_that_are_not_literal(mux):
    rules = mux.dir / "f.rules"
    for line in ('x = ["git"]', 'prefix_rule(pattern=["git"]+["x"])', '[prefix_rule(pattern=[c]) for c in ["a","b"]]', 'prefix_rule(pattern=["a"]); prefix_rule(pattern=["b"])',
                 'prefix_rule(pattern=["""a"""])', 'prefix_rule(pattern=[r"a"])', 'prefix_rule(pattern=["echo",""])', 'prefix_rule(pattern=["a|b"])',
                 'prefix_rule(pattern=[["a|b","c"]])', 'network_rule(host="x.org", protocol="https", decision="allow")'):
        rules.write_text(f'prefix_rule(pattern=["first"])\n{line}\nprefix_rule(pattern=["last"])\n')
        told = mux.ue("policy", "--skip-refused", "import", str(rules)).ok()
        assert "line 2: " in told.err and told.out.count("[rule") == 2 and '"first"' in told.out and '"last"' in told.out, (line, told)


def test_ours_17_what_is_known(mux):
    mux.configure("[policy u]\napproval = untrusted\n[policy n]\napproval = never\n")
    mux.ue("start").ok()
    for cmd, judged in [("ls x", "[policy u] would run it"), ("/bin/ls x", "[policy u] would run it"), ("/tmp/ls x", "[policy u] would ask"),
                        ("rm -f 'x", "[policy n] would refuse")]:  # safe by name and place; dangerous also where the script can't be read
        assert judged in mux.ue("policy", "check", cmd).out, cmd


# --- 18
def test_ours_18_1_what_else_stays_read_only(place):
    script = "mkdir .git/x; mkdir .muxd/x; ls -A"
    assert place.call("exec_command", cmd=script, login=False, yield_time_ms=30000)["output"].count("Read-only file system") == 2
    plan = place.mux.ue("sandbox", "--explain", "--json", cwd=place.dir).ok().json["argv"]
    assert f"{place.dir}/.git" in plan and "/tmp" in plan and "/tmp/.git" not in plan
    os.symlink(place.out, place.dir / ".codex")
    assert "symbolic link" in content(place.refused("exec_command", cmd="true", login=False)) and place.written() == set()


def test_ours_18_3_without_bubblewrap_nothing_is_confined_by_default_and_said_so(mux, fake):
    mux.models = ""
    mux.configure("")
    fake("#!/bin/sh\nexit 1\n")
    (answer,), log = through_mcp(mux, ("exec_command", {"cmd": "touch x", "login": False}), cwd=mux.home)
    assert not answer["result"]["isError"] and (mux.home / "x").exists() and "commands of this client: not confined" in log
    mux.configure("[policy mcp]\nsandbox = workspace-write\n")
    mux.ue("reload").ok()
    (answer,), log = through_mcp(mux, ("exec_command", {"cmd": "touch y", "login": False}), cwd=mux.home)
    assert answer["result"]["isError"] and not (mux.home / "y").exists()


# --- 19, in a sandbox
def test_19_4_a_patch_outside_asks(place):
    """Under on-request, which holds by default; under never it is refused. One inside is not asked about."""
    mux = place.mux
    patch = f"*** Begin Patch\n*** Add File: {place.out}/x\n+x\n*** End Patch"
    intercepted = {"cmd": f"apply_patch <<'E'\n{patch}\nE"}
    for tool, arguments in ("apply_patch", {"input": patch}), ("exec_command", intercepted):
        rpc = mux.rpc()
        rpc.id = rpc.send(tool, {**arguments, "_meta": {"cwd": str(place.dir), "mcp": True}})
        approval, = waiting(mux)
        assert place.written() == set()
        ue_at_terminal(mux, "deny", approval["id"]).ok()
        assert content(refusal(rpc)) == "patch rejected by user" and place.written() == set()
        rpc.id = rpc.send(tool, {**arguments, "_meta": {"cwd": str(place.dir), "mcp": True}})
        yes(mux, waiting(mux)[0]).ok()
        assert rpc.result(rpc.id)["content"].endswith(f"Success. Updated the following files:\nA {place.out}/x\n") and place.written() == {"out"}
    assert place.call("apply_patch", input=patch.replace(str(place.out), str(place.dir)))["success"] and place.written() == {"work"}
    mux.configure("[policy mcp]\napproval = never\nsandbox = workspace-write\n")
    mux.ue("reload").ok()
    for tool, arguments in ("apply_patch", {"input": patch}), ("exec_command", intercepted):
        assert content(place.refused(tool, **arguments)) == "patch rejected: writing outside of the project; rejected by user approval settings"


# --- the tools by MCP
def test_ours_mcp_what_is_no_call_is_an_error_of_json_rpc(mux):
    answers, _ = through_mcp(mux, ("nosuchtool", {}), ("exec_command", []), '{"name": "exec_command", "arguments": {"cmd": "a", "cmd": "b"}}')
    assert [answer["error"]["code"] for answer in answers] == [-32602, -32602, -32700]
    assert answers[0]["error"]["message"] == "Unknown tool: nosuchtool" and "duplicate field `cmd`" in answers[2]["error"]["message"]


def test_ours_mcp_strings_are_read(mux):
    (answer,), _ = through_mcp(mux, ("exec_command", {"cmd": "echo hi", "login": "false", "yield_time_ms": "30000"}))
    assert answer["result"]["structuredContent"]["exit_code"] == 0
