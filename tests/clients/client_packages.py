"""Build the client packages from the OpenAPI document of this checkout, in a directory of the tests."""

import importlib
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clients import build
from companies.api.openapi.reference import build_openapi_document
from tests.machine import ROOT

CLIENTS_FOLDER = ROOT / "clients"
GENERATED = "tidebook.generated"  # the package of what is generated
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


def read_examples(client: str, language: str) -> list[str]:
    """Return the examples of a client's README in a language."""
    page = (CLIENTS_FOLDER / client / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


class Generated:
    """The Python client: what is written by hand, its generated operations and types, by name."""

    def __init__(self) -> None:
        self.tidebook: Any = importlib.import_module("tidebook")
        self.package: Any = importlib.import_module(GENERATED)
        self.models: Any = importlib.import_module(f"{GENERATED}.models")

    def operation(self, tag: str, name: str) -> Any:
        return importlib.import_module(f"{GENERATED}.api.{tag}.{name}")


__all__ = ["GENERATED", "Generated", "build", "built", "package_of", "read_examples"]
