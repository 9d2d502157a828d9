"""Commands at a prompt by the libraries for Python and Node, beside pexpect and a reader that knows the prompt."""
import importlib.util, shutil
from pathlib import Path

from latency import BASH, REPL_ENV
from measure import PYTHON, UE, Daemon, ms, turns

HERE = Path(__file__).parent
OURS = {"ue.py, until": "ask-until", "ue.py, ready": "ask-ready", "ue.py, run": "run", "ue.py's spawn without delay": "ue-spawn",
        "ue.py's spawn": "ue-spawn-delay"}
PEXPECT = {"pexpect without delay": "pexpect", "pexpect's replwrap": "replwrap"}
SLOW = "pexpect-delay"  # its pauses would leave the others cold, so it takes its turns apart
RAW = {"python": ("raw", "repl", ">>> ", "1+1\r", "\n2\r\n", PYTHON, "-q"), "bash": ("raw", "repl", "bash> ", "echo hi\r", "\nhi\r\n", *BASH)}


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
            if "pexpect" in rows.values():
                slow = turns(min(size.rounds, 100), raw, (SLOW, "helper", PYTHON, HERE / "turn_repl.py", SLOW, what), env=muxd.env)
            taken = turns(size.rounds, *contestants, env=muxd.env, warm=min(size.warm, 30))
            text = "1+1 in python3" if what == "python" else "echo in bash"
            for name, which in rows.items():
                table.ratio(f"{text}, {name} / raw reader", ms(taken, "raw"), ms(taken, which), "<= 2" if name.endswith("until") else None)
            if "pexpect" in rows.values():
                table.ratio(f"{text}, pexpect / raw reader", ms(slow, "raw"), ms(slow, SLOW))
