"""What docs/adding-a-field.md says a new text of transactions takes, tried on a copy of the repository."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[3]
UNNEEDED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "var", "screenshots", "clients")
MAX_FILES = 6
GUIDE = (ROOT / "docs/adding-a-field.md").read_text()


@pytest.fixture
def repository():
    with TemporaryDirectory() as folder:  # the database's user has to reach it, which pytest's folders do not allow
        Path(folder).chmod(0o755)
        yield Path(shutil.copytree(ROOT, Path(folder) / "copy", ignore=UNNEEDED))


def read_code_blocks():
    """Return file -> code of the guide's Python blocks, each of which begins with its file in a comment."""
    blocks = re.findall(r"```text\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL)
    return dict(blocks)


def insert_after(path, pattern, text):
    source = path.read_text()
    (match,) = re.finditer(pattern, source, re.MULTILINE)
    path.write_text(source[: match.end()] + text + source[match.end() :])


@pytest.mark.server
def test_new_text_of_transactions_takes_the_files_of_the_guide(repository):
    blocks = read_code_blocks()
    model, table = "ledger/models/transactions.py", "ledger/transactions/fields.py"
    assert blocks.keys() == {model, table}
    (field,) = blocks[model].splitlines()
    insert_after(repository / model, r"^    notes = .*\n", f"    {field}\n")
    definition, texts = blocks[table].split("TRANSACTION_TEXTS = ")
    insert_after(repository / table, r"^NOTES = TransactionText\((?:\n    .*)*\n\)\n", definition)
    source = (repository / table).read_text()
    source = source.replace("TRANSACTION_TEXTS = (NOTES,)", f"TRANSACTION_TEXTS = {texts.strip()}")
    (repository / table).write_text(source)
    run(repository, "manage.py", "makemigrations", "ledger", "--name", "cost_center")
    shutil.copy(ROOT / "tests/data/new_field/cost_center.py", repository / "tests/ledger/test_cost_center.py")

    run(repository, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "tests/ledger/test_cost_center.py")


def test_guide_names_at_most_six_files():
    files = re.findall(r"^\d+\. `([^`]+)`", GUIDE, re.MULTILINE)
    assert 0 < len(files) <= MAX_FILES


def run(repository, *arguments):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(repository), "DATA_DIR": str(repository / "var")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
