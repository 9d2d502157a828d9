"""An upgrade is a crash on purpose: sessions, waiting clients and statuses are kept; a binary that doesn't come up changes nothing."""
import json, os, shutil, signal

import pytest
from drill import DAEMON, FOREVER, KEEPER, Rpc, copy_programs, fds, gone, harness, wait_for

WORD = b"muxd-keep-1"  # keep.c: what both programs must agree on
EACH = pytest.mark.parametrize("name", ["muxd", "muxd-keeper"])


@pytest.fixture
def own(make_mux):
    """A daemon that runs from programs of its own, which a test can replace."""
    mux = make_mux()
    mux.binary, mux.keeper_binary = copy_programs(mux.dir / "bin", DAEMON, KEEPER)
    return mux.start()


def replace(mux, *names, content=None, change=lambda content: content):
    """As an installer does: new files under the old names; of both programs, or of those that are named."""
    for name in names or ("muxd", "muxd-keeper"):
        fresh = mux.dir / "bin" / "fresh"
        fresh.write_bytes(change((mux.dir / "bin" / name).read_bytes()) if content is None else content.encode())
        fresh.chmod(0o755)
        fresh.rename(mux.dir / "bin" / name)


def other_protocol(content):
    assert content.count(WORD) >= 1
    return content.replace(WORD, b"muxd-keep-0")


def is_resumed(mux):
    """The keeper executed itself since it was started."""
    return b"--resume" in harness.command_line(mux.keeper)


def upgrade(mux, by):
    before = mux.call("status")["pid"]
    if by == "signal":
        os.kill(mux.keeper, signal.SIGUSR2)
    else:  # the answer is that the worker goes: whoever asks again would ask for another upgrade
        rpc = Rpc(mux.socket)
        rpc.send("upgrade")
        assert rpc.line() is None
        rpc.close()
    return wait_for(lambda: (now := mux.call("status")["pid"]) != before and now, "the new worker")


@pytest.mark.parametrize("by, changed", [("method", ()), ("signal", ()), ("method", ("muxd",)), ("method", ("muxd-keeper",))],
                         ids=["method", "signal", "only muxd", "only muxd-keeper"])
def test_everything_is_kept(own, by, changed):
    go = own.dir / "go"
    live = [own.run(f"echo up; until [ -e {go} ]; do sleep 0.02; done; echo bye; exit {i}", f"s{i}", i % 2 == 0) for i in range(6)]
    for n in live:
        own.until(n, "up")
    tomb = own.run("echo out; kill -TERM $$", "tomb", shell="/bin/bash")
    own.ended(tomb)
    waiting = [(client := own.client(), client.begin("read_output", {"session_id": n, "since": 0, "peek": True, "exit": True}, FOREVER))
               for n in live]
    own.call("status")
    before, keeper = own.call("list_sessions", {"all": True}), own.keeper
    replace(own, *changed)
    assert not is_resumed(own)
    upgrade(own, by)
    assert is_resumed(own)
    assert own.call("list_sessions", {"all": True}) == before
    status = own.call("status")
    assert status["keeper_pid"] == keeper, "the keeper is the same process, or the programs would be nobody's children"
    for pid, program in ((status["pid"], own.binary), (keeper, own.keeper_binary)):
        assert os.geteuid() or os.readlink(f"/proc/{pid}/exe") == str(program), "both run from the files on disk"  # root alone may look
    go.touch()
    for i, (client, ticket) in enumerate(waiting):
        answer = client.finish(ticket)
        assert answer["exit_code"] == i and "bye" in answer["output"] and client.retries
    assert own.ended(own.run("exit 5"))["exit_code"] == 5
    own.kill_worker()
    assert own.row("tomb")["signal"] == "TERM"


def test_again_and_again(own):
    n = own.run("exec sleep 300", tty=True)
    upgrade(own, "method")

    def size():
        return fds(own.keeper), fds(own.call("status")["pid"])
    before = size()
    for i in range(4):
        replace(own)
        upgrade(own, "signal" if i % 2 else "method")
    wait_for(lambda: all(now <= then for now, then in zip(size(), before)), f"{before} descriptors again, not {size()}")
    assert own.state_of(n) == "running"


def refusal(own):
    """What comes of an upgrade that fails: from the worker that was asked, or from the one that goes on after it."""
    rpc = Rpc(own.socket)
    rpc.send("upgrade")
    line = rpc.line()
    rpc.close()
    message = json.loads(line)["error"]["message"] if line else own.call("status")["upgrade_failed"]
    assert "did not come up" in message and "the old one goes on" in message, message
    return message


def refused(own):
    """An upgrade that is given up: everything goes on with the programs before, whatever lies on disk now."""
    n = own.run("exec sleep 300", tty=True)
    refusal(own)
    assert own.call("status")["upgrade_failed"]
    assert own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5
    own.kill_worker()
    assert own.state_of(n) == "running"
    own.kill_keeper()
    assert own.state_of(n) == "running" and own.ended(own.run("exit 6"))["exit_code"] == 6
    own.kill_worker()
    assert own.state_of(n) == "running"
    done = own.ue("upgrade")
    assert done.rc != 0 and "did not come up" in done.err, done


@EACH
@pytest.mark.parametrize("content", ["not a program", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n", None],
                         ids=["no program", "fails", "dies", "gone"])
def test_program_that_does_not_run(own, name, content):
    """One of the two is enough: neither is changed, and nothing was given up for it."""
    worker = own.call("status")["pid"]
    if content is None:
        (own.dir / "bin" / name).unlink()
    else:
        replace(own, name, content=content)
    refusal(own)
    assert own.call("status")["pid"] == worker and not is_resumed(own), "the trial comes first"
    refused(own)


@EACH
def test_program_of_another_version(own, name):
    """An installer that has replaced one of the two only: they would not understand each other."""
    worker = own.call("status")["pid"]
    replace(own, name, change=other_protocol)
    refusal(own)
    assert own.call("status")["pid"] == worker and not is_resumed(own)
    refused(own)


def test_both_of_another_version(own):
    """What matters is that the new ones understand each other."""
    n = own.run("exec sleep 300", tty=True)
    replace(own, change=other_protocol)
    upgrade(own, "method")
    assert is_resumed(own) and own.state_of(n) == "running"


def test_worker_that_does_not_come_up(own):
    """It passes the trial, the new keeper takes over, and then its worker fails: both go back."""
    real = own.dir / "bin" / "real"
    shutil.copy(DAEMON, real)
    replace(own, "muxd-keeper")
    replace(own, "muxd", content=f"#!/bin/sh\ncase \"$*\" in *--worker*) exit 1;; esac\nexec {real} \"$@\"\n")
    refused(own)


def test_keeper_that_can_not_resume(own):
    """It passes the trial and then can't read the state: it goes back by itself."""
    magic, content = b"muxdkeep", KEEPER.read_bytes()
    if magic not in content:
        pytest.skip("this compiler has taken the magic number to pieces")
    real, strange = own.dir / "bin" / "real", own.dir / "bin" / "strange"
    shutil.copy(KEEPER, real)
    shutil.copy(KEEPER, strange)
    strange.write_bytes(content.replace(magic, b"muxdkeeq"))
    replace(own, "muxd")
    replace(own, "muxd-keeper", content=f"#!/bin/sh\n[ \"$1\" = --check ] && exec {real} \"$@\"\nexec {strange} \"$@\"\n")
    refused(own)


def test_during_a_crash(own):
    n = own.run("exec sleep 300", tty=True)
    for _ in range(5):
        worker = own.worker()
        os.kill(own.keeper, signal.SIGUSR2)
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the upgrade was quicker
        wait_for(lambda: gone(worker))
        assert own.state_of(n) == "running"
