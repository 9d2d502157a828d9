"""--until over output that comes in pieces: what a wait keeps of one piece for the next."""
import base64

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty
VERB = {"_meta": {"verb": True}}


class Pieces:
    """cat as a session `s`: each piece is printed, and has been searched, before the next one is typed."""

    def __init__(self, mux):
        self.mux, self.client, self.printed = mux, mux.rpc(), b""
        self.client.call("exec_command", {"cmd": ["/bin/cat"], "stdin": True, "name": "s", "yield_time_ms": 0, **VERB})

    def until(self, pattern):
        """Begins a wait for the pattern in what comes now; the ticket for result()."""
        return self.client.send("read_output", {"session_id": "s", "until": pattern, "since": len(self.printed), "yield_time_ms": CAP * 1000, **VERB})

    def waits(self):
        return self.client.call("status")["waits"]

    def write(self, piece):
        """The answer to a poll comes behind the turn in which the piece was read, and so behind the look at all waits."""
        self.printed += piece
        self.client.call("write_stdin", {"session_id": "s", "chars_base64": base64.b64encode(piece).decode(), "yield_time_ms": 0, **VERB})
        wait_for(lambda: self.seen() == self.printed, f"{self.printed[-60:]!r}")

    def seen(self):
        return base64.b64decode(self.client.call("read_output", {"session_id": "s", "since": 0, "peek": True, "encoding": "base64",
                                                                 "yield_time_ms": 0, **VERB})["output_base64"])


@pytest.fixture
def pieces(mux):
    return Pieces(mux)


def found_in(pieces, pattern, *parts):
    """The pattern is found when the last part has come, and not before."""
    ticket = pieces.until(pattern)
    for part in parts[:-1]:
        pieces.write(part)
        assert pieces.waits() == 1, f"found too early, in {part!r}"
    pieces.write(parts[-1])
    assert pieces.client.result(ticket)["reason"] == "until"


@pytest.mark.parametrize("parts", [[b"lis", b"tening"], [b"l", b"is", b"ten", b"in", b"g"], [b"listenin\nlis", b"tening on"]],
                         ids=["two", "five", "in-vain-before"])
def test_a_word_in_pieces(pieces, parts):
    found_in(pieces, "listening", *parts)


def test_a_character_in_two_pieces(pieces):
    found_in(pieces, "caf\u00e9 open", b"a caf\xc3", b"\xa9 ope", b"n")


def test_lookbehind_sees_the_piece_before(pieces):
    found_in(pieces, "(?<=user: )alice", b"user: bob\nuser: ", b"alice")


def test_word_boundary_sees_the_piece_before(pieces):
    found_in(pieces, r"\bend", b"s", b"end b", b"end ", b"end")


@pytest.mark.parametrize("before", [b"un", b"x" * 5000], ids=["short", "long"])
def test_a_piece_begins_no_line(pieces, before):
    """`^` is true where a line begins, and not where a piece does, also when what stands before it has been let go of."""
    found_in(pieces, "^done", before, b"done\ndo", b"ne")


def test_what_was_printed_before_is_not_searched(pieces):
    pieces.write(b"listening\nlis")
    found_in(pieces, "listening", b"tening\n", b"listening")


def test_two_waits_for_parts_of_the_same_word(pieces):
    """Each keeps its own place."""
    one, two = pieces.until("abcd"), pieces.until("cde")
    pieces.write(b"ab")
    pieces.write(b"cd")
    assert pieces.client.result(one)["reason"] == "until" and pieces.waits() == 1
    pieces.write(b"e")
    assert pieces.client.result(two)["reason"] == "until"


def test_the_end_waits_for_a_long_search(mux):
    """A search goes on for many turns: the exit, which came before it began, is not told before it is through."""
    mux.ue("exec", "-n", "s", "-y", CAP * 1000, "--exit", "head -c 1500000 /dev/zero | tr '\\0' a; echo needle").ok()
    found = mux.js("poll", "--since", 0, "--until", "a{1,30}needle", "-y", CAP * 1000, "-m", 20, "s")
    assert found["reason"] == "until", found
    missed = mux.js("poll", "--since", 0, "--until", "a{1,30}noodle", "-y", CAP * 1000, "-m", 20, "s")
    assert missed["reason"] == "exit", missed
