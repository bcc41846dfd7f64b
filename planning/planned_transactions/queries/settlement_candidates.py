"""Transactions that a person may choose to settle an occurrence: the closest ones, or those of a search."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Abs, Coalesce
from django.http import QueryDict

from ledger.models import Categorization, Transaction
from ledger.transactions.filters import filter_transactions
from ledger.transactions.queries.transfer_candidates import build_day_range, compute_days_apart
from planning.calc.invoice_matching import MIN_NUMBER_LENGTH
from planning.models import PlannedTransaction, Settlement
from planning.planned_transactions.queries.occurrences import PlannedOccurrence

MAX_CANDIDATE_DAYS, MAX_CANDIDATES = 60, 15


@dataclass(frozen=True, slots=True)
class SettlementSearch:
    """What a person looks for; an amount without a sign. Empty values do not restrict the search."""

    text: str = ""
    amount: Decimal | None = None
    day: dt.date | None = None

    def __bool__(self) -> bool:
        return bool(self.text or self.day) or self.amount is not None


def list_settlement_candidates(*, planned: PlannedTransaction, occurrence: PlannedOccurrence) -> list[Transaction]:
    """List up to 15 transactions that could settle an occurrence, whatever their amount, if anything is left of them.

    Those that name its counterparty or invoice number first, then nearest amounts, then nearest days. They are on its
    account, or on any if it has none, in its direction, and at most 60 days away; none is categorized to other
    counterparties only, and none is a transfer unless one is planned. `used_value` is what they settle elsewhere. Two
    statements.
    """
    first, last = build_day_range(occurrence.date, days=MAX_CANDIDATE_DAYS)
    rows = filter_settling_transactions(planned, occurrence).filter(date__range=(first, last))
    if occurrence.account_id:
        rows = rows.filter(account=occurrence.account_id)
    if planned.counterparty_id is not None:
        parts = Categorization.objects.for_company(planned.company_id).filter(transaction=OuterRef("id"))
        has_counterparty = Exists(parts.filter(counterparty__isnull=False))
        rows = rows.filter(~has_counterparty | Exists(parts.filter(counterparty=planned.counterparty_id)))
    order = build_nearest_order(occurrence)
    named = list(rows.filter(build_naming_condition(planned)).order_by(*order)[:MAX_CANDIDATES])
    unnamed = rows.exclude(id__in=[row.id for row in named]).order_by(*order)
    return [*named, *unnamed[: MAX_CANDIDATES - len(named)]]


def search_settling_transactions(
    *, planned: PlannedTransaction, occurrence: PlannedOccurrence, search: SettlementSearch
) -> list[Transaction]:
    """List up to 15 transactions of a search that could settle an occurrence: on any account and day, in its
    direction, if anything is left of them. Nearest amounts first, then nearest days. One statement.
    """
    query = QueryDict(mutable=True)
    if search.text:
        query["q"] = search.text
    if search.day is not None:
        query["startDate"] = query["endDate"] = search.day.isoformat()
    if search.amount is not None:
        amount = abs(search.amount) if Decimal(occurrence.open_amount_value) > 0 else -abs(search.amount)
        query["minAmount"] = query["maxAmount"] = format(amount, "f")
    rows = filter_transactions(filter_settling_transactions(planned, occurrence), query, company_id=planned.company_id)
    return list(rows.order_by(*build_nearest_order(occurrence))[:MAX_CANDIDATES])


def filter_settling_transactions(planned: PlannedTransaction, occurrence: PlannedOccurrence) -> Any:
    """Return the booked transactions in the direction of an occurrence of which anything is left; no transfers unless
    one is planned.
    """
    settlements = Settlement.objects.for_company(planned.company_id).filter(transaction=OuterRef("id")).order_by()
    used = settlements.values("transaction").annotate(used=Sum("transaction_amount_value")).values("used")
    rows = (
        Transaction.objects.for_company(planned.company_id)
        .booked()
        .without_initial_balances()
        .annotate(used_value=Coalesce(Subquery(used), Decimal(0)))
        .exclude(used_value=F("amount_value"))
    )
    is_inflow = Decimal(occurrence.open_amount_value) > 0
    rows = rows.filter(amount_value__gt=0) if is_inflow else rows.filter(amount_value__lt=0)
    return rows.filter(transferred_value=0) if planned.transfer_account_id is None else rows


def build_nearest_order(occurrence: PlannedOccurrence) -> tuple[Any, ...]:
    """Return the order by distance from the open amount, then from the day."""
    amount = Decimal(occurrence.open_amount_value)
    return Abs(F("amount_value") - amount), compute_days_apart(occurrence.date), "id"


def build_naming_condition(planned: PlannedTransaction) -> Q:
    """Return the condition of transactions whose texts name the counterparty or the number of an invoice."""
    condition = Q(pk=None)
    number = (planned.external_data or {}).get("invoice_number")
    if number and len(number) >= MIN_NUMBER_LENGTH:
        condition |= Q(description__icontains=number) | Q(from_to__icontains=number)
    if planned.counterparty is not None:
        condition |= Q(from_to__icontains=planned.counterparty.name)
    return condition
