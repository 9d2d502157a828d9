"""What a session's program finds: environment, signals, descriptors, umask."""
import json, os, re

import pytest

TOOL = {"NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8", "LC_ALL": "C.UTF-8", "COLORTERM": "", "PAGER": "cat",
        "GIT_PAGER": "cat", "GH_PAGER": "cat", "CODEX_CI": "1"}


def environment(output):
    return dict(line.split("=", 1) for line in output.replace("\r", "").split("\0") if "=" in line)


def tool_output(mux, **kw):
    return json.loads(mux.ue("call", "--json", "exec_command", '{"cmd": ["env", "-0"]}', **kw).ok().out)["output"]


@pytest.mark.no_pty
def test_tool_environment(mux):
    env = environment(tool_output(mux))
    assert {k: env.get(k) for k in TOOL} == TOOL


@pytest.mark.no_pty
@pytest.mark.parametrize("verb", [["exec", "--raw", "env -0"], ["exec", "--raw", "--argv", "env", "-0"], ["sh", "env -0"]], ids=" ".join)
def test_the_verbs_environment_is_the_callers(mux, verb):
    mux.configure("[env]\nTERM = ansi\n")
    given = {"TERM": "vt220", "PAGER": "more", "LANG": "C", "VIRTUAL_ENV": "/v"}
    env = environment(mux.ue(*verb, env=given).ok().out.partition("Output:\n")[2] or mux.ue(*verb, env=given).ok().out)
    expected = {**mux.env, **given}
    assert {k: env.get(k) for k in expected} == expected
    assert set(env) - set(expected) <= {"MUXD_SESSION", "MUXD_SESSION_ID", "PWD", "OLDPWD", "SHLVL", "_"}


def test_terminal_for_people(mux):
    env = environment(mux.js("exec", "-t", "--argv", "env", "-0", env={"PAGER": "more", "LANG": "de_DE.UTF-8"})["output"])
    assert env["TERM"] == "xterm-256color" and env.get("COLORTERM") and env["PAGER"] == "more" and env["LANG"] == "de_DE.UTF-8"
    assert "NO_COLOR" not in env


@pytest.mark.smoke
@pytest.mark.no_pty
def test_session_and_socket_are_told(mux):
    env = environment(mux.js("exec", "-n", "s", "--argv", "env", "-0")["output"])
    assert env["MUXD_SESSION"] == "s" and env["MUXD_SESSION_ID"] == str(mux.listed("s")["session_id"]) and env["MUXD_SOCKET"] == str(mux.socket)


@pytest.mark.no_pty
def test_callers_environment_is_the_commands(mux):
    mux.ue("start").ok()
    assert mux.ue("exec", "--raw", 'echo "$FOO"', env={"FOO": "bar baz"}).ok().out == "bar baz\n"
    assert mux.ue("exec", "--raw", 'echo "${FOO-none}"').ok().out == "none\n"


@pytest.mark.no_pty
def test_daemon_does_not_keep_the_environment_it_was_started_from(mux):
    mux.ue("start", env={"SECRET_OF_MINE": "x", "LD_LIBRARY_PATH": "/nowhere"}).ok()
    output = mux.rpc().call("exec_command", {"cmd": ["env"]})["output"]
    assert "SECRET_OF_MINE" not in output and "LD_LIBRARY_PATH" not in output and "PATH=" in output and "HOME=" in output


@pytest.mark.no_pty
def test_bare_wire_starts_in_the_daemons_directory(mux):
    mux.ue("start", cwd="/usr/share").ok()
    assert mux.rpc().call("exec_command", {"cmd": "pwd"})["output"] in ("/\n", f"{mux.home}\n")


@pytest.mark.no_pty
def test_bare_wire_takes_env_and_cwd_as_context(mux):
    result = mux.rpc().call("exec_command", {"cmd": 'echo "$FOO"; pwd', "login": False, "_meta": {"cwd": "/usr", "env": {"FOO": "x"}}})
    assert result["output"] == "x\n/usr\n"


@pytest.mark.no_pty
def test_env_argument_beats_the_rest(mux):
    assert mux.call("exec_command", {"cmd": 'echo "$TERM $X"', "env": {"TERM": "vt100", "X": "y"}}).answer["output"] == "vt100 y\n"


@pytest.mark.no_pty
def test_umask_is_the_callers(mux):
    assert mux.ue("exec", "--raw", "umask", umask=0o027).ok().out == "0027\n"


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
def test_no_foreign_descriptors(mux, options):
    fds = mux.js("exec", *options, "--argv", "ls", "-1", "/proc/self/fd")["output"].split()
    assert sorted(map(int, fds)) == [0, 1, 2, 3]  # 3 is the directory being read


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
def test_signals_are_at_their_defaults(mux, options):
    status = mux.js("exec", *options, "--argv", "grep", "^Sig", "/proc/self/status")["output"]
    assert re.search(r"SigBlk:\s0{16}", status) and re.search(r"SigIgn:\s0{16}", status)


@pytest.mark.no_pty
def test_limit_of_open_files_is_not_the_daemons(mux):
    import resource
    soft = 256
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    result = mux.ue("exec", "--raw", "ulimit -n", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, own[1])))
    assert result.ok().out.strip() == str(soft)


def test_session_is_a_session_of_its_own(mux):
    output = mux.js("exec", "-t", "--argv", "sh", "-c", "echo $$ $(ps -o sid=,pgid=,tpgid= -p $$)")["output"].split()
    assert len(set(output)) == 1


@pytest.mark.no_pty
def test_env_section_replaces_the_list(mux):
    mux.configure("[env]\nTERM = ansi\nMINE = a;b # c\n")
    env = environment(tool_output(mux))
    assert env["TERM"] == "ansi" and env["MINE"] == "a;b # c" and "CODEX_CI" not in env


@pytest.mark.no_pty
def test_policy_filters_the_callers_environment(mux):
    mux.configure("[env_policy]\nexclude = AWS_* *private*\n")
    env = environment(mux.js("exec", "--argv", "env", "-0", env={"AWS_KEY": "1", "My_Private_Thing": "2", "OK": "3"})["output"])
    assert "AWS_KEY" not in env and "My_Private_Thing" not in env and env["OK"] == "3"


@pytest.mark.no_pty
def test_policy_core(mux):
    mux.configure("[env_policy]\ninherit = core\n")
    env = environment(mux.js("exec", "--argv", "env", "-0", env={"FOO": "1"})["output"])
    assert "FOO" not in env and env["HOME"] == str(mux.home)


@pytest.mark.no_pty
def test_variable_that_is_no_utf8_does_no_harm(mux):
    assert mux.ue("exec", "--raw", "echo ok", env={"BAD": os.fsdecode(b"\xff\xfe")}).ok().out == "ok\n"
