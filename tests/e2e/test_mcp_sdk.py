"""ue mcp with the official TypeScript SDK's client and the inspector's command line, both from npm (into the build directory; skipped with
the reason where there is no npm, no node or no registry)."""
import json, os, shutil, signal, subprocess
from pathlib import Path

import pytest
from conftest import UE, wait_for
from npm import installed

pytestmark = pytest.mark.no_pty
HERE = Path(__file__).resolve().parent
PACKAGES = {"sdk": "@modelcontextprotocol/sdk@1", "inspector": "@modelcontextprotocol/inspector@0"}


def text_of(answer):
    return answer["content"][0]["text"]


def test_the_typescript_sdk(mux):
    place = installed("sdk", PACKAGES["sdk"])
    shutil.copy(HERE / "mcp/sdk_client.mjs", mux.dir / "client.mjs")
    os.symlink(place / "node_modules", mux.dir / "node_modules")
    done = subprocess.run(["node", "client.mjs", str(UE), "mcp"], env={**os.environ, **mux.env}, cwd=mux.dir, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done
    told = json.loads(done.stdout)
    assert told["server"]["name"] == "muxd" and told["capabilities"]["tools"] == {"listChanged": False} and told["instructions"]
    assert {"exec_command", "write_stdin", "apply_patch", "run_steps", "read_output"} <= set(told["tools"])
    assert told["echo"]["structuredContent"]["exit_code"] == 3 and not told["echo"]["isError"]
    assert told["started"]["structuredContent"]["name"] == "sdk" and told["typed"]["structuredContent"]["output"] == "hello\n"
    assert told["steps"]["structuredContent"]["completed"] == 3 and text_of(told["steps"]).endswith("Step 3 read:\nagain\n")
    assert told["unknown"]["isError"] and "Unknown process id 4711" in text_of(told["unknown"])
    assert told["wrong"]["thrown"] == -32602 and "enough" in told["cancelled"]
    assert told["long"]["structuredContent"]["output"] == "slept\n" and told["beats"] >= 1
    assert "sdk" in [row["name"] for row in told["listed"]["structuredContent"]["sessions"]]
    assert mux.listed("sdk")["state"] == "running"  # it has outlived its client
    mux.ue("kill", "sdk")


def inspect(mux, place, *args):
    command = ["node", str(place / "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"), "--cli", str(UE), "mcp", *args]
    done = subprocess.run(command, env={**os.environ, **mux.env}, cwd=mux.dir, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_the_inspector(mux):
    place = installed("inspector", PACKAGES["inspector"])
    tools = {tool["name"]: tool for tool in inspect(mux, place, "--method", "tools/list")["tools"]}
    assert tools["exec_command"]["annotations"]["destructiveHint"] and tools["read_output"]["annotations"]["readOnlyHint"]
    answer = inspect(mux, place, "--method", "tools/call", "--tool-name", "exec_command", "--tool-arg", "cmd=echo hi", "--tool-arg", "login=false",
                     "--tool-arg", "yield_time_ms=5000")
    assert answer["structuredContent"]["output"] == "hi\n" and not answer["isError"]
