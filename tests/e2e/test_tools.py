"""Which tools are offered, and their schemas for each API."""
import json

import pytest

pytestmark = pytest.mark.no_pty
ALWAYS = ["apply_patch", "list_sessions", "kill_session", "read_output", "read_screen"]
STEPS = ["apply_patch", "list_sessions", "kill_session", "read_output", "run_steps", "run_command", "read_screen"]  # where write_stdin is offered


def names(mux):
    return [tool["name"] for tool in mux.ue("tools", "--json").json]


@pytest.mark.smoke
def test_default_family(mux):
    assert names(mux) == ["exec_command", "write_stdin", *STEPS]
    assert mux.call("shell_command", {"command": "true"}).rc == 0  # not listed, but it works
    assert mux.call("shell", {"command": ["true"]}).rc == 0


@pytest.mark.parametrize("shell_type, listed, refused", [
    ("unified_exec", ["exec_command", "write_stdin"], []),
    ("shell_command", ["shell_command"], ["exec_command", "write_stdin", "run_steps", "run_command"]),
    ("disabled", [], ["exec_command", "write_stdin", "shell_command", "shell"]),
])
def test_families(mux, shell_type, listed, refused):
    mux.configure(f"[tools]\nshell_type = {shell_type}\n")
    assert names(mux) == listed + (STEPS if "write_stdin" in listed else ALWAYS)
    for tool in refused:
        result = mux.call(tool, {})
        assert (result.rc, result.out) == (125, f"unsupported call: {tool}\n")
        assert mux.rpc().error(tool, {}).code == "no_such_method"
    assert mux.ue("exec", "--no-login", "exit 7").rc == 7  # people's verbs are no tools
    assert mux.ue("sh", "--no-login", "exit 8").rc == 8


def test_switches_and_reload(mux):
    assert "apply_patch" in names(mux)
    mux.configure("[tools]\napply_patch = no\nkill_session = no\n")
    mux.ue("reload").ok()
    assert [name for name in ALWAYS if name not in names(mux)] == ["apply_patch", "kill_session"]
    assert mux.call("apply_patch", {"input": "x"}).out == "unsupported call: apply_patch\n"
    patch = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n"
    assert mux.ue("patch", input=patch).rc == 0
    assert mux.call("exec_command", {"cmd": f"apply_patch <<E\n{patch}E\n"}).rc == 0


def test_formats(mux):
    plain = mux.ue("tools", "--json").json
    assert mux.ue("tools").json == plain == mux.ue("tools", "--format", "openai").json
    for name, unwrap in [("openai", lambda t: (t, t["parameters"])), ("openai-chat", lambda t: (t["function"], t["function"]["parameters"])),
                         ("anthropic", lambda t: (t, t["input_schema"])), ("mcp", lambda t: (t, t["inputSchema"]))]:
        tools = mux.ue("tools", "--format", name).json
        for mine, first in zip(tools, plain, strict=True):
            if mine.get("type") == "custom":  # its input is text by a grammar
                assert mine["name"] == "apply_patch" and mine["format"]["syntax"] == "lark" and mine["format"]["definition"].startswith("start: ")
                continue
            tool, schema = unwrap(mine)
            assert tool["name"] == first["name"] and tool["description"] and schema == first.get("parameters", schema)
            assert schema["type"] == "object" and schema["additionalProperties"] is False
            assert set(schema.get("required", [])) <= set(schema["properties"])
            assert all(field["description"] and "type" in field for field in schema["properties"].values())
    mcp = mux.ue("tools", "--format", "mcp").json
    assert all(tool["outputSchema"]["type"] == "object" and tool["title"] and "readOnlyHint" in tool["annotations"] for tool in mcp)
    wrong = mux.ue("tools", "--format", "yaml")
    assert wrong.rc == 64 and "openai-chat" in wrong.err


def test_codex_sees_its_own_fields_and_extended_shows_ours(mux):
    def fields(*options):
        return {tool["name"]: tool.get("parameters") for tool in mux.ue("tools", "--json", *options).json}
    codex, extended = fields(), fields("--extended")
    assert set(codex["exec_command"]["properties"]) == {
        "cmd", "workdir", "tty", "yield_time_ms", "max_output_tokens", "shell", "login"}
    assert codex["exec_command"]["required"] == ["cmd"] and codex["exec_command"]["properties"]["cmd"]["type"] == "string"
    assert set(codex["write_stdin"]["properties"]) == {"session_id", "chars", "yield_time_ms", "max_output_tokens"}
    assert codex["write_stdin"]["properties"]["session_id"]["type"] == "number"
    assert {"until", "name", "env", "encoding"} <= set(extended["exec_command"]["properties"])
    assert "since" in codex["read_output"]["properties"]


def test_words_fit_the_types(mux):
    """Where a model is shown one type, nothing speaks of another."""
    for tool in mux.ue("tools", "--json").json:
        for name, field in tool.get("parameters", {"properties": {}})["properties"].items():
            if field["type"] == "number":
                assert " or name" not in field["description"], (tool["name"], name)
            if field["type"] == "string":
                assert "an array" not in field["description"], (tool["name"], name)


def test_no_argument_that_is_always_refused(mux):
    values = {"string": "true", "number": 300, "boolean": False, "array": [], "object": {}}
    schema = {tool["name"]: tool for tool in mux.ue("tools", "--json").json}["exec_command"]["parameters"]["properties"]
    for name, field in schema.items():
        value = {"workdir": "/", "shell": "sh"}.get(name, values[field["type"]])
        mux.call("exec_command", {"cmd": "true", "yield_time_ms": 30000, "login": False, name: value}).ok()


POLICIES = """
[policy mcp]
approval = on-request
sandbox = full-access
[policy asks]
approval = untrusted
[policy deaf]
approval = granular
rules = no
sandbox_approval = no
[policy alone]
approval = never
[policy off]
"""
APPROVAL = {"sandbox_permissions", "justification", "prefix_rule", "additional_permissions", "with_escalated_permissions"}


def test_approval_arguments_follow_the_policy(mux):
    """They stand where the policy lets a call use them, with no value that it refuses; without a policy nothing is different."""
    def exec_command(*options):
        tool, = [tool for tool in mux.ue("tools", "--json", *options).ok().json if tool["name"] == "exec_command"]
        return tool

    def through_mcp(*options):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
        return json.loads(mux.ue("mcp", *options, input=line + "\n").out)

    views = [(), ("--extended",)]
    before = [exec_command(*view) for view in views]
    mux.configure(POLICIES)
    mux.ue("reload").ok()
    for profile, choices in [(None, ["use_default", "require_escalated"]), ("asks", ["use_default"]), ("deaf", []), ("alone", []), ("off", [])]:
        named = ["--profile", profile] if profile else []
        for view, old in zip(views, before, strict=True):
            new = exec_command(*view, *named)
            fields = new["parameters"]["properties"]
            assert set(fields) & APPROVAL == ({"sandbox_permissions", "justification", "prefix_rule"} if choices else set()), (profile, fields)
            if choices:
                assert fields["sandbox_permissions"]["enum"] == choices and ("require_escalated" in fields["sandbox_permissions"]["description"]) == (len(choices) > 1)
            for name in APPROVAL & set(fields):
                del fields[name]
            assert new == old, profile
        listed, = [tool for tool in through_mcp(*named)["result"]["tools"] if tool["name"] == "exec_command"]
        assert listed["inputSchema"]["properties"].get("sandbox_permissions", {"enum": []})["enum"] == choices, listed
        for choice in ("use_default", "require_escalated"):  # what is not shown is refused, and the other way round
            call = ("exec_command", {"cmd": ["true"], "sandbox_permissions": choice, "_meta": {"profile": profile or "mcp"}})
            if choice in (choices or ["use_default"]):
                assert mux.rpc().call(*call)["exit_code"] == 0
            else:
                assert mux.rpc().error(*call).code == "not_available"
    wrong = mux.ue("tools", "--profile", "none")
    assert wrong.rc == 125 and "[policy none]" in wrong.err, wrong
    assert "[policy none]" in through_mcp("--profile", "none")["error"]["message"]


def test_login_can_be_forbidden(mux):
    mux.configure("[tools]\nallow_login = no\n")
    for format, key in ("openai", "parameters"), ("mcp", "inputSchema"):
        assert "login" not in {tool["name"]: tool for tool in mux.ue("tools", "--format", format).json}["exec_command"][key]["properties"]
    refused = "login shell is disabled by config; omit `login` or set it to false.\n"
    for tool, key in ("exec_command", "cmd"), ("shell_command", "command"):
        result = mux.call(tool, {key: "true", "login": True})
        assert (result.rc, result.out) == (125, refused)
        for arguments in {}, {"login": False}:
            assert mux.call(tool, {key: "shopt -q login_shell || echo none", "shell": "bash", **arguments}).out.endswith("none\n")


def test_method(mux):
    answer = mux.rpc().call("tools")
    assert {"name": "shell_command", "shown": False} in answer["tools"]
    assert json.dumps(answer).count("exec_command") == 1
