"""The daemon is started on demand, race-free."""
from pathlib import Path

import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


def one_daemon(mux):
    """One keeper, of which all others are children, and one worker."""
    daemons = mux.daemons()
    parents = [int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in daemons]
    workers = [pid for pid in daemons if b"--worker" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    return len([p for p in parents if p not in daemons]) == 1 and len(workers) == 1


def test_fifty_at_once_yield_one_daemon(mux):
    many = [mux.popen("exec", "--json", "-y", CAP * 1000, f"echo answer-{n}") for n in range(50)]
    answers = [mux.finish(p) for p in many]
    assert [a.rc for a in answers] == [0] * 50, [a for a in answers if a.rc][:3]
    assert [a.json["output"] for a in answers] == [f"answer-{n}\n" for n in range(50)]
    rows = mux.js("list", "--all")["sessions"]
    assert sorted(r["session_id"] for r in rows) == list(range(1000, 1050))
    assert one_daemon(mux)


def test_start_twice_is_one_daemon(mux):
    mux.ue("start").ok()
    daemons = mux.daemons()
    mux.ue("start").ok()
    assert mux.daemons() == daemons and one_daemon(mux)


@pytest.mark.smoke
def test_daemon_holds_nothing_of_its_starter(mux):
    mux.ue("exec", "true").ok()  # would hang here if the daemon held the pipes
    import os
    for pid in mux.daemons():
        assert os.getsid(pid) != os.getsid(0)
        try:
            assert os.readlink(f"/proc/{pid}/cwd") == "/"
        except PermissionError:  # it is not dumpable, so this is root's to see
            continue
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in ("0", "1", "2") if os.path.exists(f"/proc/{pid}/fd/{fd}")]
        assert all(link == "/dev/null" or "muxd.log" in link or link.startswith(str(mux.dir)) for link in links), links


def test_start_while_stopping(mux):
    for _ in range(5):
        mux.ue("exec", "-y", "0", "exec sleep 300").ok()
        stop = mux.popen("stop")
        result = mux.ue("exec", "--raw", "echo here")
        mux.finish(stop)
        # Before the stop or after it; refused; ended with the rest; or told that it was on its way when the daemon left.
        told = result.rc == 69 and ("stop" in result.err or "went away before it answered" in result.err)
        assert (result.rc, result.out) == (0, "here\n") or result.rc in (129, 137, 143) or told, result
    wait_for(lambda: mux.ue("exec", "--raw", "echo here").out == "here\n", cap=CAP)


def test_default_socket_in_the_runtime_directory(mux):
    del mux.env["MUXD_SOCKET"]
    mux.socket = mux.dir / "muxd" / "muxd.sock"
    mux.ue("exec", "true").ok()
    assert mux.socket.is_socket() and mux.socket.parent.stat().st_mode & 0o777 == 0o700


def test_socket_by_option(mux):
    other = mux.dir / "other"
    assert mux.ue("-S", other, "exec", "--raw", "echo $MUXD_SOCKET").ok().out == f"{other}\n"
    assert not mux.socket.exists()
    mux.ue("-S", other, "stop").ok()


@pytest.mark.parametrize("how", ["option", "environment"])
def test_mistyped_socket_makes_no_directory_and_no_daemon(mux, how):
    place = mux.dir / "tpyo" / "deep"
    for verb in (["list"], ["start"], ["exec", "true"]):
        result = mux.ue(*(["-S", place / "s"] if how == "option" else []), *verb, **({} if how == "option" else {"env": {"MUXD_SOCKET": str(place / "s")}}))
        assert result.rc == 69 and f"'{place}' does not exist; correct -S or $MUXD_SOCKET" in result.err, result
    assert not place.parent.exists() and not mux.daemons()
    place.mkdir(0o700, parents=True)
    mux.ue("-S", place / "s", "list").ok()
    mux.ue("-S", place / "s", "stop").ok()


def test_default_socket_that_is_named_is_made(mux):
    """As in a session whose daemon and runtime directory are gone: $MUXD_SOCKET names the default place."""
    mux.socket = mux.dir / "muxd" / "muxd.sock"
    mux.env["MUXD_SOCKET"] = str(mux.socket)
    mux.ue("exec", "true").ok()
    assert mux.socket.parent.stat().st_mode & 0o777 == 0o700
