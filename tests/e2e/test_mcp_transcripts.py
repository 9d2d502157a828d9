"""A recorded transcript for each revision of MCP: what a client of it says and what it is answered, line by line. What differs from run to
run is a placeholder. MUXD_RECORD=1 writes them anew; look at the difference before you commit it."""
import json, os, re, subprocess
from pathlib import Path

import pytest
from conftest import CAP

pytestmark = pytest.mark.no_pty
PLACE = Path(__file__).resolve().parent / "mcp"
KEY = "io.modelcontextprotocol/"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


def conversation(revision):
    """The requests; None: a notification follows."""
    modern = revision == "2026-07-28"
    meta = {"_meta": {KEY + "protocolVersion": revision, KEY + "clientCapabilities": {}, KEY + "clientInfo": {"name": "t", "version": "1"}}} if modern else {}
    ask = lambda id, method, **params: {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, **meta}}
    call = lambda id, name, **arguments: ask(id, "tools/call", name=name, arguments=arguments)
    begin = [ask(0, "server/discover")] if modern else [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": revision, "capabilities": {},
                                                                      "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": "p", "method": "ping"}]
    return begin + [call(1, "exec_command", cmd="echo hi; exit 3", login=False), call(2, "exec_command", cmd="echo hi", login="false", bogus=1),
                    call(3, "write_stdin", session_id=4711), call(4, "shell_command", command="echo out; echo err >&2", login=False),
                    call(5, "apply_patch", input="*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"), call(6, "nope"),
                    ask(7, "resources/list"), ask(8, "tools/call", name="exec_command", arguments=[1])]


def settled(message, mux):
    """What is the same in each run."""
    text = json.dumps(message, sort_keys=True, ensure_ascii=False).replace(str(mux.dir), "DIR")
    text = re.sub(r"Chunk ID: [0-9a-f]{6}", "Chunk ID: CHUNK", text)
    text = re.sub(r'"chunk_id": "[0-9a-f]{6}"', '"chunk_id": "CHUNK"', text)
    text = re.sub(r"Wall time: \d+(\.\d+)? seconds", "Wall time: WALL seconds", text)
    text = re.sub(r'"wall_time_seconds": [\d.e-]+', '"wall_time_seconds": "WALL"', text)
    text = re.sub(r"expected one of `[^\"]*?`(?=\")", "expected one of FIELDS", text)
    return re.sub(r'"version": "\d+\.\d+\.\d+"', '"version": "VERSION"', text)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_transcript(mux, revision):
    process, lines = mux.popen("mcp", stdin=subprocess.PIPE), []
    for message in conversation(revision):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        lines.append("> " + settled(message, mux))
        if "id" in message:
            lines.append("< " + settled(json.loads(process.stdout.readline()), mux))
    process.stdin.close()
    assert process.wait(CAP) == 0 and process.stdout.read() == b"" and process.stderr.read() == b""
    mux.background.remove(process)
    recorded = PLACE / f"{revision}.txt"
    if os.environ.get("MUXD_RECORD"):
        recorded.write_text("\n".join(lines) + "\n")
    assert lines == recorded.read_text().splitlines()
