"""[rule NAME]: what is refused, by every way to start a command; ue policy check and import; a broken file changes nothing."""
import os
import resource
import signal
import subprocess

import pytest
from conftest import wait_for

pytestmark = pytest.mark.no_pty

RULES = """
[rule remove]
prefix = rm -rf
decision = forbidden
justification = move it to ~/trash instead
match = "rm -rf x" "rm x -rf"
not_match = "rm x"

[rule deploy]
prefix = ./deploy|deploy
decision = prompt

[rule list]
prefix = ls
"""


@pytest.fixture
def ruled(mux):
    mux.configure(RULES)
    (mux.dir / "keep").mkdir()
    return mux


def test_forbidden_command_does_not_run_whoever_asks(ruled):
    says = "rejected: move it to ~/trash instead"
    for words in (["rm", "-rf", "keep"], ["cd . && rm -rf keep"], ["sh -c 'rm -rf keep'"], ["--argv", "--", "/bin/rm", "-rf", "keep"],
                  ["-n", "x", "-t", "exec rm -rf keep"], ["-y", "5000", "echo rm -rf keep | sh"]):
        result = ruled.ue("exec", *words)
        assert result.rc == 126 and says in result.err, words
    result = ruled.call("exec_command", {"cmd": "rm -rf keep"})
    assert result.rc == 126 and says in result.out and result.out.startswith("exec_command failed"), result
    result = ruled.call("shell_command", {"command": "true; rm -rf keep"})
    assert result.rc == 126 and says in result.out
    assert ruled.call("shell", {"command": ["bash", "-lc", "rm -rf keep"]}).rc == 126
    rpc = ruled.rpc()
    assert rpc.error("exec_command", {"cmd": ["rm", "-rf", "keep"]}).code == "denied"
    assert (ruled.dir / "keep").is_dir()
    assert not [s for s in ruled.js("list", "--all")["sessions"]], "nothing was started"
    assert "refused by rule remove" in (ruled.state / "muxd" / "muxd.log").read_text()


def test_what_needs_approval_is_refused_and_the_rest_runs(ruled):
    result = ruled.ue("exec", "./deploy now")
    assert result.rc == 126 and "approval required by policy" in result.err
    assert ruled.ue("exec", "--raw", "echo rm -rf keep").ok().out == "rm -rf keep\n"
    assert ruled.ue("exec", "--raw", "rm -r keep; ls").rc == 0
    assert not (ruled.dir / "keep").exists()


def test_rules_hold_after_a_crash_and_go_with_a_reload(ruled):
    ruled.ue("start").ok()
    os.kill(ruled.js("status")["pid"], signal.SIGKILL)
    assert ruled.ue("exec", "rm -rf keep").rc == 126
    ruled.configure("")
    ruled.ue("reload").ok()
    assert ruled.ue("exec", "rm -rf keep").rc == 0
    assert not (ruled.dir / "keep").exists()


def test_a_worker_that_has_lost_the_config_starts_nothing(ruled):
    """Neither the file nor what the keeper holds of it can be read: the rules are not known, and the defaults would be wider."""
    ruled.ue("start").ok()
    assert ruled.ue("exec", "-n", "live", "-t", "cat").rc == 0
    worker = ruled.js("status")["pid"]
    # a limit that keeps the worker from handing its config to the keeper
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (64, resource.prlimit(worker, resource.RLIMIT_FSIZE)[1]))
    ruled.configure(RULES + "# more\n")
    ruled.ue("reload").ok()
    ruled.configure("[rul")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: ruled.js("status")["pid"] != worker, "the next worker")
    for words in (["exec", "true"], ["exec", "-n", "x", "-t", "cat"], ["call", "shell_command", '{"command": "true"}'],
                  ["call", "apply_patch", '{"input": "*** Begin Patch\\n*** Add File: new\\n+x\\n*** End Patch\\n"}']):
        result = ruled.ue(*words)
        assert result.rc == 125 and "ue reload" in result.err + result.out, words
    assert not (ruled.dir / "new").exists() and ruled.js("status")["pid"] != worker
    assert [s["name"] for s in ruled.js("list")["sessions"]] == ["live"]
    ruled.configure(RULES)
    ruled.ue("reload").ok()
    assert ruled.ue("exec", "true").rc == 0 and ruled.ue("exec", "rm -rf keep").rc == 126


def test_check_explains_and_runs_nothing(ruled):
    told = ruled.ue("policy", "--json", "check", "cd x; rm -rf keep").json
    assert told["decision"] == "forbidden" and told["refused"] and told["plain"]
    assert told["commands"] == [["cd", "x"], ["rm", "-rf", "keep"]]
    assert [(m["rule"], m["decision"], m["command"]) for m in told["matches"]] == [("remove", "forbidden", ["rm", "-rf", "keep"])]
    result = ruled.ue("policy", "check", "rm -rf $X")
    assert result.rc == 126 and "not plain (an expansion)" in result.out and "[rule remove], line 2" in result.out
    result = ruled.ue("policy", "check", "ls", "-l")
    assert result.rc == 0 and "decision  allow" in result.out
    result = ruled.ue("policy", "check", "true; rm -f x; ./ls")
    assert result.rc == 0 and "decision  none" in result.out
    for words in ("true  (known to be safe)\n", "rm -f x  (known to be dangerous)\n", "./ls\n"):
        assert f"runs      {words}" in result.out, result
    assert (ruled.dir / "keep").is_dir()
    for words in (["check"], ["import"], ["import", "a", "b"], ["nosuch"]):
        assert ruled.ue("policy", *words).rc == 64


@pytest.mark.parametrize("text, words", [
    ("[rule a]\ndecision = forbidden\n", (":1", "prefix")), ("[rule a]\nprefix = a\ndecision = maybe\n", (":3", "maybe", "forbidden")),
    ("[rule a]\nprefix = git push\nmatch = \"git pull\"\n", (":1", "rule a", "git pull")), ("[rule a]\nprefix = a||b\n", (":1", "alternative")),
    ("[rule a]\nprefix = git\nhost_executable = git\n", (":1", "absolute")), ("[rule a]\nprefix = git\nhost_executable = /bin/got\n", (":1", "/bin/got")),
    ("[rule a]\nprefix = a\n[rule a]\nprefix = b\n", (":3", "line 1")), ("[rule]\n", (":1", "[rule NAME]")), ("[rule a]\npreffix = a\n", (":2", "prefix"))],
    ids=range(9))
def test_a_broken_rule_changes_nothing(ruled, text, words):
    ruled.ue("start").ok()
    ruled.configure(text)
    result = ruled.ue("reload")
    assert result.rc == 125, result
    for word in words:
        assert word in result.err, result
    assert ruled.ue("exec", "rm -rf keep").rc == 126
    checked = subprocess.run([str(ruled.program.parent / "muxd"), "--check-config", str(ruled.conf)], env=ruled.env, capture_output=True, text=True)
    assert checked.returncode != 0 and words[-1] in checked.stderr


def test_rules_of_codex(mux):
    rules = mux.dir / "default.rules"
    rules.write_text('prefix_rule(pattern=["git", ["push", "pull"]], decision="forbidden", match=[["git", "push"]])\n')
    sections = mux.ue("policy", "import", str(rules)).ok().out
    mux.configure(sections)
    mux.ue("reload").ok()
    result = mux.ue("exec", "git pull")
    assert result.rc == 126 and "rejected: policy forbids commands starting with `git push|pull`" in result.err, result
    rules.write_text("load('x')\nprefix_rule(pattern=['a'])\nnetwork_rule(host='x.org', protocol='https', decision='allow')\n")
    result = mux.ue("policy", "import", str(rules))
    assert result.rc == 125 and f"{rules}: line 1: " in result.err and "line 3: network_rule: " in result.err and not result.out, result
    assert "--skip-refused" in result.err and "the others (1)" in result.err
    result = mux.ue("policy", "--skip-refused", "import", str(rules)).ok()
    assert "[rule imported-2]" in result.out and result.out.count("[rule") == 1 and "line 3: " in result.err
    assert mux.ue("policy", "import", str(mux.dir / "absent")).rc == 125
    assert any("[rule imported-1] decision = forbidden" in line for line in mux.ue("config").ok().out.splitlines())
