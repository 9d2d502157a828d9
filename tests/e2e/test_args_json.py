"""--args in place of flags, and ue call."""
import json

import pytest
from conftest import wait_for

pytestmark = pytest.mark.no_pty


def test_exec(mux):
    assert mux.ue("exec", "--args", json.dumps({"cmd": "echo hi; exit 3"})).rc == 3


@pytest.mark.smoke
def test_exec_from_standard_input(mux):
    assert mux.ue("exec", "--args", "-", input=json.dumps({"cmd": ["/bin/echo", "a  b"]})).ok().answer["output"] == "a  b\n"


def test_other_verbs(mux):
    number = mux.js("exec", "--args", json.dumps({"cmd": "read x; exit 2", "tty": True, "name": "s", "yield_time_ms": 250}))["session_id"]
    assert mux.ue("list", "--args", "{}").rc == 0
    assert mux.ue("poll", "--args", json.dumps({"session_id": number, "yield_time_ms": 250})).rc == 0
    assert mux.ue("write", "--exit", "--args", json.dumps({"session_id": "s", "chars": "\n"})).rc in (2, 64)
    mux.ue("kill", "--args", json.dumps({"session_id": number}))
    assert mux.listed("s")["state"] in ("exited", "killed")


def test_unknown_field_is_named(mux):
    result = mux.ue("exec", "--args", '{"cmd": "true", "nonsense": 1}')
    assert result.rc == 125 and "nonsense" in result.out + result.err


@pytest.mark.parametrize("text", ["{", "", "[]", "5", '{"cmd": "true"} x', "null", '"cmd"'])
def test_what_is_no_object(mux, text):
    result = mux.ue("exec", "--args", text)
    assert result.rc in (64, 125) and "failed to parse function arguments" in result.out + result.err


def test_call_reads_standard_input(mux):
    assert mux.ue("call", "exec_command", "-", input='{"cmd": "echo hi"}').ok().answer["output"] == "hi\n"


def test_call_behaves_as_if_run_in_place(mux):
    assert mux.call("exec_command", {"cmd": 'echo "$FOO"; pwd'}, cwd="/usr", env={"FOO": "bar"}).answer["output"] == "bar\n/usr\n"


def test_call_of_an_unknown_tool_names_the_nearest(mux):
    result = mux.call("exec_comand", {"cmd": "true"})
    assert result.rc in (64, 125) and "exec_command" in result.out + result.err


def test_failed_start_of_an_array_names_its_words(mux):
    result = mux.call("exec_command", {"cmd": ["/nonexistent/prog", "a b"]})
    assert result.rc == 125 and result.out.startswith("exec_command failed for `/nonexistent/prog 'a b'`: ")


@pytest.mark.parametrize("arguments", ['{"session_id": 1}', '{"session_id": 1', '{}'])
def test_failure_of_a_call_ends_its_line(mux, arguments):
    result = mux.call("write_stdin", arguments)
    assert result.rc in (125, 127) and result.out.endswith("\n") and result.out.count("\n") == 1


def test_call_without_arguments(mux):
    assert mux.ue("call", "list_sessions").rc == 0


def test_call_in_json(mux):
    assert mux.js("call", "exec_command", '{"cmd": "echo hi"}')["output"] == "hi\n"


def test_yields_of_the_tools_are_clamped_those_of_the_verbs_are_not(mux):
    assert mux.js("call", "exec_command", '{"cmd": "sleep 300", "yield_time_ms": 0}')["wall_time_seconds"] >= 0.25
    wait_for(lambda: mux.js("exec", "-y", "0", "sleep 300")["wall_time_seconds"] < 0.25, "a start that is no slower than the tool's least time")


def test_alias_of_workdir(mux):
    assert mux.call("exec_command", {"cmd": "pwd", "cwd": "/usr"}).answer["output"] == "/usr\n"


def test_fields_to_ignore(mux):
    assert mux.call("exec_command", {"cmd": "true", "description": "why", "wait_for_previous": True}).rc == 0


def test_default_of_a_later_field_is_accepted(mux):
    assert mux.call("exec_command", {"cmd": "true", "sandbox_permissions": "use_default"}).rc == 0


@pytest.mark.parametrize("tool, arguments, field", [("exec_command", {"cmd": 5}, "cmd"), ("exec_command", {"cmd": [1]}, "cmd"), ("exec_command", {"cmd": "true", "tty": "yes"}, "tty"),
                                                    ("exec_command", {"cmd": "true", "yield_time_ms": -1}, "yield_time_ms"), ("exec_command", {"cmd": "true", "yield_time_ms": 1.5}, "yield_time_ms"),
                                                    ("exec_command", {"cmd": "true", "env": {"A": 1}}, "env"), ("write_stdin", {"session_id": True}, "session_id"),
                                                    ("write_stdin", {"chars": "x"}, "session_id"), ("write_stdin", {"session_id": 1000, "chars": 5}, "chars"),
                                                    ("exec_command", {"cmd": "true", "workdir": None, "shell": 3}, "shell")])
def test_wrong_type_is_named(mux, tool, arguments, field):
    result = mux.call(tool, arguments)
    assert result.rc == 125 and "failed to parse function arguments: " in result.out and field in result.out
