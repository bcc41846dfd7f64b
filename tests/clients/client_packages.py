"""Build the client packages from the OpenAPI document of this checkout, in a directory of the tests."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clients import build
from companies.api.openapi.reference import build_openapi_document
from tests.machine import ROOT

CLIENTS_FOLDER = ROOT / "clients"
IGNORED_FILES = shutil.ignore_patterns("generated", "dist", "node_modules", "api.d.ts", "__pycache__")


def package_of(name: str, where: Path) -> tuple[Path, Path]:
    """(the package as it stands in the repository, the document)"""
    package = where / name
    shutil.copytree(CLIENTS_FOLDER / name, package, ignore=IGNORED_FILES)
    (where / "openapi.json").write_bytes(build_openapi_document())
    return package, where / "openapi.json"


def built(make: Callable[[Path, Path], str], package: Path, described: Path) -> str:
    """What the generator said; the test fails with it where it failed."""
    try:
        return make(described, package)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{error.output}")


__all__ = ["build", "built", "package_of"]
