"""make install: what is put where."""
import os, subprocess

import pytest
from conftest import BUILD, CAP, ROOT

pytestmark = pytest.mark.no_pty


def test_install_into_a_staging_directory(mux):
    stage = mux.dir / "stage"
    done = subprocess.run(["make", "-C", str(ROOT), f"BUILD={BUILD}", "PREFIX=/usr", f"DESTDIR={stage}", "NOBUILD=1", "install"], capture_output=True, timeout=CAP,
                          env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-1000:]
    for path in ("bin/muxd", "bin/ue", "share/man/man1/ue.1", "share/man/man8/muxd.8", "share/man/man5/muxd.ini.5",
                 "share/bash-completion/completions/ue", "share/zsh/site-functions/_ue", "share/fish/vendor_completions.d/ue.fish", "share/muxd/muxd.ini"):
        assert (stage / "usr" / path).is_file(), path
    assert os.access(stage / "usr/bin/ue", os.X_OK)
    assert os.readlink(stage / "usr/bin/apply_patch") == "ue"


def test_manual_pages_can_be_read_without_a_locale():
    for page in ("client/ue.1", "conf/muxd.8", "conf/muxd.ini.5"):
        assert (ROOT / page).read_bytes().isascii(), page
