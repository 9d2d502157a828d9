"""A helper of bench-turns: turn_repl.py WHICH python|bash|sqlite3. For each line it gets, one command and its output at a prompt, by a library of
Python's; answers the nanoseconds."""
import os, re, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "client/lib/python"))
PROGRAMS = {"python": (["/usr/bin/python3", "-q"], ">>> ", "1+1", "2"),
            "bash": (["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"], os.environ.get("PS1", ""), "echo hi", "hi"),
            "sqlite3": (["/usr/bin/sqlite3"], "sqlite> ", "select 1+1;", "2")}


def by_spawn(module, argv, prompt, text, wanted, delay):
    child = module.spawn(argv[0], argv[1:], timeout=60, encoding="utf-8")
    if not delay:
        child.delaybeforesend = None
    child.expect_exact(prompt)

    def turn():
        child.send(text + "\r")
        child.expect_exact(prompt)
        assert wanted in child.before, child.before
    return turn, child.close


def by_replwrap(argv, prompt, text, wanted):
    from pexpect import replwrap
    if "python" in argv[0]:
        wrapped = replwrap.python(argv[0])
    elif "sqlite3" in argv[0]:
        wrapped = replwrap.REPLWrapper(argv[0], prompt, None)
    else:
        wrapped = replwrap.bash()
    wrapped.child.delaybeforesend = None

    def turn():
        assert wanted in wrapped.run_command(text)
    return turn, wrapped.child.close


def by_session(which, argv, prompt, text, wanted):
    import ue
    client = ue.Client()
    session = client.begin(argv, timeout=60)
    pattern = re.escape(prompt) + "$"

    def turn():
        if which == "ask-until":
            shown = session.ask(text, until=pattern, timeout=60)
        elif which == "ask-ready":
            shown = session.ask(text, timeout=60)
        else:
            shown = session.run(text, timeout=60).output
        assert wanted in shown, shown

    def close():
        session.kill()
        session.remove()
    return turn, close


def contestant(which, what):
    if which.startswith("ue-spawn"):
        import ue
        return by_spawn(ue, *PROGRAMS[what], delay=which.endswith("delay"))
    if which.startswith("pexpect"):
        import pexpect
        return by_spawn(pexpect, *PROGRAMS[what], delay=which.endswith("delay"))
    return by_replwrap(*PROGRAMS[what]) if which == "replwrap" else by_session(which, *PROGRAMS[what])


def main():
    turn, close = contestant(*sys.argv[1:3])
    for _ in sys.stdin:
        start = time.monotonic_ns()
        turn()
        print(time.monotonic_ns() - start, flush=True)
    close()


if __name__ == "__main__":
    main()
