"""shell_command, its array sibling shell, and ue sh: one command to its end or its timeout, answered as a whole."""
import json, os, re, signal, time

import pytest
from conftest import wait_for

pytestmark = pytest.mark.no_pty
TEXT = re.compile(r"\AExit code: (?P<exit>-?\d+)\nWall time: (?P<wall>\d+(?:\.\d)?) seconds\n(?:Total output lines: (?P<lines>\d+)\n)?"
                  r"Output:\n(?P<output>.*)\Z", re.S)


def parts(result):
    match = TEXT.match(result.out)
    assert match, result
    return match.groupdict()


def run(mux, command, **arguments):
    return mux.call("shell_command", {"command": command, "login": False, "timeout_ms": 30000, **arguments})


@pytest.mark.smoke
def test_stdout_then_stderr(mux):
    result = run(mux, "echo one; echo two >&2; echo three; exit 3")
    assert result.rc == 3
    assert parts(result) | {"wall": ""} == {"exit": "3", "wall": "", "lines": None, "output": "one\nthree\ntwo\n"}


def test_success_and_its_wall_time(mux):
    result = run(mux, "true")
    assert result.rc == 0
    assert parts(result)["output"] == "" and result.out.endswith("Output:\n")
    assert not re.search(r"\.0 seconds", result.out)


def test_standard_input_is_at_its_end(mux):
    assert parts(run(mux, "cat; echo over"))["output"] == "over\n"


def test_no_overrides_of_the_environment(mux):
    result = run(mux, "echo $TERM-$NO_COLOR-$PAGER-$GIVEN", env={"GIVEN": "yes"})
    assert parts(result)["output"] == "xterm---yes\n"


def test_login_shell_by_default_and_workdir(mux):
    (mux.home / ".bash_profile").write_text("export FROM_PROFILE=1\n")
    (mux.dir / "sub").mkdir()
    result = mux.call("shell_command", {"command": "echo $FROM_PROFILE; pwd", "workdir": "sub", "timeout_ms": 30000})
    assert parts(result)["output"] == f"1\n{mux.dir}/sub\n"


def test_timeout_keeps_the_output_and_kills_the_whole_family(mux):
    script = "echo begun; echo wrong >&2; setsid sleep 600 & (trap '' TERM HUP; sleep 601) & sleep 602"
    for limit in (700, 3000, 12000):  # on a slow machine the shell may not have begun when its time is over
        begun = time.monotonic()
        answer = mux.js("sh", "--no-login", "-T", limit, "--", script)
        assert time.monotonic() - begun < limit / 1000 + 20
        if "begun\nwrong\n" in answer["content"]:
            break
    assert answer["timed_out"] and answer["exit_code"] == 124 and answer["state"] == "killed" and answer["signal"] == "KILL"
    text = TEXT.match(answer["content"]).groupdict()
    assert text["exit"] == "124" and re.fullmatch(r"command timed out after \d+ milliseconds\nbegun\nwrong\n", text["output"])
    assert int(re.search(r"after (\d+)", text["output"]).group(1)) >= limit
    for pid in mux.pids():
        try:
            command = open(f"/proc/{pid}/cmdline", "rb").read()
        except OSError:
            continue
        assert b"sleep\x0060" not in command
    assert mux.ue("sh", "--no-login", "-T", "100", "sleep 9").rc == 124


def test_a_child_that_holds_the_pipe_costs_two_seconds_and_nothing_is_discarded(mux):
    begun = time.monotonic()
    answer = mux.js("sh", "--no-login", "echo early; (sleep 0.1; echo late; exec sleep 600) & true")
    assert 1.9 < time.monotonic() - begun < 30
    assert answer["output"] == "early\nlate\n" and answer["exit_code"] == 0 and not answer["timed_out"]
    assert answer["children_left"] == 1
    mux.ue("kill", str(answer["number"]))


@pytest.mark.timing(reason="the two seconds that a stream may stay open are the daemon's own")
def test_output_that_ends_soon_after_the_command_is_waited_for(mux):
    answer = mux.js("sh", "--no-login", "echo early; (sleep 0.5; echo late) & true")
    assert answer["output"] == "early\nlate\n" and answer["wall_time_seconds"] < 1.9


def test_background_children_survive_a_normal_end(mux):
    answer = mux.js("sh", "--no-login", "sleep 600 >/dev/null 2>&1 & echo $!")
    pid = int(answer["output"])
    os.kill(pid, 0)
    os.kill(pid, signal.SIGKILL)


def test_death_by_signal(mux):
    answer = mux.ue("sh", "--no-login", "kill -TERM $$")
    assert answer.rc == 143 and parts(answer)["exit"] == "143"


def test_truncation_in_the_middle(mux):
    result = run(mux, "seq 1000", max_output_tokens=5)
    assert parts(result)["lines"] == "1000"
    assert parts(result)["output"] == "1\n2\n3\n4\n5\n…969 tokens truncated…\n999\n1000\n"
    assert "Warning" not in result.out


def test_too_much_of_both_streams_is_counted(mux):
    script = "head -c 2000000 /dev/zero | tr '\\0' o; head -c 2000000 /dev/zero | tr '\\0' e >&2"
    answer = mux.js("sh", "--no-login", "-T", "30s", script)
    kept, markers = re.subn(r"\n\.\.\. \d+ bytes omitted \.\.\.\n", "", answer["output"])
    assert markers == 2 and re.fullmatch("o+e+", kept) and answer["to"] == 4000000
    assert answer["omitted_bytes"] == 4000000 - len(kept) and len(kept) > 900000
    again = mux.rpc().call("read_output", {"session_id": answer["number"], "since": 0, "encoding": "base64", "max_bytes": 1000})
    assert again["from"] == 0 and again["to"] == 1000


def flood(size, letter, to=1):
    return f"head -c {size} /dev/zero | tr '\\0' {letter} >&{to}; "


# each: what is written, as (stream, text or size of a flood) in order
ORDERS = {
    "a word of stderr between floods": [(1, 6_000_000), (2, "E2\n"), (1, 6_000_000)],
    "words around a flood of stderr": [(1, "begin\n"), (2, 9_000_000), (1, "end\n")],
    "stderr first": [(2, "E1\n"), (1, 9_000_000), (2, "E2\n")],
    "a flood of each": [(1, 5_000_000), (2, 5_000_000)],
    "floods in turn": [(1, 3_000_000), (2, 3_000_000), (1, 3_000_000), (2, 3_000_000)],
}


def joined(order, stream):
    letter = "oe"[stream - 1]
    return "".join(what if isinstance(what, str) else letter * what for at, what in order if at == stream)


def script_of(order, between=""):
    return between.join(flood(what, "oe"[at - 1], at) if isinstance(what, int) else f"printf '{what}' >&{at}; ".replace("\n", "\\n")
                        for at, what in order)


def expect_both_ends(output, order):
    """Each stream of the answer is its beginning, the count of what is missing and its end."""
    out, err = joined(order, 1), joined(order, 2)
    whole = 1 << 20
    share = min(len(out), whole // 3)
    err_share = min(len(err), whole - share)
    share += min(whole - share - err_share, len(out) - share)
    want = ""
    for text, kept in ((out, share), (err, err_share)):
        missing = len(text) - kept
        want += text if not missing else text[:kept // 2] + f"\n... {missing} bytes omitted ...\n" + text[len(text) - (kept - kept // 2):]
    assert len(output) == len(want) and output == want


@pytest.mark.parametrize("name", ORDERS)
def test_each_stream_keeps_both_ends_whatever_the_sizes(mux, name):
    answer = mux.js("sh", "--no-login", "-T", "120s", script_of(ORDERS[name]), timeout=180)
    assert answer["exit_code"] == 0
    expect_both_ends(answer["output"], ORDERS[name])
    assert answer["omitted_bytes"] == answer["to"] - len(re.sub(r"\n\.\.\. \d+ bytes omitted \.\.\.\n", "", answer["output"]))


def test_each_stream_keeps_both_ends_with_a_small_journal(mux):
    mux.configure("[limits]\njournal = 64K\nhead = 0\n")
    order = [(1, 700_000), (2, "E2\n"), (1, 700_000), (2, "E3\n")]
    expect_both_ends(mux.js("sh", "--no-login", "-T", "120s", script_of(order), timeout=180)["output"], order)


@pytest.mark.parametrize("name", ["a word of stderr between floods", "floods in turn"])
def test_each_stream_keeps_both_ends_across_a_workers_death(mux, name):
    """The worker is killed between the floods, and in the middle of them."""
    order, between = ORDERS[name], f"while [ -e {mux.dir}/stop ]; do sleep 0.02; done; touch {mux.dir}/stop; "
    assert mux.ue("start").rc == 0
    (mux.dir / "stop").touch()
    script = between + script_of(order, between)
    shot = mux.popen("sh", "--json", "--no-login", "-n", "shot", "-T", "300s", script)
    for nth in range(len(order)):
        wait_for(lambda: (row := mux.listed("shot")) and row["output_bytes"] >= sum(
            what if isinstance(what, int) else len(what) for _, what in order[:nth]), "the output so far")
        wait_for((mux.dir / "stop").exists, "the next piece's turn")
        for moment in ("between", "in the middle"):
            worker = mux.js("status")["pid"]
            if moment == "in the middle":
                seen = mux.listed("shot")["output_bytes"]
                (mux.dir / "stop").unlink()
                wait_for(lambda: mux.listed("shot")["output_bytes"] > seen, "output")
            os.kill(worker, signal.SIGKILL)
            wait_for(lambda: mux.js("status")["pid"] != worker, "another worker")
    out, err = shot.communicate(timeout=300)
    assert shot.returncode == 0, err
    expect_both_ends(json.loads(out)["output"], order)


def test_shell_takes_an_argument_vector(mux):
    result = mux.call("shell", {"command": ["printf", "%s|", "a  b", "$HOME"], "timeout_ms": 30000})
    assert parts(result)["output"] == "a  b|$HOME|"
    assert mux.call("shell", {"command": ["sleep", "60"], "timeout": 200}).rc == 124


@pytest.mark.parametrize("tool, arguments, text", [
    ("shell_command", {}, "failed to parse function arguments: missing field `command`"),
    ("shell_command", {"command": ["a"]}, "failed to parse function arguments: invalid type"),
    ("shell_command", {"command": "true", "cmd": "x"}, "failed to parse function arguments: unknown field `cmd`"),
    ("shell_command", {"command": "true", "timeout_ms": "soon"}, "failed to parse function arguments: invalid type"),
    ("shell_command", {"command": "true", "justification": "please"}, "`justification` requires an explicit `sandbox_permissions`"),
    ("shell_command", {"command": "true", "sandbox_permissions": "require_escalated"}, "approval policy is Never; reject command"),
    ("shell_command", {"command": "true", "workdir": "/no/such/place"}, "execution error: '/no/such/place'"),
    ("shell", {"command": []}, "failed to parse function arguments: invalid length"),
    ("shell", {"command": "true"}, "failed to parse function arguments: invalid type"),
    ("shell", {"command": ["/no/such/program"]}, "execution error: '/no/such/program'"),
])
def test_refusals(mux, tool, arguments, text):
    result = mux.call(tool, arguments)
    assert result.rc == 125 and result.out.startswith(text), result


def test_cancel_ends_the_wait_and_the_timeout_still_holds(mux):
    rpc = mux.rpc()
    begun = rpc.send("shell_command", {"command": "echo there; exec sleep 600", "login": False, "timeout_ms": 8000, "name": "shot"})
    wait_for(lambda: (row := mux.listed("shot")) and row["output_bytes"] > 0, "its output")
    assert rpc.call("cancel", {"id": begun})["cancelled"]
    assert rpc.recv(begun)["error"]["data"]["code"] == "cancelled"
    assert mux.listed("shot")["state"] == "running"
    assert mux.wait_state("shot", "killed")["exit_code"] == 137


def test_a_command_survives_the_worker_and_is_answered_once(mux):
    (mux.dir / "go").write_text("")
    process = mux.popen("sh", "--json", "--no-login", "-n", "shot", "-T", "60s", "echo once >> log; while [ -e go ]; do sleep 0.05; done; cat log")
    wait_for((mux.dir / "log").exists, "the command to run")
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    mux.rpc().call("hello")
    (mux.dir / "go").unlink()
    answer = mux.finish(process)
    assert answer.json["output"] == "once\n" and answer.rc == 0


def test_verb_takes_the_tools_object(mux):
    assert parts(mux.ue("sh", "--args", json.dumps({"command": "echo hi", "login": False})))["output"] == "hi\n"
    assert mux.ue("sh").rc == 64
