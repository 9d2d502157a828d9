"""The units as a user's own service manager runs them: installed into a home, found there, started by the first call."""
import os
import signal
import subprocess
import pytest
from conftest import BUILD, CAP, ROOT, command_line, need, needs_root, wait_for

MANAGER = "/lib/systemd/systemd"
# In a mount namespace of its own: a cgroup tree that it may change, and what tells that systemd runs the machine.
BEGIN = f"""set -e
mount --make-rprivate /
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$1"
echo $$ > "/sys/fs/cgroup/$1/cgroup.procs"
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
exec {MANAGER} --user --log-target=console"""


class Manager:
    def __init__(self, mux):
        need("unshare", "nsenter", "systemctl", "umount")
        if not os.access(MANAGER, os.X_OK):
            pytest.skip(f"'{MANAGER}' is not installed")
        self.mux = mux
        del mux.env["MUXD_SOCKET"]
        del mux.env["MUXD_CONFIG"]
        mux.socket = mux.dir / "muxd" / "muxd.sock"
        self.log = mux.dir / "manager.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", BEGIN, "sh", mux.dir.name], env=mux.env, cwd="/", stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        wait_for(lambda: self.process.poll() is not None or (mux.dir / "systemd/private").exists(), "the manager")
        if self.process.poll() is not None or self.ctl("is-system-running").stdout == "offline\n":  # systemctl(1) does nothing in a chroot
            self.close()
            pytest.skip(f"no service manager of a user here: {self.log.read_text()[-300:]}")
        wait_for(lambda: self.ctl("is-system-running").stdout in ("running\n", "degraded\n"), "the manager")

    def run(self, *args):
        return subprocess.run(["nsenter", "-t", str(self.process.pid), "-m", "-r", *args], env=self.mux.env, cwd="/", capture_output=True, text=True,
                              timeout=CAP, stdin=subprocess.DEVNULL)

    def ctl(self, *args):
        return self.run("systemctl", "--user", "--no-pager", *args)

    def ok(self, *args):
        done = self.ctl(*args)
        assert done.returncode == 0, (args, done, self.log.read_text()[-2000:])
        return done.stdout.strip()

    def state(self):
        return self.ok("show", "-p", "ActiveState", "--value", "muxd.service")

    def keeper(self):
        return int(self.ok("show", "-p", "MainPID", "--value", "muxd.service"))

    def close(self):
        if self.process.poll() is None:
            self.ctl("stop", "muxd.socket", "muxd.service")
            self.process.terminate()
        self.process.wait(CAP)
        subprocess.run(["unshare", "-m", "sh", "-c", 'umount -R /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 cgroup2 /sys/fs/cgroup && '
                        'find "/sys/fs/cgroup/$1" -depth -type d -exec rmdir {} +', "sh", self.mux.dir.name], capture_output=True, timeout=CAP)


@pytest.fixture
def manager(mux):
    installed = subprocess.run(["make", "-C", str(ROOT), f"BUILD={BUILD}", "NOBUILD=1", "PREFIX=~/.local", "install"], capture_output=True, text=True,
                               timeout=CAP, env={"PATH": os.environ["PATH"], "HOME": str(mux.home)}, stdin=subprocess.DEVNULL)
    assert installed.returncode == 0, installed
    found = Manager(mux)
    yield found
    found.close()


@needs_root
def test_a_service_of_the_user(mux, manager):
    manager.ok("enable", "--now", "muxd.socket")
    assert manager.state() == "inactive"
    mux.ue("--no-start", "exec", "-n", "work", "-y", 0, "exec sleep 300").ok()
    first = manager.keeper()
    assert manager.state() == "active" and command_line(first)[0] == os.fsencode(mux.home / ".local/libexec/muxd/muxd-keeper")

    # Whatever dies, is replaced or read again: the sessions stay, and the manager knows whom to ask.
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: manager.keeper() not in (0, first), "another keeper")
    manager.ok("reload", "muxd.service")
    mux.ue("upgrade").ok()
    manager.ok("reload", "muxd.service")
    assert mux.listed("work")["state"] == "running" and manager.state() == "active"

    # All at once: the sessions are gone, the service is not.
    manager.ok("kill", "--signal=KILL", "muxd.service")
    wait_for(lambda: manager.state() == "active" and manager.keeper() and mux.ue("--no-start", "list").rc == 0, "the service again")
    assert mux.listed("work") is None
    mux.ue("--no-start", "exec", "-n", "work", "-y", 0, "exec sleep 300").ok()
    manager.ok("stop", "muxd.service")
    assert manager.state() == "inactive" and not mux.daemons()
    mux.ue("--no-start", "exec", "true").ok()  # the socket goes on listening
    mux.ue("stop").ok()
    wait_for(lambda: manager.state() == "inactive", "the end that was asked for")
