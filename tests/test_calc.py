"""Rules for every arithmetic module: its examples are true, and it needs nothing but the standard library."""

import ast
import doctest
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for app in ("companies", "ledger", "planning", "analytics")
    for path in (ROOT / app).rglob("*.py")
    if "calc" in (path.parent.name, path.stem) and path.name != "__init__.py"
)


def tree(module):
    return ast.parse((ROOT / (module.replace(".", "/") + ".py")).read_text())


def imported_names(module):
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_there_are_arithmetic_modules():
    assert len(MODULES) >= 4


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_are_true(module):
    failed, attempted = doctest.testmod(importlib.import_module(module))
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_arithmetic_imports_the_standard_library_and_its_own_kind_only(module):
    room = module.rpartition(".")[0]  # modules are imported from it by their names
    own = ("ledger.calc.", f"{room}.")
    strangers = {
        name
        for name in imported_names(module)
        if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith(own)
    } - {*MODULES, room}
    assert strangers == set()


@pytest.mark.parametrize("module", MODULES)
def test_arithmetic_never_reads_the_clock(module):
    read = {node.attr for node in ast.walk(tree(module)) if isinstance(node, ast.Attribute)}
    assert read.isdisjoint({"today", "now", "utcnow", "time", "monotonic"})
