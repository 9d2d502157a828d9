"""What a sandbox costs: beside bare bubblewrap with the same plan, and beside a command without one; and a REPL inside one."""
from latency import EXITED, REPL_ENV, TRUE
from measure import PYTHON, Daemon, ms, request, turns

PROTECTED = (".git", ".muxd", ".codex", ".agents")
PAUSE_MS = 20  # bubblewrap's end is told before its mounts and its network are apart: else the next one would pay for that


def explained(muxd, place, mode):
    """What a sandbox would be here; None where there is none."""
    told = muxd.ue("sandbox", "--explain", "--json", "--mode", mode, *([] if mode == "read-only" else ["--no-temp"]), "--", "true", cwd=place)
    return None if told.rc else told.json


def bare(argv, place):
    """bubblewrap with the plan and nothing of muxd: no filter, no helper, and the workspace by its name."""
    words = argv[next(i for i, word in enumerate(argv) if word.endswith("/bwrap")):argv.index("--seccomp")]
    return [str(place) if word.startswith("/proc/self/fd/") else word for word in words] + ["--", TRUE]


def bench_sandbox(table, size):
    """What a sandbox costs, for /bin/true over a warm socket, and for a REPL."""
    with Daemon() as muxd:
        place, empty = muxd.dir / "w", muxd.dir / "e"
        for name in PROTECTED:
            (place / name).mkdir(parents=True)
        empty.mkdir()
        writes, reads = explained(muxd, place, "workspace-write"), explained(muxd, place, "read-only")
        plain = {"cmd": [TRUE], "yield_time_ms": 30000}

        def confined(where, **more):
            return "call", muxd.socket, request("exec_command", **{**plain, **more}, workdir=str(where)), EXITED

        if writes:
            taken = turns(size.rounds, ("bare", "spawn", *bare(writes["argv"], place)), ("line", "spawn", *writes["argv"][:-3], TRUE),
                          ("muxd", *confined(place, sandbox="workspace-write", temp=False)),
                          ("made", *confined(empty, sandbox="workspace-write", temp=False)),
                          ("other", *confined(place, cmd=bare(writes["argv"], place))), env=muxd.env, warm=size.warm // 10, pause_ms=PAUSE_MS)
            table.ratio("/bin/true, workspace-write, its command line / bare bubblewrap", ms(taken, "bare"), ms(taken, "line"), "<= 1.15")
            table.ratio("exec /bin/true, workspace-write, warm socket / bare bubblewrap", ms(taken, "bare"), ms(taken, "muxd"), "<= 1.15")
            table.ratio("bare bubblewrap as a command of muxd's, warm socket / bare bubblewrap", ms(taken, "bare"), ms(taken, "other"))
            table.ratio("the same where four names to protect are missing / bare bubblewrap", ms(taken, "bare"), ms(taken, "made"))
        else:
            print("bubblewrap can't be used here: no rows for it")
        if reads and reads["backend"] == "landlock":
            taken = turns(size.rounds, ("free", *confined(place)), ("reads", *confined(place, sandbox="read-only")), env=muxd.env, warm=size.warm // 10,
                          pause_ms=PAUSE_MS)
            table.ratio("exec /bin/true, read-only, warm socket / without a sandbox", ms(taken, "free"), ms(taken, "reads"), "<= 1.5")
        else:
            print("Landlock can't be used here: no row for it")
        if writes:
            repl_inside(table, size, muxd, place)
            by_default(table, size)


class Unconfigured(Daemon):
    models = ""  # what calls of ue mcp may do is left to muxd


def by_default(table, size):
    with Unconfigured("[policy free]\n") as muxd:
        place = muxd.dir / "w"
        for name in PROTECTED:
            (place / name).mkdir(parents=True)

        def call(**meta):
            return "call", muxd.socket, request("exec_command", cmd=[TRUE], yield_time_ms=30000, _meta={"cwd": str(place), **meta}), EXITED

        muxd.client.call("tools", {"_meta": {"mcp": True}})  # the trial is over then
        taken = turns(size.rounds, ("free", *call(profile="free")), ("default", *call(mcp=True)), env=muxd.env, warm=size.warm // 10)
        table.ratio("exec /bin/true by a model, without a config / not confined", ms(taken, "free"), ms(taken, "default"))


def repl_inside(table, size, muxd, place):
    muxd.env.update(REPL_ENV)
    contestants = []
    for name, sandbox in ("outside", {}), ("inside", {"sandbox": "workspace-write", "temp": False}):
        muxd.rpc().call("exec_command", {"cmd": [PYTHON, "-q"], "name": name, "tty": True, "workdir": str(place), "yield_time_ms": 60000, "ready": True, **sandbox,
                                          "_meta": {"verb": True, "env": muxd.env}})
        line = request("write_stdin", session_id=name, chars="1+1\r", yield_time_ms=30000, until=r"\n2\r\n>>> $")
        contestants.append((name, "call", muxd.socket, line, '2\\r\\n>>> \n"reason":"until"'))
    taken = turns(size.rounds, *contestants, env=muxd.env, warm=size.warm)
    table.ratio("1+1 in python3 in a sandbox, warm socket, until / without one", ms(taken, "outside"), ms(taken, "inside"), "<= 1.1")
