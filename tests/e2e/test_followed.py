"""A status that somebody is about to read is not lost for want of room: the session stays, and the new one is refused."""
import os, select

import pytest
from conftest import CAP, many, wait_for

pytestmark = pytest.mark.no_pty


@pytest.mark.parametrize("options", [("--raw",), ("--exit",), ("--raw", "--exit")], ids=" ".join)
def test_many_at_few_sessions(mux, options):
    """Each ends with its own status and output, or is refused by name."""
    mux.configure("[limits]\nmax_sessions = 8\n")
    mux.ue("start").ok()
    count = many(60, 500)
    running = [mux.popen("exec", *options, f"echo out{n}; exit {n % 100 + 1}") for n in range(count)]
    refused = 0
    for n, process in enumerate(running):
        result = mux.finish(process, timeout=2 * CAP)
        if "max_sessions" in result.err:
            assert result.rc == 125 and result.out == "", result
            refused += 1
        else:
            assert result.rc == n % 100 + 1 and f"out{n}\n" in result.out, result
    assert refused < count


@pytest.mark.parametrize("options", [("--exit",), ()], ids=["to the end", "once"])
def test_poll_raw_follows(mux, options):
    """Its reader is slow; meanwhile the session was ended on request, which owes nobody its end, and others want its place."""
    mux.configure("[limits]\nmax_sessions = 2\njournal = 8M\n[muxd]\nkill_grace = 50ms\n")
    mux.ue("exec", "-n", "s", "--until", "ready$", "-y", CAP * 1000, "--no-login", "seq 400000; echo ready; exec sleep 300").ok()
    reader, writer = os.pipe()
    poll = mux.popen("poll", "--raw", "--since", "0", *options, "s", stdout=writer)
    os.close(writer)
    assert select.select([reader], [], [], CAP)[0], "it has begun to print, and is stuck: the pipe holds less than one answer"
    mux.ue("kill", "s").ok()
    for _ in range(3):
        mux.ue("exec", "--raw", "true").ok()
    assert mux.ue("exec", "-n", "t", "-y", "0", "exec sleep 300").rc == 0
    assert "max_sessions" in mux.ue("exec", "true").err, "one lives, and one is followed"
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    assert mux.finish(poll).rc == (129 if options else 0), "it was asked to wait for the end, or for what is new"
    assert text == b"".join(b"%d\n" % n for n in range(1, 400001)) + b"ready\n"
    wait_for(lambda: mux.ue("exec", "true").rc == 0, "room, once it is followed no more")
