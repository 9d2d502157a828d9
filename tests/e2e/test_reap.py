"""Whoever stems from a session is ended with it, however it tries to leave, and nobody else is, however it looks like one of them."""
import contextlib, json, os, shutil, signal, subprocess, time
from pathlib import Path

import pytest
from conftest import CAP, UE, Muxd, become_new_user, command_line, need, needs_root, proc_bytes, proc_state, wait_for

pytestmark = pytest.mark.no_pty

CLOSES_ALL = """
import os, signal, sys, time
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
os.umask(0)
os.environ.clear()
os.closerange(0, 1024)
os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
"""
FORKER = """
import os, signal, sys, time
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)
"""
SPOOLER = """
import os, subprocess, sys
with open(sys.argv[1]) as fifo:
    for line in fifo:
        subprocess.Popen(["/bin/sleep", line.strip()], env={}, start_new_session=True, stdin=subprocess.DEVNULL)
"""

# SLEEP runs for ever and is told from all else by its argument, TAG. Each says "up" and stays, or not: ENDS.
ESCAPES = {
    "nohup": "nohup SLEEP >/dev/null 2>&1 </dev/null & echo up; wait",
    "setsid": "setsid SLEEP & echo up; wait",
    "setsid -f": "setsid -f SLEEP; echo up; exec sleep 300",
    "double fork": "(setsid sh -c 'SLEEP & exit' &); echo up; exec sleep 300",
    "ignores HUP and TERM": "(trap '' HUP TERM INT; exec SLEEP) & trap '' HUP TERM INT; echo up; wait",
    "stopped": "SLEEP & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; echo up; wait",
    "disowned": "SLEEP & disown; echo up; exec sleep 300",
    "other group": "set -m; SLEEP & echo up; wait",
    "deep": "bash -c 'setsid bash -c \"trap : HUP TERM; SLEEP & wait; wait\" & wait' & echo up; wait",
    "env -i setsid -f": "env -i /usr/bin/setsid -f /bin/SLEEP; echo up; exec sleep 300",
    "env -i, double fork": "(env -i /usr/bin/setsid /bin/SLEEP &); echo up; exec sleep 300",
    "env -u MUXD_SESSION": "env -u MUXD_SESSION -u MUXD_SOCKET setsid -f SLEEP; echo up; exec sleep 300",
    "another's MUXD_SESSION": "MUXD_SESSION=1000 setsid -f SLEEP; echo up; exec sleep 300",
    "ssh-agent": "ssh-agent -a DIR/agent.TAG >/dev/null; echo up; exec sleep 300",
    "gpg-agent": "mkdir -m 700 DIR/TAG; gpg-agent --homedir DIR/TAG --daemon >/dev/null 2>&1; echo up; exec sleep 300",
    "closes everything": "/usr/bin/python3 DIR/closes_all.py TAG; echo up; exec sleep 300",
    "new pid and user namespaces": "unshare -Urpf --mount-proc --kill-child=SIGCONT SLEEP & echo up; wait",
    "namespaces, left alone": "setsid -f unshare -Urpf setsid SLEEP; echo up; exec sleep 300",
    "by a spooler": "mkfifo DIR/TAG; setsid -f /usr/bin/python3 DIR/spooler.py DIR/TAG; echo TAG >DIR/TAG; echo up; exec sleep 300",
    "forks fast": "/usr/bin/python3 DIR/forker.py TAG & echo up; exec sleep 300",
    "lowers its limits": "(prlimit --locks=0 sleep 300; :) & prlimit --locks=7:9 setsid SLEEP & echo up; wait",
    "the program has ended": "setsid -f env -i /bin/SLEEP >/dev/null 2>&1 </dev/null; echo up",
}
NEEDS = {"ssh-agent": "ssh-agent", "gpg-agent": "gpg-agent", "lowers its limits": "prlimit"}


class House:
    """A daemon with two neighbours of the victim-to-be, who do what it does, and a stranger that claims to be one of its programs."""

    def __init__(self, mux):
        self.mux, self.count = mux, 0
        for name, text in (("closes_all", CLOSES_ALL), ("forker", FORKER), ("spooler", SPOOLER)):
            (mux.dir / f"{name}.py").write_text(text)
        mux.configure("[muxd]\nkill_grace = 50ms\n")
        self.stranger = None

    def tag(self):
        self.count += 1
        return f"3172.{os.getpid():06d}{self.count:03d}"

    def script(self, how, tag):
        return ESCAPES[how].replace("SLEEP", f"sleep {tag}").replace("TAG", tag).replace("DIR", str(self.mux.dir))

    def begin(self, how, name, *options):
        """The session's tag, once it runs."""
        return self.begin_found(how, name, *options)[0]

    def begin_found(self, how, name, *options):
        """The session's tag, and the numbers of those who bear it. Whoever is just being executed has no command line: a second look may
        not find it."""
        tag = self.tag()
        self.mux.ue("exec", "-n", name, "--until", "up", "-y", CAP * 1000, *options, "--argv", "--", "/bin/bash", "-c", self.script(how, tag)).ok()
        return tag, wait_for(lambda: self.alive(tag), f"{how!r} to run")

    def neighbours(self):
        """Those whom nothing may touch: their numbers."""
        return self.begin_found("setsid -f", "before")[1] + self.begin_found("env -i setsid -f", "between")[1]

    def strange(self, number):
        env = {"MUXD_SESSION": str(number), "MUXD_SOCKET": str(self.mux.socket)}
        self.stranger = subprocess.Popen(["/bin/sleep", "300"], env=env, start_new_session=True)
        return [self.stranger.pid]

    def alive(self, tag):
        """Whoever has the tag in its command line, but no shell, which has it in its script."""
        found = []
        for entry in sorted((e for e in os.listdir("/proc") if e.isdigit()), key=int, reverse=True):
            words = command_line(entry)
            if any(tag.encode() in word for word in words) and b"-c" not in words and proc_state(entry) not in "ZX":
                found.append(int(entry))
        return found

    def gone(self, tag):
        """One that forks all the time may slip through between two looks."""
        return not any(self.alive(tag) for _ in range(3))

    def close(self):
        if self.stranger:
            self.stranger.kill()
            self.stranger.wait()


@pytest.fixture
def house(mux):
    house = House(mux)
    yield house
    house.close()


def running(pids):
    return all(proc_state(pid) not in "ZX" for pid in pids)


@pytest.mark.parametrize("how", ESCAPES)
def test_kill_ends_all_of_one_session(house, how):
    need(*filter(None, [NEEDS.get(how)]))
    if "unshare" in ESCAPES[how] and subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    spared = house.neighbours()
    tag = house.begin(how, "victim")
    spared += house.strange(house.mux.listed("victim")["session_id"])
    killed = house.mux.js("kill", "victim")["sessions"][0]
    assert killed["survivors"] == 0 and "survivor_processes" not in killed, killed
    assert house.gone(tag), [command_line(pid) for pid in house.alive(tag)]
    assert running(spared)
    assert house.mux.listed("victim")["state"] in ("killed", "exited")


ALL = [how for how in ESCAPES if "unshare" not in ESCAPES[how] and how not in ("gpg-agent",)]


def test_stop_ends_all_of_all(house):
    tags = [house.begin(how, f"s{n}") for n, how in enumerate(ALL) if how != "the program has ended" and shutil.which(NEEDS.get(how, "sh"))]
    stranger = house.strange(1000)
    house.mux.ue("stop").ok()
    wait_for(lambda: not house.mux.daemons())
    assert all(house.gone(tag) for tag in tags)
    assert running(stranger)


# It has shed its mark, and its parents are gone: the keeper's child. The first kind keeps the session's output, the last its kernel session.
SHEDS = {
    "keeps its output": "prlimit --locks=7:7 --rss=7:7 setsid -f SLEEP; echo up; exec sleep 300",
    "keeps its session": "setsid -f sh -c 'prlimit --locks=7:7 --rss=7:7 sh -c \"SLEEP & exit\"; exec sleep 300' >/dev/null 2>&1 </dev/null; echo up; exec sleep 300",
    "keeps the leader's session": "(prlimit --locks=7:7 --rss=7:7 sh -c 'SLEEP &' >/dev/null 2>&1 </dev/null); echo up; exec sleep 300",
}
# One of the two limits that say whose it is, and all else.
SHEDS_ONE = {
    "the limit on locks": "prlimit --locks=7:7 setsid -f SLEEP >/dev/null 2>&1 </dev/null; echo up; exec sleep 300",
    "the limit on resident memory": "prlimit --rss=7:7 setsid -f SLEEP >/dev/null 2>&1 </dev/null; echo up; exec sleep 300",
}
SHEDS_ALL = "prlimit --locks=7:7 --rss=7:7 setsid -f SLEEP >/dev/null 2>&1 </dev/null; echo up; exec sleep 300"


@pytest.mark.parametrize("how", SHEDS_ONE)
def test_who_sheds_one_limit_is_known_by_the_other(house, how):
    """With neighbours who have shed one or both."""
    need("prlimit")
    ESCAPES.update(SHEDS_ONE, both=SHEDS_ALL)
    spared = [pid for kind in [*SHEDS_ONE, "both"] for pid in house.alive(house.begin(kind, f"n{kind[-3:]}"))]
    tag = house.begin(how, "victim")
    assert house.mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(tag) and running(spared) and len(spared) == 3


@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
@pytest.mark.parametrize("how", SHEDS)
def test_who_sheds_the_mark_is_known_by_what_it_keeps(house, how, options):
    """With neighbours who do the same."""
    need("prlimit")
    ESCAPES.update(SHEDS, neighbour=SHEDS_ALL)
    _, spared = house.begin_found("neighbour", "before")
    tag = house.begin(how, "victim", *options)
    spared += house.begin_found("neighbour", "after")[1]
    assert house.mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(tag) and running(spared) and len(spared) == 2


def test_who_sheds_the_mark_is_known_by_the_session_of_a_leader_that_has_ended(house):
    """With neighbours who live and could have started it."""
    need("prlimit")
    ESCAPES.update(SHEDS, neighbour=SHEDS_ALL)
    ESCAPES["keeps an ended leader's session"] = SHEDS["keeps the leader's session"].replace("; exec sleep 300", "")
    _, spared = house.begin_found("neighbour", "before")
    tag = house.begin("keeps an ended leader's session", "victim")
    spared += house.begin_found("neighbour", "after")[1]
    house.mux.wait_state("victim", "exited")
    assert house.alive(tag)
    house.mux.ue("kill", "victim").ok()
    assert house.gone(tag) and running(spared) and len(spared) == 2


def test_who_sheds_all_ends_with_the_only_session_that_can_have_started_it(house):
    need("prlimit")
    ESCAPES["sheds all"] = SHEDS_ALL
    house.mux.ue("exec", "true").ok()
    tag = house.begin("sheds all", "victim")
    assert house.mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(tag)


@pytest.mark.parametrize("owner", ["before", "after", "ended", "gone"])
def test_who_sheds_all_is_not_ended_for_another(house, owner):
    """Whoever could have started it may be the owner, also when it has ended, or was removed."""
    need("prlimit")
    ESCAPES["sheds all"] = SHEDS_ALL
    mux = house.mux
    if owner != "before":
        house.begin("setsid", "victim")
    tag, spared = house.begin_found("sheds all", "owner")
    if owner == "before":
        house.begin("setsid", "victim")
    if owner in ("ended", "gone"):
        mux.ue("kill", "-s", "KILL", "owner").ok()
        mux.wait_state("owner", "killed")
    if owner == "gone":
        mux.ue("rm", "owner").ok()
    mux.ue("kill", "victim").ok()
    assert running(spared)
    mux.ue("stop").ok()
    wait_for(lambda: not mux.daemons())
    assert house.gone(tag)


def test_stop_ends_who_sheds_all(house):
    need("prlimit")
    ESCAPES["sheds all"] = SHEDS_ALL
    tags = [house.begin("sheds all", name) for name in "ab"]
    house.mux.ue("stop").ok()
    wait_for(lambda: not house.mux.daemons())
    assert all(house.gone(tag) for tag in tags)


@pytest.mark.parametrize("how", ["env -i, double fork", "ssh-agent", "closes everything", "forks fast"])
def test_the_timeout_of_shell_command_ends_all(house, how):
    need(*filter(None, [NEEDS.get(how)]))
    spared, rpc = house.neighbours(), house.mux.rpc()
    for limit in (1500, 6000, 24000):  # on a slow machine it may not have begun when its time is over
        tag = house.tag()
        answer = rpc.call("shell_command", {"command": house.script(how, tag), "timeout_ms": limit, "login": False})
        assert answer["timed_out"] and house.gone(tag), answer
        if "up" in answer["output"]:
            break
    assert "up" in answer["output"], answer
    assert running(spared)


def test_a_hook_ends_with_all_that_it_started(house):
    tag, first = house.tag(), house.tag()
    script = house.mux.dir / "hook.sh"
    script.write_text(house.script("env -i, double fork", tag).replace("echo up", f"setsid -f sleep {first}"))
    house.mux.configure(f"[hook h]\non = end\nrun = sh {script}\ntimeout = 5s\n")
    house.mux.ue("exec", "true").ok()
    wait_for(lambda: house.alive(tag) and house.alive(first), "the hook")
    spared = house.neighbours()
    wait_for(lambda: house.gone(tag) and house.gone(first), "its end")
    assert running(spared)


def test_programs_of_a_daemon_inside_a_session(house):
    """Its own kill finds what it started, and that of the outer one all of it, although nothing but the mark says so."""
    mux, tag, other = house.mux, house.tag(), house.tag()
    spared = house.neighbours()
    (mux.dir / "in").mkdir(0o700)
    inner = f"env -u MUXD_SOCKET -u MUXD_SESSION XDG_RUNTIME_DIR={mux.dir}/in '{UE}' -S {mux.dir}/in/s"
    start = f"{inner} exec -n {{}} -y 0 'env -i /usr/bin/setsid -f /bin/sleep {{}}; exec sleep 300'"
    mux.ue("exec", "-n", "victim", "--until", "up", "-y", CAP * 1000, f"{start.format('a', tag)}; {start.format('b', other)}; echo up; exec sleep 300").ok()
    wait_for(lambda: house.alive(tag) and house.alive(other), "the inner programs")
    mux.ue("exec", f"{inner} kill a").ok()
    assert house.gone(tag) and house.alive(other)
    daemons = [pid for pid in mux.daemons() if f"{mux.dir}/in/s".encode() in command_line(pid)]
    assert daemons
    assert mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(other) and not running(daemons[:1]), "the inner daemon goes, too"
    assert running(spared)


def test_one_inside_that_was_killed_leaves_nobody(house):
    """All processes of the inner daemon die at once: what they held is the outer session's still."""
    mux, tag = house.mux, house.tag()
    (mux.dir / "in").mkdir(0o700)
    inner = f"env -u MUXD_SOCKET -u MUXD_SESSION XDG_RUNTIME_DIR={mux.dir}/in '{UE}' -S {mux.dir}/in/s"
    mux.ue("exec", "-n", "victim", "--until", "up", "-y", CAP * 1000,
           f"{inner} exec -y 0 'env -i /usr/bin/setsid -f /bin/sleep {tag}; exec sleep 300'; echo up; exec sleep 300").ok()
    wait_for(lambda: house.alive(tag))
    outer = {mux.rpc().call("status")[key] for key in ("pid", "keeper_pid")}
    session = os.getsid(min(outer))
    end_at_once(lambda: [pid for pid in mux.daemons() if session_of(pid) not in (session, None)])
    assert house.alive(tag)
    assert mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(tag)


def session_of(pid):
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid)


def end_at_once(find):
    """They start each other anew: all stand still before the first one dies. Children go first: a stopped group whose last parent dies is
    woken by the kernel."""
    pids = set()
    while pids != set(find()):
        pids = set(find())
        for pid in pids:  # who was on its way out when it was found has left
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: all(proc_state(pid) in "TZX" for pid in pids))
    for pid in sorted(pids, reverse=True):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: proc_state(pid) in "ZX")
    wait_for(lambda: not running_any(pids) and not any(has_threads(pid) for pid in pids))


def has_threads(pid):
    """The first thread may be a zombie while others still hold the descriptors."""
    try:
        return len(os.listdir(f"/proc/{pid}/task")) > 1
    except OSError:
        return False


def running_any(pids):
    return any(proc_state(pid) not in "ZX" for pid in pids)


def test_what_a_session_left_is_counted(house):
    tag = house.begin("the program has ended", "s")
    neighbour = house.begin("env -i setsid -f", "other")
    assert house.mux.wait_state("s", "exited")["children_left"] == 1
    assert house.mux.js("kill", "s")["sessions"][0]["survivors"] == 0
    assert house.gone(tag) and house.alive(neighbour)
    assert house.mux.listed("s")["children_left"] == 0


def test_the_sentinel_ends_what_has_left_its_group(house):
    """Worker and keeper are killed at once, after an upgrade, too; an ended session's program is not meant."""
    mux = house.mux
    kept = house.begin("the program has ended", "ended")
    mux.wait_state("ended", "exited")
    tags = [house.begin("env -i setsid -f", "a"), house.begin("closes everything", "b", "-t")]
    mux.ue("upgrade").ok()
    tags.append(house.begin("double fork", "c"))
    end_at_once(lambda: [pid for pid in mux.daemons() if proc_bytes(pid, "comm") != b"muxd-sentinel\n"])
    wait_for(lambda: all(house.gone(tag) for tag in tags))
    assert house.alive(kept)
    for pid in house.alive(kept):
        os.kill(pid, signal.SIGKILL)


def left_rows(mux):
    return [row for row in mux.js("list", "--all")["sessions"] if row["state"] == "left"]


def test_the_next_life_finds_what_was_left(house):
    """Worker, keeper and sentinel are killed at once."""
    mux = house.mux
    tags = [house.begin(how, name) for name, how in (("a", "env -i setsid -f"), ("b", "closes everything"))]
    numbers = [mux.listed(name)["session_id"] for name in "ab"]
    assert left_rows(mux) == []
    end_at_once(mux.daemons)
    rows = left_rows(mux)
    assert [row["session_id"] for row in rows] == numbers, rows
    for row, tag in zip(rows, tags):
        assert set(house.alive(tag)) <= set(row["pids"]) and row["pid"] == row["pids"][0] and row["cmd"]
    assert "left" in mux.ue("list", "--all").ok().out
    number = house.begin("setsid -f", "fresh") and mux.listed("fresh")["session_id"]
    assert number not in numbers
    killed = mux.js("kill", str(numbers[0]))["sessions"]
    assert [(one["session_id"], one["survivors"]) for one in killed] == [(numbers[0], 0)]
    assert house.gone(tags[0]) and house.alive(tags[1]) and mux.listed("fresh")["state"] == "running"
    assert mux.ue("kill", "-s", "TERM", str(numbers[1])).rc == 127 and house.alive(tags[1])
    assert [row["session_id"] for row in left_rows(mux)] == numbers[1:]
    assert mux.ue("rm", "fresh", str(numbers[1])).rc == 125 and house.alive(tags[1]), "all or none"
    assert mux.ue("rm", str(numbers[1])).ok().out == f"{numbers[1]}: ended\n"
    assert left_rows(mux) == [] and house.gone(tags[1])
    assert mux.ue("rm", str(numbers[1])).rc == mux.ue("kill", str(numbers[1])).rc == 127


def test_the_next_life_ends_what_was_left(house):
    """As the config says, also for a session that nobody names."""
    mux = house.mux
    tag = house.begin("closes everything", "a")
    end_at_once(mux.daemons)
    mux.configure("[muxd]\nleftovers = end\n")
    mux.ue("start").ok()
    wait_for(lambda: house.gone(tag))
    wait_for(lambda: left_rows(mux) == [])


@pytest.mark.parametrize("leftovers", ["keep", "end"])
def test_stop_and_what_ended_sessions_have_left(house, leftovers):
    mux = house.mux
    mux.configure(f"[muxd]\nkill_grace = 50ms\nleftovers = {leftovers}\n")
    tag, number = house.begin("the program has ended", "s"), mux.wait_state("s", "exited")["session_id"]
    mux.ue("stop").ok()
    wait_for(lambda: not mux.daemons())
    if leftovers == "end":
        assert house.gone(tag)
        return
    assert house.alive(tag) and [row["session_id"] for row in left_rows(mux)] == [number]
    mux.ue("rm", str(number)).ok()
    assert house.gone(tag)


def test_a_later_worker_knows_the_marks_of_the_first(house):
    """Also when the file has gone."""
    mux = house.mux
    tag = house.begin("env -i setsid -f", "s")
    next(mux.state.rglob("mark")).unlink()
    worker = mux.rpc().call("status")["pid"]
    os.kill(worker, signal.SIGKILL)
    assert mux.js("kill", "s")["sessions"][0]["survivors"] == 0
    assert house.gone(tag)


def test_two_daemons_of_one_state_directory_leave_each_others_programs(house):
    mux, other = house.mux, Muxd()
    try:
        other.env["XDG_STATE_HOME"] = mux.env["XDG_STATE_HOME"]
        mine, theirs = house.begin("env -i setsid -f", "s"), House(other)
        its = theirs.tag() + "9"
        other.ue("exec", "-n", "s", "--until", "up", "-y", CAP * 1000, theirs.script("env -i setsid -f", its)).ok()
        wait_for(lambda: house.alive(its))
        assert left_rows(mux) == [] and left_rows(other) == []
        assert other.js("kill", "--all")["sessions"][0]["survivors"] == 0
        assert house.alive(mine) and house.gone(its)
    finally:
        wrong = other.close()
        other.remove()
    assert not wrong, wrong


def test_mark_is_private_and_stays(house):
    mux = house.mux
    mux.ue("start").ok()
    path = next(mux.state.rglob("mark"))
    before = path.read_bytes()
    assert path.stat().st_mode & 0o7777 == 0o600
    mux.ue("stop").ok()
    mux.ue("start").ok()
    assert path.read_bytes() == before
    assert not [*mux.state.rglob("mark.*")]


def limits_of(pid):
    """Soft and hard of RLIMIT_LOCKS."""
    row = next(line for line in proc_bytes(pid, "limits").decode().split("\n") if line.startswith("Max file locks"))
    return row.split()[3:5]


def test_everything_bears_a_mark(house):
    """One-shots and hooks, too; two sessions have different ones."""
    mux = house.mux
    mux.configure(f"[hook h]\non = end\nrun = bash -c 'ulimit -Hx' >{mux.dir}/hook\n")
    mux.ue("exec", "true").ok()
    wait_for(lambda: (mux.dir / "hook").exists() and (mux.dir / "hook").read_text())
    seen = [(mux.dir / "hook").read_text().strip()]
    for _ in range(2):
        seen.append(mux.ue("exec", "--raw", "--argv", "--", "/bin/bash", "-c", "ulimit -Hx").ok().out.strip())
        seen.append(mux.rpc().call("shell_command", {"command": "ulimit -Sx", "login": False})["output"].strip())
    assert all(one.isdigit() and int(one) > 1 << 60 for one in seen) and len(set(seen)) == 5, seen
    assert len({int(one) >> 32 for one in seen}) == 1
    word = int(seen[0]) >> 32
    status = mux.js("status")

    def bears_none(pid):
        return all(not one.isdigit() or int(one) >> 32 != word for one in limits_of(pid))
    wait_for(lambda: bears_none(status["pid"]) and bears_none(status["keeper_pid"]), "the daemon to be done with its hooks, and to bear none")


def test_no_room_for_marks(house):
    """A hard limit of the user's own: sessions work, the log says what is lost."""
    mux = house.mux
    if os.geteuid() == 0:
        become_new_user(mux)
        pytest.skip("root raises it")
    mux.prefix = ["prlimit", "--locks=1000:1000", "--"]
    need("prlimit")
    assert mux.ue("exec", "--raw", "echo hello").ok().out == "hello\n"
    assert "can't be marked" in mux.log_tail()
    mux.ue("exec", "-n", "s", "-y", "0", "exec sleep 300").ok()
    assert mux.js("kill", "s")["sessions"][0]["survivors"] == 0
    assert "children_left" not in mux.listed("s")


# --- as root
def become_root(mux):
    """A command that becomes root's altogether, as one of sudo does: an ordinary user may not signal it."""
    need("setpriv")
    program = mux.dir / "bin" / "as-root"
    shutil.copy(shutil.which("setpriv"), program)
    os.chmod(program, 0o4755)
    return [str(program), "--reuid=0", "--regid=0", "--clear-groups", "--", "/bin/sleep"]


@needs_root
@pytest.mark.parametrize("how", ["leader", "child"])
@pytest.mark.parametrize("verb", ["kill", "stop"])
def test_what_became_root_is_told_and_nobody_waits_for_it(ordinary, how, verb):
    mux, house = ordinary, House(ordinary)
    tag = house.tag()
    command = " ".join(become_root(mux)) + " " + tag
    script = f"exec {command}" if how == "leader" else f"nohup setsid {command} & wait"
    mux.ue("exec", "-n", "s", "-y", "0", "--argv", "--", "/bin/sh", "-c", script).ok()
    lasting = wait_for(lambda: [pid for pid in house.alive(tag) if os.stat(f"/proc/{pid}").st_uid == 0 and b"/bin/sleep" == command_line(pid)[0]])
    began = time.monotonic()
    result = mux.ue(verb, *["s"][: verb == "kill"])
    try:
        assert time.monotonic() - began < CAP / 2 and running(lasting)
        if verb == "kill":
            assert result.rc != 0 and f"1 process could not be ended: {lasting[0]} (/bin/sleep {tag})" in result.out, result
            left = mux.js("kill", "s")["sessions"][0]
            assert left["survivors"] == 1 and left["survivor_processes"] == [{"pid": lasting[0], "command": f"/bin/sleep {tag}"}], left
        else:
            assert result.rc == 0 and f"1 process could not be ended: {lasting[0]} (/bin/sleep {tag})" in result.out, result
            wait_for(lambda: not mux.daemons())
            assert [row["pids"] for row in left_rows(mux)] == [lasting]
    finally:
        for pid in lasting:
            os.kill(pid, signal.SIGKILL)


@needs_root
def test_a_leader_that_became_root_loses_its_terminal(ordinary):
    """The kernel hangs up on it, whoever it is."""
    mux, house = ordinary, House(ordinary)
    mux.ue("exec", "-n", "s", "-t", "-y", "0", "--argv", "--", *become_root(mux), "300").ok()
    pid = mux.listed("s")["pid"]
    wait_for(lambda: command_line(pid)[0] == b"/bin/sleep")
    assert mux.js("kill", "s")["sessions"][0]["survivors"] == 0
    assert not running([pid])
    assert mux.listed("s")["state"] == "killed"


BY_ROOT = {
    "sudo setsid -f": "sudo -n setsid -f SLEEP; echo up; exec sleep 300",
    "sudo -u nobody": "sudo -n -u nobody setsid -f env -i /bin/SLEEP; echo up; exec sleep 300",
    "su -": "su - root -c 'setsid -f /bin/SLEEP'; echo up; exec sleep 300",
    "su nobody": "su -s /bin/sh nobody -c 'setsid -f /bin/SLEEP' >/dev/null; echo up; exec sleep 300",
    "setpriv": "setsid -f setpriv --reuid=65534 --clear-groups env -i /bin/SLEEP; echo up; exec sleep 300",
    "raises its limit": "prlimit --locks=unlimited setsid SLEEP & echo up; wait",
}


@needs_root
@pytest.mark.parametrize("how", BY_ROOT)
def test_kill_by_root(house, how):
    need(*[word for word in ("sudo", "su", "setpriv", "prlimit") if how.startswith(word) or word in BY_ROOT[how].split()[:2]])
    if "unlimited" in BY_ROOT[how] and subprocess.run(["prlimit", "--locks=5:5", "prlimit", "--locks=unlimited", "true"], capture_output=True).returncode:
        pytest.skip("this root may not raise limits")
    ESCAPES.update(BY_ROOT)
    spared = house.neighbours()
    tag = house.begin(how, "victim")
    assert house.mux.js("kill", "victim")["sessions"][0]["survivors"] == 0
    assert house.gone(tag)
    assert running(spared)


HIDES = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: who may not be traced is hidden from his own user, too
if os.fork():
    os._exit(0)
os.setsid()
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
os.environ.clear()
signal.pause()
"""


def test_hidden_processes(ordinary):
    """/proc shows only what may be traced (hidepid): one that may not is found all the same."""
    mux = ordinary
    need("unshare")
    mount = "mount -t proc -o hidepid=2 proc /proc && "
    enter = ["unshare", "-mpf", "--propagation", "private", "sh", "-c", mount + '"$@"', "sh", *mux.prefix]
    if os.geteuid() != 0:
        enter = ["unshare", "-rmpf", "--propagation", "private", "sh", "-c", mount + 'unshare -U --map-user=1000 "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("no mounts of /proc of our own here")
    (mux.dir / "hides.py").write_text(HIDES)
    script = mux.dir / "inside.sh"
    script.write_text(f"""
start="/usr/bin/python3 {mux.dir}/hides.py {mux.dir}/pid"
{mux.program} exec -n other -y 0 "$start-other; exec sleep 300" >/dev/null
{mux.program} exec -n victim --until up -y {CAP * 1000} "$start-victim; until test -s {mux.dir}/pid-victim; do :; done; echo up; exec sleep 300" >/dev/null
until test -s {mux.dir}/pid-other; do :; done
for name in victim other; do test -e /proc/$(cat {mux.dir}/pid-$name) || kill -0 $(cat {mux.dir}/pid-$name) && echo $name hides; done
{mux.program} kill --json victim
for name in victim other; do kill -0 $(cat {mux.dir}/pid-$name) && echo $name lives; done
{mux.program} stop
for name in victim other; do kill -0 $(cat {mux.dir}/pid-$name) && echo $name left; done
""")
    os.chmod(script, 0o755)
    done = subprocess.run([*enter, "sh", str(script)], env=mux.env, cwd="/", capture_output=True, text=True, timeout=2 * CAP, stdin=subprocess.DEVNULL)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["victim hides", "other hides"], done
    assert json.loads(lines[2])["sessions"][0]["survivors"] == 0
    assert lines[3:] == ["other lives", "muxd has stopped"], done
