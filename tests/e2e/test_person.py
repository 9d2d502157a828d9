"""Who is a person: muxd sees a terminal and the process on it, and believes nothing that a client says. Attacks, and that each is refused."""
import array, json, os, pty, re, signal, socket, subprocess, sys

import pexpect
import pytest
from conftest import CAP, UE, Rpc, need, open_files, wait_for
from frames import Person, PersonRpc, frames, person, receive, send, ue_at_terminal
from test_keyboard import entries, log, notice, owner, wait_owner

WAIT = CAP * 1000
HUMAN = {"verb": True, "human": True, "client": "ue/9"}


def attach(session="work", **more):
    return {"session_id": session, "rows": 24, "cols": 80, "_meta": HUMAN, **more}


@pytest.fixture
def held(mux):
    """The session `work`, whose keyboard a person has."""
    mux.shell("work")
    somebody = frames(mux, "work")
    send(somebody, b"t")
    wait_owner_of_work(mux)
    return mux


def wait_owner_of_work(mux):
    wait_for(lambda: owner(mux, "work") == "person", "the keyboard to be the person's")


def untouched(mux):
    """Nobody else has typed or has the keyboard."""
    assert [entry[0] for entry in entries(mux, "work") if entry[1] not in ("take", "give")] == []
    assert mux.listed("work")["keyboard"]["pid"] == person(mux).pid


# --- from outside of every session: what a program says, and what it passes

def passed(mux, descriptor, rpc=None):
    """The refusal of an attach with which this descriptor goes."""
    client = rpc or PersonRpc(Rpc(mux.socket).sock, None)
    mux.clients.append(client)
    with pytest.raises(Rpc.Error) as caught:
        client.result(client.show(descriptor, "attach", attach()))
    assert caught.value.code == "denied", caught.value
    return caught.value.message


def test_words_are_no_evidence(held):
    for method, params in (("attach", attach()), ("attach", attach(again=True)), ("attach", attach(detach_others=True)),
                           ("type_secret", {"session_id": "work", "blind": True, "_meta": HUMAN}),
                           ("type_secret", {"session_id": "work", "stage": True, "_meta": HUMAN})):
        error = held.rpc().error(method, params)
        assert error.code == "denied" and "passed no terminal" in error.message, error
    refused = held.ue("secret", "--stdin", "--blind", "work", input="id\n")
    assert refused.rc == 126 and "for a person at a terminal" in refused.err and "scripts_may = secret" in refused.err, refused
    untouched(held)


def test_a_descriptor_that_is_no_terminal(held):
    pipe, socks = os.pipe(), socket.socketpair()
    files = [os.open(path, os.O_RDONLY) for path in ("/dev/null", "/dev/zero", "/etc/passwd", "/", "/proc/self/stat")]
    try:
        for fd in (*pipe, *(s.fileno() for s in socks), *files):
            assert re.search("no open terminal|does not run on the terminal", passed(held, fd))
    finally:
        for fd in (*pipe, *files):
            os.close(fd)
    untouched(held)


def test_a_terminal_of_somebody_else(held):
    """The person's own, in the hands of another process; a fresh one; its master side; the console; that of the session itself."""
    master, slave = pty.openpty()
    theirs = os.open(os.ttyname(person(held).terminal), os.O_RDWR | os.O_NOCTTY)
    sessions = os.open(f"/proc/{held.listed('work')['pid']}/fd/0", os.O_RDWR | os.O_NOCTTY)
    others = [master, slave, theirs, sessions, person(held).master]
    if os.access("/dev/console", os.R_OK):
        others.append(os.open("/dev/console", os.O_RDONLY | os.O_NOCTTY))
    for fd in others:
        assert re.search("does not run on the terminal|no open terminal", passed(held, fd))
    other = Person(held)
    assert "does not run on the terminal" in passed(held, person(held).terminal, other.connect()), "a person, with another one's"
    for fd in others:
        if fd != person(held).master:
            os.close(fd)
    untouched(held)


def test_a_descriptor_belongs_to_its_line(held):
    somebody = Person(held)
    peer = somebody.connect()
    hello = peer.show(somebody.terminal, "hello")
    peer.result(hello)
    error = None
    with pytest.raises(Rpc.Error) as error:
        peer.result(Rpc.send(peer, "attach", attach()))
    assert error.value.code == "denied" and "passed no terminal" in error.value.message
    # several lines at once: it goes with the last one
    peer = somebody.connect()
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"
             for n, (method, params) in enumerate((("hello", {}), ("attach", attach())))]
    peer.send_raw(lines[0])
    peer.sock.sendmsg([lines[1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [somebody.terminal]))])
    assert peer.result(0)["name"] == "muxd" and peer.result(1)["name"] == "work"


def test_descriptors_that_nobody_asked_for_are_closed(held):
    somebody = Person(held)
    worker = held.js("status")["pid"]
    before = open_files(worker)
    peers = [somebody.connect() for _ in range(5)]
    for peer in peers:
        for _ in range(20):
            peer.result(peer.show(somebody.terminal, "hello"))
    for peer in peers:
        peer.sock.sendmsg([b"{"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [somebody.terminal] * 8))])
    wait_for(lambda: open_files(worker) <= before + 2 * len(peers), "no more than one of each connection")
    for peer in peers:
        peer.close()
    wait_for(lambda: open_files(worker) <= before, "them to be closed")


def test_a_closed_terminal(held):
    somebody = Person(held, ignores_hangup=True)
    peer = somebody.connect()
    os.close(somebody.master)
    somebody.master = os.open("/dev/null", os.O_RDONLY)
    assert re.search("does not run on the terminal|no open terminal", passed(held, somebody.terminal, peer))


def test_a_process_that_has_ended(held):
    """Its connection and its terminal live on in other hands."""
    somebody = Person(held)
    peer = somebody.connect()
    somebody.process.kill()
    somebody.process.wait()
    assert "has ended" in passed(held, somebody.terminal, peer)


def test_the_background_of_the_terminal(held):
    somebody = Person(held, background=True)
    assert "in the background" in passed(held, somebody.terminal, somebody.connect())


def test_who_shows_a_terminal_is_a_person(held):
    somebody = Person(held)
    peer = somebody.connect()
    assert peer.call("attach", attach())["name"] == "work"
    alias = subprocess.run([sys.executable, "-c", "import os; os.open('/dev/tty', os.O_RDWR)"], start_new_session=True, capture_output=True)
    assert alias.returncode != 0, "without a terminal there is no /dev/tty"


# --- from below a session: it bears the mark, whatever it does

# cat keeps tmux's server there: if its last window closes while a client connects, it neither ends nor wakes that client.
BELOW = {
    "as it is": "{ue} attach work",
    "secret": "echo id | {ue} secret --stdin --blind work",
    "staged": "echo id | {ue} secret --stdin --stage work",
    "without an environment": "env -i TERM=xterm {ue} -S {socket} attach work",
    "without MUXD_SESSION": "env -u MUXD_SESSION -u MUXD_SESSION_ID {ue} attach work",
    "script": "script -qec '{ue} attach work' /dev/null",
    "setsid -c": "{python} -c 'import os, subprocess; m, s = os.openpty(); exit(subprocess.call([\"setsid\", \"-w\", \"-c\", \"{ue}\", \"attach\", "
                 "\"work\"], stdin=s, stdout=s))'",
    "script in a new session": "setsid -w script -qec '{ue} attach work' /dev/null",
    "an orphan on a pty of its own": "setsid -f script -qec '{ue} attach work; echo rc $?' out >/dev/null; until grep -q rc out; do sleep 0.1; done; cat out; exit 126",
    "python's pty": "{python} -c 'import os, pty; exit(os.waitstatus_to_exitcode(pty.spawn([\"{ue}\", \"attach\", \"work\"])))'",
    "the person's terminal, opened by its name": "{ue} attach work <{tty} >{tty} 2>&3",
    "a user namespace": "unshare -Ur script -qec '{ue} attach work' /dev/null",
    "namespaces with their own /proc": "unshare -Urpf --mount-proc script -qec '{ue} attach work' /dev/null",
    "tmux": "tmux -S {dir}/tmux -f /dev/null new-session -d '{ue} attach work 2>{dir}/said; tmux -S {dir}/tmux wait-for -S end; exec cat'; "
            "tmux -S {dir}/tmux wait-for end; cat {dir}/said >&2; tmux -S {dir}/tmux kill-server; exit 126",
    "screen": "screen -D -m sh -c '{ue} attach work 2>{dir}/said'; cat {dir}/said >&2; exit 126",
    "another daemon's session": "{ue} -S {dir}/s2 exec -t -y inf --argv -- {ue} -S {socket} attach work; {ue} -S {dir}/s2 stop >/dev/null; exit 126",
    "steal": "{ue} write --steal -l work id",
    "a shed soft limit": "ulimit -S -x 7; {ue} attach work",
    "a lower hard limit": "ulimit -x 7; {ue} attach work",
}


@pytest.mark.parametrize("way", BELOW)
def test_below_a_session(mux, way):
    command = BELOW[way]
    need(*re.findall(r"\b(script|setsid|unshare|tmux|screen)\b", command))
    if "unshare" in command and subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespaces here")
    mux.configure("[defaults]\nkeyboard_steal = yes\n")
    mux.shell("work")
    somebody = frames(mux, "work")
    send(somebody, b"t")
    wait_owner_of_work(mux)
    line = command.format(ue=UE, socket=mux.socket, python=sys.executable, dir=mux.dir, tty=os.ttyname(person(mux).terminal))
    said = mux.ue("exec", "--json", "-t", "-n", "agent", "-C", mux.dir, "--exit", "-e", f"MUXD_CONFIG={mux.conf}", "--argv", "--", "/bin/bash", "-c",
                  f"exec 3>&2; {line}")
    assert said.json["exit_code"] == 126, said
    assert "for a person at a terminal" in said.json["output"].replace("\r\n", " "), said
    untouched(mux)


def test_a_refusal_says_what_to_do(held):
    said = held.ue("exec", "--json", "-t", "-n", "agent", "--exit", "--argv", "--", UE, "attach", "work").json["output"]
    assert "runs inside the session 'agent'" in said and "keys of ue attach" in said and "scripts_may = attach" in said, said


def test_anybody_may_look(held):
    """Read-only, and what is typed there goes nowhere."""
    eyes = held.rpc()
    assert eyes.call("attach", attach(read_only=True))["name"] == "work"
    send(eyes, b"i", b"id\r")
    send(eyes, b"t")
    notice(eyes, "not yours to take")
    untouched(held)


# --- beside the keyboard: signals and sizes

def test_signals_and_sizes_go_by_the_keyboard(held):
    for signame in ("INT", "QUIT", "TSTP", "HUP", "WINCH"):
        refused = held.ue("kill", "-s", signame, "work")
        assert refused.rc == 125 and "the keyboard is held by a person" in refused.err, refused
    assert held.rpc().error("kill_session", {"session_id": "work", "signal": "INT"}).code == "keyboard_held"
    assert held.ue("kill", "-s", "INT", "--all").rc == 125
    assert held.ue("resize", "work", "10x20").rc == 125 and held.ue("resize", "work", "fixed").rc == 125
    assert (held.listed("work")["rows"], held.listed("work")["cols"]) == (24, 80)
    assert "signal" not in [entry[1] for entry in entries(held, "work")]
    ue_at_terminal(held, "kill", "-s", "WINCH", "work").ok()
    ue_at_terminal(held, "resize", "work", "12x60").ok()
    assert held.listed("work")["cols"] == 60
    held.ue("kill", "work").ok()  # to end it is no input


# --- who it was

def test_what_a_client_below_a_session_does_is_its(mux):
    mux.shell("work")
    rpc = mux.rpc()
    since = rpc.call("events", {"types": ["interaction"], "yield_time_ms": 0})["next"]
    forged = json.dumps({"session_id": "work", "chars": "\x15", "_meta": {"client": "person\n2026\tperson ue[1]\tkeys"}})
    mux.ue("exec", "-n", "agent", "--exit", "--argv", "--", UE, "call", "write_stdin", forged)
    number = mux.listed("agent")["session_id"]
    entry = log(mux, "work")["entries"][-1]
    assert (entry["from_session"], entry["from_session_name"], entry["author"]) == (number, "agent", "agent"), entry
    [event] = rpc.call("events", {"types": ["interaction"], "since": since, "yield_time_ms": WAIT})["events"]
    assert (event["from_session"], event["from_session_name"], event["by"]) == (number, "agent", "agent")
    shown = mux.ue("logs", "--input", "work").ok().out.splitlines()
    assert len(shown) == 1 and " from session agent\t" in shown[0], shown
    mux.ue("write", "-y", 0, "work", "\x15").ok()
    assert "from_session" not in log(mux, "work")["entries"][-1]
    old = mux.js("status")["pid"]
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != old, "another worker")
    assert log(mux, "work")["entries"][0]["from_session"] == number, "it outlives the worker"


# --- what the config allows to scripts

def test_scripts_may(mux):
    mux.configure("[defaults]\nscripts_may = attach secret\n")
    mux.shell("work")
    script = mux.rpc()
    script.call("attach", attach())
    send(script, b"t")
    notice(script, "for a person to take")
    send(script, b"i", b"echo from a script\r")
    wait_for(lambda: owner(mux, "work") == "agent", "it to type as an agent")
    somebody = frames(mux, "work")
    send(somebody, b"t")
    wait_owner_of_work(mux)
    send(script, b"i", b"echo no\r")
    notice(script, "held by a person")
    send(somebody, b"g")
    assert mux.line("work", "read -s -p 'pass: ' x; echo got ${#x}")["waiting_for"] == "secret"
    mux.ue("secret", "--stdin", "work", input="sesame\n").ok()
    mux.ue("poll", "--until", "got 6", "-y", WAIT, "work").ok()
    mux.configure("[defaults]\nscripts_may = attach keyboard\n")
    mux.ue("reload").ok()
    script = mux.rpc()
    script.call("attach", attach())
    send(script, b"t")
    wait_owner_of_work(mux)
    mux.configure("[defaults]\nscripts_may = attach everything\n")
    refused = mux.ue("reload")
    assert refused.rc == 125 and "attach keyboard secret steal" in refused.err, refused


def test_attach_in_the_background_waits_for_the_foreground(mux):
    """As every program that reads its terminal."""
    mux.shell("work")
    shell = pexpect.spawn("/bin/bash", ["--norc", "-i"], env={**mux.env, "PS1": "$ "}, cwd=mux.dir, dimensions=(24, 80), timeout=CAP, encoding="utf-8")
    shell.expect(r"\$ ")
    shell.sendline(f"{UE} attach work &")
    wait_for(lambda: shell.sendline("jobs -s") and shell.expect([r"Stopped", pexpect.TIMEOUT], timeout=1) == 0, "it to stop")
    shell.sendline("fg")
    wait_for(lambda: mux.listed("work")["attached"] == 1, "it to attach")
    shell.send("\x1cd")
    shell.expect("detached")
    shell.sendline("exit")
    shell.expect(pexpect.EOF)
