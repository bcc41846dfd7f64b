"""Importing subscription events: one pass of checks, what is missing created, one COPY, one transaction.

Rows keep the order of the file: their ids are made in it, so that of two events of one subscription on one day the one
further down counts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from companies.api.limits import MOST_ERRORS
from companies.changing import Change, changing
from companies.errors import FieldErrors
from companies.models import Company, Stamp, new_id
from companies.running.counters import note_import
from ledger import hooks
from ledger.bulk.bodies import BulkRequest, Fault, amount_fault, in_order
from ledger.bulk.copying import copy_lines, nullable
from ledger.bulk.statistics import gather_after
from ledger.models import Subscription
from ledger.subscriptions.names import Named, Names, read_names
from ledger.subscriptions.subscribing import EventsChanged

MOST_EVENTS = 100_000  # decisions on imports: more goes in several calls
MOST_NAMED_CUSTOMERS = 1_000  # past this adding up the whole company again is quicker than customer by customer
LONGEST_ID = LONGEST_NAME = 200
MOST_INTERVALS = 1000


class Item(Named, gc=False, rename="camel", kw_only=True):
    """One event as it is sent; amount, currency and ids are checked when the company is known."""

    effective_date: date
    amount_value: str
    amount_currency: str
    committed_date: date | None = None
    interval: str | None = None
    interval_count: int | None = None
    external_id: str | None = None


@dataclass(slots=True)
class Outcome:
    """What an import did, or would do."""

    count: int = 0
    duplicates: int = 0
    errors: list[Fault] = field(default_factory=list)
    dry_run: bool = False


def import_events(*, company: Company, stamp: Stamp, request: BulkRequest) -> Outcome:
    """Stores the events of an import, all or none of them; with ``onError: skip`` all good ones.

    Raises FieldErrors with up to 1,000 pointers where a row is wrong and nothing may be skipped.
    """
    with changing(company, stamp=stamp) as change:
        outcome = Outcome(dry_run=request.dry_run, errors=request.errors)
        names = read_names(company=company, items=[item for item in request.items if item is not None])
        rows = accepted(company=company, request=request, names=names, outcome=outcome)
        if outcome.errors and request.on_error == "abort":
            raise FieldErrors(outcome.errors[:MOST_ERRORS])
        outcome.count = len(rows)
        note_import(source="subscriptionEvents", outcome=outcome)
        if rows and not request.dry_run:
            keep(change, outcome, rows=rows, names=names)
    return outcome


def keep(change: Change, outcome: Outcome, *, rows: list[tuple[str, Item]], names: Names) -> None:
    """Stores the rows and what they name and is missing; the company's months follow."""
    company, stamp, ids = change.company, change.stamp, list[UUID]()
    created = names.store(company=company, stamp=stamp)
    lines = written(rows, company_id=str(company.id), stamp=stamp, ids=ids)
    copy_lines("ledger_subscriptionevent", COLUMNS, lines)
    gather_after("ledger_subscriptionevent", "ledger_subscription", rows=len(rows), company_id=company.id)
    counts = {"count": outcome.count, "duplicates": outcome.duplicates, "errors": len(outcome.errors)}
    after = {**counts, "first_id": ids[0], "last_id": ids[-1], **created}
    change.record_many("subscriptionEvents.imported", "subscriptionEvent", after=after)
    changed = EventsChanged(customers=customers_of(company, rows), added=tuple(ids))
    hooks.subscription_events_changed.run(company=company, stamp=stamp, changed=changed)


def accepted(*, company: Company, request: BulkRequest, names: Names, outcome: Outcome) -> list[tuple[str, Item]]:
    """(subscription id, item) of the rows that are right and new; the others' errors, and a count of duplicates."""
    known = known_external_ids(company, request.items)
    faults: dict[tuple[str, str], Fault | None] = {}  # price lists are short
    rows: list[tuple[str, Item]] = []
    for index, item in enumerate(request.items):
        if item is None:
            continue
        price = (item.amount_value, item.amount_currency)
        if price not in faults:
            faults[price] = price_fault(*price)
        error = faults[price] or names.fault(item)
        if error:
            outcome.errors.append((f"#/events/{index}/{error[0]}", *error[1:]))
            continue
        if item.external_id is not None:
            if item.external_id in known:
                outcome.duplicates += 1
                continue
            known.add(item.external_id)
        rows.append((names.subscription(item), item))
    outcome.errors = in_order(outcome.errors)
    return rows


def price_fault(amount: str, currency: str) -> Fault | None:
    """(field, code, detail) of what is wrong with an amount in a currency."""
    fault = amount_fault(amount, currency, such_as="1234.56")
    if fault is None and amount.startswith("-") and amount.strip("-0."):
        return "amountValue", *negative()
    return fault


def negative() -> tuple[str, str]:
    """(code, detail)"""
    return "negative_amount", _("A subscription is never worth less than nothing.")


def known_external_ids(company: Company, items: Iterable[Item | None]) -> set[str]:
    """Those of the items' own external ids that an event which counts has already."""
    wanted = list({item.external_id for item in items if item is not None and item.external_id is not None})
    if not wanted:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.external_id FROM ledger_subscriptionevent AS e "
            "JOIN unnest(%s::text[]) AS w (external_id) ON w.external_id = e.external_id "
            "WHERE e.company_id = %s AND e.external_id IS NOT NULL AND e.retracted_time IS NULL",
            [wanted, company.id],
        )
        return {external_id for (external_id,) in cursor.fetchall()}


def customers_of(company: Company, rows: list[tuple[str, Item]]) -> frozenset[UUID] | None:
    """Whose events these are; None where they are too many to name."""
    subscriptions = {subscription for subscription, _ in rows}
    if len(subscriptions) > MOST_NAMED_CUSTOMERS:
        return None
    found = Subscription.objects.of(company.id).filter(id__in=subscriptions)
    return frozenset(found.values_list("customer_id", flat=True))


SAID = (
    "subscription_id",
    "effective_date",
    "committed_date",
    "amount_value",
    "amount_currency",
    "interval",
    "interval_count",
    "external_id",
    "retracted_time",
)
STAMPED = ("created_user_id", "last_updated_user_id", "created_time", "last_updated_time")
COLUMNS = ("company_id", "id", *SAID, *STAMPED)


def written(rows: list[tuple[str, Item]], *, company_id: str, stamp: Stamp, ids: list[UUID]) -> Iterator[str]:
    """Each row as a line of COPY's text format; its id is left in ``ids``."""
    actor = nullable(stamp.actor)
    tail = f"\t\\N\t{actor}\t{actor}\t{stamp.time}\t{stamp.time}\n"
    for subscription, item in rows:
        row_id = new_id()
        ids.append(row_id)
        effective = str(item.effective_date)
        committed = effective if item.committed_date is None else str(item.committed_date)
        yield (
            f"{company_id}\t{row_id}\t{subscription}\t{effective}\t{committed}\t{item.amount_value}\t"
            f"{item.amount_currency}\t{item.interval or 'month'}\t{item.interval_count or 1}\t"
            f"{nullable(item.external_id)}{tail}"
        )
