"""What docs/adding-a-field.md says a new text of a resource takes, tried on a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import psycopg
import pytest
from django.apps import apps
from django.db import connection
from psycopg import sql

from companies.api.camel_case import to_camel_case

ROOT = Path(__file__).parents[1]
UNNEEDED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "var", "screenshots", "clients")
RESOURCES = 5
MAX_FILES = 6
CHECKS = ("tests/ledger/test_cost_center.py", "tests/api/test_field_examples.py")
GUIDE = (ROOT / "docs/adding-a-field.md").read_text()


@pytest.fixture
def repository():
    with TemporaryDirectory() as folder:  # the database's user has to reach it, which pytest's folders do not allow
        Path(folder).chmod(0o755)
        yield Path(shutil.copytree(ROOT, Path(folder) / "copy", ignore=UNNEEDED))


def read_code_blocks():
    """Return file -> code of the guide's Python blocks, each of which begins with its file in a comment."""
    return dict(re.findall(r"```text\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))


def list_resources():
    """Return (model, file of the model, file of the table) of each resource in the guide."""
    return re.findall(r"^\| `(\w+)` \| `(\S+)` \| `(\S+)` \|$", GUIDE, re.MULTILINE)


def insert_after(path, pattern, code):
    source = path.read_text()
    (match,) = re.finditer(pattern, source, re.MULTILINE)
    lines = "".join(f"\n    {line}" for line in code.splitlines())
    path.write_text(source[: match.end()] + lines + source[match.end() :])


@pytest.fixture
def database(django_db_modify_db_settings):
    """The name of a database on the server of the tests; its test database needs only the new migrations."""
    name = f"new_fields_{os.getpid()}"
    template = connection.settings_dict["TEST"].get("TEMPLATE") or "template1"
    names = {name: "template1", f"test_{name}": template}
    with psycopg.connect(build_url("postgres"), autocommit=True) as server:
        for database, source in names.items():
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (database, source))))
        yield name
        for database in names:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))


def build_url(database):
    """Return the URL of a database on the server of the tests."""
    own = connection.settings_dict
    names = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    address = {libpq: own[django] for libpq, django in names.items() if own[django]}
    return f"postgresql:///{database}?{urlencode(address)}"


@pytest.mark.server
def test_new_text_of_each_resource_takes_the_files_of_the_guide(repository, database):
    blocks = read_code_blocks()
    assert blocks.keys() == {"models/", "fields.py"}
    resources = list_resources()
    assert len(resources) == RESOURCES
    for model, model_file, table_file in resources:
        insert_after(repository / model_file, rf"^class {model}\(.*\):(\n    \"\"\".*)?$", blocks["models/"])
        insert_after(repository / table_file, r"^[A-Z]+_TEXTS = \(", blocks["fields.py"])
    run(repository, database, "manage.py", "makemigrations", "--name", "cost_center")
    shutil.copy(ROOT / "tests/data/new_field/cost_center.py", repository / CHECKS[0])

    run(repository, database, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--reuse-db", *CHECKS)


def test_guide_names_at_most_six_files():
    files = re.findall(r"^\d+\. `([^`]+)`", GUIDE, re.MULTILINE)
    assert 0 < len(files) <= MAX_FILES


@pytest.mark.parametrize(
    ("model", "model_file", "table_file"), list_resources(), ids=[row[0] for row in list_resources()]
)
def test_texts_match_their_columns(model, model_file, table_file):
    module = import_module(table_file.removesuffix(".py").replace("/", "."))
    (texts,) = (value for name, value in vars(module).items() if re.fullmatch(r"(?!OTHER|INVOICE)[A-Z]+_TEXTS", name))
    for text in texts:
        column = apps.get_model(table_file.split("/")[0], model)._meta.get_field(text.column)
        assert column.null
        assert column.max_length in (None, text.max_length)
        assert to_camel_case(text.column) == text.name


def run(repository, database, *arguments):
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(repository), "DATA_DIR": str(repository / "var"), "DEBUG": "1",
        "DATABASE_URL": build_url(database),
    }  # fmt: skip
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
