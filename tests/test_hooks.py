"""Packages import each other without circles, and hooks lead only where an import cannot."""

import ast
import graphlib
import tomllib
from functools import cache
from pathlib import Path

import grimp

import companies.hooks
import ledger.hooks
from companies.hooks import Hook

ROOT = Path(__file__).resolve().parents[1]
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
APPS = LINTER["root_packages"]
HOOKS = {
    name: hook
    for module in (companies.hooks, ledger.hooks)
    for name, hook in vars(module).items()
    if type(hook) is Hook
}
# Packages that change and show each other's rows count as one: a scenario changes planned transactions and plan items,
# each of which is also listed with the changes of a scenario, and all of them make the forecast.
ONE_PACKAGE = dict.fromkeys(
    ("planning.planned_transactions", "planning.plan", "planning.scenarios", "planning.forecast"), "planning"
)
# Amounts are pure arithmetic below everything else (see the contract of the ledger's packages).
PURE_MODULES = {"ledger.money.calc.money": "ledger.calc"}
# Commands stand above all apps: they may start what config runs.
COMMANDS = ".management.commands."


def get_package(module: str) -> str:
    """Return the package of a module: two levels, such as ledger.rules."""
    if COMMANDS in f"{module}.":
        return "commands"
    package = PURE_MODULES.get(module) or ".".join(module.split(".")[:2])
    return ONE_PACKAGE.get(package, package)


@cache
def list_imports() -> set[tuple[str, str]]:
    graph = grimp.build_graph(*APPS, exclude_type_checking_imports=True)
    return {
        (get_package(module), get_package(imported))
        for module in graph.modules
        if not module.endswith(".apps") and ".migrations" not in module  # apps.py connects hooks with functions
        for imported in graph.find_modules_directly_imported_by(module)
    }


@cache
def list_hook_users() -> set[tuple[str, str]]:
    """Return (package, hook) of the code that runs a hook."""
    users = set()
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if path.name in ("hooks.py", "apps.py"):
                continue
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hooks":
                    users |= {(get_package(module), node.attr)} if node.attr in HOOKS else set()
    return users


def list_hook_calls() -> set[tuple[str, str, str]]:
    """Return (calling package, called package, hook)."""
    return {
        (package, get_package(function.__module__), name)
        for package, name in list_hook_users()
        for function in HOOKS[name].functions
    }


def sort_packages(edges: set[tuple[str, str]]) -> list[str]:
    """Return the packages, each after those it needs. Raises graphlib.CycleError."""
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    for package, needed in sorted(edges):
        if package != needed:
            sorter.add(package, needed)
    return list(sorter.static_order())


def test_packages_import_each_other_without_circles():
    assert len(sort_packages(list_imports())) > 50


def test_packages_call_each_other_by_hooks_without_circles():
    assert sort_packages({(caller, called) for caller, called, _ in list_hook_calls()})


def can_import(package: str, other: str) -> bool:
    """Whether the contracts let a package import another; in one app, whether the other does not import it."""
    app, other_app = package.split(".")[0], other.split(".")[0]
    if app == other_app:
        return (other, package) not in list_imports()
    rank, other_rank = (
        next(place for place, layer in enumerate(LINTER["contracts"][0]["layers"]) if name in layer.split(" | "))
        for name in (app, other_app)
    )
    is_forbidden = any(
        app in contract.get("source_modules", ()) and other_app in contract["forbidden_modules"]
        for contract in LINTER["contracts"]
    )
    return rank < other_rank and not is_forbidden


def test_hooks_lead_to_packages_that_the_caller_cannot_import():
    """A hook whose functions can all be imported would be an ordinary call."""
    calls = list_hook_calls()
    assert [call for call in calls if call[0] == call[1]] == []
    useful = {name for caller, called, name in calls if caller == "commands" or not can_import(caller, called)}
    assert {name for _, _, name in calls} - useful == set()


def test_every_hook_is_run_and_has_a_function():
    assert {name for name, hook in HOOKS.items() if not hook.functions} == set()
    assert set(HOOKS) == {used for _, used in list_hook_users()}
