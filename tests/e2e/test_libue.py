"""libue as a program meets it: installed, found by pkg-config, linked both ways, against a real daemon and against one that lies."""
import json, os, shutil, signal, socket, subprocess, sys, threading

import pytest
from conftest import BUILD, CAP, ROOT, SANITIZED, need, wait_for

pytestmark = pytest.mark.no_pty
HERE = ROOT / "tests/e2e"
CC = ["clang", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if SANITIZED else ["cc"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The prefix of an installation; its name has a blank, as a home may have."""
    need("pkg-config", CC[0])
    prefix = tmp_path_factory.mktemp("libue") / "in stalled"
    build = BUILD if (BUILD / "lib/libue.a").exists() else BUILD.parent  # that of valgrind has programs only
    done = subprocess.run(["make", "-C", str(ROOT), f"BUILD={build}", "NOBUILD=1", f"PREFIX={prefix}", "install"], capture_output=True, text=True,
                          timeout=CAP, env={"PATH": os.environ["PATH"], "CCACHE_DISABLE": "1"}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    return prefix


def compiled(prefix, source, *words, static=False):
    """The program of a source that was compiled with what pkg-config says, in the prefix."""
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "CCACHE_DISABLE": "1"}
    out = prefix / "bin" / (source.stem + ("-static" if static else ""))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *(["--static"] if static else []), "libue"], env=env, capture_output=True, text=True, check=True).stdout
    link = f"-Wl,-Bstatic -lue -Wl,-Bdynamic" if static else f"-lue -Wl,-rpath,'{prefix}/lib'"
    line = f"{' '.join(CC)} {' '.join(words)} -g '{source}' -o '{out}' {flags.strip().replace('-lue', link)} -pthread"
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, timeout=CAP)
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return out


@pytest.fixture(scope="session")
def check(installed):
    return compiled(installed, HERE / "libue_check.c", "-std=c11", "-D_GNU_SOURCE")


def run(mux, program, *args, prefix=(), env=None, status=0):
    done = mux.finish(mux.spawn([*prefix, str(program), *map(str, args)], env={**mux.env, **(env or {})}, cwd=mux.dir, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert done.rc == status, done
    return done


def test_what_is_installed(mux, installed, check):
    """The header is C11 and C++17 without a warning, and both libraries show nothing but their own names."""
    only = '#include <ue.h>\n#include <ue.h>\nint main() { ue_options o = {}; ue_client *c; return ue_open(&o, &c, nullptr) + ue_list_sessions(c, nullptr, nullptr, nullptr); }\n'
    for language, standard, text in (("c", "c11", "#include <ue.h>\n#include <ue.h>\n"), ("c++", "c++17", only)):
        done = subprocess.run([CC[0], f"-I{installed}/include", f"-std={standard}", *STRICT, "-fsyntax-only", "-x", language, "-"], input=text,
                              capture_output=True, text=True, timeout=CAP)
        assert done.returncode == 0, done
    shared = installed / "lib/libue.so.0"
    for names in (["nm", "-D", "--defined-only", shared], ["nm", "-g", "--defined-only", installed / "lib/libue.a"]):
        shown = [line.split()[-1] for line in subprocess.run(names, capture_output=True, text=True, check=True).stdout.splitlines() if len(line.split()) == 3]
        shown = [name for name in shown if not name.startswith("LIBUE_") and "san" not in name and not name.startswith("___")]
        assert len(shown) > 15 and all(name.startswith("ue_") for name in shown), shown
    assert "@@LIBUE_0" in subprocess.run(["nm", "-D", shared], capture_output=True, text=True).stdout
    # linked into the program, its names don't meet those of ours; and it starts the daemon of its own installation
    static = compiled(installed, HERE / "libue_check.c", "-std=c11", "-D_GNU_SOURCE", static=True)
    assert b"libue.so" not in subprocess.run(["ldd", static], capture_output=True).stdout
    run(mux, static, "tour", env={"PATH": "/usr/bin:/bin"})
    assert mux.daemons()


@pytest.mark.smoke
def test_against_a_real_daemon(mux, installed, check):
    """All typed calls, refusals, a crowd of calls, two threads. Where the daemon runs under valgrind, so does the program."""
    under = []
    if "valgrind" in BUILD.name:
        under = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=99", "--child-silent-after-fork=yes"]
    for scenario in ("tour", "refusals", "crowd", "threads"):
        run(mux, check, scenario, prefix=under)
        mux.ue("kill", "--all")
        for row in mux.sessions():
            mux.ue("rm", row["session_id"])


def test_the_worker_is_killed_in_calls(mux, check):
    """What is in flight is done once and answered once; steps, which may not be repeated, end; no event is lost or told twice."""
    for fifo in ("one", "two", "three"):
        os.mkfifo(mux.dir / fifo)
    mux.ue("start").ok()
    program = mux.spawn([check, "killed", mux.dir], env=mux.env, cwd=mux.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    worker = mux.js("status")["pid"]
    wait_for(lambda: all((mux.dir / name).exists() for name in ("begun", "typed", "stepped")) or program.poll() is not None, "the commands to run")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: mux.js("status")["pid"] != worker, "another worker")
    for name in ("one", "two", "three"):
        (mux.dir / name).write_text("")
    done = mux.finish(program)
    assert done.rc == 0, done
    assert [(mux.dir / name).read_text() for name in ("begun", "typed", "stepped")] == ["x\n"] * 3


HELLO = b'{"jsonrpc":"2.0","id":%d,"result":{"protocol":%d,"version":"9.9","requests_per_connection":4,"max_request":1000000}}\n'


class Liar:
    """A daemon that says what it is told to: `say` gets the number of a request and its method, and gives bytes, or None to hang up."""

    def __init__(self, path, say):
        self.say, self.served = say, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                sock = self.listener.accept()[0]
            except OSError:
                return
            self.served += 1
            with sock, sock.makefile("rb") as lines:
                for line in lines:
                    request = json.loads(line)
                    said = self.say(request["id"], request["method"])
                    try:
                        sock.sendall(said or b"")
                    except OSError:
                        break
                    if said is None or not said.endswith((b"\n", b" ")):  # a blank: it stays, and says no more
                        break

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def asking(status):
    return lambda id, method: HELLO % (id, 1) if method == "hello" else status(id)


LIES = {  # what is said, how it begins with what the program is told
    "half": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d,"resu' % id), "call internal", "has ended 40 times over this request"),
    "nothing to what counts": (asking(lambda id: None), "call no_daemon", "look whether it was done", "rename_session"),
    "nothing": (asking(lambda id: None), "call internal", "has ended 40 times"),
    "garbage": (asking(lambda id: b"\xff\x00{{{\n"), "call internal", "answers what can't be read"),
    "garbage with a number": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d,"result":{]}\n' % id), "call internal", "answers what can't be read"),
    "neither result nor error": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d}\n' % id), "call internal", "neither result nor error"),
    "another's answer first": (asking(lambda id: b'{"jsonrpc":"2.0","id":77777,"result":{}}\n{"jsonrpc":"2.0","id":%d,"result":{"x":1}}\n' % id), "answer", '{"x":1}'),
    "an error of the future": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32999,"message":"\\u263a","data":{"code":"brand_new"}}}\n' % id),
                               "call brand_new", "\u263a"),
    "a line without an end": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d,"result":"' % id + b"x" * (3 << 20) + b'"}\n'), "call too_large", "max_answer"),
    "a newer protocol": (lambda id, method: HELLO % (id, 2), "open not_available", "protocol 2"),
    "no muxd": (lambda id, method: b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % id, "open not_available", "is no muxd"),
    "refuses what it should take": (asking(lambda id: b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"failed to parse function arguments: unknown field '
                                           b'`_meta`","data":{"code":"arguments"}}}\n' % id), "call arguments", "this libue"),
}


def test_a_daemon_that_lies(mux, check):
    """Each ends with an error that says what is wrong, soon, and with bounded memory; nothing is printed by the library."""
    for lie, (say, begins, has, *method) in LIES.items():
        liar = Liar(mux.socket, say)
        limit = [] if SANITIZED else ["prlimit", f"--data={64 << 20}"]
        done = run(mux, check, "ask", *(method or ["status"]), prefix=limit)
        liar.close()
        assert not method or liar.served == 1, liar.served  # asked once
        mux.socket.unlink()
        assert done.out.startswith(begins) and has in done.out and not done.err, (lie, done)
    for says, told in ((asking(lambda id: b"\n"), "does not answer"), (asking(lambda id: b'{"jsonrpc": '), "stopped in the middle of an answer"),
                       (lambda id, method: b"\n", "does not answer")):
        liar = Liar(mux.socket, says)
        done = run(mux, check, "ask", "status", env={"ANSWER_MS": "300"})
        liar.close()
        mux.socket.unlink()
        assert "no_daemon" in done.out and told in done.out, done
    done = run(mux, check, "ask", "status", env={"NO_START": "1"})
    assert done.out.startswith("open no_daemon") and "nobody listens there; start muxd, or leave no_start out" in done.out, done


@pytest.mark.skipif(SANITIZED, reason="the same as in the other build")
def test_the_example_finds_where_a_program_crashes(mux, installed):
    need("gdb")
    example = compiled(installed, ROOT / "tests/examples/gdb_backtrace.c")
    assert len((ROOT / "tests/examples/gdb_backtrace.c").read_text().splitlines()) < 40
    (mux.dir / "crash.c").write_text("static int culprit(int *p) { return *p; }\nint main(int argc, char **argv) { (void)argv; return culprit(argc > 5 ? &argc : 0); }\n")
    subprocess.run(["cc", "-g", "-O0", "-o", mux.dir / "crash", mux.dir / "crash.c"], check=True, timeout=CAP)
    told = run(mux, example, mux.dir / "crash").out
    assert "#0 " in told and "culprit" in told and "#1 " in told and "main" in told and "crash.c:1" in told, told
    refused = run(mux, example, "/bin/true", status=1)
    assert "name" in refused.err or "did not crash" in refused.err, refused
