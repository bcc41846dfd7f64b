"""Install the npm packages that tests need, by their lock file; skip the tests where that fails."""

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS_FOLDER = Path(__file__).parent


def install_packages(folder: str, *, package: str) -> Path:
    """Return a folder below tests/ with its packages installed. Skips the test where they cannot be installed."""
    path = TESTS_FOLDER / folder
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip(f"node and npm are not installed: {package} is not tried")
    if not (path / "node_modules" / package).is_dir():
        npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        result = subprocess.run(npm, check=False, cwd=path, capture_output=True, text=True, timeout=300)
        if result.returncode:
            pytest.skip(f"npm could not install {package}: {result.stderr[-300:]}")
    return path
