"""Real programs through ue attach, compared with what tmux shows for the same keys; clients in trouble; ssh; odd sizes."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import pytest
from conftest import CAP, PATH, UE, many, need, wait_for
from test_attach import (PREFIX, clients, agents_may_type, attach, attached, bash, frames, keys, receive, same,  # noqa: F401
                         screen, send, shown, start, text, there)

ROWS, COLS = 24, 80


class Tmux:
    """One window of tmux, of the same size and with the same environment."""

    def __init__(self, mux, *argv):
        need("tmux")
        self.mux, self.socket = mux, str(mux.dir / "tmux")
        self.env = {**mux.env, "TERM": "xterm-256color", "PS1": "sh> "}
        (mux.dir / "tmux.conf").write_text("set -g status off\nset -g default-terminal xterm-256color\nset -g escape-time 0\n")
        self.run("-f", str(mux.dir / "tmux.conf"), "new-session", "-d", "-x", str(COLS), "-y", str(ROWS), *argv)

    def run(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], env=self.env, cwd=self.mux.dir, stdin=subprocess.DEVNULL, check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def type(self, data):
        if data:
            self.run("send-keys", "-H", *[f"{byte:02x}" for byte in data.encode()])

    def look(self):
        lines = [line.rstrip() for line in self.run("capture-pane", "-p").split("\n")]
        col, row = self.run("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return "\n".join(lines).rstrip("\n"), int(row) + 1, int(col) + 1


@pytest.fixture
def pair(mux):
    """Starts a program in tmux, and in a session that is attached to in another one."""
    started = []

    def begin(*argv):
        tmux = Tmux(mux, *argv)
        started.append(tmux)
        start(mux, "inner", *argv, env=("-e", "TERM=xterm-256color"))
        wait_for(lambda: mux.listed("inner"), "the session")
        attach(mux)
        return tmux
    yield begin
    for tmux in started:
        subprocess.run(["tmux", "-S", tmux.socket, "kill-server"], env=tmux.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def looks(mux, name="outer"):
    answer = screen(mux, name)
    return "\n".join(line.rstrip() for line in answer["screen"].split("\n")).rstrip("\n"), answer["cursor"]["row"], answer["cursor"]["col"]


def timeless(look):
    """vim says how long ago it was that something was undone, in seconds."""
    return re.sub(r"\d+ seconds? ago *", "ago ", look[0]), *look[1:]


def alike(mux, tmux, what):
    end = time.monotonic() + CAP
    while timeless(ours := looks(mux)) != timeless(theirs := tmux.look()):
        assert time.monotonic() < end, f"after {what!r}: outer\n{ours}\ntmux\n{theirs}"
        screen(mux, "outer", "--stable", 30, "-y", 300)
    return ours[0]


def both(mux, tmux, *pieces):
    """Each piece is typed into both, which then show the same, letter by letter and with the cursor."""
    for piece in pieces:
        mux.ue("write", "-y", 0, "outer", piece).ok()
        tmux.type(piece)
        last = alike(mux, tmux, piece)
    return last


def test_bash_as_tmux_shows_it(mux, pair):
    tmux = pair("/bin/bash", "--norc", "--noprofile", "-i")
    text(mux, "outer", "PS1='sh> '; clear")
    tmux.type("PS1='sh> '; clear\r")
    alike(mux, tmux, "the prompt")
    both(mux, tmux, "e", "c", "h", "o", " x", "\x7f", "abc", "\x1b[D", "\x1b[D", "Z", "\x01", ":", "\x05", "!", "\r")
    both(mux, tmux, "printf 'tab\\tone\\b\\b_\\r>>\\n'\r", "seq 40\r", "printf '%100s|\\n' long\r", "printf '\\e[5;70HABCDEFGHIJKLMNOP'\r")
    both(mux, tmux, "clear\r", "printf '\\e[3;10r\\e[10;1H\\n\\n\\nlow\\e[r'\r", "printf '\\u4f60\\u597d e\\u0301 \\u00fc\\n'\r")
    both(mux, tmux, "printf '\\e[2J\\e[Habc\\e[2;5Hdef\\e[1;2H\\e[2P\\e[@x\\e[2B\\e[L'\r", "clear\r", "echo the \x12e\x07\x15echo end\r")


def test_vim_as_tmux_shows_it(mux, pair):
    need("vim")
    tmux = pair("vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set nocp ruler noshowcmd nomodeline t_RV= t_u7= shortmess+=I")
    both(mux, tmux, "i", "H", "ello", "\r", "world", "\x1b", "yy", "20p", "gg", "dd", "u", ":set nu\r", "/wor\r", "n", "\x06", "\x02",
         "V", "3j", "d", ":split\r", "\x17j", "Gox\x1b", "\x17o", "zz", ":%s/world/w\u00f6rld/\r")


def test_less_as_tmux_shows_it(mux, pair):
    (mux.dir / "file").write_text("".join(f"line {n} {'x' * (n % 120)}\n" for n in range(300)))
    tmux = pair("less", "-S", str(mux.dir / "file"))
    both(mux, tmux, "f", "f", "b", "j", "k", "/line 150\r", "n", "G", "g", "\x1b[C", "\x1b[D", "=")


def test_python_as_tmux_shows_it(mux, pair):
    tmux = pair("/usr/bin/python3", "-q")
    # What is typed before it reads is echoed by the terminal, too.
    wait_for(lambda: looks(mux)[0].count(">>>") == tmux.look()[0].count(">>>") == 1, "both prompts")
    both(mux, tmux, "1+1\r", "print('a\\tb')\r", "for i in range(3):\r", "  print(i)\r", "\r", "\x1b[A\x1b[A", "\x03", "'\u4f60'*3\r")


def test_tmux_inside_as_tmux_shows_it(mux, pair):
    (mux.dir / "in.conf").write_text("set -g status-right ''\nset -g status-left 'S '\nset -g automatic-rename off\nset -g escape-time 0\nset -g assume-paste-time 0\n"
                                     "set -g default-command 'PS1=\\> exec bash --norc --noprofile'\n")
    tmux = pair("/bin/sh", "-c", f"exec env -u TMUX tmux -S {mux.dir}/in.$$ -f {mux.dir}/in.conf new-session -n win \\; set -g status-left-length 4")
    try:
        def prompts(count):  # what is typed before a shell reads would be shown twice, or once
            wait_for(lambda: looks(mux)[0].count(">") == tmux.look()[0].count(">") == count, f"{count} prompts")
        prompts(1)
        both(mux, tmux, "echo one\r", "\x02%")
        prompts(3)
        both(mux, tmux, "echo two\r", "\x02\"")
        prompts(5)
        both(mux, tmux, "seq 30\r", "\x02o", "ls -d /\r", "\x02z", "exit\r")
    finally:
        for path in mux.dir.glob("in.[0-9]*"):
            subprocess.run(["tmux", "-S", str(path), "kill-server"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_htop(mux):
    need("htop")
    start(mux, "inner", "htop", "-d", "100", env=("-e", "TERM=xterm-256color"))
    attach(mux)
    assert "Help" in shown(mux, "outer", "F10Quit")
    keys(mux, "outer", "F1")
    shown(mux, "outer", "htop")
    mux.ue("write", "-y", 0, "outer", "q").ok()
    keys(mux, "outer", "F10")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0


# --- sizes and clients in trouble

@pytest.mark.parametrize("size", ["1x1", "1x80", "40x1", "200x500"])
def test_odd_terminals(mux, size):
    rows, cols = map(int, size.split("x"))
    bash(mux)
    text(mux, "inner", "seq 10; printf '\\u4f60\\u597d%.0s' $(seq 300); echo; echo end")
    attach(mux, size=size)
    wait_for(lambda: (mux.listed("inner")["rows"], mux.listed("inner")["cols"]) == (rows, cols), "the size")
    same(mux)
    text(mux, "outer", "printf 'abc\\n\\e[31m%900s' x")
    same(mux)
    for pressed in ("?", "q", "[", "g", "G", "/x\r", "q"):
        if pressed in "?[":
            keys(mux, "outer", PREFIX)
        mux.ue("write", "-y", 0, "outer", pressed).ok()
    same(mux)
    keys(mux, "outer", PREFIX, "d")
    assert mux.wait_state("outer", "exited")["exit_code"] == 0


def test_many_come_and_go_killed_at_any_moment(mux):
    most, turns = many(8, 20), many(30, 60)
    bash(mux)
    text(mux, "inner", "yes \"$(seq 200)\"")
    master, slave = os.openpty()
    clients, reader = [], os.dup(master)
    os.set_blocking(reader, False)

    def drain():
        try:
            while os.read(reader, 1 << 16):
                pass
        except BlockingIOError:
            pass
    for turn in range(turns):
        client = mux.popen("attach", *(["-r"] if turn % 3 else []), "inner", stdin=slave, stdout=slave, stderr=subprocess.DEVNULL)
        clients.append(client)
        if len(clients) > most:
            old = clients.pop(turn % 7)
            old.send_signal([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT][turn % 4])
            wait_for(lambda: drain() or old.poll() is not None, "it to go: the terminal must take what it restores")
            mux.finish(old)
        drain()
    wait_for(lambda: drain() or attached(mux) == len(clients), "those that are left")
    for client in clients:
        client.kill()
        mux.finish(client)
    for fd in (master, slave, reader):
        os.close(fd)
    wait_for(lambda: attached(mux) == 0, "all to be gone")
    keys(mux, "inner", "C-c")
    text(mux, "inner", "clear; echo alive")
    shown(mux, "inner", "alive\n")


def test_a_storm_of_sizes_ends_with_the_last(mux):
    (mux.dir / "count.sh").write_text("n=0; trap 'n=$((n+1))' WINCH; echo up; while :; do read -r line && echo n=$n $(stty size); done\n")
    start(mux, "inner", "/bin/bash", str(mux.dir / "count.sh"))
    shown(mux, "inner", "up")
    peer = frames(mux, "inner")
    for size in range(1, 301):
        send(peer, b"s", f"{10 + size % 40}x{20 + size % 60}".encode())
    send(peer, b"s", b"33x77")
    wait_for(lambda: (mux.listed("inner")["rows"], mux.listed("inner")["cols"]) == (33, 77), "the last size")
    send(peer, b"i", b"\r")
    said = shown(mux, "inner", " 33 77")
    assert 1 <= int(said.split("n=")[1].split()[0]) < 100, said


def test_a_stalled_terminal_gets_one_drawing_later(mux):
    bash(mux)
    stalled = frames(mux, "inner")
    attach(mux)
    text(mux, "outer", "seq 200000; clear; echo last words")
    shown(mux, "outer", "last words")
    seen = b""
    while b"last words" not in seen:
        seen += receive(stalled, b"o")
    assert len(seen) < 3_000_000


@pytest.mark.timing(reason="it measures how quick keys are, which whatever else runs takes part in")
def test_keys_are_quick_beside_a_flood(mux):
    """The drawing waits for no timer, also while another session floods."""
    bash(mux)
    bash(mux, "noise")
    text(mux, "noise", "yes 0123456789")
    text(mux, "inner", "stty -echo -icanon; exec cat")
    peer = frames(mux, "inner")
    receive(peer, b"o")
    taken = []
    for n in range(50):
        mark = bytes([ord("a") + n % 26])
        begun = time.monotonic()
        send(peer, b"i", mark)
        while mark not in receive(peer, b"o"):
            pass
        taken.append(time.monotonic() - begun)
    assert sorted(taken)[25] < 0.2, taken
    keys(mux, "noise", "C-c")


# --- ssh

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.root
def test_through_ssh_on_loopback(mux):
    need("ssh", "ssh-keygen")
    daemon = shutil.which("sshd", path=PATH)
    if not daemon:
        pytest.skip("'sshd' is not installed")
    key, host, port = mux.dir / "key", mux.dir / "host", free_port()
    for path in (key, host):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, stdin=subprocess.DEVNULL)
    os.makedirs("/run/sshd", mode=0o755, exist_ok=True) if os.geteuid() == 0 else None
    (mux.dir / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
        "PasswordAuthentication no\nPermitRootLogin yes\nSetEnv SHLVL=2\n")  # with SHLVL the user's own .bashrc stays out of it
    server = subprocess.Popen([daemon, "-D", "-e", "-f", str(mux.dir / "sshd_config")], env=mux.env, stdin=subprocess.DEVNULL,
                              stderr=(mux.dir / "sshd.log").open("wb"), start_new_session=True)
    try:
        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        wait_for(listens, "sshd")
        bash(mux)
        ssh = f"ssh -F none -t -i {key} -p {port} -o StrictHostKeyChecking=no -o UserKnownHostsFile={mux.dir}/known -o LogLevel=ERROR 127.0.0.1"
        inside = " ".join(f"{name}={mux.env[name]}" for name in ("MUXD_SOCKET", "MUXD_CONFIG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"))
        bash(mux, "outer")
        text(mux, "outer", f"{ssh} 'env {inside} TERM=xterm-256color {UE} attach inner'; echo left=$?")
        said = (mux.dir / "sshd.log").read_text
        try:
            wait_for(lambda: attached(mux) or "chown(/dev/pts" in said(), "the terminal")
        except BaseException:
            print(said())
            raise
        if os.geteuid() and re.search(r"^chown\(/dev/pts", said(), re.M):
            pytest.skip("an sshd without root can't give a terminal to the group tty where devpts is mounted without gid=5")
        there(mux, "outer")
        text(mux, "outer", "clear; echo through ssh")
        shown(mux, "outer", "through ssh")
        same(mux)
        mux.ue("resize", "outer", "30x100").ok()
        wait_for(lambda: mux.listed("inner")["rows"] == 30, "the size through ssh")
        keys(mux, "outer", PREFIX, "d")
        shown(mux, "outer", "left=0")
    finally:
        server.terminate()
        server.wait(CAP)


def test_a_shell_without_pipes_and_a_session_leader_that_dies(mux):
    """The terminal hangs up: the client goes, the session stays."""
    bash(mux)
    bash(mux, "outer")
    text(mux, "outer", f"{UE} attach inner")
    there(mux, "outer")
    client = clients(mux)
    mux.ue("kill", "outer").ok()
    wait_for(lambda: attached(mux) == 0 and not os.path.exists(f"/proc/{client[0]}"), "the client to be gone")
    assert mux.listed("inner")["state"] == "running"
