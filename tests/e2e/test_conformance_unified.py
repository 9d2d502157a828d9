"""Conformance with the Codex shell tools, sections 2 to 9: exec_command, write_stdin, the text of their answers.

A test is named by its section: test_5_1_… holds what we share, test_ours_9_… shows where muxd does better on purpose. The table
of differences stands in ue(1), DIFFERENCES."""
import json, os, re

import pytest
from conftest import ANSWER, wait_for

PY = ["python3", "-c"]


@pytest.fixture
def rpc(mux):
    client = mux.rpc()

    def run(cmd, tool="exec_command", **arguments):
        return client.call(tool, {"cmd": cmd, "login": False, "workdir": str(mux.dir), **arguments})
    client.run = run
    return client


def parts(content):
    match = ANSWER.match(content)
    assert match, content
    return match.groupdict()


def print_text(text):
    return [*PY, f"import sys; sys.stdout.write({text!r})"]


# --- 2: schemas
@pytest.mark.no_pty
def test_2_schemas(mux):
    tools = {tool["name"]: tool for tool in mux.ue("tools", "--json").json}
    assert tools["apply_patch"]["type"] == "custom" and tools["apply_patch"]["format"]["syntax"] == "lark"
    exec_, write = tools["exec_command"]["parameters"], tools["write_stdin"]["parameters"]
    assert tools["exec_command"]["strict"] is False and exec_["additionalProperties"] is False
    assert exec_["required"] == ["cmd"] and write["required"] == ["session_id"]
    assert set(exec_["properties"]) == {"cmd", "workdir", "tty", "yield_time_ms", "max_output_tokens", "shell", "login"}
    assert set(write["properties"]) == {"session_id", "chars", "yield_time_ms", "max_output_tokens"}
    assert exec_["properties"]["cmd"]["type"] == "string" and exec_["properties"]["yield_time_ms"]["type"] == "number"
    assert tools["exec_command"]["description"] == "Runs a command in a PTY, returning output or a session ID for ongoing interaction."
    assert tools["write_stdin"]["description"] == "Writes characters to an existing unified exec session and returns recent output."


@pytest.mark.no_pty
def test_2_wrong_types_name_the_field(rpc):
    for arguments, words in [({"cmd": 5}, "`cmd`"), ({"cmd": "true", "yield_time_ms": "soon"}, "`yield_time_ms`"),
                             ({"cmd": "true", "yield_time_ms": -1}, "`yield_time_ms`"), ({"cmd": "true", "tty": 1}, "`tty`")]:
        error = rpc.error("exec_command", arguments)
        assert error.error["data"]["content"].startswith("failed to parse function arguments: ") and words in error.message
    assert "`session_id`" in rpc.error("write_stdin", {}).message


@pytest.mark.no_pty
def test_ours_2_unknown_fields_are_refused_by_name(rpc):
    assert "unknown field `cmdd`, did you mean `cmd`" in rpc.error("exec_command", {"cmdd": "true"}).message
    assert rpc.run("true", description="what it is for")["exit_code"] == 0  # what known clients add is let through


@pytest.mark.no_pty
def test_ours_2_a_session_has_a_name_too(rpc):
    rpc.run("exec sleep 600", name="web", yield_time_ms=250)
    assert rpc.call("write_stdin", {"session_id": "web", "chars": "\x03", "yield_time_ms": 30000})["exit_code"] == 130


@pytest.mark.no_pty
def test_ours_2_wrong_arguments_without_a_column(rpc):
    for arguments, words in [({"cmd": 5}, "invalid type: integer `5` for `cmd`, expected a string"), ({"cmd": "x", "yield_time_ms": 1.5}, "`yield_time_ms`"),
                             ({"cmd": "x", "yield_time_ms": -1}, "`yield_time_ms`"), ({"cmd": "x", "sandbox_permissions": "all"}, "unknown variant `all`")]:
        text = rpc.error("exec_command", arguments).error["data"]["content"]
        assert words in text and not re.search(r"line \d|column \d|[iu](32|64)", text), text


@pytest.mark.no_pty
def test_ours_2_no_approvals_in_the_schemas(mux):
    tools = {tool["name"]: tool for tool in mux.ue("tools", "--json").json}
    assert not {"sandbox_permissions", "justification", "prefix_rule"} & set(tools["exec_command"]["parameters"]["properties"])


# --- 3 and 8: constants and the collection loop
@pytest.mark.no_pty
def test_3_the_least_yield_is_250_ms(rpc):
    assert rpc.run("exec sleep 600", name="s", yield_time_ms=1)["wall_time_seconds"] >= 0.25
    rpc.call("kill_session", {"session_id": "s"})


@pytest.mark.no_pty
def test_3_an_empty_poll_waits_five_seconds_at_least(rpc):
    number = rpc.run("exec sleep 600", yield_time_ms=250)["session_id"]
    assert rpc.call("write_stdin", {"session_id": number, "yield_time_ms": 250})["wall_time_seconds"] >= 5
    rpc.call("kill_session", {"session_id": number})


@pytest.mark.no_pty
def test_8_exit_ends_the_wait_at_once(rpc):
    answer = rpc.run("echo hi", yield_time_ms=30000)
    assert answer["reason"] == "exit" and answer["wall_time_seconds"] < 30


@pytest.mark.no_pty
def test_8_output_does_not_end_it(rpc):
    answer = rpc.run("echo early; exec sleep 600", name="s", yield_time_ms=4000)
    assert answer["output"] == "early\n" and answer["wall_time_seconds"] >= 4 and answer["reason"] == "deadline"
    rpc.call("kill_session", {"session_id": "s"})


@pytest.mark.no_pty
def test_8_a_child_that_holds_the_pipe_costs_little(rpc):
    answer = rpc.run("sleep 600 & echo hi", name="s", yield_time_ms=30000)
    assert answer["exit_code"] == 0 and answer["output"] == "hi\n" and answer["reason"] == "exit"
    rpc.call("kill_session", {"session_id": "s"})


def test_ours_8_a_call_returns_when_the_program_waits_for_input(rpc):
    answer = rpc.run("python3 -q", tty=True, name="py", yield_time_ms=30000)
    assert answer["reason"] == "ready" and answer["waiting_for"] and answer["output"].endswith(">>> ")
    typed = rpc.call("write_stdin", {"session_id": "py", "chars": "6*7\n", "yield_time_ms": 30000})
    assert typed["reason"] == "ready" and "42" in typed["output"]


@pytest.mark.no_pty
def test_ours_8_a_poll_returns_with_output_that_has_settled(rpc):
    number = rpc.run("while [ ! -e go ]; do sleep 0.02; done; echo now; exec sleep 600", yield_time_ms=250)["session_id"]
    waiting = rpc.send("write_stdin", {"session_id": number, "yield_time_ms": 300000})
    open(os.path.join(rpc.call("list_sessions")["sessions"][0]["cwd"], "go"), "w").close()
    assert rpc.result(waiting)["output"] == "now\n"
    rpc.call("kill_session", {"session_id": number})


@pytest.mark.no_pty
def test_ours_8_a_split_character_is_carried_over(rpc):
    script = r"printf '\342\202'; while [ ! -e go ]; do sleep 0.02; done; printf '\254'"
    first = rpc.run(script, name="s", yield_time_ms=300)
    assert first["output"] == ""
    open(os.path.join(rpc.call("list_sessions")["sessions"][0]["cwd"], "go"), "w").close()
    assert rpc.call("write_stdin", {"session_id": "s"})["output"] == "\u20ac"


# --- 4: order of operations
@pytest.mark.no_pty
def test_4_workdir_relative_empty_and_missing(mux, rpc):
    (mux.dir / "sub").mkdir()
    meta = {"cwd": str(mux.dir)}
    assert rpc.call("exec_command", {"cmd": "pwd", "workdir": "sub", "login": False, "_meta": meta})["output"] == f"{mux.dir}/sub\n"
    assert rpc.call("exec_command", {"cmd": "pwd", "workdir": "", "login": False, "_meta": meta})["output"] == f"{mux.dir}\n"


@pytest.mark.no_pty
@pytest.mark.parametrize("workdir, why", [("/no/such", "No such file or directory"), ("/etc/passwd", "Not a directory")])
def test_25_a_failed_start_quotes_the_whole_argv(rpc, workdir, why):
    text = rpc.error("exec_command", {"cmd": "it's \"quoted\" $HOME", "shell": "/bin/bash", "workdir": workdir}).error["data"]["content"]
    assert text == ("exec_command failed for `/bin/bash -lc \"it's \\\"quoted\\\" \"'$HOME'`: CreateProcess { message: \"Rejected(\\\"Failed to "
                    f"create unified exec process: '{workdir}': {why}; choose another directory\\\")\" }}")


@pytest.mark.no_pty
def test_4_justification_needs_sandbox_permissions(rpc):
    assert rpc.error("exec_command", {"cmd": "true", "justification": "why"}).error["data"]["content"] == (
        '`justification` requires an explicit `sandbox_permissions`; use `sandbox_permissions: "require_escalated"` for unsandboxed execution, '
        "or omit `justification`.")


@pytest.mark.no_pty
def test_4_argv_of_the_shell(rpc):
    args = "tr '\\0' '|' < /proc/$$/cmdline"
    assert rpc.run(args, shell="/bin/bash")["output"].startswith("/bin/bash|-c|")
    assert rpc.call("exec_command", {"cmd": args, "shell": "bash"})["output"].split("|")[1] == "-lc"
    assert rpc.run("echo $0", shell="sh")["output"].strip().endswith("sh")


@pytest.mark.no_pty
@pytest.mark.parametrize("cmd", ["", "  ", "\n"])
def test_25_an_empty_command_runs_to_its_end(rpc, cmd):
    answer = rpc.run(cmd)
    assert answer["exit_code"] == 0 and answer["output"] == ""


@pytest.mark.no_pty
@pytest.mark.parametrize("tool, arguments, words", [
    ("exec_command", {}, "missing field `cmd`"),
    ("exec_command", {"cmd": None}, "invalid type: null for `cmd`, expected a string or an array of strings"),
    ("exec_command", {"cmd": 5}, "invalid type: integer `5` for `cmd`, expected a string or an array of strings"),
    ("exec_command", {"cmd": "true", "tty": 1}, "invalid type: integer `1` for `tty`, expected a boolean"),
    ("exec_command", {"cmd": "true", "yield_time_ms": "soon"}, 'invalid type: string "soon" for `yield_time_ms`, expected a whole number'),
    ("exec_command", {"cmd": "true", "yield_time_ms": 1000.5},
     "invalid type: floating point `1000.5` for `yield_time_ms`, expected a whole number from 0 to 9007199254740992"),
    ("write_stdin", {"chars": "x"}, "missing field `session_id`"),
    ("write_stdin", {"session_id": True}, "invalid type: boolean `true` for `session_id`, expected a whole number or a name"),
    ("shell_command", {}, "missing field `command`"),
    ("shell_command", {"command": ["a"]}, "invalid type: sequence for `command`, expected a string"),
])
def test_25_wrong_arguments_in_the_words_of_serde(rpc, tool, arguments, words):
    assert rpc.error(tool, arguments).error["data"]["content"] == f"failed to parse function arguments: {words}"


@pytest.mark.no_pty
def test_25_approvals_under_the_policy_never(rpc):
    assert rpc.run("echo hi", prefix_rule=["echo"])["output"] == "hi\n"
    assert rpc.run("echo hi", with_escalated_permissions=True)["output"] == "hi\n"
    for asks in "require_escalated", "with_additional_permissions":
        assert rpc.error("exec_command", {"cmd": "true", "sandbox_permissions": asks}).error["data"]["content"] == (
            "approval policy is Never; reject command \u2014 you cannot ask for escalated permissions if the approval policy is Never")
    assert "you should not ask" in rpc.error("shell_command", {"command": "true", "sandbox_permissions": "require_escalated"}).message


@pytest.mark.no_pty
@pytest.mark.parametrize("name", ["nosuchtool", "container.exec"])
def test_25_an_unknown_tool(mux, name):
    assert mux.rpc().error(name, {}).error["data"]["content"] == f"unsupported call: {name}"
    result = mux.call(name, {})
    assert (result.rc, result.out) == (125, f"unsupported call: {name}\n")


@pytest.mark.no_pty
def test_4_a_session_that_yields_can_be_found_while_it_is_waited_for(mux, rpc):
    waiting = rpc.send("exec_command", {"cmd": "exec sleep 600", "name": "s", "login": False, "yield_time_ms": 30000})
    wait_for(lambda: mux.listed("s"), "the session")
    mux.rpc().call("kill_session", {"session_id": "s"})
    assert "exit_code" in rpc.result(waiting)


@pytest.mark.no_pty
def test_ours_4_an_array_runs_without_a_shell(rpc):
    assert rpc.run(["printf", "%s|", "a b", "$HOME"])["output"] == "a b|$HOME|"


@pytest.mark.no_pty
def test_25_a_shell_that_is_not_where_it_was_looked_for(mux, rpc):
    env = {"_meta": {"env": {"SHELL": "/bin/bash", "PATH": "/usr/bin:/bin"}}}
    for shell, runs in ("bash", "/bin/bash"), ("/no/such/bash", "/bin/bash"), ("/no/such/sh", "/usr/bin/sh"):
        assert rpc.run("echo $0", shell=shell, **env)["output"] == runs + "\n"


@pytest.mark.no_pty
def test_ours_4_another_shell_is_itself_or_refused(rpc):
    assert rpc.run("print(6 * 7)", shell="/usr/bin/python3")["output"] == "42\n"
    assert "name a shell that exists" in rpc.error("exec_command", {"cmd": "true", "shell": "nosuchshell"}).message


@pytest.mark.no_pty
def test_ours_2_leniency_of_arguments(rpc):
    answer = rpc.run("echo hi", yield_time_ms=30000.0, max_output_tokens=None, tty=None, shell=None)
    assert answer["exit_code"] == 0 and answer["output"] == "hi\n"
    assert rpc.error("write_stdin", {"session_id": 4294967296}).error["data"]["content"] == "write_stdin failed: Unknown process id 4294967296"


@pytest.mark.no_pty
def test_ours_2_json_in_words_of_its_own(mux):
    for text, words in [("not json", "JSON is wrong at byte 1"), ("", "missing field `cmd`"), ("[]", "invalid type: sequence, expected an object"),
                        ('{"cmd": "a", "cmd": "b"}', "duplicate field `cmd`"), ('{"cmd": "a\\u0000b"}', "the escape \\u0000 is not taken")]:
        result = mux.ue("call", "exec_command", text)
        assert result.rc == 125 and result.out.startswith("failed to parse function arguments: ") and words in result.out, result


def test_ours_4_a_missing_workdir_is_refused_with_a_terminal_too(rpc):
    assert "'/no/such'" in rpc.error("exec_command", {"cmd": "pwd", "workdir": "/no/such", "tty": True}).message


@pytest.mark.no_pty
def test_ours_4_a_command_that_begins_with_a_dash(rpc):
    assert "-n: command not found" in rpc.run("-n foo", shell="bash")["output"]


@pytest.mark.no_pty
def test_ours_15_rm_f_runs(mux, rpc):
    (mux.dir / "f").touch()
    assert rpc.run("rm -f f")["exit_code"] == 0 and not (mux.dir / "f").exists()


def test_ours_10_a_terminal_is_in_utf8_mode(rpc):
    assert " iutf8" in rpc.run("stty -a", tty=True, yield_time_ms=30000)["output"]


def test_ours_9_a_line_that_the_kernel_would_cut_is_refused_whole(rpc):
    rpc.run("exec cat", tty=True, name="c", yield_time_ms=30000)
    assert "keeps only 4095 bytes" in rpc.error("write_stdin", {"session_id": "c", "chars": "x" * 5000 + "\n"}).message
    rpc.call("kill_session", {"session_id": "c"})


def test_ours_9_a_password_is_for_a_person(rpc):
    rpc.run("read -s x", shell="bash", tty=True, name="s", yield_time_ms=30000)
    assert "reads a secret" in rpc.error("write_stdin", {"session_id": "s", "chars": "hunter2\n"}).message
    rpc.call("kill_session", {"session_id": "s"})


# --- 5: the text
@pytest.mark.no_pty
def test_5_1_finished(rpc):
    content = rpc.run("echo hello")["content"]
    assert re.fullmatch(r"Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhello\n", content)


@pytest.mark.no_pty
def test_5_1_running_without_output(rpc):
    answer = rpc.run("exec sleep 600", name="s", yield_time_ms=250)
    assert re.fullmatch(r"Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess running with session ID %d\nOriginal token count: 0\nOutput:\n"
                        % answer["session_id"], answer["content"])
    rpc.call("kill_session", {"session_id": "s"})


@pytest.mark.no_pty
def test_5_1_a_non_zero_exit_is_a_result(rpc):
    assert parts(rpc.run("exit 3")["content"])["exit"] == "3"


@pytest.mark.no_pty
def test_5_1_chunk_ids_differ_and_escapes_pass(rpc):
    answers = [rpc.run("printf '\\033[31mred\\r\\n'") for _ in range(3)]
    assert len({answer["chunk_id"] for answer in answers}) == 3 and answers[0]["output"] == "\x1b[31mred\r\n"


@pytest.mark.no_pty
def test_5_1_intercepted_patch(mux, rpc):
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: uexec_apply.txt\n+hi\n*** End Patch\nEOF\n"
    assert re.fullmatch(r"Wall time: \d+\.\d{4} seconds\nOutput:\nExit code: 0\nWall time: \d+(\.\d)? seconds\nOutput:\n"
                        r"Success. Updated the following files:\nA uexec_apply.txt\n", rpc.run(patch)["content"])


@pytest.mark.no_pty
def test_5_2_one_byte_over_the_budget(rpc):
    assert parts(rpc.run(print_text("x" * 40), max_output_tokens=10)["content"])["output"] == "x" * 40
    assert "\u20261 tokens truncated\u2026" in rpc.run(print_text("x" * 41), max_output_tokens=10)["content"]


@pytest.mark.no_pty
def test_ours_5_2_what_was_cut_is_told(rpc):
    answer = rpc.run("seq 1000", max_output_tokens=5)
    cut = answer["truncated"]
    assert rpc.call("read_output", {"session_id": answer["number"], "since": cut["from"], "to": cut["to"], "yield_time_ms": 0,
                                    "max_output_tokens": 10000})["output"] == "".join(f"{i}\n" for i in range(1, 1001))[cut["from"]:cut["to"]]
    assert cut["from"] >= 10 and cut["to"] <= answer["to"] - 8 and "truncated" not in rpc.run("seq 3")


@pytest.mark.no_pty
def test_ours_5_2_long_lines_are_cut_first(rpc):
    output = rpc.run("echo a; head -c 100000 /dev/zero | tr '\\0' x; echo; echo b", max_line=20, max_output_tokens=100)["output"]
    lines = output.splitlines()
    assert lines[0] == "a" and lines[-1] == "b" and lines[1].startswith("xxxxx") and len(output) < 200


@pytest.mark.no_pty
def test_5_2_bytes_lost_in_collection(rpc):
    output = parts(rpc.run("seq 400000", max_output_tokens=100)["content"])["output"]
    assert re.match(r"Warning: truncated output \(original token count: \d+\)\n\.\.\. \d+ bytes omitted \.\.\.\n\n1\n2\n", output)
    assert "Total output lines" not in output and output.endswith("400000\n")


@pytest.mark.no_pty
def test_5_3_the_json_result(rpc):
    answer = rpc.run("echo hi")
    assert {"chunk_id", "wall_time_seconds", "exit_code", "original_token_count", "output"} <= set(answer) and "session_id" not in answer
    assert isinstance(answer["wall_time_seconds"], float)
    running = rpc.run("exec sleep 600", name="s", yield_time_ms=250)
    assert "exit_code" not in running and running["session_id"] >= 1000
    rpc.call("kill_session", {"session_id": "s"})


# --- 6: truncation
@pytest.mark.no_pty
@pytest.mark.parametrize("text, tokens, want, count, lines", [
    ("example output", 1, "ex\u20263 tokens truncated\u2026ut", 4, 1),
    ("this is an example of a long output that should be truncated", 5, "this is an\u202610 tokens truncated\u2026 truncated", 15, 1),
    ("this is an example of a long output that should be truncated\nalso some other line", 10,
     "this is an example o\u202611 tokens truncated\u2026also some other line", 21, 2),
    ("\U0001f600" * 10 + "\nsecond line with text\n", 8, "\U0001f600" * 4 + "\u20268 tokens truncated\u2026 line with text\n", 16, 2),
    ("abcdef", 0, "\u20262 tokens truncated\u2026", 2, 1),
    ("token one token two token three token four token five", 4, "token on\u202610 tokens truncated\u2026ken five", 14, 1),
])
def test_6_3_worked_examples(rpc, text, tokens, want, count, lines):
    got = parts(rpc.run(print_text(text), max_output_tokens=tokens)["content"])
    assert got["tokens"] == str(count)
    assert got["output"] == f"Warning: truncated output (original token count: {count})\nTotal output lines: {lines}\n\n{want}"


@pytest.mark.no_pty
def test_6_3_the_larger_example(rpc):
    script = "for i in range(1, 1000): print('EXEC-LINE-%04d ' % i + 'x' * 20)"
    output = parts(rpc.run([*PY, script], max_output_tokens=50)["content"])["output"]
    assert output == ("Warning: truncated output (original token count: 8991)\nTotal output lines: 999\n\n"
                      + "".join(f"EXEC-LINE-{i:04} {'x' * 20}\n" for i in (1, 2)) + "EXEC-LINE-0003 " + "x" * 13 + "\u20268941 tokens truncated\u2026"
                      + "E-0997 " + "x" * 20 + "\n" + "".join(f"EXEC-LINE-{i:04} {'x' * 20}\n" for i in (998, 999)))


# --- 7: what is kept
@pytest.mark.no_pty
def test_7_the_beginning_and_the_end_of_a_mebibyte(rpc):
    answer = rpc.run("seq 400000")
    omitted = int(re.search(r"\n\.\.\. (\d+) bytes omitted \.\.\.\n", answer["output"])[1])
    size = len("".join(f"{i}\n" for i in range(1, 400001)))
    assert answer["original_token_count"] == -(-size // 4) and omitted == answer["omitted_bytes"] == size - (1 << 20)
    assert answer["output"].startswith("1\n2\n") and answer["output"].endswith("400000\n")


@pytest.mark.no_pty
def test_7_each_byte_is_delivered_once(rpc):
    number = rpc.run("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two", until="one\n", yield_time_ms=30000)["session_id"]
    open(os.path.join(rpc.call("list_sessions")["sessions"][0]["cwd"], "go"), "w").close()
    assert rpc.call("write_stdin", {"session_id": number})["output"] == "two\n"


@pytest.mark.no_pty
def test_ours_7_output_can_be_read_again(rpc):
    number = rpc.run("seq 3")["number"]
    assert rpc.call("read_output", {"session_id": number, "since": 2, "yield_time_ms": 0})["output"] == "2\n3\n"


# --- 9: write_stdin
@pytest.mark.no_pty
def test_9_an_unknown_id(rpc):
    assert rpc.error("write_stdin", {"session_id": 4711}).error["data"]["content"] == "write_stdin failed: Unknown process id 4711"


@pytest.mark.no_pty
def test_9_a_pipe_session_takes_the_interrupt_alone(rpc):
    number = rpc.run("exec sleep 600", yield_time_ms=250)["session_id"]
    for chars in "text", "\x03\n":
        assert rpc.error("write_stdin", {"session_id": number, "chars": chars}).error["data"]["content"] == (
            "write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open")
    ended = rpc.call("write_stdin", {"session_id": number, "chars": "\x03", "yield_time_ms": 30000})
    assert ended["exit_code"] == 130 and "session_id" not in ended


def test_9_no_newline_is_added_and_no_escape_decoded(rpc):
    rpc.run("exec cat", tty=True, name="c", yield_time_ms=30000)
    assert rpc.call("write_stdin", {"session_id": "c", "chars": "a\\n", "until": "n", "yield_time_ms": 30000})["output"] == "a\\n"
    assert rpc.call("write_stdin", {"session_id": "c", "chars": "b\n", "until": "nb\r\n", "yield_time_ms": 30000})["output"] == "b\r\na\\nb\r\n"


@pytest.mark.no_pty
def test_9_output_from_before_comes_first(rpc):
    rpc.run("cat", stdin=True, name="c", yield_time_ms=250)
    rpc.call("write_stdin", {"session_id": "c", "chars": "one\n", "peek": True, "until": "one\n", "yield_time_ms": 30000})
    assert rpc.call("write_stdin", {"session_id": "c", "chars": "two\n", "until": "two\n", "yield_time_ms": 30000})["output"] == "one\ntwo\n"
    rpc.call("kill_session", {"session_id": "c"})


@pytest.mark.no_pty
def test_ours_9_an_ended_session_answers_until_it_is_removed(rpc):
    number = rpc.run("exit 3")["number"]
    for _ in range(2):
        assert rpc.call("write_stdin", {"session_id": number})["exit_code"] == 3
    rpc.call("remove_session", {"sessions": [number]})
    assert f"Unknown process id {number}" in rpc.error("write_stdin", {"session_id": number}).error["data"]["content"]


@pytest.mark.no_pty
def test_ours_9_an_interrupt_of_an_ended_session_is_a_success(rpc):
    number = rpc.run("exit 3")["number"]
    late = rpc.call("write_stdin", {"session_id": number, "chars": "\x03"})
    assert late["exit_code"] == 3 and "had ended already" in late["content"]


def test_ours_9_input_waits_until_the_program_reads(mux):
    """The echo stands behind what the program says before it reads, once."""
    mux.configure("[defaults]\nhold = 60s\n")
    rpc = mux.rpc()
    go = mux.dir / "go"
    rpc.call("exec_command", {"cmd": f"while [ ! -e {go} ]; do sleep 0.02; done; echo up; exec cat", "login": False, "tty": True, "name": "c",
                              "ready": False, "yield_time_ms": 250})
    typed = rpc.send("write_stdin", {"session_id": "c", "chars": "early\n", "until": "early\r\nearly\r\n", "yield_time_ms": 30000})
    assert rpc.call("read_output", {"session_id": "c", "since": 0, "quiet_ms": 300, "yield_time_ms": 60000})["output"] == ""
    go.touch()
    rpc.result(typed)
    assert rpc.call("read_output", {"session_id": "c", "since": 0, "yield_time_ms": 0})["output"] == "up\r\nearly\r\nearly\r\n"


@pytest.mark.no_pty
def test_ours_9_an_empty_poll_with_nothing_new_is_one_line(rpc):
    number = rpc.run("exec sleep 600", yield_time_ms=250)["session_id"]
    assert re.fullmatch(rf"Process running with session ID {number}: nothing new after \d+\.\d seconds\n",
                        rpc.call("write_stdin", {"session_id": number})["content"])
    rpc.call("kill_session", {"session_id": number})
