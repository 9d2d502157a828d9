"""What a program sends to the terminal beside its picture: bells, links, copies; and the colours that the terminal has."""
import re

import pytest
from conftest import wait_for
from outer import Outer

COPY, LINK = "\\e]52;c;aGFsbG8=\\e\\\\", "\\e]8;;https://x.example/\\e\\\\here\\e]8;;\\e\\\\"


def bash(mux, config=""):
    mux.configure("[defaults]\nkeyboard_idle = 1ms\n" + config)
    mux.shell("inner")


def say(mux, outer, text, word):
    """The inner program prints it; what the terminal got meanwhile."""
    since = len(outer.seen)
    (mux.dir / word).write_text(f"printf '{text}\\n'\necho shown {word}\n")
    mux.ue("write", "-y", 0, "-l", "inner", f". {mux.dir}/{word}").ok()
    outer.shows(b"shown " + word.encode(), since)
    return outer.seen[since:]


@pytest.fixture
def outer(mux):
    outers = []

    def show(*options, **kw):
        outers.append(Outer(mux, "attach", *options, "inner", **kw))
        outers[-1].shows(b"sh>")
        return outers[-1]
    yield show
    for each in outers:
        each.close()


def test_a_bell_rings_and_links_work(mux, outer):
    bash(mux)
    terminal, looker = outer(), outer("-r")
    got = say(mux, terminal, "\\a" + LINK, "over1")
    assert b"\a" in got and b"]8;id=muxd1;https://x.example/\x1b\\here\x1b]8;;\x1b\\" in got
    wait_for(lambda: b"\a" in looker.seen, "the bell for one who looks on")
    assert b"\a" not in outer().seen  # rung before it came
    assert b"]52" not in say(mux, terminal, COPY, "over2")  # by default no program has the clipboard
    assert b"javascript" not in say(mux, terminal, LINK.replace("https://", "javascript:"), "over3")


def test_settings(mux, outer):
    bash(mux, "[attach]\nbell = no\nlinks = no\nclipboard = terminal\n")
    looker, terminal = outer("-r"), outer()
    since = len(terminal.seen)
    terminal.type(b"\r")
    terminal.shows(b"sh>", since)
    wait_for(lambda: mux.listed("inner")["keyboard"]["owner"] == "nobody", "the keyboard to be given back")
    got = say(mux, terminal, "\\a" + LINK + COPY + "\\e]52;c;?\\a", "over1")
    assert b"\a" not in got and b"]8;" not in got
    assert got.count(b"\x1b]52;c;aGFsbG8=\x1b\\") == 1 and b"]52;c;?" not in got
    looker.shows(b"over1")
    assert b"]52" not in looker.seen  # it goes to the person who types
    assert b"]52" not in outer().seen


@pytest.mark.parametrize("env,fg", [({"COLORTERM": "truecolor"}, b"38;2;255;135;0"), ({}, b"38;5;208"), ({"TERM": "linux"}, b"33"),
                                    ({"TERM": "vt100", "COLORTERM": "truecolor"}, None), ({"TERM": "unheard-of"}, b"38;5;208"),
                                    ({"TERM": "xterm-kitty"}, b"38;2;255;135;0")])
def test_colours_fold(mux, outer, env, fg):
    bash(mux)
    got = say(mux, outer(env=env), "\\e[38;2;255;135;0mORANGE\\e[m", "over1")
    look = re.search(rb"\x1b\[([0-9;]*)m?ORANGE", got)
    assert re.search(rb"0;" + fg + rb"$", look[1]) if fg else not look, got
