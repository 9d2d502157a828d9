"""[limits]: each cap has a key and a named error."""
import json, select, socket, threading, time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


def test_sessions(mux):
    mux.configure("[limits]\nmax_sessions = 2\n")
    for name in "ab":
        mux.ue("exec", "-n", name, "-y", "0", "exec sleep 300").ok()
    failure = mux.rpc().error("exec_command", {"cmd": "true"})
    assert failure.code == "limit" and "max_sessions" in failure.message and "2" in failure.message
    assert [mux.listed(n)["state"] for n in "ab"] == ["running", "running"]
    mux.ue("kill", "a").ok()
    mux.ue("exec", "true").ok()


def test_journal_of_a_session(mux):
    mux.configure("[limits]\njournal = 128k\nhead = 4k\n")
    answer = mux.js("exec", "-n", "s", "-y", "inf", "seq 1 200000")
    assert answer["exit_code"] == 0 and answer["omitted_bytes"] > 1_000_000
    assert answer["output"].startswith(("1\n2\n", "Warning")) and answer["output"].endswith("199999\n200000\n")
    kept = mux.ue("poll", "--raw", "--since", "0", "s").raw
    assert len(kept) <= 140_000 and kept.endswith(b"200000\n")


def test_journals_of_all_sessions(mux):
    mux.configure("[limits]\njournal = 1M\njournal_total = 3M\nhead = 64k\n")
    results = [mux.ue("exec", "-y", "0", "exec sleep 300") for _ in range(6)]
    assert results[0].rc == 0 and results[-1].rc == 125 and "journal_total" in results[-1].err


def test_waits(mux):
    mux.configure("[limits]\nwaits = 16\n")
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    wait, waiting = {"session_id": "s", "yield_time_ms": 300000, "until": "never", "_meta": {"verb": True}}, []
    for count in (9, 2, 2, 1, 1, 1):  # of the second half a connection gets only its part
        client = mux.rpc()
        waiting += [(client, client.send("read_output", wait)) for _ in range(count)]
        assert client.call("status")["waits"] == len(waiting)
    failure = mux.rpc().error("read_output", wait)
    assert failure.code == "limit" and "16 calls are waiting already, which is [limits] 'waits'" in failure.message, failure.message
    mux.ue("kill", "s").ok()
    assert all(client.result(id) for client, id in waiting)


def test_waits_of_one_connection(mux):
    """When half of the places are taken, one connection leaves some for the others."""
    mux.configure("[limits]\nwaits = 8\n")
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    many, other = mux.rpc(), mux.rpc()
    wait = {"session_id": "s", "yield_time_ms": 300000, "until": "never", "_meta": {"verb": True}}
    waiting = [many.send("read_output", wait) for _ in range(5)]
    failure = many.error("read_output", wait)
    assert failure.code == "limit" and "'waits'" in failure.message and "this connection" in failure.message
    waiting += [other.send("read_output", wait)]
    wait_for(lambda: mux.js("status")["waits"] == 6, "the other's place")
    mux.ue("kill", "s").ok()
    assert all(many.result(id) for id in waiting[:5]) and other.result(waiting[5])


def test_connections(mux):
    mux.configure("[limits]\nconnections = 4\n")
    busy = [mux.rpc() for _ in range(4)]
    ids = [c.send("exec_command", {"cmd": "exec sleep 300", "yield_time_ms": 30000, "name": f"s{n}"}) for n, c in enumerate(busy)]
    wait_for(lambda: len([p for p in mux.pids() if p not in mux.daemons()]) >= 4)
    result = mux.ue("list")
    assert result.rc in (69, 125) and "connections" in result.err
    busy[0].close()
    wait_for(lambda: mux.ue("list").rc == 0)
    mux.ue("kill", "--all").ok()
    assert busy[1].result(ids[1])["state"] == "killed"


def test_request_size(mux):
    mux.configure("[limits]\nmax_request = 64k\n")
    client = mux.rpc()
    id = client.send("write_stdin", {"session_id": "x", "chars": "y" * 70_000})
    line = client.line()
    assert b"too_large" in line and b"65536" in line, id
    assert client.call("hello")


def test_output_tokens(mux):
    mux.configure("[limits]\nmax_output_tokens = 10\n[defaults]\nmax_output_tokens = 10\n")
    result = mux.call("exec_command", {"cmd": "seq 1 1000", "max_output_tokens": 5000})
    assert result.rc == 0 and "tokens truncated" in result.out and len(result.out) < 400


def test_longest_wait(mux):
    mux.configure("[limits]\nmax_wait = 1s\n[defaults]\nyield_exec = 1s\n")
    result = mux.ue("exec", "-n", "s", "-y", "3600000", "exec sleep 300")
    assert result.rc in (0, 64, 125)
    if result.rc:
        assert "max_wait" in result.err


def test_lowering_the_cap_kills_nobody(mux):
    for name in "abc":
        mux.ue("exec", "-n", name, "-y", "0", "exec sleep 300").ok()
    mux.configure("[limits]\nmax_sessions = 1\n")
    mux.ue("reload").ok()
    assert [mux.listed(n)["state"] for n in "abc"] == ["running"] * 3
    assert mux.ue("exec", "true").rc == 125


def test_reader_names_are_checked(mux):
    mux.ue("exec", "-n", "s", "true").ok()
    assert mux.ue("poll", "--reader", "x" * 100, "s").rc in (64, 125)


def test_flood_does_not_keep_others_waiting(mux):
    mux.ue("exec", "-n", "flood", "-y", "0", "exec yes").ok()
    for _ in range(20):
        assert mux.ue("list", timeout=CAP).rc == 0
    assert mux.ue("exec", "--raw", "echo fine").ok().out == "fine\n"
    mux.ue("kill", "flood").ok()


def unreading(mux, session, size):
    """A client that asks for a lot and reads nothing."""
    client = mux.rpc()
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.send("read_output", {"session_id": session, "since": 0, "yield_time_ms": 0, "encoding": "base64", "max_bytes": size,
                                "_meta": {"verb": True, "reader": "unreading"}})
    return client


def test_output_of_all_clients_together(mux):
    """Who asks and does not read is disconnected when all of them hold too much, the worst first; who reads goes on."""
    mux.configure("[limits]\noutput_total = 4M\n")
    mux.ue("exec", "-n", "s", "-y", "inf", "--until", "END", "head -c 1000000 /dev/zero | tr '\\0' a; echo END; exec sleep 300").ok()
    small = unreading(mux, "s", 100_000)
    clients = [unreading(mux, "s", 1 << 20) for _ in range(12)]
    status = wait_for(lambda: (now := mux.js("status")).get("connections_closed", 0) >= 2 and now, "the worst to be closed")
    assert status["output_unread_bytes"] <= 4 << 20
    assert "[limits] output_total" in status["connection_closed"] and "pid" in status["connection_closed"]
    assert "output_total" in mux.log_tail()
    assert len(mux.ue("poll", "--raw", "--since", "0", "--peek", "s").raw) == 1_000_004
    assert json.loads(small.line())["result"]["from"] == 0, "it held little and was not closed"
    for client in clients:
        client.close()
    wait_for(lambda: mux.js("status")["output_unread_bytes"] == 0)


def test_requests_that_waited_for_others_output_are_answered(mux):
    """While all together hold too much nobody is served; then everybody who is left."""
    mux.configure("[limits]\noutput_total = 1M\n")
    mux.ue("exec", "-n", "s", "-y", "inf", "--until", "END", "head -c 1000000 /dev/zero | tr '\\0' a; echo END; exec sleep 300").ok()
    for _ in range(3):
        unreading(mux, "s", 1 << 20)
        others = [mux.rpc() for _ in range(4)]
        ids = [[client.send("list_sessions") for _ in range(10)] for client in others]
        for client, mine in zip(others, ids):
            assert all(client.result(id)["sessions"] for id in mine)


def test_honest_clients_are_answered_while_others_come_again(mux):
    """Clients of one process that ask for much, read nothing and come again when they are closed: for them little is done, and
    whoever reads is answered, small or large."""
    mux.configure("[limits]\noutput_total = 4M\n")
    mux.ue("exec", "-n", "s", "-y", "inf", "--until", "END", "head -c 1000000 /dev/zero | tr '\\0' a; echo END; exec sleep 300").ok()
    over = threading.Event()

    def come_again():
        waits, hogs = select.poll(), {}
        while not over.is_set():
            while len(hogs) < 24:
                client = unreading(mux, "s", 1 << 20)
                for _ in range(40):
                    client.send("read_output", {"session_id": "s", "since": 0, "yield_time_ms": 0, "_meta": {"verb": True, "reader": "unreading"}})
                hogs[client.sock.fileno()] = client
                waits.register(client.sock, select.POLLHUP)
            for fd, _ in waits.poll(100):
                waits.unregister(fd)
                hogs.pop(fd).close()
        for client in hogs.values():
            client.close()

    begun = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        hogs = pool.submit(come_again)
        try:
            wait_for(lambda: hogs.done() or mux.js("status").get("connections_closed"), "the first to be closed for another")
            for _ in range(3):
                assert mux.ue("exec", "--raw", "echo fine").ok().out == "fine\n"
                assert mux.ue("list").ok().out
                wait_for(lambda: len(mux.ue("poll", "--raw", "--since", "0", "--peek", "s").raw) == 1_000_004, "a large answer")
            closed = mux.js("status")["connections_closed"]
        finally:
            over.set()
        hogs.result()
    # at most two of these answers have room; each is there for a second before its client is closed for others
    assert closed <= 3 * (1 + time.monotonic() - begun), "the daemon has made answers for those who don't read, and little else"
    wait_for(lambda: mux.js("status")["output_unread_bytes"] == 0)
