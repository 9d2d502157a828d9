"""ue write: typing into a session."""
import hashlib, os, signal, subprocess

import pytest
from conftest import CAP, wait_for

SINK = "stty raw -echo; printf up; "  # a program that takes bytes as they are


def sink(mux, command, name="s"):
    mux.ue("exec", "-n", name, "-t", "--until", "up", "-y", CAP * 1000, SINK + command).ok()


@pytest.mark.smoke
def test_line_is_typed_and_answered(mux):
    mux.shell()
    answer = mux.line("sh", "echo $((20+3))")
    assert answer["output"] == "echo $((20+3))\r\n23\r\nsh> " and answer["reason"] == "ready" and answer["state"] == "running"


def test_characters_are_literal(mux):
    sink(mux, "head -c 4 | od -An -c; read x")
    assert r"\   n   a   b" in mux.js("write", "--until", "b\n", "-y", CAP * 1000, "s", r"\nab")["output"]


def test_escapes_on_request(mux):
    sink(mux, "head -c 6 | od -An -tx1; read x")
    assert "61 09 1b 41 0a c3" in mux.js("write", "-e", "--until", "c3", "-y", CAP * 1000, "s", r"a\t\x1b\101\n\303")["output"]


def test_wrong_escape_is_refused(mux):
    mux.shell()
    result = mux.ue("write", "-e", "sh", r"a\q")
    assert result.rc in (64, 125) and r"\q" in result.err


def test_no_enter_unless_asked(mux):
    mux.ue("exec", "-n", "s", "-t", "cat").ok()
    assert "\n" not in mux.js("write", "--until", "(?s).", "-y", CAP * 1000, "s", "abc")["output"]
    assert mux.js("write", "--until", "abcd\r\n", "-y", CAP * 1000, "-l", "s", "d")["reason"] == "until"


def test_standard_input_as_characters(mux):
    sink(mux, "head -c 7 | od -An -tx1; read x")
    answer = mux.ue("write", "--json", "--until", "0a\r?\n", "-y", CAP * 1000, "s", "-", input=b"\xff\x00\x01\x80ab\n").json
    assert "ff 00 01 80 61 62 0a" in answer["output"]


def test_a_megabyte_of_any_bytes_arrives(mux):
    data = os.urandom(1_500_000)
    sink(mux, f"head -c {len(data)} | sha256sum")
    answer = mux.ue("write", "--json", "--exit", "s", "-", input=data).json
    assert hashlib.sha256(data).hexdigest() in answer["output"]


def test_named_keys_follow_the_text_in_order(mux):
    sink(mux, "head -c 6 | od -An -tx1; read x")
    answer = mux.js("write", "-k", "Up", "-k", "C-c", "-k", "Enter", "--until", "0d", "-y", CAP * 1000, "s", "z")
    assert "7a 1b 5b 41 03 0d" in answer["output"] or "7a 1b 4f 41 03 0d" in answer["output"]


def test_control_c_interrupts_the_foreground_program(mux):
    mux.shell()
    # it says so itself, in the foreground: ^C in the moment in which a shell starts a program may reach neither of the two
    mux.ue("write", "--until", "begun", "-y", CAP * 1000, "-l", "sh", "sh -c \"echo be''gun; exec sleep 300\"").ok()
    answer = mux.js("write", "-k", "C-c", "--ready", "-y", CAP * 1000, "sh")
    assert "^C" in answer["output"] and answer["output"].endswith("sh> ")
    assert "130" in mux.line("sh", "echo $?")["output"]


def test_control_d_ends_cat(mux):
    mux.ue("exec", "-n", "s", "-t", "cat").ok()
    assert mux.js("write", "-k", "C-d", "--exit", "s")["exit_code"] == 0


def test_unknown_key_names_the_nearest(mux):
    mux.shell()
    result = mux.ue("write", "-k", "Entr", "sh")
    assert result.rc in (64, 125) and "Entr" in result.err and "Enter" in result.err


@pytest.mark.no_pty
def test_pipe_session_refuses_input(mux):
    mux.ue("exec", "-n", "p", "-y", "250", "sleep 300").ok()
    result = mux.ue("write", "p", "x")
    assert result.rc == 125 and "'p'" in result.err and "closed" in result.err
    result = mux.call("write_stdin", {"session_id": mux.listed("p")["session_id"], "chars": "x"})
    assert result.rc == 125 and result.out.rstrip() == ("write_stdin failed: stdin is closed for this session; rerun exec_command "
                                                        "with tty=true to keep stdin open")


@pytest.mark.no_pty
def test_interrupt_of_a_pipe_session(mux):
    mux.ue("exec", "-n", "p", "-y", "250", "sleep 300").ok()
    assert mux.js("write", "-e", "--exit", "p", r"\x03")["exit_code"] == 130


@pytest.mark.no_pty
def test_write_to_a_session_that_ended_is_refused(mux):
    mux.ue("exec", "-n", "gone", "true").ok()
    result = mux.ue("write", "gone", "x")
    assert result.rc == 125 and "'gone'" in result.err and "ended" in result.err


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [("-l",), ("-k", "Up"), ("-k", "C-c")])
def test_the_end_is_told_before_what_is_wrong_with_the_input(mux, options):
    mux.ue("exec", "-n", "gone", "true").ok()
    result = mux.ue("write", *options, "gone", "x")
    assert result.rc == 125 and "has ended" in result.err and "key" not in result.err


@pytest.mark.no_pty
def test_enter_ends_a_line_of_a_pipe_session(mux):
    feeder = mux.popen("exec", "-n", "p", "--stdin", "-y", "0", "--raw", "read -r x; echo got $x", stdin=subprocess.PIPE)
    wait_for(lambda: mux.listed("p"), "the session")
    feeder.wait(CAP)
    assert mux.ue("write", "--raw", "--exit", "-l", "p", "hello").ok().out == "got hello\n"
    feeder.stdin.close()
    feeder.stdin = None


@pytest.mark.no_pty
def test_enter_into_a_closed_pipe_says_that_it_is_closed(mux):
    mux.ue("exec", "-n", "p", "-y", "0", "exec sleep 300").ok()
    result = mux.ue("write", "-l", "p", "x")
    assert result.rc == 125 and "closed" in result.err and "Enter" not in result.err
    result = mux.ue("write", "-k", "Up", "p")
    assert result.rc == 125 and "'Up'" in result.err and "tty" in result.err


@pytest.mark.no_pty
def test_tool_that_writes_to_a_session_that_ended_learns_how(mux):
    mux.ue("exec", "-n", "gone", "exit 3")
    assert mux.call("write_stdin", {"session_id": "gone", "chars": "x"}).answer["exit"] == "3"


def test_sees_only_what_comes_after_the_write(mux):
    mux.shell()
    mux.line("sh", "echo mark''er")
    assert mux.ue("write", "--until", "marker", "-y", "400", "-l", "sh", "true").rc == 124


def test_pattern_that_takes_longer_than_a_turn_is_found(mux):
    """The search goes on in the next turn where this one stopped; beside it everything is served."""
    mux.ue("exec", "-n", "s", "--no-login", "-y", "inf", "--until", "THE END", "head -c 1500000 /dev/zero | tr '\\0' x | fold -w 200; echo THE END; exec sleep 300").ok()
    answer = mux.js("poll", "--since", "0", "-y", "60000", "--until", "x*y|THE[ ]END", "s")
    assert answer["reason"] == "until"


def test_pattern_wait_cannot_be_missed(mux):
    mux.shell()
    for n in range(20):
        answer = mux.js("write", "--until", f"=={n}==", "-y", CAP * 1000, "-l", "sh", f"echo ==''{n}==")
        assert answer["reason"] == "until"


def test_pattern_knows_classes_and_lines(mux):
    mux.shell()
    answer = mux.js("write", "--until", r"(?m)^total=\d+\r$", "-y", CAP * 1000, "-l", "sh", "echo tot''al=42")
    assert answer["reason"] == "until" and "total=42" in answer["output"]


def test_quiet_ends_the_wait(mux):
    mux.ue("exec", "-n", "s", "-t", "-y", "250", "--no-ready", "cat").ok()
    answer = mux.js("write", "--quiet", "3000", "-y", CAP * 1000, "-l", "s", "hello")
    assert answer["reason"] == "quiet" and "hello\r\nhello\r\n" in answer["output"]


def test_deadline_is_not_put_off_by_output(mux):
    mux.ue("exec", "-n", "s", "-t", "--no-ready", "-y", "250", "while :; do echo x; done").ok()
    assert mux.js("poll", "--quiet", "5000", "-y", "500", "s")["reason"] == "deadline"


def test_explicit_wait_switches_ready_off(mux):
    mux.shell()
    answer = mux.js("write", "--until", "later", "-y", CAP * 1000, "-l", "sh", "(sleep 1; echo la''ter) &")
    assert answer["reason"] == "until" and "later" in answer["output"]


def test_input_that_does_not_fit_is_refused_whole(mux):
    mux.ue("exec", "-n", "s", "-t", "--no-ready", "-y", "250", "stty raw -echo; exec sleep 300").ok()
    wait_for(lambda: mux.ue("poll", "s"))
    result = mux.ue("write", "s", "-", input=b"x" * 10_000_000)
    assert result.rc == 125 and "free" in result.err
    assert mux.listed("s")["state"] == "running"
    mux.ue("exec", "true").ok()


def test_refused_input_says_free_space_and_cap(mux):
    mux.configure("[limits]\ninput_queue = 64k\n")
    mux.ue("exec", "-n", "s", "-t", "--no-ready", "--until", "up", "-y", CAP * 1000, "stty raw -echo; printf up; exec sleep 300").ok()
    failure = mux.rpc().error("write_stdin", {"session_id": "s", "chars": "x" * 200_000})
    assert failure.code == "input_full" and "65536" in failure.message
    failure = mux.rpc().call("write_stdin", {"session_id": "s", "chars": "x" * 1000, "yield_time_ms": 250})
    assert failure["state"] == "running"


# --- requests have a length
@pytest.mark.parametrize("cap", ["64k", "100k", "350k"])
@pytest.mark.parametrize("data", [os.urandom(300_000), b"\x1b" * 300_000, "".join(f"{n} \u00e9\u2713\n" for n in range(30_000)).encode()],
                         ids=["bytes", "escapes", "text"])
def test_long_input_goes_in_pieces_that_fit_a_request(mux, data, cap):
    mux.configure(f"[limits]\nmax_request = {cap}\n")
    assert mux.rpc().call("hello")["max_request"] == int(cap[:-1]) * 1024
    sink(mux, f"head -c {len(data)} | sha256sum")
    answer = mux.ue("write", "--json", "--exit", "s", "-", input=data).ok().json
    assert hashlib.sha256(data).hexdigest() in answer["output"]
    fed = mux.ue("exec", "--stdin", "--no-login", "-y", "inf", "--raw", "sha256sum", input=data).ok()
    assert hashlib.sha256(data).hexdigest() in fed.out


# --- room in the queue is waited for
def gated(mux, command, **more):
    """A session that does not read its standard input before it gets SIGUSR1."""
    mux.configure("[limits]\ninput_queue = 64k\n")
    client = mux.rpc()
    script = f"trap go=1 USR1; echo up; while [ ! $go ]; do sleep 0.05; done; {command}"
    client.call("exec_command", {"cmd": script, "name": "s", "stdin": True, "until": "up\n", "yield_time_ms": 30000, **more})
    return client


def fill(client):
    """The pipe of the program and all of the queue."""
    while True:
        try:
            client.call("write_stdin", {"session_id": "s", "chars": "x" * 65536, "yield_time_ms": 250})
        except client.Error:
            return


@pytest.mark.no_pty
def test_a_write_waits_for_room(mux):
    client = gated(mux, "exec wc -c")
    fill(client)
    write = {"session_id": "s", "chars": "y" * 40000, "wait_room": 60000, "yield_time_ms": 250}
    ids = [client.send("write_stdin", write) for _ in range(3)]
    client.call("list_sessions", {})  # they wait, and nobody else does
    os.kill(mux.listed("s")["pid"], signal.SIGUSR1)
    for id in ids:
        assert client.result(id)["state"] == "running"
    client.call("write_stdin", {"session_id": "s", "chars": "", "eof": True, "yield_time_ms": 250})
    answer = client.call("read_output", {"session_id": "s", "since": 0, "exit": True})
    assert int(answer["output"].split()[-1]) % 65536 == 120000 % 65536


@pytest.mark.no_pty
def test_room_that_never_comes(mux):
    client = gated(mux, "exec wc -c")
    fill(client)
    failure = client.error("write_stdin", {"session_id": "s", "chars": "y" * 40000, "wait_room": 300})
    assert failure.code == "input_full" and "65536" in failure.message
    failure = client.error("write_stdin", {"session_id": "s", "chars": "y" * 70000, "wait_room": 60000})
    assert failure.code == "too_large" and "65536" in failure.message
    id = client.send("write_stdin", {"session_id": "s", "chars": "y" * 40000, "wait_room": 60000})
    client.call("list_sessions", {})
    client.call("kill_session", {"sessions": ["s"]})
    with pytest.raises(client.Error) as ended:
        client.result(id)
    assert ended.value.code in ("ended", "stdin_closed")  # whichever shows first


@pytest.mark.no_pty
def test_output_ends_the_wait_for_room(mux):
    client = gated(mux, "echo more; sleep 300")
    fill(client)
    at = client.call("read_output", {"session_id": "s", "since": 0, "yield_time_ms": 250})["to"]
    id = client.send("write_stdin", {"session_id": "s", "chars": "y" * 40000, "wait_room": 60000, "since": at})
    client.call("list_sessions", {})
    os.kill(mux.listed("s")["pid"], signal.SIGUSR1)
    with pytest.raises(client.Error) as full:
        client.result(id)
    assert full.value.code == "input_full"


def test_line_that_the_kernel_would_cut_is_refused_or_arrives(mux):
    mux.configure("[defaults]\nagent_secrets = yes\n")  # without echo it looks like a password
    mux.ue("exec", "-n", "s", "-t", "stty -echo; echo up; wc -c").ok()
    result = mux.ue("write", "-l", "s", "y" * 6000)
    assert result.rc == 125 and "4095" in result.err.replace(",", "")
    assert mux.js("write", "-k", "C-d", "--exit", "s")["output"].split()[-1] == "0"


def test_lines_below_the_kernels_limit_arrive(mux):
    mux.configure("[defaults]\nagent_secrets = yes\n")  # without echo it looks like a password
    mux.ue("exec", "-n", "s", "-t", "stty -echo; echo up; wc -c").ok()
    mux.ue("write", "-l", "s", "y" * 4000).ok()
    assert mux.js("write", "-k", "C-d", "--exit", "s")["output"].split()[-1] == "4001"


def test_write_by_number(mux):
    number = mux.shell()["session_id"]
    assert "\r\n7\r\n" in mux.line(number, "echo $((3+4))")["output"]


def test_two_writers_do_not_mix_lines(mux):
    sink(mux, "head -c 400000 | tr -d '\\n' | fold -w 1000 | sort | uniq -c")
    writers = [mux.popen("write", "-y", "0", "--no-ready", "s", "-", stdin=-1) for _ in range(2)]
    for writer, letter in zip(writers, b"ab"):
        mux.finish(writer, bytes([letter]) * 200_000).ok()
    out = mux.js("poll", "--exit", "--since", "0", "s")["output"].split()  # the answers to the writers may have brought the end of it
    assert out[-4:] == ["200", "a" * 1000, "200", "b" * 1000]
