"""The same script for muxd and its peers: who leaves what alive after a kill, and what a client that stalls costs the program and the keeper."""
import fcntl, mmap, os, pty, select, shutil, signal, struct, subprocess, sys, termios, time
from pathlib import Path

from measure import UE, Failed, Figure, Muxd, wait_for
from peers import Dtach, Peer, Screen, Tmux
from upkeep import memory_kb

LOOKS = 30
GONE_S = 1.5        # after a kill, until whoever is left counts as a survivor
FORKS_S = 20        # a program that forks without end ends by itself
WARM_S, FLOOD_S = 1.0, 3.0

# MARK tells what may survive from everything else. Each script says "up" by making the file @UP@, and then stays.
ESCAPES = {
    "nohup": "nohup MARK >/dev/null 2>&1 </dev/null & touch @UP@; wait",
    "setsid": "setsid MARK & touch @UP@; wait",
    "double fork": "(setsid sh -c 'MARK & exit' &); touch @UP@; exec sleep 300",
    "ignores HUP": "(trap '' HUP; exec MARK) & touch @UP@; wait",
    "ignores HUP and TERM": "(trap '' HUP TERM INT; exec MARK) & trap '' HUP TERM INT; touch @UP@; wait",
    "stopped": "MARK & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; touch @UP@; wait",
    "forks fast": "FORKER & touch @UP@; wait",
    "env -i setsid": "(setsid env -i /bin/MARK &); touch @UP@; exec sleep 300",
}
FORKER = f"""
import os, signal, sys, time
for s in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    signal.signal(s, signal.SIG_IGN)
end = time.monotonic() + {FORKS_S}
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)
"""
FLOOD = """
import mmap, os, struct, sys
with open(sys.argv[1], "r+b") as file:
    count = mmap.mmap(file.fileno(), 8)
total = 0
while True:  # each block looks different: a client that is sent nothing new can't stall
    total += os.write(1, (b"%078d\\n" % total) * 50)
    count[:] = struct.pack("q", total)
"""


# --- one session of each
class Ours(Muxd):
    name = "muxd"

    def __enter__(self):
        self.configure("[muxd]\nkill_grace = 100ms\n")
        self.ue("start").ok()
        return self

    def __exit__(self, *_):
        self.close()
        self.remove()

    def begin(self, script):
        self.ue("exec", "-n", "s", "-t", "-y", 0, "--argv", "--", "/bin/bash", "-c", script).ok()

    def attach(self):
        return [str(UE), "attach", "s"]

    def end(self):
        self.ue("kill", "s")

    def keepers(self):
        return self.daemons()


class OneTmux(Tmux):
    def begin(self, script):
        self.run("-S", self.server, "-f", "/dev/null", "new-session", "-d", "-s", "s", "/bin/bash", "-c", script)

    def attach(self):
        return [self.program, "-S", self.server, "attach", "-t", "s"]

    def end(self):
        self.run("-S", self.server, "kill-session", "-t", "s")


class OneScreen(Screen):
    def begin(self, script):
        self.run("-c", "/dev/null", "-d", "-m", "-S", "s", "/bin/bash", "-c", script)

    def attach(self):
        return [self.program, "-x", "s"]

    def end(self):
        self.run("-S", "s", "-X", "quit")


class BySignal(Peer):
    """Those that know no command to end a session: the keeper is told to go, as their manuals say."""

    def end(self):
        for pid in self.keepers():
            os.kill(pid, signal.SIGTERM)


class OneDtach(BySignal):
    name = Dtach.name

    def begin(self, script):
        self.run("-n", self.dir / "d", "/bin/bash", "-c", script)

    def attach(self):
        return [self.program, "-a", str(self.dir / "d")]


class OneAbduco(BySignal):
    name = "abduco"

    def begin(self, script):
        self.run("-n", str(self.dir / "a"), "/bin/bash", "-c", script)

    def attach(self):
        return [self.program, "-a", str(self.dir / "a")]


def contestants():
    """muxd and the peers that are installed; the others are named."""
    found = [Ours]
    for kind in (OneTmux, OneScreen, OneDtach, OneAbduco):
        if shutil.which(kind.name):
            found.append(kind)
        else:
            print(f"{kind.name} is absent: not installed here")
    return found


def rows(title, names, cells):
    """A row for each of `cells`: {what: {name: text}}."""
    width = max(map(len, [title, *cells])) + 2
    print(title.ljust(width) + "".join(name.ljust(22) for name in names))
    for what, by_name in cells.items():
        print(what.ljust(width) + "".join(by_name.get(name, "-").ljust(22) for name in names), flush=True)


# --- escapees
def marked(mark):
    found = []
    for entry in sorted(map(int, filter(str.isdigit, os.listdir("/proc"))), reverse=True):  # the youngest first: it may not live long
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            if mark.encode() in words and b"-c" not in words and Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                found.append(entry)
        except (OSError, IndexError):
            pass
    return found


def left_of(mark):
    """One that forks all the time can slip through between two looks."""
    return max(len(marked(mark)) for _ in range(LOOKS))


def sweep_up(mark):
    """Whatever is left of a script, also of one that forks: nothing of a bench may outlive it."""
    end = time.monotonic() + FORKS_S + 5
    while left_of(mark) and time.monotonic() < end:
        for pid in marked(mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def escape(kind, script, serial):
    mark = f"3171.{os.getpid():06d}{serial:03d}"
    with kind() as keeper:
        up, forker = keeper.dir / "up", keeper.dir / "forker.py"
        forker.write_text(FORKER)
        keeper.begin(script.replace("MARK", f"sleep {mark}").replace("FORKER", f"{sys.executable} {forker} {mark}").replace("@UP@", str(up)))
        try:
            wait_for(lambda: up.exists() and marked(mark), f"{script!r} in {kind.name}", 20)
            keeper.end()
            end = time.monotonic() + GONE_S
            while left_of(mark) and time.monotonic() < end:
                select.select([], [], [], 0.02)
            return left_of(mark)
        finally:
            sweep_up(mark)


def cell(kind, measure):
    """The text of what was measured; of a peer that fails, that it does."""
    try:
        return measure()
    except (Exception, Failed) as why:
        if kind is Ours:
            raise
        print(f"{kind.name} failed: {str(why).strip()[:200]}", flush=True)
        return "failed"


def bench_escapees(table, size):
    """survivors 1.5 s after a normal kill of the session, for each kind of escapee (0: nothing is left)"""
    del table, size
    kinds, cells = contestants(), {}
    for n, (what, script) in enumerate(ESCAPES.items()):
        cells[what] = {kind.name: cell(kind, lambda: str(escape(kind, script, n * 10 + i))) for i, kind in enumerate(kinds)}
    rows("survivors", [kind.name for kind in kinds], cells)


# --- clients that stall
class Client:
    """An attached client on a terminal; what it shows is read, or nobody reads it."""

    def __init__(self, keeper, stalled):
        self.leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))

        def take_terminal():
            os.setsid()
            fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(keeper.attach(), env={**keeper.env, "TERM": "xterm"}, stdin=follower, stdout=follower, stderr=follower,
                                        cwd="/", preexec_fn=take_terminal)
        os.close(follower)
        self.stalled = stalled
        select.select([self.leader], [], [], 5)

    def read(self):
        if not self.stalled:
            while select.select([self.leader], [], [], 0)[0] and os.read(self.leader, 65536):
                pass

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.leader)


def let_run(clients, seconds):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        readers = [client.leader for client in clients if not client.stalled]
        select.select(readers, [], [], min(left, 0.05))
        for client in clients:
            client.read()


def own_mb(pids):
    """Memory of these processes alone; None where only root can know it."""
    try:
        return memory_kb(pids)[1] / 1024
    except Failed:
        return None


def flood(kind, healthy, stalled):
    """Megabytes a second that the program gets rid of, and how the keeper's memory grows, as words."""
    with kind() as keeper:
        counter, program, clients = keeper.dir / "count", keeper.dir / "flood.py", []
        counter.write_bytes(bytes(8))
        program.write_text(FLOOD)
        with open(counter, "r+b") as file:
            count = mmap.mmap(file.fileno(), 8)

        def total():
            return struct.unpack("q", count[:])[0]
        keeper.begin(f"until [ -e {keeper.dir}/go ]; do sleep 0.02; done; exec {sys.executable} {program} {counter}")
        try:
            clients += [Client(keeper, False) for _ in range(healthy)] + [Client(keeper, True) for _ in range(stalled)]
            let_run(clients, 0.5)
            before = own_mb(keeper.keepers())
            (keeper.dir / "go").touch()
            wait_for(lambda: total() > 0, "the flood", 20)
            let_run(clients, WARM_S)
            start, began = total(), time.monotonic()
            let_run(clients, FLOOD_S)
            speed = (total() - start) / (time.monotonic() - began) / 1e6
            grown = "? MB" if before is None else f"{own_mb(keeper.keepers()) - before:+.1f} MB"
            return f"{Figure([speed], 'MB/s')}, {grown}"
        finally:
            for client in clients:
                client.close()


CROWDS = {"no client": (0, 0), "1 that reads": (1, 0), "1 that stalls": (0, 1), "1 that reads, 1 that stalls": (1, 1), "20 that stall": (0, 20)}


def bench_stalled(table, size):
    """a flood of short lines with attached clients that read or stall: speed of the program, growth of the keeper's memory"""
    del table, size
    kinds, cells = contestants(), {}
    for what, (healthy, stalled) in CROWDS.items():
        cells[what] = {}
        for kind in kinds:
            cells[what][kind.name] = cell(kind, lambda: flood(kind, healthy, stalled))
    rows("flood, clients", [kind.name for kind in kinds], cells)
