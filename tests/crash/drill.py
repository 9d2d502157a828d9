"""What the drills share: a daemon that is started by hand, its keeper and worker by number, and a client that goes on after a crash."""
import base64, importlib.util, itertools, json, os, random, signal, socket, subprocess, sys, time
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("muxd_harness", Path(__file__).resolve().parents[1] / "e2e" / "conftest.py")
harness = importlib.util.module_from_spec(_spec)
sys.modules["muxd_harness"] = harness
_spec.loader.exec_module(harness)

BUILD, DAEMON, KEEPER, SANITIZED = harness.BUILD, harness.DAEMON, harness.KEEPER, harness.SANITIZED
Muxd, Rpc, RpcError, copy_programs = harness.Muxd, harness.Rpc, harness.RpcError, harness.copy_programs
CAP = int(os.environ.get("MUXD_DRILL_CAP") or harness.CAP)  # only a hang gets there
FULL, many = harness.FULL, harness.many
FOREVER = {"verb": True, "no_deadline": True}


def wait_for(predicate, what="the condition"):
    return harness.wait_for(predicate, what, CAP)


def stat(pid):
    """The fields of /proc/PID/stat from the state on, or None."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def gone(pid):
    fields = stat(pid)
    return fields is None or fields[0] in "ZX"


fds = harness.open_files


class Gone(Exception):
    """The daemon closed the connection without an answer."""


class Patient:
    """A client as ue is one: connects anew when the daemon has gone and repeats what was not answered, under the same request id."""
    ids = itertools.count(1)

    def __init__(self, mux):
        self.mux, self.rpc, self.retries = mux, None, 0

    def begin(self, method, params=None, meta=None):
        """Sends a request without waiting; the ticket goes to finish()."""
        params = dict(params or {})
        if method in ("exec_command", "write_stdin", "read_output", "kill_session", "run_command", "run_steps"):
            params["_meta"] = {"request_id": f"r{os.getpid()}-{next(self.ids)}", **(meta or {})}
        ticket = [method, params, None]
        self._send(ticket)
        return ticket

    def _send(self, ticket):
        while True:
            try:
                if not self.rpc:
                    self.rpc = Rpc(self.mux.socket)
                    self.rpc.sock.settimeout(CAP)
                ticket[2] = self.rpc.send(ticket[0], ticket[1])
                return
            except (BrokenPipeError, ConnectionResetError):
                self.rpc.close()
                self.rpc = None

    def finish(self, ticket):
        while True:
            try:
                return self.rpc.result(ticket[2])
            except (AssertionError, ConnectionResetError):
                for message in self.rpc.answers:  # a refusal of the connection itself
                    if message.get("id") is None and "error" in message:
                        raise RpcError(message["error"])
            self.retries += 1
            self.rpc.close()
            self.rpc = None
            self._send(ticket)

    def call(self, method, params=None, meta=None):
        return self.finish(self.begin(method, params, meta))

    def close(self):
        if self.rpc:
            self.rpc.close()


class Drill(Muxd):
    def __init__(self, preload=None, config=""):
        super().__init__()
        self.config(config)
        self.keeper, self.patient = None, Patient(self)
        self.clients.append(self.patient)
        self.binary = DAEMON
        self.extra = {}
        self.place = self.dir  # where programs may write
        self.confine = {}  # what each session may do, as arguments of exec_command

    def config(self, text):
        """The programs of the drills read without echo, as passwords are read, so that only what they print is counted."""
        self.conf.write_text(text + ("" if "[defaults]" in text else f"\n[defaults]\nagent_secrets = yes\nscripts_may = attach keyboard\n{self.models}"))

    def start(self, binary=None, env=None):
        """muxd -d; the keeper's number is remembered."""
        done = subprocess.run([str(binary or self.binary), "-d", "-S", str(self.socket), "-f", str(self.conf)],
                              env={**self.env, **(env or {})}, cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
        assert done.returncode == 0, done
        self.keeper = self.call("status")["keeper_pid"]
        return self

    def client(self):
        client = Patient(self)
        self.clients.append(client)
        return client

    def call(self, method, params=None, meta=None):
        return self.patient.call(method, params, meta)

    # --- the daemon's processes
    def worker(self):
        """The worker of now; None while there is none."""
        def is_worker(pid):
            try:
                return b"--worker" in harness.command_line(pid) and not gone(pid)
            except OSError:
                return False
        try:
            children = map(int, Path(f"/proc/{self.keeper}/task/{self.keeper}/children").read_text().split())
        except OSError:
            children = []
        found = [pid for pid in children if is_worker(pid)]  # quick; but a keeper may be younger than its worker
        return next(iter(found or [pid for pid in self.daemons() if is_worker(pid)]), None)

    def kill_worker(self):
        """SIGKILL to the worker that serves now; returns once it is no more. Its number."""
        while True:
            pid = wait_for(self.worker, "a worker")
            try:
                pidfd = os.pidfd_open(pid)
                break
            except ProcessLookupError:
                pass  # another has come in its place meanwhile
        try:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        except ProcessLookupError:
            pass
        harness.select.select([pidfd], [], [], CAP)
        os.close(pidfd)
        return pid

    def kill_keeper(self):
        """SIGKILL to the keeper; returns once a new one is there."""
        worker = self.call("status")["pid"]
        # that of now: after an upgrade that was given up another process may be the keeper
        self.keeper = wait_for(lambda: self.call("status").get("keeper_pid"), "a keeper")
        assert self.keeper > 1
        os.kill(self.keeper, signal.SIGKILL)
        old, self.keeper = self.keeper, None
        self.keeper = wait_for(lambda: (now := self.call("status").get("keeper_pid")) != old and now, "a new keeper")
        assert self.call("status")["pid"] == worker, "the worker lives on"
        return self.keeper

    # --- sessions
    def run(self, cmd, name=None, tty=False, meta=None, **params):
        """Starts a session and returns at once; the number."""
        params = {"cmd": cmd, "tty": tty, "login": False, "yield_time_ms": 0, **self.confine, **params}
        if name:
            params["name"] = name
        answer = self.call("exec_command", params, {"verb": True, **(meta or {})})
        return answer["number"]

    def row(self, session):
        return self.call("list_sessions", {"names": [session], "all": True})["sessions"][0]

    def state_of(self, session):
        return self.row(session)["state"]

    def wait(self, session, **conditions):
        """Waits for one condition (exit, until, …) without a deadline; the answer."""
        return self.call("read_output", {"session_id": session, "since": 0, "peek": True, **conditions}, FOREVER)

    def ended(self, session):
        return self.wait(session, exit=True)

    def until(self, session, pattern):
        return self.wait(session, until=pattern)

    def type(self, session, chars, client=None, **params):
        return (client or self.patient).call("write_stdin", {"session_id": session, "chars": chars, "yield_time_ms": 0, **params},
                                             {"verb": True})

    def output(self, session, since=0, size=1 << 24, client=None):
        """Bytes from since on, and where they really began."""
        answer = (client or self.patient).call("read_output", {"session_id": session, "since": since, "yield_time_ms": 0, "peek": True,
                                                               "encoding": "base64", "max_bytes": size}, {"verb": True})
        data = base64.b64decode(answer["output_base64"])
        assert answer["omitted_bytes"] == 0, "the journal was too small for this drill"
        return data

    def collect(self, session, client=None):
        """All output of a session up to its end, in pieces, as it comes; and the last answer."""
        client, got = client or self.client(), b""
        while True:
            answer = client.call("read_output", {"session_id": session, "since": len(got), "yield_time_ms": 200, "peek": True,
                                                 "encoding": "base64", "max_bytes": 1 << 20}, {"verb": True})
            assert answer["from"] == len(got) and answer["omitted_bytes"] == 0, answer
            got += base64.b64decode(answer["output_base64"])
            if answer["state"] != "running" and answer["to"] == len(got) and not answer["output_base64"]:
                return got, answer

    # --- the end
    def close(self):
        wrong = []
        if self.daemons():
            try:
                self.call("stop")
            except (FileNotFoundError, ConnectionRefusedError):
                pass  # nobody listens: what is left of it is on its way out, which is waited for below
            except (RpcError, OSError) as e:
                wrong.append(f"stop: {e}")
        end = time.monotonic() + CAP
        while self.daemons() and time.monotonic() < end:
            harness.select.select([], [], [], 0.02)
        for pid in self.daemons():
            wrong.append(f"did not stop: {pid}, a child of {(stat(pid) or [0, 0])[1]}")
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not self.daemons(), "the daemons to die")
        return wrong + super().close()


def same(got, wanted):
    """Equal, or told where they part, without megabytes of output."""
    if got == wanted:
        return True
    at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
    pytest.fail(f"{len(got)} bytes, wanted {len(wanted)}; they part at {at}: {got[max(0, at - 30):at + 30]!r}, "
                f"wanted {wanted[max(0, at - 30):at + 30]!r}")
