"""A prompt that is learned: of programs that sleep in raw mode with more than their terminal, at the prompt and while they compute."""
import os, sys

from conftest import CAP, wait_for
from test_until import VERB

# Reads lines in raw mode and echoes them, as node does. slow: its answer, and lies: more output, come when the pipe was written to.
EDITOR = r"""
import os, select, sys, termios, tty
tty.setraw(0)
gate = os.open("gate", os.O_RDWR)
say = lambda text: os.write(1, text.encode())
poll = select.epoll()
for fd in (0, gate, os.eventfd(0), os.pipe()[0]):
    poll.register(fd, select.EPOLLIN)
hear = lambda: [fd for fd, _ in poll.poll()]
def until_gate():
    while gate not in hear():
        os.read(0, 100)
    os.read(gate, 100)
line, number = "", 0
say("\r\n\x1b[1G% \x1b[3G")
while True:
    if 0 not in hear():
        continue
    for key in os.read(0, 100).decode():
        say(key if key != "\r" else "\r\n")
        line += key
        if key != "\r":
            continue
        if line == "quit\r":
            termios.tcflush(0, termios.TCIFLUSH)
            sys.exit()
        if line == "slow\r":
            until_gate()
        number += 1
        say(f"<{number}>\r\n\x1b[1G% \x1b[3G")
        if line == "lies\r":
            until_gate()
            say("more\r\n\x1b[1G% \x1b[3G")
        line = ""
"""


def test_a_prompt_is_learned_and_forgotten(mux):
    mux.configure("[defaults]\nraw_quiet = 50ms\n")
    os.mkfifo(mux.dir / "gate")
    (mux.dir / "editor.py").write_text(EDITOR)
    client = mux.rpc()
    call = lambda method, **params: client.call(method, {"session_id": "t", "yield_time_ms": CAP * 1000, **params, **VERB})
    send = lambda chars: client.send("write_stdin", {"session_id": "t", "chars": chars, "ready": True, "yield_time_ms": CAP * 1000, **VERB})
    line = lambda chars: call("write_stdin", chars=chars + "\r", ready=True)
    opened = lambda: (mux.dir / "gate").open("w")
    program = f"{sys.executable} {mux.dir}/editor.py"
    client.call("exec_command", {"cmd": ["bash", "--norc"], "name": "t", "tty": True, "ready": True, "workdir": str(mux.dir),
                                 "yield_time_ms": CAP * 1000, **VERB})

    def learn():
        went_by = [line(program)["evidence"]]  # by its modes, or by silence
        while went_by[-1] != "prompt" and len(went_by) < 7:
            answer = line("x")
            went_by.append(answer["evidence"])
        assert went_by.count("quiet") == 3 and len(went_by) < 6, went_by
        assert answer["waiting_for"] == "key" and answer["output"].count("<") == 1

    learn()
    # While it computes there is no prompt: silence is not believed for long.
    ticket = send("slow\r")
    wait_for(lambda: "slow\r\n" in call("read_output", since=0, peek=True, yield_time_ms=0)["output"], "the echo")
    call("read_output", quiet_ms=400, peek=True)
    assert client.call("status")["waits"] == 1
    with opened() as gate:
        gate.write("x")
    answer = client.result(ticket)
    assert answer["evidence"] == "prompt" and answer["output"].endswith(">\r\n\x1b[1G% \x1b[3G")
    # The prompt behind the first of two lines says nothing of the second.
    answer = call("write_stdin", chars="x\rx\r", ready=True)
    assert answer["evidence"] == "quiet" and answer["output"].count(">\r\n") == 2
    assert call("write_stdin", chars="x", ready=True)["evidence"] == "quiet"  # keys that print no new prompt
    assert line("y")["evidence"] == "prompt"
    # More output behind a prompt that was enough: it was none, and has to be learned anew.
    assert line("lies")["evidence"] == "prompt"
    with opened() as gate:
        gate.write("x")
    call("read_output", until="more", since=0, peek=True)
    assert line("x")["evidence"] == "quiet"
    # Another program, even the same once more, has another prompt.
    assert line("x")["evidence"] == "quiet" and line("x")["evidence"] == "quiet" and line("x")["evidence"] == "prompt"
    assert line("quit")["evidence"] == "line_editor"
    learn()
