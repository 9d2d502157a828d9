"""What programs inherit, what the daemon shows of itself, whom it lets in, and places that are not fit or full."""
import datetime, os, resource, shutil, signal, socket, stat, subprocess, sys, time
from pathlib import Path
import pytest
from conftest import CAP, SANITIZED, needs_root, wait_for

pytestmark = pytest.mark.no_pty
NOBODY = 65534


def status_of(text):
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def worker(mux):
    return mux.rpc().call("status")["pid"]


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


# --- what programs inherit

def hostile_start(mux, **kw):
    """The daemon is started by somebody with ignored and blocked signals, open descriptors and an odd umask."""
    def prepare():
        for signo in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP):
            signal.signal(signo, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        os.umask(0o022)
    mux.ue("start", preexec_fn=prepare, **kw).ok()


@pytest.mark.parametrize("tty", [False, True])
def test_signals_and_mask_are_the_defaults(mux, tty):
    hostile_start(mux)
    client = mux.rpc()
    answer = client.call("exec_command", {"cmd": ["/bin/cat", "/proc/self/status"], "tty": tty, "yield_time_ms": 30000})
    fields = status_of(answer["output"].replace("\r", ""))
    assert {k: int(fields[k], 16) for k in ("SigPnd", "SigBlk", "SigIgn", "SigCgt")} == dict.fromkeys(("SigPnd", "SigBlk", "SigIgn", "SigCgt"), 0)


@pytest.mark.parametrize("tty", [False, True])
def test_no_foreign_descriptors(mux, tty):
    with open("/etc/passwd") as extra:
        high = os.dup2(extra.fileno(), 97)
        hostile_start(mux, pass_fds=(extra.fileno(), high))
        client = mux.rpc()
        for other in (True, False):
            client.call("exec_command", {"cmd": "exec sleep 300", "tty": other, "stdin": not other, "yield_time_ms": 250} if not other else
                        {"cmd": "exec sleep 300", "tty": True, "ready": False, "yield_time_ms": 250})
        probe = "import os\nfor fd in range(4096):\n  try: print(fd, os.readlink(f'/proc/self/fd/{fd}').split(':')[0])\n  except OSError: pass"
        answer = client.call("exec_command", {"cmd": ["/usr/bin/python3", "-c", probe], "tty": tty, "yield_time_ms": 30000, "exit": True})
        os.close(high)
    lines = answer["output"].split()
    assert lines[0::2] == ["0", "1", "2"], answer["output"]
    kinds = lines[1::2]
    assert all(k.startswith("/dev/pts/") for k in kinds) if tty else kinds == ["/dev/null", "pipe", "pipe"]


def test_umask_is_the_callers(mux):
    mux.ue("start", preexec_fn=lambda: os.umask(0o000)).ok()
    for mask in (0o077, 0o002):
        assert mux.ue("exec", "--raw", "umask", preexec_fn=lambda m=mask: os.umask(m)).ok().out == f"{mask:04o}\n"


def test_who_started_muxd_does_not_matter_for_what_it_makes(mux):
    """A umask that takes rights from the owner makes no place that the next muxd can't enter."""
    place = {"MUXD_SOCKET": ""}  # the default one, whose directory ue makes
    for mask in (0o777, 0o022):
        assert mux.ue("exec", "--raw", "umask", env=place, umask=mask).ok().out == f"{mask:04o}\n"
        mux.ue("stop", env=place).ok()
    made = [path for root in (mux.dir / "muxd", mux.state) for path in (root, *root.rglob("*"))]
    modes = {str(path): oct(stat.S_IMODE(path.stat().st_mode)) for path in made}
    assert len(made) > 4 and all(modes[str(path)] == ("0o700" if path.is_dir() else "0o600") for path in made), modes


def test_limits_and_oom_score_are_the_starters(mux):
    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192))
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 2000))
        Path("/proc/self/oom_score_adj").write_text("321")
    mux.ue("start", preexec_fn=prepare).ok()
    probe = "import resource as r; print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE), open('/proc/self/oom_score_adj').read())"
    core = 0 if SANITIZED else 4096  # a sanitizer switches core files off by itself
    for _ in range(2):
        assert mux.ue("exec", "--raw", "--argv", "--", "/usr/bin/python3", "-c", probe).ok().out == f"({core}, 8192) (200, 2000) 321\n\n"
        os.kill(worker(mux), signal.SIGKILL)  # also from the next worker
        wait_for(lambda: mux.ue("list").rc == 0)


# --- what the daemon shows of itself

def test_no_core_of_the_daemon(mux):
    mux.ue("start").ok()
    pids = mux.daemons()
    assert len(pids) >= 2
    for pid in pids:
        line = next(l for l in Path(f"/proc/{pid}/limits").read_text().splitlines() if l.startswith("Max core file size"))
        assert line.split()[4] == "0", (pid, line)


@pytest.fixture
def as_nobody(mux):
    """The daemon of an ordinary user, whoever runs the tests."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("'setpriv' is not installed")
        mux.program = mux.give_to(NOBODY)
        mux.prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        # By a shell: setpriv itself still has root's capabilities when it executes, and goes where they let it.
        if subprocess.run([*mux.prefix, "/bin/sh", "-c", '"$0" --version', mux.program], capture_output=True, env=mux.env, cwd="/").returncode:
            pytest.skip("nothing may be executed in the directory for temporary files")
    return mux


def test_memory_of_the_daemon_is_closed(as_nobody):
    mux = as_nobody
    mux.ue("start").ok()
    # Files of a process that is not dumpable belong to root (PR_SET_DUMPABLE in prctl(2)).
    owners = {Path(f"/proc/{pid}/comm").read_text().strip() + str(pid): os.stat(f"/proc/{pid}/environ").st_uid for pid in mux.daemons()}
    assert set(owners.values()) == {0}, owners
    me = mux.ue("exec", "--raw", "stat -c %u /proc/self/environ; ulimit -Sc").ok().out.split()
    assert me[0] != "0"  # programs are as they were


def test_log_is_private_and_follows_no_link(mux):
    mux.ue("start", preexec_fn=lambda: os.umask(0)).ok()
    log = mux.state / "muxd" / "muxd.log"
    wait_for(lambda: log.exists() and log.stat().st_size > 0)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    mux.ue("stop").ok()
    wait_for(lambda: not mux.daemons())
    log.unlink()
    (mux.dir / "victim").write_text("untouched\n")
    log.symlink_to(mux.dir / "victim")
    mux.ue("exec", "true").ok()
    mux.ue("stop").ok()
    assert (mux.dir / "victim").read_text() == "untouched\n"


def test_log_that_is_a_pipe_does_not_hang(mux):
    (mux.state / "muxd").mkdir(0o700)
    os.mkfifo(mux.state / "muxd" / "muxd.log", 0o600)
    mux.ue("exec", "true", timeout=CAP).ok()


def test_status_tells_that_the_log_is_gone_and_since_when(mux):
    mux.ue("start").ok()
    log = mux.state / "muxd" / "muxd.log"
    wait_for(lambda: log.exists() and log.stat().st_size > 0)
    assert not {"log_trouble", "log_trouble_since", "log_lines_lost"} & set(mux.js("status"))
    shutil.rmtree(mux.state / "muxd")
    first = mux.js("status")
    assert "is gone" in first["log_trouble"] and "ue reload" in first["log_trouble"]
    since = datetime.datetime.fromisoformat(first["log_trouble_since"].replace("Z", "+00:00"))
    assert abs(time.time() - since.timestamp()) < CAP
    assert mux.js("status")["log_trouble_since"] == first["log_trouble_since"]
    assert "log_trouble: is gone" in mux.ue("status").ok().out
    mux.ue("reload").ok()
    assert "log_trouble" not in mux.js("status") and log.exists()


def test_status_tells_that_a_successor_has_no_log(mux):
    """A directory that is open to others is not written to; whoever comes after a crash says so."""
    mux.ue("start").ok()
    (mux.state / "muxd").chmod(0o777)
    worker = mux.js("status")["pid"]
    os.kill(worker, signal.SIGKILL)
    status = wait_for(lambda: mux.js("status"))
    assert status["pid"] != worker and "can't be opened: its directory is refused" in status["log_trouble"]
    (mux.state / "muxd").chmod(0o700)
    mux.ue("reload").ok()
    assert "log_trouble" not in mux.js("status")


# --- places that are not fit

ATTACKS = {
    "link": ("symbolic link", lambda place, other: place.symlink_to(other)),
    "open": ("open to others", lambda place, other: (place.mkdir(), os.chmod(place, 0o777))),
    "group": ("open to others", lambda place, other: (place.mkdir(), os.chmod(place, 0o770))),
    "foreign": ("belongs to user 65534", lambda place, other: (place.mkdir(0o700), os.chown(place, NOBODY, NOBODY))),
    "file": ("can't be", lambda place, other: place.write_text("")),
}


def attack(mux, how, place):
    if how == "foreign" and os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    other = mux.dir / "other"
    other.mkdir(0o700)
    ATTACKS[how][1](place, other)
    return other


@pytest.mark.parametrize("how", ATTACKS)
def test_state_directory(mux, how):
    other = attack(mux, how, mux.state / "muxd")
    for verb in (("start",), ("exec", "true")):
        result = mux.ue(*verb)
        assert result.rc == 69, result
        assert ATTACKS[how][0] in result.err and str(mux.state / "muxd") in result.err, result
    wait_for(lambda: not mux.daemons(), "the daemon that was refused to go")
    assert not list(other.iterdir())


@pytest.mark.parametrize("how", ATTACKS)
def test_socket_directory(mux, how):
    place = mux.dir / "run"
    other = attack(mux, how, place)
    mux.env["MUXD_SOCKET"] = str(place / "s")
    result = mux.ue("start")
    assert result.rc in (69, 125) and ATTACKS[how][0] in result.err and str(place) in result.err, result
    wait_for(lambda: not mux.daemons(), "the daemon that was refused to go")
    assert not list(other.iterdir())


@needs_root
def test_socket_of_somebody_else_gets_no_command(as_nobody):
    mux = as_nobody
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(mux.socket))
        os.chmod(mux.socket, 0o666)
        server.listen()
        result = mux.ue("exec", "true")
        assert result.rc in (69, 125) and "another user" in result.err, result
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b""


def test_path_of_the_socket_is_taken(mux):
    mux.socket.write_text("precious")
    result = mux.ue("start")
    assert result.rc in (69, 125) and "no socket" in result.err, result
    assert mux.socket.read_text() == "precious"
    mux.socket.unlink()


def test_lock_file_that_is_a_link(mux):
    Path(str(mux.socket) + ".lock").symlink_to(mux.dir / "victim")
    result = mux.ue("start")
    assert result.rc in (69, 125) and "lock" in result.err, result
    assert not (mux.dir / "victim").exists()


# --- whom it lets in

@needs_root
def test_another_user_is_refused(mux):
    mux.ue("start").ok()
    os.chmod(mux.dir, 0o755)  # so that only the daemon itself stands in the way
    os.chmod(mux.socket, 0o666)
    talk = ("import os, socket, sys\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(60)\n"
            "s.connect(sys.argv[1])\ntry: s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"exec_command\",\"params\":{\"cmd\":\"touch /tmp/x\"}}\\n')\n"
            "except OSError: pass\ndata = b''\nwhile True:\n  try: more = s.recv(65536)\n  except OSError: break\n  if not more: break\n  data += more\nprint(data.decode())")
    result = subprocess.run([sys.executable, "-c", talk, str(mux.socket)], capture_output=True, text=True, timeout=CAP)
    assert "another user" in result.stdout and "65534" in result.stdout and '"result"' not in result.stdout, result
    assert mux.js("list", "--all")["sessions"] == []


# --- full disks

@pytest.fixture
def full(mux):
    """The state directory is a file system of 64 KiB without a free byte, seen by the daemon only."""
    if not shutil.which("unshare"):
        pytest.skip("'unshare' is not installed")
    place = mux.state / "muxd"
    place.mkdir(0o700)
    flags = ["-m"] if os.geteuid() == 0 else ["-rm"]
    script = f"mount -t tmpfs -o size=64k,mode=700 none {place} && exec \"$@\""
    mux.enter = ["unshare", *flags, "--", "/bin/sh", "-c", script, "sh"]
    if subprocess.run([*mux.enter, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no file system of our own")
    mux.place = place

    def begin(fill=True):
        mux.prefix = mux.enter[:-2] + [script.replace("exec", f"{{ head -c 1M /dev/zero >{place}/fill 2>/dev/null; true; }} && exec") if fill else script, "sh"]
        mux.ue("start").ok()
        mux.prefix = []
    mux.begin = begin
    return mux


def inside(mux, command):
    """Runs in the daemon's own view of the file system."""
    return mux.ue("exec", "--raw", "--no-login", command)


def wait_inside(full, condition):
    """In one session: each that ends is kept, and takes of the little room."""
    inside(full, f"timeout {CAP} sh -c 'until {condition}; do sleep 0.02; done'").ok()


def test_full_disk_stops_nothing(full):
    full.begin()
    numbers = []
    for n in range(3):
        answer = full.js("exec", f"echo {n}")
        assert answer["output"] == f"{n}\n" and answer["exit_code"] == 0
        numbers.append(full.listed("echo")["session_id"])
    full.ue("rm", *numbers).ok()
    os.kill(worker(full), signal.SIGKILL)
    numbers.append(full.js("exec", "echo 3")["number"])  # what is gone, and never was on disk, does not come again
    assert numbers == sorted(set(numbers))
    assert full.ue("status").rc == 0
    assert inside(full, f"rm {full.place}/fill").rc == 0
    for _ in range(80):  # more than a block of numbers
        inside(full, "true").ok()
    full.ue("reload").ok()
    log = inside(full, f"cat {full.place}/muxd.log").ok().out
    assert "lines of this log were lost" in log, log
    assert int(inside(full, f"cat {full.place}/next").ok().out) > full.js("exec", "-y", "0", "sleep 300")["session_id"]


def test_full_disk_and_keep_on_disk(full):
    full.configure("[muxd]\nkeep_on_disk = yes\n")
    full.begin()
    for n in range(5):
        assert full.ue("exec", "--raw", "-n", f"s{n}", "head -c 20000 /dev/zero | tr '\\0' x").ok().out == "x" * 20000
    assert inside(full, f"ls -A {full.place}/ended 2>/dev/null | grep -v ^[.]").out == ""
    assert inside(full, f"rm {full.place}/fill").rc == 0
    full.ue("exec", "-n", "small", "echo fine").ok()
    wait_inside(full, f"grep -aqs fine {full.place}/ended/*-small")
    full.ue("reload").ok()
    assert "lines of this log were lost" in inside(full, f"cat {full.place}/muxd.log").out
    # A session that does not fit leaves nothing half, and it is told.
    full.ue("exec", "-n", "big", "-y", "inf", "-m", "10", "head -c 200000 /dev/zero | tr '\\0' x").ok()
    wait_inside(full, f"grep -q \"can.t be written: No space left\" {full.place}/muxd.log")
    listing = inside(full, f"ls -A {full.place}/ended").ok().out.split()
    assert not {name for name in listing if name.endswith("-big") or name == f".new-{full.listed('big')['session_id']}"}, listing
    full.ue("exec", "-n", "after", "echo again").ok()
    wait_inside(full, f"grep -aqs again {full.place}/ended/*-after")
