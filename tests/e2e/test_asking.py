"""How the one that waits learns that a person is asked: progress and elicitation of ue mcp, a line of ue exec."""
import json, os, signal, subprocess

import pexpect
from conftest import CAP, UE, wait_for
from frames import ue_at_terminal
from test_approvals import POLICIES, guarded, waiting, yes  # noqa: F401
from test_mcp import Client

ELICITS = POLICIES.replace("[policy mcp]\n", "[policy mcp]\nask = terminal, elicitation\n")


class Asker(Client):
    """A client that may be able to ask its person."""

    def __init__(self, mux, capabilities):
        super().__init__(mux)
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}})

    def asks(self, cmd, **meta):
        return self.send("tools/call", {"name": "exec_command", "arguments": {"cmd": cmd, "workdir": str(self.mux.dir / "w"), "yield_time_ms": 20000},
                                        **({"_meta": meta} if meta else {})})

    def told(self, method):
        """The next message of that method."""
        while True:
            for message in self.answers:
                if message.get("method") == method:
                    self.answers.remove(message)
                    return message
            self.answers.append(self.line())

    def elicited(self):
        message = self.told("elicitation/create")
        assert message["params"]["requestedSchema"]["properties"]["answer"]["enum"] == ["once", "session", "deny"]
        return message

    def answers_it(self, message, **result):
        self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def test_progress_says_that_a_person_is_asked(guarded):
    client = Asker(guarded, {})
    id = client.asks("touch x", progressToken="p")
    first = client.told("notifications/progress")["params"]
    approval, = waiting(guarded)
    assert approval["id"] in first["message"] and "`ue approvals`" in first["message"] and first["progressToken"] == "p"
    assert approval["id"] in client.told("notifications/progress")["params"]["message"]  # it goes on, for the client's own time limit
    ue_at_terminal(guarded, "deny", approval["id"]).ok()
    then = client.told("notifications/progress")["params"]
    assert "approve" not in then["message"] and then["progress"] > first["progress"]
    assert client.recv(id)["result"]["isError"]
    client.leave()


def test_a_client_asks_its_person_only_where_the_config_lets_it(guarded):
    client = Asker(guarded, {"elicitation": {}})
    first = client.asks("touch x")
    yes(guarded, waiting(guarded)[0]).ok()
    error = guarded.rpc().error("approve", {"approval": "zzzzz", "_meta": {"elicits": True}})
    assert error.code == "denied", error
    guarded.configure(ELICITS)
    guarded.ue("reload").ok()
    silent = Asker(guarded, {"elicitation": {"url": {}}})
    second = silent.asks("touch y")
    yes(guarded, waiting(guarded)[0]).ok()
    for each, id in (client, first), (silent, second):
        assert not each.recv(id)["result"]["isError"]
        assert not [message for message in each.answers if message.get("method") == "elicitation/create"]
        each.leave()


def test_elicitation(guarded):
    guarded.configure(ELICITS)
    client = Asker(guarded, {"elicitation": {"form": {}}})
    id = client.asks("printf '\x1b[31m\u202e' >a")
    question = client.elicited()
    message = question["params"]["message"]
    assert "\\x1b[31m" in message and str(guarded.dir / "w") in message and "requires approval" in message and "\x1b" not in message and "\u202e" not in message
    approval, = waiting(guarded)
    stranger = guarded.rpc()
    for method in "approve", "deny":  # only the connection that waits
        assert stranger.error(method, {"approval": approval["id"], "_meta": {"elicits": True}}).code == "denied"
    client.answers_it(question, action="accept", content={"answer": "always"})  # no such choice: the terminal's question stays
    client.request("ping")
    assert len(waiting(guarded)) == 1
    yes(guarded, approval).ok()
    assert not client.recv(id)["result"]["isError"]

    for answer in {"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"answer": "deny"}}:
        id = client.asks("touch no")
        client.answers_it(client.elicited(), **answer)
        assert "rejected by user" in client.recv(id)["result"]["content"][0]["text"]
    id = client.asks("touch yes")
    client.answers_it(client.elicited(), action="accept", content={"answer": "session"})
    assert not client.recv(id)["result"]["isError"] and not client.recv(client.asks("touch yes"))["result"]["isError"]
    assert sorted(os.listdir(guarded.dir / "w")) == ["a", "yes"]
    events = guarded.rpc().call("events", {"since": 1, "types": ["approval"]})["events"]
    assert [event.get("by") for event in events if event["state"] == "approved"] == [None, "elicitation"]

    id = client.asks("touch b")  # the terminal is first
    question = client.elicited()
    yes(guarded, waiting(guarded)[0]).ok()
    assert client.told("notifications/cancelled")["params"]["requestId"] == question["id"]
    client.answers_it(question, action="decline")
    assert not client.recv(id)["result"]["isError"]

    client.asks("touch c")  # the worker dies: asked anew; then the client goes
    question = client.elicited()
    os.kill(guarded.js("status")["pid"], signal.SIGKILL)
    assert client.told("notifications/cancelled")["params"]["requestId"] == question["id"]
    assert client.elicited()["id"] != question["id"]
    client.answers_it(question, action="accept", content={"answer": "once"})
    client.request("ping")
    assert len(waiting(guarded)) == 1
    client.process.kill()
    waiting(guarded, 0)
    assert not (guarded.dir / "w/c").exists()


def test_nothing_inside_a_session_answers_itself(guarded):
    """An agent's command that runs ue mcp with its own elicitation is asked about at the terminal alone."""
    guarded.configure(ELICITS)
    guarded.shell("work")
    init = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "exec_command", "arguments": {"cmd": "touch x", "workdir": str(guarded.dir / "w")}}}
    (guarded.dir / "in").write_text(json.dumps(init) + "\n" + json.dumps(call) + "\n")
    guarded.ue("write", "-l", "-y", 0, "work", f"(cat in; sleep 100) | {UE} mcp >out").ok()
    approval, = waiting(guarded)
    ue_at_terminal(guarded, "deny", approval["id"]).ok()
    wait_for(lambda: "rejected by user" in (guarded.dir / "out").read_text(), "the refusal")
    assert approval["from_session"] and "elicitation" not in (guarded.dir / "out").read_text()


def test_exec_says_once_that_it_waits(guarded):
    guarded.configure(POLICIES + "[policy]\napproval = untrusted\n")
    guarded.ue("start").ok()
    process = guarded.popen("exec", "--exit", "touch ran; echo ran", cwd=str(guarded.dir / "w"), stderr=subprocess.PIPE)
    approval, = waiting(guarded)
    os.kill(guarded.js("status")["pid"], signal.SIGKILL)
    yes(guarded, waiting(guarded)[0]).ok()
    out, err = process.communicate(timeout=CAP)
    guarded.background.remove(process)
    assert err.decode().count("waits until a person approves it") == 1 and approval["id"] in err.decode() and b"ran" in out, err
    child = pexpect.spawn(str(UE), ["exec", "--exit", "touch ran; echo ran"], env=guarded.env, cwd=str(guarded.dir / "w"), timeout=CAP)
    guarded.clients.append(child)
    child.expect_exact("waits until a person approves it; `ue approvals` shows it")
    yes(guarded, waiting(guarded)[0]).ok()
    child.expect_exact("ran")
    child.expect(pexpect.EOF)
