"""muxd's reading of shell scripts beside tree-sitter's grammar of bash: nothing is plain for muxd in which the grammar sees more than commands of
plain words, and where both see only these they see the same ones."""
import json, os, re, subprocess, sys
from pathlib import Path

import pytest
from conftest import ROOT
from npm import installed

sys.path.insert(0, str(ROOT / "tests/oracle"))
from scripts import scripts  # noqa: E402

pytestmark = pytest.mark.no_pty
PACKAGES = ("web-tree-sitter@0.25.10", "tree-sitter-bash@0.25.1")
SEED = int(os.environ.get("MUXD_ORACLE_SEED") or 1)
COUNT = int(os.environ.get("MUXD_ORACLE_SCRIPTS") or 5000)
AT_ONCE = 100  # requests under way


def named(pattern):
    return lambda script, commands: any(re.search(pattern, words[0]) for words in commands)


def worded(pattern):
    return lambda script, commands: any(re.search(pattern, word) for words in commands for word in words)


def neighbours(marks):
    return lambda script, commands: any(a[:1] in marks and b[:1] in marks for words in commands for a, b in zip(words, words[1:]))


def written(pattern):
    return lambda script, commands: re.search(pattern, script)


RESERVED = "if|for|while|until|case|select|function|time|unset|declare|typeset|export|readonly|local"
# Where the grammar reads otherwise than bash itself, which reads as muxd does.
GRAMMAR = {
    "a name with @ # % in it": (named("[@#%]"), "the grammar ends the word before the sign; to bash it is a letter like others"),
    "a number with # behind it": (worded("^[0-9]+#"), "a number of another base for the grammar; a word like others for bash"),
    "a name with = behind what is no variable": (named("^[^A-Za-z_].*="), "an assignment for the grammar; a command called --x=y for bash"),
    "{ } or ] twice in a row": (neighbours(["{", "}", "]"]), "one word for the grammar, with the blank in it; two for bash"),
    "a name that only begins as a word of the shell": (written(rf"\b({RESERVED})[\"'\]}}]"), "the grammar ends the word there; to bash it is a name like others"),
    "a name that begins with !": (named("^!"), "a negation for the grammar, also without a blank behind it"),
    "a here-document before its command": (written(r"(^|[;&|\n])\s*<<"), "an error for the grammar"),
    "a here-document that ends with an empty line": (written(r"<<-?\s*(''|\"\")"), "an error for the grammar"),
    "a blank of Unicode": (worded("[\u00a0\u2003]"), "a blank for the grammar; a part of the word for bash"),
    "a - by itself": (lambda script, commands: named("^-$")(script, commands) or "<<" in script and worded("^-$")(script, commands), "no word for the grammar before a here-document, and an assignment's beginning as a name"),
    "a line that begins with the end of its here-document": (written(r"(?s)<<-?\s*['\"]?E.*\nE[^\n]"), "the grammar ends there; bash wants the whole line"),
    "a here-document behind a ;": (written(r"<<[^\n]*; *\n"), "an error for the grammar"),
    "blanks before the end of a here-document": (written(r"(?s)<<.*\n[ \t\r]+E"), "the grammar ends there; bash wants the line without them"),
    "a here-document that begins with a backslash, a dollar or a brace": (written(r"<<[^\n]*\n[ \t]*[\\${]"), "the grammar reads on as if it were the command's line"),
}


def as_bash(place, made):
    """What the grammar reads in each script."""
    done = subprocess.run(["node", str(ROOT / "tests/oracle/bash_reads.mjs"), str(place)], input="\n".join(map(json.dumps, made)), capture_output=True, text=True,
                          encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return list(map(json.loads, done.stdout.splitlines()))


def as_muxd(mux, made):
    rpc, read = mux.rpc(), []
    for at in range(0, len(made), AT_ONCE):
        numbers = [rpc.send("check_policy", {"cmd": script, "shell": "/bin/bash"}) for script in made[at:at + AT_ONCE]]
        read += [rpc.result(number) for number in numbers]
    return read


def test_a_grammar_of_bash_sees_no_more(mux):
    place, made = installed("oracle", *PACKAGES), scripts(SEED, COUNT)
    both, wrong = 0, []
    for script, told, (kind, commands) in zip(made, as_muxd(mux, made), as_bash(place, made), strict=True):
        if not told["plain"]:
            continue
        if kind in ("plain", "heredoc") and commands == told["commands"]:
            both += 1
            continue
        if not any(is_it(script, told["commands"]) for is_it, _ in GRAMMAR.values()):
            wrong.append((script, told["commands"], kind, commands))
    assert not wrong, f"seed {SEED}: {len(wrong)} of {COUNT}, the shortest: {sorted(wrong, key=lambda one: len(one[0]))[:3]!r}"
    assert both > COUNT / 4, f"seed {SEED}: only {both} were plain for both: what is compared is too little"
