"""ue list for people and pipes, ue top."""
import os
import signal
import termios
import pexpect
import pytest
from conftest import CAP, UE, wait_for

WAIT = CAP * 1000


def spawn(mux, *args, size=(24, 100), env=None):
    return pexpect.spawn(str(UE), [str(a) for a in args], env={**mux.env, "TERM": "xterm", **(env or {})}, cwd=str(mux.dir), timeout=CAP,
                         dimensions=size)


def start(mux, name, script):
    mux.ue("exec", "--json", "-t", "-n", name, "-y", 0, "--argv", "--", "/bin/sh", "-c", script).ok()


def mode(child):
    return termios.tcgetattr(child.child_fd)[3]


def finish(child, status=0):
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == status


# --- list

def test_columns_of_a_pipe_stay_and_grow_at_the_end(mux):
    start(mux, "a", "printf 'x\\ty'; read x")
    mux.ue("poll", "--until", "y", "--since", 0, "--peek", "-y", WAIT, "a").ok()
    mux.ue("record", "a", "a.cast").ok()
    wait_for(lambda: mux.listed("a").get("waiting_for") == "line", "it to read")
    columns = mux.ue("list").ok().out.rstrip("\n").split("\t")
    row = mux.listed("a")
    assert columns[:9] == [str(row["session_id"]), "a", "running", "line", str(row["pid"]), str(row["unread_bytes"]), row["created"], "-", row["cmd"]]
    assert columns[9:] == ["-", "0", str(mux.dir / "a.cast")] or columns[9:] == ["agent", "0", str(mux.dir / "a.cast")]


def test_a_table_for_people(mux):
    mux.shell("sh")
    mux.ue("exec", "-n", "done", "exit 3")
    child = spawn(mux, "list", "--all", env={"NO_COLOR": "1"})
    child.expect(r"NUMBER +NAME +STATE +WAITS +KEYBOARD +VIEWS +UNREAD +AGE +COMMAND")
    child.expect(r"sh +running +(line|key) ")
    child.expect(r"done +exited 3 ")
    finish(child)


# --- top

def test_top_follows_what_happens(mux):
    start(mux, "one", "read x; echo; seq 1000; read y")
    child = spawn(mux, "top")
    child.expect_exact("one")
    child.expect_exact("q quit")
    mux.ue("write", "-l", "-y", 0, "one", "go").ok()
    child.expect(b"\xe2\x96[\x81-\x88]")
    start(mux, "two", "read x")
    child.expect_exact("two")
    mux.ue("kill", "two").ok()
    child.send("a")
    child.expect_exact("killed")
    child.send("q")
    child.expect_exact("\x1b[?1049l")
    finish(child)


def test_top_on_a_common_terminal_keeps_the_command_readable(mux):
    """Columns without a word go first; and what a person looks at is not unread."""
    os.mkfifo(mux.dir / "f")  # nothing comes before the call that starts it has been answered, which would have read it
    mux.ue("exec", "--json", "-t", "-n", "python-console", "-y", 0, "cat f; echo out; read x; : twenty-columns").ok()
    (mux.dir / "f").write_text("")
    mux.ue("poll", "--until", "out", "--since", 0, "--peek", "-y", WAIT, "python-console").ok()
    child = spawn(mux, "top", size=(24, 80), env={"NO_COLOR": "1"})
    child.expect("WAITS +UNREAD +OUTPUT +AGE +COMMAND")
    child.expect(r" 5 .*cat f; echo out")
    watcher = spawn(mux, "attach", "-r", "python-console")
    wait_for(lambda: mux.listed("python-console")["attached"] == 1, "the attachment")
    child.expect("WAITS +VIEWS +OUTPUT +AGE +COMMAND")
    child.expect(r" 1 .*cat f; echo out")
    watcher.send("\x1cd")
    finish(watcher)
    child.send("q")
    finish(child)


def test_top_gives_the_terminal_back(mux):
    mux.shell()
    child = spawn(mux, "top")
    child.expect_exact("sh")
    assert not mode(child) & termios.ICANON
    child.kill(signal.SIGTERM)
    child.expect_exact("\x1b[?1049l")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.signalstatus == signal.SIGTERM


def test_top_attaches_and_comes_back(mux):
    mux.shell("sh")
    child = spawn(mux, "top")
    child.expect_exact("sh")
    child.expect_exact("q quit")
    child.send("\r")
    wait_for(lambda: mux.listed("sh")["attached"] == 1, "the attachment")
    child.send("echo $((6*7))\r")
    child.expect_exact("42")
    child.send("\x1cd")
    wait_for(lambda: mux.listed("sh")["attached"] == 0, "the end of it")
    child.expect_exact("q quit")
    child.send("q")
    finish(child)
    assert mux.listed("sh")["state"] == "running"


def test_top_selects_and_kills_only_when_told_twice(mux):
    for name in ("s1", "s2", "s3"):
        start(mux, name, "read x")
    child = spawn(mux, "top")
    child.expect_exact("s3")
    child.send("\x1b[B")
    child.send("k")
    child.expect_exact("with all its processes? y/n")
    child.send("n")
    child.expect_exact("q quit")
    child.send("k")
    child.expect_exact("y/n")
    child.send("\x1b[A")  # another key than y
    child.expect_exact("q quit")
    child.send("k")
    child.expect_exact("y/n")
    child.send("n")
    child.expect_exact("q quit")
    for piece in "\x1b[", "B", "k":  # a key in pieces is one key
        child.send(piece)
    child.expect_exact("y/n")
    child.send("y")
    assert mux.wait_state("s2", "killed", "signaled")
    assert mux.listed("s1")["state"] == mux.listed("s3")["state"] == "running"
    child.send("\x03")
    finish(child)


def test_top_kills_no_other_session_than_it_asked_about(mux):
    for name in ("s1", "s2"):
        start(mux, name, "read x")
    child = spawn(mux, "top")
    child.expect_exact("s2")
    child.send("k")
    child.expect_exact("kill 's1' with all its processes? y/n")
    mux.ue("kill", "s1").ok()
    child.expect_exact("q quit")
    child.send("yk")
    child.expect_exact("kill 's2' with all its processes? y/n")
    child.send("nq")
    finish(child)
    assert mux.listed("s2")["state"] == "running"


@pytest.mark.parametrize("size", [(1, 1), (2, 5), (500, 200)])
def test_top_in_any_size(mux, size):
    for i in range(4):
        start(mux, f"s{i}", "read x")
    child = spawn(mux, "top", size=size)
    child.expect_exact("\x1b[?1049h")
    wait_for(lambda: mux.js("status")["connections"] >= 2, "the connection")
    for rows, cols in ((3, 3), (1, 1), (40, 120), size, (24, 80)):
        child.setwinsize(rows, cols)
        child.send("\x1b[B\x1b[6~\x1b[H\x1b[F")
    child.expect_exact("q quit")
    child.send("q")
    finish(child)


def test_top_survives_the_worker(mux):
    mux.shell("sh")
    child = spawn(mux, "top")
    child.expect_exact("sh")
    worker = mux.js("status")["pid"]
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != worker, "a new worker")
    start(mux, "later", "read x")
    child.expect_exact("later")
    child.send("q")
    finish(child)


def test_top_needs_a_terminal(mux):
    assert mux.ue("top").rc == 64
