"""What the service counts about itself beside requests, for whoever reads /metrics; nothing where nobody may."""

from functools import partial
from typing import Any, Protocol

import psycopg
from django.conf import settings
from django.db import Error, transaction


class Imported(Protocol):
    """What every import tells of itself."""

    count: int
    duplicates: int
    errors: list[Any]
    dry_run: bool


class Nobody:
    """Takes every count and keeps none."""

    def labels(self, **_: str) -> "Nobody":
        return self

    def inc(self, amount: float = 1) -> None: ...

    def dec(self, amount: float = 1) -> None: ...


def counter(name: str, meaning: str, *labels: str) -> Any:
    if not settings.METRICS_TOKEN:
        return Nobody()
    from prometheus_client import Counter  # here: without a reader it takes neither time nor memory

    return Counter(name, meaning, labels)


def gauge(name: str, meaning: str) -> Any:
    """Something that goes up and down; of several processes the living ones are added up."""
    if not settings.METRICS_TOKEN:
        return Nobody()
    from prometheus_client import Gauge

    return Gauge(name, meaning, multiprocess_mode="livesum")


DATABASE_ERRORS = counter("database_errors_total", "Errors of the database that reached a request, by kind.", "kind")
IMPORTED_ROWS = counter("imported_rows_total", "Imported rows, by what became of them.", "source", "outcome")
MAILS = counter("mails_total", "Mails, by what became of them.", "outcome")
MAILS_WAITING = gauge("mails_waiting", "Mails that wait for the mail server.")


def note_error(error: BaseException | None) -> None:
    """Counts the database's errors and no others."""
    if isinstance(error, (Error, psycopg.Error)):
        DATABASE_ERRORS.labels(kind=type(error).__name__).inc()


def note_import(*, source: str, outcome: Imported) -> None:
    """Counts an import's rows once it is committed; a rehearsal's are none."""
    if not outcome.dry_run:
        rows = {"new": outcome.count, "duplicate": outcome.duplicates, "skipped": len(outcome.errors)}
        transaction.on_commit(partial(_count_rows, source, rows))


def _count_rows(source: str, outcomes: dict[str, int]) -> None:
    for outcome, rows in outcomes.items():
        if rows:
            IMPORTED_ROWS.labels(source=source, outcome=outcome).inc(rows)
