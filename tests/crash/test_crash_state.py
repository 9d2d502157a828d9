"""The directory of log and numbers goes away while muxd runs: sessions go on, also over the death of the worker."""
import os, shutil, subprocess

import pytest
from drill import CAP


def spoil(mux, how):
    muxd = mux.state / "muxd"
    if how == "moved":
        os.rename(muxd, mux.state / "away")
    else:
        shutil.rmtree(muxd)
    if how == "file":
        muxd.write_text("in the way\n")
    if how == "open to all":
        muxd.mkdir()
        muxd.chmod(0o777)
    return muxd


@pytest.mark.parametrize("how", ["moved", "removed", "file", "open to all"])
def test_goes_away(make_mux, how):
    mux = make_mux()
    mux.start()
    witness = mux.run(["/bin/cat"], "witness", stdin=True)
    muxd = spoil(mux, how)
    try:
        for turn in range(2):  # the second time it is a successor that has never seen the directory
            mux.type(witness, f"line {turn}\n")
            mux.until(witness, f"line {turn}")
            number = mux.run("exit 3")
            assert number > witness and mux.ended(number)["exit_code"] == 3
            mux.call("reload")
            mux.kill_worker()
        assert mux.state_of(witness) == "running"
    finally:
        if muxd.is_file():
            muxd.unlink()
        if muxd.exists():
            muxd.chmod(0o700)
    mux.call("reload")
    assert "config" in (muxd / "muxd.log").read_text(), "made anew by a reload"
    assert mux.ended(mux.run("exit 4"))["exit_code"] == 4


def test_start_without_it_says_so(make_mux):
    mux = make_mux()
    (mux.state / "muxd").write_text("in the way\n")
    done = subprocess.run([str(mux.binary), "-d", "-S", str(mux.socket), "-f", str(mux.conf)], env=mux.env, cwd=mux.dir,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP)
    assert done.returncode == 1 and str(mux.state / "muxd").encode() in done.stderr, done
