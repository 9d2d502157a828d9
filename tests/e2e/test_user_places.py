"""An ordinary user's bad places: what belongs to somebody else, what is not there, what /proc hides. Each is told with its name and what to do,
nothing hangs, and nothing is left half done."""
import fcntl, json, os, shutil, signal, socket, subprocess, sys
from pathlib import Path

import pytest
from conftest import CAP, DAEMON, become_new_user, have_pty, needs_root, wait_for

pytestmark = pytest.mark.no_pty
NOBODY = 65534
CHOOSE = "-S or $MUXD_SOCKET"


def refused(result, *words):
    assert result.rc in (69, 125) and not result.out, result
    for word in words:
        assert word in result.err, (word, result)


# --- what belongs to somebody else

@needs_root
def test_stale_socket_of_root(ordinary):
    mux = ordinary
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(mux.socket))
    for verb in (("exec", "true"), ("status",), ("stop",)):
        refused(mux.ue(*verb), f"'{mux.socket}' belongs to user 0", "remove it, or choose", CHOOSE)
    mux.socket.unlink()
    mux.ue("exec", "true").ok()


@needs_root
@pytest.mark.parametrize("name", ["start.lock", "s.lock"])
def test_lock_of_root(ordinary, name):
    mux = ordinary
    lock = mux.dir / name
    lock.touch(0o600)
    refused(mux.ue("exec", "true"), f"'{lock}' belongs to user 0", "remove it, or choose", CHOOSE)
    wait_for(lambda: not mux.pids(), "the daemon that was refused to go")
    lock.unlink()
    mux.ue("exec", "true").ok()


@pytest.fixture
def unchosen(ordinary):
    """Nobody has said where the socket is; root's daemon to be is that of a user of its own, with /tmp/muxd-UID of its own."""
    uid = become_new_user(ordinary)
    ordinary.place = Path(f"/tmp/muxd-{uid}")
    del ordinary.env["MUXD_SOCKET"], ordinary.env["XDG_RUNTIME_DIR"]
    assert not ordinary.place.exists()
    yield ordinary
    if ordinary.daemons():
        ordinary.ue("--no-start", "stop")
    if ordinary.place.is_symlink() or ordinary.place.is_file():
        ordinary.place.unlink()
    shutil.rmtree(ordinary.place, ignore_errors=True)


@needs_root
@pytest.mark.parametrize("kind", ["closed", "open", "file", "link"])
def test_default_place_taken_by_somebody(unchosen, kind):
    mux = unchosen
    if kind == "link":
        (mux.dir / "other").mkdir(0o700)
        os.chown(mux.dir / "other", mux.dir.stat().st_uid, -1)
        mux.place.symlink_to(mux.dir / "other")
    elif kind == "file":
        mux.place.touch()
    else:
        mux.place.mkdir(0o700 if kind == "closed" else 0o777)
        mux.place.chmod(0o700 if kind == "closed" else 0o777)
    os.chown(mux.place, NOBODY, NOBODY, follow_symlinks=False)
    word = {"link": "is a symbolic link", "file": "Not a directory"}.get(kind, "belongs to user 65534")
    refused(mux.ue("exec", "true"), f"'{mux.place}'", word, CHOOSE)
    wait_for(lambda: not mux.pids(), "the daemon that was refused to go")
    assert kind == "file" or not list(mux.place.iterdir())
    mux.env["MUXD_SOCKET"] = str(mux.dir / "s")
    mux.ue("exec", "true").ok()


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777])
def test_runtime_directory_of_another(unchosen, mode):
    """As after su without a minus: it is not ours, so it is not used, and nothing of ours is put there."""
    mux, other = unchosen, unchosen.dir / "other"
    other.mkdir()
    other.chmod(mode)
    os.chown(other, NOBODY, NOBODY)
    mux.env["XDG_RUNTIME_DIR"] = str(other)
    mux.ue("exec", "true").ok()
    assert mux.js("status")["socket"] == f"{mux.place}/muxd.sock"
    assert not list(other.iterdir())


def test_runtime_directory_of_the_system(mux):
    """The same, without a daemon."""
    del mux.env["MUXD_SOCKET"]
    assert f"muxd does not run ({mux.dir}/muxd/muxd.sock)" in mux.ue("--version").ok().out
    if os.geteuid() != 0:
        result = mux.ue("--version", env={"XDG_RUNTIME_DIR": "/usr"})
        assert "/usr" not in result.ok().out and f"{os.geteuid()}/muxd" in result.out.replace("-", "/"), result


@needs_root
def test_root_is_not_led_to_somebody_who_listens_in_its_place(mux):
    """Who has made /tmp/muxd-0 first would get what root types. By its name root may go to anybody."""
    place = mux.dir / "muxd"
    place.mkdir(0o700)
    server = socket.socket(socket.AF_UNIX)
    listener = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable, "-c", """
import socket, sys
server = socket.socket(fileno=0)
server.listen()
print("up", flush=True)
while True:
    client, _ = server.accept()
    print(len(client.recv(4096)), flush=True)
"""], stdin=server, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: server.bind(str(place / "muxd.sock")))
    try:
        assert listener.stdout.readline() == "up\n"
        own = mux.env.pop("MUXD_SOCKET")
        refused(mux.ue("exec", "true"), f"'{place}/muxd.sock': another user listens there", CHOOSE)
        assert listener.stdout.readline() == "0\n", "nothing was sent"
        client = mux.popen("-S", place / "muxd.sock", "exec", "true")
        assert int(listener.stdout.readline()) > 0
        client.kill()
        mux.env["MUXD_SOCKET"] = own
    finally:
        listener.kill()
        listener.communicate()
        server.close()


# --- a home that is none

@pytest.mark.parametrize("home", ["/proc/none", "/proc"])
def test_home_that_is_not_there(mux, home):
    mux.env["HOME"] = home
    del mux.env["XDG_STATE_HOME"]
    result = mux.ue("exec", "true")
    refused(result, f"muxd': '{home}/.local/state/muxd' can't be made below '/proc'", "$XDG_STATE_HOME or [muxd] state")
    wait_for(lambda: not mux.pids(), "the daemon that was refused to go")
    mux.configure(f"[muxd]\nstate = {mux.state}/s\n")
    assert mux.ue("exec", "--raw", "--no-login", "-C", "/", "echo fine").ok().out == "fine\n"


def test_home_that_is_read_only(mux):
    flags = ["-m"] if os.geteuid() == 0 else ["-rm"]
    script = f'mount -t tmpfs -o ro none {mux.home} && exec "$@"'
    if not shutil.which("unshare") or subprocess.run(["unshare", *flags, "sh", "-c", script, "sh", "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no file system of our own")
    del mux.env["XDG_STATE_HOME"]
    mux.prefix = ["unshare", *flags, "sh", "-c", script, "sh"]
    result = mux.ue("exec", "true")
    mux.prefix = []
    refused(result, f"'{mux.home}/.local/state/muxd' can't be made below '{mux.home}': Read-only file system", "$XDG_STATE_HOME or [muxd] state")
    wait_for(lambda: not mux.pids(), "the daemon that was refused to go")


# --- a start that is given up

def test_start_that_is_ended_leaves_nothing(mux):
    """Somebody has the lock and serves nobody, so the new one waits; who started it loses patience."""

    with open(f"{mux.socket}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        starting = subprocess.Popen([str(DAEMON), "-d", "-S", str(mux.socket), "-f", str(mux.conf)], env=mux.env, cwd="/", stderr=subprocess.DEVNULL)
        wait_for(lambda: len(mux.daemons()) >= 3, "keeper and worker")
        starting.terminate()
        assert starting.wait(CAP) != 0
        wait_for(lambda: not mux.pids(), "all of them to be gone")


def test_daemon_that_was_left_behind_ends_by_term(mux):
    """As the manual says. Its directories are gone; by SIGKILL it does not end, it heals."""
    mux.ue("exec", "-n", "s", "-y", "0", "--no-login", "trap '' TERM HUP; setsid sleep 300 & wait").ok()
    mux.configure("[muxd]\nkill_grace = 50ms\n")
    mux.ue("reload").ok()
    before = mux.daemons()
    shutil.rmtree(mux.dir, ignore_errors=True)  # it may bind its socket anew meanwhile
    os.kill(before[0], signal.SIGKILL)
    named = wait_for(lambda: len(now := mux.daemons()) >= 3 and now != before and [pid for pid in now if comm(pid) == "muxd"], "another one")
    for pid in named:  # pkill -TERM -x muxd
        os.kill(pid, signal.SIGTERM)
    wait_for(lambda: not mux.pids(), "all of them to end")


def comm(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


# --- /proc that hides what is not dumpable

INSIDE = r"""
import json, os, signal, subprocess, sys, time
told = {}

def ue(*args, input=None):
    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)

def js(verb, *args):
    done = ue(verb, "--json", *args)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}

def sleepers(seconds):
    return subprocess.run(["pgrep", "-xf", f"sleep {seconds}"], capture_output=True, text=True).stdout.split()

status = js("status")
told["hidden"] = not os.path.exists(f"/proc/{status['pid']}") and not os.path.exists("/proc/1")
told["readiness"], told["constraints"] = status["readiness"], status["constraints"]
js("exec", "-n", "family", "-y", "300", "--no-login", "trap '' HUP TERM; setsid sleep 9961 & (setsid env -i sleep 9962 &) ; wait")
for _ in range(600):
    told["before"] = [len(sleepers(n)) for n in (9961, 9962)]
    if told["before"] == [1, 1]:
        break
    time.sleep(0.1)
told["kill"] = js("kill", "family")
told["after"] = [len(sleepers(n)) for n in (9961, 9962)]
ue("rm", "--all")
told["in the session"] = js("exec", "--no-login", f"{sys.argv[1]} stop")["output"]
if sys.argv[2] == "tty":
    told["ready"] = js("exec", "-n", "py", "-t", "-y", "60000", "--argv", "--", "/usr/bin/python3", "-q")["reason"]
    told["write"] = js("write", "-y", "60000", "-l", "py", "6 * 7")
js("exec", "-n", "cat", "-y", "0", "--stdin", "cat")
def another(which, old=None):
    for _ in range(600):
        pid = js("status").get(which)  # there is none while a new keeper is being given everything
        if pid not in (None, old):
            return pid
        time.sleep(0.1)
    sys.exit(f"no other {which}")

for which in ("pid", "keeper_pid"):
    old = another(which)
    os.kill(old, signal.SIGKILL)
    another(which, old)
    told[which] = js("write", "-l", "cat", which, "--until", which)["output"]
told["upgrade"] = ue("upgrade").returncode
told["children"] = js("exec", "--no-login", "sleep 300 & exit 3")
js("kill", "--all")
keeper = another("keeper_pid")
os.kill(keeper, signal.SIGSTOP)
before = time.monotonic()
subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {keeper}"])
told["stop"] = ue("stop").returncode
told["stop waits"] = time.monotonic() - before
print(json.dumps(told))
"""


@pytest.mark.parametrize("level", [1, 2])
def test_hidepid(ordinary, level):
    """The user's own daemon is not dumpable, so it is hidden from the user, too: everything works by other ways."""
    mux = ordinary
    mount = f"mount -t proc -o hidepid={level} proc /proc && "  # no exec: process 1 is root's, as on every machine
    enter = ["unshare", "-mpf", "--propagation", "private", "sh", "-c", mount + '"$@"', "sh", *mux.prefix]
    if os.geteuid() != 0:
        enter = ["unshare", "-rmpf", "--propagation", "private", "sh", "-c", mount + 'unshare -U --map-user=1000 "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("no mounts of /proc of our own here")
    (mux.dir / "inside.py").write_text(INSIDE)
    done = subprocess.run([*enter, "/usr/bin/python3", str(mux.dir / "inside.py"), str(mux.program), "tty" if have_pty() else "-"], env=mux.env,
                          cwd="/", capture_output=True, text=True, timeout=2 * CAP, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["hidden"] == (level == 2)
    assert told["readiness"] == "kernel"
    row, = told["constraints"]
    assert "hidepid" in row["limit"] and "another user" in row["what"] and "mount" in row["raise"]
    assert told["before"] == [1, 1] and told["after"] == [0, 0], told
    assert told["kill"]["sessions"][0]["survivors"] == 0
    assert "you are running inside this session" in told["in the session"]
    if "ready" in told:
        assert told["ready"] == "ready" and told["write"]["reason"] == "ready" and "42" in told["write"]["output"], told
        assert told["write"]["evidence"] in ("line_editor", "line_read"), told["write"]
    assert "pid" in told["pid"] and "keeper_pid" in told["keeper_pid"] and told["upgrade"] == 0
    assert told["children"]["exit_code"] == 3
    assert told["stop"] == 0 and told["stop waits"] > 0.7, "it returns when the keeper, too, has left"
