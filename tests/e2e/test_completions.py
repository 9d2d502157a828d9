"""Completions in the real shells, typed at a terminal: verbs, options, values, live sessions."""
import os, re, shutil, subprocess, time, zlib
from pathlib import Path

import pexpect
import pytest
from conftest import BUILD, CAP, ROOT, UE, need, wait_for

SHELLS = ["bash", "bash-completion", "zsh", "fish"]
SCRIPTS = {"bash": "ue.bash", "bash-completion": "ue.bash", "zsh": "_ue", "fish": "ue.fish"}
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
# A prompt that no completion prints; completion without menus, paging and remembered answers.
SETUP = {
    "bash": "PS1='@''@ '; bind 'set bell-style none' 'set show-all-if-ambiguous off' 'set page-completions off' 'set enable-bracketed-paste off'; "
            "bind 'set completion-query-items -1'; source {script}",
    "bash-completion": "PS1='@''@ '; bind 'set bell-style none' 'set show-all-if-ambiguous off' 'set page-completions off' "
                       "'set enable-bracketed-paste off'; bind 'set completion-query-items -1'; source {bash_completion}; source {script}",
    "zsh": "PS1='@''@ '; unsetopt prompt_cr prompt_sp zle_bracketed_paste; LISTMAX=9999; fpath=({dir} $fpath); autoload -Uz compinit; "
           "compinit -C -d {dump}; zstyle ':completion:*' list-prompt ''",
    "fish": "function fish_prompt; echo -n '@''@ '; end; function fish_right_prompt; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0; "
            "source {script}",
}
BASH = ["--norc", "--noprofile", "-i"]
START = {"bash": BASH, "bash-completion": BASH, "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]}
ESCAPES = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][0-9A-B]?|[\x00-\x07\x0b-\x1a]")


def zsh_dump(mux, script):
    """What compinit finds when it looks through all functions of zsh, which takes it two seconds: once for all tests, as for a person."""
    words = f"fpath=({script.parent} $fpath); autoload -Uz compinit; compinit -u -d "
    dump = BUILD / f"zcompdump-{zlib.crc32(words.encode() + script.read_bytes()):08x}"
    if not dump.exists():
        made = dump.with_name(f"{dump.name}-{os.getpid()}")
        subprocess.run(["zsh", "-f", "-c", words + str(made)], env=mux.env, check=True, timeout=CAP)
        os.replace(made, dump)
    return dump


class Shell:
    """An interactive shell that knows ue's completion."""

    def __init__(self, mux, name):
        program = name.split("-")[0]
        need(program)
        if name == "bash-completion" and not BASH_COMPLETION.exists():
            pytest.skip("'bash-completion' is not installed")
        script = ROOT / "completions" / SCRIPTS[name]
        env = {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "TERM": "xterm", "AN_EXPORTED_WORD": "1", "XDG_CONFIG_HOME": str(mux.home), "XDG_DATA_HOME": str(mux.home),
               "HISTFILE": "/dev/null"}
        self.name = name
        self.child = pexpect.spawn(program, START[name], env=env, cwd=str(mux.home), timeout=CAP, encoding="utf-8", codec_errors="replace",
                                   dimensions=(100, 160))
        self.child.sendline(SETUP[name].format(script=script, dir=script.parent, bash_completion=BASH_COMPLETION,
                                                   dump=zsh_dump(mux, script) if program == "zsh" else ""))
        self.run("echo rea''dy", "ready")

    def run(self, line, expected):
        self.child.sendline(line)
        self.child.expect(expected)

    def completed(self, line, behind=""):
        """What `line` becomes after one tab, with the cursor before `behind`: read by running it under printf instead of by looking at a
        screen."""
        # After the tab: C-e and a last word, C-a and a command that prints its arguments, Enter.
        self.child.send(line + behind + "\x02" * len(behind) + "\t")
        self.child.send("\x05 END\x01printf '<%s>' \n")
        self.child.expect(r"<ue>((?:<[^<>\r\n]*>)*)<END>")
        return re.findall(r"<([^<>]*)>", self.child.match.group(1))

    def listed(self, line, *expected):
        """Sends the line and tabs until all of expected was shown; a tab more when nothing comes. The shell is of no use afterwards."""
        self.child.send(f"{line}\t\t")
        missing, seen, end = set(expected), "", time.monotonic() + CAP
        while missing:
            assert time.monotonic() < end, (missing, seen)
            try:
                seen += self.child.read_nonblocking(4096, 2)
            except pexpect.TIMEOUT:
                self.child.send("\t")
            plain = ESCAPES.sub("", seen).replace("\r", "")
            missing = {word for word in expected if word not in plain}

    def becomes(self, line, wanted, behind=""):
        """Where the daemon is asked, which has half a second to answer: on a busy machine a person presses tab again."""
        wait_for(lambda: self.completed(line, behind) == wanted, f"{line!r} to become {wanted}")

    def close(self):
        self.child.close(force=True)


@pytest.fixture(params=SHELLS)
def shell(request, mux):
    shell = Shell(mux, request.param)
    yield shell
    shell.close()


def test_verb(shell):
    assert shell.completed("ue ren") == ["rename"]
    assert shell.completed("ue stat") == ["status"]


def test_verbs_are_listed(shell):
    shell.listed("ue ", "exec", "write", "poll", "kill", "rename", "reload")


def test_option_of_a_verb(shell):
    assert shell.completed("ue exec --no-lo") == ["exec", "--no-login"]
    assert shell.completed("ue list --al") == ["list", "--all"]
    assert shell.completed("ue --no-s") == ["--no-start"]


def test_options_are_listed(shell):
    shell.listed("ue poll --", "--until", "--since", "--peek", "--raw")


def test_no_option_of_another_verb(shell):
    assert shell.completed("ue list --unt") == ["list", "--unt"]


def test_live_session(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    mux.ue("exec", "-n", "wombat", "true").ok()
    for verb in ("poll", "write", "kill", "resize"):
        shell.becomes(f"ue {verb} w", [verb, "walrus"])


def test_live_session_after_options(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    shell.becomes("ue poll -y 5s --raw wal", ["poll", "-y", "5s", "--raw", "walrus"])


def test_live_sessions_are_listed_with_their_command(shell, mux):
    mux.ue("exec", "-n", "sea-walrus", "-y", "0", "exec sleep 301").ok()
    mux.ue("exec", "-n", "sea-wombat", "-y", "0", "exec sleep 302").ok()
    shell.listed("ue poll sea-w", "sea-walrus", "sea-wombat", "sleep 301", "sleep 302")


def test_ended_session(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    mux.ue("exec", "-n", "wombat", "true").ok()
    shell.becomes("ue rm w", ["rm", "wombat"])


def test_described_session(shell, mux):
    mux.configure("[session whelk]\ncmd = sleep 300\nstart = manual\n")
    mux.ue("start").ok()
    shell.becomes("ue exec -n whe", ["exec", "-n", "whelk"])


def test_signal(shell):
    assert shell.completed("ue kill -s WIN") == ["kill", "-s", "WINCH"]


def test_key(shell):
    assert shell.completed("ue write -k PageU") == ["write", "-k", "PageUp"]


def test_tool(shell):
    assert shell.completed("ue call exec_c") == ["call", "exec_command"]


def test_type_of_an_event_and_its_session(shell, mux):
    assert shell.completed("ue events --type inter") == ["events", "--type", "interaction"]
    assert shell.completed("ue events -t end -t secret_") == ["events", "-t", "end", "-t", "secret_lost"]
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    shell.becomes("ue events --session wal", ["events", "--session", "walrus"])


def test_format_of_the_schemas(shell):
    assert shell.completed("ue tools --format anth") == ["tools", "--format", "anthropic"]


def test_types_of_events_are_listed(shell):
    shell.listed("ue events --type ", "created", "interaction", "killed", "all")


def test_directory(shell, mux):
    (mux.home / "onlydir").mkdir()
    (mux.home / "onlyfile").write_text("")
    assert [w.rstrip("/") for w in shell.completed("ue exec -C only")] == ["exec", "-C", "onlydir"]


def test_value_of_a_long_option_with_equals(shell, mux):
    assert shell.completed("ue kill --signal=WIN") == ["kill", "--signal=WINCH"]


def test_completing_starts_no_daemon(shell, mux):
    assert shell.completed("ue poll zz") == ["poll", "zz"]
    assert not mux.daemons()


def test_an_option_is_offered_once(shell):
    assert shell.completed("ue record s --input --in") == ["record", "s", "--input", "--in"]
    assert shell.completed("ue exec --ready --no-r") == ["exec", "--ready", "--no-r"]


def test_policy_of_a_size(shell):
    assert shell.completed("ue resize build sma") == ["resize", "build", "smallest"]
    assert shell.completed("ue resize build 50") == ["resize", "build", "50x160"]


def test_sessions_that_begin_with_their_name(shell, mux):
    mux.configure("[session whelk]\ncmd = sleep 300\n\n[session whale]\ncmd = sleep 300\nstart = manual\n")
    mux.ue("start").ok()
    for verb in ("attach", "write"):
        shell.becomes(f"ue {verb} whe", [verb, "whelk"])
        assert shell.completed(f"ue {verb} wha") == [verb, "wha"]
    assert shell.completed("ue poll whe") == ["poll", "whe"]


def test_a_name_that_stands_there_is_not_offered_again(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    mux.ue("exec", "-n", "wombat", "-y", "0", "exec sleep 300").ok()
    for verb in ("kill", "wait", "list", "watch"):
        shell.becomes(f"ue {verb} walrus w", [verb, "walrus", "wombat"])


def test_in_the_middle_of_the_line(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    assert shell.completed("ue stat", " --json") == ["status", "--json"]
    assert shell.completed("ue kill -s WIN", " walrus") == ["kill", "-s", "WINCH", "walrus"]
    shell.becomes("ue poll wal", ["poll", "walrus", "--raw"], " --raw")


def test_words_in_quotes(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    shell.becomes("ue poll 'wal", ["poll", "walrus"])
    assert shell.completed('ue exec -n "a b" --no-lo') == ["exec", "-n", "a b", "--no-login"]
    assert shell.completed("ue write -l walrus 'a -k b' --stea") == ["write", "-l", "walrus", "a -k b", "--steal"]


@pytest.mark.parametrize("name", ["a dir", "a:dir", "a=dir", "it's"])
def test_names_of_directories_that_a_shell_quotes(shell, mux, name):
    (mux.home / name).mkdir()
    if name == "it's":
        assert [w.rstrip("/") for w in shell.completed("ue exec -C it")] == ["exec", "-C", name]
        return
    assert [w.rstrip("/") for w in shell.completed("ue exec -C a")] == ["exec", "-C", name]
    quoted = name[:-2].replace(" ", "\\ ")
    assert [w.rstrip("/") for w in shell.completed(f"ue exec -C {quoted}")] == ["exec", "-C", name]


def test_files(shell, mux):
    (mux.home / "onlyfile").write_text("")
    (mux.home / "onlydir").mkdir()
    assert shell.completed("ue patch onlyf") == ["patch", "onlyfile"]
    assert shell.completed("ue -f onlyf") == ["-f", "onlyfile"]
    assert shell.completed("ue --config=onlyf") == ["--config=onlyfile"]
    assert [w.rstrip("/") for w in shell.completed("ue exec --workdir=only")] == ["exec", "--workdir=onlydir"]


def test_a_command_and_what_follows_it(shell, mux):
    (mux.home / "onlyfile").write_text("")
    assert shell.completed("ue exec -t mktem") == ["exec", "-t", "mktemp"]
    assert shell.completed("ue exec cat onlyf") == ["exec", "cat", "onlyfile"]
    assert shell.completed("ue sh -C /tmp cat onlyf") == ["sh", "-C", "/tmp", "cat", "onlyfile"]
    assert shell.completed("ue exec cat --jso") == ["exec", "cat", "--jso"]


def test_variable(shell):
    assert shell.completed("ue exec -e AN_EXPO") == ["exec", "-e", "AN_EXPORTED_WORD="]


def test_equals_sign_and_nothing_behind_it(shell):
    assert shell.completed("ue tools --format=m") == ["tools", "--format=mcp"]
    shell.listed("ue tools --format=", "openai", "anthropic", "mcp")


def test_value_behind_its_letter(shell):
    assert shell.completed("ue kill -sWIN") == ["kill", "-sWINCH"]


def test_socket_on_the_line(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    shell.becomes(f"ue -S {mux.socket} poll wal", ["-S", str(mux.socket), "poll", "walrus"])
    assert shell.completed("ue -S /nowhere poll wal") == ["-S", "/nowhere", "poll", "wal"]


def words(mux, *line):
    """What ue itself offers: the words, after a look at the form."""
    answer = mux.ue("complete", "zsh", *line).ok()
    head, *lines = answer.out.splitlines()
    assert answer.err == "" and re.fullmatch(r"(words|open|file|dir|command) \d+ \d+", head), answer
    assert all(re.fullmatch(r"[^\t]+\t[^\t]*", line) for line in lines), answer
    return [line.split("\t")[0] for line in lines]


@pytest.mark.no_pty
@pytest.mark.parametrize("line", ["poll ", "rm ", "exec -n ", "kill -s ", "write -k ", "call ", "help ", "exec -s ", "events -t ", "tools --format ",
                                  "attach ", "", "resize x ", "record --format ", "exec -", "exec -e "])
def test_candidates_are_words_with_descriptions(mux, line):
    found = words(mux, *line.split(" "))
    assert len(set(found)) == len(found) and not mux.daemons()


@pytest.mark.no_pty
def test_no_name_twice(mux):
    mux.configure("[session whelk]\ncmd = sleep 300\n")
    mux.ue("exec", "-n", "whelk", "-y", "0").ok()
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    for verb in ("attach", "write", "poll", "kill"):
        wait_for(lambda: sorted(words(mux, verb, "")) == ["walrus", "whelk"], f"both sessions after {verb!r}")
    wait_for(lambda: words(mux, "exec", "-n", "") == [], "no session, as the one of the config runs")
    assert words(mux, "record", "--format", "") == ["2", "3"]


@pytest.mark.no_pty
@pytest.mark.parametrize("line", [["complete"], ["complete", "tcsh", ""], ["complete", "zsh"], ["complete", "bash", "9", "x"]])
def test_asked_in_another_way(mux, line):
    assert mux.ue(*line).rc == 64


@pytest.mark.no_pty
def test_generated_files_do_not_depend_on_the_place(mux):
    for place in ("a", "b"):
        for file in ("conf/muxd.7", "client/lib/c/ue.h"):  # what is generated stands between what is not
            (mux.dir / place / file).parent.mkdir(parents=True)
            shutil.copy(ROOT / file, mux.dir / place / file)
        mux.ue("gen", mux.dir / place).ok()
    assert (mux.dir / "a/client/ue.1").read_bytes() == (mux.dir / "b/client/ue.1").read_bytes()
