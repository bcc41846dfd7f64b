"""Where gunicorn's workers keep their figures: a file each in memory, which the one that is asked adds up.

A worker takes over the file of one that has gone, so that counters go on and the number of files stays that of the
workers, however often they are replaced.
"""

import os
import shutil
import tempfile
from typing import Any

SLOT = {"name": "main"}  # of this process: main, or a worker's number


def begin(directory: str | None) -> None:
    """Makes a fresh place for this server's figures. Call before the first figure is made; again harms nothing."""
    prefix = f"metrics-{os.getpid()}-"
    if f"/{prefix}" in os.environ.get("PROMETHEUS_MULTIPROC_DIR", ""):
        return  # gunicorn reads its settings anew on SIGHUP
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix=prefix, dir=directory)
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: SLOT["name"])


def choose(server: Any, worker: Any) -> None:
    """Before the fork: the lowest number that no living worker has."""
    taken = {each.slot for each in server.WORKERS.values()}
    worker.slot = min(set(range(len(taken) + 1)) - taken)


def take(worker: Any) -> None:
    """After the fork, in the worker."""
    SLOT["name"] = str(worker.slot)


def gone(worker: Any) -> None:
    """What a worker was doing when it ended is no longer being done."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.slot)


def end() -> None:
    """The server leaves nothing behind."""
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
