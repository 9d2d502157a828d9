"""ue mcp: the tools for MCP clients, in every revision, over standard input and output."""
import itertools, json, os, select, signal, socket, subprocess, threading

import pytest
from conftest import CAP, UE, many, wait_for

pytestmark = pytest.mark.no_pty
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
KEY = "io.modelcontextprotocol/"
META = {KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": {}, KEY + "clientInfo": {"name": "t", "version": "1"}}


class Client:
    def __init__(self, mux, version=None):
        self.mux, self.version, self.ids, self.answers, self.rest = mux, version, itertools.count(), [], b""
        self.process = mux.popen("mcp", stdin=subprocess.PIPE)
        if version in LEGACY:
            self.hello = self.request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
            self.notify("notifications/initialized")

    def write(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}))

    def send(self, method, params=None, id=None):
        id = next(self.ids) if id is None else id
        params = dict(params or {})
        if self.version == MODERN:
            params["_meta"] = META
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        return id

    def line(self, cap=CAP):
        fd = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            assert select.select([fd], [], [], cap)[0], "no answer"
            data = os.read(fd, 1 << 16)
            assert data, "the server has left"
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def recv(self, id):
        while True:
            for message in self.answers:
                if message.get("id") == id:
                    self.answers.remove(message)
                    assert message["jsonrpc"] == "2.0"
                    return message
            self.answers.append(self.line())

    def request(self, method, params=None):
        message = self.recv(self.send(method, params))
        assert "error" not in message, message
        return message["result"]

    def error(self, method, params=None):
        return self.recv(self.send(method, params))["error"]

    def tool(self, tool, /, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def leave(self):
        self.process.stdin.close()
        rc = self.process.wait(CAP)
        assert self.process.stdout.read() == b"" and self.process.stderr.read() == b""
        self.mux.background.remove(self.process)
        return rc


@pytest.fixture(params=[*LEGACY, MODERN])
def client(mux, request):
    return Client(mux, request.param)


@pytest.fixture
def newest(mux):
    return Client(mux, LEGACY[-1])


@pytest.mark.smoke
def test_transcript_of_each_revision(mux, client):
    modern, rich = client.version == MODERN, client.version >= "2025-06-18"
    if modern:
        found = client.request("server/discover")
        assert found["supportedVersions"][0] == MODERN and set(LEGACY) < set(found["supportedVersions"])
        assert found["instructions"] and found["capabilities"] == {"tools": {"listChanged": False}} and found["ttlMs"] > 0
    else:
        assert client.hello["protocolVersion"] == client.version and client.hello["serverInfo"]["name"] == "muxd" and client.hello["instructions"]
        assert client.request("ping") == {}
    listed = client.request("tools/list")
    assert modern == (listed.get("resultType") == "complete") == ("ttlMs" in listed) == (listed.get("cacheScope") == "private")
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert list(tools)[:3] == ["exec_command", "write_stdin", "apply_patch"] and "shell_command" not in tools
    for tool in tools.values():
        assert tool["inputSchema"]["type"] == "object" and tool["inputSchema"]["additionalProperties"] is False
        assert ("title" in tool) == ("outputSchema" in tool) == rich and ("annotations" in tool) == (client.version >= "2025-03-26")
    assert "until" in tools["exec_command"]["inputSchema"]["properties"] and "sandbox_permissions" not in tools["exec_command"]["inputSchema"]["properties"]
    done = client.tool("exec_command", cmd="echo hi; exit 3", login=False)
    assert done["isError"] is False and done["content"][0]["type"] == "text"
    assert done["content"][0]["text"].endswith("Process exited with code 3\nOriginal token count: 1\nOutput:\nhi\n")
    assert ("structuredContent" in done) == rich
    if rich:
        assert done["structuredContent"]["exit_code"] == 3 and done["structuredContent"]["output"] == "hi\n" and "content" not in done["structuredContent"]
    assert modern == (done.get("resultType") == "complete") == ("_meta" in done)
    assert client.leave() == 0


def test_structured_content_fits_the_output_schema(newest):
    types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict, "null": type(None)}
    schemas = {tool["name"]: tool["outputSchema"] for tool in newest.request("tools/list")["tools"]}
    for name, arguments in [("exec_command", {"cmd": "cat", "stdin": True, "name": "c", "yield_time_ms": 250}), ("write_stdin", {"session_id": "c", "chars": "x"}),
                            ("read_output", {"session_id": "c"}), ("list_sessions", {}),
                            ("run_steps", {"session_id": "c", "steps": [{"write": "y"}, {"read": {}}]}), ("exec_command", {"cmd": ["cat"], "tty": True, "name": "t"}),
                            ("read_screen", {"session_id": "t"}), ("kill_session", {"session_id": "c"}),
                            ("apply_patch", {"input": "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"})]:
        answer = newest.tool(name, **arguments)
        assert not answer["isError"], answer
        known = set(schemas[name]["properties"]) & set(answer["structuredContent"])
        assert len(known) >= min(5, len(answer["structuredContent"])), (name, known)
        for key, value in answer["structuredContent"].items():
            field = schemas[name]["properties"].get(key)
            if field:
                kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
                assert isinstance(value, tuple(types[kind] for kind in kinds)), (name, key, value)


def test_what_a_model_can_act_on_is_a_result(mux, newest):
    for name, arguments, text in [("write_stdin", {"session_id": 77}, "write_stdin failed: Unknown process id 77"),
                                  ("exec_command", {}, "failed to parse function arguments: missing field `cmd`"),
                                  ("exec_command", {"cmd": "x", "bogus": 1}, "failed to parse function arguments: unknown field `bogus`"),
                                  ("exec_command", {"cmd": "x", "_meta": {"verb": True}}, "failed to parse function arguments: unknown field `_meta`"),
                                  ("exec_command", {"cmd": "true", "workdir": "/no/such"}, "exec_command failed for `/bin/bash -lc true`"),
                                  ("apply_patch", {"input": "x"}, "apply_patch verification failed: ")]:
        answer = newest.tool(name, **arguments)
        assert answer["isError"] and answer["content"][0]["text"].startswith(text), answer
    assert newest.tool("exec_command", cmd="exit 4", login=False)["isError"] is False
    for command, failed, timeout_ms in ("true", False, 30000), ("exit 4", True, 30000), ("sleep 600", True, 300):  # of the one-shot tool only status 0 is a success
        answer = newest.tool("shell_command", command=command, login=False, timeout_ms=timeout_ms)
        assert answer["isError"] is failed and answer["structuredContent"]["success"] is not failed, answer
    patch = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"
    assert newest.tool("apply_patch", input=patch, workdir=str(mux.dir))["structuredContent"]["success"] is True


def test_a_client_that_shows_only_structured_content_gets_the_text_in_it(mux):
    for name, only in [("codex-mcp-client", True), ("claude-code", True), ("Visual Studio Code", True), ("Visual Studio Code - Insiders", True),
                       ("Code - OSS", True), ("gemini-cli-mcp-client", False), ("t", False)]:
        client = Client(mux)
        client.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}})
        client.notify("notifications/initialized")
        answer = client.tool("exec_command", cmd="echo hi; exit 3", login=False)
        facts = answer["structuredContent"]
        assert facts["exit_code"] == 3 and ("output" in facts) is not only
        assert facts.get("content") == (answer["content"][0]["text"] if only else None)
        assert client.leave() == 0


def test_protocol_errors(mux, newest):
    assert newest.error("tools/call", {"name": "nope", "arguments": {}}) == {"code": -32602, "message": "Unknown tool: nope"}
    assert newest.error("tools/call", {"name": "hello"})["code"] == -32602
    assert newest.error("tools/call", {})["code"] == -32602
    assert newest.error("tools/call", {"name": "exec_command", "arguments": [1]})["code"] == -32602
    assert newest.error("resources/list")["code"] == -32601
    for line, code in [("nonsense", -32700), ('{"jsonrpc":"2.0"}', -32600), ("[]", -32600), ("5", -32600), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                       ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}', -32602)]:
        newest.write(line)
        assert newest.line()["error"]["code"] == code, line
    newest.write('{"jsonrpc":"2.0","id":5,"result":{}}')  # an answer to nothing, and an unknown notification
    newest.notify("notifications/unheard/of")
    assert newest.request("ping") == {}


def test_a_request_that_is_no_strict_json_is_answered_under_its_id(newest):
    """Whoever waits under that id is told what is wrong; one that is in flight keeps its answer."""
    call = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"exec_command","arguments":{"cmd":"echo %s"}},"id":%s}'
    for id, text, why in ((70, r"\ud800", "surrogate"), ('"a"', r"\udc00 x", "surrogate"), (71, r"a\u0000b", "u0000"), (72, r"\x", "escape")):
        newest.write(call % (text, id))
        error = newest.recv(json.loads(str(id)))["error"]
        assert error["code"] == -32700 and why in error["message"], error
    waiting = newest.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "read x; echo got $x", "name": "s", "tty": True, "ready": False,
                                                                               "until": "got it", "yield_time_ms": 30000}})
    newest.write(call % (r"\ud800", waiting))
    assert newest.recv(None)["error"]["code"] == -32700
    wait_for(lambda: newest.mux.ue("write", "-l", "s", "it").rc == 0, "the session")
    assert "got it" in newest.recv(waiting)["result"]["content"][0]["text"]


def test_unknown_versions(mux):
    old = Client(mux)
    assert old.request("initialize", {"protocolVersion": "1999-01-01", "capabilities": {}})["protocolVersion"] == LEGACY[-1]
    new = Client(mux)
    error = new.error("tools/list", {"_meta": {**META, KEY + "protocolVersion": "2027-01-01"}})
    assert error["code"] == -32022 and error["data"]["requested"] == "2027-01-01" and MODERN in error["data"]["supported"]
    assert new.error("tools/list", {"_meta": {KEY + "protocolVersion": MODERN}})["code"] == -32602
    assert new.error("tools/list")["code"] == -32602


def test_batches_belong_to_one_revision(mux):
    batch = [{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/unheard/of"},
             {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "exec_command", "arguments": {"cmd": "true", "login": False}}}, 7]
    client = Client(mux, "2025-03-26")
    client.write(json.dumps(batch))
    answers = {answer["id"]: answer for answer in client.line()}
    assert set(answers) == {"a", "b", None} and answers["a"]["result"] == {} and answers[None]["error"]["code"] == -32600
    other = Client(mux, "2025-06-18")
    other.write(json.dumps(batch))
    assert other.line()["error"]["code"] == -32600


def test_arguments_in_strings(mux, newest):
    answer = newest.tool("exec_command", cmd="echo hi", login="false", yield_time_ms="5000", max_output_tokens="0")
    assert answer["content"][0]["text"].endswith("…1 tokens truncated…"), answer
    assert newest.tool("exec_command", cmd="echo hi", login="perhaps")["isError"]
    assert newest.tool("exec_command", cmd="true", login=False, wait_for_previous=True)["isError"] is False


def test_cancel_ends_the_wait_and_not_the_process(mux, newest):
    call = newest.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "echo there; exec sleep 600", "login": False, "name": "s", "yield_time_ms": 30000}})
    wait_for(lambda: (row := mux.listed("s")) and row["output_bytes"] > 0, "the command to run")
    newest.notify("notifications/cancelled", {"requestId": call, "reason": "enough"})
    newest.notify("notifications/cancelled", {"requestId": "unknown"})
    wait_for(lambda: mux.js("status")["waits"] == 0, "the wait to be gone")
    assert newest.request("ping") == {} and newest.answers == []
    assert mux.listed("s")["state"] == "running"
    mux.ue("kill", "s")


def test_several_calls_at_once_and_an_id_used_twice(mux, newest):
    slow = newest.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "while [ ! -e go ]; do sleep 0.05; done; echo slow", "login": False,
                                                                          "yield_time_ms": 30000}})
    newest.write(json.dumps({"jsonrpc": "2.0", "id": slow, "method": "tools/list"}))
    assert newest.line()["error"]["code"] == -32600
    assert newest.tool("exec_command", cmd="echo fast; touch go", login=False)["structuredContent"]["output"] == "fast\n"
    assert newest.recv(slow)["result"]["structuredContent"]["output"] == "slow\n"


def test_sessions_outlive_the_client_and_are_shared(mux, newest):
    started = newest.tool("exec_command", cmd="cat", stdin=True, name="shared", yield_time_ms=250, login=False)
    assert started["structuredContent"]["session_id"] >= 1000
    assert newest.leave() == 0
    other = Client(mux, MODERN)
    assert other.tool("write_stdin", session_id="shared", chars="hello\n", until="hello\n", yield_time_ms=30000)["structuredContent"]["output"] == "hello\n"
    assert mux.listed("shared")["state"] == "running"
    assert other.tool("kill_session", session_id="shared")["structuredContent"]["sessions"][0]["name"] == "shared"


def test_the_worker_dies_in_the_middle_of_a_call(mux, newest):
    call = newest.send("tools/call", {"name": "exec_command", "arguments": {
        "cmd": "echo once >> log; while [ ! -e go ]; do sleep 0.05; done; cat log", "login": False, "yield_time_ms": 30000}})
    wait_for((mux.dir / "log").exists, "the command to run")
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    mux.rpc().call("hello")
    (mux.dir / "go").touch()
    assert newest.recv(call)["result"]["structuredContent"]["output"] == "once\n"


def test_the_daemon_is_started_anew_after_a_stop(mux, newest):
    assert not newest.tool("exec_command", cmd="true", login=False)["isError"]
    mux.ue("stop").ok()
    assert not newest.tool("exec_command", cmd="true", login=False)["isError"]


def test_standard_input_closes_in_the_middle_of_a_call(mux, newest):
    newest.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "echo there; exec sleep 600", "login": False, "name": "s", "yield_time_ms": 30000}})
    wait_for(lambda: (row := mux.listed("s")) and row["output_bytes"] > 0, "the command to run")
    newest.process.stdin.close()
    assert newest.process.wait(CAP) == 0
    mux.background.remove(newest.process)
    last = json.loads(newest.process.stdout.read())
    assert last["id"] == 1 and last["result"]["isError"] and last["result"]["content"][0]["text"].startswith("standard input was closed before")
    assert mux.listed("s")["state"] == "running"
    mux.ue("kill", "s")


def flood(count, tool="exec_command", arguments={"cmd": ["/bin/echo", "hi"]}):
    lines = [{"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {"protocolVersion": LEGACY[-1]}}]
    lines += [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": tool, "arguments": arguments}} for i in range(count)]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def tell_apart(out):
    """The calls that were done, and the texts of those that were not; every line is one answer, none comes twice."""
    answers = [json.loads(line) for line in out.splitlines()]
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert len(by_id) == len(answers) and "hello" in by_id
    refused = {id: result["content"][0]["text"] for id, result in by_id.items() if result.get("isError")}
    return set(by_id) - set(refused) - {"hello"}, refused


def all_answered(count, run):
    """The output of run() has the answers to a flood behind which standard input was closed. A second without any answer, as a busy machine may
    have, ends the rest, which is told so: then it runs again."""
    for _ in range(5):
        done, refused = tell_apart(run())
        assert done | set(refused) == set(range(count))
        assert all(text.startswith("standard input was closed before") for text in refused.values()), refused
        if not refused:
            return
    pytest.fail(f"{len(refused)} of {count} without an answer, the fifth time")


@pytest.mark.parametrize("count", [300, 3000])
def test_a_flood_in_one_write_with_standard_input_closed_behind_it(mux, count):
    all_answered(count, lambda: mux.ue("mcp", input=flood(count, "list_sessions", {})).ok().raw)


def test_commands_in_a_flood_all_run(mux):
    """Standard input stays open: once it is closed, a second without any answer, as a busy machine may have, ends the rest."""
    server = mux.popen("mcp", stdin=subprocess.PIPE)
    writer = threading.Thread(target=lambda: (server.stdin.write(flood(300)), server.stdin.flush()))
    writer.start()
    done, refused = tell_apart(b"".join(server.stdout.readline() for _ in range(301)))
    writer.join()
    assert mux.finish(server).ok().raw == b""
    assert done == set(range(300)) and not refused


def test_calls_wait_for_their_turn_on_a_narrow_connection_and_keep_their_order(mux):
    mux.configure("[limits]\nrequests_per_connection = 2\n")
    client = Client(mux, LEGACY[-1])
    client.tool("exec_command", cmd="cat", stdin=True, name="c", yield_time_ms=250)
    calls = [client.send("tools/call", {"name": "write_stdin", "arguments": {"session_id": "c", "chars": f"{i}\n", "yield_time_ms": 250}}) for i in range(12)]
    assert not [call for call in calls if client.recv(call)["result"]["isError"]]
    assert client.tool("read_output", session_id="c", since=0, until="11\n", yield_time_ms=30000)["structuredContent"]["output"] == "".join(f"{i}\n" for i in range(12))
    mux.ue("kill", "c")


def test_a_call_that_has_not_had_its_turn_can_be_cancelled(mux):
    mux.configure("[limits]\nrequests_per_connection = 1\n")
    client = Client(mux, LEGACY[-1])
    first = client.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "exec sleep 600", "name": "a", "login": False, "yield_time_ms": 30000}})
    wait_for(lambda: mux.listed("a"))
    second = client.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "true", "name": "b"}})
    third = client.send("tools/call", {"name": "list_sessions", "arguments": {}})
    for id in second, first:
        client.notify("notifications/cancelled", {"requestId": id})
    assert [row["name"] for row in client.recv(third)["result"]["structuredContent"]["sessions"]] == ["a"]
    assert not mux.listed("b") and not client.answers
    mux.ue("kill", "a")


def test_over_the_cap_each_call_is_told_so(mux):
    held = json.dumps({"jsonrpc": "2.0", "id": "held", "method": "tools/call", "params": {
        "name": "exec_command", "arguments": {"cmd": "while [ ! -e go ]; do sleep 0.05; done", "login": False, "yield_time_ms": 30000}}})
    mux.configure("[limits]\nrequests_per_connection = 1\n")
    client = Client(mux, LEGACY[-1])
    client.write(held)
    for i in range(4200):
        client.send("tools/call", {"name": "list_sessions", "arguments": {}}, id=i)
    refused = [client.line()]
    while refused[-1]["id"] != 4199:  # all of them while none of those before is done
        refused.append(client.line())
    for answer in refused:
        assert answer["result"]["isError"] and "too many calls are unanswered" in answer["result"]["content"][0]["text"]
    assert refused[0]["id"] >= 4000 and [answer["id"] for answer in refused] == list(range(refused[0]["id"], 4200))
    (mux.dir / "go").touch()
    assert not any(client.recv(i)["result"]["isError"] for i in range(refused[0]["id"])) and not client.recv("held")["result"]["isError"]


def test_a_client_that_writes_everything_before_it_reads(mux):
    def run():
        process = mux.popen("mcp", stdin=subprocess.PIPE)
        process.stdin.write(flood(2000, "list_sessions", {}))  # more than both pipes hold: nobody else reads meanwhile
        process.stdin.close()
        process.stdin = None
        return mux.finish(process).ok().raw
    all_answered(2000, run)


def test_standard_output_may_be_a_socket_or_a_file(mux):
    def to_socket():
        ours, theirs = socket.socketpair()
        process = mux.popen("mcp", stdin=subprocess.PIPE, stdout=theirs)
        theirs.close()
        writer = threading.Thread(target=lambda: (process.stdin.write(flood(2000, "list_sessions", {})), process.stdin.close()))
        writer.start()
        writer.join(CAP)  # nobody has read yet
        out = b"".join(iter(lambda: ours.recv(1 << 16), b""))
        assert process.wait(CAP) == 0
        mux.background.remove(process)
        return out

    def to_file():
        with open(mux.dir / "out", "wb") as file:
            mux.ue("mcp", input=flood(500, "list_sessions", {}), stdout=file).ok()
        return (mux.dir / "out").read_bytes()
    all_answered(2000, to_socket)
    all_answered(500, to_file)


def test_without_a_standard_output(mux):
    gone = mux.popen("mcp", stdin=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert gone.wait(CAP) == 125 and b"standard output" in gone.stderr.read()
    mux.background.remove(gone)


def test_a_client_that_goes_away_without_reading(mux):
    client = Client(mux, LEGACY[-1])
    client.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "exec sleep 600", "name": "a", "login": False, "yield_time_ms": 30000}})
    wait_for(lambda: mux.listed("a"))
    client.process.stdout.close()  # standard input stays open
    assert client.process.wait(CAP) == 128 + signal.SIGPIPE
    mux.background.remove(client.process)
    assert mux.listed("a")["state"] == "running"
    mux.ue("kill", "a")


def test_a_last_line_without_newline_and_a_flood(mux):
    lines = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": LEGACY[-1]}})]
    lines += [json.dumps({"jsonrpc": "2.0", "id": i, "method": "ping"}) for i in range(1, 20000)]
    result = mux.ue("mcp", input="\n".join(lines))
    assert result.rc == 0 and [json.loads(line)["id"] for line in result.out.splitlines()] == list(range(20000))


def test_events_name_the_client(mux, client):
    client.tool("exec_command", cmd=["true"], name="s")
    begun = [json.loads(line) for line in mux.ue("events", "--since", "1", "-y", "0", "--type", "begin").out.splitlines()]
    assert [event["client"] for event in begun if event["name"] == "s"] == ["t/1"]


def test_only_what_the_config_offers(mux):
    mux.configure("[tools]\nshell_type = shell_command\napply_patch = no\n")
    client = Client(mux, LEGACY[-1])
    names = [tool["name"] for tool in client.request("tools/list")["tools"]]
    assert "shell_command" in names and not {"exec_command", "write_stdin", "apply_patch"} & set(names)
    assert client.error("tools/call", {"name": "exec_command", "arguments": {"cmd": "true"}}) == {"code": -32602, "message": "unsupported call: exec_command"}


def test_no_daemon_and_none_may_be_started(mux):
    process = mux.popen("--no-start", "mcp", stdin=subprocess.PIPE)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}})
    answer = json.loads(mux.finish(process, line.encode() + b"\n").out)
    assert answer["error"]["code"] == -32603 and "nobody listens" in answer["error"]["message"]
    assert UE.exists()


def test_progress_only_with_a_token(mux, newest):
    arguments = {"cmd": "sleep 6; echo slept", "login": False, "yield_time_ms": 20000}
    newest.send("tools/call", {"name": "exec_command", "arguments": arguments, "_meta": {"progressToken": "t1"}}, id="with")
    newest.send("tools/call", {"name": "exec_command", "arguments": arguments}, id="without")
    for id in "with", "without":
        assert newest.recv(id)["result"]["structuredContent"]["output"] == "slept\n"
    beats = [message["params"] for message in newest.answers if message.get("method") == "notifications/progress"]
    assert beats and all(beat["progressToken"] == "t1" for beat in beats) and beats[0]["progress"] >= 5
    assert [message for message in newest.answers if "method" not in message] == []


def test_a_flood_of_calls_and_an_id_reused_later(mux, newest):
    count = many(120, 300)
    for i in range(count):  # more than may be in flight
        newest.send("tools/call", {"name": "exec_command", "arguments": {"cmd": "exec sleep 600", "login": False, "yield_time_ms": 250, "name": f"s{i}"}}, id=i)
    answers = [newest.recv(i)["result"] for i in range(count)]
    refused = [answer for answer in answers if answer["isError"]]
    assert len(refused) < count and all("structuredContent" not in answer for answer in refused)
    assert newest.request("tools/list")["tools"]
    again = newest.recv(newest.send("tools/list", id=0))
    assert again["result"]["tools"]
    mux.ue("kill", "--all")
