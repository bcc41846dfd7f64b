"""Metric files of gunicorn's workers: one each, in memory, summed up when metrics are read.

A worker takes over the file of one that exited, so that counters continue and the number of files stays
constant.
"""

import os
import shutil
import tempfile
from typing import Any

PROCESS_SLOT = {"name": "main"}  # of this process: main, or a worker's slot


def create_metrics_directory(directory: str | None) -> None:
    """Create the directory of this server's metrics. Call it before the first metric; repeated calls do nothing."""
    prefix = f"metrics-{os.getpid()}-"
    if f"/{prefix}" in os.environ.get("PROMETHEUS_MULTIPROC_DIR", ""):
        return  # gunicorn reloads its settings on SIGHUP
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix=prefix, dir=directory)
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: PROCESS_SLOT["name"])


def assign_worker_slot(server: Any, worker: Any) -> None:
    """Assign the lowest free slot to a worker before the fork."""
    used_slots = {each.slot for each in server.WORKERS.values()}
    worker.slot = min(set(range(len(used_slots) + 1)) - used_slots)


def take_worker_slot(worker: Any) -> None:
    """Use the assigned slot, after the fork in the worker."""
    PROCESS_SLOT["name"] = str(worker.slot)


def mark_worker_dead(worker: Any) -> None:
    """Mark a worker as dead, so that its gauges no longer count."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.slot)


def remove_metrics_directory() -> None:
    """Remove the metrics directory."""
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
