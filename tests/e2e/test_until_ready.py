"""--until X --ready: X, and then ready; each alone means what it did."""
import pytest
from conftest import CAP, many, need, wait_for

ENDLESS = ("-y", CAP * 1000)
# It says so itself, in the foreground: ^C in the moment in which a shell starts a program may reach neither of the two.
SLEEPS = "sh -c \"echo mark''er; exec sleep 600\""
STAGES = "echo up; read a; echo match; while [ ! -e go ]; do sleep 0.02; done; echo done; read b"


@pytest.mark.smoke
def test_ready_is_waited_for_behind_the_match(mux):
    mux.ue("exec", "-n", "s", "-t", *ENDLESS, "sh", "-c", f"'{STAGES}'").ok()
    ue = mux.popen("write", "--json", "--until", "match", "--ready", *ENDLESS, "s", "-l", "x")
    wait_for(lambda: "match" in mux.js("poll", "--since", "0", "--peek", "s")["output"])
    assert mux.js("write", "--until", "no such", "-y", "200", "s", "")["reason"] == "deadline" and ue.poll() is None
    (mux.dir / "go").touch()
    answer = mux.finish(ue).json
    assert answer["reason"] == "ready" and answer["evidence"] == "line_read"
    assert answer["output"].replace("\r", "") == "x\nmatch\ndone\n"


def test_ready_without_a_match_is_not_enough(mux):
    mux.session("sh", "bash", "--norc")
    mux.ue("write", "sh", "-l", "(while [ ! -e go ]; do sleep 0.02; done; echo la''ter) &").ok()
    ue = mux.popen("write", "--json", "--until", "later", "--ready", *ENDLESS, "sh", "-l", "true")
    wait_for(lambda: "true" in mux.js("poll", "--since", "0", "--peek", "sh")["output"])
    assert mux.js("write", "--ready", "sh", "-l", "")["reason"] == "ready" and ue.poll() is None
    (mux.dir / "go").touch()
    answer = mux.finish(ue).json
    assert answer["reason"] == "ready" and "later" in answer["output"]


def test_exit_and_deadline_race(mux):
    mux.session("sh", "bash", "--norc")
    late = mux.ue("write", "--json", "--until", "marker", "--ready", "-y", "2000", "sh", "-l", SLEEPS)
    assert late.rc == 124 and late.json["reason"] == "deadline"
    mux.ue("poll", "--since", late.json["from"], "--until", "marker", *ENDLESS, "sh").ok()
    mux.ue("write", "-k", "C-c", "sh").ok()
    never = mux.ue("write", "--json", "--until", "never", "--ready", "-y", "300", "sh", "-l", "true")
    assert never.rc == 124 and never.json["reason"] == "deadline"
    ended = mux.ue("write", "--json", "--until", "marker", "--ready", *ENDLESS, "sh", "-l", "echo mark''er; exit 3")
    assert ended.rc == 124 and ended.json["reason"] == "exit" and ended.json["exit_code"] == 3


def test_each_alone(mux):
    mux.session("sh", "bash", "--norc")
    assert mux.js("write", "--until", "marker", *ENDLESS, "sh", "-l", SLEEPS)["reason"] == "until"
    mux.ue("write", "-k", "C-c", "sh").ok()
    assert mux.js("write", "--ready", *ENDLESS, "sh", "-l", "true")["reason"] == "ready"


def test_in_the_tools(mux):
    rpc = mux.rpc()
    started = rpc.call("exec_command", {"cmd": "echo up; read a; echo $a; read b", "tty": True, "name": "s", "until": "up", "ready": True, "yield_time_ms": 30000})
    assert started["reason"] == "ready" and "up" in started["output"]
    answer = rpc.call("write_stdin", {"session_id": "s", "chars": "one\n", "until": "one", "ready": True, "yield_time_ms": 30000})
    assert answer["reason"] == "ready"
    assert "needs a PTY" in str(rpc.error("exec_command", {"cmd": "cat", "until": "x", "ready": True}))


def test_no_type_ahead_at_a_prompt(mux):
    """A client that types as soon as it may: no line is echoed twice."""
    need("node")
    mux.session("js", "node")
    rpc = mux.rpc()
    for i in range(many(30, 200)):
        answer = rpc.call("write_stdin", {"session_id": "js", "chars": f"'a'+{i}\n", "until": f"'a{i}'", "ready": True, "yield_time_ms": 30000})
        assert answer["reason"] == "ready" and answer["output"].count(f"'a'+{i}") == 1 and answer["output"].count(f"'a{i}'") == 1
