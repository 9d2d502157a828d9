"""The worker is killed, at rest and in the middle of everything it does: nobody's session, byte, number or answer is lost."""
import os, random, signal, threading, time

import pytest
from drill import CAP, FOREVER, SANITIZED, Patient, RpcError, fds, gone, many, harness, stat, wait_for

LOOP = "trap '' HUP; echo up; while :; do sleep 0.05; done"


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_sessions_tombstones_names_and_readers_survive(mux, tty):
    live = mux.run("echo up; exec sleep 300", "live", tty)
    mux.until(live, "up")
    ended = mux.run("echo out; exit 7", "ended", tty)
    mux.ended(ended)
    mux.call("read_output", {"session_id": "live", "yield_time_ms": 0, "max_output_tokens": 100}, {"reader": "one", "verb": True})
    wait_for(lambda: mux.call("read_output", {"session_id": "live", "yield_time_ms": 0}, {"reader": "one", "verb": True})["output"] == "")
    mux.call("rename_session", {"session_id": ended, "name": "renamed"})
    if tty:
        mux.call("resize_session", {"session_id": live, "rows": 31, "cols": 99})
    before = mux.call("list_sessions", {"all": True})
    mux.kill_worker()
    assert mux.call("list_sessions", {"all": True}) == before
    assert mux.row("renamed")["exit_code"] == 7 and mux.row("live")["state"] == "running"
    assert mux.output("renamed") == (b"out\r\n" if tty else b"out\n")
    again = mux.call("read_output", {"session_id": "live", "yield_time_ms": 0}, {"reader": "one", "verb": True})
    assert again["output"] == "", "this reader has seen it all"
    assert mux.call("read_output", {"session_id": "live", "yield_time_ms": 0}, {"reader": "two", "verb": True})["output"].strip() == "up"


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_waiting_clients_go_on(mux, tty):
    go = mux.dir / "go"
    n = mux.run(f"until [ -e {go} ]; do sleep 0.02; done; echo there; exit 9", "s", tty)
    waits = [(client := mux.client(), client.begin("read_output", {"session_id": n, "since": 0, "peek": True, **what}, FOREVER))
             for what in ({"exit": True}, {"until": "the+re"}, {"quiet_ms": 86400000})]
    mux.call("status")
    for _ in range(3):
        mux.kill_worker()
        mux.call("status")
    go.touch()
    answers = [client.finish(ticket) for client, ticket in waits]
    assert all(client.retries for client, _ in waits)
    assert answers[0]["exit_code"] == 9 and answers[0]["reason"] == "exit" and "there" in answers[1]["output"]
    assert answers[1]["reason"] == "until" and answers[2]["reason"] == "exit"


def killed_now_and_then(mux, times, work, longest=0.004, enough=lambda: True):
    """Does work(i) in a thread while the worker dies at random moments: `times`, and until it is enough. Each death begins with a
    worker that served."""
    dice, done, problems, worked = random.Random(4711), threading.Event(), [], [0]

    def run():
        try:
            while not done.is_set():
                work(worked[0])
                worked[0] += 1
        except BaseException as e:
            problems.append(e)
    thread = threading.Thread(target=run)
    thread.start()
    eye = Patient(mux)
    try:
        deaths, end = 0, time.monotonic() + 4 * CAP
        while not problems and (deaths < times or not worked[0] or not enough()):
            assert time.monotonic() < end, "the work gets nowhere"
            deaths += 1
            eye.call("hello")
            time.sleep(dice.random() * longest)  # the moment is the point: anything between two instructions
            mux.kill_worker()
    finally:
        done.set()
        thread.join(CAP)
        eye.close()
    assert not thread.is_alive(), "the client hangs"
    if problems:
        raise problems[0]


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_exec_in_the_middle_is_done_once(mux, tty):
    exec_in_the_middle_is_done_once(mux, tty, many(15, 200))


def exec_in_the_middle_is_done_once(mux, tty, times):
    """Programs leave a line each; an exec that was not answered is repeated, and still runs once."""
    done, client, numbers = mux.place / "done", mux.client(), []

    def work(i):
        answer = client.call("exec_command", {"cmd": f"echo {i} >> {done}; exit {i % 100}", "login": False, "tty": tty, "name": f"s{i}",
                                              "exit": True, **mux.confine}, FOREVER)
        assert answer["exit_code"] == i % 100 and answer["state"] == "exited", answer
        numbers.append(answer["number"])
    killed_now_and_then(mux, times, work, enough=lambda: client.retries > 0)
    assert done.read_text().split() == [str(i) for i in range(len(numbers))]
    assert len(set(numbers)) == len(numbers) and numbers == sorted(numbers)
    rows = mux.call("list_sessions", {"all": True})["sessions"]
    assert sorted(row["session_id"] for row in rows) == numbers[-256:] and client.retries > 0  # [limits] max_sessions


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_write_in_the_middle_is_typed_once(mux, tty):
    n = mux.run("stty -echo 2>/dev/null; echo up; while read -r x; do echo \"<$x>\"; done", "s", tty, stdin=not tty)
    mux.until(n, "up")
    client, count = mux.client(), [0]

    def work(i):
        mux.type(n, f"{i}\n", client)
        count[0] = i + 1
    killed_now_and_then(mux, many(20, 200), work, enough=lambda: client.retries > 0)
    mux.until(n, f"<{count[0] - 1}>")
    got = mux.output(n).replace(b"\r\n", b"\n")
    assert got == b"up\n" + b"".join(b"<%d>\n" % i for i in range(count[0])) and client.retries > 0


def test_kill_in_the_middle_is_complete(mux):
    kill_in_the_middle_is_complete(mux, many(12, 100))


def kill_in_the_middle_is_complete(mux, times):
    client, seen = mux.client(), []
    mux.conf.write_text("[muxd]\nkill_grace = 20ms\n" + mux.models)
    mux.call("reload")

    def work(i):
        n = client.call("exec_command", {"cmd": "trap '' HUP TERM; sleep 300 & echo up; wait", "login": False, "name": f"k{i}",
                                         "until": "up", **mux.confine}, FOREVER)["number"]
        mark = b"MUXD_SESSION_ID=%d" % n
        result = client.call("kill_session", {"session_id": n})["sessions"][0]
        assert result["survivors"] == 0, result
        seen.append(mark)
    killed_now_and_then(mux, times, work, 0.05, lambda: len(seen) > 1)
    marks = set(seen)
    for pid in mux.pids():
        assert not marks & set(harness.proc_bytes(pid, "environ").split(b"\0")) or gone(pid)
    assert len(seen) > 1 and all(row["state"] == "killed" for row in mux.call("list_sessions", {"all": True})["sessions"])


def gap(mux):
    """No worker, and none that comes, until the keeper goes on: everything that happens meanwhile happens in the gap."""
    worker = wait_for(mux.worker, "a worker")
    os.kill(mux.keeper, signal.SIGSTOP)
    wait_for(lambda: stat(mux.keeper)[0] == "T")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: gone(worker))


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_exits_in_the_gap_are_exact(mux, tty):
    exits_in_the_gap_are_exact(mux, tty)


def exits_in_the_gap_are_exact(mux, tty, signals=True):
    """signals: that it was one is told, and not just the status that a shell makes of it."""
    go = mux.dir / "go"
    ends = [(f"exit {code}", code, None) for code in (0, 1, 77, 255)]
    ends += [(f"kill -{name} $$", 128 + number, number) for name, number in (("KILL", 9), ("TERM", 15), ("SEGV", 11), ("USR1", 10))]
    numbers = [mux.run(f"echo up; until [ -e {go} ]; do sleep 0.02; done; echo last words; {end}", tty=tty, shell="/bin/bash")
               for end, _, _ in ends]
    for n in numbers:
        mux.until(n, "up")
    pids = [mux.row(n)["pid"] for n in numbers]
    gap(mux)
    go.touch()
    wait_for(lambda: all(gone(pid) for pid in pids), "the programs to end")
    os.kill(mux.keeper, signal.SIGCONT)
    for n, (end, code, signo) in zip(numbers, ends):
        answer = mux.ended(n)
        assert answer["exit_code"] == code and answer["state"] == ("signaled" if signo and signals else "exited"), (end, answer)
        assert answer["output"].split("\n")[-2].strip() == "last words", (end, answer)
        assert signo is None or not signals or answer["signal"] == signal.Signals(signo).name[3:], answer


def test_input_waits_through_the_gap(mux):
    """What a program is slow to read is in the queue when the worker dies, and typed by the next one."""
    go = mux.dir / "go"
    n = mux.run(f"until [ -e {go} ]; do sleep 0.02; done; wc -c", stdin=True)
    mux.type(n, "x" * 500000)
    mux.call("write_stdin", {"session_id": n, "eof": True, "yield_time_ms": 0}, {"verb": True})
    mux.kill_worker()
    go.touch()
    assert mux.ended(n)["output"].strip() == "500000"


def test_numbers_are_never_used_again(mux):
    numbers = []
    for _ in range(4):
        numbers += [mux.run("true"), mux.run("exec sleep 300")]
        mux.kill_worker()
        mux.call("remove_session", {"sessions": [mux.ended(numbers[-2])["number"]]})
        mux.kill_worker()
    mux.call("stop")
    wait_for(lambda: gone(mux.keeper))
    mux.patient.close()
    mux.patient.rpc = None
    mux.start()
    numbers.append(mux.run("true"))
    assert numbers == sorted(set(numbers)), numbers


def test_many_restarts_cost_nothing(mux):
    for i in range(10):
        mux.run("exec sleep 300", tty=i % 2 == 0)
    mux.run("true")
    mux.kill_worker()
    mux.call("status")

    def size():
        mux.call("status")
        return fds(mux.keeper), fds(mux.worker())
    before = size()
    for _ in range(many(40, 400)):
        mux.kill_worker()
        mux.call("hello")
    wait_for(lambda: all(now <= was for now, was in zip(size(), before)), f"{before} descriptors again, not {size()}")  # fewer: some were on their way
    assert int(mux.call("status")["live"]) == 10


@pytest.mark.parametrize("signo", [signal.SIGABRT if SANITIZED else signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM])  # a sanitizer reports a SIGSEGV
def test_other_deaths(mux, signo):
    n = mux.run("exec sleep 300")
    if signo == signal.SIGTERM:  # to the worker alone it means stop, as it does to the keeper
        os.kill(wait_for(mux.worker, "a worker"), signo)
        wait_for(lambda: gone(mux.keeper))
        wait_for(lambda: not mux.daemons())
        return
    worker = wait_for(mux.worker, "a worker")
    os.kill(worker, signo)
    wait_for(lambda: gone(worker))
    assert mux.state_of(n) == "running" and mux.call("status")["pid"] != worker


def test_connections_wait_while_there_is_no_worker(mux):
    gap(mux)
    clients = [mux.client() for _ in range(20)]
    tickets = [client.begin("hello") for client in clients]
    os.kill(mux.keeper, signal.SIGCONT)
    assert len({client.finish(ticket)["pid"] for client, ticket in zip(clients, tickets)}) == 1
    assert not any(client.retries for client in clients)
