"""ue poll: absolute offsets, readers, what is omitted."""
import base64, select

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


def ended(mux, command, name="s"):
    mux.ue("exec", "--json", "-n", name, "-y", "250", f"{command}; exec sleep 300")
    return wait_for(lambda: (j := mux.js("poll", "--peek", "-y", "0", "--since", "0", name))["to"] and j)


@pytest.mark.smoke
def test_output_can_be_read_again(mux):
    ended(mux, "printf 'one\\ntwo\\n'")
    first, second = [mux.ue("poll", "--raw", "--since", "0", "-y", "0", "s").ok().out for _ in range(2)]
    assert first == second == "one\ntwo\n"


def test_since_starts_at_the_offset(mux):
    ended(mux, "printf 'one\\ntwo\\n'")
    answer = mux.js("poll", "--since", "4", "-y", "0", "s")
    assert (answer["output"], answer["from"], answer["to"]) == ("two\n", 4, 8)


def test_since_does_not_move_the_default_cursor(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "echo one; exec sleep 300").ok()
    wait_for(lambda: mux.ue("poll", "--raw", "--since", "0", "-y", "0", "s").out == "one\n")
    before = mux.listed("s")["unread_bytes"]
    mux.ue("poll", "--since", "0", "-y", "0", "s").ok()
    assert mux.listed("s")["unread_bytes"] == before


def test_poll_gives_only_what_is_new(mux):
    mux.ue("exec", "-n", "s", "--until", "one\n", "-y", CAP * 1000, "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exec sleep 300").ok()
    (mux.dir / "go").touch()
    answer = mux.js("poll", "--until", "two\n", "-y", CAP * 1000, "s")
    assert answer["output"] == "two\n" and answer["from"] == 4
    assert mux.js("poll", "-y", "250", "s")["output"] == ""


def test_poll_returns_when_output_has_settled(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo out; exec sleep 300").ok()
    process = mux.popen("poll", "--json", "-y", CAP * 1000, "s")
    (mux.dir / "go").touch()
    answer = mux.finish(process).json
    assert answer["output"] == "out\n" and answer["reason"] != "deadline"


def test_since_the_end_waits_and_is_empty(mux):
    ended(mux, "echo one")
    answer = mux.js("poll", "--since", "4", "-y", "250", "s")
    assert (answer["output"], answer["reason"], answer["from"], answer["to"]) == ("", "deadline", 4, 4)


def test_peek_moves_nothing(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "echo one; exec sleep 300").ok()
    wait_for(lambda: "one" in mux.js("poll", "--since", "0", "-y", "0", "s")["output"])
    views = [mux.js("poll", "--peek", "--reader", "r", "-y", "0", "s")["output"] for _ in range(2)]
    assert views == ["one\n", "one\n"]
    assert mux.js("poll", "--reader", "r", "-y", "0", "s")["output"] == "one\n"
    assert mux.js("poll", "--reader", "r", "-y", "0", "s")["output"] == ""


def test_readers_do_not_disturb_each_other(mux):
    ended(mux, "echo one")
    for reader in ("alice", "bob"):
        assert mux.js("poll", "--reader", reader, "-y", "0", "s")["output"] == "one\n"
        assert mux.js("poll", "--reader", reader, "-y", "0", "s")["output"] == ""


def test_readers_are_capped(mux):
    mux.configure("[limits]\nreaders = 3\n")
    ended(mux, "echo one")
    results = [mux.ue("poll", "--reader", f"r{n}", "-y", "0", "s") for n in range(8)]
    assert all(result.ok().answer["output"] == "one\n" for result in results)
    assert mux.js("poll", "--reader", "r7", "-y", "0", "s")["output"] == "", "the latest keeps its place"
    assert mux.js("poll", "--reader", "r0", "-y", "0", "s")["output"] == "one\n", "the longest unused one had to give its place up"


def test_late_reader_is_told_what_it_missed(mux):
    mux.configure("[limits]\njournal = 64k\nhead = 0\n")
    mux.ue("exec", "-n", "s", "-y", CAP * 1000, "--until", "END", "seq 1 100000; echo END; exec sleep 300")
    answer = mux.js("poll", "--since", "0", "-y", "0", "s")
    assert answer["omitted_bytes"] > 400_000 and answer["to"] == 588895 + 4 and answer["output"].endswith("100000\nEND\n")
    assert answer["from"] in (0, answer["omitted_bytes"])


def test_offsets_count_bytes_not_characters(mux):
    ended(mux, "printf 'é\\377\\n'")
    answer = mux.js("poll", "--since", "0", "-y", "0", "s")
    assert answer["to"] == 4 and answer["output"] == "é\ufffd\n"
    assert mux.js("poll", "--since", "2", "-y", "0", "s")["output"] == "\ufffd\n"


def test_ended_session_answers_with_its_status(mux):
    mux.ue("exec", "-n", "s", "echo x; exit 7")
    for _ in range(2):
        result = mux.ue("poll", "--json", "s")
        assert result.rc == 7 and result.json["state"] == "exited" and result.json["exit_code"] == 7
    assert mux.ue("poll", "--raw", "--since", "0", "s").out == "x\n"


def test_exit_has_no_deadline(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; exit 5").ok()
    process = mux.popen("poll", "--json", "--exit", "s")
    (mux.dir / "go").touch()
    result = mux.finish(process)
    assert result.rc == 5 and result.json["reason"] == "exit"


def test_default_cursor_moves_only_when_the_answer_was_taken(mux):
    client = mux.rpc()
    started = client.call("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done; head -c 900000 /dev/zero | tr '\\0' x; exec sleep 300",
                                           "workdir": str(mux.dir), "name": "s", "yield_time_ms": 250})
    (mux.dir / "go").touch()
    wait_for(lambda: mux.listed("s")["unread_bytes"] == 900_000)
    client.send("write_stdin", {"session_id": started["session_id"], "max_output_tokens": 262144})
    assert select.select([client.sock], [], [], CAP)[0]
    client.close()  # with most of the answer unread
    wait_for(lambda: mux.listed("s")["unread_bytes"] == 900_000, "the cursor to stay")
    answer = mux.js("poll", "-y", "250", "-m", "262144", "s")
    assert answer["from"] == 0 and answer["to"] == 900_000


def test_many_polls_give_every_byte_once(mux):
    """Calls of all kinds move the one cursor, each from where the one before it stopped."""
    wanted = "".join(f"{n}\n" for n in range(1, 60001))
    answer = mux.js("exec", "-n", "s", "-m", "262144", "-y", "0", "seq 1 60000")
    parts = [answer]
    while answer["state"] == "running" or answer["output"]:
        answer = mux.js("poll", "-m", "262144", "-y", "250", "s")
        parts.append(answer)
    assert "".join(part["output"] for part in parts) == wanted
    assert [part["from"] for part in parts] == [0, *(part["to"] for part in parts[:-1])]
    assert mux.ue("poll", "--raw", "--since", "0", "s").out == wanted


def test_a_poll_gives_what_was_there_before_it(mux):
    """It is printed and not read by anybody when the poll begins."""
    client, verb = mux.rpc(), {"_meta": {"verb": True}}
    client.call("exec_command", {"cmd": ["/bin/cat"], "stdin": True, "name": "s", "yield_time_ms": 0, **verb})
    for n in range(20):
        line = f"line {n}\n"
        client.call("write_stdin", {"session_id": "s", "chars": line, "peek": True, "yield_time_ms": 0, **verb})
        wait_for(lambda: mux.listed("s")["unread_bytes"] == len(line), "the line")
        answer = client.call("write_stdin" if n % 2 else "read_output", {"session_id": "s", "yield_time_ms": 0, **verb})
        assert answer["output"] == line


def test_two_readers_while_the_ring_wraps(mux):
    """One keeps up and loses nothing; the other one is told exactly how much it has lost each time."""
    mux.configure("[limits]\njournal = 64k\nhead = 0\n")
    client, whole, place = mux.rpc(), b"", {}
    client.call("exec_command", {"cmd": ["/bin/cat"], "stdin": True, "name": "s", "yield_time_ms": 0, "_meta": {"verb": True}})

    def read(reader):
        """What is new for this reader, and how much it has missed before that; nothing of it comes twice."""
        answer = client.call("read_output", {"session_id": "s", "encoding": "base64", "yield_time_ms": 0,
                                             "_meta": {"verb": True, "reader": reader}})
        assert answer["from"] == place.get(reader, 0)
        place[reader] = answer["to"]
        got = base64.b64decode(answer["output_base64"])
        assert got == whole[answer["to"] - len(got):answer["to"]] and answer["to"] - answer["from"] == len(got) + answer["omitted_bytes"]
        return len(got), answer["omitted_bytes"]

    for step in range(1, 31):
        piece = b"".join(b"%06d\n" % n for n in range(3000 * step, 3000 * (step + 1)))
        whole += piece
        client.call("write_stdin", {"session_id": "s", "chars": piece.decode(), "yield_time_ms": 0, "_meta": {"verb": True}})
        wait_for(lambda: mux.listed("s")["output_bytes"] == len(whole), "the piece")
        assert read("quick") == (len(piece), 0)
        if step % 10 == 0:
            got, missed = read("slow")
            assert got == 1 << 16 and missed == 10 * len(piece) - got
    assert place == {"quick": len(whole), "slow": len(whole)}


@pytest.mark.parametrize("options, text", [
    (("--since", "5"), "'since 5': the output of 's' ends at 4; give an offset from 0 to 4"),
    (("--since", "99999999"), "ends at 4"),
    (("--since", "3", "--to", "1"), "'to 1': lies before where reading begins, 3; give two offsets from 0 to 4"),
    (("--to", "2"), "'to 2': lies before where reading begins, 4"),
])
def test_a_range_that_is_none_is_an_error(mux, options, text):
    ended(mux, "echo one")
    assert mux.js("poll", "-y", "0", "s")["to"] == 4
    refused = mux.ue("poll", *options, "-y", "0", "s")
    assert refused.rc == 125 and text in refused.err and not refused.out, refused
    raw = mux.rpc().error("read_output", {"session_id": "s", "since": 5, "yield_time_ms": 0})
    assert raw.code == "arguments", raw


def test_ranges_that_touch_the_end_are_read(mux):
    ended(mux, "echo one")
    for options, output in ((("--since", "4"), ""), (("--since", "4", "--to", "4"), ""), (("--since", "1", "--to", "99"), "ne\n"),
                            (("--since", "2", "--to", "2"), "")):
        assert mux.js("poll", *options, "-y", "0", "s")["output"] == output
