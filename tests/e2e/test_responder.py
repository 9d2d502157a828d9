"""What a program asks its terminal is answered while nobody is attached: at once, once, before later input, and never into a shell's
line."""
import json, os, re, signal

import pytest
from conftest import CAP, need, wait_for
from frames import ue_at_terminal

PYTHON = "/usr/bin/python3"

# Raw mode; ask(query) gives what came up to `last` (a byte string that ends the answer).
HEAD = r"""
import os, select, sys, termios, time, tty
def raw(): tty.setraw(0, termios.TCSANOW)
def say(text): os.write(1, text)
def get(last, cap=60):
    got = b""
    while not got.endswith(last):
        assert select.select([0], [], [], cap)[0], got
        got += os.read(0, 1)
    return got
def quiet(seconds):
    return os.read(0, 65536) if select.select([0], [], [], seconds)[0] else b""
def show(what):
    say(b"\r\n<" + repr(what).encode() + b">\r\n")
"""


def program(mux, text, name="ask", options=()):
    """Starts a Python program with HEAD as the session's program, without waiting for anything; it prints <repr> lines."""
    path = mux.dir / f"{name}.py"
    path.write_text(HEAD + text)
    return mux.ue("exec", "--json", "-n", name, "-t", "-y", 0, *options, "--argv", "--", PYTHON, path).ok().json


def shown(mux, name="ask"):
    """The next <repr> line that it prints; read with a place of its own, as answers about a start or a write may bring lines, too."""
    if not hasattr(mux, "lines"):
        mux.lines, mux.rest = [], ""
    while not mux.lines:
        said = mux.js("poll", "--reader", "shown", "--until", r">\r+\n", "-y", CAP * 1000, name)
        assert said["reason"] == "until", said
        *whole, mux.rest = re.split(">\r+\n", mux.rest + said["output"])
        mux.lines = [eval(line[line.rindex("\n<") + 2:]) for line in whole]
    return mux.lines.pop(0)


QUERIES = [
    (rb"\033[c", rb"\033[?62;22c"),
    (rb"\033[5n", rb"\033[0n"),
    (rb"\033[2J\033[7;9H\033[6n\033[1;1H", rb"\033[7;9R"),
    (rb"\033[3;4H\033[?6n", rb"\033[?3;4R"),
    (rb"\033[=c", rb"\033P!|00000000\033\\"),
    (rb"\033[?2004$p", rb"\033[?2004;2$y"),
    (rb"\033[?2004h\033[?2004$p", rb"\033[?2004;1$y"),
    (rb"\033[?4711$p", rb"\033[?4711;0$y"),
    (rb"\033[?1048$p", rb"\033[?1048;2$y"),
    (rb"\0337\033[?1048$p", rb"\033[?1048;1$y"),
    (rb"\033[?6h\0337\033[?6l\033[?6$p", rb"\033[?6;2$y"),
    (rb"\0338\033[?6$p", rb"\033[?6;1$y"),
    (rb"\033[3;9r\033[2;4H\033[6n", rb"\033[2;4R"),  # from the top margin
    (rb"\033[?6l\033[r\033[18t", rb"\033[8;24;80t"),
    (rb"\033]11;?\007", rb"\033]11;rgb:0000/0000/0000\007"),
    (rb"\033]10;?\033\\", rb"\033]10;rgb:e5e5/e5e5/e5e5\033\\"),
    (rb"\033P+q436f\033\\", rb"\033P1+r436f=323536\033\\"),
    (rb"\033P+q7878\033\\", rb"\033P0+r7878\033\\"),
    (rb"\033P$q q\033\\", rb"\033P1$r0 q\033\\"),
    (rb"\033[?u", rb"\033[?0u"),
    (rb"\033[>5u\033[?u", rb"\033[?5u"),
]


def unescape(text):
    return text.decode().encode().decode("unicode_escape").encode("latin-1")


def test_every_query(mux):
    """Each alone, then cut into bytes; what is unknown gets nothing."""
    queries = [(unescape(q), unescape(a)) for q, a in QUERIES]
    program(mux, f"""
raw()
queries = {queries!r}
got = []
for query, answer in queries:
    say(query)
    got.append(get(answer[-1:] if answer[-1:] != b"\\\\" else b"\\033\\\\"))
say(b"\\033[>q")
version = get(b"\\033\\\\")
for byte in b"\\033[21t\\033[8;7;6t\\033]52;c;?\\007\\033_Gi=1,a=q;AAAA\\033\\\\\\033[5n":
    say(bytes([byte]))
last = get(b"n")
show([got, version, last, quiet(0.3)])
""")
    got, version, last, rest = shown(mux)
    assert got == [answer for _, answer in queries]
    assert version.startswith(b"\033P>|muxd ") and last == b"\033[0n" and rest == b""


def test_an_answer_comes_before_later_input(mux):
    program(mux, r"""
raw()
show(1)
get(b"!")
for i in range(50):
    say(b"\033[5n")
    show(i)
    get(b"n")
    assert get(b"x") == b"x"
show("done")
""")
    assert shown(mux) == 1
    mux.ue("write", "-y", 0, "ask", "!").ok()
    for i in range(50):
        assert shown(mux) == i
        mux.ue("write", "-y", 0, "ask", "x").ok()
    assert shown(mux) == "done"


def test_an_answer_passes_input_that_is_held_for_the_start(mux):
    """What was written before the program reads waits for it; the program waits for the terminal."""
    program(mux, r"""
go = os.environ["GO"]
raw()
while not os.path.exists(go):
    time.sleep(0.01)  # it must not read, not even to be told to go on
say(b"\033[c")
show(get(b"c"))
show(get(b"\r"))
""", options=["-e", f"GO={mux.dir}/go"])
    mux.ue("write", "-y", 0, "-l", "ask", "hello").ok()
    (mux.dir / "go").touch()
    first = shown(mux)
    assert first in (b"\033[?62;22c", b"hello\r\033[?62;22c")  # the latter when the hold's time was over first
    if first[0] == 27:
        assert shown(mux) == b"hello\r"


def test_many_at_once(mux):
    """More than one look answers: all 256 colours, and then what tells that it was all."""
    program(mux, r"""
raw()
say(b"".join(b"\033]4;%d;?\007" % i for i in range(256)) + b"\033[c")
got = get(b"c", 60)
while not got.endswith(b"\033[?62;22c"):
    got += get(b"c")
show((got.count(b"\033]4;"), got[-9:], b"]4;255;rgb:eeee/eeee/eeee" in got))
""")
    assert shown(mux) == (256, b"\033[?62;22c", True)


def test_asked_before_raw_mode(mux):
    """bash: printf, then read -s -d; the answer waits for the terminal to be set."""
    program(mux, r"""
before = termios.tcgetattr(0)
while True:
    began = time.monotonic()
    say(b"\033[c")
    time.sleep(0.03)  # the gap is the point
    raw()
    if time.monotonic() - began < 0.12 or select.select([0], [], [], 1)[0]:
        break
    termios.tcsetattr(0, termios.TCSANOW, before)  # it got no processor, and the answer was given up
show(get(b"c"))
""")
    assert shown(mux) == b"\033[?62;22c"


def test_asked_long_before_raw_mode(mux):
    """A program that computes, or gets no processor, is not taken for one that has forgotten what it asked."""
    program(mux, r"""
say(b"\033[c")
end = time.process_time() + 0.6
while time.process_time() < end:
    pass
raw()
show(get(b"c"))
""")
    assert shown(mux) == b"\033[?62;22c"


EVIL = b"\033[c\033[5n\033]11;?\007\033[6n\033P+q544e\033\\ \033[>q text\n" * 20


def test_a_shell_is_told_nothing_that_a_file_asks(mux):
    """cat of a file with queries, in canonical mode; the shell that comes back is another program. (Where the shell is back before the
    output has come, no terminal can tell who has asked.)"""
    (mux.dir / "evil").write_bytes(EVIL)
    mux.shell()
    for _ in range(3):
        said = mux.line("sh", f"cat {mux.dir}/evil; sleep 0.7")
        assert said["reason"] == "ready" and said["output"].endswith("text\r\nsh> "), said
    said = mux.line("sh", "echo fine; stty -a | grep -c icanon")
    assert said["output"].endswith("fine\r\n1\r\nsh> "), said


def test_a_plain_reader_is_told_nothing(mux):
    (mux.dir / "evil").write_bytes(EVIL)
    mux.session("plain", f"cat {mux.dir}/evil; read line; echo \"<$line>\"; read line; echo \"<$line>\"")
    for word in "one", "two":
        said = mux.js("write", "--until", f"<{word}>|<.+>", "-y", CAP * 1000, "-l", "plain", word)
        assert f"<{word}>" in said["output"], said


def test_a_secret_prompt_is_told_nothing(mux):
    """Canonical mode without echo: the answer would become part of the password."""
    program(mux, r"""
import getpass
say(b"\033[c\033[5n")
show(getpass.getpass())
""")
    said = mux.js("poll", "--ready", "-y", CAP * 1000, "ask")
    assert said["waiting_for"] == "secret", said
    ue_at_terminal(mux, "secret", "--stdin", "ask", input=b"sesame\n").ok()
    assert shown(mux) == "sesame"


def test_a_flood_does_not_fill_the_input(mux):
    """Nobody reads the answers: they stop, and the daemon serves on."""
    program(mux, r"""
raw()
for i in range(2000):
    say(b"\033[c" * 100)
show("asked")
total = 0
while True:
    got = quiet(1)
    if not got: break
    total += len(got)
show(total)
say(b"\033[5n")
show(get(b"n"))
""")
    assert shown(mux) == "asked"
    assert 10 <= shown(mux) < 400000  # of 2 MB
    assert shown(mux) == b"\033[0n"
    assert mux.listed("ask")["state"] in ("running", "exited")


def test_application_cursor_keys(mux):
    program(mux, r"""
raw()
for sequence in b"\033[?1h", b"\033[?1l", b"\033[?1h\033[!p", b"\033[?1h\033c", b"\033[?1;2004h":
    say(sequence)
    show("now")
    show(get(b"A"))
""")
    for expected in b"\033OA", b"\033[A", b"\033[A", b"\033[A", b"\033OA":
        assert shown(mux) == "now"
        mux.ue("write", "-y", 0, "-k", "Up", "ask").ok()
        assert shown(mux) == expected


def worker(mux):
    return json.loads(mux.ue("status", "--json").ok().out)["pid"]


def test_after_a_crash_nothing_is_answered_twice(mux):
    """The successor goes on where the worker was: with its modes, in the middle of a sequence, and with what came meanwhile."""
    go = [mux.dir / f"go{i}" for i in range(2)]
    program(mux, rf"""
raw()
say(b"\033[?1;2004h\033[>3u\033[c\033[5n\033]11;?\007\033]1")
show(get(b"\007"))
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.01)  # it must not read, not even to be told to go on
wait({str(go[0])!r})
say(b"\033[?2004$p\033[?u\033[?1$p")
show([get(b"y"), get(b"u"), get(b"y"), quiet(0.5)])
wait({str(go[1])!r})
show(get(b"A"))
""")
    assert shown(mux).count(b"\033") == 3
    for _ in range(2):
        old = worker(mux)
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: worker(mux) != old, "another worker")
    os.kill(worker(mux), signal.SIGKILL)
    go[0].touch()
    assert shown(mux) == [b"\033[?2004;1$y", b"\033[?3u", b"\033[?1;1$y", b""]
    mux.ue("write", "-y", 0, "-k", "Up", "ask").ok()
    go[1].touch()
    assert shown(mux) == b"\033[A"  # in the kitty protocol's way, with the release behind it


def test_132_columns_are_told_in_every_way(mux):
    """By the terminal's replies, by the kernel, with SIGWINCH, and by ue, also after the worker's death; then as many as before, or as
    many as somebody has asked for meanwhile."""
    program(mux, r"""
import signal
raw()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
def told(sequences):
    say(sequences + b"\033[14t\033[19t\033[18t")
    signalled = signal.SIGWINCH in signal.sigpending()
    answers = get(b"t") + get(b"t") + get(b"t")
    signalled = signal.SIGWINCH in signal.sigpending()
    if signalled:
        signal.sigwait([signal.SIGWINCH])
    show([answers, tuple(os.get_terminal_size(0)), signalled])
    get(b"g")
told(b"\033[?3h")
told(b"\033[?40;3h")
told(b"")
told(b"\033[?3l")
told(b"\033[?3h\033c")
""".replace("\033", "\033"))

    def go():
        mux.ue("write", "-y", 0, "ask", "g").ok()

    def expected(rows, cols, signalled):
        return [b"\033[4;%d;%dt\033[9;%d;%dt\033[8;%d;%dt" % (rows * 16, cols * 8, rows, cols, rows, cols), (cols, rows), signalled]
    assert shown(mux) == expected(24, 80, False)  # it needs ?40
    go()
    assert shown(mux) == expected(24, 132, True)
    assert mux.js("screen", "ask")["cols"] == 132
    old = worker(mux)
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: worker(mux) != old, "another worker")
    mux.ue("resize", "ask", "30x90").ok()
    go()
    assert shown(mux) == expected(30, 132, True)  # the rows have changed
    go()
    assert shown(mux) == expected(30, 90, True)
    assert mux.js("screen", "ask")["cols"] == 90
    go()
    assert shown(mux)[:2] == expected(30, 90, True)[:2]


def test_colours_that_the_program_has_set(mux):
    """They are what it is told, also by the successor of a worker that died, until it resets them."""
    go = mux.dir / "go"
    program(mux, rf"""
raw()
say(b"\033]11;#102030\007\033]4;3;rgb:a0/b0/c0;3;?\007\033]11;?\007")
show(get(b"\007") + get(b"\007"))
while not os.path.exists({str(go)!r}):
    time.sleep(0.01)  # it must not read, not even to be told to go on
say(b"\033]4;3;?\007\033]11;?\007")
show(get(b"\007") + get(b"\007"))
say(b"\033]104\007\033]111\007\033]4;3;?\007\033]11;?\007\033[4h\033[4$p\033[?3$p")
show(get(b"\007") + get(b"\007") + get(b"y") + get(b"y"))
""")
    is_set = b"\033]4;3;rgb:a0a0/b0b0/c0c0\007\033]11;rgb:1010/2020/3030\007"
    assert shown(mux) == is_set
    old = worker(mux)
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: worker(mux) != old, "another worker")
    go.touch()
    assert shown(mux) == is_set
    assert shown(mux) == b"\033]4;3;rgb:cdcd/cdcd/0000\007\033]11;rgb:0000/0000/0000\007\033[4;1$y\033[?3;2$y"


# --- real programs that ask, and wait for the answer
REAL = [
    ("fish", ["fish", "--no-config"], "echo (math 20+3)", "23"),
    ("irb", ["irb", "-f"], "20+3", "23"),
    ("ipython3", ["ipython3", "--no-banner"], "20+3", "23"),
    ("zsh", ["zsh", "-f", "-i"], "echo $((20+3))", "23"),
]


@pytest.mark.parametrize("name, command, line, answer", REAL, ids=[p[0] for p in REAL])
def test_programs_that_ask(mux, name, command, line, answer):
    need(command[0])
    start = mux.js("exec", "-n", name, "-t", "-y", CAP * 1000, "--argv", "--", *command)
    assert start["state"] == "running" and start["reason"] == "ready", start
    for _ in range(5):
        said = mux.line(name, line)
        assert said["reason"] == "ready" and answer in said["output"], said
        assert "62;22" not in said["output"] and ";1R" not in said["output"], said


def test_vim(mux):
    """vim asks for much and takes the answers as such: nothing of them becomes text or a command."""
    need("vim")
    path = mux.dir / "text"
    start = mux.js("exec", "-n", "vim", "-t", "-y", CAP * 1000, "--argv", "--", "vim", "-u", "NONE", "-c", "set nocompatible", path)
    assert start["reason"] == "ready", start
    mux.js("write", "-y", CAP * 1000, "vim", "ihello")
    mux.js("write", "-y", CAP * 1000, "-k", "Escape", "vim")
    mux.ue("write", "--exit", "-y", CAP * 1000, "-l", "vim", ":wq").ok()
    assert path.read_text() == "hello\n"
