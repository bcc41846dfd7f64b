"""A place for an embedded server."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.databases.connection import DatabaseUnavailable, EmbeddedDatabase


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A place short enough for a socket, that the server's user can reach, and that does not exist yet."""
    parent = Path(tempfile.mkdtemp(dir="/tmp", prefix="pg-"))
    parent.chmod(0o755)
    yield parent / "var"
    with contextlib.suppress(DatabaseUnavailable):
        EmbeddedDatabase(data_dir=parent / "var").stop()
    shutil.rmtree(parent)


@pytest.fixture
def embedded(data_dir: Path) -> EmbeddedDatabase:
    return EmbeddedDatabase(data_dir=data_dir)
