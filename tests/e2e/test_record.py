"""ue record and ue replay: what a session shows goes into a file, through crashes, full disks and changes of size, and comes back from it."""
import json
import os
import re
import signal
import subprocess
import pexpect
import pytest
from conftest import CAP, UE, need, needs_root, wait_for
from frames import painted

WAIT = CAP * 1000


def start(mux, name, *argv, size="24x80"):
    mux.ue("exec", "--json", "-t", "-n", name, "--size", size, "-y", 0, "-e", "PS1=sh> ", "--argv", "--", *argv).ok()


def bash(mux, name="sh", size="24x80"):
    start(mux, name, "/bin/bash", "--norc", "--noprofile", "-i", size=size)
    mux.ue("poll", "--until", "sh> ", "--since", 0, "-y", WAIT, name).ok()


def cast(path):
    """Header and events with absolute times; every line must be whole."""
    data = path.read_text()
    assert data.endswith("\n")
    lines = [json.loads(line) for line in data.splitlines() if not line.startswith("#")]
    head, events, at = lines[0], [], 0.0
    for time, code, text in lines[1:]:
        at = at + time if head["version"] == 3 else time
        events.append((at, code, text))
    assert [e[0] for e in events] == sorted(e[0] for e in events)
    return head, events


def codes(events, code):
    return [text for _, c, text in events if c == code]


def output(path):
    return "".join(codes(cast(path)[1], "o"))


def recording(mux, name):
    return mux.listed(name).get("recording")


def stop(mux, name):
    return mux.ue("record", "--stop", "--json", name).ok().json


def shows(mux, data, size=(24, 80)):
    """What a terminal shows once it has got these bytes: the daemon's own model, in a session that only prints."""
    path = mux.dir / "shown"
    path.write_bytes(data)
    name = f"show{os.urandom(3).hex()}"
    mux.ue("exec", "-t", "-n", name, "--size", f"{size[0]}x{size[1]}", "--exit", "--argv", "--", "/bin/sh", "-c", f"stty -opost; cat {path}").ok()
    return mux.js("screen", "--ansi", name)["screen"]


# --- what is in it

def test_a_shell_from_its_middle_to_its_end(mux):
    bash(mux)
    mux.line("sh", "printf 'before \\033[1;31mred\\033[m\\n'")
    path = mux.dir / "a.cast"
    assert mux.ue("record", "sh", "a.cast").ok().out == f"{path}\n"
    assert recording(mux, "sh")["path"] == str(path)
    mux.line("sh", "echo $((6*7))")
    mux.ue("resize", "sh", "30x100").ok()
    mux.ue("write", "-l", "sh", "exit 3", "-y", WAIT, "--exit")
    wait_for(lambda: recording(mux, "sh") is None, "the end of the recording")
    head, events = cast(path)
    assert head["version"] == 3 and head["term"]["cols"] == 80 and head["term"]["rows"] == 24 and head["title"] == "sh"
    first = codes(events, "o")[0]
    assert "before" in first and "red" in first and first.startswith("\x1b[H\x1b[2J"), "it begins with the screen"
    assert "42\r\n" in "".join(codes(events, "o"))
    assert codes(events, "m") == ["/bin/bash --norc --noprofile -i", "echo $((6*7))", "exit 3"]
    assert codes(events, "r") == ["100x30"] and codes(events, "x") == ["3"] and codes(events, "i") == []
    assert events[-1][1] == "x"
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_version_2(mux):
    bash(mux)
    mux.ue("record", "--format", 2, "sh", "a.cast").ok()
    mux.line("sh", "echo hi")
    facts = stop(mux, "sh")
    head, events = cast(mux.dir / "a.cast")
    assert (head["version"], head["width"], head["height"]) == (2, 80, 24)
    assert facts["bytes"] == os.stat(mux.dir / "a.cast").st_size and facts["recorded"] is False
    assert "hi\r\n" in "".join(codes(events, "o")) and {c for _, c, _ in events} <= {"o", "m", "r"}


def words(mux, name, wanted):
    answer = mux.js("screen", name)
    while wanted not in answer["screen"]:
        answer = mux.js("screen", "-y", WAIT, "--wait-change", answer["hash"], name)
        assert answer["reason"] == "change", answer


def test_a_full_screen_program_looks_the_same(mux):
    need("vim")
    start(mux, "vim", "vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set nocp ruler")
    words(mux, "vim", "~")
    mux.ue("write", "-y", 0, "vim", "ia line\rand 你好").ok()
    words(mux, "vim", "and 你好")
    mux.ue("record", "vim", "v.cast").ok()
    mux.ue("write", "-y", 0, "-k", "Escape", "vim").ok()
    mux.ue("write", "-y", 0, "vim", "ggOfirst").ok()
    words(mux, "vim", "first")
    mux.ue("screen", "--stable", 500, "-y", WAIT, "vim").ok()
    stop(mux, "vim")
    seen = mux.js("screen", "--ansi", "vim")["screen"]
    assert "first" in seen and shows(mux, output(mux.dir / "v.cast").encode()) == seen


def test_htop_looks_the_same(mux):
    need("htop")
    start(mux, "h", "htop")
    mux.ue("poll", "--until", "PID", "--since", 0, "-y", WAIT, "h").ok()
    mux.ue("record", "h", "h.cast").ok()
    mux.ue("write", "-y", 0, "-k", "Down", "h").ok()
    stop(mux, "h")
    assert "\x1b[?1049h" in output(mux.dir / "h.cast")


def test_characters_split_over_reads_and_bytes_that_are_none(mux):
    start(mux, "s", "/bin/sh", "-c", r"stty -opost; read x; printf '\344'; sleep .3; printf '\275\240|\377|\000|END'; read y")
    mux.ue("record", "s", "s.cast").ok()
    mux.ue("write", "-l", "--until", "END", "-y", WAIT, "s", "go").ok()
    stop(mux, "s")
    assert output(mux.dir / "s.cast").endswith("go\n你|\ufffd|\0|END")


def test_pipes_and_late_lines(mux):
    mux.ue("exec", "-n", "p", "-y", WAIT, "--until", "30\n", "seq 30; read x || sleep 300").ok()
    mux.ue("record", "p", "p.cast").ok()
    mux.ue("kill", "p").ok()
    wait_for(lambda: recording(mux, "p") is None, "the end of the recording")
    events = cast(mux.dir / "p.cast")[1]
    assert "".join(codes(events, "o")) == "".join(f"{n}\r\n" for n in range(7, 31))
    assert codes(events, "x")


# --- input

def test_input_only_on_request_and_secrets_never(mux):
    start(mux, "s", "/bin/bash", "-c", "read -p 'name: ' n; read -s -p 'password: ' p; echo; read -p 'more: ' m")
    mux.ue("poll", "--until", "name: ", "--since", 0, "-y", WAIT, "s").ok()
    mux.ue("record", "--input", "s", "s.cast").ok()
    mux.ue("write", "-l", "--until", "password: ", "-y", WAIT, "s", "tester").ok()
    wait_for(lambda: mux.listed("s")["waiting_for"] == "secret", "the prompt for the secret")
    child = pexpect.spawn(str(UE), ["attach", "s"], env={**mux.env, "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP)
    child.expect_exact("password:")
    child.send("hunter2\r")
    child.expect(painted("more:"))
    child.send("visible\r")
    child.expect("has ended")
    child.wait()
    wait_for(lambda: recording(mux, "s") is None, "the end of the recording")
    data = (mux.dir / "s.cast").read_text()
    typed = codes(cast(mux.dir / "s.cast")[1], "i")
    assert "hunter2" not in data and "tester\r" in typed and "" in typed and "visible\r" in "".join(typed)


# --- where it goes

def test_refusals(mux):
    bash(mux)
    (mux.dir / "there").write_text("mine")
    assert "exists already" in mux.ue("record", "sh", "there").err
    os.symlink(mux.dir / "target", mux.dir / "link")
    assert mux.ue("record", "sh", "link").rc == 125 and not (mux.dir / "target").exists()
    assert "No such file" in mux.ue("record", "sh", "no/such/dir").err
    assert mux.ue("record", "nobody").rc == 127
    assert "is not recorded" in mux.ue("record", "--stop", "sh").err
    assert mux.ue("record", "--stop", "sh", "x").rc == 64
    mux.ue("record", "sh", "a.cast").ok()
    assert mux.ue("record", "sh", "a.cast").ok() and mux.ue("record", "sh").ok().out == f"{mux.dir}/a.cast\n"
    assert "already" in mux.ue("record", "sh", "b.cast").err
    mux.ue("write", "-l", "sh", "exit", "-y", WAIT, "--exit")
    assert "has ended" in mux.ue("record", "sh", "c.cast").err
    assert (mux.dir / "there").read_text() == "mine"


def test_the_default_place_and_a_second_time(mux):
    bash(mux)
    number = mux.listed("sh")["session_id"]
    first, second = mux.ue("record", "sh").ok().out.strip(), None
    stop(mux, "sh")
    second = mux.ue("record", "sh").ok().out.strip()
    stop(mux, "sh")
    place = mux.state / "muxd" / "recordings"
    assert (first, second) == (f"{place}/{number}-sh.cast", f"{place}/{number}-sh-2.cast")
    assert os.stat(place).st_mode & 0o777 == 0o700
    assert sorted(p.name for p in place.iterdir()) == sorted(os.path.basename(p) for p in (first, second)), "no note is left"


def test_the_config_records_from_the_first_byte(mux):
    mux.configure("[defaults]\nrecord = yes\n[session quiet]\ncmd = cat\nrecord = no\n[session loud]\ncmd = echo loud\n")
    mux.ue("exec", "-n", "a", "echo out; echo err >&2; exit 5")
    mux.ue("exec", "-n", "loud", "--exit", "-y", WAIT)
    mux.ue("exec", "-n", "quiet", "-y", 0)
    place = mux.state / "muxd" / "recordings"
    files = wait_for(lambda: sorted(place.glob("*.cast")) if not recording(mux, "a") and not recording(mux, "loud") else None, "two recordings")
    assert [re.sub(r"\d+-", "", f.name) for f in files] == ["a.cast", "loud.cast"]
    events = cast(files[0])[1]
    assert sorted("".join(codes(events, "o")).split()) == ["err", "out"] and codes(events, "x") == ["5"]
    assert "loud\r\n" in output(files[1]) and recording(mux, "quiet") is None


def test_it_is_bounded_and_goes_on_in_another_part(mux):
    mux.configure("[limits]\nrecording = 16k\nrecording_parts = 3\n")
    bash(mux)
    mux.ue("record", "sh", "a.cast").ok()
    for i in range(8):
        mux.ue("write", "-l", "--until", rf"END{i}\s+[^\n]*sh> ", "-y", WAIT, "sh", f"seq 1000 3900; echo E''ND{i}").ok()
    stop(mux, "sh")
    parts = sorted(mux.dir.glob("a*.cast"), key=lambda p: int(re.findall(r"\.(\d+)\.cast", p.name)[0]) if re.search(r"\.\d+\.cast", p.name) else 1)
    assert len(parts) == 3 and parts[0].name != "a.cast"
    assert "END7" in output(parts[-1])
    for part in parts:
        head, events = cast(part)
        assert head["term"] == {"cols": 80, "rows": 24, "type": "xterm-256color"} and codes(events, "o")[0].startswith("\x1b[H\x1b[2J")
    seen = mux.js("screen", "--ansi", "sh")["screen"]
    assert shows(mux, output(parts[-1]).encode()) == seen


def test_old_recordings_go_when_all_take_too_much(mux):
    mux.configure("[limits]\nrecordings = 64k\n[defaults]\nrecord = yes\n")
    place = mux.state / "muxd" / "recordings"
    for i in range(6):
        mux.ue("exec", "-n", f"s{i}", "seq 4000").ok()
        wait_for(lambda: not recording(mux, f"s{i}"), "the end of the recording")
    names = sorted(re.sub(r"\d+-", "", p.name) for p in place.glob("*.cast"))
    assert "s5.cast" in names and "s0.cast" not in names
    assert sum(p.stat().st_size for p in place.glob("*.cast")) < 64 * 1024 + 40000


# --- crashes and disks

@pytest.mark.parametrize("how", ["kill", "upgrade"])
def test_it_goes_on_after_the_worker(mux, how):
    bash(mux)
    mux.ue("record", "sh", "a.cast").ok()
    mux.line("sh", "echo one")
    if how == "kill":
        worker = mux.js("status")["pid"]
        with open(mux.dir / "a.cast", "a") as f:  # what the note does not know of was half written
            f.write('[0.1, "o", "half')
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: mux.js("status")["pid"] != worker, "a new worker")
    else:
        mux.ue("upgrade").ok()
    assert recording(mux, "sh")["path"] == str(mux.dir / "a.cast")
    mux.line("sh", "echo two")
    mux.ue("write", "-l", "sh", "exit 7", "-y", WAIT, "--exit")
    wait_for(lambda: recording(mux, "sh") is None, "the end of the recording")
    head, events = cast(mux.dir / "a.cast")
    text = "".join(codes(events, "o"))
    assert text.count("one\r\n") == 2 and "two\r\n" in text and "half" not in text
    assert codes(events, "x") == ["7"]
    assert text.count("echo two") == 1 and text.count("echo one") == 1


def test_no_byte_is_lost_or_doubled_by_crashes_under_load(mux):
    start(mux, "s", "/bin/sh", "-c", "stty -opost; read x; i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line $i; done; echo END; read y")
    mux.ue("record", "s", "a.cast").ok()
    mux.ue("write", "-l", "-y", 0, "s", "go").ok()
    for _ in range(3):
        worker = mux.js("status")["pid"]
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: mux.js("status")["pid"] != worker, "a new worker")
    mux.ue("poll", "--until", "END", "--since", 0, "-y", WAIT, "s").ok()
    stop(mux, "s")
    lines = re.findall(r"line (\d+)\n", output(mux.dir / "a.cast"))
    assert lines == [str(n) for n in range(1, 4001)]


@needs_root
def test_a_full_disk_ends_the_recording_not_the_session(mux):
    small = mux.dir / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("no file system of a size can be mounted here")
    try:
        bash(mux)
        mux.ue("record", "sh", small / "a.cast").ok()
        mux.ue("write", "-l", "--until", "END", "-y", WAIT, "sh", "seq 40000; echo E''ND").ok()
        row = wait_for(lambda: (r := mux.listed("sh")) and "recording_failed" in r and r, "the end of the recording")
        assert "No space" in row["recording_failed"] and row["state"] == "running"
        assert mux.line("sh", "echo fine")["output"].count("fine") >= 1
        cast(small / "a.cast")
        assert "No space" in mux.log_tail()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


# --- replay

V3 = '{"version":3,"term":{"cols":80,"rows":24}}\n'


def replay(mux, path, *options, **kw):
    return mux.ue("replay", *options, path, **kw)


def test_replay_plays_both_versions_exactly_into_a_pipe(mux):
    (mux.dir / "3").write_text(V3 + '[0.1, "o", "a\\u001b]2;t\\u0007\\u0000"]\n# c\n[0.1, "m", "x"]\n[0.1, "z", ""]\n[0, "x", "0"]\n')
    (mux.dir / "2").write_text('{"version":2,"width":80,"height":24}\n[0.1, "o", "a"]\n[0.3, "o", "b"]\n')
    assert replay(mux, "3").ok().raw == b"a\x1b]2;t\x07\0" and replay(mux, "2").ok().raw == b"ab"
    assert replay(mux, "-", input=(mux.dir / "2").read_bytes()).ok().raw == b"ab"


def test_replay_keeps_time(mux):
    import time
    (mux.dir / "c").write_text(V3 + '[0.4, "o", "a"]\n[100, "o", "b"]\n')
    begin = time.monotonic()
    assert replay(mux, "c", "-i", "0.2", "-x", "2").ok().out == "ab"
    assert 0.19 < time.monotonic() - begin < 45  # and not the 50 s that it would take without -i


@pytest.mark.parametrize("text,word", [
    ("", "is empty"), ("x\n", "line 1: no header"), ('{"version":1}\n', "line 1: asciicast version 1"), (V3 + "[0,\n", "line 2:"),
    (V3 + '[0, "o", "a"]\n[-1, "o", "b"]\n', "line 3: the time"), (V3 + '[0, "o", "a"]\n\n\n[0, "r", "x"]\n', "line 5: the size"),
    (V3 + '[0, "o", "a"]\n[0, "o", "b', "line 3: ends in its middle"), (V3 + '[0, "o"]\n', "line 2: no event"),
])
def test_replay_names_the_line(mux, text, word):
    (mux.dir / "c").write_text(text)
    result = replay(mux, "c")
    assert result.rc == 125 and word in result.err and "'c'" in result.err


def test_replay_refusals(mux):
    assert "No such file" in replay(mux, "none").err
    assert "is a directory" in replay(mux, ".").err
    (mux.dir / "c").write_text(V3)
    assert replay(mux, "c").rc == 0
    for option in (["-x", "0"], ["-x", "fast"], ["-i", "-1"], ["-x", "nan"], ["-x", "1e3"]):
        assert replay(mux, "c", *option).rc == 64


def spawn(mux, *args, size=(24, 80)):
    return pexpect.spawn(str(UE), [str(a) for a in args], env={**mux.env, "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP, dimensions=size)


def test_replay_on_a_terminal_is_harmless(mux):
    (mux.dir / "c").write_text(V3 + json.dumps([0, "o", "\x1b]2;evil\x07\x1b]52;c;aGk=\x07\x1b[6n\x1b[c\x1b[?1000h\x1b[?1049h\x1b[31mred\x1b[3;4Hx"]) + "\n")
    child = spawn(mux, "replay", "c")
    child.expect(pexpect.EOF)
    child.wait()
    text = child.before
    assert child.exitstatus == 0 and b"red" in text and b"\x1b[3;4H" in text and b"\x1b[31m" in text
    assert b"evil" not in text and b"52;c" not in text and b"\x1b[6n" not in text and b"\x1b[c" not in text and b"1000" not in text
    assert text.rstrip().endswith(b"\x1b[m") and b"\x1b[?1049l" in text


@pytest.mark.timing(reason="a player that stands still is known by its silence only")
def test_replay_keys(mux):
    (mux.dir / "c").write_text(V3 + "".join(json.dumps([0.3, "o", f"<{i}>"]) + "\n" for i in range(200)))
    child = spawn(mux, "replay", "-x", "0.5", "c")
    child.expect_exact("<0>")
    child.send(" ")
    shown = 0
    while True:  # the one that was on its way, at most
        if child.expect_exact([f"<{shown + 1}>", pexpect.TIMEOUT], timeout=1.5) == 1:
            break
        shown += 1
    assert shown < 20
    child.send("..")
    child.expect_exact(f"<{shown + 1}><{shown + 2}>")
    child.send(" ")
    child.expect_exact(f"<{shown + 3}>")
    child.send("q")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_replay_gives_the_terminal_back(mux):
    (mux.dir / "c").write_text(V3 + '[0, "o", "a\\u001b[?25l"]\n[1000, "o", "b"]\n')
    child = spawn(mux, "replay", "c")
    child.expect_exact("a\x1b[?25l")
    child.sendintr()
    child.expect_exact("\x1b[?25h")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


def test_what_was_recorded_plays(mux):
    bash(mux)
    mux.ue("record", "sh", "a.cast").ok()
    mux.line("sh", "echo $((40+2))")
    stop(mux, "sh")
    assert "42\r\n" in replay(mux, "a.cast", "-x", 1000).ok().out
    asciinema = subprocess.run(["sh", "-c", "command -v asciinema"], capture_output=True, text=True).stdout.strip()
    if asciinema:
        played = subprocess.run([asciinema, "cat", "a.cast"], cwd=mux.dir, capture_output=True, text=True)
        if "version" not in played.stderr:
            assert "42" in played.stdout


def test_people_are_told_that_what_they_see_is_recorded(mux):
    bash(mux)
    there = pexpect.spawn(str(UE), ["attach", "-r", "sh"], env={**mux.env, "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP)
    wait_for(lambda: mux.listed("sh")["attached"] == 1, "the attachment")
    mux.ue("record", "--input", "sh", "sh.cast").ok()
    there.expect_exact("sh: is being recorded, with what is typed")
    comes = pexpect.spawn(str(UE), ["attach", "-r", "sh"], env={**mux.env, "TERM": "xterm"}, cwd=str(mux.dir), timeout=CAP)
    comes.expect_exact("sh: is being recorded, with what is typed")
    for child in there, comes:
        child.send("\x1cd")
        child.expect(pexpect.EOF)
        child.wait()
