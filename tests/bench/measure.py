"""What all benches use: daemons of their own, turns taken by bench-turns, and the table they are printed in."""
import collections, contextlib, json, os, statistics, subprocess, sys, unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from conftest import BUILD, DAEMON, UE, Muxd, pytest, wait_for  # noqa: E402,F401

TURNS, SOURCE = BUILD / "bench/bench-turns", BUILD / "bench/bench-source"
PYTHON = "/usr/bin/python3"
TURNS_SECONDS_MAX = 3600
PEERS = ("tmux", "screen", "dtach", "abduco", "pexpect")
Failed = pytest.fail.Exception  # what the end-to-end tests' daemon raises; no Exception


# --- figures and the table
class Figure:
    """Samples of one contestant in one unit: median and quartiles."""

    def __init__(self, samples, unit=""):
        self.samples, self.unit = sorted(samples), unit
        self.median = statistics.median(self.samples)

    def __str__(self):
        text = number(self.median)
        if len(self.samples) > 2:
            low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
            text += f" ({number(low)}–{number(high)})"
        return f"{text} {self.unit}".strip()


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


COLUMNS = (("what", 68), ("floor", 26), ("muxd", 26), ("ratio", 12), ("aim", 16), ("n", 4))


class Table:
    """Printed row by row, so that a run that is cut short has shown what it had."""

    def head(self, title):
        print(f"\n{title}")
        self.line([name for name, _ in COLUMNS])
        self.line(["-" * width for _, width in COLUMNS])

    def line(self, cells):
        padded = [cell + " " * max(0, width - columns(cell)) for cell, (_, width) in zip(cells, COLUMNS)]
        print("  ".join(padded).rstrip(), flush=True)

    def ratio(self, what, floor, muxd, aim=None):
        """aim: '<= 1.5', '>= 0.92' or None."""
        value = muxd.median / floor.median if floor.median else float("inf") if muxd.median else 1.0
        self.line([what, str(floor), str(muxd), f"{number(value)} x", verdict(value, aim), str(len(muxd.samples))])

    def difference(self, what, floor, muxd, aim=None):
        value = muxd.median - floor.median
        self.line([what, str(floor), str(muxd), f"{value:+.2f} {muxd.unit}", verdict(value, aim), str(len(muxd.samples))])

    def failed(self, what, why):
        """Of a peer: it is not ours to mend, and the others have their rows all the same."""
        self.line([what, "", "failed: " + (str(why).strip().splitlines() or [repr(why)])[0][:200]])

    @contextlib.contextmanager
    def may_fail(self, what):
        try:
            yield
        except (Exception, Failed) as why:
            self.failed(what, why)

    def alone(self, what, muxd, aim=None):
        self.line([what, "", str(muxd), "", verdict(muxd.median, aim), str(len(muxd.samples))])


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def verdict(value, aim):
    if not aim:
        return ""
    relation, limit = aim.split()
    met = value <= float(limit) if relation == "<=" else value < float(limit) if relation == "<" else value >= float(limit)
    return f"{aim} {'met' if met else 'missed'}"


# --- daemons
class Daemon(Muxd):
    """A started daemon in a directory of its own, with a warm connection for setting things up."""

    def __init__(self, config="", cpus=None):
        super().__init__()
        self.env["TERM"] = "dumb"
        self.configure(config)
        try:
            self.ue("start").ok()
            self.client = self.rpc()
        except BaseException:
            self.__exit__()
            raise
        if cpus:
            for pid in self.daemons():
                os.sched_setaffinity(pid, cpus)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for what in self.close():
            print(f"bench: at the daemon's end: {what}", file=sys.stderr)
        self.remove()

    def start(self, names, argv, in_flight=32, wait=None):
        """Sessions on terminals, many at once; the calls return at once, or as `wait` says."""
        names, pending = list(names), collections.deque()
        wait = wait or {"yield_time_ms": 0, "ready": False, "_meta": {"verb": True}}
        for name in names:
            pending.append(self.client.send("exec_command", {"cmd": argv, "name": name, "tty": True, **wait}))
            if len(pending) == in_flight:
                self.client.result(pending.popleft())
        while pending:
            self.client.result(pending.popleft())

    def start_ready(self, names, argv):
        self.start(names, argv, wait={"yield_time_ms": 60000, "ready": True, "_meta": {"verb": True}})


def request(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, separators=(",", ":"))


# --- turns
def turns(rounds, *contestants, env=None, warm=0, pause_ms=0, pids=(), cpus=None):
    """Each contestant is (LABEL, KIND, ARG…). Gives {LABEL: (wall milliseconds, cpu milliseconds)}, lists of ROUNDS each. A peer that
    fails is told in a row and missing in what is given: the others take their turns without it."""
    command = [str(TURNS), "-n", str(rounds), "-w", str(warm), "-s", str(pause_ms)]
    for pid in pids:
        command += ["-p", str(pid)]
    for peer in PEERS:
        command += ["-f", peer]
    for label, kind, *args in contestants:
        command += [":::", kind, label, *map(str, args)]
    done = subprocess.run(command, env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TURNS_SECONDS_MAX, preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)
    if done.returncode != 0:
        raise RuntimeError(f"bench-turns ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    taken = {label: ([], []) for label, *_ in contestants}
    for line in done.stdout.splitlines():
        label, wall_ns, cpu_ns = line.split()
        taken[label][0].append(int(wall_ns) / 1e6)
        taken[label][1].append(int(cpu_ns) / 1e6)
    for label in [label for label in PEERS if label in taken and len(taken[label][0]) < rounds]:
        del taken[label]
        Table().failed(label, next((line for line in done.stderr.splitlines() if f"'{label}'" in line), "it dropped out"))
    return taken


def ms(taken, label):
    return Figure(taken[label][0], "ms")
