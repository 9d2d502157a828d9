"""The animals of the zoo: for each program how it is started, a line that it answers at once and one that takes its time, and what the answer
must have by the time the program is ready. {n}, {m}, {k} and {b} in a line or an answer are a number, its successor, the number plus 1000001 and
the last line of a screen that begins with line {n};
{home}, {port} and {socket} stand for places that are the zoo's own."""
import dataclasses, subprocess


@dataclasses.dataclass(frozen=True)
class Animal:
    label: str
    argv: tuple
    fast: str
    slow: str | None  # None: it has nothing that takes long
    want: str
    slow_want: str = ""  # where it is another than that of the fast line
    setup: tuple = ()  # lines typed before
    keys: bool = False  # full-screen: what is typed are keys; ready when it has drawn what they bring and sleeps until the next one
    claimed: bool = True  # False: the kernel can't tell; an answer that goes by silence may be early, and is only counted
    needs: tuple = ()  # programs beside argv[0]
    server: str = ""  # of servers.py
    env: tuple = ()  # names and values
    tried: tuple = ()  # a command that must succeed where this can be had at all


BASH = ("/bin/bash", "--norc", "--noprofile", "-i")
PYTHON = ("/usr/bin/python3", "-q")
SHELL_FAST, SHELL_SLOW = "echo a$(({n}+1))z", "sleep 0.3; echo a$(({n}+1))z"
PYTHON_FAST, PYTHON_SLOW = "'a%dz' % ({n}+1)", "import time; time.sleep(0.3); 'a%dz' % ({n}+1)"
# Woken by ^C a reader stands in its read for a moment still.
INTERRUPTED = """
import getpass, itertools
for n in itertools.count(5000):
    try:
        getpass.getpass("")
    except KeyboardInterrupt:
        print(f"a{n}z")
"""
# As apt asks: a line without an end, a plain read, then progress on one line.
YES_NO = r"""
while read -r -p 'Do you want to continue? [Y/n] ' answer; do
    case $answer in y*) for part in 1 2 3; do printf '\rUnpacking: %s/3' $part; sleep 0.1; done; echo ;; esac
    echo "a${answer#y}z"
done
"""
DIALOG = r"""
while answer=$(dialog --stdout --inputbox "got a${answer}z" 8 40); do
    case $answer in *s) sleep 0.3 ;; esac
done
"""
# Passwords that are asked for, never given: ^C, or a wrong one, after which they make their user wait.
SU = "trap 'stty echo' INT; while :; do su root -c true; done"  # bash -c leaves the modes to us
SUDO = "trap : INT; while :; do sudo -k true; done"
SSH = ("ssh", "-F", "none", "-tt", "-i", "{home}/../ssh.key", "-p", "{port}", "-o", "StrictHostKeyChecking=no", "-o",
       "UserKnownHostsFile={home}/../known", "-o", "LogLevel=ERROR", "127.0.0.1", "exec /bin/bash --norc --noprofile -i")

SHELLS = [
    Animal("bash", BASH, SHELL_FAST, SHELL_SLOW, "a{m}z"),
    Animal("bash, program", BASH, "/bin/echo a{n}''z", "/bin/sleep 0.2; /bin/echo a{n}''z", "a{n}z"),
    Animal("bash, print-pause", BASH, "printf .; printf .; echo a{n}''z", "printf .; sleep 0.2; printf .; sleep 0.2; echo a{n}''z", "a{n}z"),
    Animal("bash, pipe", BASH, "echo a{n}''z | cat | cat", "(sleep 0.3; echo a{n}''z) | cat", "a{n}z"),
    Animal("dash", ("dash", "-i"), SHELL_FAST, SHELL_SLOW, "a{m}z"),
    Animal("zsh", ("zsh", "-f", "-i"), SHELL_FAST, SHELL_SLOW, "a{m}z"),
    Animal("fish", ("fish", "--no-config", "--private", "-i"), "echo a(math {n}+1)z", "sleep 0.3; echo a(math {n}+1)z", "a{m}z"),
    Animal("busybox sh", ("busybox", "sh", "-i"), SHELL_FAST, SHELL_SLOW, "a{m}z"),
    Animal("unshare -r, bash", ("unshare", "-r", *BASH), SHELL_FAST, SHELL_SLOW, "a{m}z", tried=("unshare", "-r", "true")),
    Animal("unshare -rpf, dash", ("unshare", "-rpf", "--mount-proc", "dash", "-i"), SHELL_FAST, SHELL_SLOW, "a{m}z", needs=("dash",),
           tried=("unshare", "-rpf", "--mount-proc", "true")),
    Animal("ssh, bash", SSH, SHELL_FAST, SHELL_SLOW, "a{m}z", claimed=False, server="sshd"),
]
REPLS = [
    Animal("python3", PYTHON, PYTHON_FAST, PYTHON_SLOW, "a{m}z"),
    Animal("python3, dumb", PYTHON, PYTHON_FAST, PYTHON_SLOW, "a{m}z", env=(("TERM", "dumb"),)),
    Animal("python3, block", PYTHON, "for i in range(2): print('a%dz' % (i+{n}))\n\n",
           "import time\nfor i in range(2): time.sleep(0.2); print('a%dz' % (i+{n}))\n\n", "a{m}z"),
    Animal("python3 in a shell", ("/bin/bash", "-c", "/usr/bin/python3 -q; echo done"), PYTHON_FAST, PYTHON_SLOW, "a{m}z"),
    Animal("python3, socket", PYTHON, "later(b'a' + b'{n}z', 0.001); a.recv(99)", "later(b'a' + b'{n}z', 0.3); a.recv(99)", "a{n}z",
           setup=("import socket, threading; a, b = socket.socketpair()", "later = lambda s, t: threading.Timer(t, b.send, [s]).start()")),
    Animal("python3, ^C", ("/usr/bin/python3", "-c", INTERRUPTED), "\x03", None, "a{n}z"),
    Animal("ipython3", ("/usr/bin/ipython3", "--simple-prompt", "--no-banner", "--no-confirm-exit"), PYTHON_FAST, PYTHON_SLOW, "a{m}z"),
    Animal("ipython3, full", ("/usr/bin/ipython3", "--no-banner", "--no-confirm-exit"), PYTHON_FAST + "\r", PYTHON_SLOW + "\r", "a{m}z"),
    Animal("node", ("node",), "'a' + ({n}+1) + 'z'", None, "a{m}z", claimed=False),
    Animal("node, await", ("node",), "await new Promise(r => setTimeout(r, 1)), 'a' + ({n}+1) + 'z'",
           "await new Promise(r => { setTimeout(() => console.log('begun'), 200); setTimeout(r, 600) }), 'a' + ({n}+1) + 'z'", "a{m}z", claimed=False),
    Animal("irb", ("irb", "-f", "--nocolorize", "--noautocomplete"), "'a' + ({n}+1).to_s + 'z'", "sleep 0.3; 'a' + ({n}+1).to_s + 'z'", "a{m}z"),
    Animal("lua", ("lua",), "'a' .. ({n}+1) .. 'z'", "os.execute('sleep 0.3'); print('a' .. ({n}+1) .. 'z')", "a{m}z"),
    Animal("guile", ("guile", "-q"), "(format #f \"a~az\" (+ {n} 1))", "(begin (usleep 300000) (format #f \"a~az\" (+ {n} 1)))", "a{m}z",
           env=(("GUILE_AUTO_COMPILE", "0"),)),
    Animal("ocaml", ("ocaml", "-noinit"), "Printf.sprintf \"a%dz\" ({n}+1);;", "ignore (Sys.command \"sleep 0.3\"); Printf.sprintf \"a%dz\" ({n}+1);;", "a{m}z"),
    Animal("ghci", ("ghci", "-ignore-dot-ghci", "-v0"), "'a' : show ({n}+1) ++ \"z\"",
           "Control.Concurrent.threadDelay 300000 >> putStrLn ('a' : show ({n}+1) ++ \"z\")", "a{m}z"),
    Animal("octave-cli", ("octave-cli", "-q", "--no-history", "--no-init-file"), "{n}+1000001", "pause(0.3); {n}+1000001", "ans = {k}"),
    Animal("R", ("R", "--vanilla", "--quiet"), "paste0('a', {n}+1, 'z')", "Sys.sleep(0.3); paste0('a', {n}+1, 'z')", "a{m}z"),
    Animal("gnuplot", ("gnuplot",), "print sprintf('a%dz', {n}+1)", "pause 0.3; print sprintf('a%dz', {n}+1)", "a{m}z"),
    Animal("tclsh", ("tclsh",), "expr {n}+1000001", "after 300; expr {n}+1000001", "{k}"),
    Animal("bc", ("bc", "-q"), "{n}+1000001", "x = {n}; for (i = 0; i < 250000; i++) x = x + 1; x - 250000 + 1000001", "{k}"),
    Animal("dc", ("dc",), "{n} 1000001 + p", "!sleep 0.3; true\n{n} 1000001 + p", "{k}"),
    Animal("gdb", ("gdb", "-q", "-nx"), "printf \"a%dz\\n\", {n}+1", "shell sleep 0.3; echo a$(({n}+1))z", "a{m}z"),
    Animal("perl -d", ("perl", "-de0"), "print 'a', {n}+1, \"z\\n\"", "select undef, undef, undef, 0.3; print 'a', {n}+1, \"z\\n\"", "a{m}z"),
]
CLIENTS = [
    Animal("sqlite3", ("sqlite3",), "select 'a' || ({n}+1) || 'z';",
           "with recursive c(x) as (select 1 union all select x+1 from c limit 700000) select 'a' || ({n}+1) || 'z' || substr(max(x), 1, 0) from c;", "a{m}z"),
    Animal("psql", ("psql", "-X", "-q", "-d", "postgres"), "select 'a' || ({n}+1) || 'z';", "select pg_sleep(0.3); select 'a' || ({n}+1) || 'z';", "a{m}z",
           server="postgres", env=(("PGHOST", "{socket}"),)),
    Animal("mariadb", ("mariadb", "--no-defaults", "-S", "{socket}"), "select concat('a', {n}+1, 'z');",
           "select sleep(0.3), concat('a', {n}+1, 'z');", "a{m}z", server="mariadb"),
    Animal("redis-cli", ("redis-cli", "-s", "{socket}"), "eval \"return 'a'..({n}+1)..'z'\" 0\r", "blpop nothing{n} 0.3\r", "a{m}z", slow_want="(nil)",
           server="redis"),
    Animal("telnet", ("telnet", "127.0.0.1", "{port}"), "{n}", "slow {n}", "a{n}z", claimed=False, server="parrot"),
    Animal("openssl s_client", ("openssl", "s_client", "-quiet", "-connect", "127.0.0.1:{port}"), "{n}", "slow {n}", "a{n}z", claimed=False,
           server="tls parrot"),
]
QUESTIONS = [
    Animal("cat", ("cat",), "a{n}z", None, "a{n}z\r\na{n}z"),
    Animal("read -s", ("/bin/bash", "-c", "while read -s x; do echo \"a${x}z\"; done"), "{n}", None, "a{n}z"),
    Animal("yes or no", ("/bin/bash", "-c", YES_NO), "{n}", "y{n}", "a{n}z\r\nDo you want to continue? [Y/n] "),
    Animal("su", ("/bin/bash", "-c", SU), "\x03", "wrong", "assword: ", claimed=False, needs=("su",)),
    Animal("sudo", ("/bin/bash", "-c", SUDO), "\x03", "wrong", "assword", claimed=False, needs=("sudo",)),
]
SCREENS = [
    Animal("dialog", ("/bin/bash", "-c", DIALOG), "{n}\r", "{n}s\r", "got a{n}z", slow_want="got a{n}sz", keys=True, needs=("dialog",)),
    Animal("less", ("/bin/bash", "-c", "seq -f a%.0fz 1 20000 >lines; exec less lines"), "{n}g", "!sleep 0.3; echo a$(({n}+1))z\n", "a{b}z\r\n:", slow_want="a{m}z",
           keys=True, needs=("less",)),
    Animal("vim", ("vim", "-u", "NONE", "-i", "NONE", "-N", "-n"), ":echo 'a' . ({n}+1) . 'z'\r", ":sleep 300m | echo 'a' . ({n}+1) . 'z'\r", "a{m}z", keys=True),
    Animal("fzf", ("/bin/bash", "-c", "seq -f a%.0fz 1 20000 | exec fzf --exact"), "\x15{n}", None, "a{n}z", keys=True, claimed=False, needs=("fzf",)),
]
ZOO = SHELLS + REPLS + CLIENTS + QUESTIONS + SCREENS


def can_be_had(animal):
    """Of what takes more than programs: whether the machine lets an ordinary user have it."""
    return not animal.tried or subprocess.run(animal.tried, capture_output=True).returncode == 0
