"""muxd.ini: values, reload, described sessions."""
import os, signal, subprocess

import pytest
from conftest import CAP, DAEMON, wait_for

pytestmark = pytest.mark.no_pty


def refused(mux, text, *words):
    """A running daemon refuses the file, names all words, and goes on with what it had."""
    mux.configure("[limits]\nmax_sessions = 7\n")
    mux.ue("start").ok()
    mux.configure(text)
    result = mux.ue("reload")
    assert result.rc != 0 and str(mux.conf) in result.err, result
    for word in words:
        assert word in result.err, result
    assert any("max_sessions" in line and "7" in line for line in mux.ue("config").ok().out.splitlines())


@pytest.mark.smoke
def test_unknown_key_names_file_line_key_and_what_is_near(mux):
    refused(mux, "[limits]\nmax_sesions = 3\n", f"{mux.conf}:2", "max_sesions", "max_sessions")


@pytest.mark.parametrize("text, words", [("[limit]\nmax_sessions = 3\n", (":1", "limit")), ("[limits]\nmax_sessions = many\n", (":2", "max_sessions", "many")),
                                         ("[limits]\nmax_sessions = 0\n", (":2", "max_sessions", "1")), ("[limits]\nmax_sessions = 3\nmax_sessions = 4\n", (":3", "max_sessions")),
                                         ("max_sessions = 3\n", (":1",)), ("[limits\nmax_sessions = 3\n", (":1",)), ("[limits]\nmax_sessions\n", (":2",)),
                                         ("[session a]\ncmd = x\n[session a]\ncmd = y\n", ("a",)), ("[session 12]\ncmd = x\n", (":1", "12")),
                                         ("[session a]\nstart = boot\n", ("a",)), ("[session a]\ncmd = x\nargv = y\n", ("a",)),
                                         ("[session a]\ncmd = x\nstart = sometimes\n", (":3", "sometimes", "demand")), ("[defaults]\nready = maybe\n", (":2", "maybe")),
                                         ("[session a]\ncmd = x\nready_pattern = (\n", (":3", "ready_pattern"))],
                         ids=lambda v: repr(v)[:40] if isinstance(v, str) else None)
def test_what_a_broken_file_is_told(mux, text, words):
    refused(mux, text, *words)


def test_broken_file_at_the_start(mux):
    mux.configure("[limits]\nmax_sesions = 3\n")
    result = mux.ue("exec", "true")
    assert result.rc in (69, 125) and "max_sesions" in result.err
    wait_for(lambda: not mux.daemons(), "the daemon that was refused to go")


def test_value_too_long_is_refused_not_cut(mux):
    refused(mux, "[session a]\ncmd = echo " + "x" * 9000 + "\n", ":2", "cmd")


def test_values_arrive_whole(mux):
    command = "echo 'one ; two # three = \"four\"'; echo " + "x" * 3900
    mux.configure(f"[session s]\ncmd = {command}\ntty = no\nstart = manual\n")
    assert mux.ue("exec", "--raw", "-n", "s").ok().out == "one ; two # three = \"four\"\n" + "x" * 3900 + "\n"


def test_comments_and_blank_lines(mux):
    mux.configure("# a comment\n\n; another\n  [limits]  \n  max_sessions=9 \n")
    assert any("max_sessions" in line and "9" in line for line in mux.ue("config").ok().out.splitlines())


def test_config_shows_the_origin_of_each_value(mux):
    mux.configure("[limits]\n\nmax_sessions = 9\n")
    assert {line.split("\t")[1].split("]")[0] for line in mux.ue("config", "limits").ok().out.splitlines()} == {"[limits"}
    assert "did you mean 'limits'?" in mux.ue("config", "limit").err
    lines = [line for line in mux.ue("config").ok().out.splitlines() if "max_sessions" in line or "keep_ended" in line]
    assert any("9" in line and "muxd.ini:3" in line for line in lines) and any("default" in line for line in lines)


def test_check_config(mux):
    mux.configure("[limits]\nmax_sesions = 3\n")
    bad = subprocess.run([DAEMON, "--check-config", "-f", mux.conf], env=mux.env, capture_output=True, timeout=CAP)
    assert bad.returncode != 0 and b"max_sesions" in bad.stderr and b":2" in bad.stderr
    mux.configure("[limits]\nmax_sessions = 3\n")
    assert subprocess.run([DAEMON, "--check-config", "-f", mux.conf], env=mux.env, capture_output=True, timeout=CAP).returncode == 0
    mux.conf.write_text("[limits]\nwaits = 5\n[nosuch]\n")
    named = subprocess.run([DAEMON, "--check-config", mux.conf], env={**mux.env, "MUXD_CONFIG": "/dev/null"}, capture_output=True, timeout=CAP)
    assert named.returncode == 1 and b":3: [nosuch]: unknown section" in named.stderr, named


def test_sample_is_valid(mux):
    from conftest import ROOT
    sample = ROOT / "conf" / "muxd.ini"
    text = sample.read_text()
    assert all(not line or line[0] in "#;[" for line in text.splitlines()), "every key is commented out"
    assert subprocess.run([DAEMON, "--check-config", "-f", sample], env=mux.env, timeout=CAP).returncode == 0


def test_reload_applies_changes_and_removals(mux):
    mux.configure("[tools]\nignore_fields = foo\n")
    client = mux.rpc()
    assert client.call("exec_command", {"cmd": "true", "foo": 1})["exit_code"] == 0
    mux.configure("[tools]\nignore_fields = bar\n")
    mux.ue("reload").ok()
    assert client.error("exec_command", {"cmd": "true", "foo": 1}).code == "arguments"
    assert client.call("exec_command", {"cmd": "true", "bar": 1})["exit_code"] == 0
    mux.configure("")
    mux.ue("reload").ok()
    assert client.error("exec_command", {"cmd": "true", "bar": 1}).code == "arguments"
    assert client.call("exec_command", {"cmd": "true", "description": ""})["exit_code"] == 0


def test_hangup_signal_reloads(mux):
    import os, signal
    mux.ue("start").ok()
    mux.configure("[limits]\nmax_sessions = 9\n")
    for pid in mux.daemons():
        os.kill(pid, signal.SIGHUP)
    wait_for(lambda: any("max_sessions" in line and "9" in line for line in mux.ue("config").out.splitlines()), "the new value")


def test_sessions_live_through_a_reload(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    mux.configure("[limits]\nmax_sessions = 9\n")
    mux.ue("reload").ok()
    assert mux.listed("s")["state"] == "running"


def test_described_session_starts_by_name(mux):
    mux.configure("[session s]\ncmd = echo $FOO; pwd; tty; true\nenv.FOO = a;b\nworkdir = /usr\ntty = no\nstart = manual\n")
    assert mux.ue("exec", "--raw", "-n", "s").ok().out == "a;b\n/usr\nnot a tty\n"


def test_described_argv(mux):
    mux.configure("[session s]\nargv = /bin/echo 'two words' \"$HOME\" x\ntty = no\nstart = manual\n")
    assert mux.ue("exec", "--raw", "-n", "s").ok().out == "two words $HOME x\n"


def test_described_argv_is_listed_whole(mux):
    mux.configure("[session s]\nargv = sleep 300 'two words'\ntty = no\nstart = manual\n")
    mux.ue("exec", "-n", "s", "-y", "0")
    assert mux.listed("s")["cmd"] == "sleep 300 'two words'"


@pytest.mark.parametrize("options", [("-C", "/tmp"), ("--size", "30x90"), ("-s", "sh"), ("--no-login",), ("--stdin",)], ids=" ".join)
def test_options_that_the_config_decides_are_refused(mux, options):
    mux.configure("[session s]\ncmd = pwd\ntty = no\nstart = manual\n")
    result = mux.ue("exec", "-n", "s", *options)
    assert result.rc == 125 and "[session s]" in result.err
    assert mux.ue("exec", "-n", "s").ok()


def test_exec_of_a_name_that_is_not_described(mux):
    result = mux.ue("exec", "-n", "nope")
    assert result.rc in (64, 125, 127) and "nope" in result.err


def test_session_on_demand_starts_with_the_first_write(mux):
    mux.configure("[session py]\ncmd = exec /usr/bin/python3 -q\nenv.TERM = dumb\nstart = demand\n")
    assert mux.js("list")["sessions"] == []
    answer = mux.line("py", "20+3")
    assert "\r\n23\r\n" in answer["output"] and answer["output"].endswith(">>> ")


def test_manual_session_does_not_start_by_a_write(mux):
    mux.configure("[session s]\ncmd = exec sleep 300\nstart = manual\n")
    assert mux.ue("write", "s", "x").rc == 127


def test_session_at_boot(mux):
    mux.configure("[session s]\ncmd = exec sleep 300\ntty = no\nstart = boot\n")
    mux.ue("start").ok()
    assert wait_for(lambda: mux.listed("s"))["state"] == "running"


def test_terminal_of_a_described_session(mux):
    mux.configure("[session s]\ncmd = stty size; echo $TERM\nrows = 40\ncols = 100\nstart = manual\n")
    assert mux.ue("exec", "--raw", "-n", "s").ok().out == "40 100\r\nxterm-256color\r\n"


def test_on_start_is_typed_once_it_is_ready(mux):
    mux.configure("[session py]\ncmd = exec /usr/bin/python3 -q\nenv.TERM = dumb\nstart = demand\non_start = x = 40\\n\n")
    assert "\r\n42\r\n" in mux.line("py", "x + 2")["output"]


def test_restart_on_failure(mux):
    mux.configure("[session s]\ncmd = echo run >> runs; [ $(wc -l < runs) -ge 2 ] && exec sleep 300; exit 1\ntty = no\nstart = boot\n"
                  f"restart = on-failure\nworkdir = {mux.dir}\n")
    mux.ue("start").ok()
    wait_for(lambda: (mux.dir / "runs").exists() and (mux.dir / "runs").read_text() == "run\nrun\n", "the second run")
    assert mux.wait_state("s", "running")


def test_no_restart_after_success(mux):
    mux.configure(f"[session s]\ncmd = echo run >> runs\ntty = no\nstart = boot\nrestart = on-failure\nworkdir = {mux.dir}\n"
                  f"[session t]\ncmd = echo run >> runs-t; exit 1\ntty = no\nstart = boot\nrestart = on-failure\nworkdir = {mux.dir}\n")
    mux.ue("start").ok()
    wait_for(lambda: (mux.dir / "runs-t").exists() and (mux.dir / "runs-t").read_text().count("run\n") >= 2, "the other one's second run")
    assert (mux.dir / "runs").read_text() == "run\n"


def test_killed_session_is_not_restarted(mux):
    mux.configure(f"[session s]\ncmd = echo run >> runs; exec sleep 300\ntty = no\nstart = boot\nrestart = always\nworkdir = {mux.dir}\n"
                  f"[session t]\ncmd = echo run >> runs-t\ntty = no\nstart = boot\nrestart = always\nworkdir = {mux.dir}\n")
    mux.ue("start").ok()
    wait_for(lambda: (mux.dir / "runs").exists() and (mux.dir / "runs").read_text() == "run\n")
    mux.ue("kill", "s").ok()
    seen = len((mux.dir / "runs-t").read_text()) if (mux.dir / "runs-t").exists() else 0
    wait_for(lambda: (mux.dir / "runs-t").exists() and len((mux.dir / "runs-t").read_text()) >= seen + 8, "two more runs of the other one")
    assert (mux.dir / "runs").read_text() == "run\n"


def test_session_killed_between_two_runs_stays_ended(mux):
    mux.configure("".join(f"[session {name}]\ncmd = echo run >> runs-{name}; exit 1\ntty = no\nstart = manual\nrestart = on-failure\nworkdir = {mux.dir}\n"
                          for name in "abcdeft"))
    for name in "abcdef":
        runs = mux.dir / f"runs-{name}"
        assert mux.ue("exec", "-n", name, "--exit").rc == 1
        mux.ue("kill", name).ok()
        if runs.read_text() == "run\n":
            break  # else a busy machine took a second from the end to the kill, and it was not between two runs
    assert mux.ue("exec", "-n", "t", "--exit").rc == 1
    wait_for(lambda: (mux.dir / "runs-t").read_text().count("run\n") >= 2, "the other one's second run")
    assert runs.read_text() == "run\n"


def next_worker(mux, how):
    """The worker dies, or is replaced."""
    before = mux.js("status")["pid"]
    if how == "upgrade":
        mux.ue("upgrade").ok()
    else:
        os.kill(before, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != before, "the next worker")


@pytest.mark.parametrize("how", ["death", "upgrade"])
def test_what_was_booted_is_not_booted_by_a_successor(mux, how):
    """Also when nothing is left of it; what is new in the file is."""
    text = f"[session s]\ncmd = echo run >> runs\ntty = no\nstart = boot\nworkdir = {mux.dir}\n"
    mux.configure(text)
    mux.ue("start").ok()
    mux.wait_state("s", "exited")
    mux.ue("rm", "s").ok()
    mux.configure(text + f"[session new]\ncmd = exec sleep 300\ntty = no\nstart = boot\nworkdir = {mux.dir}\n")
    next_worker(mux, how)
    mux.wait_state("new", "running")
    assert mux.listed("s") is None and (mux.dir / "runs").read_text() == "run\n"


@pytest.mark.parametrize("how", ["death", "upgrade"])
def test_a_successor_restarts_what_comes_back_and_no_other(mux, how):
    """Each has ended twice; of s, which was killed in between and removed, the first end is left."""
    mux.configure("".join(f"[session {name}]\ncmd = echo run >> runs-{name}; exit 1\ntty = no\nstart = manual\nrestart = on-failure\nworkdir = {mux.dir}\n"
                          for name in "st"))

    def runs(name):
        file = mux.dir / f"runs-{name}"
        return file.read_text().count("run\n") if file.exists() else 0
    for name in "st":
        mux.ue("exec", "-n", name, "-y", "0").ok()
    wait_for(lambda: runs("s") >= 2 and mux.listed("s")["state"] == "exited", "the second end")
    mux.ue("kill", "s").ok()
    mux.ue("rm", "s").ok()
    stopped, before = runs("s"), runs("t")
    next_worker(mux, how)
    wait_for(lambda: runs("t") > before, "another run of the other one")
    assert runs("s") == stopped


def test_default_ready_can_be_switched_off(mux):
    mux.configure("[defaults]\nready = no\n")
    assert mux.js("exec", "-t", "-y", "300", "exec cat")["reason"] == "deadline"


def test_sections_of_later_issues_are_refused_clearly(mux):
    refused(mux, "[sandbox]\nmode = read-only\n", ":", "sandbox", "not available")


def test_state_and_log_go_where_they_are_told(mux):
    place = mux.dir / "elsewhere"
    mux.configure(f"[muxd]\nstate = {place}\n")
    mux.ue("exec", "true").ok()
    assert (place / "muxd.log").exists() and str(place) in mux.ue("status").ok().out


def test_status_tells_places_limits_and_readiness(mux):
    out = mux.ue("status").ok().out
    assert str(mux.socket) in out and str(mux.state) in out and "readiness: " in out and "max_sessions" in out
    mux.ue("stop").ok()
    assert f"config: none ({mux.home}/.config/muxd/muxd.ini would be read)" in mux.ue("status", env={"MUXD_CONFIG": ""}).ok().out
