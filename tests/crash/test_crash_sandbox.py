"""The drills of sessions in a sandbox, by each back-end: the same bodies as outside, and the same bytes, statuses and ends. The ordinary run
has a share of them; MUXD_DRILL=full has all, as often as outside."""
import os

import pytest
import test_crash_bytes as drills
import test_crash_keeper as keepers
import test_crash_worker as workers
from drill import FULL, harness, many, wait_for

# bubblewrap tells the end by a signal as a shell does, as the exit status 128 + its number
BACKENDS = {"bubblewrap": {"sandbox": "workspace-write", "temp": False}, "landlock": {"sandbox": "read-only"}}
ALL = [(backend, tty) for backend in BACKENDS for tty in (False, True)]
SHARE = [("bubblewrap", True), ("landlock", False)]
OTHERS = [("bubblewrap", False), ("landlock", True)]


def each(share):
    return pytest.mark.parametrize("backend, tty", ALL if FULL else share, ids=lambda value: value if isinstance(value, str) else "tty" if value else "pipes")


@pytest.fixture
def confined(make_mux):
    def make(backend, config=""):
        mux = make_mux(config=config).start()
        mux.place = mux.dir / "w"
        mux.place.mkdir()
        mux.confine = {**BACKENDS[backend], "workdir": str(mux.place)}
        try:
            told = mux.call("explain_sandbox", mux.confine)
        except harness.RpcError as error:
            assert "can't be enforced here" in error.message, error
            pytest.skip(f"no sandbox here: {error.message}")
        if told["backend"] != backend:
            pytest.skip(f"no {backend} here: {told['why']}")
        return mux
    yield make


def is_confined(mux, backend, name="probe"):
    """What a session writes outside is refused, and the daemon says what it may."""
    outside = mux.dir / "outside"
    row = mux.row(mux.run(f"echo x >{outside}; exit 0", name))
    assert row["sandbox"]["mode"] == BACKENDS[backend]["sandbox"], row
    mux.ended(row["session_id"])
    assert not outside.exists()


@each(SHARE)
def test_a_flood_of_numbered_lines(confined, backend, tty):
    mux = confined(backend, drills.JOURNAL)
    drills.numbered_lines(mux, tty, many(5, 200))
    is_confined(mux, backend)


@each(OTHERS)
def test_a_flood_of_any_bytes(confined, backend, tty):
    drills.any_bytes(confined(backend, drills.JOURNAL), tty, many(4, 200))


@each(SHARE)
def test_typing_meanwhile(confined, backend, tty):
    drills.input_is_typed_once(confined(backend, drills.JOURNAL + "input_queue = 4M\n"), tty, many(4, 200), many(8000, 200000))


@each(OTHERS)
def test_programs_that_end_meanwhile(confined, backend, tty):
    drills.short_programs(confined(backend, drills.JOURNAL), tty, many(8, 400))


@each(SHARE)
def test_ends_while_there_is_no_worker(confined, backend, tty):
    workers.exits_in_the_gap_are_exact(confined(backend), tty, signals=backend != "bubblewrap")


@each(OTHERS)
def test_ends_after_the_keeper(confined, backend, tty):
    keepers.exits_afterwards_are_exact_or_lost(confined(backend), tty, signals=backend != "bubblewrap")


@each(OTHERS)
def test_worker_and_keeper_one_after_the_other(confined, backend, tty):
    mux = confined(backend)
    keepers.test_sessions_live_on(mux, tty)
    is_confined(mux, backend)


@each(SHARE)
def test_waits_names_and_readers(confined, backend, tty):
    mux = confined(backend)
    workers.test_sessions_tombstones_names_and_readers_survive(mux, tty)
    is_confined(mux, backend)


@each([("bubblewrap", False)])
def test_an_exec_in_the_middle(confined, backend, tty):
    if backend == "landlock":
        pytest.skip("what can't write leaves no line behind")
    workers.exec_in_the_middle_is_done_once(confined(backend), tty, many(5, 200))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_kill_in_the_middle(confined, backend):
    mux = confined(backend)
    workers.kill_in_the_middle_is_complete(mux, many(3, 100))
    wait_for(lambda: set(mux.pids()) == set(mux.daemons()), "nobody left of any of them")


@each(SHARE)
def test_both_at_once(confined, backend, tty):
    """The sentinel ends what is inside, too; bubblewrap's own processes are gone with it."""
    keepers.test_both_at_once_leave_nothing(confined(backend), tty)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_session_that_comes_back_is_no_wider(confined, backend):
    """After worker, keeper and worker have died the program that runs is where it was, and so is the next one."""
    mux = confined(backend)
    outside = mux.dir / "outside"
    n = mux.run("while read -r line; do eval \"$line\"; echo did; done", stdin=True)
    for kill in (mux.kill_worker, mux.kill_keeper, mux.kill_worker):
        kill()
        since = len(mux.output(n))
        mux.type(n, f"echo x 2>/dev/null >{outside}\n")
        wait_for(lambda: b"did" in mux.output(n, since), "its answer")
        assert not os.path.exists(outside) and mux.row(n)["sandbox"]["mode"] == BACKENDS[backend]["sandbox"]
    is_confined(mux, backend)
