"""ue screen, read_screen: what a person would see, beside what tmux shows for the same bytes."""
import json
import os
import re
import subprocess
import time
import xml.etree.ElementTree
import pytest
from conftest import CAP, need, wait_for

WAIT = CAP * 1000


def screen(mux, name, *options):
    return mux.js("screen", "-y", WAIT, *options, name)


def text(mux, name, *options):
    return mux.ue("screen", "-y", WAIT, *options, name).ok().out


def shown(mux, name, wanted):
    """Waits until the screen holds the words; its JSON."""
    answer = screen(mux, name)
    end = time.monotonic() + CAP
    while wanted not in answer["screen"]:
        assert time.monotonic() < end, f"{wanted!r} is not shown: {answer['screen']}"
        answer = screen(mux, name, "--wait-change", answer["hash"])
    return answer


def show_bytes(mux, data, size="24x80", name="bytes"):
    """A session that has written these bytes to its raw terminal and waits; its screen's JSON."""
    (mux.dir / "data").write_bytes(data)
    mux.ue("exec", "-t", "-n", name, "--size", size, "-y", WAIT, "--until", "WRITTEN", "--argv", "--", "/bin/sh", "-c",
           f"stty raw -echo; cat '{mux.dir}/data'; printf '\\033]0;WRITTEN\\007'; exec sleep 300").ok()
    return screen(mux, name)


class Tmux:
    """A tmux of its own, one pane without a status line that shows bytes."""

    def __init__(self, mux):
        self.dir = mux.dir / "tmux"
        self.dir.mkdir()
        (self.dir / "conf").write_text("set -g status off\nset -g remain-on-exit on\n")
        self.env = {**mux.env, "TMUX_TMPDIR": str(self.dir), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.env.pop("TMUX", None)

    def run(self, *args):
        return subprocess.run(["tmux", "-u", "-f", str(self.dir / "conf"), *args], env=self.env, capture_output=True, timeout=CAP, text=True)

    def show(self, data, rows, cols):
        (self.dir / "data").write_bytes(data)
        result = self.run("new-session", "-d", "-x", str(cols), "-y", str(rows), f"stty raw -echo; cat '{self.dir}/data'; exec sleep 300")
        assert result.returncode == 0, result

    def capture(self, *options):
        return self.run("capture-pane", "-p", *options).stdout

    def close(self):
        self.run("kill-server")


@pytest.fixture
def tmux(mux):
    need("tmux")
    server = Tmux(mux)
    yield server
    server.close()


def as_lines(screen_text):
    return [line.rstrip() for line in screen_text.rstrip("\n").split("\n")]


def assert_like_tmux(mux, tmux, name, rows=24, cols=80):
    """The screen of the session and what tmux makes of all its bytes."""
    def looked():  # both at the same output
        before = mux.listed(name)["output_bytes"]
        answer, data = screen(mux, name), mux.ue("poll", "--raw", "--peek", "--since", "0", "-y", "0", name).ok().raw
        return mux.listed(name)["output_bytes"] == before and (answer, data)
    answer, data = wait_for(looked, "no output between two looks")
    tmux.show(data, rows, cols)
    ours, theirs = as_lines(answer["screen"]), []
    end = time.monotonic() + CAP
    while time.monotonic() < end:
        theirs = as_lines(tmux.capture().rstrip())
        if theirs == ours:
            break
        time.sleep(0.05)  # tmux tells nobody that it has drawn what it was given
    assert ours == theirs
    cursor = tmux.run("display-message", "-p", "#{cursor_y} #{cursor_x} #{alternate_on} #{cursor_flag}").stdout.split()
    assert [answer["cursor"]["row"] - 1, min(answer["cursor"]["col"] - 1, cols - 1), answer["alternate"], answer["cursor"]["visible"]] == [
        int(cursor[0]), min(int(cursor[1]), cols - 1), cursor[2] == "1", cursor[3] == "1"]
    return answer


# --- the same as tmux, with real programs
def test_bash_like_tmux(mux, tmux):
    mux.ue("exec", "-t", "-n", "sh", "-y", WAIT, "--ready", "-e", "PS1=\\[\\e[1;32m\\]sh> \\[\\e[m\\]", "--argv", "--", "/bin/bash", "--norc", "--noprofile",
           "-i").ok()
    mux.line("sh", "printf 'x%.0s' {1..200}; echo; seq 1 40")
    mux.line("sh", "echo 你好 café e\u0301 😀 '│┤'")
    mux.ue("write", "-y", WAIT, "-k", "Up", "-k", "Up", "-k", "C-a", "-k", "M-f", "-k", "C-k", "sh").ok()
    mux.ue("write", "-y", WAIT, "-k", "C-r", "sh", "").ok()
    mux.ue("write", "-y", WAIT, "sh", "seq").ok()
    shown(mux, "sh", "reverse-i-search")
    assert_like_tmux(mux, tmux, "sh")


def test_vim_like_tmux(mux, tmux):
    need("vim")
    (mux.dir / "f.txt").write_text("".join(f"{n:4} line with words, wide 宽字符 and a long tail {'=' * (n % 60)}\n" for n in range(200)))
    mux.session("vi", "vim", "-u", "NONE", "-N", "-i", "NONE", str(mux.dir / "f.txt"))
    shown(mux, "vi", "0 line with")
    mux.ue("write", "-y", WAIT, "vi", ":set number hlsearch\r/words\rGdd10kOnew text 你好\x1b:split\rzz").ok()
    shown(mux, "vi", "new text")
    screen(mux, "vi", "--stable", "300")
    answer = assert_like_tmux(mux, tmux, "vi")
    assert answer["alternate"] and answer["state"] == "running"
    mux.ue("write", "-y", WAIT, "--exit", "vi", "\x1b:qa!\r").ok()
    answer = screen(mux, "vi")
    assert answer["state"] == "exited" and not answer["alternate"] and "session_id" not in answer


def test_less_like_tmux(mux, tmux):
    need("less")
    (mux.dir / "f.txt").write_text("".join(f"line {n} \u00e9 {'long ' * (n % 30)}\n" for n in range(500)))
    mux.session("less", "less", str(mux.dir / "f.txt"))
    shown(mux, "less", "line 1")
    mux.ue("write", "-y", WAIT, "less", "  /line 300\r").ok()
    shown(mux, "less", "line 300")
    mux.ue("write", "-y", WAIT, "less", "kkk").ok()
    screen(mux, "less", "--stable", "300")
    assert_like_tmux(mux, tmux, "less")


def test_python_like_tmux(mux, tmux):
    mux.session("py", "/usr/bin/python3", "-q")
    mux.line("py", "print('\\n'.join(chr(0x4e00 + n) * 45 for n in range(12)))")
    mux.line("py", "1/0")
    assert_like_tmux(mux, tmux, "py")


def test_tmux_inside_like_tmux(mux, tmux):
    (mux.dir / "inner").mkdir()
    mux.session("inner", "env", f"TMUX_TMPDIR={mux.dir}/inner", "SHELL=/bin/sh", "tmux", "-u", "-f", "/dev/null", "new-session", "-s", "deep",
                "env PS1=deep$ /bin/sh -i", options=("--argv", "--until", "deep"))
    shown(mux, "inner", "deep$")
    mux.ue("write", "-y", "0", "inner", "\x02%").ok()
    shown(mux, "inner", "│")  # keys within a millisecond are a paste for tmux (assume-paste-time), and the first ones may be held back
    mux.ue("write", "-y", "0", "inner", "\x02\"").ok()
    shown(mux, "inner", "─")
    mux.ue("write", "-y", "0", "inner", "seq 1 30; echo 你好\r").ok()
    shown(mux, "inner", "│30")
    screen(mux, "inner", "--stable", "500")
    try:
        answer = assert_like_tmux(mux, tmux, "inner")
        assert "[deep]" in answer["screen"] and answer["alternate"]
    finally:
        subprocess.run(["tmux", "kill-server"], env={**mux.env, "TMUX_TMPDIR": f"{mux.dir}/inner"}, capture_output=True, timeout=CAP)


STREAMS = {
    "regions": b"".join(b"%d\r\n" % n for n in range(30)) + b"\033[5;10r\033[10;1H\n\n\033[5;1H\033M\033Mtop\033[r\033[12;3Hmid\033[3L\033[20;1H\033[2M",
    "erasing": b"x" * 300 + b"\033[2;5H\033[1K\033[3;5H\033[K\033[1;10H\033[5X\033[1;20H\033[3P\033[1;30H\033[4@ab",
    "tabs": b"a\tb\tc\r\n\033[3g\033[5G\033H\r\tX\033[Zyz",
    "saving": b"ab\0337\033[10;10Hcd\0338ef\033[s\033[Hgh\033[uij\033[?1049h\033[Hfull\033[?1049lback",
    "wide": "你好世界".encode() * 11 + "é e\u0301 😀|".encode() + b"\033[1;4HX\033[1;8H" + "宽".encode(),
    "wrapped": b"y" * 79 + "宽字".encode() + b"\r\n\033[?7l" + b"z" * 100 + b"\033[?7hq",
    "repeat": b"ab\033[20b\r\n-\033[200b\r\nz",
    "origin": b"\033[3;8r\033[?6h\033[1;1Ho\033[99;99Hp\033[?6l\033[1;1Hq",
    "insert": b"abcdef\r\033[4hXY\033[4lZ",
    "margins": b"\033[5;9r\033[7;3H\033[9Aup\033[9Bdown\033[2E!\033[2;1H\033[9Aabove\033[@\033[4G\033[2P\033[12;1H\033[9Abelow",
    "full line": b"a" * 80 + b"\033[K\033[3X\033[P\tb\r\n" + b"c" * 80 + b"\033[1md\r\n" + b"e" * 78 + "宽".encode() + b"\033[Kf",
    "alignment": b"\033[5;9r\033[7;7H\033[44m\033#8\033[24;1H\nx",
    "marks": "ex\033[2Ǵ\r\n宽\033[9G\033[3Ǵ".encode(),
    "huge": b"\033[99999;99999Hx\033[99999Ay\033[99999Dz\033[0;0Hw",
}


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_streams_like_tmux(mux, tmux, name):
    show_bytes(mux, STREAMS[name])
    assert_like_tmux(mux, tmux, "bytes")


def test_where_tmux_differs(mux):
    """It shows no replacement for ill-formed bytes, captures letters for lines that are drawn, and lacks CHT."""
    answer = show_bytes(mux, b"a\xff\xfeb\xe4\xbdc\r\n\033(0lqqk\033(B\r\n\033[2Ix")
    assert answer["screen"] == "a\ufffd\ufffdb\ufffdc\n┌──┐\n                x\n"


# --- what it answers
@pytest.mark.smoke
def test_facts(mux):
    answer = show_bytes(mux, b"one\r\n\033[1mtwo\033[m\033]2;a title\007\033[?25l\033[2;2H", "10x30")
    answer = screen(mux, "bytes")
    assert answer["screen"] == "one\ntwo\n" == answer["content"]
    assert (answer["rows"], answer["cols"], answer["alternate"], answer["history_lines"]) == (10, 30, False, 0)
    assert answer["cursor"] == {"row": 2, "col": 2, "visible": False}
    assert answer["state"] == "running" and answer["name"] == "bytes" and answer["session_id"] >= 1000 and "reason" not in answer
    assert re.fullmatch("[0-9a-f]{16}", answer["hash"])
    assert mux.ue("screen", "--hash", "bytes").ok().out == answer["hash"] + "\n"
    assert mux.ue("screen", "--cursor", "bytes").ok().out == "2 2 hidden\n"


def test_title(mux):
    mux.shell("sh")
    mux.line("sh", "printf '\\033]0;Titel \\303\\244\\007'")
    assert screen(mux, "sh")["title"] == "Titel ä"


def test_nothing_but_characters_comes_out(mux):
    show_bytes(mux, b"a\033]0;t\007\033[6n\033[?1000h\033[31mred\033[m\033P+q544e\033\\\302\233x\342\200\256y\r\n")
    assert text(mux, "bytes") == "aredxy\n"
    assert mux.ue("screen", "--ansi", "bytes").ok().out == "a\033[0;31mred\033[0mxy\n"
    page = mux.ue("screen", "--html", "bytes").ok().out
    assert "<span style=\"color:#cd0000\">red</span>" in page and "\033" not in page


def test_svg_is_a_picture(mux):
    show_bytes(mux, "<tag> & \033[44m宽\033[m ]]>".encode())
    picture = xml.etree.ElementTree.fromstring(mux.ue("screen", "--svg", "--cursor", "bytes").ok().out)
    assert "".join(picture.itertext()).replace("\n", "").strip() == "<tag> & 宽 ]]>"


def test_join_and_history(mux):
    show_bytes(mux, b"w" * 50 + b"\r\n" + b"".join(b"line %d\r\n" % n for n in range(20)), "5x20")
    assert text(mux, "bytes") == "line 16\nline 17\nline 18\nline 19\n"
    assert text(mux, "bytes", "--history", "2").split("\n")[:3] == ["line 14", "line 15", "line 16"]
    whole = text(mux, "bytes", "--history", "1000")
    assert whole.split("\n")[:4] == ["w" * 20, "w" * 20, "w" * 10, "line 0"]
    assert text(mux, "bytes", "--history", "1000", "--join").split("\n")[:2] == ["w" * 50, "line 0"]


def test_resize(mux):
    mux.shell("sh")
    mux.line("sh", "seq 1 50")
    assert text(mux, "sh").split("\n")[:2] == ["28", "29"]
    mux.ue("resize", "sh", "5x40").ok()
    wait_for(lambda: screen(mux, "sh")["rows"] == 5, "the new size")
    answer = screen(mux, "sh")
    assert answer["cols"] == 40 and answer["screen"].startswith("47\n48\n49\n50\nsh>")
    mux.ue("resize", "sh", "10x40").ok()
    mux.line("sh", "stty size")
    answer = screen(mux, "sh")
    assert answer["rows"] == 10 and "10 40" in answer["screen"] and answer["screen"].count("\n") <= 10
    mux.line("sh", "stty rows 7")  # the program itself
    assert screen(mux, "sh")["rows"] == 7


def test_a_narrow_time_destroys_nothing(mux):
    """Lines wrap anew and go back as they were, for everyone, whoever made the terminal narrow for a while."""
    data = b"".join(b"%03d %s\r\n" % (n, b"x" * 66) for n in range(200))
    before = show_bytes(mux, data)
    whole = text(mux, "bytes", "--history", "1000")
    assert whole.splitlines() == [line.decode() for line in data.split(b"\r\n")[:-1]]
    mux.ue("resize", "bytes", "60x30").ok()
    wait_for(lambda: screen(mux, "bytes")["rows"] == 60, "the narrow size")
    narrow = text(mux, "bytes", "--history", "1000")
    assert narrow.splitlines()[:3] == ["000 " + "x" * 26, "x" * 30, "x" * 10]
    assert text(mux, "bytes", "--history", "1000", "--join") == whole
    mux.ue("resize", "bytes", "24x80").ok()
    after = wait_for(lambda: (screen(mux, "bytes")["rows"] == 24 and screen(mux, "bytes")), "the old size")
    assert text(mux, "bytes", "--history", "1000") == whole
    assert [after[key] for key in ("screen", "cursor", "hash", "history_lines")] == [before[key] for key in ("screen", "cursor", "hash", "history_lines")]


def test_sizes_from_the_smallest_to_large(mux):
    for size in ("1x1", "2x3", "500x200"):
        answer = show_bytes(mux, "abc 你好\r\n\033[2;2H\033[5Lx\033[?1049h\033[99;99Hy".encode(), size, "s" + size)
        assert f"{answer['rows']}x{answer['cols']}" == size and "y" in answer["screen"]


def test_wait_change(mux):
    mux.shell("sh")
    first = screen(mux, "sh")
    result = mux.ue("screen", "--wait-change", first["hash"], "-y", "200", "sh")
    assert result.rc == 124
    waiting = mux.popen("screen", "--json", "--wait-change", first["hash"], "-y", WAIT, "sh")
    mux.line("sh", "echo changed")
    answer = mux.finish(waiting).json
    assert answer["reason"] == "change" and answer["hash"] != first["hash"]
    assert screen(mux, "sh", "--wait-change", first["hash"])["reason"] == "change"  # it differs already
    assert mux.ue("screen", "--wait-change", "nonsense", "sh").rc == 125


def test_wait_change_with_cursor(mux):
    mux.shell("sh")
    mux.ue("write", "-y", "0", "sh", "abc").ok()
    shown(mux, "sh", "abc")
    plain, placed = screen(mux, "sh"), screen(mux, "sh", "--cursor")
    mux.ue("write", "-y", WAIT, "-k", "C-b", "sh").ok()
    assert screen(mux, "sh", "--cursor", "--wait-change", placed["hash"])["cursor"]["col"] == placed["cursor"]["col"] - 1
    assert screen(mux, "sh")["hash"] == plain["hash"]


def test_stable(mux):
    mux.session("busy", "/bin/sh", "-c", "i=0; while [ $i -lt 15 ]; do i=$((i+1)); echo tick $i; sleep 0.05; done; exec sleep 300", options=("--argv", "--until", "tick"))
    answer = screen(mux, "busy", "--stable", "3000")
    assert answer["reason"] == "stable" and "tick 15\n" in answer["screen"]
    mux.session("never", "/bin/sh", "-c", "while :; do date +%N; sleep 0.05; done", options=("--argv", "--until", "."))
    result = mux.ue("screen", "--json", "--stable", "60000", "-y", "400", "never")
    assert result.rc == 124 and result.json["reason"] == "deadline"


def test_half_drawn_is_not_shown(mux):
    """The first one sleeps in the middle of a drawing, for less than is waited for it; the other one never goes on."""
    def whole(name):
        mux.session(name, "/usr/bin/python3", "-c", "import os,time\nos.write(1,b'\\033[?2026hhalf')\ntime.sleep(0.05)\nos.write(1,b' whole\\033[?2026l')\ntime.sleep(300)",
                    options=("--argv", "--until", "half"))
        return screen(mux, name)["screen"] == "half whole\n"
    assert any(whole(f"app{n}") for n in range(10)), "all showed a half, and not only one that got no processor"
    mux.session("stuck", "/usr/bin/python3", "-c", "import os,time\nos.write(1,b'\\033[?2026hhalf')\ntime.sleep(300)", options=("--argv", "--until", "half"))
    assert screen(mux, "stuck")["screen"] == "half\n"


def test_exit_ends_the_wait(mux):
    mux.shell("sh")
    first = screen(mux, "sh", "--stable", "50")
    waiting = mux.popen("screen", "--json", "--stable", "100000", "-y", "inf", "sh")
    wait_for(lambda: mux.ue("status", "--json").ok(), "the daemon")
    mux.ue("write", "-y", WAIT, "--exit", "-l", "sh", "exit 3")
    result = mux.finish(waiting)
    assert result.rc == 124 and result.json["reason"] == "exit" and result.json["exit_code"] == 3
    assert first["hash"] != result.json["hash"]


def test_refusals(mux):
    mux.ue("exec", "-n", "pipe", "-y", "0", "exec sleep 300").ok()
    result = mux.ue("screen", "pipe")
    assert result.rc == 125 and "no terminal" in result.err
    assert mux.ue("screen", "nobody").rc == 127
    assert mux.ue("screen", "--html", "--svg", "pipe").rc == 64
    assert mux.ue("screen").rc == 64
    mux.ue("kill", "pipe").ok()


def test_removed_while_it_waits(mux):
    mux.ue("exec", "-t", "-n", "s", "-y", WAIT, "--exit", "echo done").ok()
    assert screen(mux, "s")["screen"] == "done\n"
    mux.ue("rm", "s").ok()
    assert mux.ue("screen", "s").rc == 127


def test_tool(mux):
    mux.shell("sh")
    client = mux.rpc()
    answer = client.call("read_screen", {"session_id": "sh", "format": "text"})
    assert answer["screen"].startswith("sh>")
    client.send("read_screen", {"session_id": "sh", "wait_change": answer["hash"], "yield_time_ms": 300000}, id=77)
    assert client.call("cancel", {"id": 77}) is not None
    assert client.call("read_screen", {"session_id": "sh"})["hash"] == answer["hash"]
    assert mux.call("read_screen", {"session_id": "sh"}).ok().out.startswith("sh>")


def test_much_output(mux):
    """More than the journal holds: the beginning is gone, the screen is right all the same, and others are served meanwhile."""
    mux.ue("exec", "-t", "-n", "big", "-y", "inf", "--until", "END", "seq 1 600000; printf '\\033[1mEND'; exec sleep 300").ok()
    lines = text(mux, "big").split("\n")
    assert lines[-2] == "END" and lines[0] == "599978"
    history = text(mux, "big", "--history", "5000").split("\n")
    assert history[0] == str(599978 - 5000)


def test_full_screen_program_whose_beginning_is_lost(mux):
    mux.session("app", "/usr/bin/python3", "-c", "import os,time\nos.write(1,b'\\033[?1049h')\nfor i in range(60000): os.write(1,b'\\033[H\\033[K%050d' % i)\n"
                "os.write(1,b'\\033[5;5HLAST')\ntime.sleep(300)", options=("--argv", "--until", "LAST"))
    answer = screen(mux, "app")
    assert answer["alternate"] and "LAST" in answer["screen"]


def test_control_string_that_is_longer_than_what_is_kept(mux):
    """Its beginning is gone when the first viewer comes: while it lasts, and after its end, none of it is text."""
    go = mux.dir / "go"
    mux.session("long", "/usr/bin/python3", "-c", "import os,sys,time\nos.system('stty raw')\ndef say(data):\n while data: data = data[os.write(1, data):]\n"
                "say(b'\\033]0;BEGUN\\007\\033P')\nfor i in range(4000): say(b'0123456789' * 100)\n"
                "open(sys.argv[1] + '0', 'w')\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
                "say(b'0123456789' * 1000 + b'\\033\\\\' + b'visible')\ntime.sleep(300)", str(go), options=("--argv", "-y", "0"))
    wait_for((mux.dir / "go0").exists, "the string")
    wait_for(lambda: mux.js("poll", "--peek", "-y", 0, "long")["to"] >= 4_000_000, "all of it")
    assert "0123" not in text(mux, "long", "--history", "1000")
    go.touch()
    shown(mux, "long", "visible")
    assert text(mux, "long", "--history", "1000").strip() == "visible"
    mux.ue("resize", "long", "30x90").ok()
    wait_for(lambda: screen(mux, "long")["rows"] == 30, "the new size")
    assert text(mux, "long", "--history", "1000").strip() == "visible"


def test_after_the_worker_dies(mux):
    mux.shell("sh")
    mux.line("sh", "echo before")
    before = screen(mux, "sh")
    worker = mux.js("status")["pid"]
    os.kill(worker, 9)
    wait_for(lambda: mux.ue("status", "--json").json.get("pid") not in (None, worker), "a new worker")
    assert screen(mux, "sh")["hash"] == before["hash"]


def test_many_wait_for_the_same_change(mux):
    """Twenty calls wait for the same change, and each gets it."""
    mux.shell("sh")
    first = screen(mux, "sh")
    client = mux.rpc()
    ids = [client.send("read_screen", {"session_id": "sh", "wait_change": first["hash"], "yield_time_ms": 60000}) for _ in range(20)]
    mux.line("sh", "echo all")
    seen = set()
    while len(seen) < len(ids):
        message = json.loads(client.line())
        assert message["result"]["reason"] == "change"
        seen.add(message["id"])
    assert seen == set(ids)
