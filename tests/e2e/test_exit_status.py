"""Exit statuses of ue."""
import os

import pytest

pytestmark = pytest.mark.no_pty


@pytest.mark.parametrize("status", [0, 1, 17, 124, 125, 126, 127, 255])
def test_command_status_is_ues_status(mux, status):
    assert mux.ue("exec", f"exit {status}").rc == status


@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
@pytest.mark.parametrize("signal", [9, 15, 11])
def test_death_by_signal_is_128_and_its_number(mux, options, signal):
    result = mux.ue("exec", "--json", *options, "--no-login", f"ulimit -c 0; kill -{signal} $$")
    assert result.rc == 128 + signal
    assert result.json["exit_code"] == 128 + signal and result.json["state"] == "signaled"


def test_running_is_0(mux):
    assert mux.ue("exec", "-y", "250", "sleep 300").rc == 0


def test_poll_and_write_give_the_commands_status(mux):
    mux.ue("exec", "-n", "s", "-t", "-y", "250", "read x; exit 9").ok()
    assert mux.ue("write", "--exit", "-l", "s", "go").rc == 9
    assert mux.ue("poll", "s").rc == 9


@pytest.mark.parametrize("wait", [("--until", "never"), ("--ready",), ("--exit",)], ids=lambda w: w[0])
def test_wait_that_does_not_come_true_is_124(mux, wait):
    mux.ue("exec", "-n", "s", "-t", "--no-ready", "-y", "250", "exec sleep 300").ok()
    assert mux.ue("poll", *wait, "-y", "300", "s").rc == 124


def test_quiet_that_does_not_come_true_is_124(mux):
    mux.ue("exec", "-n", "s", "-y", "250", "while :; do echo x; sleep 0.05; done").ok()
    assert mux.ue("poll", "--quiet", "60000", "-y", "300", "s").rc == 124


def test_wait_that_comes_true_is_0(mux):
    assert mux.ue("exec", "--until", "up", "-y", "120000", "echo up; sleep 300").rc == 0


def test_end_before_the_pattern_is_124(mux):
    assert mux.ue("exec", "--until", "never", "-y", "120000", "echo x; exit 0").rc == 124


def test_status_fd_tells_the_commands_124_from_ours(mux):
    def statuses(*args):
        read, write = os.pipe()
        result = mux.ue("exec", "--status-fd", write, *args, pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as f:
            return result.rc, f.read().strip()
    rc, told = statuses("exit 125")
    assert rc == 125 and told.split()[-1] == "125"
    rc, told = statuses("-C", "/no/such/directory", "true")
    assert rc == 125 and "125" not in told


def test_missing_workdir_is_125(mux):
    result = mux.ue("exec", "-C", "/no/such", "true")
    assert result.rc == 125 and result.err.startswith("ue: ") and "/no/such" in result.err and result.out == ""


@pytest.mark.parametrize("verb", [("poll", "nope"), ("write", "nope", "x"), ("kill", "nope"), ("rename", "nope", "other"),
                                  ("resize", "nope", "24x80"), ("rm", "nope"), ("poll", "99999999")], ids=" ".join)
def test_no_such_session_is_127(mux, verb):
    result = mux.ue(*verb)
    assert result.rc == 127 and result.err.startswith("ue: ") and verb[1] in result.err


@pytest.mark.parametrize("args", [("exce", "true"), ("exec", "--no-such-option", "true"), ("poll",), ("poll", "-y"), ("exec", "-y", "soon", "true"),
                                  ("resize", "s"), ("resize", "s", "wide"), ("exec", "--size", "0x0", "-t", "true"), ()], ids=" ".join)
def test_wrong_usage_is_64(mux, args):
    result = mux.ue(*args)
    assert result.rc == 64 and result.err, result


@pytest.mark.parametrize("verb", [("list",), ("exec", "true"), ("poll", "x")], ids=" ".join)
def test_no_daemon_is_69_when_none_may_be_started(mux, verb):
    result = mux.ue("--no-start", *verb)
    assert result.rc == 69 and result.err.startswith("ue: ")
    assert not mux.daemons()


def test_call_puts_the_failure_on_stdout(mux):
    result = mux.call("write_stdin", {"session_id": 99999999})
    assert result.rc == 127 and result.out.startswith("write_stdin failed: ")


def test_unknown_verb_names_the_nearest(mux):
    result = mux.ue("lsit")
    assert result.rc == 64 and "'list'" in result.err


def test_unknown_option_names_the_nearest(mux):
    result = mux.ue("exec", "--jsno", "true")
    assert result.rc == 64 and "--json" in result.err


@pytest.mark.parametrize("verb", "exec write poll kill list rename resize rm call start status reload stop config".split())
def test_every_verb_has_help(mux, verb):
    result = mux.ue(verb, "-h")
    assert result.rc == 0 and verb in result.out and not mux.daemons()


def test_help_lists_all_verbs(mux):
    listed = mux.ue("help").ok().out.split()
    assert set("exec write poll kill list rename resize rm call start status reload stop".split()) <= set(listed)


def test_version_names_both_programs_and_the_protocol(mux):
    mux.ue("start").ok()
    out = mux.ue("--version").ok().out
    assert "ue" in out and "muxd" in out and "protocol" in out
