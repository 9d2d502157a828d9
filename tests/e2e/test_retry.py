"""A command that its policy's sandbox has refused something runs again without it: after a yes to that, and never a third time."""
import json, os, signal

import pytest
from conftest import wait_for
from test_approvals import content, waiting, yes
from test_policy_sandbox import Place
from frames import ue_at_terminal

pytestmark = pytest.mark.no_pty
QUESTION = "command failed; retry without sandbox?"
POLICIES = """
[policy mcp]
approval = granular
sandbox = workspace-write
temp = no
[policy each]
approval = untrusted
sandbox = workspace-write
temp = no
[policy deaf]
approval = granular
sandbox_approval = no
sandbox = workspace-write
temp = no
[policy request]
approval = on-request
sandbox = workspace-write
temp = no
"""


class Retried(Place):
    def __init__(self, mux):
        super().__init__(mux, POLICIES)
        self.count = self.dir / "count"

    def command(self, more="true"):
        """Notes each run where it may; then does what it may not."""
        return f"echo run >>{self.count}; touch {self.out}/x && {more}"

    def runs(self):
        count = len(self.count.read_text().splitlines())
        self.count.unlink()
        return count

    def ask(self, tool="exec_command", profile=None, more="true", **arguments):
        rpc = self.mux.rpc()
        meta = {"cwd": str(self.dir), **({"profile": profile} if profile else {})}
        rpc.id = rpc.send(tool, {"cmd" if tool == "exec_command" else "command": self.command(more), "login": False, **arguments, "_meta": meta})
        return rpc


@pytest.fixture
def place(mux):
    return Retried(mux)


def test_a_yes_runs_it_again_once(place):
    mux = place.mux
    for tool in ("exec_command", "shell_command"):
        rpc = place.ask(tool)
        approval, = waiting(mux)
        assert approval["reason"] == QUESTION and approval["sandbox"] == "full-access" and "echo run" in approval["command"], approval
        assert len(place.count.read_text().splitlines()) == 1 and place.written() == set()  # it has run, and ended
        yes(mux, approval).ok()
        answer = rpc.result(rpc.id)
        assert answer["exit_code"] == 0 and "denial" not in answer.get("_meta", {}) and place.runs() == 2 and place.written() == {"out"}, answer
    rpc = place.ask(more="exit 3")  # it fails again: that is its answer
    yes(mux, waiting(mux)[0]).ok()
    assert rpc.result(rpc.id)["exit_code"] == 3 and place.runs() == 2 and place.written() == {"out"}
    # a no, in the words of Codex
    for tool, words in (("exec_command", 'CreateProcess { message: "Rejected(\\"rejected by user\\")" }'), ("shell_command", "exec command rejected by user")):
        rpc = place.ask(tool)
        ue_at_terminal(mux, "deny", waiting(mux)[0]["id"]).ok()
        with pytest.raises(rpc.Error) as caught:
            rpc.result(rpc.id)
        assert words in content(caught.value) and place.runs() == 1 and place.written() == set()
    # a yes for the session asks no more, and runs no more
    rpc = place.ask()
    yes(mux, waiting(mux)[0], "--session").ok()
    assert rpc.result(rpc.id)["exit_code"] == 0 and place.runs() == 2 and place.written() == {"out"}


def test_who_is_asked_and_who_is_not(place):
    mux = place.mux
    for profile in ("deaf", "request"):
        rpc = place.ask(profile=profile)
        answer = rpc.result(rpc.id)
        assert answer["exit_code"] == 1 and answer["_meta"]["denial"]["path"] == f"{place.out}/x" and place.runs() == 1, answer
    rpc = place.ask(sandbox="workspace-write", temp=False)  # its own wish
    assert rpc.result(rpc.id)["exit_code"] == 1 and place.runs() == 1
    for cmd in (f"cat {mux.dir}/nothing", f"touch {place.dir}/in; exit 1"):  # no sandbox is to blame
        assert place.call("exec_command", cmd=cmd, login=False)["exit_code"] == 1
    rpc = place.ask(profile="each")  # the first yes was to a sandbox
    approval, = waiting(mux)
    assert approval["sandbox"].startswith(f"workspace-write of {place.dir}") and not place.count.exists()
    yes(mux, approval).ok()
    second = wait_for(lambda: [a for a in waiting(mux) if a["id"] != approval["id"]], "the second question")[0]
    assert second["reason"] == QUESTION and place.written() == set()
    yes(mux, second).ok()
    assert rpc.result(rpc.id)["exit_code"] == 0 and place.runs() == 2 and place.written() == {"out"}


def kill_worker(mux):
    pid = mux.rpc().call("status")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: mux.js("status").get("pid") not in (None, pid), "a new worker")


def test_a_worker_that_dies_runs_nothing_twice(place):
    mux = place.mux
    gate = place.dir / "gate"
    os.mkfifo(gate)
    call = mux.popen("call", "exec_command", json.dumps({"cmd": place.command(f"echo >{place.dir}/up && read -r line <{gate}"), "login": False, "yield_time_ms": 30000}), cwd=place.dir)
    before, = waiting(mux)
    kill_worker(mux)  # the question is asked again
    approval, = waiting(mux)
    assert approval["reason"] == QUESTION and approval["id"] != before["id"] and len(place.count.read_text().splitlines()) == 1
    yes(mux, approval).ok()
    wait_for(lambda: (place.dir / "up").exists(), "the second run")
    kill_worker(mux)  # the second run is waited for
    gate.write_text("\n")
    result = mux.finish(call)
    assert result.rc == 0 and "Process exited with code 0" in result.out and place.runs() == 2 and place.written() == {"out"}, result
    assert mux.ue("approvals", "--json").json["approvals"] == []
