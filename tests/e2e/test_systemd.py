"""Run by systemd: the protocols of sd_listen_fds(3) and sd_notify(3), spoken by the test, and the unit files."""
import os, shutil, signal, socket, subprocess

import pytest
from conftest import CAP, DAEMON, ROOT, wait_for

UNITS = ROOT / "conf"


class Service:
    """muxd as a service manager starts it: with a listening socket as descriptor 3 and a datagram socket for its words."""

    def __init__(self, mux, abstract=False):
        self.mux = mux
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.settimeout(CAP)
        address = f"\0muxd-test-{os.getpid()}-{mux.dir.name}" if abstract else str(mux.dir / "notify")
        self.notify.bind(address)
        self.listener = socket.socket(socket.AF_UNIX)  # blocking, as systemd makes it
        self.listener.bind(str(mux.socket))
        os.chmod(mux.socket, 0o600)
        self.listener.listen(64)
        env = {**mux.env, "NOTIFY_SOCKET": address.replace("\0", "@"), "LISTEN_FDS": "1", "LISTEN_FDNAMES": "muxd.socket"}
        self.pid = os.fork()
        if self.pid == 0:  # LISTEN_PID must be that of the process itself, which only it knows
            try:
                log = os.open(mux.dir / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                null = os.open("/dev/null", os.O_RDWR)
                for fd, to in ((self.listener.fileno(), 3), (null, 0), (null, 1), (log, 2)):
                    os.dup2(fd, to)
                os.setsid()
                os.execve(DAEMON, [str(DAEMON), "-S", str(mux.socket)], {**env, "LISTEN_PID": str(os.getpid())})
            finally:
                os._exit(127)

    def words(self, wanted):
        """Reads datagrams until one holds the wanted line; all lines that came."""
        seen = []
        while not any(line.startswith(wanted) for line in seen):
            try:
                seen += self.notify.recv(4096).decode().split("\n")
            except socket.timeout:
                pytest.fail(f"no '{wanted}' within {CAP} s, only {seen}; {(self.mux.dir / 'stderr').read_text()[-500:]}")
        return seen

    def silent(self):
        self.notify.setblocking(False)
        try:
            return self.notify.recv(4096).decode()
        except BlockingIOError:
            return None
        finally:
            self.notify.settimeout(CAP)

    def end(self):
        """The exit status of the process that was started."""
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGTERM)
            self.end()
        self.notify.close()
        self.listener.close()


@pytest.fixture
def start(mux):
    started = []

    def begin(**kw):
        started.append(Service(mux, **kw))
        return started[-1]
    yield begin
    for service in started:
        service.close()


def inode(path):
    return os.lstat(path).st_ino


def test_serves_on_the_passed_socket_and_tells_so(mux, start):
    early = socket.socket(socket.AF_UNIX)
    service = start()
    early.connect(str(mux.socket))  # as the client does whose call makes systemd start the service
    before = inode(mux.socket)
    service.words("READY=1")
    early.settimeout(CAP)
    early.sendall(b'{"jsonrpc":"2.0","id":1,"method":"hello"}\n')
    assert b'"protocol"' in early.recv(4096)
    early.close()
    answer = mux.ue("--no-start", "exec", "echo", "served").ok()
    assert "served" in answer.out
    assert mux.js("status")["keeper_pid"] == service.pid
    assert inode(mux.socket) == before, "the socket was bound anew"


def test_stop_tells_and_leaves_the_socket(mux, start):
    service = start()
    service.words("READY=1")
    before = inode(mux.socket)
    mux.shell("sh")
    mux.ue("--no-start", "stop").ok()
    service.words("STOPPING=1")
    assert service.end() == 0
    assert inode(mux.socket) == before, "a socket that was given is not ours to remove"
    # It still listens, for the next activation: the service manager holds it.
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(mux.socket))


def test_sigterm_ends_the_sessions_first(mux, start):
    mux.configure("[muxd]\nkill_grace = 20s\n")
    service = start()
    service.words("READY=1")
    said = mux.dir / "polite"
    mux.session("polite", f"trap 'echo ended > {said}; exit 0' HUP; while :; do read x; done", options=("-s", "/bin/sh", "--no-login"))
    os.kill(service.pid, signal.SIGTERM)
    service.words("STOPPING=1")
    assert service.end() == 0
    assert said.read_text() == "ended\n"


def test_a_later_worker_knows_that_the_socket_was_given(mux, start):
    service = start()
    service.words("READY=1")
    mux.shell("sh")
    before = inode(mux.socket)
    worker = mux.js("status")["pid"]
    os.kill(worker, signal.SIGKILL)
    service.words("READY=1")
    assert mux.listed("sh")["state"] == "running"
    assert mux.js("status")["pid"] != worker
    mux.ue("--no-start", "stop").ok()
    assert service.end() == 0
    assert inode(mux.socket) == before


def test_a_new_keeper_is_named_as_the_main_process(mux, start):
    service = start()
    service.words("READY=1")
    mux.shell("sh")
    os.kill(service.pid, signal.SIGKILL)
    assert service.end() == -signal.SIGKILL
    named = [line for line in service.words("MAINPID=") if line.startswith("MAINPID=")]
    keeper = wait_for(lambda: mux.js("status").get("keeper_pid"), "a keeper")
    assert named == [f"MAINPID={keeper}"]
    assert mux.listed("sh")["state"] == "running"
    mux.ue("--no-start", "stop").ok()
    service.words("STOPPING=1")
    wait_for(lambda: not os.path.exists(f"/proc/{keeper}"), "the new keeper's end")


def test_an_abstract_notify_socket(mux, start):
    service = start(abstract=True)
    assert service.words("READY=1")[0] == "READY=1"


def test_sighup_reads_the_config_again(mux, start):
    service = start()
    service.words("READY=1")
    mux.configure("[limits]\nmax_sessions = 17\n")
    os.kill(service.pid, signal.SIGHUP)
    wait_for(lambda: mux.js("status")["limits"]["max_sessions"] in (17, "17"), "the new config")


def test_programs_can_not_speak_for_the_daemon(mux, start):
    service = start()
    service.words("READY=1")
    mux.configure("[session described]\ncmd = env; exec cat\n")
    mux.ue("reload").ok()
    given = mux.rpc().call("exec_command", {"cmd": "env"})["output"]  # the bare wire: the daemon's own environment is the default
    described = mux.ue("exec", "--raw", "-n", "described").ok().out
    for environment in (given, described):
        assert "MUXD_SOCKET=" in environment
        assert "NOTIFY_SOCKET" not in environment and "LISTEN_" not in environment
    assert service.silent() is None


@pytest.mark.parametrize("call", [("list",), ("exec", "true")], ids=["answer", "wait"])
def test_who_is_served_by_nobody_is_told(mux, call):
    """After a SIGKILL to all processes of the service systemd goes on listening, and what the sessions left keeps the service active."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(mux.socket))
        listener.listen(4)
        client = mux.popen(*call, stderr=subprocess.PIPE)
        line = client.stderr.readline()
        assert b"no daemon has read this request" in line, line
        client.kill()
        client.wait()
        client.stderr.close()


# Of the machine that verifies, not of the unit: systemd 257 says it wherever it sees no cgroups v2, as in a container.
OLD_CGROUPS = ("muxd.service: Service has ExitType=cgroup set, but we are running with legacy cgroups v1, which might not work correctly. "
               "Continuing.")


@pytest.mark.no_pty
def test_the_units_are_valid(mux):
    if not shutil.which("systemd-analyze"):
        pytest.skip("'systemd-analyze' is not installed")
    units = mux.dir / "units"
    units.mkdir()
    for name in ("muxd.service", "muxd.socket"):
        (units / name).write_text((UNITS / name).read_text().replace("@BINDIR@", str(DAEMON.parent)))
    (mux.dir / "systemd").mkdir(mode=0o700)
    done = subprocess.run(["systemd-analyze", "--user", "--man=no", "verify", units / "muxd.service", units / "muxd.socket"], env=mux.env,
                          capture_output=True, text=True, timeout=CAP, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and [line for line in done.stderr.splitlines() if line.strip() and line != OLD_CGROUPS] == [], done


@pytest.mark.no_pty
def test_installed_units_name_the_installed_binary(mux):
    stage = mux.dir / "stage"
    done = subprocess.run(["make", "-C", str(ROOT), f"BUILD={DAEMON.parent}", "PREFIX=/opt/muxd", f"DESTDIR={stage}", "NOBUILD=1", "install"],
                          capture_output=True, text=True, timeout=CAP, env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-1000:]
    service = (stage / "opt/muxd/lib/systemd/user/muxd.service").read_text()
    assert 'ExecStart="/opt/muxd/bin/muxd" ' in service and "@" not in service
    assert (stage / "opt/muxd/lib/systemd/user/muxd.socket").is_file()
