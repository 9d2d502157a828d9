"""What only a person's terminal knows (colours, the size of cells) is what programs are told while that person types; nothing of how that comes
about is ever typed into the session, and a terminal that answers nothing takes nothing from anybody."""
import itertools, json, os, signal, socket, termios, time

import pytest
from conftest import CAP, wait_for
from frames import frames, receive, send
from outer import Outer

PYTHON = "/usr/bin/python3"
LIGHT = {b"10": b"1111/1111/1111", b"11": b"fdfd/f6f6/e3e3", b"12": b"abab/cdcd/0101", b"4;1": b"dcdc/3232/2f2f"}
DARK = {b"10": b"d0d0/d0d0/d0d0", b"11": b"10/20/30", b"4;1": b"f/0/0"}
PLAIN = {"10": "e5e5/e5e5/e5e5", "11": "0000/0000/0000", "12": "e5e5/e5e5/e5e5", "4;1": "cdcd/0000/0000"}

# Puts on its terminal what it gets from the socket, and says there what came in, up to the answer to device attributes.
PROGRAM = r"""
import os, socket, sys, termios, tty
tty.setraw(0, termios.TCSANOW)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(1)
os.write(1, b"ready")
peer = listener.accept()[0]
while text := peer.recv(65536):
    os.write(1, text)
    got = b""
    while b"\033[?62;22c" not in got:
        got += os.read(0, 65536)
    peer.sendall(got)
"""


class Asker:
    """A program in a session that asks what the test wants to know."""

    def __init__(self, mux, name="ask"):
        (mux.dir / "asker.py").write_text(PROGRAM)
        self.mux, self.name, self.path = mux, name, str(mux.dir / f"{name}.sock")
        self.command = ["--argv", "--", PYTHON, str(mux.dir / "asker.py"), self.path]
        self.peer = None

    def start(self):
        self.mux.ue("exec", "--json", "-n", self.name, "-t", "-y", 0, *self.command).ok()
        return self.connect()

    def connect(self):
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.settimeout(CAP)
        wait_for(lambda: os.path.exists(self.path), "the program")
        wait_for(lambda: self.peer.connect_ex(self.path) == 0, "the program to listen")
        return self

    def gets(self, query=b""):
        """All that it has been given since, with the answer to the query."""
        self.peer.sendall(query + b"\x1b[c")
        got = b""
        while b"\x1b[?62;22c" not in got:
            got += self.peer.recv(65536)
        return got.replace(b"\x1b[?62;22c", b"")

    def keys(self, count):
        """So many bytes that were typed."""
        got, end = b"", time.monotonic() + CAP
        while len(got) < count:
            assert time.monotonic() < end, got
            got += self.gets()
        return got

    def colour(self, which):
        got = self.gets(b"\x1b]%s;?\x07" % which.encode())
        head, _, rest = got.partition(b";rgb:")
        assert head == b"\x1b]" + which.encode() and rest.endswith(b"\x07"), got
        return rest[:-1].decode()

    def colours(self):
        return {which: self.colour(which) for which in PLAIN}


@pytest.fixture(autouse=True)
def agents_may_type(mux):
    mux.configure("[defaults]\nkeyboard_idle = 1ms\n")


@pytest.fixture
def terminals(mux):
    made = []

    def make(*args, **kw):
        made.append(Outer(mux, *(args or ("attach", "ask")), **kw))
        return made[-1]
    yield make
    for outer in made:
        if outer.process in mux.background:
            mux.background.remove(outer.process)
        outer.close()


def attached(mux, name="ask"):
    return mux.listed(name).get("attached")


def full(colour):
    return "/".join((part * 4)[:4] if len(part) < 4 else part for part in colour.decode().split("/"))


def told(colours):
    return {which: full(colours[which.encode()]) if which.encode() in colours else PLAIN[which] for which in PLAIN}


def becomes(asker, wanted):
    """What ue was told reaches the daemon a moment later."""
    wait_for(lambda: asker.colours() == wanted, f"{wanted}")


def says(asker, query, wanted):
    """The same of what else is asked: on a busy machine the colours may be told first, and the rest when all is answered."""
    wait_for(lambda: asker.gets(query) == wanted, f"{wanted}")


def worker(mux):
    return mux.js("status")["pid"]


def test_colours_of_who_types_and_plain_ones_without_anybody(mux, terminals):
    asker = Asker(mux).start()
    assert asker.colours() == PLAIN
    person = terminals(colours=LIGHT, scheme=2, cell=(20, 10))
    becomes(asker, told(LIGHT))
    says(asker, b"\x1b[?996n", b"\x1b[?997;2n")
    assert asker.gets(b"\x1b]4;1;?;2;?\x07") == b"\x1b]4;1;rgb:dcdc/3232/2f2f\x07\x1b]4;2;rgb:0000/cdcd/0000\x07"
    says(asker, b"\x1b[16t\x1b[14t\x1b[18t", b"\x1b[6;20;10t\x1b[4;480;800t\x1b[8;24;80t")
    assert asker.gets(b"\x1b[>q").startswith(b"\x1bP>|muxd ")  # it is muxd that draws
    assert person.leaves() == 0
    becomes(asker, PLAIN)
    assert asker.gets(b"\x1b[?996n") == b"\x1b[?997;1n"
    assert asker.gets(b"\x1b[16t") == b"\x1b[6;20;10t"  # stays, as rows and columns do
    assert b"\x1b[?2031l" in person.seen[person.seen.rindex(b"\x1b[?2031h"):]


def test_a_terminal_that_answers_nothing(mux, terminals):
    """Nobody waits for it, every key arrives, Escape alone too."""
    asker = Asker(mux).start()
    person = terminals(answers=False)
    wait_for(lambda: attached(mux) == 1, "the attachment")
    wait_for(lambda: b"\x1b[c" in person.seen, "the question")
    assert asker.colours() == PLAIN
    for key in b"a", b"\x1b", b"\x1b[A", b"\x1b]", b"\x1b[6~", b"\x1b[1;5C", b"\x1b[97;5u", b"\x1bO", b"\xc3\xa9", b"\x1b[I", b"\x1b[", b"\x1b[6;", b"x":
        person.type(key)
        assert asker.keys(len(key)) == key
    assert person.leaves() == 0
    assert person.seen.count(b"\x1b[16t") == 1, "it was asked once and no more"


# An Escape alone is a key after a second: between two bytes of an answer a busy machine may take longer.
BYTE_BY_BYTE = pytest.mark.timing(reason="the pauses between the bytes of an answer are the machine's")


@pytest.mark.parametrize("pieces", [False, pytest.param(True, marks=BYTE_BY_BYTE)])
def test_keys_between_answers(mux, terminals, pieces):
    """The answers come slowly, in pieces, while somebody types: the program gets the keys, all, in order, and nothing else."""
    asker = Asker(mux).start()
    person = terminals(colours=LIGHT, scheme=2, cell=(20, 10), pieces=pieces)
    keys = b"".join(b"%d\x1b[A" % i for i in range(30))
    for at in range(0, len(keys), 4):
        person.type(keys[at:at + 4])
    assert asker.keys(len(keys)) == keys
    becomes(asker, told(LIGHT))


def test_late_answers_are_no_keys(mux, terminals):
    asker = Asker(mux).start()
    person = terminals(colours=LIGHT)
    becomes(asker, told(LIGHT))
    person.type(b"a\x1b]11;rgb:1/2/3\x07b\x1b]4;1;rgb:4/5/6\x1b\\c")
    assert asker.keys(3) == b"abc"
    wait_for(lambda: asker.colour("11") == "1111/2222/3333", "the late answer")
    assert asker.colour("4;1") == "4444/5555/6666"


def test_two_writers_and_one_who_looks(mux, terminals):
    asker = Asker(mux).start()
    one = terminals(colours=LIGHT, scheme=2, cell=(20, 10))
    becomes(asker, told(LIGHT))
    says(asker, b"\x1b[16t", b"\x1b[6;20;10t")
    two = terminals(colours=DARK, cell=(16, 8))
    becomes(asker, told(DARK))  # who came last
    says(asker, b"\x1b[16t", b"\x1b[6;16;8t")
    eyes = terminals("attach", "-r", "ask", colours={b"11": b"ff/0/0"})
    wait_for(lambda: attached(mux) == 3, "all three")
    assert b"\x1b]11;?" not in eyes.seen
    assert asker.colours() == told(DARK) and asker.gets(b"\x1b[16t") == b"\x1b[6;16;8t"
    one.type(b"k")
    assert asker.keys(1) == b"k"
    assert asker.colours() == told(LIGHT) and asker.gets(b"\x1b[16t") == b"\x1b[6;20;10t"
    assert one.leaves() == 0
    becomes(asker, told(DARK))
    assert two.leaves() == 0
    becomes(asker, PLAIN)
    assert eyes.leaves() == 0


def test_a_writer_whose_terminal_is_silent_has_plain_colours(mux, terminals):
    asker = Asker(mux).start()
    terminals(colours=LIGHT)
    becomes(asker, told(LIGHT))
    silent = terminals(answers=False)
    wait_for(lambda: attached(mux) == 2, "both")
    silent.type(b"k")
    assert asker.keys(1) == b"k"
    assert asker.colours() == PLAIN


def test_programs_are_told_when_it_becomes_light(mux, terminals):
    """?2031: of the terminal's own word, of another person, and of nobody."""
    asker = Asker(mux).start()
    assert asker.gets(b"\x1b[?2031$p\x1b[?2031h\x1b[?2031$p") == b"\x1b[?2031;2$y\x1b[?2031;1$y"

    def hears(scheme):
        got = b""
        end = time.monotonic() + CAP
        while b"\x1b[?997;%dn" % scheme not in got:
            assert time.monotonic() < end, got
            got += asker.gets()
        assert got == b"\x1b[?997;%dn" % scheme

    person = terminals(colours=DARK, scheme=1)
    becomes(asker, told(DARK))
    wait_for(lambda: person.follows, "ue to follow the scheme")
    person.colours, person.scheme = dict(LIGHT), 2
    person.type(b"\x1b[?997;2n")
    hears(2)
    becomes(asker, told(LIGHT))
    old = worker(mux)
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: worker(mux) != old and attached(mux) == 1, "the new worker")
    wait_for(lambda: full(LIGHT[b"11"]).encode() in asker.gets(b"\x1b]11;?\x07"), "the colours after the restart")
    asker.gets()  # it may have been told again that it is light
    assert asker.gets(b"\x1b[?2031$p") == b"\x1b[?2031;1$y"
    assert person.leaves() == 0
    hears(1)
    assert asker.gets(b"\x1b[?2031l") == b""


def test_after_a_restart_of_the_worker(mux, terminals):
    asker = Asker(mux).start()
    terminals(colours=LIGHT, cell=(20, 10))
    becomes(asker, told(LIGHT))
    for _ in range(2):
        old = worker(mux)
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: worker(mux) != old, "a new worker")
        becomes(asker, told(LIGHT))
        says(asker, b"\x1b[14t", b"\x1b[4;480;800t")


def test_pixels_of_the_program_s_terminal(mux, terminals):
    """From the kernel's own numbers where the outer terminal has set them, without asking."""
    program = "import fcntl,os,struct,termios,signal\n" \
              "f=lambda *a:os.write(1,b'%d %d %d %d\\n' % struct.unpack('HHHH',fcntl.ioctl(0,termios.TIOCGWINSZ,bytes(8))))\n" \
              "signal.signal(signal.SIGWINCH,f);f()\nwhile True: signal.pause()"
    mux.ue("exec", "--json", "-n", "ask", "-t", "-y", 0, "--argv", "--", PYTHON, "-c", program).ok()
    mux.ue("poll", "--since", "0", "--until", "24 80 0 0", "-y", CAP * 1000, "ask").ok()
    person = terminals(cell=(18, 9), pixels=True, rows=30, cols=100)
    mux.ue("poll", "--since", "0", "--until", "30 100 900 540", "-y", CAP * 1000, "ask").ok()
    mux.ue("resize", "ask", "10x20").ok()
    mux.ue("poll", "--since", "0", "--until", "10 20 180 180", "-y", CAP * 1000, "ask").ok()
    assert person.leaves() == 0


def test_another_font(mux, terminals):
    """A window that has changed may have other cells: where the kernel does not know, the terminal is asked."""
    asker = Asker(mux).start()
    person = terminals(colours=LIGHT, cell=(20, 10), leader=True)
    becomes(asker, told(LIGHT))
    says(asker, b"\x1b[16t", b"\x1b[6;20;10t")
    for size in 40, 12:
        person.cell = (size, size // 2)
        person.resize(size, 100)
        wait_for(lambda: asker.gets(b"\x1b[14t") == b"\x1b[4;%d;%dt" % (size * size, size // 2 * 100), "the new cells")
    assert person.leaves() == 0


def test_a_program_that_asks_as_soon_as_it_runs(mux, terminals):
    """ue exec -a: the terminal is asked first, and has 0.3 s to answer: a round in which it may have been later proves nothing."""
    asker = Asker(mux)
    log, asked = mux.dir / "first", mux.dir / "first.asked"
    (mux.dir / "first.py").write_text(r"""
import os, sys, termios, tty
tty.setraw(0, termios.TCSANOW)
os.write(1, b"\033]11;?\007\033[16t\033[c")
got = b""
while not got.endswith(b"\033[?62;22c"):
    got += os.read(0, 1)
open(sys.argv[1] + ".asked", "w").close()
key = os.read(0, 100)
open(sys.argv[1] + ".tmp", "wb").write(got + key)
os.rename(sys.argv[1] + ".tmp", sys.argv[1])
""")
    right, end = 0, time.monotonic() + CAP
    for count in itertools.count():
        person = terminals("exec", "-a", "-n", f"first{count}", "--argv", "--", PYTHON, str(mux.dir / "first.py"), str(log), colours=LIGHT,
                           cell=(20, 10))
        wait_for(asked.exists, "the program to have its answers")
        asked.unlink()
        person.type(b"k")
        assert person.ends() == 0
        got = log.read_bytes()
        assert got.endswith(b"\x1b[?62;22ck") and got.startswith(b"\x1b]11;rgb:") and got.count(b"\x1b") == 3, got
        if got == b"\x1b]11;rgb:fdfd/f6f6/e3e3\x07\x1b[6;20;10t\x1b[?62;22ck":
            right += 1
        else:
            assert person.answered - person.began > 0.3, got
        log.unlink()
        if right == 3:
            break
        assert time.monotonic() < end, got
    assert asker.peer is None


def test_typed_ahead_of_the_start(mux, terminals):
    person = terminals("exec", "-a", "-n", "cat", "--argv", "--", "/bin/cat", colours=LIGHT, answers=False)
    person.shows(b"\x1b[c")  # it waits for an answer
    person.type(b"early\r")
    person.shows(b"early")
    wait_for(lambda: mux.ue("poll", "--raw", "--peek", "--since", "0", "cat").raw.count(b"early") == 2, "what the terminal echoes and what cat says")
    assert person.leaves() == 0
    assert mux.ue("poll", "--raw", "--since", "0", "cat").raw == b"early\r\nearly\r\n"


def test_asked_again_after_a_stop(mux, terminals):
    """The shell may have been used to change the colours."""
    asker = Asker(mux).start()
    person = terminals(colours=DARK)
    becomes(asker, told(DARK))
    asked = person.asked
    os.kill(person.process.pid, signal.SIGSTOP)
    person.colours = dict(LIGHT)
    os.kill(person.process.pid, signal.SIGCONT)
    wait_for(lambda: person.asked > asked, "another question")
    becomes(asker, told(LIGHT))


def test_while_something_covers_the_session(mux, terminals):
    """Answers are no keys of the views either."""
    asker = Asker(mux).start()
    person = terminals(colours=DARK)
    becomes(asker, told(DARK))
    person.type(b"\x1c?")
    person.shows(b"Any key goes back")
    person.type(b"\x1b]11;rgb:1/2/3\x07")
    person.type(b"\x1b[?997;2n")
    at = len(person.seen)
    person.type(b"x")
    person.shows(b"ready", at)
    wait_for(lambda: person.asked >= 2, "the question about all colours")
    assert asker.gets() == b""


@BYTE_BY_BYTE
def test_nothing_is_left_for_the_shell(mux, terminals):
    """ue is left at once, before the terminal has answered: the answers are not typed into what comes then."""
    asker = Asker(mux).start()
    for _ in range(5):
        person = terminals("attach", "ask", colours=LIGHT, scheme=2, cell=(20, 10), pieces=True)
        person.shows(b"\x1b[?1049h")
        person.type(b"\x1cd")
        status = person.process.wait(CAP)
        wait_for(lambda: person.asked == 1 or b"\x1b[c" not in person.seen, "the answers")
        left = os.open(person.tty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            with pytest.raises(BlockingIOError):
                os.read(left, 100)
        finally:
            os.close(left)
        assert status == 0, person.seen
    assert asker.gets() == b""


def test_a_terminal_frame_of_any_kind(mux):
    """The daemon takes what makes sense of it, and the rest does no harm."""
    asker = Asker(mux).start()
    peer = frames(mux, "ask")
    for data in b"", b"x", b"[]", b"{", b"{}", b'{"background":1,"palette":{},"cell":[1],"scheme":[]}', b'{"cell":[0,-5]}', b"x" * 5000, \
            b'{"background":"rgb:1/2","palette":["rgb:12345/1/1",null,"rgb:0/0/g"],"scheme":"grey","cell":[99999,1],"more":1}':
        send(peer, b"q", data)
        assert asker.colours() == PLAIN
        assert asker.gets(b"\x1b[16t") == b"\x1b[6;16;8t"
    send(peer, b"q", json.dumps({"background": "rgb:1/2/3", "palette": [None, "rgba:f/0/0/8"], "scheme": "light", "cell": [30, 15]}).encode())
    wait_for(lambda: asker.colour("11") == "1111/2222/3333", "the colour")
    assert asker.colour("4;1") == "ffff/0000/0000" and asker.gets(b"\x1b[?996n\x1b[16t") == b"\x1b[?997;2n\x1b[6;30;15t"
    looker = frames(mux, "ask", read_only=True)
    send(looker, b"q", b'{"background":"rgb:f/f/f"}')
    send(looker, b"r")
    receive(looker, b"a")
    assert asker.colour("11") == "1111/2222/3333"


# --- the colour of the cursor

SET, OWN = b"\x1b]12;rgb:12/34/56\x1b\\", b"\x1b]112\x1b\\"


def test_the_cursor_has_the_colour_that_a_program_gives_it(mux, terminals):
    asker = Asker(mux).start()
    person = terminals(colours=LIGHT)
    becomes(asker, told(LIGHT))
    plain = terminals(colours=DARK)  # tells no colour of its cursor
    becomes(asker, told(DARK))
    asker.gets(SET)
    person.shows(SET)
    assert asker.gets(b"\x1b]12;?\x1b\\") == b"\x1b]12;rgb:1212/3434/5656\x1b\\"
    asker.gets(OWN)
    person.shows(OWN)
    at = len(person.seen)
    asker.gets(SET)
    person.shows(SET, at)
    at, worker = len(person.seen), mux.js("status")["pid"]
    os.kill(worker, signal.SIGKILL)  # the next one draws all anew
    wait_for(lambda: mux.js("status")["pid"] != worker and attached(mux) == 2, "both again")
    person.shows(SET, at)
    assert OWN in person.seen[at:person.seen.rindex(SET)]
    at = len(person.seen)
    assert person.leaves() == 0
    assert OWN in person.seen[at:] and SET not in person.seen[at:]
    assert plain.leaves() == 0 and b"\x1b]12;rgb" not in plain.seen and OWN not in plain.seen


@pytest.mark.parametrize("late", [False, True], ids=["at once", "when it is gone"])
def test_the_colour_of_a_program_is_not_the_terminals(mux, terminals, late):
    """A terminal that is asked again while a program's colour is shown answers that; it is not told to programs as its own, whenever the answer is read."""
    asker = Asker(mux).start()
    person = terminals(colours=LIGHT)
    becomes(asker, told(LIGHT))
    asker.gets(SET)
    person.shows(SET)
    asked, at = person.asked, len(person.seen)
    changed = {**LIGHT, b"11": b"1010/2020/3030"}
    person.held, person.colours = [], changed
    person.type(b"\x1b[?997;1n")  # another scheme, so ue asks anew
    wait_for(lambda: person.asked > asked, "the second question")
    assert b"\x1b]12;rgb:12/34/56\x1b\\" in person.held
    if not late:
        person.releases()
        becomes(asker, told(changed) | {"12": "1212/3434/5656"})
    asker.gets(OWN)
    person.shows(OWN, at)
    if late:
        person.releases()
    becomes(asker, told(changed))
    assert person.leaves() == 0


# --- before the daemon has answered

def local_flags(person):
    tty = os.open(person.tty, os.O_RDWR | os.O_NOCTTY)
    try:
        return termios.tcgetattr(tty)[3]
    finally:
        os.close(tty)


def test_what_is_typed_before_the_answer(mux, terminals):
    """Only the interrupt key ends ue, so that a daemon that hangs can be left; all else is for the session."""
    mux.ue("exec", "-n", "cat", "-t", "-y", CAP * 1000, "--until", "up\n", "stty raw -echo; echo up; exec cat -v").ok()
    stopped = worker(mux)
    os.kill(stopped, signal.SIGSTOP)
    try:
        left, stays = terminals("attach", "cat"), terminals("attach", "cat")
        for person in left, stays:
            wait_for(lambda: not local_flags(person) & (termios.ICANON | termios.ECHO), "a raw terminal")
        left.type(b"\x03")
        assert left.process.wait(CAP) == -signal.SIGINT
        assert local_flags(left) & termios.ICANON
        stays.type(b"\x1a\x1c\x1c")  # ^Z; the prefix key twice is one
    finally:
        os.kill(stopped, signal.SIGCONT)
    wait_for(lambda: "^Z^\\" in mux.ue("poll", "--raw", "--peek", "--since", "0", "cat").out, "what was typed")
    assert stays.leaves() == 0
