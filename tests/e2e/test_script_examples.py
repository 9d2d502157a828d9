"""The scripts in tests/examples, each against the real program where there is one, else against a stand-in of a few lines."""
import os, re, shutil, socket, subprocess, threading

import pexpect
import pytest
from conftest import CAP, ROOT, need, wait_for

EXAMPLES = ROOT / "tests/examples"
SECRETS = "[defaults]\nscripts_may = secret\n"

# What a program says, as a shell script; ssh and su ask as the real ones do.
STAND_INS = {
    "ssh": """[ -e "known-$1" ] || { printf "Are you sure you want to continue connecting (yes/no)? "; read a; [ "$a" = yes ] || exit 1; : >"known-$1"; }
[ -z "$ASKS" ] || { stty -echo; printf "password: "; read p; stty echo; echo; [ "$p" = old-one ] || { echo Permission denied; exit 255; }; }
PS1='$ ' exec bash --norc --noprofile -i""",
    "passwd": """stty -echo; printf "Current password: "; read a; printf "\\nNew password: "; read b; printf "\\nRetype new password: "; read c; echo; stty echo
[ "$a" = old-one ] || { echo "passwd: Authentication token manipulation error"; exit 10; }
[ "$b" = "$c" ] || { echo "passwd: passwords do not match"; exit 1; }
echo "passwd: password updated successfully" """,
    "chess": """echo Chess; n=0; while read move; do n=$((n + 1)); [ $n -lt 4 ] || { echo I resign; exit; }; echo "I play $n-after-$move"; done""",
    "rogue": """n=$(cat games 2>/dev/null || echo 14); echo $((n + 1)) >games; echo "Level: 1  Hits: 12(12)  Str: $n(18)  Gold: 0"; exec cat""",
    "su": """stty -echo; printf "Password: "; read p; stty echo; echo; [ "$p" = sesame-7 ] || { sleep 0.1; echo "su: Authentication failure"; exit 1; }; exec sh -c "$2" """,
    "setup": """printf "Accept the licence? [y/n] "; read a; [ "$a" = y ] || exit 2; echo terms; printf "%s" "--More--"; stty raw -echo; dd bs=1 count=1 2>/dev/null | od -c |
sed -n 1p; stty sane; printf "Port [8080] "; read p; printf "Install directory [/opt/x]: "; read d; printf "overwrite old.conf? "; read o
echo "port=$p dir=$d overwrite=$o" >answers; echo done""",
}


@pytest.fixture
def at(mux):
    """Runs an example in a directory with the stand-ins first in PATH."""
    for name, text in STAND_INS.items():
        (mux.dir / name).write_text(f"#!/bin/bash\n{text}\n")
        os.chmod(mux.dir / name, 0o755)
    mux.env["PATH"] = f"{mux.dir}:{mux.env['PATH']}"

    def run(name, *operands, words=None, **kw):
        if words is None:
            return mux.ue("script", EXAMPLES / name, *operands, **kw)
        read, write = os.pipe()  # becomes descriptor 3 of a shell that becomes ue
        os.write(write, "".join(word + "\n" for word in words).encode())
        shell = mux.spawn(["bash", "-c", f'exec "$0" "$@" 3<&{read}', str(mux.program), "script", str(EXAMPLES / name), *map(str, operands)], env=mux.env,
                          cwd=mux.dir, stdout=-1, stderr=-1, pass_fds=[read])
        os.close(read)
        os.close(write)
        return mux.finish(shell)
    run.mux = mux
    return run


def live(mux):
    return sorted(row["name"] for row in mux.sessions() if row["state"] == "running")


def test_each_is_a_script(mux):
    """Also those whose programs are missing here; and the two that are shown first are short."""
    scripts = sorted(EXAMPLES.glob("**/*.ue"))
    assert len(scripts) >= 12
    for path in scripts:
        assert os.access(path, os.X_OK) and path.read_text().startswith("#!/usr/bin/env -S ue script\n# "), path
        mux.ue("script", "--dry-run", path).ok()
        assert len(path.read_text().splitlines()) < 40, path
    lines = {path.stem: len([line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]) for path in scripts}
    table = (EXAMPLES / "scripts/README.md").read_text()
    told = {name: int(count) for name, count in re.findall(r"^\| `(?:\.\./)?(\S+)\.ue` .*?\| (\d+) \|", table, re.M)}
    assert told == lines  # the table counts them as they are


def test_programs_that_talk_in_lines(at):
    mux = at.mux
    played = at("scripts/chess.ue").ok().out.splitlines()
    assert played[:3] == ["1 white 1-after-first", "1 black 1-after-1-after-first", "2 white 2-after-1-after-1-after-first"] and played[-1] == "white resigns"
    strong = at("scripts/rogue.ue").ok()
    assert strong.out == "a strong one\n" and live(mux) == ["rogue"] and (mux.dir / "games").read_text() == "19\n"
    mux.ue("kill", "rogue").ok()
    installed = at("install.ue", "./setup", "/srv/y")
    assert installed.rc == 0 and installed.out == "installed in /srv/y, status 0\n" and installed.err == "in /srv/y, not in /opt/x\n", installed
    assert (mux.dir / "answers").read_text() == "port= dir=/srv/y overwrite=no\n" and live(mux) == []


def test_shells_repls_and_commands(at):
    mux = at.mux
    for host in "red", "blue":
        (mux.dir / f"known-{host}").write_text("")
    hosts = at("scripts/hive.ue", "red", "blue", env={"COMMAND": "echo $((6*7)) $0"}).ok()
    assert hosts.out.replace("\n\n", "\n").splitlines() == ["red: 42 bash", "blue: 42 bash"], hosts
    assert at("scripts/timed-run.ue", "60s", "exit 3").rc == 3 and at("scripts/timed-run.ue", "50ms", "sleep 1000").rc == 124
    assert at("scripts/timed-read.ue", "50ms").ok().out == "nobody\n"
    reader = mux.popen("script", EXAMPLES / "scripts/timed-read.ue", "60s")
    wait_for(lambda: live(mux) == ["ask"], "the question")
    mux.ue("write", "-l", "ask", "A B")  # it ends by that
    assert mux.finish(reader).ok().out == "A B\n"
    if shutil.which("uptime"):
        assert re.fullmatch(r"up .+, users \d+, load [\d.]+ [\d.]+\n", at("scripts/uptime.ue").ok().out)
    assert at("scripts/python.ue").ok().out == "55\n0.12\n" and live(mux) == ["python"]
    mux.ue("kill", "python").ok()
    (mux.dir / "log").write_text("start\nERROR disk is full\nslow: query took 1500 ms\n")
    watcher = mux.popen("script", EXAMPLES / "scripts/watch-log.ue", "log")
    assert watcher.stdout.readline() == b"error: disk is full\n" and watcher.stdout.readline() == b"slow: query\n"
    with open(mux.dir / "log", "a") as log:
        log.write("slow: ping took 3 ms\nERROR again\nserver stops\n")
    assert mux.finish(watcher).ok().out == "error: again\n" and live(mux) == []


def test_passwords(at):
    mux = at.mux
    mux.configure(SECRETS)
    mux.env["ASKS"] = "yes"
    changed = at("scripts/passmass.ue", "red", "blue", words=["old-one", "old-one", "new", "new", "old-one", "bad", "new", "new"])
    assert changed.rc == 0 and changed.out == "red: password updated successfully\nblue: Authentication token manipulation error\n", changed
    assert at("scripts/passmass.ue", "red", words=["wrong"]).rc == 1 and live(mux) == []
    mux.configure("")
    mux.ue("reload").ok()
    for word, status, said in ("sesame-7", 4, b"hello"), ("mistaken", 1, b"the password is wrong"):
        person = pexpect.spawn(str(mux.program), ["script", str(EXAMPLES / "password.ue"), "admin", "echo hello; exit 4"], env=mux.env, cwd=str(mux.dir), timeout=CAP)
        person.expect_exact("secret for 'login': ")
        person.sendline(word)
        out = person.read()
        person.close()
        assert person.exitstatus == status and said in out and word.encode() not in out, (out, person.exitstatus)


def test_a_directory_of_secrets(at):
    need("openssl")
    mux = at.mux
    mux.configure(SECRETS)
    for name in "a", "b":
        (mux.dir / name).write_text(name * 100)
    done = at("scripts/cryptdir.ue", "a", "b", "old.crypt", words=["sesame"] * 4)
    assert done.rc == 0 and done.out == "a.crypt\nb.crypt\n", done
    plain = subprocess.run(["openssl", "enc", "-d", "-aes-256-cbc", "-pbkdf2", "-in", mux.dir / "b.crypt", "-pass", "pass:sesame"], capture_output=True, timeout=CAP)
    assert plain.stdout == b"b" * 100
    differ = at("scripts/cryptdir.ue", "a", words=["one", "two"])
    assert differ.rc == 1 and "a: " in differ.err and live(mux) == [], differ


class FtpServer(threading.Thread):
    """One visitor, one directory, one file."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.start()

    def run(self):
        with self.listening, self.listening.accept()[0] as control:
            lines, data, target = control.makefile("rw", newline="\r\n"), None, None

            def say(text):
                lines.write(text + "\r\n")
                lines.flush()
            say("220 here")
            for line in lines:
                word, _, rest = line.strip().partition(" ")
                word = word.upper()
                if word == "USER":
                    say("331 who are you")
                elif word in ("PASV", "EPSV"):
                    data = socket.create_server(("127.0.0.1", 0))
                    port = data.getsockname()[1]
                    say(f"229 Entering Extended Passive Mode (|||{port}|)" if word == "EPSV" else f"227 Entering Passive Mode (127,0,0,1,{port // 256},{port % 256})")
                elif word in ("PORT", "EPRT"):
                    parts = rest.split("|") if word == "EPRT" else None
                    numbers = None if parts else [int(n) for n in rest.split(",")]
                    target = ("127.0.0.1", int(parts[3]) if parts else numbers[4] * 256 + numbers[5])
                    say("200 ready")
                elif word == "CWD" and rest == "nowhere":
                    say("550 no such directory")
                elif word == "RETR":
                    say("150 it comes")
                    with (socket.create_connection(target) if target else data.accept()[0]) as out:
                        out.sendall(b"of a file\n")
                    say("226 that was it")
                elif word == "QUIT":
                    say("221 bye")
                    return
                else:
                    say({"PASS": "230 welcome", "CWD": "250 there", "TYPE": "200 as you like"}.get(word, "502 what"))


def test_ftp(at):
    need("ftp")
    mux = at.mux
    done = at("scripts/ftp.ue", "127.0.0.1", FtpServer().port, "pub", "file")
    assert done.rc == 0 and done.out == "file is here\n" and (mux.dir / "file").read_text() == "of a file\n", done
    failed = at("scripts/ftp.ue", "127.0.0.1", FtpServer().port, "nowhere", "file")
    assert failed.rc == 1 and "cd nowhere: 550 no such directory" in failed.err, failed
    assert live(mux) == []
