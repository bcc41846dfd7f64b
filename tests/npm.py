"""Packages of npm that tests need, as their lock file says; where they cannot be had, the tests are skipped."""

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def installed(folder: str, *, package: str) -> Path:
    """The folder below tests/ with its packages in it. Skips the test where they cannot be had."""
    where = TESTS / folder
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip(f"node and npm are not installed: {package} is not tried")
    if not (where / "node_modules" / package).is_dir():
        npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(npm, check=False, cwd=where, capture_output=True, text=True, timeout=300)
        if done.returncode:
            pytest.skip(f"npm could not install {package}: {done.stderr[-300:]}")
    return where
