"""One keyboard, an owner: a person's key takes it, agents wait or are refused; and who typed what is kept."""
import json
import os
import signal
import pytest
from conftest import CAP, wait_for
from frames import frames, person as somebody, receive, send, ue_at_terminal

WAIT = CAP * 1000
INPUT, TAKE, GIVE, DETACH = b"i", b"t", b"g", b"d"


def notice(peer, words):
    while words not in receive(peer, b"n").decode():
        pass


def holder(peer):
    """Who holds the keyboard, as the client is told of a change. Each notice tells it, too."""
    while "notice_row" in (status := json.loads(receive(peer, b"k"))):
        pass
    return status["keyboard"]


def owner(mux, name="sh"):
    return mux.listed(name)["keyboard"]["owner"]


def wait_owner(mux, word):
    wait_for(lambda: owner(mux) == word, f"the keyboard to be of {word}")


def log(mux, name="sh", **params):
    return mux.rpc().call("read_input", {"session_id": name, **params})


def entries(mux, name="sh"):
    return [(e["author"], e["kind"], e.get("text")) for e in log(mux, name)["entries"]]


def test_a_key_takes_it_and_agents_are_refused(mux):
    mux.shell()
    assert owner(mux) == "nobody"
    assert mux.ue("run", "sh", "echo from an agent").out == "from an agent\n" and owner(mux) == "agent"
    person = frames(mux, "sh")
    send(person, INPUT, b"echo from a person\r")
    wait_owner(mux, "person")
    held = mux.listed("sh")["keyboard"]
    assert held["uid"] == os.getuid() and held["pid"] == somebody(mux).pid and held["client"] == "tester" and held["since"].endswith("Z")
    refused = mux.ue("write", "-l", "sh", "echo again")
    assert refused.rc == 125 and "the keyboard is held by a person since " in refused.err, refused
    for verb in ("run", "sh", "true"), ("integrate", "sh"):
        assert (refused := mux.ue(*verb)).rc == 125 and "the keyboard is held by a person since " in refused.err, refused
    error = mux.rpc().error("write_stdin", {"session_id": "sh", "chars": "x\n"})
    assert error.code == "keyboard_held" and "write_stdin failed: " in error.error["data"]["content"]
    notice(person, "an agent wants to type")
    assert mux.js("status")["keyboards"]["sh"]["owner"] == "person"
    assert mux.js("screen", "sh")["keyboard"]["owner"] == "person"
    send(person, GIVE)
    wait_owner(mux, "nobody")
    assert "again" in mux.line("sh", "echo again")["output"]
    assert [(c["command"], c["who"]) for c in mux.js("history", "sh")["commands"]] == [
        ("echo from an agent", "agent"), ("echo from a person", "person"), ("echo again", "agent")]
    assert mux.js("status")["keyboards"] == {}


def test_taken_and_given_by_keys_of_attach(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, GIVE)
    notice(person, "don't have the keyboard")
    send(person, TAKE)
    assert holder(person) == "you"
    assert mux.ue("write", "-l", "sh", "x").rc == 125
    other = frames(mux, "sh")
    send(other, INPUT, b"#")
    assert holder(person) == "person"
    send(person, GIVE)  # the other one has it
    notice(person, "don't have the keyboard")
    assert owner(mux) == "person"


@pytest.mark.parametrize("way", ["detach", "vanish"])
def test_leaving_gives_it_back(mux, way):
    mux.shell()
    person = frames(mux, "sh")
    send(person, INPUT, b"#")
    wait_owner(mux, "person")
    if way == "detach":
        send(person, DETACH)
    else:
        person.close()
    wait_owner(mux, "nobody")


def test_idle_time_gives_it_back_to_who_waits(mux):
    mux.configure("[defaults]\nkeyboard_idle = 3s\n")
    mux.shell()
    person = frames(mux, "sh")
    send(person, INPUT, b"#")
    assert holder(person) == "you"
    said = mux.js("write", "--wait-keyboard", "-y", WAIT, "sh", "-k", "Enter", "-l", "echo late")
    assert said["reason"] == "ready" and owner(mux) in ("agent", "nobody"), said  # its time passes, too
    assert holder(person) in ("nobody", "agent")


def test_who_waits_writes_when_it_is_given_back(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, INPUT, b"echo per")
    wait_owner(mux, "person")
    waiting = mux.popen("write", "--json", "--wait-keyboard", "-y", WAIT, "-l", "sh", "echo agent")
    notice(person, "an agent wants to type")
    send(person, INPUT, b"son\r")
    send(person, GIVE)
    out = mux.finish(waiting).ok().json["output"]
    assert "agent" in out
    whole = mux.ue("poll", "--raw", "--since", "0", "sh").out
    assert "\nperson\r" in whole and "\nagent\r" in whole, whole


def test_a_wait_for_the_keyboard_ends_at_the_deadline(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, TAKE)
    wait_owner(mux, "person")
    refused = mux.ue("write", "--wait-keyboard", "-y", "200", "-l", "sh", "echo no")
    assert refused.rc == 125 and "held by a person" in refused.err
    send(person, GIVE)
    assert "no" not in mux.line("sh", "true")["output"]


def test_who_waits_and_goes_types_nothing(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, TAKE)
    wait_owner(mux, "person")
    client = mux.rpc()
    id = client.send("write_stdin", {"session_id": "sh", "chars": "echo never\n", "wait_keyboard": True, "yield_time_ms": 30000})
    notice(person, "an agent wants to type")
    client.call("cancel", {"id": id})
    send(person, GIVE)
    wait_owner(mux, "nobody")
    assert "never" not in mux.line("sh", "true")["output"]


def test_steal_needs_the_right(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, TAKE)
    wait_owner(mux, "person")
    refused = mux.ue("write", "--steal", "-l", "sh", "echo no")
    assert refused.rc == 126 and "keyboard_steal" in refused.err
    mux.configure("[defaults]\nkeyboard_steal = yes\n")
    mux.ue("reload").ok()
    refused = mux.ue("write", "--steal", "-l", "sh", "echo no")
    assert refused.rc == 126 and "person at a terminal" in refused.err and "scripts_may = steal" in refused.err, "it is for people"
    assert "stolen" in ue_at_terminal(mux, "write", "--steal", "-l", "sh", "echo stolen").ok().out
    assert owner(mux) == "person"
    mux.configure("[defaults]\nkeyboard_steal = yes\nscripts_may = steal\n")
    mux.ue("reload").ok()
    assert "by a script" in mux.ue("write", "--steal", "-l", "sh", "echo by a script").ok().out


def test_who_only_looks_never_has_it(mux):
    mux.shell()
    eyes = frames(mux, "sh", read_only=True)
    send(eyes, INPUT, b"echo never\r")
    send(eyes, TAKE)
    notice(eyes, "not yours to take")
    assert owner(mux) == "nobody" and "never" not in mux.line("sh", "true")["output"]


def test_focus_reports_are_no_keys(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, INPUT, b"\033[I")
    send(person, b"r")
    receive(person, b"a")
    assert owner(mux) == "nobody"


def test_input_log(mux):
    mux.shell()
    mux.call("write_stdin", {"session_id": "sh", "chars": "echo one\n", "_meta": {"call_id": "call_42", "client": "model"}}).ok()
    mux.ue("write", "sh", "-k", "C-a", "-k", "C-k").ok()
    mux.ue("write", "--paste", "sh", "two").ok()
    mux.ue("write", "sh", "-k", "C-u").ok()
    person = frames(mux, "sh")
    for byte in b"echo 3":
        send(person, INPUT, bytes([byte]))
    wait_owner(mux, "person")
    send(person, GIVE)
    wait_owner(mux, "nobody")
    mux.ue("write", "-y", 0, "sh", "-k", "Enter").ok()
    got = entries(mux)
    assert got[:4] == [("agent", "text", "echo one\n"), ("agent", "keys", "\x01\x0b"), ("agent", "paste", "two"),
                       ("agent", "keys", "\x15")], got
    assert got[4:] == [("person", "keys", None), ("person", "give", None), ("agent", "keys", "\r")], got
    first, *_, typed = log(mux)["entries"][:5]
    assert first["call_id"] == "call_42" and first["client"] == "model" and first["uid"] == os.getuid() and first["from"] == 0
    assert typed["bytes"] == 6 and typed["client"] == "tester" and typed["to"] - typed["from"] == 6
    assert log(mux)["next"] == 8 and [e["seq"] for e in log(mux, since=6)["entries"]] == [6, 7]


def test_input_log_can_be_waited_for(mux):
    mux.shell()
    client = mux.rpc()
    id = client.send("read_input", {"session_id": "sh", "since": 1, "yield_time_ms": WAIT, "_meta": {"verb": True}})
    mux.ue("write", "-y", 0, "sh", "x").ok()
    assert client.result(id)["entries"][0]["text"] == "x"
    assert client.call("read_input", {"session_id": "sh", "since": 9, "yield_time_ms": 50})["entries"] == []
    id = client.send("read_input", {"session_id": "sh", "since": 3, "yield_time_ms": WAIT, "_meta": {"verb": True}})
    mux.ue("kill", "sh").ok()
    while (got := client.result(id))["state"] == "running":  # the kill is an entry, too
        id = client.send("read_input", {"session_id": "sh", "since": 3, "yield_time_ms": WAIT, "_meta": {"verb": True}})
    assert got["state"] == "killed" and got["entries"] == []


def test_input_log_is_bounded(mux):
    mux.configure("[limits]\ninput_log = 4096\n")
    mux.ue("exec", "-n", "cat", "--stdin", "-y", 0, "cat >/dev/null", input=b"").ok()
    mux.ue("exec", "-t", "-n", "sink", "-y", 0, "cat >/dev/null").ok()
    client = mux.rpc()
    for n in range(40):
        client.call("write_stdin", {"session_id": "sink", "chars": f"{n}\n", "ready": False, "yield_time_ms": 0, "_meta": {"verb": True}})
    got = log(mux, "sink")
    assert got["lost"] == 25 and [e["text"] for e in got["entries"]] == [f"{n}\n" for n in range(25, 40)]


def test_it_survives_the_worker(mux):
    """A person who comes back keeps the keyboard; one who does not, loses it; the log is there."""
    mux.shell()
    mux.line("sh", "echo one")
    person = frames(mux, "sh")
    send(person, INPUT, b"echo two")
    wait_owner(mux, "person")
    since = mux.listed("sh")["keyboard"]["since"]
    for way in ("kill", "upgrade"):
        old = mux.js("status")["pid"]
        os.kill(old, signal.SIGKILL) if way == "kill" else mux.ue("upgrade").ok()
        wait_for(lambda: mux.js("status")["pid"] != old or way == "upgrade", "another worker")
        assert owner(mux) == "person" and mux.listed("sh")["keyboard"]["since"] == since
        assert mux.ue("write", "-l", "sh", "x").rc == 125
        person = frames(mux, "sh")  # the same process, as the client does by itself
        assert entries(mux)[0] == ("agent", "text", "echo one\r")
    send(person, GIVE)
    wait_owner(mux, "nobody")


def test_who_does_not_come_back_loses_it(mux):
    mux.shell()
    person = frames(mux, "sh")
    send(person, INPUT, b"#")
    wait_owner(mux, "person")
    old = mux.js("status")["pid"]
    os.kill(old, signal.SIGKILL)
    said = mux.js("write", "--wait-keyboard", "-y", WAIT, "sh", "-k", "C-c")
    assert said["reason"] == "ready" and mux.js("status")["pid"] != old
    assert owner(mux) == "agent"


def test_signals_and_sizes_are_in_the_log(mux):
    mux.shell()
    mux.ue("resize", "sh", "30x100").ok()
    mux.ue("kill", "-s", "INT", "sh").ok()
    mux.ue("exec", "-n", "pipe", "--stdin", "-y", 0, "--argv", "--", "sleep", "1000", input=b"")
    got = log(mux)["entries"]
    assert [(e["kind"], e.get("rows"), e.get("cols"), e.get("signal")) for e in got] == [("resize", 30, 100, None), ("signal", None, None, "INT")]
