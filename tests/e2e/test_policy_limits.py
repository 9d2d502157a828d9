"""Limits as words of a policy: what starts under it gets the stricter of its own and those of [limits], in a sandbox or not, whoever lets
it run, and after the worker's death; and who tells of them."""
import contextlib, os, signal

import pytest
from conftest import SANITIZED, UE, need_sandbox, wait_for
from frames import ue_at_terminal
from test_approvals import waiting
from test_session_limits import killed_by, nobody_left

LIFE = "lifetime = 400ms\n"


def place(mux):
    """A workspace: beside the config there is nothing that a sandbox could let be written."""
    (mux.dir / "w").mkdir(exist_ok=True)
    return mux.dir / "w"


def sandboxed(mux, mode="workspace-write"):
    need_sandbox(mux.ue("sandbox", "--mode", mode, "--explain", cwd=place(mux)))


def memory_in_a_sandbox():
    """The limit of the memory holds for muxd-confine, too, which starts the command."""
    if SANITIZED:
        pytest.skip("a sanitizer takes terabytes of address space for muxd-confine")


def starts(mux, cmd="exec sleep 300", name="s", profile=None, **arguments):
    meta = {"cwd": str(place(mux)), **({"profile": profile} if profile else {})}
    return mux.rpc().call("exec_command", {"cmd": cmd, "name": name, "yield_time_ms": 250, **arguments, "_meta": meta})


def ulimit(mux, which, **how):
    return starts(mux, f"ulimit -{which}", name=None, **{"login": False, **how})["output"].strip()


def test_each_policy_bounds_its_own(mux):
    mux.configure("[policy]\nopen_files = 61\n[policy mcp]\nsandbox = full-access\nopen_files = 62\n[policy other]\nopen_files = 63\n")
    assert mux.ue("exec", "ulimit -n").ok().out.split()[-1] == "61"
    assert ulimit(mux, "n") == "62" and ulimit(mux, "n", profile="other") == "63"
    answer = mux.call("shell_command", {"command": "ulimit -n", "login": False}).ok()
    assert answer.out.split()[-1] == "62"
    for shell in ("-s", "/bin/sh"), ():
        assert mux.ue("exec", *shell, f"{UE} exec 'ulimit -n'").ok().out.split()[-1] == "61"  # from inside, too


def test_the_stricter_of_both(mux):
    mux.configure("[limits]\nopen_files = 70\nlifetime = 1h\n[policy mcp]\nsandbox = full-access\nopen_files = 71\nlifetime = 400ms\n[policy low]\nopen_files = 69\n")
    assert ulimit(mux, "n") == "70" and ulimit(mux, "n", profile="low") == "69"
    starts(mux)
    killed_by(mux, "lifetime")
    mux.configure("[limits]\nlifetime = 400ms\n[policy mcp]\nsandbox = full-access\nlifetime = 1h\n")
    mux.ue("reload").ok()
    starts(mux, name="t")
    killed_by(mux, "lifetime", "t")


@pytest.mark.parametrize("limit, cmd", [
    ("lifetime = 400ms", "exec sleep 300"), ("idle = 400ms", "exec sleep 300"), ("cpu_time = 1s", "while :; do :; done"),
    ("memory = 64M", "for i in 1 2 3; do /usr/bin/python3 -c 'x = bytearray(b\"x\") * (40 << 20); import time; time.sleep(300)' & done; wait")])
@pytest.mark.parametrize("sandbox", ["full-access", "workspace-write", "read-only"])
def test_each_limit_in_each_sandbox(mux, limit, cmd, sandbox):
    if sandbox != "full-access":
        sandboxed(mux, sandbox)
        if limit.startswith("memory"):
            memory_in_a_sandbox()
    mux.configure(f"[policy mcp]\nsandbox = {sandbox}\n{limit}\n")
    mux.ue("reload").ok()
    starts(mux, cmd)
    killed_by(mux, limit.split(" ")[0])
    nobody_left(mux)


@pytest.mark.alone  # the kernel counts all processes of the user: what other tests begin meanwhile is not in the limit
@pytest.mark.parametrize("sandbox", ["workspace-write", "read-only"])
def test_processes_in_a_sandbox(mux, sandbox):
    sandboxed(mux, sandbox)
    mux.configure(f"[policy mcp]\nsandbox = {sandbox}\nprocesses = 12\n")
    mux.ue("reload").ok()
    starts(mux, "for i in 1 2 3 4; do sleep 0 & done; wait; echo fine; i=0; while [ $i -lt 40 ]; do sleep 300 & i=$((i+1)); done; wait", shell="/bin/sh")
    row = mux.wait_state("s", "killed", "exited")  # the kernel refuses the thirteenth, or muxd sees it first
    assert row["state"] == "exited" or row["killed_by"] == "processes"
    assert mux.ue("poll", "--raw", "--since", 0, "s").out.startswith("fine\n")
    for pid in set(mux.pids()) - set(mux.daemons()):  # of a shell that got no child any more and gave up: they are left alone
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    nobody_left(mux)


def test_a_yes_and_a_rule_lift_no_limit(mux):
    sandboxed(mux)
    mux.configure("[policy mcp]\napproval = on-request\nsandbox = workspace-write\nopen_files = 64\n[rule free]\nprefix = sh -c \"ulimit -n\"\n")
    mux.ue("reload").ok()
    assert starts(mux, ["sh", "-c", "ulimit -n"], name=None)["output"] == "64\n"  # by the rule, outside
    rpc = mux.rpc()
    id = rpc.send("exec_command", {"cmd": "ulimit -n", "login": False, "sandbox_permissions": "require_escalated", "justification": "?", "_meta": {"cwd": str(place(mux))}})
    ue_at_terminal(mux, "approve", waiting(mux)[0]["id"]).ok()
    assert rpc.result(id)["output"] == "64\n"


def test_they_outlive_the_worker(mux):
    sandboxed(mux)
    mux.configure("[policy mcp]\nsandbox = workspace-write\nlifetime = 2s\n")
    mux.ue("reload").ok()
    starts(mux)
    mux.configure("")
    os.kill(mux.js("status")["pid"], signal.SIGKILL)
    killed_by(mux, "lifetime")
    nobody_left(mux)


def test_a_call_that_waits_for_a_person_over_a_death_is_bounded(mux):
    mux.configure("[policy mcp]\napproval = untrusted\nsandbox = full-access\n" + LIFE)
    client = mux.popen("call", "exec_command", '{"cmd": "exec sleep 300", "name": "s"}')
    waiting(mux)
    os.kill(mux.js("status")["pid"], signal.SIGKILL)
    wait_for(lambda: mux.ue("approvals", "--json").json["approvals"], "the question anew")
    ue_at_terminal(mux, "approve", waiting(mux)[0]["id"]).ok()
    killed_by(mux, "lifetime")
    assert b"exited with code" in client.communicate(timeout=30)[0]
    mux.background.remove(client)


def test_the_built_in_policy_has_none_and_a_section_of_limits_keeps_its_sandbox(mux):
    sandboxed(mux)
    memory_in_a_sandbox()
    mux.configure("[policy mcp]\nmemory = 512M\ntemp = no\n")
    mux.ue("reload").ok()
    meta = {"cwd": str(place(mux)), "mcp": True}
    answer = mux.rpc().call("exec_command", {"cmd": f"touch {mux.home}/x; ulimit -d", "login": False, "_meta": meta})
    assert answer["output"].endswith("524288\n") and not (mux.home / "x").exists(), answer
    assert mux.js("status")["mcp"].startswith("workspace-write (no network), approval off, limits: memory 512M")


def test_who_tells_of_them(mux):
    mux.configure("[limits]\nprocesses = 100\n[policy]\nlifetime = 8h\n[policy mcp]\napproval = on-request\nsandbox = full-access\nmemory = 4G\nprocesses = 200\n"
                  "[policy plain]\n")
    told = mux.ue("policy", "check", "ls").ok().out
    assert "[policy] would run it, with the limits processes 100, lifetime 8h\n" in told, told
    assert "[policy mcp] would run it, with the limits memory 4G, processes 100\n" in told and "[policy plain]" not in told
    policies = {one["policy"]: one for one in mux.ue("policy", "--json", "check", "ls").ok().json["policies"]}
    assert policies["mcp"]["limits"] == {"memory": "4G", "processes": "100"} and policies[""]["limits"] == {"processes": "100", "lifetime": "8h"}
    plan = mux.ue("sandbox", "--mode", "full-access", "--explain", "--json", cwd=place(mux)).ok().json
    assert plan["limits"] == {"processes": "100", "lifetime": "8h"} and "limits     processes 100, lifetime 8h\n" in plan["text"]
    explained = mux.ue("sandbox", "--explain", cwd=place(mux))
    if explained.rc == 0:
        assert "\nlimits     processes 100, lifetime 8h\n" in explained.out
    assert mux.js("status")["mcp"].endswith("approval on-request, limits: memory 4G, processes 100")


def test_a_wrong_value_changes_nothing(mux):
    mux.configure("[policy mcp]\nsandbox = full-access\nopen_files = 62\n")
    mux.ue("start").ok()
    path = mux.configure("[policy mcp]\nsandbox = full-access\nopen_files = many\n")
    result = mux.ue("reload")
    assert result.rc != 0 and "open_files" in result.err, (result, path)
    assert ulimit(mux, "n") == "62"
