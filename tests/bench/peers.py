"""Other keepers of sessions, each in a directory of its own, with sleeping sessions: for memory, idle wake-ups and lists."""
import os, shutil, signal, subprocess, sys

from measure import Muxd, wait_for

SLEEP = ["/bin/sleep", "100000"]


class Peer(Muxd):
    name = per_session = None

    def __init__(self):
        super().__init__()
        self.program = shutil.which(self.name)
        self.env["SCREENDIR"] = str(self.dir / "screen")
        (self.dir / "screen").mkdir(mode=0o700)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """All that carries this directory in its environment goes; nothing else is touched."""
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: not self.pids(), f"{self.name} to go", 20)
        self.remove()

    def run(self, *args):
        subprocess.run([self.program, *map(str, args)], env=self.env, cwd="/", check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, timeout=60)

    def keepers(self):
        """The peer's own processes, not what runs in its sessions."""
        mine = []
        for pid in self.pids():
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(os.path.realpath(self.program)):
                    mine.append(pid)
            except OSError:
                pass
        return mine

    def settled(self, count):
        """Waits until as many sessions sleep as were started."""
        def sleeping():
            found = 0
            for pid in self.pids():
                try:
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                        found += comm.read() == "sleep\n"
                except OSError:
                    pass
            return found >= count
        wait_for(sleeping, f"{count} sessions of {self.name}", 60)


class Tmux(Peer):
    name = "tmux"

    @property
    def server(self):
        return str(self.dir / "t")

    def start(self, count):
        for i in range(count):
            self.run("-S", self.server, "-f", "/dev/null", "new-session", "-d", "-s", f"s{i}", " ".join(SLEEP))
        self.settled(count)


class Screen(Peer):
    name = "screen"

    def start(self, count):
        for i in range(count):
            self.run("-c", "/dev/null", "-d", "-m", "-S", f"s{i}", *SLEEP)
        self.settled(count)


class Dtach(Peer):
    name = "dtach"

    def start(self, count):
        for i in range(count):
            self.run("-n", self.dir / f"d{i}", *SLEEP)
        self.settled(count)


def installed():
    found = [peer for peer in (Tmux, Screen, Dtach) if shutil.which(peer.name)]
    for peer in (Tmux, Screen, Dtach):
        if peer not in found:
            print(f"{peer.name} is not installed: no row for it", file=sys.stderr)
    return found
