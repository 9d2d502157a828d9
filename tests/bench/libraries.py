"""Commands at a prompt by the libraries for Python and Node and by `ue run`, beside pexpect, expect, tmux and a reader that knows the
prompt."""
import importlib.util, shutil
from pathlib import Path

from latency import BASH, REPL_ENV
from measure import PYTHON, UE, Daemon, ms, turns

HERE = Path(__file__).parent
OURS = {"ue.py, until": "ask-until", "ue.py, ready": "ask-ready", "ue.py, run": "run", "ue.py's spawn without delay": "ue-spawn",
        "ue.py's spawn": "ue-spawn-delay"}
PEXPECT = {"pexpect without delay": "pexpect", "pexpect's replwrap": "replwrap"}
SLOW = "pexpect-delay"  # its pauses would leave the others cold, so it takes its turns apart
OTHERS = {"ue run, a process each": ("ue-run", "ue"), "expect": ("expect", "expect"), "tmux, send-keys and capture-pane": ("tmux", "tmux"),
          "tmux, control mode": ("tmux-control", "tmux")}
TEXTS = {"python": "1+1 in python3", "bash": "echo in bash", "sqlite3": "select in sqlite3"}
RAW = {"python": ("raw", "repl", ">>> ", "1+1\r", "\n2\r\n", PYTHON, "-q"), "bash": ("raw", "repl", "bash> ", "echo hi\r", "\nhi\r\n", *BASH),
       "sqlite3": ("raw", "repl", "sqlite> ", "select 1+1;\r", "\n2\r\n", "/usr/bin/sqlite3")}


def bench_libraries(table, size):
    for what, raw in RAW.items():
        with Daemon() as muxd:
            muxd.env.update(REPL_ENV, MUXD_SOCKET=str(muxd.socket), PS1="bash> ", PATH=f"{UE.parent}:{muxd.env['PATH']}")
            rows = dict(OURS)
            if importlib.util.find_spec("pexpect"):
                rows.update(PEXPECT)
            else:
                print("python3-pexpect is not installed: no rows for it")
            contestants = [raw, *((which, "helper", PYTHON, HERE / "turn_repl.py", which, what) for which in rows.values())]
            if shutil.which("node"):
                rows["ue.mjs, until"] = "node"
                contestants.append(("node", "helper", shutil.which("node"), HERE / "turn_repl.mjs", what))
            else:
                print("node is not installed: no row for it")
            for name, (which, program) in OTHERS.items():
                if which == "ue-run" or shutil.which(program):
                    rows[name] = which
                    contestants.append((which, "helper", PYTHON, HERE / "turn_peers.py", which, what))
                else:
                    print(f"{program} is not installed: no row for it")
            if "pexpect" in rows.values():
                slow = turns(min(size.rounds, 100), raw, (SLOW, "helper", PYTHON, HERE / "turn_repl.py", SLOW, what), env=muxd.env)
            taken = turns(size.rounds, *contestants, env=muxd.env, warm=min(size.warm, 30))
            text = TEXTS[what]
            for name, which in rows.items():
                table.ratio(f"{text}, {name} / raw reader", ms(taken, "raw"), ms(taken, which), "<= 2" if name.endswith("until") else None)
            if "pexpect" in rows.values():
                table.ratio(f"{text}, pexpect / raw reader", ms(slow, "raw"), ms(slow, SLOW))
