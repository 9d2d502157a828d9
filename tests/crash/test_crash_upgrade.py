"""An upgrade is a crash on purpose: sessions, waiting clients and statuses are kept; a binary that doesn't come up changes nothing."""
import os, shutil, signal

import pytest
from drill import BUILD, DAEMON, FOREVER, Rpc, RpcError, fds, gone, wait_for


@pytest.fixture
def own(make_mux):
    """A daemon that runs from a binary of its own, which a test can replace."""
    mux = make_mux()
    mux.binary = mux.dir / "muxd"
    shutil.copy(DAEMON, mux.binary)
    return mux.start()


def replace(mux, source=DAEMON, text=None):
    """As an installer does: a new file under the old name."""
    fresh = mux.dir / "fresh"
    if text is None:
        shutil.copy(source, fresh)
    else:
        fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.rename(mux.binary)


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


@pytest.mark.parametrize("by", ["method", "signal"])
def test_everything_is_kept(own, by):
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
    replace(own)
    upgrade(own, by)
    assert own.call("list_sessions", {"all": True}) == before
    status = own.call("status")
    assert status["keeper_pid"] == keeper, "the keeper is the same process, or the programs would be nobody's children"
    for pid in (status["pid"], keeper):
        assert os.geteuid() or os.readlink(f"/proc/{pid}/exe") == str(own.binary), "both run from the new file"  # root alone may look
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


@pytest.mark.parametrize("text", ["not a program", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n", None],
                         ids=["no program", "fails", "dies", "gone"])
def test_binary_that_does_not_run(own, text):
    n = own.run("exec sleep 300")
    if text is None:
        own.binary.unlink()
    else:
        replace(own, text=text)
    with pytest.raises(RpcError) as caught:
        own.call("upgrade")
    assert "old one goes on" in caught.value.message, caught.value
    assert own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5
    own.kill_worker()
    assert own.state_of(n) == "running"


def test_binary_whose_worker_does_not_come_up(own):
    """It passes the trial, takes over, and then its worker fails: the keeper goes back."""
    n = own.run("exec sleep 300")
    old, reason = own.call("status")["pid"], own.dir / "bad"
    real = own.dir / "real"
    shutil.copy(DAEMON, real)
    reason.touch()
    replace(own, text=f"#!/bin/sh\ncase \"$*\" in *--worker*) exit 1;; esac\nexec {real} \"$@\"\n")
    client = own.client()
    with pytest.raises(RpcError) as caught:
        client.call("upgrade")
    assert "old one goes on" in caught.value.message
    assert own.state_of(n) == "running"


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
