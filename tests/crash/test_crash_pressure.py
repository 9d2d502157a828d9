"""Back-pressure: nobody who floods, stalls or vanishes slows or bloats anything else."""
import base64, json, os, select, socket, threading, time
from pathlib import Path

import pytest
from drill import CAP, FOREVER, SANITIZED, Patient, Rpc, fds, gone, many, wait_for

KEPT = 16 << 20  # output_queue below, and some room: what one client may make the daemon hold
LIMITS = "[limits]\noutput_queue = 1M\njournal = 1M\n"


def rss(pid):
    if SANITIZED:  # what was freed stays in the sanitizer's quarantine: no figure means anything
        return 0
    """Private memory in bytes; the journals are shared and have a budget of their own."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) * 1024


def flood(mux, name):
    return mux.run("exec yes 0123456789012345678901234567890123456789012345678901234567890", name, True)


def head(mux, n):
    return mux.row(n)["output_bytes"]


def stalled(mux, n, requests=8):
    """A client that asks for a lot and reads nothing."""
    client = Rpc(mux.socket)
    mux.clients.append(client)
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(requests):
        client.send("read_output", {"session_id": n, "since": 0, "yield_time_ms": 0, "encoding": "base64", "max_bytes": 16 << 20,
                                    "_meta": {"verb": True, "reader": "stalled"}})
    return client


class Dripping(threading.Thread):
    """A client that writes and reads a byte at a time."""

    def __init__(self, mux):
        super().__init__(daemon=True)
        self.path, self.done, self.answers = str(mux.socket), threading.Event(), 0

    def run(self):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(CAP)
            sock.connect(self.path)
            while not self.done.is_set():
                for byte in b'{"jsonrpc":"2.0","id":1,"method":"hello"}\n':
                    sock.sendall(bytes([byte]))
                while sock.recv(1) not in (b"\n", b""):
                    pass
                self.answers += 1


@pytest.mark.parametrize("clients", [0, 1, many(8, 20)])
def test_flood(make_mux, clients):
    mux = make_mux(config=LIMITS).start()
    floods = [flood(mux, f"f{i}") for i in range(3)]
    wait_for(lambda: all(head(mux, n) > 3 << 20 for n in floods))
    worker = mux.worker()
    before = rss(worker)
    held = [stalled(mux, floods[i % 3]) for i in range(clients)]
    drips = [Dripping(mux) for _ in range(clients)]
    for drip in drips:
        drip.start()
    healthy = [mux.client() for _ in range(3)]
    most, marks = 0, [head(mux, n) for n in floods]
    for i in range(many(12, 600)):
        mux.call("list_sessions")
        for client, n in zip(healthy, floods):
            at = head(mux, n)
            answer = client.call("read_output", {"session_id": n, "since": max(0, at - 65536), "peek": True, "yield_time_ms": 0,
                                                 "max_output_tokens": 1000}, {"verb": True})
            assert answer["to"] >= at
        assert mux.ended(mux.run("exit 3", f"q{i}"))["exit_code"] == 3
        most = max(most, rss(worker))
    wait_for(lambda: all(drip.answers > 0 for drip in drips), "an answer byte by byte")
    wait_for(lambda: all(head(mux, n) > mark + (8 << 20) for n, mark in zip(floods, marks)), "the programs to go on")
    for drip in drips:
        drip.done.set()
    for drip in drips:
        drip.join(CAP)
    assert mux.worker() == worker, "it lives"
    assert most - before < (4 << 20) + clients * (3 << 20), f"{most - before} bytes more with {clients} stalled clients"
    for client in held:
        client.close()
    wait_for(lambda: mux.call("status")["connections"] <= 4, "the stalled to be forgotten")
    answers = mux.call("kill_session", {"sessions": floods})["sessions"]
    assert all(a["survivors"] == 0 for a in answers)


def test_vanished_clients_cost_nothing(mux):
    n = flood(mux, "f")
    wait_for(lambda: head(mux, n) > 1 << 20)
    worker = mux.worker()

    def round():
        before = mux.call("status")["connections_accepted"]
        for _ in range(20):
            client = stalled(mux, n, 2)
            client.send("read_output", {"session_id": n, "quiet_ms": 3600000, "_meta": FOREVER})
            client.close()
        # Those that still lie in the backlog are no connections yet.
        wait_for(lambda: mux.call("status")["connections_accepted"] >= before + 20 and mux.call("status")["connections"] == 1)
        assert mux.call("status")["waits"] == 0
        return rss(worker), fds(worker)
    # How many are there at once, and so the most that is held for them, is up to the machine. What is lost with each client grows with each round.
    sizes = [round() for _ in range(2)]
    for _ in range(many(6, 12)):
        most = max(size for size, _ in sizes)
        sizes.append(round())
        if sizes[-1][0] < most + (256 << 10):
            break
    else:
        raise AssertionError(f"memory grows with each round: {sizes}")
    assert len({count for _, count in sizes[1:]}) == 1, sizes


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_program_that_never_reads(make_mux, tty):
    """Its queue fills up; what doesn't fit is refused whole, and nothing else notices."""
    mux = make_mux(config="[limits]\ninput_queue = 64K\n").start()
    n = mux.run("stty raw -echo 2>/dev/null; echo up; exec sleep 300", "deaf", tty, stdin=not tty)
    mux.until(n, "up")
    taken, refused = 0, None
    while not refused:
        try:
            mux.type(n, "x" * 8192)
            taken += 8192
        except Exception as e:
            refused = e
    assert refused.code == "input_full" and "free" in refused.message, refused
    assert 65536 <= taken <= 65536 + (1 << 20)
    worker = mux.worker()
    before = rss(worker)
    for _ in range(50):
        with pytest.raises(Exception):
            mux.type(n, "y" * 60000)
    assert rss(worker) - before < 4 << 20
    assert mux.ended(mux.run("exit 3"))["exit_code"] == 3
    ticks = lambda: sum(map(int, Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
    used = ticks()
    select.select([], [], [], 0.3)
    assert ticks() - used < 10, "it waits for room, and does not ask for it all the time"
    mux.kill_worker()
    with pytest.raises(Exception) as again:
        mux.type(n, "y" * 60000)
    assert again.value.code == "input_full"
    assert mux.call("kill_session", {"session_id": n})["sessions"][0]["survivors"] == 0


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_pause_loses_nothing(make_mux, tty):
    """on_slow = pause: the program waits for its reader, and everything arrives."""
    mux = make_mux(config="[defaults]\non_slow = pause\n[limits]\njournal = 512K\n[policy mcp]\nsandbox = full-access\n").start()
    go = mux.dir / "go"
    n = mux.run(f"until [ -e {go} ]; do sleep 0.02; done; seq 1 400000", "s", tty)  # nothing of it goes into the answer to this
    go.touch()
    got, client, kills = b"", mux.client(), 0
    while True:
        answer = client.call("read_output", {"session_id": n, "yield_time_ms": 100, "encoding": "base64",
                                             "max_bytes": 1 << 17}, {"verb": True})
        assert answer["omitted_bytes"] == 0 and answer["from"] <= len(got), answer
        got = got[:answer["from"]] + base64.b64decode(answer["output_base64"])
        if kills < 5:
            kills += 1
            mux.kill_worker()
        if answer["state"] != "running" and answer["to"] == len(got) and not answer["output_base64"]:
            break
    assert got == b"".join(b"%d\r\n" % i if tty else b"%d\n" % i for i in range(1, 400001))
