"""ue script: what a script says and does, how it ends, what it leaves behind, and what a broken, hostile or unlucky one comes to."""
import json, os, re, signal, sys

import pexpect
import pytest
from conftest import CAP, ROOT, proc_state, wait_for
from frames import painted

ASKS = "import sys\nfor word in ('name', 'town'):\n    sys.stdout.write(word + ': '); sys.stdout.flush(); print('got', sys.stdin.readline().strip())\nsys.exit(3)\n"


def script(mux, text, *operands, options=(), name="s.ue", **kw):
    (mux.dir / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return mux.ue("script", *options, name, *operands, **kw)


def live(mux):
    return sorted(row["name"] for row in mux.sessions() if row["state"] == "running")


def reports(result):
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.mark.smoke
def test_a_dialogue(mux):
    (mux.dir / "asks.py").write_text(ASKS)
    text = """#!/usr/bin/env -S ue script
timeout 60s
start a --env "WHO=${2}" --size 30x90 PYTHON asks.py   # what it is about
expect 'name: '
line "${1}"
capture got 'got (.*?)\\r\\n'
if "${got}" == "${1}" {
    print "[${got}] ${match} [${before}]"
} else {
    exit 9
}
expect {
    on 'twon: ' {
        exit 8
    }
    on '(?<what>town): ' {
        log "asked for ${match.what} ${match.1}"
    }
    on-timeout {
        exit 7
    }
}
line "it's \\e[31m ${env.HOME}"
expect {
    on 'got .*?\\r\\n' {
        again
    }
    on-exit {
        print "status ${status} by ${reason}"
    }
}
start b sh -c 'read x; echo "<$x>"; stty size; read x'
send 'a'
@b keys 'BSpace' b Enter
capture --timeout 1m seen '<(.*)>'
wait ready
repeat 5 i {
    if ${i} > 3 {
        break
    }
    if ${i} == 2 {
        continue
    }
    each word ${@} "${i}" {
        print ${word}
    }
}
print "${seen} ${3:-none} ${session}"
""".replace("PYTHON", sys.executable)
    done = script(mux, text, "a b'\"${x}", "you")
    assert done.rc == 0, done
    lines = done.out.splitlines()
    assert done.out.startswith("[a b'\"${x}] got a b'\"${x}"), done
    assert "status 3 by exit" in lines and lines[-1] == "b none b", done
    assert [line for line in lines if line in ("1", "3", "you")] == ["you", "1", "you", "3"] and done.err == "asked for town town\n", done
    assert live(mux) == []  # none is left behind
    traced = script(mux, text.replace("\n", "\r\n"), "B", "you", options=["-x"])
    assert traced.rc == 0 and "+ s.ue:3: start a --env \"WHO=${2}\" --size 30x90" in traced.err and "+ s.ue:5: @a line B\n" in traced.err, traced
    report = reports(script(mux, text, "B", "you", options=["--json"]))
    assert all(step["ok"] for step in report) and {"line", "command", "text", "session", "ms"} <= set(report[2])
    assert report[2]["command"] == "expect" and report[2]["reason"] == "until" and report[2]["output"] == "" and report[2]["match"]["text"] == "name: "
    ended = [step for step in report if step.get("reason") == "exit"]
    assert len(ended) == 1 and ended[0]["line"] == 24 and ended[0]["to"] == ended[0]["from"], ended
    os.chmod(mux.dir / "s.ue", 0o755)
    (mux.dir / "ue").symlink_to(mux.program)
    shebang = mux.spawn([str(mux.dir / "s.ue"), "B", "you"], env={**mux.env, "PATH": f"{mux.dir}:{mux.env['PATH']}"}, cwd=mux.dir, stdout=-1, stderr=-1)
    assert mux.finish(shebang).ok().out.endswith("b none b\n")
    assert mux.ue("script", "-", "x", input="start a cat\nline ${1}\nexpect 'x\\r\\n'\nprint done").ok().out == "done\n"


@pytest.mark.no_pty
def test_a_broken_script_does_nothing(mux):
    for text, words in [("log a\nexpect a {", "s.ue:2': 'expect': has no block here"), ("log a\nsned x", "s.ue:2': 'sned': no command; did you mean 'send'?"),
                        ("log a\nrepeat {\n}", "'repeat': something is missing"), ("log 'a\n", "not closed on its line"), (b"log a\nlog b\0", "a NUL byte"),
                        (b"log \xff", "no valid UTF-8"), ("log a\n" * 2000000, "more than 1048577 bytes"), ("if a == b {\n" * 40, "more than 32 blocks")]:
        for options in [], ["--dry-run"]:
            said = script(mux, text, options=options)
            assert said.rc == 64 and not said.out and words in said.err and said.err.startswith("ue: "), said
    assert mux.ue("script", "none.ue").rc == 125 and mux.ue("script").rc == 64
    for text, words in [("start a b\nexpect 'a('", "'s.ue:2': pattern 'a(': "), ("expect {\n on a\n on '[' {\n}\n}", "'s.ue:3': pattern '[': "), ("keys Enter Entr", "'s.ue:1': 'Entr'"),
                        ("log x\n" + "expect ok\n" * 100 + "fail-on a b '*'", "'s.ue:102': pattern '*': "), ("capture x '(?<a'", "'s.ue:1': ")]:
        for options in ["-n"], []:
            said = script(mux, text, options=options)
            assert said.rc == 64 and not said.out and words in said.err and "\nx\n" not in said.err, said
    good = "start a --dir / sh\nif a == b {\n    expect {\n        on \"x${env.HOME}\\n\" {\n        }\n    }\n} else if b != c {\n} else {\n    log 'y z'\n}\n"
    said = script(mux, good, options=["-n"]).ok()
    assert re.sub(r"(?m)^.{8}", "", said.out) == good and live(mux) == []
    assert [step["command"] for step in reports(script(mux, good, options=["-n", "--json"]))] == ["start", "if", "expect", "on", "if", "else", "log"]


@pytest.mark.no_pty
def test_the_page_has_the_whole_language(mux):
    """Each command has its paragraph, and all examples together are a script."""
    page = (ROOT / "conf/ue-script.7").read_text().replace("\\(aq", "'").replace("\\(dq", '"').replace("\\-", "-").replace("\\e", "\\")
    names = re.findall(r'\.name = "([a-z-]+)"', (ROOT / "client/script/words.def").read_text())
    missing = [name for name in names if not re.search(rf'(?m)^\.BI?R? "?{name}\b', page) and f"}} {name} {{" not in page]
    assert len(names) > 25 and missing == [], missing
    examples = re.findall(r"(?s)\n\.EX\n(.*?)\.EE\n", page)
    assert len(examples) > 25 and script(mux, "".join(examples), options=["-n"]).ok().out
    used = {line.split()[0] for line in "".join(examples).splitlines() if line.strip()}
    assert mux.ue("complete", "zsh", "script", "").ok().out.startswith("file ")
    assert set(names) - used <= {"else", "on-quiet", "on-timeout"}, set(names) - used


def test_how_it_ends(mux):
    head = "timeout 60s\nstart a sh -c 'echo one; read x; echo two; read x; exit 5'\n"
    for text, rc, words in [("exit 7", 7, ""), ("fail-on 'tw.'\nexpect one\nline\nexpect never", 123, "s.ue:6: expect: a pattern of fail-on has matched two in the output of 'a'"),
                            ("fail-on two\nfail-on\nexpect one\nline\nexpect two", 0, ""),
                            ("expect one\nexpect --timeout 50ms never", 124, "s.ue:4: expect: it did not come in 50 ms; the output behind the last match ends with \"\\r\\n\""),
                            ("expect one\nline\nline\nexpect never", 124, "the session has ended before it came; the output behind the last match ends with"),
                            ("line\nline\nwait exit\nline x", 125, "s.ue:6: line: 'a' (session "), ("expect {\non never\non-exit\n}", 0, ""),
                            ("expect {\non-quiet 20ms {\nexit 6\n}\n}", 6, ""), ("wait --timeout 50ms exit", 124, "it did not come in 50 ms"),
                            ("send \"x${4}\"", 64, "${4}: the script was given no operand 4"), ("repeat ${3:-x} {\n}", 64, "'x': no count of rounds"),
                            ("keys ${3:-Entr}", 125, "'Entr'"), ("expect ${3:-(}", 125, "missing closing parenthesis"), ("set x \"a\\x00\"\nkeys ${x}", 64, "NUL byte"),
                            ("start b ./nowhere", 125, "s.ue:3: start: "), ("@nobody line x", 127, "'nobody'"), ("use 99999999", 127, "99999999"),
                            ("set x \"${match}\"", 64, "${match}: is not set"), ("expect one\nprint ${match.1}", 64, "has no such group"),
                            ("if a < b {\n}", 64, "compares numbers")]:
        if "on-exit" in text:
            text = "line\nline\n" + text
        said = script(mux, head + text, "op")
        assert said.rc == rc and words in said.err and (rc in (0, 5, 6, 7)) == (not said.err), said
        assert live(mux) == [], text
    assert mux.ue("script", "-", input="line x").rc == 64
    # what is kept goes on, what is used was not begun; the same name twice is no error
    assert script(mux, "start a cat\nkeep\nstart b cat").ok() and live(mux) == ["a"]
    used = script(mux, "use a\nline hello\nexpect 'hello'\n@a line again\nstart a cat\nstart a cat\nline third\nexpect third\nprint ok").ok()
    assert used.out == "ok\n" and live(mux) == ["a"]
    assert {2, 3} <= {len(row["name"].split("-")) for row in mux.sessions()}, mux.sessions()
    closed = script(mux, "use a\nclose\nwait exit\nprint ${status}").ok()
    assert closed.out == "129\n" and live(mux) == []
    # a script that runs itself comes to an end
    (mux.dir / "self.ue").write_text(f"start a {mux.program} script self.ue\nwait exit\nlog ${{before}}\nexit ${{status}}\n")
    assert mux.ue("script", "self.ue").rc == 125 and live(mux) == []


def test_what_ends_it(mux):
    for signo, rc in (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131):
        (mux.dir / "s.ue").write_text("start a sh -c 'sleep 1000 & echo here; exec cat'\nexpect here\nstart k cat\nkeep\nlog now\n@a expect --timeout inf never\n")
        process = mux.popen("script", "s.ue")
        assert process.stderr.readline() == b"now\n"
        wait_for(lambda: mux.js("status")["waits"] == 1, "the wait")
        process.send_signal(signo)
        ended = mux.finish(process)
        assert ended.rc == rc and "s.ue:6: expect: interrupted" in ended.err and live(mux) == ["k"], ended
        mux.ue("kill", "k")
    os.mkfifo(mux.dir / "fifo")
    read, write = os.pipe()
    for source in f"from-fd {read}", "from-file fifo":
        (mux.dir / "s.ue").write_text(f"start a cat\nlog now\nsecret {source}\n")
        process = mux.popen("script", "s.ue", pass_fds=[read])
        assert process.stderr.readline() == b"now\n"
        wait_for(lambda: proc_state(process.pid) == "S", "it to read")
        process.send_signal(signal.SIGINT)
        assert mux.finish(process).rc == 130 and live(mux) == [], source
    os.close(read)
    os.close(write)
    (mux.dir / "s.ue").write_text("start a cat\nrepeat 1000000 {\nprint a-line-that-is-not-read\n}\n")
    read, write = os.pipe()
    process = mux.popen("script", "s.ue", stdout=write)
    os.close(write)
    assert os.read(read, 1)
    os.close(read)  # as `head` does
    assert mux.finish(process).rc == 141 and live(mux) == []


def test_a_person_goes_on_and_comes_back(mux):
    mux.ue("start").ok()
    (mux.dir / "s.ue").write_text("start a bash --norc\nwait ready\nattach\nline 'echo $((6*7))'\nexpect '\\n42\\r\\n'\nprint back\nline 'exit 4'\nwait exit\nexit ${status}\n")
    person = pexpect.spawn(str(mux.program), ["script", "s.ue"], env=mux.env, cwd=str(mux.dir), timeout=CAP)
    person.expect(r"bash-.*\$")
    person.send("echo by-$((1+1))-hand\r")
    person.expect(painted("by-2-hand"))
    person.send("\x1cd")
    person.expect("back")
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 4 and live(mux) == []
    assert script(mux, "start a cat\nattach").rc == 64


def test_a_daemon_that_dies_in_the_middle(mux):
    """Each line is typed once, and each answer found once, however often the worker is killed meanwhile."""
    (mux.dir / "count.py").write_text("import sys\nn = 0\nfor line in sys.stdin:\n    n += 1\n    print('no', n, line.strip(), flush=True)\n")
    (mux.dir / "s.ue").write_text(f"start c {sys.executable} count.py\nrepeat 300 i {{\n    line \"<${{i}}>\"\n    capture n 'no (\\d+) <\\d+>\\r\\n'\n"
                                  "    if ${n} != ${i} {\n        log \"${n} is not ${i}\"\n        exit 1\n    }\n}\nprint ${n}\n")
    mux.ue("start").ok()
    process, kills = mux.popen("script", "s.ue"), 0
    while process.poll() is None and kills < 30:  # the end of the sessions takes longer than the next kill
        pid = mux.js("status")["pid"]
        if process.poll() is None:
            os.kill(pid, signal.SIGKILL)
            kills += 1
            wait_for(lambda: mux.js("status").get("pid") not in (None, pid), "the next worker")
    done = mux.finish(process)
    assert done.rc == 0 and done.out == "300\n" and kills > 1 and live(mux) == [], (done, kills)


def test_secrets(mux):
    mux.configure("[defaults]\nscripts_may = secret\n")
    word = "hunter2-sesame"
    text = "start a bash --norc\nline \"read -s -p 'pass: ' x; echo; echo got ${#x}\"\nsecret from-fd ${1}\nexpect 'got (\\d+)'\nprint ${match.1}\n" \
           "line \"read -s -p 'pass: ' x; echo; echo got ${#x}\"\nsecret from-file f\nexpect 'got (\\d+)'\nprint ${match.1} ${before}\n".replace("${#x}", "\\${#x}")
    (mux.dir / "f").write_text(word + "!\n")
    for options in ["-x"], ["--json"]:
        read, write = os.pipe()
        os.write(write, word.encode() + b"\nnot this\n")
        done = script(mux, text, read, options=options, pass_fds=[read])
        os.close(read)
        os.close(write)
        assert done.rc == 0 and str(len(word)) in done.out and word not in done.out + done.err, done
    for fd in 3, 4, 77:  # not the descriptors that ue itself has there
        none = script(mux, f"start a cat\nsecret from-fd {fd}")
        assert none.rc == 64 and f"descriptor {fd} was not given; open it for ue, as in {fd}<FILE" in none.err, none
    assert script(mux, "start a cat\nsecret from-file none").rc == 125 and live(mux) == []
    mux.configure("")
    mux.ue("reload").ok()
    assert script(mux, "start a cat\nsecret from-file f").rc == 126  # as `ue secret`: for people


def test_hostile_output(mux):
    (mux.dir / "noise.py").write_text("import os, sys\nos.write(1, bytes(range(256)) * 400 + b'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')\ninput()\n")
    start = f"start a --env PYTHONUNBUFFERED=1 {sys.executable} noise.py\n"
    slow = script(mux, start + "expect --timeout 60s '(a|aa|b|a[a-z])+\\1$'")
    assert slow.rc == 125 and "takes too long" in slow.err or slow.rc == 124, slow
    assert script(mux, start + "expect '\\x00\\x01'\nexpect 'a+!'\nprint ok").ok().out == "ok\n"
    assert script(mux, start + "expect 'a!'\nprint ${before}", options=["--json"]).rc == 0
    empty = script(mux, "start a bash --norc\nrun 'PS1=; cd /; false'\nprint ${status}\nrun 'echo one; echo two; (exit 5)'\nprint \"<${output}> ${status}\"").ok()
    assert empty.out == "1\n<one\ntwo> 5\n", empty
    assert live(mux) == []


def test_expect_as_a_step(mux):
    """The same dialogue as one call, which may be repeated; and each expect goes on behind the last one."""
    rpc = mux.rpc()
    rpc.call("exec_command", {"cmd": ["sh", "-c", "while read x; do echo \"<$x>\"; echo \"($x)\"; done"], "tty": True, "name": "c"})
    wait = {"yield_time_ms": CAP * 1000}
    steps = [{"write": "one\n"}, {"write": {"chars": "two", "keys": ["Enter"]}}, {"expect": {"until": "<(t.*?)>", "capture": "word", "since": 0, **wait}},
             {"expect": {"until": {"round": r"\((?<what>.*?)\)"}, "fail_on": "<", **wait}}, {"write": ["say ", {"captured": "word"}, "\n"]}, {"expect": ["never", "<say two>"]},
             {"expect": {"until": "never", "fail_on": ["x", r"\(say"], **wait}}, {"write": "not this"}]
    params = {"session_id": "c", "steps": steps, "_meta": {"request_id": "a", "verb": True}}
    first = rpc.call("run_steps", params)
    got = first["steps"]
    assert first["completed"] == 6 and first["captured"] == {"word": "two"}, first
    assert got[3]["match"]["name"] == "round" and got[3]["match"]["named"] == {"what": "two"} and got[3]["from"] == got[2]["match"]["to"], got
    assert got[5]["match"]["index"] == 1 and got[6]["code"] == "fail_on" and got[6]["match"]["index"] == 1, got
    again = rpc.call("run_steps", params)  # as after a lost connection: nothing is typed twice
    assert again["completed"] == 6 and [step.get("match", {}).get("from") for step in again["steps"][:4]] == [step.get("match", {}).get("from") for step in got[:4]]
    assert rpc.call("read_output", {"session_id": "c", "since": 0, "yield_time_ms": 0})["output"].count("<one>") == 1
    for wrong, words in [({"write": [{"captured": "no"}]}, "no step before has captured that"), ({"write": [1]}, "an item of `write`"), ({"expect": {"capture": "x"}}, None)]:
        failed = rpc.call("run_steps", {"session_id": "c", "steps": [wrong]})
        assert words is None or words in failed["steps"][0]["error"], failed
    assert mux.ue("steps", "c", input='[{"expect": {"until": "never", "yield_time_ms": 10}}]').rc == 124
