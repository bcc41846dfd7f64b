"""The plan grid: lines, categories and months with their amounts, and what is planned as payments beside them."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from companies.errors import DomainError, ValidationFailed
from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.context import CompanyPage
from companies.pages.sheets import (
    Sheet,
    SheetCell,
    SheetColumn,
    SheetRow,
    SheetStyle,
    build_amount_cells,
    get_sheet_style,
)
from ledger.calc.months import MONTHS_PER_YEAR, add_months, count_months_between, format_month, list_months
from ledger.models import PlType
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import format_amount, round_half_up
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import (
    LINE_LABELS,
    SUBTOTAL_LABELS,
    LedgerNames,
    format_line_choice,
    load_visible_names,
)
from planning.forecast.queries import ResultKey, sum_planned_results_in_base
from planning.plan.actions.grid_changes import PlanRow
from planning.plan.pages.amount_texts import apply_shown_sign, format_shown_text
from planning.plan.pages.grid_input import AMOUNT_SEPARATOR, ROWS_PER_PAGE, parse_cell_pointer
from planning.plan.queries.planned_payments import list_planned_payments, sum_planned_payments
from planning.plan.serializers import PlanItemSerializer

SYSTEM_CATEGORY_KEYS = {"transfer", "initialBalance"}  # categories that only the service posts to
ZERO = Decimal(0)
FIRST_MONTH = dt.date(1900, 1, 1)
MAX_YEARS_AHEAD = 50  # that can be shown


@dataclass(slots=True)
class PlanGrid:
    """A page of the plan; `typed_texts` and `errors` hold the posted texts of changed cells and their errors.

    `payments` is what is planned as payments; None if there are too many to show.
    """

    company: Company
    months: list[dt.date]
    rows: list[PlanRow]
    amounts: Mapping[ResultKey, Decimal]
    names: LedgerNames
    payments: Mapping[ResultKey, Decimal] | None = None
    page: int = 1
    has_more: bool = False
    typed_texts: dict[ResultKey, str] = field(default_factory=dict)
    errors: dict[ResultKey, str] = field(default_factory=dict)
    general: str = ""
    style: SheetStyle = field(default_factory=SheetStyle)

    def add_error(self, error: DomainError) -> None:
        """Show the errors of an exception at their cells."""
        field_errors = error.errors if isinstance(error, ValidationFailed) else [("", "", error.detail)]
        for pointer, _code, detail in field_errors:
            key = parse_cell_pointer(pointer)
            if key is None:
                self.general = detail
            else:
                self.errors.setdefault(key, detail)

    def build_lines(self) -> list[dict[str, Any]]:
        """Build the lines of the statement with their rows, for the template, and the subtotals between them."""
        lines, shown = list[dict[str, Any]](), set[str]()
        for line, label in LINE_LABELS.items():
            rows = [self.build_row(place, row) for place, row in enumerate(self.rows) if row.pl_type == line]
            if rows:
                sums = [apply_shown_sign(line, self.sum_line(line, month)) for month in self.months]
                lines.append({"label": label, "rows": rows, "sums": [*sums, sum(sums, ZERO)]})
                shown.add(line)
            if line in SUBTOTAL_LABELS and (self.ends_with_line(shown) or (line == PlType.NO and not self.has_more)):
                sums = [self.sum_result(line, month) for month in self.months]
                lines.append({"label": SUBTOTAL_LABELS[line], "rows": [], "sums": [*sums, sum(sums, ZERO)]})
                shown.clear()
        return lines

    def ends_with_line(self, lines: Collection[str]) -> bool:
        """Whether the rows of these lines are on this page, and none of them is on the next."""
        return bool(lines) and not (self.has_more and self.rows[-1].pl_type in lines)

    def sum_result(self, last_line: PlType, month: dt.date) -> Decimal:
        """Return what all lines down to one come to: income less expenses, of all rows of the plan."""
        places = list(LINE_LABELS)
        counted = set(places[: places.index(last_line) + 1])
        return sum(
            (
                apply_shown_sign(line, round_half_up(amount, self.company.base_currency))
                for (planned_month, line, _), amount in self.amounts.items()
                if planned_month == month and line in counted
            ),
            ZERO,
        )

    def sum_line(self, line: str, month: dt.date) -> Decimal:
        return sum((self.get_amount(row, month) for row in self.rows if row.pl_type == line), ZERO)

    def get_amount(self, row: PlanRow, month: dt.date) -> Decimal:
        return round_half_up(self.amounts.get((month, row.pl_type, row.category_id), ZERO), self.company.base_currency)

    def format_cell(self, row: PlanRow, month: dt.date) -> str:
        """Format an amount as it is typed; empty for zero."""
        amount = self.get_amount(row, month)
        return format_amount(amount, self.company.base_currency) if amount else ""

    def build_row(self, place: int, row: PlanRow) -> dict[str, Any]:
        amounts = [apply_shown_sign(row.pl_type, self.get_amount(row, month)) for month in self.months]
        return {
            "place": place,
            "key": format_line_choice(row.category_id, row.pl_type),
            "name": self.names.get_category_name(row.category_id),
            "was": AMOUNT_SEPARATOR.join(self.format_cell(row, month) for month in self.months),
            "cells": [self.build_cell(place, number, row, month) for number, month in enumerate(self.months)],
            "amounts": amounts,
            "sum": sum(amounts, ZERO),
        } | self.build_payments(row)

    def build_payments(self, row: PlanRow) -> dict[str, Any]:
        """Return what is planned as payments in a row, for the template; nothing where nothing is."""
        sums = self.payments or {}
        payments = [sums.get((month, row.pl_type, row.category_id)) for month in self.months]
        if all(payment is None for payment in payments):
            return {"payments": [], "differs": False}
        cells = [
            {
                "amount": apply_shown_sign(row.pl_type, payment),
                "link": build_payments_url(self.company, row, month),
                "differs": payment != self.get_amount(row, month),
            }
            if payment is not None
            else None
            for month, payment in zip(self.months, payments, strict=True)
        ]
        return {
            "payments": cells,
            "payments_sum": apply_shown_sign(row.pl_type, sum((each for each in payments if each is not None), ZERO)),
            "payment_texts": AMOUNT_SEPARATOR.join(
                "" if payment is None else format_amount(payment, self.company.base_currency) for payment in payments
            ),
            "differs": any(cell["differs"] for cell in cells if cell),
        }

    def build_cell(self, place: int, number: int, row: PlanRow, month: dt.date) -> dict[str, Any]:
        key = (month, row.pl_type, row.category_id)
        return {
            "name": f"c{place}-{number}",
            "month": get_current_locale().format_month(month),
            "text": self.typed_texts[key]
            if key in self.typed_texts
            else format_shown_text(self.format_cell(row, month), line=row.pl_type, style=self.style),
            "error": self.errors.get(key, ""),
        }


def build_payments_url(company: Company, row: PlanRow, month: dt.date) -> str:
    """Return the address of the planned transactions behind a cell."""
    query = {"row": format_line_choice(row.category_id, row.pl_type), "month": format_month(month)}
    return f"{reverse('plan-payments', args=[company.id])}?{urlencode(query)}"


def build_plan_sheet(grid: PlanGrid, lines: Sequence[dict[str, Any]], *, title: str, today: dt.date) -> Sheet:
    """Build the sheet of a plan from its lines: headings for the page, rows for the file."""
    current_month = today.replace(day=1)
    rows = [
        sheet_row
        for line in lines
        for sheet_row in (
            SheetRow(
                str(line["label"]), [SheetCell(amount) for amount in line["sums"]], "line" if line["rows"] else "sum"
            ),
            *(SheetRow(row["name"], build_amount_cells(row["amounts"])) for row in line["rows"]),
        )
    ]
    return Sheet(
        title=title,
        first=_("Category"),
        currency=grid.company.base_currency,
        columns=[
            *(
                SheetColumn(get_current_locale().format_month(month), kind="current" if month == current_month else "")
                for month in grid.months
            ),
            SheetColumn(_("Total"), kind="total"),
        ],
        rows=rows,
        style=grid.style,
    )


def build_plan_grid(page: CompanyPage, *, start: dt.date, page_number: int | None = 1) -> PlanGrid:
    """Build a page of a year of the plan, from a month on; all rows without a page number.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    months = list_months(start, add_months(start, MONTHS_PER_YEAR - 1))
    rates = get_rate_table()
    amounts, names = sum_planned_results_in_base(page.company, months, rates), load_visible_names(page)
    rows = list_plan_rows(names, amounts)
    first = ((page_number or 1) - 1) * ROWS_PER_PAGE
    last = first + ROWS_PER_PAGE if page_number else len(rows)
    return PlanGrid(
        company=page.company,
        months=months,
        rows=rows[first:last],
        amounts=amounts,
        names=names,
        payments=find_planned_payments(page.company, months, rates),
        page=page_number or 1,
        has_more=len(rows) > last,
        style=get_sheet_style(page.request),
    )


def find_planned_payments(
    company: Company, months: Sequence[dt.date], rates: RateTable
) -> Mapping[ResultKey, Decimal] | None:
    """Return what is planned as payments in these months; None if there are too many to show.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    try:
        return sum_planned_payments(list_planned_payments(company, start=months[0], end=months[-1], rates=rates))
    except ValidationFailed:
        return None


def list_plan_rows(names: LedgerNames, amounts: Mapping[ResultKey, Decimal]) -> list[PlanRow]:
    """List each category on each of its lines, and whatever else is planned; in the order of the statement."""
    planned = {PlanRow(line, category_id) for _, line, category_id in amounts}
    rows = [
        PlanRow(line.value, category.id)
        for line in LINE_LABELS
        for category in names.categories.values()
        if line in category.pl_types and (line != PlType.NEUTRAL and category.system_key not in SYSTEM_CATEGORY_KEYS)
    ]
    known_rows, places = set(rows), {line.value: place for place, line in enumerate(LINE_LABELS)}
    rows += sorted(planned - known_rows, key=lambda row: str(row.category_id))
    return sorted(rows, key=lambda row: places[row.pl_type])


def parse_start_month(text: str, *, today: dt.date) -> tuple[dt.date, str]:
    """Parse the first month to show; return (January of this year, message) if it is invalid."""
    january = today.replace(month=1, day=1)
    if not text:
        return january, ""
    shape = PlanItemSerializer(data={"month": text}, partial=True)
    if not shape.is_valid():
        return january, _("“{text}” is not a valid month (YYYY-MM). Showing this year.").format(text=text[:20])
    start: dt.date = shape.validated_data["month"]
    last = get_last_start_month(today)
    if not FIRST_MONTH <= start <= last:
        message = _("The plan covers {first} to {last}. Showing this year.")
        return january, message.format(first=FIRST_MONTH.year, last=last.year)
    return start, ""


def get_last_start_month(today: dt.date) -> dt.date:
    return today.replace(year=min(today.year + MAX_YEARS_AHEAD, dt.date.max.year), month=1, day=1)


def find_adjacent_years(start: dt.date, *, today: dt.date) -> dict[str, str]:
    """Return the months that start the years before and after, where they can be shown."""
    months = {}
    if count_months_between(FIRST_MONTH, start) >= MONTHS_PER_YEAR:
        months["before"] = format_month(add_months(start, -MONTHS_PER_YEAR))
    if count_months_between(start, get_last_start_month(today)) >= MONTHS_PER_YEAR:
        months["after"] = format_month(add_months(start, MONTHS_PER_YEAR))
    return months
