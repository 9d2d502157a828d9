"""Limits of one session, each with its end; readers that are too slow; input that nobody reads."""
import os, signal, time
import pytest
from conftest import many, wait_for

BURN = "import sys\nwhile True: pass"


def start(mux, limits, *command, name="s"):
    """The limit may have ended it before the answer is made."""
    mux.configure(f"[limits]\n{limits}\n")
    assert mux.js("exec", "-n", name, "-y", "0", *command)["name"] == name


def killed_by(mux, word, name="s"):
    row = mux.wait_state(name, "killed")
    assert row["killed_by"] == word, row
    answer = mux.js("poll", name)
    assert answer["state"] == "killed" and answer["killed_by"] == word
    return row


def nobody_left(mux):
    wait_for(lambda: not set(mux.pids()) - set(mux.daemons()), "all programs to be gone")


def test_lifetime(mux):
    start(mux, "lifetime = 300ms", "while :; do echo alive; sleep 0.01; done")
    killed_by(mux, "lifetime")
    nobody_left(mux)


def test_lifetime_goes_on_after_the_worker_died(mux):
    start(mux, "lifetime = 2s", "exec sleep 300")
    os.kill(mux.rpc().call("status")["pid"], 9)
    killed_by(mux, "lifetime")


def test_idle(mux):
    start(mux, "idle = 300ms", "exec sleep 300")
    killed_by(mux, "idle")


@pytest.mark.timing(reason="the program must not pause for the two seconds of its limit")
def test_output_and_input_put_idle_off(mux):
    mux.configure("[limits]\nidle = 2s\n")
    began = time.monotonic()
    mux.ue("exec", "-n", "out", "-y", "0", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.25; done; exec sleep 300").ok()
    client = mux.rpc()
    client.call("exec_command", {"cmd": "exec cat >/dev/null", "name": "in", "stdin": True, "yield_time_ms": 250})
    while time.monotonic() - began < 3:
        client.call("write_stdin", {"session_id": "in", "chars": "x\n", "yield_time_ms": 250})
    assert mux.listed("in")["state"] == "running"
    for name in ("in", "out"):
        killed_by(mux, "idle", name)
    assert time.monotonic() - began > 4.5


def test_no_wake_ups_for_the_two_times(mux):
    start(mux, "lifetime = 1h\nidle = 1h", "exec sleep 300")
    pid = mux.rpc().call("status")["pid"]

    def wakes():
        text = open(f"/proc/{pid}/status").read()
        return int(text.split("\nvoluntary_ctxt_switches:\t")[1].split("\n")[0])

    def quiet():
        before = wakes()
        time.sleep(0.7)  # what is looked for is that nothing happens
        return wakes() == before
    wait_for(quiet, "the daemon to sleep", 30)


def test_processor_time_of_the_program(mux):
    start(mux, "cpu_time = 1s", "--argv", "--", "/usr/bin/python3", "-c", BURN)
    killed_by(mux, "cpu_time")


def test_processor_time_of_a_child(mux):
    start(mux, "cpu_time = 1s", "/bin/sh -c 'while :; do :; done'; status=$?; exit $status")
    killed_by(mux, "cpu_time")


def test_processor_time_of_one_that_ignores_the_signal(mux):
    start(mux, "cpu_time = 1s", "trap '' XCPU; while :; do :; done")
    killed_by(mux, "cpu_time")


def test_processor_time_of_all_together(mux):
    start(mux, "cpu_time = 1s", "for i in 1 2 3 4; do sh -c 'while :; do :; done' & done; wait")
    killed_by(mux, "cpu_time")
    nobody_left(mux)


def test_memory_of_one_process_is_refused(mux):
    mux.configure("[limits]\nmemory = 64M\n")
    result = mux.ue("exec", "--json", "-y", "inf", "--argv", "--", "/usr/bin/python3", "-c", "try: x = bytearray(200 << 20)\nexcept MemoryError: print('refused')")
    assert result.rc == 0 and result.json["output"] == "refused\n" and result.json["state"] == "exited"


def test_memory_of_all_together(mux):
    hog = "x = bytearray(b'x') * (40 << 20); import time; time.sleep(300)"
    start(mux, "memory = 64M", f"for i in 1 2 3; do /usr/bin/python3 -c {hog!r} & done; wait".replace("'x = ", '"x = ').replace("300)'", '300)"'))
    killed_by(mux, "memory")
    nobody_left(mux)


def test_processes(mux):
    # /bin/sh gives up at once; bash tries for 15 s to get another child
    start(mux, "processes = 5", "-s", "/bin/sh", "i=0; while [ $i -lt 20 ]; do sleep 300 & i=$((i+1)); done; wait")
    if os.geteuid() == 0:  # the kernel lets root go over RLIMIT_NPROC
        killed_by(mux, "processes")
        nobody_left(mux)
    else:
        row = mux.wait_state("s", "killed", "exited")
        assert row["state"] == "exited" or row["killed_by"] == "processes"
        left = set(mux.pids()) - set(mux.daemons()) if row["state"] == "exited" else ()
        assert len(left) < 20
        for pid in left:  # of a shell that got no child any more and gave up: they are left alone
            os.kill(pid, signal.SIGKILL)


def test_open_files(mux):
    mux.configure("[limits]\nopen_files = 40\n")
    probe = "import os, resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))\ntry:\n  [os.dup(0) for _ in range(50)]\nexcept OSError as e: print(e.errno)"
    assert mux.ue("exec", "--raw", "--argv", "--", "/usr/bin/python3", "-c", probe).ok().out == "(40, 40)\n24\n"


def test_within_the_limits_nothing_happens(mux):
    mux.configure("[limits]\nmemory = 1G\nprocesses = 50\ncpu_time = 1m\nopen_files = 100\nlifetime = 1h\nidle = 1h\n")
    answer = mux.js("exec", "-y", "inf", "sleep 0.6; echo done")
    assert answer["exit_code"] == 0 and answer["output"] == "done\n" and "killed_by" not in answer


def test_a_signal_of_its_own_is_no_limit(mux):
    answer = mux.js("exec", "--no-login", "-y", "inf", "kill -XCPU $$")
    assert answer["state"] == "signaled" and answer["signal"] == "XCPU" and "killed_by" not in answer


# --- readers that are too slow

MANY = many(50, 200) * 1000 * 1000
WRITER = f"import os\nb = bytes(range(256)) * 256\nn = 0\nwhile n < {MANY}:\n    n += os.write(1, b[n % 256:][:{MANY} - n])"


def written(mux, name):
    return mux.listed(name)["output_bytes"]


def begin(mux, script):
    """Starts a program that writes nothing before the answer about its start, with which that would be read."""
    go = mux.dir / "go"
    os.mkfifo(go)
    script = f"open({str(go)!r}).read()\n{script}"
    assert mux.js("exec", "-n", "s", "-y", "0", "--argv", "--", "/usr/bin/python3", "-c", script)["to"] == 0
    go.write_text("")


def read_all(mux, name, expected):
    """Reads to the end as the default reader and checks every byte."""
    client, at, pattern = mux.rpc(), 0, bytes(range(256)) * 8192
    import base64
    while True:
        answer = client.call("read_output", {"session_id": name, "encoding": "base64", "max_output_tokens": 262144, "yield_time_ms": 1000,
                                             "_meta": {"verb": True}})
        data = base64.b64decode(answer["output_base64"])
        assert answer.get("omitted_bytes", 0) == 0 and answer["from"] == at, (at, answer["from"], answer.get("omitted_bytes"))
        assert data == pattern[at % 256:][:len(data)]
        at += len(data)
        if answer["state"] != "running" and at == answer["to"] and (not data or at >= expected):
            return at


def test_pause_loses_nothing(mux):
    mux.configure("[defaults]\non_slow = pause\n[limits]\njournal = 4M\n")
    begin(mux, WRITER)
    wait_for(lambda: written(mux, "s") > 3_000_000, "the journal to be full")
    pid = mux.listed("s")["pid"]
    asleep = lambda: open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "S"

    def stands():  # it sleeps for a moment, too, when its pipe is full and has yet to be read
        before = written(mux, "s")
        time.sleep(0.3)  # what is looked for is that nothing happens
        return asleep() and written(mux, "s") == before
    wait_for(stands, "the program to be stopped")
    assert written(mux, "s") < 4 << 20
    assert read_all(mux, "s", MANY) == MANY
    assert mux.listed("s")["exit_code"] == 0


def test_paused_program_can_be_killed(mux):
    mux.configure("[defaults]\non_slow = pause\n")
    mux.ue("exec", "-n", "s", "-y", "0", "exec yes").ok()
    wait_for(lambda: written(mux, "s") > 1_500_000)
    mux.ue("kill", "s").ok()
    assert mux.listed("s")["state"] == "killed"


def test_pause_outlives_the_worker(mux):
    mux.configure("[defaults]\non_slow = pause\n")
    begin(mux, WRITER.replace(str(MANY), "10000000"))
    wait_for(lambda: written(mux, "s") > 1_500_000)
    os.kill(mux.rpc().call("status")["pid"], 9)
    assert written(mux, "s") < 2 << 20
    assert read_all(mux, "s", 10_000_000) == 10_000_000


def test_drop_goes_on_and_tells(mux):
    begin(mux, WRITER.replace(str(MANY), "20000000"))
    mux.wait_state("s", "exited")
    answer = mux.js("poll", "-m", "262144", "s")
    assert answer["omitted_bytes"] > 17_000_000 and (answer["from"], answer["to"]) == (0, 20_000_000)


# --- input that nobody reads

def test_input_that_nobody_reads_is_refused_whole(mux):
    client = mux.rpc()
    client.call("exec_command", {"cmd": "exec sleep 300", "name": "s", "stdin": True, "yield_time_ms": 250})
    refusal = client.error("write_stdin", {"session_id": "s", "chars": "x" * 5_000_000})
    assert refusal.code == "input_full" and "1048576 of 1048576 bytes" in refusal.message and "5000000" in refusal.message
    sizes = [400_000, 400_000, 400_000]
    taken = 0
    for size in sizes:
        try:
            client.call("write_stdin", {"session_id": "s", "chars": "y" * size, "yield_time_ms": 250})
            taken += size
        except RuntimeError:
            raise
        except Exception as e:
            assert e.code == "input_full" and f"not {size}" in e.message
            break
    assert taken >= 800_000
    assert client.call("list_sessions")["sessions"][0]["state"] == "running"


def test_ten_megabytes_in_pieces_arrive_once_or_not_at_all(mux):
    """What was taken comes whole and in order when the program reads at last."""
    client = mux.rpc()
    client.call("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done; exec cat >got", "name": "t", "stdin": True,
                                 "yield_time_ms": 250, "workdir": str(mux.dir)})
    expected = b""
    for n in range(100):
        piece = (f"{n:09d}\n" * 10_000)
        try:
            client.call("write_stdin", {"session_id": "t", "chars": piece, "yield_time_ms": 250})
            expected += piece.encode()
        except Exception as e:
            assert e.code == "input_full", e
            assert "of 1048576 bytes" in e.message
            break
    assert len(expected) >= 1_000_000 and n < 99
    (mux.dir / "go").touch()
    wait_for(lambda: (mux.dir / "got").exists() and (mux.dir / "got").stat().st_size == len(expected), "all input to arrive")
    assert (mux.dir / "got").read_bytes() == expected
    client.call("write_stdin", {"session_id": "t", "chars": "end\n", "yield_time_ms": 250, "eof": True})
    mux.wait_state("t", "exited")
    assert (mux.dir / "got").read_bytes() == expected + b"end\n"


def test_terminal_that_nobody_reads(mux):
    client = mux.rpc()
    client.call("exec_command", {"cmd": "stty raw -echo; exec sleep 300", "name": "s", "tty": True, "yield_time_ms": 1000, "ready": False})
    with pytest.raises(Exception) as caught:
        for _ in range(30):
            client.call("write_stdin", {"session_id": "s", "chars": "x" * 100_000, "yield_time_ms": 250, "ready": False})
    assert caught.value.code == "input_full" and "of 1048576 bytes" in caught.value.message
    assert client.call("list_sessions")["sessions"][0]["state"] == "running"
    mux.ue("kill", "s").ok()
