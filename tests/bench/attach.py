"""A session on a person's terminal: what a key takes until it is seen, how fast output is shown, what the first screen takes and costs."""
import os, shutil, signal, statistics

from measure import SOURCE, UE, Daemon, Figure, ms, turns
from peers import Tmux
from upkeep import memory_kb

ECHO = ["/bin/sh", "-c", "stty -icanon -echo -opost; exec cat"]
FLOOD = ["/bin/sh", "-c", "exec yes 0123456789012345678901234567890123456789"]
MARK = "THE-LAST-LINE"
TERM = {"TERM": "xterm-256color"}


def p99(figure):
    return Figure([statistics.quantiles(figure.samples, n=100, method="inclusive")[98]], figure.unit)


class Contest:
    """The same programs in muxd and in the others, each of them attached to on a terminal of its own."""

    def __init__(self, muxd, tmux):
        self.muxd, self.tmux, self.count = muxd, tmux, 0
        self.dtach, self.abduco = shutil.which("dtach"), shutil.which("abduco")

    def contestants(self, kind, argv, *first):
        self.count += 1
        name = f"c{self.count}"
        found = [("raw", kind, *first, *argv), ("ue", kind, *first, UE, "exec", "-a", "-n", name, "--argv", "--", *argv)]
        if self.tmux.program:
            found.append(("tmux", kind, *first, self.tmux.program, "-S", self.tmux.server, "-f", "/dev/null", "new-session", "-s", name,
                          *argv))
        if self.dtach and kind != "view":
            found.append(("dtach", kind, *first, self.dtach, "-A", self.muxd.dir / f"d{name}", "-E", "-z", "-r", "none", *argv))
        if self.abduco and kind != "view":
            found.append(("abduco", kind, *first, self.abduco, "-c", self.muxd.dir / f"a{name}", *argv))
        return found

    def end(self):
        """dtach and abduco stay when nobody is attached any more."""
        for pid in self.muxd.pids():
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) in ("dtach", "abduco"):
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def flood(self, table):
        self.muxd.start(["flood"], FLOOD)
        if not self.tmux.program:
            return
        with table.may_fail("another session that floods: tmux"):
            self.tmux.run("-S", self.tmux.server, "-f", "/dev/null", "new-session", "-d", "-s", "flood", *FLOOD)


def echo(table, size, contest, when):
    taken = turns(size.rounds, *contest.contestants("echo", ECHO), env={**contest.muxd.env, **TERM}, warm=min(size.warm, 50))
    raw = ms(taken, "raw")
    for label in taken:
        if label != "raw":
            aim = "< 10" if label == "ue" else None
            table.ratio(f"a key until it is seen, {when}: {label} / raw terminal", raw, ms(taken, label))
            table.alone(f"a key until it is seen, {when}: {label}, p99 (raw {p99(raw)})", p99(ms(taken, label)), aim)


def shown(table, size, contest):
    megabytes = max(4, size.megabytes // 8)
    argv = [str(SOURCE), "short", str(megabytes)]
    taken = turns(min(size.floods, 3), *contest.contestants("view", argv), env={**contest.muxd.env, **TERM}, warm=0)
    rates = {label: Figure([megabytes / (wall / 1e3) for wall in taken[label][0]], "MB/s") for label in taken}
    for label in taken:
        if label != "raw":
            table.ratio(f"{megabytes} MB of 8-byte lines, shown: {label} / raw terminal", rates["raw"], rates[label])


def first_screen(table, size, contest):
    muxd, tmux = contest.muxd, contest.tmux
    filled = ["/bin/sh", "-c", f"seq 400000; echo {MARK}; exec cat"]
    rounds, cold = min(size.rounds, 20), []
    muxd.start((f"full{i}" for i in range(rounds)), filled, wait={"until": MARK, "yield_time_ms": 60000, "_meta": {"verb": True}})
    for i in range(rounds):
        cold += turns(1, ("ue", "first", MARK, UE, "attach", f"full{i}"), env={**muxd.env, **TERM})["ue"][0]
    contestants = [("warm", "first", MARK, UE, "attach", "full0")]
    if tmux.program:
        with table.may_fail("first screen of a session with a full history: tmux"):
            tmux.run("-S", tmux.server, "-f", "/dev/null", "new-session", "-d", "-s", "full", *filled, ";", "pipe-pane", "-t", "full", "cat")
            tmux.run("-S", tmux.server, "wait-for", "-S", "full")
            contestants.append(("tmux", "first", MARK, tmux.program, "-S", tmux.server, "attach", "-t", "full"))
    taken = turns(rounds, *contestants, env={**muxd.env, **TERM}, warm=2)
    table.alone("first screen of a session with 2 MiB of history, nobody has looked before", Figure(cold, "ms"))
    if "tmux" in taken:
        table.ratio("first screen of a session with a full history, looked at before / tmux", ms(taken, "tmux"), ms(taken, "warm"))
    else:
        table.alone("first screen of a session with a full history, looked at before", ms(taken, "warm"))


def memory(table, size):
    count = min(20, size.some)
    rows = {"empty": ["/bin/cat"], "2 MiB of output, [limits] scrollback 1M": ["/bin/sh", "-c", f"seq 400000; echo {MARK}; exec cat"]}
    for what, argv in rows.items():
        with Daemon() as muxd:
            names = [f"s{i}" for i in range(count)]
            wait = {"until": MARK, "yield_time_ms": 60000, "_meta": {"verb": True}} if len(argv) > 1 else None
            muxd.start(names, argv, wait=wait)
            before = memory_kb(muxd.daemons())[1]
            for name in names:
                muxd.client.call("read_screen", {"session_id": name})
            table.alone(f"a screen of 24x80, {what}", Figure([(memory_kb(muxd.daemons())[1] - before) / count], "kB"))


def bench_attach(table, size):
    """A person's terminal: keys, output, the first screen; beside tmux, dtach and abduco where they are installed."""
    with Daemon() as muxd, Tmux() as tmux:
        contest = Contest(muxd, tmux)
        echo(table, size, contest, "idle")
        shown(table, size, contest)
        first_screen(table, size, contest)
        contest.flood(table)
        echo(table, size, contest, "while another session floods")
        contest.end()
    with table.may_fail("memory of a screen"):
        memory(table, size)
