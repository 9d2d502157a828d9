"""What goes on record while the disk fails and while workers die: nothing runs without its record, and no record is lost or comes twice."""
import contextlib, json, os, random, signal, threading, time

import pytest
from drill import RpcError, wait_for
from faults import WORKERS, Fault, needs_faults

ALL = "[audit]\nwhat = all\n"


def records(mux):
    return [json.loads(line) for line in (mux.state / "muxd/audit.jsonl").read_text().splitlines()]


@needs_faults
def test_a_disk_that_takes_nothing_for_good(make_mux):
    """What fsync(2) has failed for is not on record: nothing more runs until it succeeds."""
    mux = make_mux(config=ALL)
    fault = Fault(mux.dir)
    mux.start(env=fault.env)
    mux.ended(mux.run("exit 3"))
    fault.arm(["fsync"], 1, "EIO", whom=WORKERS, always=1)
    number = mux.run("exit 4")
    wait_for(lambda: "Input/output error" in mux.call("status")["audit"], "the failure")
    with pytest.raises(RpcError) as refused:
        mux.run("exit 5")
    assert refused.value.code == "audit" and "Input/output error" in refused.value.message
    assert mux.ended(number)["exit_code"] == 4
    assert fault.disarm()
    wait_for(lambda: mux.call("status")["audit"] == "all", "the disk to be well again")
    assert mux.ended(mux.run("exit 6"))["exit_code"] == 6
    wait_for(lambda: sorted(one["exit_code"] for one in records(mux) if one["record"] == "ended") == [3, 4, 6], "the ends")


def killer(mux, over):
    """Kills worker after worker: some at any time, some as soon as there is a new line, before the command that it tells of has begun."""
    file = mux.state / "muxd/audit.jsonl"
    while not over.is_set():
        pid, size = wait_for(mux.worker, "a worker"), file.stat().st_size
        end = time.monotonic() + random.uniform(0.01, 0.4)
        while time.monotonic() < end and file.stat().st_size == size:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_workers_die_all_the_time(make_mux):
    """Each record of a begin has one of an end, and each command that ran has both, whenever its worker died."""
    mux = make_mux(config=ALL)
    mux.start()
    numbers, over = [mux.run("exit 0")], threading.Event()
    thread = threading.Thread(target=killer, args=(mux, over))
    thread.start()
    for i in range(1, 60):
        numbers.append(mux.run(f"sleep 0.0{random.randrange(10)}; exit {i}", meta={"request_id": f"r{i}"}))
    over.set()
    thread.join()
    for i, number in enumerate(numbers):
        assert mux.ended(number)["exit_code"] == i
    wanted = {f"{number}.end" for number in numbers}
    found = wait_for(lambda: wanted <= {one["id"] for one in records(mux)} and records(mux), "all ends")
    ids = [one["id"] for one in found]
    begun, ended = ({one["session"] for one in found if one["record"] == word} for word in ("allowed", "ended"))
    assert len(ids) == len(set(ids)) and set(numbers) <= begun == ended, (begun ^ ended)
    codes = {one["session"]: one.get("exit_code") for one in found if one["record"] == "ended"}
    assert [codes[number] for number in numbers] == list(range(60))
