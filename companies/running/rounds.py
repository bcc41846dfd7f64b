"""Nightly work in parts: several processes, on several machines, go through the companies together.

Those that are told the same name work at one round, and each company is done in it once. What is done for a company and
that it was done are one transaction, within which the company is the process's own: one that is killed leaves nothing
half done, and whoever is still at work, or is started for the same round later, does that company.
"""

import logging
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from companies.errors import Refusal
from companies.models import Company, LastRound
from companies.models.rounds import LONGEST_NAME
from companies.running.progress import Tell

log = logging.getLogger(__name__)

AT_A_TIME = 1_000  # ids that are read at once

Act = Callable[[Company], bool]
"""Does the work for one company; False where something went wrong with it, and it is still to be done."""


def add_arguments(parser: ArgumentParser) -> None:
    """What every command takes that goes through the companies."""
    parser.add_argument("--company", metavar="ID", help="this one only")
    parser.add_argument(
        "--round", metavar="NAME", type=a_name,
        help="share the work with all who name the same round, as the day: each company is done in it once",
    )  # fmt: skip


def a_name(text: str) -> str:
    if not 0 < len(text) <= LONGEST_NAME:
        raise ValueError
    return text


def each_company(
    act: Act, *, work: str, name: str | None, company_id: str | None, now: datetime, tell: Tell, doing: str
) -> Iterator[Company]:
    """Calls the act for each company that is still to be done in the round of this name, for every one where it has no
    name, and yields them, each behind its transaction.

    Those that other processes are at come last, and are waited for: nobody knows whether they live to do them.
    """
    todo = companies(company_id) if name is None else companies(company_id).exclude(had(work, name))
    total, others = todo.count(), list[UUID]()
    for number, found in enumerate(in_order(todo)):
        tell(f"{doing} {number + 1} of {total}", number / max(total, number + 1))
        with transaction.atomic():
            free = name is None or take(f"{work}:{found}")
            company = do(act, found, work=work, name=name, now=now) if free else None
        if company is not None:
            yield company
        elif not free:
            others.append(found)
    for found in others:
        tell("Waiting for others", 1 - len(others) / max(total, 1))
        with transaction.atomic():
            take(f"{work}:{found}", wait=True)
            company = do(act, found, work=work, name=name, now=now)
        if company is not None:
            yield company


def go_on_after_failures(act: Act, failed: list[str], *, work: str) -> Act:
    """Return the act with any failure of one company logged and named in ``failed``: what it did is undone, the company
    is still to be done, and the others are done."""

    def guarded(company: Company) -> bool:
        try:
            with transaction.atomic():
                return act(company)
        except Exception as error:
            log.exception("%s failed for company %s", work, company.id)
            failed.append(describe_failure(company, error))
            return False

    return guarded


def describe_failure(company: Company, error: Exception) -> str:
    """Name the company and what kind of failure it was; what the error says of the company's data is in the log."""
    return f"{company.id} {error if isinstance(error, LookupError | Refusal) else type(error).__name__}"


def companies(company_id: str | None) -> QuerySet[Company]:
    return Company.objects.all() if company_id is None else Company.objects.filter(id=company_id)


def had(work: str, name: str) -> Exists:
    return Exists(LastRound.objects.filter(company=OuterRef("pk"), work=work, name=name))


def in_order(rows: QuerySet[Company]) -> Iterator[UUID]:
    """Their ids, some at a time: there may be a million."""
    ids = rows.order_by("id").values_list("id", flat=True)
    page = list(ids[:AT_A_TIME])
    while page:
        yield from page
        page = list(ids.filter(id__gt=page[-1])[:AT_A_TIME])


def take(what: str, *, wait: bool = False) -> bool:
    """Whether it is ours to the end of the transaction, which the process's own end is too; waits for others' end where
    that is wanted."""
    with connection.cursor() as cursor:
        if wait:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [what])
            return True
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [what])
        return bool(cursor.fetchone()[0])


def do(act: Act, company_id: UUID, *, work: str, name: str | None, now: datetime) -> Company | None:
    """The company that the act was called for, as it was before; None where others did it meanwhile."""
    rows = Company.objects.filter(id=company_id)
    company = (rows if name is None else rows.exclude(had(work, name))).first()
    if company is None:
        return None
    if act(company) and name is not None:
        LastRound.objects.bulk_create(
            [LastRound(company=company, work=work, name=name, time=now)],
            update_conflicts=True,
            unique_fields=["company", "work"],
            update_fields=["name", "time"],
        )
    return company
