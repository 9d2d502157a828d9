"""client/lib/node/ue.mjs: its steps are in lib_node.mjs; each has a daemon of its own."""
import json, subprocess

import pytest
from conftest import CAP, ROOT, UE, need, wait_for

LIB = ROOT / "client/lib/node/ue.mjs"
SERVER = r"""echo "starting"; echo "listening on $((8000 + ROUND))"
case $ROUND in
1) read -r line; echo "config changed: $line" ;;
2) echo "UNHANDLED rejection" ;;
3) exit 7 ;;
esac
sleep 1000"""


def node(mux, script, *words, **env):
    need("node")
    return mux.spawn(["node", str(ROOT / script), str(LIB), *map(str, words)], cwd=mux.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, env={**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", **env})


@pytest.mark.parametrize("step", ["tools", "workers", "faults"])
def test_steps(mux, step):
    place = mux.dir / "place"
    place.mkdir()
    result = mux.finish(node(mux, "tests/e2e/lib_node.mjs", step, place, CAP * 1000))
    assert result.rc == 0 and result.out == "done\n" and not result.err, result


@pytest.mark.no_pty
def test_the_types_name_what_the_module_has(mux):
    """Of every class and method; a tool that has a type is one."""
    need("node")
    script = """const lib = await import(process.argv[1]);
const own = (c) => Object.getOwnPropertyNames(c.prototype).filter((name) => name !== "constructor" && !name.startsWith("_"));
console.log(JSON.stringify([Object.keys(lib), own(lib.Client), own(lib.Session)]));"""
    told = subprocess.run(["node", "--input-type=module", "-e", script, str(LIB)], capture_output=True, text=True, timeout=CAP)
    names, client, session = json.loads(told.stdout)
    types = LIB.with_suffix("").with_suffix(".d.ts").read_text()
    assert not [name for name in names if f" {name}" not in types]
    for kind, methods in (("Client", client), ("Session", session)):
        body = types.split(f"export class {kind} {{")[1].split("\n}")[0]
        assert not [name for name in methods if f"  {name}(" not in body], kind
    tools = [line.split(":")[0].strip() for line in types.splitlines() if line.endswith(": Tool;")]
    rows = (ROOT / "muxd/wire/tools.def").read_text()
    assert len(tools) > 10 and not [tool for tool in tools if f'.name = "{tool}"' not in rows]


def test_the_dev_server(mux):
    """tests/examples/dev_server.mjs: a pattern, a crash and an end each start it anew."""
    server = mux.dir / "server"
    server.write_text(SERVER)
    run = node(mux, "tests/examples/dev_server.mjs", 3, "sh", server)
    wait_for(lambda: (row := mux.listed("dev-server")) and row["waiting_for"] == "line", "the first round")
    mux.ue("write", "-l", "-y", 0, "dev-server", "new.conf").ok()
    result = mux.finish(run)
    assert result.rc == 0 and result.out == ("round 1: listening on 8001\nround 1: stale: config changed\nround 2: listening on 8002\n"
                                             "round 2: crash: UNHANDLED rejection\nround 3: listening on 8003\nround 3: it has ended with 7\n"), result
    assert len((ROOT / "tests/examples/dev_server.mjs").read_text().splitlines()) < 40 and mux.sessions() == []
