"""ue events and the method `events`: what happens, numbered, exactly once, also over the death of the worker."""
import itertools, json, os, signal, subprocess

import pytest
from conftest import CAP, needs_root, wait_for

LIFE = ["created", "begin", "end"]


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def past(mux, *options):
    return lines(mux.ue("events", "--since", "1", "-y", "0", *options).ok())


def kinds(events):
    return [event["type"] for event in events]


def follow(mux, *options):
    """ue events in the background, already listening."""
    before = mux.js("status")["listeners"]
    process = mux.popen("events", *options)
    wait_for(lambda: mux.js("status")["listeners"] > before, "the listener")
    return process


def heard_until(mux, process, last):
    """All lines up to the first for which last(event); then it is interrupted, as a person would."""
    events = []
    while not events or not last(events[-1]):
        line = process.stdout.readline()
        assert line, f"it ended: {events[-3:]}"
        events.append(json.loads(line))
    process.send_signal(signal.SIGINT)
    result = mux.finish(process)
    assert result.rc in (130, -signal.SIGINT), result
    return events


def ends(*names):
    left = set(names)
    return lambda event: event["type"] == "end" and (left.discard(event["name"]) or not left)


@pytest.mark.no_pty
def test_output_is_told_to_those_who_ask_for_it(mux):
    every, asked = follow(mux), follow(mux, "-t", "all")
    mux.ue("exec", "-n", "a", "--no-login", "echo hi").ok()
    assert kinds(heard_until(mux, every, ends("a"))) == LIFE
    told = kinds(heard_until(mux, asked, ends("a")))
    assert [kind for kind, _ in itertools.groupby(told)] == ["created", "begin", "output", "end"]


@pytest.mark.smoke
@pytest.mark.no_pty
def test_the_life_of_a_command(mux):
    rpc = mux.rpc()
    rpc.call("exec_command", {"cmd": "echo hi; echo ho >&2; exit 3", "login": False, "name": "a", "workdir": str(mux.dir),
                              "_meta": {"call_id": "call_7", "client": "me"}})
    rpc.call("shell_command", {"command": "true", "login": False, "name": "b"})
    mux.ue("exec", "-n", "c", "--argv", "--", "/bin/echo", "x").ok()
    events = past(mux)
    assert kinds(events) == LIFE * 3 and [event["seq"] for event in events] == list(range(1, 10))
    created, begin, end = events[:3]
    assert begin["argv"] == ["/bin/bash", "-c", "echo hi; echo ho >&2; exit 3"] and begin["cwd"] == str(mux.dir) and begin["pid"] > 0
    for event in begin, end:
        assert event["call_id"] == "call_7" and event["client"] == "me" and event["source"] == "unified_exec_startup" and event["name"] == "a"
    assert end["exit_code"] == 3 and end["status"] == "failed" and end["state"] == "exited" and end["duration_seconds"] >= 0
    assert sorted(end["aggregated_output"].split()) == ["hi", "ho"] and end["omitted_bytes"] == 0
    assert events[4]["source"] == "agent" and events[5]["status"] == "completed" and "call_id" not in events[4]
    assert events[7]["source"] == "user_shell" and events[7]["argv"] == ["/bin/echo", "x"]


@pytest.mark.no_pty
def test_since_session_type_count(mux):
    for name in "ab":
        mux.ue("exec", "-n", name, "--no-login", "echo hi").ok()
    assert kinds(past(mux, "-t", "end", "--session", "b")) == ["end"]
    assert past(mux, "--session", str(mux.listed("a")["session_id"])) == past(mux, "--session", "a")
    assert [event["seq"] for event in lines(mux.ue("events", "--since", "3", "--count", "2"))] == [3, 4]
    assert "aggregated_output" not in past(mux, "-t", "end", "--max-bytes", "0")[0]
    assert mux.ue("events", "-y", "0").ok().out == ""
    wrong = mux.ue("events", "--type", "ends")
    assert wrong.rc == 64 and "did you mean 'end'" in wrong.err
    assert "unknown variant `ends`" in mux.rpc().error("events", {"types": ["ends"]}).message
    mux.ue("rm", "a").ok()
    assert past(mux, "-t", "removed")[0]["name"] == "a"
    assert past(mux, "-t", "end", "--session", "a")[0]["exit_code"] == 0  # its output is gone, the rest is told


@pytest.mark.no_pty
def test_a_command_that_can_not_be_started_is_told_nowhere(mux):
    mux.ue("exec", "--argv", "--", "/no/such/program")
    mux.call("exec_command", {"cmd": "true", "workdir": "/no/such"})
    assert past(mux) == []


def test_what_goes_on_in_a_terminal(mux):
    listening = follow(mux, "-t", "all")
    mux.shell("sh")
    mux.line("sh", "echo \u00e4\u00f6")
    mux.ue("resize", "sh", "30x100").ok()
    mux.ue("rename", "sh", "other").ok()
    mux.ue("rename", "other", "sh").ok()
    mux.ue("write", "sh", "-l", "read -rs secret", "--no-ready", "-y", "0").ok()
    wait_for(lambda: mux.listed("sh")["waiting_for"] == "secret", "the secret to be asked for")
    mux.ue("kill", "sh").ok()
    events = heard_until(mux, listening, ends("sh"))
    assert kinds(events)[:2] == ["created", "begin"] and kinds(events)[-1] == "end"
    text = "".join(event["text"] for event in events if event["type"] == "output")
    assert "echo \u00e4\u00f6\r\n\u00e4\u00f6" in text.replace("\x1b[?2004l\r", "").replace("\x1b[?2004h", "")
    spans = [(event["from"], event["to"]) for event in events if event["type"] == "output"]
    assert all(a[1] == b[0] for a, b in zip(spans, spans[1:])) and spans[0][0] == 0
    typed = [event for event in events if event["type"] == "interaction"]
    assert typed[0]["text"] == "echo \u00e4\u00f6\r" and typed[0]["by"] == "agent" and typed[0]["bytes"] == len("echo \u00e4\u00f6\r".encode())
    assert {"ready", "secret", "resize", "killed"} <= set(kinds(events))
    assert [e for e in events if e["type"] == "resize"][0]["cols"] == 100
    assert [e for e in events if e["type"] == "killed"][0]["by"] == "request"


def test_a_secret_is_never_told(mux):
    mux.configure("[defaults]\nagent_secrets = yes\n")
    mux.shell("sh")
    listening = follow(mux, "-t", "all", "--session", "sh", "-t", "end")
    mux.ue("write", "sh", "-l", "read -rs secret", "--no-ready", "-y", "0").ok()
    wait_for(lambda: mux.listed("sh")["waiting_for"] == "secret", "the secret to be asked for")
    mux.line("sh", "hunter2")
    mux.line("sh", "exit")
    events = heard_until(mux, listening, ends("sh"))
    assert "hunter2" not in json.dumps(events)
    hidden = [event for event in events if event.get("secret")]
    assert hidden and all("text" not in event for event in hidden) and hidden[0]["bytes"] >= len("hunter2")


@pytest.mark.no_pty
def test_pieces_of_output_end_at_characters_and_are_capped(mux):
    listening = follow(mux, "-t", "output", "-t", "end")
    mux.ue("exec", "-n", "a", "--argv", "--", "python3", "-c", "import os\nfor b in ('\u20ac' * 20000).encode(): os.write(1, bytes([b]))").ok()
    mux.ue("exec", "-n", "e", "--no-login", "echo err >&2").ok()
    events = heard_until(mux, listening, ends("a", "e"))
    pieces = [event for event in events if event["type"] == "output" and event["name"] == "a"]
    assert "".join(event["text"] for event in pieces) == "\u20ac" * 20000
    assert all(len(event["text"].encode()) <= 8192 and "\ufffd" not in event["text"] for event in pieces)
    assert {event["stream"] for event in events if event["type"] == "output" and event["name"] == "e"} == {"stderr"}
    assert [event["aggregated_output"] for event in events if event["type"] == "end"] == ["\u20ac" * 20000, "err\n"]


@pytest.mark.no_pty
def test_nothing_is_made_for_nobody(mux):
    mux.ue("exec", "-n", "a", "--no-login", "seq 1000").ok()
    assert set(kinds(past(mux, "-t", "all"))) == {"created", "begin", "end"}


@pytest.mark.no_pty
def test_who_falls_behind_is_told(mux):
    mux.configure("[limits]\nevents = 16k\n")
    for i in range(40):
        mux.ue("exec", "-n", f"s{i}", "--no-login", "true").ok()
    events = past(mux)
    gap = events[0]
    assert gap["type"] == "gap" and gap["since"] == 1 and gap["missed"] == events[1]["seq"] - 1 and gap["reason"] == "overwritten"
    seqs = [event["seq"] for event in events[1:]]
    assert seqs == list(range(seqs[0], 121)) and len(seqs) > 10
    far = mux.rpc().call("events", {"since": 5000, "yield_time_ms": 0})
    assert far["events"][0] == {"type": "gap", "since": 5000, "reason": "restarted"} and far["next"] == 121


@pytest.mark.no_pty
def test_lost_bytes_are_told_once(mux):
    mux.configure("[limits]\njournal = 64k\nhead = 4k\n")
    mux.ue("exec", "-n", "a", "--no-login", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; seq 100000", cwd=mux.dir).ok()
    (mux.dir / "go").touch()
    mux.ue("wait", "a").ok()
    lost = past(mux, "-t", "lost")
    assert len(lost) == 1 and lost[0]["lost_bytes"] > 0
    end = past(mux, "-t", "end")[0]
    assert end["omitted_bytes"] > 0 and "bytes omitted" in end["aggregated_output"] and end["aggregated_output"].endswith("100000\n")


@pytest.mark.no_pty
def test_once_each_over_deaths_of_the_worker(mux):
    listening = follow(mux, "-t", "created", "-t", "begin", "-t", "end", "-t", "output")
    for i in range(12):
        mux.ue("exec", "-n", f"s{i}", "--no-login", "-y", "0", f"echo {i}; while [ ! -e go{i % 3} ]; do sleep 0.01; done; exit {i}", cwd=mux.dir)
    for round_ in range(3):
        (mux.dir / f"go{round_}").touch()
        os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
        mux.ue("exec", "-n", f"r{round_}", "--no-login", f"echo round {round_}").ok()
    mux.ue("wait", *[f"s{i}" for i in range(12)])
    wait_for(lambda: len(past(mux, "-t", "end")) == 15, "all ends")
    told = past(mux)
    heard = heard_until(mux, listening, ends(*[f"s{i}" for i in range(12)], *[f"r{i}" for i in range(3)]))
    for events in told, [event for event in heard if event["type"] != "output"]:
        for name in [f"s{i}" for i in range(12)] + [f"r{i}" for i in range(3)]:
            assert [event["type"] for event in events if event["name"] == name] == LIFE, name
        seqs = [event["seq"] for event in events]
        assert seqs == sorted(set(seqs)), seqs
    assert {event["name"]: event["exit_code"] for event in told if event["type"] == "end" and event["name"][0] == "s"} == {f"s{i}": i for i in range(12)}
    for i in range(12):
        assert "".join(event["text"] for event in heard if event["type"] == "output" and event["name"] == f"s{i}") == f"{i}\n"


@pytest.mark.no_pty
def test_a_new_keeper_holds_them_too(mux):
    mux.ue("exec", "-n", "a", "--no-login", "true").ok()
    keeper = mux.js("status")["keeper_pid"]
    os.kill(keeper, signal.SIGKILL)
    wait_for(lambda: mux.js("status").get("keeper_pid", keeper) != keeper, "a new keeper")
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    mux.ue("exec", "-n", "b", "--no-login", "true").ok()
    assert [(event["seq"], event["name"], event["type"]) for event in past(mux)] == [
        (seq + 1, "ab"[seq // 3], LIFE[seq % 3]) for seq in range(6)]


@pytest.mark.no_pty
def test_the_reader_goes_away(mux):
    process = follow(mux)
    process.stdout.close()
    mux.ue("exec", "--no-login", "true").ok()
    process.wait(CAP)
    assert process.returncode in (141, -signal.SIGPIPE)
    mux.background.remove(process)
    wait_for(lambda: mux.js("status")["listeners"] == 0, "the daemon to see it")


@pytest.mark.no_pty
def test_many_listeners_and_one_that_does_not_read(mux):
    deaf = mux.rpc()
    for _ in range(32):
        deaf.send("events", {"since": 1, "types": ["all"], "yield_time_ms": 3000000})
    others = [mux.rpc() for _ in range(20)]
    waiting = [(rpc, rpc.send("events", {"since": 1, "types": ["end"], "yield_time_ms": 60000})) for rpc in others]
    mux.ue("exec", "-n", "big", "-m", "10", "--no-login", "seq 300000 | tail -c 1000000").ok()
    for rpc, id in waiting:
        assert kinds(rpc.result(id)["events"]) == ["end"]
    assert mux.ue("exec", "--no-login", "echo fine").ok().answer["output"] == "fine\n"


@pytest.mark.no_pty
def test_cancel(mux):
    rpc = mux.rpc()
    waiting = rpc.send("events", {"since": 1, "yield_time_ms": 3000000})
    assert rpc.call("cancel", {"id": waiting}) == {"cancelled": True}
    assert rpc.recv(waiting)["error"]["data"]["code"] == "cancelled"
    assert mux.js("status")["listeners"] == 0


@pytest.mark.no_pty
def test_a_patch_is_an_event_and_no_command(mux):
    patch = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"
    mux.rpc().call("exec_command", {"cmd": f"apply_patch <<'E'\n{patch}\nE", "workdir": str(mux.dir), "_meta": {"call_id": "p"}})
    (event,) = past(mux)
    assert event["type"] == "patch" and event["call_id"] == "p" and event["exit_code"] == 0 and event["files"] == [{"path": "f", "kind": "add"}]


def cpu_ticks(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.no_pty
def test_an_idle_daemon_with_a_listener_sleeps(mux):
    follow(mux, "-t", "end")
    pid = mux.rpc().call("hello")["pid"]
    switches = lambda: int(next(line.split()[1] for line in open(f"/proc/{pid}/status") if line.startswith("voluntary_ctxt")))

    def sleeps():
        before = switches()
        subprocess.run(["sleep", "1"], check=True)
        return switches() - before <= 2
    wait_for(sleeps, "a second without work")


def test_a_deadline_that_finds_no_room_holds_once_there_is_some(mux):
    """What waits for room on its connection is answered when there is some, also when nothing has happened."""
    mux.configure("[limits]\noutput_queue = 64k\n")
    mux.ue("exec", "-n", "much", "--exit", "head -c 1000000 /dev/zero").ok()
    reader, clock = mux.rpc(), mux.rpc()
    asked = reader.send("events", {"types": ["renamed"], "yield_time_ms": 1000})
    flood = reader.send("read_output", {"session_id": "much", "since": 0, "encoding": "base64", "max_bytes": 1 << 20, "_meta": {"verb": True}})
    clock.call("events", {"types": ["renamed"], "yield_time_ms": 1500})  # begun later, with more time: the other one's is over
    assert len(reader.result(flood)["output_base64"]) > 1000000
    assert reader.result(asked)["events"] == []
