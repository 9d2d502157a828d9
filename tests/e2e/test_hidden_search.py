"""`hidden` with patterns: a thread looks for what matches before a call is handled, so that a tree of any size holds nobody else up."""
import os, subprocess, sys

import pytest
from conftest import BUILD, DAEMON, ROOT, many, need_sandbox, wait_for
from test_approvals import waiting, yes
from test_audit import records

sys.path.append(str(ROOT / "tests/crash"))
from slow_gates import BEFORE_A_DIRECTORY, OPEN, Slow

SLOW = BUILD / "crash" / "slow.so"
pytestmark = [pytest.mark.no_pty, pytest.mark.skipif(not SLOW.exists(), reason=f"'{SLOW}' was not built")]
POLICIES = "".join(f"[policy {name}]\napproval = {approval}\nsandbox = workspace-write\ntemp = no\nhidden = **/.env\n" for name, approval in
                   (("boxed", "on-request"), ("asks", "untrusted"), ("retries", "granular")))


@pytest.fixture
def tree(mux):
    """A workspace with files in depth, and a daemon whose threads can be stopped before they read a directory."""
    mux.work = mux.dir / "w"
    (mux.work / "a/b/c").mkdir(parents=True)
    for place in ("", "a/b/c"):
        (mux.work / place / ".env").write_text("word\n")
    mux.configure(POLICIES)
    mux.slow = Slow(mux, SLOW, wait_for)
    subprocess.run([DAEMON, "--daemon"], env={**mux.env, **mux.slow.env}, check=True)
    need_sandbox(mux.ue("sandbox", "--explain", "--profile", "boxed", cwd=mux.work))
    return mux


def send(mux, tool="exec_command", profile="boxed", **params):
    rpc = mux.rpc()
    rpc.id = rpc.send(tool, {**params, "_meta": {"cwd": str(mux.work), "env": mux.env, "profile": profile}})
    return rpc


def command(cmd, **more):
    return {"cmd": cmd, "login": False, "yield_time_ms": 30000, **more}


def test_others_are_served_while_a_large_tree_is_looked_at(tree):
    """More files than a plan may look at by itself."""
    for i in range(many(21, 200)):
        place = tree.work / f"many/{i}"
        place.mkdir(parents=True)
        for j in range(1000):
            os.close(os.open(place / str(j), os.O_CREAT | os.O_WRONLY))
    (tree.work / "many/7/.env").write_text("word\n")
    tree.slow.shut(BEFORE_A_DIRECTORY)
    look = "cat .env a/b/c/.env many/7/.env || cat many/7/8 && echo seen"
    calls = [send(tree, **command(look)), send(tree, "shell_command", command=look, login=False),
             send(tree, "apply_patch", input="*** Begin Patch\n*** Add File: new\n+x\n*** End Patch")]
    tree.slow.wait()
    assert tree.ue("exec", "--raw", "echo other").ok().out == "other\n"  # nobody else waits for it
    assert tree.js("list", "--all")["sessions"][0]["cmd"] == "echo other" and not (tree.work / "new").exists()
    tree.slow.shut(OPEN)
    for call in calls[:2]:
        answer = call.result(call.id)
        assert answer["output"].count("Permission denied") == 3 and "seen\n" in answer["output"] and "word" not in answer["output"], answer
    assert calls[2].result(calls[2].id)["success"] and (tree.work / "new").exists()
    plan = tree.ue("sandbox", "--explain", "--profile", "boxed", cwd=tree.work).ok().out
    assert {line.split()[-1] for line in plan.splitlines() if line.endswith(".env")} == {str(tree.work / name) for name in (".env", "a/b/c/.env", "many/7/.env")}


def test_a_client_that_goes_meanwhile_starts_nothing(tree):
    tree.slow.shut(BEFORE_A_DIRECTORY)
    send(tree, **command("touch ran")).close()
    tree.slow.wait()
    tree.slow.shut(OPEN)
    assert tree.ue("exec", "--raw", "echo other").ok().out == "other\n"
    tree.ue("stop").ok()
    assert not (tree.work / "ran").exists()


def test_a_yes_goes_with_the_search(tree):
    """It is not asked twice, it holds once, and one whose client has gone meanwhile is told on record as a yes without effect."""
    call = send(tree, profile="asks", **command("cat .env; touch ran"))
    approval, = waiting(tree)
    tree.slow.shut(BEFORE_A_DIRECTORY)
    yes(tree, approval).ok()
    tree.slow.wait()
    assert waiting(tree, 0) == [] and not (tree.work / "ran").exists()
    tree.slow.shut(OPEN)
    assert "Permission denied" in call.result(call.id)["output"] and (tree.work / "ran").exists()
    assert [one["record"] for one in records(tree) if one.get("approval") == approval["id"]] == ["asked", "answered", "allowed"]
    (tree.work / "ran").unlink()
    call = send(tree, profile="asks", **command("cat .env; touch ran"))
    approval, = waiting(tree)
    tree.slow.shut(BEFORE_A_DIRECTORY)
    yes(tree, approval).ok()
    tree.slow.wait()
    call.close()
    failed, = wait_for(lambda: [one for one in records(tree) if one["record"] == "failed"], "the record")
    tree.slow.shut(OPEN)
    assert failed["approval"] == approval["id"] and failed["reason"] == "its client has gone" and not (tree.work / "ran").exists()


def test_what_was_hidden_by_a_pattern_is_told(tree):
    """The path is compared with the pattern: nothing is looked for again."""
    call = send(tree, **command("cat a/b/c/.env"))
    denial = call.result(call.id)["_meta"]["denial"]
    assert (denial["operation"], denial["evidence"], denial["path"]) == ("read", "path", str(tree.work / "a/b/c/.env")), denial
    call = send(tree, **command("cat a/b/c/.envy"))
    assert "_meta" not in call.result(call.id)


def test_who_is_confined_types_after_a_comparison_of_names(tree):
    """For typing nothing is looked for: the daemon's thread would stand still here."""
    call = send(tree, **command("cat", stdin=True, name="own", yield_time_ms=250))
    call.result(call.id)
    tree.slow.shut(BEFORE_A_DIRECTORY)
    typed = send(tree, "write_stdin", session_id="own", chars="hi\n", yield_time_ms=30000, until="hi")
    assert "hi" in typed.result(typed.id)["output"]
    tree.slow.shut(OPEN)
