#!/usr/bin/python3
"""The zoo: does `ready` come with the answer, with real programs? Each program gets FAST quick lines and SLOW slow ones, idle
and (with --busy N) beside N busy loops. An answer that lacks the result came early; one that ended by the deadline was
missed. Prints a table, with release and versions, and exits 1 when anything within the claim was early or missed. Where the kernel can't
tell whether a program waits or computes, it is outside the claim: then answers must say so by `evidence: quiet`, a third as many lines are
typed, and what came early is only counted. With --figures FILE the table is kept there, from which page.py makes the manual's."""
import argparse, functools, itertools, json, multiprocessing, os, re, shutil, statistics, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from conftest import PATH, Muxd  # noqa: E402

from animals import ZOO, can_be_had  # noqa: E402
from servers import Servers  # noqa: E402

DRAWING = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[()].|[=>78])")
COLUMNS = "{:<20} {:<26} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8}  {}"


def filled(pattern, words):
    for name, value in words.items():
        pattern = pattern.replace("{" + name + "}", str(value))
    return pattern


def one(client, name, line, want, keys=False):
    """Types a line, or keys; the verdict about the answer, its time in ms and itself."""
    began = time.monotonic()
    chars = line if keys or line.endswith(("\r", "\n", "\x03")) else line + "\n"
    said = client.call("write_stdin", {"session_id": name, "chars": chars, "yield_time_ms": 30000, "_meta": {"verb": True}})
    took = (time.monotonic() - began) * 1000
    if said["reason"] != "ready":
        return "missed", took, said
    shown = DRAWING.sub("", said["output"]) if keys else said["output"]
    return "ok" if want in shown else "early", took, said


def settle(client, name, want):
    """After an early answer: take what is still to come, so that it is not counted twice."""
    for condition in ({"until": re.escape(want)}, {"quiet_ms": 300}):
        client.call("write_stdin", {"session_id": name, **condition, "yield_time_ms": 20000, "_meta": {"verb": True}})


def release():
    """What the operating system says of itself."""
    try:
        lines = dict(line.rstrip("\n").split("=", 1) for line in open("/etc/os-release") if "=" in line)
        return lines.get("PRETTY_NAME", "?").strip('"')
    except OSError:
        return "an unknown release"


@functools.cache
def version(program):
    """Of the package that a program comes from."""
    path = os.path.realpath(shutil.which(program, path=PATH))
    for name in (path, path.removeprefix("/usr")):
        owner = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True).stdout.partition(":")[0]
        if owner:
            return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", owner], capture_output=True, text=True).stdout
    return "?"


def why_not(animal, servers):
    """The reason why an animal can't be visited, or None."""
    if not all(shutil.which(program, path=PATH) for program in (animal.argv[0], *animal.needs)):
        return "not installed"
    if not can_be_had(animal):
        return "not for an ordinary user of this machine"
    return servers.get(animal.server).why if animal.server else None


def lines_of(animal, fast, slow):
    """All that is typed: a line, what its answer must have, and whether it is a fast one."""
    if not animal.claimed:
        fast, slow = -(-fast // 3), -(-slow // 3)
    yield from itertools.repeat((animal.fast, animal.want, True), fast)
    if animal.slow:
        yield from itertools.repeat((animal.slow, animal.slow_want or animal.want, False), slow)


def visit(client, animal, fast, slow, words):
    """What one program did: counts, times of its fast lines, evidence."""
    name = "zoo-" + "".join(c if c.isalnum() else "-" for c in animal.label)
    seen = {"ok": 0, "early": 0, "missed": 0, "wrong": 0, "times": [], "evidence": {}}
    env = {"TERM": "xterm-256color", "HISTFILE": "/dev/null", "PAGER": "cat", **dict(animal.env)}
    client.call("exec_command", {
        "cmd": [filled(word, words) for word in animal.argv], "tty": True, "name": name, "yield_time_ms": 30000, "workdir": words["home"],
        "env": {key: filled(value, words) for key, value in env.items()}, "_meta": {"verb": True, "env": {"PATH": PATH, "HOME": words["home"]}}})
    for line in animal.setup:
        one(client, name, line, "")
    for number, (line, want, is_fast) in enumerate(lines_of(animal, fast, slow), 5000):
        numbers = {"n": number, "m": number + 1, "k": number + 1000001, "b": number + 22}
        line = filled(line, numbers)
        verdict, took, said = one(client, name, line, filled(want, numbers), animal.keys)
        evidence = str(said.get("evidence"))
        seen[verdict] += 1
        seen["evidence"][evidence] = seen["evidence"].get(evidence, 0) + 1
        seen["wrong"] += verdict == "missed" or verdict == "early" and (animal.claimed or evidence != "quiet")
        if is_fast:
            seen["times"].append(took)
        if verdict != "ok":
            if seen[verdict] <= 3:
                print(f"    {animal.label}: {verdict}: {line!r} gave {said['output'][-200:]!r} ({evidence})")
            settle(client, name, filled(want, numbers))
    client.call("kill_session", {"session_id": name})
    return seen


def told(evidence):
    """The kinds of evidence, the most frequent first, with their counts where there are several."""
    kinds = sorted(evidence.items(), key=lambda kind: -kind[1])
    return " ".join(f"{name} ({count})" if len(kinds) > 1 else name for name, count in kinds)


def spin():
    while True:
        pass


def round_of(title, animals, fast, slow, figures):
    muxd, wrong = Muxd(), 0
    muxd.configure("[defaults]\nagent_secrets = yes\n")  # some of the programs read without echo
    servers = Servers(muxd.dir)
    try:
        client = muxd.rpc()
        print(f"{title}, {release()}\n" + COLUMNS.format("program", "version", "ok", "early", "missed", "p50 ms", "p99 ms", "whole s", "evidence"))
        for animal in animals:
            began = time.monotonic()
            if why := why_not(animal, servers):
                print(f"{animal.label:<20} {why}", flush=True)
                continue
            words = {"home": str(muxd.home), **(servers.get(animal.server).words if animal.server else {})}
            seen = visit(client, animal, fast, slow, words)
            program = animal.needs[0] if animal.keys and animal.needs or animal.label in animal.needs else animal.argv[0]
            times = sorted(seen["times"])
            print(COLUMNS.format(animal.label, version(program)[:26], seen["ok"], seen["early"], seen["missed"], f"{statistics.median(times):.2f}",
                                 f"{times[int(len(times) * 0.99)]:.2f}", f"{time.monotonic() - began:.1f}",
                                 told(seen["evidence"]) + ("" if animal.claimed else "  (outside the claim)")), flush=True)
            wrong += seen["wrong"]
            figures.setdefault(animal.label, {"version": version(program), "claimed": animal.claimed})[title] = {
                key: seen[key] for key in ("ok", "early", "missed", "evidence")}
    finally:
        servers.close()
        problems = muxd.close()
        muxd.remove()
    for problem in problems:
        print(problem)
    return wrong + len(problems)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fast", type=int, default=30)
    options.add_argument("--slow", type=int, default=3)
    options.add_argument("--busy", type=int, default=0, help="also a round beside this many busy loops")
    options.add_argument("--only", metavar="REGEX", default="", help="those whose label matches")
    options.add_argument("--figures", metavar="FILE", help="keep the table here, as JSON")
    options = options.parse_args()
    animals = [animal for animal in ZOO if re.search(options.only, animal.label)]
    figures = {}
    wrong = round_of("idle", animals, options.fast, options.slow, figures)
    if options.busy:
        loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(options.busy)]
        for loop in loops:
            loop.start()
        wrong += round_of("busy", animals, options.fast, options.slow, figures)
        for loop in loops:
            loop.terminate()
    if options.figures:
        Path(options.figures).write_text(json.dumps({"release": release(), "fast": options.fast, "slow": options.slow, "busy": options.busy, "processors": os.cpu_count(),
                                                     "programs": figures}, indent=1) + "\n")
    early = sum(program[name]["early"] for program in figures.values() if not program["claimed"] for name in program.keys() & {"idle", "busy"})
    print(f"zoo: {len(figures)} programs of {len(animals)}, within the claim " +
          ("never early, never missed" if not wrong else f"{wrong} early or missed answers or leftovers") + f"; by silence, {early} early")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
