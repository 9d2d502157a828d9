"""What `ue mcp` may do where the config says nothing of it: confined to the workspace, with a person to ask for more, where a sandbox can be
had; as before, and told so, where none can."""
import json, os, shutil, tempfile
from pathlib import Path

import pytest
from conftest import need_sandbox, wait_for
from frames import ue_at_terminal
from test_approvals import waiting, yes
from test_sandbox import fake, gate  # noqa: F401  (fixtures)

pytestmark = pytest.mark.no_pty
LIFTS = "[policy mcp] sandbox = full-access in the config lifts it"
FULL = "[policy mcp]\nsandbox = full-access\n"


@pytest.fixture
def bare(mux):
    mux.models = ""
    mux.configure("")
    (mux.dir / "w").mkdir()
    mux.outside = Path(tempfile.mkdtemp(prefix="mx", dir="/var/tmp"))  # not where temporary files may be written
    yield mux
    shutil.rmtree(mux.outside)


def through_mcp(mux, *calls, options=()):
    """The results of tool calls, and what ue mcp has logged."""
    lines = [{"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             *({"method": "tools/call", "params": {"name": name, "arguments": arguments}} for name, arguments in calls)]
    text = "".join(json.dumps({"jsonrpc": "2.0", "id": i, **line}) + "\n" for i, line in enumerate(lines))
    told = mux.ue("mcp", *options, input=text, cwd=mux.dir / "w", env={"TMPDIR": ""})
    answers = {message["id"]: message for message in map(json.loads, told.out.splitlines()) if "id" in message}
    return [answers[i]["result"] for i in range(1, len(lines))], told.err


def fields(mux):
    """The arguments of exec_command as `ue mcp` shows them."""
    told = mux.ue("mcp", input="".join(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n" for method, params in [
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}), ("tools/list", {})])).ok()
    listed, = [answer["result"]["tools"] for answer in map(json.loads, told.out.splitlines()) if answer.get("id") == "tools/list"]
    return next(tool["inputSchema"]["properties"] for tool in listed if tool["name"] == "exec_command")


def writes(mux):
    """A call that writes into the workspace, and elsewhere."""
    return ("exec_command", {"cmd": f"touch in; touch {mux.outside}/out; exit 0", "login": False})


def written(mux):
    found = {name for name, path in (("in", mux.dir / "w/in"), ("out", mux.outside / "out")) if path.exists()}
    (mux.dir / "w/in").unlink(missing_ok=True)
    (mux.outside / "out").unlink(missing_ok=True)
    return found


def confined(mux):
    need_sandbox(mux.ue("sandbox", "--explain", cwd=mux.dir / "w"))


def test_confined_to_the_workspace(bare):
    mux = bare
    assert "tried at the first call" in mux.js("status")["mcp"] and LIFTS in mux.js("status")["mcp"]
    confined(mux)
    (result,), log = through_mcp(mux, writes(mux))
    assert written(mux) == {"in"} and not result["isError"], result
    check = mux.ue("policy", "check", "touch x")
    assert check.out.endswith("policy    [policy mcp], by default, would run it, in the sandbox workspace-write\n"), check
    plan = mux.ue("sandbox", "--explain", "--profile", "mcp", cwd=mux.dir / "w").ok().out
    assert plan.startswith(f"policy     {mux.js('status')['mcp']}\nby ") and f"writable   {mux.dir}/w\n" in plan, plan
    assert log.splitlines()[0] == f"ue: commands of this client: workspace-write (no network), approval on-request, by default; {LIFTS}", log
    assert mux.js("status")["mcp"] in log
    patch = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"
    (into,), _ = through_mcp(mux, ("apply_patch", {"input": patch.format("in")}))
    rpc = mux.rpc()
    id = rpc.send("apply_patch", {"input": patch.format(mux.outside / "out"), "_meta": {"cwd": str(mux.dir / "w"), "mcp": True}})
    assert "does not allow" in waiting(mux)[0]["reason"] and not into["isError"] and written(mux) == {"in"}
    ue_at_terminal(mux, "deny", waiting(mux)[0]["id"]).ok()
    assert rpc.recv(id)["error"]["data"]["content"] == "patch rejected by user" and written(mux) == set()
    assert fields(mux)["sandbox_permissions"]["enum"] == ["use_default", "require_escalated", "with_additional_permissions"]
    assert mux.ue("exec", writes(mux)[1]["cmd"], cwd=mux.dir / "w").rc == 0 and written(mux) == {"in", "out"}  # people are people
    assert mux.ue("call", "exec_command", json.dumps(writes(mux)[1]), cwd=mux.dir / "w").rc == 0 and written(mux) == {"in", "out"}  # and scripts are scripts
    # a person's yes lets one out, once, and what that starts is still a model's
    rpc = mux.rpc()
    call = {"cmd": f"touch {mux.outside}/out; ue exec 'touch {mux.outside}/inner'; exit 0", "login": False, "yield_time_ms": 30000, "env": {"PATH": os.path.dirname(mux.program) + ":" + mux.env["PATH"]},
            "sandbox_permissions": "require_escalated", "justification": "may I?", "_meta": {"cwd": str(mux.dir / "w"), "env": mux.env, "mcp": True}}
    id = rpc.send("exec_command", call)
    approval, = waiting(mux)
    assert approval["sandbox"] == "full-access" and approval["reason"] == "may I?" and approval["policy"] == "mcp"
    yes(mux, approval).ok()
    assert rpc.result(id)["exit_code"] == 0 and written(mux) == {"out"} and not (mux.outside / "inner").exists()
    # the config: one line lifts it, and other lines leave it
    for config, places, names in [(FULL, {"in", "out"}, False), ("[policy mcp]\napproval = never\n", {"in"}, False), ("[policy mcp]\napproval = on-request\n", {"in"}, True),
                                  ("[policy mcp]\nsandbox = read-only\n", set(), False), ("[policy p]\n[policy q]\nsandbox = workspace-write\n", {"in"}, True)]:
        mux.configure(config)
        mux.ue("reload").ok()
        through_mcp(mux, writes(mux))
        assert written(mux) == places and ("sandbox_permissions" in fields(mux)) == names, config
        would = {one["policy"]: one["sandbox"] for one in mux.js("policy", "check", "touch x")["policies"]}
        assert would.get("mcp", "full-access") == {0: "read-only", 1: "workspace-write", 2: "full-access"}[len(places)], config
    mux.configure(FULL)
    mux.ue("reload").ok()
    mcp = {"cwd": str(mux.dir / "w"), "mcp": True}
    mux.rpc().call("exec_command", {"cmd": "cat", "stdin": True, "name": "free", "login": False, "yield_time_ms": 250, "_meta": mcp})
    assert mux.rpc().call("run_steps", {"session_id": "free", "steps": [{"write": "hi\n"}, {"wait": "hi"}], "_meta": mcp})["completed"] == 2
    mux.configure("[policy p]\n[policy q]\nsandbox = workspace-write\n")
    mux.ue("reload").ok()
    assert "full-access (not confined), approval off; [policy p] sets no sandbox" in through_mcp(mux, writes(mux), options=["--profile", "p"])[1]
    assert written(mux) == {"in", "out"}
    assert "workspace-write (no network), approval off" in through_mcp(mux, writes(mux), options=["--profile", "q"])[1] and written(mux) == {"in"}


def test_as_before_where_none_can_be_had(bare, fake):
    mux = bare
    fake("#!/bin/sh\necho 'bwrap: no permissions to create a new namespace' >&2\nexit 1\n")
    _, log = through_mcp(mux, writes(mux))
    assert written(mux) == {"in", "out"}
    said = "not confined, and nobody is asked, as before, because no sandbox can be had here: bubblewrap does not work here (bwrap: no permissions"
    assert log.startswith(f"ue: commands of this client: {said}") and mux.js("status")["mcp"].startswith(said), log
    assert said in log and "calls of ue mcp are not confined" in mux.log_tail()
    plan = mux.ue("sandbox", "--explain", "--profile", "mcp", cwd=mux.dir / "w").ok().out
    assert said in plan and plan.endswith("\nmode       full-access: no sandbox\n"), plan
    assert "policy    " not in mux.ue("policy", "check", "touch x").out  # nothing holds
    assert "sandbox_permissions" not in fields(mux)
    mux.configure("[policy mcp]\nsandbox = workspace-write\n")  # who asks for it gets it, or nothing
    mux.ue("reload").ok()
    (result,), _ = through_mcp(mux, writes(mux))
    assert result["isError"] and written(mux) == set()
    mux.configure("[policy mcp]\nsandbox = full-access\n")
    mux.ue("reload").ok()
    assert through_mcp(mux, writes(mux))[1] == "" and written(mux) == {"in", "out"}


def test_nothing_runs_before_the_trial_is_over(bare, fake, gate):
    mux = bare
    real = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    fake(f"#!/bin/sh\ntouch {mux.dir}/tried\nread line <{gate.path}\n" + (f"exec {real} \"$@\"\n" if real else "exit 1\n"))
    meta = {"cwd": str(mux.dir / "w"), "env": {**mux.env, "TMPDIR": ""}, "mcp": True}
    rpc, gone = mux.rpc(), mux.rpc()
    patch = "*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch"
    ids = [rpc.send("exec_command", {**writes(mux)[1], "_meta": meta}), rpc.send("shell_command", {"command": f"touch {mux.outside}/out", "login": False, "_meta": meta}),
           rpc.send("apply_patch", {"input": patch, "_meta": meta}), rpc.send("tools", {"_meta": meta})]
    gone.send("exec_command", {"cmd": f"touch {mux.outside}/gone", "_meta": meta})
    wait_for(lambda: (mux.dir / "tried").exists(), "the trial")
    gone.close()
    assert mux.ue("exec", "echo other").answer["output"] == "other\n"  # nobody else waits
    assert os.listdir(mux.dir / "w") == [] and written(mux) == set() and mux.js("list")["sessions"] == []
    gate.open()
    confined = [rpc.recv(id) for id in ids]
    free = "not confined" in mux.js("status")["mcp"]  # on a machine without sandboxes
    assert written(mux) == ({"in", "out"} if free else {"in"}), confined
    assert confined[2]["result"]["success"] and ("with" in confined[3]["result"]) != free
    assert not (mux.outside / "gone").exists()


def test_a_trial_without_an_outcome_lets_nothing_run(bare, fake):
    mux = bare
    fake("#!/bin/sh\nkill -9 $$\n")
    error = mux.rpc().error("exec_command", {"cmd": f"touch {mux.outside}/out", "login": False, "_meta": {"cwd": str(mux.dir / "w"), "mcp": True}})
    assert error.code == "not_available" and "is not known" in error.message and "nothing runs before" in error.message, error
    assert written(mux) == set() and mux.js("list", "--all")["sessions"] == []
    fake("#!/bin/sh\nexit 1\n")
    assert mux.rpc().call("exec_command", {**writes(mux)[1], "_meta": {"cwd": str(mux.dir / "w"), "mcp": True}})["exit_code"] == 0 and written(mux) == {"in", "out"}


def test_a_user_without_a_config(bare):
    """Nothing that runs inside makes one; a person's yes for always does."""
    mux = bare
    mux.conf.unlink()
    del mux.env["MUXD_CONFIG"]
    confined(mux)
    own = mux.home / ".config/muxd"
    for before in None, own.parent:
        if before:
            before.mkdir()
        told = mux.rpc().call("exec_command", {"cmd": f"mkdir -p {own}/x; echo '# x' >{own}/muxd.ini; mv {own.parent} moved; touch ran", "login": False,
                                               "_meta": {"cwd": str(mux.home), "mcp": True}})
        assert (mux.home / "ran").exists() and not own.exists() and not (mux.home / "moved").exists(), told
        assert own.parent.exists() == bool(before)
    rpc = mux.rpc()
    call = {"cmd": "rm -f x", "login": False, "_meta": {"cwd": str(mux.dir / "w"), "env": mux.env, "mcp": True}}
    id = rpc.send("exec_command", call)
    yes(mux, waiting(mux)[0], "--always").ok()
    assert rpc.result(id)["exit_code"] == 0 and rpc.result(rpc.send("exec_command", call))["exit_code"] == 0
    assert 'prefix = "rm" "-f" "x"' in (own / "muxd.rules").read_text() and mux.js("status")["config"] == str(own / "muxd.ini")
