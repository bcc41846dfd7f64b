"""The sheet of what the plan has beyond planned transactions, which the forecast does not count."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, build_amount_cells, get_sheet_style
from companies.permissions import Permission
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month, list_months
from ledger.models import EXPENSE_LINES
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import format_amount
from ledger.transactions.pages.labels import load_visible_names
from planning.plan.queries.planned_payments import UncoveredRow, load_uncovered_plan


def build_uncovered_sheet(page: CompanyPage, *, end: date, rates: RateTable) -> Sheet | None:
    """Build the sheet of the whole months from the next one to `end`; None where the forecast has all of the plan.

    Each amount leads to the form that plans it as a monthly total.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    months = list_whole_months_ahead(page.today, end)
    try:
        plan = load_uncovered_plan(page.company, months, rates=rates)
    except ValidationFailed:  # too many planned transactions
        return None
    if not plan.rows:
        return None
    rows, payments = plan.rows, plan.payments_without_line
    names = load_visible_names(page)
    body = [build_sheet_row(page, row, months, names.get_category_name(row.category_id)) for row in rows]
    if payments:
        covering = [-payments.get(month, Decimal(0)) for month in months]
        body.append(SheetRow(_("Less planned transactions without a P&L line"), build_amount_cells(covering)))
    totals = [
        sum((to_cash(row, row.amounts[place]) for row in rows), -payments.get(month, Decimal(0)))
        for place, month in enumerate(months)
    ]
    return Sheet(
        title=_("Plan without planned transactions"),
        first=_("Category"),
        currency=page.company.base_currency,
        columns=[
            *(SheetColumn(get_current_locale().format_month(month)) for month in months),
            SheetColumn(_("Total"), kind="total"),
        ],
        rows=[*body, SheetRow(_("Total"), build_amount_cells(totals), "sum")],
        style=get_sheet_style(page.request),
    )


def list_whole_months_ahead(today: date, end: date) -> list[date]:
    """Return the whole months after that of today, up to a day.

    >>> list_whole_months_ahead(date(2026, 11, 28), date(2027, 1, 31))
    [datetime.date(2026, 12, 1), datetime.date(2027, 1, 1)]
    >>> list_whole_months_ahead(date(2026, 11, 28), date(2027, 1, 30))
    [datetime.date(2026, 12, 1)]
    """
    last = get_first_day_of_month(end)
    if end < get_last_day_of_month(end):
        last = add_months(last, -1)
    first = add_months(get_first_day_of_month(today), 1)
    return list_months(first, last) if first <= last else []


def to_cash(row: UncoveredRow, amount: Decimal) -> Decimal:
    """Return an amount of a row with the sign of cash: costs are negative."""
    return -amount if row.pl_type in EXPENSE_LINES and amount else amount


def build_sheet_row(page: CompanyPage, row: UncoveredRow, months: Sequence[date], name: str) -> SheetRow:
    """Build the row of a category; an amount that the user may plan leads to the form."""
    can_write = page.has_permission(Permission.PLANNING_WRITE)
    cells = [
        SheetCell(
            to_cash(row, amount) if amount else None,
            link=build_plan_url(page, row, month, amount, name) if can_write and amount else "",
        )
        for month, amount in zip(months, row.amounts, strict=True)
    ]
    return SheetRow(name, [*cells, SheetCell(to_cash(row, sum(row.amounts, Decimal(0))))])


def build_plan_url(page: CompanyPage, row: UncoveredRow, month: date, amount: Decimal, name: str) -> str:
    """Return the address of the form that plans the total of a category from a month on."""
    values = {
        "name": name,
        "categoryId": row.category_id,
        "direction": "out" if row.pl_type in EXPENSE_LINES else "in",
        "amountValue": format_amount(amount, page.company.base_currency),
        "startDate": get_last_day_of_month(month).isoformat(),
        "settledBy": "category",
    }
    return f"{reverse('planned-new', args=[page.company.id])}?{urlencode(values)}"
