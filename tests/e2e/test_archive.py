"""[muxd] keep_on_disk: ended sessions outlive the daemon as files, and nothing foreign in their place is trusted."""
import os, signal, stat, struct
import pytest
from conftest import needs_root, wait_for

pytestmark = pytest.mark.no_pty
# Where the header of a journal (muxd/journal/journal.h) has what these tests look at or break, and how wide it is.
FIELDS = {"magic": (0, "I"), "major": (4, "H"), "ring_size": (16, "Q"), "total_size": (112, "Q"), "number": (120, "Q"), "end_read": (240, "q"),
          "state": (280, "I"), "out_head": (368, "Q"), "out_tail": (376, "Q")}
KEEP = "[muxd]\nkeep_on_disk = yes\n"


@pytest.fixture
def kept(mux):
    mux.configure(KEEP)
    mux.ended = mux.state / "muxd" / "ended"
    return mux


def files(mux):
    """What counts as an ended session on disk."""
    return sorted(p.name for p in mux.ended.iterdir() if not p.name.startswith(".")) if mux.ended.exists() else []


def on_disk(mux, *names):
    wait_for(lambda: files(mux) == sorted(names), f"{names} to be on disk")


def restart(mux):
    mux.ue("stop").ok()
    wait_for(lambda: not mux.daemons(), "the daemon to go")
    mux.ue("start").ok()


def log(mux):
    return (mux.state / "muxd" / "muxd.log").read_text(errors="replace")


def test_nothing_is_kept_unless_asked_for(mux):
    mux.ue("exec", "true").ok()
    mux.ue("stop").ok()
    assert not (mux.state / "muxd" / "ended").exists()


def test_output_and_status_outlive_the_daemon(kept):
    assert kept.ue("exec", "-n", "job", "printf 'one\\ntwo\\n'; exit 7").rc == 7
    before = kept.listed("job")
    restart(kept)
    after = kept.listed("job")
    assert {k: after[k] for k in ("session_id", "name", "state", "cmd", "cwd", "tty", "created", "ended", "exit_code")} == {
        k: before[k] for k in ("session_id", "name", "state", "cmd", "cwd", "tty", "created", "ended", "exit_code")}
    for word in ("job", before["session_id"]):
        again = kept.ue("poll", "--raw", "--since", "0", word)
        assert again.rc == 7 and again.out == "one\ntwo\n"
    assert kept.ue("poll", "--raw", "--since", "4", "job").out == "two\n"
    assert kept.js("exec", "-y", "0", "sleep 300")["session_id"] > before["session_id"]


def test_signal_and_killer_outlive_the_daemon(kept):
    kept.ue("exec", "-n", "segv", "kill -SEGV $$")
    kept.ue("exec", "-n", "victim", "-y", "0", "exec sleep 300").ok()
    kept.ue("kill", "victim").ok()
    before = [kept.listed(n) for n in ("segv", "victim")]
    assert [b["state"] for b in before] == ["signaled", "killed"]
    restart(kept)
    for row in before:
        after = kept.listed(row["name"])
        assert {k: after.get(k) for k in ("state", "exit_code", "signal", "killed_by")} == {
            k: row.get(k) for k in ("state", "exit_code", "signal", "killed_by")}
        assert "pid" not in after  # whoever has that number now


def test_sessions_that_the_stop_ends_are_kept_too(kept):
    kept.ue("exec", "-n", "s", "-y", "0", "echo begun; exec sleep 300").ok()
    wait_for(lambda: kept.ue("poll", "--raw", "--since", "0", "s").out == "begun\n")
    restart(kept)
    assert kept.listed("s")["state"] == "killed"
    assert kept.ue("poll", "--raw", "--since", "0", "s").out == "begun\n"


def test_unread_output_is_still_unread(kept):
    kept.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; echo result; exit 5").ok()
    (kept.dir / "go").touch()
    wait_for(lambda: kept.listed("s")["state"] == "exited")
    restart(kept)
    assert kept.listed("s")["unread_bytes"] == 7
    first = kept.ue("poll", "--json", "s")
    assert first.rc == 5 and first.json["output"] == "result\n"
    restart(kept)
    assert kept.ue("poll", "--json", "s").json["output"] == ""


def test_more_output_than_the_journal_holds(kept):
    kept.configure(KEEP + "[limits]\njournal = 128k\nhead = 64k\n")
    kept.ue("exec", "-n", "s", "-y", "0", "while [ ! -e go ]; do sleep 0.02; done; seq 1 200000").ok()
    (kept.dir / "go").touch()
    wait_for(lambda: kept.listed("s")["state"] == "exited")
    before = kept.ue("poll", "--json", "--peek", "--since", "0", "-m", "200000", "s").json
    restart(kept)
    after = kept.ue("poll", "--json", "--peek", "--since", "0", "-m", "200000", "s").json
    assert before["omitted_bytes"] > 1_000_000 and before["output"].startswith("1\n2\n") and before["output"].endswith("200000\n")
    assert {k: after[k] for k in ("output", "omitted_bytes", "from", "to")} == {k: before[k] for k in ("output", "omitted_bytes", "from", "to")}


def test_any_bytes_in_command_and_output(kept):
    command = "printf '\\000\\377\\033[1m'; : \"tab\there\nand = \\x41 \\\\ é\""
    kept.ue("exec", "-n", "s", command).ok()
    before = kept.listed("s")["cmd"]
    restart(kept)
    assert kept.listed("s")["cmd"] == before and "\n" in before
    assert kept.ue("poll", "--raw", "--since", "0", "s").raw == b"\0\xff\x1b[1m"


def field(place, name):
    at, width = FIELDS[name]
    return struct.unpack_from(width, place.read_bytes(), at)[0]


def test_files_are_private_and_small(kept):
    old = os.umask(0)
    try:
        kept.ue("exec", "-n", "s", "--stdin", "-y", "0", "read x; echo got it").ok()
        kept.ue("write", "-l", "s", "hunter2", "--exit").ok()
    finally:
        os.umask(old)
    number = kept.listed("s")["session_id"]
    on_disk(kept, f"{number}-s")
    place = kept.ended / f"{number}-s"
    assert stat.S_IMODE(kept.ended.stat().st_mode) == 0o700
    assert stat.S_ISREG(place.lstat().st_mode) and stat.S_IMODE(place.lstat().st_mode) == 0o600
    data = place.read_bytes()
    assert b"got it" in data and b"hunter2" not in data, "what was typed is not kept"
    assert len(data) > 1 << 20 and place.stat().st_blocks * 512 < 64 << 10, "what was never written takes no room"


def test_removal_and_rename_reach_the_disk(kept):
    for name in "ab":
        kept.ue("exec", "-n", name, f"echo {name}").ok()
    a, b = (kept.listed(n)["session_id"] for n in "ab")
    on_disk(kept, f"{a}-a", f"{b}-b")
    kept.ue("rename", "a", "other").ok()
    on_disk(kept, f"{a}-other", f"{b}-b")
    kept.ue("rm", "b").ok()
    on_disk(kept, f"{a}-other")
    restart(kept)
    assert [r["name"] for r in kept.js("list", "--all")["sessions"]] == ["other"]
    assert kept.ue("poll", "--raw", "--since", "0", "other").out == "a\n"
    kept.ue("rm", "other").ok()
    on_disk(kept)
    wait_for(lambda: not list(kept.ended.iterdir()), "nothing to be left on disk")


def test_time_runs_out_also_on_disk(kept):
    kept.configure(KEEP + "[limits]\nkeep_ended = 100ms\n")
    kept.ue("exec", "-n", "s", "true").ok()
    wait_for(lambda: kept.listed("s") is None, "the tombstone to go")
    on_disk(kept)
    kept.configure(KEEP)
    kept.ue("reload").ok()
    kept.ue("exec", "-n", "t", "true").ok()
    wait_for(lambda: any(field(p, "end_read") for p in kept.ended.glob("*-t")), "the reading to be noted")
    kept.ue("stop").ok()
    kept.configure(KEEP + "[limits]\nkeep_ended = 0\n")
    assert kept.js("list", "--all")["sessions"] == []
    on_disk(kept)


def test_no_more_than_max_sessions(kept):
    for n in range(6):
        kept.ue("exec", "-n", f"s{n}", "true").ok()
    kept.ue("stop").ok()
    assert len(files(kept)) == 6
    kept.configure(KEEP + "[limits]\nmax_sessions = 3\n")
    assert [r["name"] for r in kept.js("list", "--all")["sessions"]] == ["s3", "s4", "s5"]
    on_disk(kept, "1003-s3", "1004-s4", "1005-s5")
    kept.ue("exec", "-n", "new", "true").ok()
    assert [r["name"] for r in kept.js("list", "--all")["sessions"]] == ["s4", "s5", "new"]
    on_disk(kept, "1004-s4", "1005-s5", f"{kept.listed('new')['session_id']}-new")


def test_name_of_the_dead_is_free(kept):
    kept.ue("exec", "-n", "s", "echo old; exit 3")
    old = kept.listed("s")["session_id"]
    restart(kept)
    kept.ue("exec", "-n", "s", "echo new; exit 4")
    assert kept.ue("poll", "s").rc == 4
    assert kept.ue("poll", "--raw", "--since", "0", old).out == "old\n"


def test_boot_sessions_begin_anew_after_a_reboot(kept):
    kept.configure(KEEP + "[session b]\nargv = /bin/sleep 300\ntty = no\nstart = boot\n")
    kept.ue("start").ok()
    first = kept.wait_state("b", "running")["session_id"]
    restart(kept)
    second = kept.wait_state("b", "running")["session_id"]
    assert second > first
    assert [r["state"] for r in kept.js("list", "--all")["sessions"]] == ["killed", "running"]


def test_kept_sessions_survive_the_death_of_the_worker(kept):
    kept.ue("exec", "-n", "old", "echo old; exit 3")
    restart(kept)
    kept.ue("exec", "-n", "young", "echo young; exit 4")
    assert kept.ue("poll", "--raw", "--since", "0", "old").out == "old\n"  # fetched, and lost with the worker
    worker = next(p for p in kept.daemons() if kept.rpc().call("status")["pid"] == p)
    os.kill(worker, signal.SIGKILL)
    for name, code in (("old", 3), ("young", 4)):
        again = kept.ue("poll", "--raw", "--since", "0", name)
        assert again.rc == code and again.out == f"{name}\n"
    assert len(kept.js("list", "--all")["sessions"]) == 2


def test_programs_left_behind_write_on(kept):
    kept.ue("exec", "-n", "s", "( while [ ! -e go ]; do sleep 0.02; done; echo late ) & echo early").ok()
    number = kept.listed("s")["session_id"]
    on_disk(kept, f"{number}-s")
    (kept.dir / "go").touch()
    place = kept.ended / f"{number}-s"
    wait_for(lambda: b"early\nlate\n" in place.read_bytes(), "what came late to be on disk")
    restart(kept)
    assert kept.ue("poll", "--raw", "--since", "0", "s").out == "early\nlate\n"


def test_switched_on_later(mux):
    mux.ue("exec", "-n", "s", "echo here").ok()
    mux.configure(KEEP)
    mux.ue("reload").ok()
    mux.ended = mux.state / "muxd" / "ended"
    on_disk(mux, f"{mux.listed('s')['session_id']}-s")


def test_many_at_once(kept):
    client = kept.rpc()
    ids = [client.send("exec_command", {"cmd": f"echo {n}", "name": f"s{n}", "login": False, "yield_time_ms": 30000}) for n in range(40)]
    for id in ids:
        assert client.result(id)["exit_code"] == 0
    restart(kept)
    rows = kept.js("list", "--all")["sessions"]
    assert sorted(r["name"] for r in rows) == sorted(f"s{n}" for n in range(40))
    assert kept.ue("poll", "--raw", "--since", "0", "s17").out == "17\n"


# --- what is not trusted

def stopped(kept, cmd="echo fine; exit 3"):
    """A daemon at rest whose only ended session `s` is on disk; its file."""
    kept.ue("exec", "-n", "s", cmd)
    kept.ue("stop").ok()
    wait_for(lambda: not kept.daemons())
    return kept.ended / files(kept)[0]


def put(name, value):
    def act(place):
        at, width = FIELDS[name]
        with open(place, "r+b") as file:
            os.pwrite(file.fileno(), struct.pack(width, value), at)
    return act


def swap(act):
    def do(place):
        place.rename(place.parent.parent / "aside")
        act(place)
    return do


BROKEN = {
    "nothing": lambda p: p.write_bytes(b""),
    "half a header": lambda p: os.truncate(p, 1000),
    "half a file": lambda p: os.truncate(p, p.stat().st_size // 2),
    "a longer file": lambda p: os.truncate(p, p.stat().st_size + 4096),
    "noise": lambda p: p.write_bytes(os.urandom(p.stat().st_size)),
    "another beginning": put("magic", 1),
    "another version": put("major", 9),
    "another number": put("number", 1001),
    "a huge ring": put("ring_size", 1 << 40),
    "a huge file": put("total_size", 1 << 60),
    "offsets the wrong way": put("out_tail", 6),
    "a huge offset": put("out_head", (1 << 64) - 1),
    "an unknown state": put("state", 1),
    "a link": swap(lambda p: p.symlink_to(p.parent.parent / "aside")),
    "a second name": lambda p: os.link(p, p.parent.parent / "second"),
    "a fifo": swap(lambda p: os.mkfifo(p, 0o600)),
    "a directory": swap(lambda p: p.mkdir(0o700)),
    "open to others": lambda p: os.chmod(p, 0o644),
}


@pytest.mark.parametrize("what", BROKEN)
def test_damaged_or_foreign_is_ignored_and_told(kept, what):
    place = stopped(kept)
    BROKEN[what](place)
    assert kept.js("list", "--all")["sessions"] == []
    assert f"{place.name}' is ignored" in log(kept)
    assert place.exists()  # whose ever it is, it is not ours to remove
    assert kept.ue("exec", "-n", "s", "true").rc == 0


@needs_root
def test_what_belongs_to_others_is_ignored(kept):
    os.chown(stopped(kept), 65534, 65534)
    assert kept.js("list", "--all")["sessions"] == []
    assert "belongs to another user" in log(kept)


def test_foreign_names_are_ignored(kept):
    place = stopped(kept)
    for name in ("x", "1000", "-1", "999-a", "01000-a", "1001-", "1001-a b", "99999999999999999999-a", "1001-" + "x" * 65, "4611686018427387904-a"):
        (kept.ended / name).write_bytes(place.read_bytes())
    (kept.ended / "1002-file").write_text("")
    (kept.ended / "1003-link").symlink_to(place.name)
    assert [r["name"] for r in kept.js("list", "--all")["sessions"]] == ["s"]
    assert kept.js("exec", "-y", "0", "sleep 300")["session_id"] < 2000
    assert log(kept).count("is ignored") == 12


def test_leftovers_of_a_crash_go(kept):
    place = stopped(kept)
    (kept.ended / ".new-1005").write_text("half")
    kept.ue("start").ok()
    wait_for(lambda: [p.name for p in kept.ended.iterdir()] == [place.name], "the leftovers to go")


@pytest.mark.parametrize("how", ["link", "open"])
def test_place_that_is_not_fit(kept, how):
    (kept.state / "muxd").mkdir(0o700)
    (kept.dir / "trap").mkdir(0o700)
    if how == "link":
        kept.ended.symlink_to(kept.dir / "trap")
    else:
        kept.ended.mkdir()
        os.chmod(kept.ended, 0o777)
    assert kept.ue("exec", "-n", "s", "echo fine").ok().answer["output"] == "fine\n"
    kept.ue("stop").ok()
    assert not list((kept.dir / "trap").iterdir()) and not list(kept.ended.iterdir())
    assert ("symbolic link" if how == "link" else "open to others") in log(kept)


def test_output_that_vanishes_later_is_told(kept):
    place = stopped(kept, "seq 1 5000; exit 3")
    size = len("".join(f"{n}\n" for n in range(1, 5001)))
    kept.ue("start").ok()
    os.truncate(place, 5000)
    answer = kept.ue("poll", "--json", "--since", "0", "s")
    assert answer.rc == 3 and "4999" not in answer.json["output"] and answer.json["omitted_bytes"] == size
    assert "output of session 1000 is lost" in log(kept)
    raw = kept.ue("poll", "--raw", "--since", "0", "s")
    assert raw.rc == 3 and raw.out == "" and f"{size} bytes" in raw.err
