#!/usr/bin/python3
"""make bench: muxd against floors and peers, in turns in one run. Prints tables of medians with quartiles; asserts nothing.

A floor is the least that any program could do for the same (C, in tests/bench). Times depend on the machine and its mood,
ratios much less. `aim` is what the design wants; `met` and `missed` are remarks, not verdicts."""
import argparse, os, sys, traceback
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import measure  # noqa: E402
from agents import bench_mcp, bench_task, bench_tokens  # noqa: E402
from attach import bench_attach  # noqa: E402
from comparison import bench_escapees, bench_stalled  # noqa: E402
from latency import bench_crash, bench_exec, bench_list, bench_repl, bench_scale  # noqa: E402
from libraries import bench_libraries  # noqa: E402
from sandboxes import bench_sandbox  # noqa: E402
from upkeep import bench_idle, bench_memory  # noqa: E402
from volume import bench_throughput  # noqa: E402


@dataclass
class Size:
    rounds: int     # turns of what takes milliseconds
    warm: int       # turns before those that count
    floods: int     # turns of what takes seconds
    megabytes: int  # of a flood
    crashes: int
    some: int       # sessions
    many: int
    peers: int      # sessions of tmux, screen and dtach
    idle_s: int


FULL = Size(rounds=400, warm=300, floods=5, megabytes=200, crashes=30, some=200, many=1000, peers=100, idle_s=10)
QUICK = Size(rounds=40, warm=10, floods=3, megabytes=24, crashes=5, some=50, many=200, peers=20, idle_s=3)
BENCHES = {"exec": bench_exec, "repl": bench_repl, "libraries": bench_libraries, "throughput": bench_throughput, "memory": bench_memory, "idle": bench_idle,
           "scale": bench_scale, "list": bench_list, "crash": bench_crash, "attach": bench_attach,
           "mcp": bench_mcp, "tokens": bench_tokens, "task": bench_task,
           "sandbox": bench_sandbox, "escapees": bench_escapees, "stalled": bench_stalled}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=BENCHES, help=f"only these: {' '.join(BENCHES)}")
    parser.add_argument("--quick", action="store_true", help="fewer turns, less data, fewer sessions")
    parser.add_argument("--runs", type=int, metavar="N", help="turns of each contestant (throughput and crash: at most so many)")
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    if options.runs:
        size.rounds, size.floods, size.crashes = options.runs, min(size.floods, options.runs), min(size.crashes, options.runs)
    for program in (measure.UE, measure.DAEMON, measure.TURNS, measure.SOURCE):
        if not program.exists():
            sys.exit(f"bench: '{program}' is not there; run make bench")
    print(f"{os.uname().sysname} {os.uname().release}, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.2f}; "
          f"median (quartiles); floor and muxd in turns", flush=True)
    table, failed = measure.Table(), False
    for name in options.only or BENCHES:
        table.head(f"{name}: {BENCHES[name].__doc__ or sys.modules[BENCHES[name].__module__].__doc__}")
        try:
            BENCHES[name](table, size)
        except (Exception, measure.Failed):  # the next bench may still work; the exit status tells
            failed = True
            traceback.print_exc()
    return failed


if __name__ == "__main__":
    sys.exit(main())
