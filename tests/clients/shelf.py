"""The clients of the shelf, made of the document of this checkout in a directory of the tests."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clients import build
from companies.api.document.reference import document
from tests.machine import ROOT

SHELF = ROOT / "clients"
MADE = shutil.ignore_patterns("generated", "dist", "node_modules", "api.d.ts", "__pycache__")


def package_of(name: str, where: Path) -> tuple[Path, Path]:
    """(the package as it stands in the repository, the document)"""
    package = where / name
    shutil.copytree(SHELF / name, package, ignore=MADE)
    (where / "openapi.json").write_bytes(document())
    return package, where / "openapi.json"


def built(make: Callable[[Path, Path], str], package: Path, described: Path) -> str:
    """What the generator said; the test fails with it where it failed."""
    try:
        return make(described, package)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{error.output}")


__all__ = ["build", "built", "package_of"]
