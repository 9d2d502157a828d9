"""ue: drives terminal sessions that muxd holds. One file, the standard library only.

    import ue
    with ue.Client() as client:                        # starts muxd when nobody listens
        py = client.begin(["python3", "-q"], name="py", timeout=20)
        print(py.ask("6 * 7"))                         # types a line, waits for the prompt: 42
        answer = client.exec_command(cmd="make test", yield_time_ms=60000)
        print(answer.exit_code, answer.output)

Client     a connection. Each tool of muxd(7) is a method with the tool's own arguments
           (client.read_screen(session_id="py")), or client.call("read_screen", session_id="py").
Session    one session: write, ask, until, ready, read, screen, kill, exit status.
spawn, run the shape of pexpect, so that a script moves with `import ue as pexpect`.

Shapes     An answer is an Answer: a dict of what the daemon told, whose members are attributes,
           too. What is not known is absent (None as an attribute). Members that a newer daemon adds
           are to be ignored.
Units      Arguments of tools are muxd's own: milliseconds where their names end in _ms, bytes for
           offsets. Arguments of this library named timeout are in seconds; None: no limit.
Bytes      Output is str; what is no UTF-8 in it is replaced. With encoding="base64" the answer's
           `exact` is its bytes. Input is str or bytes.
Errors     Error and its subclasses, with code: the stable name of ERRORS in muxd(7), and message.
Ownership  Sessions belong to the daemon: they outlive this process, its exceptions and ^C, and the
           daemon's own death. What ends one is kill(), or close() of a spawn.
Threads    A Client may be used by any number of threads at once; a Session or spawn by one.
"""
import atexit
import base64
import codecs
import collections
import errno
import fcntl
import itertools
import json
import math
import os
import re
import select
import shlex
import signal
import socket as sockets
import stat
import struct
import subprocess
import sys
import termios
import threading
import time
import weakref

__version__ = "0.1.0"
PROTOCOL = 1  # of the daemon; a higher one is refused

_ANSWER_MAX = 64 << 20  # bytes of one line from the daemon
_PIECE_MAX = 256 << 10  # bytes of input in one request
_RESTART_S = 10.0  # how long a daemon that restarts is waited for
_GONE_S = 1.5  # the same while the path of its socket is missing
_RETRY_S = 0.02
_LOSSES_MAX = 40  # in a row without an answer between them
_STALL_S = 30.0  # how long the rest of a line is waited for whose beginning is there
_HELLO_S = 30.0  # the same for the answer to hello
_WAIT_MS = 60000  # longest wait of one request where several make up a longer one
_ROOM_MS = 3600000  # for room in a session's input queue
_BLOCK = 1 << 16
_LOOK_MS = 50  # how long the daemon looks for a text before each piece of output counts
_ALL = 16 << 20  # most that a daemon tells in one answer

# Calls that start programs or name files get the caller's directory, environment and umask.
_PLACED = frozenset(("exec_command", "write_stdin", "shell_command", "shell", "apply_patch",
                     "check_policy", "explain_sandbox", "run_command", "run_steps"))
_ONCE = frozenset(("stop", "upgrade", "approve", "deny"))  # are not sent again
_FRAMED = frozenset(("attach", "type_secret"))  # the connection would no longer carry lines


class Error(Exception):
    """A refusal or a failure. code: its stable name (errors of muxd(7); `protocol` and `timeout`
    are this library's). message: for people. data: what else the daemon told, a dict."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data or {}


class NoDaemon(Error):
    """Nobody listens, the daemon could not be started, or it went away. code: no_daemon."""


class ProtocolError(Error):
    """The daemon speaks what this library can't read. code: protocol, or too_large."""


class TimedOut(Error, TimeoutError):
    """The time is over. code: timeout. answer: what there was by then, or None."""
    answer = None


class Ended(Error):
    """The session has ended before what was waited for. code: ended. answer: how it ended."""
    answer = None


class Failed(Error):
    """What must not come has come (fail_on). code: fail_on. answer: with `match`."""
    answer = None


class Cancelled(Error):
    """The wait was cancelled. code: cancelled."""


class Answer(dict):
    """What the daemon told: a dict whose members are attributes, too; None for an absent one."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    @property
    def exact(self):
        """The exact output of a call with encoding="base64", else what `output` was made of."""
        if "output_base64" in self:
            return base64.b64decode(self["output_base64"])
        return (self.get("output") or "").encode()


def _error_of(told):
    data = told.get("data") if isinstance(told.get("data"), dict) else {}
    code = data.get("code") or "internal"
    kind = {"no_daemon": NoDaemon, "stopping": NoDaemon, "cancelled": Cancelled,
            "ended": Ended}.get(code, Error)
    return kind(code, str(told.get("message")), data)


# --- where the daemon listens, and how it is started

def _own_dir(path):
    try:
        info = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()


def _places(given):
    """The sockets to try, in order, and whether the caller has named one."""
    named = given or os.environ.get("MUXD_SOCKET")
    if named:
        return [os.path.abspath(named)], True
    shared = ["/run/user/%d/muxd/muxd.sock" % os.geteuid(), "/tmp/muxd-%d/muxd.sock" % os.geteuid()]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    first = os.path.join(runtime, "muxd/muxd.sock")
    if runtime.startswith("/") and _own_dir(runtime) and first not in shared:
        return [first], False
    # another login of this user may have started the daemon at the other place
    return shared, False


def _check_dir(path):
    """Who may write to the directory of a socket could listen in our name."""
    place = os.path.dirname(path)
    try:
        info = os.lstat(place)
    except OSError:
        return
    wrong = ("is a symbolic link" if stat.S_ISLNK(info.st_mode) else
             "is no directory" if not stat.S_ISDIR(info.st_mode) else
             "belongs to user %d and not to us" % info.st_uid if info.st_uid != os.geteuid() else
             "is open to others (mode %04o)" % (info.st_mode & 0o7777) if info.st_mode & 0o077
             else None)
    if wrong:
        raise Error("system", "'%s' %s; choose another socket by socket= or $MUXD_SOCKET"
                    % (place, wrong))


def _connect(path, named):
    """A connected socket. OSError when nobody listens; Error for another user's listener."""
    if len(os.fsencode(path)) > 107:
        raise Error("system", "'%s': the kernel allows 107 bytes for a socket's path; choose a "
                    "shorter one" % path)
    if not named:
        _check_dir(path)
    sock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        sock.connect(path)
        uid = struct.unpack("3i", sock.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12))[1]
        if uid != os.geteuid() and not (named and os.geteuid() == 0):
            raise Error("system", "'%s': another user listens there; choose another socket by "
                        "socket= or $MUXD_SOCKET" % path)
    except BaseException:
        sock.close()
        raise
    return sock


def find_ue(given=None):
    """The program ue: given, else beside this file, in the bin directory of the prefix that this
    file is installed below, or in $PATH. A path, or Error (not_available)."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, "ue")]
    if os.path.basename(here) in ("dist-packages", "site-packages"):
        beside.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(here))),
                                   "bin", "ue"))
    for path in [given] if given else beside:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = None if given else which("ue")
    if not found:
        raise Error("not_available", "'%s': no such program; install ue in $PATH, or name it by ue="
                    % (given or "ue"))
    return found


def _umask():
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:  # os.umask would change it for all threads
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return None


def _is_text(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Call:
    """A request until its answer is there."""
    __slots__ = ("owner", "id", "method", "params", "result", "error", "done", "wake", "began",
                 "sent")

    def __init__(self, owner, number, method, params):
        self.owner, self.id, self.method, self.params = owner, number, method, params
        self.result = self.error = self.wake = None
        self.done = self.sent = False
        self.began = time.monotonic()

    def line(self, again):
        if again:  # a deadline is one, whatever dies: the daemon learns how much of it is over
            self.params["_meta"]["waited_ms"] = int((time.monotonic() - self.began) * 1000)
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "method": self.method,
                           "params": self.params}, ensure_ascii=False).encode() + b"\n"


def _wait_ms(seconds):
    return math.inf if seconds is None else math.ceil(seconds * 1000)


def _left(deadline):
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class Client:
    """A connection to the daemon, made at the first call and made again when it is lost.

    socket  path of the daemon's socket; default: $MUXD_SOCKET, else $XDG_RUNTIME_DIR/muxd, else
            /run/user/UID/muxd, else /tmp/muxd-UID
    start   start the daemon (by `ue start`) when nobody listens; False: NoDaemon then
    ue      path of the program ue; default: as find_ue() finds it
    config  path of the config for a daemon that is started
    reader  name of the place in the outputs that calls use; default: the one that all share
    profile the [policy NAME] by which calls are judged
    name    what the daemon is told about who asks
    verb    True: calls behave as the verbs of ue do (the caller's environment, any wait up to
            [limits] max_wait); False: as the tools that models know, with their clamps
    cwd, env, umask  context of the calls in place of this process's own
    on_approval      called with a dict when a person is asked about a call of ours, and when that
            is over; from the thread that waits; it must not call this client
    """

    def __init__(self, socket=None, *, start=True, ue=None, config=None, reader=None, profile=None,
                 name="ue.py/" + __version__, verb=True, cwd=None, env=None, umask=None,
                 on_approval=None):
        self.socket, self.daemon = None, Answer()
        self._given, self._start, self._ue, self._config = socket, start, ue, config
        self._cwd, self._env, self._umask = cwd, env, umask
        self._on_approval = on_approval
        self._meta = {"client": name, "verb": verb}
        self._meta.update({key: value for key, value in (("reader", reader), ("profile", profile))
                           if value is not None})
        if on_approval:
            self._meta["notify"] = True
        self._lock = threading.Lock()  # of _pending, _leader and each call's done and wake
        self._sending = threading.Lock()  # of _sock when it is replaced, and of what is written
        self._forget()

    def _forget(self):
        self._pid, self._sock, self._poll, self._leader = os.getpid(), None, None, None
        self._pending, self._parts, self._part_bytes = {}, [], 0
        self._torn, self._losses, self._named = False, 0, False
        self._spare = None  # a client for the calls that one connection can't hold
        self._ids, self._run = itertools.count(1), os.urandom(6).hex()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<ue.Client %s%s>" % (self.socket or self._given or "",
                                     "" if self._sock else " (not connected)")

    def close(self):
        """Ends the connection and the waits of other threads (Cancelled), never a session. The next
        call connects again."""
        with self._sending:
            if self._leader:
                self._shut()
            else:
                self._drop()
            self._fail_all(Cancelled("cancelled", "the client was closed"))
            spare, self._spare = self._spare, None
        if spare:
            spare.close()

    # --- calls

    def call(self, tool, arguments=None, *, _timeout=None, _meta=None, **more):
        """Calls a tool by its name with its own arguments (a dict, keywords, or both), whose values
        may be None for absent ones; bytes as chars are sent exactly; math.inf as yield_time_ms
        waits as long as it takes. _meta: more context of the request. Returns an Answer. Raises
        Error; TimedOut when _timeout (seconds) is over: then the wait was cancelled, and the
        session goes on. ^C does the same and stays a KeyboardInterrupt. After a restart of the
        daemon the same request is sent again, and is not done twice."""
        return self._finish(self._begin(tool, {**(arguments or {}), **more}, _meta), _timeout)

    def upgrade(self):
        """Has the daemon go on from the binary on disk, with all sessions; returns the new worker's
        status. Error internal when that could not be."""
        try:
            self.call("upgrade")
        except NoDaemon:  # it has gone, as it was asked to; its successor answers
            pass
        status = self.call("status")
        if status.upgrade_failed:
            raise Error("internal", str(status.upgrade_failed))
        return status

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def tool(arguments=None, **more):
            return self.call(name, arguments, **more)
        tool.__name__ = name
        tool.__doc__ = "The tool %s of muxd(7); as call(%r, ...)." % (name, name)
        return tool

    def _context(self, tool, params, more):
        meta = dict(self._meta)
        # input by number begins no session
        if tool in _PLACED and not isinstance(params.get("session_id"), int):
            env = os.environ if self._env is None else self._env
            meta["env"] = {key: value for key, value in env.items()
                           if _is_text(key) and _is_text(value)}
            umask = _umask() if self._umask is None else self._umask
            if umask is not None:
                meta["umask"] = umask
            try:
                meta["cwd"] = os.path.abspath(self._cwd) if self._cwd else os.getcwd()
            except OSError as e:
                meta["cwd_error"] = ("'.': this working directory is gone (%s); change to another "
                                     "one, or name one (workdir)" % e.strerror)
        meta.update(more or {})
        return meta

    def _begin(self, tool, arguments, meta=None):
        if tool in _FRAMED:
            raise Error("usage", "'%s': needs a terminal; run `ue attach` or `ue secret`" % tool)
        if self._pid != os.getpid():  # a fork's child must not speak on its parent's connection
            self._lock, self._sending = threading.Lock(), threading.Lock()
            if self._sock:
                self._sock.close()
            self._forget()
        params = {key: value for key, value in arguments.items() if value is not None}
        meta = self._context(tool, params, meta)
        if params.get("yield_time_ms") == math.inf:
            del params["yield_time_ms"]
            meta["no_deadline"] = True
        chars = params.get("chars")
        if isinstance(chars, str) and "\0" in chars:  # which JSON can't carry here
            chars = chars.encode()
        if isinstance(chars, (bytes, bytearray, memoryview)):
            del params["chars"]
            params["chars_base64"] = base64.b64encode(chars).decode()
        number = next(self._ids)
        meta.setdefault("request_id", "%s-%x" % (self._run, number))
        params["_meta"] = meta
        call = _Call(self, number, tool, params)
        try:
            line = call.line(False)
        except (UnicodeEncodeError, TypeError, ValueError) as e:
            raise Error("arguments", "'%s': the arguments can't be sent: %s; give text as str, "
                        "other input as bytes in chars" % (tool, e)) from e
        try:
            if self._enter(call):
                self._send(call, line)
                return call
        except BaseException:
            self._cancel(call)
            raise
        return self._spare._begin(tool, arguments, meta)

    def _enter(self, call):
        """False: this connection has as many calls as it may."""
        with self._lock:
            most = self.daemon.requests_per_connection or 64
            if len(self._pending) < max(1, most - 2):  # a cancel has room, too
                self._pending[call.id] = call
                return True
            self._spare = self._spare or self._twin()
            return False

    def _send(self, call, line):
        """What interrupts us must not leave a lock behind, so none is taken but by `with`."""
        with self._sending:
            with self._lock:
                waits = any(other.sent for other in self._pending.values())
            if self._sock and not waits and not self._leader and (
                    self._torn or self._is_stale()):
                self._drop()
            if call.sent or call.done:  # who made the connection again has sent it, too
                return
            if not self._sock and waits:
                self._reopen()
                return
            if not self._sock:
                self._open()
            call.sent = True
            self._write(line)

    def _is_stale(self):
        """Whether the daemon has closed a connection on which nothing was asked."""
        try:
            return bool(self._poll.poll(0)) and not self._sock.recv(1, sockets.MSG_PEEK)
        except OSError:
            return True

    def _write(self, line):
        """A lost connection is noticed by whoever reads. What stops us in the middle of a line
        makes it useless."""
        try:
            self._sock.sendall(line)
        except OSError:
            return
        except BaseException:
            self._shut()
            raise

    def _shut(self):
        self._torn = True
        try:
            self._sock.shutdown(sockets.SHUT_RDWR)  # whoever polls it is woken
        except (OSError, AttributeError):
            pass

    def _finish(self, call, timeout=None):
        if call.owner is not self:
            return call.owner._finish(call, timeout)
        deadline = None if timeout is None else call.began + timeout
        try:
            self._await(call, deadline)
        except BaseException:
            self._resign(call)
            if not call.done:
                self._cancel(call)
            raise
        if call.error:
            raise call.error
        return call.result

    def _cancel(self, call):
        """Ends the wait in the daemon; nobody waits for the answer."""
        with self._lock:
            known = self._pending.pop(call.id, None)
        if known and call.sent:
            self._stop(call)

    def _stop(self, call):
        """Ends the wait in the daemon; whoever waits for the answer gets Cancelled."""
        if self._torn or not self._sock:
            return
        line = json.dumps({"jsonrpc": "2.0", "id": next(self._ids), "method": "cancel",
                           "params": {"id": call.id}}).encode() + b"\n"
        with self._sending:
            if self._sock:
                self._write(line)

    def _await(self, call, deadline):
        """One of the threads that wait, the leader, reads for all of them."""
        while not call.done:
            with self._lock:
                if call.done:
                    return
                leads = self._leader is None
                if leads:
                    self._leader = call
                elif call.wake is None:
                    call.wake = threading.Event()
                else:
                    call.wake.clear()
            try:
                if leads:
                    self._lead(call, deadline)
                else:
                    call.wake.wait(_left(deadline))
            finally:
                if leads:
                    self._resign(call)
            if not call.done and deadline is not None and time.monotonic() >= deadline:
                raise TimedOut("timeout", "'%s': no answer within the given time; its wait was "
                               "cancelled, the session goes on" % call.method)

    def _resign(self, call):
        with self._lock:
            if self._leader is not call:
                return
            self._leader = None
            for other in self._pending.values():
                if other.wake:
                    other.wake.set()
                    break

    def _lead(self, call, deadline):
        try:
            while not call.done:
                if self._torn or not self._sock:
                    self._lost()
                    continue
                left = _left(deadline)
                stall = _STALL_S if self._parts else None
                least = min((s for s in (left, stall) if s is not None), default=None)
                if not self._poll.poll(None if least is None else math.ceil(least * 1000)):
                    if left is not None and left <= least:
                        return
                    raise ProtocolError("protocol", "'%s': half an answer, and nothing for %d s"
                                        % (self.socket, _STALL_S))
                self._torn = True  # until what was read is where it belongs
                try:
                    data = self._sock.recv(_BLOCK)
                except OSError:
                    data = b""
                if data:
                    self._feed(data)
                    self._torn = False
        except Error as e:
            with self._sending:
                self._drop()
                self._fail_all(e)

    def _feed(self, data):
        end = data.rfind(b"\n")
        if end < 0:
            self._parts.append(data)
            self._part_bytes += len(data)
            if self._part_bytes > _ANSWER_MAX:
                raise ProtocolError("too_large", "'%s': answers with a line longer than %d bytes; "
                                    "ask for less" % (self.socket, _ANSWER_MAX))
            return
        whole = b"".join((*self._parts, data[:end])) if self._parts else data[:end]
        rest = data[end + 1:]
        self._parts, self._part_bytes = [rest] if rest else [], len(rest)
        for line in whole.split(b"\n"):
            self._take(line)

    def _take(self, line):
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not message.keys() & {"result", "error", "method"}:
            raise ProtocolError("protocol", "'%s': answers what can't be read (%.80r); is it muxd "
                                "that listens there?" % (self.socket, bytes(line[:80])))
        if "method" in message:
            if message["method"] == "approval" and self._on_approval:
                self._on_approval(message.get("params"))
            return
        self._losses = 0
        error = message.get("error")
        if message.get("id") is None and isinstance(error, dict):
            raise _error_of(error)  # a request that the daemon could not read
        with self._lock:
            call = self._pending.pop(message.get("id"), None)
            if not call:
                return  # of a call that was cancelled, or of the cancel
            if isinstance(error, dict):
                call.error = _error_of(error)
            elif isinstance(message.get("result"), dict):
                call.result = Answer(message["result"])
            else:
                call.error = ProtocolError("protocol", "'%s': an answer without a result"
                                           % call.method)
            call.done = True
            if call.wake:
                call.wake.set()

    # --- the connection; the caller holds _sending

    def _drop(self):
        if self._sock:
            self._sock.close()
        self._sock = self._poll = None
        self._parts, self._part_bytes, self._torn = [], 0, False

    def _fail_all(self, error):
        with self._lock:
            for call in self._pending.values():
                call.error, call.done = error, True
                if call.wake:
                    call.wake.set()
            self._pending.clear()

    def _lost(self):
        with self._sending:
            if self._sock and self._torn:
                self._drop()
            if not self._sock:
                self._reopen()

    def _reopen(self):
        """The daemon went away over calls: they are sent to its successor."""
        began, self._losses = time.monotonic(), self._losses + 1
        with self._lock:
            for call in [c for c in self._pending.values() if c.method in _ONCE and c.sent]:
                call.error, call.done = NoDaemon("no_daemon", "'%s': the daemon went away before "
                                                 "it answered; look whether it was done"
                                                 % call.method), True
                if call.wake:
                    call.wake.set()
                del self._pending[call.id]
        if self._losses > _LOSSES_MAX:
            raise Error("internal", "'%s': the daemon has ended %d times over this request, so it "
                        "is not asked again; `ue status` tells where its log is"
                        % (self.socket, _LOSSES_MAX))
        try:
            self._rejoin(began)
        except BaseException:
            self._drop()  # whoever reads next begins anew
            raise

    def _rejoin(self, began):
        while self._pending:
            try:
                self._join(self.socket or _places(self._given)[0][0], self._named)
                break
            except OSError as e:
                waited = time.monotonic() - began
                if waited > _RESTART_S or (waited > _GONE_S and e.errno != errno.ECONNREFUSED):
                    raise NoDaemon("no_daemon", "'%s': the daemon went away before it answered "
                                   "(%s); `ue list --all` shows what became of the session"
                                   % (self.socket, e.strerror or e)) from e
            time.sleep(_RETRY_S)  # no event tells when a daemon begins to listen
        with self._lock:
            calls = list(self._pending.values())
        for call in calls:
            again, call.sent = call.sent, True
            self._write(call.line(again))

    def _open(self):
        places, named = _places(self._given)
        self._named = named
        for attempt in range(2):
            for place in places:
                try:
                    self._join(place, named)
                    return
                except OSError as e:
                    if e.errno not in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR,
                                       errno.ECONNRESET, errno.EPIPE):
                        raise Error("system", "'%s': can't connect: %s"
                                    % (place, e.strerror or e)) from e
            if attempt == 0:
                self._launch(places[-1], named)
        raise NoDaemon("no_daemon", "'%s': a daemon was started, and nobody listens there"
                       % places[-1])

    def _launch(self, place, named):
        if not self._start:
            raise NoDaemon("no_daemon", "'%s': nobody listens there; `ue start` starts the daemon, "
                           "or leave out start=False" % place)
        words = [find_ue(self._ue)] + (["-S", place] if named else [])
        words += ["-f", self._config] if self._config else []
        # a lock beside the socket makes it one daemon, however many start it at once
        done = subprocess.run(words + ["start"], stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise NoDaemon("no_daemon", said.replace("ue: ", "", 1) or
                           "'%s': left with status %d" % (words[0], done.returncode))

    def _join(self, place, named):
        """Connects and asks for the protocol. OSError: nobody is there, or it has gone again."""
        sock = _connect(place, named)
        try:
            sock.settimeout(_HELLO_S)
            sock.sendall(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": {
                "client": "ue.py", "version": __version__, "protocol": PROTOCOL}}).encode() + b"\n")
            line = b""
            while not line.endswith(b"\n") and len(line) < _BLOCK:
                data = sock.recv(_BLOCK)
                if not data:
                    raise ConnectionResetError(errno.ECONNRESET, "closed at once")
                line += data
            self.daemon = self._read_hello(place, line)
            sock.setblocking(True)
        except sockets.timeout:
            sock.close()
            raise NoDaemon("no_daemon", "'%s': somebody listens there, and has not answered for "
                           "%d s" % (place, _HELLO_S)) from None
        except BaseException:
            sock.close()
            raise
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        self.socket, self._sock = place, sock

    @staticmethod
    def _read_hello(place, line):
        try:
            told = json.loads(line.decode())
            hello = Answer(told["result"])
            protocol = int(hello["protocol"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ProtocolError("protocol", "'%s': answers what can't be read (%.80r); is it muxd "
                                "that listens there?" % (place, line[:80])) from None
        if protocol > PROTOCOL:
            raise ProtocolError("protocol", "'%s': the daemon (%s) speaks protocol %d, this ue.py "
                                "(%s) only %d; use the ue.py that was installed with it"
                                % (place, hello.version, protocol, __version__, PROTOCOL))
        return hello

    # --- sessions and events

    def begin(self, cmd=None, *, tty=True, timeout=30, wait=True, **arguments):
        """Starts cmd (a shell's command line, or a list: a program and its arguments; None with
        name=: the session that the config describes) and returns its Session. With wait and a
        terminal its program waits for input by then, or has ended, and what it has printed is the
        session's `greeting`; TimedOut after timeout seconds, with the session in .session. The
        other arguments are exec_command's (name, rows, cols, env, workdir, until, ...), and the
        session's encoding."""
        waits = wait and (tty or "until" in arguments or "quiet_ms" in arguments)
        encoding = arguments.pop("encoding", "utf-8")
        given = {"cmd": cmd, "tty": tty or None, "encoding": "base64", **arguments}
        if waits:
            given["yield_time_ms"] = _wait_ms(timeout)
        else:
            given.update(yield_time_ms=0, max_bytes=1, ready=False if tty else None)
        answer = self.call("exec_command", given)
        session = Session(self, answer["number"], answer.get("name"), tty=tty, encoding=encoding,
                          follow=arguments.get("follow"))
        if waits:
            session.greeting = session._text(session._told(answer))
        if cmd is None:  # what the config describes
            session.tty = bool(session.info().tty)
        if waits and answer.reason == "deadline":
            error = TimedOut("timeout", "'%s' (session %d): not ready within %s s; it goes on"
                             % (session.name, session.number, timeout))
            error.answer, error.session = answer, session
            raise error
        return session

    def session(self, ref, *, place=None, encoding="utf-8"):
        """The Session of that name or number, live or ended. place: offset from which on its output
        is new to this object; default: its end. Error no_such_session."""
        row = self.call("list_sessions", all=True, names=[ref])["sessions"][-1]
        return Session(self, row["session_id"], row.get("name"), tty=bool(row.get("tty")),
                       place=row.get("output_bytes", 0) if place is None else place,
                       encoding=encoding)

    def sessions(self, all=False):  # pylint: disable=redefined-builtin
        """Rows of list_sessions: live sessions; all=True: ended ones, too."""
        return [Answer(row) for row in self.call("list_sessions", all=all)["sessions"]]

    def events(self, *types, session=None, since=None, max_bytes=None):
        """An iterator over events (dicts with seq, type, time, ...) from now on, or from the number
        since. types: only these (muxd(7), EVENTS); none: all but output. It waits for each;
        close() ends it, also from another thread. Where some were missed, one of type gap says
        so."""
        return Events(self, types, session, since, max_bytes)

    def listen(self, callback, *types, session=None, since=None):
        """Calls callback(event) for each event, in a thread and over a connection of its own; the
        callback may use this client. An exception of the callback ends it and stands in .error of
        the Listener that is returned. close() ends it."""
        return Listener(self._twin(), callback, types, session, since)

    def _twin(self):
        """Another one, with a connection of its own."""
        twin = Client(self.socket or self._given, start=self._start, ue=self._ue,
                      config=self._config, cwd=self._cwd, env=self._env, umask=self._umask)
        twin._meta.update(self._meta)
        twin._on_approval = self._on_approval
        return twin


class Events:
    """An iterator over events; made by Client.events. next_seq: number of the next event, with
    which a later Client.events(since=) goes on without a gap."""

    def __init__(self, client, types, session, since, max_bytes=None):
        self._client, self._closed, self._call = client, False, None
        self._given = {"types": list(types) or None, "session_id": session, "max_bytes": max_bytes}
        self._events = collections.deque()
        self.next_seq = since
        if since is None:  # what happens from now on is not missed, however late it is asked for
            self._ask(0)

    def _ask(self, wait_ms):
        self._call = self._client._begin("events", {**self._given, "since": self.next_seq,
                                                    "yield_time_ms": wait_ms})
        if self._closed:
            self._call.owner._cancel(self._call)
            raise Cancelled("cancelled", "the iteration was closed")
        answer = self._client._finish(self._call)
        self.next_seq = answer["next"]
        self._events.extend(answer["events"])

    def __iter__(self):
        return self

    def __next__(self):
        while not self._events:
            if self._closed:
                raise StopIteration
            try:
                self._ask(30000)
            except Cancelled:
                if not self._closed:
                    raise
        return Answer(self._events.popleft())

    def close(self):
        """Ends the iteration, also one that waits in another thread."""
        self._closed = True
        call = self._call
        if call and not call.done:
            call.owner._stop(call)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Listener:
    """A thread that hands events to a callback; made by Client.listen."""

    def __init__(self, client, callback, types, session, since):
        self.error, self._client, self._callback = None, client, callback
        self._events = Events(client, types, session, since)
        self._thread = threading.Thread(target=self._serve, name="ue events", daemon=True)
        self._thread.start()

    def _serve(self):
        try:
            for event in self._events:
                self._callback(event)
        except Exception as e:  # pylint: disable=broad-except
            self.error = e
        finally:
            self._client.close()

    def close(self):
        """Ends it. The callback runs no more once this returns, unless it is the callback that
        calls."""
        self._events.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Session:
    """One session; made by Client.begin or Client.session. It remembers how far its output was
    returned (place, an absolute offset in bytes), apart from every other reader; omitted counts
    bytes that muxd no longer had. Output is text in `encoding`, or bytes when that is None. Closing
    the client, or forgetting this object, leaves the session as it is."""

    def __init__(self, client, number, name=None, *, place=0, tty=True, encoding="utf-8",
                 errors="replace", follow=None):
        self.client, self.number, self.name, self.tty = client, number, name, tty
        self.place = self.mark = place  # mark: a wait counts the output from here on
        self.omitted, self.last, self.greeting = 0, Answer(), ""
        self._follow = follow
        self._decoder = codecs.getincrementaldecoder(encoding)(errors) if encoding else None

    def __repr__(self):
        return "<ue.Session %d %s>" % (self.number, self.name or "")

    # --- input

    def write(self, text="", *, keys=None, enter=False, paste=False, eof=False):
        """Types text (str or bytes, of any length), then the named keys ("C-c", "Up", ...), then
        Enter; all of it or Error. Returns at once, without output; a wait that follows counts what
        is printed from now on. It waits for room in the session's queue."""
        data = text.encode() if isinstance(text, str) else bytes(text)
        most = max(1024, min(_PIECE_MAX, (self.client.daemon.get("max_request") or 65536) // 8))
        pieces = [data[at:at + most] for at in range(0, len(data), most)] or [b""]
        for piece in pieces[:-1]:
            self._type(piece, {"paste": paste or None})
        last, keys = self._entered(pieces[-1], keys, enter)
        self._type(last, {"paste": paste or None, "keys": keys, "eof": eof or None})

    def line(self, text=""):
        """Types text and presses Enter."""
        self.write(text, enter=True)

    def press(self, *keys):
        """Presses named keys: press("C-c"), press("Up", "Enter")."""
        self.write(keys=list(keys))

    def _type(self, data, more):
        """A wait begins where the output has ended before."""
        row = self.info()
        given = {"session_id": self.number, "yield_time_ms": 0, "peek": True,
                 "max_output_tokens": 0, **self._chars(data), **more}
        if self.tty:
            given["ready"] = False
        try:
            self.client.call("write_stdin", given)
        except Error as e:
            if e.code == "too_large" and len(data) > 1:  # than the queue
                half = len(data) // 2
                self._type(data[:half], {"paste": more.get("paste")})
                self._type(data[half:], more)
                return
            if e.code != "input_full":
                raise
            self.client.call("write_stdin", {**given, "wait_room": _ROOM_MS})
        self.mark = row.get("output_bytes", self.mark)

    def _entered(self, data, keys, enter):
        """Input with Enter behind it; of a program with pipes that is a line end."""
        if enter and not self.tty:
            return data + b"\n", keys
        return data, [*(keys or ()), "Enter"] if enter else keys

    @staticmethod
    def _chars(data):
        try:
            return {"chars": data.decode()}
        except UnicodeDecodeError:
            return {"chars": data}

    # --- waits

    def ask(self, text="", *, keys=None, enter=True, until=None, ready=None, quiet=None,
            fail_on=None, plain=False, timeout=30, **more):
        """Types text and Enter, waits in the same call, and returns the output that this object has
        not returned yet. until: a regular expression (PCRE2), or several, of which one has to match
        output after the write; fail_on: of which none may (Failed); ready: the program waits for
        input (the default on a terminal); quiet: seconds without output. plain: as a person reads
        it, without the echo and control sequences, up to a megabyte. Other arguments are
        write_stdin's. TimedOut and Ended as in wait(); .last is the answer."""
        if ready is None and until is None and quiet is None and self.tty:
            ready = True
        data = text.encode() if isinstance(text, str) else bytes(text)
        if len(data) > 8192:  # fits a request, whatever [limits] max_request is
            self.write(data, keys=keys, enter=enter)
            return self.wait(until=until, ready=ready, quiet=quiet, fail_on=fail_on,
                             timeout=timeout)
        data, keys = self._entered(data, keys, enter)
        given = {"session_id": self.number, "keys": keys, **self._chars(data),
                 **self._conditions(until, ready, quiet, timeout),
                 "fail_on": fail_on, "follow": None, **more}
        if plain:
            given.update(encoding=None, max_bytes=None, text=True, max_output_tokens=262144)
            answer = self.client.call("write_stdin", given)
            shown = answer.output or ""
            self._told(answer)
            answer["output"] = shown
            return self._judge(answer, timeout)
        return self._judge(self._told(self.client.call("write_stdin", given)), timeout)

    def run(self, command, timeout=30, **more):
        """Types a command into its shell or REPL, waits for its end, and returns an Answer with its
        own output, without echo and prompt, its status (None: not known), `by` what these are known
        (marks, prompt, ...), and the reason: done; ready, when it asks for input; incomplete; exit.
        TimedOut (with .answer) when it has not ended in time; it goes on. Other arguments are
        run_command's."""
        answer = self.client.call("run_command", session_id=self.number, command=command,
                                  yield_time_ms=_wait_ms(timeout), **more)
        self.last, self.place = answer, max(self.place, answer.to or 0)
        self.mark = max(self.mark, self.place)
        if answer.reason == "deadline":
            error = TimedOut("timeout", "'%s' (session %d): the command has not ended within %s s; "
                             "it goes on" % (self.name, self.number, timeout))
            error.answer = answer
            raise error
        return answer

    def _conditions(self, until, ready, quiet, timeout):
        return {"until": until, "ready": ready, "since": self.place, "peek": True,
                "quiet_ms": None if quiet is None else max(1, int(quiet * 1000)),
                "follow": self._follow, "encoding": "base64", "max_bytes": _ALL,
                "yield_time_ms": _wait_ms(timeout)}

    def wait(self, *, until=None, ready=None, quiet=None, exit=False, fail_on=None, timeout=30,
             **more):
        """Waits until the first of the conditions is true (those of ask; exit: the program's end;
        none: exit) and returns all output that this object has not returned yet. Conditions count
        what was printed since the last write, or behind the last match. TimedOut (with .answer)
        when it did not come true within timeout seconds; Ended when the session ended before an
        until, ready or quiet; Failed when fail_on matched. Other arguments are read_output's
        (count, line, ...)."""
        if until is None and ready is None and quiet is None:
            exit = True
        given = self._conditions(until, ready, quiet, timeout)
        given.update(session_id=self.number, exit=exit or None, fail_on=fail_on, **more,
                     since=self.mark if until or quiet or fail_on else self.place)
        begun = b""
        if self.place < given["since"]:
            begun = self._raw(to=given["since"], yield_time_ms=0)
        answer = self._told(self.client.call("read_output", given))
        answer["output"] = begun + answer["output"]
        return self._judge(answer, timeout, exit)

    def until(self, pattern, timeout=30):
        """wait(until=pattern)."""
        return self.wait(until=pattern, timeout=timeout)

    def ready(self, timeout=30):
        """Waits until the program waits for input."""
        return self.wait(ready=True, timeout=timeout)

    def ended(self, timeout=None):
        """Waits for the program's end; returns exit_status. Its output is still to be read."""
        answer = self.client.call("read_output", session_id=self.number, since=self.place,
                                  peek=True, exit=True, encoding="base64", max_bytes=1,
                                  follow=self._follow, yield_time_ms=_wait_ms(timeout))
        answer["output"] = b""
        self._judge(answer, timeout, True)
        self.last = answer
        return answer.exit_code

    def _told(self, answer):
        """Takes an answer's new bytes; the rest of what one answer can't hold is fetched. The next
        wait counts from the end of what has matched, not from the end of what has come with it."""
        data = self._took(answer)
        while self.last["to"] - self.last["from"] - (self.last.omitted_bytes or 0) >= _ALL:
            data += self._raw(yield_time_ms=0, max_bytes=_ALL)
        if answer.match:
            self.mark = answer.match["to"]
        answer["output"] = data
        return answer

    def _took(self, answer):
        """The bytes of an answer that this object has not returned yet."""
        data = answer.exact
        answer.pop("output_base64", None)
        first = answer["from"] + (answer.get("omitted_bytes") or 0)
        data = data[max(0, self.place - first):]
        self.place = max(self.place, answer["to"])
        self.omitted += answer.get("omitted_bytes") or 0
        self.name = answer.get("name", self.name)
        self.last = answer
        self.mark = max(self.mark, self.place)
        return data

    def _raw(self, **given):
        """The bytes of one read from our place on."""
        if "until" not in given and self.tty:
            given.setdefault("ready", False)
        return self._took(self.client.call("read_output", {
            "session_id": self.number, "since": self.place, "peek": True, "encoding": "base64",
            "follow": self._follow, **given}))

    def _judge(self, answer, timeout, exits=False):
        text = answer.get("output") or ""
        if not isinstance(text, str):
            text = answer["output"] = self._text(text)
        error = None
        if answer.reason == "deadline":
            error = TimedOut("timeout", "'%s' (session %d): what was waited for did not come within"
                             " %s s; it goes on" % (self.name, self.number, timeout))
        elif answer.reason == "fail_on":
            error = Failed("fail_on", "'%s' (session %d): what must not come has come: %s"
                           % (self.name, self.number, json.dumps(answer.match)))
        elif answer.reason == "exit" and not exits:
            error = Ended("ended", "'%s' (session %d): has ended before what was waited for"
                          % (self.name, self.number))
        if error:
            error.answer = answer
            raise error
        return text

    def _text(self, data):
        if isinstance(data, Answer):
            data = data["output"]
        return self._decoder.decode(data) if self._decoder else data

    # --- output and state

    def read(self, timeout=0):
        """What was printed since this object returned output last; empty for nothing. timeout:
        seconds to wait for the first byte; None: as long as it takes (or until it ends)."""
        wait, data = _wait_ms(timeout), b""
        while True:
            more = self._raw(max_bytes=1 << 20, yield_time_ms=0 if data else wait,
                             until="(?s)." if wait and not data else None)
            data += more
            if len(more) < 1 << 20:
                return self._text(data)

    def screen(self, **arguments):
        """What a person would see on its terminal now; arguments of read_screen: format, history,
        wait_change, stable_ms, ..."""
        return self.client.call("read_screen", session_id=self.number, **arguments)["screen"]

    def info(self):
        """Its row of list_sessions, an Answer: state, cmd, cwd, pid, rows, cols, keyboard, ..."""
        rows = self.client.call("list_sessions", all=True, names=[self.number])["sessions"]
        return Answer(rows[0])

    @property
    def running(self):
        """Whether its program runs."""
        return self.info().state == "running"

    @property
    def exit_status(self):
        """As a shell tells it: the exit code, or 128+N after signal N; None while it runs, or where
        it is not known."""
        answer = self.last if self.last.exit_code is not None else self.info()
        return answer.exit_code

    def kill(self, signal=None):  # pylint: disable=redefined-outer-name
        """Ends it with all its processes; or only sends the signal ("INT", 15, ...). Returns how it
        ended: an Answer with ended_by, exit_code, signal, survivors."""
        word = None if signal is None else str(int(signal) if isinstance(signal, int) else signal)
        answer = self.client.call("kill_session", session_id=self.number, signal=word)
        return Answer(answer["sessions"][0]) if answer["sessions"] else answer

    def resize(self, rows, cols):
        """Gives its terminal another size."""
        self.client.call("resize_session", session_id=self.number, rows=rows, cols=cols)

    def rename(self, name):
        """Gives it another name."""
        self.client.call("rename_session", session_id=self.number, name=name)
        self.name = name

    def remove(self):
        """Forgets it with its output, once it has ended."""
        self.client.call("remove_session", sessions=[self.number])

    def attach(self):
        """Shows it on this process's terminal until it ends or the person detaches (C-\\ d);
        returns the status of `ue attach`."""
        words = [find_ue(self.client._ue), "-S", self.client.socket, "attach", str(self.number)]
        return subprocess.run(words, check=False).returncode


def connect(*args, **options):
    """A Client that is connected already."""
    client = Client(*args, **options)
    client.call("hello")
    return client


# --- the shape of pexpect: `import ue as pexpect`, or `from ue import pexpect`

class ExceptionPexpect(Exception):
    """What goes wrong in a spawn; value: why."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value

    def __str__(self):
        return str(self.value)

    def get_trace(self):
        """The exception's own text, for scripts that print it."""
        return str(self)


class EOF(ExceptionPexpect):
    """The program has ended and all of its output was read. In a list of patterns: matches that."""


class TIMEOUT(ExceptionPexpect):
    """The pattern did not come in time. In a list of patterns: matches that."""


def which(filename, env=None):
    """Where a program is: the path itself when it has a slash, else the first one in $PATH that can
    be run; None: nowhere."""
    if os.path.dirname(filename):
        candidates = [filename]
    else:
        path = (os.environ if env is None else env).get("PATH") or os.defpath
        candidates = [os.path.join(place, filename) for place in path.split(os.pathsep)]
    return next((name for name in candidates if os.path.isfile(name) and os.access(name, os.X_OK)),
                None)


def split_command_line(command_line):
    """Words of a command line: split at blanks, with quotes and backslashes as in a shell, and
    nothing else of a shell."""
    return shlex.split(command_line)


_spawned = weakref.WeakSet()


def _close_spawned():
    for child in list(_spawned):
        try:
            child.close()
        except Exception:  # pylint: disable=broad-except
            pass  # the interpreter ends; nobody is left to be told


atexit.register(_close_spawned)


class spawn:  # pylint: disable=invalid-name,too-many-instance-attributes
    """A program in a session of its own, in the shape of pexpect.spawn.

    command, args       a command line that is split without a shell, or a program and its arguments
    timeout             seconds of the expects that give none; None: no limit
    env, cwd, dimensions  environment (default: ours), directory, (rows, columns)
    echo=False          the terminal does not echo, from before the program starts
    ignore_sighup       the program starts with SIGHUP ignored
    encoding            None: bytes; else str, decoded with codec_errors
    logfile, logfile_read, logfile_send   written to and flushed, as in pexpect
    searchwindowsize    how much of the buffer's end is searched; None: all
    maxread             is kept, and has no effect
    name, client        beyond pexpect: the session's name; options of its Client, as a dict
    keep                beyond pexpect: True: the program outlives this object and this process

    Each has a connection of its own. muxd holds the program up while its output is not read, so
    that none is lost. Attributes: before, after, match, match_index, buffer, exitstatus,
    signalstatus, status, flag_eof, terminated, closed, pid, name, session.
    """

    def __init__(self, command, args=(), timeout=30, maxread=2000, searchwindowsize=None,
                 logfile=None, cwd=None, env=None, ignore_sighup=False, echo=True, preexec_fn=None,
                 encoding=None, codec_errors="strict", dimensions=None, use_poll=False, *,
                 name=None, client=None, keep=False):
        del use_poll  # there is no descriptor to wait for
        if preexec_fn is not None:
            raise ExceptionPexpect("preexec_fn can't be run: muxd starts the program; give a "
                                   "command that does it, such as sh -c '...; exec program'")
        if command is None:
            raise ExceptionPexpect("command is None: to use a session that runs, take "
                                   "ue.Client().session(name)")
        self.timeout, self.maxread, self.searchwindowsize = timeout, maxread, searchwindowsize
        self.logfile, self.logfile_read, self.logfile_send = logfile, None, None
        self.delaybeforesend, self.delayafterclose, self.delayafterterminate = 0.05, 0.1, 0.1
        self.delayafterread = None
        self.encoding, self.codec_errors, self.ignorecase = encoding, codec_errors, False
        self.string_type = str if encoding else bytes
        self._decoder = codecs.getincrementaldecoder(encoding)(codec_errors) if encoding else None
        self._encoder = codecs.getincrementalencoder(encoding)(codec_errors) if encoding else None
        self.linesep = self._own(os.linesep)
        self.crlf = self._own("\r\n")
        self._empty = self.string_type()
        self.before = self.after = self.match = self.match_index = None
        self._buffer = self._empty
        self.flag_eof = self.terminated = self.closed = False
        self.exitstatus = self.signalstatus = self.status = self.pid = None
        self._keep, self._typing, self._late = keep, None, []
        self._usual, self._times = None, 0  # what expect has waited for, how often in a row
        self._sent = ["", ""]  # the last two texts that were typed
        argv = self._words(command, args, env)
        self.command, self.args, self.env, self.cwd = argv[0], argv, env, cwd
        self.echo, self.ignore_sighup = echo, ignore_sighup
        self._start(argv, dimensions or (24, 80), name, client or {})

    def _own(self, text):
        return text if self._decoder else text.encode("ascii")

    @staticmethod
    def _words(command, args, env):
        if not isinstance(args, (list, tuple)):
            raise TypeError("the argument, args, must be a list")
        words = list(args) and [command, *args] or split_command_line(command)
        found = which(words[0], env) if words else None
        if not found:
            raise ExceptionPexpect("The command was not found or was not executable: %s."
                                   % (words[0] if words else ""))
        return [found, *words[1:]]

    def _start(self, argv, size, name, options):
        before = ['trap "" HUP'] * self.ignore_sighup + ["stty -echo"] * (not self.echo)
        if before:
            argv = ["/bin/sh", "-c", "; ".join(before) + '; exec "$0" "$@"', *argv]
        self._client = Client(**{"env": self.env, "cwd": self.cwd, **options})
        given = {"cmd": argv, "rows": size[0], "cols": size[1], "follow": True, "wait": False}
        try:
            self.session = self._client.begin(name=name, encoding=None, **given)
        except Error as e:
            raise ExceptionPexpect(e.message) from e
        self.name = "<%s>" % self.session.name
        self.pid = self._row().pid
        _spawned.add(self)

    def _row(self):
        try:
            return self.session.info()
        except Error as e:
            raise ExceptionPexpect(e.message) from e

    def __del__(self):
        try:
            if not self.closed and not sys.is_finalizing():
                self.close()
        except Exception:  # pylint: disable=broad-except
            pass  # a destructor has nobody to tell

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __str__(self):
        tail = self._buffer[-100:]
        return "\n".join("%s: %s" % pair for pair in (
            (repr(self), ""), ("command", self.command), ("args", self.args),
            ("buffer (last 100 chars)", repr(tail)),
            ("before (last 100 chars)",
             repr(self.before[-100:]) if isinstance(self.before, (str, bytes)) else self.before),
            ("after", repr(self.after)), ("match", repr(self.match)),
            ("match_index", self.match_index), ("exitstatus", self.exitstatus),
            ("flag_eof", self.flag_eof), ("pid", self.pid), ("session", self.session),
            ("closed", self.closed), ("timeout", self.timeout)))

    # --- input

    def _log(self, text, direction):
        for file in (self.logfile, self.logfile_read if direction == "read" else self.logfile_send):
            if file is not None:
                file.write(text)
                file.flush()

    def _type(self, data):
        """The daemon's answer is taken with the next one, so that nobody has to wait twice. A
        script that has waited for the same prompt twice will likely wait for it again, so the same
        call begins to; after a wrong guess it takes two again."""
        self._typed(always=True)
        usual = self._usual if self._times > 1 else None
        if usual and self._echoes(usual):
            usual = None
        try:
            if self.delaybeforesend:
                self._client.call("read_output", session_id=self.session.number, ready=True,
                                  since=self.session.place, peek=True, max_output_tokens=0,
                                  yield_time_ms=math.ceil(self.delaybeforesend * 1000))
            if len(data) > 8192:
                self.session.write(data)
                return
            given = {"session_id": self.session.number, "peek": True, "ready": False,
                     "yield_time_ms": 0, "max_output_tokens": 0, **Session._chars(data)}
            if usual:
                given.update(self._looking(usual, self.session.place, _LOOK_MS))
            call = self._client._begin("write_stdin", given)
        except Error as e:
            self._refused(data, e)
        else:
            self._typing = call, data, usual

    def _typed(self, literal=None, always=False):
        """Whether what was typed last was taken. What has come after it, when literal is what its
        call waits for; a call that waits for something else is looked at when it is over, or
        always: nothing may be typed before it."""
        if self._typing:
            (call, data, usual), self._typing = self._typing, None
            if not usual or usual == literal:
                answer = self._taken(call, data)
                return self.session._took(answer) if usual and answer else None
            self._late.append((call, data))
            self._times = 0
        for call, data in [late for late in self._late if always or late[0].done]:
            self._late.remove((call, data))
            self._taken(call, data)
        return None

    def _taken(self, call, data):
        try:
            return self._client._finish(call)
        except Error as e:
            self._refused(data, e)
            return None

    @staticmethod
    def _looking(literal, place, wait_ms):
        """The arguments of a look for a text, which ends in what is new and may begin before."""
        return {"until": re.sub(r"[^A-Za-z0-9_]", lambda found: "\\x%02x" % ord(found[0]), literal),
                "since": max(0, place - len(literal) + 1), "encoding": "base64",
                "max_bytes": _BLOCK, "yield_time_ms": wait_ms}

    def _new(self, answer):
        """The new bytes of an answer, which may begin before them."""
        place = self.session.place
        data = self.session._took(answer)
        first = answer["from"] + (answer.get("omitted_bytes") or 0)
        return data[place - first:] if first < place else data

    def _refused(self, data, error):
        if error.code == "secret_prompt":
            self._type_secret(data, error)
        elif error.code == "input_full":
            self.session.write(data)
        elif error.code not in ("ended", "no_such_session"):  # the next read tells of the end
            raise ExceptionPexpect(error.message) from error

    def _type_secret(self, data, refusal):
        """A secret is for a person to type, or for the script that a person runs at a terminal:
        `ue secret` knows."""
        line = data[:-1] if data.endswith((b"\n", b"\r")) else None
        if line is None or b"\n" in line:
            raise ExceptionPexpect(refusal.message + "; a whole line can be sent where a person "
                                   "runs the script") from refusal
        words = [find_ue(self._client._ue), "-S", self._client.socket, "secret", "--stdin",
                 str(self.session.number)]
        done = subprocess.run(words, input=line, capture_output=True, check=False)
        if done.returncode != 0:
            raise ExceptionPexpect("%s; or the config allows it to scripts ([defaults] scripts = "
                                   "secret, agent_secrets = yes)" % refusal.message) from refusal

    def send(self, s):
        """Types s, str or bytes; returns the number of bytes."""
        self._check_open()
        if self._encoder:
            text = s if isinstance(s, str) else bytes(s).decode(self.encoding)
            data = self._encoder.encode(text, final=False)
        else:
            text = data = s.encode("utf-8") if isinstance(s, str) else bytes(s)
        self._log(text, "send")
        self._sent = [self._sent[1], data.decode("latin-1")]
        if data:
            self._type(data)
        return len(data)

    def sendline(self, s=""):
        """send(s) and a line end; returns the number of bytes."""
        if self._encoder is None and isinstance(s, str):
            s = s.encode("utf-8")
        return self.send(self.string_type(s) + self.linesep)

    def write(self, s):
        """send(s), without a result."""
        self.send(s)

    def writelines(self, sequence):
        """write() of each."""
        for s in sequence:
            self.write(s)

    def sendcontrol(self, char):
        """Types a control character: sendcontrol("c") is ^C. Returns the number of bytes; 0 for a
        character that has none."""
        at = "@abcdefghijklmnopqrstuvwxyz[\\]^_?".find({"`": "@", "{": "[", "|": "\\", "}": "]",
                                                       "~": "^"}.get(char, char.lower()))
        if at < 0 or not char:
            return 0
        code = bytes([127 if char == "?" else at])
        self._log(code.decode() if self._encoder else code, "send")
        self._type(code)
        return 1

    def _special(self, index, usual):
        """The terminal's own character for end of file or interrupt."""
        try:
            code = self._settings()[6][index]
            code = code if isinstance(code, bytes) and code != b"\0" else usual
        except ExceptionPexpect:
            code = usual
        self._log(code.decode("latin-1") if self._encoder else code, "send")
        self._type(code)

    def sendeof(self):
        """Types the terminal's end of file character (^D), which counts at the beginning of a
        line."""
        self._special(termios.VEOF, b"\x04")

    def sendintr(self):
        """Types the terminal's interrupt character (^C)."""
        self._special(termios.VINTR, b"\x03")

    # --- output

    def _check_open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def _fetch(self, timeout, literal=None):
        """New output, as soon as there is some. EOF at the end, TIMEOUT when the time is over.
        literal: what is waited for; then the daemon looks for it for a moment, which spares us to
        be woken by each piece before it."""
        self._check_open()
        if self.flag_eof:
            raise EOF("End of file: the program has ended")
        deadline = None if timeout is None else time.monotonic() + max(0, timeout)
        while True:
            left = _left(deadline)
            data = self._read(left, literal)
            ended = self.session.last.state != "running"
            text = self._decoder.decode(data, ended and not data) if self._decoder else data
            if text:
                self._log(text, "read")
                return text
            if ended and not data:
                self._note_end(self.session.last)
                self.flag_eof = True
                raise EOF("End of file: the program has ended")
            if left is not None and time.monotonic() >= deadline:
                raise TIMEOUT("Timeout exceeded.")
            literal = None

    def _read(self, left, literal):
        session = self.session
        wait = math.inf if left is None else min(_WAIT_MS, math.ceil(left * 1000))
        given = {"session_id": session.number, "since": session.place, "peek": True,
                 "ready": False, "encoding": "base64", "max_bytes": _BLOCK, "follow": True,
                 "until": "(?s)." if wait else None, "yield_time_ms": wait}
        try:
            data = self._typed(literal) if self._typing and self._typing[2] else None
            if data:
                return data
            if literal and wait and not self._late:
                given.update(self._looking(literal, session.place, wait))
            if self._late or literal:
                given["yield_time_ms"] = min(wait, _LOOK_MS)
            call = self._client._begin("read_output", given)
            self._typed()
            return self.session._took(self._client._finish(call))
        except Error as e:
            if e.code == "no_such_session":
                self.flag_eof = True
                raise EOF("End of file: the session was removed") from e
            raise ExceptionPexpect(e.message) from e

    def read_nonblocking(self, size=1, timeout=-1):
        """At most size characters that are there or come within timeout seconds. TIMEOUT, EOF."""
        self._check_open()
        if not self._buffer:
            self._buffer = self._fetch(self.timeout if timeout == -1 else timeout)
        text, self._buffer = self._buffer[:size], self._buffer[size:]
        return text

    @property
    def buffer(self):
        """What was read and not matched yet; may be set."""
        return self._buffer

    @buffer.setter
    def buffer(self, value):
        self._buffer = value

    def read(self, size=-1):
        """All until the end; with size: that many characters, fewer at the end."""
        if size == 0:
            return self._empty
        if size < 0:
            self.expect(EOF)
            return self.before
        pattern = re.compile(self._own(".{%d}" % size), re.DOTALL)
        return self.after if self.expect([pattern, EOF]) == 0 else self.before

    def readline(self, size=-1):
        """A line with its end (\\r\\n); what is left of one at the end; empty after that."""
        if size == 0:
            return self._empty
        return self.before + self.crlf if self.expect([self.crlf, EOF]) == 0 else self.before

    def readlines(self, sizehint=-1):
        """The lines until the end."""
        del sizehint
        return list(self)

    def __iter__(self):
        return iter(self.readline, self._empty)

    # --- expect

    def compile_pattern_list(self, patterns):
        """Patterns as expect_list takes them: strings become regular expressions (re.DOTALL; with
        re.IGNORECASE when ignorecase is set)."""
        if patterns is None:
            return []
        if not isinstance(patterns, (list, tuple)):
            patterns = [patterns]
        flags = re.DOTALL | (re.IGNORECASE if self.ignorecase else 0)
        made = []
        for pattern in patterns:
            if isinstance(pattern, (str, bytes)):
                made.append(re.compile(self._coerce(pattern), flags))
            elif pattern in (EOF, TIMEOUT):
                made.append(pattern)
            elif isinstance(pattern, re.Pattern):
                made.append(pattern if isinstance(pattern.pattern, self.string_type) else
                            re.compile(self._coerce(pattern.pattern), pattern.flags & ~re.UNICODE))
            else:
                raise TypeError("a pattern is a string, a compiled expression, EOF or TIMEOUT, "
                                "not %s" % type(pattern))
        return made

    def _coerce(self, text):
        if isinstance(text, self.string_type):
            return text
        return text.decode(self.encoding) if self._decoder else text.encode("utf-8")

    def expect(self, pattern, timeout=-1, searchwindowsize=-1, async_=False, **more):
        """Reads until a pattern matches: a regular expression, EOF, TIMEOUT, or a list of these;
        returns its index (0 for a single one). Of several, the one that matches furthest to the
        left wins, then the first in the list. before: what stood before the match, after: what has
        matched, match: the match object. Raises EOF and TIMEOUT where they are not in the list."""
        return self.expect_list(self.compile_pattern_list(pattern), timeout, searchwindowsize,
                                async_, **more)

    def expect_list(self, pattern_list, timeout=-1, searchwindowsize=-1, async_=False, **more):
        """The same with what compile_pattern_list has made."""
        self._no_async(async_, more)

        def find(text, fresh):
            del fresh
            best = None
            for index, pattern in enumerate(pattern_list):
                match = None if pattern in (EOF, TIMEOUT) else pattern.search(text)
                if match and (best is None or match.start() < best[0]):
                    best = match.start(), match.end(), index, match
            return best
        return self._loop(find, pattern_list, timeout, searchwindowsize)

    def expect_exact(self, pattern_list, timeout=-1, searchwindowsize=-1, async_=False, **more):
        """expect() for strings that are taken as they are; match: the string."""
        self._no_async(async_, more)
        if isinstance(pattern_list, (str, bytes)) or pattern_list in (EOF, TIMEOUT):
            pattern_list = [pattern_list]
        wanted = [p if p in (EOF, TIMEOUT) else self._coerce(p) for p in pattern_list]
        longest = max((len(p) for p in wanted if p not in (EOF, TIMEOUT)), default=0)

        def find(text, fresh):
            best, start = None, max(0, len(text) - fresh - longest)
            for index, pattern in enumerate(wanted):
                at = -1 if pattern in (EOF, TIMEOUT) else text.find(pattern, start)
                if at >= 0 and (best is None or at < best[0]):
                    best = at, at + len(pattern), index, pattern
            return best
        return self._loop(find, wanted, timeout, searchwindowsize)

    def _echoes(self, literal):
        """Whether the text may match in what the terminal repeats, which the daemon's look leaves
        out and a script counts."""
        pieces = [piece for piece in re.split("[\r\n]+", literal) if piece]
        return not pieces or any(piece in sent for piece in pieces for sent in self._sent)

    @staticmethod
    def _literal(patterns):
        """The one text that the patterns wait for, as far as the daemon means the same by it."""
        wanted = [p for p in patterns if p not in (EOF, TIMEOUT)]
        if len(wanted) != 1:
            return None
        text = wanted[0]
        if isinstance(text, re.Pattern):
            if text.flags & (re.IGNORECASE | re.VERBOSE):
                return None
            text = text.pattern
            text = text if isinstance(text, str) else text.decode("latin-1")
            text = re.sub(r"\\([^A-Za-z0-9])", lambda found: "[%s" % found[1], text)
            plain = re.sub(r"\[(.)", "", text, flags=re.DOTALL)
            if re.search(r"[.^$*+?{}\[\]\\|()]", plain):
                return None
            text = re.sub(r"\[(.)", r"\1", text, flags=re.DOTALL)
        elif not isinstance(text, str):
            text = text.decode("latin-1")
        return text if text and text.isascii() and len(text) <= 200 else None

    @staticmethod
    def _no_async(async_, more):
        if async_ or more.pop("async", False):
            raise ExceptionPexpect("async_ is not offered; run expect() in a thread")
        if more:
            raise TypeError("Unknown keyword arguments: %s" % more)

    def _loop(self, find, patterns, timeout, window):
        literal = self._literal(patterns)
        if literal and self._echoes(literal):
            literal = None
        window = self.searchwindowsize if window == -1 else window
        timeout = self.timeout if timeout == -1 else timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        fresh = len(self._buffer)
        try:
            while True:
                skip = max(0, len(self._buffer) - window) if window else 0
                text = self._buffer[skip:] if skip else self._buffer
                found = find(text, min(fresh, len(text))) if text or fresh == 0 else None
                if found:
                    start, end, index, match = found
                    self.before, self.after = self._buffer[:skip + start], text[start:end]
                    self._buffer = text[end:]
                    self.match, self.match_index = match, index
                    self._times = self._times + 1 if literal == self._usual else 1
                    self._usual = literal
                    return index
                more = self._fetch(_left(deadline), literal)
                fresh = len(more)
                self._buffer += more
        except (EOF, TIMEOUT) as e:
            return self._came(type(e), patterns, e)
        except BaseException:
            self.before, self.after, self.match, self.match_index = self._buffer, None, None, None
            raise

    def _came(self, kind, patterns, error):
        self.before, self.after = self._buffer, kind
        if kind is EOF:
            self._buffer = self._empty
        if kind in patterns:
            self.match, self.match_index = kind, patterns.index(kind)
            return self.match_index
        self.match = self.match_index = None
        raise kind("%s\n%s\npatterns: %s" % (error, self, patterns)) from None

    # --- the program

    def _note_end(self, row):
        """How it has ended, from an answer or a row of the list; nothing while it runs."""
        if row.state in ("running", None) or self.terminated:
            return
        self.terminated = True
        number = row.signal
        if isinstance(number, str):
            number = getattr(signal, number if number.startswith("SIG") else "SIG" + number, None)
        if number is not None:
            self.signalstatus, self.status = int(number), int(number)
        elif row.exit_code is not None:
            self.exitstatus, self.status = row.exit_code, row.exit_code << 8

    def isalive(self):
        """Whether the program runs; sets exitstatus or signalstatus once it does not."""
        if not self.terminated and not self.closed:
            self._typed()
            self._note_end(self._row())
        return not self.terminated and not self.closed

    def eof(self):
        """Whether its end was read."""
        return self.flag_eof

    def wait(self):
        """Waits for the program's end; returns exitstatus. What it prints is kept for expect."""
        if self.terminated:
            return self.exitstatus
        self._check_open()
        while not self.flag_eof:
            try:
                self._buffer += self._fetch(None)
            except EOF:
                break
        return self.exitstatus

    def kill(self, sig):
        """Sends a signal to the program (a number, or a name)."""
        if self.isalive():
            try:
                self.session.kill(sig)
            except Error as e:
                if e.code not in ("ended", "no_such_session"):
                    raise ExceptionPexpect(e.message) from e

    def _ends_within(self, seconds):
        """Whether the program ends in time; its output is kept."""
        try:
            row = self._client.call("read_output", session_id=self.session.number, exit=True,
                                    peek=True, since=self.session.place, max_output_tokens=0,
                                    yield_time_ms=_wait_ms(seconds))
        except Error as e:
            if e.code == "no_such_session":
                return True
            raise ExceptionPexpect(e.message) from e
        self._note_end(row)
        return self.terminated

    def terminate(self, force=False):
        """Ends the program by SIGHUP, SIGCONT and SIGINT, with force by SIGKILL when these don't.
        Returns whether it has ended."""
        for number in [signal.SIGHUP, signal.SIGCONT, signal.SIGINT] + [signal.SIGKILL] * force:
            if not self.isalive():
                return True
            self.kill(number)
            if self._ends_within(5 if number == signal.SIGKILL else self.delayafterterminate):
                return True
        return not self.isalive()

    def close(self, force=True):
        """Ends the program as the loss of its terminal would (SIGHUP), with force by all means, and
        forgets the session. exitstatus and signalstatus are set. ExceptionPexpect when it goes
        on."""
        if self.closed:
            return
        if self._keep:
            self._typed()
            self.closed = True
            self._client.close()
            return
        if self.isalive() and not self.terminate(force):
            raise ExceptionPexpect("Could not terminate the child.")
        self.closed = self.flag_eof = True
        try:
            self.session.remove()
        except Error:
            pass  # it is forgotten already, or the daemon is gone with it
        self._client.close()

    # --- its terminal

    def _settings(self, change=None):
        """The terminal's settings (tcgetattr(3)), after they were changed."""
        row = self._row()
        try:
            with open("/proc/%d/stat" % row.pid, "rb") as file:
                device = int(file.read().rpartition(b")")[2].split()[4])
            minor = (device & 0xff) | (device >> 12 & 0xfff00)
            fd = os.open("/dev/pts/%d" % minor, os.O_RDWR | os.O_NOCTTY)
        except (OSError, TypeError, ValueError, IndexError) as e:
            raise ExceptionPexpect("'%s': its terminal can't be reached from here (%s)"
                                   % (self.session.name, e)) from e
        try:
            if os.fstat(fd).st_rdev != os.makedev(device >> 8 & 0xfff, minor):
                raise ExceptionPexpect("'%s': its terminal has no name here" % self.session.name)
            if change:
                settings = termios.tcgetattr(fd)
                change(settings)
                termios.tcsetattr(fd, termios.TCSANOW, settings)
            return termios.tcgetattr(fd)
        except termios.error as e:
            raise ExceptionPexpect("'%s': %s" % (self.session.name, e)) from e
        finally:
            os.close(fd)

    def getecho(self):
        """Whether the terminal echoes. ExceptionPexpect once the program has ended, or where its
        terminal can't be reached (another mount namespace)."""
        return bool(self._settings()[3] & termios.ECHO)

    def setecho(self, state):
        """Switches the terminal's echo. ExceptionPexpect as in getecho."""
        def change(settings):
            settings[3] = settings[3] | termios.ECHO if state else settings[3] & ~termios.ECHO
        self._settings(change)
        self.echo = bool(state)

    def waitnoecho(self, timeout=-1):
        """Waits until the terminal does not echo, as at a question for a password; False when the
        time is over."""
        timeout = self.timeout if timeout == -1 else timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.getecho():
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(0.01)  # no event tells when a program changes its terminal
        return True

    def getwinsize(self):
        """(rows, columns)."""
        row = self._row()
        return row.rows, row.cols

    def setwinsize(self, rows, cols):
        """Gives the terminal another size; the program gets SIGWINCH."""
        try:
            self.session.resize(rows, cols)
        except Error as e:
            raise ExceptionPexpect(e.message) from e

    def isatty(self):
        """True: it has a terminal."""
        return True

    def fileno(self):
        """There is no descriptor: muxd holds the terminal."""
        raise ExceptionPexpect("there is no file descriptor: muxd holds the terminal")

    @property
    def child_fd(self):
        """As fileno()."""
        return self.fileno()

    def flush(self):
        """Does nothing; files have it."""

    def interact(self, escape_character=chr(29), input_filter=None, output_filter=None):
        """Gives the program to the person at this terminal (by `ue attach`), until it ends or the
        person types escape_character (default ^], None: the person can't leave it but by C-\\ d)
        and then d. What is shown meanwhile is logged, and is not new to expect."""
        if input_filter or output_filter:
            raise ExceptionPexpect("filters are not offered: `ue attach` carries the bytes; use "
                                   "expect and send")
        words = [find_ue(self._client._ue), "-S", self._client.socket, "attach"]
        if escape_character is not None:
            code = escape_character if isinstance(escape_character, str) else \
                escape_character.decode("latin-1")
            words += ["-k", "C-" + chr(ord(code) + 64).lower()]
        self._buffer = self._empty
        sys.stdout.flush()
        subprocess.run(words + [str(self.session.number)], check=False)
        try:
            while True:  # what was there when the person left
                self._fetch(0)
        except (EOF, TIMEOUT):
            pass


class spawnu(spawn):  # pylint: disable=invalid-name
    """spawn with encoding utf-8."""

    def __init__(self, *args, **options):
        options.setdefault("encoding", "utf-8")
        super().__init__(*args, **options)


class ExceptionPxssh(ExceptionPexpect):
    """A login that failed; value: why."""


class pxssh(spawn):  # pylint: disable=invalid-name
    """A login by ssh, in the shape of pexpect.pxssh.pxssh: login(), then sendline() and prompt()
    for each command, whose output is in before; logout(). `from ue import pxssh` gives what has
    pxssh.pxssh and pxssh.ExceptionPxssh. The arguments are those of spawn without a command.
    options: of ssh, as in {"StrictHostKeyChecking": "no"}. A password is a secret, as for spawn."""
    UNIQUE_PROMPT = r"\[PEXPECT\][\$\#] "
    PROMPT_SET_SH = "PS1='[PEXPECT]\\$ '"
    PROMPT_SET_CSH = "set prompt='[PEXPECT]\\$ '"
    PROMPT_SET_ZSH = "prompt restore;\nPS1='[PEXPECT]%(!.#.$) '"

    def __init__(self, timeout=30, maxread=2000, searchwindowsize=None, logfile=None, cwd=None,
                 env=None, ignore_sighup=True, echo=True, options=None, encoding=None,
                 codec_errors="strict", **more):
        self.options, self.force_password, self.PROMPT = dict(options or {}), False, \
            self.UNIQUE_PROMPT
        self.closed, self.name = True, "<pxssh>"  # until login
        self._given = dict(timeout=timeout, maxread=maxread, searchwindowsize=searchwindowsize,
                           logfile=logfile, cwd=cwd, env=env, ignore_sighup=ignore_sighup,
                           echo=echo, encoding=encoding, codec_errors=codec_errors, **more)

    def _words_of(self, server, username, quiet, port, key, config, cmd):
        words = split_command_line(cmd)
        for name, value in self.options.items():
            words += ["-o", "%s=%s" % (name, value)]
        if self.force_password:
            words += ["-o", "RSAAuthentication=no", "-o", "PubkeyAuthentication=no"]
        for option, value in (("-p", port), ("-i", key), ("-F", config), ("-l", username)):
            if value is not None:
                words += [option, str(value)]
        return words + ["-q"] * bool(quiet) + [server]

    def login(self, server, username=None, password="", terminal_type="ansi",
              original_prompt=r"[#$]", login_timeout=10, port=None, auto_prompt_reset=True,
              ssh_key=None, quiet=True, sync_multiplier=1, check_local_ip=True,
              password_regex=r"(?i)(?:password:)|(?:passphrase for key)", ssh_tunnels=None,
              spawn_local_ssh=True, sync_original_prompt=True, ssh_config=None, cmd="ssh"):
        """Logs in, and sets a prompt that prompt() knows (unless auto_prompt_reset is false; then
        PROMPT is original_prompt). Returns True, or raises ExceptionPxssh."""
        del sync_multiplier, check_local_ip, sync_original_prompt  # nothing is guessed by time
        if ssh_tunnels or not spawn_local_ssh:
            raise ExceptionPxssh("ssh_tunnels and spawn_local_ssh=False are not offered; give cmd")
        words = self._words_of(server, username, quiet, port, ssh_key, ssh_config, cmd)
        super().__init__(words[0], words[1:], **self._given)
        known = ["(?i)are you sure you want to continue connecting", original_prompt,
                 password_regex, "(?i)permission denied", "(?i)terminal type",
                 "(?i)connection (?:closed|refused)|no route|not known", EOF, TIMEOUT]
        asked = False
        while True:
            found = self.expect(known, timeout=login_timeout)
            if found == 0:
                self.sendline("yes")
            elif found == 1:
                break
            elif found == 2 and not asked:
                asked = True
                self.sendline(password)
            elif found == 4:
                self.sendline(terminal_type)
            else:
                said = self.before if isinstance(self.before, str) else repr(self.before)
                self.close()
                raise ExceptionPxssh({2: "password refused", 3: "permission denied",
                                      7: "could not synchronize with original prompt"}.get(
                                          found, "could not establish connection to host")
                                     + ": " + said.strip())
        self.PROMPT = self.UNIQUE_PROMPT if auto_prompt_reset else original_prompt
        if auto_prompt_reset and not self.set_unique_prompt():
            self.close()
            raise ExceptionPxssh("could not set shell prompt")
        return True

    def set_unique_prompt(self):
        """Sets UNIQUE_PROMPT in a shell of any kind. False: none of these has worked. The echo of
        the line that sets it is no prompt: it has a backslash."""
        self.sendline("unset PROMPT_COMMAND")
        return any(self.sendline(line) and self.expect([TIMEOUT, self.PROMPT], 10) == 1
                   for line in (self.PROMPT_SET_SH, self.PROMPT_SET_CSH, self.PROMPT_SET_ZSH))

    def prompt(self, timeout=-1):
        """Waits for the prompt: True; the command's output is in before. False when the time is
        over."""
        return self.expect([self.PROMPT, TIMEOUT], timeout) == 0

    def logout(self):
        """Ends the login, with jobs that are stopped."""
        self.sendline("exit")
        if self.expect([EOF, "(?i)there are stopped jobs"]) == 1:
            self.sendline("exit")
            self.expect(EOF)
        self.close()


pxssh.pxssh, pxssh.ExceptionPxssh = pxssh, ExceptionPxssh  # it stands for a module, too


def run(command, timeout=30, withexitstatus=False, events=None, extra_args=None, logfile=None,
        cwd=None, env=None, **options):
    """Runs a command to its end and returns its output; with withexitstatus (output, exitstatus).
    events: a dict, or a list of pairs, of patterns and answers. An answer is a string that is sent,
    or a function, which gets a dict (child, index, event_count, extra_args, ...) and returns a
    string to send, a true value to stop, or a false one. timeout: seconds for each pattern."""
    child = spawn(command, timeout=None if timeout == -1 else timeout, logfile=logfile, cwd=cwd,
                  env=env, **options)
    pairs = list(events.items() if isinstance(events, dict) else events or ())
    patterns = [pattern for pattern, _ in pairs] or [EOF, TIMEOUT]
    answers = [answer for _, answer in pairs]
    output, count = [], 0
    while True:
        try:
            index = child.expect(patterns)
        except (EOF, TIMEOUT):
            output.append(child.before)
            break
        output.append(child.before)
        if isinstance(child.after, child.string_type):
            output.append(child.after)
        if not answers:  # the end, or the time is over
            break
        answer = answers[index]
        if callable(answer):
            answer = answer({"child": child, "index": index, "event_count": count,
                             "child_result_list": output, "events": events, "patterns": patterns,
                             "extra_args": extra_args, "command": command})
            if answer and not isinstance(answer, (str, bytes)):
                break
        elif not isinstance(answer, (str, bytes)):
            raise TypeError("an answer of events is a string or a function")
        if answer:
            child.send(answer)
        count += 1
    child.close()
    joined = child.string_type().join(output)
    return (joined, child.exitstatus) if withexitstatus else joined


def runu(command, timeout=30, withexitstatus=False, events=None, extra_args=None, logfile=None,
         cwd=None, env=None, **options):
    """run with encoding utf-8."""
    options.setdefault("encoding", "utf-8")
    return run(command, timeout, withexitstatus, events, extra_args, logfile, cwd, env, **options)


pexpect = sys.modules.get(__name__)  # for `from ue import pexpect`
