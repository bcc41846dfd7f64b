"""Which booked transactions are what was expected: proposed, and settled by themselves where they are equal."""

import datetime as dt
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Abs

from companies.changing import Change
from companies.models import Company
from ledger.models import RefusedMatch, Transaction
from ledger.money.rates import rate_table
from ledger.transactions.matching import around, days_away
from ledger.transactions.touching import touched
from planning.calc.matching import Awaited, Booked, Match, matches
from planning.forecasting import PlannedFlow, planned_flows
from planning.models import PlannedOverride, PlannedTransaction, SettledBy
from planning.occurring import Expected, at_most, check_window
from planning.settling import settlement_changed

MOST_DAYS = 10  # between what was expected and what came
TOLERANCE = Decimal("0.10")
FAR_DAYS, MOST_CANDIDATES = 60, 15  # of what people may choose from
EQUAL_DAYS = 5  # for equal amounts, which settle by themselves
MOST_TOLD = 100  # pairs that the log names
BOOKED = ("id", "date", "amount_value", "amount_currency", "account_id")  # in the order of Booked


def proposed(*, company: Company, window_start: dt.date, window_end: dt.date) -> list[Match]:
    """``matched`` for a window that is asked for. Raises FieldErrors for one that is reversed, too long or too full."""
    check_window(window_start, window_end)
    awaited = [awaiting(flow) for flow in at_most(planned_flows(company, window_start, window_end))]
    return matched(company=company, awaited=awaited)


def matched(
    *, company: Company, awaited: Iterable[Awaited], days: tuple[dt.date, dt.date] | None = None
) -> list[Match]:
    """A transaction for each open occurrence that has one: on its account, or any where it names none; in its
    direction, within 10 % of its amount (at the day's rate where currencies differ) and ten days, unless somebody
    refused it. Three statements.

    ``days`` are the first and last that can be awaited, where the caller knows them: nothing is built then for a
    company in which nothing could match.
    """
    if days is None:
        awaited = list(awaited)
        if not awaited:
            return []
        days = min(each.date for each in awaited), max(each.date for each in awaited)
    rows = [*free(Transaction.objects.of(company.id).filter(date__range=reach(*days, MOST_DAYS)))]
    if not rows:
        return []
    refused = RefusedMatch.objects.of(company.id).occurrences().values_list("transaction_id", "other_id", "day")
    return matches(
        awaited,
        rows,
        most_days=MOST_DAYS,
        tolerance=TOLERANCE,
        rates=rate_table(),
        refused={(booked, planned, day) for booked, planned, day in refused if day},
    )


def candidates(*, planned: PlannedTransaction, awaited: Expected) -> list[Transaction]:
    """What could settle an occurrence, whatever the amount: nearest amounts first, then nearest days; at most 15.

    On its account, or any where it names none, in its direction, and at most 60 days away. One statement.
    """
    amount, day = Decimal(awaited.amount_value), awaited.date
    rows = without_settling(Transaction.objects.of(planned.company_id).filter(date__range=reach(day, day, FAR_DAYS)))
    rows = rows.filter(amount_value__gt=0) if amount > 0 else rows.filter(amount_value__lt=0)
    if awaited.account_id:
        rows = rows.filter(account=awaited.account_id)
    return list(rows.order_by(Abs(F("amount_value") - amount), days_away(day), "id")[:MOST_CANDIDATES])


def without_settling(rows: Any) -> Any:
    """Those of a query set that could settle something: booked, no initial balance, and settling nothing yet."""
    settled = PlannedOverride.objects.filter(company=OuterRef("company"), transaction=OuterRef("id"))
    return rows.booked().without_initial().exclude(Exists(settled))


def free(rows: Any) -> Iterator[Booked]:
    """The same for the arithmetic."""
    return (Booked(*values) for values in without_settling(rows).values_list(*BOOKED))


def awaiting(flow: PlannedFlow) -> Awaited:
    return Awaited(flow.planned_id, flow.original_date, flow.date, flow.amount, flow.currency, flow.account_id)


def reach(first: dt.date, last: dt.date, days: int) -> tuple[dt.date, dt.date]:
    """The window with so many days more at both ends."""
    return around(first, days=days)[0], around(last, days=days)[1]


# ---------------------------------------------------------------------------------------------- by themselves


def transactions_booked(*, change: Change, rows: Any) -> None:
    """New transactions settle what is expected of them: equal amounts of one currency, at most five days apart.

    ``rows`` is a query set. One statement where nothing that is planned has their amounts, else a constant number.
    """
    company = change.company
    plans = PlannedTransaction.objects.of(company.id).filter(auto_settle=True, settled_by=SettledBy.TRANSACTION)
    patched = PlannedOverride.objects.of(company.id).filter(amount_value__isnull=False, transaction=None)
    amounts = set(plans.values_list("amount_value").union(patched.values_list("amount_value")))
    if not amounts:
        return
    booked = [*free(rows.filter(amount_value__in=[amount for (amount,) in amounts]))]
    if not booked:
        return
    days = [each.date for each in booked]
    rules = of_amounts(plans, booked, company_id=company.id).values_list("id", flat=True)
    found = planned_flows(company, *reach(min(days), max(days), EQUAL_DAYS), rules=rules)
    pairs = matches(map(awaiting, found), booked, most_days=EQUAL_DAYS)
    if pairs:
        settle_all(change, pairs)


def of_amounts(plans: Any, booked: list[Booked], *, company_id: UUID) -> Any:
    """Rules that could expect one of the movements, by their own amount or by an occurrence's."""
    amounts = {each.amount for each in booked}
    patched = PlannedOverride.objects.of(company_id).filter(planned=OuterRef("id"), amount_value__in=amounts)
    return plans.filter(Q(amount_value__in=amounts) | Exists(patched))


def settle_all(change: Change, pairs: list[Match]) -> None:
    """Stores the pairs; what else differs about the occurrences stays. One entry in the log."""
    company, stamp = change.company, change.stamp
    rows = [
        PlannedOverride(
            company_id=company.id,
            planned_id=pair.awaited.planned_id,
            original_date=pair.awaited.original_date,
            transaction_id=pair.booked.id,
        )
        for pair in pairs
    ]
    PlannedOverride.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["company", "planned", "original_date"],
        update_fields=["transaction"],
    )
    plans = PlannedTransaction.objects.of(company.id).filter(id__in={row.planned_id for row in rows})
    plans.update(last_updated_time=stamp.time, last_updated_user_id=stamp.actor)
    invoiced = set(plans.filter(invoice_date__isnull=False).values_list("id", flat=True))
    settlement_changed(change, [row.transaction_id for row in rows if row.planned_id in invoiced], redated=True)
    told = [
        {"planned_id": row.planned_id, "date": row.original_date, "transaction_id": row.transaction_id}
        for row in rows[:MOST_TOLD]
    ]
    after = {"settled": len(rows), "pairs": told}
    entry = change.record_many("plannedTransactions.settled", "plannedTransaction", after=after)
    touched(change, entry, {row.transaction_id for row in rows if row.transaction_id})
