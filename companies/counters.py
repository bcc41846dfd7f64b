"""Prometheus counters of the service; no-ops without METRICS_TOKEN."""

from functools import partial
from typing import Any, Protocol

import psycopg
from django.conf import settings
from django.db import Error, transaction


class ImportOutcome(Protocol):
    """Outcome of an import, whatever was imported."""

    count: int
    duplicates: int
    errors: list[Any]
    dry_run: bool


class NullMetric:
    """Metric that counts nothing."""

    def labels(self, **_: str) -> "NullMetric":
        return self

    def inc(self, amount: float = 1) -> None: ...

    def dec(self, amount: float = 1) -> None: ...


def create_counter(name: str, description: str, *labels: str) -> Any:
    """Create a counter; a no-op without METRICS_TOKEN."""
    if not settings.METRICS_TOKEN:
        return NullMetric()
    from prometheus_client import Counter  # imported here: without metrics it costs no time or memory

    return Counter(name, description, labels)


def create_gauge(name: str, description: str) -> Any:
    """Create a gauge, summed over live processes; a no-op without METRICS_TOKEN."""
    if not settings.METRICS_TOKEN:
        return NullMetric()
    from prometheus_client import Gauge

    return Gauge(name, description, multiprocess_mode="livesum")


DATABASE_ERRORS = create_counter("database_errors_total", "Database errors during requests, by kind.", "kind")
IMPORTED_ROWS = create_counter("imported_rows_total", "Imported rows, by result.", "source", "outcome")
EMAILS = create_counter("mails_total", "Emails, by result.", "outcome")
EMAILS_WAITING = create_gauge("mails_waiting", "Emails waiting for the mail server.")


def count_database_error(error: BaseException | None) -> None:
    """Count a database error; other errors are ignored."""
    if isinstance(error, (Error, psycopg.Error)):
        DATABASE_ERRORS.labels(kind=type(error).__name__).inc()


def count_import_outcome(*, source: str, outcome: ImportOutcome) -> None:
    """Count an import's rows after the commit; dry runs are not counted."""
    if not outcome.dry_run:
        rows = {"new": outcome.count, "duplicate": outcome.duplicates, "skipped": len(outcome.errors)}
        transaction.on_commit(partial(_count_imported_rows, source, rows))


def _count_imported_rows(source: str, outcomes: dict[str, int]) -> None:
    for outcome, rows in outcomes.items():
        if rows:
            IMPORTED_ROWS.labels(source=source, outcome=outcome).inc(rows)
