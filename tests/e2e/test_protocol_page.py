"""muxd(7) against the daemon: each method answers what the page says, and what the page says is answered. Every answer that any test gets
over Rpc is looked at in the same way (protocol_page.py)."""
import base64, contextlib

from conftest import Rpc, RpcError, protocol_page

LONG = 60000
PATCH = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"
# What it takes a person, a full ring, a limit of the kernel or a crash to see; the tests of these see it.
RARE = {"approval": "*", "approved": "*", "notice": "*", "meta": "*", "denial": "*", "constraint": "*", "process": "*", "patch": "cause stderr", "step": "evidence",
        "nothing": "*", "file": "from", "event": "*", "rule": "*", "refused": "*", "match": "name named", "range": "lines",
        "call": "note replaced_reader _meta", "command_run": "killed_by signal note", "typed": "held_ms bracketed", "oneshot": "note session_id waiting_for signal evidence truncated _meta killed_by",
        "session": "keyboard sandbox size_policy recording_failed pids", "keyboard": "*", "sandbox": "*", "ended": "survivor_processes signal exit_code", "secret": "*",
        "steps": "signal killed_by exit_code children_left", "screen": "signal killed_by exit_code children_left", "checked": "not_plain refusal", "verdict": "limits", "plan": "*",
        "entry": "last from_session from_session_name client call_id cut signal writes", "input": "lost", "hello": "policy", "finding": "means do",
        "status": "log_trouble log_trouble_since log_lines_lost config_missing audit audit_file upgrade_failed connections_closed connection_closed connection_closed_at",
        "tools": "without with", "field": "*", "value": "name", "reloaded": "new_sessions after_restart", "stopped": "survivors survivor_processes", "failure": "cause stderr"}


def sessions_of_all_kinds(mux, rpc):
    verb = {"verb": True, "cwd": str(mux.dir), "request_id": "1", "reader": "mine"}
    rpc.call("exec_command", {"cmd": "echo o; echo e >&2; exit 3", "name": "pipes", "exit": True, "encoding": "base64", "streams": True, "_meta": verb})
    rpc.call("exec_command", {"cmd": "kill -TERM $$", "exit": True, "_meta": {"verb": True}})
    rpc.call("exec_command", {"cmd": "seq 9999", "exit": True, "max_output_tokens": 5, "_meta": {"verb": True}})
    rpc.call("exec_command", {"cmd": "echo one", "until": "o(n)e"})
    rpc.call("exec_command", {"cmd": "exec cat", "name": "cat", "tty": True, "rows": 5, "cols": 40, "yield_time_ms": LONG, "_meta": {"verb": True}})
    rpc.call("exec_command", {"cmd": ["bash", "--norc"], "name": "sh", "tty": True, "yield_time_ms": LONG, "_meta": {"verb": True}})
    rpc.call("integrate_session", {"session_id": "sh"})
    rpc.call("run_command", {"session_id": "sh", "command": "(exit 3)", "yield_time_ms": LONG, "_meta": {"client": "me"}})
    rpc.call("run_command", {"session_id": "sh", "command": "echo '", "interrupt_incomplete": True, "encoding": "base64", "yield_time_ms": LONG})
    rpc.call("list_commands", {"session_id": "sh"})
    for encoding in "utf8", "base64":
        rpc.call("read_command", {"session_id": "sh", "encoding": encoding})
    rpc.call("run_command", {"session_id": "sh", "command": "exit 4", "yield_time_ms": LONG})
    rpc.call("write_stdin", {"session_id": "cat", "chars": "one two", "submit": True, "until": "(o)ne (x)?two", "line": True, "yield_time_ms": LONG, "_meta": {"verb": True}})
    rpc.call("write_stdin", {"session_id": "cat", "chars": "three", "paste": True, "yield_time_ms": LONG, "_meta": {"verb": True}})
    rpc.call("read_output", {"session_id": "cat", "since": 0, "to": 3})
    rpc.call("run_steps", {"session_id": "cat", "steps": [{"write": "x" * 20 + "\n"}, {"expect": {"until": "(x{20})", "capture": "name"}}, {"read": {"max_output_tokens": 1}}, {"wait": {"until": "never", "yield_time_ms": 1}}]})
    screen = rpc.call("read_screen", {"session_id": "cat"})
    rpc.call("read_screen", {"session_id": "cat", "wait_change": screen["hash"], "yield_time_ms": 1})
    rpc.call("resize_session", {"session_id": "cat", "rows": 6, "cols": 50})
    rpc.call("record_session", {"session_id": "cat"})
    rpc.call("list_sessions", {"all": True})
    rpc.call("record_session", {"session_id": "cat", "stop": True})
    rpc.call("rename_session", {"session_id": "cat", "name": "tom"})
    with contextlib.closing(Rpc(mux.socket)) as framed:
        framed.call("attach", {"session_id": "tom", "rows": 24, "cols": 80})
    waits = rpc.send("read_output", {"session_id": "tom", "exit": True, "_meta": {"verb": True}})
    rpc.call("cancel", {"id": waits})
    with contextlib.suppress(RpcError):
        rpc.result(waits)
    rpc.call("read_input", {"session_id": "tom"})
    rpc.call("kill_session", {"session_id": "tom"})
    rpc.call("read_output", {"session_id": "tom", "yield_time_ms": 0})
    rpc.call("list_sessions", {"all": True})


def test_each_method(mux):
    mux.configure("[defaults]\nscripts_may = attach\n[policy strict]\nsandbox = read-only\n")
    rpc, listener = mux.rpc(), mux.rpc()
    events = listener.send("events", {"types": ["all"], "yield_time_ms": LONG})
    sessions_of_all_kinds(mux, rpc)
    listener.result(events)
    rpc.call("events", {"since": 1, "types": ["all"], "yield_time_ms": 0})
    rpc.call("shell_command", {"command": "echo hi; sleep 100", "timeout_ms": 300, "workdir": str(mux.dir)})
    rpc.call("shell", {"command": ["true"], "workdir": str(mux.dir)})
    rpc.call("apply_patch", {"input": PATCH.format("one"), "workdir": str(mux.dir)})
    rpc.call("exec_command", {"cmd": f"apply_patch <<'E'\n{PATCH.format('two')}E", "workdir": str(mux.dir)})
    rpc.call("apply_patch", {"input": PATCH.format("/proc/none/x"), "workdir": str(mux.dir)})
    rpc.error("apply_patch", {"input": PATCH.format("x").replace("+x", "x"), "workdir": str(mux.dir)})
    rpc.call("remove_session", {"sessions": ["tom"]})
    for method, arguments in {"hello": {"policy": True}, "status": {}, "doctor": {}, "tools": {}, "config": {}, "reload": {}, "list_approvals": {},
                              "check_words": {"patterns": ["("], "keys": ["Entr"]}, "check_policy": {"cmd": "git status && rm -rf /"}, "explain_sandbox": {"sandbox": "full-access", "workdir": str(mux.dir)},
                              "import_rules": {"input": 'prefix_rule(pattern=["git"], decision="allow")\nnonsense(\n', "skip_refused": True}}.items():
        rpc.call(method, arguments)
    assert base64.b64decode(rpc.call("read_output", {"session_id": "pipes", "since": 0, "encoding": "base64"})["output_base64"])
    rpc.call("stop")
    never = {(shape, name) for shape, name in protocol_page.page().unseen() if RARE.get(shape) != "*" and name not in RARE.get(shape, "").split()}
    assert not never, f"muxd(7) has what no answer has: {sorted(never)}"
