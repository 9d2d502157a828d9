"""Several users of one machine, and several logins of one user, each with the default socket: users never meet, logins always do."""
import os
import pwd
import random
import shutil
import subprocess
import sys
from pathlib import Path
import pytest
from conftest import CAP, copy_programs, need, needs_root, wait_for

pytestmark = [pytest.mark.no_pty, needs_root]


def free_uid():
    while True:
        uid = random.randrange(61000, 65000)
        if not os.path.exists(f"/tmp/muxd-{uid}") and uid not in {entry.pw_uid for entry in pwd.getpwall()}:
            return uid


class Person:
    """An ordinary user with a home, whose logins have no variables of ours; has_runtime: one in which PAM has made a runtime directory."""

    def __init__(self, mux):
        self.mux, self.uid = mux, free_uid()
        self.home, self.runtime = mux.dir / f"home-{self.uid}", Path(f"/run/user/{self.uid}")
        self.home.mkdir(0o700)
        os.chown(self.home, self.uid, self.uid)
        self.socket = Path(f"/tmp/muxd-{self.uid}/muxd.sock")

    def popen(self, *args, has_runtime=False, **env):
        mine = {"PATH": self.mux.env["PATH"], "HOME": str(self.home), "SHELL": "/bin/sh", "LANG": "C.UTF-8", **env}
        if has_runtime:
            mine["XDG_RUNTIME_DIR"] = str(self.runtime)
        kept, self.mux.env = self.mux.env, mine
        self.mux.prefix = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--",
                           "sh", "-c", f'shift; exec {self.mux.dir}/bin/ue "$@"', "sh"]
        try:
            return self.mux.popen(*args, cwd="/")
        finally:
            self.mux.env = kept

    def ue(self, *args, **kw):
        process = self.popen(*args, **kw)
        try:
            return self.mux.finish(process)
        finally:
            self.mux.prefix = []

    def names(self, **kw):
        return [row["name"] for row in self.ue("--no-start", "list", "--json", **kw).ok().json["sessions"]]

    def log_in(self):
        self.runtime.mkdir(0o700, parents=True)
        os.chown(self.runtime, self.uid, self.uid)

    def close(self):
        for has_runtime in (False, True):
            self.ue("stop", has_runtime=has_runtime)
        shutil.rmtree(self.runtime, ignore_errors=True)
        shutil.rmtree(self.socket.parent, ignore_errors=True)


@pytest.fixture
def people(mux):
    need("setpriv")
    os.chmod(mux.dir, 0o711)
    copy_programs(mux.dir / "bin")  # the build may lie where nobody else may go
    made = []

    def make():
        made.append(Person(mux))
        return made[-1]
    yield make
    for person in made:
        person.close()


def test_two_users_at_once_never_meet(mux, people):
    anna, ben = people(), people()
    starts = [(person, person.popen("exec", "-n", "work", "-y", 0, f"id -u > {person.home}/who; exec sleep 300")) for person in (anna, ben) for _ in "12"]
    for _, process in starts:
        mux.finish(process)  # the name is taken by one of each two
    for person, other in ((anna, ben), (ben, anna)):
        assert person.names() == ["work"]
        wait_for(lambda: (person.home / "who").exists() and (person.home / "who").read_text() == f"{person.uid}\n", "the command")
        assert person.socket.stat().st_uid == person.uid and person.socket.parent.stat().st_mode & 0o777 == 0o700
        refused = person.ue("list", MUXD_SOCKET=str(other.socket))
        assert refused.rc == 125 and f"belongs to user {other.uid}" in refused.err, refused
    assert anna.ue("stop").ok() and ben.names() == ["work"]
    assert "work" in mux.ue("-S", ben.socket, "--no-start", "list").ok().out, "root may enter, by the path"


def test_the_runtime_directory_of_another_user_is_not_ours(people):
    anna, ben = people(), people()
    anna.log_in()
    anna.ue("exec", "-n", "hers", "-y", 0, "exec sleep 300", has_runtime=True).ok()
    his = ben.ue("exec", "--raw", "echo $MUXD_SOCKET", XDG_RUNTIME_DIR=str(anna.runtime)).ok()  # as after su(1)
    assert his.out == f"{ben.socket}\n" and ben.names() == []


def test_one_user_in_two_kinds_of_logins_has_one_daemon(people):
    anna = people()
    anna.ue("exec", "-n", "early", "-y", 0, "exec sleep 300").ok()
    anna.log_in()
    assert anna.names(has_runtime=True) == anna.names() == ["early"]
    assert anna.ue("exec", "--raw", "echo $MUXD_SOCKET", has_runtime=True).ok().out == f"{anna.socket}\n"
    assert anna.ue("--no-start", "list", MUXD_SOCKET=f"{anna.runtime}/muxd/muxd.sock").rc == 69, "what is named is not looked for elsewhere"
    anna.ue("stop", has_runtime=True).ok()
    anna.ue("exec", "-n", "late", "-y", 0, "exec sleep 300", has_runtime=True).ok()
    assert (anna.runtime / "muxd/muxd.sock").is_socket() and anna.names() == ["late"]
    anna.ue("stop").ok()
    anna.ue("exec", "-n", "again", "-y", 0, "exec sleep 300").ok()
    assert (anna.runtime / "muxd/muxd.sock").is_socket() and anna.names(has_runtime=True) == ["again"], "a login without the variable uses it, too"


LIES_IN_WAIT = ("import os, socket, sys\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\n"
                "os.chmod(sys.argv[1], 0o777)\ns.listen()\ns.settimeout(60)\nprint('listens', flush=True)\nconnection, _ = s.accept()\nprint(connection.recv(9999))\n")


def test_root_is_not_caught_by_who_listens_under_its_name(mux):
    place = mux.dir / "muxd"
    place.mkdir()
    os.chown(place, 65534, 65534)
    os.chmod(mux.dir, 0o711)
    del mux.env["MUXD_SOCKET"]
    with subprocess.Popen([sys.executable, "-c", LIES_IN_WAIT, place / "muxd.sock"], stdout=subprocess.PIPE, text=True, cwd="/") as other:
        assert other.stdout.readline() == "listens\n"
        refused = mux.ue("exec", "echo secret")
        assert refused.rc == 125 and "another user listens there" in refused.err, refused
        assert other.communicate(timeout=CAP)[0] == "b''\n", "nothing was sent"


def test_a_place_that_somebody_else_has_taken(people):
    anna, ben = people(), people()
    anna.socket.parent.mkdir(0o755)
    os.chown(anna.socket.parent, ben.uid, ben.uid)
    refused = anna.ue("exec", "true")
    assert refused.rc == 69 and f"belongs to user {ben.uid}" in refused.err and "-S or $MUXD_SOCKET" in refused.err, refused
    anna.ue("-S", anna.home / "s", "exec", "true").ok()
    anna.ue("-S", anna.home / "s", "stop").ok()
