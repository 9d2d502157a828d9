"""Names, numbers, tombstones."""
import signal, subprocess

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


def start(mux, *args):
    answer = mux.js("exec", "-y", "0", *args)
    return answer["name"]


@pytest.mark.parametrize("command, name", [("exec sleep 300", "exec"), ("sleep 300", "sleep"), ("/bin/sleep 300", "sleep"),
                                           ("A=1 B='2 3' sleep 300", "sleep"), ("  sleep   300", "sleep")])
def test_default_name_of_a_shell_string(mux, command, name):
    assert start(mux, command) == name


def test_default_name_of_an_argv(mux):
    assert start(mux, "--argv", "/bin/sleep", "300") == "sleep"


def test_default_name_that_is_taken_gets_a_number(mux):
    assert [start(mux, "sleep 300") for _ in range(3)] == ["sleep", "sleep-2", "sleep-3"]


def test_default_name_is_always_allowed(mux):
    for command in ("'./we ird/prög;ram' 2>/dev/null; sleep 300", "[ x ] && sleep 300", "123 2>/dev/null; sleep 300", "x" * 100 + " 2>/dev/null; sleep 300",
                    "(sleep 300)", "! sleep 300"):
        name = start(mux, command)
        assert mux.js("poll", "-y", "0", name)["name"] == name
        mux.ue("kill", name).ok()


@pytest.mark.parametrize("name", ["1000", "a b", "-a", ".a", "a/b", "x" * 65, "", "é", "a\nb"])
def test_name_that_is_not_allowed(mux, name):
    result = mux.ue("exec", "-n", name, "true")
    assert result.rc in (64, 125) and result.err.startswith("ue: ")
    assert mux.js("list", "--all")["sessions"] == []


@pytest.mark.parametrize("name", ["a", "_", "A.b-c_9", "9a", "x" * 64])
def test_name_that_is_allowed(mux, name):
    assert mux.js("exec", "-n", name, "true")["name"] == name


def test_taken_name_is_refused_by_name(mux):
    mux.ue("exec", "-n", "s", "-y", "0", "sleep 300").ok()
    result = mux.ue("exec", "-n", "s", "true")
    assert result.rc == 125 and "'s'" in result.err
    assert mux.rpc().error("exec_command", {"cmd": "true", "name": "s"}).code == "name_taken"


def test_new_session_takes_the_name_of_a_tombstone_only(mux):
    mux.ue("exec", "-n", "s", "echo first; exit 3")
    number = mux.listed("s")["session_id"]
    mux.ue("exec", "-n", "s", "echo second; exit 4")
    assert mux.ue("poll", "s").rc == 4
    old = mux.ue("poll", "--raw", "--since", "0", number)
    assert old.rc == 3 and old.out == "first\n"


def test_numbers_begin_at_1000_and_grow(mux):
    numbers = [mux.js("exec", "-y", "0", "sleep 300")["session_id"] for _ in range(3)]
    assert numbers == [1000, 1001, 1002]


@pytest.mark.smoke
def test_numbers_are_not_used_again_after_a_restart(mux):
    first = mux.js("exec", "-y", "0", "sleep 300")["session_id"]
    mux.ue("stop").ok()
    assert mux.js("exec", "-y", "0", "sleep 300")["session_id"] > first


def test_tombstone_goes_when_its_time_is_over(mux):
    mux.configure("[limits]\nkeep_ended = 100ms\n")
    mux.ue("exec", "-n", "s", "true").ok()
    wait_for(lambda: mux.listed("s") is None, "the tombstone to go")


def test_unread_tombstone_stays(mux):
    mux.configure("[limits]\nkeep_ended = 0\n")
    mux.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo result; exit 5").ok()
    (mux.dir / "go").touch()
    wait_for(lambda: mux.js("list", "--all")["sessions"] and mux.listed("s")["state"] == "exited")
    result = mux.ue("poll", "--json", "s")
    assert result.rc == 5 and result.json["output"] == "result\n"


def test_longest_unused_tombstone_makes_room(mux):
    mux.configure("[limits]\nmax_sessions = 3\n")
    for name in "abcd":
        mux.ue("exec", "-n", name, "true").ok()
    assert sorted(r["name"] for r in mux.js("list", "--all")["sessions"]) == ["b", "c", "d"]


def test_read_tombstone_goes_before_an_unread_one(mux):
    mux.configure("[limits]\nmax_sessions = 2\n")
    mux.ue("exec", "-n", "unread", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo x").ok()
    (mux.dir / "go").touch()
    wait_for(lambda: mux.listed("unread")["state"] == "exited")
    mux.ue("exec", "-n", "read", "true").ok()
    mux.ue("exec", "-n", "new", "true").ok()
    assert sorted(r["name"] for r in mux.js("list", "--all")["sessions"]) == ["new", "unread"]


def test_no_end_is_lost_that_nobody_has_read(mux):
    """The new session is refused, not the old one forgotten."""
    mux.configure("[limits]\nmax_sessions = 2\n")
    for name in "ab":
        mux.ue("exec", "-n", name, "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo x; exit 7").ok()
    (mux.dir / "go").touch()
    for name in "ab":
        wait_for(lambda: mux.listed(name)["state"] == "exited")
    refused = mux.ue("exec", "true")
    assert refused.rc == 125 and "'max_sessions'" in refused.err and "nobody has read the end of 2 more" in refused.err
    assert mux.ue("poll", "a").rc == 7
    mux.ue("exec", "true").ok()
    assert mux.ue("poll", "--raw", "b").rc == 7


def test_a_start_that_fails_takes_no_name(mux):
    """The ended session that had it has it still."""
    assert mux.ue("exec", "-n", "s", "exit 3").rc == 3
    assert mux.ue("exec", "-n", "s", "--argv", "/nonexistent/program").rc == 125
    assert mux.ue("poll", "s").rc == 3


@pytest.mark.parametrize("verb", ["exec", "poll"])
def test_a_client_that_was_stopped_learns_the_status(mux, verb):
    """Others need the room meanwhile."""
    mux.configure("[limits]\nmax_sessions = 2\n")
    command = "while [ ! -e go ]; do sleep 0.02; done; head -c 3000000 /dev/zero; exit 3"
    if verb == "poll":
        mux.ue("exec", "-n", "s", "-y", "0", command).ok()
    client = mux.popen(*(["exec", "--raw", "-n", "s", "-y", "inf", command] if verb == "exec" else ["poll", "--raw", "--exit", "s"]), stdout=subprocess.DEVNULL)
    wait_for(lambda: mux.listed("s"))
    client.send_signal(signal.SIGSTOP)
    (mux.dir / "go").touch()
    if verb == "poll":  # nothing waits for a reader
        wait_for(lambda: mux.listed("s")["state"] == "exited")
    for _ in range(4):
        assert mux.ue("exec", "true").rc in (0, 125)
    client.send_signal(signal.SIGCONT)
    assert client.wait(CAP) == 3


def test_who_reads_in_pieces_has_not_read_the_end_with_the_first_one(mux):
    mux.configure("[limits]\nmax_sessions = 2\n")
    mux.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo first; echo second; exit 3").ok()
    (mux.dir / "go").touch()
    wait_for(lambda: mux.listed("s")["state"] == "exited")
    client = mux.rpc()
    assert client.call("read_output", {"session_id": "s", "since": 0, "encoding": "base64", "max_bytes": 6})["to"] == 6
    for _ in range(3):
        mux.ue("exec", "true").ok()
    assert client.call("read_output", {"session_id": "s", "since": 6, "encoding": "base64"})["exit_code"] == 3


def test_many_at_once_get_their_status_or_the_limit(mux):
    mux.configure("[limits]\nmax_sessions = 8\n")
    mux.ue("start").ok()
    clients = [mux.popen("exec", *["--raw"][: n % 2], "-y", "inf", "--no-login", "exit 7", stdout=subprocess.DEVNULL) for n in range(60)]
    results = [(client.communicate(timeout=CAP)[1], client.returncode) for client in clients]
    assert all(rc == 7 or (rc == 125 and b"max_sessions" in err) for err, rc in results), results
    assert any(rc == 7 for _, rc in results)


@pytest.mark.no_pty
def test_a_name_that_nobody_has_any_more_is_not_proposed(mux):
    for _ in range(2):
        mux.ue("exec", "-n", "name", "true").ok()
    mux.ue("rm", "name").ok()
    result = mux.ue("poll", "name")
    assert result.rc == 127 and "did you mean" not in result.err
