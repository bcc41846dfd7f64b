"""Open invoices as plain values for the forecast."""

import datetime as dt
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from planning.calc.expected_dates import ExpectedDate
from planning.models import PlannedTransaction, attach_overrides
from planning.planned_transactions.queries.expected_dates import attach_expected_dates


class OpenInvoice(NamedTuple):
    """What is open of an invoice, and when it is expected; `original_date` names its occurrence."""

    planned_id: UUID
    original_date: dt.date
    expected: ExpectedDate
    amount: Decimal
    currency: str
    account_id: UUID | None
    category_id: UUID | None
    counterparty_id: UUID | None


def list_open_invoices(
    company_id: UUID,
    *,
    end: dt.date,
    planned_ids: Collection[UUID] | None = None,
    change_rows: Callable[[list[PlannedTransaction]], list[PlannedTransaction]] | None = None,
) -> list[OpenInvoice]:
    """Return the open invoices that are expected up to a day, of any earlier day.

    One statement, and two more if there are any.

    Args:
        planned_ids: ids to read; None: all.
        change_rows: applies the changes of a scenario to the invoices with their overrides.
    """
    rows = PlannedTransaction.objects.for_company(company_id).invoices().filter(is_closed=False).with_counterparty()
    if planned_ids is not None:
        rows = rows.filter(id__in=planned_ids)
    invoices = attach_overrides(list(rows))
    if change_rows is not None:
        invoices = change_rows(invoices)
    attach_expected_dates(invoices)
    return [
        build_open_invoice(row)
        for row in invoices
        if row.expected is not None and row.expected.date <= end and not is_skipped(row)
    ]


def is_skipped(row: PlannedTransaction) -> bool:
    override = row.overrides.get(row.start_date)
    return override is not None and bool(override.skipped)


def build_open_invoice(row: PlannedTransaction) -> OpenInvoice:
    """Build the values of an invoice, which has its overrides and expected date attached."""
    override = row.overrides.get(row.start_date)
    patch: Any = override.to_patch() if override is not None else {}
    expected: Any = row.expected
    return OpenInvoice(
        row.id,
        row.start_date,
        expected,
        patch.get("amount_value", row.amount_value) - row.settled_value,
        row.amount_currency,
        patch.get("account_id", row.account_id),
        patch.get("category_id", row.category_id),
        row.counterparty_id,
    )
