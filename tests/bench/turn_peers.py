"""A helper of bench-turns: turn_peers.py WHICH python|bash|sqlite3. For each line it gets, one command and its output at a prompt, by a
program that is started for it, or by another's; answers the nanoseconds. Each command is another one, so that no old output counts."""
import re, shutil, subprocess, sys, tempfile, time

from turn_repl import PROGRAMS

EXPECT = r"""
log_user 0
set timeout 60
spawn -noecho {*}[lrange $argv 2 end]
expect -ex [lindex $argv 0]
while {[gets stdin line] >= 0} {
    send -- "$line\r"
    expect {
        -ex [lindex $argv 0] { puts $expect_out(buffer); puts "." }
        timeout { exit 1 }
    }
    flush stdout
}
"""


class Expect:
    """expect(1), which reads its commands from us: one line each, and its answers end with a dot."""
    def __init__(self, argv, prompt):
        self.script = tempfile.NamedTemporaryFile("w", suffix=".exp")
        self.script.write(EXPECT)
        self.script.flush()
        self.process = subprocess.Popen(["expect", "-f", self.script.name, "--", prompt, "-", *argv], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        lines = list(iter(lambda: self.process.stdout.readline() or sys.exit("expect has ended"), ".\n"))
        return "".join(lines)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ue:
    """`ue run`, a process for each command."""
    def __init__(self, argv, prompt):
        del prompt
        subprocess.run(["ue", "exec", "-t", "-n", "peer", "--ready", "-y", "60000", "--argv", "--", *argv], check=True, stdout=subprocess.DEVNULL)
        self.run("")

    def run(self, text):
        return subprocess.run(["ue", "run", "-y", "60000", "peer", text], check=True, stdout=subprocess.PIPE, text=True).stdout

    def close(self):
        subprocess.run(["ue", "kill", "peer"], stdout=subprocess.DEVNULL)
        subprocess.run(["ue", "rm", "peer"], stdout=subprocess.DEVNULL)


class Tmux:
    """A server of its own. send-keys types, capture-pane is asked until the prompt stands below the command's output."""
    def __init__(self, argv, prompt):
        self.dir, self.prompt = tempfile.mkdtemp(prefix="mx"), prompt
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "peer", "-x", "80", "-y", "24", *argv)
        self.shown(lambda shown: shown.endswith(prompt.rstrip()))  # what is typed earlier may be lost

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", f"{self.dir}/s", *args], check=True, stdout=subprocess.PIPE, text=True).stdout

    def run(self, text):
        self.tmux("send-keys", "-t", "peer", "-l", text.replace(";", r"\;"))  # a ; at the end of a word is tmux's own
        self.tmux("send-keys", "-t", "peer", "Enter")
        return self.shown(lambda shown: text + "\n" in shown and shown.rpartition(text + "\n")[2].endswith("\n" + self.prompt.rstrip()))

    def shown(self, enough):
        """The screen, asked for until it is enough."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            shown = self.tmux("capture-pane", "-p", "-t", "peer").rstrip()
            if enough(shown):
                return shown
        return sys.exit("tmux: no prompt")

    def close(self):
        self.tmux("kill-server")
        shutil.rmtree(self.dir)


class Control(Tmux):
    """The same by a client in control mode, which is told of output as it comes."""
    def __init__(self, argv, prompt):
        super().__init__(argv, prompt)
        self.client = subprocess.Popen(["tmux", "-S", f"{self.dir}/s", "-C", "attach", "-t", "peer"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)

    def run(self, text):
        quoted = text.replace("'", r"'\''")
        self.client.stdin.write(f"send-keys -l '{quoted}' ; send-keys Enter\n")
        self.client.stdin.flush()
        seen = ""
        for line in self.client.stdout:
            if line.startswith("%output"):
                seen += re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line.split(" ", 2)[2].rstrip("\n"))
                _, typed, output = seen.rpartition(text + "\r\n")
                if typed and output.endswith(self.prompt):
                    return output
        return sys.exit("tmux has ended")

    def close(self):
        super().close()
        self.client.communicate()


def main():
    which, what = sys.argv[1:3]
    argv, prompt, _, _ = PROGRAMS[what]
    peer = {"ue-run": Ue, "expect": Expect, "tmux": Tmux, "tmux-control": Control}[which](argv, prompt)
    for number, _ in enumerate(sys.stdin, 1000):
        text, wanted = (f"echo hi$(({number}+1))", f"hi{number + 1}") if what == "bash" else (f"{number}+1", f"{number + 1}")
        text = f"select {text};" if what == "sqlite3" else text
        start = time.monotonic_ns()
        shown = peer.run(text)
        taken = time.monotonic_ns() - start
        assert wanted in shown, (text, shown)
        print(taken, flush=True)
    peer.close()


main()
