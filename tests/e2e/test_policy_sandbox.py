"""[policy] sandbox: what a client's policy lets its commands and patches do, whichever way they are started; that nothing they leave behind
widens it; and what an approval or a rule sets free."""
import os, signal

import pytest
from conftest import CAP, need_sandbox, wait_for
from frames import ue_at_terminal
from test_approvals import content, waiting, yes
from test_sandbox import fake  # noqa: F401  (a fixture)

POLICIES = """
[policy mcp]
sandbox = workspace-write
writable_roots = ~/more
temp = no
[policy ro]
approval = on-request
sandbox = read-only
[policy net]
sandbox = workspace-write
network = yes
[policy free]
approval = never
"""


class Place:
    """A workspace, a directory that may be written besides, and one that may not."""

    def __init__(self, mux, config=POLICIES):
        self.mux, self.dir, self.more, self.out = mux, mux.dir / "w", mux.home / "more", mux.dir / "out"
        for place in (self.dir, self.more, self.out, self.dir / "sub"):
            place.mkdir()
        need_sandbox(mux.ue("sandbox", "--explain", cwd=self.dir))
        mux.configure(config)
        mux.ue("reload").ok()

    def call(self, tool, profile=None, **arguments):
        meta = {"cwd": str(self.dir), "mcp": True, **({"profile": profile} if profile else {})}
        return self.mux.rpc().call(tool, {**arguments, "_meta": meta})

    def refused(self, tool, profile=None, **arguments):
        meta = {"cwd": str(self.dir), "mcp": True, **({"profile": profile} if profile else {})}
        return self.mux.rpc().error(tool, {**arguments, "_meta": meta})

    def written(self):
        """What a run of `script` has written; it is gone afterwards."""
        found = {name for name, place in [("work", self.dir), ("sub", self.dir / "sub"), ("more", self.more), ("out", self.out)] if (place / "x").exists()}
        for place in (self.dir, self.dir / "sub", self.more, self.out):
            (place / "x").unlink(missing_ok=True)
        return found

    @property
    def script(self):
        return f"for d in {self.dir} {self.dir}/sub {self.more} {self.out}; do touch $d/x; done 2>/dev/null; exit 0"


@pytest.fixture
def place(mux):
    return Place(mux)


def exec_command(place, **more):
    answer = place.call("exec_command", login=False, yield_time_ms=30000, **{"cmd": place.script, **more})
    assert answer["exit_code"] == 0 and answer["children_left"] == 0, answer  # what ends the sandbox is none of them
    return place.written()


WORK = {"work", "sub", "more"}
ALL = WORK | {"out"}


@pytest.mark.no_pty
def test_the_policy_of_the_client_decides(place):
    mux = place.mux
    assert exec_command(place) == exec_command(place, tty=True) == WORK
    assert exec_command(place, workdir=str(place.out)) == WORK  # a model names where it begins, not what it may write
    assert exec_command(place, cmd=["sh", "-c", place.script]) == WORK
    assert place.call("exec_command", cmd="sleep 98765 >/dev/null 2>&1 </dev/null & exit 0", login=False, name="left")["children_left"] == 1
    assert mux.ue("kill", "left").rc == 0
    for tool, command in [("shell_command", place.script), ("shell", ["sh", "-c", place.script])]:
        assert place.call(tool, command=command)["success"] and place.written() == WORK, tool
    assert place.call("exec_command", profile="ro", cmd=place.script, login=False)["exit_code"] == 0 and place.written() == set()
    assert exec_command(place, sandbox="workspace-write", temp=False) == {"work", "sub"} and exec_command(place, sandbox="read-only") == set()
    facts = {session["cmd"]: session.get("sandbox") for session in mux.js("list", "--all")["sessions"]}
    assert facts[place.script]["mode"] == "read-only"  # the last one of that name
    # people's verbs go by [policy], which says nothing; then by what it says
    for args in (["exec", place.script], ["exec", "-t", "--exit", place.script], ["sh", place.script]):
        assert mux.ue(*args, cwd=place.dir).rc == 0 and place.written() == ALL, args
    mux.configure(POLICIES + "[policy]\nsandbox = workspace-write\ntemp = no\n[session s]\ncmd = cat\nsandbox = read-only\n[session t]\ncmd = cat\n")
    mux.ue("reload").ok()
    for args in (["exec", place.script], ["exec", "-n", "n", "--exit", place.script], ["sh", place.script]):
        assert mux.ue(*args, cwd=place.dir).rc == 0 and place.written() == {"work", "sub"}, args
    for name in "st":  # as the config says
        mux.ue("exec", "-n", name, "-y", 0).ok()
    assert mux.listed("s")["sandbox"]["mode"] == "read-only" and "sandbox" not in mux.listed("t")
    said = mux.ue("policy", "check", "touch", "x").ok().out
    assert "[policy mcp] would run it, in the sandbox workspace-write\n" in said and "[policy free] would run it\n" in said, said


@pytest.mark.no_pty
def test_a_call_can_not_ask_for_more(place):
    for more in ({"sandbox": "full-access"}, {"sandbox": "workspace-write", "network": True}, {"sandbox": "workspace-write", "writable_roots": [str(place.out)]}):
        error = place.refused("exec_command", cmd="touch x", **more)
        assert error.code == "denied" and f"`{list(more)[-1]}` asks for more than [policy mcp] of the config allows" in error.message, error
        assert "require_escalated" not in error.message
    error = place.refused("exec_command", profile="ro", cmd="touch x", sandbox="workspace-write")
    assert "[policy ro]" in error.message and "require_escalated" in error.message, error
    assert "approval policy is Never" in place.refused("exec_command", cmd="touch x", sandbox_permissions="require_escalated", justification="may I?").message
    assert place.written() == set()
    assert place.call("exec_command", profile="net", cmd="true", login=False, sandbox="workspace-write", network=True)["exit_code"] == 0


@pytest.mark.no_pty
def test_links_do_not_widen_the_next_command(place):
    """What a confined command may write it may replace by a link."""
    mux = place.mux
    (place.dir / "root").mkdir()
    mux.configure(f"[policy mcp]\nsandbox = workspace-write\nwritable_roots = {place.dir}/root\ntemp = no\n")
    mux.ue("reload").ok()
    script = f"rmdir root; ln -sT {place.out} root; ln -s {place.out} sub/link; exit 0"
    place.call("exec_command", cmd=script, login=False)
    assert not (place.dir / "root").is_symlink()  # a root is a mount, and stays where it is
    (place.dir / "root").rmdir()
    (place.dir / "root").symlink_to(place.out)  # another command, which had no such root, has done it
    error = place.refused("exec_command", cmd="touch root/x", login=False)
    assert "is a symbolic link, which a program in a sandbox may have set" in error.message, error
    patch = "*** Begin Patch\n*** Add File: {}\n+text\n*** End Patch"
    assert "is a symbolic link" in place.refused("apply_patch", input=patch.format("root/x")).message
    (place.dir / "root").unlink()
    (place.dir / "root").mkdir()
    place.call("exec_command", cmd="touch x", workdir="sub/link", login=False)
    assert place.written() == set()


@pytest.mark.no_pty
def test_a_patch_is_held_to_the_same(place):
    mux = place.mux
    outside = "writing outside of the project; rejected by user approval settings"
    (place.dir / ".git").mkdir()
    (place.dir / "link").symlink_to(place.out)
    (place.dir / "file").symlink_to(place.out / "x")
    (place.out / "mine").write_text("safe\n")
    (place.dir / "old").write_text("old\n")

    def patch(path, body="*** Add File: {}\n+text", **more):
        return {"input": f"*** Begin Patch\n{body.format(path)}\n*** End Patch", **more}
    for path in ("new", place.more / "new", "sub/deep/new", place.dir / "sub/.git/new"):
        assert place.call("apply_patch", **patch(path))["success"], path
    for path in (place.out / "x", "../out/x", "link/x", "file", ".git/x", ".git/hooks/x", ".muxd/x", ".codex", ".agents/a/b", "sub/../.git/y", mux.home / "x"):
        error = place.refused("apply_patch", **patch(path))
        assert outside in error.message and error.code == "denied", (path, error)
    for body in ("*** Delete File: {}", "*** Update File: {}\n@@\n-safe\n+bad", "*** Update File: old\n*** Move to: {}\n@@\n-old\n+new"):
        assert outside in place.refused("apply_patch", **patch(place.out / "mine", body)).message, body
    assert (place.out / "mine").read_text() == "safe\n" and (place.dir / "old").exists() and os.listdir(place.out) == ["mine"] and os.listdir(place.dir / ".git") == []
    # the same patch as the command of a shell tool, from another directory, and where nothing may be written
    script = "cd {} && apply_patch <<'E'\n" + patch("x")["input"] + "\nE\n"
    for tool, name in (("exec_command", "cmd"), ("shell_command", "command")):
        assert outside in place.refused(tool, **{name: script.format(place.out)}).message
    mux.configure(POLICIES + "[policy never]\napproval = never\nsandbox = read-only\n")
    mux.ue("reload").ok()
    assert "blocked by read-only sandbox" in place.refused("apply_patch", profile="never", **patch("newer")).message
    assert place.call("apply_patch", profile="free", **patch(place.out / "x"))["success"]
    assert mux.ue("patch", input=patch(place.out / "y")["input"], cwd=place.dir).rc == 0  # a person's


@pytest.mark.no_pty
def test_rules_that_allow_set_free(place):
    mux = place.mux
    mux.configure(POLICIES + "[rule t]\nprefix = touch\n")
    mux.ue("reload").ok()
    touch = f"touch {place.out}/x"
    assert place.call("exec_command", cmd=touch, login=False)["exit_code"] == 0 and place.written() == {"out"}
    for more in ({"cmd": f"{touch}; true"}, {"cmd": touch, "env": {"PATH": f"{place.dir}:{mux.env['PATH']}"}}, {"cmd": touch, "shell": "bash"},
                 {"cmd": f"{touch} >/dev/null"}):
        place.call("exec_command", login=False, **more)
        assert place.written() == set(), more


@pytest.mark.no_pty
def test_where_it_can_not_be_enforced_nothing_runs(mux, fake):
    fake("#!/bin/sh\necho 'bwrap: no permissions to create a new namespace' >&2\nexit 1\n")
    mux.configure("[policy mcp]\nsandbox = workspace-write\n[policy]\nsandbox = workspace-write\n")
    ran = mux.dir / "ran"
    for tool, name in (("exec_command", "cmd"), ("shell_command", "command")):
        error = mux.rpc().error(tool, {name: f"touch {ran}", "_meta": {"cwd": str(mux.dir)}})
        assert "can't be enforced here, and nothing runs without it" in error.message and "no permissions to create" in error.message, error
    assert mux.ue("exec", f"touch {ran}").rc == 125 and mux.ue("sh", f"touch {ran}").rc == 125
    assert not ran.exists() and mux.js("list", "--all")["sessions"] == []


@pytest.mark.no_pty
def test_who_is_confined_types_only_into_what_may_do_no_more(place):
    mux = place.mux
    mux.configure(POLICIES + "[defaults]\nscripts_may = attach\n")
    mux.ue("reload").ok()

    def session(name, **more):
        place.call("exec_command", profile="free", cmd="while read -r line; do echo got; done", name=name, stdin=True, login=False, yield_time_ms=250, **more)
        return name
    narrow = {"sandbox": "workspace-write", "temp": False}
    (place.dir / ".git").mkdir()
    may = [session("same", **narrow), session("sub", workdir="sub", **narrow), session("ro", sandbox="read-only"),
           session("root", writable_roots=[str(place.more)], **narrow)]
    may_not = {session("open"): "it is in no sandbox", session("temp", sandbox="workspace-write"): "it may write temporary files",
               session("net", network=True, **narrow): "it has a network", session("out", workdir=str(place.out), **narrow): "it may write other directories",
               session("git", workdir=".git", **narrow): "it may write other directories"}
    for name in may:
        assert "got" in place.call("write_stdin", session_id=name, chars="x\n", until="got", yield_time_ms=30000)["output"], name
    for name, why in may_not.items():
        for tool, more in (("write_stdin", {"chars": "x\n"}), ("write_stdin", {"keys": ["Enter"]}), ("write_stdin", {"eof": True}), ("write_stdin", {"chars_base64": "eAo="}),
                           ("run_command", {"command": "x"}), ("integrate_session", {}),
                           ("run_steps", {"steps": [{"write": "x\n"}]}), ("run_steps", {"steps": [{"wait": {"quiet_ms": 1}}, {"keys": ["Enter"]}]})):
            error = place.refused(tool, session_id=name, **more)
            assert error.code == "denied" and f"which [policy mcp] holds to workspace-write: {why}" in error.message, (name, tool, more, error)
        assert place.call("write_stdin", session_id=name, chars="", quiet_ms=1)["state"] == "running"  # it may look
    assert "[policy ro] holds to read-only: it may write" in place.refused("write_stdin", profile="ro", session_id="same", chars="x\n").message
    assert "got" in place.call("write_stdin", profile="ro", session_id="ro", chars="x\n", until="got", yield_time_ms=30000)["output"]
    place.call("exec_command", profile="free", cmd="cat", name="term", tty=True, login=False, yield_time_ms=250)
    assert "it is in no sandbox" in place.refused("attach", session_id="term", rows=24, cols=80).message
    assert "got" in mux.ue("write", "-y", CAP * 1000, "--until", "got", "-l", "open", "x").out  # a person's verb
    os.kill(mux.rpc().call("status")["pid"], signal.SIGKILL)  # a successor knows it, too
    wait_for(lambda: mux.ue("list").rc == 0, "a new worker")
    assert "it is in no sandbox" in place.refused("write_stdin", session_id="open", chars="x\n").message
    assert place.call("write_stdin", session_id="same", chars="x\n", until="got", yield_time_ms=30000)["reason"] == "until"
    interrupted = place.call("write_stdin", session_id="open", chars="\x03", yield_time_ms=30000)  # it may end it
    assert interrupted["exit_code"] == 130, interrupted
    assert place.call("kill_session", sessions=[*may_not, *may])["sessions"]


@pytest.mark.no_pty
def test_a_person_may_let_a_patch_out(place):
    """Where the policy may ask; a yes is to this patch."""
    mux = place.mux
    mux.configure("[policy mcp]\napproval = on-request\nsandbox = workspace-write\ntemp = no\n[policy ro]\napproval = untrusted\nsandbox = read-only\n")
    mux.ue("reload").ok()
    patch = "*** Begin Patch\n*** Add File: {}\n+text\n*** End Patch"

    def ask(text, tool="apply_patch", profile=None):
        rpc = mux.rpc()
        arguments = {"input": text} if tool == "apply_patch" else {"cmd": ["apply_patch", text]}
        rpc.id = rpc.send(tool, {**arguments, "_meta": {"cwd": str(place.dir), **({"profile": profile} if profile else {})}})
        return rpc
    for tool in ("apply_patch", "exec_command"):
        rpc = ask(patch.format(place.out / "x"), tool)
        approval, = waiting(mux)
        assert approval["reason"] == f"the patch writes what workspace-write does not allow: {place.out}/x" and str(place.out / "x") in approval["command"], approval
        assert place.written() == set()
        yes(mux, approval).ok()
        assert rpc.result(rpc.id)["success"] and place.written() == {"out"}, tool
    rpc = ask(patch.format(place.out / "x"))
    ue_at_terminal(mux, "deny", waiting(mux)[0]["id"]).ok()
    with pytest.raises(rpc.Error) as caught:
        rpc.result(rpc.id)
    assert content(caught.value) == "patch rejected by user" and place.written() == set()
    rpc = ask(patch.format(place.out / "x"))
    yes(mux, waiting(mux)[0], "--session").ok()
    assert rpc.result(rpc.id)["success"] and place.written() == {"out"}
    rpc = ask(patch.format(place.out / "y"))  # another one
    approval, = waiting(mux)
    rpc.close()
    wait_for(lambda: not mux.ue("approvals", "--json").json["approvals"], "nobody who asks")
    rpc = ask(patch.format("x"), profile="ro")
    yes(mux, waiting(mux)[0]).ok()
    assert rpc.result(rpc.id)["success"] and place.written() == {"work"} and not (place.out / "y").exists()
