"""Importing subscription events: one pass of checks, what is missing created, one COPY, one transaction.

Rows keep the order of the file: their ids are made in it, so that of two events of one subscription on one day the one
further down counts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from uuid import UUID

from django.db import connection

from companies.counters import note_import
from companies.errors import FieldErrors
from companies.follow_ups import follow_up
from companies.models import AuditEntry, Company, Stamp, new_id
from ledger.bulk_body import BulkRequest
from ledger.import_names import Named, Names, read_names
from ledger.importing import DECIMALS, MOST_ERRORS, ROWS_A_WRITE, Error, nullable
from ledger.models import Subscription
from ledger.statistics import gather_after
from ledger.subscribing import EventsChanged, lock_book

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
    errors: list[Error] = field(default_factory=list)
    dry_run: bool = False


def import_events(*, company: Company, stamp: Stamp, request: BulkRequest) -> Outcome:
    """Stores the events of an import, all or none of them; with ``onError: skip`` all good ones.

    Raises FieldErrors with up to 1,000 pointers where a row is wrong and nothing may be skipped.
    """
    if not request.dry_run:
        lock_book(company)
    outcome = Outcome(dry_run=request.dry_run, errors=request.errors)
    names = read_names(company=company, items=[item for item in request.items if item is not None])
    rows = accepted(company=company, request=request, names=names, outcome=outcome)
    if outcome.errors and request.on_error == "abort":
        raise FieldErrors(outcome.errors[:MOST_ERRORS])
    outcome.count = len(rows)
    note_import(source="subscriptionEvents", outcome=outcome)
    if request.dry_run or not rows:
        return outcome
    created = names.store(company=company, stamp=stamp)
    ids = store(company=company, stamp=stamp, rows=rows)
    gather_after("ledger_subscriptionevent", "ledger_subscription", rows=len(rows))
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="subscriptionEvents.imported",
        entity_type="subscriptionEvent",
        entity_id=None,
        after={
            "count": outcome.count,
            "duplicates": outcome.duplicates,
            "errors": len(outcome.errors),
            "first_id": ids[0],
            "last_id": ids[-1],
            **created,
        },
    )
    changed = EventsChanged(customers=customers_of(company, rows), added=tuple(ids))
    follow_up("subscription_events_changed", company=company, stamp=stamp, changed=changed)
    return outcome


def accepted(*, company: Company, request: BulkRequest, names: Names, outcome: Outcome) -> list[tuple[str, Item]]:
    """(subscription id, item) of the rows that are right and new; the others' errors, and a count of duplicates."""
    known = known_external_ids(company, request.items)
    faults: dict[tuple[str, str], Error | None] = {}  # price lists are short
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
    outcome.errors.sort(key=lambda error: int(error[0].split("/")[2]))
    return rows


def price_fault(amount: str, currency: str) -> Error | None:
    """(field, code, detail) of what is wrong with an amount in a currency."""
    decimals = DECIMALS.get(currency)
    if decimals is None:
        return "amountCurrency", "invalid_choice", "Not one of the thirty currencies."
    whole, point, fraction = amount.partition(".")
    digits = whole[1:] if whole[:1] == "-" else whole
    plain = digits.isdecimal() and digits.isascii() and len(digits) <= 15
    if not plain or (point and not (fraction.isdecimal() and fraction.isascii() and len(fraction) <= 4)):
        return "amountValue", "invalid_decimal", "Must be a string such as 1234.56."
    if len(fraction) > decimals:
        return "amountValue", "too_many_decimals", f"{currency} has fewer decimals."
    if digits != whole and (digits + fraction).strip("0"):
        return "amountValue", "negative_amount", "A subscription is never worth less than nothing."
    return None


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


COLUMNS = (
    "company_id, id, subscription_id, effective_date, committed_date, amount_value, amount_currency, interval, "
    "interval_count, external_id, retracted_time, created_user_id, last_updated_user_id, created_time, "
    "last_updated_time"
)


def store(*, company: Company, stamp: Stamp, rows: list[tuple[str, Item]]) -> list[UUID]:
    """One COPY of all rows; returns their ids in order."""
    ids: list[UUID] = []
    actor = nullable(stamp.actor)
    tail = f"\t\\N\t{actor}\t{actor}\t{stamp.time}\t{stamp.time}\n"
    with connection.cursor() as cursor, cursor.copy(f"COPY ledger_subscriptionevent ({COLUMNS}) FROM STDIN") as copy:
        lines = written(rows, company_id=str(company.id), tail=tail, ids=ids)
        while chunk := "".join(islice(lines, ROWS_A_WRITE)):
            copy.write(chunk)
    return ids


def written(rows: list[tuple[str, Item]], *, company_id: str, tail: str, ids: list[UUID]) -> Iterator[str]:
    """Each row as a line of COPY's text format."""
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
