"""What people and agents share at the edges: sessions that begin by attaching, whose size counts, who is told of the keyboard, and what
becomes of keys, secrets and the terminal when the daemon dies."""
import ctypes
import json
import os
import pty
import signal
import struct
import sys
import threading
import time
import pexpect
import pytest
from conftest import CAP, UE, wait_for
from frames import painted, person as somebody, ue_at_terminal
from test_keyboard import frames, notice, owner, receive, send, wait_owner
from test_secret import WORD, asks, give, taken

WAIT = CAP * 1000
KEYS, INPUT, GIVE = b"y", b"i", b"g"
# Reads its terminal as it comes and keeps every byte.
KEEPS = "import os,sys,tty; tty.setraw(0); f=open(sys.argv[1],'wb',0); os.write(1,b'go');\nwhile 1: f.write(os.read(0,4096))"


def attach(mux, *options, size=(24, 80)):
    return pexpect.spawn(str(UE), ["attach", *options], env=mux.env, cwd=mux.dir, dimensions=size, timeout=CAP)


def attached(mux, name, count=1):
    wait_for(lambda: (row := mux.listed(name)) and row.get("attached") == count, f"{count} attached to {name}")


def restarted(mux):
    old = mux.js("status")["pid"]
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: (found := mux.ue("status", "--json")).rc == 0 and found.json["pid"] != old, "another worker")


# --- which session

def test_attaching_starts_what_the_config_describes(mux):
    mux.configure("[session calc]\ncmd = cat\nstart = demand\ntty = yes\n[session hand]\ncmd = cat\nstart = manual\ntty = yes\n"
                  "[session bad]\nargv = /nowhere/program\nstart = demand\ntty = yes\n")
    person = attach(mux, "calc", size=(30, 90))
    person.send("hello\r")
    person.expect(painted("hello") + ".*" + painted("hello"))
    row = mux.listed("calc")
    assert row["state"] == "running" and (row["rows"], row["cols"]) == (30, 90)
    person.sendcontrol("d")
    person.expect("has ended")
    person = attach(mux, "calc")  # an ended one begins anew
    attached(mux, "calc")
    assert mux.listed("calc")["session_id"] != row["session_id"]
    person.send("\x1cd")
    person.expect("detached")
    for name, status, words in (("hand", 127, "no session 'hand'"), ("bad", 125, "/nowhere/program")):
        person = attach(mux, name)
        person.expect(words)
        person.expect(pexpect.EOF)
        person.close()
        assert person.exitstatus == status
    assert not mux.listed("hand")
    person = pexpect.spawn(str(UE), ["exec", "-a", "-n", "hand"], env=mux.env, cwd=mux.dir, dimensions=(31, 91), timeout=CAP)
    attached(mux, "hand")
    assert (mux.listed("hand")["rows"], mux.listed("hand")["cols"]) == (31, 91)
    person.send("\x1cd")
    person.expect("detached")


def test_a_new_shell(mux):
    """`ue new`: $SHELL in a session of that name, in the caller's place, shown at once; as `tmux new -s NAME`."""
    def new(*args):
        return pexpect.spawn(str(UE), ["new", *args], env={**mux.env, "SHELL": "/bin/sh", "PLACE": "here", "PS1": "sh> "}, cwd=mux.dir,
                             dimensions=(31, 91), timeout=CAP)
    for args, name in (["work"], "work"), (["-s", "tmux"], "tmux"), ([], "sh"), ([], "sh-2"), (["-C", "/", "-e", "PLACE=there", "root"], "root"):
        person = new(*args)
        attached(mux, name)
        row = mux.listed(name)
        assert (row["rows"], row["cols"], row["tty"], row["cwd"]) == (31, 91, True, "/" if name == "root" else str(mux.dir)) and "/bin/sh" in row["cmd"]
        person.send("echo $PLACE-$MUXD_SESSION\r")
        person.expect(painted(f"{'there' if name == 'root' else 'here'}-{name}"))
        person.send("\x1cd")
        person.expect_exact(f"session '{name}' goes on")
        person.expect(pexpect.EOF)
        person.close()
        assert person.exitstatus == 0
    person = new("work")  # as in tmux, a second one of that name is none
    person.expect("is the name of session")
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 125
    person = attach(mux, "work")
    attached(mux, "work")
    person.send("exit 3\r")
    person.expect("has ended")
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 3


def test_a_new_shell_without_a_terminal(mux):
    for words, status, said in ((["new"], 64, "shows a shell on your terminal"), (["new", "1"], 64, "shows a shell"), (["new", "a", "b"], 64, "'b': one operand"),
                                (["new", "-s", "x", "y"], 64, "shows a shell")):
        result = mux.ue(*words)
        assert result.rc == status and said in result.err, result
    for args, status, said in (["-s", "x", "y"], 64, "a name by -s already"), (["17"], 125, "'17'"), (["-C", "/no/such", "z"], 125, "/no/such"):
        person = pexpect.spawn(str(UE), ["new", *args], env=mux.env, cwd=mux.dir, timeout=CAP)
        person.expect_exact(said)
        person.expect(pexpect.EOF)
        person.close()
        assert person.exitstatus == status
    assert not mux.js("list", "--all")["sessions"]


def test_what_has_no_terminal_says_what_to_do(mux):
    mux.ue("exec", "-y", 0, "-n", "pipe", "sleep 300").ok()
    mux.ue("exec", "-t", "-n", "gone", "--exit", "true").ok()
    for name, words in (("pipe", "ue logs -f pipe"), ("gone", "ue screen gone")):
        person = attach(mux, name)
        person.expect_exact(words)


# --- whose size

def test_a_policy_for_one_session_outlives_the_worker(mux):
    mux.shell()
    mux.shell("other")
    assert mux.ue("resize", "sh", "smallest").out.endswith(", smallest\n")
    wide, low = attach(mux, "sh", size=(40, 120)), attach(mux, "sh", size=(20, 132))
    attached(mux, "sh", 2)
    row = lambda name="sh": ((r := mux.listed(name))["rows"], r["cols"])
    wait_for(lambda: row() == (20, 120), "the smallest")
    restarted(mux)
    attached(mux, "sh", 2)
    assert row() == (20, 120) and mux.listed("sh")["size_policy"] == "smallest" and "size_policy" not in mux.listed("other")
    mux.ue("resize", "sh", "largest").ok()
    wait_for(lambda: row() == (40, 132), "the largest")
    mux.ue("resize", "sh", "fixed").ok()
    low.setwinsize(10, 30)
    low.send("x")
    wait_for(lambda: owner(mux) == "person", "the key")
    assert row() == (40, 132)
    ue_at_terminal(mux, "resize", "sh", "config").ok()  # the keyboard is a person's
    low.send("y")
    wait_for(lambda: row() == (10, 30), "that of who typed")
    assert "size_policy" not in mux.listed("sh")
    assert mux.ue("resize", "sh", "biggest").rc == 64
    assert mux.rpc().error("resize_session", {"session_id": "sh"}).code == "arguments"
    assert mux.rpc().error("resize_session", {"session_id": "sh", "policy": "fixed", "rows": 3, "cols": 3}).code == "arguments"
    mux.ue("exec", "-y", 0, "-n", "pipe", "sleep 300").ok()
    assert mux.rpc().error("resize_session", {"session_id": "pipe", "policy": "fixed"}).code == "not_available"
    wide.close(force=True)


def test_a_size_set_by_hand_outlives_the_worker(mux):
    mux.shell()
    person = attach(mux, "sh", size=(30, 90))
    row = lambda: ((r := mux.listed("sh"))["rows"], r["cols"])
    attached(mux, "sh")
    wait_for(lambda: row() == (30, 90), "the person's size")
    mux.ue("resize", "sh", "12x50").ok()
    for _ in range(2):
        restarted(mux)
        attached(mux, "sh")
        person.send("x")
        wait_for(lambda: owner(mux) == "person", "the key")
        assert row() == (12, 50)
    person.setwinsize(31, 91)
    wait_for(lambda: row() == (31, 91), "the terminal's own new size")


# --- the keyboard

def test_changes_of_owner_are_events(mux):
    """Idle time may pass between any two steps on a slow machine: then the keyboard is nobody's in between, and that is told, too."""
    mux.configure("[defaults]\nkeyboard_idle = 300ms\n")
    mux.shell()
    somebody(mux)
    rpc, told = mux.rpc(), []
    since = [rpc.call("events", {"types": ["keyboard"], "yield_time_ms": 0})["next"]]

    def owners_until(*wanted):
        while not any(told[at:at + len(wanted)] == list(wanted) for at in range(len(told))):
            answer = rpc.call("events", {"types": ["keyboard"], "since": since[0], "yield_time_ms": 30000})
            assert answer["events"] and all(event["name"] == "sh" for event in answer["events"])
            told.extend(event["owner"] for event in answer["events"])
            since[0] = answer["next"]
        assert all(one != other for one, other in zip(told, told[1:])), "each is a change"
        del told[:-1]
    mux.line("sh", "echo one")
    mux.line("sh", "echo two")  # no change, unless time has passed
    owners_until("agent")
    person = frames(mux, "sh")
    send(person, INPUT, b"x")
    owners_until("person", "nobody")  # the last by idle time, though nobody asks
    send(person, INPUT, b"y")
    owners_until("person")
    person.close()
    owners_until("nobody")


# --- keys

def keys(peer, number, data):
    send(peer, KEYS, struct.pack("<Q", number) + data)


def test_keys_sent_again_are_typed_once(mux):
    kept = mux.dir / "kept"
    mux.session("keeps", sys.executable, "-c", KEEPS, kept, options=("--argv", "--until", "go"))
    person = frames(mux, "keeps")
    for number, data in ((5, b"a"), (6, b"b"), (6, b"b"), (0, b"z"), (0, b"z")):  # 0: has no number
        keys(person, number, data)
        assert struct.unpack("<Q", receive(person, KEYS))[0] == number
    restarted(mux)
    person = frames(mux, "keeps")
    for number, data in ((6, b"b"), (7, b"c"), (7, b"c")):
        keys(person, number, data)
        assert struct.unpack("<Q", receive(person, KEYS))[0] == number
    wait_for(lambda: len(kept.read_bytes()) >= 5, "the keys")
    assert kept.read_bytes() == b"abzzc"
    send(person, KEYS, b"short")  # no number: typed as nothing
    keys(person, 8, b"d")
    wait_for(lambda: kept.read_bytes() == b"abzzcd", "the next key")


def test_no_key_is_lost_or_doubled_while_the_worker_dies(mux):
    kept = mux.dir / "kept"
    mux.session("keeps", sys.executable, "-c", KEEPS, kept, options=("--argv", "--until", "go"))
    person = attach(mux, "keeps")
    attached(mux, "keeps")
    reader = threading.Thread(target=lambda: person.expect(pexpect.EOF), daemon=True)
    reader.start()
    sent, done = b"", threading.Event()

    def kill():
        for _ in range(6):
            restarted(mux)
        done.set()
    killer = threading.Thread(target=kill)
    killer.start()
    count = 0
    while not done.is_set() or count < 200:
        data = b"%d," % count
        os.write(person.child_fd, data)
        sent += data
        count += 1
        time.sleep(0.001)  # as a person who types fast
    killer.join()
    wait_for(lambda: len(kept.read_bytes()) >= len(sent), "all keys")
    assert kept.read_bytes() == sent
    os.write(person.child_fd, b"\x1cd")
    reader.join(CAP)


def test_keys_typed_before_leaving_arrive(mux):
    kept = mux.dir / "kept"
    mux.session("keeps", sys.executable, "-c", KEEPS, kept, options=("--argv", "--until", "go"))
    for count in range(10):
        person = attach(mux, "keeps")
        person.expect("go")
        person.send("k" * 3000 + "\x1cd")
        person.expect("detached")
        wait_for(lambda: len(kept.read_bytes()) == 3000 * (count + 1), "the keys before the last ones")


# --- secrets

def test_keys_typed_before_leaving_arrive_though_the_worker_dies(mux):
    """It has not read them, or has not said so: its successor gets them from who leaves, once."""
    mux.session("count", "stty -echo; while read line; do echo \"<$line>\"; done")
    for number in range(3):
        worker = json.loads(mux.ue("status", "--json").out)["pid"]
        person = attach(mux, "count")
        attached(mux, "count")
        person.send(f"seen{number}\r")
        person.expect(painted(f"<seen{number}>"))
        os.kill(worker, signal.SIGSTOP)
        person.send(f"last{number}\r\x1cd")
        person.expect_exact("\x1b[?1049l")  # its terminal is back; it waits for the daemon
        os.kill(worker, signal.SIGKILL)
        person.expect_exact("detached; session 'count' goes on")
        person.expect(pexpect.EOF)
        wait_for(lambda: f"<last{number}>" in mux.js("poll", "--since", 0, "--peek", "count")["output"], "what was typed last")
    out = mux.js("poll", "--since", 0, "--peek", "count")["output"]
    assert [line for line in out.split("\r\n") if line] == [f"<{word}{n}>" for n in range(3) for word in ("seen", "last")], out


MEMFD_SECRET = 447  # on every kind of machine


def without_secret_memory():
    """In the child: a kernel that has no memfd_secret(2), by a filter that refuses it."""
    code = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, MEMFD_SECRET, 0x06, 0, 0, 0x00050000 | 38, 0x06, 0, 0, 0x7fff0000)
    room = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(room)), 16)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP


def has_secret_memory():
    fd = ctypes.CDLL(None).syscall(MEMFD_SECRET, 0)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


@pytest.mark.skipif(not has_secret_memory(), reason="this kernel has no memfd_secret(2)")
def test_a_staged_secret_outlives_the_worker_and_is_typed_once(mux):
    mux.shell()
    mux.shell("other")
    assert give(mux, "--stage").rc == 0 and give(mux, "--stage", name="other").rc == 0
    for way in ("kill", "kill", "upgrade", "keeper", "kill"):
        status = mux.js("status")
        if way == "keeper":
            os.kill(status["keeper_pid"], signal.SIGKILL)
            wait_for(lambda: mux.js("status").get("keeper_pid", status["keeper_pid"]) != status["keeper_pid"], "a new keeper")
        elif way == "upgrade":
            mux.ue("upgrade").ok()
        else:
            restarted(mux)
        row = mux.listed("sh")["keyboard"]
        assert row["secret_staged"] is True and "secret_lost" not in row, way
    assert mux.ue("secret", "--forget", "other").rc == 0
    prompt = "read -s -p 'pass: ' x; echo; echo got ${#x}"
    assert f"got {len(WORD)}" in mux.line("sh", prompt)["output"]
    for _ in range(2):
        assert "secret_staged" not in mux.listed("sh")["keyboard"] and "secret_staged" not in mux.listed("other")["keyboard"]
        restarted(mux)
    said = mux.line("sh", prompt)
    assert said["waiting_for"] == "secret", said
    assert mux.line("other", prompt)["waiting_for"] == "secret"


@pytest.mark.skipif(not has_secret_memory(), reason="this kernel has no memfd_secret(2)")
def test_the_time_of_a_staged_secret_goes_on_without_the_worker(mux):
    mux.shell()
    assert give(mux, "--stage", "--expire", "2s").rc == 0
    restarted(mux)
    wait_for(lambda: "secret_staged" not in mux.listed("sh")["keyboard"], "the end of its time")
    assert "secret_lost" not in mux.listed("sh")["keyboard"]


def test_a_staged_secret_that_a_restart_has_taken_is_told(mux):
    mux.finish(mux.popen("start", preexec_fn=without_secret_memory)).ok()
    mux.shell()
    assert give(mux, "--stage").rc == 0
    assert mux.listed("sh")["keyboard"]["secret_staged"] is True
    restarted(mux)
    row = mux.listed("sh")["keyboard"]
    assert row.get("secret_lost") is True and "secret_staged" not in row
    events = mux.rpc().call("events", {"since": 1, "yield_time_ms": 0, "types": ["secret_lost"]})["events"]
    assert [event["name"] for event in events] == ["sh"]
    person = frames(mux, "sh")
    send(person, INPUT, b"read -s -p 'pass: ' x; echo; echo got ${#x}\r")
    notice(person, "the staged one is gone")
    assert give(mux).rc == 0
    taken(mux)
    assert "secret_lost" not in mux.listed("sh")["keyboard"]
    restarted(mux)
    assert "secret_lost" not in mux.listed("sh")["keyboard"]  # told once
    assert give(mux, "--stage").rc == 0 and mux.ue("secret", "--forget", "sh").rc == 0
    restarted(mux)
    assert "secret_lost" not in mux.listed("sh")["keyboard"]


# --- the person's terminal

@pytest.mark.parametrize("way", ["killed", "stopped"])
def test_the_terminal_is_given_back_when_the_daemon_is_gone(mux, way):
    """The worker, its keeper and its sentinel at once, or ue stop."""
    mux.ue("exec", "-t", "-n", "sh", "-y", 0, r"printf '\e[?1049h\e[?1000h\e[?2004h\e[?25l'; exec cat").ok()
    shell = pexpect.spawn("/bin/sh", env={**mux.env, "PS1": ""}, cwd=mux.dir, timeout=CAP, echo=False)
    shell.sendline(f"stty -g; {UE} attach sh; echo left=$?; stty -g; echo end")
    shell.expect(r"([0-9a-f]+(:[0-9a-f]+)+)\r")
    before = shell.match.group(1)
    shell.expect_exact("\x1b[?2004h")
    attached(mux, "sh")
    if way == "stopped":
        mux.ue("stop").ok()
    else:
        # Keeper and worker start each other anew, so all stand still before the first one dies. The keeper dies last: a stopped
        # child of a dead one is woken by the kernel (setpgid(2), orphaned process groups).
        stopped, keeper = set(), mux.js("status")["keeper_pid"]
        while fresh := set(mux.daemons()) - stopped:
            for pid in fresh:
                os.kill(pid, signal.SIGSTOP)
            stopped |= fresh
        for pid in sorted(stopped, key=lambda pid: pid == keeper):
            os.kill(pid, signal.SIGKILL)
    shell.expect(r"left=(\d+)")
    left, out = int(shell.match.group(1)), shell.before
    shell.expect(r"([0-9a-f]+(:[0-9a-f]+)+)\r")
    assert shell.match.group(1) == before and left != 0
    for back in (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?2004l", b"\x1b[?25h"):
        assert back in out, (back, out)
    shell.close(force=True)


# --- recordings

def test_commands_of_people_are_markers_and_secrets_are_not(mux):
    mux.shell()
    path = mux.dir / "a.cast"
    mux.ue("record", "sh", path).ok()
    mux.line("sh", "echo from an agent")
    person = attach(mux, "sh")
    person.expect("sh> ")
    for typed, shown in (("echo by hand", "by hand"), ("read -s -p 'pass: ' x; echo; echo got ${#x}", "pass: ")):
        person.send(typed)
        person.expect(painted(typed))
        person.send("\r")
        person.expect(painted(shown))
    person.send("hunter2\r")
    person.expect(painted("got 7"))
    wait_for(lambda: mux.js("screen", "sh")["screen"].rstrip().endswith("sh>"), "the prompt")
    person.send("clear; printf '\\033[?1049h'; read y")
    person.expect(painted("read y"))
    person.send("\r")
    wait_for(lambda: mux.js("screen", "sh")["alternate"], "the alternate screen")
    person.send("in a full-screen program\r")
    mux.ue("record", "--stop", "sh").ok()
    lines = path.read_text().splitlines()
    assert [event[2] for event in map(json.loads, lines[1:]) if event[1] == "m"] == [
        "/bin/bash --norc --noprofile -i", "echo from an agent", "sh> echo by hand", "sh> read -s -p 'pass: ' x; echo; echo got ${#x}",
        "sh> clear; printf '\\033[?1049h'; read y"]
    assert "hunter2" not in path.read_text()
