"""Completions in the real shells, typed at a terminal: verbs, options, values, live sessions."""
import re

import pexpect
import pytest
from conftest import CAP, ROOT, UE, need

SHELLS = ["bash", "zsh", "fish"]
SCRIPTS = {"bash": "ue.bash", "zsh": "_ue", "fish": "ue.fish"}
# A prompt that no completion prints; completion without menus, paging and remembered answers.
SETUP = {
    "bash": "PS1='@''@ '; bind 'set bell-style none' 'set show-all-if-ambiguous off' 'set page-completions off' 'set enable-bracketed-paste off'; "
            "bind 'set completion-query-items -1'; source {script}",
    "zsh": "PS1='@''@ '; unsetopt prompt_cr prompt_sp zle_bracketed_paste; LISTMAX=9999; fpath=({dir} $fpath); autoload -Uz compinit; "
           "compinit -u -D; zstyle ':completion:*' list-prompt ''",
    "fish": "function fish_prompt; echo -n '@''@ '; end; function fish_right_prompt; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0; "
            "source {script}",
}
START = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]}
ESCAPES = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][0-9A-B]?|[\x00-\x07\x0b-\x1a]")


class Shell:
    """An interactive shell that knows ue's completion."""

    def __init__(self, mux, name):
        need(name)
        script = ROOT / "completions" / SCRIPTS[name]
        env = {**mux.env, "PATH": f"{UE.parent}:{mux.env['PATH']}", "TERM": "xterm", "XDG_CONFIG_HOME": str(mux.home), "XDG_DATA_HOME": str(mux.home),
               "HISTFILE": "/dev/null"}
        self.name = name
        self.child = pexpect.spawn(name, START[name], env=env, cwd=str(mux.home), timeout=CAP, encoding="utf-8", codec_errors="replace",
                                   dimensions=(100, 160))
        self.child.sendline(SETUP[name].format(script=script, dir=script.parent))
        self.run("echo rea''dy", "ready")

    def run(self, line, expected):
        self.child.sendline(line)
        self.child.expect(expected)

    def completed(self, line):
        """What `line` becomes after one tab: read by running it under printf instead of by looking at a screen."""
        # After the tab: C-e and a last word, C-a and a command that prints its arguments, Enter.
        self.child.send(f"{line}\t")
        self.child.send("\x05 END\x01printf '<%s>' \n")
        self.child.expect(r"<ue>((?:<[^<>\r\n]*>)*)<END>")
        return re.findall(r"<([^<>]*)>", self.child.match.group(1))

    def listed(self, line, *expected):
        """Sends the line and tabs until all of expected was shown. The shell is of no use afterwards."""
        self.child.send(f"{line}\t\t")
        missing, seen = set(expected), ""
        while missing:
            seen += self.child.read_nonblocking(4096, CAP)
            plain = ESCAPES.sub("", seen).replace("\r", "")
            missing = {word for word in expected if word not in plain}

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
        assert shell.completed(f"ue {verb} w") == [verb, "walrus"]


def test_live_session_after_options(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    assert shell.completed("ue poll -y 5s --raw wal") == ["poll", "-y", "5s", "--raw", "walrus"]


def test_live_sessions_are_listed_with_their_command(shell, mux):
    mux.ue("exec", "-n", "sea-walrus", "-y", "0", "exec sleep 301").ok()
    mux.ue("exec", "-n", "sea-wombat", "-y", "0", "exec sleep 302").ok()
    shell.listed("ue poll sea-w", "sea-walrus", "sea-wombat", "sleep 301", "sleep 302")


def test_ended_session(shell, mux):
    mux.ue("exec", "-n", "walrus", "-y", "0", "exec sleep 300").ok()
    mux.ue("exec", "-n", "wombat", "true").ok()
    assert shell.completed("ue rm w") == ["rm", "wombat"]


def test_described_session(shell, mux):
    mux.configure("[session whelk]\ncmd = sleep 300\nstart = manual\n")
    mux.ue("start").ok()
    assert shell.completed("ue exec -n whe") == ["exec", "-n", "whelk"]


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
    assert shell.completed("ue events --session wal") == ["events", "--session", "walrus"]


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


@pytest.mark.no_pty
@pytest.mark.parametrize("kind", "sessions ended described signals keys tools verbs shells events formats".split())
def test_candidates_are_words_with_descriptions(mux, kind):
    result = mux.ue("complete", kind).ok()
    assert result.err == "" and all(re.fullmatch(r"[^\t]+\t[^\t]*", line) for line in result.out.splitlines()) and not mux.daemons()


@pytest.mark.no_pty
def test_generated_files_do_not_depend_on_the_place(mux):
    for place in ("a", "b"):
        (mux.dir / place).mkdir()
        mux.ue("gen", mux.dir / place).ok()
    for name in ("completions/ue.bash", "completions/_ue", "completions/ue.fish", "client/ue.1"):
        assert (mux.dir / "a" / name).read_bytes() == (mux.dir / "b" / name).read_bytes()
