"""Prepare a folder once for all workers of a test run."""

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def get_run_folder(factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the temporary folder that all workers of this run share."""
    folder = factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent


def prepare_folder(run_folder: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder with what `fill` puts into it; the first worker that asks calls it, the others wait."""
    prepared, unfinished = run_folder / name, run_folder / f"{name}.unfinished"
    with (run_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            shutil.rmtree(unfinished, ignore_errors=True)  # of an attempt that failed
            unfinished.mkdir()
            fill(unfinished)
            unfinished.rename(prepared)
    return prepared
