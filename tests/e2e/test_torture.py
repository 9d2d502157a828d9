"""Hostile and clumsy clients, many and for long: afterwards there are as many descriptors, processes and, roughly, bytes as before.

MUXD_TORTURE multiplies the amounts: 1 (the default) is for every run, 100 for before a release."""
import contextlib, json, os, random, re, resource, select, socket, threading, time
from collections import Counter
from pathlib import Path
import pytest
from conftest import CAP, SANITIZED, open_files, wait_for

TIMES = int(os.environ.get("MUXD_TORTURE", "1"))
CONFIG = "[muxd]\nkill_grace = 10ms\n[limits]\nmax_sessions = 64\nkeep_ended = 1h\nwaits = 100\nmax_request = 1M\njournal = 256k\n"


def worker(mux):
    return mux.rpc().call("status")["pid"]


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def descriptors(pid):
    """What each is; without the cgroup directory of this user's daemons, which stays open while another one has a cgroup in it. An ordinary
    user sees only how many."""
    found = []
    if not os.access(f"/proc/{pid}/fd", os.R_OK):
        return ["hidden"] * open_files(pid)
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
            found += [] if link.startswith("/sys/fs/cgroup/") else [re.sub(r"\d{3,}", "N", link)]
    return found


def own_memory(pid):
    """Bytes that are the process's own."""
    return int(re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


class Count:
    """Descriptors of worker and keeper, and processes, now and later."""

    def __init__(self, mux):
        self.mux, self.client = mux, mux.rpc()
        self.worker = self.client.call("status")["pid"]
        self.keeper = parent(self.worker)
        self.before, self.links_before = self.now(), self.links()
        self.bytes = own_memory(self.worker), own_memory(self.keeper)

    def now(self):
        return len(descriptors(self.worker)), len(descriptors(self.keeper)), len(self.mux.pids())

    def links(self):
        return Counter(("worker", link) for link in descriptors(self.worker)) + Counter(("keeper", link) for link in descriptors(self.keeper))

    def settles(self, growth=4 << 20):
        assert self.client.call("status")["pid"] == self.worker, "the worker has died"
        end = time.monotonic() + CAP
        while any(now > before for now, before in zip(self.now(), self.before)):  # less: the keeper let go after we had counted
            if time.monotonic() > end:
                more = self.links() - self.links_before
                pytest.fail(f"descriptors of worker and keeper, processes: {self.now()}, before {self.before}; more: {more}")
            clear(self.client)  # a request may have come in after the last time
            select.select([], [], [], 0.02)
        if SANITIZED:  # what is freed is kept for a while, to be watched
            return
        grown = own_memory(self.worker) - self.bytes[0], own_memory(self.keeper) - self.bytes[1]
        assert grown[0] < growth and grown[1] < 1 << 20, grown


def clear(client):
    """No session, live or ended, is left."""
    while True:
        rows = client.call("list_sessions", {"all": True})["sessions"]
        if not rows:
            return
        for row in rows:
            for method, params in (("kill_session", {"sessions": [row["session_id"]]}), ("remove_session", {"sessions": [row["session_id"]]})):
                try:
                    client.call(method, params)
                except client.Error as error:
                    assert error.code in ("no_such_session", "ended", "not_ended"), error


def test_silent_connections(mux):
    mux.configure("[limits]\nconnections = 100\n")
    mux.ue("exec", "true").ok()
    clear(mux.rpc())
    count = Count(mux)
    for _ in range(2000 * TIMES):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(mux.socket))
    held = []
    for _ in range(300):
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(mux.socket))
        held.append(one)
    assert count.client.call("hello")
    for one in held:
        one.close()
    count.settles()


def test_half_a_request_and_gone(mux):
    clear(mux.rpc())
    count = Count(mux)
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "exec_command", "params": {"cmd": "exec sleep 0.01", "yield_time_ms": 30000}}).encode() + b"\n"
    for n in range(300 * TIMES):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(mux.socket))
            one.sendall(whole[: n % (len(whole) + 1)])
    count.settles()


def test_failed_execs(mux):
    client = mux.rpc()
    assert client.error("exec_command", {"cmd": ["/nonexistent/program"]}).code == "spawn"
    client.error("exec_command", {"cmd": ["/nonexistent/program"], "tty": True})
    client.error("exec_command", {"cmd": ["true"], "workdir": "/nonexistent/dir"})
    count = Count(mux)
    ways = [{"cmd": ["/nonexistent/program"]}, {"cmd": ["/etc/passwd"]}, {"cmd": ["/nonexistent/program"], "tty": True}, {"cmd": ["/"]},
            {"cmd": ["true"], "workdir": "/nonexistent/dir"}, {"cmd": ["/nonexistent/program"], "stdin": True}]
    for n in range(1000 * TIMES // 50):
        ids = [client.send("exec_command", ways[(n + i) % len(ways)]) for i in range(50)]
        for id in ids:
            assert "error" in client.recv(id)
    assert client.call("list_sessions", {"all": True})["sessions"] == []
    count.settles()


# --- random requests

WORDS = ["", "x", "s1", "s2", "1000", "-1", "é", "\u0000", "\ud83d", "a" * 70, "a" * 5000, "../../x", "%n%s", "\x1b[2J"]
VALUES = [None, True, False, 0, -1, 1, 3.5, 1e308, 2**31, 2**53 + 1, 2**64, -2**63, [], {}, [[]], {"a": {"b": []}}, *WORDS]


def some_session(dice):
    return dice.choice(["s1", "s2", "s3", "cat", "none", dice.randrange(995, 1400), str(dice.randrange(995, 1400))])


def valid(dice):
    wait = {"yield_time_ms": dice.choice([0, 1, 250, 300])}
    return dice.choice([
        lambda: ("exec_command", {"cmd": dice.choice(["true", "echo x; exit 3", "exec cat", "exec sleep 30", "kill -9 $$", "seq 1 20000", "sleep 9 & echo y"]), **wait,
                                  "_meta": {"verb": True}}),
        lambda: ("exec_command", {"cmd": ["cat"], "name": f"s{dice.randrange(1, 4)}", "tty": dice.random() < .5, **wait, "_meta": {"verb": True}}),
        lambda: ("exec_command", {"cmd": [dice.choice(["/nonexistent", "/etc", "true"])], "tty": dice.random() < .5, **wait, "_meta": {"verb": True}}),
        lambda: ("exec_command", {"cmd": ["cat"], "stdin": True, **wait, "_meta": {"verb": True}}),
        lambda: ("write_stdin", {"session_id": some_session(dice), "chars": dice.choice(["", "x\n", "\x03", "\x04", "y" * 3000 + "\n", "z" * 200_000]), **wait,
                                 "_meta": {"verb": True}}),
        lambda: ("read_output", {"session_id": some_session(dice), "since": dice.randrange(0, 200_000), "max_output_tokens": dice.randrange(0, 9999), **wait,
                                 "_meta": {"verb": True, "reader": dice.choice(["", "a", "b", "r" * 50, str(dice.random())])}}),
        lambda: ("read_output", {"session_id": some_session(dice), "until": dice.choice(["x", "(a+)+$", "[", "\\d{3,5}\n"]), **wait, "_meta": {"verb": True}}),
        lambda: ("kill_session", {"sessions": [some_session(dice)]}),
        lambda: ("kill_session", {"sessions": [some_session(dice)], "signal": dice.choice(["INT", "TERM", "STOP", "CONT", "NOSUCH"])}),
        lambda: ("remove_session", {"sessions": [some_session(dice)]}),
        lambda: ("rename_session", {"session_id": some_session(dice), "name": dice.choice(["s1", "s9", "1", "x y"])}),
        lambda: ("resize_session", {"session_id": some_session(dice), "rows": dice.randrange(0, 2000), "cols": 80}),
        lambda: ("list_sessions", {"all": dice.random() < .5}),
        lambda: (dice.choice(["hello", "status", "config"]), {}),
        lambda: ("cancel", {"id": dice.randrange(0, 50)}),
    ])()


def bend(dice, method, params):
    """A request that is nearly right."""
    params = dict(params)
    for _ in range(dice.randrange(1, 3)):
        if params and dice.random() < .7:
            params[dice.choice(list(params))] = dice.choice(VALUES)
        else:
            params[dice.choice(["session_id", "cmd", "tty", "unknown", "yield_time_ms", "_meta", "env", "keys"])] = dice.choice(VALUES)
    return dice.choice([method, method, "no_such_method", ""]), params


def broken(dice, line):
    """Bytes that are no request."""
    return dice.choice([
        lambda: bytes(dice.randrange(256) for _ in range(dice.randrange(1, 200))) + b"\n",
        lambda: line[: dice.randrange(len(line))] + b"\n",
        lambda: line.replace(b"{", b"[", 1),
        lambda: b"[" * dice.randrange(1, 5000) + b"\n",
        lambda: b'{"a":' * dice.randrange(1, 5000) + b"\n",
        lambda: b"\n" * 50,
        lambda: b"\xff\xfe" + line,
        lambda: line.replace(b'"', b'"\0', 2),
        lambda: b'{"jsonrpc":"2.0","id":1,"id":2,"method":"hello"}\n',
        lambda: b'{"jsonrpc":"1.0","id":{},"method":7,"params":[1]}\n',
        lambda: b"[" + line.strip() + b"," + line.strip() + b"]\n",
        lambda: b'"' + b"x" * 1_100_000 + b'"\n',
        lambda: b"{}" + line,
    ])()


def torture(mux, seed, requests):
    """One client: what it sends and whether it waits, reads, or hangs up is up to chance. Answers must be well formed."""
    dice = random.Random(seed)
    sock, rest, sent, wrong = None, b"", 0, []

    def take(data):
        nonlocal rest
        rest += data
        *lines, rest = rest.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if message.get("jsonrpc") != "2.0" or ("result" in message) == ("error" in message):
                wrong.append(line[:300])
            elif "error" in message and (not message["error"]["data"]["code"] or message["error"]["data"]["code"] == "internal"):
                wrong.append(line[:300])
    while sent < requests:
        if sock is None:
            sock, rest = socket.socket(socket.AF_UNIX), b""
            sock.settimeout(CAP)
            sock.connect(str(mux.socket))
        method, params = valid(dice)
        if dice.random() < .3:
            method, params = bend(dice, method, params)
        request = {"jsonrpc": "2.0", "id": sent, "method": method, "params": params}
        line = json.dumps(request, ensure_ascii=dice.random() < .5).encode("utf-8", "surrogatepass") + b"\n"
        if dice.random() < .2:
            line = broken(dice, line)
        sent += 1
        try:
            sock.sendall(line)
            if dice.random() < .6:
                while select.select([sock], [], [], 0.005)[0]:
                    data = sock.recv(1 << 16)
                    if not data:
                        raise ConnectionError
                    take(data)
        except (BrokenPipeError, ConnectionError):
            sock.close()
            sock = None
            continue
        if dice.random() < .05:  # hangs up with answers under way
            sock.close()
            sock = None
    if sock:
        sock.close()
    return wrong


def storm(mux, clients, requests, seed):
    wrong, threads = [], []

    def one(n):
        try:
            wrong.extend(torture(mux, seed * 1000 + n, requests))
        except Exception as error:  # a thread's failure is the test's
            wrong.append(repr(error))
    for n in range(clients):
        threads.append(threading.Thread(target=one, args=(n,), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(280)
        assert not thread.is_alive(), "a client hangs"
    assert not wrong, wrong[:5]


def test_random_requests_from_fifty_clients(mux):
    mux.configure(CONFIG)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    mux.ue("start").ok()
    client = mux.rpc()
    storm(mux, 50, 4, 1)  # so that what is made once is there
    clear(client)
    wait_for(lambda: len(mux.pids()) == len(mux.daemons()))
    count = Count(mux)
    storm(mux, 50, 60 * TIMES, 2)
    clear(client)
    count.settles(growth=16 << 20)
    assert client.call("exec_command", {"cmd": "echo fine"})["output"] == "fine\n"
