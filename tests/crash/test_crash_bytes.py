"""Not a byte is lost, doubled or torn while the worker is killed with SIGKILL at random moments, and no exit status."""
import hashlib, random, time

import pytest
from drill import FULL, Patient, many, same, wait_for

LINES = "for ((i = 1; i <= {n}; i++)); do echo $i; done; exit {code}"
BINARY = """
import hashlib, sys
for i in range({n}):
    sys.stdout.buffer.write(hashlib.sha512(b"%d" % i).digest())
    if i % 7 == 0: sys.stdout.flush()
"""
JOURNAL = "[limits]\njournal = 8M\njournal_total = 1G\n"


def kill_now_and_then(mux, times, done, longest=0.015):
    """Kills workers that serve, until it was done often enough or done() says that it hits nothing any more. How often."""
    dice, eye = random.Random(), Patient(mux)
    for n in range(times):
        if done(eye):
            break
        time.sleep(dice.random() * longest)  # the moment is the point
        mux.kill_worker()
        n += 1
    eye.close()
    return n


def all_over(eye):
    return eye.call("status")["live"] == 0


def numbered(n, tty):
    return b"".join(b"%d\r\n" % i if tty else b"%d\n" % i for i in range(1, n + 1))


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_numbered_lines(make_mux, tty):
    numbered_lines(make_mux(config=JOURNAL).start(), tty, many(25, 200))


def numbered_lines(mux, tty, left):
    rounds = 0
    while left > 0:
        rounds += 1
        n = mux.run(LINES.format(n=200000, code=rounds), tty=tty, shell="/bin/bash")
        left -= kill_now_and_then(mux, left, all_over, 0.02 if FULL else 0.05)
        got, last = mux.collect(n)
        same(got, numbered(200000, tty))
        assert last["exit_code"] == rounds


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_any_bytes(make_mux, tty):
    any_bytes(make_mux(config=JOURNAL).start(), tty, many(15, 200))


def any_bytes(mux, tty, left):
    """Every byte value, in pieces of every size: no pattern in the data can be taken for the end of it."""
    script = mux.dir / "source.py"
    script.write_text(BINARY.format(n=60000))
    wanted = b"".join(hashlib.sha512(b"%d" % i).digest() for i in range(60000))
    while left > 0:
        n = mux.run(f"stty raw -echo 2>/dev/null; exec /usr/bin/python3 {script}", tty=tty)
        left -= kill_now_and_then(mux, left, all_over, 0.02)
        same(mux.collect(n)[0], wanted)


def test_both_streams_of_a_pipe_session(make_mux):
    """Standard output and error each come whole, and which is which stays known."""
    mux, left = make_mux(config=JOURNAL).start(), many(10, 100)
    while left > 0:
        n = mux.run("for ((i = 1; i <= 30000; i++)); do echo o$i; echo e$i >&2; done", shell="/bin/bash")
        left -= kill_now_and_then(mux, left, all_over, 0.03)
        mux.ended(n)
        answer = mux.call("read_output", {"session_id": n, "since": 0, "yield_time_ms": 0, "encoding": "base64", "max_bytes": 1 << 24,
                                          "streams": True}, {"verb": True})
        got = mux.output(n)
        errors = b"".join(got[a:b] for a, b in answer["stderr_ranges"])
        inside, at = [], 0
        for a, b in answer["stderr_ranges"]:
            inside.append(got[at:a])
            at = b
        same(errors, b"".join(b"e%d\n" % i for i in range(1, 30001)))
        same(b"".join(inside) + got[at:], b"".join(b"o%d\n" % i for i in range(1, 30001)))


def test_many_sessions_at_once(make_mux):
    mux, lines, left = make_mux(config=JOURNAL).start(), many(2500, 20000), many(6, 200)
    while left > 0:
        numbers = [mux.run(LINES.format(n=lines, code=i), tty=i % 2 == 0, shell="/bin/bash") for i in range(many(20, 50))]
        left -= kill_now_and_then(mux, left, all_over, 0.03)
        for i, n in enumerate(numbers):
            got, last = mux.collect(n, mux.patient)
            same(got, numbered(lines, i % 2 == 0))
            assert last["exit_code"] == i, last
        mux.call("remove_session", {"sessions": numbers})


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_input_is_typed_once(make_mux, tty):
    input_is_typed_once(make_mux(config=JOURNAL + "input_queue = 4M\n").start(), tty, many(15, 200), many(30000, 200000))


def input_is_typed_once(mux, tty, times, count):
    """The queue holds far more than the kernel takes at once, so that the typing goes on all the while."""
    script = mux.dir / "echo.py"
    script.write_text("import sys\nprint('up', flush=True)\nn = 0\nfor line in sys.stdin:\n    n += 1\n"
                      "    sys.stdout.write('<' + line.strip() + '>\\n')\n"
                      f"    if n == {count}: break\n")
    n = mux.run(f"stty -echo 2>/dev/null; exec /usr/bin/python3 {script}", tty=tty, stdin=not tty)
    mux.until(n, "up")
    mux.type(n, "".join(f"{i}\n" for i in range(1, count + 1)))
    kill_now_and_then(mux, times, all_over, 0.01)
    got, last = mux.collect(n)
    end = b"\r\n" if tty else b"\n"
    same(got, b"up" + end + b"".join(b"<%d>" % i + end for i in range(1, count + 1)))
    assert last["exit_code"] == 0


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_short_programs(make_mux, tty):
    short_programs(make_mux(config=JOURNAL).start(), tty, many(40, 400))


def short_programs(mux, tty, left):
    """Their end is often told together with the hand-over, with bytes of theirs still on the way."""
    code = 0
    while left > 0:
        code = (code + 1) % 256
        n = mux.run(f"seq 1 20000; exit {code}", tty=tty)
        left -= kill_now_and_then(mux, left, all_over, 0.008)
        got, last = mux.collect(n, mux.patient)
        same(got, numbered(20000, tty))
        assert last["exit_code"] == code
        mux.call("remove_session", {"sessions": [n]})
