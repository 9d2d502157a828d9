"""Packages of npm that tests compare with: installed once into the build directory; what needs them skips with the reason where there is no
npm, no node or no registry."""
import fcntl, shutil, subprocess

import pytest
from conftest import BUILD, SANITIZED

NPM_CAP_S = 60  # a slow registry must not hold up everything else


def installed(what, *packages):
    """The directory below the build directory whose node_modules hold the packages; whoever comes first installs them."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("'npm' or 'node' is not installed")
    base = BUILD.parent if SANITIZED and (BUILD.parent / "npm").exists() else BUILD  # a sanitizer's build lies inside of a plain one
    place, failed = base / "npm" / what, base / "npm" / "failed"
    place.mkdir(parents=True, exist_ok=True)
    with open(base / "npm" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / "ok").exists():
            return place
        if failed.exists():  # nobody waits twice for a registry that can't be reached
            pytest.skip(failed.read_text())
        command = ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error",
                   "--fetch-retries=0", *packages]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=NPM_CAP_S, start_new_session=True)
            why = done.stderr[-300:] if done.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"npm takes longer than {NPM_CAP_S} s"
        if why:
            failed.write_text(f"{' '.join(packages)} can't be installed from npm: {why}")
            pytest.skip(failed.read_text())
        (place / "ok").touch()
    return place
