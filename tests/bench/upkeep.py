"""What sessions cost that nobody uses: memory and wake-ups of the processes that keep them."""
import os, select, stat, time
from pathlib import Path

from measure import Daemon, Failed, Figure
from peers import installed

SLEEP, CAT = ["/bin/sleep", "100000"], ["/bin/cat"]
BASH = ["/bin/bash", "--norc", "--noprofile", "-i"]
LIMITS = "[limits]\nmax_sessions = 4096\njournal_total = 64G\n"


# --- memory
def fields(path):
    """NAME: NUMBER kB lines of a file in /proc, as {NAME: kB}."""
    found = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(":")
        if rest.strip().endswith(" kB"):
            found[name] = int(rest.split()[0])
    return found


def memfd_kb(pids):
    """Pages of the memfds that the processes have open, each counted once however many hold or map it."""
    files = {}
    for pid in pids:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            try:
                if os.readlink(entry.path).startswith("/memfd:"):
                    info = os.stat(entry.path)
                    if stat.S_ISREG(info.st_mode):
                        files[info.st_dev, info.st_ino] = info.st_blocks / 2
            except FileNotFoundError:
                pass
    return sum(files.values())


def memory_kb(pids):
    """Memory of the processes with their memfds: all of it with their share of program files (which moves with whoever else maps
    those), what is theirs alone, and their page tables, which the kernel counts nowhere."""
    code = own = tables = 0
    for pid in pids:
        try:
            rollup = fields(f"/proc/{pid}/smaps_rollup")
        except PermissionError as why:  # prctl(PR_SET_DUMPABLE, 0): what people type is in their memory
            raise Failed("muxd lets only root look at its memory; run it with sudo: BENCH='--only memory'") from why
        code += rollup["Pss_File"]
        own += rollup["Pss_Anon"]
        tables += fields(f"/proc/{pid}/status").get("VmPTE", 0)
    own += memfd_kb(pids)
    return own + code, own, tables


def bench_memory(table, size):
    with table.may_fail("memory"):
        measure_memory(table, size)


def measure_memory(table, size):
    base, per_session = None, {}
    for what, argv, counts in (("sleep", SLEEP, (1, 100, size.many)), ("cat", CAT, (100,)), ("bash at its prompt", BASH, (100,))):
        with Daemon(LIMITS) as muxd:
            pids = muxd.daemons()
            if base is None:
                base = memory_kb(pids)[0]
                table.alone("keeper, worker and sentinel without a session", Figure([base], "kB"), "<= 1400")
            # What the very first session makes the daemon allocate once is no cost of a session.
            ended = muxd.client.call("exec_command", {"cmd": ["/bin/true"], "tty": True, "name": "first"})
            assert ended["exit_code"] == 0, ended
            muxd.client.call("remove_session", {"sessions": ["first"]})
            _, empty, empty_tables = memory_kb(pids)
            started = 0
            for count in counts:
                names = [f"s{i}" for i in range(started, count)]
                muxd.start_ready(names, argv) if argv is BASH else muxd.start(names, argv)
                started = count
                _, total, tables = memory_kb(pids)
                per_session[what, count] = (total - empty) / count
                table.alone(f"a session of {what}, of {count}", Figure([per_session[what, count]], "kB"), "<= 10")
                if count >= 100:
                    table.alone(f"a session of {what}, of {count}: page tables besides", Figure([(tables - empty_tables) / count], "kB"))
            if argv is BASH:
                for name in names:
                    muxd.client.call("write_stdin", {"session_id": name, "chars": "true\n"})
                table.alone(f"a session of {what} that has been typed into, of {count}",
                            Figure([(memory_kb(pids)[1] - empty) / count], "kB"))
    for peer in installed():
        with table.may_fail(f"a session of sleep, of {size.peers}: {peer.name}"), peer() as other:
            other.start(size.peers)
            kb = memory_kb(other.keepers())[0]
            muxd_kb = (base + per_session["sleep", 100] * size.peers) / size.peers
            table.ratio(f"a session of sleep, of {size.peers}, with all that keeps it / {peer.name}", Figure([kb / size.peers], "kB"),
                        Figure([muxd_kb], "kB"))


# --- idle
def activity(pids):
    """Clock ticks and context switches of the processes so far, with all their threads."""
    ticks = switches = 0
    for pid in pids:
        ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]))
        for task in os.listdir(f"/proc/{pid}/task"):
            for line in Path(f"/proc/{pid}/task/{task}/status").read_text(encoding="utf-8").splitlines():
                if "ctxt_switches" in line:
                    switches += int(line.split()[1])
    return ticks, switches


def at_rest(pids, seconds):
    """What the processes do in so many seconds, once a second has passed in which they did nothing (at most ten are waited for)."""
    end, before = time.monotonic() + 10, activity(pids)
    while time.monotonic() < end:
        select.select([], [], [], 1)
        now = activity(pids)
        if now == before:
            break
        before = now
    before = activity(pids)
    select.select([], [], [], seconds)
    return [b - a for a, b in zip(before, activity(pids))]


def bench_idle(table, size):
    figures = {}
    for peer in installed():
        with table.may_fail(f"{size.peers} idle sessions: {peer.name}"), peer() as other:
            other.start(size.peers)
            figures[peer.name] = at_rest(other.keepers(), size.idle_s)
    with Daemon(LIMITS) as muxd:
        muxd.start((f"s{i}" for i in range(size.some - 1)), CAT)
        muxd.start_ready(["bash"], BASH)
        ticks, switches = at_rest(muxd.daemons(), size.idle_s)
    what = f"{size.some} idle sessions in {size.idle_s} s"
    table.difference(f"CPU of {what} / nothing", Figure([0], "ticks"), Figure([ticks], "ticks"), "<= 0")
    table.difference(f"context switches of {what} / nothing", Figure([0]), Figure([switches]), "<= 0")
    for name, (peer_ticks, peer_switches) in figures.items():
        table.difference(f"the same / {name} with {size.peers}: CPU", Figure([peer_ticks], "ticks"), Figure([ticks], "ticks"))
        table.difference(f"the same / {name} with {size.peers}: context switches", Figure([peer_switches]), Figure([switches]))
