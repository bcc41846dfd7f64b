"""Import subscription events: one pass of checks, missing records created, one COPY, one transaction.

Rows keep the order of the file: their ids are made in it, so that of two events of one subscription on one
day the later one in the file counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import count
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from companies.api.limits import MAX_ERRORS
from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed, is_day_closed
from companies.counters import count_import_outcome
from companies.errors import ValidationFailed
from companies.models import AuditContext, Company, generate_id
from ledger import hooks
from ledger.bulk.copy import NULL, copy_lines, escape_nullable_copy_text
from ledger.bulk.planner_statistics import analyze_after_commit
from ledger.bulk.request_bodies import BulkRequest, Fault, find_amount_fault, sort_faults
from ledger.models import Subscription, SubscriptionEventImport
from ledger.subscriptions.actions.import_references import (
    ImportReferences,
    SubscriptionReference,
    load_import_references,
)
from ledger.subscriptions.actions.subscription_events import SubscriptionEventChanges

MAX_EVENTS = 100_000  # decisions on imports: more goes in several calls
MAX_NAMED_CUSTOMERS = 1_000  # past this adding up the whole company again is quicker than customer by customer
MAX_ID_LENGTH = MAX_NAME_LENGTH = 200
MAX_INTERVAL_COUNT = 1000


EventValues = tuple[str, date, Decimal, str, str, int]  # subscription, day, amount, currency, interval, its count


class EventImportItem(SubscriptionReference, gc=False, rename="camel", kw_only=True):
    """One event as it is sent; amount, currency and ids are checked against the company."""

    effective_date: date
    amount_value: str
    amount_currency: str
    committed_date: date | None = None
    interval: str | None = None
    interval_count: int | None = None
    external_id: str | None = None


@dataclass(slots=True)
class EventImportOutcome:
    """What an import did, or would do."""

    count: int = 0
    duplicates: int = 0
    errors: list[Fault] = field(default_factory=list)
    dry_run: bool = False


def import_subscription_events(*, company: Company, context: AuditContext, request: BulkRequest) -> EventImportOutcome:
    """Import events, all or none of them; with ``onError: skip`` all valid ones.

    Raises ValidationFailed with up to 1,000 pointers if a row is wrong and none may be skipped.
    """
    with change_company(company, context=context) as change:
        outcome = EventImportOutcome(dry_run=request.dry_run, errors=request.errors)
        references = load_import_references(company=company, items=[item for item in request.items if item is not None])
        rows = validate_event_items(company=company, request=request, references=references, outcome=outcome)
        if outcome.errors and request.on_error == "abort":
            raise ValidationFailed(outcome.errors[:MAX_ERRORS])
        outcome.count = len(rows)
        count_import_outcome(source="subscriptionEvents", outcome=outcome)
        if rows and not request.dry_run:
            store_imported_events(change, outcome, rows=rows, references=references)
    return outcome


def store_imported_events(
    change: CompanyChange,
    outcome: EventImportOutcome,
    *,
    rows: list[tuple[str, EventImportItem]],
    references: ImportReferences,
    event_import: SubscriptionEventImport | None = None,
) -> None:
    """Store the rows and the missing records they name; the company's recurring revenue is recomputed.

    Args:
        event_import: the stored import of a file, which the rows then belong to.
    """
    company, context, event_ids = change.company, change.context, list[UUID]()
    created_counts = references.create_missing(company=company, context=context)
    import_id = str(event_import.id) if event_import else None
    lines = to_event_copy_lines(
        rows, company_id=str(company.id), context=context, event_ids=event_ids, import_id=import_id
    )
    copy_lines("ledger_subscriptionevent", COPY_COLUMNS, lines)
    analyze_after_commit("ledger_subscriptionevent", "ledger_subscription", rows=len(rows), company_id=company.id)
    counts = {"count": outcome.count, "duplicates": outcome.duplicates, "errors": len(outcome.errors)}
    after = {**counts, "first_id": event_ids[0], "last_id": event_ids[-1], **created_counts}
    if event_import:
        after |= {"filename": event_import.filename, "import_id": import_id}
    change.record_bulk("subscriptionEvents.imported", "subscriptionEvent", after=after)
    event_changes = SubscriptionEventChanges(customers=find_customer_ids(company, rows), added=tuple(event_ids))
    hooks.subscription_events_changed.run(company=company, context=context, changed=event_changes)


def validate_event_items(
    *,
    company: Company,
    request: BulkRequest,
    references: ImportReferences,
    outcome: EventImportOutcome,
    positions: Sequence[int] | None = None,
    known_values: set[EventValues] | None = None,
) -> list[tuple[str, EventImportItem]]:
    """Return (subscription id, item) of valid, new rows; add errors and duplicates to the outcome.

    Args:
        positions: of the items, for pointers; by default their places in the request.
        known_values: events of the items' subscriptions; an equal item without an external id is a duplicate.
    """
    known = KnownEvents(find_known_event_ids(company, request.items), known_values)
    errors_by_price: dict[tuple[str, str], Fault | None] = {}  # price lists are short
    rows: list[tuple[str, EventImportItem]] = []
    closed: list[str] = []
    closed_days: list[date] = []
    for index, item in zip(positions or count(), request.items, strict=False):
        if item is None:
            continue
        price = (item.amount_value, item.amount_currency)
        if price not in errors_by_price:
            errors_by_price[price] = find_price_error(*price)
        error = errors_by_price[price] or references.find_error(item)
        if error:
            outcome.errors.append((f"#/events/{index}/{error[0]}", *error[1:]))
            continue
        if known.contains(item, references.find_subscription_id(item)):
            outcome.duplicates += 1
            continue
        subscription_id = references.get_or_create_subscription_id(item)
        known.add(item, subscription_id)
        if days := find_closed_days(company, item):
            closed += [f"#/events/{index}/{name}" for name in days]
            closed_days.append(min(days.values()))
        rows.append((subscription_id, item))
    if closed:
        raise PeriodClosed.for_company(company, *closed, days=closed_days)
    outcome.errors = sort_faults(outcome.errors)
    return rows


@dataclass(slots=True)
class KnownEvents:
    """Events that are stored or come earlier in the request: by external id, and by their values where they have none.

    Without ``values`` only external ids tell duplicates.
    """

    external_ids: set[str]
    values: set[EventValues] | None = None

    def contains(self, item: EventImportItem, subscription_id: str | None) -> bool:
        """Whether the item is known. Its subscription is None if it is missing."""
        if item.external_id is not None:
            return item.external_id in self.external_ids
        if not self.values or subscription_id is None:
            return False
        return get_event_values(subscription_id, item) in self.values

    def add(self, item: EventImportItem, subscription_id: str) -> None:
        if item.external_id is not None:
            self.external_ids.add(item.external_id)
        elif self.values is not None:
            self.values.add(get_event_values(subscription_id, item))


def find_closed_days(company: Company, item: EventImportItem) -> dict[str, date]:
    """Return the dates of an item that lie in closed months, by field."""
    days = {"effectiveDate": item.effective_date, "committedDate": item.committed_date}
    return {name: day for name, day in days.items() if day and is_day_closed(company, day)}


def get_event_values(subscription_id: str, item: EventImportItem) -> EventValues:
    """Return what makes two events of a subscription equal."""
    price = Decimal(item.amount_value), item.amount_currency, item.interval or "month", item.interval_count or 1
    return subscription_id, item.effective_date, *price


def find_price_error(amount: str, currency: str) -> Fault | None:
    """Return (field, code, detail) of what is wrong with an amount and its currency, or None."""
    error = find_amount_fault(amount, currency, example="1234.56")
    if error is None and amount.startswith("-") and amount.strip("-0."):
        return "amountValue", *build_negative_amount_error()
    return error


def build_negative_amount_error() -> tuple[str, str]:
    """Return (code, detail) of a negative amount."""
    return "negative_amount", _("The amount of a subscription must not be negative.")


def find_known_event_ids(company: Company, items: Iterable[EventImportItem | None]) -> set[str]:
    """Return the external ids of items that a live event already has."""
    external_ids = list({item.external_id for item in items if item is not None and item.external_id is not None})
    if not external_ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.external_id FROM ledger_subscriptionevent AS e "
            "JOIN unnest(%s::text[]) AS w (external_id) ON w.external_id = e.external_id "
            "WHERE e.company_id = %s AND e.external_id IS NOT NULL AND e.retracted_time IS NULL",
            [external_ids, company.id],
        )
        return {external_id for (external_id,) in cursor.fetchall()}


def find_customer_ids(company: Company, rows: list[tuple[str, EventImportItem]]) -> frozenset[UUID] | None:
    """Return the customers of the rows; None if there are too many to name."""
    subscription_ids = {subscription for subscription, _ in rows}
    if len(subscription_ids) > MAX_NAMED_CUSTOMERS:
        return None
    matching_subscriptions = Subscription.objects.for_company(company.id).filter(id__in=subscription_ids)
    return frozenset(matching_subscriptions.values_list("customer_id", flat=True))


EVENT_COLUMNS = (
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
AUDIT_COLUMNS = ("created_user_id", "last_updated_user_id", "created_time", "last_updated_time")
COPY_COLUMNS = ("company_id", "id", *EVENT_COLUMNS, "event_import_id", *AUDIT_COLUMNS)


def to_event_copy_lines(
    rows: list[tuple[str, EventImportItem]],
    *,
    company_id: str,
    context: AuditContext,
    event_ids: list[UUID],
    import_id: str | None = None,
) -> Iterator[str]:
    """Yield each row as a line in COPY's text format; append its id to ``event_ids``."""
    actor = escape_nullable_copy_text(context.actor)
    tail = f"\t\\N\t{import_id or NULL}\t{actor}\t{actor}\t{context.time}\t{context.time}\n"
    for subscription, item in rows:
        row_id = generate_id()
        event_ids.append(row_id)
        effective_date = str(item.effective_date)
        committed_date = effective_date if item.committed_date is None else str(item.committed_date)
        yield (
            f"{company_id}\t{row_id}\t{subscription}\t{effective_date}\t{committed_date}\t{item.amount_value}\t"
            f"{item.amount_currency}\t{item.interval or 'month'}\t{item.interval_count or 1}\t"
            f"{escape_nullable_copy_text(item.external_id)}{tail}"
        )
