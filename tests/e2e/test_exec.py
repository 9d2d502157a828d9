"""ue exec: a command run in place, in a pipe or tty session."""
import hashlib, os, re, signal, subprocess, threading, time
from pathlib import Path

import pexpect
import pytest
from conftest import CAP, UE, many, wait_for


@pytest.mark.smoke
@pytest.mark.no_pty
def test_answer_is_the_model_text(mux):
    result = mux.ue("exec", "echo hello").ok()
    answer = result.answer
    assert re.fullmatch("[0-9a-f]{6}", answer["chunk"]) and re.fullmatch(r"\d+\.\d{4}", answer["wall"])
    assert (answer["exit"], answer["sid"], answer["tokens"], answer["output"]) == ("0", None, "2", "hello\n")
    assert result.err == ""


@pytest.mark.no_pty
def test_operands_are_joined_with_spaces(mux):
    assert mux.ue("exec", "--raw", "echo", "a", "  b", "$((1+2))").ok().out == "a b 3\n"


@pytest.mark.no_pty
def test_options_behind_the_command_are_the_commands(mux):
    assert mux.ue("exec", "--raw", "echo", "-n", "--json", "x").ok().out == "--json x"


@pytest.mark.no_pty
def test_double_dash_ends_the_options(mux):
    assert mux.ue("exec", "--raw", "--", "echo", "--json").ok().out == "--json\n"


@pytest.mark.smoke
@pytest.mark.no_pty
def test_argv_runs_without_a_shell(mux):
    assert mux.ue("exec", "--raw", "--argv", "/bin/echo", "a  b", "$HOME", "*").ok().out == "a  b $HOME *\n"


@pytest.mark.no_pty
def test_argv_searches_path(mux):
    assert mux.ue("exec", "--raw", "--argv", "--", "printf", "%s", "-n").ok().out == "-n"


@pytest.mark.no_pty
def test_stdout_and_stderr_are_both_in_the_answer(mux):
    assert sorted(mux.ue("exec", "echo out; echo err >&2").ok().answer["output"].split()) == ["err", "out"]


@pytest.mark.no_pty
def test_starts_in_the_callers_directory(mux):
    assert mux.ue("exec", "--raw", "pwd", cwd="/usr/share").ok().out == "/usr/share\n"


@pytest.mark.no_pty
def test_directory_by_option(mux):
    assert mux.ue("exec", "--raw", "-C", "/usr", "pwd").ok().out == "/usr\n"


@pytest.mark.no_pty
def test_relative_directory_starts_from_the_callers(mux):
    assert mux.ue("exec", "--raw", "-C", "share/../lib", "pwd", cwd="/usr").ok().out in ("/usr/lib\n", "/usr/share/../lib\n")


@pytest.mark.smoke
def test_tty_is_a_terminal_of_24_by_80(mux):
    output = mux.ue("exec", "-t", "stty size; tty").ok().answer["output"]
    assert "24 80\r\n" in output and "/dev/pts/" in output


def test_size_of_the_terminal(mux):
    assert mux.ue("exec", "--raw", "-t", "--size", "40x132", "stty size").ok().out == "40 132\r\n"


@pytest.mark.no_pty
def test_pipes_without_t(mux):
    result = mux.ue("exec", "--raw", "tty; test -t 0 || test -t 1 || test -t 2 || echo none").ok()
    assert result.out == "not a tty\nnone\n"


@pytest.mark.no_pty
def test_standard_input_of_pipes_is_at_its_end(mux):
    assert mux.ue("exec", "--raw", "cat; echo end").ok().out == "end\n"


@pytest.mark.no_pty
def test_stdin_is_fed_on_demand(mux):
    assert mux.ue("exec", "--raw", "--stdin", "cat; echo end", input=b"one\ntwo\n").ok().out == "one\ntwo\nend\n"


@pytest.mark.no_pty
def test_stdin_takes_any_bytes_and_any_length(mux):
    data = os.urandom(3_000_000)
    result = mux.ue("exec", "--raw", "--stdin", "-y", "inf", "sha256sum", input=data).ok()
    assert result.out.split()[0] == hashlib.sha256(data).hexdigest()


def feed_all(pipe, data):
    try:
        pipe.write(data)
        pipe.close()
    except BrokenPipeError:
        pass


@pytest.mark.no_pty
def test_stdin_comes_back_through_a_small_queue(mux):
    mux.configure("[limits]\ninput_queue = 16k\n")
    data = os.urandom(1_000_000)  # sixty times the queue, each with a way there and back
    result = mux.ue("exec", "--raw", "--stdin", "-y", "inf", "cat", input=data).ok()
    assert hashlib.sha256(result.raw).hexdigest() == hashlib.sha256(data).hexdigest()


@pytest.mark.no_pty
@pytest.mark.parametrize("raw", [["--raw"], []])
def test_a_full_queue_is_waited_for_in_silence(mux, raw):
    command = [UE, "exec", *raw, "--stdin", "-y", "inf", "-n", "s", "echo up; exec sleep 300"]
    with subprocess.Popen(command, env=mux.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as feeder:
        writer = threading.Thread(target=lambda: feed_all(feeder.stdin, b"x" * 4_000_000))
        writer.start()
        wait_for(lambda: mux.listed("s"))

        def switches():
            text = Path(f"/proc/{feeder.pid}/status").read_text()
            return re.findall(r"ctxt_switches:\s*(\d+)", text)

        def is_still():
            before = switches()
            time.sleep(0.5)  # what is asked every 100 ms shows in that time
            return before == switches()
        wait_for(is_still)
        mux.ue("kill", "s").ok()
        feeder.wait()
        writer.join()


@pytest.mark.no_pty
def test_stdin_that_nobody_reads_is_warned_of(mux):
    result = mux.ue("exec", "--raw", "echo done", input=b"some data\n").ok()
    assert result.out == "done\n" and "--stdin" in result.err


@pytest.mark.no_pty
@pytest.mark.parametrize("loop", ["seq 3 | while read n; do '{ue}' exec --raw echo $n; done", "while read n; do '{ue}' exec --raw echo $n; done < lines"])
def test_silent_about_what_a_loop_reads(mux, loop):
    (mux.dir / "lines").write_text("1\n2\n3\n")
    done = subprocess.run(["/bin/bash", "-c", loop.format(ue=UE)], env=mux.env, cwd=mux.dir, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n2\n3\n", "")


@pytest.mark.parametrize("command, hinted", [("bash", True), ("vim -c q file", True), ("/usr/bin/less", True), ("bash -c 'echo ran'", False),
                                             ("echo ran", False), ("ls | less", False), ("-t bash", False)])
def test_a_program_for_people_gets_a_hint(mux, command, hinted):
    """It sees no terminal and the end of its input: who types that is told what to do."""
    child = pexpect.spawn(str(UE), ["exec", *(["-t", "-y", "0", "bash"] if command == "-t bash" else [command])], env=mux.env, cwd=str(mux.dir),
                          timeout=CAP, encoding="utf-8")
    child.expect(pexpect.EOF)
    child.close()
    assert ("`ue exec -a " in child.before and "-t gives it one" in child.before) == hinted, child.before


@pytest.mark.no_pty
def test_silent_about_an_empty_stdin(mux):
    assert mux.ue("exec", "--raw", "echo done", input=b"").ok().err == ""


@pytest.mark.no_pty
def test_other_shell(mux):
    assert mux.ue("exec", "--raw", "-s", "/bin/dash", "readlink /proc/$$/exe").ok().out.strip().endswith("dash")


@pytest.mark.no_pty
def test_environment_by_option(mux):
    assert mux.ue("exec", "--raw", "-e", "A=1", "-e", "B=x = y;z", 'echo "$A/$B"').ok().out == "1/x = y;z\n"


@pytest.mark.no_pty
def test_running_command_is_told_with_its_session(mux):
    result = mux.ue("exec", "-y", "300", "echo up; sleep 300").ok()
    assert result.answer["sid"] and result.answer["exit"] is None
    row = mux.js("list")["sessions"][0]
    assert row["session_id"] == int(result.answer["sid"]) and row["state"] == "running"


@pytest.mark.no_pty
def test_returns_at_the_exit_not_at_the_deadline(mux):
    assert mux.js("exec", "-y", "inf", "true")["reason"] == "exit"


@pytest.mark.no_pty
@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
def test_last_line_is_never_short(mux, options):
    for _ in range(15):
        output = mux.ue("exec", "--raw", "-y", "inf", *options, "seq 1 200000 | tail -1").ok().out
        assert output.replace("\r", "") == "200000\n"


@pytest.mark.no_pty
def test_raw_output_is_whole_up_to_the_journals_size(mux):
    assert mux.ue("exec", "--raw", "-y", "inf", "seq 1 100000").ok().out == "".join(f"{n}\n" for n in range(1, 100001))


@pytest.mark.no_pty
def test_background_child_neither_delays_nor_dies(mux):
    answer = mux.js("exec", "-y", "inf", "sleep 300 & echo $!")
    child = int(answer["output"])
    try:
        assert answer["exit_code"] == 0 and answer["reason"] == "exit"
        assert answer["children_left"] == 1
        os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.no_pty
def test_reader_that_goes_away_is_no_error(mux):
    result = subprocess.run(["/bin/bash", "-c", f"set -o pipefail; '{UE}' exec --raw -y inf seq 1 100000 | head -n 1"], env=mux.env,
                            capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert result.stdout == b"1\n" and result.stderr == b""


@pytest.mark.no_pty
def test_interrupt_ends_the_wait_not_the_session(mux):
    process = mux.popen("exec", "-n", "work", "-y", "inf", "echo up; sleep 300")
    wait_for(lambda: mux.listed("work"), "the session")
    process.send_signal(signal.SIGINT)
    result = mux.finish(process)
    assert result.rc == 130 and "work" in result.err
    assert mux.listed("work")["state"] == "running"


@pytest.mark.no_pty
def test_works_with_all_standard_descriptors_closed(mux):
    subprocess.run(["/bin/sh", "-c", f"'{UE}' exec 'echo written > f' <&- >&- 2>&-"], env=mux.env, cwd=mux.dir, timeout=120)
    assert (mux.dir / "f").read_text() == "written\n"


@pytest.mark.no_pty
def test_json_of_an_ended_command(mux):
    answer = mux.js("exec", "-n", "one", "echo hi; exit 3")
    assert answer["output"] == "hi\n" and answer["exit_code"] == 3 and answer["state"] == "exited" and answer["name"] == "one"
    assert answer["reason"] == "exit" and "session_id" not in answer and answer["from"] == 0 and answer["to"] == 3
    assert answer["original_token_count"] == 1 and re.fullmatch("[0-9a-f]{6}", answer["chunk_id"]) and answer["wall_time_seconds"] >= 0
    assert answer["content"].endswith("Output:\nhi\n")


@pytest.mark.no_pty
def test_json_of_a_running_command(mux):
    answer = mux.js("exec", "-y", "300", "sleep 300")
    assert answer["state"] == "running" and answer["reason"] == "deadline" and isinstance(answer["session_id"], int)
    assert "exit_code" not in answer and "signal" not in answer


@pytest.mark.no_pty
def test_output_that_is_no_text_comes_as_base64(mux):
    import base64
    result = mux.rpc().call("exec_command", {"cmd": "printf '\\377\\000\\001'", "encoding": "base64"})
    assert base64.b64decode(result["output_base64"]) == b"\xff\x00\x01"


@pytest.mark.no_pty
def test_size_without_a_terminal_is_refused(mux):
    result = mux.ue("exec", "--size", "30x90", "true")
    assert result.rc == 125 and "tty" in result.err


@pytest.mark.no_pty
def test_children_left_of_others_are_not_counted(mux):
    client, left = mux.rpc(), []

    def run(name, command):
        return client.call("exec_command", {"cmd": command, "login": False, "name": name})

    try:
        assert run("alone", "/bin/true; /bin/true")["children_left"] == 0
        other = run("other", "setsid sleep 300 > /dev/null 2>&1 & echo $!")
        left.append(int(other["output"]))
        assert other["children_left"] == 1
        mux.ue("exec", "-n", "live", "-y", "0", "--argv", "sleep", "300").ok()
        for i in range(3):
            assert run(f"next-{i}", "/bin/true; /bin/true")["children_left"] == 0
        kept = run("kept", "sleep 300 > /dev/null 2>&1 & echo $!")
        left.append(int(kept["output"]))
        assert kept["children_left"] == 1
    finally:
        for child in left:
            os.kill(child, signal.SIGKILL)


@pytest.mark.no_pty
def test_what_a_quick_command_left_is_found_without_a_look_at_all_processes(mux):
    """One of many: on a busy machine none may be quick."""
    def is_cheap(n):
        before = mux.js("status")["process_passes"]
        answer = mux.js("exec", "-n", f"s{n}", "-y", "inf", "--argv", "/bin/sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!")
        try:
            assert answer["children_left"] == 1
            return mux.js("status")["process_passes"] == before
        finally:
            os.kill(int(answer["output"]), signal.SIGKILL)

    assert any(is_cheap(n) for n in range(50))


@pytest.mark.no_pty
def test_children_left_while_others_start_programs(mux):
    """Numbers that were given to others since, and to other sessions, are neither taken for children nor do they hide any. Where it
    can't be told (somebody is in the middle of an exec, and shows nobody whose he is) nothing is said."""
    over, told, left, rounds = threading.Event(), [], [], many(20, 40)

    def disturb():
        while not over.is_set():
            subprocess.run(["/bin/sh", "-c", "/bin/true & /bin/true; wait"], check=True)

    def run(name, command, count):
        client = mux.rpc()
        for i in range(rounds):
            answer = client.call("exec_command", {"cmd": ["/bin/sh", "-c", command], "name": f"{name}-{i}"})
            left.extend(map(int, answer["output"].split()))
            told.append((answer.get("children_left"), count, answer["name"]))

    threads = [threading.Thread(target=target, args=args) for target, *args in (
        (run, "leaves", "(setsid sleep 300 > /dev/null 2>&1 & echo $!)", 1), (run, "none", "/bin/true & /bin/true; wait", 0),
        (run, "bare", "exit 0", 0))]
    noise = threading.Thread(target=disturb)
    noise.start()
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        over.set()
        noise.join()
        for child in left:
            os.kill(child, signal.SIGKILL)
    assert len(left) == rounds and [row for row in told if row[0] not in (None, row[1])] == []
    assert {row[1] for row in told if row[0] is not None} == {0, 1}


@pytest.mark.no_pty
def test_child_whose_first_thread_has_ended_is_left(mux):
    program = ("import ctypes, os, threading, time; print(os.getpid(), flush=True); os.close(1); os.close(2); "
               "threading.Thread(target=time.sleep, args=(300,)).start(); ctypes.CDLL(None).pthread_exit(None)")
    answer = mux.js("exec", "-y", "inf", "--argv", "/bin/sh", "-c",
                    f"/usr/bin/python3 -c '{program}' & while ! grep -qs '^State:.Z' /proc/$!/status; do :; done")
    try:
        assert answer["exit_code"] == 0 and answer["children_left"] == 1
    finally:
        os.kill(int(answer["output"]), signal.SIGKILL)
