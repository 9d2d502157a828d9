"""ready: a call returns when the program waits for input, with its prompt, and never early."""
import subprocess
import shutil
import json
import os

import pytest
from conftest import CAP, need

# name, command, a line to type, what must come back, the prompt at the end
PROGRAMS = [
    ("bash", ["/bin/bash", "--norc", "--noprofile", "-i"], "echo $((20+3))", "\r\n23\r\n", "# " if os.geteuid() == 0 else "$ "),
    ("dash", ["dash", "-i"], "echo $((20+3))", "23\r\n", " "),
    ("zsh", ["zsh", "-f", "-i"], "echo $((20+3))", "23\r\n", None),
    ("python3", ["/usr/bin/python3", "-q"], "20+3", "\r\n23\r\n", ">>> "),
    ("node", ["node"], "20+3", "23", None),
    ("lua5.4", ["lua5.4"], "20+3", "23\r\n", "> "),
    ("sqlite3", ["sqlite3"], "select 20+3;", "\r\n23\r\n", "sqlite> "),
    ("gdb", ["gdb", "-q", "-nx"], "print 20+3", "$1 = 23\r\n", "(gdb) "),
    ("bc", ["bc", "-q"], "20+3", "23\r\n", None),
    ("dc", ["dc"], "20 3+p", "23\r\n", None),
    ("tclsh", ["tclsh"], "expr 20+3", "\r\n23\r", "% "),
    ("perl", ["perl", "-de0"], "print 20+3", "23", None),
    ("cat", ["cat"], "hello", "hello\r\nhello\r\n", None),
]


def start(mux, name, command):
    need(command[0])
    answer = mux.js("exec", "-n", name, "-t", "-y", CAP * 1000, "-e", "TERM=dumb", "--argv", "--", *command)
    assert answer["state"] == "running" and answer["reason"] == "ready", answer
    return answer


@pytest.mark.parametrize("name, command, line, answer, prompt", PROGRAMS, ids=[p[0] for p in PROGRAMS])
def test_answer_comes_with_the_prompt(mux, name, command, line, answer, prompt):
    start(mux, name, command)
    for _ in range(3):
        said = mux.line(name, line)
        assert said["reason"] == "ready" and said["evidence"], said
        assert answer in said["output"].replace("$2 =", "$1 =").replace("$3 =", "$1 ="), said
        if prompt:
            assert said["output"].endswith(prompt), said


@pytest.mark.smoke
def test_first_answer_has_the_prompt(mux):
    assert start(mux, "py", ["/usr/bin/python3", "-q"])["output"].endswith(">>> ")


SLOW = [  # each is busy, or silent, for about a second: what looks like a program that waits and is none
    ("python3", ["/usr/bin/python3", "-q"], "import time; time.sleep(1); print('la' + 'te')"),
    ("bash", ["/bin/bash", "--norc", "--noprofile", "-i"], "sleep 1; echo la''te"),
    ("dash", ["dash", "-i"], "sleep 1; echo la''te"),
    ("bash-silent", ["/bin/bash", "--norc", "--noprofile", "-i"], "for i in 1 2 3; do sleep 0.4; echo $i; done; echo la''te"),
    ("sqlite3", ["sqlite3"], "with recursive c(x) as (select 1 union all select x+1 from c limit 4000000) select 'la' || 'te' || (max(x) > 1) from c;"),
    ("tclsh", ["tclsh"], "after 1000; puts [string cat la te]"),
]


@pytest.mark.parametrize("name, command, line", SLOW, ids=[p[0] for p in SLOW])
def test_never_early(mux, name, command, line):
    start(mux, name, command)
    said = mux.line(name, line)
    assert said["reason"] == "ready" and "late" in said["output"], said


def test_python_in_a_blocking_receive_is_not_ready(mux):
    start(mux, "py", ["/usr/bin/python3", "-q"])
    mux.line("py", "import socket, threading; a, b = socket.socketpair(); threading.Timer(1, lambda: b.send(b'la' + b'te')).start()")
    said = mux.line("py", "a.recv(100)")
    assert "late" in said["output"], said


def test_program_behind_the_shell_leader(mux):
    mux.shell()
    mux.line("sh", "/usr/bin/python3 -q; echo done")
    said = mux.line("sh", "import time; time.sleep(0.5); print(20 + 3)")  # silent for longer than raw_quiet
    assert "\r\n23\r\n" in said["output"] and said["output"].endswith(">>> ")


def test_background_job_does_not_hide_the_prompt(mux):
    mux.shell()
    said = mux.line("sh", "sleep 300 &")
    assert said["reason"] == "ready" and said["output"].endswith("sh> ")


def test_secret_prompt(mux):
    mux.configure("[defaults]\nscripts_may = secret\n")
    mux.shell()
    said = mux.line("sh", "read -s -p 'pass: ' x; echo; echo got ${#x}")
    assert said["output"].endswith("pass: ") and said["waiting_for"] == "secret", said
    assert mux.ue("write", "-l", "sh", "hunter2").rc == 126  # is not for agents
    mux.ue("secret", "--stdin", "sh", input=b"hunter2\n").ok()
    said = mux.js("poll", "--ready", "sh")
    assert "got 7" in said["output"] and "hunter2" not in said["output"]


def test_plain_line_read(mux):
    mux.shell()
    said = mux.line("sh", "read -p 'name: ' x; echo hello $x")
    assert said["output"].endswith("name: ") and said["waiting_for"] == "line"
    assert "hello world" in mux.line("sh", "world")["output"]


def test_nothing_is_waited_for_while_it_computes(mux):
    mux.shell()
    said = mux.js("write", "--no-ready", "-y", "300", "-l", "sh", "sleep 300")
    assert said["reason"] == "deadline" and said.get("waiting_for") is None


def test_program_that_waits_for_nothing_is_not_ready(mux):
    assert mux.js("exec", "-t", "-y", "500", "exec sleep 300")["reason"] == "deadline"


def test_partial_line_is_ready_again(mux):
    start(mux, "c", ["cat"])
    said = mux.js("write", "-y", CAP * 1000, "c", "no newline yet")
    assert said["reason"] == "ready" and "no newline yet" in said["output"]


def test_many_quick_lines(mux):
    start(mux, "py", ["/usr/bin/python3", "-q"])
    for n in range(100):
        assert f"\r\n{n + 1000}\r\n>>> " in mux.line("py", f"{n}+1000")["output"]


def test_large_output_is_whole_before_ready(mux):
    start(mux, "py", ["/usr/bin/python3", "-q"])
    said = mux.line("py", "for i in range(20000): print(i)\n")
    said = mux.line("py", "'en' + 'd'") if "19999" not in said["output"] else said
    whole = mux.ue("poll", "--raw", "--since", "0", "-y", "0", "py").out
    assert "\r\n19998\r\n19999\r\n" in whole and said["reason"] == "ready"


def test_full_screen_program_goes_by_quiet(mux):
    need("less")
    (mux.dir / "f").write_text("".join(f"line {n}\n" for n in range(1000)))
    answer = mux.js("exec", "-n", "l", "-t", "-y", CAP * 1000, "--argv", "--", "less", "f")
    assert answer["reason"] == "ready" and "line 5" in answer["output"]
    said = mux.js("write", "-y", CAP * 1000, "l", "G")
    assert said["reason"] == "ready" and "line 999" in said["output"]
    mux.ue("write", "--exit", "l", "q").ok()


def test_pattern_of_the_config_overrides_the_kernel(mux):
    mux.configure("[session s]\ncmd = echo one; sleep 0.5; echo two; printf 'PROMPT> '; exec sleep 300\nready_pattern = PROMPT> $\nstart = manual\n")
    answer = mux.js("exec", "-n", "s", "--ready", "-y", CAP * 1000)
    assert answer["reason"] == "ready" and answer["evidence"] == "pattern" and answer["output"].endswith("PROMPT> ")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become a user whom su asks for a password")
@pytest.mark.skipif(not shutil.which("su") or not shutil.which("setpriv"), reason="needs su and setpriv")
@pytest.mark.parametrize("within_shell", [False, True], ids=["alone", "in-bash"])
def test_prompt_of_a_set_id_program_is_a_secret(mux, within_shell):
    """Its /proc is hidden from the daemon, which is another user's: the terminal's modes tell."""
    uid = 62000 + os.getpid() % 3000
    own_ue = mux.give_to(uid)

    def ue(*args):
        done = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", own_ue, *args], env=mux.env, cwd=mux.dir,
                              capture_output=True, timeout=CAP, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout) if done.stdout.startswith(b"{") else done
    try:
        if within_shell:
            ue("exec", "--json", "-t", "-n", "s", "--argv", "--", "bash", "--norc")
            answer = ue("write", "--json", "-l", "s", "su root")
        else:
            answer = ue("exec", "--json", "-t", "-n", "s", "--argv", "--", "su", "root")
        assert answer["output"].endswith("Password: ")
        assert (answer["waiting_for"], answer["reason"], answer["evidence"]) == ("secret", "ready", "secret")
    finally:
        ue("stop")


def test_a_member_that_gets_no_processor(mux):
    """A pipeline whose last program waits for a processor, on a machine where others take it, for seconds at times: that is no time to settle in."""
    need("taskset", "chrt")
    busy = [subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        for n in range(12):
            mux.ue("exec", "-n", f"s{n}", "-t", "-y", "0", "--argv", "--", "sh", "-c", "cat | taskset -c 0 chrt --idle 0 sed -u s/hello/there/").ok()
            answer = mux.js("write", "-l", "--ready", "-y", CAP * 1000, f"s{n}", "hello")
            starved = answer["wall_time_seconds"] >= 10  # what gets no processor for so long is not waited for
            assert answer["reason"] == "ready" and (starved or "there" in answer["output"]), answer
    finally:
        for process in busy:
            process.kill()
            process.wait()
