"""--text, and text: true in the tools: what a person would read, and not the echo of what was typed."""
import json

import pytest
from conftest import CAP, need

ENDLESS = ("-y", CAP * 1000)


@pytest.mark.smoke
@pytest.mark.no_pty
def test_no_sequences_of_pipes(mux):
    script = r"printf ' 10%%\r100%%\n'; printf '\033[31mred\033[m\n'; printf 'a\tb  \n\033]0;t\007end'; exit 3"
    result = mux.ue("exec", "--text", script)
    assert result.rc == 3 and result.out == "100%\nred\na\tb  \nend"
    again = mux.ue("poll", "--text", "--since", "0", "printf")
    assert again.rc == 3 and again.out == result.out
    assert mux.ue("exec", script, env={"UE_FORMAT": "text"}).out == result.out


@pytest.mark.smoke
@pytest.mark.parametrize("program, prompt, line, wanted", [
    ("bash --norc", "", "echo hi there", "hi there\n"), ("sh", "", "echo hi there", "hi there\n"), ("zsh -f", "", "echo hi there", "hi there\n"),
    ("python3 -q", ">>> ", "1+1", "2\n"), ("node", "> ", "1+1", "2\n"), ("sqlite3", "sqlite> ", "select 1;", "1\n"), ("cat", None, "some words", "some words\n")])
def test_no_echo(mux, program, prompt, line, wanted):
    need(program.split()[0])
    mux.session("s", program)
    for _ in range(3):
        out = mux.ue("write", "--text", *ENDLESS, "s", "-l", line).ok().out
        assert out.startswith(wanted) and line not in out.removeprefix(wanted) and "\033" not in out and "\r" not in out
        assert out.removeprefix(wanted) == (prompt if prompt else "" if prompt is None else out.removeprefix(wanted)) and out.count("\n") == 1


def test_no_echo_of_several_lines(mux):
    mux.session("s", "env PYTHON_BASIC_REPL=1 python3 -q")
    block = "for i in range(2):\n    print('n', i)\n\n"
    assert mux.ue("write", "--text", "--until", "n 1", "--ready", *ENDLESS, "s", block).ok().out == "n 0\nn 1\n>>> "
    long = "x = '" + "abc " * 60 + "'; len(x)"
    assert mux.ue("write", "--text", *ENDLESS, "s", "-l", long).ok().out == "240\n>>> "
    mux.session("t", "env PYTHON_BASIC_REPL=1 python3 -q")
    mux.ue("write", *ENDLESS, "t", "-l", "1+1").ok()
    mux.ue("write", *ENDLESS, "t", "-l", "2+2").ok()
    assert mux.ue("poll", "--text", "--since", "0", "t").ok().out == ">>> \n2\n>>> \n4\n>>> "


def test_a_person_sees_the_same_in_all_places(mux):
    mux.session("s", "bash --norc")
    rpc = mux.rpc()
    answer = rpc.call("write_stdin", {"session_id": "s", "chars": "printf 'one\\rtwo\\n'\n", "text": True, "yield_time_ms": 30000})
    assert answer["output"].startswith("two\n") and "printf" not in answer["output"]
    assert answer["content"].endswith("Output:\n" + answer["output"])
    assert answer["to"] - answer["from"] > len(answer["output"])
    shown = rpc.call("read_output", {"session_id": "s", "since": answer["from"], "to": answer["to"], "text": True})
    assert shown["output"] == answer["output"]
    plain = mux.js("write", "--text", *ENDLESS, "s", "-l", "echo $((6*7))")
    assert plain["output"].startswith("42\n")


def test_a_line_that_goes_on(mux):
    """The next answer begins where the last one ended, or with the whole line when that was written anew."""
    script = r"printf ' 10%%'; read a; printf ' more'; read b; printf '\r100%% '; read c"
    mux.ue("exec", "-n", "p", "-t", "--until", "10%", *ENDLESS, script).ok()
    assert mux.ue("write", "--text", "--until", "more", *ENDLESS, "p", "-l", "").ok().out == " more"
    assert mux.ue("write", "--text", "--until", "100% ", *ENDLESS, "p", "-l", "").ok().out.startswith("100% ")


@pytest.mark.no_pty
def test_much_output(mux):
    answer = mux.js("exec", "--text", "seq 300000")
    assert answer["output"].startswith("1\n2\n") and answer["output"].endswith("\n300000\n")
    assert f"\n... {answer['omitted_bytes']} bytes omitted ...\n" in answer["output"]
    assert answer["truncated"] == {"from": 0, "to": answer["to"]}
    cut = mux.ue("exec", "--text", "-m", "100", "seq 3000").ok().out
    assert "tokens truncated" in cut and len(cut) < 1000


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [["--text", "--raw"], ["--text", "--args", "{}"]], ids=" ".join)
def test_wrong_usage(mux, options):
    assert mux.ue("exec", *options, *([] if "--args" in options else ["true"])).rc == 64


@pytest.mark.no_pty
def test_text_of_exact_bytes(mux):
    error = mux.rpc().error("exec_command", {"cmd": "true", "text": True, "encoding": "base64"})
    assert "`text`" in json.dumps(error.error)
