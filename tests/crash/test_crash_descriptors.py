"""No descriptors left, at the worker or at the keeper: no session is given up for it. It stays where it is, is told of, and is served again
when there are some."""
import os, resource, subprocess

import pytest
from drill import CAP, FOREVER, RpcError, fds, gone, wait_for
from faults import KEEPERS, WORKERS, Fault, check_hits, needs_faults


def limit(pid, soft):
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))


def highest(pid):
    """The highest number of a descriptor; an ordinary user sees only how many there are, which is no more than that and one."""
    return max(map(int, os.listdir(f"/proc/{pid}/fd"))) if os.access(f"/proc/{pid}/fd", os.R_OK) else fds(pid) - 1


def talkers(mux, count, first=0):
    """Sessions that say what they hear; ttys and pipes in turn."""
    numbers = [mux.run(["/bin/cat"], f"s{i}", tty=i % 2 == 0, stdin=i % 2 == 1) for i in range(first, first + count)]
    for n in numbers:
        mux.type(n, f"before {n}\n")
        mux.until(n, f"before {n}")
    return numbers


def parked(mux):
    return [row for row in mux.call("list_sessions")["sessions"] if row["state"] == "parked"]


def answers(mux, numbers):
    for n in numbers:
        mux.type(n, f"after {n}\n")
        mux.until(n, f"after {n}")
        text = mux.output(n).replace(b"\r", b"").decode()
        assert text.startswith(f"before {n}\n") and f"after {n}\n" in text, text


def kill_worker_with_little_room(mux):
    """The keeper's limit is its worker's, too: one that comes up with a low one can't hold all. The sessions that it leaves. Of those
    it knows the names if it has room for one more descriptor, that of a journal; how many it needs itself differs from release to release."""
    soft, hard = highest(mux.keeper) + 4, resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE)[1]
    for _ in range(40):
        resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE, (soft, hard))
        mux.kill_worker()
        left = parked(mux)
        if any("name" in row for row in left):
            return left
        soft += 1 if left else -1
    pytest.fail("no limit leaves room for some sessions and the journal of another one")


@pytest.mark.parametrize("count", [12])
def test_worker_without_room_for_all(make_mux, count):
    """What it can't hold, it leaves."""
    mux = make_mux().start()
    numbers = talkers(mux, count)
    rows = {row["session_id"]: row for row in mux.call("list_sessions")["sessions"]}
    before = resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE)
    left = kill_worker_with_little_room(mux)
    assert len(left) < count and all(row["session_id"] in rows for row in left)
    assert all(row.get("name", rows[row["session_id"]]["name"]) == rows[row["session_id"]]["name"] for row in left)
    assert mux.call("status")["parked"] == len(left)
    assert "stays with the keeper" in mux.log_tail() or "stays with the keeper" in next(mux.state.rglob("muxd.log")).read_text()
    text = mux.ue("list").ok().out
    assert text.count("parked") == len(left), text
    for row in left:  # it is there, and it is said why it can't be reached
        assert not gone(row["pid"])
        with pytest.raises(RpcError) as caught:
            mux.call("write_stdin", {"session_id": row["session_id"], "chars": "x"}, {"verb": True})
        assert caught.value.code == "limit" and "descriptors" in caught.value.message, caught.value
    there = [n for n in numbers if n not in {row["session_id"] for row in left}]
    answers(mux, there)  # service goes on
    # One that ends while it is with the keeper keeps its status.
    last = left[-1]
    os.kill(last["pid"], 9)
    wait_for(lambda: gone(last["pid"]), "its end")
    resource.prlimit(mux.keeper, resource.RLIMIT_NOFILE, before)
    resource.prlimit(mux.call("status")["pid"], resource.RLIMIT_NOFILE, before)
    wait_for(lambda: not parked(mux), "all to be taken over")
    ended = wait_for(lambda: (row := mux.row(last["session_id"]))["state"] != "running" and row, "its end to be told")
    assert ended["signal"] == "KILL" and ended["state"] == "signaled", ended
    for n in numbers:
        if n != last["session_id"] and n not in there:
            answers(mux, [n])
    assert "parked" not in mux.call("status")
    mux.kill_worker()
    assert mux.row(last["session_id"])["signal"] == "KILL"
    assert [mux.state_of(n) for n in numbers].count("running") == count - 1


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
    assert (fds(mux.keeper), fds(mux.worker())) == base
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
    wait_for(lambda: [row for row in mux.call("list_sessions")["sessions"] if row["state"] == "running"] and not parked(mux), "all of them")
    fault.disarm()
    answers(mux, numbers)
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
    wait_for(lambda: fds(mux.keeper) >= held and "unheld" not in mux.call("status"), f"{held} descriptors at the new keeper")
    hit = fault.disarm()
    assert not [row for row in mux.call("list_sessions")["sessions"] if row.get("unheld")]
    mux.kill_worker()
    answers(mux, numbers)
    check_hits(hit, nth > 6)  # so many messages there need not be


def test_limit_is_raised_and_given_back(make_mux):
    """The daemon takes all that it may have; its programs get what it was started with."""
    mux = make_mux()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = min(1024, hard)
    done = subprocess.run([str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)], env=mux.env, cwd=mux.dir, timeout=CAP,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
    assert done.returncode == 0, done
    mux.keeper = mux.call("status")["keeper_pid"]
    for pid in (mux.keeper, mux.worker()):
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (hard, hard)
    for _ in range(2):
        answer = mux.call("exec_command", {"cmd": "ulimit -Sn", "login": False}, {"verb": True, **FOREVER})
        assert answer["output"].strip() == str(soft)
        mux.kill_worker()
