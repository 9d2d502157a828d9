"""Commands as objects: ue run, history, output and integrate. Each command's own output and status, whoever typed it, whatever prints marks."""
import base64, json, os, re, shlex, shutil, time

from pathlib import Path

import pytest
from conftest import CAP, PATH, need, wait_for

LONG = str(CAP * 1000)


def run(mux, session, command, *options):
    return mux.ue("run", "-y", LONG, *options, session, command)


def exact(mux, session):
    """All of a session's output with its marks."""
    answer = mux.rpc().call("read_output", {"session_id": session, "since": 0, "encoding": "base64", "marks": True, "peek": True,
                                            "yield_time_ms": 0, "ready": False})
    return base64.b64decode(answer["output_base64"])


def nonce_of(mux, session):
    return re.search(rb"ue=([0-9a-f]{32});(\d+)", exact(mux, session)).groups()


@pytest.mark.smoke
def test_bash(mux):
    mux.shell()
    assert (hi := run(mux, "sh", "echo hi; false")).out == "hi\n" and hi.rc == 1 and hi.err == "", hi
    assert (end := run(mux, "sh", "cd /tmp; printf 'no end'; (exit 7)")).out == "no end" and end.rc == 7
    whole = mux.js("run", "-y", LONG, "sh", "pwd", "|", "cat", "-A")
    assert whole["command"] == "pwd | cat -A" and whole["output"] == "/tmp$\n" and whole["cwd"] == "/tmp" and whole["by"] == "marks"
    assert whole["status"] == 0 and whole["reason"] == "done" and whole["start"] <= whole["end"] and "exit_code" not in whole, whole
    again = mux.ue("poll", "--raw", "--peek", "--since", whole["from"], "sh").raw
    assert again.startswith(b"/tmp$\r\n") and whole["to"] - whole["from"] == 7
    lines = run(mux, "sh", "for i in 1 2\ndo echo $i\ndone\necho '\tend'; (exit 3)")
    assert lines.out == "1\n2\n\tend\n" and lines.rc == 3, lines
    assert (wrong := run(mux, "sh", "if then fi )(")).rc == 2 and "syntax error" in wrong.out and "fi )(" not in wrong.out, wrong
    assert run(mux, "sh", "  ").out == "" and run(mux, "sh", "true", "--raw").raw == b""
    assert run(mux, "sh", "printf '\\033[31mred\\033[0m'", "--raw").raw == b"\x1b[31mred\x1b[0m"
    assert run(mux, "sh", "printf '\\033[31mred\\033[0m'").out == "red"
    # who has typed it does not matter, and who reads the session as it comes sees no marks
    assert mux.line("sh", "echo typed; (exit 9)")["output"].count("typed") == 2
    rows = [line.split("\t") for line in mux.ue("history", "sh").ok().out.splitlines()]
    assert [row[1] for row in rows if row[6].startswith("echo typed")] == ["9"] and rows[-1][5] == "agent", rows
    assert rows[1][4] != "/tmp" and rows[2][4] == "/tmp" and float(rows[0][3]) >= 0
    assert mux.ue("output", "sh").ok().out == "typed\n" and mux.ue("output", "sh", rows[0][0]).ok().out == "hi\n"
    told = mux.js("output", "sh", "-1")
    assert told["status"] == 9 and told["command"] == "echo typed; (exit 9)" and told["output"] == "typed\n"
    assert mux.js("history", "--last", "1", "sh")["commands"][0]["id"] == told["id"]
    for which in "-99", "x", "1":
        assert (gone := mux.ue("output", "sh", which)).rc == 125 and f"'{which}'" in gone.err, gone
    # what is not ended
    assert (quote := run(mux, "sh", "echo 'open")).rc == 125 and quote.out == "" and "rest of this command" in quote.err, quote
    assert (busy := run(mux, "sh", "true")).rc == 125 and "rest of a command" in busy.err, busy
    given = mux.js("run", "--interrupt-incomplete", "-y", LONG, "sh", "true")
    assert given["status"] == 0, given
    given = mux.js("run", "--interrupt-incomplete", "-y", LONG, "sh", "echo 'open")
    assert given["incomplete"] and given["interrupted"] and "status" not in given, given
    asks = mux.js("run", "-y", LONG, "sh", "read -p 'name? ' name")
    assert "status" not in asks and asks["by"] == "prompt" and asks["running"] and asks["output"] == "name? ", asks
    assert (busy := run(mux, "sh", "true")).rc == 125 and "busy" in busy.err, busy
    mux.line("sh", "me")
    late = mux.ue("run", "-y", "100", "--json", "sh", "read -s; echo $name; exit 5")
    assert late.rc == 0 and late.json["waiting_for"] == "secret", late  # it reads a secret
    assert run(mux, "sh", "true").rc == 125
    late = mux.ue("write", "-y", LONG, "-k", "Enter", "--exit", "sh")
    assert late.rc == 5, late
    assert mux.ue("run", "sh", "true").rc == 125
    assert mux.js("history", "sh")["commands"][-1]["running"] and mux.ue("output", "sh").ok().out.startswith("me")


def test_marks_are_believed_from_the_shell_only(mux):
    mux.shell()
    run(mux, "sh", "true").rc
    nonce, level = nonce_of(mux, "sh")
    forged = [b"\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07", b"\x1b]633;D;0\x07", b"\x1b]133;D;ue=" + b"0" * 32 + b";%s;0\x07" % level,
              b"\x1b]133;D;ue=" + nonce[:-1], b"\x1b]52;c;" + b"x" * (1 << 20), b"\x9d133;D;ue=%s;%s;0\x9c" % (nonce, level)]
    (mux.dir / "forged").write_bytes(b"\r\n".join(forged))
    answer = mux.js("run", "-y", LONG, "sh", f"cat {mux.dir}/forged; sleep 0.3; printf 'last\\n'; (exit 4)")
    assert answer["status"] == 4 and answer["output"].endswith("last\n") and answer["by"] == "marks", answer
    # a child that knows the nonce ends nothing early: the kernel says who is in the foreground
    (mux.dir / "true").write_bytes(b"\x1b]133;D;ue=%s;%s;0\x07\x1b]133;A;ue=%s;%s\x07$ \x1b]133;B;ue=%s;%s\x07" % ((nonce, level) * 3))
    began = time.monotonic()
    answer = mux.js("run", "-y", LONG, "sh", f"cat {mux.dir}/true; sleep 0.3; (exit 4)")
    assert time.monotonic() - began >= 0.3 and answer["by"] == "marks", answer
    assert run(mux, "sh", "echo on; (exit 2)").rc == 2
    # hooks that are gone cost the status, and nothing hangs: the prompt has its mark, or the kernel knows
    gone = mux.js("run", "-y", LONG, "sh", "old=(\"${PROMPT_COMMAND[@]}\"); unset PROMPT_COMMAND; echo gone; (exit 3)")
    assert gone["output"] == "gone\n" and "status" not in gone and gone["by"] == "marks", gone
    bare = mux.js("run", "-y", LONG, "sh", "PS0= PS1='sh> '; echo bare")
    assert bare["output"].startswith("bare\n") and bare["reason"] == "ready" and "status" not in bare, bare
    assert run(mux, "sh", "echo again; (exit 3)").rc == 3
    assert run(mux, "sh", "echo on; (exit 2)").rc == 2
    # no child has it in its environment, and no copy for people or programs shows it
    assert nonce not in run(mux, "sh", "env; cat /proc/$$/environ", "--raw").raw
    mux.ue("record", "sh").ok()
    run(mux, "sh", "echo recorded")
    copies = [mux.ue("poll", "--raw", "--peek", "--since", "0", "sh").raw, mux.ue("poll", "--json", "--peek", "--since", "0", "sh").raw,
              mux.ue("poll", "--text", "--peek", "--since", "0", "sh").raw, mux.ue("logs", "sh").raw,
              json.dumps(mux.js("screen", "sh")).encode()]
    mux.ue("record", "--stop", "sh").ok()
    casts = list(mux.state.rglob("*.cast"))
    assert casts and all(b"recorded" in cast.read_bytes() for cast in casts)
    ours = re.compile(rb"(\x1b|\\\\u001b|\\u001b)\]133;.;ue[;=]" + b"(;|" + nonce + b";)")
    for copy in [*copies, *(cast.read_bytes() for cast in casts)]:
        assert not ours.search(copy), copy[-2000:]
    assert ours.search(exact(mux, "sh"))


def test_shells_and_python(mux):
    """The same answers from all that are known, and history survives the worker."""
    shells = [("dash", "PS1=d> "), ("zsh", "X=y")]
    for name, _ in shells:
        need(name)
    mux.session("dash", "dash", options=("-e", "PS1=d> "))
    mux.session("zsh", "zsh -f")
    for name in "dash", "zsh":
        assert (answer := run(mux, name, "cd /; echo hi; false")).out == "hi\n" and answer.rc == 1, answer
        answer = mux.js("run", "-y", LONG, name, "printf nonl; (exit 7)")
        assert answer["output"] == "nonl" and answer["status"] == 7 and answer["by"] == "marks" and answer["cwd"] == "/", answer
        assert mux.js("run", "-y", LONG, name, "echo 'open")["incomplete"]
        mux.ue("write", "-k", "C-c", name).ok()
        assert run(mux, name, "echo on").out == "on\n"
    mux.session("py", "python3", "-q", options=("-e", "TERM=dumb"))
    assert run(mux, "py", "1 + 1").out == "2\n"
    wrong = run(mux, "py", "print('x'); 1/0")
    assert wrong.rc == 1 and wrong.out.startswith("x\nTraceback") and wrong.out.endswith("division by zero\n"), wrong
    assert run(mux, "py", "for i in range(3):\n    print(i)\n").out == "0\n1\n2\n"
    assert run(mux, "py", "import os, time; time.sleep(0.2); print(os.getcwd())").out == f"{mux.dir}\n"
    assert mux.js("run", "-y", LONG, "py", "(1,")["incomplete"]
    mux.ue("write", "-k", "C-c", "py").ok()
    before = {name: mux.js("history", name)["commands"] for name in ("dash", "zsh", "py")}
    worker = mux.rpc().call("status")["pid"]
    os.kill(worker, 9)
    wait_for(lambda: mux.js("status").get("pid") not in (None, worker), "another worker")
    for name, commands in before.items():
        after = mux.js("history", name)["commands"]
        assert [(c["id"], c.get("status"), c["from"], c.get("to")) for c in after] == [
            (c["id"], c.get("status"), c["from"], c.get("to")) for c in commands]
        assert [c["command"] for c in after][0] == commands[0]["command"]
    assert run(mux, "zsh", "echo on").out == "on\n" and mux.ue("output", "zsh", "-2").out == "on\n"
    # the worker dies in the middle of two commands: ue asks again, and each has its own answer, once
    runs = [mux.popen("run", "--json", name, text) for name, text in (("zsh", "echo one; sleep 0.7; (exit 5)"), ("py", "import time; time.sleep(0.7); 6 * 7"))]
    wait_for(lambda: all(mux.js("history", "zsh")["commands"][-1]["running"] for _ in (1,)) and b"0.7" in exact(mux, "py"), "both to be typed")
    worker = mux.rpc().call("status")["pid"]
    os.kill(worker, 9)
    one, two = (mux.finish(process) for process in runs)
    assert one.json["output"] == "one\n" and one.rc == 5 and two.json["output"] == "42\n" and two.rc == 0, (one, two)
    assert [c["command"] for c in mux.js("history", "py")["commands"]].count("import time; time.sleep(0.7); 6 * 7") == 1
    # a session that ends in the middle
    assert (left := mux.js("run", "-y", LONG, "py", "print('bye', flush=True); os._exit(3)"))["status"] == 3, left
    assert left["output"] == "bye\n" and left["by"] == "exit" and left["state"] == "exited"


def test_nested_and_unknown_programs(mux):
    """A shell inside of an integrated one has commands of its own; a program that nobody knows goes by its prompt and the echo."""
    mux.shell()
    assert (inner := mux.js("run", "-y", LONG, "sh", "env -i PS1='in> ' bash --norc"))["running"] and inner["by"] == "prompt", inner
    assert run(mux, "sh", "echo inside; (exit 3)").rc == 3
    assert mux.js("integrate", "sh")["already"]
    outer = mux.js("run", "-y", LONG, "sh", "exit 6")
    assert outer["by"] in ("marks", "prompt"), outer
    commands = mux.js("history", "sh")["commands"]
    assert [c.get("status") for c in commands if c["command"].startswith("env")] == [6], commands
    assert [c["command"] for c in commands if c["running"]] == [] and [c.get("status") for c in commands if c["command"] == "exit 6"] == [None], commands
    assert run(mux, "sh", "echo outside").out == "outside\n"
    # as behind ssh: the terminal is another one, and the kernel knows nothing of who reads it; a relay is no REPL, and is not asked
    relay = f"import os, pty; os.environ['PS1'] = 'far> '; pty.spawn(['bash', '--norc'])"
    mux.ue("write", "-y", LONG, "--until", "far> ", "-l", "sh", f"python3 -c {shlex.quote(relay)}").ok()
    assert mux.js("run", "-y", LONG, "sh", "echo there")["by"] == "prompt"
    assert mux.ue("integrate", "sh").ok().out == "sh: is integrated\n"
    far = mux.js("run", "-y", LONG, "sh", "sleep 0.4; echo far; (exit 4)")
    assert far["by"] == "marks" and far["output"] == "far\n" and far["status"] == 4, far
    run(mux, "sh", "exit")
    assert mux.js("run", "-y", LONG, "sh", "echo near")["by"] == "marks" and not any(c["running"] for c in mux.js("history", "sh")["commands"])
    assert (wrong := mux.ue("integrate", "--as", "cobol", "sh")).rc == 125 and "'cobol': can't be integrated; known are bash" in wrong.err
    (mux.dir / "repl.py").write_text("import sys\nwhile True:\n    line = input('? ')\n    print(line.upper())\n")
    mux.session("own", f"exec -a repl python3 {mux.dir}/repl.py", options=("-s", "/bin/bash"))
    answer = mux.js("run", "-y", LONG, "own", "hello")
    assert answer["by"] == "prompt" and answer["output"] == "HELLO\n" and "status" not in answer, answer
    mux.ue("exec", "-n", "pipe", "--stdin", "-y", "0", "--argv", "cat").ok()
    assert (pipe := mux.ue("run", "pipe", "x")).rc == 125 and "no terminal" in pipe.err
    mux.configure("[defaults]\nintegrate = no\n")
    mux.ue("reload").ok()
    mux.session("plain", "dash", options=("-e", "PS1=d> "))
    assert (answer := mux.js("run", "-y", LONG, "plain", "echo hi"))["by"] == "prompt" and answer["output"] == "hi\n", answer
    assert (history := mux.ue("history", "plain")).rc == 125 and "ue integrate plain" in history.err
    mux.ue("integrate", "plain").ok()
    assert mux.js("run", "-y", LONG, "plain", "echo hi")["by"] == "marks"


def test_silence_ends_no_command(mux):
    """node reads keys while it waits for a child, and the kernel can't tell that from a prompt."""
    need("node")
    mux.shell()
    answer = mux.js("run", "-y", LONG, "sh",
                    """node -e 'process.stdin.setRawMode(true); process.stdin.resume(); require("child_process").exec("sleep 0.6", () => process.exit(5))'""")
    assert answer["status"] == 5 and answer["by"] == "marks", answer


REPLS = [  # program, how it is started, what it is asked: command, its output, its status
    ("node", "node", [("1+1", "2\n", 0), ("throw new Error('x')", "Uncaught Error: x\n", 1), ("await new Promise(r => setTimeout(() => r(5), 300))", "5\n", 0)], "[1,"),
    ("ipython3", "ipython3 --no-banner --colors=NoColor", [("1+1", "Out[2]: 2\n", 0), ("1/0", None, 1), ("for i in range(2):\n    print(i)", "0\n1\n", 0)], "f(1,"),
    ("irb", "irb", [("1+1", "=> 2\n", 0), ("raise 'x'", None, 1), ("puts 'a'; sleep 0.3; 3", "a\n=> 3\n", 0)], "[1,"),
    ("gdb", "gdb -q -nx", [("print 1+1", "$1 = 2\n", None), ("nosuch", 'Undefined command: "nosuch".  Try "help".\n', None)], None),
    ("lua5.4", "lua5.4", [("print(1+1)", "2\n", None), ("1+2", "3\n", None)], None),  # ^C at its prompt ends it
    ("fish", "fish --no-config", [("echo hi; false", "hi\n", 1), ("cd /; echo $PWD", "/\n", 0), ("for i in 1 2\necho $i\nend", "1\n2\n", 0)], 'echo "'),
]


def test_repls(mux):
    """Each by its adapter: its own output, its status where it has one, and what is not complete."""
    missing = [program for program, *_ in REPLS if not shutil.which(program, path=PATH)]
    for program, start, commands, more in REPLS:
        if program in missing:
            continue
        mux.session(program, start)
        for command, output, status in commands:
            answer = mux.js("run", "-y", LONG, program, command)
            assert answer["by"] == "marks" and answer.get("status") == status and output in (None, answer["output"]), (program, answer)
        if more:
            assert mux.js("run", "-y", LONG, program, more).get("incomplete"), program
            given = mux.js("run", "--interrupt-incomplete", "-y", LONG, program, commands[0][0])
            assert given["by"] == "marks" and given["output"].rstrip().endswith(commands[0][1].split()[-1]), (program, given)
        told = mux.js("history", program)["commands"]
        assert [c["command"] for c in told if c["command"].strip()][:1] == [commands[0][0]] and not any(c["running"] for c in told), (program, told)
        assert more not in [c["command"] for c in told], (program, told)
    if missing:
        pytest.skip(f"all others are tried; not installed: {' '.join(missing)}")


def test_patterns_do_not_see_marks(mux):
    """A prompt is at the end of the output, and a command's output at the beginning of a line, as without marks; offsets count all bytes."""
    mux.shell()
    run(mux, "sh", "PS1='ask> '").ok()
    said = mux.js("write", "-y", LONG, "-l", "--until", "ask> $", "sh", "echo hi")
    whole, match = exact(mux, "sh"), said["match"]
    assert said["reason"] == "until" and match["text"] == "ask> " and whole[match["from"]:match["to"]] == b"ask> ", (said, whole)
    said = mux.js("write", "-y", LONG, "-l", "--count", 2, "--until", r"(?m)^a(\d)\r$", "sh", "for i in 1 2; do echo a$i; done")
    whole, match = exact(mux, "sh"), said["match"]
    assert match["groups"][0] == "2" and whole[match["from"]:match["to"]] == b"a2\r", (said, whole)
    nonce, level = nonce_of(mux, "sh")
    mark = b"\x1b]133;W;ue=" + nonce + b";" + level + b";/x\x07"
    Path(mux.dir, "marks").write_bytes(b"on" + mark + b"e " + mark + mark + b"two" + mark + b"\n")
    said = mux.js("write", "-y", LONG, "-l", "--in-line", "--until", "(?m)^(one) (two)", "sh", f"cat {mux.dir}/marks")
    whole, match = exact(mux, "sh"), said["match"]
    assert match["groups"] == ["one", "two"] and match["line"] == "one two", said
    assert whole[match["from"]:match["to"]] == b"on" + mark + b"e " + mark + mark + b"two", (said, whole)
