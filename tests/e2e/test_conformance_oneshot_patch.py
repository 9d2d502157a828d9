"""Conformance with the Codex shell tools, sections 13 (shell_command), 14 (several calls, interrupts) and 19 (apply_patch). Named as in
test_conformance_unified.py."""
import os, re, stat, subprocess, time

import pytest
from conftest import UE, wait_for

pytestmark = pytest.mark.no_pty


@pytest.fixture
def rpc(mux):
    client = mux.rpc()
    client.dir = mux.dir

    def shell(command, **arguments):
        return client.call("shell_command", {"command": command, "login": False, "workdir": str(mux.dir), **arguments})

    def patch(body, **arguments):
        return client.call("apply_patch", {"input": f"*** Begin Patch\n{body}*** End Patch\n", "workdir": str(mux.dir), **arguments})

    def refused(body):
        return client.error("apply_patch", {"input": f"*** Begin Patch\n{body}*** End Patch\n", "workdir": str(mux.dir)}).error["data"]["content"]
    client.shell, client.patch, client.refused = shell, patch, refused
    return client


@pytest.fixture
def program(mux):
    os.symlink(UE, mux.dir / "apply_patch")

    def run(*args, input=""):
        return subprocess.run([str(mux.dir / "apply_patch"), *args], input=input.encode(), env=mux.env, cwd=mux.dir, capture_output=True, timeout=60)
    return run


# --- 13
def test_13_success_text(rpc):
    assert re.fullmatch(r"Exit code: 0\nWall time: \d+(\.\d)? seconds\nOutput:\nhi\n", rpc.shell("echo hi")["content"])


def test_13_only_status_0_is_a_success(rpc):
    for command, success, timeout_ms in ("true", True, 30000), ("exit 3", False, 30000), ("kill -9 $$", False, 30000), ("sleep 600", False, 300):
        assert rpc.shell(command, timeout_ms=timeout_ms)["success"] is success, command


def test_13_stdout_then_stderr(rpc):
    assert rpc.shell("echo err >&2; echo out")["output"] == "out\nerr\n"


def test_13_standard_input_is_at_its_end_and_the_environment_the_callers(rpc):
    assert rpc.shell("cat; echo done")["output"] == "done\n"
    assert rpc.shell("echo [$CODEX_CI]", _meta={"env": {"PATH": "/bin:/usr/bin"}})["output"] == "[]\n"


def test_25_latin_1_output(rpc):
    assert rpc.shell(r"printf 'caf\351 latin\n'")["output"] == "caf\u00e9 latin\n"
    assert rpc.shell(r"printf '\200 1\n' >&2; printf '\303\251\377\n'")["output"] == "\u00e9\ufffd\n\u20ac 1\n"  # each stream by itself


def test_ours_13_the_encoding_is_not_guessed(rpc):
    assert rpc.shell(r"printf 'a\377\376\n'")["output"] == "a\u00ff\u00fe\n"


def test_ours_13_a_missing_workdir_is_named(rpc):
    text = rpc.error("shell_command", {"command": "pwd", "workdir": "/no/such"}).error["data"]["content"]
    assert text == "execution error: '/no/such': No such file or directory; choose another directory"


def test_ours_1_shell_still_works(rpc):
    assert rpc.call("shell", {"command": ["echo", "hi"], "workdir": str(rpc.dir)})["output"] == "hi\n"


def test_13_timeout(rpc):
    answer = rpc.shell("echo begun; sleep 600", timeout_ms=300)
    assert answer["exit_code"] == 124 and answer["timed_out"]
    assert re.search(r"\nOutput:\ncommand timed out after \d+ milliseconds\n", answer["content"]) and answer["content"].startswith("Exit code: 124\n")


def test_ours_13_a_timeout_keeps_what_was_read_and_ends_the_whole_family(rpc):
    for timeout_ms in 500, 3000, 20000:  # a busy machine may need longer to begin
        begun = re.search(r"begun (\d+)\n", rpc.shell("setsid sleep 600 & echo begun $!; sleep 600", timeout_ms=timeout_ms)["output"])
        if begun:
            break
    pid = int(begun[1])
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the child to be gone")


def test_ours_13_a_stream_that_stays_open_is_not_discarded(rpc):
    started = time.monotonic()
    answer = rpc.shell("sleep 600 & echo hi", name="s")
    assert answer["output"] == "hi\n" and 1.5 < time.monotonic() - started < 20
    rpc.call("kill_session", {"session_id": "s"})


def test_13_background_children_survive(rpc):
    pid = int(rpc.shell("sleep 600 > /dev/null 2>&1 & echo $!", name="s")["output"])
    os.kill(pid, 0)
    rpc.call("kill_session", {"session_id": "s"})


def test_13_total_output_lines_when_truncation_changed_them(rpc):
    content = rpc.shell("seq 3000", max_output_tokens=50)["content"]
    assert re.match(r"Exit code: 0\nWall time: \S+ seconds\nTotal output lines: 3000\nOutput:\n1\n2\n", content) and "Warning" not in content


def test_13_shares_of_a_mebibyte(rpc):
    answer = rpc.shell("yes out | head -c 2000000; yes err | head -c 2000000 >&2")
    assert len(answer["output"]) <= (1 << 20) + 200 and answer["output"].count("err") > 1.5 * answer["output"].count("out")


def test_ours_13_of_each_stream_the_beginning_and_the_end_are_kept(rpc):
    output = rpc.shell("seq 400000")["output"]
    assert output.startswith("1\n2\n") and output.endswith("400000\n") and "bytes omitted" in output


def test_ours_13_death_by_signal_is_told_as_a_status(rpc):
    answer = rpc.shell("kill -KILL $$")
    assert answer["exit_code"] == 137 and answer["content"].startswith("Exit code: 137\n")


def test_13_1_a_tool_that_is_not_offered(mux):
    mux.configure("[tools]\nshell_type = disabled\n")
    rpc = mux.rpc()
    assert rpc.error("shell_command", {"command": "true"}).error["data"]["content"] == "unsupported call: shell_command"


# --- 14
def test_14_several_calls_run_at_once(rpc):
    slow = rpc.send("exec_command", {"cmd": "while [ ! -e go ]; do sleep 0.02; done", "workdir": str(rpc.dir), "login": False, "yield_time_ms": 30000})
    assert rpc.shell("touch go")["exit_code"] == 0
    assert rpc.result(slow)["exit_code"] == 0


def test_14_an_interrupt_leaves_the_session(mux, rpc):
    waiting = rpc.send("exec_command", {"cmd": "exec sleep 600", "name": "s", "login": False, "yield_time_ms": 30000})
    wait_for(lambda: mux.listed("s"), "the session")
    rpc.call("cancel", {"id": waiting})
    assert rpc.recv(waiting)["error"]["data"]["code"] == "cancelled"
    assert mux.listed("s")["state"] == "running"
    rpc.call("kill_session", {"session_id": "s"})


def test_ours_14_an_interrupt_of_shell_command_leaves_it_to_its_timeout(mux, rpc):
    waiting = rpc.send("shell_command", {"command": "exec sleep 600", "name": "s", "login": False, "timeout_ms": 6000})
    wait_for(lambda: mux.listed("s"), "the session")
    rpc.call("cancel", {"id": waiting})
    assert mux.listed("s")["state"] == "running"
    assert mux.wait_state("s", "killed")["exit_code"] == 137


# --- 19
def test_19_6_1_add_delete_update(rpc):
    (rpc.dir / "modify.txt").write_text("line1\nline2\n")
    (rpc.dir / "delete.txt").write_text("x\n")
    done = rpc.patch("*** Add File: nested/new.txt\n+created\n*** Delete File: delete.txt\n*** Update File: modify.txt\n@@\n-line2\n+changed\n")
    assert done["output"] == "Success. Updated the following files:\nA nested/new.txt\nM modify.txt\nD delete.txt\n"
    assert (rpc.dir / "modify.txt").read_text() == "line1\nchanged\n" and not (rpc.dir / "delete.txt").exists()


def test_19_6_2_two_chunks(rpc):
    (rpc.dir / "multi.txt").write_text("line1\nline2\nline3\nline4\n")
    rpc.patch("*** Update File: multi.txt\n@@\n-line2\n+changed2\n@@\n-line4\n+changed4\n")
    assert (rpc.dir / "multi.txt").read_text() == "line1\nchanged2\nline3\nchanged4\n"


def test_19_6_3_no_newline_at_the_end(rpc):
    (rpc.dir / "f").write_text("no newline at end")
    rpc.patch("*** Update File: f\n@@\n-no newline at end\n+first line\n+second line\n")
    assert (rpc.dir / "f").read_text() == "first line\nsecond line\n"


def test_19_6_4_only_added_lines_are_appended(rpc):
    (rpc.dir / "f").write_text("line1\nline2\n")
    rpc.patch("*** Update File: f\n@@\n+added line 1\n+added line 2\n")
    assert (rpc.dir / "f").read_text() == "line1\nline2\nadded line 1\nadded line 2\n"


def test_19_6_6_utf8(rpc):
    (rpc.dir / "f").write_text("line1\nna\u00efve caf\u00e9\nline3\n")
    rpc.patch("*** Update File: f\n@@\n line1\n-na\u00efve caf\u00e9\n+na\u00efve caf\u00e9 \u2705\n")
    assert (rpc.dir / "f").read_text() == "line1\nna\u00efve caf\u00e9 \u2705\nline3\n"


@pytest.mark.parametrize("endings, want", [("codex", b"ONE\ntwo\nbetween\nthree\n"), ("preserve", b"ONE\r\ntwo\r\nbetween\r\nthree\r\n")])
def test_19_6_7_line_endings(mux, endings, want):
    mux.configure(f"[tools]\npatch_line_endings = {endings}\n")
    (mux.dir / "f").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    mux.rpc().call("apply_patch", {"input": "*** Begin Patch\n*** Update File: f\n@@\n-one\n+ONE\n two\n+between\n three\n*** End Patch", "workdir": str(mux.dir)})
    assert (mux.dir / "f").read_bytes() == want


@pytest.mark.parametrize("line, old", [("a \u2013 b", "a - b"), ("say \u201chi\u201d", 'say "hi"'), ("a\u00a0b", "a b"), ("  indented  ", "indented"), ("end  ", "end")])
def test_19_3_the_four_passes(rpc, line, old):
    (rpc.dir / "f").write_text(f"x\n{line}\ny\n")
    rpc.patch(f"*** Update File: f\n@@\n-{old}\n+new\n")
    assert (rpc.dir / "f").read_text() == "x\nnew\ny\n"


def test_19_3_context_and_end_of_file(rpc):
    (rpc.dir / "f").write_text("a\nsame\nb\nsame\n")
    rpc.patch("*** Update File: f\n@@ b\n-same\n+second\n")
    assert (rpc.dir / "f").read_text() == "a\nsame\nb\nsecond\n"
    (rpc.dir / "f").write_text("same\nsame\n")
    rpc.patch("*** Update File: f\n@@\n-same\n+last\n*** End of File\n")
    assert (rpc.dir / "f").read_text() == "same\nlast\n"


def test_19_3_not_found(rpc):
    (rpc.dir / "f").write_text("a\n")
    assert rpc.refused("*** Update File: f\n@@\n-missing\n+x\n") == f"apply_patch verification failed: Failed to find expected lines in {rpc.dir}/f:\nmissing"
    assert rpc.refused("*** Update File: f\n@@ nowhere\n-a\n+x\n") == f"apply_patch verification failed: Failed to find context 'nowhere' in {rpc.dir}/f"


@pytest.mark.parametrize("text, words", [
    ("*** Frobnicate File: foo\n", "invalid hunk at line 2, '*** Frobnicate File: foo' is not a valid hunk header. Valid hunk headers: "
     "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"),
    ("*** Update File: f\n", "invalid hunk at line 2, Update file hunk for path 'f' is empty"),
])
def test_19_2_parse_errors(rpc, text, words):
    assert rpc.refused(text) == f"apply_patch verification failed: {words}"


def test_19_2_markers(rpc):
    for text, words in [("nonsense", "The first line of the patch must be '*** Begin Patch'"),
                        ("*** Begin Patch\n*** Add File: f\n+x\n", "The last line of the patch must be '*** End Patch'")]:
        assert rpc.error("apply_patch", {"input": text}).error["data"]["content"] == f"apply_patch verification failed: invalid patch: {words}"
    assert "empty patch" in rpc.refused("")


def test_19_2_leniency(rpc):
    rpc.call("apply_patch", {"input": "<<'EOF'\n  *** Begin Patch  \n*** Add File: f\n+x\r\n  *** End Patch\nEOF\n", "workdir": str(rpc.dir)})
    assert (rpc.dir / "f").read_text() == "x\n"
    rpc.patch("*** Update File: f\n-x\n+y\n")  # the first chunk without @@
    assert (rpc.dir / "f").read_text() == "y\n"


def test_19_4_move(rpc):
    (rpc.dir / "old").write_text("a\n")
    done = rpc.patch("*** Update File: old\n*** Move to: sub/new\n@@\n-a\n+b\n")
    assert done["output"].endswith("M sub/new\n") and (rpc.dir / "sub/new").read_text() == "b\n" and not (rpc.dir / "old").exists()


def test_19_4_the_tool_result(rpc):
    assert re.fullmatch(r"Exit code: 0\nWall time: \d+(\.\d)? seconds\nOutput:\nSuccess. Updated the following files:\nA f\n",
                        rpc.patch("*** Add File: f\n+x\n")["content"])


def test_19_4_the_program(program, mux):
    done = program("*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Success. Updated the following files:\nA f\n", b"")
    assert program().returncode == 2 and program("a", "b").stderr == b"Error: apply_patch accepts exactly one argument.\n"
    missing = program(input="*** Begin Patch\n*** Update File: missing.txt\n@@\n-a\n+b\n*** End Patch\n")
    assert missing.returncode == 1 and missing.stdout == b""
    assert missing.stderr.decode() == f"Failed to read file to update {mux.dir}/missing.txt: No such file or directory (os error 2)\n"


def test_ours_19_4_why_a_file_was_not_written(program, mux):
    (mux.dir / "d").mkdir()
    failed = program("*** Begin Patch\n*** Add File: d\n+x\n*** End Patch\n")
    assert (failed.returncode, failed.stdout) == (1, b"")
    theirs, ours = failed.stderr.decode().splitlines()
    assert theirs == f"Failed to write file {mux.dir}/d" and ours == "ue: the reason: Is a directory (os error 21)"
    assert program("nonsense").stderr.count(b"\n") == 1  # what is said whole has no second line


def test_ours_19_4_all_or_nothing(program, mux):
    failed = program("*** Begin Patch\n*** Add File: added\n+x\n*** Update File: missing.txt\n@@\n-a\n+b\n*** End Patch\n")
    assert failed.returncode == 1 and not (mux.dir / "added").exists()


def test_ours_19_4_the_tool_tells_why_a_file_was_not_written(rpc):
    (rpc.dir / "g").write_text("x\n")
    answer = rpc.patch("*** Add File: g/h\n+c\n")
    assert answer["exit_code"] == 1 and answer["success"] is False
    assert re.fullmatch(r"Exit code: 1\nWall time: \d+(\.\d)? seconds\nOutput:\nFailed to write file .*/g/h: Not a directory \(os error 20\)\n", answer["content"])


@pytest.mark.parametrize("make, body, words", [
    (lambda d: (d / "f").mkdir(), "*** Update File: f\n@@\n-a\n+b\n", "Failed to read file to update {0}/f: path `{0}/f` is not a file"),
    (lambda d: (d / "f").mkdir(), "*** Delete File: f\n", "Failed to read {0}/f: path `{0}/f` is not a file"),
    (lambda d: None, "*** Delete File: f\n", "Failed to read {0}/f: No such file or directory (os error 2)"),
    (lambda d: None, "*** Add File: m\n+1\n*** Update File: m\n@@\n-1\n+2\n", "invalid patch: multiple operations target {0}/m"),
])
def test_25_texts_of_patches(rpc, make, body, words):
    make(rpc.dir)
    assert rpc.refused(body) == "apply_patch verification failed: " + words.format(rpc.dir)


def test_25_an_empty_patch_and_an_environment(rpc, program):
    for text in "", "\n":
        assert rpc.error("apply_patch", {"input": text}).error["data"]["content"] == (
            "apply_patch verification failed: invalid patch: The last line of the patch must be '*** End Patch'")
    assert program("").stderr == b"Invalid patch: The last line of the patch must be '*** End Patch'\n"
    assert rpc.refused("*** Environment ID: local\n*** Add File: a\n+x\n") == "apply_patch environment selection is unavailable for this turn"
    assert not (rpc.dir / "a").exists()


def test_25_the_program_takes_a_file_in_two_sections(program, mux):
    (mux.dir / "m").write_text("1\n2\n")
    done = program("*** Begin Patch\n*** Update File: m\n@@\n-1\n+one\n*** Update File: ./m\n@@\n-2\n+two\n*** End Patch")
    assert (done.returncode, done.stdout) == (0, b"Success. Updated the following files:\nM m\nM ./m\n")
    assert (mux.dir / "m").read_text() == "one\ntwo\n"
    assert program("*** Begin Patch\n*** Delete File: m\n*** Add File: m\n+new\n*** End Patch").stdout.endswith(b"A m\nD m\n")
    assert (mux.dir / "m").read_text() == "new\n"


def test_25_links(rpc, program):
    (rpc.dir / "m").write_text("1\n")
    (rpc.dir / "l").symlink_to("m")
    os.link(rpc.dir / "m", rpc.dir / "h")
    rpc.patch("*** Update File: l\n@@\n-1\n+2\n")
    assert (rpc.dir / "l").is_symlink() and (rpc.dir / "m").read_text() == (rpc.dir / "h").read_text() == "2\n"
    rpc.patch("*** Add File: l\n+3\n")
    assert (rpc.dir / "l").is_symlink() and (rpc.dir / "h").read_text() == "3\n"
    assert program("*** Begin Patch\n*** Update File: l\n@@\n-3\n+4\n*** End Patch").returncode == 0
    assert (rpc.dir / "l").is_symlink() and (rpc.dir / "h").read_text() == "4\n"
    rpc.patch("*** Delete File: l\n")
    assert not (rpc.dir / "l").is_symlink() and (rpc.dir / "m").read_text() == "4\n"


def test_25_two_chunks_at_the_end_of_the_file(rpc):
    (rpc.dir / "f").write_text("one\n")
    rpc.patch("*** Update File: f\n@@\n-one\n+ONE\n*** End of File\n@@\n-one\n+TWO\n*** End of File\n")
    assert (rpc.dir / "f").read_text() == "ONE\n"


CRLF = [  # name, contents, chunk, as Codex, by default
    ("context", b"a\r\nb\r\nc\r\n", " a\n-b\n+B\n", b"a\nB\nc\r\n", b"a\r\nB\r\nc\r\n"),
    ("insert only", b"a\r\nb\r\n", "+c\n", b"a\r\nb\r\nc\n", b"a\r\nb\r\nc\r\n"),
    ("some lines", b"a\r\nb\nc\r\nd\n", "-b\n+B\n", b"a\r\nB\nc\r\nd\n", b"a\r\nB\nc\r\nd\n"),
    ("no newline", b"a\r\nb", "-b\n+B\n", b"a\r\nB\n", b"a\r\nB\r\n"),
    ("far away", b"a\r\nb\r\nc\r\nd\r\ne\r\n", "-c\n+C\n", b"a\r\nb\r\nC\nd\r\ne\r\n", b"a\r\nb\r\nC\r\nd\r\ne\r\n"),
]


def test_25_line_endings_as_codex(mux):
    mux.configure("[tools]\npatch_line_endings = codex\n")
    for name, old, chunk, codex, _ in CRLF:
        (mux.dir / "f").write_bytes(old)
        mux.rpc().call("apply_patch", {"input": f"*** Begin Patch\n*** Update File: f\n@@\n{chunk}*** End Patch", "workdir": str(mux.dir)})
        assert (mux.dir / "f").read_bytes() == codex, name


def test_ours_25_line_endings_are_kept(rpc):
    for name, old, chunk, _, ours in CRLF:
        (rpc.dir / "f").write_bytes(old)
        rpc.patch(f"*** Update File: f\n@@\n{chunk}")
        assert (rpc.dir / "f").read_bytes() == ours, name


def test_ours_25_what_a_patch_does_not_change_stays(rpc):
    for old, body, new in [(b"a  \n  b\nc\n", "@@\n a\n b\n-c\n+C\n", b"a  \n  b\nC\n"),  # context found in a later pass
                           (b"a\n\n\n", "@@\n-a\n+b\n", b"b\n\n\n"), (b"a\n\n", "@@\n+b\n", b"a\nb\n\n")]:  # blank lines at the end
        (rpc.dir / "f").write_bytes(old)
        rpc.patch("*** Update File: f\n" + body)
        assert (rpc.dir / "f").read_bytes() == new


def test_ours_19_files_that_are_no_utf8(rpc):
    (rpc.dir / "f").write_bytes(b"a\xff\nb\n")
    rpc.patch("*** Update File: f\n@@\n-b\n+c\n")
    assert (rpc.dir / "f").read_bytes() == b"a\xff\nc\n"
    rpc.patch("*** Delete File: f\n")
    assert not (rpc.dir / "f").exists()


def test_ours_19_where_a_patch_may_write(mux):
    (mux.dir / "in").mkdir()
    mux.configure(f"[tools]\npatch_roots = {mux.dir}/in\n")
    rpc = mux.rpc()

    def add(path):
        return {"input": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n", "workdir": str(mux.dir)}
    assert rpc.call("apply_patch", add("in/f"))["success"]
    assert "writing outside of the project" in rpc.error("apply_patch", add("f")).message
    assert (mux.dir / "in/f").exists() and not (mux.dir / "f").exists()


def test_ours_19_4_a_moved_file_keeps_mode_and_contents(rpc):
    (rpc.dir / "f").write_bytes(b"a\nc\n")
    rpc.patch("*** Update File: f\n*** Move to: f\n@@\n-c\n+d\n")
    assert (rpc.dir / "f").read_bytes() == b"a\nd\n"
    (rpc.dir / "f").chmod(0o755)
    rpc.patch("*** Update File: f\n*** Move to: g\n@@\n-d\n+e\n")
    assert stat.S_IMODE((rpc.dir / "g").stat().st_mode) == 0o755


@pytest.mark.parametrize("tool, key", [("exec_command", "cmd"), ("shell_command", "command")])
def test_25_interception_behind_assignments_and_without_an_end(rpc, tool, key):
    body = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n"
    for script in f"X=1 apply_patch <<'EOF'\n{body}EOF", f"apply_patch <<'EOF'\n{body}":
        assert rpc.call(tool, {key: script, "workdir": str(rpc.dir)})["content"].endswith("Output:\nSuccess. Updated the following files:\nA f\n")
        (rpc.dir / "f").unlink()


def test_ours_25_a_tilde_is_the_home_directory(mux, rpc):
    rpc.call("exec_command", {"cmd": "cd ~ && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\nEOF", "workdir": str(mux.dir)})
    assert not (mux.dir / "~").exists()


@pytest.mark.parametrize("tool, key", [("exec_command", "cmd"), ("shell_command", "command")])
def test_19_5_interception(mux, rpc, tool, key):
    (mux.dir / "my dir").mkdir()
    body = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"
    for script in f"apply_patch <<'EOF'\n{body}\nEOF", f"cd 'my dir' && applypatch <<E\n{body}\nE\n":
        answer = rpc.call(tool, {key: script, "workdir": str(mux.dir), "login": False})
        assert "Success. Updated the following files:\nA f\n" in answer["content"] and "Chunk ID" not in answer["content"]
    assert (mux.dir / "my dir/f").exists() and (mux.dir / "f").exists()
    assert rpc.call("list_sessions", {"all": True})["sessions"] == []  # no process was started
    bare = rpc.error(tool, {key: body, "workdir": str(mux.dir)}).error["data"]["content"]
    assert bare == ("apply_patch verification failed: patch detected without explicit call to apply_patch. Rerun as "
                    '["apply_patch", "<patch>"]')


@pytest.mark.parametrize("script", ["cd x; apply_patch <<E\n{}\nE", "cd x || apply_patch <<E\n{}\nE", "cd a b && apply_patch <<E\n{}\nE",
                                    "echo x && apply_patch <<E\n{}\nE", "apply_patch <<E\n{}\nE\necho done", "apply_patch arg <<E\n{}\nE"])
def test_19_5_not_intercepted(rpc, script):
    body = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"
    answer = rpc.call("exec_command", {"cmd": script.format(body), "workdir": str(rpc.dir), "login": False, "env": {"PATH": "/usr/bin:/bin"}})
    assert answer["content"].startswith("Chunk ID: ") and not (rpc.dir / "f").exists()


@pytest.mark.parametrize("make, body, words", [
    (lambda d: (d / "f").mkdir(), "*** Update File: f\n@@\n-a\n+b\n", "f"),
    (lambda d: (d / "f").mkdir(), "*** Delete File: f\n", "f"),
    (lambda d: None, "*** Update File: missing\n@@\n-a\n+b\n", "No such file or directory (os error 2)"),
    (lambda d: (d / "f").write_text("a\n"), "*** Update File: f\n@@\n-a\n+b\n*** Update File: ./f\n@@\n-a\n+c\n", "multiple operations target"),
    (lambda d: (d / "f").write_text("a\nb\nc\n"), "*** Update File: f\n@@\n-a\n-b\n+x\n@@\n-b\n-c\n+y\n", "Failed to find expected lines"),
])
def test_19_bad_input(rpc, make, body, words):
    make(rpc.dir)
    before = sorted((path, path.read_bytes()) for path in rpc.dir.glob("f") if path.is_file())
    text = rpc.refused(body)
    assert text.startswith("apply_patch verification failed: ") and words in text
    assert sorted((path, path.read_bytes()) for path in rpc.dir.glob("f") if path.is_file()) == before


def test_19_a_read_only_file_keeps_its_mode(rpc):
    (rpc.dir / "f").write_text("a\n")
    (rpc.dir / "f").chmod(0o444)
    if os.geteuid() == 0:
        rpc.patch("*** Update File: f\n@@\n-a\n+b\n")
    else:
        answer = rpc.patch("*** Update File: f\n@@\n-a\n+b\n")
        assert answer["exit_code"] == 1 and "/f: Permission denied" in answer["output"]
        assert (rpc.dir / "f").read_text() == "a\n"
    assert stat.S_IMODE((rpc.dir / "f").stat().st_mode) == 0o444


def test_19_mixed_line_endings_and_ten_megabytes(mux):
    mux.configure("[tools]\npatch_line_endings = preserve\n[limits]\nmax_request = 32M\n")
    rpc = mux.rpc()
    (mux.dir / "f").write_bytes(b"a\r\nb\nc\r\n")
    rpc.call("apply_patch", {"input": "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n c\n*** End Patch", "workdir": str(mux.dir)})
    assert (mux.dir / "f").read_bytes() == b"a\r\nB\nc\r\n"
    lines = "".join(f"+line {i} {'x' * 100}\n" for i in range(90000))
    assert len(lines) > 10_000_000
    rpc.call("apply_patch", {"input": f"*** Begin Patch\n*** Add File: big\n{lines}*** End Patch", "workdir": str(mux.dir)})
    assert (mux.dir / "big").read_text() == lines.replace("+line", "line")
