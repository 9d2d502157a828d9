"""ready with line editors that poll their terminal with a time limit (python 3.13 and later) or draw each key anew: by the kernel and the
editor's own word, never by silence and never early."""
import re

import pytest
from conftest import CAP, need

PYTHON = ["/usr/bin/python3", "-q"]


def plain(text):
    """Without what draws: control sequences and carriage returns."""
    return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\x1b\(.|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\r", "", text)


@pytest.fixture(params=["xterm-256color", "dumb"])
def py(request, mux):
    mux.configure("[defaults]\nraw_quiet = 20s\n")  # an answer that goes by silence is late, and says so
    answer = mux.js("exec", "-n", "py", "-t", "-y", CAP * 1000, "-e", f"TERM={request.param}", "--argv", "--", *PYTHON)
    assert answer["reason"] == "ready" and answer["evidence"] == "line_editor" and plain(answer["output"]).endswith(">>> "), answer

    def ask(text, evidence="line_editor"):
        said = mux.js("write", "-y", CAP * 1000, "py", text)
        assert said["reason"] == "ready" and said["evidence"] == evidence, said
        return plain(said["output"])
    return ask


def test_results_come_with_their_prompts(py):
    for n in range(40):
        assert re.search(rf"\n{n * 1000 + 7}\n+>>> $", py(f"{n}*1000+7\n"))


def test_what_takes_its_time(py):
    assert re.search(r"\n5\n+>>> $", py("import time; time.sleep(0.5); 2+3\n"))
    assert re.search(r"\nab\n+>>> $", py("print('a', end='', flush=True); time.sleep(0.4); print('b')\n"))
    py("import socket, threading; a, b = socket.socketpair()\n")
    assert "b'late'" in py("threading.Timer(0.5, b.send, [b'la' + b'te']).start(); a.recv(9)\n")
    assert re.search(r"\n0\n1\n2\n+>>> $", py("for i in range(3): print(i); time.sleep(0.2)\n\n"))


def test_lines_that_are_read_by_the_program_itself(py):
    assert py("input('na' + 'me? ')\n").endswith("\nname? ")
    assert "'joe'\n" in py("joe\n")
    assert py("import getpass; getpass.getpass('to' + 'ken: ')\n", "secret").endswith("\ntoken: ")
    assert "KeyboardInterrupt" in py("\x03")
    assert "readline()" in py("import sys; sys.stdin.readline()\n", "line_read")
    assert "'hello\\n'" in py("hello\n")


def test_half_a_line_and_a_block(py):
    assert py("40 ").endswith("40 ")
    assert re.search(r"\n42\n+>>> $", py("+ 2\n"))
    assert re.search(r"\.\.\. *$", py("def f(n):\n"))
    assert re.search(r"\.\.\. *$", py("    return n + 1\n"))
    assert py("\n").endswith(">>> ")
    assert re.search(r"\n3\n+>>> $", py("f(2)\n"))
    assert re.search(r"\.\.\. *$", py("[1,\n"))
    assert "[1, 2]" in py("2]\n")


def test_an_exception_and_an_interrupt(py):
    assert re.search(r"ZeroDivisionError.*\n+>>> $", py("1/0\n"))
    assert re.search(r"KeyboardInterrupt\n+>>> $", py("12\x03"))
    assert re.search(r"\n3\n+>>> $", py("3\n"))


def test_typed_ahead(py):
    """Two lines at once: the prompt between them is no answer."""
    assert re.search(r"\nla\n(.*\n)*te\n+>>> $", py("import time; time.sleep(0.3); print('l' + 'a')\nprint('t' + 'e')\n"))


def test_a_worker_that_was_killed_goes_by_the_same_evidence_again(py, mux):
    import os, signal
    os.kill(mux.js("status")["pid"], signal.SIGKILL)
    assert re.search(r"\n42\n+>>> $", py("6*7\n"))
    assert re.search(r"\n43\n+>>> $", py("6*7+1\n"))


@pytest.mark.parametrize("program, line, answer", [
    (["bash", "--norc", "--noprofile", "-i"], "sleep 0.4; echo $((20+3))", r"\n23\n"),
    (["zsh", "-f", "-i"], "sleep 0.4; echo $((20+3))", r"\n23\n"),
    (["fish", "--no-config", "--private", "-i"], "sleep 0.4; math 20+3", r"\n23\n"),
    (["gdb", "-q", "-nx"], "print 20+3", r"= 23\n"),
    (["sqlite3"], "select 20+3;", r"\n23\n"),
    (["ipython3", "--no-banner", "--no-confirm-exit"], "20+3", r"23\n"),
    (["irb", "-f", "--nocolorize", "--noautocomplete"], "20+3", r"=> 23"),
], ids=lambda it: it[0] if isinstance(it, list) else None)
def test_other_editors_on_a_real_terminal(mux, program, line, answer):
    need(program[0])
    old_irb = program[0] == "irb"  # before 1.6 it says nothing, and leaves raw mode for a moment ten times a second: silence may be quicker
    mux.configure("" if old_irb else "[defaults]\nraw_quiet = 20s\n")
    start = mux.js("exec", "-n", "s", "-t", "-y", CAP * 1000, "-e", "TERM=xterm-256color", "-e", "PS1=$ ", "--argv", "--", *program)
    assert start["reason"] == "ready" and (start["evidence"] == "line_editor" or old_irb), start
    for _ in range(3):
        said = mux.js("write", "-y", CAP * 1000, "-k", "Enter", "s", line)
        assert said["reason"] == "ready" and (said["evidence"] == "line_editor" or old_irb), said
        assert re.search(answer, plain(said["output"])), said


LATE = """
import os, sys, time, tty
began = time.monotonic()
print(end="asks \x1b[6n", flush=True)
time.sleep(0.05)
tty.setraw(0)
if time.monotonic() - began > 0.15:  # it got no processor, and the answer may have been given up
    print(end="starved > ", flush=True)
    os.read(0, 1)
answer = os.read(0, 20)
os.write(1, b"has %d > " % len(answer))
os.read(0, 1)
"""


def test_a_program_that_waits_for_its_terminal_s_answer_is_not_ready(mux):
    """It asks in canonical mode, so the answer waits until it has left that; meanwhile it sleeps in a read as if it waited for a key."""
    rounds = 0
    for n in range(50):
        said = mux.js("exec", "-n", f"s{n}", "-t", "-y", CAP * 1000, "--argv", "--", "/usr/bin/python3", "-c", LATE)
        if "starved" not in said["output"]:
            assert said["reason"] == "ready" and said["output"].endswith("has 6 > "), said
            rounds += 1
        if rounds == 5:
            return
    pytest.fail(f"only {rounds} rounds in time")


FULL_SCREEN = """
import os, select, sys, tty
print(end="\\x1b[?1049h\\x1b[?2004h", flush=True)
tty.setraw(0)
select.select([0], [], [], 0.1)
os.write(1, b"drawn")
os.read(0, 1)
"""


def test_a_full_screen_program_that_begins_is_not_ready_before_it_has_drawn(mux):
    mux.configure("[defaults]\nraw_quiet = 1s\n")
    for n in range(3):
        said = mux.js("exec", "-n", f"s{n}", "-t", "-y", CAP * 1000, "--argv", "--", "/usr/bin/python3", "-c", FULL_SCREEN)
        assert said["reason"] == "ready" and said["output"].endswith("drawn"), said


REMOTE = """
import os, select, socket, sys, tty
s = socket.create_server(("127.0.0.1", 0))
print(end="start> \\x1b[?2004h", flush=True)
tty.setraw(0)
while True:
    select.select([0, s], [], [])
    os.read(0, 99)
    os.write(1, b"\\x1b[?2004h")  # the word that the other machine said before it got the line
    end = 30
    while end and not select.select([0, s], [], [], 0.01)[0]:
        end -= 1
    os.write(1, b"late")
"""


def test_the_word_of_another_machine_is_none_about_what_was_just_typed(mux):
    mux.configure("[defaults]\nraw_quiet = 2s\n")
    said = mux.js("exec", "-n", "s", "-t", "-y", CAP * 1000, "--argv", "--", "/usr/bin/python3", "-c", REMOTE)
    assert said["reason"] == "ready"
    said = mux.js("write", "-y", CAP * 1000, "s", "x")
    assert said["reason"] == "ready" and said["output"].endswith("late") and said["evidence"] == "quiet", said
