"""Attacks, each with its outcome: what a program in a sandbox may try, and what a command may try that a rule forbids. How a person's yes may
be come by: test_approvals.py; races: test_sandbox.py and test_patch_apply.c."""
import json, os, platform, re, socket, sys
from pathlib import Path

import pytest
from test_sandbox import BACKENDS, PROTECTED, Work, make_git

ATTACKS = Path(__file__).with_name("sandbox_attacks.py")

# refused: by one of the errors below. filtered: by the filter of system calls, whatever the kernel and its file systems know. own: it gets one
# that nobody else has. done: it may. perhaps: one of its own, unless Landlock stands behind the mounts. any: the file system may not know it.
INSIDE = """
                                       bubblewrap  landlock
write outside                          refused     refused
make outside                           refused     refused
remove outside                         refused     refused
rename outside                         refused     refused
truncate outside                       refused     refused
truncate by reading                    refused     refused
nameless file outside                  refused     refused
exchange with outside                  refused     refused
device                                 refused     refused
chmod outside                          refused     refused
utime outside                          refused     refused
xattr outside                          refused     refused
link from outside                      refused     refused
link through symlink                   refused     refused
through /proc/1/root                   refused     refused
through the root of another process    refused     refused
through /proc/self/fd                  refused     refused
named pipe                             refused     refused
named pipe both ways                   refused     refused
named pipe through /proc/self/fd       refused     refused
named pipe through /proc/self/root     refused     refused
named pipe by a link                   refused     refused
file through /proc/self/mem            refused     refused
kernel setting                         refused     refused
memory of another process              refused     refused
git hook                               refused     refused
git config                             refused     refused
git module's hook                      refused     refused
write .gitmodules                      done        refused
move .git away                         refused     refused
make .muxd                             refused     refused
write in .muxd                         refused     refused
make .codex a link                     refused     refused
write here                             done        refused
move here                              done        refused
pipe here                              done        refused
own terminal by name                   done        done
bind mount                             filtered    filtered
mount by descriptors                   filtered    filtered
tree by descriptor                     filtered    filtered
user name space                        filtered    filtered
clone into a user name space           filtered    filtered
mount name space                       refused     refused
ipv4                                   filtered    filtered
ipv4 datagram                          filtered    filtered
dns                                    filtered    filtered
ipv6                                   filtered    filtered
netlink                                filtered    filtered
vsock                                  filtered    filtered
packet                                 filtered    filtered
abstract socket                        filtered    filtered
the daemon's socket                    filtered    filtered
datagram                               filtered    filtered
datagram pair                          filtered    filtered
raw pair                               filtered    filtered
write in the daemon's state            refused     refused
journals of the keeper                 refused     refused
io_uring                               filtered    filtered
keyctl                                 filtered    filtered
ptrace                                 filtered    filtered
ptrace of a child                      filtered    filtered
read memory                            filtered    filtered
take a descriptor                      filtered    filtered
take the keeper's descriptor           refused     refused
signal by descriptor                   refused     refused
signal the daemon                      refused     refused
stop the daemon                        refused     refused
type into the terminal                 filtered    filtered
paste into a console                   filtered    filtered
type with high bits                    filtered    filtered
shed the mark                          filtered    filtered
limits of another process              refused     filtered
priority of another process            refused     filtered
i/o priority of another process        refused     filtered
processor of another process           refused     filtered
scheduler of another process           refused     filtered
shared memory                          own         filtered
semaphores                             own         filtered
messages                               own         filtered
message queue                          perhaps     filtered
btrfs                                  any         filtered
verity                                 any         filtered
set-uid                                refused     refused
"""
REFUSED = {"EPERM", "EROFS", "EACCES", "ENOENT", "ENOSYS", "EXDEV", "ESRCH", "EAFNOSUPPORT", "EBUSY", "ECONNREFUSED", "EEXIST", "ENOTEMPTY", "ENOTSUP", "EIO", "EINVAL"}
IS = {"refused": REFUSED.__contains__, "filtered": {"EPERM"}.__contains__, "own": {"done"}.__contains__, "done": {"done"}.__contains__, "perhaps": {"done", "EACCES"}.__contains__,
      "any": lambda outcome: outcome != "done"}


def landlock_abi(mux):
    return int((re.search(r"Landlock ABI (\d+)", mux.js("status")["sandboxes"]) or [0, 0])[1])


def expected(backend):
    """{attack: outcome}"""
    head, *rows = INSIDE.strip().splitlines()
    column = 1 + head.split().index(backend)
    return {name.strip(): outcomes.split()[column - 1] for name, outcomes in ((row[:39], row[39:]) for row in rows)}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of the calls are those of x86-64")
@BACKENDS
def test_attacks_from_inside(mux, backend):
    work = Work(mux, backend)
    make_git(work.dir)
    outside, pipe = mux.dir / "outside", mux.dir / "pipe"
    outside.write_text("safe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    before = outside.stat()
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)):
        abstract.bind(f"\0muxd-test-{mux.socket}")
        abstract.listen()
        keeper = mux.js("status")["keeper_pid"]
        answer = work.exec("--exit", "--max-tokens", "100000", "--argv", "--", sys.executable, str(ATTACKS), str(outside), str(pipe), str(mux.socket),
                           str(mux.state), str(keeper), tty=True)
    outcomes = json.loads(answer.json["output"][answer.json["output"].index("{"):])  # behind what it wrote to its terminal by name
    assert outcomes.pop("descriptors left") == [] and outcomes.pop("no_new_privs") and outcomes.pop("capabilities")
    table, closed = expected(backend), landlock_abi(mux) >= 2
    assert outcomes.keys() == table.keys()
    if not closed:
        outcomes = {name: outcome for name, outcome in outcomes.items() if not name.startswith("named pipe")}
    assert not {name: (outcome, table[name]) for name, outcome in outcomes.items() if not IS[table[name]](outcome)}
    after = outside.stat()
    assert outside.read_text() == "safe" and (after.st_mode, after.st_nlink, after.st_mtime_ns) == (before.st_mode, before.st_nlink, before.st_mtime_ns)
    if closed:
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
    os.close(reader)
    assert (work.dir / ".git/config").read_text() == "[core]\n" and os.listdir(work.dir / ".git/hooks") == []
    assert not any((work.dir / name).exists() for name in PROTECTED[1:])


REACH = """
import os, socket, sys
def reach(family, address):
    try:
        socket.socket(family).connect(address)
        return "done"
    except OSError as e:
        return os.strerror(e.errno)
print(reach(socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))), reach(socket.AF_UNIX, "\\0" + sys.argv[2]), sep=",")
"""


@pytest.mark.no_pty
def test_a_network_has_no_abstract_sockets_of_others(mux):
    work, name = Work(mux), f"muxd-test-{mux.socket}"
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as server:
        abstract.bind("\0" + name)
        abstract.listen()
        reached = work.run(sys.executable, "-c", REACH, server.getsockname()[1], name, options=["--network"])
    assert reached.answer["output"] == f"done,{'Operation not permitted' if landlock_abi(mux) >= 6 else 'done'}\n", reached


RULES = """
[rule push]
prefix = git push
decision = forbidden

[rule make]
prefix = make

[rule status]
prefix = git status
host_executable = /usr/bin/git

[rule shell]
prefix = bash
"""
# (attack, script, what the rules say). none: nothing, so that the policy decides, which knows no such command to be safe. What a program makes of
# its own input no rule can see: that is what the sandbox is for.
COMMANDS = [
    ("nothing", "git push", "forbidden"),
    ("path", "/tmp/x/git push", "forbidden"),
    ("path of here", "./git push", "forbidden"),
    ("path with ..", "/usr/lib/../bin/git push", "forbidden"),
    ("path through a link", "/proc/self/root/usr/bin/git push", "forbidden"),
    ("cd", "cd /usr/bin && ./git push", "forbidden"),
    ("here-string", "bash <<<'git push'", "forbidden"),
    ("here-document", "bash <<E\ngit push\nE", "forbidden"),
    ("here-document that expands", "cat <<E\n$(git push)\nE", "forbidden"),
    ("assignment", "GIT_DIR=/x git push", "forbidden"),
    ("quotes in words", "g'i't p\"us\"h", "forbidden"),
    ("backslash", "g\\it pu\\sh", "forbidden"),
    ("backslash at the end of a line", "git pu\\\nsh", "forbidden"),
    ("quote with escapes", "$'\\x67it' push", "forbidden"),
    ("$IFS", "git${IFS}push", "forbidden"),
    ("$IFS and quotes", "git$IFS'push'", "forbidden"),
    ("newline in quotes", "echo 'a\n'; git push", "forbidden"),
    ("comment behind", "git push # or not", "forbidden"),
    ("comment in front", "# nothing\ngit push", "forbidden"),
    ("comment that is none", "echo a#b; git push", "forbidden"),
    ("env -S", "env -S 'git push'", "forbidden"),
    ("env -S without a blank", "env -S'git push'", "forbidden"),
    ("xargs", "xargs git push </dev/null", "forbidden"),
    ("xargs that reads the rest", "echo push | xargs git", "none"),
    ("alias", "alias g='git push'; g", "forbidden"),
    ("function", "f() { git push; }; f", "forbidden"),
    ("function that takes the rest", "g() { git \"$@\"; }; g push", "none"),
    ("variable", "x=push; git $x", "none"),
    ("rule for an interpreter", "bash -c 'git push'", "forbidden"),
    ("rule for an interpreter, twice", "bash -c \"bash -c 'git push'\"", "forbidden"),
    ("interpreter without a rule", "python3 -c 'import os; os.system(\"git push\")'", "none"),
    ("letter of another script", "g\u0456t push", "none"),
    ("wide letters", "\uff47\uff49\uff54 push", "none"),
    ("blank of another script", "git\u00a0push", "none"),
    ("what is allowed", "make", "allow"),
    ("by a path of here", "./make", "none"),
    ("path that is not listed", "/tmp/x/git status", "none"),
    ("path that is listed", "/usr/bin/git status", "allow"),
    ("listed path with ..", "/usr/bin/../../tmp/x/git status", "none"),
    ("behind what is allowed", "make; touch x", "none"),
    ("in what is allowed", "make $(touch x)", "none"),
    ("forbidden in what is allowed", "make $(git push)", "forbidden"),
    ("redirected", "make >/etc/passwd", "none"),
    ("in the background", "make & touch x", "none"),
    ("another line", "make\ntouch x", "none"),
    ("another line after a carriage return", "make \r\ntouch x", "none"),
    ("carriage return", "make\rtouch", "none"),
    ("blank of another script behind", "make\u2003x", "none"),
    ("path of programs in front", "PATH=/tmp/x make", "none"),
    ("path of programs before", "export PATH=/tmp/x; make", "none"),
    ("function of that name", "make() { touch x; }; make", "none"),
    ("alias of that name", "alias make=touch; make", "none"),
    ("through eval", "eval make", "none"),
    ("bidi", "make \u202ex", "allow"),  # what runs is make: how it is shown is the question's business
]


@pytest.mark.no_pty
def test_commands_that_a_rule_is_about(mux):
    mux.configure(RULES)
    rpc = mux.rpc()
    numbers = [rpc.send("check_policy", {"cmd": script, "shell": "/bin/bash"}) for _, script, _ in COMMANDS]
    told = {name: rpc.result(number)["decision"] for (name, _, _), number in zip(COMMANDS, numbers)}
    assert {name: said for name, _, said in COMMANDS if told[name] != said} == {}, told
