"""The bare wire: JSON-RPC lines over the socket."""
import fcntl, json, os, select, socket, struct, termios

import pytest
from conftest import CAP, Rpc, wait_for

pytestmark = pytest.mark.no_pty


def alive(mux):
    assert mux.ue("exec", "--raw", "echo alive").ok().out == "alive\n"


def refused(client, data, code, id=None):
    """Sends a raw line; the answer must be an error with this data.code (or one of several)."""
    client.send_raw(data + b"\n")
    message = client.recv(id)
    assert message["jsonrpc"] == "2.0" and "result" not in message
    assert message["error"]["data"]["code"] in (code if isinstance(code, tuple) else (code,)), message
    assert isinstance(message["error"]["code"], int) and message["error"]["message"]
    return message["error"]


@pytest.mark.smoke
def test_hello(mux):
    result = mux.rpc().call("hello")
    assert result["protocol"] == 1 and result["version"]


@pytest.mark.smoke
def test_a_tool_call(mux):
    result = mux.rpc().call("exec_command", {"cmd": "echo hello; exit 3"})
    assert result["output"] == "hello\n" and result["exit_code"] == 3


def test_id_may_be_a_string(mux):
    client = mux.rpc()
    client.send("hello", id="some-id")
    assert client.result("some-id")["protocol"] == 1


@pytest.mark.parametrize("id", ["true", "1.5", "{}", "[1]", '"' + "x" * 1000 + '"'])
def test_id_of_another_kind_is_refused(mux, id):
    refused(mux.rpc(), b'{"jsonrpc":"2.0","id":%s,"method":"hello"}' % id.encode(), "invalid_request")


def test_notification_gets_no_answer(mux):
    client = mux.rpc()
    client.send_raw(b'{"jsonrpc":"2.0","method":"hello"}\n{"jsonrpc":"2.0","method":"no_such"}\n')
    client.call("hello")
    assert client.answers == []


def test_answers_come_as_they_are_ready(mux):
    client = mux.rpc()
    slow = client.send("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done; echo slow", "workdir": str(mux.dir), "yield_time_ms": 30000})
    fast = client.send("exec_command", {"cmd": "echo fast", "yield_time_ms": 30000})
    assert client.result(fast)["output"] == "fast\n"
    (mux.dir / "go").touch()
    assert client.result(slow)["output"] == "slow\n"


def test_many_requests_in_one_write(mux):
    client = mux.rpc()
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": "exec_command", "params": {"cmd": f"echo {n}", "yield_time_ms": 30000}}) for n in range(100, 130)]
    client.send_raw("\n".join(lines).encode() + b"\n")
    assert [client.result(n)["output"] for n in range(100, 130)] == [f"{n}\n" for n in range(100, 130)]


def test_request_byte_by_byte(mux):
    client = mux.rpc()
    for byte in b'{"jsonrpc":"2.0","id":7,"method":"hello"}\r\n':
        client.send_raw(bytes([byte]))
    assert client.result(7)["protocol"] == 1


def test_blank_lines_are_no_requests(mux):
    client = mux.rpc()
    client.send_raw(b"\n\n  \n\r\n")
    assert client.call("hello") and client.answers == []


def test_cancel_ends_the_wait_not_the_process(mux):
    client = mux.rpc()
    waiting = client.send("exec_command", {"cmd": "exec sleep 300", "name": "s", "yield_time_ms": 30000})
    wait_for(lambda: mux.listed("s"))
    client.call("cancel", {"id": waiting})
    message = client.recv(waiting)
    assert message["error"]["data"]["code"] == "cancelled"
    assert mux.listed("s")["state"] == "running"


def test_cancel_of_what_is_not_in_flight(mux):
    client = mux.rpc()
    client.send("exec_command", {"cmd": "exec sleep 300", "yield_time_ms": 30000})
    client.recv(client.send("cancel", {"id": 4711}))
    assert client.call("status")["waits"] == 1, "what is in flight stays"


def test_cancel_does_not_reach_other_connections(mux):
    one, other = mux.rpc(), mux.rpc()
    waiting = one.send("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done; echo done", "workdir": str(mux.dir), "yield_time_ms": 30000, "name": "s"}, id=5)
    wait_for(lambda: mux.listed("s"))
    other.send("cancel", {"id": 5}, id=6)
    other.recv(6)
    (mux.dir / "go").touch()
    assert one.result(waiting)["output"] == "done\n"


@pytest.mark.parametrize("line", [b"{", b"nonsense", b'{"jsonrpc":"2.0","id":1,"method":"hello"', b'{"jsonrpc":"2.0","id":1,"method":"hello"} x', b'"text"',
                                  b'{"jsonrpc":"2.0","id":1,"method":"hello",}', b"{'id':1}", b'{"a":01}', b'{"a":+1}', b'{"a":NaN}', b'{"a":"\t"}',
                                  b'{"a":"\\x41"}', b'{"a":"\\ud800"}', b"\xef\xbb\xbf{}"])
def test_broken_json_is_told_and_survived(mux, line):
    client = mux.rpc()
    client.send_raw(line + b"\n")
    message = json.loads(client.line())
    assert message["error"]["data"]["code"] in ("parse", "invalid_request")
    assert client.call("hello")["protocol"] == 1


def test_deep_nesting(mux):
    client = mux.rpc()
    refused(client, b'{"jsonrpc":"2.0","id":1,"method":"hello","params":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}", "parse", id=1)
    refused(client, b"[" * 10_000, ("parse", "invalid_request"))
    assert client.call("hello")


def test_duplicate_keys(mux):
    """The answer has the request's id: a client that waits for that one alone does not wait for ever."""
    refused(mux.rpc(), b'{"jsonrpc":"2.0","id":"u-1","method":"exec_command","params":{"cmd":"echo a","cmd":"echo b"}}', "parse", id="u-1")
    assert mux.js("list", "--all")["sessions"] == []


def test_key_of_other_case_is_another_key(mux):
    assert mux.rpc().error("exec_command", {"cmd": "true", "TTY": True}).code == "arguments"


def test_nul_escape_in_a_command(mux):
    client = mux.rpc()
    client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"exec_command","params":{"cmd":"echo a\\u0000b"}}\n')
    assert json.loads(client.line())["error"]["data"]["code"] == "parse" and client.call("hello")
    assert mux.js("list", "--all")["sessions"] == []


def test_nul_byte_is_typed_as_base64(mux):
    client = mux.rpc()
    client.call("exec_command", {"cmd": "stty raw -echo; printf up; head -c 3 | od -An -tx1; read x", "tty": True, "name": "s", "until": "up", "yield_time_ms": 30000})
    assert "61 00 62" in client.call("write_stdin", {"session_id": "s", "chars_base64": "YQBi", "until": "62", "yield_time_ms": 30000})["output"]


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"])
def test_invalid_utf8(mux, bad):
    client = mux.rpc()
    client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"exec_command","params":{"cmd":"echo ' + bad + b'"}}\n')
    assert json.loads(client.line())["error"]["data"]["code"] == "parse"
    alive(mux)


@pytest.mark.parametrize("number", [b"9007199254740993", b"18446744073709551616", b"-1", b"1.5", b"1e400", b'"1"'])
def test_numbers_that_are_none_of_ours(mux, number):
    client = mux.rpc()
    client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"read_output","params":{"session_id":1000,"since":' + number + b"}}\n")
    assert json.loads(client.line())["error"]["data"]["code"] in ("arguments", "parse")


def test_line_of_nine_megabytes(mux):
    client = mux.rpc()
    refused(client, b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"' + b"x" * 9_437_184 + b'"}}', "too_large", id=1)
    assert client.call("hello")["protocol"] == 1


def test_line_of_seven_megabytes_is_read(mux):
    failure = mux.rpc().error("write_stdin", {"session_id": "nope", "chars": "x" * 7_000_000})
    assert failure.code == "no_such_session"


def test_unknown_method(mux):
    failure = mux.rpc().error("no_such_tool")
    assert failure.code == "no_such_method" and failure.error["code"] == -32601 and "no_such_tool" in failure.message


@pytest.mark.parametrize("line", [b'{"jsonrpc":"1.0","id":1,"method":"hello"}', b'{"id":1,"method":"hello"}', b'{"jsonrpc":"2.0","id":1,"method":5}',
                                  b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":1,"method":"hello","params":[]}',
                                  b'{"jsonrpc":"2.0","id":1,"method":"hello","params":5}', b'{"jsonrpc":"2.0","id":1,"method":"hello","more":1}'])
def test_what_is_no_request(mux, line):
    refused(mux.rpc(), line, ("invalid_request", "arguments"), id=1)


def test_batches_are_refused(mux):
    client = mux.rpc()
    client.send_raw(b'[{"jsonrpc":"2.0","id":1,"method":"hello"}]\n')
    assert json.loads(client.line())["error"]["data"]["code"] in ("invalid_request", "parse")


def test_unknown_field_is_named(mux):
    failure = mux.rpc().error("exec_command", {"cmd": "true", "nonsense": 1})
    assert failure.code == "arguments" and "nonsense" in failure.message
    assert mux.js("list", "--all")["sessions"] == []


def test_unknown_field_of_the_context_is_named(mux):
    failure = mux.rpc().error("exec_command", {"cmd": "true", "_meta": {"nonsense": 1}})
    assert failure.code == "arguments" and "nonsense" in failure.message


def test_fields_that_clients_add_are_ignored(mux):
    assert mux.rpc().call("exec_command", {"cmd": "true", "description": "x", "wait_for_previous": False})["exit_code"] == 0


def test_ignored_fields_are_configurable(mux):
    mux.configure("[tools]\nignore_fields = nonsense\n")
    client = mux.rpc()
    assert client.call("exec_command", {"cmd": "true", "nonsense": 1})["exit_code"] == 0
    assert client.error("exec_command", {"cmd": "true", "description": "x"}).code == "arguments"


def test_requests_of_a_connection_are_capped(mux):
    mux.configure("[limits]\nrequests_per_connection = 2\n")
    client = mux.rpc()
    waiting = [client.send("exec_command", {"cmd": "exec sleep 300", "yield_time_ms": 30000, "name": name}) for name in "ab"]
    wait_for(lambda: len(mux.js("list")["sessions"]) == 2)
    over = client.send("exec_command", {"cmd": "true"})
    assert client.recv(over)["error"]["data"]["code"] == "limit"
    assert client.call("cancel", {"id": waiting[1]})["cancelled"]  # makes room, so it needs none
    assert client.recv(waiting[1])["error"]["data"]["code"] == "cancelled"
    assert client.call("hello")["requests_per_connection"] == 2
    mux.ue("kill", "--all").ok()
    assert client.result(waiting[0])["state"] == "killed"


def test_client_that_leaves_in_the_middle_of_a_request(mux):
    for part in (b"{", b'{"jsonrpc":"2.0","id":1,"method":"exec_command","params":{"cmd":"touch never"}}'):
        client = mux.rpc()
        client.send_raw(part)
        client.close()
    alive(mux)


def test_client_that_leaves_in_the_middle_of_a_wait(mux):
    client = mux.rpc()
    client.send("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done; echo result; exec sleep 300", "workdir": str(mux.dir), "name": "s",
                                 "yield_time_ms": 30000})
    wait_for(lambda: mux.listed("s"))
    client.close()
    (mux.dir / "go").touch()
    assert mux.js("poll", "--until", "result\n", "-y", CAP * 1000, "s")["output"] == "result\n"


def test_client_that_leaves_in_the_middle_of_an_answer(mux):
    client = mux.rpc()
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.send("exec_command", {"cmd": "head -c 1000000 /dev/zero | tr '\\0' x", "max_output_tokens": 262144, "yield_time_ms": 30000})
    assert select.select([client.sock], [], [], CAP)[0]
    client.close()
    alive(mux)


def test_half_closed_client_gets_its_answers(mux):
    client = mux.rpc()
    id = client.send("exec_command", {"cmd": "sleep 0.2; echo late", "yield_time_ms": 30000})
    client.sock.shutdown(socket.SHUT_WR)
    assert client.result(id)["output"] == "late\n"


def test_client_that_never_reads_disturbs_nobody(mux):
    client = mux.rpc()
    client.sock.setblocking(False)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "status"}).encode() + b"\n"
    sent = 0
    try:
        while sent < 20_000_000:
            sent += client.sock.send(line * 100)
    except BlockingIOError:
        pass
    alive(mux)


def test_who_reads_no_answers_is_asked_no_more(mux):
    """Its requests stay in the socket while its answers wait, and are answered when it reads them, all of them."""
    mux.configure("[limits]\noutput_queue = 64k\n")
    client, other = mux.rpc(), mux.rpc()
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "status"}).encode() + b"\n"
    client.send_raw(line * 1000)

    def unread():
        """SIOCOUTQ of unix(7): what the daemon has not taken from the socket."""
        return struct.unpack("i", fcntl.ioctl(client.sock, termios.TIOCOUTQ, bytes(4)))[0]
    for _ in range(10):  # turns of the daemon
        other.call("hello")
    assert unread() > 0
    for _ in range(1000):
        assert "result" in json.loads(client.line())
    assert unread() == 0


def test_base64_input(mux):
    import base64
    client = mux.rpc()
    client.call("exec_command", {"cmd": "stty raw -echo; printf up; head -c 3 | od -An -tx1; read x", "tty": True, "name": "s", "until": "up", "yield_time_ms": 30000})
    result = client.call("write_stdin", {"session_id": "s", "chars_base64": base64.b64encode(b"\xff\x00\x80").decode(), "until": "80", "yield_time_ms": 30000})
    assert "ff 00 80" in result["output"]


def test_broken_base64(mux):
    mux.shell()
    assert mux.rpc().error("write_stdin", {"session_id": "sh", "chars_base64": "*"}).code == "arguments"


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?<n>a)(?<n>b)", "\\"])
def test_pattern_that_is_none(mux, pattern):
    assert mux.rpc().error("exec_command", {"cmd": "true", "until": pattern}).code == "pattern"


def test_pattern_that_explodes_does_not_stall_the_daemon(mux):
    client = mux.rpc()
    client.send("exec_command", {"cmd": "head -c 100000 /dev/zero | tr '\\0' a; exec sleep 300", "until": "(a+)+$b", "yield_time_ms": 30000, "name": "s"})
    wait_for(lambda: mux.listed("s"))
    alive(mux)
    client.close()


@pytest.mark.root
def test_another_users_client_is_refused(mux):
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    mux.ue("start").ok()
    os.chmod(mux.dir, 0o711)
    os.chmod(mux.socket, 0o666)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        verdict = b"error"
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(CAP)
            client.connect(str(mux.socket))
            client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"exec_command","params":{"cmd":"id"}}\n')
            verdict = client.recv(65536) or b"closed"
        except OSError as e:
            verdict = type(e).__name__.encode()
        finally:
            os.write(write, verdict)
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read, "rb") as f:
        verdict = f.read()
    assert b"result" not in verdict and verdict != b"error"
    assert mux.js("list", "--all")["sessions"] == []


def typed_lines(mux, count, name="s"):
    """A session that keeps what is typed, and the requests that type `count` numbered lines."""
    mux.ue("exec", "-n", name, "-t", "-y", CAP * 1000, "--until", "up", "stty raw -echo; exec 3>&1 > typed; echo up >&3; exec cat 3>&-").ok()
    return b"".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "write_stdin", "params": {
        "session_id": name, "chars": f"line {n}\n", "yield_time_ms": 0, "ready": False, "_meta": {"verb": True}}}).encode() + b"\n"
        for n in range(count))


def all_typed(mux, count):
    wanted = "".join(f"line {n}\n" for n in range(count))
    wait_for(lambda: (mux.dir / "typed").read_text() == wanted or len((mux.dir / "typed").read_text()) > len(wanted),
             f"{count} lines, each once")
    assert (mux.dir / "typed").read_text() == wanted


def test_what_was_asked_before_leaving_is_done_once(mux):
    """More than the daemon reads in a turn: its answers meet a closed connection while half of the requests are unread."""
    mux.configure("[limits]\nrequests_per_connection = 4096\nwaits = 8192\n")
    lines = typed_lines(mux, 4000)
    client = mux.rpc()
    client.send_raw(lines)
    client.close()
    all_typed(mux, 4000)
    wait_for(lambda: mux.js("status")["connections"] == 1, "the connection's end")


def test_what_was_asked_before_leaving_is_done_though_answers_wait(mux):
    """The same when answers that nobody reads have stopped the reading of requests."""
    mux.configure("[limits]\noutput_queue = 64k\nrequests_per_connection = 4096\n")
    lines = typed_lines(mux, 40)
    large = mux.js("exec", "-n", "large", "--no-login", "-y", "inf", "head -c 500000 /dev/zero | tr '\\0' x")["number"]
    client = mux.rpc()
    for n in range(8):
        client.send("read_output", {"session_id": large, "since": 0, "max_output_tokens": 262144}, id=f"large {n}")
    client.send_raw(lines)
    wait_for(lambda: mux.js("status")["connections"] == 2, "the connection")
    client.close()
    all_typed(mux, 40)
    wait_for(lambda: mux.js("status")["connections"] == 1, "the connection's end")


def test_who_reads_no_answers_any_more_can_still_type(mux):
    lines = typed_lines(mux, 10)
    client = mux.rpc()
    client.sock.shutdown(socket.SHUT_RD)
    client.send_raw(lines)
    all_typed(mux, 10)
    wait_for(lambda: mux.js("status")["connections"] == 1, "the connection's end")
    alive(mux)


def test_half_a_request_of_who_left_is_not_done(mux):
    lines = typed_lines(mux, 2)
    client = mux.rpc()
    client.send_raw(lines.rstrip(b"\n"))
    client.close()
    alive(mux)
    assert (mux.dir / "typed").read_text() in ("", "line 0\n")
    wait_for(lambda: (mux.dir / "typed").read_text() == "line 0\n")
