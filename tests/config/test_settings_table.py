"""What the documentation says of settings, figures and promises: all there is, and nothing that is not."""

import ast
import re
import runpy

import pytest

from tests.machine import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()
TABLE = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", PAGE.split("## Settings")[1].split("\n## ")[0], re.MULTILINE))


def reads_named_variable(call: ast.Call) -> bool:
    """Whether it reads a variable: those are named by a word."""
    return bool(call.args) and isinstance(call.args[0], ast.Constant)


def list_setting_reads() -> list[ast.Call]:
    tree = ast.walk(ast.parse((ROOT / "config" / "settings.py").read_text()))
    return [
        node
        for node in tree
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("environment.")
        and reads_named_variable(node)
    ]


READ_OF_SETTING = {ast.literal_eval(call.args[0]): call for call in list_setting_reads()}


def is_plain_default(word: ast.keyword) -> bool:
    """A number; where a default follows from another setting, the table says how."""
    return word.arg == "default" and isinstance(word.value, ast.Constant)


def test_settings_table_lists_exactly_the_variables_read():
    assert set(TABLE) == set(READ_OF_SETTING)


def test_environment_variables_are_read_only_in_settings():
    """But for PORT, which ``up`` writes, and what belongs to the machine."""
    elsewhere = set()
    for app in ("config", "companies", "ledger", "planning", "analytics", "notifications", "oauth", "assistants"):
        for path in (ROOT / app).rglob("*.py"):
            elsewhere |= set(re.findall(r'os\.environ(?:\.get\(|\[)"(\w+)"', path.read_text()))
    assert elsewhere <= {"PORT", "DJANGO_SETTINGS_MODULE", "PROMETHEUS_MULTIPROC_DIR", "PATH", "LD_LIBRARY_PATH"}


@pytest.mark.parametrize(
    "name", [name for name, call in READ_OF_SETTING.items() if any(is_plain_default(word) for word in call.keywords)]
)
def test_settings_table_has_actual_numeric_defaults(name):
    (default,) = [word.value for word in READ_OF_SETTING[name].keywords if word.arg == "default"]
    assert TABLE[name] == str(ast.literal_eval(default))


def test_settings_table_has_actual_default_of_log_format():
    assert TABLE["LOG_FORMAT"] == f"`{ast.literal_eval(READ_OF_SETTING['LOG_FORMAT'].args[1])}`"


def test_documented_gunicorn_settings_match_configuration(monkeypatch, tmp_path):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    values = runpy.run_path(str(ROOT / "config" / "gunicorn.py"))
    held = PAGE.split("| gunicorn setting |")[1].split("**Memory.**")[0]
    assert f"| timeout | {values['timeout']} s |" in held
    assert f"| graceful timeout | {values['graceful_timeout']} s |" in held
    assert f"| keep-alive | {values['keepalive']} s |" in held
    assert f"| worker class | {values['worker_class']} |" in held
    assert (values["preload_app"], values["max_requests_jitter"]) == (True, values["max_requests"] // 10)


def test_metrics_table_lists_every_metric():
    sources = [ROOT / "config" / "monitoring" / "metrics.py", ROOT / "companies" / "counters.py"]
    made = {
        ast.literal_eval(node.args[0])
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"create_counter", "create_gauge", "Histogram"}
        and isinstance(node.args[0], ast.Constant)
    }
    figures = PAGE.split("## Metrics")[1].split("## Daily tasks")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", figures, re.MULTILINE)) == made


def test_security_promises_name_existing_tests():
    promised = (ROOT / "SECURITY.md").read_text().split("## What is not promised")[0]
    named = re.findall(r"\[(tests/[\w/]+\.py)\]\([^)]+\)((?:\s*\((?:`\w+`[,\s]*)+[^)]*\))?)", promised)
    assert len(named) > 15
    for path, names in named:
        tests = (ROOT / path).read_text()
        assert not [name for name in re.findall(r"`(\w+)`", names) if f"def {name}(" not in tests], path
