"""Receivables and payables as of a day, and how long they are overdue."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import DecimalField, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from companies.models import Company
from ledger.models import CounterpartyType
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import format_amount, round_half_up
from planning.calc.aging import AgedAmounts
from planning.calc.expected_dates import ExpectedDate, compute_due_date
from planning.calc.settlements import SettledAmount, SettlementState, get_settlement_state
from planning.models import (
    InvoiceImport,
    InvoiceKind,
    PlannedOverride,
    PlannedTransaction,
    Settlement,
    attach_overrides,
)
from planning.planned_transactions.queries.expected_dates import attach_expected_dates

DEFAULT_INTERVAL = (30, 60, 90)
MONEY_FIELD: Any = DecimalField(max_digits=19, decimal_places=4)
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class InvoiceStanding:
    """An invoice on a day: amounts as text in the currency's decimals; `days_overdue` is 0 before the due date."""

    planned: PlannedTransaction
    due_date: dt.date
    expected: ExpectedDate
    amount_value: str
    settled_amount_value: str
    written_off_amount_value: str
    open_amount_value: str
    state: SettlementState
    days_overdue: int

    @property
    def is_partly_paid(self) -> bool:
        """Whether a part is settled and a part is open, overdue or not."""
        return self.state in ("partlyPaid", "overdue") and self.open_amount_value != self.amount_value


def filter_invoices(
    company: Company,
    *,
    kind: InvoiceKind,
    as_of: dt.date,
    state: SettlementState | None = None,
    counterparty_id: UUID | None = None,
    due: tuple[dt.date, dt.date] | None = None,
) -> QuerySet[PlannedTransaction]:
    """Return the receivables or payables that exist on a day, with `due_date`, `paid_value` and `written_off_value`.

    Skipped ones are left out. Customers have receivables and vendors payables, credit notes too; of others the sign
    decides.

    Args:
        state: as on the day; None: whatever is open then.
        due: first and last due date.
    """
    customer, vendor = Q(counterparty__type=CounterpartyType.CUSTOMER), Q(counterparty__type=CounterpartyType.VENDOR)
    is_receivable = customer | (Q(amount_value__gt=0) & (Q(counterparty=None) | ~vendor))
    is_payable = vendor | (Q(amount_value__lt=0) & (Q(counterparty=None) | ~customer))
    overrides = PlannedOverride.objects.for_company(company.id).filter(
        planned=OuterRef("id"), original_date=OuterRef("start_date")
    )
    skipped = PlannedOverride.objects.for_company(company.id).filter(
        skipped=True, original_date=F("planned__start_date")
    )
    settled = Settlement.objects.for_company(company.id).annotate(day=Coalesce("transaction__date", "date"))
    rows = (
        PlannedTransaction.objects.for_company(company.id)
        .invoices()
        .filter(is_receivable if kind == "receivables" else is_payable, invoice_date__lte=as_of)
        .exclude(id__in=skipped.values("planned"))
        .with_due_dates()
        .with_counterparty()
    )
    if counterparty_id is not None:
        rows = rows.filter(counterparty=counterparty_id)
    if due is not None:
        rows = rows.filter(Q(due_date__range=due))
    if state not in ("paid", "writtenOff"):  # what is closed now was open then only if something came later
        rows = rows.filter(Q(is_closed=False) | Q(id__in=settled.filter(day__gt=as_of).values("planned")))
    parts = settled.filter(planned=OuterRef("id"), original_date=OuterRef("start_date"), day__lte=as_of)
    rows = rows.annotate(
        planned_value=Coalesce(Subquery(overrides.values("amount_value")), F("amount_value")),
        paid_value=sum_settlement_amounts(parts.filter(transaction__isnull=False)),
        written_off_value=sum_settlement_amounts(parts.filter(transaction=None)),
        rest_value=F("planned_value") - F("paid_value") - F("written_off_value"),
    )
    return rows.filter(build_state_condition(state, as_of=as_of))


def sum_settlement_amounts(parts: QuerySet[Settlement]) -> Any:
    """Return the expression that adds up settlements of one planned transaction."""
    sums = parts.order_by().values("planned").annotate(total=Sum("amount_value")).values("total")
    return Coalesce(Subquery(sums), Value(ZERO), output_field=MONEY_FIELD)


def build_state_condition(state: SettlementState | None, *, as_of: dt.date) -> Q:
    """Return the condition of a state on a day, as `get_settlement_state` decides it."""
    is_open, is_late = ~Q(rest_value=0), Q(due_date__lt=as_of)
    nothing_settled = Q(paid_value=0, written_off_value=0)
    conditions = {
        "open": is_open & ~is_late & nothing_settled,
        "partlyPaid": is_open & ~is_late & ~nothing_settled,
        "overdue": is_open & is_late,
        "paid": Q(rest_value=0, written_off_value=0) & ~Q(paid_value=0),
        "writtenOff": Q(rest_value=0) & ~Q(written_off_value=0),
    }
    return is_open if state is None else conditions[state]


def build_invoice_standings(rows: Sequence[PlannedTransaction], *, as_of: dt.date) -> list[InvoiceStanding]:
    """Build the standings of rows of `filter_invoices`. At most two statements."""
    attach_overrides(list(rows))
    attach_expected_dates(rows)
    return [build_invoice_standing(row, as_of=as_of) for row in rows]


def build_invoice_standing(row: Any, *, as_of: dt.date) -> InvoiceStanding:
    due_date, currency = compute_due_date(row.build_invoice_dates()), row.amount_currency
    settled = SettledAmount(row.paid_value, row.written_off_value)
    state = get_settlement_state(row.planned_value, settled, is_overdue=due_date < as_of)
    return InvoiceStanding(
        planned=row,
        due_date=due_date,
        expected=row.expected,
        amount_value=format_amount(row.planned_value, currency),
        settled_amount_value=format_amount(row.paid_value, currency),
        written_off_amount_value=format_amount(row.written_off_value, currency),
        open_amount_value=format_amount(row.rest_value, currency),
        state=state,
        days_overdue=max((as_of - due_date).days, 0) if state == "overdue" else 0,
    )


def list_settled_invoice_ids(invoice_import: InvoiceImport) -> list[UUID]:
    """Return the invoices of an import that are settled in full or in part, or written off, in their order."""
    settlements = Settlement.objects.for_company(invoice_import.company_id).filter(
        planned__invoice_import=invoice_import
    )
    return list(settlements.order_by("planned_id").values_list("planned_id", flat=True).distinct())


# ---------------------------------------------------------------------------------------------------------- aging


@dataclass(slots=True)
class CounterpartyAging:
    """Open amounts of a counterparty by age, in the base currency; without a counterparty `id` and `name` are None."""

    id: UUID | None
    name: str | None
    amounts: AgedAmounts


@dataclass(slots=True)
class Aging:
    """Open amounts by counterparty and in total; the total is the sum of the rounded amounts.

    `currencies` are those of the invoices.
    """

    total: AgedAmounts
    counterparties: list[CounterpartyAging] = field(default_factory=list)
    currencies: set[str] = field(default_factory=set)


# Raw SQL: the ORM cannot join a subquery.
# What is open now, and what was settled after the day only. Both sides come by an index: few rows of many are open.
_AGING = """
    WITH later AS MATERIALIZED (
        SELECT planned_id, sum(amount_value) AS amount
          FROM (SELECT s.planned_id, s.amount_value
                  FROM ledger_transaction AS t
                  JOIN planning_settlement AS s ON s.company_id = t.company_id AND s.transaction_id = t.id
                 WHERE t.company_id = %(company)s AND t.date > %(as_of)s
                 UNION ALL
                SELECT planned_id, amount_value
                  FROM planning_settlement
                 WHERE company_id = %(company)s AND date IS NOT NULL AND date > %(as_of)s) AS parts
         GROUP BY planned_id),
    owed AS (
        SELECT p.id, p.company_id, p.start_date, p.counterparty_id, p.amount_currency, p.amount_value, p.settled_value,
               p.external_data, p.invoice_date, p.payment_terms, later.amount AS later
          FROM planning_plannedtransaction AS p
          LEFT JOIN later ON later.planned_id = p.id
         WHERE p.company_id = %(company)s AND p.invoice_date IS NOT NULL AND p.frequency IS NULL
               AND p.settled_by = 'transaction' AND NOT p.is_closed
         UNION ALL
        SELECT p.id, p.company_id, p.start_date, p.counterparty_id, p.amount_currency, p.amount_value, p.settled_value,
               p.external_data, p.invoice_date, p.payment_terms, later.amount
          FROM later
          JOIN planning_plannedtransaction AS p ON p.company_id = %(company)s AND p.id = later.planned_id
         WHERE p.company_id = %(company)s AND p.invoice_date IS NOT NULL AND p.frequency IS NULL
               AND p.settled_by = 'transaction' AND p.is_closed)
    SELECT owed.counterparty_id, c.name, owed.amount_currency,
           width_bucket(%(as_of)s - COALESCE((owed.external_data ->> 'due_date')::date,
                                             owed.invoice_date + COALESCE(owed.payment_terms, c.payment_terms),
                                             owed.start_date), %(first_days)s::int[]) - 1 AS bucket,
           sum(COALESCE(o.amount_value, owed.amount_value) - owed.settled_value + COALESCE(owed.later, 0))
      FROM owed
      LEFT JOIN ledger_counterparty AS c ON c.company_id = %(company)s AND c.id = owed.counterparty_id
      LEFT JOIN planning_plannedoverride AS o
           ON o.company_id = %(company)s AND o.planned_id = owed.id AND o.original_date = owed.start_date
     WHERE owed.invoice_date <= %(as_of)s AND o.skipped IS NOT TRUE
       AND (%(counterparty)s::uuid IS NULL OR owed.counterparty_id = %(counterparty)s)
       AND CASE c.type WHEN 'customer' THEN 1 WHEN 'vendor' THEN -1 ELSE sign(owed.amount_value) END = %(sign)s
     GROUP BY owed.counterparty_id, c.name, owed.amount_currency, bucket
"""


def compute_aging(
    company: Company,
    *,
    kind: InvoiceKind,
    as_of: dt.date,
    interval: Sequence[int],
    rates: RateTable,
    counterparty_id: UUID | None = None,
) -> Aging:
    """Compute open receivables or payables of a day by age, in the base currency at the day's rate. One statement.

    Args:
        interval: last days of the buckets, in order.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    parameters: dict[str, Any] = {
        "company": company.id,
        "as_of": as_of,
        "first_days": [1, *(last + 1 for last in interval)],
        "counterparty": counterparty_id,
        "sign": 1 if kind == "receivables" else -1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_AGING, parameters)
        rows = cursor.fetchall()
    cells: dict[tuple[UUID | None, str | None, int], Decimal] = {}
    for row_id, name, currency, bucket, amount in rows:
        converted_amount = convert_currency(
            amount, source=currency, target=company.base_currency, day=as_of, rates=rates
        )
        cells[row_id, name, bucket] = cells.get((row_id, name, bucket), ZERO) + converted_amount
    aging = Aging(AgedAmounts.empty(interval), currencies={currency for _, _, currency, _, _ in rows})
    by_id: dict[UUID | None, CounterpartyAging] = {}
    for (row_id, name, bucket), amount in cells.items():
        rounded = round_half_up(amount, company.base_currency)
        aging.total.add(bucket, rounded)
        by_id.setdefault(row_id, CounterpartyAging(row_id, name, AgedAmounts.empty(interval))).amounts.add(
            bucket, rounded
        )
    with_amounts = [each for each in by_id.values() if each.amounts.current or any(each.amounts.buckets)]
    aging.counterparties = sorted(with_amounts, key=lambda each: (each.name is None, each.name or "", str(each.id)))
    return aging
