"""client/lib/python/ue.py: the tools over the socket, sessions, what goes wrong, and the shape of pexpect."""
import contextlib, importlib.util, json, math, os, random, signal, socket, subprocess, sys, threading, time

import pexpect as pty
import pytest
from conftest import CAP, ROOT, UE, need, wait_for
from test_reconnect import Dying

LIB = ROOT / "client/lib/python/ue.py"


def load():
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("ue", LIB)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ue"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ue(mux, monkeypatch):
    """The module, in the environment of the test's daemon, which it may start."""
    for key, value in {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "PS1": "sh> "}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("PROMPT_COMMAND", raising=False)
    module = load()
    yield module
    module._close_spawned()


def worker(client):
    return client.status().pid


def test_tools_sessions_and_errors(mux, ue, monkeypatch, request):
    place = mux.dir / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("FROM_HERE", "yes")
    before = os.umask(0o27)
    request.addfinalizer(lambda: os.umask(before))
    with pytest.raises(ue.NoDaemon) as caught:
        ue.Client(start=False).list_sessions()
    assert caught.value.code == "no_daemon" and "nobody listens" in caught.value.message
    with ue.Client() as client:
        # the tools, in the caller's place
        answer = client.exec_command(cmd="pwd; echo $FROM_HERE; umask; exit 3")
        assert answer.output == f"{place}\nyes\n0027\n", answer
        assert answer.exit_code == 3 and answer["exit_code"] == 3 and answer.nothing_of_that_name is None
        answer = client.call("exec_command", {"cmd": ["printf", r"\377\000x"]}, encoding="base64")
        assert answer.exact == b"\xff\0x"
        # a session
        py = client.begin(["python3", "-q"], name="py", timeout=CAP)
        assert py.greeting == ">>> " and py.name == "py" and py.running and py.exit_status is None
        assert py.ask("6 * 7", timeout=CAP) == "6 * 7\r\n42\r\n>>> " and py.last.reason == "ready"
        assert "42" in py.ask("6 * 7", plain=True, timeout=CAP) and "\r" not in py.last.output
        py.line("import time; print(10 ** 3); time.sleep(0.2); print(10 ** 6)")
        shown = py.until(r"1000000\r\n", timeout=CAP)
        shown += py.ready(timeout=CAP)
        assert shown.endswith("\r\n1000\r\n1000000\r\n>>> ") and shown.startswith("import time") and py.read() == ""
        with pytest.raises(ue.TimedOut) as caught:
            py.wait(until="never", timeout=0.1)
        assert caught.value.code == "timeout" and caught.value.answer.reason == "deadline" and isinstance(caught.value, TimeoutError)
        with pytest.raises(ue.Failed) as caught:
            py.ask("1 / 0", until="nothing", fail_on=r"Zero\w+", timeout=CAP)
        assert caught.value.code == "fail_on" and caught.value.answer.match["text"] == "ZeroDivisionError", caught.value.answer
        py.ready(timeout=CAP)
        # what comes with a match is returned with it, and still counts for the next wait
        both = client.begin("echo one; echo two; sleep 1000", tty=False, until="one\n")
        wait_for(lambda: both.info().output_bytes == 8)
        assert both.greeting + both.until("two\n", timeout=CAP) == "one\ntwo\n" and both.read(timeout=0.01) == ""
        with pytest.raises(ue.TimedOut):
            both.until("two", timeout=0.05)
        both.kill()
        assert py.screen().rstrip().endswith(">>>") and client.session("py").number == py.number
        py.resize(10, 40)
        assert (py.info().rows, py.info().cols) == (10, 40)
        ran = py.run("6 * 7", timeout=CAP)
        assert (ran.output, ran.status, ran.by) == ("42\n", 0, "marks") and py.read() in ("", ">>> ")
        with pytest.raises(ue.TimedOut) as caught:
            py.run("import time; time.sleep(1000)", timeout=0.3)
        assert caught.value.answer.reason == "deadline" and caught.value.answer.running is not False
        py.press("C-c")
        py.until("KeyboardInterrupt", timeout=CAP)
        py.ready(timeout=CAP)
        # what the config describes
        mux.configure("[session pipe]\ncmd = echo hi\ntty = no\n")
        client.reload()
        pipe = client.begin(name="pipe", timeout=CAP)
        assert pipe.greeting + pipe.read() == "hi\n" and pipe.tty is False and pipe.ended(timeout=CAP) == 0
        # more calls than one connection may have, and room for what ends them
        fifo = client.begin(["cat"], name="many", wait=False)
        waiting = [threading.Thread(target=fifo.client.read_output, kwargs={"session_id": "many", "until": "go", "yield_time_ms": CAP * 1000, "peek": True})
                   for _ in range(150)]
        for thread in waiting:
            thread.start()
        wait_for(lambda: client.status().waits == 150, "the waits")
        fifo.line("go")
        for thread in waiting:
            thread.join(CAP)
        assert not any(thread.is_alive() for thread in waiting) and client.status().waits == 0
        fifo.kill()
        # any bytes, of any length, in; a character that comes in two pieces, out
        cat = client.begin(["cat"], tty=False, stdin=True, wait=False, encoding=None)
        data = bytes(range(256)) * 3000
        cat.write(data, eof=True)
        assert cat.ended(timeout=CAP) == 0 and cat.place == 0 and cat.read() == data and cat.place == len(data)
        assert client.session(cat.number, place=0, encoding=None).read() == data
        nul = client.begin("od -An -c", tty=False, stdin=True, wait=False)
        nul.write("a\0b", eof=True)
        assert nul.ended(timeout=CAP) == 0 and nul.read().split() == ["a", "\\0", "b"]
        half = client.begin("printf '\\303'; read -r x; printf '\\244'", tty=False, stdin=True, wait=False)
        wait_for(lambda: half.info().output_bytes == 1)
        assert half.read() == ""
        half.line()
        assert half.read(timeout=CAP) == "ä" and half.ended(timeout=CAP) == 0
        # its end
        with pytest.raises(ue.Ended) as caught:
            py.ask("exit(4)", until="never", timeout=CAP)
        assert caught.value.code == "ended" and caught.value.answer.exit_code == 4 and py.exit_status == 4 and not py.running
        ended = client.begin(["sleep", "1000"], wait=False).kill()
        assert ended.state == "killed" and ended.survivors == 0, ended
        # errors
        for code, tool, arguments in (("no_such_session", "read_output", {"session_id": "nobody"}), ("no_such_method", "nonsense", {}),
                                      ("arguments", "exec_command", {"cmd": 5}), ("pattern", "exec_command", {"cmd": "true", "until": "("}),
                                      ("arguments", "exec_command", {"cmd": "\udcff"}), ("usage", "attach", {"session_id": "py"})):
            with pytest.raises(ue.Error) as caught:
                client.call(tool, arguments)
            assert caught.value.code == code and caught.value.message, (tool, caught.value)
        assert [row.name for row in client.sessions() if row.name == "py"] == []
        py.remove()
        with pytest.raises(ue.Error, match="no session"):
            py.info()
    assert client.daemon.protocol == 1 and client.list_sessions()["sessions"] == []  # closed, and connected again by the next call


def test_events(mux, ue):
    with ue.Client() as client:
        events = client.events("created", "end")
        got, other = [], []
        with client.listen(got.append, "end") as listener:
            assert client.exec_command(cmd="exit 5", name="one").exit_code == 5
            assert [(e.type, e.name) for e in (next(events), next(events))] == [("created", "one"), ("end", "one")]
            wait_for(lambda: got, "the callback")
        assert got[0]["type"] == "end" and got[0]["exit_code"] == 5 and listener.error is None
        later = client.events("created", since=events.next_seq)
        client.exec_command(cmd="true", name="two")
        assert next(later).name == "two"
        thread = threading.Thread(target=lambda: other.extend(events))
        thread.start()
        wait_for(lambda: len(other) == 2, "the events in the thread")
        events.close()
        thread.join(CAP)
        assert not thread.is_alive() and [e.name for e in other] == ["two", "two"]
        broken = client.listen(lambda event: event["no such member"], "end")
        client.exec_command(cmd="true")
        wait_for(lambda: broken.error, "the callback's exception")
        assert isinstance(broken.error, KeyError)


def test_threads_over_dying_workers(mux, ue):
    """Calls of 20 threads on one connection, while the worker is killed and the daemon upgraded: each is done exactly once."""
    client, log, rounds, threads, wrong = ue.Client(), mux.dir / "log", 16, 20, []
    left = threading.Semaphore(0)

    def work(i):
        try:
            shell = client.begin(["sh"], name=f"s{i}", tty=False, stdin=True, wait=False, encoding=None)
            for k in range(rounds):
                client.write_stdin(session_id=shell.number, chars=f"echo {i}.{k} >>{log}; echo done{k}\n", until=f"done{k}\n", yield_time_ms=CAP * 1000)
                assert client.exec_command(cmd=f"echo {i}:{k} >>{log}; exit {k}").exit_code == k
                left.release()
            shell.write(eof=True)
            assert shell.ended(timeout=CAP) == 0
            assert shell.read() == b"".join(b"done%d\n" % k for k in range(rounds))
        except BaseException as e:  # told by the test's own thread
            wrong.append(e)
    running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    client.hello()
    for thread in running:
        thread.start()
    asking = ue.Client()
    pids = {worker(asking)}
    for turn in range(4):
        for _ in range(threads * rounds // 6):
            assert left.acquire(timeout=CAP), wrong
        if turn == 3:
            assert asking.upgrade().version
        else:
            os.kill(worker(asking), signal.SIGKILL)
        pids.add(worker(asking))
    for thread in running:
        thread.join(CAP)
    assert not wrong and len(pids) >= 4, (wrong, pids)
    lines = log.read_text().split()
    assert len(lines) == len(set(lines)) == threads * rounds * 2
    assert len(client.sessions()) == 0 and not client._pending


def test_a_wait_is_cancelled_and_its_program_goes_on(mux, ue):
    client, asking = ue.Client(), ue.Client()
    session = client.begin(["cat"], name="cat", wait=False)

    def interrupt():
        wait_for(lambda: asking.status().waits == 1, "the wait")
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.wait(until="never", timeout=None)
    thread.join()
    wait_for(lambda: asking.status().waits == 0, "the end of the wait in the daemon")
    with pytest.raises(ue.TimedOut):
        client.call("read_output", session_id="cat", until="never", yield_time_ms=math.inf, _timeout=0.05)
    wait_for(lambda: asking.status().waits == 0, "the end of the wait in the daemon")
    assert session.running and session.ask("here", until="here", timeout=CAP).endswith("\r\nhere\r\n")
    # ^C at any moment, while other threads call: nothing hangs, nothing is mixed up, nothing is left waiting
    armed, over, wrong, hits, done = threading.Event(), threading.Event(), [], 0, [0]

    def others():
        while not over.is_set():
            done[0] += 1
            if client.exec_command(cmd=f"echo {done[0]}").exit_code != 0:
                wrong.append(done[0])

    def interrupting():
        while not over.is_set():
            armed.wait()
            armed.clear()
            if not over.wait(random.random() / 500):
                os.kill(os.getpid(), signal.SIGINT)
    threads = [threading.Thread(target=others), threading.Thread(target=interrupting)]
    for thread in threads:
        thread.start()
    while hits < 200:
        try:
            armed.set()
            while True:
                assert session.ask(f"{hits}!", until=f"{hits}!", timeout=CAP) and client.call("hello").protocol == 1
        except KeyboardInterrupt:
            hits += 1
    over.set()
    armed.set()
    for thread in threads:
        thread.join(CAP)
    assert not wrong and done[0] > 1 and not any(thread.is_alive() for thread in threads) and not client._pending
    wait_for(lambda: asking.status().waits == 0, "the end of the waits in the daemon")
    # a fork's child has a connection of its own
    pid = os.fork()
    if pid == 0:
        os._exit(0 if client.session("cat").running else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 and session.running
    blocked = []
    thread = threading.Thread(target=lambda: blocked.append(pytest.raises(ue.Cancelled, session.wait, until="never", timeout=None)))
    thread.start()
    wait_for(lambda: asking.status().waits == 1, "the wait")
    client.close()
    thread.join(CAP)
    assert blocked and session.running
    session.kill()


class Fake(Dying):
    """Somebody who listens and answers hello, and then with what is given; where hold is set, the connection stays."""

    def __init__(self, path, reply, protocol=1, hold=False):
        self.reply, self.protocol, self.hold = reply, protocol, hold
        super().__init__(path)

    def serve(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            with conn, conn.makefile("rb") as lines, contextlib.suppress(OSError):  # who asks may be gone
                for line in lines:
                    request = json.loads(line)
                    self.requests.append(request)
                    hello = {"jsonrpc": "2.0", "id": request["id"], "new": 1, "result": {"protocol": self.protocol, "version": "9.9", "x": []}}
                    conn.sendall(json.dumps(hello).encode() + b"\n" if request["method"] == "hello" else self.reply(request))
                    if request["method"] != "hello" and not self.hold:
                        break


@pytest.mark.no_pty
def test_what_answers_is_no_muxd(mux, ue, monkeypatch):
    monkeypatch.setattr(ue, "_STALL_S", 0.3)
    monkeypatch.setattr(ue, "_ANSWER_MAX", 1 << 17)
    for reply, more, code, words in (
            (lambda r: b"no json\n", {}, "protocol", "can't be read"),
            (lambda r: b"[1]\n", {}, "protocol", "can't be read"),
            (lambda r: b"\xff\xfe{}\n", {}, "protocol", "can't be read"),
            (lambda r: b"[" * 100000 + b"\n", {}, "protocol", "can't be read"),
            (lambda r: b'{"jsonrpc": "2.0", "id": %d, "result": 5}\n' % r["id"], {}, "protocol", "without a result"),
            (lambda r: b'{"jsonrpc": "2.0", "id": null, "error": {"message": "odd", "data": {"code": "parse"}}}\n', {}, "parse", "odd"),
            (lambda r: b'{"jsonrpc": "2.0", "id"', {"hold": True}, "protocol", "half an answer"),
            (lambda r: b"x" * (1 << 18), {"hold": True}, "too_large", "ask for less"),
            (lambda r: b'{"jsonrpc": "2.0", "id"', {}, "internal", "has ended 40 times"),
            (lambda r: b"", {"protocol": 2}, "protocol", "speaks protocol 2")):
        fake = Fake(mux.socket, reply, **more)
        client = ue.Client(start=False)
        with pytest.raises(ue.Error) as caught:
            client.list_sessions(_timeout=CAP)
        assert caught.value.code == code and words in caught.value.message, caught.value
        if code == "internal":  # the same request, and each time how long it has waited
            asked = [r for r in fake.requests if r["method"] == "list_sessions"]
            assert len(asked) == 41 and len({r["params"]["_meta"]["request_id"] for r in asked}) == 1
            assert "waited_ms" not in asked[0]["params"]["_meta"] and asked[-1]["params"]["_meta"]["waited_ms"] >= 0
        client.close()
        fake.close()
        mux.socket.unlink()
    # members that nobody knows yet; notifications; answers to nobody
    told = []
    monkeypatch.setattr(ue, "_HELLO_S", 0.1)  # nobody takes the connection: as after a SIGKILL to all of a service
    deaf = socket.socket(socket.AF_UNIX)
    deaf.bind(str(mux.socket))
    deaf.listen()
    with pytest.raises(ue.NoDaemon, match="has not answered"):
        ue.Client(start=False).list_sessions()
    deaf.close()
    mux.socket.unlink()
    monkeypatch.setattr(ue, "_HELLO_S", CAP)
    fake = Fake(mux.socket, lambda r: b'{"jsonrpc":"2.0","method":"approval","params":{"state":"asked"}}\n{"jsonrpc":"2.0","id":999,"result":{}}\n'
                b'{"jsonrpc":"2.0","id":%d,"result":{"sessions":[],"later":{"a":1}},"more":[]}\n' % r["id"], hold=True)
    with ue.Client(on_approval=told.append) as client:
        assert client.list_sessions().later == {"a": 1} and told == [{"state": "asked"}] and fake.requests[-1]["params"]["_meta"]["notify"] is True
    fake.close()


@pytest.mark.no_pty
def test_where_the_socket_may_be(mux, ue, monkeypatch):
    """The default places, and who may write there."""
    monkeypatch.delenv("MUXD_SOCKET")
    with ue.Client() as client:
        client.list_sessions()
        assert client.socket == f"{mux.dir}/muxd/muxd.sock" and mux.js("status", env={"MUXD_SOCKET": client.socket})["pid"] == worker(client)
        os.chmod(mux.dir / "muxd", 0o755)
        with pytest.raises(ue.Error, match=r"open to others \(mode 0755\)"):
            ue.Client().list_sessions()
        (mux.dir / "other").mkdir(0o700)
        (mux.dir / "other/muxd").symlink_to(mux.dir / "muxd")
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(mux.dir / "other"))
        with pytest.raises(ue.Error, match="symbolic link"):
            ue.Client(start=False).list_sessions()
        with pytest.raises(ue.Error, match="107 bytes"):
            ue.Client("/tmp/" + "x" * 108).list_sessions()
        with pytest.raises(ue.NoDaemon, match="does not exist"):
            ue.Client(str(mux.dir / "none/s")).list_sessions()
        with pytest.raises(ue.Error, match="no such program"):
            ue.Client(str(mux.dir / "t"), ue="/nowhere/ue").list_sessions()
        client.stop()
    os.chmod(mux.dir / "muxd", 0o700)
    monkeypatch.setenv("MUXD_SOCKET", str(mux.socket))
    # many at once start one daemon
    pids, clients = [], [ue.Client() for _ in range(8)]
    threads = [threading.Thread(target=lambda c=c: pids.append(worker(c))) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(CAP)
    assert len(pids) == 8 and len(set(pids)) == 1
    # a daemon that was stopped meanwhile is started again
    mux.ue("stop").ok()
    assert worker(clients[0]) != pids[0]


def test_the_shape_of_pexpect(mux, ue):
    pexpect = ue.pexpect
    with pytest.raises(pexpect.ExceptionPexpect, match="not found or was not executable"):
        pexpect.spawn("no-such-program-here")
    child = pexpect.spawn("python3 -q", timeout=CAP)
    assert child.expect(">>> ") == 0 and child.before == b"" and child.after == b">>> "
    for n in range(30):  # a loop at one prompt, with output that has the prompt in it
        assert child.sendline("print('%d', '>>' + '> x')" % n) == len("print('%d', '>>' + '> x')\n" % n)
        assert child.expect_exact(b">>> x\r\n") == 0 and child.before.endswith(b"%d " % n)
        assert child.expect([r"nothing", r">>> "]) == 1 and child.before == b""
    child.sendline("print('a1b22c')")
    assert child.expect([r"c\r\n", r"(\d+)b(?P<two>\d+)", pexpect.EOF]) == 1 and child.match.group("two") == b"22" and child.match_index == 1
    assert child.after == b"1b22" and child.expect("c'") == 0  # what follows is still there: the echo's end
    assert child.expect(["never", pexpect.TIMEOUT], timeout=0.1) == 1 and child.after is pexpect.TIMEOUT and b">>> " in child.before
    with pytest.raises(pexpect.TIMEOUT):
        child.expect("never", timeout=0)
    child.expect(">>> ")
    assert child.isalive() and child.getwinsize() == (24, 80) and child.exitstatus is None
    child.setwinsize(30, 100)
    child.sendline("import os; os.get_terminal_size()")
    child.expect(r"columns=(\d+), lines=(\d+)")
    assert child.match.groups() == (b"100", b"30")
    child.sendline("import sys; sys.exit(3)")
    assert child.expect([">>> never", pexpect.EOF]) == 1 and child.wait() == 3 and not child.isalive()
    child.close()
    assert (child.exitstatus, child.signalstatus, os.waitstatus_to_exitcode(child.status)) == (3, None, 3)
    with pytest.raises(ValueError):
        child.read()
    # a worker that dies between and in the calls
    child = pexpect.spawnu("cat", timeout=CAP)
    for n in range(6):
        child.sendline(f"line {n}")
        if n % 2:
            os.kill(worker(child._client), signal.SIGKILL)
        child.expect_exact(f"line {n}\r\nline {n}\r\n")
        assert child.before == ""
    child.sendintr()
    child.expect(pexpect.EOF)
    assert child.wait() is None and child.signalstatus == signal.SIGINT and child.status == signal.SIGINT
    # lines, iteration, files
    log = (mux.dir / "log").open("w+")
    with pexpect.spawnu("sh", ["-c", "echo one; printf 'two\\nrest'"], timeout=CAP) as child:
        child.logfile_read = log
        assert child.readline() == "one\r\n" and list(child) == ["two\r\n", "rest"] and child.read() == ""
    assert (mux.dir / "log").read_bytes().decode() == "one\r\ntwo\r\nrest"
    child = pexpect.spawn("sh -c 'stty raw -echo; echo go; head -c 9 | od -An -c'", timeout=CAP, dimensions=(5, 20))
    child.expect("go")
    child.send(b"\xff\0")
    child.sendcontrol("c")
    child.sendcontrol("[")
    child.sendeof()
    child.write("a\u00e9")
    child.send(b"!")
    child.expect(pexpect.EOF)
    assert b" ".join(child.before.split()) == b"377 \\0 003 033 004 a 303 251 !", child.before
    # more output than is kept: the program waits for its reader
    child = pexpect.spawn("sh -c 'seq 400000; echo end'", timeout=CAP)
    child.expect("end\r\n")
    assert child.before == b"".join(b"%d\r\n" % n for n in range(1, 400001))
    # run
    assert pexpect.run("sh -c 'echo out; exit 4'", withexitstatus=True) == (b"out\r\n", 4)
    seen = []
    out = pexpect.run("sh -c 'read -p name: x; read -p age: y; echo $x is $y'", encoding="utf-8", timeout=CAP,
                      events={"name:": "Ada\n", "age:": lambda told: seen.append(told["event_count"]) or "36\n"})
    assert out.endswith("Ada is 36\r\n") and seen == [1]
    # a login, with a shell in the place of ssh
    ssh = mux.dir / "ssh"
    ssh.write_text("#!/bin/bash\\necho \"asked: $*\"\\nread -r -p 'me@there password: ' x\\n[ \"$x\" = open ] || { echo Permission denied; exit 255; }\\n"
                   "PS1='there$ ' exec bash --norc --noprofile -i\\n".replace("\\n", "\n"))
    ssh.chmod(0o755)
    login = pexpect.pxssh.pxssh(encoding="utf-8", timeout=CAP, options={"BatchMode": "no"})
    assert login.login("there", "me", "open", cmd=str(ssh), login_timeout=CAP) is True
    login.sendline("echo $((6 * 7)); false")
    assert login.prompt() and "\r42\r\n" in login.before, login.before
    login.sendline("sleep 1000")
    assert login.prompt(timeout=0.1) is False
    login.sendintr()
    assert login.prompt()
    login.logout()
    assert login.exitstatus == 130 and not login.isalive()
    with pytest.raises(pexpect.pxssh.ExceptionPxssh, match="permission denied"):
        pexpect.pxssh(encoding="utf-8").login("there", "me", "shut", cmd=str(ssh), login_timeout=CAP)
    # what can't be
    for refused in (lambda: pexpect.spawn("cat", preexec_fn=print), lambda: child.interact(input_filter=str), lambda: child.child_fd):
        with pytest.raises(pexpect.ExceptionPexpect):
            refused()
    # nothing outlives the script, but for what it keeps
    kept = pexpect.spawn("cat", keep=True, name="kept")
    kept.close()
    del child
    assert [row["name"] for row in mux.sessions()] == ["kept"]
    mux.ue("kill", "kept")


def test_the_terminal_of_a_spawn(mux, ue):
    """Echo, signals, a secret, and a person who takes over."""
    pexpect = ue
    child = pexpect.spawnu("bash --norc --noprofile", timeout=CAP, echo=False)
    child.expect_exact("sh> ")
    child.sendline("trap -p; sleep 1000")
    wait_for(lambda: not mux.listed("sh")["waiting_for"], "the sleep")
    child.sendintr()
    child.expect_exact("sh> ")
    child.sendline("cat")  # typed once the program waits for input: nothing is lost behind a ^C
    wait_for(lambda: mux.listed("sh")["waiting_for"] in ("line", "secret"), "cat")
    child.setecho(True)
    assert child.getecho()
    child.sendline("seen")
    child.expect_exact("seen\r\nseen\r\n")
    child.setecho(False)
    assert not child.getecho() and child.waitnoecho(timeout=0)
    with pytest.raises(pexpect.ExceptionPexpect, match="reads a secret"):  # as the config says
        child.sendline("hidden")
        child.expect("hidden", timeout=5)
    mux.configure("[defaults]\nagent_secrets = yes\n")
    mux.ue("reload").ok()
    child.sendline("hidden")
    child.expect_exact("hidden\r\n")
    assert "hidden" not in child.before
    child.close()
    child = pexpect.spawn("sh -c 'trap \"\" INT; echo up; exec cat'", timeout=CAP, ignore_sighup=True)
    child.expect("up")
    child.kill(signal.SIGHUP)
    child.sendline("here")
    child.expect("here\r\nhere")
    assert not child.terminate() and child.terminate(force=True) and child.signalstatus == signal.SIGKILL
    child.close()
    # a person runs the script at a terminal: takes over, comes back; and its secret is typed as theirs
    script = r"""import sys, ue as pexpect
c = pexpect.spawnu("bash --norc --noprofile", timeout=60)
c.logfile_read = open("log", "w")
c.expect_exact("sh> ")
c.interact()
c.sendline("read -s -p 'pass''word: ' x; echo; echo got ${#x}")
c.expect_exact("password: ")
c.sendline("sesame")
c.expect(r"got (\d+)\r\n")
print("it is", c.match.group(1))
c.interact(escape_character=chr(1))
print("alive:", c.isalive())
"""
    mux.configure("")
    mux.ue("reload").ok()
    person = pty.spawn(sys.executable, ["-c", script], env={**os.environ, "PYTHONPATH": str(LIB.parent), "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP,
                       encoding="utf-8")
    person.expect("sh>")
    person.send("echo mar''k\r")
    person.expect("mark")
    person.send("\x1dd")
    person.expect("it is 6\r\n")
    person.expect("sh>")
    person.send("\x01d")
    person.expect("alive: True\r\n")
    person.expect(pty.EOF)
    assert "\nmark\r\n" in (mux.dir / "log").read_bytes().decode().replace("\x1b[?2004l\r", "\n")
    # the end of the interpreter is the end of what it has spawned
    script = "import ue as pexpect, sys\nc = pexpect.spawn('cat')\nprint(c.pid, flush=True)\nsys.stdin.readline()\n"
    for end in ("\n", None):
        run = mux.spawn([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(LIB.parent)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pid = int(run.stdout.readline())
        if end:
            mux.finish(run, b"\n")
            wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the end of cat")
        else:
            run.kill()  # no chance to clean up: the session goes on, and a person finds it
            mux.finish(run)
            assert mux.listed("cat")["state"] == "running"
    mux.ue("kill", "cat")


@pytest.mark.no_pty
@pytest.mark.parametrize("name, words, given, wanted", [
    ("sqlite_rollback", ["{dir}/db"], "", ["rolled back: error: UNIQUE constraint failed: people.born", "committed", "Ada|1815"]),
    ("notebook", [], "x = 6\n\nprint(x * 7)\nfor i in range(2):\n    print(i)\n\n1 / 0\n\nimport time; time.sleep(1000)  # hang\n\nprint('still', x)\n",
     ["[1] \n", "[2] 42 | 0 | 1\n", "[3] error: ZeroDivisionError: division by zero\n", "[4] error: KeyboardInterrupt\n", "[5] still 6\n"]),
    ("fan_out", [], "", ["50 sessions, 0 wrong, sum 22100"]),
    ("three_hands", [], "", ["keyboard_held\n['writer', 'person', 'reviewer']\ndetached: True - it goes on: True"]),
], ids=["sqlite_rollback", "notebook", "fan_out", "three_hands"])
def test_the_examples(mux, name, words, given, wanted):
    if name == "sqlite_rollback":
        need("sqlite3")
    env = {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "PYTHONPATH": str(LIB.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    script = ROOT / f"tests/examples/{name}.py"
    run = mux.spawn([sys.executable, str(script), *(word.format(dir=mux.dir) for word in words)], env=env, cwd=mux.dir, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result = mux.finish(run, given.encode())
    assert result.rc == 0 and all(text in result.out for text in wanted), result
    assert len(script.read_text().splitlines()) < 40 and mux.sessions() == []
