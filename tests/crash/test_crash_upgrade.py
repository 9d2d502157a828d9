"""An upgrade is a crash on purpose: sessions, waiting clients and statuses are kept; a binary that doesn't come up changes nothing."""
import json, os, random, shutil, signal

import pytest
from drill import DAEMON, FOREVER, KEEPER, Rpc, copy_programs, fds, gone, harness, many, wait_for

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


# What an installer, a distribution or an accident may leave under the two names. {real}: a copy of the program that belongs there.
ENDS_WELL = "#!/bin/sh\nexit 0\n"
ANSWERS_NOBODY = "#!/bin/sh\nexec sleep 300\n"
LAUNCHER = "#!/bin/sh\nexec {real} \"$@\"\n"
STAYS = "#!/bin/sh\n{real} \"$@\"\nexit $?\n"  # a launcher that is no launcher: the keeper would be its child
OLDER = "#!/bin/sh\ncase \"$1\" in --trial|--answer) exit 64;; esac\nexec {real} \"$@\"\n"  # knows nothing of this question
LIES = "#!/bin/sh\ncase \"$1\" in --trial|--answer|--speaks) exec {real} \"$@\";; esac\nexit 0\n"
LIES_AND_HANGS = LIES.replace("exit 0", "exec sleep 300")
DIES_LATER = LIES.replace("exit 0", "sleep 0.2\nkill -9 $$")
KILLS_ITS_KEEPER = LIES.replace("exit 0", "kill -9 $PPID\nexec sleep 300")


def put(mux, name, content):
    """What content stands for, under that name; a real one of the same release beside it."""
    real = mux.dir / "bin" / f"real-{name}"
    if not real.exists():
        shutil.copy({"muxd": DAEMON, "muxd-keeper": KEEPER}[name], real)
    if callable(content):
        replace(mux, name, change=lambda _: content(real.read_bytes()))
    else:
        replace(mux, name, content=content.format(real=real))


def put_true(mux, name):
    fresh = mux.dir / "bin" / "fresh"
    shutil.copy("/bin/true", fresh)
    fresh.rename(mux.dir / "bin" / name)


def whole(content):
    return content


def cut(content):
    return content[:8192]


def nothing(content):
    return b""


def half(content):
    """All that is loaded may be there: the rest is for debuggers."""
    return content[:len(content) // 2]


def short(content):
    return content[:-1]


def torn(content):
    """As after a crash of the machine: the length was written, the rest was not."""
    return half(content).ljust(len(content), b"\0")


@EACH
@pytest.mark.parametrize("content, why", [
    (ENDS_WELL, "gives no answer"), (OLDER, "gives no answer"), (STAYS, "another process answers"),
    (cut, None), (nothing, None), (half, None), (short, "a part of one"), (torn, None), (other_protocol, "another protocol")],
    ids=["ends well", "older release", "stays", "truncated", "empty", "half", "one byte short", "torn", "other protocol"])
def test_program_that_gives_no_answer_of_ours(own, name, content, why):
    """It is tried first, and nothing was given up for it."""
    worker = own.call("status")["pid"]
    put(own, name, content)
    message = refusal(own)
    assert own.call("status")["pid"] == worker and not is_resumed(own), message
    assert why is None or why in message, message
    refused(own)


def test_release_that_can_not_read_the_config(own):
    """It would have the sessions and start nothing any more."""
    n, worker = own.run("exec sleep 300", tty=True), own.call("status")["pid"]
    own.config("[limits]\nkeep_ended = 2h\n")
    own.call("reload")
    replace(own, "muxd", change=lambda content: content.replace(b"keep_ended", b"keep_other"))
    message = refusal(own)
    assert "can't read the config" in message and own.call("status")["pid"] == worker and not is_resumed(own), message
    assert own.ended(own.run("exit 5"))["exit_code"] == 5
    own.config("")
    upgrade(own, "method")
    assert own.state_of(n) == "running" and own.ended(own.run("exit 6"))["exit_code"] == 6


@EACH
def test_status_0_is_no_answer(own, name):
    worker = own.call("status")["pid"]
    put_true(own, name)
    assert "gives no answer" in refusal(own) and own.call("status")["pid"] == worker
    refused(own)


@EACH
def test_program_that_hangs_in_the_trial(own, name):
    worker = own.call("status")["pid"]
    put(own, name, ANSWERS_NOBODY)
    assert "takes too long" in refusal(own) and own.call("status")["pid"] == worker
    assert own.ended(own.run("exit 5"))["exit_code"] == 5


@EACH
def test_program_that_kills_who_tries_it(own, name):
    """The worker lives on, has the answer for whoever waits, and another keeper holds the sessions."""
    n, worker = own.run("exec sleep 300", tty=True), own.call("status")["pid"]
    put(own, name, "#!/bin/sh\nkill -9 $PPID\n")
    rpc = Rpc(own.socket)
    assert "muxd-keeper has died" in rpc.error("upgrade").message
    rpc.close()
    assert own.call("status")["pid"] == worker and own.state_of(n) == "running"
    own.keeper = wait_for(lambda: own.call("status").get("keeper_pid"), "another keeper")
    put(own, name, whole)
    upgrade(own, "method")
    assert own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5


@EACH
def test_launcher_is_as_good_as_what_it_executes(own, name):
    n = own.run("exec sleep 300", tty=True)
    put(own, name, LAUNCHER)
    upgrade(own, "method")
    assert is_resumed(own) and own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5


@EACH
def test_launcher_hides_no_place(own, name):
    """What lies in the old place later is what the next upgrade tries, whatever the launcher has led to; also after the keeper's death."""
    n = own.run("exec sleep 300", tty=True)
    put(own, name, LAUNCHER)
    upgrade(own, "method")
    for _ in range(2):
        put(own, name, ENDS_WELL)
        assert "gives no answer" in refusal(own)
        own.kill_keeper()
    put(own, name, whole)
    upgrade(own, "method")
    assert is_resumed(own) and own.state_of(n) == "running"


@pytest.mark.parametrize("files", [False, True], ids=["directory", "files"])
def test_place_that_a_link_leads_to(make_mux, files):
    """Of stow, Nix and the like: the link is switched to a new release, and that is what an upgrade tries."""
    mux = make_mux()
    for release in ("1", "2", "3"):
        copy_programs(mux.dir / release, DAEMON, KEEPER)
    (mux.dir / "2/muxd-keeper").write_text(ENDS_WELL)
    link = mux.dir / "link"
    if files:
        link.mkdir()
        link /= "muxd"

    def switch(release):
        fresh = mux.dir / "fresh"
        fresh.symlink_to(f"../{release}/muxd" if files else release)
        fresh.rename(link)
    switch("1")
    mux.binary, mux.keeper_binary = mux.dir / "link/muxd", mux.dir / "1/muxd-keeper"
    mux.start()
    n = mux.run("exec sleep 300", tty=True)
    switch("2")
    assert "gives no answer" in refusal(mux)
    mux.kill_keeper()
    assert "gives no answer" in refusal(mux)
    switch("3")
    upgrade(mux, "method")
    assert is_resumed(mux) and mux.state_of(n) == "running"


@EACH
@pytest.mark.parametrize("content", [LIES, DIES_LATER], ids=["ends", "dies"])
def test_program_that_lies(own, name, content):
    """It gives the right answer and then is something else: the old one minds it and takes everything back."""
    go = own.dir / "go"
    ends = [own.run(f"until [ -e {go} ]; do sleep 0.02; done; echo bye; exit {i}", f"s{i}", i % 2 == 0) for i in range(4)]
    put(own, name, content)
    refused(own)
    go.touch()
    for i, n in enumerate(ends):
        own.ended(n)
        assert own.output(n).strip() == b"bye"


def test_new_keeper_that_dies_before_its_worker_serves(own):
    """Whatever ends it then, the old one takes all programs back, and nothing else ends them with it."""
    go, keeper = own.dir / "go", own.keeper
    ends = [own.run(f"until [ -e {go} ]; do sleep 0.02; done; echo bye; exit {i}", f"s{i}", i % 2 == 0) for i in range(4)]
    put(own, "muxd", KILLS_ITS_KEEPER)
    assert "it has ended" in refusal(own)
    own.keeper = wait_for(lambda: own.call("status").get("keeper_pid"), "the keeper")
    assert own.keeper != keeper and [own.state_of(n) for n in ends] == ["running"] * 4
    put(own, "muxd", whole)
    worker = upgrade(own, "method")
    go.touch()
    for n in ends:
        own.ended(n)
        assert own.output(n).strip() == b"bye"
    last = own.row(own.run("exec sleep 300"))["pid"]
    for daemon in (own.keeper, worker):  # the sentinel is there, too
        os.kill(daemon, signal.SIGSTOP)
    for daemon in (worker, own.keeper):
        os.kill(daemon, signal.SIGKILL)
    wait_for(lambda: gone(last), "the sentinel to end what is left")
    own.start()


@EACH
def test_program_that_lies_and_hangs(own, name):
    n = own.run("exec sleep 300", tty=True)
    put(own, name, LIES_AND_HANGS)
    refusal(own)
    assert own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5


@EACH
def test_program_that_is_replaced_after_the_trial(own, name):
    """What was tried is executed, whatever the path leads to by then."""
    n, seen, go = own.run("exec sleep 300", tty=True), own.dir / "seen", own.dir / "go"
    slow = f"#!/bin/sh\ncase \"$1\" in --trial|--answer) : >{seen}; until [ -e {go} ]; do sleep 0.02; done;; esac\nexec {{real}} \"$@\"\n"
    put(own, name, slow)
    rpc, before = Rpc(own.socket), own.call("status")["pid"]
    rpc.send("upgrade")
    wait_for(seen.exists, "the trial")
    put_true(own, name)
    go.touch()
    assert rpc.line() is None, "the upgrade went on"
    rpc.close()
    wait_for(lambda: own.call("status")["pid"] != before, "the new worker")
    assert "upgrade_failed" not in own.call("status")
    assert is_resumed(own) and own.state_of(n) == "running" and own.ended(own.run("exit 5"))["exit_code"] == 5


def begin_stop(mux):
    """A stop that has begun and can't be over: the connection that will hear of its end."""
    mux.run(f"trap '' HUP TERM; echo up; until [ -e {mux.dir}/end ]; do sleep 0.02; done", "stubborn")
    mux.until(mux.row("stubborn")["session_id"], "up")
    rpc = Rpc(mux.socket)
    ticket = rpc.send("stop")
    wait_for(lambda: "stopping: ends all sessions" in mux.log_tail(), "the stop")
    return rpc, ticket


def stopped(mux, rpc, ticket):
    """The stop comes to its end, and no worker came after the one that had begun it."""
    wait_for(lambda: "upgrade: muxd is stopping" in mux.log_tail(), "the refusal")
    (mux.dir / "end").touch()
    assert rpc.result(ticket)["stopped"] is True
    rpc.close()
    wait_for(lambda: not mux.daemons(), "their end")
    assert "takes over from" not in mux.log_tail()
    mux.keeper = None


@pytest.fixture
def stubborn(make_mux):
    mux = make_mux(config="[muxd]\nkill_grace = 1m\n")
    mux.binary, mux.keeper_binary = copy_programs(mux.dir / "bin", DAEMON, KEEPER)
    return mux.start()


def test_not_once_a_stop_has_begun(stubborn):
    rpc, ticket = begin_stop(stubborn)
    other = Rpc(stubborn.socket)
    assert other.error("upgrade").code == "stopping"
    other.close()
    os.kill(stubborn.keeper, signal.SIGUSR2)
    stopped(stubborn, rpc, ticket)


def test_a_stop_during_the_trial_goes_before(stubborn):
    """What was tried is good, and is not executed: it would know nothing of the stop."""
    seen, go = stubborn.dir / "seen", stubborn.dir / "go"
    put(stubborn, "muxd", f"#!/bin/sh\n[ \"$1\" = --answer ] && : >{seen} && until [ -e {go} ]; do sleep 0.02; done\nexec {{real}} \"$@\"\n")
    other = Rpc(stubborn.socket)
    upgrade = other.send("upgrade")
    wait_for(seen.exists, "the trial")
    rpc, ticket = begin_stop(stubborn)
    go.touch()
    answer = other.recv(upgrade)
    other.close()
    assert "muxd is stopping" in answer["error"]["message"], answer
    stopped(stubborn, rpc, ticket)


def test_the_next_worker_goes_on_with_a_stop(stubborn):
    rpc, _ = begin_stop(stubborn)
    stubborn.kill_worker()
    rpc.close()
    wait_for(lambda: stubborn.log_tail().count("stopping: ends all sessions") == 2, "the next worker to begin it")
    (stubborn.dir / "end").touch()
    wait_for(lambda: not stubborn.daemons(), "their end")
    stubborn.keeper = None


def test_the_sentinel_hears_after_many_upgrades(own):
    """Each keeper begins to count anew what waits in the sentinel's socket: programs that end and begin between upgrades must not fill it."""
    for _ in range(many(10, 40)):
        for n in [own.run("exit 0") for _ in range(15)]:
            own.ended(n)
        upgrade(own, "method")
    last = own.run("exec sleep 300", tty=False)
    pid, worker = own.row(last)["pid"], own.worker()
    for daemon in (own.keeper, worker):
        os.kill(daemon, signal.SIGSTOP)
    for daemon in (worker, own.keeper):  # a stopped process whose parent dies is continued by the kernel, and might begin another keeper
        os.kill(daemon, signal.SIGKILL)
    wait_for(lambda: gone(pid), "the sentinel to end what is left")
    own.start()


def test_odd_programs_one_after_the_other(own):
    """Whatever is tried, each session is there afterwards, with its status and all of its output."""
    odd = [put_true] + [lambda mux, name, content=content: put(mux, name, content)
                        for content in (whole, ENDS_WELL, OLDER, STAYS, cut, nothing, half, short, torn, other_protocol, LAUNCHER, LIES, DIES_LATER, "not a program")]
    dice, go = random.Random(13), own.dir / "go"
    live = [own.run(f"echo up; until [ -e {go} ]; do sleep 0.05; done; echo bye; exit {i}", f"s{i}", i % 2 == 0) for i in range(6)]
    for n in live:
        own.until(n, "up")
    lost = 0
    for _ in range(many(12, 200)):
        for name in ("muxd", "muxd-keeper"):
            dice.choice(odd)(own, name)
        own.ue("upgrade")
        lost += sum(own.state_of(n) != "running" for n in live)
        own.keeper = own.call("status")["keeper_pid"]
    assert lost == 0
    go.touch()
    for n in live:
        own.ended(n)
        assert own.output(n).replace(b"\r", b"") == b"up\nbye\n"


def test_during_a_crash(own):
    n = own.run("exec sleep 300", tty=True)
    for _ in range(5):
        worker = wait_for(own.worker, "a worker")
        os.kill(own.keeper, signal.SIGUSR2)
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the upgrade was quicker
        wait_for(lambda: gone(worker))
        assert own.state_of(n) == "running"
