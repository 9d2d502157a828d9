"""Programs of two revisions together: the client of the one with the daemon of the other. The older revision is built
from the git history, once (tests/e2e/compat/baseline names it)."""
import fcntl, os, pty, shutil, subprocess, threading
from pathlib import Path

import pytest
from conftest import BUILD, CAP, DAEMON, ROOT, UE, Muxd, command_line, copy_programs, wait_for
from outer import Outer

REVISION = (Path(__file__).parent / "compat" / "baseline").read_text().strip()


def built(place):
    return (place / "muxd").exists() and (place / "ue").exists() and (place / "done").exists()


def build(place):
    """`git archive` of the revision, made as its own Makefile says; or the reason why that can't be."""
    if subprocess.run(["git", "-C", str(ROOT), "cat-file", "-e", REVISION + "^{commit}"], capture_output=True).returncode:
        return f"the history does not reach back to {REVISION[:12]} (a shallow clone?)"
    source = place / "src"
    source.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", REVISION, "Makefile", "muxd", "client", "tests/bench/rules.mk",
                              "tests/crash/rules.mk"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "x", "-C", str(source)], input=archive, check=True)
    env = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "BUILD", "CC", "CFLAGS", "SANITIZE", "OPT")}
    made = subprocess.run(["make", "-s", "-j2", "-C", str(source), f"BUILD={place}", "all"], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=280)
    assert made.returncode == 0, f"the revision {REVISION} can't be built:\n{made.stderr[-3000:]}"
    (place / "done").touch()
    shutil.rmtree(source)
    shutil.rmtree(place / "obj", ignore_errors=True)
    return None


@pytest.fixture(scope="session")
def old():
    """Where the older muxd and ue are."""
    for base in (BUILD.parent, BUILD):  # a sanitizer's build lies inside of a plain one
        if built(base / "compat" / REVISION):
            return base / "compat" / REVISION
    place = BUILD / "compat" / REVISION
    if not shutil.which("git"):
        pytest.skip("'git' is not installed")
    place.mkdir(parents=True, exist_ok=True)
    with open(place.parent / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several of pytest's processes may come here
        reason = None if built(place) else build(place)
    if reason:
        pytest.skip(reason)
    return place


class Mixed(Muxd):
    """A daemon from one build, and clients from another."""

    def __init__(self, daemon, client):
        super().__init__()
        self.daemon, self.client = Path(daemon), Path(client)
        keeper = self.daemon.with_name("muxd-keeper")
        self.binary = copy_programs(self.dir / "bin", self.daemon, *([keeper] if keeper.exists() else []))[0]

    def start(self):
        done = subprocess.run([str(self.binary), "-d", "-S", str(self.socket), "-f", str(self.conf)], env=self.env, cwd=self.dir,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
        assert done.returncode == 0, done
        return self

    def popen(self, *args, client=None, **kw):
        kw = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.dir, **kw}
        env = {**self.env, **(kw.pop("env", None) or {})}
        process = subprocess.Popen([str(client or self.client), *map(str, args)], env=env, start_new_session=True, **kw)
        self.background.append(process)
        return process

    def daemons(self):
        return sorted(pid for pid in self.pids() if os.path.dirname(command_line(pid)[0]) == os.fsencode(self.binary.parent))

    def attached(self, name, say, see):
        """`ue attach` on a terminal: types, waits to see, leaves by its keys. What it showed."""
        leader, follower = pty.openpty()
        process = self.popen("attach", name, stdin=follower, stdout=follower, stderr=follower, env={"TERM": "xterm"})
        os.close(follower)
        seen = b""

        def look():
            nonlocal seen
            try:
                while more := os.read(leader, 65536):
                    seen += more
            except OSError:
                pass  # it has left
        reader = threading.Thread(target=look)
        reader.start()
        try:
            wait_for(lambda: self.js("list", name)["sessions"][0].get("attached") == 1, "somebody to be attached")
            os.write(leader, say)
            wait_for(lambda: see in seen, f"{see!r} in {seen[-300:]!r}")
            os.write(leader, b"\x1cd")
            assert process.wait(CAP) == 0, seen[-500:]
        finally:
            self.background.remove(process)
            process.kill()
            process.wait()
            os.close(leader)
            reader.join(CAP)
        return seen


@pytest.fixture
def mixed():
    made = []

    def make(daemon, client):
        made.append(Mixed(daemon, client))
        return made[-1].start()
    yield make
    wrong = []
    for mux in made:
        wrong += mux.close()
        mux.remove()
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def pair(old, mixed):
    return mixed(DAEMON, old / "ue")


def test_commands(pair):
    result = pair.ue("exec", "--raw", "echo out; echo err >&2; exit 3")
    assert (result.rc, result.out, result.err) == (3, "out\n", "err\n"), result
    assert pair.ue("exec", "--raw", "--stdin", "tr a-z A-Z", input="typed").ok().out == "TYPED"
    assert pair.js("exec", "kill -TERM $$")["signal"] == "TERM"
    assert "Process exited with code 3" in pair.ue("exec", "exit 3").out
    assert pair.ue("poll", "nobody").rc == 127 and "nobody" in pair.ue("poll", "nobody").err


def test_terminal(pair):
    first = pair.js("exec", "-n", "sh", "-t", "-e", "PS1=sh> ", "-y", CAP * 1000, "--argv", "--", "/bin/bash", "--norc", "--noprofile", "-i")
    assert first["reason"] == "ready", first
    assert "42" in pair.js("write", "-l", "sh", "echo $((6*7))", "-y", CAP * 1000)["output"].replace("6*7", "")
    assert pair.js("write", "-l", "--until", "done[0-9]", "sh", "echo done$((1))", "-y", CAP * 1000)["reason"] == "until"
    assert "42" in pair.js("poll", "--since", 0, "sh")["output"]
    row = pair.js("list")["sessions"][0]
    assert row["name"] == "sh" and row["state"] == "running" and row["waiting_for"] == "key", row
    assert "42" in pair.js("screen", "sh")["screen"]
    pair.ue("resize", "sh", "30x100").ok()
    seen = pair.attached("sh", b"echo att$((40+4))\r", b"att44")
    assert b"42" in seen
    assert "att44" in pair.js("screen", "sh")["screen"]
    pair.ue("rename", "sh", "shell").ok()
    killed = pair.js("kill", "shell")["sessions"][0]
    assert killed["name"] == "shell" and killed["survivors"] == 0, killed
    pair.ue("rm", "shell").ok()
    assert pair.js("list", "--all")["sessions"] == []


def test_a_terminal_that_would_answer(pair):
    """Where one of the two does not know what to do with it, nobody asks it what it is."""
    person = Outer(pair, "exec", "-a", "-n", "cat", "--argv", "--", "/bin/cat", colours={b"11": b"f/f/f"}, scheme=2, cell=(20, 10))
    person.shows(b"\x1b[?1049h")
    person.type(b"hello\r")
    person.shows(b"hello")
    assert person.leaves() == 0
    assert person.asked == 0 and b"\x1b]11;" not in person.seen
    assert pair.ue("poll", "--raw", "--since", "0", "cat").out == "hello\r\nhello\r\n"


def test_daemon_verbs(pair):
    assert pair.js("status")["live"] == 0
    pair.configure("[limits]\nmax_sessions = 77\n")
    pair.ue("reload").ok()
    assert pair.js("status")["limits"]["max_sessions"] == "77"
    pair.ue("config").ok()
    pair.ue("stop").ok()
    wait_for(lambda: not pair.daemons(), "the daemon to go")
