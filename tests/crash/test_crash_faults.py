"""System calls fail one by one: each failure is a clear error or none at all; nothing crashes or leaks, and the next request is served."""
import json, subprocess
from pathlib import Path

import pytest
from drill import CAP, FOREVER, FULL, Patient, Rpc, RpcError, fds, gone, many, wait_for
from faults import KEEPERS, WORKERS, Fault, can_fail, check_hits, needs_faults

ERRORS = {"open": ["EMFILE", "ENFILE"], "accept4": ["EMFILE"], "pipe2": ["EMFILE", "ENFILE"], "memfd_create": ["EMFILE"],
          "mmap": ["ENOMEM"], "fork": ["EAGAIN"], "epoll_ctl": ["ENOSPC", "ENOMEM"], "write": ["ENOSPC", "EAGAIN"],
          "sendmsg": ["ENOMEM", "EAGAIN"], "splice": ["ENOMEM"], "ftruncate": ["ENOSPC"], "dup": ["EMFILE"]}
pytestmark = needs_faults


def scenario(mux):
    """What people do, on a connection of its own; every request is answered, with a result or an error that says something."""
    client, errors, sessions = Patient(mux), [], []

    def ask(method, params=None, meta=None):
        try:
            return client.call(method, params, meta)
        except RpcError as e:
            assert e.message and e.code and e.code != "bug", e
            errors.append(e)
    for tty in (True, False):
        answer = ask("exec_command", {"cmd": ["/bin/cat"], "tty": tty, "stdin": not tty, "yield_time_ms": 0}, {"verb": True})
        if not answer:
            continue
        n = answer["number"]
        sessions.append(n)
        ask("write_stdin", {"session_id": n, "chars": "hello\n", "until": "hello"}, FOREVER)
        if tty:
            ask("resize_session", {"session_id": n, "rows": 30, "cols": 90})
        ask("read_output", {"session_id": n, "since": 0, "yield_time_ms": 0}, {"verb": True})
    ask("list_sessions", {"all": True})
    ask("status")
    ask("reload")
    if sessions:
        ask("kill_session", {"sessions": sessions})
    client.close()
    assert client.retries == 0, "the worker died"
    return errors


def tidy(mux):
    """No session is left, and the descriptors are those of the beginning."""
    rows = mux.call("list_sessions", {"all": True})["sessions"]
    live = [row["session_id"] for row in rows if row["state"] == "running"]
    if live:
        mux.call("kill_session", {"sessions": live})
    if rows:
        mux.call("remove_session", {"sessions": [row["session_id"] for row in rows]})
    wait_for(lambda: mux.call("status")["connections"] == 1)
    return fds(mux.keeper), fds(mux.worker())


def leaks(mux):
    now = tidy(mux)
    return now if now[0] > mux.base[0] or now[1] > mux.base[1] else None


@pytest.fixture
def faulty(make_mux):
    mux = make_mux(config="[muxd]\nkill_grace = 20ms\n")
    mux.fault = Fault(mux.dir)
    mux.start(env=mux.fault.env)
    assert scenario(mux) == []
    mux.base = tidy(mux)
    yield mux
    mux.fault.disarm()


def walk(mux, call, error, whom):
    """The first, the second, … call of its kind fails, until there are no more of them; beyond 40, looks into /proc, some are enough."""
    hits = 0
    for nth in [*range(1, 41), *range(41, 2000, many(97, 1))]:
        pid = mux.worker() if whom == WORKERS else mux.keeper
        mux.fault.arm([call], nth, error, pid)
        scenario(mux)
        hit = mux.fault.disarm()
        hits += hit
        assert not gone(pid), f"{call} no. {nth} with {error} killed it"
        wait_for(lambda: not leaks(mux), f"{mux.base} descriptors after {call} no. {nth} with {error}, not {tidy(mux)}")
        assert not mux.call("list_sessions", {"all": True})["sessions"]
        if not hit:
            return hits
    return hits


IN_WORKER = [(call, error) for call in ("open", "accept4", "pipe2", "memfd_create", "mmap", "epoll_ctl", "write", "sendmsg", "splice",
                                        "ftruncate", "dup") for error in ERRORS[call][:None if FULL else 1]]
IN_KEEPER = [(call, error) for call in ("pipe2", "fork", "epoll_ctl", "sendmsg") for error in ERRORS[call][:None if FULL else 1]]


@pytest.mark.parametrize("call, error", IN_WORKER)
def test_worker(faulty, call, error):
    hits = walk(faulty, call, error, WORKERS)
    assert scenario(faulty) == []
    check_hits(hits, call in ("pipe2", "dup"))


@pytest.mark.parametrize("call, error", IN_KEEPER)
def test_keeper(faulty, call, error):
    hits = walk(faulty, call, error, KEEPERS)
    assert scenario(faulty) == []
    check_hits(hits, False)


AT_START = {"EMFILE": ["open", "socket", "socketpair", "pipe2", "memfd_create", "dup", "inotify"],
            "ENOMEM": ["mmap", "sendmsg", "epoll_ctl", "memfd_create", "ftruncate", "socketpair"], "EAGAIN": ["fork"]}


@pytest.mark.parametrize("whom", [WORKERS, KEEPERS], ids=["worker", "keeper"])
@pytest.mark.parametrize("error", AT_START)
def test_start(make_mux, whom, error):
    """muxd -d comes up and serves, or says why not, ends and leaves nothing."""
    mux = make_mux()
    fault = Fault(mux.dir)
    nth, step, hit = 1, many(4, 1) if error == "EMFILE" else 1, 1
    while hit:
        fault.arm(AT_START[error], nth, error, whom=whom)
        done = subprocess.run([str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)],
                              env={**mux.env, **fault.env}, cwd=mux.dir, stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
        if done.returncode == 0:
            try:
                assert mux.client().call("hello")["name"] == "muxd"
            except RpcError as e:
                assert e.code == "limit", e
            hit = fault.disarm()
            mux.keeper = mux.call("status")["keeper_pid"]
            assert mux.ended(mux.run("exit 3"))["exit_code"] == 3
            mux.call("stop")
            for client in mux.clients:
                client.close()
                client.rpc = None
        else:
            hit = fault.disarm()
            assert hit and done.stderr.strip(), f"call no. {nth} failed without a word: {done}"
        wait_for(lambda: not mux.daemons(), f"everything to be gone after call no. {nth}: {done}")
        nth += step


def test_worker_that_dies_at_once(make_mux):
    """While nothing lets a worker come up the keeper tries again, with pauses, and holds everything."""
    mux = make_mux()
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    n = mux.run("echo up; exec sleep 300", tty=True)
    mux.until(n, "up")
    fault.arm(["mmap", "memfd_create"], 1, "ENOMEM", whom=WORKERS, always=1)
    mux.kill_worker()
    try:
        wait_for(lambda: fault.hits() > many(10, 40), "one worker after the other to fail")
        assert not gone(mux.keeper)
    finally:
        fault.disarm()
    assert mux.state_of(n) == "running" and b"up" in mux.output(n)


def test_no_worker_ever_comes_up(make_mux):
    """Who starts it is told so, rather than waiting for ever: there is nothing to be lost yet."""
    if not can_fail("alloc"):
        pytest.skip("the sanitizer brings an allocator of its own")
    mux = make_mux()
    fault = Fault(mux.dir)
    fault.arm(["alloc"], 1, "ENOMEM", whom=WORKERS, always=1)
    done = subprocess.run([str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)], env={**mux.env, **fault.env}, cwd=mux.dir,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
    fault.disarm()
    assert done.returncode not in (0, 75) and b"there are no sessions, so muxd ends" in done.stderr, done
    wait_for(lambda: not mux.daemons(), "the sentinel to go, too")


def test_answer_of_attach_comes_first(faulty):
    """Frames follow it: that the size can't be changed is told after it."""
    number = faulty.run(["/bin/cat"], tty=True)
    rpc = Rpc(faulty.socket)
    faulty.fault.arm(["ioctl"], 1, "EIO", faulty.worker(), always=1)
    answer = rpc.call("attach", {"session_id": number, "rows": 31, "cols": 91})
    faulty.fault.disarm()
    assert answer["pid"] == faulty.row(number)["pid"]
    while b"can't be resized" not in rpc.rest:
        rpc.rest += rpc.sock.recv(1 << 16)
    rpc.close()


def test_a_hook_whose_output_cannot_be_watched(make_mux):
    """It is given up, reaped, and makes room for the next event."""
    mux = make_mux()
    out = mux.dir / "out"
    mux.config(f"[limits]\nhooks = 1\n[hook h]\non = renamed\nrun = cat >> {out}\n")
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    number = mux.run("exec sleep 300", name="a")
    worker, rpc = mux.worker(), Rpc(mux.socket)
    rpc.call("hello")
    fault.arm(["epoll_ctl"], 1, "ENOSPC", worker, always=1)
    rpc.call("rename_session", {"session_id": number, "name": "b"})
    wait_for(lambda: "output can't be watched: No space" in mux.log_tail(), "its end in the log")
    assert fault.disarm() == 1
    wait_for(lambda: not Path(f"/proc/{worker}/task/{worker}/children").read_text(), "its process to be reaped")
    rpc.call("rename_session", {"session_id": number, "name": "c"})
    # What was given up may have written its event before it was ended.
    told = lambda: [json.loads(line)["name"] for line in out.read_text().splitlines(True) if line.endswith("\n")] if out.exists() else []
    wait_for(lambda: told()[-1:] == ["c"], "the hook of the next event")
    assert told() in (["c"], ["b", "c"]) and mux.worker() == worker
    rpc.close()
