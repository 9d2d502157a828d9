"""What a sandbox has refused is said in the answer: what it was, by which evidence, and how to ask; and nothing is said where the command
would have failed without a sandbox, too."""
import json, os, sys

import pytest
from test_sandbox import BACKENDS, Work
from test_tools import POLICIES

pytestmark = pytest.mark.no_pty


@BACKENDS
def test_what_was_refused_is_told(mux, backend):
    mux.configure(POLICIES)
    mux.ue("reload")
    work = Work(mux, backend)
    outside = mux.dir / "outside"
    outside.write_text("safe")
    (work.dir / ".git").mkdir()
    (work.dir / "locked").write_text("x")
    (work.dir / "locked").chmod(0)

    def run(script, profile=None, **more):
        """The content of the answer, and the denial in it."""
        meta = {"cwd": str(work.dir), **({"profile": profile} if profile else {})}
        arguments = {"cmd": script, "login": False, "yield_time_ms": 30000, "sandbox": work.mode, "_meta": meta, **more}
        answer = mux.rpc().call("exec_command", {**arguments, **({"temp": False} if work.options else {})})
        denial = answer.get("_meta", {}).get("denial")
        assert answer["exit_code"] and (denial is None) == (f"(the sandbox ({work.mode})" not in answer["content"]), answer
        assert not denial or answer["content"].endswith(f"({denial['text']})\n") and denial["text"] not in answer["output"], answer
        return answer["content"], denial

    content, denial = run(f"echo x >{outside}")
    assert (denial["operation"], denial["evidence"], denial["path"], denial["can_ask"]) == ("write", "path", str(outside), True), denial
    assert 'sandbox_permissions "require_escalated" and a justification' in content
    content, denial = run(f"echo x >{outside}", profile="alone")
    assert denial["operation"] == "write" and not denial["can_ask"] and "nobody can be asked" in content and "require_escalated" not in content
    denial = run("echo x >.git/config")[1]
    assert denial["path"] == str(work.dir / ".git/config") and ("stays read-only" in denial["text"]) == (backend == "bubblewrap"), denial
    denial = run("exec 3<>/dev/tcp/127.0.0.1/9" if os.access("/bin/bash", os.X_OK) else "nc 127.0.0.1 9")[1]
    assert (denial["operation"], denial["evidence"]) == ("network", "plan"), denial
    denial = run(f"{sys.executable} -c 'import socket; socket.create_connection((\"192.0.2.1\", 9))'")[1]
    assert (denial["operation"], denial["evidence"]) == ("network", "plan"), denial
    denial = run("wget -q -T 3 -t 1 http://192.0.2.1/ 2>/dev/null || exit 4")[1]  # which says nothing, but by its status
    assert (denial["operation"], denial["evidence"]) == ("network", "status") and "exit status of wget" in denial["text"], denial
    if backend == "bubblewrap":  # the plan is made with the command's own environment
        runtime = mux.dir / "runtime"
        runtime.mkdir()
        denial = run(f"ls {runtime}", env={"XDG_RUNTIME_DIR": str(runtime)})[1]
        assert (denial["operation"], denial["evidence"], denial["path"]) == ("read", "path", str(runtime)), denial
        told = mux.ue("events", "--since", "1", "-y", "0").out
        assert f"ls {runtime}" in told and "sandbox_env" not in told
    # what fails outside as well, and words alone
    if os.geteuid():
        assert run("cat locked")[1] is None
    assert run("echo tests of the sandbox/x have failed; exit 1")[1] is None
    assert run("echo 'no usable sandbox!'; exit 1")[1]["evidence"] == "words"
    assert mux.rpc().call("exec_command", {"cmd": "echo Permission denied; exit 1", "login": False}).get("_meta") is None
    # a program reads it beside the result, in the newest revision beside what that adds
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "exec_command", "arguments": {"cmd": f"echo x >{outside}", "sandbox": work.mode, "login": False, "temp": not work.options}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
    result = json.loads(mux.ue("mcp", input=line + "\n", cwd=work.dir).out)["result"]
    assert result["_meta"]["denial"]["path"] == str(outside) and "_meta" not in result["structuredContent"] and len(result["_meta"]) == 2, result
    assert outside.read_text() == "safe"
