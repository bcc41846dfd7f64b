"""Rules for every module of pure calculation: its doctests pass, and it needs no framework, database or clock."""

import ast
import doctest
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIELD_TABLES = [
    "ledger.accounts.fields",
    "ledger.categorization.fields",
    "ledger.subscriptions.fields",
    "ledger.transactions.fields",
    "planning.planned_transactions.fields",
]  # calculations read them
MODULES = FIELD_TABLES + sorted(
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


def test_calc_doctests_pass():
    assert len(MODULES) > 50
    assert [module for module in MODULES if doctest.testmod(importlib.import_module(module)).failed] == []


# Libraries that compute from their arguments alone: month names, encodings, sheets of a workbook in memory.
PURE_LIBRARIES = {"babel", "charset_normalizer", "openpyxl"}


def test_calc_imports_no_framework():
    assert {module: names for module in MODULES if (names := list_foreign_imports(module))} == {}


def list_foreign_imports(module):
    """Return the modules that one imports from neither the standard library nor calculations."""
    package = module.rpartition(".")[0]  # modules are imported from it by their names
    own = ("ledger.calc.", f"{package}.")
    return {
        name
        for name in list_imported_names(module)
        if name.partition(".")[0] not in sys.stdlib_module_names | PURE_LIBRARIES and not name.startswith(own)
    } - {*MODULES, *(name.rpartition(".")[0] for name in MODULES)}


CLOCKS = {("date", "today"), ("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("time", "time"),
          ("time", "monotonic")}  # fmt: skip


def test_calc_never_reads_the_clock():
    assert [module for module in MODULES if CLOCKS & list_attributes(module)] == []


def list_attributes(module):
    return {
        (ast.unparse(node.value).rpartition(".")[2], node.attr)
        for node in ast.walk(parse_module(module))
        if isinstance(node, ast.Attribute)
    }
