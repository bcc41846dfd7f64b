"""Rules for every module of pure calculation: its doctests pass, and it needs no framework, database or clock."""

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
    if {"calc", "parsers"} & {path.parent.name, path.stem} and path.name != "__init__.py"
)


def parse_module(module):
    return ast.parse((ROOT / (module.replace(".", "/") + ".py")).read_text())


def list_imported_names(module):
    for node in ast.walk(parse_module(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_calc_modules_are_found():
    assert len(MODULES) >= 4


@pytest.mark.parametrize("module", MODULES)
def test_calc_doctests_pass(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


# Libraries that compute from their arguments alone: month names, encodings, sheets of a workbook in memory.
PURE_LIBRARIES = {"babel", "charset_normalizer", "openpyxl"}


@pytest.mark.parametrize("module", MODULES)
def test_calc_imports_no_framework(module):
    package = module.rpartition(".")[0]  # modules are imported from it by their names
    own = ("ledger.calc.", f"{package}.")
    strangers = {
        name
        for name in list_imported_names(module)
        if name.partition(".")[0] not in sys.stdlib_module_names | PURE_LIBRARIES and not name.startswith(own)
    } - {*MODULES, *(name.rpartition(".")[0] for name in MODULES)}
    assert strangers == set()


CLOCKS = {("date", "today"), ("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("time", "time"),
          ("time", "monotonic")}  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_calc_never_reads_the_clock(module):
    read = {
        (ast.unparse(node.value).rpartition(".")[2], node.attr)
        for node in ast.walk(parse_module(module))
        if isinstance(node, ast.Attribute)
    }
    assert read.isdisjoint(CLOCKS)
