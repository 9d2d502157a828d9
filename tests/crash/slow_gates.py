"""The test's end of slow.c: a worker that is held up at a gate of the test's choice."""
import mmap, struct

OPEN, BEFORE_A_PASS, BEHIND_A_SIGSTOP, BEFORE_A_LOOK, BEFORE_A_RENAME, BEFORE_A_DIRECTORY, BEHIND_AN_ANSWER = range(7)


class Slow:
    """Two 32-bit numbers and one of 64 bits in a file that both map."""

    def __init__(self, mux, library, wait_for):
        path = mux.dir / "slow"
        path.write_bytes(bytes(4096))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)
        self.env, self.wait_for = {"LD_PRELOAD": str(library), "MUXD_SLOW": str(path)}, wait_for

    def shut(self, gate):
        self.map[:4] = struct.pack("i", gate)

    def wait(self):
        self.wait_for(lambda: struct.unpack("i", self.map[4:8])[0], "the work to come to the gate")

    def put_ahead(self, seconds):
        """As if so much time had passed until now."""
        self.map[8:16] = struct.pack("q", seconds)

    def open_later(self, ahead_s):
        self.put_ahead(ahead_s)
        self.shut(OPEN)
