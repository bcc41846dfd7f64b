"""A run in which not every collected test runs fails, with xdist and without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# As a scheduler that loses a test.
LOST = """
def pytest_runtest_protocol(item):
    return True if "test_number[2]" in item.nodeid else None
"""
SAME_ID = """
import dataclasses

def pytest_itemcollected(item):
    item._id = dataclasses.replace(item.id, params=None)
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_number(number):
    assert number < 4
"""
LOADFILE = ("--numprocesses", "2", "--dist", "loadfile")


def run_pytest(folder: Path, *options: str) -> tuple[int, str]:
    """Run the tests of a folder in a process of their own: (exit code, output)."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "tests.run_count", "-p", "no:django", "-c", "pytest.ini", *options]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_numbers.py").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize("options", [(), LOADFILE], ids=["one process", "xdist"])
def test_complete_run_passes(suite, options):
    code, output = run_pytest(suite, *options)
    assert code == 0, output
    assert "4 passed" in output


@pytest.mark.parametrize("options", [(), LOADFILE], ids=["one process", "xdist"])
def test_run_that_loses_a_test_fails(suite, options):
    (suite / "conftest.py").write_text(LOST)
    code, output = run_pytest(suite, *options)
    assert code == 1, output
    assert "4 tests were collected, 3 were run." in output


def test_shared_node_ids_are_rejected(suite):
    (suite / "conftest.py").write_text(SAME_ID)
    code, output = run_pytest(suite)
    assert code == pytest.ExitCode.USAGE_ERROR, output
    assert "4 tests have the node id test_numbers.py::test_number" in output


def test_selected_and_skipped_tests_are_not_counted_as_lost(suite):
    code, output = run_pytest(suite, *LOADFILE, "-k", "1 or 2")
    assert code == 0, output
    (suite / "conftest.py").write_text("import pytest\ndef pytest_runtest_setup(item): pytest.skip('no')\n")
    code, output = run_pytest(suite, *LOADFILE)
    assert code == 0, output
    assert "4 skipped" in output
