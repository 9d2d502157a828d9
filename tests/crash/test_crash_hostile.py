"""Hostile peers in numbers: connections that come and go, that stay and say nothing, programs that can't be executed. Afterwards there are as
many descriptors, processes and, roughly, bytes as before. MUXD_DRILL=full: 100,000 connects, 10,000 at once, 10,000 failed execs."""
import re, resource, socket, time
from pathlib import Path

import pytest
from drill import CAP, SANITIZED, RpcError, fds, gone, many, wait_for

CONNECTS, AT_ONCE, EXECS = many(3000, 100_000), many(500, 10_000), many(600, 10_000)
GROWTH = 4 << 20  # of the worker's own memory: what an allocator keeps, whatever the number


def own_bytes(pid):
    return int(re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


class Scale:
    """Descriptors and bytes of keeper and worker, processes, now and afterwards."""

    def __init__(self, mux):
        self.mux, self.worker = mux, mux.call("status")["pid"]
        self.before, self.bytes, self.began = self.now(), self.own(), time.monotonic()

    def now(self):
        return fds(self.mux.keeper), fds(self.worker), len([pid for pid in self.mux.pids() if not gone(pid)])

    def own(self):
        return own_bytes(self.mux.keeper), own_bytes(self.worker)

    def settles(self, what):
        took = time.monotonic() - self.began
        assert self.mux.call("status")["pid"] == self.worker, "the worker died"
        wait_for(lambda: all(a <= b for a, b in zip(self.now(), self.before)), f"{self.before} descriptors and processes, not {self.now()}")
        keeper, worker = (a - b for a, b in zip(self.own(), self.bytes))
        print(f"{what}: {took:.1f} s, descriptors and processes {self.before} before, {self.now()} after; own memory of the keeper "
              f"{keeper / 1024:+.0f} kB, of the worker {worker / 1024:+.0f} kB")
        if not SANITIZED:  # what is freed is kept for a while there, to be watched
            assert keeper < 1 << 20 and worker < GROWTH, (keeper, worker)


def connect(mux, patient=False):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(CAP if patient else None)
    one.connect(str(mux.socket))
    return one


@pytest.fixture
def wide(make_mux):
    """As many descriptors as the machine gives, here and there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    mux = make_mux(config=f"[muxd]\nkill_grace = 10ms\n[limits]\nconnections = {AT_ONCE + 100}\n").start()
    assert mux.ended(mux.run("true"))["exit_code"] == 0
    mux.call("remove_session", {"sessions": ["true"]})
    yield mux
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connects(wide):
    for _ in range(200):
        connect(wide).close()
    wide.call("hello")
    scale = Scale(wide)
    for n in range(CONNECTS):
        connect(wide).close()
        if n % 1000 == 0:
            wide.call("hello")  # it is served between them
    scale.settles(f"{CONNECTS} connects")


def test_silent_at_once(wide):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < AT_ONCE + 500:
        pytest.skip(f"the limit on open files is {hard}; {AT_ONCE + 500} are needed")
    silent = []
    for round_ in range(2):  # the first makes room for their number, the second leaves nothing new
        if round_ == 1:
            wait_for(lambda: wide.call("status")["connections"] == 1, "the others to go")
            scale = Scale(wide)
        silent += [connect(wide) for _ in range(AT_ONCE)]
        began = time.monotonic()
        wait_for(lambda: wide.call("status")["connections"] == AT_ONCE + 1, "all of them to be there")
        began = time.monotonic()
        assert wide.ended(wide.run("exit 3", f"busy{round_}"))["exit_code"] == 3
        print(f"beside {AT_ONCE} that say nothing a session starts and ends in {(time.monotonic() - began) * 1000:.1f} ms")
        wide.call("remove_session", {"sessions": [f"busy{round_}"]})
        while silent:
            silent.pop().close()
    wait_for(lambda: wide.call("status")["connections"] == 1, "all of them to go")
    scale.settles(f"{AT_ONCE} silent at once")


def test_failed_execs(wide):
    ways = [{"cmd": ["/nonexistent/program"]}, {"cmd": ["/etc/passwd"]}, {"cmd": ["/nonexistent/program"], "tty": True}, {"cmd": ["/"]},
            {"cmd": ["true"], "workdir": "/nonexistent/dir"}, {"cmd": ["/nonexistent/program"], "stdin": True}]
    client = wide.client()

    def fail(count):
        for n in range(count):
            with pytest.raises(RpcError) as caught:
                client.call("exec_command", {**ways[n % len(ways)], "yield_time_ms": 0}, {"verb": True})
            assert caught.value.code in ("spawn", "system", "arguments", "no_such_directory"), caught.value
    fail(60)
    scale = Scale(wide)
    fail(EXECS)
    assert wide.call("list_sessions", {"all": True})["sessions"] == []
    scale.settles(f"{EXECS} failed execs")
