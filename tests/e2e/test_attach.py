"""ue attach: a session shown on a terminal, which here is another session's: what both screens show must be equal."""
import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path
import pytest
from conftest import CAP, SANITIZED, UE, need, wait_for
from frames import frames, receive, send

WAIT = CAP * 1000
PREFIX = "C-\\"
INPUT, RESIZE, REDRAW, DETACH = b"i", b"s", b"r", b"d"


# The tests type from both sides in turn; and the terminal of ue attach is that of a session, below which muxd sees no person.
AGENTS = "[defaults]\nkeyboard_idle = 1ms\nscripts_may = attach keyboard\n"


@pytest.fixture(autouse=True)
def agents_may_type(mux):
    mux.configure(AGENTS)


def screen(mux, name, *options):
    return mux.js("screen", "-y", WAIT, *options, name)


def shown(mux, name, words):
    """Waits until the screen holds the words; its text."""
    answer = screen(mux, name)
    end = time.monotonic() + CAP
    while words not in answer["screen"]:
        assert time.monotonic() < end, f"{words!r} is not shown by {name}: {answer['screen']}"
        answer = screen(mux, name, "--wait-change", answer["hash"], "-y", 500)
    return answer["screen"]


def looks(mux, name):
    answer = screen(mux, name, "--ansi")
    return answer["screen"], answer["cursor"], answer["rows"], answer["cols"]


def same(mux, inner="inner", outer="outer"):
    """Waits until both screens are equal to the last colour and the cursor."""
    end = time.monotonic() + CAP
    while (a := looks(mux, inner)) != (b := looks(mux, outer)):
        assert time.monotonic() < end, f"differ:\n{a}\n{b}"
        screen(mux, outer, "--stable", 50, "-y", 500)


def attached(mux, name="inner"):
    return mux.listed(name).get("attached")


def there(mux, outer="outer", inner="inner", count=1):
    """Waits until it is attached and its terminal raw, which it is before the alternate screen: what is typed earlier, the terminal takes."""
    wait_for(lambda: attached(mux, inner) == count and mux.js("screen", "--cursor", outer).get("alternate"), "the attachment")


def start(mux, name, *argv, size="24x80", env=()):
    mux.ue("exec", "--json", "-t", "-n", name, "--size", size, "-y", 0, "-e", "PS1=sh> ", *env, "--argv", "--", *argv).ok()


def bash(mux, name="inner", size="24x80"):
    start(mux, name, "/bin/bash", "--norc", "--noprofile", "-i", size=size)
    shown(mux, name, "sh>")


def attach(mux, *options, inner="inner", outer="outer", size="24x80"):
    """ue attach in a session of its own, there once it shows the other one."""
    before = attached(mux, inner)
    start(mux, outer, str(UE), "attach", *options, inner, size=size)
    there(mux, outer, inner, before + 1)
    screen(mux, outer, "--stable", 50)


def keys(mux, name, *words):
    """What ends over them may have ended by the answer, and then its status is that of ue."""
    mux.js("write", "-y", 0, name, *[part for word in words for part in ("-k", word)])


def text(mux, name, words):
    mux.js("write", "-y", 0, "-l", name, words)


def worker(mux):
    return mux.js("status")["pid"]


# --- what is shown

def test_the_screen_as_it_is_and_as_it_goes_on(mux):
    bash(mux)
    text(mux, "inner", r"seq 50; printf '\e[1;31mred\e[0;44m blue \e[m 你好 e\u0301 \U1F600 end\n'")
    shown(mux, "inner", "end\n")
    attach(mux)
    same(mux)
    text(mux, "outer", r"printf '\e]2;a title\a\e[5;10Hhere\e[?25l'")
    shown(mux, "inner", "here")
    same(mux)
    wait_for(lambda: screen(mux, "outer")["title"] == "a title", "the title")
    assert screen(mux, "outer")["cursor"]["visible"] is False
    keys(mux, "outer", PREFIX, "d")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0
    assert mux.listed("inner")["state"] == "running" and attached(mux) == 0


def test_vim_key_by_key(mux):
    need("vim")
    start(mux, "inner", "vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set nocp ruler noshowcmd", env=("-e", "TERM=xterm-256color"))
    shown(mux, "inner", "~")
    attach(mux)
    same(mux)
    for key in ("i", "a", "b", "Enter", "c", "Escape", "k", "x", "o", "z", "Escape", "Up", "End"):
        keys(mux, "outer", key)
        screen(mux, "inner", "--stable", 60)
        same(mux)
    assert screen(mux, "inner")["screen"].startswith("b\nz\nc\n")


def test_python_line_editing(mux):
    start(mux, "inner", "python3", "-q")
    shown(mux, "inner", ">>>")
    attach(mux)
    text(mux, "outer", "print(6 * 7)")
    shown(mux, "outer", "42")
    keys(mux, "outer", "Up", "Left", "0", "Enter")
    shown(mux, "outer", "420")
    same(mux)


def test_random_bytes_leave_equal_screens(mux):
    """Margins, character sets, wide characters and broken UTF-8 in pieces, while somebody looks."""
    # It sleeps between its pieces, so that there are many drawings.
    (mux.dir / "gen.py").write_text(
        "import random, sys, time\n"
        "r = random.Random(7)\n"
        "pool = [b'abc', b'\\r\\n', '你'.encode(), b'\\xff', 'e\\u0301'.encode(), b'\\x1b[3;9r', b'\\x1b[%dm', b'\\x1b[%d;%dH', b'\\x1b[K', b'\\x1b[2J',\n"
        "        b'\\x1b[%dL', b'\\x1b[%dM', b'\\x1b[%dP', b'\\x1b[%d@', b'\\x1bM', b'\\x1b[?7l', b'\\x1b[?7h', b'\\x1b(0qx\\x1b(B', b'\\t', b'\\x1b[?1049h',\n"
        "        b'\\x1b[?1049l', b'\\x1b[38;2;1;%d;3m', b'\\x1b[48;5;%dm', b'\\x1b]2;t%d\\x07', b'\\x1b[6n', b'\\x1b[?25l', b'\\x1b[?25h']\n"
        "for _ in range(60):\n"
        "    out = b''\n"
        "    for _ in range(40):\n"
        "        p = r.choice(pool)\n"
        "        out += p % tuple(r.randrange(1, 40) for _ in range(p.count(b'%d'))) if b'%' in p else p\n"
        "    sys.stdout.buffer.write(out); sys.stdout.flush(); time.sleep(0.005)\n"
        "sys.stdout.buffer.write(b'\\x1b]2;DONE\\x07'); sys.stdout.flush()\n"
        "sys.stdin.read()\n")
    start(mux, "inner", "/bin/sh", "-c", f"stty raw -echo; read -n1 x 2>/dev/null || head -c1 >/dev/null; exec python3 {mux.dir}/gen.py")
    attach(mux)
    mux.ue("write", "-y", 0, "inner", "x").ok()
    wait_for(lambda: screen(mux, "outer")["title"] == "DONE", "the last title")
    same(mux)


def test_flood_then_the_last_screen(mux):
    bash(mux)
    attach(mux)
    text(mux, "outer", "seq 300000; echo over")
    shown(mux, "outer", "over")
    same(mux)
    mux.ue("write", "-y", 0, "-l", "outer", "yes flood").ok()
    shown(mux, "outer", "flood\nflood\nflood")
    keys(mux, "outer", "C-c")
    text(mux, "outer", "echo quiet again")
    shown(mux, "outer", "\nquiet again\n")
    same(mux)


def test_queries_and_clipboard_never_reach_the_viewer(mux):
    bash(mux)
    attach(mux)
    own = mux.js("poll", "--since", "0", "outer")["to"]  # what ue itself asks lies before
    text(mux, "outer", r"printf '\e[6n\e[c\e]52;c;aGVsbG8=\a\e]11;?\a\e[>q'; sleep 0.1; clear; echo done")
    shown(mux, "outer", "done\n")
    out = mux.ue("poll", "--raw", "--since", own, "outer").raw
    for query in (b"\x1b[6n", b"\x1b[c", b"\x1b]52;", b"\x1b[>q", b"\x1b]11;"):
        assert query not in out, query


# --- the person's own terminal

@pytest.mark.parametrize("way", ["detach", "end", "TERM", "HUP"])
def test_terminal_is_given_back(mux, way):
    bash(mux)
    bash(mux, "outer")
    text(mux, "outer", "stty -g > before; echo $?-before")
    shown(mux, "outer", "0-before")
    text(mux, "outer", f"{UE} attach inner; echo left=$?")
    there(mux, "outer")
    text(mux, "outer", r"printf '\e[?1000h\e[?2004h\e[?1h\e[?25l'; echo modes")
    shown(mux, "outer", "modes\n")
    if way == "detach":
        keys(mux, "outer", PREFIX, "d")
        wanted = "left=0"
    elif way == "end":
        text(mux, "outer", "exit 7")
        wanted = "left=7"
    else:
        number = getattr(signal, "SIG" + way)
        client = clients(mux)
        os.kill(client[0], number)
        wanted = f"left={128 + number}"
    shown(mux, "outer", wanted)
    assert not screen(mux, "outer")["alternate"] and screen(mux, "outer")["cursor"]["visible"]
    text(mux, "outer", "stty -g > after; cmp before after && echo equal")
    shown(mux, "outer", "\nequal\n")
    assert wait_for(lambda: mux.listed("inner")["state"] != "running" or attached(mux) == 0, "no attachment")


def clients(mux, outer="outer"):
    """Each `ue attach` that the shell of that session has started."""
    shell, found = mux.listed(outer)["pid"], []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            args = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == shell and args[0] == str(UE).encode() and b"attach" in args:
            found.append(pid)
    return found


def test_job_control(mux):
    bash(mux)
    bash(mux, "outer")
    text(mux, "outer", f"{UE} attach inner")
    there(mux, "outer")
    keys(mux, "outer", "C-z")
    text(mux, "outer", "echo in the session")
    shown(mux, "inner", "\nin the session\n")
    keys(mux, "outer", PREFIX, "z")
    assert "in the session" not in shown(mux, "outer", "Stopped")
    text(mux, "outer", "fg")
    shown(mux, "outer", "\nin the session\n")
    same(mux)
    keys(mux, "outer", PREFIX, "d")
    shown(mux, "outer", "detached; session 'inner' goes on")


def test_prefix_itself_help_and_another_prefix(mux):
    bash(mux)
    text(mux, "inner", "cat -v")
    attach(mux)
    keys(mux, "outer", PREFIX, "?")
    shown(mux, "outer", "Any key goes back")
    keys(mux, "outer", "Escape", "C-v", PREFIX, PREFIX, "Enter")
    shown(mux, "outer", "^\\")
    same(mux)
    keys(mux, "outer", PREFIX, "d")
    mux.wait_state("outer", "exited")
    attach(mux, "--prefix", "C-a", outer="other")
    keys(mux, "other", "C-a", "d")
    mux.wait_state("other", "exited")
    assert run_on_terminal(mux, "attach", "--prefix", "x", "inner")[0] == 64


# --- the daemon

def test_worker_killed_while_attached(mux):
    bash(mux)
    attach(mux)
    text(mux, "outer", "echo before")
    shown(mux, "outer", "\nbefore\n")
    for count in range(2):
        old = worker(mux)
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: worker(mux) != old, "a new worker")
        wait_for(lambda: attached(mux) == 1, "the attachment to the new worker")
        text(mux, "outer", f"echo after {count}")
        shown(mux, "outer", f"\nafter {count}\n")
        same(mux)


def test_stop_ends_with_words(mux):
    bash(mux)
    master, slave = os.openpty()
    client = mux.popen("attach", "inner", stdin=slave, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    wait_for(lambda: attached(mux) == 1, "the attachment")
    mux.ue("stop").ok()
    _, err = client.communicate(timeout=CAP)
    mux.background.remove(client)
    os.close(master)
    assert b"has ended (killed)" in err and client.returncode >= 128, (client.returncode, err)


def test_two_people_and_one_who_looks(mux):
    bash(mux)
    attach(mux, outer="one")
    attach(mux, "-r", outer="eyes", size="10x40")
    attach(mux, outer="two", size="24x80")
    assert attached(mux) == 3
    text(mux, "one", "echo from one")
    text(mux, "two", "echo from two")
    shown(mux, "inner", "\nfrom two\n")
    same(mux, outer="one")
    same(mux, outer="two")
    text(mux, "eyes", "echo never typed")
    shown(mux, "eyes", "looking only")
    assert "never typed" not in screen(mux, "inner", "--stable", 100)["screen"]
    assert mux.listed("inner")["rows"] == 24
    keys(mux, "eyes", PREFIX, "d")
    mux.wait_state("eyes", "exited")
    wait_for(lambda: attached(mux) == 2, "one less")


def test_read_only_is_the_daemons_to_enforce(mux):
    bash(mux)
    peer = frames(mux, "inner", read_only=True)
    send(peer, INPUT, b"echo never typed\n")
    send(peer, RESIZE, b"5x5")
    while b"looking only" not in receive(peer, b"n"):
        pass
    assert "never typed" not in screen(mux, "inner", "--stable", 100)["screen"] and mux.listed("inner")["rows"] == 24


def test_size_of_who_typed_last(mux):
    bash(mux)
    attach(mux, outer="small", size="20x60")
    wait_for(lambda: (mux.listed("inner")["rows"], mux.listed("inner")["cols"]) == (20, 60), "the size at the start")
    attach(mux, outer="large", size="40x120")
    wait_for(lambda: mux.listed("inner")["rows"] == 40, "the size of who came last")
    text(mux, "small", "stty size")
    shown(mux, "inner", "\n20 60\n")
    for rows in range(25, 45):
        mux.ue("resize", "large", f"{rows}x100").ok()
    wait_for(lambda: (mux.listed("inner")["rows"], mux.listed("inner")["cols"]) == (44, 100), "the last of many sizes")
    text(mux, "inner", "clear; echo resized")
    shown(mux, "large", "resized")
    same(mux, outer="large")


def test_who_does_not_read_slows_nobody_and_costs_little(mux):
    bash(mux)
    stalled = [frames(mux, "inner") for _ in range(10)]
    attach(mux)

    def memory():
        return int(next(line for line in Path(f"/proc/{worker(mux)}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])

    before = memory()
    text(mux, "outer", "seq 400000; echo flood over")
    shown(mux, "outer", "flood over")
    text(mux, "outer", "clear; echo still quick")
    shown(mux, "outer", "still quick")
    assert SANITIZED or memory() - before < 40000, "kB"
    seen = b""
    while b"still quick" not in seen:
        seen += receive(stalled[0], b"o")
    assert len(seen) < 4_000_000, "a stalled viewer gets the last screen, not what was between"


def test_frames_in_any_pieces_and_wrong_ones(mux):
    bash(mux)
    peer = frames(mux, "inner")
    for byte in b"i" + struct.pack("<I", 10) + b"echo bytes" + b"i" + struct.pack("<I", 1) + b"\r" + b"?" + struct.pack("<I", 2) + b"xx":
        peer.send_raw(bytes([byte]))
    shown(mux, "inner", "\nbytes\n")
    send(peer, RESIZE, b"no size")
    assert b"size" in receive(peer, b"n")
    send(peer, REDRAW)
    assert b"\x1b[2J" in receive(peer, b"o")
    peer.send_raw(b"i" + struct.pack("<I", 1 << 30))
    while peer.sock.recv(1 << 16):
        pass
    wait_for(lambda: attached(mux) == 0, "the attachment to be gone")
    other = frames(mux, "inner")
    send(other, DETACH)
    while other.sock.recv(1 << 16):
        pass
    assert mux.listed("inner")["state"] == "running"


def test_other_requests_in_flight_are_refused(mux):
    bash(mux)
    peer = mux.rpc()
    waiting = peer.send("read_output", {"session_id": "inner", "until": "never", "yield_time_ms": 300000})
    assert peer.error("attach", {"session_id": "inner", "rows": 24, "cols": 80}).code == "invalid_request"
    peer.call("cancel", {"id": waiting})
    peer.recv(waiting)


def test_the_end_is_told(mux):
    bash(mux)
    peer = frames(mux, "inner")
    send(peer, INPUT, b"exit 3\r")
    end = json.loads(receive(peer, b"e"))
    assert (end["state"], end["exit_code"], end["name"]) == ("exited", 3, "inner")
    assert peer.sock.recv(1) == b""


def test_a_hundred_come_and_go(mux):
    bash(mux)
    for count in range(100):
        peer = frames(mux, "inner", rows=1 + count, cols=1 + count * 2)
        if count % 3:
            receive(peer, b"o")
        peer.close()
        mux.clients.remove(peer)
    wait_for(lambda: attached(mux) == 0, "all to be gone")
    text(mux, "inner", "echo alive")
    shown(mux, "inner", "\nalive\n")


# --- which session

def test_no_terminal(mux):
    bash(mux)
    result = mux.ue("attach", "inner")
    assert result.rc == 64 and "must be a terminal" in result.err and result.out == ""


def run_on_terminal(mux, *args):
    mux.ue("exec", "-t", "-n", "run", "--json", "--exit", "-e", "TERM=xterm", "--argv", "--", str(UE), *args)
    row = mux.listed("run")
    return row["exit_code"], mux.ue("poll", "--raw", "--since", "0", str(row["session_id"])).out


def test_which_session(mux):
    assert run_on_terminal(mux, "attach")[0] == 127
    mux.ue("exec", "-y", 0, "-n", "pipe", "sleep", "300").ok()
    status, out = run_on_terminal(mux, "attach", "pipe")
    assert status == 125 and "has no terminal" in out
    assert run_on_terminal(mux, "attach", "nobody")[0] == 127
    bash(mux, "a1")
    start(mux, "outer", str(UE), "attach")
    wait_for(lambda: attached(mux, "a1") == 1, "the only one")
    bash(mux, "b1")
    result = mux.ue("attach")
    assert result.rc == 64 and "a1" in result.err and "b1" in result.err and "name one" in result.err
    mux.ue("kill", "a1").ok()
    status, out = run_on_terminal(mux, "attach", "a1")
    assert status == 125 and "has ended" in out


def test_never_in_itself(mux):
    bash(mux)
    text(mux, "inner", f"{UE} attach inner; echo left=$?")
    assert "inside this session" in shown(mux, "inner", "\nleft=125\n").replace("\n", "")
    bash(mux, "middle")
    text(mux, "middle", f"{UE} attach inner")
    there(mux, "middle")
    text(mux, "inner", f"clear; {UE} attach middle; echo left=$?")
    assert "never end" in shown(mux, "inner", "\nleft=125\n").replace("\n", "")  # the path of ue decides where the line wraps


def test_exec_attach(mux):
    bash(mux, "outer")
    text(mux, "outer", f"{UE} exec -a -n fresh --argv -- /bin/bash --norc --noprofile -i; echo left=$?")
    wait_for(lambda: mux.listed("fresh") and attached(mux, "fresh") == 1, "the attachment")
    text(mux, "outer", "stty size; exit 9")
    shown(mux, "outer", "left=9")
    assert "24 80" in mux.ue("poll", "--raw", "--since", "0", "fresh").out
    text(mux, "outer", f"clear; {UE} exec -a --argv -- /nowhere/nothing; echo left=$?")
    shown(mux, "outer", "left=125")
