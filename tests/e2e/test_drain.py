"""The end of a session's output: all that was printed before the exit belongs to it, whoever else still has it open."""
import time
from datetime import datetime

import pytest
from conftest import CAP, wait_for

GRACE_MS = 50  # DRAIN_IDLE_NS of session_io.c


@pytest.fixture
def hold(mux):
    """Has the output open beyond the exit, until the test is over."""
    yield "(until [ -e over ]; do sleep 0.05; done) &"
    (mux.dir / "over").touch()


def run(mux, name, script, *options):
    return mux.js("exec", "-n", name, "--no-login", "--exit", *options, script)


def ms_of(mux, name, key):
    return datetime.fromisoformat(mux.listed(name)[key].replace("Z", "+00:00")).timestamp() * 1000


@pytest.mark.no_pty
def test_what_is_printed_just_before_the_exit_is_whole(mux, hold):
    whole = "".join(f"{n}\n" for n in range(2000))
    for n in range(10):
        answer = run(mux, f"s{n}", f"{hold} seq 0 1999; exit 7")
        assert answer["reason"] == "exit" and answer["exit_code"] == 7 and answer["output"] == whole


def test_what_is_printed_just_before_the_exit_is_whole_on_a_terminal(mux, hold):
    """The kernel brings a terminal's output by a thread of its own, maybe after the exit is known."""
    whole = "".join(f"{n}\r\n" for n in range(2000))
    for n in range(10):
        answer = run(mux, f"s{n}", f"trap '' HUP; {hold} seq 0 1999; exit 7", "-t")
        assert answer["exit_code"] == 7 and answer["output"] == whole


@pytest.mark.no_pty
def test_an_exit_has_a_grace_while_somebody_holds_the_output(mux, hold):
    """The end is no sooner than the grace behind the exit; later it may be, on a busy machine."""
    for n in range(3):
        answer = run(mux, f"s{n}", f"{hold} date +%s%3N")
        assert ms_of(mux, f"s{n}", "ended") - int(answer["output"]) >= GRACE_MS - 1, answer


@pytest.mark.no_pty
def test_nobody_who_holds_the_output_means_no_grace(mux):
    """One of many: a busy machine only makes them slower."""
    def took(n):
        run(mux, f"s{n}", "true")
        return ms_of(mux, f"s{n}", "ended") - ms_of(mux, f"s{n}", "created")
    assert any(took(n) < GRACE_MS for n in range(200))


@pytest.mark.no_pty
def test_a_grandchild_writes_on_after_the_end(mux):
    answer = run(mux, "s", "(while [ ! -e go ]; do sleep 0.02; done; echo late) & echo early; exit 3")
    assert answer["output"] == "early\n" and answer["exit_code"] == 3 and answer["state"] == "exited"
    (mux.dir / "go").touch()
    late = wait_for(lambda: (more := mux.js("poll", "-y", 0, "s"))["output"] and more, "what it writes")
    assert (late["output"], late["from"], late["exit_code"]) == ("late\n", 6, 3)


@pytest.mark.no_pty
def test_a_grandchild_that_never_pauses_does_not_put_the_end_off(mux):
    began = time.monotonic()
    answer = run(mux, "s", "yes & exit 4", "-m", 100)
    assert answer["exit_code"] == 4 and time.monotonic() - began < CAP / 2
