"""A sweep over all calls that can fail: the first, the second, … of each kind fails in worker, keeper and sentinel during a fixed script of
requests. Each request ends in a result or a clear error, nothing crashes, nothing leaks, nothing is lost, and the next one works."""
import os, struct

import pytest
from drill import CAP, FOREVER, FULL, Patient, Rpc, RpcError, fds, gone, many, wait_for
from faults import BY_PID, KEEPERS, WORKERS, Fault, can_fail, check_hits, needs_faults

VERB = {"verb": True}
# Only what the kernel says: EAGAIN of a read or a splice means that there is nothing, and then an edge comes later.
ERRORS = {"open": ["EMFILE", "ENFILE", "ENOMEM"], "accept4": ["EMFILE", "ENFILE", "ENOMEM"], "pipe2": ["EMFILE", "ENFILE"],
          "memfd_create": ["EMFILE", "ENOMEM"], "mmap": ["ENOMEM"], "fork": ["EAGAIN", "ENOMEM"], "epoll_ctl": ["ENOSPC", "ENOMEM"],
          "write": ["ENOSPC", "EAGAIN", "EINTR"], "sendmsg": ["ENOBUFS", "ENOMEM", "EAGAIN"], "splice": ["ENOMEM"],
          "ftruncate": ["ENOSPC"], "dup": ["EMFILE"], "recvmsg": ["ENOMEM", "EINTR"], "read": ["EINTR"], "alloc": ["ENOMEM"],
          "pidfd_open": ["EMFILE", "ENOMEM"], "openpt": ["EMFILE", "ENOSPC", "EAGAIN"], "events": ["EMFILE"], "fsync": ["EIO", "ENOSPC"],
          "rename": ["ENOSPC", "EIO"], "mkdir": ["ENOSPC", "EACCES"], "fallocate": ["ENOSPC"], "thread": ["EAGAIN"], "cut": ["EMFILE"],
          "ioctl": ["EINTR"], "socketpair": ["EMFILE"]}
IN_WORKER = ["open", "accept4", "pipe2", "memfd_create", "mmap", "epoll_ctl", "write", "sendmsg", "splice", "ftruncate", "dup", "recvmsg",
             "read", "alloc", "pidfd_open", "openpt", "fsync", "rename", "mkdir", "fallocate", "thread", "cut", "ioctl"]
IN_KEEPER = ["open", "pipe2", "memfd_create", "fork", "epoll_ctl", "write", "sendmsg", "dup", "recvmsg", "read", "pidfd_open", "events", "cut",
             "socketpair"]
# Out of memory ends a worker, and the next one takes over. That is the design: then a request may be asked twice, but none is lost.
ENDS_A_WORKER = {"alloc", "mmap", "read"}

KEPT_OPEN = {"/proc/loadavg", "/proc/sys/kernel/ns_last_pid"}

pytestmark = needs_faults


class Script:
    """What people do, in one fixed order."""

    def __init__(self, mux):
        self.mux, self.client, self.errors = mux, Patient(mux), []

    def ask(self, method, params=None, meta=None):
        try:
            return self.client.call(method, params, meta)
        except RpcError as e:
            assert e.message and e.code and e.code != "bug", e
            self.errors.append(e)

    def attach(self, number):
        """A person looks for a moment."""
        rpc = Rpc(self.mux.socket)
        try:
            rpc.sock.settimeout(CAP)
            rpc.call("attach", {"session_id": number, "rows": 24, "cols": 80})
            while len(rpc.rest) < 5 and (more := rpc.sock.recv(1 << 16)):
                rpc.rest += more
            rpc.send_raw(b"d" + struct.pack("<I", 0))
        except RpcError as e:
            assert e.message and e.code != "bug", e
            self.errors.append(e)
        except (AssertionError, ConnectionError, BrokenPipeError) as e:  # ue attaches anew then
            self.errors.append(e)
        finally:
            rpc.close()

    def run(self):
        numbers = []
        for tty in (True, False):
            answer = self.ask("exec_command", {"cmd": ["/bin/cat"], "tty": tty, "stdin": not tty, "yield_time_ms": 0}, VERB)
            if not answer:
                continue
            n = answer["number"]
            numbers.append(n)
            self.ask("write_stdin", {"session_id": n, "chars": "hello\n", "until": "hello"}, FOREVER)
            self.ask("read_output", {"session_id": n, "since": 0, "yield_time_ms": 0}, VERB)
            if tty:
                self.ask("resize_session", {"session_id": n, "rows": 30, "cols": 90})
                self.ask("read_screen", {"session_id": n})
                self.attach(n)
        self.ask("exec_command", {"cmd": "echo out; exit 3", "login": False, "yield_time_ms": CAP * 1000}, VERB)
        self.ask("list_sessions", {"all": True})
        self.ask("status")
        self.ask("reload")
        if numbers:
            self.ask("kill_session", {"sessions": numbers})
            self.ask("remove_session", {"sessions": numbers})
        self.client.close()
        return self


class Upgrade(Script):
    def run(self):
        rpc = Rpc(self.mux.socket)
        rpc.sock.settimeout(CAP)
        try:
            rpc.call("upgrade")
        except RpcError as e:
            assert e.message and e.code and e.code != "bug", e
            self.errors.append(e)
        except (AssertionError, ConnectionError):
            pass  # the worker went, as it should
        rpc.close()
        self.ask("list_sessions", {"all": True})
        self.client.close()
        return self


def sentinel(mux):
    return next(pid for pid in mux.daemons() if open(f"/proc/{pid}/comm", encoding="utf-8").read() == "muxd-sentinel\n")


def tidy(mux):
    """Only the witness is left; the descriptors of keeper and worker, and how many processes there are."""
    rows = [row for row in mux.call("list_sessions", {"all": True})["sessions"] if row.get("name") != "witness"]
    live = [row["session_id"] for row in rows if row["state"] == "running"]
    if live:
        mux.call("kill_session", {"sessions": live})
    if rows:
        mux.call("remove_session", {"sessions": [row["session_id"] for row in rows]})
    status = wait_for(lambda: (now := mux.call("status"))["connections"] == 1 and now, "the connections to go")
    return len(links(status["keeper_pid"])), len(links(status["pid"])), len([pid for pid in mux.pids() if not gone(pid)])


def links(pid):
    """Where its descriptors lead, but for what is opened once, when it is first of use, and kept. An ordinary user sees only how many."""
    found = []
    if not os.access(f"/proc/{pid}/fd", os.R_OK):
        return range(fds(pid))
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass  # closed meanwhile
    return sorted(link for link in found if link not in KEPT_OPEN)


def settled(mux):
    now = tidy(mux)
    unseen = len(KEPT_OPEN) if os.geteuid() else 0  # an ordinary user can't tell them from others
    return all(a <= b for a, b in zip(now, (mux.base[0] + unseen, mux.base[1] + unseen, mux.base[2])))


def witnessed(mux, count):
    """The session that was there before lives, is the same process, and has lost nothing of what it said and heard."""
    row = mux.row("witness")
    assert row["state"] == "running" and row["pid"] == mux.witness_pid, row
    mux.type("witness", f"line {count}\n")
    mux.until("witness", f"line {count}\\n")
    want = "".join(f"line {i}\n" for i in range(count + 1))
    assert mux.output("witness").decode() == want


@pytest.fixture
def swept(make_mux):
    mux = make_mux(config="[muxd]\nkill_grace = 20ms\nkeep_on_disk = yes\n")
    mux.fault = Fault(mux.dir)
    mux.start(env=mux.fault.env)
    mux.run(["/bin/cat"], "witness", stdin=True)
    mux.witness_pid = mux.row("witness")["pid"]
    for _ in range(2):
        assert not Script(mux).run().errors
        mux.base = tidy(mux)
    yield mux
    mux.fault.disarm()


def steps(dense, slope):
    """1, 2, … dense, and from there on in growing steps: beyond that come loops over /proc and the like."""
    n = 0
    while n < 20000:
        n += 1 if n < dense else max(1, n // slope)
        yield n


def sweep(mux, call, error, whom, script, may_die=(), dense=(3, 60), slope=(1, 8)):
    hits = 0
    pid = sentinel(mux) if whom == BY_PID else 0
    for count, nth in enumerate(steps(many(*dense), many(*slope))):
        worker, keeper = mux.call("status")["pid"], mux.keeper
        mux.fault.arm([call], nth, error, pid, whom)
        done = script(mux).run()
        hit = mux.fault.disarm()
        hits += hit
        what = f"{call} no. {nth} with {error}: {done.errors}"
        assert not gone(keeper), f"{what}: the keeper died"
        if script is Script and call not in may_die:
            assert not gone(worker), f"{what}: the worker died"
        try:
            wait_for(lambda: settled(mux), f"{mux.base} descriptors and processes after {what}")
        except pytest.fail.Exception as failure:
            pytest.fail(f"{failure}, not {tidy(mux)}: {links(mux.call('status')['pid'])}, keeper: {links(keeper)}")
        witnessed(mux, count)
        if not hit:
            break
    assert not Script(mux).run().errors
    return hits


def cases(calls):
    return [pytest.param(call, error, id=f"{call}-{error}") for call in calls for error in ERRORS[call][:None if FULL else 1]]


# Not every call is made by every script on every kernel; what a worker makes for certain must be hit.
RARE = {"fsync", "pipe2", "dup", "recvmsg", "cut", "thread", "rename", "fallocate", "pidfd_open", "ioctl"}


@pytest.mark.parametrize("call, error", cases(IN_WORKER))
def test_worker(swept, call, error):
    if not can_fail(call):
        pytest.skip("the sanitizer brings an allocator of its own")
    check_hits(sweep(swept, call, error, WORKERS, Script, ENDS_A_WORKER), call in RARE)


@pytest.mark.parametrize("call, error", cases(IN_KEEPER))
def test_keeper(swept, call, error):
    check_hits(sweep(swept, call, error, KEEPERS, Script), True)


@pytest.mark.parametrize("call, error", cases(["recvmsg", "cut", "write", "sendmsg"]))
def test_sentinel(swept, call, error):
    check_hits(sweep(swept, call, error, BY_PID, Script), True)


@pytest.mark.parametrize("whom", [WORKERS, KEEPERS], ids=["worker", "keeper"])
@pytest.mark.parametrize("call, error", cases(["open", "memfd_create", "mmap", "fork", "epoll_ctl", "sendmsg", "recvmsg", "cut", "events", "dup",
                                               "socketpair", "alloc", "read", "write"]))
def test_upgrade(swept, call, error, whom):
    """Keeper and worker start anew from the binary: whatever fails meanwhile, the sessions are kept, by the new one or the old one."""
    if not can_fail(call):
        pytest.skip("the sanitizer brings an allocator of its own")
    words = call == "sendmsg" and whom == KEEPERS  # what keeper and minder tell each other: each of them
    check_hits(sweep(swept, call, error, whom, Upgrade, dense=(20 if words else 3, 40), slope=(1, 4)), True)
