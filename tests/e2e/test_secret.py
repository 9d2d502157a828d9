"""Secrets: from a person straight to the program that asks, past everything that keeps or shows; agents can't."""
import json
import os
import resource
import subprocess
import pexpect
import pytest
from conftest import CAP, SANITIZED, UE, need, wait_for
from frames import receive, ue_at_terminal
from test_keyboard import entries, frames, log, notice, send

WAIT = CAP * 1000
WORD = "hunter2-sesame"


def asks(mux, name="sh"):
    """A shell in which something asks for a secret."""
    mux.shell(name)
    said = mux.line(name, "read -s -p 'pass: ' x; echo; echo got ${#x}")
    assert said["waiting_for"] == "secret", said


def give(mux, *options, name="sh", word=WORD):
    return ue_at_terminal(mux, "secret", "--stdin", *options, name, input=word + "\nmore\n")


def taken(mux, name="sh", word=WORD):
    said = mux.js("poll", "--until", f"got {len(word)}", "-y", WAIT, name)
    assert said["reason"] == "until" and word not in said["output"], said


def everywhere(mux, word=WORD):
    """Whether the word can be read in what the daemon keeps: its log, its memory, the journals."""
    needle = word.encode()
    found = [str(path) for path in mux.state.rglob("*") if path.is_file() and needle in path.read_bytes()]
    return found + in_memory(mux.js("status")["pid"], needle)


def in_memory(pid, needle):
    """Where it is in the memory of a process that only root may read."""
    found = []
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            open(f"/proc/{pid}/mem", "rb")
        pytest.skip("needs root to read the memory; its own user may not")
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            begin, end = (int(n, 16) for n in line.split()[0].split("-"))
            if not line.split()[1].startswith("rw") or end - begin > 64 << 20:
                continue
            try:
                mem.seek(begin)
                if needle in mem.read(end - begin):
                    found.append(line.strip())
            except OSError:
                pass
    return found


def test_typed_where_it_is_asked_for(mux):
    asks(mux)
    assert give(mux).ok().out == ""
    taken(mux)
    assert entries(mux)[-1] == ("person", "secret", None)
    entry = log(mux)["entries"][-1]
    assert entry["bytes"] == len(WORD) + 1 and entry["client"].startswith("ue/")
    assert WORD not in json.dumps(log(mux))


def test_nothing_of_it_is_left_in_the_daemon(mux):
    asks(mux)
    give(mux).ok()
    taken(mux)
    assert everywhere(mux) == []
    asks(mux, "two")
    give(mux, "--stage", "--json", name="sh").ok()
    assert everywhere(mux, "pass: ") != []  # the test sees what is kept elsewhere; a staged one, where the kernel can, nobody does
    mux.ue("secret", "--forget", "sh").ok()
    assert everywhere(mux) == []


def test_agents_cant(mux):
    asks(mux)
    refused = mux.ue("write", "-l", "sh", "guess")
    assert refused.rc == 126 and "`ue secret sh`" in refused.err, refused
    error = mux.rpc().error("write_stdin", {"session_id": "sh", "chars": "guess\n"})
    assert error.code == "secret_prompt"
    for params in ({"session_id": "sh"}, {"session_id": "sh", "_meta": {"verb": True}}):
        assert mux.rpc().error("type_secret", params).code == "denied"
    called = mux.call("type_secret", {"session_id": "sh", "_meta": {"verb": True, "human": True}})
    assert called.rc == 126 and "for people" in called.err
    assert "type_secret" not in mux.ue("tools", "--extended").out
    # keys without text pass
    assert "sh" in mux.js("write", "sh", "-k", "C-c")["name"]
    assert mux.js("poll", "sh")["waiting_for"] != "secret"


def test_the_config_may_allow_it(mux):
    mux.configure("[defaults]\nagent_secrets = yes\n")
    asks(mux)
    assert f"got {len(WORD)}" in mux.line("sh", WORD)["output"]
    assert [e for e in entries(mux) if e[1] == "secret"] == [("agent", "secret", None)] and WORD not in json.dumps(log(mux))


def test_text_for_a_session_that_has_just_begun(mux):
    """What is typed before its first read, until which it sleeps, must not become the answer to a password prompt."""
    go = mux.dir / "go"
    early = ("exec", "-t", "-n", "early", "-y", 0, "--argv", "--", "/usr/bin/python3", "-c", """
import getpass, os, sys, time
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
print('got', len(getpass.getpass()))""", str(go))
    mux.ue(*early).ok()
    refusing = mux.popen("write", "-l", "early", "guess")
    go.touch()
    refused = mux.finish(refusing)
    assert refused.rc == 126 and "reads a secret" in refused.err, refused
    mux.ue("kill", "early").ok()
    # the same where nobody waits for the outcome: it is thrown away
    go.unlink()
    mux.ue(*early).ok()
    mux.ue("write", "-y", 0, "-l", "early", "guess").ok()
    go.touch()
    assert mux.js("poll", "--ready", "-y", WAIT, "early")["waiting_for"] == "secret"
    give(mux, name="early").ok()
    assert mux.js("poll", "--exit", "early")["output"].split()[-2:] == ["got", str(len(WORD))]


AHEAD = """
import os, sys, termios, time
os.write(1, b"up\\n")
os.read(0, 4096)  # its first read is past
os.write(1, b"busy\\n")
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
modes = termios.tcgetattr(0)
modes[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSADRAIN, modes)
os.write(1, b"Password: ")
before = 0
while (line := os.read(0, 4096)) != b"hunter2-sesame\\n": before += len(line)
print("before", before)
"""


def test_text_that_waits_for_room_is_no_answer(mux):
    """What the kernel has taken before the program hides its input is out of muxd's hands; the rest is thrown away."""
    go = mux.dir / "go"
    mux.ue("exec", "-t", "-n", "ahead", "--until", "up", "-y", WAIT, "--argv", "--", "/usr/bin/python3", "-c", AHEAD, go).ok()
    mux.ue("write", "--until", "busy", "-y", WAIT, "-l", "ahead", "first").ok()
    sent, client = 0, mux.rpc()
    while sent < 100 * 2001:  # more than the kernel takes
        client.call("write_stdin", {"session_id": "ahead", "chars": "x" * 2000 + "\n", "ready": False, "yield_time_ms": 0, "_meta": {"verb": True}})
        sent += 2001
    go.write_text("")
    mux.ue("poll", "--until", "Password", "-y", WAIT, "ahead").ok()
    wait_for(lambda: give(mux, name="ahead").rc == 0, "the rest to be gone")
    before = int(mux.js("poll", "--until", "before [0-9]+", "-y", WAIT, "ahead")["output"].split("before")[1])
    assert 0 < before < sent - 2001 and before % 2001 == 0, (before, sent)


def test_only_where_it_is_asked_for(mux):
    mux.shell()
    refused = give(mux)
    assert refused.rc == 126 and "--stage" in refused.err and "--blind" in refused.err
    mux.line("sh", "stty raw -echo; head -c 15 | wc -c; stty sane")
    give(mux, "--blind").ok()
    assert mux.js("poll", "--until", "15", "-y", WAIT, "sh")["reason"] == "until"
    assert entries(mux)[-1] == ("person", "secret", None)
    mux.ue("exec", "-n", "pipe", "-y", 0, "sleep 1000").ok()
    assert give(mux, name="pipe").rc == 125
    assert give(mux, name="nobody").rc == 127
    asks(mux, "two")
    assert give(mux, name="two", word="x" * 5000).rc == 125
    assert mux.ue("secret", "two").rc == 126  # no terminal, so nobody


def test_staged_once(mux):
    mux.shell()
    said = give(mux, "--stage").ok()
    assert "once" in said.err
    assert mux.listed("sh")["keyboard"]["secret_staged"] is True
    said = mux.line("sh", "read -s -p 'pass: ' x; echo; echo got ${#x}")
    assert f"got {len(WORD)}" in said["output"] and said["waiting_for"] != "secret", said  # an agent never sees the prompt wait
    assert "secret_staged" not in mux.listed("sh")["keyboard"]
    assert mux.line("sh", "read -s -p 'pass: ' x; echo; echo got ${#x}")["waiting_for"] == "secret"


def test_staged_for_a_while(mux):
    mux.shell()
    give(mux, "--stage", "--expire", "1s").ok()
    wait_for(lambda: "secret_staged" not in mux.listed("sh")["keyboard"], "the end of its time")
    assert mux.line("sh", "read -s -p 'pass: ' x; echo; echo got ${#x}")["waiting_for"] == "secret"
    assert "no secret was staged" in mux.ue("secret", "--forget", "sh").ok().err


def test_staged_and_the_session_ends(mux):
    mux.shell()
    give(mux, "--stage").ok()
    mux.ue("kill", "sh").ok()
    assert everywhere(mux) == []


def limit_locked_memory(mux, how):
    """The daemon's limit; root has none (CAP_IPC_LOCK), as long as it may have that capability."""
    need("setpriv")
    as_anybody = ["setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock"] if os.geteuid() == 0 else []
    mux.prefix = [*as_anybody, "sh", "-c", f'{how}; exec "$@"', "sh"]


def test_locked_memory_up_to_the_hard_limit(mux):
    limit_locked_memory(mux, "ulimit -S -l 0")
    mux.session("here", "read -s -p 'pass: ' x; echo; echo got ${#x}; exec bash --norc")
    give(mux, name="here").ok()
    taken(mux, "here")
    give(mux, "--stage", name="here").ok()
    os.kill(mux.js("status")["pid"], 9)
    said = mux.line("here", "echo limit=$(ulimit -S -l); read -s -p 'pass: ' x; echo; echo got ${#x}", "--until", r"got [0-9]+\s")["output"]
    assert f"got {len(WORD)}" in said, "the staged one outlives the worker"
    assert "limit=0\r\n" in said, "the program's own limit is as it was"


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's mlock(2) does nothing and succeeds")
def test_no_locked_memory(mux):
    limit_locked_memory(mux, "ulimit -l 0")
    asks(mux)
    give(mux).ok()  # is wiped in the moment in which it is typed
    taken(mux)
    mux.line("sh", "read -s -p 'pass: ' x; echo; echo got ${#x}")
    refused = give(mux, "--stage")
    assert refused.rc == 125 and "RLIMIT_MEMLOCK=0" in refused.err and "ulimit -l" in refused.err, refused
    person = pexpect.spawn(str(UE), ["attach", "sh"], env=mux.env, cwd=mux.dir, dimensions=(24, 80), timeout=CAP)
    person.expect("pass: ")
    person.send(WORD + "\r")
    person.expect(f"got {len(WORD)}")
    person.send("\x1cd")
    person.expect("detached")


def test_attached_people_are_told(mux):
    mux.shell()
    person = frames(mux, "sh")
    mux.line("sh", "sleep 0.2; read -s -p 'pass: ' x; echo; echo got ${#x}")
    notice(person, "sh: asks for a secret")
    send(person, b"i", WORD.encode() + b"\r")
    taken(mux)
    assert entries(mux)[-1][:2] == ("person", "secret") and everywhere(mux) == []
    late = frames(mux, "sh")
    send(late, b"g")
    notice(late, "the keyboard")


def test_typed_into_attach_stays_nowhere(mux):
    """The client wipes keys once the daemon has them, and leaves no core dump in which they could be."""
    asks(mux)
    person = pexpect.spawn(str(UE), ["attach", "sh"], env=mux.env, cwd=mux.dir, dimensions=(24, 80), timeout=CAP)
    person.expect("pass: ")
    assert resource.prlimit(person.pid, resource.RLIMIT_CORE)[0] == 0
    person.send(WORD)
    wait_for(lambda: [entry["bytes"] for entry in log(mux)["entries"] if entry["kind"] == "secret"] and True, "the keys to be there")
    wait_for(lambda: in_memory(person.pid, WORD.encode()) == [], "the keys to be acknowledged and wiped")
    person.send("\r")
    person.expect(f"got {len(WORD)}")
    person.send("\x1cd")
    person.expect("detached")


def test_people_are_told_where_the_prompt_stays_in_sight(mux):
    """In a row that the program doesn't use, or far from the prompt; and not for each line that is read without echo."""
    mux.shell()
    person = frames(mux, "sh")
    rpc = mux.rpc()
    since = rpc.call("events", {"types": ["secret"], "yield_time_ms": 0})["next"]
    mux.ue("write", "-y", 0, "-l", "sh", "read -s -p 'Push <RETURN>' x").ok()
    rpc.call("events", {"types": ["secret"], "since": since, "yield_time_ms": WAIT})
    mux.ue("write", "--ready", "-y", WAIT, "sh", "-k", "Enter").ok()
    places = []
    for command in ("", "seq 30; "):
        mux.line("sh", command + "read -s -p 'pass: ' x; echo; echo got ${#x}", "--until", "pass: $")
        while "notice_row" not in (status := json.loads(receive(person, b"k"))):
            pass
        places.append(status["notice_row"])
        assert receive(person, b"n") == b"sh: asks for a secret; type it here, it is not recorded"
        give(mux).ok()
        taken(mux)
    assert places == [24, 1]


def test_who_comes_while_it_is_asked_for_is_told(mux):
    asks(mux)
    notice(frames(mux, "sh"), "sh: asks for a secret")


def test_from_a_terminal_without_echo(mux):
    asks(mux)
    person = pexpect.spawn(str(UE), ["secret", "sh"], env=mux.env, cwd=mux.dir, timeout=CAP, encoding="utf-8")
    person.expect("secret for 'sh': ")
    assert person.waitnoecho(CAP)
    person.sendline(WORD)
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 0 and WORD not in person.before
    taken(mux)


def test_interrupted_on_a_terminal(mux):
    asks(mux)
    person = pexpect.spawn("/bin/sh", ["-c", f"trap : INT; {UE} secret sh; echo rc $?; stty -a"], env=mux.env, cwd=mux.dir, timeout=CAP, encoding="utf-8")
    person.expect("secret for 'sh': ")
    assert person.waitnoecho(CAP)
    person.sendintr()
    person.expect("rc 130")
    person.expect(" echo ")
    person.expect(pexpect.EOF)
    person.close()
    assert mux.js("poll", "sh")["waiting_for"] == "secret"


# --- sudo, su and ssh as they are, with a user that exists in a mount namespace only

@pytest.fixture
def user(mux):
    need("sudo", "setpriv", "unshare", "perl")
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs root and mount namespaces, to make a user with a password")
    etc = mux.dir / "etc"
    etc.mkdir()
    hashed = subprocess.run(["perl", "-e", "print crypt($ARGV[0], q($6$mxsaltmx$))", WORD], capture_output=True, text=True, check=True).stdout
    for name, line in (("passwd", f"mxtest:x:65531:65531::/:/bin/sh"), ("group", "mxtest:x:65531:"), ("shadow", f"mxtest:{hashed}:19000:0:99999:7:::")):
        with open(f"/etc/{name}") as old:
            (etc / name).write_text(old.read().rstrip("\n") + "\n" + line + "\n")
    (etc / "sudoers").write_text("mxtest ALL=(ALL) ALL\n")
    (etc / "sudoers").chmod(0o440)
    binds = "".join(f"mount --bind {etc / name} /etc/{name} && " for name in ("passwd", "group", "shadow", "sudoers"))

    def inside(name, command, as_user=True):
        run = f"exec setpriv --reuid=65531 --regid=65531 --clear-groups {command}" if as_user else f"exec {command}"
        return mux.js("exec", "-t", "-n", name, "-C", "/", "-y", WAIT, "--argv", "--", "unshare", "-m", "sh", "-c", binds + run)
    inside.binds = binds
    return inside


def test_sudo(mux, user):
    said = user("root", "sudo -k sh -c 'echo I am $(id -un)'")
    assert said["waiting_for"] == "secret" and "password" in said["output"], said
    assert mux.ue("write", "-l", "root", "guess").rc == 126
    give(mux, name="root", word="wrong").ok()
    said = mux.js("poll", "--ready", "-y", WAIT, "root")
    while said["waiting_for"] != "secret":
        said = mux.js("poll", "--ready", "-y", WAIT, "root")
    give(mux, name="root").ok()
    assert "I am root" in mux.js("poll", "--exit", "root")["output"]
    assert WORD not in mux.ue("poll", "--raw", "--since", "0", "root").out and everywhere(mux) == []


def test_sudo_with_a_staged_secret(mux, user):
    said = user("shell", "sh")
    assert said["waiting_for"] == "line", said
    give(mux, "--stage", name="shell").ok()
    said = mux.line("shell", "sudo -k sh -c 'echo I am $(id -un)'")
    assert "I am root" in said["output"] and said["waiting_for"] == "line", said


def test_su(mux, user):
    said = user("su", "su mxtest -c 'echo I am $(id -un)'")
    assert said["waiting_for"] == "secret", said
    give(mux, name="su").ok()
    assert "I am mxtest" in mux.js("poll", "--exit", "su")["output"]


def test_ssh_on_loopback(mux, user):
    need("ssh", "ssh-keygen", "/usr/sbin/sshd")
    key, sshd = mux.dir / "hostkey", mux.dir / "sshd.conf"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    with __import__("socket").socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.makedirs("/run/sshd", exist_ok=True)
    sshd.write_text(f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {key}\nPidFile none\nPasswordAuthentication yes\nKbdInteractiveAuthentication no\n"
                    "PubkeyAuthentication no\nUsePAM no\nStrictModes no\nPrintMotd no\n")
    mux.ue("exec", "-n", "sshd", "-t", "--until", "listening on", "-y", WAIT, "--argv", "--",
           "unshare", "-m", "sh", "-c", user.binds + f"exec /usr/sbin/sshd -D -e -f {sshd}").ok()
    said = mux.js("exec", "-t", "-n", "far", "-y", WAIT, "--ready", "--argv", "--", "ssh", "-F", "none", "-p", port, "-o", "StrictHostKeyChecking=no",
                  "-o", f"UserKnownHostsFile={mux.dir / 'known'}", "-o", "PreferredAuthentications=password", "mxtest@127.0.0.1")
    assert said["waiting_for"] == "secret" and "password:" in said["output"], said
    assert mux.ue("write", "-l", "far", "guess").rc == 126
    give(mux, name="far").ok()
    mux.js("poll", "--until", r"\$ ", "-y", WAIT, "far")
    # a secret on the other side can't be known here
    mux.ue("write", "--until", "pass: ", "-y", WAIT, "-l", "far", "stty -echo; printf 'pa'; printf 'ss: '; read x; stty echo; echo; echo got ${#x}").ok()
    assert give(mux, name="far").rc == 126
    give(mux, "--blind", name="far").ok()
    taken(mux, "far")
    assert WORD not in mux.ue("poll", "--raw", "--since", "0", "far").out and WORD not in json.dumps(log(mux, "far"))
    mux.ue("kill", "far", "sshd").ok()
