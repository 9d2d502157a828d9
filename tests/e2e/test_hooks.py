"""[hook NAME]: commands that are run on events."""
import ctypes, errno, json, os, platform, signal, struct

import pytest
from conftest import wait_for

pytestmark = pytest.mark.no_pty


def hooked(mux, name, **keys):
    return f"[hook {name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def events_in(path):
    """Those that are whole: it may be written at this moment."""
    return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")] if path.exists() else []


def words_in(path):
    return path.read_text().split() if path.exists() else []


def log_of(mux):
    return "".join(path.read_text(errors="replace") for path in mux.state.rglob("muxd.log"))


# Not marked smoke: a hook begins as /proc/self/exe, which under valgrind is valgrind.
def test_the_event_on_standard_input(mux):
    out = mux.dir / "out"
    mux.configure(hooked(mux, "h", on="begin end", run=f'cat >> {out}; echo "$MUXD_HOOK $MUXD_EVENT $MUXD_SOCKET" >> {out}.env')
                  + hooked(mux, "one", on="end", session="b", run=f"cat >> {out}.b"))
    for name in "ab":
        mux.ue("exec", "-n", name, "--no-login", f"echo {name}").ok()
    wait_for(lambda: len(events_in(out)) == 4 and len(events_in(mux.dir / "out.b")) == 1, "the hooks")
    assert sorted(event["type"] for event in events_in(out)) == ["begin", "begin", "end", "end"]
    assert {event["aggregated_output"] for event in events_in(out) if event["type"] == "end"} == {"a\n", "b\n"}
    assert events_in(mux.dir / "out.b")[0]["name"] == "b"
    wait_for(lambda: words_in(mux.dir / "out.env").count(str(mux.socket)) == 4 and f"h end {mux.socket}" in (mux.dir / "out.env").read_text(), "its environment")


def test_one_that_hangs_is_killed_at_its_timeout_and_holds_nobody_up(mux):
    out = mux.dir / "out"
    mux.configure("[limits]\nhooks = 2\n" + hooked(mux, "slow", on="end", run=f"echo $$ >> {out}.pid; sleep 600 & wait", timeout="1s")
                  + hooked(mux, "good", on="end", run=f"cat >> {out}"))
    for i in range(4):
        assert mux.ue("exec", "--no-login", f"echo {i}").ok().answer["output"] == f"{i}\n"
    wait_for(lambda: len(events_in(out)) == 4, "the other hook")
    wait_for(lambda: log_of(mux).count("killed at its timeout") == 4, "the log")
    for pid in words_in(mux.dir / "out.pid"):
        assert not os.path.exists(f"/proc/{pid}")
    assert "[hook slow] event" in log_of(mux)


def test_one_that_floods_fails_or_reads_nothing(mux):
    mux.configure(hooked(mux, "flood", on="end", run="yes flood", timeout="20s") + hooked(mux, "fails", on="end", run="echo oops >&2; exit 7")
                  + hooked(mux, "deaf", on="end", run="exec true") + hooked(mux, "nothing", on="end", run="/no/such/program"))
    mux.ue("exec", "--no-login", "seq 100000").ok()
    wait_for(lambda: all(f"[hook {name}]" in log_of(mux) for name in ("flood", "fails", "nothing")), "the log")
    log = log_of(mux)
    assert "more than it may" in log and "exit status 7: oops" in log and "exit status 127" in log
    assert max(map(len, log.splitlines())) < 4000


def test_its_signals_are_not_the_daemons(mux):
    out = mux.dir / "out"
    mux.configure(hooked(mux, "h", on="end", run=f"grep ^SigBlk /proc/self/status > {out}.part; mv {out}.part {out}"))
    mux.ue("exec", "--no-login", "true").ok()
    wait_for(out.exists, "the hook")
    assert int(out.read_text().split()[1], 16) == 0


def test_reload_and_what_is_wrong(mux):
    out = mux.dir / "out"
    mux.ue("exec", "--no-login", "true").ok()
    mux.configure(hooked(mux, "h", on="end", run=f"cat >> {out}"))
    mux.ue("reload").ok()
    mux.ue("exec", "-n", "later", "--no-login", "true").ok()
    wait_for(lambda: events_in(out), "the hook")
    assert [event["name"] for event in events_in(out)] == ["later"]  # nothing from before there was a hook
    assert "[hook h] timeout = 10s" in mux.ue("config").out
    for text, words in [("[hook x]\non = end\n", "it has no command"), ("[hook x]\nrun = true\n", "it has no events"),
                        ("[hook x]\nrun = true\non = ends\n", "did you mean 'end'"), ("[hook x]\nrun = a\non = end\n[hook x]\n", "already"),
                        ("[hook]\nrun = a\n", "needs a name"), ("[hook x]\nrun = a\non = end\ntimeout = 1\n", "10ms")]:
        mux.configure(text)
        broken = mux.ue("reload")
        assert broken.rc == 125 and words in broken.err, broken
    mux.configure("")
    mux.ue("reload").ok()
    mux.ue("exec", "-n", "last", "--no-login", "true").ok()
    assert [event["name"] for event in events_in(out)] == ["later"]


def test_an_event_around_the_death_of_the_worker_reaches_its_hook_once(mux):
    out = mux.dir / "out"
    mux.configure(hooked(mux, "h", on="end", run=f"cat >> {out}"))
    mux.ue("exec", "-n", "a", "--no-login", "-y", "0", "while [ ! -e go ]; do sleep 0.01; done", cwd=mux.dir).ok()
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    (mux.dir / "go").touch()
    mux.ue("wait", "a").ok()
    mux.ue("exec", "-n", "b", "--no-login", "true").ok()
    wait_for(lambda: len(events_in(out)) == 2, "both ends")
    assert sorted(event["name"] for event in events_in(out)) == ["a", "b"]


def is_gone(pid):
    return not os.path.exists(f"/proc/{pid}")


def test_what_daemonizes_does_not_outlive_the_time_of_its_hook(mux):
    pids = mux.dir / "pids"
    mux.configure(hooked(mux, "away", on="end", timeout="3s", run=f"setsid sh -c 'exec >/dev/null 2>&1 </dev/null; echo $$ >> {pids}; sleep 600' &")
                  + hooked(mux, "hangs", on="end", timeout="3s", run=f"setsid sh -c 'echo $$ >> {pids}; trap \"\" TERM HUP; sleep 600; sleep 600' & wait"))
    for i in range(3):
        mux.ue("exec", "--no-login", "true").ok()
    wait_for(lambda: log_of(mux).count("was killed at its timeout") == 3 and log_of(mux).count(": killed at its timeout") == 3, "the log")
    found = words_in(pids)
    assert len(found) > 1  # on a busy machine the time of some is up before they have said their number
    wait_for(lambda: all(map(is_gone, found)), "the end of all of them")


def test_a_hook_ends_at_its_time_also_when_its_worker_has_died(mux):
    pids = mux.dir / "pids"
    mux.configure(hooked(mux, "slow", on="end", timeout="5s", run=f"echo $$ >> {pids}; sleep 600"))
    mux.ue("exec", "--no-login", "true").ok()
    wait_for(lambda: pids.exists() and pids.read_text(), "the hook")
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    wait_for(lambda: is_gone(pids.read_text().split()[0]), "its end")


def test_the_end_of_sessions_by_a_stop_reaches_the_hooks(mux):
    out, pids = mux.dir / "out", mux.dir / "pids"
    mux.configure("[limits]\nhooks = 2\n" + hooked(mux, "h", on="end killed", run=f"cat >> {out}")
                  + hooked(mux, "slow", on="removed killed", session="a", timeout="1500ms", run=f"echo $$ >> {pids}; sleep 600"))
    for name in "abcd":
        mux.ue("exec", "-n", name, "--no-login", "-y", "0", "exec sleep 600").ok()
    mux.ue("stop").ok()
    told = [(event["type"], event["name"]) for event in events_in(out)]
    assert sorted(told) == sorted([(kind, name) for kind in ("end", "killed") for name in "abcd"])
    assert all(map(is_gone, words_in(pids))) and "killed at its timeout" in log_of(mux)


def test_a_stop_does_not_wait_for_ever_for_the_last_hooks(mux):
    pids = mux.dir / "pids"
    mux.configure(hooked(mux, "hangs", on="killed", timeout="1h", run=f"echo $$ >> {pids}; sleep 600"))
    mux.ue("exec", "-n", "a", "--no-login", "-y", "0", "exec sleep 600").ok()
    mux.ue("stop").ok()
    assert is_gone(pids.read_text().strip()) and "too slow: 1 killed" in log_of(mux)


def without_pidfd():
    """In a child: pidfd_open(2) and pidfd_send_signal(2) are as on a kernel that does not know them."""
    code = [(0x20, 0, 0, 0), (0x15, 1, 0, 434), (0x15, 0, 1, 424), (0x06, 0, 0, 0x00050000 | errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HL", len(code), ctypes.addressof(filters)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        os._exit(99)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the numbers of the system calls")
def test_where_the_kernel_has_no_pidfd(mux):
    out = mux.dir / "out"
    mux.configure(hooked(mux, "h", on="end", run=f"cat >> {out}; exit 3") + hooked(mux, "slow", on="end", run="exec sleep 600", timeout="300ms"))
    mux.finish(mux.popen("start", preexec_fn=without_pidfd)).ok()
    for i in range(3):
        mux.ue("exec", "--no-login", f"echo {i}").ok()
    wait_for(lambda: len(events_in(out)) == 3 and log_of(mux).count("exit status 3") == 3, "the hooks")
    wait_for(lambda: log_of(mux).count("killed at its timeout") == 3, "the log")
    mux.ue("exec", "-n", "a", "--no-login", "-y", "0", "sleep 600 & exec sleep 600").ok()
    assert mux.js("kill", "a")["sessions"][0]["survivors"] == 0
    os.kill(mux.rpc().call("hello")["pid"], signal.SIGKILL)
    mux.ue("exec", "--no-login", "echo again").ok()
    wait_for(lambda: any(event["aggregated_output"] == "again\n" for event in events_in(out)), "a hook of the successor")
