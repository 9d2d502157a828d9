"""Sandboxes: what each mode allows, that nothing of a session is lost inside one, and what happens where none can be had (attacks from inside:
test_attacks.py). A machine that can't confine skips what needs it, and says why; the refusal is tested everywhere."""
import fcntl, json, os, shutil, signal, socket, subprocess, sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import BUILD, CAP, DAEMON, KEEPER, UE, copy_programs, need_sandbox, wait_for

PROTECTED = (".git", ".muxd", ".codex", ".agents")
MODES = {"bubblewrap": "workspace-write", "landlock": "read-only"}
BACKENDS = pytest.mark.parametrize("backend", MODES)
STREAMS = pytest.mark.parametrize("tty", [True, False], ids=["pty", "pipe"])


class Work:
    """A workspace, and the options that confine what runs in it."""

    def __init__(self, mux, backend="bubblewrap"):
        self.mux, self.backend, self.mode = mux, backend, MODES[backend]
        self.dir = mux.dir / "w"
        self.dir.mkdir()
        self.options = ["--no-temp"] if self.mode == "workspace-write" else []
        told = mux.ue("sandbox", "--explain", "--json", "--mode", self.mode, *self.options, cwd=self.dir)
        need_sandbox(told)
        if told.json["backend"] != backend:
            pytest.skip(f"no {backend} here: {told.json['why']}")

    def run(self, *command, options=(), mode=None, timeout=CAP):
        """The command, to its end."""
        return self.mux.ue("sandbox", "--mode", mode or self.mode, *self.options, *options, "--", *command, cwd=self.dir, timeout=timeout)

    def exec(self, *args, tty=False):
        return self.mux.ue("exec", "--json", "--sandbox", self.mode, *self.options, *(["-t"] if tty else []), *args, cwd=self.dir)

    def session(self, name, *command, tty=True):
        """One that runs; on a terminal it waits for input."""
        answer = self.exec("-n", name, "-y", CAP * 1000 if tty else 0, *command, tty=tty)
        assert answer.rc == 0, answer
        return answer.json


@pytest.fixture
def work(mux):
    return Work(mux)


def make_git(place):
    (place / ".git/hooks").mkdir(parents=True)
    (place / ".git/config").write_text("[core]\n")


# --- what the modes mean

def test_workspace_write_writes_here_and_nowhere_else(work):
    make_git(work.dir)
    outside = work.mux.dir / "outside"
    outside.write_text("safe")
    result = work.run(f"echo 1 >new; echo x >{outside}; echo x >.git/config; echo x >~/new; cat {outside}")
    assert result.answer["output"].count("Read-only file system") == 3 and "safe" in result.out
    assert (work.dir / "new").read_text() == "1\n" and outside.read_text() == "safe"
    assert (work.dir / ".git/config").read_text() == "[core]\n" and not (work.mux.home / "new").exists()


def test_several_words_run_as_they_are_and_one_is_a_script(work):
    assert work.run("printf", "<%s>", "a  b", "$HOME;").answer["output"] == "<a  b><$HOME;>"
    assert work.run("sh", "-c", "echo in; exit 3").rc == 3
    assert work.run("echo a  b; exit 4").rc == 4
    (work.dir / "lineless").write_text("echo \"$1\"\n")  # a script without #!, which execvp(3) gives to the shell
    (work.dir / "lineless").chmod(0o755)
    assert work.run("./lineless", "c  d").answer["output"] == "c  d\n"


def test_read_only_writes_nothing(mux):
    work = Work(mux, "landlock")
    result = work.run("echo x >new || echo no; echo x >/tmp/muxd-test-new || echo no; echo 1 >/dev/null && cat /etc/hostname >/dev/null && echo read")
    assert sorted(result.answer["output"].splitlines())[-3:] == ["no", "no", "read"]
    assert not (work.dir / "new").exists() and not os.path.exists("/tmp/muxd-test-new")


def test_read_only_with_a_network_takes_mounts(work):
    told = work.mux.ue("sandbox", "--explain", "--json", "--mode", "read-only", "--network", cwd=work.dir).ok().json
    assert told["backend"] == "bubblewrap" and "--unshare-net" not in told["argv"]
    result = work.mux.ue("sandbox", "--mode", "read-only", "--network", "--", "echo x >new || echo no", cwd=work.dir)
    assert "no" in result.answer["output"] and not (work.dir / "new").exists()


def test_other_roots_temp_and_unreadable(work):
    more, secret, temp = work.mux.dir / "more", work.mux.dir / "secret", work.mux.dir / "temp"
    more.mkdir()
    temp.mkdir()
    secret.write_text("word")
    make_git(more)
    result = work.run(f"echo 1 >{more}/new && echo 2 >{more}/.git/config; cat {secret} || echo hidden", options=["--writable", more, "--unreadable", secret])
    assert (more / "new").exists() and (more / ".git/config").read_text() == "[core]\n"
    assert "hidden" in result.out and "word" not in result.out
    assert work.run("true", options=["--writable", "nothing"]).rc == 125
    made = work.mux.ue("sandbox", "--", f"touch {temp}/in && echo done", cwd=work.dir, env={"TMPDIR": str(temp)})
    assert made.answer["output"] == "done\n" and (temp / "in").exists()


def test_placeholders_are_held_by_all_and_removed_by_the_last(work):
    assert "Read-only" in work.run("ls -A; touch .git/x .muxd/x").answer["output"]
    assert os.listdir(work.dir) == []
    go = work.dir / "go"
    os.mkfifo(go)
    first = work.mux.popen("sandbox", *work.options, "--", "echo >up; read line <go; touch .git/hook || echo refused", cwd=work.dir)
    wait_for(lambda: (work.dir / "up").exists(), "the first command")
    work.run("true").ok()
    assert set(PROTECTED) < set(os.listdir(work.dir))
    go.write_text("\n")
    assert "refused" in work.mux.finish(first).out
    assert sorted(os.listdir(work.dir)) == ["go", "up"]


def test_placeholders_outlive_the_command_that_made_them(work):
    gates, runs = [], []
    for name in ("first", "second"):
        gates.append(work.dir / name)
        os.mkfifo(gates[-1])
        runs.append(work.mux.popen("sandbox", *work.options, "--", f"echo >up-{name}; read line <{name}; mkdir .git .git/hooks || echo refused", cwd=work.dir))
        wait_for(lambda: (work.dir / f"up-{name}").exists(), name)
    gates[0].write_text("\n")
    work.mux.finish(runs[0])
    assert set(PROTECTED) < set(os.listdir(work.dir))
    gates[1].write_text("\n")
    assert "refused" in work.mux.finish(runs[1]).out
    assert not set(PROTECTED) & set(os.listdir(work.dir))
    (work.dir / ".codex").mkdir()  # somebody's own, though empty
    work.run("true").ok()
    assert os.listdir(work.dir / ".codex") == []


def test_git_file_that_points_elsewhere(work):
    real = work.dir / "sub/real"
    (real / "hooks").mkdir(parents=True)
    (work.dir / ".git").write_text(f"gitdir: {real}\n")
    result = work.run("echo x >sub/real/hooks/pre-commit; echo x >.git; mv sub/real sub/away; mv sub away; mv .git away; echo 1 >sub/other")
    assert os.listdir(real / "hooks") == [] and (work.dir / ".git").is_file() and (work.dir / "sub/other").exists(), result


def test_root_in_a_root_can_not_be_moved(work):
    """Or what stands in its old place would be nobody's."""
    project = work.dir / "a/proj"
    make_git(project)
    result = work.mux.ue("sandbox", *work.options, "--writable", work.dir, "--",
                         f"mv {work.dir}/a {work.dir}/b; mkdir -p {project}/.git/hooks; echo x >{project}/.git/hooks/post-commit; echo 1 >{work.dir}/a/other; echo 1 >new", cwd=project)
    assert sorted(os.listdir(work.dir)) == ["a"] and os.listdir(project / ".git/hooks") == [], result
    assert (work.dir / "a/other").exists() and (project / "new").exists()


def test_placeholders_with_few_descriptors_and_a_lock_that_is_taken(work):
    work.mux.configure("[limits]\nopen_files = 64\n")
    work.mux.ue("reload").ok()
    (work.dir / ".muxd").mkdir()
    (work.dir / ".muxd").chmod(0o1755)  # as one that stands for a missing one
    fd = os.open(work.dir / ".muxd", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    refused = work.run("echo ran", timeout=max(CAP, 20))  # it tries for five seconds at least
    assert "can't protect" in refused.out + refused.err and "ran" not in refused.answer["output"], refused
    os.close(fd)
    assert "refused" in work.run("touch .muxd/x || echo refused").out
    assert os.listdir(work.dir) == []


def test_git_that_is_a_link_is_refused(work):
    (work.dir / ".git").symlink_to(work.mux.home)
    result = work.run("echo ran")
    assert result.rc == 125 and "is a symbolic link" in result.err and "ran" not in result.out


def test_config_and_places_of_the_daemon(work):
    work.mux.configure("# mine\n")
    rules = work.mux.dir / "muxd.rules"
    refused = work.mux.ue("sandbox", "--writable", work.mux.dir, "--", f"touch {rules}", cwd=work.dir)
    assert refused.rc == 125 and f"'{rules}' would decide what the next command may do" in refused.err and not rules.exists(), refused
    rules.touch()
    result = work.mux.ue("sandbox", "--writable", work.mux.dir, "--", f"echo x >{rules}; echo x >{work.mux.conf}; echo x >{work.mux.state}/muxd/x; ls {work.mux.state}/muxd; "
                         f"mv {work.mux.state} {work.mux.dir}/gone; mv {work.mux.conf} {work.mux.dir}/gone", cwd=work.dir)
    assert rules.read_text() == "" and work.mux.conf.read_text().startswith("# mine\n") and "x" not in work.mux.conf.read_text().split() and work.mux.state.exists() and not (work.mux.dir / "gone").exists(), result
    assert "Permission denied" in result.out


def test_default_socket_below_the_runtime_directory(mux):
    del mux.env["MUXD_SOCKET"]
    runtime = mux.dir / "run"
    runtime.mkdir(mode=0o700)
    mux.env["XDG_RUNTIME_DIR"], mux.socket = str(runtime), runtime / "muxd/muxd.sock"
    work = Work(mux)
    result = work.run(f"echo ran; ls {runtime}", options=["--unreadable", mux.home, "--unreadable", mux.home / ".ssh"])
    assert mux.socket.exists() and result.answer["output"].startswith("ran\n") and "Permission denied" in result.out, result


@pytest.mark.parametrize("argv", [False, True], ids=["heredoc", "argv"])
def test_patch_in_a_sandbox_is_not_applied_by_the_daemon(mux, argv):
    work = Work(mux, "landlock")
    patch = "*** Begin Patch\n*** Add File: new\n+text\n*** End Patch"
    command = ["--argv", "--", "apply_patch", patch] if argv else [f"apply_patch <<'EOF'\n{patch}\nEOF\n"]
    result = mux.ue("exec", "--sandbox", "read-only", "--exit", *command, cwd=work.dir)
    assert result.rc != 0 and os.listdir(work.dir) == [], result
    assert mux.ue("exec", "--sandbox", "full-access", *command, cwd=work.dir).ok() and (work.dir / "new").exists()


def test_what_does_not_go_together(mux):
    for options in (["--network"], ["--writable", "."], ["--sandbox", "full-access", "--writable", "."],
                    ["--sandbox", "read-only", "--writable", "."], ["--sandbox", "none"]):
        result = mux.ue("exec", *options, "--", "echo ran")
        assert result.rc in (64, 125) and "ran" not in result.out, options
    assert mux.ue("exec", "--sandbox", "full-access", "--", "echo ran").answer["output"] == "ran\n"
    mux.configure("[session s]\ncmd = true\nsandbox = none\n")
    assert "read-only" in mux.ue("reload").err


# --- all that a session has, inside

@BACKENDS
@STREAMS
def test_exit_status(mux, backend, tty):
    work = Work(mux, backend)
    assert work.exec("--exit", "exit 7", tty=tty).json["exit_code"] == 7
    assert work.exec("--exit", "kill -9 $$", tty=tty).json["exit_code"] == 137
    assert work.exec("--exit", "--argv", "--", "/nonexistent/program", tty=tty).json["exit_code"] == 127


@BACKENDS
@STREAMS
def test_marks_and_end_of_all_descendants(mux, backend, tty):
    work = Work(mux, backend)
    answer = work.exec("-n", "s", "-y", 0, "setsid -f sleep 98765; (setsid sleep 98764 &) ; env -i setsid -f sleep 98763; exec sleep 98762", tty=tty).json
    number = answer["session_id"]
    wait_for(lambda: len(alive(mux)) >= 4, "four sleepers")
    marks = {mark_of(pid) for pid in alive(mux)}
    assert marks == {mark_of(mux.listed("s")["pid"])}
    mux.ue("kill", number).ok()
    wait_for(lambda: not alive(mux), "nobody left")
    assert set(mux.pids()) == set(mux.daemons())


def mark_of(pid):
    return next(line.split()[3] for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if line.startswith("Max file locks"))


def alive(mux):
    found = []
    for pid in mux.pids():
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\x009876"):  # not setsid, which is about to end
                found.append(pid)
        except OSError:
            pass
    return found


@BACKENDS
def test_ready_job_control_and_size(mux, backend):
    work = Work(mux, backend)
    work.session("sh", "--argv", "/bin/bash", "--norc", "--noprofile", "-i")
    answer = mux.line("sh", "echo $((6 * 7))")
    assert answer["reason"] == "ready" and answer["evidence"] == "line_editor" and "42" in answer["output"]
    mux.ue("resize", "sh", "33x101").ok()
    assert "33 101" in mux.line("sh", "stty size")["output"]
    mux.ue("write", "-y", "0", "-l", "sh", "sleep 300").ok()
    wait_for(lambda: "sleep" in foreground(mux, "sh"), "sleep in the foreground")
    assert mux.js("write", "-y", CAP * 1000, "--ready", "-k", "C-z", "sh")["reason"] == "ready"
    assert "Stopped" in mux.line("sh", "jobs")["output"]
    mux.ue("write", "-y", "0", "-l", "sh", "fg").ok()
    wait_for(lambda: "sleep" in foreground(mux, "sh"), "sleep in the foreground again")
    assert mux.js("write", "-y", CAP * 1000, "--ready", "-k", "C-c", "sh")["reason"] == "ready"
    assert "130" in mux.line("sh", "echo $?")["output"]


def foreground(mux, name):
    """The command lines of the group in the foreground of its terminal."""
    leader = Path(f"/proc/{mux.listed(name)['pid']}/stat").read_text().rsplit(")", 1)[1].split()
    words = ""
    for pid in mux.pids():
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[2] == leader[5]:
                words += Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            pass
    return words


@BACKENDS
def test_interrupt_of_a_program_without_a_shell(mux, backend):
    """bubblewrap is in its group, and must not die of what is for the program."""
    work = Work(mux, backend)
    program = "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: print('caught', flush=True))\nfor line in sys.stdin: print('got', line, flush=True)"
    work.session("p", "--argv", sys.executable, "-c", program)
    assert "caught" in mux.ue("write", "-y", CAP * 1000, "--until", "caught", "-k", "C-c", "p").out
    assert "got again" in mux.ue("write", "-y", CAP * 1000, "--until", "got again", "-l", "p", "again").out
    assert mux.listed("p")["state"] == "running"


@BACKENDS
@STREAMS
def test_worker_and_keeper_die_and_it_stays_confined(mux, backend, tty):
    work = Work(mux, backend)
    outside = mux.dir / "outside"
    work.session("s", *([] if tty else ["--stdin"]), "while read line; do eval \"$line\"; echo did; done", tty=tty) if tty else mux.rpc().call(
        "exec_command", {"cmd": "while read line; do eval \"$line\"; echo did; done", "name": "s", "stdin": True, "yield_time_ms": 250, "sandbox": work.mode,
                         **({"temp": False} if work.options else {}), "workdir": str(work.dir), "_meta": {"env": mux.env, "cwd": str(work.dir)}})
    before = mux.listed("s")["sandbox"]
    for _ in range(2):
        status = mux.rpc().call("status")
        os.kill(status["pid"], signal.SIGKILL)
        wait_for(lambda: mux.js("status")["pid"] != status["pid"], "a new worker")
        assert mux.listed("s")["sandbox"] == before == {"mode": work.mode, "network": False, "temp": not work.options}
        said = mux.ue("write", "-y", CAP * 1000, "--until", "did", "-l", "s", f"echo x >{outside}").out
        assert "Read-only file system" in said or "Permission denied" in said
        assert not outside.exists()
        keeper = wait_for(lambda: mux.js("status").get("keeper_pid"), "the keeper")
        os.kill(keeper, signal.SIGKILL)
        wait_for(lambda: mux.js("status").get("keeper_pid") not in (None, keeper), "a new keeper")
    assert mux.listed("s")["state"] == "running"


# --- where it comes from, and who is told

def test_declared_session(work):
    mux = work.mux
    more = mux.home / "more"
    more.mkdir()
    mux.configure(f"[session c]\nargv = /bin/bash --norc --noprofile -i\nworkdir = {work.dir}\nsandbox = workspace-write\nwritable_roots = ~/more\nnetwork = yes\ntemp = no\n")
    mux.ue("reload").ok()
    mux.ue("exec", "-n", "c", "-y", CAP * 1000).ok()
    assert mux.listed("c")["sandbox"] == {"mode": "workspace-write", "network": True, "temp": False, "writable_roots": [str(more)]}
    assert "Read-only" in mux.line("c", "echo x >~/no; echo x >~/more/yes")["output"]
    assert (more / "yes").exists() and not (mux.home / "no").exists()
    assert mux.ue("exec", "-n", "c2", "--sandbox", "read-only").rc != 0  # the config's business


def test_explain_and_status(work):
    mux = work.mux
    text = mux.ue("sandbox", "--explain", "--", "make", cwd=work.dir).ok().out
    assert text.startswith("by         bubblewrap: ") and f"writable   {work.dir}\n" in text and f"missing    {work.dir}/.git\n" in text and "muxd-confine" in text
    assert f"hidden     {mux.state}/muxd\n" in text
    text = mux.ue("sandbox", "--explain", "--mode", "read-only", cwd=work.dir).ok().out
    assert ("hidden " in text) == text.startswith("by         bubblewrap: "), text  # Landlock hides nothing
    assert "bubblewrap (" in mux.js("status")["sandboxes"]
    assert mux.ue("sandbox", "--explain", "--mode", "full-access").ok().out == "mode       full-access: no sandbox\n"


def test_explain_a_section_of_the_config(work):
    """The plan is that of a command of the section: its files are writable, hidden and protected as the plan says."""
    mux, more = work.mux, work.mux.dir / "more"
    more.mkdir()
    (work.dir / ".env").write_text("word")
    (work.dir / "sub").mkdir()
    mux.configure(f"[policy]\nsandbox = full-access\n[policy mcp]\napproval = on-request\n[policy p]\nsandbox = workspace-write\nwritable_roots = {more}\nnetwork = yes\n"
                  f"temp = no\nhidden = **/.env\n[session s]\ncmd = true\nworkdir = {more}\nsandbox = workspace-write\ntemp = no\n[session free]\ncmd = true\n")
    mux.ue("reload").ok()

    def told(*options):
        return mux.ue("sandbox", "--explain", *options, cwd=work.dir).ok().out
    text = told("--profile", "p")
    assert text.startswith("policy     workspace-write (with a network), approval off\nby         bubblewrap: "), text
    for line in (f"writable   {work.dir}", f"writable   {more}", f"hidden     {work.dir}/.env", "network    yes"):
        assert line + "\n" in text, (line, text)
    assert "writable   /tmp\n" not in text
    assert f"writable   {work.dir}\n" in told("--profile", "p", "-C", "sub") and f"--chdir {work.dir}/sub" in told("--profile", "p", "-C", "sub")
    assert told("--profile", "mcp").startswith("policy     workspace-write (no network), approval on-request\nby ")
    assert told("--profile", "") == "policy     full-access (not confined), approval off\nmode       full-access: no sandbox\n"
    assert f"writable   {more}\n" in told("--session", "s") and f"writable   {work.dir}\n" not in told("--session", "s")
    assert told("--session", "free") == "mode       full-access: no sandbox\n"
    for options, words in ((["--profile", "q"], "there is no [policy q] in the config"), (["--session", "q"], "there is no [session q] in the config"),
                           (["--profile", "p", "--mode", "read-only"], "can't stand beside"), (["--session", "s", "--profile", "p"], "can't stand beside")):
        refused = mux.ue("sandbox", "--explain", *options)
        assert refused.rc and words in refused.err, refused
    refused = mux.ue("sandbox", "--profile", "p", "--", "true", cwd=work.dir)
    assert refused.rc == 64 and "'--profile' says which sandbox '--explain' is about" in refused.err, refused
    with pytest.raises(mux.rpc().Error, match="exclude each other"):
        mux.rpc().call("explain_sandbox", {"profile": "p", "sandbox": "read-only"})


# --- where none can be had

@pytest.fixture
def fake(mux):
    """A directory in front of PATH whose bwrap is the test's."""
    (mux.dir / "bin").mkdir()
    (mux.dir / "muxd.rules").touch()  # the workspace is the config's own directory, where nobody may be able to make it
    mux.env["PATH"] = f"{mux.dir}/bin:{mux.env['PATH']}"

    def make(script):
        path = mux.dir / "bin/bwrap"
        path.unlink(missing_ok=True)
        path.write_text(script)
        path.chmod(0o755)
        return path
    return make


@pytest.mark.no_pty
def test_refused_and_never_unconfined(mux, fake):
    fake("#!/bin/sh\necho 'bwrap: no permissions to create a new namespace' >&2\nexit 1\n")
    mux.configure("[session d]\ncmd = echo ran >ran\nsandbox = workspace-write\nworkdir = " + str(mux.dir) + "\n")
    for args in (["sandbox", "--", "echo ran >ran"], ["exec", "--sandbox", "workspace-write", "--", "echo ran >ran"], ["exec", "-n", "d"],
                 ["exec", "--sandbox", "read-only", "--network", "-t", "--", "echo ran >ran"], ["sandbox", "--explain"]):
        result = mux.ue(*args)
        assert result.rc == 125 and "can't be enforced here, and nothing runs without it" in result.err, result
        assert "no permissions to create a new namespace" in result.err and "kernel.unprivileged_userns_clone=1" in result.err, result
    assert not (mux.dir / "ran").exists()
    assert mux.js("list", "--all")["sessions"] == []
    real = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if real and subprocess.run([real, "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True).returncode == 0:
        (mux.dir / "bin/bwrap").unlink()  # what was missing is there now
        assert mux.ue("sandbox", "--", "echo ran").answer["output"] == "ran\n"


@pytest.fixture
def gate(mux):
    """What a trial waits for with `read line <GATE`; opening it never blocks, and lets all later ones through."""
    path = mux.dir / "gate"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    yield SimpleNamespace(path=path, open=lambda: os.write(fd, b"\n" * 100))
    os.close(fd)


@pytest.mark.no_pty
def test_trial_delays_nobody_else(mux, fake, gate):
    fake(f"#!/bin/sh\nread line <{gate.path}\necho 'bwrap: not here' >&2\nexit 1\n")
    waiting = mux.popen("sandbox", "--", "echo ran")
    explain = mux.popen("sandbox", "--explain")
    wait_for(lambda: mux.js("list")["sessions"], "the session that waits")
    assert mux.ue("exec", "--", "echo other").answer["output"] == "other\n"
    gate.open()
    for process in (waiting, explain):
        result = mux.finish(process)  # on a slow machine the trial may have been given up
        assert result.rc == 125 and "bubblewrap does not work here" in result.err and "ran" not in result.out


@pytest.mark.no_pty
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_what_is_ended_while_the_trial_runs_never_starts(mux, fake, gate, how):
    """The trial succeeds, and whatever bubblewrap is told after it would be seen."""
    fake(f"#!/bin/sh\n[ -e {mux.dir}/tried ] && touch {mux.dir}/started\ntouch {mux.dir}/tried\nread line <{gate.path}\nexit 0\n")
    waiting = mux.popen("sandbox", "--", "echo ran")
    wait_for(lambda: (mux.dir / "tried").exists(), "the trial")
    session = wait_for(lambda: mux.js("list")["sessions"], "the session that waits")[0]
    client = mux.rpc()
    if how == "stop":
        ending = mux.popen("stop")
        wait_for(lambda: "stopping" in (mux.state / "muxd/muxd.log").read_text(), how)
    else:
        kill = client.send("kill_session", {"session_id": session["session_id"]})
        client.call("list_sessions")  # its answer comes when the kill has been taken
    gate.open()
    mux.finish(ending) if how == "stop" else client.result(kill)
    result = mux.finish(waiting)
    assert result.rc != 0 and not (mux.dir / "started").exists(), result
    assert how == "stop" or "ended before its program began" in result.err or "bubblewrap does not work here" in result.err, result
    wait_for(lambda: how == "kill" or not mux.daemons(), "the end of the daemon")


@pytest.mark.parametrize("more", [{}, {"wait_keyboard": True}, {"wait_room": 60000}], ids=["held", "keyboard", "room"])
def test_who_types_into_what_never_starts_is_told(mux, fake, gate, more):
    fake(f"#!/bin/sh\ntouch {mux.dir}/tried\nread line <{gate.path}\necho 'bwrap: not here' >&2\nexit 1\n")
    waiting = mux.popen("exec", "-n", "s", "-t", "--sandbox", "workspace-write", "--", "cat")
    wait_for(lambda: (mux.dir / "tried").exists() and mux.js("list")["sessions"], "the session that waits")
    client = mux.rpc()
    typed = client.send("write_stdin", {"session_id": "s", "chars": "x\n", **more})
    client.call("status")  # its answer comes when the text has been taken
    gate.open()
    assert "error" in client.recv(typed) and mux.finish(waiting).rc == 125
    assert mux.js("list")["sessions"] == []


@pytest.mark.no_pty
def test_what_bubblewrap_needs_for_itself_is_not_waited_for(mux, fake, gate):
    """Its own process holds the output open until the mounts are apart; here it does for longer. One of many: a busy machine only makes
    them slower."""
    real = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin") or pytest.skip("bubblewrap is not installed")
    fake(f'#!/bin/sh\ncase "$*" in *--check*) exec {real} "$@" ;; esac\n{real} "$@"\nstatus=$?\n(read line <{gate.path}) 2>&1 &\nexit $status\n')
    work, grace, looks = Work(mux), 50, lambda: mux.js("status")["process_passes"]  # DRAIN_IDLE_NS of session_exit.c
    try:
        for n in range(50):
            before = looks()
            answer = work.exec("-n", f"s{n}", "--exit", "--no-login", "date +%s%3N").ok().json
            after = looks()
            assert answer["exit_code"] == 0 and answer["children_left"] == 0, answer
            ended = datetime.fromisoformat(mux.listed(f"s{n}")["ended"].replace("Z", "+00:00")).timestamp() * 1000
            if ended - int(answer["output"]) < grace and after == before:
                break
        else:
            pytest.fail("it is waited for, or all processes are looked at")
    finally:
        gate.open()


# --- attacks

RACE = """
import ctypes, sys
libc, outside, written = ctypes.CDLL(None), sys.argv[1].encode(), 0
import os, threading
os.mkdir("d"); os.symlink(os.path.dirname(outside), "l")
over = threading.Event()
def swap():
    while not over.is_set():
        libc.renameat2(-100, b"d", -100, b"l", 2)
thread = threading.Thread(target=swap); thread.start()
for _ in range(5000):
    try:
        os.close(os.open(b"d/" + os.path.basename(outside), os.O_WRONLY | os.O_CREAT | os.O_APPEND)); written += 1
        with open(b"d/" + os.path.basename(outside), "ab") as file: file.write(b"x")
    except OSError: pass
over.set(); thread.join()
print("tries", written)
"""


@pytest.mark.no_pty
def test_race_of_a_directory_against_a_link(work):
    outside = work.mux.dir / "outside"
    outside.write_text("safe")
    result = work.mux.ue("exec", "--sandbox", "workspace-write", "--no-temp", "--argv", "--", sys.executable, "-c", RACE, outside, cwd=work.dir)
    assert "tries" in result.out and outside.read_text() == "safe", result


@pytest.mark.no_pty
def test_memory_of_devices_is_bounded(work):
    result = work.run("dd if=/dev/zero of=/dev/shm/big bs=1M count=80 status=none; touch /dev/new; ls -l /dev/shm")
    assert "No space left" in result.out and "Read-only file system" in result.out and "67108864" in result.out, result


@pytest.mark.no_pty
def test_limits_hold_inside(work):
    work.mux.configure("[limits]\nprocesses = 20\n")
    work.mux.ue("reload").ok()
    work.mux.ue("exec", "-n", "bomb", "-y", "0", "--sandbox", "workspace-write", "--", "for i in $(seq 60); do sleep 300 & done; wait", cwd=work.dir).ok()
    refused = lambda: "Resource temporarily unavailable" in work.mux.ue("logs", "bomb").out or work.mux.listed("bomb").get("killed_by") == "processes"
    wait_for(refused, "a fork that is refused")
    work.mux.ue("kill", "bomb")
    wait_for(lambda: set(work.mux.pids()) == set(work.mux.daemons()), "nobody left")


@pytest.mark.no_pty
def test_git_works_where_it_is_wanted(work):
    if not shutil.which("git"):
        pytest.skip("no git")
    git = "git -c user.name=a -c user.email=a@b"
    subprocess.run(["git", "init", "-q", str(work.dir)], check=True)
    assert work.run(f"touch a; git add a && {git} commit -qm a && echo committed").out.count("committed") == 0
    assert "committed" in work.run(f"git add a && {git} commit -qm a && echo committed", options=["--writable", ".git"]).out
    assert "a" in work.mux.ue("sandbox", "--mode", "read-only", "--", "git log --format=%s", cwd=work.dir).answer["output"]


def test_peer_in_a_sandbox_is_refused_where_it_reaches_the_socket(work):
    """A second name of the socket, which nothing hides; with a network, so that it may connect."""
    mux = work.mux
    os.link(mux.socket if mux.ue("start").ok() else mux.socket, work.dir / "door")
    talk = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{work.dir}/door'); print(s.makefile().readline())"
    result = work.run(f'{sys.executable} -c "{talk}"', options=["--network"])
    assert "may not use muxd" in result.out and '"denied"' in result.out, result
    child = f"import os, socket; s = socket.socket(socket.AF_UNIX); s.connect('{work.dir}/door'); os.fork() and os._exit(0); print(s.makefile().readline())"
    result = work.run(f'{sys.executable} -c "{child}"; sleep 0.1', options=["--network"])
    assert "may not use muxd" in result.out or "has connected and ended" in result.out, result
    assert mux.ue("exec", "--", "echo fine").answer["output"] == "fine\n"  # others are served


def test_root_that_becomes_a_link_is_not_followed(work):
    """What is bound is what was looked at: muxd-confine opens each root without following links."""
    told = work.mux.ue("sandbox", "--explain", "--json", *work.options, cwd=work.dir).ok().json["argv"]
    line = [*told[:told.index("sh")], "/bin/true"]
    assert subprocess.run(line, capture_output=True).returncode == 0
    work.dir.rename(work.mux.dir / "was")
    work.dir.symlink_to(work.mux.home)
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 126 and "muxd-confine: can't " in done.stderr
    assert os.listdir(work.mux.home) == []


def test_without_the_program_that_confines_nothing_runs(mux):
    """It was there when muxd looked: gone, unfinished or no program since. The error names it, and not the command."""
    mux.program, mux.daemon, mux.keeper, confine = copy_programs(mux.dir / "bin", UE, DAEMON, KEEPER, BUILD / "muxd-confine")
    work = Work(mux)
    assert work.exec("--exit", "echo before").json["output"] == "before\n"
    for spoil in (confine.unlink, confine.touch, lambda: confine.chmod(0o755), lambda: (confine.unlink(), confine.mkdir())):
        spoil()
        done = mux.ue("exec", "--sandbox", work.mode, "--", "echo ran", cwd=work.dir)
        assert done.rc == 125 and str(confine) in done.err and "install muxd again" in done.err and "ran" not in done.out, done
