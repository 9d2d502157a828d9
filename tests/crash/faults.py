"""The test's end of the fault injector (fault.c): which calls of which process of a daemon fail, and how."""
import errno, mmap, struct

import pytest
from drill import BUILD, SANITIZED

FAULT = BUILD / "crash" / "fault.so"
CALLS = ["open", "socket", "socketpair", "accept4", "pipe2", "memfd_create", "mmap", "fork", "epoll_ctl", "write", "sendmsg", "inotify",
         "splice", "ftruncate", "dup", "recvmsg", "read", "alloc", "pidfd_open", "openpt", "events", "fsync", "rename", "mkdir", "fallocate",
         "thread", "cut", "ioctl"]
BY_PID, WORKERS, KEEPERS = range(3)
NOT_OVER = 1 << 30

needs_faults = pytest.mark.skipif(not FAULT.exists(), reason=f"'{FAULT}' was not built")


def can_fail(call):
    """A sanitizer brings its own allocator, which the injector does not see."""
    return not (SANITIZED and call == "alloc")


def check_hits(hits, rare):
    """A sweep that hit nothing has shown nothing: that is a failure, or where this kernel and library need not make such a call, a skip."""
    if not hits:
        (pytest.skip if rare else pytest.fail)("no such call was made: nothing was hit")


class Fault:
    """Eight 32-bit numbers and a 64-bit mask in a file that both map."""

    def __init__(self, directory):
        self.path = directory / "fault"
        self.path.write_bytes(bytes(4096))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)
        self.env = {"LD_PRELOAD": str(FAULT), "MUXD_FAULT": str(self.path)}

    def arm(self, calls, nth, error, pid=0, whom=BY_PID, always=0):
        mask = sum(1 << CALLS.index(call) for call in calls)
        self.map[:32] = struct.pack("8i", pid, whom, 0, getattr(errno, error), nth, 0, 0, always)
        self.map[32:40] = struct.pack("Q", mask)

    def hits(self):
        return struct.unpack("i", self.map[20:24])[0]

    def seen(self):
        return struct.unpack("i", self.map[24:28])[0]

    def disarm(self):
        """How often it hit; from here on nothing fails."""
        self.map[32:40] = bytes(8)
        return self.hits()
