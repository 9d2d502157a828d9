"""ue logs and ue watch: output as lines, of one session or of several, that can do nothing to the terminal they are printed on."""
import json
import os
import re
import signal
import time
import pexpect
import pytest
from conftest import CAP, UE, wait_for

WAIT = CAP * 1000


def start(mux, name, script, *options):
    mux.ue("exec", "--json", "-t", "-n", name, "-y", 0, *options, "--argv", "--", "/bin/sh", "-c", script).ok()


def spawn(mux, *args, env=None, size=(24, 80)):
    return pexpect.spawn(str(UE), [str(a) for a in args], env={**mux.env, "TERM": "xterm", **(env or {})}, cwd=str(mux.dir), timeout=CAP,
                         dimensions=size)


def typed(mux, name, text):
    mux.js("write", "-l", "-y", 0, name, text)  # what ends over it may have ended by the answer, and then its status is that of ue


# --- logs

@pytest.mark.smoke
def test_lines_of_a_shell(mux):
    mux.shell()
    mux.line("sh", "printf '10%%\\r50%%\\r100%%\\n'; printf '\\033[31mred\\033[m \\033]2;title\\007\\033[6nend\\n'")
    out = mux.ue("logs", "sh").ok().out
    assert out.splitlines()[1:] == ["100%", "red end", "sh>"] and "\x1b" not in out
    assert mux.ue("poll", "-y", 0, "--peek", "sh").ok().answer, "no reader was moved"
    assert mux.ue("logs", "--raw", "sh").ok().raw == mux.ue("poll", "--raw", "--since", 0, "-y", 0, "sh").ok().raw


def test_offsets_and_ended_sessions(mux):
    mux.ue("exec", "-n", "s", "seq 5; exit 3")
    assert mux.ue("logs", "s").ok().out == "1\n2\n3\n4\n5\n"
    assert mux.ue("logs", "--since", 4, "s").ok().out == "3\n4\n5\n"
    assert mux.ue("logs", "-f", "s").ok().out == "1\n2\n3\n4\n5\n"
    assert [json.loads(l)["line"] for l in mux.ue("logs", "--json", "s").ok().out.splitlines()] == list("12345")
    assert mux.ue("logs", "none").rc == 127 and mux.ue("logs", "--since", "yesterday", "s").rc == 64


def test_since_a_time(mux):
    start(mux, "s", "echo old; read x; echo new; read y")
    mux.ue("poll", "--until", "old", "--since", 0, "-y", WAIT, "s").ok()
    row = mux.listed("s")
    # a moment later, by the clock: 1.2 s, so that seconds tell the two apart
    wait_for(lambda: mux.ue("poll", "-y", 300, "--quiet", 1200, "--peek", "s").rc is not None and
             mux.ue("poll", "-y", 5000, "--quiet", 1200, "--peek", "s").rc == 0, "a pause")
    later = time.strftime("%Y-%m-%d %H:%M:%S")
    typed(mux, "s", "go")
    mux.ue("poll", "--until", "new", "-y", WAIT, "--since", 0, "s").ok()
    assert mux.ue("logs", "--since", later, "s").ok().out.splitlines() == ["go", "new"]
    assert mux.ue("poll", "-y", WAIT, "--quiet", 1200, "--peek", "s").rc == 0
    assert mux.ue("logs", "--since", "1s", "s").ok().out == ""
    assert mux.ue("logs", "--since", "1h", "s").ok().out.splitlines() == ["old", "go", "new"]
    assert mux.ue("logs", "--since", row["created"], "s").ok().out.splitlines() == ["old", "go", "new"]
    assert mux.ue("logs", "--since", "2099-01-01", "s").ok().out == ""


def test_more_than_an_answer_holds(mux):
    mux.ue("exec", "-n", "s", "--exit", "-m", 0, "seq 300000")
    out = mux.ue("logs", "s").ok().out
    assert out.endswith("299999\n300000\n") and len(out) > 1 << 20
    out = mux.ue("logs", "--raw", "s").ok().out
    assert out.endswith("299999\n300000\n") and len(out) > 1 << 20


def test_follow_until_the_end_without_polling(mux):
    start(mux, "s", "echo one; read x; echo two; exit 4")
    child = spawn(mux, "logs", "-f", "s")
    child.expect_exact("one\r\n")
    before = mux.js("status")["connections_accepted"]
    typed(mux, "s", "go")
    child.expect_exact("two\r\n")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0 and before


def test_a_prompt_is_shown_though_its_line_has_no_end(mux):
    start(mux, "s", "printf 'name? '; read x; echo hello $x; read y")
    child = spawn(mux, "logs", "-f", "s")
    child.expect_exact("name?\r\n")
    typed(mux, "s", "you")
    child.expect_exact("name? you\r\nhello you\r\n")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


def test_on_a_terminal_with_colours_and_nothing_else(mux):
    start(mux, "s", r"printf 'a\033[31mb\033[m\033]52;c;x\007\033[6n\033[2Jc\n'; read y")
    mux.ue("poll", "--until", "c", "--since", 0, "-y", WAIT, "s").ok()
    child = spawn(mux, "logs", "s")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.before == b"a\x1b[0;31mb\x1b[m\r\nc\r\n"
    child = spawn(mux, "logs", "s", env={"NO_COLOR": "1"})
    child.expect(pexpect.EOF)
    child.wait()
    assert child.before == b"ab\r\nc\r\n"


def test_exec_and_poll_on_a_terminal_are_harmless(mux):
    start(mux, "s", r"printf 'x\033]2;t\007\033[6n\302\233\n'; read y")
    mux.ue("poll", "--until", "x", "--peek", "--since", 0, "-y", WAIT, "s").ok()
    for verb in (["poll", "--since", 0, "-y", 0, "s"], ["write", "-y", 0, "s", ""], ["poll", "--json", "--since", 0, "-y", 0, "s"],
                 ["screen", "s"], ["list"], ["logs", "s"], ["logs", "--input", "s"]):
        child = spawn(mux, *verb)
        child.expect(pexpect.EOF)
        child.wait()
        rest = re.sub(rb"\x1b\[[0-9;]*m", b"", child.before)
        assert b"\x1b" not in rest and b"\xc2\x9b" not in rest and b"\x07" not in rest, verb
    child = spawn(mux, "poll", "--raw", "--since", 0, "-y", 0, "s")
    child.expect_exact("\x1b]2;t\x07")
    child.expect(pexpect.EOF)
    child.wait()


def test_the_input_log(mux):
    mux.shell()
    mux.line("sh", "echo typed")
    line = mux.ue("logs", "--input", "sh").ok().out.splitlines()[-1]
    assert "agent" in line and "echo typed" in line and line.count("\t") == 3
    entry = json.loads(mux.ue("logs", "--input", "--json", "sh").ok().out.splitlines()[-1])
    assert entry["author"] == "agent" and entry["kind"] == "text" and entry["uid"] == os.getuid()
    assert mux.ue("logs", "--input", "--since", "2099-01-01", "sh").ok().out == ""
    child = spawn(mux, "logs", "--input", "-f", "sh")
    child.expect_exact("echo typed")
    mux.line("sh", "echo again")
    child.expect_exact("echo again")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


FORGED = "x[1]\tdone\n2026-01-01T00:00:00.000Z\tperson me[1]\ttext\tevil\x1b[2J\u009b1m\u202e"


def test_what_clients_say_of_themselves_forges_no_line(mux):
    mux.shell()
    mux.rpc().call("write_stdin", {"session_id": "sh", "chars": ": said\n", "yield_time_ms": 0, "_meta": {"client": FORGED, "call_id": FORGED}})
    child = spawn(mux, "logs", "--input", "sh")
    child.expect(pexpect.EOF)
    child.wait()
    for out in (mux.ue("logs", "--input", "sh").ok().out, child.before.decode().replace("\r\n", "\n")):
        line, = out.split("\n")[:-1]
        assert line.count("\t") == 3 or child.before, line
        assert r"agent x[1]\x09done\x0a2026-01-01" in line, line
        assert not set("\x1b\u009b\u202e") & set(out), out


def test_json_on_a_terminal_is_not_obeyed(mux):
    """Control characters and those that reorder a line stand there as JSON spells them; in a pipe all is as it was."""
    cmd = ": 'say \u009b31m \u202egnp.exe \u2066x \u2028 \u00e9 \u4f60'; sleep 1000"
    mux.ue("exec", "-n", "s", "-y", 0, cmd).ok()
    assert cmd in mux.ue("list", "--json").ok().out
    for verb in (["list", "--json"], ["events", "--since", "1", "-y", "0"]):
        child = spawn(mux, *verb)
        child.expect(pexpect.EOF)
        child.wait()
        shown = child.before.decode()
        assert not set("\u009b\u202e\u2066\u2028\x1b") & set(shown), (verb, shown)
        assert cmd in json.dumps([json.loads(line) for line in shown.splitlines() if line], ensure_ascii=False), (verb, shown)


# --- watch

def test_several_until_all_have_ended(mux):
    start(mux, "a", "read x; echo from a; exit 1")
    start(mux, "longer", "read x; echo from longer")
    child = spawn(mux, "watch", "a", "longer", env={"NO_COLOR": "1"})
    wait_for(lambda: mux.js("status")["waits"] >= 2, "both waits")
    typed(mux, "a", "go")
    child.expect_exact("| from a\r\n")
    child.expect(r"a +\| \(exited, status 1\)\r\n")
    typed(mux, "longer", "go")
    child.expect_exact("longer | from longer\r\n")
    child.expect_exact("longer | (exited, status 0)\r\n")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_new_ones_join_and_it_waits_without_polling(mux):
    mux.ue("start").ok()
    child = spawn(mux, "watch")
    child.expect_exact("waiting for one")
    wait_for(lambda: mux.js("status")["connections"] >= 2, "the connection")
    start(mux, "new", "echo hello; read x; echo bye")
    child.expect_exact("hello\r\n")
    typed(mux, "new", "go")
    child.expect_exact("bye\r\n")
    child.expect(r"exited, status 0")
    start(mux, "other", r"printf '\033[32mgreen\033[m\033]2;x\007\n'; read x")
    child.expect_exact("\x1b[0;32mgreen\x1b[m\r\n")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


def test_more_sessions_than_a_connection_may_wait_for(mux):
    mux.configure("[limits]\nrequests_per_connection = 40\n")
    for i in range(45):
        mux.ue("exec", "-n", f"s{i}", "-y", 0, "--stdin", "--argv", "--", "/bin/sh", "-c", f"read x; echo done {i}").ok()
    child = spawn(mux, "watch", *[f"s{i}" for i in range(45)], env={"NO_COLOR": "1"})
    wait_for(lambda: mux.js("status")["waits"] >= 45, "all waits")
    for i in (0, 31, 32, 44):
        mux.ue("kill", f"s{i}").ok()
        child.expect(rf"s{i} +\| \(killed")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()


def test_it_survives_the_worker(mux):
    start(mux, "s", "echo one; read x; echo two")
    child = spawn(mux, "watch", "--since", "1h")
    child.expect_exact("one\r\n")
    worker = mux.js("status")["pid"]
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != worker, "a new worker")
    typed(mux, "s", "go")
    child.expect_exact("two\r\n")
    start(mux, "t", "echo three")
    child.expect_exact("three\r\n")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()


def test_json_lines(mux):
    start(mux, "s", "read x; echo out; exit 2")
    process = mux.popen("watch", "--json", "s")
    wait_for(lambda: mux.js("status")["waits"] >= 1, "the wait")
    typed(mux, "s", "go")
    lines = [json.loads(line) for line in mux.finish(process).ok().out.splitlines()]
    assert [l.get("line") for l in lines if "line" in l][-1] == "out"
    assert lines[-1]["state"] == "exited" and lines[-1]["exit_code"] == 2 and lines[-1]["name"] == "s"
