"""Page of the planned transactions behind a cell of the plan, whose sum a person can use in the plan."""

import datetime as dt
from typing import NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Category
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import InvalidAmount, format_amount, parse_amount, round_half_up
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import load_visible_names
from planning.forecast.queries import sum_planned_results_in_base
from planning.plan.actions import grid_changes
from planning.plan.actions.grid_changes import PlanCell, PlanRow
from planning.plan.pages import plan_grid
from planning.plan.pages.amount_texts import apply_shown_sign
from planning.plan.pages.grid_input import ZERO, build_cell_pointer, parse_plan_row
from planning.plan.queries.planned_payments import PlannedPayment, list_planned_payments

TAB = "plan"
MAX_PAYMENTS_SHOWN = 100


class CellPayments(NamedTuple):
    """What is planned as payments in a cell of the plan, and what the plan has; in the sign of the plan."""

    payments: list[PlannedPayment]
    amount: str
    planned: str


@company_page(reads=Permission.PLANNING_READ, writes=Permission.PLANNING_WRITE)
def show_planned_payments(page: CompanyPage) -> HttpResponse:
    """Show the planned transactions of a category and month; on POST use their sum in the plan."""
    row, month = parse_url_cell(page, page.request.GET)
    form = BoundForm(values={})
    if page.is_post:
        with page.handle_errors(form):
            grid_changes.save_plan_cells(
                company=page.company,
                context=page.audit_context,
                cells=[parse_used_cell(page.request.POST, row, month)],
                rates=get_rate_table(),
            )
            messages.success(page.request, _("Plan saved."))
            return redirect(f"{reverse('plan', args=[page.company.id])}?startMonth={month.year:04}-01")
    cell, missing_currency = None, ""
    try:
        cell = load_cell_payments(page, row, month)
    except RateLookupError as error:
        missing_currency = error.currency
    return render_planned_payments(page, row, month, cell, error=form.general, missing=missing_currency)


def parse_url_cell(page: CompanyPage, query: QueryDict) -> tuple[PlanRow, dt.date]:
    """Return the cell of the plan that the URL names.

    Raises:
        Http404: it names none of the company.
    """
    row = parse_plan_row(query.get("row", ""))
    month, notice = plan_grid.parse_start_month(query.get("month", ""), today=page.today)
    if row is None or notice or not query.get("month"):
        raise Http404
    if not Category.objects.for_company(page.company.id).filter(id=row.category_id).exists():
        raise Http404
    return row, month


def parse_used_cell(posted: QueryDict, row: PlanRow, month: dt.date) -> PlanCell:
    """Return the cell with the sum that was shown, and the amount that the plan had then.

    Raises:
        ValidationFailed: one of them is no amount.
    """
    pointer = build_cell_pointer((month, row.pl_type, row.category_id))
    try:
        amount, planned = (parse_amount(posted.get(name, "")) for name in ("amount", "planned"))
    except InvalidAmount:
        raise ValidationFailed([(pointer, "invalid_decimal", _("Enter an amount such as 1234.56."))]) from None
    return PlanCell(row, month, amount, planned, pointer)


def load_cell_payments(page: CompanyPage, row: PlanRow, month: dt.date) -> CellPayments | None:
    """Return what is planned as payments in a cell; None if there are too many in the month to show.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    key, rates, base = (month, row.pl_type, row.category_id), get_rate_table(), page.company.base_currency
    planned = sum_planned_results_in_base(page.company, [month], rates).get(key, ZERO)
    try:
        payments = list_planned_payments(page.company, start=month, end=month, rates=rates)
    except ValidationFailed:
        return None
    payments = [payment for payment in payments if payment.key == key]
    total = sum((payment.planned_value for payment in payments), ZERO)
    return CellPayments(payments, format_amount(total, base), format_amount(round_half_up(planned, base), base))


def render_planned_payments(
    page: CompanyPage, row: PlanRow, month: dt.date, cell: CellPayments | None, *, error: str, missing: str
) -> HttpResponse:
    line, shown_cell = row.pl_type, None
    if cell is not None:
        shown_cell = {
            "rows": [
                {"payment": payment, "value": apply_shown_sign(line, payment.planned_value)}
                for payment in cell.payments[:MAX_PAYMENTS_SHOWN]
            ],
            "hidden": max(len(cell.payments) - MAX_PAYMENTS_SHOWN, 0),
            "total": apply_shown_sign(line, parse_amount(cell.amount)),
            "in_plan": apply_shown_sign(line, parse_amount(cell.planned)),
            "amount": cell.amount,
            "planned": cell.planned,
            "differs": cell.amount != cell.planned,
        }
    return page.render(
        "planning/plan/planned_payments.html",
        status=400 if error else 200,
        tab=TAB,
        cell=shown_cell,
        currencies={payment.planned.amount_currency for payment in cell.payments} if cell else set(),
        category=load_visible_names(page).get_category_name(row.category_id),
        month_text=get_current_locale().format_month(month, full=True),
        start=f"{format_month(month)[:4]}-01",
        error=error,
        missing=missing,
        writes=page.has_permission(Permission.PLANNING_WRITE),
    )
