"""The keeper is killed: sessions live on, a new keeper holds them. Keeper and worker at once: nothing stays behind."""
import os, signal, subprocess

import pytest
from drill import CAP, FOREVER, fds, gone, stat, wait_for

BOTH = pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])


@BOTH
def test_sessions_live_on(mux, tty):
    n = mux.run("stty -echo 2>/dev/null; echo up; while read -r x; do echo \"<$x>\"; done", "s", tty, stdin=not tty)
    mux.until(n, "up")
    tomb = mux.run("echo out; exit 3", "tomb", tty)
    mux.ended(tomb)
    client = mux.client()
    ticket = client.begin("read_output", {"session_id": n, "since": 0, "peek": True, "until": "<two>"}, FOREVER)
    mux.kill_keeper()
    mux.type(n, "one\n")
    mux.until(n, "<one>")
    mux.kill_worker()  # the new keeper holds everything, or this would be the end
    mux.type(n, "two\n")
    assert "<two>" in client.finish(ticket)["output"]
    assert mux.row("tomb")["exit_code"] == 3 and b"out" in mux.output("tomb")
    assert mux.ended(mux.run("exit 5", tty=tty))["exit_code"] == 5, "and new ones can be started"


@BOTH
def test_exits_afterwards_are_exact_or_lost(mux, tty):
    exits_afterwards_are_exact_or_lost(mux, tty)


def exits_afterwards_are_exact_or_lost(mux, tty, signals=True):
    """Programs that outlive their keeper are nobody's children: how they end is told exactly where the kernel tells it."""
    go = mux.dir / "go"
    ends = [("exit 0", 0, None), ("exit 7", 7, None), ("kill -KILL $$", 137, "KILL"), ("kill -TERM $$", 143, "TERM")]
    numbers = [mux.run(f"echo up; until [ -e {go} ]; do sleep 0.02; done; echo last words; {end}", tty=tty, shell="/bin/bash")
               for end, _, _ in ends]
    for n in numbers:
        mux.until(n, "up")
    mux.kill_keeper()
    go.touch()
    for n, (end, code, signo) in zip(numbers, ends):
        answer = mux.ended(n)
        assert answer["output"].split("\n")[-2].strip() == "last words", (end, answer)
        if answer["state"] == "lost":
            assert "exit_code" not in answer and "signal" not in answer, answer
        else:
            assert answer["exit_code"] == code and answer.get("signal") == (signo if signals else None), (end, answer)


def test_exit_while_neither_is_there_to_see_it(mux):
    """The keeper dies, its successor too, and the worker: the end is exact or lost, never a made-up 0."""
    go = mux.dir / "go"
    n = mux.run(f"until [ -e {go} ]; do sleep 0.02; done; exit 7")
    mux.kill_keeper()
    pid, worker = mux.row(n)["pid"], mux.worker() or mux.call("status")["pid"]
    os.kill(mux.keeper, signal.SIGSTOP)
    wait_for(lambda: stat(mux.keeper)[0] == "T")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: gone(worker))
    go.touch()
    wait_for(lambda: gone(pid))
    os.kill(mux.keeper, signal.SIGCONT)
    answer = mux.ended(n)
    assert answer["state"] == "lost" and "exit_code" not in answer or answer.get("exit_code") == 7, answer


def test_again_and_again(mux):
    numbers = [mux.run("exec sleep 300", tty=i % 2 == 0) for i in range(6)]
    mux.kill_keeper()
    mux.kill_worker()
    mux.call("status")

    def size():
        pid = mux.call("status")["pid"]
        return fds(mux.keeper), fds(pid)
    before = size()
    for i in range(6):
        mux.kill_keeper()
        if i % 2:
            mux.kill_worker()
    wait_for(lambda: all(now <= then for now, then in zip(size(), before)), f"{before} descriptors again, not {size()}")
    assert [mux.state_of(n) for n in numbers] == ["running"] * 6
    results = mux.call("kill_session", {"sessions": numbers})["sessions"]
    assert [r["survivors"] for r in results] == [0] * 6 and all(r["state"] == "killed" for r in results), results


def test_spawn_on_its_way_fails_or_succeeds(mux):
    client = mux.client()
    os.kill(mux.keeper, signal.SIGSTOP)
    ticket = client.begin("exec_command", {"cmd": "echo hi", "login": False, "exit": True}, FOREVER)
    mux.call("status")
    os.kill(mux.keeper, signal.SIGKILL)
    try:
        assert client.finish(ticket)["output"] == "hi\n"
    except Exception as e:
        assert "try again" in str(e)
    mux.keeper = wait_for(lambda: (k := mux.call("status").get("keeper_pid")) != mux.keeper and k)
    assert mux.ended(mux.run("exit 4"))["exit_code"] == 4


def three(mux, tty):
    for n, cmd in enumerate(("exec sleep 300", "trap '' HUP TERM; echo up; while :; do sleep 0.1; done", "sleep 300 & echo up; wait")):
        number = mux.run(cmd, f"s{n}", tty)
        if "up" in cmd:
            mux.until(number, "up")


@BOTH
def test_both_at_once_leave_nothing(mux, tty):
    """Also programs that ignore SIGHUP end: nobody could ever reach them again."""
    three(mux, tty)
    worker = mux.worker()
    os.kill(mux.keeper, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    os.kill(mux.keeper, signal.SIGKILL)
    wait_for(lambda: not mux.pids(), "everything to be gone")


def test_both_in_quick_succession(mux):
    """Either the worker was quick enough to make a new keeper and to give it everything, or nothing stays behind."""
    three(mux, True)
    worker, old = mux.worker(), mux.keeper
    os.kill(old, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: gone(old) and gone(worker))

    def settled():
        try:
            return not mux.pids() or [mux.state_of(f"s{n}") for n in range(3)] == ["running"] * 3
        except OSError:
            return False  # nobody listens: the next worker is under way, or the end of all
    wait_for(settled)


def test_start_after_both_died(mux):
    n = mux.run("exec sleep 300")
    worker = mux.worker()
    os.kill(mux.keeper, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    os.kill(mux.keeper, signal.SIGKILL)
    mux.patient.close()
    mux.patient.rpc = None
    mux.start()  # at once: the dead ones give the place back when the kernel has taken them down
    assert mux.call("list_sessions", {"all": True})["sessions"] == [] and mux.run("true") > n


def test_second_start_leaves_the_first_alone(mux):
    done = subprocess.run([str(mux.binary), "-S", str(mux.socket), "-f", str(mux.conf)], env=mux.env, cwd=mux.dir,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
    assert done.returncode == 75, done
    assert mux.ended(mux.run("exit 3"))["exit_code"] == 3


def test_sentinel_is_replaced(mux):
    """The third process can't be what makes the difference between nothing and something left behind."""
    number = mux.run("trap '' HUP; echo up; while :; do sleep 0.1; done")
    mux.until(number, "up")
    worker = mux.worker()
    sentinel = next(pid for pid in mux.daemons() if pid not in (mux.keeper, worker))
    os.kill(sentinel, signal.SIGKILL)
    wait_for(lambda: gone(sentinel) and len(mux.daemons()) == 3, "another sentinel")
    assert mux.ended(mux.run("exit 3"))["exit_code"] == 3  # the keeper has finished its turn, and told the sentinel all
    os.kill(mux.keeper, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    os.kill(mux.keeper, signal.SIGKILL)
    wait_for(lambda: not mux.pids(), "everything to be gone")
