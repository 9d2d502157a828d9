"""--until with several patterns, --fail-on, --count and --in-line, and what the answer says of a match."""
import os

import pytest
from conftest import CAP
from test_until import VERB, Pieces

pytestmark = pytest.mark.no_pty


@pytest.fixture
def pieces(mux):
    return Pieces(mux)


def begun(pieces, **wanted):
    return pieces.client.send("read_output", {"session_id": "s", "since": len(pieces.printed), "yield_time_ms": CAP * 1000, **wanted, **VERB})


def ended(pieces, ticket):
    answer = pieces.client.result(ticket)
    match = answer["match"]
    assert pieces.printed[match["from"]:match["to"]] == match["text"].encode() and answer["evidence"] == "pattern"
    return answer["reason"], match


def test_what_comes_first_in_the_output_wins(pieces):
    """Also when both are in one read, whichever was named first; of two that begin together the one that fails."""
    one = begun(pieces, until=["done", "ok"], fail_on={"bad": "err(or)?"})
    two = begun(pieces, until="listening", fail_on="rr")
    three = begun(pieces, until={"a": "error", "b": "er"}, fail_on=["never", "error: (?<what>[^,]+)(;)?"])
    pieces.write(b"0123 ok, error: \xc3\xa9t\xc3\xa9, done\n")
    reason, match = ended(pieces, one)
    assert (reason, match["index"], match["pattern"], match["from"], match["groups"]) == ("until", 1, "ok", 5, []) and "name" not in match
    assert ended(pieces, two)[0] == "fail_on"
    reason, match = ended(pieces, three)
    assert (reason, match["index"], match["groups"], match["named"]) == ("fail_on", 1, ["\u00e9t\u00e9", None], {"what": "\u00e9t\u00e9"})
    four = begun(pieces, until={"a": "a.c", "b": "ab", "c": "b"})
    pieces.write(b"x" * 5000 + b"a")
    assert pieces.waits() == 1
    pieces.write(b"bc\n")
    assert ended(pieces, four)[1]["name"] == "a"  # "ab" begins there, too, and was named later


def test_a_failure_counts_also_behind_the_match(mux):
    """While the wait goes on until the program reads: this one opens a pipe first, and then says something."""
    os.mkfifo(mux.dir / "gate")
    mux.ue("exec", "-t", "-n", "t", "--no-login", "-y", "0", "read x; echo found; read x <gate; echo bad; read y").ok()
    client = mux.rpc()
    ticket = client.send("write_stdin", {"session_id": "t", "chars": "\r", "until": "found", "ready": True, "fail_on": "bad",
                                         "yield_time_ms": CAP * 1000, **VERB})
    mux.ue("poll", "--since", 0, "--peek", "--until", "found", "t").ok()
    (mux.dir / "gate").write_text("\n")
    answer = client.result(ticket)
    assert (answer["reason"], answer["match"]["text"]) == ("fail_on", "bad")


def test_count_and_lines(pieces):
    """A match that goes over a line end doesn't count, nor does one in a line that may go on; matches don't overlap."""
    third = begun(pieces, until=["a+", "b"], count=3)
    whole = begun(pieces, until="b(.*)", line=True)
    over = begun(pieces, until="(?s)b.*c", line=True)
    pieces.write(b"\xffaaaa b")
    pieces.write(b" x")
    assert pieces.waits() == 3
    pieces.write(b" a\r\nxc\nc")
    assert ended(pieces, third)[1]["from"] == 10
    match = ended(pieces, whole)[1]
    assert (match["line"], match["groups"]) == ("\ufffdaaaa b x a", [" x a"])
    pieces.write(b"b cc")
    assert pieces.waits() == 1
    pieces.client.call("write_stdin", {"session_id": "s", "eof": True, "yield_time_ms": CAP * 1000, "exit": True, **VERB})
    pieces.printed = pieces.seen()
    assert ended(pieces, over)[1]["line"] == "cb cc"  # nothing more can come


def test_status_and_words_of_the_verbs(mux):
    mux.ue("exec", "-n", "s", "--no-login", "-y", "0", "echo port=8080; echo error; sleep 1000").ok()
    found = mux.js("poll", "--peek", "--since", 0, "--until-named", "X=nope", "--until-named", "PORT=port=(\\d+)", "s")
    assert (found["match"]["name"], found["match"]["groups"]) == ("PORT", ["8080"])
    assert mux.ue("poll", "--peek", "--since", "0", "--until", "never", "--fail-on", "x", "--fail-on", "err", "s").rc == 123
    os.mkfifo(mux.dir / "gate")
    mux.ue("exec", "-n", "w", "--no-login", "-y", "0", "cat gate; exec sleep 1000").ok()
    waiting = mux.popen("wait", "--until", "never", "--fail-on", "x", "--fail-on", "err", "--any", "w", "s")
    (mux.dir / "gate").write_text("error\n")
    assert mux.finish(waiting).rc == 123
    assert mux.ue("exec", "--fail-on", "bad", "--no-login", "echo bad; exec sleep 1000").rc == 123
    assert mux.ue("exec", "--fail-on", "bad", "--no-login", "exit 7").rc == 7  # it waits for the end as without
    mux.ue("exec", "-t", "-n", "cat", "-y", "0", "--argv", "--", "cat").ok()
    steps = mux.ue("steps", "--json", "cat", '[{"write": "error\\n"}, {"wait": {"until": "never", "fail_on": "(e)rr"}}]')
    assert steps.rc == 123 and steps.json["steps"][1]["code"] == "fail_on" and steps.json["steps"][1]["match"]["groups"] == ["e"]
    for wrong, said in ((["--until", "(", "s"], "'('"), (["--count", "2", "s"], "`count`"), (["--until-named", "=x", "s"], "NAME=VALUE")):
        refused = mux.ue("poll", *wrong)
        assert refused.rc in (64, 125) and said in refused.err, refused
    many = {f"n{i}": "x" for i in range(17)}
    with pytest.raises(mux.rpc().Error, match="more than 16 patterns"):
        mux.rpc().call("read_output", {"session_id": "s", "until": many, **VERB})
    costly = pytest.raises(mux.rpc().Error, match="this pattern of fail_on takes too long")
    mux.ue("exec", "-n", "c", "--exit", "head -c 200 /dev/zero | tr '\\0' x").ok()
    with costly:
        mux.rpc().call("read_output", {"session_id": "c", "since": 0, "until": "z", "fail_on": "(x+x+)+(?:y|z)", "yield_time_ms": CAP * 1000, **VERB})
