"""No descriptors left, at the worker or at the keeper. A session that could not be handed over is refused at its birth; one that was born is
never given up for lack of them."""
import os, resource, socket, subprocess, time

import pytest
from drill import CAP, FOREVER, RpcError, fds, gone, wait_for
from faults import KEEPERS, WORKERS, Fault, check_hits, needs_faults


def start_with(mux, soft, hard):
    """muxd -d, under these limits on descriptors."""
    done = subprocess.run([str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)], env=mux.env, cwd=mux.dir, timeout=CAP,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
    assert done.returncode == 0, done
    mux.keeper = mux.call("status")["keeper_pid"]


def highest(pid):
    """The highest number of a descriptor; an ordinary user sees only how many there are, which is no more than that and one."""
    return max(map(int, os.listdir(f"/proc/{pid}/fd"))) if os.access(f"/proc/{pid}/fd", os.R_OK) else fds(pid) - 1


def spent(pid):
    """Processor time in ticks."""
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def talkers(mux, count, first=0):
    """Sessions that say what they hear; ttys and pipes in turn."""
    numbers = [mux.run(["/bin/cat"], f"s{i}", tty=i % 2 == 0, stdin=i % 2 == 1) for i in range(first, first + count)]
    for n in numbers:
        mux.type(n, f"before {n}\n")
        mux.until(n, f"before {n}")
    return numbers


def answers(mux, numbers):
    for n in numbers:
        mux.type(n, f"after {n}\n")
        mux.until(n, f"after {n}\r?\n")
        text = mux.output(n).replace(b"\r", b"").decode()
        assert text.startswith(f"before {n}\n") and f"after {n}\n" in text, text


def fill(mux, limit):
    """Sessions until one is refused, which names the limit and what raises it."""
    numbers = []
    while True:
        try:
            numbers += talkers(mux, 1, first=len(numbers))
        except RpcError as refusal:
            for word in ("to outlive a crash", f"RLIMIT_NOFILE={limit})", "ulimit -n", "LimitNOFILE="):
                assert word in refusal.message, refusal
            assert refusal.code == "system"
            break
    constraint, = mux.call("status")["constraints"]
    assert constraint["what"] == "no further session starts" and f"RLIMIT_NOFILE={limit})" in constraint["limit"]
    return numbers


@pytest.mark.alone
@pytest.mark.parametrize("limit", [50, 53, 800], ids=["few", "some", "more than the socket to a new keeper takes"])
def test_full_table(make_mux, limit):
    """What was born has room in the next worker, in a new keeper and in what an upgrade starts."""
    mux = make_mux()
    start_with(mux, limit, limit)
    numbers = fill(mux, limit)
    assert len(numbers) >= (limit - 40) // 5
    mux.kill_worker()
    answers(mux, numbers)
    for _ in range(2):
        mux.kill_keeper()
        mux.kill_worker()
        answers(mux, numbers)
    before = mux.call("status")["pid"]
    mux.ue("upgrade").ok()
    assert mux.call("status")["pid"] != before
    answers(mux, numbers)
    mux.call("kill_session", {"sessions": [numbers.pop()]})
    assert {mux.state_of(n) for n in numbers} == {"running"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may have any number of descriptors under way")
@pytest.mark.alone
@pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="would hinder the other tests of this user")
def test_descriptors_under_way(make_mux):
    """Other processes of the user have more descriptors under way (unix(7), ETOOMANYREFS) than the daemon may have: a new keeper is given
    everything when that ends, and is told as the keeper not before it holds everything. Meanwhile nobody runs in circles."""
    mux = make_mux()
    start_with(mux, 60, 60)
    numbers = talkers(mux, 3)
    mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, open("/dev/null") as null:
        with other:
            for _ in range(10):
                socket.send_fds(mine, [b"x"], [null.fileno()] * 8)
            os.kill(mux.keeper, 9)
            old = mux.keeper
            wait_for(lambda: mux.call("status").get("keeper_pid") != old, "the end of the keeper")
            pid = mux.worker()
            before = spent(pid)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                assert "keeper_pid" not in mux.call("status")
                time.sleep(0.1)
            assert spent(pid) - before < 0.5 * os.sysconf("SC_CLK_TCK")
    mux.keeper = wait_for(lambda: mux.call("status").get("keeper_pid"), "the new keeper")
    mux.kill_worker()
    answers(mux, numbers)


def test_ended_sessions_make_room(make_mux):
    """An ended session keeps a descriptor for its output. The oldest ones go when a new session needs them; what is alive stays.
    The limit counts for what all processes of the user have under way, too (unix(7)): so it is not as low as it could be."""
    mux = make_mux()
    start_with(mux, 120, 120)
    alive = talkers(mux, 2)
    for i in range(120):
        last = mux.call("exec_command", {"cmd": ["/bin/echo", f"{i}"], "tty": False, "name": f"e{i}"}, {"verb": True, **FOREVER})
        assert last["output"] == f"{i}\n", last
    listed = [row["name"] for row in mux.call("list_sessions", {"all": True})["sessions"]]
    ended = [name for name in listed if name.startswith("e")]
    assert "e119" in ended and "e0" not in ended and 5 < len(ended) < 120, ended
    assert mux.call("status")["constraints"] == []
    mux.kill_worker()
    answers(mux, alive)
    assert {row["name"] for row in mux.call("list_sessions", {"all": True})["sessions"]} == set(listed)


def test_lowered_limit(mux):
    """A soft limit that was lowered meanwhile is raised again for the next worker."""
    numbers = talkers(mux, 6)
    hard = resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE, (highest(mux.keeper) - 8, hard))
    mux.kill_worker()
    answers(mux, numbers)
    for pid in (mux.keeper, mux.worker()):
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (hard, hard)


@needs_faults
def test_no_worker_has_room(make_mux):
    """One after the other leaves, and all is still there for the first that has room: sessions, output, and how one ended meanwhile."""
    mux = make_mux()
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    numbers = talkers(mux, 6)
    last = mux.row(numbers.pop())
    fault.arm(["cut"], 1, "EMFILE", whom=WORKERS, always=1)
    mux.kill_worker()
    try:
        wait_for(lambda: fault.hits() > 5, "one worker after the other to leave")
        os.kill(last["pid"], 9)
        wait_for(lambda: gone(last["pid"]), "its end")
        assert not gone(mux.keeper)
    finally:
        fault.disarm()
    answers(mux, numbers)
    assert mux.ended(last["session_id"])["state"] == "signaled" and mux.row(last["session_id"])["signal"] == "KILL"
    text = next(mux.state.rglob("muxd.log")).read_text()
    assert "there is no room for what the worker before left" in text and "RLIMIT_NOFILE=" in text and "the next worker tries again" in text


def test_keeper_without_room(mux):
    """What the keeper can't hold is not started: it would be lost with its worker. Everything else goes on."""
    numbers = talkers(mux, 4)
    resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE, (highest(mux.keeper) + 1, resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE)[1]))
    for tty in (True, False):
        with pytest.raises(RpcError) as caught:
            mux.call("exec_command", {"cmd": ["/bin/cat"], "tty": tty, "yield_time_ms": 0}, {"verb": True})
        assert "can't be started" in caught.value.message or "Too many open files" in caught.value.message, caught.value
    answers(mux, numbers)
    base = fds(mux.keeper), fds(mux.worker())
    with pytest.raises(RpcError):
        mux.run("true", tty=True)
    wait_for(lambda: (fds(mux.keeper), fds(mux.worker())) == base, f"{base} descriptors again")
    hard = resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE, (hard, hard))
    more = talkers(mux, 2, first=10)
    mux.kill_worker()
    for n in numbers + more:
        assert mux.state_of(n) == "running"


@needs_faults
@pytest.mark.parametrize("nth", range(1, 9))
def test_cut_in_a_hand_over(make_mux, nth):
    """The kernel has no room for the descriptors of the nth message of a hand-over, once."""
    mux = make_mux()
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    numbers = talkers(mux, 3)
    fault.arm(["cut"], nth, "EMFILE", whom=WORKERS)
    mux.kill_worker()
    answers(mux, numbers)
    fault.disarm()
    assert not gone(mux.keeper)


@needs_faults
@pytest.mark.parametrize("nth", range(1, 10))
def test_cut_at_a_new_keeper(make_mux, nth):
    """The nth message to a keeper that takes the place of a dead one comes without its descriptors: they are given again."""
    mux = make_mux()
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    numbers = talkers(mux, 3)
    mux.kill_keeper()
    held = wait_for(lambda: fds(mux.keeper) > 3 * len(numbers) and fds(mux.keeper), "a keeper that has all")
    mux.call("status")  # its messages are taken by now
    held = max(held, fds(mux.keeper))
    fault.arm(["cut"], nth, "EMFILE", whom=KEEPERS)
    mux.kill_keeper()
    wait_for(lambda: fds(mux.keeper) >= held and not mux.call("status")["constraints"], f"{held} descriptors at the new keeper")
    hit = fault.disarm()
    mux.kill_worker()
    answers(mux, numbers)
    check_hits(hit, nth > 6)  # so many messages there need not be


def test_limit_is_raised_and_given_back(make_mux):
    """The daemon takes all that it may have; its programs get what it was started with."""
    mux = make_mux()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = min(1024, hard)
    start_with(mux, soft, hard)
    for pid in (mux.keeper, mux.worker()):
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (hard, hard)
    for _ in range(2):
        answer = mux.call("exec_command", {"cmd": "ulimit -Sn", "login": False}, {"verb": True, **FOREVER})
        assert answer["output"].strip() == str(soft)
        mux.kill_worker()
