"""A client whose daemon goes away over its request: it asks again, but neither for ever nor for longer than it was told to wait."""
import json, socket, threading, time

import pytest
from conftest import CAP

pytestmark = pytest.mark.no_pty


class Dying:
    """A daemon of which each worker takes one request and ends; the listening socket stays, as the keeper keeps it."""

    def __init__(self, path, answer=lambda number, request: None, late=0.0):
        self.requests, self.answer, self.late = [], answer, late
        path.parent.mkdir(parents=True, exist_ok=True)
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(str(path))
        self.sock.listen(64)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            with conn, conn.makefile("rb") as lines:
                line = lines.readline()
                if not line:
                    continue
                request = json.loads(line)
                self.requests.append(request)
                time.sleep(self.late)
                result = self.answer(len(self.requests), request)
                if result is not None:
                    conn.sendall(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n")

    def close(self):
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.thread.join(CAP)


@pytest.fixture
def dying(mux):
    made = []

    def make(**how):
        made.append(Dying(mux.socket, **how))
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("verb", [["list"], ["exec", "true"], ["exec", "-n", "s", "-y", "0", "true"], ["poll", "s"], ["write", "-l", "s", "x"],
                                  ["wait", "s"], ["logs", "s"], ["screen", "s"]], ids=lambda verb: verb[0])
def test_a_request_over_which_each_worker_ends(mux, dying, verb):
    """Also when each comes late: the same request is not sent for ever, and the client says why."""
    server = dying(late=0.02)
    done = mux.ue("--no-start", *verb, timeout=CAP)
    assert done.rc == 125 and "has ended 40 times over this request" in done.err and "ue status" in done.err, done
    assert 2 <= len(server.requests) <= 50


def test_an_answer_in_between_is_none_of_the_forty(mux, dying):
    state = {"session_id": 1000, "number": 1000, "name": "s", "state": "running", "content": "x\n", "output": "", "from": 0, "to": 0}
    dying(answer=lambda number, _: state if number % 30 == 0 else None)
    assert mux.ue("--no-start", "poll", "s", timeout=CAP).rc == 0


def test_a_deadline_outlives_the_worker(mux, dying):
    """The next worker is told how much of -y is over."""
    state = {"session_id": 1000, "number": 1000, "name": "s", "state": "running", "content": "x\n", "output": "", "from": 0, "to": 0}
    server = dying(answer=lambda number, _: state if number == 3 else None, late=0.2)
    mux.ue("--no-start", "poll", "-y", "50000", "--until", "never", "s", timeout=CAP)
    assert [request["params"]["yield_time_ms"] for request in server.requests] == [50000] * 3
    waited = [request["params"]["_meta"].get("waited_ms") for request in server.requests]
    assert waited[0] is None and waited[1] >= 200 and waited[2] >= 400, waited
