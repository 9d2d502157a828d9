#!/usr/bin/python3
"""The zoo: does `ready` come with the answer, with real programs? Each program gets FAST quick lines and SLOW slow ones, idle
and (with --busy N) beside N busy loops. An answer that lacks the result came early; one that ended by the deadline was
missed. Prints a table, with release and versions, and exits 1 when anything within the claim was early or missed. Programs that compute in raw mode are
outside the claim: they must say so by `evidence: quiet`, and are only counted."""
import argparse, functools, glob, multiprocessing, os, shutil, statistics, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from conftest import PATH, Muxd  # noqa: E402

BASH = ["/bin/bash", "--norc", "--noprofile", "-i"]
PYTHON = ["/usr/bin/python3", "-q"]
# Woken by ^C a reader stands in its read for a moment still.
INTERRUPTED = """
import getpass, itertools
for n in itertools.count(5000):
    try:
        getpass.getpass("")
    except KeyboardInterrupt:
        print(f"a{n}z")
"""
PSQL = ["psql", "-X", "-q", "-d", "postgres"]
# name, argv, setup lines, fast line and slow line as functions of n, what must come back, inside the claim
ZOO = [
    ("bash", BASH, [], "echo a$(({n}+1))z", "sleep 0.3; echo a$(({n}+1))z", "a{m}z", True),
    ("bash, program", BASH, [], "/bin/echo a{n}''z", "/bin/sleep 0.2; /bin/echo a{n}''z", "a{n}z", True),
    ("bash, print-pause", BASH, [], "printf .; printf .; echo a{n}''z", "printf .; sleep 0.2; printf .; sleep 0.2; echo a{n}''z", "a{n}z", True),
    ("bash, pipe", BASH, [], "echo a{n}''z | cat | cat", "(sleep 0.3; echo a{n}''z) | cat", "a{n}z", True),
    ("dash", ["dash", "-i"], [], "echo a$(({n}+1))z", "sleep 0.3; echo a$(({n}+1))z", "a{m}z", True),
    ("zsh", ["zsh", "-f", "-i"], [], "echo a$(({n}+1))z", "sleep 0.3; echo a$(({n}+1))z", "a{m}z", True),
    ("fish", ["fish", "--no-config", "--private", "-i"], [], "echo a(math {n}+1)z", "sleep 0.3; echo a(math {n}+1)z", "a{m}z", True),
    ("python3", PYTHON, [], "'a%dz' % ({n}+1)", "import time; time.sleep(0.3); 'a%dz' % ({n}+1)", "a{m}z", True),
    ("python3, dumb", [*PYTHON], [], "'a%dz' % ({n}+1)", "import time; time.sleep(0.3); 'a%dz' % ({n}+1)", "a{m}z", True),
    ("python3, block", PYTHON, [], "for i in range(2): print('a%dz' % (i+{n}))\n\n",
     "import time\nfor i in range(2): time.sleep(0.2); print('a%dz' % (i+{n}))\n\n", "a{m}z", True),
    ("python3 in a shell", ["/bin/bash", "-c", "/usr/bin/python3 -q; echo done"], [], "'a%dz' % ({n}+1)",
     "import time; time.sleep(0.3); 'a%dz' % ({n}+1)", "a{m}z", True),
    ("python3, socket", PYTHON, ["import socket, threading; a, b = socket.socketpair()", "later = lambda s, t: threading.Timer(t, b.send, [s]).start()"],
     "later(b'a' + b'{n}z', 0.001); a.recv(99)", "later(b'a' + b'{n}z', 0.3); a.recv(99)", "a{n}z", True),
    ("ipython3", ["/usr/bin/ipython3", "--simple-prompt", "--no-banner", "--no-confirm-exit"], [], "'a%dz' % ({n}+1)",
     "import time; time.sleep(0.3); 'a%dz' % ({n}+1)", "a{m}z", True),
    ("ipython3, full", ["/usr/bin/ipython3", "--no-banner", "--no-confirm-exit"], [], "'a%dz' % ({n}+1)\r",
     "import time; time.sleep(0.3); 'a%dz' % ({n}+1)\r", "a{m}z", True),
    ("lua", ["lua"], [], "'a' .. ({n}+1) .. 'z'", "os.execute('sleep 0.3'); print('a' .. ({n}+1) .. 'z')", "a{m}z", True),
    ("sqlite3", ["sqlite3"], [], "select 'a' || ({n}+1) || 'z';",
     "with recursive c(x) as (select 1 union all select x+1 from c limit 700000) select 'a' || ({n}+1) || 'z' || substr(max(x), 1, 0) from c;", "a{m}z", True),
    ("psql", PSQL, [], "select 'a' || ({n}+1) || 'z';", "select pg_sleep(0.3); select 'a' || ({n}+1) || 'z';", "a{m}z", True),
    ("gdb", ["gdb", "-q", "-nx"], [], "printf \"a%dz\\n\", {n}+1", "shell sleep 0.3; echo a$(({n}+1))z", "a{m}z", True),
    ("bc", ["bc", "-q"], [], "{n}+1000001", "x = {n}; for (i = 0; i < 250000; i++) x = x + 1; x - 250000 + 1000001", "{k}", True),
    ("dc", ["dc"], [], "{n} 1000001 + p", "!sleep 0.3; true\n{n} 1000001 + p", "{k}", True),
    ("perl -d", ["perl", "-de0"], [], "print 'a', {n}+1, \"z\\n\"", "select undef, undef, undef, 0.3; print 'a', {n}+1, \"z\\n\"", "a{m}z", True),
    ("tclsh", ["tclsh"], [], "expr {n}+1000001", "after 300; expr {n}+1000001", "{k}", True),
    ("cat", ["cat"], [], "a{n}z", None, "a{n}z\r\na{n}z", True),
    ("read -s", ["/bin/bash", "-c", "while read -s x; do echo \"a${x}z\"; done"], [], "{n}", None, "a{n}z", True),
    ("python3, ^C", ["/usr/bin/python3", "-c", INTERRUPTED], [], "\x03", None, "a{n}z", True),
    ("node", ["node"], [], "'a' + ({n}+1) + 'z'", None, "a{m}z", False),
    ("irb", ["irb", "-f", "--nocolorize", "--noautocomplete"], [], "'a' + ({n}+1).to_s + 'z'", "sleep 0.3; 'a' + ({n}+1).to_s + 'z'", "a{m}z", True),
]


def expected(pattern, n):
    return pattern.format(n=n, m=n + 1, k=n + 1000001)


def one(client, name, line, want):
    began = time.monotonic()
    said = client.call("write_stdin", {"session_id": name, "chars": line if line.endswith(("\r", "\n", "\x03")) else line + "\n", "yield_time_ms": 30000, "_meta": {"verb": True}})
    took = (time.monotonic() - began) * 1000
    if said["reason"] != "ready":
        return "missed", took, said
    if want not in said["output"]:
        return "early", took, said
    return "ok", took, said


def settle(client, name):
    """After an early answer: take what is still to come, so that it is not counted twice."""
    client.call("write_stdin", {"session_id": name, "quiet_ms": 2000, "yield_time_ms": 20000, "_meta": {"verb": True}})


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


class Database:
    """A PostgreSQL server in a directory of its own, which only its user can reach; why: the reason why there is none, or None."""

    def __init__(self, place):
        self.place, self.why, self.process = place / "db", None, None
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs or not shutil.which("psql", path=PATH):
            self.why = "not installed"
        elif os.geteuid() == 0:
            self.why = "its server does not run as root"
        else:
            subprocess.run([programs[-1] + "/initdb", "-A", "trust", "-N", "-D", str(self.place)], check=True, capture_output=True)
            self.process = subprocess.Popen([programs[-1] + "/postgres", "-D", str(self.place), "-h", "", "-k", str(place)],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while subprocess.run(["psql", "-X", "-h", str(place), "-d", "postgres", "-c", "select 1"], capture_output=True).returncode:
                assert self.process.poll() is None, "the server has ended"
                time.sleep(0.05)  # it tells nobody when it is up

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def visit(client, row, fast, slow, home):
    """Counts and times of one program."""
    label, argv, setup, fast_line, slow_line, want, claimed = row
    name = "zoo-" + "".join(c if c.isalnum() else "-" for c in label)
    counts, times, evidence = {"ok": 0, "early": 0, "missed": 0}, [], set()
    client.call("exec_command", {"cmd": argv, "tty": True, "name": name, "yield_time_ms": 30000, "env": {
        "TERM": "dumb" if "dumb" in label else "xterm-256color", "PGHOST": str(home.parent), "HISTFILE": "/dev/null", "PAGER": "cat"},
        "_meta": {"verb": True, "env": {"PATH": PATH, "HOME": str(home)}}})
    for line in setup:
        one(client, name, line, "")
    for number, line in [(n, fast_line) for n in range(fast)] + [(n, slow_line) for n in range(slow) if slow_line]:
        number += 5000
        verdict, took, said = one(client, name, line.replace("{n}", str(number)), expected(want, number))
        counts[verdict] += 1
        evidence.add(said.get("evidence"))
        if line is fast_line:
            times.append(took)
        if verdict != "ok" and counts[verdict] <= 3:
            print(f"    {label}: {verdict}: {line.replace('{n}', str(number))!r} gave {said['output'][-200:]!r} ({said.get('evidence')})")
        if verdict != "ok":
            settle(client, name)
    client.call("kill_session", {"session_id": name})
    return counts, times, evidence, claimed


def spin():
    while True:
        pass


def round_of(title, fast, slow):
    muxd, wrong = Muxd(), 0
    muxd.configure("[defaults]\nagent_secrets = yes\n")  # one of the programs reads without echo
    database = Database(muxd.dir)
    try:
        client = muxd.rpc()
        print(f"{title}, {release()}\n{'program':<20} {'version':<26} {'ok':>6} {'early':>6} {'missed':>6} {'p50 ms':>8} {'p99 ms':>8}  evidence")
        for row in ZOO:
            why = database.why if row[1] is PSQL else None if shutil.which(row[1][0], path=PATH) else "not installed"
            if why:
                print(f"{row[0]:<20} {why}")
                continue
            seen = visit(client, row, fast, slow, muxd.home)
            counts, times, evidence, claimed = seen
            times.sort()
            print(f"{row[0]:<20} {version(row[1][0])[:26]:<26} {counts['ok']:>6} {counts['early']:>6} {counts['missed']:>6} {statistics.median(times):>8.2f} "
                  f"{times[int(len(times) * 0.99)]:>8.2f}  {' '.join(sorted(map(str, evidence)))}{'' if claimed else '  (outside the claim)'}", flush=True)
            wrong += counts["early"] + counts["missed"] if claimed or evidence != {"quiet"} else 0
    finally:
        database.close()
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
    options = options.parse_args()
    wrong = round_of("idle", options.fast, options.slow)
    if options.busy:
        loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(options.busy)]
        for loop in loops:
            loop.start()
        wrong += round_of(f"beside {options.busy} busy loops", options.fast, options.slow)
        for loop in loops:
            loop.terminate()
    print("zoo: never early, never missed" if not wrong else f"zoo: {wrong} early or missed answers or leftovers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
