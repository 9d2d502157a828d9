"""ue doctor: the same rows with a daemon and without one, none of which it starts; what is bad, and what to do."""
import fcntl, os, re, struct, termios

import pytest

from conftest import ROOT

NAMES = re.findall(r'^DOCTOR\(\w+, +\.name = "(\w+)"', (ROOT / "muxd/wire/doctor.def").read_text(), re.M)


def doctor(mux, **kw):
    """Its rows by name. What is bad is its exit status; what is not ok says what to do."""
    result = mux.ue("doctor", "--json", **kw)
    rows = result.json["rows"]
    assert result.rc == int(any(row["state"] == "bad" for row in rows)), result
    for row in rows:
        assert row["state"] in ("ok", "advice", "bad") and row["found"], row
        assert row["state"] == "ok" or row.get("do"), row
    # systemd has one row more where it is there
    assert [name for name in NAMES if name != "linger"] == [row["name"] for row in rows if row["name"] != "linger"]
    return {row["name"]: row for row in rows}, result.json["running"]


def state(mux, name):
    row = doctor(mux)[0][name]
    return row["state"], " ".join((row["found"], row.get("means", ""), row.get("do", "")))


def test_without_a_daemon_and_with_one(mux):
    rows, running = doctor(mux)
    assert not running and rows["daemon"]["state"] == "ok" and "first call" in rows["daemon"]["found"]
    assert not mux.socket.exists() and not (mux.state / "muxd").exists(), "nothing was started or made"
    mux.ue("start").ok()
    there, running = doctor(mux)
    assert running and str(mux.socket) in there["daemon"]["found"]
    for name in ("sandbox", "bubblewrap", "userns", "landlock", "seccomp", "nproc", "locks", "service"):
        assert there[name]["state"] == rows[name]["state"], (there[name], rows[name])
    lines = [line.split("\t") for line in mux.ue("doctor").out.splitlines()]
    assert [line[1] for line in lines] == list(there) and {len(line) for line in lines} == {5}
    assert "no terminal" in there["person"]["found"] or "passed no terminal" in there["person"]["found"]


@pytest.mark.parametrize("started", [False, True], ids=["alone", "daemon"])
def test_the_config_and_what_it_asks_for(mux, started):
    tools = mux.dir / "tools"
    tools.mkdir()
    (tools / "bwrap").write_text("#!/bin/sh\necho 'no name spaces today' >&2\nexit 1\n")
    (tools / "bwrap").chmod(0o755)
    mux.env["PATH"] = f"{tools}:{mux.env['PATH']}"
    if started:
        mux.ue("start").ok()

    def configure(text):
        mux.configure(text)
        if started:
            mux.ue("reload").ok()

    assert state(mux, "sandbox")[0] == "advice" and "no name spaces today" in state(mux, "bubblewrap")[1]
    configure("[session s]\ncmd = true\nsandbox = workspace-write\n")
    assert state(mux, "sandbox")[0] == "bad"
    configure("[policy mcp]\napproval = untrusted\n")
    found = state(mux, "approvals")
    assert found[0] == "advice" and "[policy mcp] may ask" in found[1] and "hook" in found[1]
    configure("[policy mcp]\napproval = untrusted\n[hook h]\non = approval\nrun = true\n")
    assert state(mux, "approvals")[0] == "ok"
    mux.conf.chmod(0o622)
    assert state(mux, "config")[0] == "bad" and "chmod" in state(mux, "config")[1]
    mux.conf.chmod(0o664)
    assert state(mux, "config")[0] == ("ok" if os.getuid() == os.getgid() == os.stat(mux.conf).st_gid else "bad")
    mux.conf.chmod(0o600)
    if started:
        mux.configure("[limits]\nmax_sessions = 5\n")
        assert state(mux, "config")[0] == "advice" and "ue reload" in state(mux, "config")[1]
    mux.configure("[limits]\nmax_sesions = 5\n")
    found = state(mux, "config")
    assert found[0] == "bad" and f"{mux.conf}:2" in found[1]


def test_places_that_can_not_be_used(mux):
    mux.state.chmod(0o500)
    if os.access(mux.state, os.W_OK):
        pytest.skip("root may write everywhere")
    assert state(mux, "state")[0] == "bad"
    mux.state.chmod(0o700)
    mux.dir.chmod(0o755)
    found = state(mux, "runtime")
    mux.dir.chmod(0o700)
    assert found[0] == "bad" and "chmod 700" in found[1]
    row = doctor(mux, env={"MUXD_SOCKET": str(mux.dir / "none/s")})[0]["runtime"]
    assert row["state"] == "bad" and "does not exist" in row["found"], row


def test_fits_a_terminal(mux):
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = mux.popen("doctor", stdout=slave, env={"TERM": "xterm-256color"})
    os.close(slave)
    shown = b""
    try:
        while data := os.read(master, 65536):
            shown += data
    except OSError:  # its other end is closed
        pass
    os.close(master)
    assert mux.finish(process).rc == 0, shown.decode()
    lines = re.sub(r"\x1b\[\d+m", "", shown.decode()).replace("\r", "").splitlines()
    assert "\x1b[32mok" in shown.decode() and lines[-1].startswith("bad: 0, advice: ")
    for line in lines:
        assert len(line) <= 80 or " " not in line[21:], line  # but for a word that is longer
    assert [line.split()[1] for line in lines[:-1] if not line.startswith(" ")] == [
        name for name in NAMES if name != "linger" or any(line.split()[1:2] == ["linger"] for line in lines)]
