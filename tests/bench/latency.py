"""How long things take: starting a command, a REPL's round trip, the client, growth with the number of sessions, recovery."""
import importlib.util, os, shutil
from pathlib import Path

from measure import PYTHON, UE, Daemon, ms, request, turns
from peers import Tmux

TRUE = "/bin/true"
BASH = ["/usr/bin/env", "PS1=bash> ", "/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]
REPL_ENV = {"NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8", "LC_ALL": "C.UTF-8", "COLORTERM": ""}
EXITED = '"exit_code":0\n"reason":"exit"'


def bench_exec(table, size):
    """A command over a warm socket, and by ue, against starting it directly."""
    with Daemon() as muxd:
        run = {"cmd": [TRUE], "yield_time_ms": 30000}
        taken = turns(size.rounds, ("spawn", "spawn", TRUE), ("fork", "fork", TRUE), ("drain", "drain-pty", 0, TRUE),
                      ("warm", "call", muxd.socket, request("exec_command", **run), EXITED),
                      ("tty", "call", muxd.socket, request("exec_command", tty=True, **run), EXITED),
                      ("ue", "spawn", UE, "exec", "--argv", TRUE), env=muxd.env, warm=size.warm)
        table.ratio("exec /bin/true, warm socket / fork+exec+wait", ms(taken, "fork"), ms(taken, "warm"), "<= 1.5")
        table.ratio("exec /bin/true, warm socket / posix_spawn+wait", ms(taken, "spawn"), ms(taken, "warm"), "<= 1.5")
        table.ratio("exec /bin/true on a terminal, warm socket / forkpty+drain", ms(taken, "drain"), ms(taken, "tty"))
        table.difference("ue exec --argv /bin/true / running it", ms(taken, "spawn"), ms(taken, "ue"), "< 2")
        bash = ["/bin/bash", "-lc", "true"]
        taken = turns(size.rounds, ("direct", "spawn", *bash), ("fork", "fork", *bash), ("ue", "spawn", UE, "exec", "true"),
                      ("warm", "call", muxd.socket, request("exec_command", cmd="true", yield_time_ms=30000), EXITED),
                      env=muxd.env, warm=size.warm)
        table.ratio("exec 'true' (login shell), warm socket / fork+exec+wait", ms(taken, "fork"), ms(taken, "warm"), "<= 1.5")
        table.difference("ue exec true / running bash -lc true", ms(taken, "direct"), ms(taken, "ue"), "< 2")


def bench_repl(table, size):
    """1+1 in python: the raw reader knows the prompt, muxd waits for a pattern or asks the kernel. Where the scheduler puts the
    processes weighs much in so short a time, hence once freely and once with all of them on one core."""
    repl_in(table, size, "free", None)
    repl_in(table, size, "one core", {max(os.sched_getaffinity(0))})


def repl_in(table, size, where, cpus):
    python = [PYTHON, "-q"]
    with Daemon(cpus=cpus) as muxd:
        muxd.env.update(REPL_ENV)
        muxd.start_ready(["until", "ready", "py", "lib-until", "lib-ready"], python)
        muxd.start_ready(["bash-until", "bash-ready"], BASH)

        def ask(name, reason, **wait):
            line = request("write_stdin", session_id=name, chars="1+1\r", yield_time_ms=30000, **wait)
            return "call", muxd.socket, line, f'2\\r\\n>>> \n"reason":"{reason}"'

        contestants = [("raw", "repl", ">>> ", "1+1\r", "\n2\r\n", *python), ("until", *ask("until", "until", until=r"\n2\r\n>>> $")),
                       ("ready", *ask("ready", "ready", ready=True)), ("true", "spawn", TRUE),
                       ("lib-until", "libue", muxd.socket, "lib-until", "1+1\r", "\n2\r\n>>> ", r"\n2\r\n>>> $"),
                       ("lib-ready", "libue", muxd.socket, "lib-ready", "1+1\r", "\n2\r\n>>> "),
                       ("bash-raw", "repl", "bash> ", "echo hi\r", "\nhi\r\n", *BASH),
                       ("bash-until", "libue", muxd.socket, "bash-until", "echo hi\r", "\nhi\r\nbash> ", r"\nhi\r\nbash> $"),
                       ("bash-ready", "libue", muxd.socket, "bash-ready", "echo hi\r", "\nhi\r\nbash> "),
                       ("write", "spawn", UE, "write", "-l", "py", "1+1"), ("list", "spawn", UE, "list")]
        if importlib.util.find_spec("pexpect"):
            contestants.append(("pexpect", "helper", PYTHON, Path(__file__).with_name("turn_pexpect.py")))
        else:
            print("python3-pexpect is not installed: no row for it")
        taken = turns(size.rounds, *contestants, env=muxd.env, warm=size.warm, cpus=cpus)
        table.ratio(f"1+1 in python3, warm socket, until / raw reader, {where}", ms(taken, "raw"), ms(taken, "until"), "<= 1.8")
        table.ratio(f"1+1 in python3, warm socket, ready / raw reader, {where}", ms(taken, "raw"), ms(taken, "ready"), "<= 2.5")
        table.ratio(f"1+1 in python3, libue, until / raw reader, {where}", ms(taken, "raw"), ms(taken, "lib-until"), "<= 2")
        table.ratio(f"1+1 in python3, libue, ready / raw reader, {where}", ms(taken, "raw"), ms(taken, "lib-ready"), "<= 2.5")
        table.ratio(f"echo in bash, libue, until / raw reader, {where}", ms(taken, "bash-raw"), ms(taken, "bash-until"), "<= 2")
        table.ratio(f"echo in bash, libue, ready / raw reader, {where}", ms(taken, "bash-raw"), ms(taken, "bash-ready"), "<= 2.5")
        if "pexpect" in taken:
            table.ratio(f"1+1 in python3, warm socket, until / pexpect, {where}", ms(taken, "pexpect"), ms(taken, "until"))
            table.ratio(f"1+1 in python3, warm socket, ready / pexpect, {where}", ms(taken, "pexpect"), ms(taken, "ready"))
        table.difference(f"ue write py -l 1+1 / running /bin/true, {where}", ms(taken, "true"), ms(taken, "write"), "< 2")
        table.difference(f"ue list, 3 sessions / running /bin/true, {where}", ms(taken, "true"), ms(taken, "list"), "< 2")


def bench_scale(table, size):
    """Two daemons, one with few sessions (floor) and one with many: the same requests to both in turns."""
    few, many = 10, size.many

    def limits(count):
        return f"[limits]\nmax_sessions = {count + 24}\njournal_total = 64G\n"

    with Daemon(limits(few)) as small, Daemon(limits(many)) as big:
        contestants = []
        for muxd, count in (small, few), (big, many):
            muxd.start((f"s{i}" for i in range(count)), ["/bin/sleep", "100000"])
            muxd.start(["cat"], ["/bin/cat"])
            calls = {"exec": (request("exec_command", cmd=[TRUE], yield_time_ms=30000), EXITED),
                     "list": (request("list_sessions", names=[f"s{count - 1}"]), f'"name":"s{count - 1}"'),
                     "poll": (request("read_output", session_id=f"s{count // 2}", yield_time_ms=0, _meta={"verb": True}), '"session_id":'),
                     "echo": (request("write_stdin", session_id="cat", chars="hello\r", until=r"hello\r\nhello\r\n", yield_time_ms=30000),
                              '"reason":"until"')}
            contestants += [(f"{name}-{count}", "call", muxd.socket, *call) for name, call in calls.items()]
        taken = turns(size.rounds, *contestants, warm=size.warm)
        names = {"exec": "exec /bin/true", "list": "list of one session", "poll": "poll without wait", "echo": "a line to cat and back"}
        for name, what in names.items():
            table.ratio(f"{what}, warm socket, {many} sessions / {few}", ms(taken, f"{name}-{few}"), ms(taken, f"{name}-{many}"), "<= 1.2")


def bench_list(table, size):
    """ue list beside tmux ls, with the same number of sleeping sessions."""
    count = 10
    with Daemon() as muxd:
        muxd.start((f"s{i}" for i in range(count)), ["/bin/sleep", "100000"])
        if not shutil.which("tmux"):
            print("tmux is not installed: no row for it")
            return
        with table.may_fail(f"tmux ls, {count} sessions"), Tmux() as tmux:
            tmux.start(count)
            taken = turns(size.rounds, ("tmux", "spawn", tmux.program, "-S", tmux.server, "ls"), ("list", "spawn", UE, "list"),
                          env=muxd.env, warm=size.warm)
            if "tmux" in taken:
                table.ratio(f"ue list / tmux ls, {count} sessions", ms(taken, "tmux"), ms(taken, "list"))


def bench_crash(table, size):
    """kill -9 of the worker: from the kill to the answer of its successor, in units of a process start."""
    for count in (1, 10, size.some):
        with Daemon("[limits]\nmax_sessions = 1024\n") as muxd:
            muxd.start((f"s{i}" for i in range(count)), ["/bin/cat"])
            hello = "crash", muxd.socket, request("hello"), '"pid":'
            full = "crash", muxd.socket, request("list_sessions"), "\n".join(f'"name":"s{i}"' for i in range(count))
            taken = turns(size.crashes, ("fork", "fork", TRUE), ("hello", *hello), ("list", *full), env=muxd.env, warm=2)
            aim = {10: "<= 5", 200: "<= 30"}.get(count)
            table.ratio(f"worker killed, {count} sessions, to hello / fork+exec+wait", ms(taken, "fork"), ms(taken, "hello"), aim)
            table.ratio(f"worker killed, {count} sessions, to the full list / fork+exec+wait", ms(taken, "fork"), ms(taken, "list"))
