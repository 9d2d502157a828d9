#!/usr/bin/python3
"""escape_trial.py [WORD…]: tries every way that we know of to outlive the end of a session, each by every road that ends one, with four
neighbours alive, and counts who escaped and which neighbour was touched. A tool, no test: test_reap.py holds a part of it. WORDs choose kinds.
Run it from the project's root as an ordinary user, and as root for the kinds that need it."""
import os, shutil, signal, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import pytest
from conftest import Muxd, wait_for
from test_reap import BY_ROOT, ESCAPES, NEEDS, SHEDS, SHEDS_ALL, SHEDS_ONE, House, running

QUIET = ">/dev/null 2>&1 </dev/null"
MORE = {
    "nohup setsid": f"nohup setsid -f SLEEP {QUIET}; echo up; exec sleep 300",
    "three setsids": f"setsid -f setsid -f setsid -f SLEEP {QUIET}; echo up; exec sleep 300",
    "a subshell's child": f"((SLEEP &) &) {QUIET}; echo up; exec sleep 300",
    "coproc": "coproc SLEEP; disown -a; echo up; exec sleep 300",
    "process substitution": f"exec 9> >(exec SLEEP {QUIET}); echo up; exec sleep 300",
    "xargs": f"echo TAG | env -i /usr/bin/xargs /usr/bin/setsid -f /bin/sleep >/dev/null 2>&1; echo up; exec sleep 300",
    "timeout": f"setsid -f timeout 300 SLEEP {QUIET}; echo up; exec sleep 300",
    "nice": f"nice -n 19 setsid -f SLEEP {QUIET}; echo up; exec sleep 300",
    "own terminal (script)": f"setsid -f script -qc 'SLEEP' /dev/null {QUIET}; echo up; exec sleep 300",
    "tmux": "tmux -S DIR/TAG.t -f /dev/null new -d 'SLEEP'; echo up; exec sleep 300",
    "screen": "SCREENDIR=DIR/TAG.s; export SCREENDIR; mkdir -m 700 DIR/TAG.s; screen -dmS x SLEEP; echo up; exec sleep 300",
    "dtach": "dtach -n DIR/TAG.d SLEEP; echo up; exec sleep 300",
    "start-stop-daemon": "start-stop-daemon --start --background --pidfile DIR/TAG.p --exec /bin/sleep -- TAG; echo up; exec sleep 300",
    "busybox": f"busybox setsid /bin/SLEEP {QUIET} & disown; echo up; exec sleep 300",
    "user namespace": f"unshare -Ur setsid -f SLEEP {QUIET}; echo up; exec sleep 300",
    "all namespaces": f"setsid -f unshare -Ur --pid --fork --ipc --uts --net SLEEP {QUIET}; echo up; exec sleep 300",
    "child at the end": f"trap 'setsid -f SLEEP {QUIET}; exit' HUP TERM; setsid -f sleep TAG {QUIET}; echo up; while :; do sleep 0.05; done",
    "sheds all": SHEDS_ALL,
    "sheds the soft limit": f"ulimit -Sx 5; env -i /usr/bin/setsid -f /bin/SLEEP {QUIET}; echo up; exec sleep 300",
}
KINDS = {**ESCAPES, **SHEDS, **SHEDS_ONE, **MORE}
PROGRAMS = {**NEEDS, "tmux": "tmux", "screen": "screen", "dtach": "dtach", "busybox": "busybox", "start-stop-daemon": "start-stop-daemon"}
UNKNOWABLE = {"sheds all"}  # with neighbours; a stop ends it (muxd(8))


def end_by(road, house, kind):
    """Begins it, ends it by that road; its tag."""
    mux, tag = house.mux, None
    if road in ("kill", "kill tty"):
        tag = house.begin(kind, "victim", *["-t"][: road == "kill tty"])
        mux.ue("kill", "victim")
    elif road == "stop":
        tag = house.begin(kind, "victim")
        mux.ue("stop")
        wait_for(lambda: not mux.daemons())
    elif road == "timeout":
        tag = house.tag()
        mux.rpc().call("shell_command", {"command": house.script(kind, tag), "shell": "/bin/bash",
                                         "timeout_ms": 1500, "login": False})
    elif road == "hook":
        tag = house.tag()
        script = mux.dir / f"hook{tag}.sh"
        script.write_text(house.script(kind, tag))
        mux.configure(f"[muxd]\nkill_grace = 50ms\n[hook h]\non = end\nrun = bash {script}\ntimeout = 1500ms\n")
        mux.ue("reload")
        mux.ue("exec", "true")
        began = time.monotonic()
        wait_for(lambda: house.alive(tag) or time.monotonic() - began > 20, "the hook")
        wait_for(lambda: not house.alive(tag) or time.monotonic() - began > 20, "its end")
    return tag


def trial(road, kind):
    """None: left out. Else whether it escaped, and how many neighbours were touched."""
    program = PROGRAMS.get(kind)
    if program and not shutil.which(program):
        return None
    mux = Muxd()
    try:
        house = House(mux)
        ESCAPES.update(KINDS)
        spared = []
        if road != "stop":
            for name, how in (("n1", "setsid -f"), ("n2", "env -i setsid -f"), ("n3", "sheds all"), ("n4", "another's MUXD_SESSION")):
                spared += house.alive(house.begin(how, name))
        try:
            tag = end_by(road, house, kind)
        except pytest.fail.Exception:
            return None  # it can't be done here
        left = house.alive(tag) if not house.gone(tag) else []
        touched = sum(not running([pid]) for pid in spared)
        for pid in left:
            os.kill(pid, 9)
        return bool(left), touched
    finally:
        mux.close()
        mux.remove()


def main(words):
    if os.geteuid() == 0:
        KINDS.update(BY_ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    kinds = [kind for kind in KINDS if kind != "the program has ended" and (not words or any(word in kind for word in words))]
    tried = left_out = escaped = known = touched = 0
    for kind in kinds:
        for road in ("kill", "kill tty", "stop", "timeout", "hook"):
            result = trial(road, kind)
            if result is None:
                left_out += 1
                continue
            tried += 1
            known += result[0] and kind in UNKNOWABLE and road != "stop"
            escaped += result[0] and not (kind in UNKNOWABLE and road != "stop")
            touched += result[1]
            print(f"{kind} by {road}: {'ESCAPED' if result[0] else 'ended'}, {result[1]} neighbours touched", flush=True)
    print(f"{len(kinds)} kinds, {tried} trials, {left_out} left out: {escaped} escaped, {known} that nobody can know, {touched} neighbours touched")
    return 1 if escaped or touched else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
