"""What a program in a sandbox may try. Run inside one: `sandbox_attacks.py OUTSIDE PIPE SOCKET STATE PID`, a file and a named pipe outside, and
the daemon's socket, state and keeper; prints one line of JSON, {name: outcome}, each outcome being the name of the errno, or "done"."""
import ctypes, errno, fcntl, json, os, socket, stat, struct, subprocess, sys, termios

outside, pipe, sock, state, victim = *sys.argv[1:5], int(sys.argv[5])
libc = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_NS = 0x10000000, 0x00020000
IO_URING_SETUP, PIDFD_OPEN, PIDFD_GETFD, PIDFD_SEND_SIGNAL, KEYCTL, PROCESS_VM_READV = 425, 434, 438, 424, 250, 310
FSOPEN, OPEN_TREE, RENAMEAT2 = 430, 428, 316
outcomes = {}
inherited = [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2 and os.path.exists(f"/proc/self/fd/{fd}")]


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def call(number, *args):
    return checked(libc.syscall(ctypes.c_long(number), *args))


def attack(name):
    def run(function):
        try:
            function()
            outcomes[name] = "done"
        except OSError as e:
            outcomes[name] = errno.errorcode.get(e.errno, str(e.errno))
    return run


def write(path):
    with open(path, "a") as file:
        file.write("x")


def write_pipe(path, how=os.O_WRONLY):
    os.write(os.open(path, how | os.O_NONBLOCK), b"x")


def write_memory_of(path):
    """Through the place where the file, which can only be read, is mapped."""
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, 4096, 1, 1, os.open(path, os.O_RDONLY), 0)
    with open("/proc/self/mem", "r+b", 0) as memory:
        memory.seek(place)
        memory.write(b"evil")


attack("write outside")(lambda: write(outside))
attack("make outside")(lambda: os.mkdir(outside + ".dir"))
attack("remove outside")(lambda: os.unlink(outside))
attack("rename outside")(lambda: os.rename(outside, outside + ".new"))
attack("truncate outside")(lambda: os.truncate(outside, 0))
attack("truncate by reading")(lambda: os.open(outside, os.O_RDONLY | os.O_TRUNC))
attack("nameless file outside")(lambda: os.open(os.path.dirname(outside), os.O_RDWR | os.O_TMPFILE))
attack("exchange with outside")(lambda: (write("mine"), call(RENAMEAT2, -100, b"mine", -100, outside.encode(), 2)))
attack("device")(lambda: os.mknod("device", stat.S_IFCHR | 0o600, os.makedev(1, 1)))
attack("chmod outside")(lambda: os.chmod(outside, 0o777))
attack("utime outside")(lambda: os.utime(outside, (1, 1)))
attack("xattr outside")(lambda: os.setxattr(outside, "user.x", b"y"))
attack("link from outside")(lambda: (os.link(outside, "hard"), write("hard")))
attack("link through symlink")(lambda: (os.symlink(outside, "soft"), write("soft")))
attack("through /proc/1/root")(lambda: write("/proc/1/root" + outside))
attack("through the root of another process")(lambda: write(f"/proc/{victim}/root{outside}"))
attack("through /proc/self/fd")(lambda: write(f"/proc/self/fd/{os.open(outside, os.O_RDONLY)}"))
attack("named pipe")(lambda: write_pipe(pipe))
attack("named pipe both ways")(lambda: write_pipe(pipe, os.O_RDWR))
attack("named pipe through /proc/self/fd")(lambda: write_pipe(f"/proc/self/fd/{os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)}"))
attack("named pipe through /proc/self/root")(lambda: write_pipe("/proc/self/root" + pipe))
attack("named pipe by a link")(lambda: (os.symlink(pipe, "pipe"), write_pipe("pipe")))
attack("file through /proc/self/mem")(lambda: write_memory_of(outside))
attack("kernel setting")(lambda: write("/proc/sys/kernel/core_pattern"))
attack("memory of another process")(lambda: write(f"/proc/{victim}/mem"))
attack("git hook")(lambda: write(".git/hooks/pre-commit"))
attack("git config")(lambda: write(".git/config"))
attack("git module's hook")(lambda: (os.makedirs(".git/modules/m/hooks"), write(".git/modules/m/hooks/post-checkout")))
attack("write .gitmodules")(lambda: write(".gitmodules"))
attack("move .git away")(lambda: os.rename(".git", "away"))
attack("make .muxd")(lambda: os.mkdir(".muxd"))
attack("write in .muxd")(lambda: write(".muxd/x"))
attack("make .codex a link")(lambda: (os.rmdir(".codex"), os.symlink("/", ".codex")))
attack("write here")(lambda: write("here"))
attack("move here")(lambda: (os.makedirs("from/a"), os.mkdir("to"), write("from/a/f"), os.rename("from/a", "to/a"), os.link("to/a/f", "from/f")))
attack("pipe here")(lambda: (os.mkfifo("fifo"), write_pipe("fifo", os.O_RDWR)))
attack("own terminal by name")(lambda: (write("/dev/tty"), write("/proc/self/fd/1")))
attack("bind mount")(lambda: checked(libc.mount(b"/", b"/mnt", None, 4096, None)))
attack("mount by descriptors")(lambda: call(FSOPEN, b"tmpfs", 0))
attack("tree by descriptor")(lambda: call(OPEN_TREE, -100, b"/", 1))
attack("user name space")(lambda: checked(libc.unshare(NEW_USER)))
attack("clone into a user name space")(lambda: call(56, NEW_USER | 17, 0, 0, 0, 0) or os._exit(0))
attack("mount name space")(lambda: checked(libc.unshare(NEW_NS)))
attack("ipv4")(lambda: socket.create_connection(("127.0.0.1", 9), 5))
attack("ipv4 datagram")(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
attack("dns")(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.53", 53)))
attack("ipv6")(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
attack("netlink")(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attack("vsock")(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attack("packet")(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attack("abstract socket")(lambda: socket.socket(socket.AF_UNIX).connect("\0muxd-test-" + sock))
attack("the daemon's socket")(lambda: socket.socket(socket.AF_UNIX).connect(sock))
attack("write in the daemon's state")(lambda: write(state + "/muxd/x"))
attack("journals of the keeper")(lambda: os.listdir(f"/proc/{victim}/fd"))
attack("io_uring")(lambda: call(IO_URING_SETUP, 4, ctypes.create_string_buffer(256)))
attack("keyctl")(lambda: call(KEYCTL, 0, -3, 0))
attack("ptrace")(lambda: call(101, 16, victim, 0, 0))
attack("ptrace of a child")(lambda: call(101, 16, os.getppid(), 0, 0))
attack("read memory")(lambda: call(PROCESS_VM_READV, victim, 0, 0, 0, 0, 0))
attack("take a descriptor")(lambda: call(PIDFD_GETFD, call(PIDFD_OPEN, os.getpid(), 0), 0, 0))
attack("take the keeper's descriptor")(lambda: call(PIDFD_GETFD, call(PIDFD_OPEN, victim, 0), 0, 0))
attack("signal by descriptor")(lambda: call(PIDFD_SEND_SIGNAL, call(PIDFD_OPEN, victim, 0), 0, 0, 0))
attack("signal the daemon")(lambda: os.kill(victim, 0))
attack("stop the daemon")(lambda: os.kill(victim, 19))
attack("type into the terminal")(lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"))
attack("paste into a console")(lambda: fcntl.ioctl(0, termios.TIOCLINUX, b"\x03"))
attack("type with high bits")(lambda: call(16, 0, ctypes.c_ulong(0x100000000 | termios.TIOCSTI), b"x"))
attack("shed the mark")(lambda: call(302, 0, 10, struct.pack("QQ", 5, 5), 0))
attack("limits of another process")(lambda: call(302, victim, 7, struct.pack("QQ", 64, 64), 0))
attack("priority of another process")(lambda: call(141, 0, victim, 5))
attack("i/o priority of another process")(lambda: call(251, 1, victim, 2 << 13 | 7))
attack("processor of another process")(lambda: os.sched_setaffinity(victim, os.sched_getaffinity(0)))
attack("scheduler of another process")(lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)))
attack("shared memory")(lambda: call(29, 0, 4096, 0o1600))
attack("semaphores")(lambda: call(64, 0, 1, 0o1600))
attack("messages")(lambda: call(68, 0, 0o1600))
attack("message queue")(lambda: call(240, b"muxd-test", os.O_CREAT | os.O_RDWR, 0o600, 0) and None)
attack("btrfs")(lambda: fcntl.ioctl(os.open(".", os.O_RDONLY), 0x5000940E, bytes(8)))
attack("verity")(lambda: fcntl.ioctl(os.open(outside, os.O_RDONLY), 0x40806685, bytes(128)))
attack("datagram")(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "/dev/log"))
attack("datagram pair")(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendmsg([b"x"]))
attack("raw pair")(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW))
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
socket.socketpair()
left = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd in inherited and os.path.exists(f"/proc/self/fd/{fd}")]
outcomes["descriptors left"] = [name for name in left if "/fd" not in name and name != os.path.abspath(outside)]
sudo = subprocess.run(["su", "-c", "id"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
outcomes["set-uid"] = "done" if "uid=0" in sudo.stdout else "EPERM"
status = open("/proc/self/status").read()
outcomes["no_new_privs"] = "NoNewPrivs:\t1" in status
outcomes["capabilities"] = "CapEff:\t0000000000000000" in status
print(json.dumps(outcomes))
