"""From an older release (build/older, made from the history) to this one, and back: no session is lost, and what can't be done is told."""
import pytest
from drill import BUILD, DAEMON, KEEPER, Rpc, copy_programs, wait_for

OLDER = BUILD / "older" / "build"
pytestmark = pytest.mark.skipif(not (OLDER / "muxd").exists(), reason="no older release; make older")


@pytest.fixture
def old(make_mux):
    """A daemon of the older release, from programs that a test can replace."""
    mux = make_mux(config="[defaults]\nagent_secrets = yes\n")  # the older one knows no other key of the drills
    mux.binary, mux.keeper_binary = copy_programs(mux.dir / "bin", OLDER / "muxd", OLDER / "muxd-keeper")
    return mux.start()


def install(mux, muxd, keeper):
    for name, program in (("muxd", muxd), ("muxd-keeper", keeper)):
        fresh = mux.dir / "bin" / "fresh"
        fresh.write_bytes(program.read_bytes())
        fresh.chmod(0o755)
        fresh.rename(mux.dir / "bin" / name)


def upgrade(mux):
    before = mux.call("status")["pid"]
    rpc = Rpc(mux.socket)
    rpc.send("upgrade")
    assert rpc.line() is None
    rpc.close()
    wait_for(lambda: mux.call("status")["pid"] != before, "the new worker")
    assert "upgrade_failed" not in mux.call("status")


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_from_an_older_release(old, tty):
    go = old.dir / "go"
    n = old.run(f"echo up; until [ -e {go} ]; do sleep 0.02; done; echo bye; exit 7", "s", tty)
    old.until(n, "up")
    install(old, DAEMON, KEEPER)
    upgrade(old)
    upgrade(old)  # and from there as always
    go.touch()
    assert old.ended(n)["exit_code"] == 7 and old.output(n).split() == [b"up", b"bye"]


def test_back_to_a_release_without_an_answer(old):
    """It can't say that it fits, so it is not tried with the sessions; the reason is told."""
    n = old.run("exec sleep 300", tty=True)
    install(old, DAEMON, KEEPER)
    upgrade(old)
    worker = old.call("status")["pid"]
    for muxd, keeper in ((OLDER / "muxd", OLDER / "muxd-keeper"), (OLDER / "muxd", KEEPER), (DAEMON, OLDER / "muxd-keeper")):
        install(old, muxd, keeper)
        done = old.ue("upgrade")
        assert done.rc == 125 and "gives no answer" in done.err and "the old one goes on" in done.err, done
        assert old.call("status")["pid"] == worker and old.state_of(n) == "running"
