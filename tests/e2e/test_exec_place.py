"""Where and with what a command runs: the caller's environment as it is, and a working directory that exists."""
import json, os, subprocess, sys

import pytest

PATCH = "*** Begin Patch\n*** Add File: sub/made\n+x\n*** End Patch\n"
ASK = "shopt -q login_shell && echo login || echo plain"


@pytest.fixture
def own_path(mux):
    """A PATH with a build directory, and a login profile that throws it away, as Debian's does."""
    programs = mux.dir / "build"
    programs.mkdir()
    (programs / "mine").write_text("#!/bin/sh\necho mine\n")
    (programs / "mine").chmod(0o755)
    (mux.home / ".bash_profile").write_text("PATH=/usr/bin:/bin\n")
    return {"PATH": f"{programs}:{mux.env['PATH']}"}


@pytest.mark.smoke
@pytest.mark.no_pty
def test_the_callers_path_holds(mux, own_path):
    assert mux.ue("exec", "--raw", "mine", env=own_path).ok().out == "mine\n"
    assert "\nmine\n" in mux.ue("sh", "mine", env=own_path).ok().out
    assert mux.ue("exec", "--raw", "--login", "mine", env=own_path).rc == 127
    assert mux.ue("sh", "--login", "mine", env=own_path).rc == 127


def test_the_callers_path_holds_on_a_terminal(mux, own_path):
    assert mux.ue("exec", "--raw", "-t", "mine", env=own_path).ok().out == "mine\r\n"
    mux.ue("exec", "-t", "-n", "work", "bash --norc", env=own_path).ok()
    assert mux.ue("write", "--raw", "work", "-l", "mine").ok().out.count("mine\r\n") == 2  # the echo, and what it prints


@pytest.mark.no_pty
def test_the_tools_keep_the_login_shell(mux, own_path):
    for tool, argument in (("exec_command", "cmd"), ("shell_command", "command")):
        result = mux.call(tool, {argument: "mine"}, env=own_path)
        assert "not found" in result.out and (result.rc == 127 or tool == "shell_command")
    assert mux.ue("exec", "--args", json.dumps({"cmd": "mine"}), env=own_path).rc == 127


@pytest.mark.no_pty
def test_a_virtual_environment_holds(mux):
    place = mux.dir / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    script = f". {place}/bin/activate; exec {mux.program} exec --raw 'command -v python3; python3 -c \"import sys; print(sys.prefix)\"'"
    result = subprocess.run(["bash", "-c", script], env=mux.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert result.stdout.split() == [f"{place}/bin/python3", str(place)] and result.returncode == 0


@pytest.mark.no_pty
@pytest.mark.parametrize("verb", ["exec", "sh"])
def test_login_shell_on_request(mux, verb):
    assert mux.ue(verb, "-s", "/bin/bash", ASK).ok().out.endswith("plain\n")
    assert mux.ue(verb, "-s", "/bin/bash", "--no-login", ASK).ok().out.endswith("plain\n")
    assert mux.ue(verb, "-s", "/bin/bash", "--login", ASK).ok().out.endswith("login\n")
    assert mux.ue(verb, "--login", "--no-login", "true").rc == 64


@pytest.fixture
def gone(mux):
    """Runs ue in a directory that was removed."""
    mux.ue("start").ok()

    def run(*args, remade=False, text=None):
        place = mux.dir / "gone"
        place.mkdir()
        script = 'cd "$0" && rmdir "$0" && { [ -z "$remade" ] || mkdir "$0"; } && "$@"'
        env = {**mux.env, "remade": "yes" if remade else ""}
        result = subprocess.run(["bash", "-c", script, str(place), str(mux.program), *args], env=env, input=text or "", capture_output=True, text=True)
        if place.exists():
            place.rmdir()
        return result
    return run


@pytest.mark.smoke
@pytest.mark.no_pty
@pytest.mark.parametrize("args", [["exec", "pwd"], ["exec", "--argv", "pwd"], ["exec", "-C", ".", "pwd"], ["exec", "-C", "sub", "pwd"], ["exec", "-t", "pwd"],
                                  ["sh", "pwd"], ["sh", "-C", "..", "pwd"], ["patch"], ["exec", f"apply_patch <<'EOF'\n{PATCH}EOF"],
                                  ["call", "exec_command", '{"cmd":"pwd"}'], ["call", "shell_command", '{"command":"pwd"}'],
                                  ["call", "shell", '{"command":["pwd"]}'], ["call", "apply_patch", json.dumps({"input": PATCH})]], ids=" ".join)
def test_a_working_directory_that_is_gone(mux, gone, args):
    result = gone(*args, text=PATCH)
    told = result.stdout if args[0] == "call" else result.stderr
    assert result.returncode == 125 and f"'{mux.dir}/gone'" in told and "gone; cd to another one" in told
    assert not any(row["name"] == "pwd" for row in mux.js("list", "--all")["sessions"])
    assert not (mux.dir / "gone").exists() and not (mux.home / "sub").exists()


@pytest.mark.no_pty
def test_made_again_it_is_another_one(gone):
    assert gone("exec", "pwd", remade=True).returncode == 125


@pytest.mark.no_pty
def test_what_needs_no_directory_goes_on(mux, gone):
    assert gone("exec", "--raw", "-C", "/usr", "pwd").stdout == "/usr\n"
    assert gone("call", "exec_command", json.dumps({"cmd": "pwd", "workdir": "/usr"})).stdout.endswith("/usr\n")
    assert gone("list").returncode == 0
    mux.ue("exec", "-n", "c", "--stdin", "-y", "0", "exec cat", stdin=subprocess.DEVNULL)
    mux.ue("exec", "-t", "-n", "s", "exec cat").ok()
    assert "hi" in gone("write", "--until", "hi", "s", "-l", "hi").stdout


@pytest.mark.no_pty
@pytest.mark.parametrize("args", [["exec", "pwd"], ["sh", "pwd"], ["patch"]], ids=" ".join)
def test_a_directory_that_never_was(mux, args):
    place = mux.dir / "never"
    result = mux.ue(args[0], "-C", place, *args[1:], input=PATCH if args == ["patch"] else "")
    assert result.rc == 125 and f"'{place}'" in result.err and "No such file or directory" in result.err and not place.exists()


@pytest.mark.no_pty
def test_a_name_that_is_no_utf8(mux):
    place = os.fsencode(mux.dir) + b"/latin\xe9"
    os.mkdir(place)
    result = mux.ue("exec", "pwd", cwd=place)
    assert result.rc == 125 and "latin\\xe9" in result.err and "UTF-8" in result.err
    assert mux.ue("exec", "--raw", "-C", "/usr", "pwd", cwd=place).ok().out == "/usr\n"


@pytest.mark.no_pty
def test_a_working_directory_that_no_path_can_name(mux):
    """It is there, and is not called gone."""
    deep = "d" * 200
    script = f"for i in $(seq 25); do mkdir {deep} && cd {deep} || exit; done; exec {mux.program} \"$@\""

    def at(*args):
        return subprocess.run(["bash", "-c", script, "-", *args], env=mux.env, cwd=mux.dir, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    refused = at("exec", "pwd")
    assert refused.returncode == 125 and "this working directory has too long a path; cd to another one" in refused.stderr
