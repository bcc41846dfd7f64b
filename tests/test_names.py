"""Rules for names: docs/tree.md, Names."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import get_resolver

from companies.api.errors import FRAMEWORK_CODES
from companies.api.openapi.error_codes import FIELD_CODES, list_error_classes

ROOT = Path(__file__).resolve().parent.parent
APPS = (
    *("config", "companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks", "assistants"),
    "demo",
)
PRONOUNS = {"found", "told", "these", "asked", "kept", "said"}
# Codes of no error of their own, each with the reason.
SHARED_CODES = {
    "rate_missing": "its error, MissingRateError, has the glossary's name",
    "permission_denied": "each error says which permission is missing",
    "body_too_large": "of the framework; a form of several files has its own text",
}


@cache
def parse_modules() -> dict[str, ast.Module]:
    """Return path → syntax tree of every product module."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text())
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts
    }


def list_functions(module: ast.Module) -> list[str]:
    return [node.name for node in module.body if isinstance(node, ast.FunctionDef)]


def is_actions_module(path: str) -> bool:
    return "actions" in {*Path(path).parts, Path(path).stem}


def test_action_names_are_unique_in_the_repository():
    paths_by_name: dict[str, list[str]] = defaultdict(list)
    for path, module in parse_modules().items():
        for name in list_functions(module):
            paths_by_name[name].append(path)
    actions = {
        name for path, module in parse_modules().items() if is_actions_module(path) for name in list_functions(module)
    }
    assert len(actions) > 400
    assert {name: paths_by_name[name] for name in actions if len(paths_by_name[name]) > 1} == {}


def test_error_classes_carry_their_api_code():
    assert get_resolver().url_patterns  # loads every module with an error class
    names_by_code: dict[str, set[str]] = defaultdict(set)
    for error in list_error_classes():
        names_by_code[error.code].add(error.__name__.removesuffix("Error"))
    wrong = {
        code: names
        for code, names in names_by_code.items()
        if "".join(map(str.capitalize, code.split("_"))) not in names
        and code not in {*FIELD_CODES, *FRAMEWORK_CODES.values(), *SHARED_CODES}
    }
    assert wrong == {}


def get_bound_name(node: ast.AST) -> Any:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else getattr(node, "name", None)


def test_product_names_are_nouns_and_verbs():
    wrong = {
        f"{path}:{node.lineno} {get_bound_name(node)}"  # type: ignore[attr-defined]
        for path, module in parse_modules().items()
        for node in ast.walk(module)
        if get_bound_name(node) in PRONOUNS
    }
    assert wrong == set()
