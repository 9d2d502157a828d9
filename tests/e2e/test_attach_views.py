"""What covers an attached session: the page of keys, its history, the list of sessions; and whose size, whose keys."""
import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
import pexpect
import pytest
from conftest import CAP, UE, wait_for
from test_attach import (AGENTS, DETACH, PREFIX, RESIZE, clients, agents_may_type, attach,  # noqa: F401
                         attached, bash, frames, keys, receive, run_on_terminal, same, screen,
                         send, shown, start, text, there)


def press(mux, name, chars):
    mux.js("write", "-y", 0, name, chars)  # what ends over them may have ended by the answer, and then its status is that of ue


def scroll(mux, name="outer"):
    keys(mux, name, PREFIX)
    press(mux, name, "[")
    return shown(mux, name, "q leaves")


def size_of(mux, name="inner"):
    row = mux.listed(name)
    return row["rows"], row["cols"]


def test_every_key_stands_on_the_page_and_in_the_manuals(mux):
    bash(mux)
    attach(mux, size="40x100")
    keys(mux, "outer", PREFIX, "?")
    page = shown(mux, "outer", "Any key goes back")
    for words in ("Keys after C-\\, in session 'inner'", "detach: the session goes on", "scroll back", "list the sessions",
                  "take the keyboard", "give the keyboard", "draw the screen anew", "stop ue", "the next match"):
        assert words in page, words
    keys(mux, "outer", "x")
    same(mux)
    assert "x" not in screen(mux, "inner")["screen"].replace("sh>", "")
    manual = mux.ue("attach", "-h").ok().out
    assert "detach: the session goes on" in manual and "n N" in manual


def test_the_page_of_keys_on_few_rows_says_that_there_is_more(mux):
    bash(mux)
    attach(mux, size="10x100")
    keys(mux, "outer", PREFIX, "?")
    page = shown(mux, "outer", "There is more: Space shows it")
    assert "Keys after" in page and "draw the screen anew" in page, page
    keys(mux, "outer", " ")
    assert "show these keys" in shown(mux, "outer", "In the scrolled view")
    keys(mux, "outer", " ")
    assert "There is more" not in shown(mux, "outer", "Any key goes back")
    keys(mux, "outer", " ")
    same(mux)


def test_on_a_narrow_terminal_every_key_can_be_read(mux):
    bash(mux)
    bash(mux, "a-second-one")
    attach(mux, size="60x20")
    keys(mux, "outer", PREFIX, "?")
    page = shown(mux, "outer", "Any key goes back")
    words = " ".join(page.split())
    manual = mux.ue("attach", "-h").ok().out
    rows = [line for line in manual[manual.index("keys after the prefix"):manual.index("examples:")].splitlines() if line.startswith("  ")]
    assert len(rows) > 15 and all(" ".join(row.split()) in words for row in rows), (rows, page)
    assert "  d  detach: the\n     session goes on\n" in page, page
    keys(mux, "outer", "x")
    same(mux)
    scroll_keys = scroll_narrow(mux)
    assert all(key in scroll_keys for key in "q/vy"), scroll_keys
    press(mux, "outer", "q\x1cl")
    page = shown(mux, "outer", "Enter, q, / filters")
    assert "  inner" in page and "  a-second-one" in page and "no  name\n" in page, page
    press(mux, "outer", "q")
    same(mux)


def scroll_narrow(mux):
    press(mux, "outer", "\x1c[")
    return shown(mux, "outer", "v y, line").splitlines()[-1]


def test_scroll_search_and_copy_to_be_printed(mux):
    bash(mux)
    bash(mux, "outer")
    text(mux, "inner", "seq 1000 1500; printf '\\e[31mred needle\\e[m\\n'; seq 2000 2050; echo bottom")
    shown(mux, "inner", "bottom\n")
    text(mux, "outer", f"clear; {UE} attach inner")
    there(mux, "outer")
    shown(mux, "outer", "bottom\n")
    scroll(mux)
    press(mux, "outer", "g")
    shown(mux, "outer", "\n1000\n")
    press(mux, "outer", "/NEEDLE\r")
    shown(mux, "outer", "not found")
    press(mux, "outer", "/red n\r")
    assert "1500" in shown(mux, "outer", "red needle")
    wait_for(lambda: re.search("\x1b\\[[0-9;]*7[;0-9]*m[^\x1b]*red n", screen(mux, "outer", "--ansi")["screen"]), "the mark on the match")
    press(mux, "outer", "?135")
    keys(mux, "outer", "BSpace")
    press(mux, "outer", "5\r")
    shown(mux, "outer", "1359\n")
    press(mux, "outer", "nN")
    press(mux, "outer", "v")
    keys(mux, "outer", "Down", "Down", "Up")
    shown(mux, "outer", "2 lines selected")
    press(mux, "outer", "y")
    shown(mux, "outer", "2 lines: printed when you leave")
    text(mux, "outer", "echo typed again")
    shown(mux, "inner", "\ntyped again\n")
    keys(mux, "outer", PREFIX, "d")
    assert re.search(r"13[0-9][0-9]\n13[0-9][0-9]\n", shown(mux, "outer", "detached"))
    assert not screen(mux, "outer")["alternate"]


def test_wheel_pages_and_leaving(mux):
    bash(mux)
    text(mux, "inner", "seq 300; printf '\\e[?1h\\e[?1000h\\e[?2004h'; echo modes")
    shown(mux, "inner", "modes\n")
    attach(mux)
    scroll(mux)
    press(mux, "outer", "g\x1b[<65;3;3M\x1b[<65;3;3M")
    shown(mux, "outer", "line 7 of")
    press(mux, "outer", "jjj\x1b[<65;3;3M")
    assert shown(mux, "outer", "line 10 of").startswith("9\n"), "the wheel moves the view, the cursor stays where it is"
    press(mux, "outer", "kkk\x1b[<65;3;3M\x1b[<64;3;3M")
    shown(mux, "outer", "line 10 of")
    press(mux, "outer", "kkk")
    shown(mux, "outer", "line 7 of")
    keys(mux, "outer", "PageDown")
    shown(mux, "outer", "line 29 of")
    keys(mux, "outer", "PageUp", "Home", "End", "Up", "Down")
    press(mux, "outer", "kj")
    for leave in ("q", "\x1b", "\x03"):
        press(mux, "outer", leave)
        same(mux)
        scroll(mux)
    press(mux, "outer", "q")
    same(mux)
    text(mux, "outer", "echo back")
    shown(mux, "inner", "\nback\n")


def test_keys_typed_ahead_go_where_they_belong(mux):
    """All in one piece: into the history, search, leave, and on to the program."""
    bash(mux)
    text(mux, "inner", "seq 500")
    attach(mux)
    press(mux, "outer", "\x1c[g/321\rqecho a\x1c?qb\x1c[gqc\r")
    shown(mux, "inner", "\nabc\n")
    same(mux)


def test_the_prefix_key_in_what_is_pasted_is_text(mux):
    bash(mux)
    text(mux, "inner", "stty quit undef; printf '\\e[?2004hon'; cat -v")
    shown(mux, "inner", "\non")
    attach(mux)
    press(mux, "outer", "\x1b[200~echo one\x1cd; two\x1b[201~")
    shown(mux, "inner", "^[[200~echo one^\\d; two^[[201~")
    press(mux, "outer", "\x1b[200~torn")
    shown(mux, "inner", "^[[200~torn")
    pid = mux.listed("outer")["pid"]
    os.kill(pid, signal.SIGKILL)
    shown(mux, "inner", "^[[200~torn^[[201~")  # or all that is typed later would be pasted text


def test_a_paste_whose_end_never_comes_holds_nobody(mux):
    bash(mux)
    text(mux, "inner", "stty quit undef; printf '\\e[?2004hon'; cat -v")
    shown(mux, "inner", "\non")
    attach(mux)
    press(mux, "outer", "\x1b[200~torn\x1cd")
    shown(mux, "inner", "^[[200~torn^\\d")

    def left():  # what comes too soon behind something else is pasted
        press(mux, "outer", "\x1cd")
        return mux.ue("poll", "--exit", "-y", 1000, "outer").rc == 0
    wait_for(left, "leaving")
    assert re.search(r"\^\[\[200~torn(\^\\d)+\^\[\[201~$", mux.ue("screen", "inner").out.strip())


def test_the_wheel_at_the_prompt_opens_the_scrolled_view(mux):
    mux.configure(mux.conf.read_text() + "[attach]\nwheel = yes\n")
    bash(mux)
    text(mux, "inner", "seq 500")
    attach(mux)
    up, down, click = "\x1b[<64;3;4M", "\x1b[<65;3;4M", "\x1b[<0;3;4M\x1b[<0;3;4m"
    press(mux, "outer", f"ec{down}ho{click} x")  # none of it is the program's
    shown(mux, "inner", "echo x")
    press(mux, "outer", "\x15" + up)
    shown(mux, "outer", "q leaves")
    shown(mux, "outer", "476\n477\n")
    assert "\n500\n" not in mux.ue("screen", "outer").out
    press(mux, "outer", up + up)
    shown(mux, "outer", "470\n471\n")
    press(mux, "outer", "q")
    same(mux)
    rpc = mux.rpc()
    for piece in "\x1b[<6", "4;3;4M":  # a report in two pieces, with no start of a program between them
        rpc.call("write_stdin", {"session_id": "outer", "chars": piece, "yield_time_ms": 0, "ready": False, "_meta": {"verb": True}})
    shown(mux, "outer", "q leaves")
    press(mux, "outer", "qecho left\r")
    shown(mux, "inner", "\nleft\n")
    text(mux, "inner", "printf '\\e[?1000h\\e[?1006hmouse'; cat -v; printf '\\e[?1000l\\e[?1006l'")  # a program that asks for it gets it
    shown(mux, "inner", "\nmouse")
    press(mux, "outer", up + "\r")
    shown(mux, "inner", "^[[<64;3;4M")
    press(mux, "outer", "\x1cd")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0


def test_the_prefix_key_works_in_views(mux):
    bash(mux)
    for i, view in enumerate("?[l"):
        attach(mux, outer=f"outer{i}")
        press(mux, f"outer{i}", f"\x1c{view}")
        shown(mux, f"outer{i}", {"?": "Any key goes back", "[": "q leaves", "l": "inner"}[view])
        press(mux, f"outer{i}", "\x1cd")
        mux.wait_state(f"outer{i}", "exited")
    attach(mux)
    press(mux, "outer", "\x1c?\x1c[")
    shown(mux, "outer", "q leaves")
    press(mux, "outer", "/typ\x1c?")
    shown(mux, "outer", "Any key goes back")
    press(mux, "outer", "q")
    text(mux, "outer", "echo and on")
    shown(mux, "inner", "\nand on\n")


def test_the_notice_of_a_secret_leaves_the_prompt_in_sight(mux):
    bash(mux)
    attach(mux, size="24x80")
    mux.ue("write", "-y", 0, "-l", "inner", "seq 40; read -s -p 'pass: ' x").ok()
    rows = shown(mux, "outer", "asks for a secret").rstrip("\n").split("\n")
    assert "asks for a secret" in rows[0] and rows[-1].rstrip() == "pass:", rows


def test_notices_are_whole_and_name_the_key(mux):
    mux.configure("[defaults]\nscripts_may = attach keyboard\n")
    bash(mux)
    attach(mux, "--prefix", "C-a", size="24x30")
    press(mux, "outer", "x")
    wait_for(lambda: mux.listed("inner")["keyboard"]["owner"] == "person", "the keyboard")
    assert mux.ue("write", "-y", 0, "inner", "y").rc != 0
    rows = shown(mux, "outer", "gives it back").rstrip("\n").split("\n")
    assert "".join(rows[-3:]).replace(" ", "") == "inner:anagentwantstotype;youhavethekeyboard(C-aggivesitback)", rows


@pytest.mark.parametrize("size", ["1x1", "2x10", "4x2", "3x20", "20x40"])
def test_no_notice_covers_the_prompt(mux, size):
    """It stands beside it, whole, or the terminal rings."""
    start(mux, "inner", "/bin/sh", "-c", "stty -echo; printf 'pass: '; read x; printf 'more: '; read x", size=size)
    attach(mux, size=size)
    rows, cols = map(int, size.split("x"))

    def beside(tell):
        """The prompt as it is, once something was told."""
        since = mux.js("poll", "--peek", "--since", "0", "outer")["to"]
        tell()
        wait_for(lambda: re.search(rb"\x1b\[2K\x1b\[7m|\a", mux.ue("poll", "--raw", "--peek", "--since", since, "outer").raw), "the notice")
        told, prompt = screen(mux, "outer", "--cursor"), screen(mux, "inner", "--cursor")
        at = prompt["cursor"]["row"] - 1
        lines = [(answer["screen"].split("\n") + [""] * rows)[:rows] for answer in (told, prompt)]
        assert lines[0][at] == lines[1][at] and told["cursor"] == prompt["cursor"], (told, prompt)
        return told["screen"]
    beside(lambda: keys(mux, "outer", PREFIX, "t"))  # you have the keyboard
    keys(mux, "outer", PREFIX, "r")
    beside(lambda: mux.ue("record", "inner", str(mux.dir / "cast")).ok())
    keys(mux, "outer", PREFIX, "r")
    beside(lambda: keys(mux, "outer", PREFIX, "g"))  # you no longer have it
    said = beside(lambda: keys(mux, "outer", "Enter"))  # the next secret
    assert rows < 20 or "asks for a secret; type it" in re.sub(r"\s+", " ", said), said


def test_nothing_is_drawn_before_an_error(mux):
    bash(mux)
    for args, env, words in ((["attach", "inner"], "TERM=dumb", "TERM is 'dumb'"), (["top"], "TERM=dumb", "TERM is 'dumb'"),
                             (["exec", "-a", "-n", "inner", "true"], "TERM=xterm", "is the name of session")):
        mux.ue("exec", "-t", "-n", "run", "--json", "--exit", "-e", env, "--argv", "--", str(UE), *args)
        row = mux.listed("run")
        out = mux.ue("poll", "--raw", "--since", "0", str(row["session_id"])).out
        assert row["exit_code"] in (64, 125) and words in out and "\x1b[?1049" not in out, (row, out)


def test_the_program_ends_while_its_history_is_read(mux):
    bash(mux)
    attach(mux)
    scroll(mux)
    text(mux, "inner", "exit 5")
    mux.wait_state("inner", "exited")
    shown(mux, "outer", "q leaves")
    press(mux, "outer", "q")
    assert mux.wait_state("outer", "exited")["exit_code"] == 5


def test_clipboard_of_the_terminal_or_a_file(mux):
    mux.configure(AGENTS + "[attach]\nclipboard = terminal\n")
    bash(mux)
    text(mux, "inner", "clear; echo copy m\u00e9; echo end")
    shown(mux, "inner", "end\n")
    attach(mux)
    scroll(mux)
    press(mux, "outer", "?copy\ry")
    shown(mux, "outer", "1 line copied to the clipboard")
    out = mux.ue("poll", "--raw", "--since", "0", "outer").raw
    assert b"\x1b]52;c;" + base64.b64encode("copy m\u00e9\n".encode()) in out
    keys(mux, "outer", PREFIX, "d")
    mux.wait_state("outer", "exited")
    mux.configure(AGENTS + f"[attach]\nclipboard = {mux.dir}/copied\nmouse = no\n")
    mux.ue("reload").ok()
    attach(mux, outer="next")
    scroll(mux, "next")
    press(mux, "next", "?copy\r\r")
    shown(mux, "next", "copied to")
    assert (mux.dir / "copied").read_text() == "copy m\u00e9\n" and (mux.dir / "copied").stat().st_mode & 0o777 == 0o600


def test_stop_and_signals_inside_a_view(mux):
    bash(mux)
    bash(mux, "outer")
    text(mux, "outer", "stty -g > before; echo $?-before")
    shown(mux, "outer", "0-before")
    text(mux, "outer", f"{UE} attach inner; echo left=$?")
    there(mux, "outer")
    scroll(mux)
    keys(mux, "outer", "C-z")
    shown(mux, "outer", "Stopped")
    text(mux, "outer", "fg")
    shown(mux, "outer", "q leaves")
    mux.ue("resize", "outer", "10x50").ok()
    wait_for(lambda: screen(mux, "outer")["screen"].count("\n") <= 10 and "inner, line" in screen(mux, "outer")["screen"], "the new size")
    client = clients(mux)
    os.kill(client[0], signal.SIGTERM)
    shown(mux, "outer", "Terminated")
    text(mux, "outer", "stty -g > after; cmp before after && echo equal")
    shown(mux, "outer", "\nequal\n")
    assert not screen(mux, "outer")["alternate"]


# --- the list

def test_going_to_another_session(mux):
    bash(mux, "inner")
    bash(mux, "other")
    text(mux, "other", "clear; echo this is the other one")
    attach(mux)
    keys(mux, "outer", PREFIX)
    press(mux, "outer", "l")
    page = shown(mux, "outer", "Enter goes there")
    assert "inner" in page and "other" in page and "1 attached" in page
    press(mux, "outer", "j\recho typed there\r")
    shown(mux, "outer", "\ntyped there\n")
    wait_for(lambda: (attached(mux, "inner"), attached(mux, "other")) == (0, 1), "the move")
    same(mux, inner="other")
    keys(mux, "outer", PREFIX)
    press(mux, "outer", "l")
    shown(mux, "outer", "Enter goes there")
    press(mux, "outer", "q")
    same(mux, inner="other")
    text(mux, "outer", "exit 4")
    assert mux.wait_state("outer", "exited")["exit_code"] == 4


def test_going_there_and_back_in_one_go(mux):
    bash(mux, "inner")
    bash(mux, "other")
    attach(mux)
    press(mux, "outer", "\x1clj\r\x1clk\recho typed here\r")
    shown(mux, "outer", "\ntyped here\n")
    wait_for(lambda: (attached(mux, "inner"), attached(mux, "other")) == (1, 0), "the way back")
    same(mux)


def test_going_where_nobody_can(mux):
    bash(mux, "inner")
    bash(mux, "host")
    text(mux, "host", f"{UE} attach inner")
    there(mux, "host")
    same(mux, outer="host")
    keys(mux, "host", PREFIX)
    press(mux, "host", "l")
    shown(mux, "host", "Enter goes there")
    bash(mux, "brief")
    mux.ue("kill", "inner").ok()
    keys(mux, "host", "Enter")
    mux.wait_state("inner", "exited", "signaled", "killed")
    shown(mux, "host", "has ended")


def test_choosing_when_there_are_several(mux):
    bash(mux, "one")
    bash(mux, "two")
    start(mux, "outer", str(UE), "attach")
    assert "one" in shown(mux, "outer", "Enter goes there")
    keys(mux, "outer", "Down", "Enter")
    there(mux, "outer", "two")
    same(mux, inner="two")
    keys(mux, "outer", PREFIX, "d")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0
    start(mux, "left", str(UE), "attach")
    shown(mux, "left", "Enter goes there")
    press(mux, "left", "q")
    assert mux.wait_state("left", "exited")["exit_code"] == 130
    result = mux.ue("attach")
    assert result.rc == 64 and "name one: one, two" in result.err


# --- whose keys, whose size

def test_alone(mux):
    bash(mux)
    bash(mux, "first")
    text(mux, "first", f"{UE} attach inner; echo left=$?")
    there(mux, "first")
    attach_alone = ("-x",)
    start(mux, "second", str(UE), "attach", *attach_alone, "inner")
    assert "attached alone" in shown(mux, "first", "left=0")
    wait_for(lambda: attached(mux) == 1, "the only one")
    same(mux, outer="second")


def test_prefix_from_config_environment_and_flag(mux):
    mux.configure(AGENTS + "[attach]\nkey = C-a\n")
    bash(mux)
    attach(mux, outer="config")
    keys(mux, "config", "C-a", "d")
    mux.wait_state("config", "exited")
    start(mux, "environment", str(UE), "attach", "inner", env=("-e", "MUXD_ATTACH_KEY=C-b"))
    there(mux, "environment")
    keys(mux, "environment", "C-a", "C-b", "d")
    mux.wait_state("environment", "exited")
    attach(mux, "-k", "C-g", outer="flag")
    keys(mux, "flag", "C-g", "?")
    shown(mux, "flag", "Keys after C-g")
    keys(mux, "flag", "q", "C-g", "d")
    mux.wait_state("flag", "exited")
    mux.ue("exec", "-t", "-n", "wrong", "--exit", "-e", "MUXD_ATTACH_KEY=x", "--argv", "--", str(UE), "attach", "inner")
    assert mux.listed("wrong", "--all")["exit_code"] == 64
    mux.configure(AGENTS + "[attach]\nkey = x\n")
    result = mux.ue("reload")
    assert result.rc != 0 and "key" in result.err and "C-a" in result.err


def policy(mux, word):
    mux.configure(AGENTS + f"[attach]\nsize = {word}\n")
    bash(mux, size="30x90")


def test_smallest_and_largest(mux):
    policy(mux, "smallest")
    big = frames(mux, "inner", rows=40, cols=100)
    assert size_of(mux) == (40, 100)
    small = frames(mux, "inner", rows=50, cols=60)
    assert size_of(mux) == (40, 60)
    eyes = frames(mux, "inner", rows=5, cols=5, read_only=True)
    send(big, b"i", b"\r")
    assert size_of(mux) == (40, 60)
    send(small, RESIZE, b"20x70")
    wait_for(lambda: size_of(mux) == (20, 70), "the smaller one")
    send(small, DETACH)
    wait_for(lambda: size_of(mux) == (40, 100), "what is left")
    mux.configure(AGENTS + "[attach]\nsize = largest\n")
    mux.ue("reload").ok()
    other = frames(mux, "inner", rows=20, cols=120)
    assert size_of(mux) == (40, 120)
    for peer in (big, other, eyes):
        peer.close()
        mux.clients.remove(peer)
    mux.clients.remove(small)
    small.close()


def test_fixed_and_of_one_session(mux):
    mux.configure(AGENTS + "[session web]\nargv = /bin/cat\nrows = 33\ncols = 99\nsize = fixed\n")
    mux.ue("exec", "-y", 0, "-n", "web").ok()
    peer = frames(mux, "web", rows=10, cols=20)
    send(peer, RESIZE, b"11x21")
    send(peer, b"i", b"x\r")
    shown(mux, "web", "x\nx")
    assert size_of(mux, "web") == (33, 99)
    mux.ue("resize", "web", "12x34").ok()
    assert size_of(mux, "web") == (12, 34)


def test_a_size_that_was_asked_for_stays(mux):
    bash(mux)
    peer = frames(mux, "inner", rows=20, cols=60)
    other = frames(mux, "inner", rows=22, cols=66)
    mux.ue("resize", "inner", "40x120").ok()
    send(peer, b"i", b"echo one\r")
    shown(mux, "inner", "\none\n")
    assert size_of(mux) == (40, 120)
    send(peer, RESIZE, b"20x60")
    send(peer, b"i", b"echo two\r")
    shown(mux, "inner", "\ntwo\n")
    assert size_of(mux) == (40, 120), "a size that is none does not count"
    send(other, RESIZE, b"23x66")
    wait_for(lambda: size_of(mux) == (23, 66), "its own new size")
    send(peer, b"i", b"echo three\r")
    wait_for(lambda: size_of(mux) == (20, 60), "who typed last")


def test_a_restart_keeps_the_size(mux):
    bash(mux)
    attach(mux, outer="one", size="20x60")
    attach(mux, outer="two", size="25x70")
    text(mux, "one", "echo mine")
    wait_for(lambda: size_of(mux) == (20, 60), "who typed last")
    old = mux.js("status")["pid"]
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != old and attached(mux) == 2, "both again")
    assert size_of(mux) == (20, 60)
    text(mux, "two", "echo now mine")
    wait_for(lambda: size_of(mux) == (25, 70), "who types now")


def test_anew_is_told_before_the_drawing(mux):
    bash(mux)
    peer = frames(mux, "inner")
    send(peer, b"r")
    assert receive(peer, b"a") == b""
    assert receive(peer, b"o").startswith(b"\x1b[m\x1b[r\x1b[2J")


def test_each_redraw_is_told(mux):
    """ue skips drawings until it has heard of all that it asked for, also of those that one drawing answers."""
    bash(mux)
    peer = frames(mux, "inner")
    mux.ue("write", "-l", "--until", "half", "-y", CAP * 1000, "inner", r"printf '\033[?2026hha''lf'").ok()  # nothing is drawn in the middle of a drawing
    send(peer, b"r" + bytes(4) + b"r" + bytes(4) + b"r")
    for _ in range(3):
        assert receive(peer, b"a") == b""


def test_not_on_a_terminal(mux):
    bash(mux, "one")
    result = mux.ue("attach", stdin=subprocess.DEVNULL)
    assert result.rc == 64 and "must be a terminal" in result.err
    assert run_on_terminal(mux, "attach", "-k", "Enter", "one")[0] == 64


def test_a_daemon_whose_frames_make_no_sense(mux):
    """The terminal is given back, with an error that names the daemon."""
    path = str(mux.dir / "false.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        child = pexpect.spawn(str(UE), ["-S", path, "attach", "s"], env={**mux.env, "TERM": "xterm"}, timeout=CAP)
        daemon = listener.accept()[0]
        request = json.loads(daemon.makefile().readline())
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"session_id": 1000, "name": "s"}}
        daemon.sendall(json.dumps(answer).encode() + b"\n" + struct.pack("<cI", b"o", 1 << 30))
        child.expect_exact("\x1b[?1049l")
        child.expect_exact(f"ue: '{path}': sent a frame that is too long")
        child.expect(pexpect.EOF)
        child.wait()
        daemon.close()
    assert child.exitstatus == 125


def test_ue_alone_opens_the_chooser(mux):
    piped = mux.ue()
    assert piped.rc == 64 and "no verb" in piped.err
    bash(mux, "first")
    bash(mux, "second")
    text(mux, "second", "echo preview''ed")
    shown(mux, "second", "previewed")
    start(mux, "outer", str(UE))
    page = shown(mux, "outer", "letters filter")
    assert "first" in page and "second" in page and "a shell in a new session" in page
    press(mux, "outer", "seco")
    assert "first" not in shown(mux, "outer", "previewed").replace("/seco", "")
    press(mux, "outer", "\x7f\x7f\x7f\x7f")
    shown(mux, "outer", "first")
    press(mux, "outer", "second\r")
    wait_for(lambda: attached(mux, "second") == 1, "the attachment")
    keys(mux, "outer", PREFIX)
    press(mux, "outer", "d")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0
    start(mux, "another", str(UE), env=("-e", "SHELL=/bin/sh"))
    shown(mux, "another", "letters filter")
    before = {row["name"] for row in mux.js("list")["sessions"]}
    keys(mux, "another", "End")
    press(mux, "another", "\r")
    wait_for(lambda: {row["name"] for row in mux.js("list")["sessions"]} - before, "the new session")
    new = ({row["name"] for row in mux.js("list")["sessions"]} - before).pop()
    wait_for(lambda: attached(mux, new) == 1, "the attachment")
    assert "/bin/sh" in mux.listed(new)["cmd"]
    start(mux, "third", str(UE))
    shown(mux, "third", "letters filter")
    press(mux, "third", "\x1b")
    assert mux.wait_state("third", "exited")["exit_code"] == 130


def test_enter_on_a_filter_that_nothing_passes_starts_nothing(mux):
    bash(mux, "first")
    start(mux, "outer", str(UE), env=("-e", "SHELL=/bin/sh"))
    shown(mux, "outer", "letters filter")
    press(mux, "outer", "work shop")
    page = shown(mux, "outer", "nothing matches 'work shop'; C-n starts a shell in a new session")
    assert "new session, " not in page  # no name of a session has blanks
    press(mux, "outer", "\r\r" + "\x7f" * 5)
    shown(mux, "outer", "nothing matches 'work'; C-n starts a shell in a new session, work")
    assert {row["name"] for row in mux.js("list")["sessions"]} == {"first", "outer"}
    press(mux, "outer", "\x0e")
    wait_for(lambda: any(row["name"] == "work" and row["attached"] for row in mux.js("list")["sessions"]), "the attachment")
    assert "/bin/sh" in mux.listed("work")["cmd"]
    start(mux, "another", str(UE), env=("-e", "SHELL=/bin/sh"))
    shown(mux, "another", "letters filter")
    press(mux, "another", "shop")
    shown(mux, "another", "nothing matches")
    keys(mux, "another", "Down", "Enter")
    wait_for(lambda: any(row["name"] == "shop" and row["attached"] for row in mux.js("list")["sessions"]), "the attachment")
    start(mux, "small", str(UE), size="1x10", env=("-e", "SHELL=/bin/sh"))
    shown(mux, "small", "firs")
    press(mux, "small", "zzz\r")
    shown(mux, "small", "no match")
    press(mux, "small", "\x1b")
    assert mux.wait_state("small", "exited")["exit_code"] == 130


def test_exec_a_without_a_command_begins_a_shell(mux):
    start(mux, "outer", str(UE), "exec", "-a", "-n", "work", env=("-e", "SHELL=/bin/sh"))
    wait_for(lambda: any(row["name"] == "work" for row in mux.js("list")["sessions"]), "the session")
    wait_for(lambda: attached(mux, "work") == 1, "the attachment")
    assert "/bin/sh" in mux.listed("work")["cmd"]
