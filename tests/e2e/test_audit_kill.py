"""[audit] when a worker dies: whatever it has put on record as begun has an end there, once, and a true one. Kinds of records by kill points:

kind        died                                         its successor writes
session     while its program runs                       nothing: the journal has it, and its end comes when it is there
session     while it is being killed                     nothing; the end says so
question    before an answer                             withdrawn
yes         before what it lets begin has begun          failed
patch       before its files are changed                 ended: lost
patch       while it is prepared, before its begin       nothing: nothing has begun
"""
import os, signal, subprocess, sys

import pytest
from conftest import BUILD, DAEMON, ROOT, wait_for
from test_approvals import asks, refusal, waiting, yes
from test_audit import PATCH, of, records

sys.path.append(str(ROOT / "tests/crash"))
from slow_gates import BEFORE_A_LOOK, BEFORE_A_RENAME, OPEN, Slow

SLOW = BUILD / "crash" / "slow.so"
pytestmark = [pytest.mark.no_pty, pytest.mark.skipif(not SLOW.exists(), reason=f"'{SLOW}' was not built")]
CONFIG = "[muxd]\nkill_grace = 60s\n[audit]\nwhat = all\n[policy mcp]\napproval = untrusted\nsandbox = read-only\n[policy lets]\n"


@pytest.fixture
def held(mux):
    """A daemon whose threads can be stopped at a gate."""
    (mux.dir / "w").mkdir()
    mux.configure(CONFIG)
    mux.slow = Slow(mux, SLOW, wait_for)
    subprocess.run([DAEMON, "--daemon"], env={**mux.env, **mux.slow.env}, check=True)
    return mux


def kill_worker(mux):
    """Its successor serves, with all that it has written at its start."""
    before = mux.rpc().call("hello")["pid"]
    os.kill(before, signal.SIGKILL)
    mux.slow.shut(OPEN)
    wait_for(lambda: mux.rpc().call("hello")["pid"] != before, "its successor")


def check(mux, *opened):
    """Each begin has one end, each question one answer, each yes one effect, and no id comes twice."""
    found = records(mux)
    ids = [one["id"] for one in found]
    assert len(ids) == len(set(ids)), ids
    begun, ended = ({one["id"].rsplit(".", 1)[0] for one in found if one["id"].endswith(end)} for end in (".begin", ".end"))
    assert begun == ended, found
    for asked in (one for one in found if one["record"] == "asked"):
        about = [one["record"] for one in found if one.get("approval") == asked["approval"]]
        assert about in (["asked", "denied"], ["asked", "withdrawn"], ["asked", "answered", "allowed"], ["asked", "answered", "refused"],
                         ["asked", "answered", "failed"]), about
    assert {one["daemon"] for one in found} == {found[0]["daemon"]}


def patch(mux, name, **meta):
    rpc = mux.rpc()
    rpc.id = rpc.send("apply_patch", {"input": PATCH.format(name), "_meta": {"cwd": str(mux.dir / "w"), "call_id": "call_7", "client": "codex", **meta}})
    return rpc


def test_a_session_that_runs_and_one_that_is_being_killed(held):
    stubborn = "trap '' HUP; trap : TERM; touch up; while :; do sleep 0.1; done"
    asks(held, "exec sleep 600", meta={"profile": "lets"}, name="runs", yield_time_ms=250)
    asks(held, stubborn, meta={"profile": "lets"}, name="dies", yield_time_ms=250)
    wait_for(lambda: (held.dir / "w/up").exists(), "the stubborn one")
    client = held.rpc()
    client.send("kill_session", {"session_id": "dies"})
    client.call("list_sessions")
    kill_worker(held)
    assert not [one for one in records(held) if one["record"] == "ended" and one["name"] == "runs"]
    held.ue("kill", "-s", "KILL", "dies").ok()
    dead, = of(held, "ended")
    assert dead["name"] == "dies" and dead["signal"] == signal.SIGKILL, dead
    held.ue("kill", "runs").ok()
    ended = {one["name"]: one for one in of(held, "ended", 2)}
    assert ended["runs"]["ended"] == "killed" and ended["runs"]["killed_by"] == "request"
    check(held)


def test_a_question(held):
    asks(held, "echo a >b", meta={"client": "codex", "call_id": "call_1"})
    approval, = waiting(held)
    kill_worker(held)
    gone, = of(held, "withdrawn")
    assert (gone["approval"], gone["call_id"], gone["client"], gone["command"][-1]) == (approval["id"], "call_1", "codex", "echo a >b"), gone
    assert "has ended" in gone["reason"] and "asks again" in gone["reason"]
    check(held)
    kill_worker(held)  # what is on record already is not written again
    check(held)


def test_a_patch_that_writes(held):
    held.slow.shut(BEFORE_A_RENAME)
    patch(held, "new", profile="lets")
    held.slow.wait()
    begin, = of(held, "allowed")
    kill_worker(held)
    end, = of(held, "ended")
    assert end["ended"] == "lost" and end["call_id"] == "call_7" and end["id"] == begin["id"].replace(".begin", ".end"), end
    assert "exit_code" not in end and "lost" in held.ue("audit").ok().out
    check(held)
    patch(held, "other", profile="lets")
    assert of(held, "ended", 2)[-1]["exit_code"] == 0
    check(held)


def test_a_patch_before_its_begin(held):
    held.slow.shut(BEFORE_A_LOOK)
    patch(held, "new", profile="lets")
    held.slow.wait()
    kill_worker(held)
    assert records(held) == []


def test_a_yes_for_a_patch_that_has_not_begun(held):
    patch(held, "new")
    approval, = waiting(held)
    held.slow.shut(BEFORE_A_LOOK)
    yes(held, approval).ok()
    held.slow.wait()
    kill_worker(held)
    failed, = of(held, "failed")
    assert failed["approval"] == approval["id"] and failed["files"] == [{"path": "new", "kind": "add"}] and "before it took effect" in failed["reason"], failed
    assert not list((held.dir / "w").iterdir())
    check(held)


def test_a_yes_and_who_gave_it(held):
    rpc = patch(held, "new")
    approval, = waiting(held)
    yes(held, approval).ok()
    rpc.result(rpc.id)
    begin, = of(held, "allowed")
    assert begin["sandbox"]["mode"] == "full-access"
    asked, = of(held, "asked")
    assert "by" not in asked and asked["sandbox"]["mode"] == "read-only", asked
    assert begin["by"] == "person" and begin["approval"] == approval["id"] and begin["approver"]["evidence"] == "terminal", begin
    of(held, "ended")
    check(held)


def test_a_yes_for_what_can_not_begin_any_more(held):
    """No crash: the directory of the call has gone meanwhile, or a rule forbids it now."""
    place = held.dir / "w"
    rpc, other = patch(held, "new"), asks(held, "touch x")
    first, second = sorted(waiting(held, 2), key=lambda one: "touch x" in one["command"])
    place.rename(held.dir / "away")
    yes(held, first).ok()
    assert "No such file" in refusal(rpc).message
    held.configure(CONFIG + "[rule no]\nprefix = touch\ndecision = forbidden\n")
    held.ue("reload").ok()
    yes(held, second).ok()
    refusal(other)
    assert [one["approval"] for one in of(held, "failed", 2)] == [first["id"], second["id"]]
    check(held)
