"""outer: a person's terminal for ue attach, on a pseudo-terminal: it answers what ue asks, as it is told to."""
import fcntl, os, pty, re, struct, subprocess, termios, threading, time

from conftest import CAP, wait_for
from frames import painted

QUERY = re.compile(rb"\x1b\](4;\d+|1[012]);\?(?:\x1b\\|\x07)|\x1b\[(\?996n|16t|c)|\x1b\[\?2031([hl])")
CURSOR = re.compile(rb"\x1b\](?:12;rgb:([0-9a-f/]+)|112)\x1b\\")


class Outer:
    """colours: by OSC number, as b"11" or b"4;1". What is not there gets no answer; with answers=False nothing does."""

    def __init__(self, mux, *args, colours=None, scheme=None, cell=None, answers=True, pieces=False, rows=24, cols=80, pixels=False, env=None,
                 leader=True):
        self.colours, self.scheme, self.cell = dict(colours or {}), scheme, cell
        self.answers, self.pieces, self.asked, self.follows = answers, pieces, 0, False
        self.held = None  # a list: what is answered waits there, until it is sent by releases()
        self.holding = threading.RLock()  # an answer is told, counted, held and sent as one
        self.began, self.answered = time.monotonic(), None  # when all that was asked last was answered
        self.mux, self.seen, self.lock = mux, b"", threading.Lock()
        self.master, slave = pty.openpty()
        self.tty = os.ttyname(slave)
        size = struct.pack("HHHH", rows, cols, cols * cell[1] if pixels else 0, rows * cell[0] if pixels else 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        setup = (lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if leader else None
        self.process = mux.popen(*args, stdin=slave, stdout=slave, stderr=slave, env={"TERM": "xterm-256color", **(env or {})},
                                 preexec_fn=setup)
        os.close(slave)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        at = 0
        try:
            while more := os.read(self.master, 65536):
                self.seen += more
                while found := QUERY.search(self.seen, at):
                    at = found.end()
                    if self.answers:
                        self._answer(found.start(), *found.groups())
        except OSError:
            pass  # nobody has the other side open

    def _cursor(self, at):
        """The cursor's colour when the byte at that place was drawn: what was set last, or the terminal's own."""
        sets = CURSOR.findall(self.seen[:at])
        return sets[-1] if sets and sets[-1] else self.colours.get(b"12")

    def _answer(self, at, colour, report, follows):
        if follows:
            self.follows = follows == b"h"
        elif colour == b"12" and self._cursor(at):
            self._reply(b"\x1b]12;rgb:%s\x1b\\" % self._cursor(at))
        elif colour and colour in self.colours:
            self._reply(b"\x1b]%s;rgb:%s\x1b\\" % (colour, self.colours[colour]))
        elif report == b"?996n" and self.scheme:
            self._reply(b"\x1b[?997;%dn" % self.scheme)
        elif report == b"16t" and self.cell:
            self._reply(b"\x1b[6;%d;%dt" % self.cell)
        elif report == b"c":
            with self.holding:
                self.asked += 1  # before anybody can know that it was answered
                self._reply(b"\x1b[?64;4c")
                self.answered = time.monotonic()

    def _reply(self, data):
        with self.holding:
            if self.held is None:
                self.type(data)
            else:
                self.held.append(data)

    def releases(self):
        with self.holding:
            held, self.held = self.held, None
            self.type(b"".join(held))

    def type(self, data):
        """What the terminal sends: keys, or an answer."""
        with self.lock:
            for piece in ([data[i:i + 1] for i in range(len(data))] if self.pieces else [data]):
                os.write(self.master, piece)
                if self.pieces:
                    time.sleep(0.0005)  # so that they are read one by one

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def shows(self, words, since=0):
        pattern = re.compile(painted(words.decode()).encode())
        wait_for(lambda: words in self.seen[since:] or pattern.search(self.seen, since), f"{words!r} on the terminal")

    def leaves(self):
        self.type(b"\x1cd")
        return self.ends()

    def ends(self):
        status = self.process.wait(CAP)
        self.mux.background.remove(self.process)
        self.close()
        return status

    def close(self):
        if self.master >= 0:
            self.process.kill()
            self.process.wait()
            self.thread.join(CAP)
            os.close(self.master)
            self.master = -1
