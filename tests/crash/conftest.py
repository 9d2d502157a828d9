"""The drills use the harness of tests/e2e: its hooks here, its classes by drill.py."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from drill import BUILD, DAEMON, KEEPER, Drill, harness

# All of it, also the hooks: both folders may be run at once, and then `conftest` is either of the two.
globals().update({name: value for name, value in vars(harness).items() if not name.startswith("__")})


@pytest.fixture
def make_mux(request):
    """Makes daemons that are ended, and looked at for what they leave behind, after the test."""
    if not DAEMON.exists() or not KEEPER.exists():
        pytest.fail(f"'{BUILD}' holds no muxd and muxd-keeper; run make first")
    made = []

    def make(**options):
        made.append(Drill(**options))
        return made[-1]
    yield make
    wrong = []
    for muxd in made:
        bad = muxd.close()
        if (bad or getattr(request.node, "failed", False)) and muxd.log_tail():
            print(f"muxd.log ends:\n{muxd.log_tail()}")
        muxd.remove()
        wrong += bad
    if wrong:
        pytest.fail("\n".join(wrong))


@pytest.fixture
def mux(make_mux):
    return make_mux().start()
