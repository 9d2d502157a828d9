"""A call of several steps is repeated after the worker's crash, or another call comes: it goes on where the former one stood."""
import os, signal

import pytest
from drill import BUILD, FOREVER, wait_for
from slow_gates import Slow

SLOW = BUILD / "crash" / "slow.so"

RC = """
shown() { : >"$d/$1"; until [ -e "$d/$1.go" ]; do sleep 0.02; done; }
stty() { command stty "$@"; [ "$1" != -echo ] || shown asked; }
printf() { builtin printf "$@"; shown answered; }
unset() { builtin unset "$@"; shown lined; }
"""  # the words of the two lines that make a shell write marks stop in it, each one once
STAGES = ["asked", "answered", "lined"]


def shell(mux):
    (mux.dir / "rc").write_text(f"d={mux.dir}\n{RC}PS1='$ '\n")
    n = mux.run(f"exec bash --rcfile {mux.dir}/rc -i", "s", tty=True)
    mux.wait(n, ready=True)
    return n


def is_right(mux, n, answer, text, asks=1):
    """Its output is its own, and neither of the two lines was typed twice."""
    assert (answer["output"], answer["status"], answer["by"]) == (text + "\n", 7, "marks"), answer
    entries = mux.call("read_input", {"session_id": n})["entries"]
    assert sum(e.get("text", "").startswith(" stty -echo") for e in entries) == asks, entries
    assert sum(e["author"] == "muxd" and e["kind"] == "secret" for e in entries) == 1, entries


@pytest.mark.parametrize("caller", ["repeats", "other"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_shell_that_is_being_integrated(mux, stage, caller):
    """The worker dies while the shell stands between our two lines, or behind the second one, before its prompt. Who comes next goes on
    there: the same call again, or one more while the first one's client is gone."""
    n, client = shell(mux), mux.client()
    for other in STAGES[:STAGES.index(stage)]:
        (mux.dir / f"{other}.go").touch()
    ticket = client.begin("run_command", {"session_id": n, "command": "echo one; (exit 7)"}, FOREVER)
    wait_for((mux.dir / stage).exists, "the shell to stand there")
    if caller == "other":
        client.close()
    mux.kill_worker()
    mux.call("status")
    if caller == "other":
        client = mux.client()
        ticket = client.begin("run_command", {"session_id": n, "command": "echo one; (exit 7)"}, FOREVER)
    for other in STAGES:
        (mux.dir / f"{other}.go").touch()
    is_right(mux, n, client.finish(ticket), "one")
    is_right(mux, n, mux.call("run_command", {"session_id": n, "command": "echo two; (exit 7)"}, FOREVER), "two")


def test_a_signal_ends_the_question(mux):
    """What reads a line then is the shell itself: our second line, with the nonce, is not for it."""
    n, client = shell(mux), mux.client()
    client.begin("run_command", {"session_id": n, "command": "echo one"}, FOREVER)
    wait_for((mux.dir / "asked").exists, "the question")
    client.close()
    mux.kill_worker()
    for stage in STAGES:
        (mux.dir / f"{stage}.go").touch()
    assert mux.wait(n, ready=True)["waiting_for"] == "secret"
    os.kill(mux.row(n)["pid"], signal.SIGINT)
    wait_for(lambda: mux.output(n).count(b"$ ") == 2, "its prompt")
    is_right(mux, n, mux.call("run_command", {"session_id": n, "command": "echo two; (exit 7)"}, FOREVER), "two", asks=2)


@pytest.mark.skipif(not SLOW.exists(), reason=f"'{SLOW}' was not built")
def test_a_shell_that_has_our_line_is_waited_for(make_mux):
    """Longer than one that may be busy with anything."""
    mux = make_mux()
    slow = Slow(mux, SLOW, wait_for)
    mux.start(env=slow.env)
    n, client = shell(mux), mux.client()
    for stage in STAGES[:2]:
        (mux.dir / f"{stage}.go").touch()
    client.begin("run_command", {"session_id": n, "command": "echo one"}, FOREVER)
    wait_for((mux.dir / "lined").exists, "the second line to be read")
    client.close()
    mux.kill_worker()
    client = mux.client()
    ticket = client.begin("run_command", {"session_id": n, "command": "echo one; (exit 7)"}, FOREVER)
    client.call("status")  # the call before has come, too
    slow.put_ahead(5)
    client.call("status")
    (mux.dir / "lined.go").touch()
    is_right(mux, n, client.finish(ticket), "one")


def test_a_command_for_the_program_that_a_command_runs(mux):
    """Its output is its own, and not also what that program has printed before."""
    n, client = shell(mux), mux.client()
    for stage in STAGES:
        (mux.dir / f"{stage}.go").touch()
    (mux.dir / "repl").write_text(f"echo hi\nwhile read x; do : >{mux.dir}/typed; until [ -e {mux.dir}/go ]; do sleep 0.02; done; echo \"<$x>\"; done\n")
    assert mux.call("run_command", {"session_id": n, "command": f"sh {mux.dir}/repl"}, FOREVER)["output"] == "hi\n"
    ticket = client.begin("run_command", {"session_id": n, "command": "one"}, FOREVER)
    wait_for((mux.dir / "typed").exists, "the line to be read")
    mux.kill_worker()
    (mux.dir / "go").touch()
    answer = client.finish(ticket)
    assert (answer["output"], answer["by"], client.retries) == ("<one>\n", "prompt", 1), answer


def test_steps_see_what_came_before_they_were_repeated(mux):
    n = mux.run(f"echo up; read x; echo got $x; read y; echo got $y; until [ -e {mux.dir}/go ]; do sleep 0.02; done; echo end", stdin=True)
    mux.until(n, "up")
    client = mux.client()
    ticket = client.begin("run_steps", {"session_id": n, "steps": [
        {"write": "one\n"}, {"expect": {"until": "got (one)", "yield_time_ms": 60000}}, {"wait": {"until": "got one", "yield_time_ms": 60000}},
        {"write": "two\n"}, {"wait": {"until": "got", "yield_time_ms": 60000}}, {"expect": {"until": "got (\\w+)", "yield_time_ms": 60000}},
        {"expect": {"until": "end", "yield_time_ms": 60000}}]})
    mux.until(n, "got two")
    mux.kill_worker()
    mux.call("status")
    (mux.dir / "go").touch()
    answer = client.finish(ticket)
    assert answer["completed"] == 7 and client.retries == 1, answer
    first, second = (answer["steps"][i]["match"] for i in (1, 5))
    assert (first["groups"], second["groups"]) == (["one"], ["two"]), answer
    assert mux.output(n) == b"up\ngot one\ngot two\nend\n"
