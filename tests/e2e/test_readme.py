"""README's blocks, run in the order in which they stand, in a fresh home at a terminal: they answer what README shows.

A block is indented. One that begins with `$ ` is a transcript: each `$ ` line is run, and what stands below it is its answer. One that
begins with `[` is appended to the config file. All others are commands that change the machine; other tests and `make fresh` run those.
MUXD_README=write puts the answers of this run into README."""
import difflib, fcntl, os, re, select, struct, subprocess, termios

from conftest import CAP, ROOT, UE, need, set_mark

README = ROOT / "README.md"
NOT_RUN = {"git", "make", "claude", "systemctl"}  # first words
SHOWN_HOME, SHOWN_SOCKET = "/home/anna", "/run/user/1000/muxd/muxd.sock"
MASKS = [(re.compile(pattern), text) for pattern, text in (
    (r"Chunk ID: [0-9a-f]{6}", "Chunk ID: *"), (r'"chunk_id":"[0-9a-f]{6}"', '"chunk_id":*'),
    (r"Wall time: [\d.]+", "Wall time: *"), (r'"wall_time_seconds":[\d.]+', '"wall_time_seconds":*'),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "TIME"), (r"\bpid \d+", "pid *"), (r"\[\d+\]", "[*]"), (r"\d+\.\d+\.\d+", "VERSION"),
    (r'"timestamp":\d+', '"timestamp":*'), (r"^\[\d\.\d+, ", "[*, "))]
TABLE = re.compile(r"^ *NUMBER ")  # of ue list: its processes and times are masked
CELL = re.compile(r" +(\d+[smhd]?|just now)(?= |$)")


def blocks(lines):
    """(number of the first line, lines without their indentation), for each indented block that stands behind a blank line."""
    found, fenced = [], False
    for number, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if fenced or not line.startswith("    "):
            if line.strip():
                found.append(None)
            elif found and found[-1]:
                found[-1][1].append("")
        elif found and found[-1]:
            found[-1][1].append(line[4:])
        elif number and not lines[number - 1].strip():
            found.append((number, [line[4:]]))
    for block in filter(None, found):
        while not block[1][-1]:
            block[1].pop()
    return [block for block in found if block]


def commands(block):
    """(place of the command's first line, command, answer) of a transcript; `> ` goes on with a command."""
    number, lines = block
    found = []
    for at, line in enumerate(lines):
        if line.startswith("$ "):
            found.append((number + at, [line[2:]], []))
        elif line.startswith("> ") and not found[-1][2]:
            found[-1][1].append(line[2:])
        else:
            found[-1][2].append(line)
    return [(place, "\n".join(command), answer) for place, command, answer in found]


def masked(lines):
    text, table = [], False
    for line in lines:
        line = line.rstrip()
        for pattern, instead in MASKS:
            line = pattern.sub(instead, line)
        table = bool(TABLE.match(line)) or (table and bool(re.match(r" *\d+ ", line)))
        text.append(re.sub(r" {2,}", " ", CELL.sub(" *", line)) if table else line)
    while text and not text[-1]:
        text.pop()
    return text


def at_once(lines):
    """An answer that waits for nothing, without its output: what a quick program has written by then is up to the machine."""
    return [line for line in lines[:(lines + ["Output:"]).index("Output:")] if not line.startswith("Original token count")]


class Terminal:
    """A person's terminal: each command is run as `bash -c` does, one after the other."""

    def __init__(self, mux):
        self.mux = mux
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
        self.env = {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "TERM": "xterm-256color", "NO_COLOR": "1",
                    "PYTHON_BASIC_REPL": "1"}
        for name in ("MUXD_CONFIG", "MUXD_SOCKET", "XDG_STATE_HOME"):
            del self.env[name]
        mux.socket = mux.dir / "muxd/muxd.sock"  # XDG_RUNTIME_DIR is the test's
        mux.env = {**self.env, "MUXD_SOCKET": str(mux.socket)}

    def run(self, command):
        """What it shows, line by line."""
        set_mark(self.mux.rt_mark)
        process = subprocess.Popen(["bash", "-c", command], stdin=self.slave, stdout=self.slave, stderr=self.slave, env=self.env,
                                   cwd=self.mux.home, start_new_session=True)
        shown, ended = b"", False
        while True:
            if select.select([self.master], [], [], 0.02 if not ended else 0)[0]:
                shown += os.read(self.master, 65536)
            elif ended:
                break
            ended = process.poll() is not None
        text = shown.decode().replace("\r", "").replace(str(self.mux.socket), SHOWN_SOCKET).replace(str(self.mux.home), SHOWN_HOME)
        return [line.rstrip() for line in text.split("\n")]


def test_blocks_answer_what_they_show(mux):
    need("python3", "cksum", "ps")
    lines = README.read_text(encoding="utf-8").splitlines()
    terminal, wrong, answers, ran = Terminal(mux), [], [], 0
    config = mux.home / ".config/muxd/muxd.ini"
    config.parent.mkdir(parents=True)
    for block in blocks(lines):
        first = block[1][0]
        if first.startswith("["):
            with config.open("a") as file:
                file.write("\n".join(block[1]) + "\n\n")
        elif not first.startswith("$ "):
            assert first.split()[0] in NOT_RUN, f"README.md:{block[0] + 1}: neither a transcript nor a config"
        else:
            for place, command, answer in commands(block):
                ran += 1
                shown = terminal.run(command)
                answers.append((place + command.count("\n") + 1, len(answer), shown))
                told, wanted = masked(shown), masked(answer)
                if " -y 0 " in command:
                    told, wanted = at_once(told), at_once(wanted)
                if told != wanted:
                    wrong += [f"README.md:{place + 1}: $ {command}", *difflib.unified_diff(wanted, told, "README", "run", n=9, lineterm="")]
    if os.environ.get("MUXD_README") == "write":
        write(lines, answers)
    assert not wrong, "\n".join(wrong)
    assert ran > 20


def write(lines, answers):
    for at, old, shown in reversed(answers):
        while shown and not shown[-1]:
            shown.pop()
        blank = [""] * (old and not lines[at + old - 1].strip())
        lines[at:at + old] = [f"    {line}".rstrip() for line in shown] + blank
    README.write_text("\n".join(lines) + "\n", encoding="utf-8")
