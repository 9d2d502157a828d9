"""apply_patch: as a tool, as ue patch, as the program apply_patch, and found in the shell tools."""
import json, os, stat, subprocess

import pytest
from conftest import UE, wait_for

pytestmark = pytest.mark.no_pty
ADD = "*** Begin Patch\n*** Add File: uexec_apply.txt\n+hi\n*** End Patch\n"
DONE = "Success. Updated the following files:\nA uexec_apply.txt\n"
THREE = ("*** Begin Patch\n*** Add File: nested/new.txt\n+created\n*** Delete File: delete.txt\n*** Update File: modify.txt\n@@\n-line2\n+changed\n"
         "*** End Patch\n")


@pytest.fixture
def work(mux):
    place = mux.dir / "work"
    place.mkdir()
    (place / "modify.txt").write_text("line1\nline2\n")
    (place / "delete.txt").write_text("x\n")
    return place


def update(path, old, new):
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


@pytest.fixture
def program(mux):
    os.symlink(UE, mux.dir / "apply_patch")

    def run(*args, input=b"", cwd=None):
        return subprocess.run([str(mux.dir / "apply_patch"), *args], input=input, env=mux.env, cwd=cwd or mux.dir, capture_output=True, timeout=60)
    return run


@pytest.mark.smoke
def test_verb_with_a_file_and_standard_input(mux, work):
    (mux.dir / "p").write_text(THREE)
    result = mux.ue("patch", "-C", work, "p")
    assert (result.rc, result.out, result.err) == (0, "Success. Updated the following files:\nA nested/new.txt\nM modify.txt\nD delete.txt\n", "")
    assert (work / "modify.txt").read_text() == "line1\nchanged\n" and (work / "nested/new.txt").read_text() == "created\n"
    assert not (work / "delete.txt").exists()
    assert mux.ue("patch", "-", input=update("modify.txt", "line1", "first"), cwd=work).rc == 0
    assert mux.ue("patch", input=update("modify.txt", "changed", "second"), cwd=work).rc == 0
    assert (work / "modify.txt").read_text() == "first\nsecond\n"


def test_verb_that_fails_changes_nothing(mux, work):
    patch = THREE.replace("-line2", "-missing")
    result = mux.ue("patch", input=patch, cwd=work)
    assert result.rc == 1 and result.out == ""
    assert result.err == f"Failed to find expected lines in {work}/modify.txt:\nmissing\n"
    assert sorted(os.listdir(work)) == ["delete.txt", "modify.txt"]
    result = mux.ue("patch", input="nonsense", cwd=work)
    assert (result.rc, result.err) == (1, "Invalid patch: The first line of the patch must be '*** Begin Patch'\n")
    assert mux.ue("patch", "/no/such/file").rc == 125
    assert mux.ue("patch", input=b"*** Begin Patch\n\xff\n").rc == 125
    assert mux.ue("patch", "a", "b").rc == 64
    large = mux.ue("patch", input="*** Begin Patch\n*** Add File: big\n" + f"+{'x' * 99}\n" * 100_000 + "*** End Patch\n", cwd=work)
    assert large.rc == 125 and "make several patches of it" in large.err and not (work / "big").exists()


def test_program(mux, work, program):
    done = program(THREE, cwd=work)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Success. Updated the following files:\nA nested/new.txt\nM modify.txt\nD delete.txt\n", b"")
    done = program(THREE, cwd=work)
    assert done.returncode == 1 and done.stdout == b""
    assert done.stderr.decode() == f"Failed to delete file {work}/delete.txt\nue: the reason: No such file or directory (os error 2)\n"
    done = program(input=ADD.encode(), cwd=work)
    assert (done.returncode, done.stdout) == (0, DONE.encode())


@pytest.mark.parametrize("args, text", [((), b"Usage: apply_patch 'PATCH'"), (("a", "b"), b"Error: apply_patch accepts exactly one argument.")])
def test_program_used_wrongly(mux, program, args, text):
    done = program(*args)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.startswith(text)


def test_tool(mux, work):
    for key in ("input", "patch"):
        result = mux.call("apply_patch", {key: ADD}, cwd=work)
        assert result.rc == 0 and result.out.startswith("Exit code: 0\nWall time: ") and result.out.endswith(f" seconds\nOutput:\n{DONE}")
    answer = mux.rpc().call("apply_patch", {"input": update("modify.txt", "line2", "x"), "workdir": str(work)})
    assert answer["files"] == [{"path": "modify.txt", "kind": "update"}] and answer["exit_code"] == 0


@pytest.mark.parametrize("patch, text", [
    ("*** Begin Patch\n*** Frobnicate File: foo\n*** End Patch", "apply_patch verification failed: invalid hunk at line 2, '*** Frobnicate File: foo' is not a valid hunk header."),
    ("*** Begin Patch\n*** End Patch", "patch rejected: empty patch"),
    (update("modify.txt", "missing", "x"), "apply_patch verification failed: Failed to find expected lines in "),
    (update("no.txt", "a", "b"), "apply_patch verification failed: Failed to read file to update "),
    ("*** Begin Patch\n*** Delete File: .\n*** End Patch", "apply_patch verification failed: "),
])
def test_tool_that_fails(mux, work, patch, text):
    result = mux.call("apply_patch", {"input": patch}, cwd=work)
    assert result.rc in (125, 126) and result.out.startswith(text), result
    assert sorted(os.listdir(work)) == ["delete.txt", "modify.txt"]


def test_found_in_exec_command(mux, work):
    result = mux.call("exec_command", {"cmd": f"apply_patch <<'EOF'\n{ADD}EOF\n"}, cwd=work)
    lines = result.out.split("\n", 4)
    assert result.rc == 0 and lines[:3] == ["Wall time: 0.0000 seconds", "Output:", "Exit code: 0"]
    assert lines[3].startswith("Wall time: ") and lines[4] == f"Output:\n{DONE}"
    (work / "sub dir").mkdir()
    assert mux.call("exec_command", {"cmd": f"cd 'sub dir' && apply_patch <<EOF\n{ADD}EOF"}, cwd=work).rc == 0
    assert (work / "sub dir/uexec_apply.txt").read_text() == "hi\n"
    assert mux.js("list", "--all")["sessions"] == []


def test_found_in_the_one_shot_tools(mux, work):
    for tool, command in [("shell_command", f"apply_patch <<EOF\n{ADD}EOF\n"), ("shell", ["apply_patch", ADD]), ("shell", ["applypatch", ADD]),
                          ("shell", ["bash", "-lc", f"applypatch <<EOF\n{ADD}EOF\n"])]:
        result = mux.call(tool, {"command": command}, cwd=work)
        assert result.rc == 0 and result.out.startswith("Exit code: 0\nWall time: ") and result.out.endswith(DONE), result
        (work / "uexec_apply.txt").unlink()
    assert mux.ue("sh", f"apply_patch <<EOF\n{ADD}EOF\n", cwd=work).rc == 0
    assert mux.ue("exec", f"apply_patch <<EOF\n{ADD}EOF\n", cwd=work).rc == 0
    raw = mux.ue("exec", "--raw", f"apply_patch <<EOF\n{ADD}EOF\n", cwd=work)
    assert (raw.rc, raw.out) == (0, DONE)


@pytest.mark.parametrize("tool, key", [("exec_command", "cmd"), ("shell_command", "command")])
def test_wrong_and_bare_patches(mux, work, tool, key):
    bare = mux.call(tool, {key: ADD}, cwd=work)
    assert bare.rc == 125
    assert bare.out == ("apply_patch verification failed: patch detected without explicit call to apply_patch. "
                        'Rerun as ["apply_patch", "<patch>"]\n')
    wrong = mux.call(tool, {key: f"apply_patch <<EOF\n{update('modify.txt', 'missing', 'x')}EOF\n"}, cwd=work)
    assert wrong.rc == 125 and wrong.out == f"apply_patch verification failed: Failed to find expected lines in {work}/modify.txt:\nmissing\n"
    assert mux.js("list", "--all")["sessions"] == []


@pytest.mark.parametrize("command", ["cd . ; apply_patch <<EOF\n{}EOF\n", "echo x && apply_patch <<EOF\n{}EOF\n",
                                     "apply_patch <<EOF\n{}EOF\necho done", "cd . && cd . && apply_patch <<EOF\n{}EOF\n"])
def test_what_is_more_than_a_patch_runs_as_a_command(mux, work, program, command):
    env = {**mux.env, "PATH": f"{mux.dir}:{mux.env['PATH']}"}
    result = mux.call("exec_command", {"cmd": command.format(ADD), "login": False, "yield_time_ms": 30000}, cwd=work, env=env)
    assert result.answer["exit"] == "0" and "A uexec_apply.txt" in result.out
    assert len(mux.js("list", "--all")["sessions"]) == 1


def test_line_endings_by_the_config(mux, work):
    patch = "*** Begin Patch\n*** Update File: l\n@@\n-one\n+ONE\n two\n+between\n three\n*** End Patch\n"
    for setting, want in [("codex", b"ONE\ntwo\nbetween\nthree\n"), ("preserve", b"ONE\r\ntwo\r\nbetween\r\nthree\r\n")]:
        mux.configure(f"[tools]\npatch_line_endings = {setting}\n")
        mux.ue("start").ok()
        mux.ue("reload").ok()
        (work / "l").write_bytes(b"one\r\ntwo\r\nthree\r\n")
        assert mux.ue("patch", input=patch, cwd=work).rc == 0
        assert (work / "l").read_bytes() == want


def test_only_below_the_roots(mux, work):
    mux.configure("[tools]\npatch_roots = .\n")
    os.symlink(mux.home, work / "out")
    for path in (f"{mux.home}/f", "../f", "out/f"):
        result = mux.call("apply_patch", {"input": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"}, cwd=work)
        assert result.rc == 126 and result.out.startswith("patch rejected: writing outside of the project"), result
    inside = "cd .. && apply_patch <<EOF\n*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\nEOF\n"
    assert mux.call("exec_command", {"cmd": inside}, cwd=work).rc == 126
    assert mux.call("apply_patch", {"input": ADD}, cwd=work).rc == 0
    assert os.listdir(mux.home) == []


def test_modes_links_and_umask(mux, work):
    (work / "modify.txt").chmod(0o741)
    os.symlink("modify.txt", work / "link")
    mux.call("apply_patch", {"input": update("link", "line1", "line1")}, cwd=work).ok()
    assert (work / "link").is_symlink()
    assert mux.call("apply_patch", {"input": update("modify.txt", "line1", "x")}, cwd=work).rc == 0
    assert stat.S_IMODE((work / "modify.txt").stat().st_mode) == 0o741
    answer = mux.rpc().call("apply_patch", {"input": ADD, "_meta": {"cwd": str(work), "umask": 0o077}})
    assert answer["exit_code"] == 0 and stat.S_IMODE((work / "uexec_apply.txt").stat().st_mode) == 0o600


FAIL = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def refused(mux, work, text):
    """The patch fails while it is written, and leaves everything in work as it was."""
    before = {path.name: path.read_text() for path in work.iterdir() if path.is_file()}
    answer = mux.rpc().call("apply_patch", {"input": text, "workdir": str(work)})
    assert answer["exit_code"] == 1 and answer["success"] is False, answer
    assert {path.name: path.read_text() for path in work.iterdir() if path.is_file()} == before
    assert not [path for path in work.rglob(".muxd-patch-*")]
    return answer["output"]


def mounted(mux, work, options):
    """A small file system at work/disk in a mount namespace of the daemon's own."""
    (work / "disk").mkdir()
    script = f'mount -t tmpfs -o {options} none "$0/disk" && exec "$1" start'
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(work), str(UE)], env={**mux.env, **FAIL},
                          capture_output=True, timeout=60)
    if done.returncode:
        pytest.skip(f"needs root, and a mount namespace: {done.stderr.decode().strip()[:100]}")


@pytest.mark.root
def test_a_full_disk_changes_nothing(mux, work):
    mounted(mux, work, "size=64k")
    big = "*** Add File: disk/big\n" + "".join(f"+{'z' * 60}\n" for _ in range(3000))
    said = refused(mux, work, update("modify.txt", "line2", "x").replace("*** End Patch", big + "*** End Patch"))
    assert said.startswith("Failed to write file ") and "No space left on device" in said
    told = mux.ue("patch", input=big.join(["*** Begin Patch\n", "*** End Patch\n"]), cwd=work)
    assert (told.rc, told.out) == (1, "")
    assert told.err == f"Failed to write file {work}/disk/big\nue: the reason: No space left on device (os error 28)\n"
    mux.rpc().call("apply_patch", {"input": "*** Begin Patch\n*** Add File: disk/small\n+x\n*** End Patch", "workdir": str(work)})
    assert mux.ue("sh", f"ls -A {work}/disk").ok().out.endswith("\nsmall\n")


@pytest.mark.root
def test_a_directory_that_can_not_be_written_changes_nothing(mux, work):
    mounted(mux, work, "ro")
    said = refused(mux, work, update("modify.txt", "line2", "x").replace("*** End Patch", "*** Add File: disk/new\n+x\n*** End Patch"))
    assert "disk/new: Read-only file system" in said


def test_a_big_patch_keeps_nobody_waiting(mux, work):
    rpc, other = mux.rpc(), mux.rpc()
    lines = "".join(f"+line {i} of a file that is long enough to take its time\n" for i in range(100000))
    patch = f"*** Begin Patch\n*** Add File: big\n{lines}*** End Patch\n"
    sent = rpc.send("apply_patch", {"input": patch, "_meta": {"cwd": str(work)}})
    assert other.call("hello")["name"] == "muxd"
    assert rpc.result(sent)["exit_code"] == 0
    assert (work / "big").stat().st_size == sum(len(line) - 1 for line in lines.splitlines(True))


def test_a_client_that_leaves_gets_its_patch_applied(mux, work):
    rpc = mux.rpc()
    rpc.send("apply_patch", {"input": ADD, "_meta": {"cwd": str(work)}})
    rpc.close()
    wait_for((work / "uexec_apply.txt").exists, "the file")
    assert json.loads(mux.ue("list", "--json").out) == {"sessions": []}
