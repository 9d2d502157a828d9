"""--raw: only the session's output bytes."""
import os, signal
import pytest
from conftest import CAP, wait_for

pytestmark = pytest.mark.no_pty


@pytest.mark.smoke
def test_streams_of_a_pipe_session_stay_apart(mux):
    result = mux.ue("exec", "--raw", "echo out; echo err >&2; echo out2; exit 3")
    assert (result.rc, result.out, result.err) == (3, "out\nout2\n", "err\n")


def test_bytes_are_untouched(mux):
    assert mux.ue("exec", "--raw", "printf '\\377\\000\\303\\r\\n\\033'").ok().raw == b"\xff\x00\xc3\r\n\x1b"


def test_tty_output_is_one_stream(mux):
    result = mux.ue("exec", "--raw", "-t", "echo out; echo err >&2").ok()
    assert result.out == "out\r\nerr\r\n" and result.err == ""


def test_write_gives_what_came_after(mux):
    mux.shell()
    assert mux.ue("write", "--raw", "-y", CAP * 1000, "-l", "sh", "echo $((1+1))").ok().raw == b"echo $((1+1))\r\n2\r\nsh> "


def test_running_command_gives_what_there_is(mux):
    result = mux.ue("exec", "--raw", "--until", "up\n", "-y", CAP * 1000, "echo up; exec sleep 300").ok()
    assert result.out == "up\n"


def test_random_megabyte(mux):
    import hashlib
    result = mux.ue("exec", "--raw", "-y", "inf", "head -c 1000000 /dev/urandom > f; cat f").ok()
    assert hashlib.sha256(result.raw).digest() == hashlib.sha256((mux.dir / "f").read_bytes()).digest()


def test_order_of_poll_pieces_is_the_whole(mux):
    mux.ue("exec", "-n", "s", "-y", CAP * 1000, "--until", "END", "seq 1 5000; echo END; exec sleep 300").ok()
    whole = mux.ue("poll", "--raw", "--since", "0", "-y", "0", "s").ok().raw
    assert whole == b"".join(b"%d\n" % n for n in range(1, 5001)) + b"END\n"
    assert mux.ue("poll", "--raw", "--since", "100", "-y", "0", "s").ok().raw == whole[100:]


MUCH = 8_000_000


def test_no_length_of_output_is_cut(mux):
    (mux.dir / "much").write_bytes(os.urandom(MUCH))
    result = mux.ue("exec", "--raw", "-y", "inf", "--no-login", "cat much; cat much >&2")
    assert result.rc == 0 and result.raw == result.raw_err == (mux.dir / "much").read_bytes()


def test_no_length_of_what_is_fed_comes_back_cut(mux):
    much = os.urandom(MUCH)
    result = mux.ue("exec", "--raw", "--stdin", "-y", "inf", "--no-login", "exec cat", input=much)
    assert result.rc == 0 and result.raw == much and not result.raw_err


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL, None], ids=["interrupt", "kill", "deadline"])
def test_program_waits_for_nobody_who_has_gone(mux, end):
    reader = mux.popen("exec", "--raw", "-n", "s", "-y", "inf" if end else "200", "--no-login",
                       f"while [ ! -e go ]; do sleep 0.02; done; head -c {MUCH} /dev/zero")
    wait_for(lambda: mux.listed("s"), "the session")
    if end:
        reader.send_signal(end)
    reader.wait(CAP)
    (mux.dir / "go").touch()
    assert mux.wait_state("s", "exited")["output_bytes"] == MUCH


def test_program_waits_for_a_reader_that_is_slow(mux):
    reader = mux.popen("exec", "--raw", "-n", "s", "-y", "inf", "--no-login", f"head -c {MUCH} /dev/zero; touch end; sleep 0.01")
    wait_for(lambda: (mux.listed("s") or {}).get("output_bytes", 0) > 500_000, "output")
    assert not (mux.dir / "end").exists()
    assert mux.finish(reader).raw == b"\0" * MUCH


def test_what_was_lost_is_no_success(mux):
    """The program ended with 0, but not all of it is there: that is told, and the status is not 0. The program's own is told as well."""
    mux.configure("[limits]\njournal = 64K\nhead = 0\n")
    unread = ("exec", "--raw", "--until", "never", "--exit", "-y", "inf", "--no-login")
    reader, writer = os.pipe()
    result = mux.ue(*unread, "--status-fd", writer, "seq 100000; echo END", pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read() == "exited 0\n"
    assert result.rc == 125 and "no longer kept" in result.err and result.out.endswith("END\n")
    assert mux.ue("poll", "--raw", "--since", "0", "seq").rc == 0, "who comes too late has not started it"
    assert mux.ue(*unread, "seq 100000; exit 3").rc == 3
