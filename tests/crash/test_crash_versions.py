"""Workers of two builds after each other: one that makes journals of a higher minor version (build/newer/muxd), and back."""
import pytest
from drill import DAEMON, KEEPER, Rpc, copy_programs, harness, wait_for

NEWER = harness.BUILD / "newer" / "muxd"
LINES = 20000


@pytest.fixture
def own(make_mux):
    mux = make_mux()
    mux.binary, _ = copy_programs(mux.dir / "bin", DAEMON, KEEPER)
    return mux.start()


def upgrade_to(mux, program):
    fresh = mux.binary.with_name("fresh")
    fresh.write_bytes(program.read_bytes())
    fresh.chmod(0o755)
    fresh.rename(mux.binary)
    before = mux.call("status")["pid"]
    rpc = Rpc(mux.socket)
    rpc.send("upgrade")
    assert rpc.line() is None
    rpc.close()
    wait_for(lambda: mux.call("status")["pid"] != before, "the new worker")


@pytest.mark.parametrize("tty", [False, True], ids=["pipes", "tty"])
def test_newer_and_back(own, tty):
    """In the middle of output and input: not a byte and not a status is lost, and what either has made the other reads."""
    go = own.dir / "go"
    count = f"i=0; while [ $i -lt {LINES} ]; do echo line $i; i=$((i+1)); done; until [ -e {go} ]; do sleep 0.02; done; echo last; exit 7"
    counter = own.run(count, "counter", tty)
    cat = own.run(["/bin/cat"], "cat", tty, stdin=not tty)
    tomb = own.run("echo out; kill -TERM $$", "tomb", shell="/bin/bash")
    own.ended(tomb)
    own.type(cat, "one\n")
    own.until(cat, "one")
    before = own.row(cat)
    upgrade_to(own, NEWER)
    own.type(cat, "two\n")
    own.until(cat, "two")
    made = own.run(["/bin/cat"], "made", tty, stdin=not tty)
    own.type(made, "by the newer\n")
    own.until(made, "newer")
    upgrade_to(own, DAEMON)
    own.type(made, "and read by the older\n")
    own.until(made, "older")
    after = own.row(cat)
    assert {key: after[key] for key in ("pid", "created", "cmd", "name")} == {key: before[key] for key in ("pid", "created", "cmd", "name")}
    go.touch()
    assert own.ended(counter)["exit_code"] == 7 and own.row(tomb)["signal"] == "TERM"
    lines = own.output(counter).replace(b"\r", b"").decode()
    assert lines == "".join(f"line {i}\n" for i in range(LINES)) + "last\n"
    twice = 2 if tty else 1  # a terminal echoes
    assert own.output(cat).replace(b"\r", b"") == b"one\n" * twice + b"two\n" * twice
