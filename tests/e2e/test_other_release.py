"""A ue beside a muxd of another release, which refuses what that ue writes: what is said then, and that `ue upgrade` mends it."""
import re
import subprocess

import pytest
from conftest import DAEMON, copy_programs

FIELD, OTHER = b"\0request_id\0", b"\0request_ix\0"  # tools.def, in the `_meta` of each ue exec
VERSION = re.search(rb"muxd ([\d.]+)", subprocess.run([DAEMON, "--version"], capture_output=True, check=True).stdout)[1]


@pytest.fixture
def own(mux):
    mux.program, mux.daemon, mux.keeper = copy_programs(mux.dir / "bin")
    return mux


def put(mux, content):
    fresh = mux.daemon.with_name("fresh")
    fresh.write_bytes(content)
    fresh.chmod(0o755)
    fresh.rename(mux.daemon)


@pytest.mark.parametrize("version, says", [(re.sub(rb"\d", b"0", VERSION), "`ue upgrade`"), (VERSION, "`ue upgrade`"),
                                           (re.sub(rb"\d", b"9", VERSION), "is older than the muxd that runs")],
                         ids=["older", "same number", "newer"])
def test_what_the_other_refuses(own, version, says):
    content = DAEMON.read_bytes()
    assert FIELD in content and VERSION + b"\0" in content
    put(own, content.replace(FIELD, OTHER).replace(VERSION + b"\0", version + b"\0"))
    own.ue("start").ok()
    done = own.ue("exec", "true")
    assert done.rc == 125 and "unknown field `_meta.request_id`" in done.err and says in done.err and version.decode() in done.err, done
    # what a person has typed wrong is no sign of that
    done = own.ue("call", "hello", '{"nonsense": 1}')
    assert done.rc == 125 and "unknown field `nonsense`" in done.err + done.out and "release" not in done.err + done.out, done
    put(own, content)
    own.ue("upgrade").ok()
    own.ue("exec", "true").ok()
