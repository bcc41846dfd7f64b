"""Embedded servers, new ones and ones that were started before."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.databases.connection import DatabaseUnavailable, EmbeddedDatabase
from tests.machine import copy_directory, find_machines_folder


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A place short enough for a socket, that the server's user can reach, and that does not exist yet."""
    parent = Path(tempfile.mkdtemp(dir=find_machines_folder(), prefix="pg-"))
    parent.chmod(0o755)
    yield parent / "var"
    with contextlib.suppress(DatabaseUnavailable):
        EmbeddedDatabase(data_dir=parent / "var").stop()
    shutil.rmtree(parent)


@pytest.fixture(scope="session")
def created_data_dir() -> Iterator[Path]:
    """The data directory of a server that ran once."""
    parent = Path(tempfile.mkdtemp(dir=find_machines_folder(), prefix="pg-"))
    parent.chmod(0o755)
    with EmbeddedDatabase(data_dir=parent / "var").run_while_used():
        pass
    yield parent / "var"
    shutil.rmtree(parent)


@pytest.fixture
def new_embedded(data_dir: Path) -> EmbeddedDatabase:
    """A server whose first start is yet to come."""
    return EmbeddedDatabase(data_dir=data_dir)


@pytest.fixture
def embedded(data_dir: Path, created_data_dir: Path) -> EmbeddedDatabase:
    """A server that was started before."""
    copy_directory(created_data_dir, data_dir)
    return EmbeddedDatabase(data_dir=data_dir)
