"""The wall time of a call, and its deadline, count from the moment at which the client asked first, also when the worker dies in between."""
import json, os, signal, time

import pytest
from conftest import wait_for
from test_mcp import Client

GO = "while [ ! -e {go} ]; do sleep 0.02; done; "
CALLS = ["exec_command", "write_stdin", "poll", "shell_command", "read_output"]


def call_of(mux, kind, name):
    """Tool and arguments of a call that ends when the file `go` is there; its session waits for that, or is started by it."""
    go = GO.format(go=mux.dir / "go")
    if kind == "exec_command":
        return kind, {"cmd": go + "echo there", "login": False, "yield_time_ms": 30000}
    if kind == "shell_command":
        return kind, {"command": go + "echo there", "login": False, "timeout_ms": 300000}
    mux.shell(name)
    if kind == "write_stdin":
        return kind, {"session_id": name, "chars": go + "echo there; exit\n", "yield_time_ms": 30000, "until": "no such text"}
    mux.ue("write", "-y", "0", "--no-ready", "-l", name, go + "echo there; exit").ok()
    mux.ue("poll", "--ready", "-y", "0", name)
    tool, more = ("write_stdin", {"yield_time_ms": 300000}) if kind == "poll" else ("read_output", {"yield_time_ms": 300000})
    return tool, {"session_id": name, "until": "no such text", **more}


def in_flight(mux):
    """How many calls wait in the daemon, apart from this one's question."""
    return mux.js("status")["waits"]


def with_a_death(mux):
    """Lets some time go by, kills the worker and opens the way. Returns the time that the call has waited at least: what goes by while a
    request lies in the socket of a worker that begins is not counted."""
    wait_for(lambda: in_flight(mux) > 0, "the call")
    waiting = time.monotonic()
    for _ in range(2):
        worker = mux.js("status")["pid"]
        time.sleep(0.6)
        least = time.monotonic() - waiting
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: mux.js("status")["pid"] != worker and in_flight(mux) > 0, "the call in the next worker")
    (mux.dir / "go").touch()
    return least


def expect_wall(answer, least, begun):
    passed = time.monotonic() - begun + 0.005  # what a request has waited is sent in whole milliseconds, for each worker
    assert least <= answer["wall_time_seconds"] <= passed, answer
    assert answer["reason"] == "exit" and answer["exit_code"] == 0


@pytest.mark.parametrize("kind", CALLS)
def test_wall_time_across_the_workers_death(mux, kind):
    assert mux.ue("start").rc == 0
    tool, arguments = call_of(mux, kind, "s")
    begun = time.monotonic()
    call = mux.popen("call", tool, "--json", json.dumps(arguments))
    least = with_a_death(mux)
    out, err = call.communicate()
    assert call.returncode in (0, 124), err  # 124: the text of `until` did not come
    answer = json.loads(out)
    expect_wall(answer, least, begun)
    shown = f"{answer['wall_time_seconds']:.1f}".removesuffix(".0") if kind == "shell_command" else f"{answer['wall_time_seconds']:.4f}"
    assert f"Wall time: {shown} seconds\n" in answer["content"]


@pytest.mark.parametrize("kind", CALLS[:3])
def test_wall_time_of_an_mcp_client(mux, kind):
    assert mux.ue("start").rc == 0
    tool, arguments = call_of(mux, kind, "s")
    client = Client(mux, "2025-06-18")
    begun = time.monotonic()
    id = client.send("tools/call", {"name": tool, "arguments": arguments})
    least = with_a_death(mux)
    expect_wall(client.recv(id)["result"]["structuredContent"], least, begun)


@pytest.mark.parametrize("tool, arguments", [
    ("exec_command", {"cmd": "exec sleep 600", "login": False, "yield_time_ms": 30000}),
    ("write_stdin", {"session_id": "s", "chars": "sleep 600\n", "yield_time_ms": 30000, "until": "x" * 9}),
    ("write_stdin", {"session_id": "s", "yield_time_ms": 300000, "until": "x" * 9}),
    ("read_output", {"session_id": "s", "yield_time_ms": 300000, "until": "x" * 9}),
])
def test_a_request_that_comes_again_after_its_deadline(mux, tool, arguments):
    mux.shell("s")
    answer = mux.rpc().call(tool, {**arguments, "_meta": {"waited_ms": 400000}})
    assert answer["reason"] == "deadline" and 400 <= answer["wall_time_seconds"] < 460


def test_a_command_that_begins_late_has_its_whole_time(mux):
    answer = mux.rpc().call("shell_command", {"command": "echo done", "login": False, "timeout_ms": 60000, "_meta": {"waited_ms": 400000}})
    assert answer["exit_code"] == 0 and answer["output"] == "done\n" and answer["wall_time_seconds"] >= 400


@pytest.mark.parametrize("waited", [-1, "1", 1.5])
def test_wrong_times(mux, waited):
    error = mux.rpc().error("status", {"_meta": {"waited_ms": waited}})
    assert error.code == "arguments" and "`_meta.waited_ms`" in error.message
