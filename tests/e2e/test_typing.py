"""What ue write makes of keys, pastes and Enter, by what the program has set its terminal to."""
import json
import os
import sys
import time
from pathlib import Path
import pytest
from conftest import CAP, need, wait_for

WAIT = CAP * 1000
PROGRAM = Path(__file__).with_name("keyboard_program.py")


def program(mux, *sequences, name="keys"):
    mux.ue("exec", "-t", "-n", name, "--until", "up\r\n", "-y", WAIT, "--argv", "--", "/usr/bin/python3", PROGRAM, *sequences).ok()
    return name


def typed(mux, *options, name="keys"):
    """The bytes that one write made the program read."""
    out = mux.js("write", "-y", WAIT, "--until", ">\r\n", name, *options)["output"]
    return b"".join(bytes.fromhex(piece.split("<")[1]) for piece in out.split(">")[:-1])


KITTY = "[>1u"


@pytest.mark.parametrize("key,plain,kitty", [
    ("C-c", b"\x03", b"\x1b[99;5u"), ("Escape", b"\x1b", b"\x1b[27u"), ("M-x", b"\x1bx", b"\x1b[120;3u"), ("S-Enter", None, b"\x1b[13;2u"),
    ("ctrl+shift+a", None, b"\x1b[97;6u"), ("C-1", None, b"\x1b[49;5u"), ("Enter", b"\r", b"\r"), ("C-Up", b"\x1b[1;5A", b"\x1b[1;5A"),
    ("F3", b"\x1bOR", b"\x1b[13~"), ("BTab", b"\x1b[Z", b"\x1b[9;2u"), ("^C", b"\x03", b"\x1b[99;5u"), ("<f5>", b"\x1b[15~", b"\x1b[15~"),
    ("super+k", None, b"\x1b[107;9u"), ("C-i", b"\t", b"\x1b[105;5u")])
def test_kitty_protocol(mux, key, plain, kitty):
    program(mux)
    program(mux, KITTY, name="kitty")
    if plain is None:
        refused = mux.ue("write", "keys", "-k", key)
        assert refused.rc == 125 and f"'{key}'" in refused.err and "no bytes mean this" in refused.err
        assert "<" not in mux.js("poll", "keys")["output"]
    else:
        assert typed(mux, "-k", key) == plain
    assert typed(mux, "-k", key, name="kitty") == kitty


def test_kitty_flags_go_with_their_screen_and_stack(mux):
    program(mux, "[>1u", "[>8u", "[?1049h")
    assert typed(mux, "-k", "C-c") == b"\x03"  # the alternate screen has a stack of its own
    program(mux, "[>1u", "[>8u", "[<u", name="popped")
    assert typed(mux, "-k", "a", "-k", "C-c", name="popped") == b"a\x1b[99;5u"
    program(mux, "[=9u", name="all")
    assert typed(mux, "-k", "Enter", name="all") == b"\x1b[13u"


def test_modify_other_keys(mux):
    program(mux, "[>4;1m")
    assert typed(mux, "-k", "C-Enter", "-k", "C-c") == b"\x1b[27;5;13~\x03"
    program(mux, "[>4;2m", name="two")
    assert typed(mux, "-k", "C-c", name="two") == b"\x1b[27;5;99~"
    program(mux, "[>4;2m", "[>4m", name="off")
    assert mux.ue("write", "off", "-k", "C-Enter").rc == 125


def test_cursor_keypad_and_backspace(mux):
    program(mux, "[?1h", "=", "[?67h")
    assert typed(mux, "-k", "Up", "-k", "KP5", "-k", "KPEnter", "-k", "BSpace") == b"\x1bOA\x1bOu\x1bOM\b"
    program(mux, name="plain")
    assert typed(mux, "-k", "Up", "-k", "KP5", "-k", "KPEnter", "-k", "BSpace", name="plain") == b"\x1b[A5\r\x7f"


def test_no_key_of_many_is_typed_when_one_is_wrong(mux):
    program(mux)
    refused = mux.ue("write", "keys", "text", "-k", "Up", "-k", "C-Enter")
    assert refused.rc == 125 and "'C-Enter'" in refused.err
    assert typed(mux, "x") == b"x"


def test_paste_is_marked_only_where_that_was_asked_for(mux):
    program(mux)
    program(mux, "[?2004h", name="marks")
    text = "one\ntwo\x1b[201~\x03three\r\n"
    assert typed(mux, "--paste", text) == b"one\rtwo[201~three\r"
    assert typed(mux, "--paste", text, name="marks") == b"\x1b[200~one\rtwo[201~three\r\x1b[201~"
    said = mux.js("write", "--until", ">", "-y", WAIT, "--paste", "marks", "-", input="from standard input")
    assert said["bracketed"] is True and "1b 5b 32 30 30 7e" in said["output"]
    program(mux, "[?2004h", "[?2004l", name="off")
    assert typed(mux, "--paste", "x", name="off") == b"x"


def test_paste_goes_as_an_argument_of_the_tool(mux):
    program(mux, "[?2004h")
    said = mux.rpc().call("write_stdin", {"session_id": "keys", "chars": "a\nb", "paste": True, "until": ">", "yield_time_ms": 30000})
    assert "1b 5b 32 30 30 7e 61 0d 62 1b 5b 32 30 31 7e" in said["output"]


def test_enter_is_not_swallowed_by_a_paste_detector(mux):
    """Claude Code, Codex and others take an Enter right behind text for a part of a paste."""
    program(mux, "--burst")
    swallowed = mux.js("write", "keys", "-l", "lost", "-y", "1000")
    assert "submitted" not in swallowed["output"]  # and the Enter that follows at once is none of that, either:
    assert "submitted" in mux.js("write", "--until", r"submitted .*\r\n", "-y", WAIT, "--submit", "keys", "")["output"]
    for n in range(5):
        said = mux.js("write", "--until", r"submitted .*\r\n", "-y", WAIT, "--submit", "keys", f"task {n}")
        assert said["submitted"] is True and f"submitted b'task {n}'" in said["output"], said
    said = mux.rpc().call("write_stdin", {"session_id": "keys", "chars": "by tool", "submit": True, "until": "submitted", "yield_time_ms": 30000})
    assert "submitted" in said["output"] and said["submitted"] is True


def test_submit_waits_until_the_text_was_taken(mux):
    """The program is busy when the text comes: Enter follows when it waits for a key again."""
    mux.ue("exec", "-t", "-n", "busy", "--until", "up", "-y", WAIT, "--argv", "--", "/usr/bin/python3", "-c", """
import os, tty, time
tty.setraw(0)
print("up", flush=True)
time.sleep(1)  # busy: longer than the text takes to come
while True:
    print("read", repr(os.read(0, 100)), end="\\r\\n", flush=True)
""").ok()
    said = mux.js("write", "--until", r"read b'\\r'", "-y", WAIT, "--submit", "busy", "text")
    assert said["reason"] == "until" and "read b'text'" in said["output"], said


def test_submit_to_a_program_that_never_reads(mux):
    """It goes on with something else, in short sleeps."""
    mux.ue("exec", "-t", "-n", "deaf", "--until", "up", "-y", WAIT, "--argv", "--", "/usr/bin/python3", "-c",
           "import tty, time; tty.setraw(0); print('up', flush=True)\nwhile True: time.sleep(0.01)").ok()
    said = mux.js("write", "--submit", "-y", 100, "deaf", "text")
    assert said["submitted"] is False and said["reason"] == "deadline", said


def test_submit_in_canonical_mode_and_on_pipes(mux):
    mux.ue("exec", "-t", "-n", "lines", "-y", "300", "cat").ok()
    assert mux.js("write", "--submit", "--until", "hi\r\n", "-y", WAIT, "lines", "hi")["submitted"] is True
    mux.rpc().call("exec_command", {"cmd": "cat", "name": "pipe", "stdin": True, "yield_time_ms": 250})
    assert mux.js("write", "--submit", "--until", "hi\n", "-y", WAIT, "pipe", "hi")["reason"] == "until"


def test_submit_in_bash_vim_and_python(mux):
    need("vim")
    mux.shell()
    assert "42" in mux.js("write", "--submit", "sh", "echo $((6*7))")["output"]
    mux.ue("exec", "-t", "-n", "py", "-y", WAIT, "--argv", "--", "/usr/bin/python3", "-q").ok()
    said = mux.js("write", "--paste", "--submit", "py", "sum(range(10))")
    assert "45" in said["output"] and said["submitted"] is True
    path = mux.dir / "text"
    mux.ue("exec", "-t", "-n", "vim", "-e", "TERM=xterm-256color", "-y", WAIT, "--argv", "--", "vim", "-u", "NONE", "-N", path).ok()
    mux.js("write", "vim", "i")
    mux.js("write", "--paste", "vim", "first line\nsecond line")
    mux.js("write", "vim", "-k", "Up", "-k", "Home", "-k", "C-k", "-k", "Escape")
    mux.js("write", "vim", "-k", "Escape")
    mux.js("write", "--submit", "vim", ":wq")
    mux.js("poll", "--exit", "-y", WAIT, "vim")
    assert "second line" in path.read_text()


def test_paste_of_many_lines_in_bash_runs_once_submitted(mux):
    mux.ue("exec", "-t", "-n", "b", "-e", "TERM=xterm", "-e", "PS1=sh> ", "-y", WAIT, "--argv", "--", "bash", "--norc", "--noprofile").ok()
    wait_for(lambda: mux.js("poll", "b")["waiting_for"], "the prompt")
    said = mux.js("write", "--paste", "b", "for i in 1 2 3\ndo echo n$i\ndone")
    assert said["bracketed"] is True and "n3" not in said["output"].replace("n$i", "")
    assert "n1\r\nn2\r\nn3" in mux.js("write", "--submit", "b")["output"]


@pytest.mark.parametrize("late", [False, True], ids=["in-time", "late"])
def test_input_is_held_until_the_first_read(mux, late):
    """A program that throws away what was typed before it has set up its terminal gets it all the same; one that takes longer than
    [defaults] hold does not keep it waiting for ever."""
    mux.configure("[defaults]\nhold = " + ("2s" if late else "60s") + "\n")
    mux.ue("exec", "-t", "-n", "slow", "-y", 0, "--argv", "--", "/usr/bin/python3", "-c", f"""
import os, time, tty, termios
while not os.path.exists("{mux.dir}/go"):
    time.sleep(0.02)
tty.setraw(0, termios.TCSAFLUSH)
print("up", flush=True)
while True:
    print("read", os.read(0, 100), end="\\r\\n", flush=True)
""").ok()
    rpc = mux.rpc()
    write = rpc.send("write_stdin", {"session_id": "slow", "chars": "hello\r", "until": r"read .*\r\n", "yield_time_ms": 4000 if late else 1000 * CAP})
    rpc.call("status")  # the write has been read
    if late:
        said = rpc.result(write)
        assert 0 < said["held_ms"] < 4000 and said["reason"] == "deadline" and "read" not in said["output"], said
    else:
        Path(mux.dir, "go").touch()
        said = rpc.result(write)
        assert 0 <= said["held_ms"] < 60000 and "read b'hello\\r'" in said["output"], said
        assert "held_ms" not in mux.js("write", "slow", "-k", "Enter", "-y", 0)


def test_keys_for_a_session_that_has_just_begun_are_coded_by_what_it_sets(mux):
    # it sleeps until the keys have come, long before its first read
    mux.ue("exec", "-t", "-n", "late", "-y", 0, "--argv", "--", "/usr/bin/python3", "-c",
           "import time; time.sleep(0.5); import runpy, sys; sys.argv = ['x', '[?1h']; runpy.run_path(%r, run_name='__main__')" % str(PROGRAM)).ok()
    assert typed(mux, "-k", "Up", name="late") == b"\x1bOA"


def test_a_session_that_ends_before_its_first_read(mux):
    mux.configure("[defaults]\nhold = 60s\n")
    mux.ue("exec", "-t", "-n", "brief", "-y", 0, "--argv", "--", "sh", "-c", f"until [ -e {mux.dir}/go ]; do sleep 0.05; done; exit 7").ok()
    rpc = mux.rpc()
    write = rpc.send("write_stdin", {"session_id": "brief", "chars": "never read\n", "yield_time_ms": 1000 * CAP})
    rpc.call("status")  # the write has been read
    Path(mux.dir, "go").touch()
    said = rpc.result(write)
    assert said["exit_code"] == 7 and said["reason"] == "exit", said


@pytest.mark.timing(reason="it measures that no hold of five seconds lies between")
def test_interrupt_is_not_held(mux):
    mux.ue("exec", "-t", "-n", "deaf", "--until", "up", "-y", WAIT, "echo up; exec sleep 1000").ok()
    begun = time.monotonic()
    said = mux.js("write", "--exit", "deaf", "-k", "C-c")
    assert said["signal"] == "INT" and time.monotonic() - begun < 4, said


def test_writes_to_a_session_that_has_just_begun_keep_their_order(mux):
    """It sleeps, so that some of them come before its first read and others around it."""
    mux.ue("exec", "-t", "-n", "slow", "-y", 0, "--argv", "--", "/usr/bin/python3", "-c",
           "import time; time.sleep(0.5)\nfor i in range(6): print('got', input(), flush=True)").ok()
    client = mux.rpc()
    ids = [client.send("write_stdin", {"session_id": "slow", "chars": f"{n}", "keys": ["Enter"], "yield_time_ms": 30000}) for n in range(6)]
    for id in ids:
        client.result(id)
    whole = mux.ue("poll", "--raw", "--since", "0", "--exit", "slow").out
    assert [line.split()[1] for line in whole.splitlines() if line.startswith("got")] == list("012345")


def test_a_retried_submit_is_not_typed_twice(mux):
    """The same request once more, as after the death of a worker."""
    program(mux)
    request = {"session_id": "keys", "chars": "once", "submit": True, "until": "<0d>\r\n", "yield_time_ms": 30000, "_meta": {"request_id": "r1"}}
    client = mux.rpc()
    assert "<0d>" in client.call("write_stdin", request)["output"]
    again = client.call("write_stdin", {**request, "until": "never", "yield_time_ms": 300})
    assert again["output"] == "" and "submitted" not in again


def test_who_has_no_time_does_not_overtake_who_waits(mux):
    """While input is held: neither a write that waits for nothing, nor one whose time is over first."""
    mux.configure("[defaults]\nhold = 60s\n")
    os.mkfifo(mux.dir / "go")
    mux.ue("exec", "-t", "-n", "slow", "-y", 0, "--argv", "--", "/usr/bin/python3", "-c", f"""
open("{mux.dir}/go").read()
for i in range(4):
    print("got", input(), flush=True)
""").ok()
    client = mux.rpc()
    sent = [client.send("write_stdin", {"session_id": "slow", "chars": f"{n}", "keys": ["Enter"], "yield_time_ms": wait, "_meta": {"verb": True}})
            for n, wait in enumerate((WAIT, 0, WAIT, 300))]
    assert client.result(sent[1])["reason"] == "deadline"
    assert client.result(sent[3])["reason"] == "deadline"
    Path(mux.dir, "go").write_text("")
    whole = mux.ue("poll", "--raw", "--since", "0", "--exit", "slow").out
    assert [line.split()[1] for line in whole.splitlines() if line.startswith("got")] == list("0123")
