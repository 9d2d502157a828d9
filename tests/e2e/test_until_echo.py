"""--until never takes the echo of what was typed for output: of the kernel, of line editors, of what was typed ahead."""
import os, shutil

import pytest
from conftest import CAP, wait_for
from test_until import VERB

# A program, and a line that says the word after it has read from a pipe: what is seen of the word before is its echo.
SHELL = "cat gate; echo w\u00f6rd"
PROGRAMS = {
    "cat": (["/bin/sh", "-c", "read x; cat gate; echo \"$x\"; exec cat"], SHELL),  # the kernel echoes; the same text comes as output
    "dash": (["dash"], SHELL),
    "bash": (["bash", "--norc"], SHELL),
    "zsh": (["zsh", "-f"], SHELL),
    "fish": (["fish", "--private"], SHELL),
    "python": (["/usr/bin/python3", "-q"], "open('gate').read() and 0 or 'w\u00f6rd'"),
    "node": (["node"], "require('fs').readFileSync('gate') && 'w\u00f6rd'"),
    "irb": (["irb", "-f"], "File.read('gate'); 'word'"),
}


class Terminal:
    def __init__(self, mux, name, argv, **more):
        if not shutil.which(argv[0], path="/usr/bin:/bin"):
            pytest.skip(f"{argv[0]} is not installed")
        self.client, self.name = mux.rpc(), name
        self.call("exec_command", cmd=argv, name=name, tty=True, ready=True, env={"TERM": "xterm-256color"}, workdir=str(mux.dir), yield_time_ms=CAP * 1000, **more)

    def call(self, method, **params):
        return self.client.call(method, {**params, **VERB})

    def send(self, chars, **wanted):
        return self.client.send("write_stdin", {"session_id": self.name, "chars": chars, "yield_time_ms": CAP * 1000, **wanted, **VERB})

    def printed(self):
        return self.call("read_output", session_id=self.name, since=0, peek=True, yield_time_ms=0, max_output_tokens=100000)["output"]

    def waits(self):
        return self.client.call("status")["waits"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_typed_is_no_output(mux, name):
    """Two ways: the word is said after the pipe was read; and the line is typed ahead, while the one before it still waits for the pipe.
    Each time the echo is there, and looked at, before the program goes on."""
    argv, line = PROGRAMS[name]
    word, other = ("word", "next") if name == "irb" else ("w\u00f6rd", "n\u00e4xt")
    os.mkfifo(mux.dir / "gate")
    term = Terminal(mux, "t", argv)
    begin = len(term.printed().encode())
    ticket = term.send(line + "\r", until=word)
    wait_for(lambda: word in term.printed().encode()[begin:].decode("utf-8", "replace"), "the echo")
    assert term.waits() == 1
    if name == "cat":
        (mux.dir / "gate").write_text("\n")
        assert term.client.result(ticket)["reason"] == "until"
        return
    ahead = term.send(line.replace(word, other) + "\r", until=other)
    wait_for(lambda: term.waits() == 2, "both waits")
    (mux.dir / "gate").write_text("x")
    first = term.client.result(ticket)
    assert first["reason"] == "until"
    wait_for(lambda: other in term.printed(), "the second echo")
    assert term.waits() == 1
    (mux.dir / "gate").write_text("x")
    second = term.client.result(ahead)
    assert second["reason"] == "until" and other.encode() in term.printed().encode()[:second["match"]["from"]]


def test_pieces_keys_and_what_has_no_echo(mux):
    mux.configure("[defaults]\nagent_secrets = yes\n")
    term = Terminal(mux, "c", ["/bin/sh", "-c", "cat; stty -echo; echo off; exec cat"])
    whole = term.send("hel", until="hel")
    wait_for(lambda: term.printed() == "hel", "a part of the line")
    assert term.waits() == 1
    line = term.send("x\x7flo\r", until="hello")  # one key takes another back
    assert term.client.result(line)["match"]["text"] == "hello" and term.client.result(whole)["reason"] == "until"
    assert term.printed().endswith("lo\r\nhello\r\n")
    long = term.send("0123456789" * 20 + "\r", until="(0123456789){20}\\r\\n")  # wider than the terminal
    assert term.client.result(long)["match"]["from"] == term.printed().rindex("0123456789" * 20)
    spans = term.send("two\r", until="(?s)two.*two|never", fail_on="two\\r\\ntwo")  # both begin in the echo
    wait_for(lambda: term.printed().count("two\r\n") == 2, "its output")
    assert term.waits() == 1
    assert term.client.result(term.send("abc\r", until="^abc$", count=1))["match"]["from"] == len(term.printed()) - 5
    term.client.call("cancel", {"id": spans})
    term.client.result(term.send("\x04", until="off"))
    assert term.client.result(term.send("quiet\r", until="quiet"))["reason"] == "until"  # without an echo the first one is output
    any_output = Terminal(mux, "d", ["cat"])
    assert any_output.client.result(any_output.send("x", until="(?s)."))["match"]["text"] == "x"  # what asks for anything gets it


def test_output_that_looks_like_the_beginning_of_an_echo(mux):
    """It counts once the program is silent, or has ended, or has gone on with something else."""
    term = Terminal(mux, "r", ["/bin/sh", "-c", "stty raw -echo; echo; head -c 4 >/dev/null; printf hel; head -c 4 >/dev/null; printf help; "
                               "head -c 4 >/dev/null; printf hel"])
    assert term.client.result(term.send("help", until="hel"))["match"]["text"] == "hel"
    assert term.client.result(term.send("helo", until="help"))["reason"] == "until"
    assert term.client.result(term.send("help", until="hel"))["reason"] == "until"


def test_an_echo_that_comes_in_pieces(mux):
    """Its beginning is no output while the rest may come."""
    mux.configure("[defaults]\nraw_quiet = 60s\n")
    os.mkfifo(mux.dir / "gate")
    term = Terminal(mux, "p", ["/bin/sh", "-c", "stty raw -echo; echo; head -c 6 >/dev/null; printf he; read x <gate; printf 'llo\\r\\nhe!'; read y"])
    ticket = term.send("hello\r", until="he")
    wait_for(lambda: term.printed().endswith("he"), "the beginning")
    assert term.waits() == 1
    (mux.dir / "gate").write_text("\n")
    assert term.client.result(ticket)["match"]["from"] == len(term.printed()) - 3
