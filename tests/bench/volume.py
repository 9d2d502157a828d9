"""Throughput: a child that writes as fast as it can, against a raw reader of its terminal or pipe."""
import os, subprocess

from measure import SOURCE, Daemon, Figure, request, turns

KINDS = {"short": "8-byte lines", "long": "5,000-byte lines", "colour": "colours and UTF-8", "plain": "8-byte lines, -opost"}


PIPE_TIMES = 10  # pipes are faster than terminals by far: with so little data only the start would be measured


def bench_throughput(table, size):
    all_cpus = sorted(os.sched_getaffinity(0))
    places = [("two cores", set(all_cpus[:2])), ("one core", {all_cpus[-1]})] if len(all_cpus) > 1 else [("one core", set(all_cpus))]
    rows = [(True, kind) for kind in KINDS] + [(False, kind) for kind in ("short", "long", "colour")]
    for where, cpus in places:
        with Daemon(cpus=cpus) as muxd:
            for tty, kind in rows:
                one(table, size, muxd, tty, kind, where, cpus)


def one(table, size, muxd, tty, kind, where, cpus):
    source = [str(SOURCE), kind, str(size.megabytes * (1 if tty else PIPE_TIMES))]
    payload, newlines = map(int, subprocess.check_output([*source, "count"]).split())
    total = payload + (newlines if tty and kind != "plain" else 0)  # a terminal puts a CR before each newline
    call = request("exec_command", cmd=source, tty=tty, exit=True, max_output_tokens=100, _meta={"verb": True, "no_deadline": True})
    floors = [("floor", "drain-pty" if tty else "drain-pipe", total, *source)] + [("kept", "keep-pipe", total, *source)] * (not tty)
    taken = turns(size.floods, *floors,
                  ("muxd", "call", muxd.socket, call, f'"to":{total},\n"exit_code":0'),
                  env=muxd.env, warm=1, pids=muxd.daemons(), cpus=cpus)
    megabytes = payload / 1e6
    rates = {label: Figure([megabytes / (wall / 1e3) for wall in taken[label][0]], "MB/s") for label in taken}
    costs = {label: Figure([cpu / megabytes for cpu in taken[label][1]], "ms/MB") for label in taken}
    what = f"{'terminal' if tty else 'pipe'}, {KINDS[kind]}, {where}"
    table.ratio(f"{what}: rate / raw reader", rates["floor"], rates["muxd"], ">= 0.92")
    if not tty:
        table.ratio(f"{what}: rate / reader that keeps 2 MiB", rates["kept"], rates["muxd"])
    table.ratio(f"{what}: CPU of the reader", costs["floor"], costs["muxd"])
