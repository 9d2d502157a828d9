"""The harness: each test has a daemon, a directory and a home of its own, and must leave no process behind.

MUXD_BUILD names the build directory (default: build). Nothing here depends on time: tests wait for events, with caps that
only a hang can reach."""
import contextlib, ctypes, faulthandler, itertools, json, os, pty, random, re, resource, select, shutil, signal, socket, subprocess, sys, tempfile, threading, time, zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the drills and the bench load this file from elsewhere
import protocol_page  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MUXD_BUILD") or ROOT / "build").resolve()
UE, DAEMON, KEEPER = BUILD / "ue", BUILD / "muxd", BUILD / "muxd-keeper"
SANITIZED = DAEMON.exists() and b"__asan_init" in DAEMON.read_bytes()
CAP = int(os.environ.get("MUXD_TEST_CAP") or 60)  # seconds that only something that hangs can take, also on a busy machine and under valgrind
FULL = os.environ.get("MUXD_DRILL") == "full"
LONGEST = 3000 if FULL else 300  # seconds for a whole test
TIMING_MAX = 15  # tests that may be run again, alone, when they fail
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

ANSWER = re.compile(
    r"\A(?:Chunk ID: (?P<chunk>[0-9a-f]{6})\n)?Wall time: (?P<wall>\d+\.\d{4}) seconds\n"
    r"(?:Process exited with code (?P<exit>-?\d+)\n)?(?:Process running with session ID (?P<sid>\d+)\n)?"
    r"(?:Original token count: (?P<tokens>\d+)\n)?Output:\n(?P<output>.*)\Z", re.S)


# What valgrind says about system calls that are newer than itself (muxd then takes its other road), and what a sanitizer says
# that is killed while it looks for leaks.
REPORT_NOISE = re.compile(r"^--\d+-- (WARNING: unhandled|You may be able|Read the file|Nevertheless we|it at http)|"
                          r"^==\d+== (Warning: noted but unhandled ioctl|   This could cause spurious|   See README_MISSING)|"
                          r"^==\d+==Unable to get registers from thread \d+\.$")


def copy_programs(place, *programs):
    """Copies of the programs (all three, or those that are named) in a directory of their own: each finds the others beside itself."""
    place = Path(place)
    place.mkdir(exist_ok=True)
    return [Path(shutil.copy(program, place)) for program in programs or (UE, DAEMON, KEEPER)]


def many(ci, full):
    """How often: as the continuous integration has time for, or as MUXD_DRILL=full asks."""
    return full if FULL else ci


def wait_for(predicate, what="the condition", cap=CAP):
    """The first true value of predicate(), asked again and again until the cap. What takes long to ask is asked less often, so that the
    asking leaves the processor to what is waited for."""
    end = time.monotonic() + cap
    while True:
        began = time.monotonic()
        value = predicate()
        if value:
            return value
        now = time.monotonic()
        if now > end:
            pytest.fail(f"waited {cap} s for {what}")
        select.select([], [], [], min(max(now - began, 0.01), 0.1))


class Result:
    """What one run of ue gave: rc, out and err as text, raw and raw_err as bytes."""

    def __init__(self, args, rc, out, err):
        self.args, self.rc, self.raw, self.raw_err = args, rc, out, err
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def __repr__(self):
        return f"<ue {' '.join(map(str, self.args))[:300]}: {self.rc}, out {self.out[-600:]!r}, err {self.err[-600:]!r}>"

    @property
    def json(self):
        try:
            return json.loads(self.raw)
        except ValueError as e:
            pytest.fail(f"no JSON ({e}): {self!r}")

    @property
    def answer(self):
        """The parts of the model text: chunk, wall, exit, sid, tokens, output."""
        match = ANSWER.match(self.out)
        assert match, f"not the model text: {self!r}"
        return match.groupdict()

    def ok(self):
        assert self.rc == 0, self
        return self


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(str(error)[:500])
        self.error = error
        self.code = (error.get("data") or {}).get("code")
        self.message = error.get("message", "")


class Rpc:
    """A bare client: JSON-RPC lines over the socket, several requests in flight."""
    Error = RpcError  # reached from here it is the same class wherever this file was imported from


    def __init__(self, path, sock=None):
        self.sock = sock or socket.socket(socket.AF_UNIX)
        self.sock.settimeout(CAP)
        if not sock:
            self.sock.connect(str(path))
        self.ids, self.rest, self.answers, self.methods = itertools.count(1), b"", [], {}

    def send_raw(self, data):
        self.sock.sendall(data)

    def send(self, method, params=None, id=None):
        id = next(self.ids) if id is None else id
        self.methods[id] = method
        request = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            request["params"] = params
        self.send_raw(json.dumps(request).encode() + b"\n")
        return id

    def line(self):
        """The next line, or None when the daemon has closed the connection."""
        while b"\n" not in self.rest:
            try:
                data = self.sock.recv(1 << 16)
            except ConnectionResetError:
                return None
            except socket.timeout:
                pytest.fail(f"no answer within {CAP} s")
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def recv(self, id):
        """The message that answers id, which may be None; others are kept for later."""
        while True:
            for message in self.answers:
                if "id" in message and message["id"] == id:
                    self.answers.remove(message)
                    return message
            line = self.line()
            assert line is not None, "the daemon has closed the connection"
            self.answers.append(json.loads(line))
            protocol_page.check_notice(self.answers[-1])

    def result(self, id):
        message = self.recv(id)
        assert message.get("jsonrpc") == "2.0", message
        if "error" in message:
            assert "result" not in message
            protocol_page.check_failure(message["error"])
            raise RpcError(message["error"])
        protocol_page.check_answer(self.methods.get(id), message["result"])
        return message["result"]

    def call(self, method, params=None):
        return self.result(self.send(method, params))

    def error(self, method, params=None):
        with pytest.raises(RpcError) as caught:
            self.call(method, params)
        return caught.value

    def close(self):
        self.sock.close()


# Which test a process belongs to. The kernel hides environment and executable of a process that is not dumpable, as muxd is, from its own
# user; the command line and the limits it shows to everybody. RLIMIT_RTTIME has no effect on a program without real-time scheduling
# (getrlimit(2)), and what is set of it goes down to every descendant, whatever that does to its environment.
def set_mark(mark):
    resource.setrlimit(resource.RLIMIT_RTTIME, (mark, resource.getrlimit(resource.RLIMIT_RTTIME)[1]))


def new_mark():
    hard = resource.getrlimit(resource.RLIMIT_RTTIME)[1]
    return random.randrange(1 << 40, 1 << 62 if hard == resource.RLIM_INFINITY else hard)


def proc_bytes(pid, name):
    """A file of /proc/PID, or nothing where the process is gone or hides it."""
    try:
        with open(f"/proc/{pid}/{name}", "rb", 0) as file:
            return file.read()
    except OSError:
        return b""


def command_line(pid):
    return proc_bytes(pid, "cmdline").split(b"\0")


def processes():
    """All there are, by number and inode: one that has the number of another that is gone has another inode."""
    with os.scandir("/proc") as entries:
        return {(int(entry.name), entry.inode()) for entry in entries if entry.name.isdigit()}


def proc_state(pid):
    """R, S, D, T, Z … of proc_pid_stat(5); X: there is no such process."""
    return (proc_bytes(pid, "stat").rpartition(b")")[2].split() or [b"X"])[0].decode()


def open_files(pid):
    """How many descriptors a process has; of a process that is not dumpable the kernel tells an ordinary user since Linux 6.2."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        count = os.stat(f"/proc/{pid}/fd").st_size
        if not count:
            pytest.skip("needs root, or Linux 6.2, to count the descriptors of a process that is not dumpable")
        return count


class Muxd:
    """A daemon to be, in a directory of its own. ue() starts it on demand, as for everybody."""
    models = "\n[policy mcp]\nsandbox = full-access\n"  # what tools may do is the subject of few tests: those set it to ""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mx", dir="/tmp"))  # short: a socket's path has 107 bytes
        os.chmod(self.dir, 0o700)
        self.home, self.state, self.conf = self.dir / "home", self.dir / "state", self.dir / "muxd.ini"
        self.home.mkdir()
        self.state.mkdir(0o700)
        self.socket = self.dir / "s"
        self.configure("")
        self.env = {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "SHELL": "/bin/bash", "USER": "tester", "TERM": "xterm",
                    "XDG_RUNTIME_DIR": str(self.dir), "XDG_STATE_HOME": str(self.state), "MUXD_SOCKET": str(self.socket),
                    "MUXD_CONFIG": str(self.conf), **({"TZ": os.environ["TZ"]} if "TZ" in os.environ else {})}
        self.program, self.prefix, self.background, self.clients = UE, [], [], []
        self.before = processes()  # none of them is ours
        self.rt_mark = new_mark()
        set_mark(self.rt_mark)

    def give_to(self, uid):
        """Makes all of it another user's, whose ue is returned: a copy, as the build may be where no other user can go."""
        programs = self.dir / "bin"
        for place in (*copy_programs(programs), programs):
            os.chmod(place, 0o755)
        for place in (self.dir, self.home, self.state, self.conf):
            os.chown(place, uid, uid)
        return programs / "ue"

    def configure(self, text):
        self.conf.write_text(text if "[policy mcp]" in text else text + self.models)

    # --- running ue
    def popen(self, *args, env=None, cwd=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw):
        return self.spawn([*self.prefix, str(self.program), *map(str, args)], env={**self.env, **(env or {})}, cwd=cwd or self.dir, stdin=stdin,
                          stdout=stdout, stderr=stderr, **kw)

    def spawn(self, argv, **kw):
        """Any program of this test, in a session of its own."""
        set_mark(self.rt_mark)  # a test may have several of us
        process = subprocess.Popen(argv, start_new_session=True, **kw)
        self.background.append(process)
        return process

    def finish(self, process, input=None, timeout=CAP):
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"hangs for {timeout} s: {process.args[1:]}; out {out[-300:]!r}, err {err[-300:]!r}")
        self.background.remove(process)
        return Result(process.args[len(self.prefix) + 1:], process.returncode, out or b"", err or b"")

    def ue(self, *args, input=None, timeout=CAP, **kw):
        if isinstance(input, str):
            input = input.encode()
        if input is not None:
            kw["stdin"] = subprocess.PIPE
        return self.finish(self.popen(*args, **kw), input, timeout)

    def js(self, verb, *args, **kw):
        """ue with --json, whatever its exit status."""
        told = self.ue(verb, "--json", *args, **kw).json
        protocol_page.check_verb(verb, told)
        return told

    def call(self, tool, arguments, **kw):
        return self.ue("call", tool, arguments if isinstance(arguments, str) else json.dumps(arguments), **kw)

    def rpc(self):
        if not self.socket.exists():
            self.ue("start").ok()
        client = Rpc(self.socket)
        self.clients.append(client)
        return client

    # --- common sessions
    def session(self, name, *command, options=()):
        """A tty session that waits for input; its JSON."""
        answer = self.ue("exec", "--json", "-n", name, "-t", "-y", CAP * 1000, *options, "--", *command)
        assert answer.rc == 0, answer
        return answer.json

    def shell(self, name="sh"):
        """bash as a named session, in which a line is run by `line`."""
        answer = self.ue("exec", "--json", "-n", name, "-t", "-y", CAP * 1000, "-e", "PS1=sh> ", "-e", "TERM=dumb", "--argv", "--", "/bin/bash", "--norc",
                         "--noprofile", "-i")
        assert answer.rc == 0 and answer.json["reason"] == "ready", answer
        return answer.json

    def line(self, session, text, *options):
        """Types a line and waits until the program waits for input again; the JSON."""
        return self.js("write", "-y", CAP * 1000, *options, "-l", session, text)

    def sessions(self, *options):
        """Those of `list --all`: asked for on the wire, which spares a process each time, where that is the same."""
        if not options:
            with contextlib.suppress(OSError, AssertionError, RpcError):  # no daemon, one that goes or has no room: ue knows what to do
                with contextlib.closing(Rpc(self.socket)) as rpc:
                    return rpc.call("list_sessions", {"all": True})["sessions"]
        return self.js("list", "--all", *options)["sessions"]

    def listed(self, name, *options):
        """The latest row of that name or number in `list --all`, or None."""
        rows = [row for row in self.sessions(*options) if name in (row.get("name"), row["session_id"])]
        return max(rows, key=lambda row: row["session_id"]) if rows else None

    def wait_state(self, name, *states):
        return wait_for(lambda: (row := self.listed(name)) and row["state"] in states and row, f"{name} to be {states}")

    # --- processes
    def pids(self):
        """All processes of this test: they bear its mark, or its directory stands in their command line or environment."""
        mark, here = str(self.rt_mark).encode(), str(self.dir).encode()
        return [pid for pid, _ in sorted(processes() - self.before) if pid != os.getpid() and
                (mark in proc_bytes(pid, "limits") or here in proc_bytes(pid, "cmdline") or here in proc_bytes(pid, "environ")) and
                proc_state(pid) not in "ZX"]

    def is_daemon(self, pid):
        """Keeper, worker or sentinel, by the command line (or valgrind's, running it)."""
        args = command_line(pid)
        return os.path.basename(args[0]) in (b"muxd", b"muxd-keeper") or (
            b"valgrind" in args[0] and any(a.endswith((b"/muxd", b"/muxd-keeper")) for a in args))

    def daemons(self):
        return sorted(pid for pid in self.pids() if self.is_daemon(pid))

    def close(self):
        """Ends the daemon as a user would and returns what was wrong about the end."""
        wrong = []
        for client in self.clients:
            client.close()
        for process in self.background:
            process.kill()
            process.communicate()
        if self.daemons():
            self.background = []
            stopped = subprocess.run([*self.prefix, str(self.program), "--no-start", "stop"], env=self.env, capture_output=True, timeout=CAP, cwd="/")
            if stopped.returncode not in (0, 69):
                wrong.append(f"ue stop: {stopped.returncode} {stopped.stderr[-500:]!r}")
        wrong += self.end_rest()
        for report in sorted([*self.dir.glob("sanitizer*"), *self.dir.glob("valgrind.*")]):
            text = "\n".join(line for line in report.read_text(errors="replace").splitlines() if not REPORT_NOISE.search(line))
            if text.strip():
                wrong.append(f"{report.name}:\n{text[:6000]}")
        return wrong

    def end_rest(self):
        """What outlives `ue stop`. What is on its way out has 20 s; what has not run for a second is not, and is told at once."""
        wrong, end, seen, since = [], time.monotonic() + 20, None, 0
        while (left := self.pids()) and time.monotonic() < end:
            now = [(pid, proc_bytes(pid, "schedstat")) for pid in left]
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > 1 and not any(proc_state(pid) in "RD" for pid in left):
                break
            select.select([], [], [], 0.02)
        wrong += [f"left behind: {pid} {b' '.join(command_line(pid)).decode(errors='replace')[:200]}" for pid in left]
        # Keeper and worker start each other anew, so all stand still before the first one dies. Keepers die last: a stopped child
        # of a dead one is woken by the kernel.
        left.sort(key=lambda pid: os.path.basename(command_line(pid)[0]) == b"muxd-keeper")
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
                except PermissionError as e:
                    wrong.append(f"can't be ended: {pid}: {e}")
        return wrong

    def log_tail(self):
        logs = [*self.state.rglob("muxd.log")]
        return logs[0].read_text(errors="replace")[-3000:] if logs else ""

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def have_pty():
    try:
        for fd in pty.openpty():
            os.close(fd)
        return True
    except OSError:
        return False


@pytest.fixture
def mux(request):
    if not all(program.exists() for program in (UE, DAEMON, KEEPER)):
        pytest.fail(f"'{BUILD}' holds no ue, muxd and muxd-keeper; run make first")
    muxd = Muxd()
    yield muxd
    wrong = muxd.close()
    failed = getattr(request.node, "failed", False)
    if (wrong or failed) and muxd.log_tail():
        print(f"muxd.log ends:\n{muxd.log_tail()}")
    muxd.remove()
    if wrong:
        pytest.fail("\n".join(wrong))


def need(*programs):
    """Skips the test, with the reason, where one of the programs is not installed."""
    for program in programs:
        if not shutil.which(program, path=PATH):
            pytest.skip(f"'{program}' is not installed")


def need_sandbox(told):
    """Skips where the machine can't enforce it, as `ue sandbox --explain` has told; whatever else is said against it is a failure."""
    if told.rc:
        assert "can't be enforced here" in told.err, told
        pytest.skip(f"no sandbox here: {told.err}")


@pytest.fixture
def ordinary(mux):
    """The daemon of an ordinary user. Where the tests run as root, of one who has nothing else: what the kernel counts of a user is its own."""
    if os.geteuid() == 0:
        need("setpriv")
        copy_programs(mux.dir / "bin")
        mux.program = mux.dir / "bin" / "ue"
        become_new_user(mux)
    return mux


def become_new_user(mux):
    """Root's daemon to be is that of somebody who has no process, not even a dead one that waits for its parent."""
    uid = random.randrange(1 << 20, 1 << 30)
    for place in (mux.dir, *mux.dir.rglob("*")):
        os.chown(place, uid, uid, follow_symlinks=False)
    mux.prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    return uid


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to limit or to change the daemon's user")


# What is started in the background of a shell ignores ^C, what nohup starts ignores hangups, and so would every program of every test.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
else:  # where xdist's worker was slow to start
    for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        ctypes.CDLL(None).signal(ignored, None)  # SIG_DFL


# --- pytest's own affairs
def pytest_configure(config):
    config.addinivalue_line("markers", "smoke: one of the few tests that also run with the daemon under valgrind")
    config.addinivalue_line("markers", "no_pty: does not need a pseudo terminal")
    config.addinivalue_line("markers", "root: something in it differs for root, or needs root")
    config.addinivalue_line("markers", "alone: would hinder other tests of this user, or be hindered by them, so it runs when they are over (run-tests.sh)")
    config.addinivalue_line("markers", "timing(reason): goes by a time that the test can't control: when it fails it is run again, alone (run-tests.sh)")


# What differs for root: other users' files and processes, set-id programs, owners of files, limits that the kernel lets root go over, and
# what it shows to root alone (descriptors, memory, executables).
ROOT_TOO = {"test_hardening", "test_secret", "test_bad_input", "test_kill", "test_session_limits", "test_user_limits", "test_install",
            "test_start_race", "test_stop", "test_crash_kill", "test_crash_upgrade", "test_crash_preload", "test_crash_descriptors"}


# A test that an ordinary user skips for want of root, and that `make test-root` does not choose, would never run.
NEEDS_ROOT = re.compile(r"\b(?:needs|without|only) root\b(?!, or)")


def take_share(config, items):
    """MUXD_SHARE=K/N: the Kth of N shares of the tests (from 0); a test's name decides which one it is in."""
    which, _, of = os.environ.get("MUXD_SHARE", "0/1").partition("/")
    mine, others = [], []
    for item in items:
        (mine if zlib.crc32(item.nodeid.encode()) % int(of) == int(which) else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = mine


def pytest_collection_modifyitems(config, items):
    check_timing(items)
    take_share(config, items)
    for item in items:
        if item.path.stem in ROOT_TOO or any("root" in mark.kwargs.get("reason", "") for mark in item.iter_markers("skipif")):
            item.add_marker(pytest.mark.root)
    if have_pty():
        return
    for item in items:
        if not item.get_closest_marker("no_pty"):
            item.add_marker(pytest.mark.skip(reason="this machine gives no pseudo terminals"))


def check_timing(items):
    """A test that fails and passes alone has failed: for a few only their time is nobody's to control, and those say why."""
    marked = {item.nodeid.partition("[")[0]: item.get_closest_marker("timing") for item in items if item.get_closest_marker("timing")}
    for node, mark in marked.items():
        if not mark.kwargs.get("reason"):
            raise pytest.UsageError(f"{node}: a timing mark needs its reason")
    if len(marked) > TIMING_MAX:
        raise pytest.UsageError(f"{len(marked)} tests bear a timing mark, at most {TIMING_MAX} may: {', '.join(sorted(marked))}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """A test that hangs in spite of all caps fails with a stack instead of stalling the run."""
    if threading.current_thread() is not threading.main_thread():  # where xdist's worker was slow to start, and signals don't reach
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()
        return

    def too_long(*_):
        pytest.fail(f"the test takes longer than {LONGEST} s")
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and os.geteuid() and not item.get_closest_marker("root") and NEEDS_ROOT.search(str(report.longrepr)):
        report.outcome, report.longrepr = "failed", f"{item.nodeid}: needs root, and root would not run it either: give it the mark root"
    if report.failed:
        item.failed = True


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """For tests/run-tests.sh: the counts in a file, so that nobody has to read them out of coloured text, and how many of the failures
    bear a timing mark."""
    path = os.environ.get("MUXD_COUNTS")
    if path and "PYTEST_XDIST_WORKER" not in os.environ:
        stats = terminalreporter.stats
        failed = stats.get("failed", []) + stats.get("error", [])
        timing = [report for report in failed if "timing" in report.keywords]
        Path(path).write_text("%d %d %d %d\n" % (len(stats.get("passed", [])), len(failed), len(stats.get("skipped", [])), len(timing)))
