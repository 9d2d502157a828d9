"""The worked examples of muxd-policy(7), each as it is written: the blocks of a section (.SS) are taken out of the page and run in a fresh home,
line by line in one shell at a terminal, and answer what the page shows.

A block that begins with `[` becomes the config. One that begins with `$ ` is a transcript. A command with `&` at its end goes on while the next
ones run; the page shows for it what is printed by then."""
import difflib, fcntl, os, re, select, subprocess, termios, time

import pytest

from conftest import CAP, ROOT, UE, need, need_sandbox, set_mark, wait_for
from test_readme import MASKS, SHOWN_HOME, commands

PAGE = ROOT / "conf/muxd-policy.7"
TITLES = ("An agent that may only read", "An agent in this repository that asks before the network", "My own shell, never asked", "Agents commit and don't push")
NOT_RUN = ("claude ", "sudo ")
SHOWN_ID, MARK = "kx3fa", "--answered--"
OWN_MASKS = [*MASKS, (re.compile(r"Permission denied|Read-only file system"), "NOT WRITTEN"), (re.compile(r"\b[0-9a-f]{40}\b"), "HASH"),
             (re.compile(r"process \d+"), "process *"), (re.compile(r"^bash-\d\.\d"), "bash-*"),
             (re.compile(r"Original token count: \d+"), "Original token count: *")]


def plain(line):
    for roff, text in (("\\-", "-"), ("\\(ti", "~"), ("\\&", ""), ("\\e", "\\")):
        line = line.replace(roff, text)
    return line


def blocks(title):
    """(number of the first line, lines) of each .EX in the section."""
    found, inside, block = [], False, None
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith((".SS ", ".SH ")):
            inside = line == f".SS {title}"
        elif inside and line == ".EX":
            block = (number, [])
        elif line == ".EE" and block:
            found.append(block)
            block = None
        elif block:
            block[1].append(plain(line))
    return found


def masked(lines):
    text = []
    for line in lines:
        for pattern, instead in OWN_MASKS:
            line = pattern.sub(instead, line)
        text.append(line.rstrip())
    while text and not text[-1]:
        text.pop()
    return text


class Shell:
    """bash without job control at a terminal of its own, which is a person's."""

    def __init__(self, mux, cwd, env):
        self.master, slave = os.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        set_mark(mux.rt_mark)
        self.shown, self.names = "", [(str(mux.home), SHOWN_HOME)]
        self.input, reads = os.pipe()[::-1]
        self.process = subprocess.Popen(["bash"], stdin=reads, stdout=slave, stderr=slave, cwd=cwd, env=env, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0))
        os.close(slave)
        os.close(reads)

    def read(self, enough):
        """What is shown until enough(text); the rest stays for the next one."""
        end = time.monotonic() + CAP
        while not enough(self.shown):
            assert time.monotonic() < end, f"hangs after {self.shown[-600:]!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.shown += os.read(self.master, 65536).decode().replace("\r", "")
        return self.shown

    def run(self, command, answer):
        for shown, real in self.names[1:]:
            command = command.replace(shown, real)
        os.write(self.input, f"{command}\n".encode())
        if command.endswith("&"):
            text = self.read(lambda text: text.count("\n") >= len(answer))
            found = re.search(r"^ue: '(\w+)': waits", text, re.M)
            if found:
                self.names.append((SHOWN_ID, found[1]))
        else:
            os.write(self.input, f"printf '\\n{MARK}\\n'\n".encode())
            text = self.read(lambda text: f"\n{MARK}\n" in text).split(f"\n{MARK}\n")[0]
        self.shown = ""
        text = text.replace(self.names[0][0], SHOWN_HOME)
        for shown, real in self.names[1:]:
            text = text.replace(real, shown)
        return text.split("\n")

    def close(self):
        os.close(self.input)
        self.process.wait(CAP)
        os.close(self.master)


@pytest.fixture
def repository(mux):
    """A repository in a home, with a remote that only the network leads to."""
    need("git", "bash")
    need_sandbox(mux.ue("sandbox", "--explain", cwd=mux.home))
    mux.ue("stop").ok()
    (mux.home / "repo" / "src").mkdir(parents=True)
    (mux.home / "repo" / "notes").write_text("a\nb\nc\n")
    (mux.home / "repo" / "src" / "main.c").write_text("int main;\n")
    bare = mux.dir / "git" / "lib.git"

    def git(*args):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], check=True, env=mux.env, cwd=mux.home / "repo", stdout=subprocess.DEVNULL)

    git("init", "-q", "-b", "main", ".")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("clone", "-q", "--bare", ".", str(bare))
    port, server = serve(mux, bare.parent)
    git("remote", "add", "origin", f"git://127.0.0.1:{port}/lib.git")
    yield mux.home / "repo"
    server.terminate()
    server.wait(CAP)


def serve(mux, base):
    """git daemon on a free port; which one it has is asked of the kernel."""
    import socket
    for _ in range(20):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = mux.spawn(["git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all", f"--base-path={base}", str(base)],
                           env=mux.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            with socket.socket() as client:
                return server.poll() is not None or client.connect_ex(("127.0.0.1", port)) == 0

        wait_for(answers, "git daemon")
        if server.poll() is None:
            return port, server
    pytest.fail("git daemon finds no port")


@pytest.mark.parametrize("title", TITLES)
def test_example(mux, repository, title):
    config = mux.home / ".config/muxd/muxd.ini"
    config.parent.mkdir(parents=True)
    env = {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "TERM": "xterm-256color", "NO_COLOR": "1"}
    for name in ("MUXD_CONFIG", "MUXD_SOCKET", "XDG_STATE_HOME"):
        del env[name]
    mux.socket = mux.dir / "muxd/muxd.sock"  # XDG_RUNTIME_DIR is the test's
    mux.env = {**env, "MUXD_SOCKET": str(mux.socket)}
    shell, wrong, ran, configured = Shell(mux, repository, env), [], 0, False
    for block in blocks(title):
        if block[1][0].startswith("["):
            if configured:  # an addition, which the reader may leave out
                continue
            config.write_text("\n".join(block[1]) + "\n")
            configured = True
            continue
        for place, command, answer in commands(block):
            if command.startswith(NOT_RUN):
                continue
            ran += 1
            shown = masked(shell.run(command, answer))
            if shown != masked(answer):
                wrong += [f"muxd-policy.7:{place + 1}: $ {command}", *difflib.unified_diff(masked(answer), shown, "page", "run", n=9, lineterm="")]
    shell.close()
    assert not wrong, "\n".join(wrong)
    assert configured and ran >= 1
