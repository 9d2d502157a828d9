"""Bad input, one by one: each is answered with a clear word, leaves nothing behind and lets the daemon go on."""
import json, os, re, resource, shutil, signal, socket, subprocess, sys

import pytest
from conftest import CAP, UE, open_files, need, needs_root, wait_for

pytestmark = pytest.mark.no_pty


def nothing_left(mux):
    assert mux.js("list")["sessions"] == []
    wait_for(lambda: set(mux.pids()) <= set(mux.daemons()), "only the daemon to be left")


def goes_on(mux):
    assert mux.ue("exec", "--raw", "echo fine").ok().out == "fine\n"


@pytest.mark.parametrize("command", ["", " ", "\t\n "])
def test_empty_command(mux, command):
    for result in (mux.call("exec_command", {"cmd": command}), mux.ue("exec", "-y", "30s", command)):
        assert result.rc == 0 and result.answer["exit"] == "0" and result.answer["output"] == ""
    nothing_left(mux)


@pytest.mark.parametrize("arguments", [{}, {"cmd": []}, {"cmd": [""]}])
def test_missing_command(mux, arguments):
    result = mux.call("exec_command", arguments)
    assert result.rc == 125 and result.out
    nothing_left(mux)


def test_unknown_tool(mux):
    result = mux.call("no_such_tool", {})
    assert result.rc in (64, 125) and "no_such_tool" in result.out + result.err


def test_workdir_that_does_not_exist(mux):
    result = mux.ue("exec", "-C", "/no/such", "true")
    assert result.rc == 125 and "/no/such" in result.err and "No such file" in result.err
    nothing_left(mux)


def test_workdir_that_is_no_directory(mux):
    result = mux.ue("exec", "-C", "/etc/passwd", "true")
    assert result.rc == 125 and "/etc/passwd" in result.err and "irectory" in result.err
    nothing_left(mux)


@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
def test_shell_that_does_not_exist(mux, options):
    result = mux.ue("exec", *options, "-s", "/no/such/shell", "true")
    assert result.rc == 125 and "/no/such/shell" in result.err
    nothing_left(mux)


@pytest.mark.parametrize("options", [(), ("-t",)], ids=["pipes", "tty"])
@pytest.mark.parametrize("program, word", [("/no/such/program", "No such file"), ("no-such-program-at-all", "No such file"), ("/etc/passwd", "Permission denied"),
                                           ("/usr", "Permission denied"), ("", "")])
def test_program_that_cannot_be_started(mux, options, program, word):
    result = mux.ue("exec", *options, "--argv", "--", program)
    assert result.rc in (64, 125) and program in result.err and word in result.err, result
    assert mux.js("list", "--all")["sessions"] == []
    nothing_left(mux)


def test_script_without_interpreter(mux):
    script = mux.dir / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = mux.ue("exec", "--argv", script)
    assert result.rc == 125 and str(script) in result.err
    nothing_left(mux)


def test_ten_thousand_failures_leak_nothing_in_small(mux):
    mux.ue("start").ok()
    wire = mux.rpc()

    def round_of_failures():
        for _ in range(30):
            assert mux.ue("exec", "--argv", "/no/such/program").rc == 125
        wait_for(lambda: len(mux.pids()) == len(mux.daemons()))
        wait_for(lambda: wire.call("status")["connections"] == 1)  # the last client's end has been seen
        return files_of_all()

    def files_of_all():
        return [open_files(pid) for pid in mux.daemons()]
    before = round_of_failures()
    round_of_failures()
    wait_for(lambda: all(now <= then for now, then in zip(files_of_all(), before, strict=True)), "all descriptors to be closed")


def test_out_of_descriptors(mux):
    mux.ue("start").ok()
    before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in mux.daemons()}
    for pid in before:
        used = open_files(pid)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 2, before[pid][1]))
    result = mux.ue("exec", "-t", "true")
    assert result.rc in (125, 69), result
    for pid, limit in before.items():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
    goes_on(mux)
    assert sorted(before) == mux.daemons(), "the daemon lived through it"
    nothing_left(mux)


@needs_root
def test_fork_fails(mux):
    uid = 61000 + os.getpid() % 4000  # a user whose processes are all ours
    own_ue = mux.give_to(uid)

    def as_user(*args):
        return subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *map(str, args)], env=mux.env, cwd=mux.dir, capture_output=True, timeout=CAP, stdin=subprocess.DEVNULL)

    def ue(*args):
        return as_user(own_ue, *args)

    def allow_processes(soft):
        for pid in daemons:
            changed = as_user("prlimit", f"--pid={pid}", f"--nproc={soft}:")
            assert changed.returncode == 0, changed
    assert ue("exec", "--raw", "echo up").stdout == b"up\n"
    daemons = mux.daemons()
    try:
        usual = as_user("prlimit", f"--pid={daemons[0]}", "--nproc", "--output=SOFT", "--noheadings").stdout.decode().strip()
        allow_processes(1)
        failed = ue("exec", "true")
        assert failed.returncode == 125 and b"esource temporarily unavailable" in failed.stderr, failed
        allow_processes(usual)
        assert ue("exec", "--raw", "echo again").stdout == b"again\n"
        assert b"true" not in ue("list").stdout
    finally:
        assert ue("stop").returncode == 0
    wait_for(lambda: not mux.pids(), "the daemon to end")


@needs_root
def test_no_pty_left(mux):
    space = "mount -t devpts -o newinstance,max=1,ptmxmode=0666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx"
    if subprocess.run(["unshare", "-m", "sh", "-c", space], capture_output=True).returncode:
        pytest.skip("no mount namespaces or no devpts instances here")
    subprocess.run(["unshare", "-m", "sh", "-c", f'{space} && exec "$@"', "sh", str(UE), "start"], env=mux.env, check=True, timeout=CAP, cwd="/")
    mux.ue("exec", "-n", "first", "-t", "--no-ready", "-y", "250", "exec sleep 300").ok()
    result = mux.ue("exec", "-t", "true")
    assert result.rc == 125 and ("PTY" in result.err or "pty" in result.err or "terminal" in result.err), result
    mux.ue("kill", "first").ok()
    wait_for(lambda: mux.ue("exec", "-t", "true").rc == 0, "the PTY to be free again")


# Opens terminals until one has the wanted number, runs a program on it and says how that ended.
NEIGHBOUR = """
import fcntl, os, sys, termios, time
held = []
while not held or os.ttyname(held[-1][1]) != "/dev/pts/" + sys.argv[1]:
    held.append(os.openpty())
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(held[-1][1], termios.TIOCSCTTY, 0)
    print("here", flush=True)
    sys.stdin.readline()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@needs_root
def test_a_container_s_terminal_of_the_same_number_is_spared(mux):
    """Each devpts numbers its terminals from 0: a kill must not take a program for ours because of such a number."""
    space = 'mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"'
    if subprocess.run(["unshare", "-m", "sh", "-c", space, "sh", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces or no devpts instances here")
    number = re.search(r"/dev/pts/(\d+)", mux.session("ours", "/bin/sh", "-c", "tty; exec sleep 300", options=("--argv", "--until", r"pts/\d+\s"))["output"])[1]
    with subprocess.Popen(["unshare", "-m", "sh", "-c", space, "sh", sys.executable, "-c", NEIGHBOUR, number], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as neighbour:
        try:
            assert neighbour.stdout.readline() == "here\n"
            mux.ue("kill", "ours").ok()
            mux.ue("stop").ok()
            assert neighbour.communicate("end\n", CAP)[0] == "7\n", "the kill hit the neighbour's program"
        finally:
            neighbour.kill()


def test_connections_that_say_nothing(mux):
    wanted = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted + 200:
        pytest.skip(f"this machine allows {hard} descriptors only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted + 200, hard))
    clients = []
    try:
        mux.ue("start").ok()
        for _ in range(wanted):
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(mux.socket))  # blocking: it waits while the queue of the socket is full
            clients.append(client)
        goes_on(mux)
        assert mux.rpc().call("hello")["protocol"] == 1
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    goes_on(mux)


def test_socket_path_that_is_too_long(mux):
    path = f"{mux.dir}/{'x' * 120}"
    result = mux.ue("-S", path, "exec", "true")
    assert result.rc in (64, 69, 125) and "107" in result.err and path[:40] in result.err


def test_stale_socket(mux):
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(mux.socket))
    stale.close()
    goes_on(mux)


def test_file_in_place_of_the_socket(mux):
    mux.socket.write_text("precious")
    result = mux.ue("exec", "true")
    assert result.rc in (69, 125) and str(mux.socket) in result.err
    assert mux.socket.read_text() == "precious"


@pytest.mark.parametrize("kind", ["open", "link", "file"])
def test_directory_with_wrong_permissions(mux, kind):
    place = mux.dir / "place"
    if kind == "open":
        place.mkdir()
        place.chmod(0o777)
    elif kind == "link":
        (mux.dir / "real").mkdir(0o700)
        place.symlink_to(mux.dir / "real")
    else:
        place.write_text("")
    result = mux.ue("-S", place / "s", "exec", "true")
    assert result.rc in (69, 125) and str(place) in result.err, result
    assert not (place / "s").exists()


@needs_root
def test_directory_of_somebody_else(mux):
    place = mux.dir / "place"
    place.mkdir(0o700)
    os.chown(place, 65534, 65534)
    result = mux.ue("-S", place / "s", "exec", "true")
    assert result.rc in (69, 125) and str(place) in result.err


def test_socket_that_vanishes_is_bound_anew(mux):
    mux.ue("start").ok()
    daemons = mux.daemons()
    mux.socket.unlink()
    wait_for(mux.socket.exists, "the socket to come back")
    goes_on(mux)
    assert mux.daemons() == daemons


def test_socket_that_could_not_be_bound_anew_is_at_the_next_hangup_signal(mux):
    """Nothing tells when what is in its way has gone: whoever takes it away says so."""
    mux.configure(f"[muxd]\nlog = {mux.dir}/log\n")
    place = mux.dir / "place"
    path = place / "sub" / "s"
    path.parent.mkdir(0o700, parents=True)
    mux.ue("-S", path, "start").ok()
    daemons = mux.daemons()
    for pid in daemons:  # so that all of it happens before they look
        os.kill(pid, signal.SIGSTOP)
    path.parent.rename(mux.dir / "away")
    place.rmdir()
    place.write_text("in its way")
    for pid in daemons:
        os.kill(pid, signal.SIGCONT)
    wait_for(lambda: "SIGHUP" in (mux.dir / "log").read_text(), "the failure to be told")
    place.unlink()
    for pid in daemons:
        os.kill(pid, signal.SIGHUP)
    wait_for(lambda: mux.ue("-S", path, "--no-start", "status").rc == 0, "the socket to come back", cap=CAP / 4)
    assert mux.daemons() == daemons
    mux.ue("-S", path, "stop").ok()


def test_state_directory_that_cannot_be_written(mux):
    shutil.rmtree(mux.state)
    mux.state.write_text("a file")
    result = mux.ue("exec", "--raw", "echo x")
    assert (result.rc, result.out) == (0, "x\n") or (result.rc in (69, 125) and str(mux.state) in result.err), result


def test_arguments_that_are_too_many(mux):
    mux.configure("[limits]\nargv = 64k\n")
    result = mux.ue("exec", "--argv", "/bin/echo", *["x" * 1000] * 100)
    assert result.rc == 125 and "argv" in result.err and "65536" in result.err
    nothing_left(mux)


def test_environment_that_is_too_large(mux):
    mux.configure("[limits]\nenvironment = 64k\n")
    result = mux.call("exec_command", "-", input=json.dumps({"cmd": "true", "env": {"X": "x" * 100_000}}))
    assert result.rc == 125 and "environment" in result.out
    nothing_left(mux)


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A": "x\0y"}])
def test_variable_that_cannot_be(mux, env):
    assert mux.call("exec_command", {"cmd": "true", "env": env}).rc == 125
    nothing_left(mux)


def test_one_argument_longer_than_the_kernel_takes(mux):
    result = mux.call("exec_command", "-", input=json.dumps({"cmd": ["/bin/echo", "x" * 200_000]}))
    assert result.rc == 125 and result.out
    nothing_left(mux)


@pytest.mark.parametrize("name", ["MUXD_CONFIG", "-f"])
def test_config_file_that_does_not_exist(mux, name):
    path = mux.dir / "none.ini"
    result = mux.ue("-f", path, "exec", "true", env={"MUXD_CONFIG": ""}) if name == "-f" else mux.ue("exec", "true", env={"MUXD_CONFIG": str(path)})
    assert result.rc in (0, 69, 125)
    if result.rc:
        assert str(path) in result.err


def test_ten_requests_of_rubbish_from_fifty_connections(mux):
    mux.ue("start").ok()
    mux.ue("list").ok()

    def files_of_all():
        return [open_files(pid) for pid in mux.daemons()]
    before = files_of_all()
    for _ in range(2):  # at the first count a file of the start may still be open, at the second one not
        for n in range(50):
            client = mux.rpc()
            client.send_raw(os.urandom(300).replace(b"\n", b" ") + b"\n" * (n % 3))
            client.close()
        mux.ue("list").ok()  # it has accepted all the others by then
        wait_for(lambda: all(now <= then for now, then in zip(files_of_all(), before, strict=True)), "all descriptors to be closed")
        before = files_of_all()
    goes_on(mux)


@pytest.mark.no_pty
def test_empty_socket_path_does_not_mean_the_default(mux):
    mux.ue("start").ok()
    result = mux.ue("-S", "", "stop")
    assert result.rc == 64 and "--socket" in result.err
    assert mux.ue("--no-start", "status").rc == 0


@pytest.mark.no_pty
@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "fish"])
def test_command_that_begins_as_an_option_is_a_command(mux, shell):
    need(shell)
    result = mux.ue("exec", "-s", shell, "--", "-n x")
    assert result.rc == 127 and "-n" in result.answer["output"] and "option" not in result.answer["output"]
