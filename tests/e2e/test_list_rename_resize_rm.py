"""ue list, rename, resize, rm."""
import re

import pytest
from conftest import CAP, wait_for


@pytest.mark.smoke
@pytest.mark.no_pty
def test_row_of_a_live_session(mux):
    mux.ue("exec", "-n", "s", "-C", "/usr", "-y", "250", "exec sleep 300").ok()
    row, = mux.js("list")["sessions"]
    assert row["name"] == "s" and row["state"] == "running" and row["cwd"] == "/usr" and row["tty"] is False
    assert "sleep 300" in str(row["cmd"]) and row["pid"] > 1 and row["unread_bytes"] == 0 and row["session_id"] >= 1000
    assert row["created"] and not row.get("ended") and row.get("exit_code") is None


def test_waiting_for_is_shown(mux):
    mux.shell()
    assert wait_for(lambda: mux.listed("sh")["waiting_for"]) == "key"


@pytest.mark.no_pty
def test_ended_sessions_only_with_all(mux):
    mux.ue("exec", "-n", "s", "exit 4")
    assert mux.js("list")["sessions"] == []
    row, = mux.js("list", "--all")["sessions"]
    assert row["state"] == "exited" and row["exit_code"] == 4 and row["ended"]


@pytest.mark.no_pty
def test_only_the_named(mux):
    for name in "abc":
        mux.ue("exec", "-n", name, "-y", "0", "exec sleep 300").ok()
    assert sorted(r["name"] for r in mux.js("list", "a", "c")["sessions"]) == ["a", "c"]


@pytest.mark.no_pty
def test_unknown_name_is_127(mux):
    assert mux.ue("list", "nope").rc == 127


@pytest.mark.no_pty
def test_columns_in_a_pipe_are_separated_by_tabs(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    lines = mux.ue("list").ok().out.splitlines()
    row = [line.split("\t") for line in lines if "\t" in line and "s" in line.split("\t")[:2]]
    assert len(row) == 1 and len(row[0]) >= 4 and "\x1b" not in lines[0]


@pytest.mark.no_pty
def test_control_characters_of_a_command_do_not_reach_the_table(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300 # \x1b]0;title\x07\n\t").ok()
    out = mux.ue("list").ok().out
    assert "\x1b" not in out and "\x07" not in out and len(out.splitlines()) <= 2


@pytest.mark.no_pty
def test_unread_bytes(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; printf 12345; exec sleep 300").ok()
    (mux.dir / "go").touch()
    wait_for(lambda: mux.listed("s")["unread_bytes"] == 5)


@pytest.mark.no_pty
def test_rename(mux):
    number = mux.js("exec", "-n", "old", "-y", "0", "exec sleep 300")["session_id"]
    mux.ue("rename", "old", "new").ok()
    assert mux.listed("new")["session_id"] == number and mux.listed("old") is None
    assert mux.ue("poll", "-y", "0", "old").rc == 127


@pytest.mark.no_pty
@pytest.mark.parametrize("name", ["taken", "1234", "a b", "", "-x", "x" * 65, "a/b", "é"])
def test_rename_to_what_is_not_allowed(mux, name):
    mux.ue("exec", "-n", "taken", "-y", "0", "exec sleep 300").ok()
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    result = mux.ue("rename", "--", "s", name)
    assert result.rc in (64, 125) and mux.listed("s")["state"] == "running"


def test_resize_reaches_the_program(mux):
    mux.ue("exec", "-n", "s", "-t", "--until", "up", "-y", CAP * 1000, "trap 'stty size' WINCH; echo up; while :; do sleep 0.02; done").ok()
    mux.ue("resize", "s", "33x99").ok()
    assert mux.js("poll", "--until", "33 99", "-y", CAP * 1000, "s")["reason"] == "until"


@pytest.mark.no_pty
def test_resize_of_a_pipe_session_is_refused(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    assert mux.ue("resize", "s", "33x99").rc == 125


@pytest.mark.parametrize("size", ["0x0", "24", "24x", "x80", "24x80x1", "99999x80", "-1x80"])
def test_size_that_makes_no_sense(mux, size):
    mux.shell()
    assert mux.ue("resize", "--", "sh", size).rc == 64


@pytest.mark.no_pty
def test_rm_forgets_an_ended_session(mux):
    mux.ue("exec", "-n", "s", "true").ok()
    mux.ue("rm", "s").ok()
    assert mux.listed("s") is None and mux.ue("poll", "s").rc == 127


@pytest.mark.no_pty
def test_rm_of_a_live_session_is_refused(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    result = mux.ue("rm", "s")
    assert result.rc == 125 and "kill" in result.err and mux.listed("s")["state"] == "running"


def test_table_for_people_on_a_terminal(mux):
    import pexpect
    from conftest import UE
    mux.ue("exec", "-n", "long-name-of-it", "-y", "0", "exec sleep 300").ok()
    shown = pexpect.run(f"{UE} list", env=mux.env, timeout=CAP).decode()
    assert "long-name-of-it" in shown and "\t" not in shown and re.search(r"(?i)name", shown)
