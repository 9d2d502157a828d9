"""What an agent pays: the way of a call through MCP, the tokens of the tools' schemas, a small task of many steps."""
import contextlib, itertools, json, shutil, subprocess, time

from measure import PYTHON, UE, Daemon, Figure, wait_for

CALL = {"cmd": ["/bin/true"], "yield_time_ms": 30000}
SERVER = "import time\nprint('starting', flush=True)\ntime.sleep(0.3)\nprint('listening on 8123', flush=True)\ntime.sleep(600)\n"
CODE, TEST = "def double(x):\n    return x + 1\n", "import calc; assert calc.double(4) == 8; print('tests', 'pass')"


class Mcp:
    """ue mcp, with the handshake done."""

    def __init__(self, muxd):
        self.process, self.ids, self.muxd = muxd.popen("mcp", stdin=subprocess.PIPE), itertools.count(1), muxd
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "bench", "version": "1"})

    def ask(self, method, **params):
        line = json.dumps({"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.muxd.background.remove(self.process)


def timed(action):
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def bench_mcp(table, size):
    """exec_command of /bin/true: by the raw socket, through MCP, by the command line, in turns."""
    with Daemon() as muxd:
        mcp = Mcp(muxd)
        ways = {"socket": lambda: muxd.client.call("exec_command", CALL),
                "mcp": lambda: mcp.ask("tools/call", name="exec_command", arguments=CALL),
                "ue": lambda: subprocess.run([UE, "exec", "--argv", "/bin/true"], env=muxd.env, stdout=subprocess.DEVNULL, check=True)}
        taken = {way: [] for way in ways}
        for round_ in range(min(size.warm, 50) + size.rounds):
            for way, action in ways.items():
                ms = timed(action)
                if round_ >= min(size.warm, 50):
                    taken[way].append(ms)
        figures = {way: Figure(samples, "ms") for way, samples in taken.items()}
        table.ratio("exec_command true, MCP / raw socket (python client)", figures["socket"], figures["mcp"])
        table.ratio("exec_command true, command line / MCP", figures["mcp"], figures["ue"])
        mcp.close()


def bench_tokens(table, size):
    """What the schemas of the tools cost on every turn of a model, in tokens of four bytes."""
    with Daemon() as muxd:
        mcp = Mcp(muxd)
        tools = mcp.ask("tools/list")["tools"]
        compact = lambda value: len(json.dumps(value, separators=(",", ":")).encode())
        shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        table.alone(f"MCP tools/list, whole answer, {len(tools)} tools", Figure([compact(tools) / 4], "tokens"))
        table.alone("of it name, description, inputSchema, which models are shown", Figure([compact(shown) / 4], "tokens"))
        for tool in shown:
            table.alone(f"  {tool['name']}", Figure([compact(tool) / 4], "tokens"))
        for options in [], ["--extended"]:
            schemas = muxd.ue("tools", "--json", *options).ok().raw
            table.alone(f"ue tools {' '.join(options)}".strip(), Figure([len(schemas) / 4], "tokens"))
        mcp.close()


# --- the task: start a server and wait for its line, mend a file, run its tests in a REPL
class ByMuxd:
    """Tool calls, as a model would make them; bytes are those of arguments and texts."""

    def __init__(self, muxd):
        self.muxd, self.calls, self.bytes = muxd, 0, 0

    def tool(self, name, /, **arguments):
        answer = self.muxd.client.call(name, {**arguments, "_meta": {"cwd": str(self.muxd.dir), "env": self.muxd.env}})
        self.calls += 1
        self.bytes += len(name) + len(json.dumps(arguments)) + len(answer["content"].encode())
        return answer["output"] if "output" in answer else answer["content"]

    def run(self):
        assert "listening" in self.tool("exec_command", cmd=f"{PYTHON} server.py", name="web", until="listening on")
        self.tool("apply_patch", input="*** Begin Patch\n*** Update File: calc.py\n@@\n-    return x + 1\n+    return x * 2\n*** End Patch")
        self.tool("exec_command", cmd=f"{PYTHON} -q", name="py", tty=True)
        assert "tests pass" in self.tool("write_stdin", session_id="py", chars=TEST + "\n")


class ByTmux:
    """send-keys, and capture-pane every 100 ms until the words are there."""

    def __init__(self, muxd):
        self.muxd, self.calls, self.bytes, self.screen = muxd, 0, 0, ""

    def tmux(self, *args):
        done = subprocess.run([shutil.which("tmux"), "-S", str(self.muxd.dir / "tmux"), "-f", "/dev/null", *args], env=self.muxd.env, cwd=self.muxd.dir,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        self.calls += 1
        self.bytes += len(" ".join(args)) + len(done.stdout.encode())
        return done.stdout

    def until(self, pane, words):
        end = time.monotonic() + 60
        while words not in self.tmux("capture-pane", "-p", "-t", pane):
            if time.monotonic() > end:
                raise RuntimeError(f"tmux does not show {words!r}")
            time.sleep(0.1)

    def run(self):
        self.tmux("new-session", "-d", "-s", "web", f"{PYTHON} server.py")
        self.until("web", "listening on")
        self.tmux("new-session", "-d", "-s", "sh", "-x", "120", "-y", "40", "env PS1='sh> ' /bin/bash --norc --noprofile")
        self.until("sh", "sh>")
        self.tmux("send-keys", "-t", "sh", "-l", "sed -i 's/return x + 1/return x * 2/' calc.py; echo 'mended' now")
        self.tmux("send-keys", "-t", "sh", "Enter")
        self.until("sh", "mended now")
        self.tmux("send-keys", "-t", "sh", "-l", f"{PYTHON} -q")
        self.tmux("send-keys", "-t", "sh", "Enter")
        self.until("sh", ">>>")
        self.tmux("send-keys", "-t", "sh", "-l", TEST)
        self.tmux("send-keys", "-t", "sh", "Enter")
        self.until("sh", "tests pass")

    def end(self):
        self.tmux("kill-server")


def bench_task(table, size):
    """A server that needs 0.3 s, a patch, tests in a REPL: muxd's tools beside tmux send-keys and capture-pane (in place of the floor)."""
    if not shutil.which("tmux"):
        print("tmux is not installed: no rows for it")
        return
    figures = {}
    with Daemon() as muxd:
        for way in [ByTmux, ByMuxd] * max(3, min(size.floods, 5)):
            (muxd.dir / "server.py").write_text(SERVER)
            (muxd.dir / "calc.py").write_text(CODE)
            shutil.rmtree(muxd.dir / "__pycache__", ignore_errors=True)
            task = way(muxd)
            with table.may_fail("the task by tmux") if way is ByTmux else contextlib.nullcontext():
                wall_ms = timed(task.run)
                for what, value in ("calls", task.calls), ("bytes", task.bytes), ("ms", wall_ms):
                    figures.setdefault((way, what), []).append(value)
            if way is ByTmux:
                with contextlib.suppress(subprocess.SubprocessError):
                    task.end()
            else:
                muxd.client.call("kill_session", {"all": True})
                wait_for(lambda: not muxd.client.call("list_sessions")["sessions"], "the sessions to end")
        for what in ("calls", "bytes", "ms") if (ByTmux, "calls") in figures else ():
            table.ratio(f"the task: {what}, muxd / tmux", Figure(figures[ByTmux, what], what), Figure(figures[ByMuxd, what], what))
