"""make install and make uninstall: what is put where, and taken away again."""
import os, shutil, subprocess, sys

import pytest
from conftest import BUILD, CAP, ROOT, command_line, need

pytestmark = pytest.mark.no_pty


def make(*words, status=0, prefix=(), **env):
    done = subprocess.run([*prefix, "make", "-C", str(ROOT), f"BUILD={BUILD}", "NOBUILD=1", *words], capture_output=True, text=True, timeout=CAP,
                          env={"PATH": os.environ["PATH"], "CCACHE_DISABLE": "1", **env}, stdin=subprocess.DEVNULL)
    assert (done.returncode == 0) == (status == 0), done
    return done


def files(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_symlink() or not path.is_dir())


def test_install_into_a_staging_directory(mux):
    stage = mux.dir / "stage"
    said = make("PREFIX=/usr", f"DESTDIR={stage}", "install").stdout
    for path in ("bin/muxd", "bin/ue", "libexec/muxd/muxd-keeper", "libexec/muxd/muxd-confine", "share/man/man1/ue.1", "share/man/man8/muxd.8", "share/man/man5/muxd.ini.5",
                 "share/man/man7/muxd.7", "share/man/man7/muxd-policy.7", "share/man/man7/ue-script.7",
                 "share/bash-completion/completions/ue", "share/zsh/site-functions/_ue", "share/fish/vendor_completions.d/ue.fish", "share/muxd/muxd.ini",
                 "lib/systemd/user/muxd.service", "lib/systemd/user/muxd.socket", "include/ue.h", "lib/libue.a", "lib/libue.so.0", "lib/libue.so",
                 "lib/pkgconfig/libue.pc", "lib/python3/dist-packages/ue.py",
                 "lib/node_modules/ue/ue.mjs", "lib/node_modules/ue/ue.d.ts", "lib/node_modules/ue/package.json"):
        assert (stage / "usr" / path).is_file(), path
    assert os.access(stage / "usr/bin/ue", os.X_OK) and os.access(stage / "usr/libexec/muxd/muxd-keeper", os.X_OK)
    assert os.readlink(stage / "usr/bin/apply_patch") == "ue"
    assert "not in your PATH" not in said


def test_uninstall_takes_what_install_has_put_and_no_more(mux):
    stage = mux.dir / "a stage"
    others = ["usr/bin/other", "usr/share/man/man1/other.1", "usr/share/muxd/mine.ini"]
    for other in others:
        (stage / other).parent.mkdir(parents=True, exist_ok=True)
        (stage / other).touch()
    make("PREFIX=/usr", f"DESTDIR={stage}", "install")
    assert len(files(stage)) == len(others) + 26
    make("PREFIX=/usr", f"DESTDIR={stage}", "uninstall")
    assert files(stage) == others
    (stage / others[2]).unlink()
    make("PREFIX=/usr", f"DESTDIR={stage}", "uninstall")  # again, and of nothing
    assert files(stage) == others[:2] and not (stage / "usr/share/muxd").exists() and not (stage / "usr/libexec/muxd").exists()


def test_into_a_home(mux):
    """Of zsh, fish and sh the tilde comes as it was typed."""
    said = make("PREFIX=~/.local", "install", HOME=str(mux.home)).stdout
    local = mux.home / ".local"
    assert os.access(local / "bin/ue", os.X_OK) and not (ROOT / "~").exists()
    assert f"'{local}/bin' is not in your PATH" in said
    # Not lib/systemd/user, which systemd.unit(5) does not list.
    assert f'ExecStart="{local}/bin/muxd" ' in (local / "share/systemd/user/muxd.service").read_text()
    assert (local / "share/systemd/user/muxd.socket").is_file() and not (local / "lib/systemd").exists()
    assert "not in your PATH" not in make("PREFIX=~/.local", "install", HOME=str(mux.home), PATH=f"{local}/bin:{os.environ['PATH']}").stdout
    # the libraries are where python and node look, and find ue from there
    env = {"HOME": str(mux.home), "PATH": "/usr/bin:/bin"}
    told = subprocess.run([sys.executable, "-c", "import ue; print(ue.__file__, ue.find_ue())"], env=env, capture_output=True, text=True, timeout=CAP, cwd="/")
    assert told.stdout.split() == [f"{local}/lib/python3.{sys.version_info.minor}/site-packages/ue.py", f"{local}/bin/ue"], told
    if shutil.which("node"):
        (mux.home / "app").mkdir()
        (mux.home / "app/node_modules").symlink_to(local / "lib/node_modules")
        told = subprocess.run(["node", "--input-type=module", "-e", "import { findUe } from 'ue'; console.log(findUe())"], env=env, capture_output=True,
                              text=True, timeout=CAP, cwd=mux.home / "app")
        assert told.stdout == f"{local}/bin/ue\n", told
        (mux.home / "app/node_modules").unlink()
    make("PREFIX=~/.local", "uninstall", HOME=str(mux.home))
    assert files(mux.home) == []


def test_a_directory_with_any_name(mux):
    """The unit names it as systemd reads it, and what is said can be pasted."""
    place = mux.dir / "a b&c|d%e"
    said = make(f"PREFIX={place}", "install").stdout
    assert f'PATH="{place}/bin:$PATH"' in said
    told = str(place).replace("%", "%%")
    assert f'ExecStart="{told}/bin/muxd" -S' in (place / "lib/systemd/user/muxd.service").read_text()
    mux.program = place / "bin/ue"
    assert mux.ue("exec", "--raw", "echo here").ok().out == "here\n"
    mux.ue("stop").ok()
    make(f"PREFIX={place}", "uninstall")
    assert files(place) == []


def test_what_is_installed_runs(mux):
    """muxd finds its keeper from where it lies itself, also by a link."""
    place = mux.dir / "place"
    make(f"PREFIX={place}", "install")
    (mux.dir / "links").mkdir()
    for name in ("ue", "muxd"):
        (mux.dir / "links" / name).symlink_to(place / "bin" / name)
    mux.program = mux.dir / "links" / "ue"
    assert mux.ue("exec", "--raw", "echo here").ok().out == "here\n"
    keeper = mux.js("status")["keeper_pid"]
    assert command_line(keeper)[0] == os.fsencode(place / "libexec/muxd/muxd-keeper")
    assert command_line(mux.js("status")["pid"])[0] == os.fsencode(mux.dir / "links/muxd")
    mux.ue("upgrade").ok()
    assert mux.ue("exec", "--raw", "echo again").ok().out == "again\n"


def test_the_manual_is_found_beside_the_binaries(mux):
    need("man", "manpath")
    make("PREFIX=~/.local", "install", HOME=str(mux.home))
    env = {"HOME": str(mux.home), "PATH": f"{mux.home}/.local/bin:{mux.env['PATH']}"}
    found = subprocess.run(["man", "-w", "ue"], env=env, capture_output=True, text=True, timeout=CAP)
    assert found.stdout == f"{mux.home}/.local/share/man/man1/ue.1\n", found


def test_where_one_may_not_write(mux):
    need("setpriv")
    as_anybody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if os.geteuid() == 0 else []
    if as_anybody and subprocess.run([*as_anybody, "ls", ROOT / "Makefile"], capture_output=True).returncode:
        pytest.skip("another user may not read the checkout")
    said = make("PREFIX=/usr", "install", status=2, prefix=as_anybody).stderr
    assert "'/usr/bin' can't be written by" in said and "make install PREFIX=~/.local" in said, said


def test_manual_pages_can_be_read_without_a_locale():
    for page in ("client/ue.1", "conf/muxd.7", "conf/muxd-policy.7", "conf/ue-script.7", "conf/muxd.8", "conf/muxd.ini.5"):
        assert (ROOT / page).read_bytes().isascii(), page
