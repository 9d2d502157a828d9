"""`ue exec --raw` beside a reader that is slower than the program: the program waits for it, and the worker may end at any moment."""
import contextlib, os, random, signal, threading

import pytest
from drill import BUILD, CAP, Rpc, gone, many, same, wait_for
from slow_gates import BEHIND_AN_ANSWER, Slow

SLOW = BUILD / "crash" / "slow.so"
SMALL = "[limits]\njournal = 64K\n"
LINES = 300000
FED = b"fed\n" * 200000


def lines(count):
    return b"".join(b"%d\n" % n for n in range(1, count + 1))


def upgrade(mux):
    before = mux.call("status")["pid"]
    rpc = Rpc(mux.socket)
    rpc.send("upgrade")
    rpc.line()
    rpc.close()
    wait_for(lambda: mux.call("status")["pid"] != before, "the new worker")


def restart(mux, how):
    if how == "kill":
        mux.kill_worker()
    else:
        upgrade(mux)


def begin(mux, *args, **kw):
    """ue, and the end of the pipe that it prints to."""
    reader, writer = os.pipe()
    ue = mux.popen(*args, stdout=writer, **kw)
    os.close(writer)
    return ue, reader


def take(reader, size):
    """So much, or less at the end."""
    text = b""
    while len(text) < size and (piece := os.read(reader, min(1 << 16, size - len(text)))):
        text += piece
    return text


def rest(reader):
    with os.fdopen(reader, "rb") as stream:
        return stream.read()


def stuck(mux, name):
    """A program prints much, and its reader reads nothing; ue has printed what the pipe takes."""
    ue, reader = begin(mux, "exec", "--raw", "-n", name, "-y", "inf", "--no-login", f"seq {LINES}; exit 3")
    text = take(reader, 1)
    return ue, reader, text


@pytest.mark.skipif(not SLOW.exists(), reason=f"'{SLOW}' was not built")
@pytest.mark.parametrize("on_slow", ["drop", "pause"])
@pytest.mark.parametrize("options", [(), ("--stdin",)], ids=["alone", "fed"])
def test_dies_behind_an_answer(make_mux, on_slow, options):
    """The client has all that was printed, and the worker has died before it noted so: neither waits for the other."""
    mux = make_mux(config=f"[defaults]\non_slow = {on_slow}\n{SMALL}")
    slow = Slow(mux, SLOW, wait_for)
    mux.start(env=slow.env)
    worker = mux.worker()
    slow.shut(BEHIND_AN_ANSWER)
    result = mux.ue("exec", "--raw", "--no-login", *options, f"seq {LINES}; cat; exit 3", input=FED if options else None)
    assert gone(worker), "it has printed no large answer"
    assert result.rc == 3 and result.err == "", result.err
    assert same(result.raw, lines(LINES) + (FED if options else b""))


@pytest.mark.parametrize("options", [(), ("--stdin",)], ids=["alone", "fed"])
@pytest.mark.parametrize("how", ["kill", "upgrade"])
def test_every_byte_once(make_mux, how, options):
    """Restarts at random places of the output, before and after the reader has read on; more is printed than is kept."""
    mux = make_mux(config=SMALL).start()
    ue, reader = begin(mux, "exec", "--raw", "--no-login", *options, f"seq {LINES * 4}; cat; exit 3", **({"stdin": -1} if options else {}))
    if options:
        def feed():
            with contextlib.closing(ue.stdin):
                ue.stdin.write(FED)
        feeder = threading.Thread(target=feed)
        feeder.start()
    wanted, text = lines(LINES * 4) + (FED if options else b""), b""
    places = sorted(random.randrange(len(wanted) - (1 << 17)) for _ in range(many(5, 40)))
    for place in places:
        text += take(reader, place - len(text))
        restart(mux, how)
        if random.random() < 0.5:
            wait_for(mux.worker, "its successor")
            mux.call("status")  # it serves, and its reader has not read on
    text += rest(reader)
    if options:
        feeder.join()
        ue.stdin = None
    result = mux.finish(ue)
    assert result.rc == 3 and result.err == "", (result, places)
    assert same(text, wanted), places


@pytest.mark.parametrize("how", ["kill", "upgrade"])
def test_reader_never_comes_back(make_mux, how):
    mux = make_mux(config=SMALL).start()
    ue, reader, _ = stuck(mux, "s")
    ue.send_signal(signal.SIGSTOP)
    restart(mux, how)
    mux.call("status")
    assert mux.row("s")["state"] == "running", "it waits for its reader, who lives"
    ue.kill()
    ue.wait(CAP)
    os.close(reader)
    assert mux.ended("s")["exit_code"] == 3
    assert "who read its output" in mux.log_tail()


def test_another_reader_is_not_waited_for(make_mux):
    """A second one reads all; the program waits for the first, and nobody takes its place in the output."""
    mux = make_mux(config=SMALL).start()
    ue, reader, text = stuck(mux, "s")
    mux.kill_worker()
    other, at_other = begin(mux, "poll", "--raw", "--exit", "--since", "0", "s")
    take(at_other, 1)  # the default reader's place is where it is, ahead of the first one's
    mux.kill_worker()
    thread = threading.Thread(target=rest, args=[at_other])
    thread.start()
    text += rest(reader)
    thread.join()
    first, second = mux.finish(ue), mux.finish(other)
    assert (first.rc, first.err) == (3, "") and same(text, lines(LINES))
    assert second.rc == 3


def test_other_readers_hold_up_nobody(make_mux):
    """on_slow = pause waits for all readers, and for the follower as well, over a restart."""
    mux = make_mux(config=f"[defaults]\non_slow = pause\n{SMALL}").start()
    ue, reader, text = stuck(mux, "s")
    mux.kill_worker()
    mux.ue("poll", "--raw", "-y", "0", "s").ok()  # takes the default reader's place on
    mux.kill_worker()
    mux.ue("poll", "--raw", "-y", "0", "s").ok()
    text += rest(reader)
    result = mux.finish(ue)
    assert (result.rc, result.err) == (3, "") and same(text, lines(LINES))


@pytest.mark.parametrize("first", ["kill it", "restart"])
def test_paused_program_is_killed(make_mux, first):
    """Who kills it waits for nobody; its reader gets what it had printed, also what the journal has no room for, and how it ended."""
    mux = make_mux(config=f"[muxd]\nkill_grace = 20ms\n{SMALL}").start()
    ue, reader = begin(mux, "exec", "--raw", "-n", "s", "-y", "inf", "--no-login", "exec seq 1000000000")
    text = take(reader, 1)
    if first == "restart":
        mux.kill_worker()
    mux.ue("kill", "s").ok()
    if first != "restart":
        mux.kill_worker()
    assert mux.row("s")["state"] == "killed"
    text += rest(reader)
    result = mux.finish(ue)
    assert result.rc > 128 and result.err == "", result
    assert len(text) > 1 << 15 and same(text, lines(1000000)[:len(text)])


def test_ends_while_it_is_paused(make_mux):
    """What its pipes still hold is read with the rest, and what it has left behind pushes out nothing."""
    mux = make_mux(config=SMALL).start()
    ue, reader = begin(mux, "exec", "--raw", "-n", "s", "-y", "inf", "--no-login",
                       f"seq {LINES} & echo $$ >pid; wait; exit 3")
    text = take(reader, 1)
    mux.kill_worker()
    os.kill(int((mux.dir / "pid").read_text()), signal.SIGKILL)
    text += rest(reader)
    result = mux.finish(ue)
    assert result.rc == 137 and result.err == "", result
    assert len(text) > 1 << 16 and same(text, lines(LINES)[:len(text)])


def test_stays_for_its_reader(make_mux):
    """It has ended on request, which owes nobody its end, and others want its place; its reader has not come back yet."""
    mux = make_mux(config="[muxd]\nkill_grace = 20ms\n[limits]\nmax_sessions = 2\njournal = 64K\n").start()
    ue, reader, text = stuck(mux, "s")
    mux.ue("kill", "s").ok()
    mux.kill_worker()
    mux.run("exec sleep 300", "t")
    assert "max_sessions" in mux.ue("exec", "true").err, "one lives, and one is followed"
    text += rest(reader)
    result = mux.finish(ue)
    assert result.rc > 128 and result.err == "", result
    assert lines(LINES).startswith(text)
    wait_for(lambda: mux.ue("exec", "true").rc == 0, "room, once it is followed no more")


def test_poll_loses_nothing_by_a_restart(make_mux):
    """The program does not wait for who polls; but what it prints until that one is back again, it keeps."""
    mux = make_mux(config="[limits]\njournal = 1M\nhead = 0\n").start()
    wanted = b"ready\n" + lines(215000)
    n = mux.run(f"echo ready; until [ -e {mux.dir}/go ]; do sleep 0.02; done; seq 215000; exit 3", "s")
    ue, reader = begin(mux, "poll", "--raw", "--exit", "--since", "0", n)
    text = take(reader, 6)
    ue.send_signal(signal.SIGSTOP)
    mux.kill_worker()
    mux.call("status")
    (mux.dir / "go").touch()
    wait_for(lambda: mux.row(n)["output_bytes"] > 500000, "output")  # what is left fits into the journal
    ue.send_signal(signal.SIGCONT)
    text += rest(reader)
    result = mux.finish(ue)
    assert (result.rc, result.err) == (3, "") and same(text, wanted)


def test_end_waits_for_its_follower_only(make_mux):
    """on_slow = pause, and a reader with a name never comes again; what the pipe holds at the end is more than the journal."""
    mux = make_mux(config=f"[defaults]\non_slow = pause\n{SMALL}").start()
    ue, reader = begin(mux, "exec", "--raw", "-n", "s", "-y", "inf", "--no-login", "until [ -e go ]; do sleep 0.02; done; seq 17000; exit 3")
    wait_for(lambda: mux.ue("poll", "--reader", "log", "-y", "0", "s").rc == 0, "the session")
    (mux.dir / "go").touch()
    text = rest(reader)
    result = mux.finish(ue)
    assert (result.rc, result.err) == (3, "") and same(text, lines(17000))
