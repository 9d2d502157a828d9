"""Who looks at a flood: a viewer that takes nothing costs nothing, and has the right screen and modes once it takes something again."""
from pathlib import Path
import pytest
from conftest import CAP, wait_for
from test_attach import AGENTS, agents_may_type, frames, receive, send, shown, start  # noqa: F401

MEGABYTES = 24
SOCKET_BYTES = 2 * 32 << 10  # what muxd asks for (muxd/peer/stream.c), doubled by the kernel (socket(7))
DRAWING_BYTES = 200 * (300 * 2 + 50)  # of Greek


def stages(mux, name, *parts):
    """A program that goes through the parts (Python) one by one, each when told so."""
    program = mux.dir / f"{name}.py"
    body = "\n".join(f"sys.stdin.readline()\n{part}\nopen(sys.argv[1] + '{n}', 'w').close()" for n, part in enumerate(parts))
    program.write_text("import os, sys, termios\nmode = termios.tcgetattr(0)\nmode[3] &= ~termios.ECHO\ntermios.tcsetattr(0, 0, mode)\n"
                       "def junk(n):\n    for i in range(n * 10000):\n        os.write(1, b'\\033[%d;1H\\033[K%090d' % (i % 24 + 1, i))\n"
                       "def lines(n):\n    for i in range(n * 250):\n        os.write(1, b'%078d\\r\\n' % i * 50)\n"
                       "texts = [''.join(chr(0x3b1 + (row * 7 + col) % 17) for col in range(298)).encode() + b'\\r\\n' for row in range(17)]\n"
                       "def greek(n):\n    for i in range(n * 120):\n        os.write(1, b''.join(texts[(i + row) % 17] for row in range(14)))\n"
                       "def say(text):\n    os.write(1, text)\n" + body + "\nsys.stdin.readline()\n")
    done = mux.dir / f"{name}-"
    start(mux, name, "/usr/bin/python3", str(program), str(done))
    return done


def go(mux, name, done, n):
    mux.ue("write", "-y", 0, "-l", name, "").ok()
    wait_for(Path(f"{done}{n}").exists, f"part {n}", CAP)


def read_until(peer, words):
    seen = b""
    while words not in seen:
        seen += receive(peer, b"o")
    return seen


def test_a_viewer_that_takes_nothing_costs_nothing(mux):
    """Drawings are made while its socket has room and no more, however much is printed; once it takes something they show what is new.
    That the model of the screen rests meanwhile, too, is tested in test_session_registry.c."""
    mux.configure(AGENTS + "[limits]\njournal = 64k\nhead = 0\n")  # so that nothing Greek is left when it takes something
    done = stages(mux, "inner", f"greek({MEGABYTES})", f"greek({MEGABYTES})", "lines(2)\nsay(b'\\033[2J\\033[HLAST WORDS')")
    peer = frames(mux, "inner", 200, 300)
    for n in range(3):
        go(mux, "inner", done, n)
    drawings = [receive(peer, b"o")]
    while b"LAST WORDS" not in drawings[-1]:
        drawings.append(receive(peer, b"o"))
    old = [len(drawing) for drawing in drawings if b"\xce" in drawing]
    assert sum(old) <= SOCKET_BYTES + 2 * DRAWING_BYTES, old  # beside those in the socket one waits, and the model has stopped at one


ALT, MAIN = r"say(b'\033[?1049h')", r"say(b'\033[?1049l')"


@pytest.mark.parametrize("seen, missed, kept, alternate", [
    (ALT, "", "", True),
    ("", ALT, "", True),
    (ALT, MAIN, "", False),
    ("", ALT, MAIN, False),
    (ALT, MAIN, ALT, True),
    ("", ALT + "\njunk(1)\n" + MAIN, "", False),
    ("", "", ALT, True),
    (ALT, "", r"say(b'\033c')", False),
], ids=["stays", "went there unseen", "left unseen", "there unseen and back", "back and there again", "both unseen", "goes there", "reset"])
def test_the_right_screen_after_what_was_missed(mux, seen, missed, kept, alternate):
    modes = r"say(b'\033[?2004h\033[?1h\033[?1002h\033[?1006h\033[?25l')"
    done = stages(mux, "inner", seen or "pass", "junk(8)", missed + "\n" + modes + "\njunk(6)\n" + kept + "\njunk(1)",
                  r"say(b'\033[2J\033[3;5Hlast words')")
    peer = frames(mux, "inner")
    for n in range(4):
        go(mux, "inner", done, n)
    drawn = read_until(peer, b"last words")
    answer = mux.js("screen", "--cursor", "inner")
    assert answer["alternate"] == alternate
    assert answer["screen"].strip() == "last words" and (answer["cursor"]["row"], answer["cursor"]["col"]) == (3, 15)
    if "033c" not in kept:
        assert not answer["cursor"]["visible"]
        for mode in (b"\033[?2004h", b"\033[?1002h", b"\033[?1006h"):
            assert drawn.rindex(mode) > drawn.rfind(mode[:-1] + b"l"), mode


def test_where_the_cursor_is_after_much_that_nobody_looked_at(mux):
    done = stages(mux, "inner", "lines(6)\nsay(b'abc\\033[6n')\n"
                  "import tty\ntty.setraw(0)\nanswer = b''\nwhile b'R' not in answer:\n    answer += os.read(0, 1)\n"
                  "say(b'\\r\\nanswer ' + answer[2:])\ntermios.tcsetattr(0, 0, mode)")
    go(mux, "inner", done, 0)
    shown(mux, "inner", "answer 24;4R")
