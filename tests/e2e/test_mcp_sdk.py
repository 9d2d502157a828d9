"""ue mcp with the official TypeScript SDK's client and the inspector's command line, both from npm (into the build directory; skipped with
the reason where there is no npm, no node or no registry)."""
import fcntl, json, os, shutil, signal, subprocess
from pathlib import Path

import pytest
from conftest import BUILD, SANITIZED, UE, wait_for

pytestmark = pytest.mark.no_pty
HERE = Path(__file__).resolve().parent
PACKAGES = {"sdk": "@modelcontextprotocol/sdk@1", "inspector": "@modelcontextprotocol/inspector@0"}
NPM_CAP_S = 60  # a slow registry must not hold up everything else


def installed(what):
    """The directory below the build directory that has the package; installed once, whoever comes first."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("'npm' or 'node' is not installed")
    base = BUILD.parent if SANITIZED and (BUILD.parent / "npm").exists() else BUILD  # a sanitizer's build lies inside of a plain one
    place, failed = base / "npm" / what, base / "npm" / "failed"
    place.mkdir(parents=True, exist_ok=True)
    with open(base / "npm" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / "ok").exists():
            return place
        if failed.exists():  # nobody waits twice for a registry that can't be reached
            pytest.skip(failed.read_text())
        command = ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error",
                   "--fetch-retries=0", PACKAGES[what]]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=NPM_CAP_S, start_new_session=True)
            why = done.stderr[-300:] if done.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"npm takes longer than {NPM_CAP_S} s"
        if why:
            failed.write_text(f"{PACKAGES[what]} can't be installed from npm: {why}")
            pytest.skip(failed.read_text())
        (place / "ok").touch()
    return place


def text_of(answer):
    return answer["content"][0]["text"]


def test_the_typescript_sdk(mux):
    place = installed("sdk")
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
    place = installed("inspector")
    tools = {tool["name"]: tool for tool in inspect(mux, place, "--method", "tools/list")["tools"]}
    assert tools["exec_command"]["annotations"]["destructiveHint"] and tools["read_output"]["annotations"]["readOnlyHint"]
    answer = inspect(mux, place, "--method", "tools/call", "--tool-name", "exec_command", "--tool-arg", "cmd=echo hi", "--tool-arg", "login=false",
                     "--tool-arg", "yield_time_ms=5000")
    assert answer["structuredContent"]["output"] == "hi\n" and not answer["isError"]
