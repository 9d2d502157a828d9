"""frames: a connection that attach has changed to frames of raw bytes, for the tests that speak them without ue; and the person at whose
terminal it is: a process of its own on a terminal of its own, as muxd asks for one."""
import array, json, os, pty, re, socket, struct, sys

from conftest import Rpc

PLACED = r"\x1b\[[0-9;?]*[A-Za-z]"


def painted(text):
    """A pattern for text on a terminal that is painted as output comes: between any two pieces the cursor is placed anew, and a blank that
    is there already is passed over."""
    return f"(?:{PLACED})*".join(f"(?: |{PLACED})+" if c == " " else re.escape(c) for c in text)


# On its terminal, in a session of its own, it connects whenever it is told a path, and hands the connection over.
LIFE = r"""
import array, os, signal, socket, sys
talk = socket.socket(fileno=int(sys.argv[1]))
if "ignores_hangup" in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if "background" in sys.argv:
    if child := os.fork():
        os.waitpid(child, 0)
        sys.exit()
    os.setpgid(0, 0)
while path := talk.recv(4096):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path.decode())
    talk.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [peer.fileno()]))])
    peer.close()
"""


class Person:
    """Somebody at a terminal. terminal: a descriptor of it; pid: of the process that connects."""

    def __init__(self, mux, **how):
        self.mux = mux
        self.talk, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.master, self.terminal = pty.openpty()
        name = os.ttyname(self.terminal)
        mux.ue("start").ok()

        def begin():
            os.close(os.open(name, os.O_RDWR))  # becomes the controlling terminal of the session that popen has made
        self.process = mux.spawn([sys.executable, "-S", "-c", LIFE, str(theirs.fileno()), *how], pass_fds=[theirs.fileno()], preexec_fn=begin)
        self.pid = self.process.pid
        theirs.close()
        mux.clients.append(self)

    def connect(self):
        self.talk.send(str(self.mux.socket).encode())
        data, rights, _, _ = self.talk.recvmsg(1, socket.CMSG_SPACE(4))
        assert data and rights, "the person's process is gone"
        fd = array.array("i")
        fd.frombytes(rights[0][2][:4])
        peer = PersonRpc(socket.socket(fileno=fd[0]), self.terminal)
        self.mux.clients.append(peer)
        return peer

    def close(self):
        self.talk.close()
        self.process.kill()
        for fd in (self.master, self.terminal):
            os.close(fd)


class PersonRpc(Rpc):
    """Requests go with the person's terminal."""

    def __init__(self, sock, terminal):
        super().__init__(None, sock)
        self.terminal = terminal

    def send(self, method, params=None, id=None):
        return self.show(self.terminal, method, params, id)

    def show(self, descriptor, method, params=None, id=None):
        id = next(self.ids) if id is None else id
        line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + b"\n"
        sent = self.sock.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])
        self.send_raw(line[sent:])
        return id


def ue_at_terminal(mux, *args, **kw):
    """ue as a person runs it whose input and output are no terminal: it runs on one all the same."""
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    try:
        return mux.ue(*args, preexec_fn=lambda: os.close(os.open(name, os.O_RDWR)), **kw)
    finally:
        os.close(master)
        os.close(slave)


def person(mux):
    """The one person of this test, who stays the same."""
    if not hasattr(mux, "somebody"):
        mux.somebody = Person(mux)
    return mux.somebody


def frames(mux, name, rows=24, cols=80, read_only=False):
    peer = person(mux).connect()
    peer.call("attach", {"session_id": name, "rows": rows, "cols": cols, "read_only": read_only, "_meta": {"client": "tester"}})
    return peer


def send(peer, kind, data=b""):
    peer.send_raw(kind + struct.pack("<I", len(data)) + data)


def receive(peer, kind):
    """The next frame of that kind."""
    while True:
        while len(peer.rest) < 5 or len(peer.rest) < 5 + struct.unpack("<I", peer.rest[1:5])[0]:
            data = peer.sock.recv(1 << 16)
            assert data, "the daemon has closed the connection"
            peer.rest += data
        size = struct.unpack("<I", peer.rest[1:5])[0]
        got, data, peer.rest = peer.rest[:1], peer.rest[5:5 + size], peer.rest[5 + size:]
        if got == kind:
            return data
