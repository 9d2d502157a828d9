"""Elicitation in the stateless revision of MCP: a request is answered with the question (input_required), and the client comes back with the
answer (multi round-trip requests)."""
import json, os, signal

import pytest
from conftest import wait_for
from frames import ue_at_terminal
from test_approvals import guarded, waiting, yes  # noqa: F401
from test_asking import ELICITS
from test_mcp import KEY, MODERN, Client

FORM = {"elicitation": {"form": {}}}


class Rounds(Client):
    """A client of the stateless revision, with capabilities that each of its requests tells."""

    def __init__(self, mux, capabilities=FORM):
        super().__init__(mux)
        self.capabilities = capabilities

    def asks(self, cmd, tool="exec_command", meta=None, more=None):
        arguments = {"input": cmd} if tool == "apply_patch" else {"cmd": cmd, "workdir": str(self.mux.dir / "w"), "yield_time_ms": 20000}
        return self.sends({"name": tool, "arguments": arguments, **(more or {})}, meta)

    def sends(self, params, meta=None):
        self.params = params
        return self.send("tools/call", {**params, "_meta": {KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": self.capabilities, **(meta or {})}})

    def asked(self, id):
        """The question that answers the request."""
        result = self.recv(id)["result"]
        assert result["resultType"] == "input_required" and KEY + "serverInfo" in result["_meta"], result
        (key, question), = result["inputRequests"].items()
        assert question["method"] == "elicitation/create" and question["params"]["mode"] == "form", question
        answer = question["params"]["requestedSchema"]["properties"]["answer"]
        assert [one["const"] for one in answer["oneOf"]] == ["once", "session", "deny"] and all(one["title"] for one in answer["oneOf"])
        return key, result["requestState"], question["params"]["message"]

    def back(self, question, response=None, meta=None):
        """The same request again, with the answer."""
        key, state, _ = question
        params = {name: self.params[name] for name in ("name", "arguments")}
        return self.sends({**params, "requestState": state, **({"inputResponses": {key: response}} if response else {})}, meta)

    def ran(self, id):
        result = self.recv(id)["result"]
        assert result["resultType"] == "complete" and not result["isError"], result
        return result

    def refused(self, id, why="rejected by user"):
        result = self.recv(id)["result"]
        assert result["resultType"] == "complete" and result["isError"] and why in result["content"][0]["text"], result

    def wrong(self, id):
        error = self.recv(id)["error"]
        assert error["code"] == -32602 and "requestState" in error["message"], error


def accept(answer):
    return {"action": "accept", "content": {"answer": answer}}


@pytest.fixture
def eliciting(guarded):
    guarded.configure(ELICITS)
    guarded.ue("start").ok()
    return guarded


@pytest.fixture
def client(eliciting):
    client = Rounds(eliciting)
    yield client
    if client.process in eliciting.background:
        assert client.leave() == 0


def test_accept(eliciting, client):
    question = client.asked(client.asks("printf '\x1b[31m\u202e' >a"))
    key, _, message = question
    approval, = waiting(eliciting)
    assert approval["id"] in key and "\\x1b[31m" in message and str(eliciting.dir / "w") in message and "requires approval" in message
    assert "\x1b" not in message and "\u202e" not in message and not (eliciting.dir / "w/a").exists()
    assert client.ran(client.back(question, accept("once")))["structuredContent"]["exit_code"] == 0
    assert (eliciting.dir / "w/a").exists()
    client.ran(client.back(client.asked(client.asks("touch b")), accept("session")))
    client.ran(client.asks("touch b"))
    events = eliciting.rpc().call("events", {"since": 1, "types": ["approval"]})["events"]
    assert [event.get("by") for event in events if event["state"] == "approved"] == ["elicitation", "elicitation"]
    assert not [message for message in client.answers if message.get("method")]  # a server of this revision sends no requests, and takes none back


def test_a_no(eliciting, client):
    for response in {"action": "decline"}, {"action": "cancel"}, accept("deny"):
        client.refused(client.back(client.asked(client.asks("touch no")), response))
    assert os.listdir(eliciting.dir / "w") == [] and waiting(eliciting, 0) == []


def test_a_patch(eliciting):
    eliciting.configure(ELICITS.replace("sandbox = full-access", "sandbox = read-only"))
    eliciting.ue("reload").ok()
    client = Rounds(eliciting)
    patch = f"*** Begin Patch\n*** Add File: {eliciting.dir}/w/p\n+x\n*** End Patch"
    client.refused(client.back(client.asked(client.asks(patch, "apply_patch")), {"action": "decline"}))
    client.ran(client.back(client.asked(client.asks(patch, "apply_patch")), accept("once")))
    assert (eliciting.dir / "w/p").read_text() == "x\n"


def test_an_answer_that_is_none_is_asked_for_again(eliciting, client):
    question = client.asked(client.asks("touch a"))
    for response in None, accept("always"), {"action": "accept"}, {"action": "maybe"}:
        again = client.asked(client.back(question, response))
        assert again[0] == question[0] and again[1] != question[1]
        question = again
    other = client.back(("approval-zzzzz", *question[1:]), accept("once"))  # the answer to another question
    question = client.asked(other)
    assert len(waiting(eliciting)) == 1 and not (eliciting.dir / "w/a").exists()
    client.ran(client.back(question, accept("once")))


def test_answered_twice(eliciting, client):
    question = client.asked(client.asks("echo x >>a"))
    first, second = client.back(question, accept("once")), client.back(question, accept("once"))
    client.wrong(second)
    client.ran(first)
    client.wrong(client.back(question, accept("once")))
    assert (eliciting.dir / "w/a").read_text() == "x\n"


def test_the_state_is_for_that_call_alone(eliciting, client):
    question = client.asked(client.asks("touch a"))
    asked = client.params
    client.params = {"name": "exec_command", "arguments": {**asked["arguments"], "cmd": "touch b"}}
    client.wrong(client.back(question, accept("once")))
    client.params = asked
    client.wrong(client.back((question[0], "0" * 32, None), accept("once")))
    client.wrong(client.back((question[0], 1, None), accept("once")))
    other = Rounds(eliciting)
    other.params = asked
    other.wrong(other.back(question, accept("once")))
    other.leave()
    assert len(waiting(eliciting)) == 1 and os.listdir(eliciting.dir / "w") == []
    client.params = {"name": "exec_command", "arguments": dict(reversed(asked["arguments"].items()))}  # the same, in another order
    client.ran(client.back(question, accept("once")))


def test_a_terminal_is_first(eliciting, client):
    question = client.asked(client.asks("echo x >>a"))
    yes(eliciting, waiting(eliciting)[0]).ok()
    wait_for(lambda: (eliciting.dir / "w/a").exists(), "the command")  # it doesn't wait for the client
    client.ran(client.back(question, {"action": "decline"}))  # who comes back gets what came of it
    client.wrong(client.back(question, accept("once")))
    question = client.asked(client.asks("echo y >>a"))
    ue_at_terminal(eliciting, "deny", "--because", "not now", waiting(eliciting)[0]["id"]).ok()
    client.refused(client.back(question, accept("once")), "rejected by user: not now")
    assert (eliciting.dir / "w/a").read_text() == "x\n"


def test_a_terminal_while_the_client_waits(eliciting, client):
    """Who comes back without an answer, and can't be asked, waits for the terminal, with progress of its own."""
    question = client.asked(client.asks("touch a", meta={"progressToken": "old"}))
    client.capabilities = {}
    id = client.back(question, meta={"progressToken": "new"})
    approval, = waiting(eliciting)
    yes(eliciting, approval).ok()
    client.ran(id)
    tokens = [message["params"]["progressToken"] for message in client.answers if message.get("method") == "notifications/progress"]
    assert "old" not in tokens and "new" in tokens, client.answers


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
def test_without_the_capability_the_terminal_alone_is_asked(eliciting, capabilities):
    client = Rounds(eliciting, capabilities)
    id = client.asks("touch a", meta={"progressToken": "p"})
    approval, = waiting(eliciting)
    assert approval["id"] in client.line()["params"]["message"]
    yes(eliciting, approval).ok()
    client.ran(id)
    client.leave()


def test_without_the_word_in_the_config_too(guarded):
    client = Rounds(guarded)
    id = client.asks("touch a")
    yes(guarded, waiting(guarded)[0]).ok()
    client.ran(id)
    client.leave()


def test_the_client_dies_in_between(eliciting):
    for end in "kill", "leave", "cancel":
        client = Rounds(eliciting)
        question = client.asked(client.asks("touch a"))
        waiting(eliciting)
        if end == "kill":
            client.process.kill()
        elif end == "leave":
            client.leave()
        else:
            client.capabilities = {}
            client.notify("notifications/cancelled", {"requestId": client.back(question)})
        waiting(eliciting, 0)
        if end == "cancel":
            client.wrong(client.back(question, accept("once")))
            client.leave()
    assert not (eliciting.dir / "w/a").exists()


def test_the_worker_dies_in_between(eliciting, client):
    question = client.asked(client.asks("echo x >>a"))
    old, = waiting(eliciting)
    os.kill(eliciting.js("status")["pid"], signal.SIGKILL)
    wait_for(lambda: [one for one in eliciting.ue("approvals", "--json").json["approvals"] if one["id"] != old["id"]], "the question anew")
    new = client.asked(client.back(question, accept("once")))  # a yes for the old question does nothing
    assert new[0] != question[0] and len(waiting(eliciting)) == 1 and not (eliciting.dir / "w/a").exists()
    client.ran(client.back(new, accept("once")))
    assert (eliciting.dir / "w/a").read_text() == "x\n"
    question = client.asked(client.asks("echo y >>a"))  # and the client waits while the worker dies
    client.capabilities = {}
    id = client.back(question)
    client.capabilities = FORM
    os.kill(eliciting.js("status")["pid"], signal.SIGKILL)
    wait_for(lambda: eliciting.ue("approvals", "--json").json["approvals"], "the question anew")
    yes(eliciting, waiting(eliciting)[0]).ok()
    client.ran(id)
    assert (eliciting.dir / "w/a").read_text() == "x\ny\n"


def test_nobody_answers_in_time(eliciting):
    eliciting.configure(ELICITS.replace("[policy mcp]\n", "[policy mcp]\nask_timeout = 1s\n"))
    eliciting.ue("reload").ok()
    client = Rounds(eliciting)
    question = client.asked(client.asks("touch a"))
    waiting(eliciting, 0)
    client.refused(client.back(question, accept("once")), "nobody has approved it within 1 s")
    client.leave()


def test_many_at_once(eliciting, client):
    """Each answer goes to its own question, in any order."""
    questions = {}
    for i in range(12):
        id = client.asks(f"touch a{i}")
        questions[i] = client.params, client.asked(id)
    ids = {}
    for i in reversed(range(12)):
        client.params, question = questions[i]
        ids[i] = client.back(question, accept("once") if i % 2 else {"action": "decline"})
    for i, id in ids.items():
        client.ran(id) if i % 2 else client.refused(id)
    assert sorted(os.listdir(eliciting.dir / "w")) == sorted(f"a{i}" for i in range(1, 12, 2))


def test_rounds_that_nobody_comes_back_to_are_forgotten(eliciting, client):
    first = None
    for i in range(70):
        question = client.asked(client.asks(f"touch a{i}"))
        first = first or (client.params, question)
        eliciting.rpc()  # a look by another connection changes nothing
        ue_at_terminal(eliciting, "deny", waiting(eliciting)[0]["id"]).ok()
        waiting(eliciting, 0)
    client.refused(client.back(question, accept("once")))
    client.params, question = first
    client.wrong(client.back(question, accept("once")))
