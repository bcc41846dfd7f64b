"""Pages of the financial plan: the grid, forms of plan items, and undo."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.locales import get_current_locale
from companies.models import Currency
from companies.pages.amount_formats import format_count as in_digits
from companies.pages.amount_formats import parse_typed_amount
from companies.pages.context import CompanyPage, InvalidListPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_form_amounts
from companies.pages.sheets import build_sheet_csv_response
from companies.permissions import Permission
from ledger.calc.months import MONTHS_PER_YEAR, count_months_between, format_month
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import InvalidAmount, format_amount, parse_amount
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import format_line_choice, load_visible_names, parse_category_choice
from planning.models import PlanItem
from planning.plan.actions import grid_changes, plan_items
from planning.plan.pages import grid_input as posted_grid
from planning.plan.pages import plan_grid
from planning.plan.pages.plan_grid import PlanGrid
from planning.plan.serializers import PlanItemSerializer
from planning.planned_transactions.forms import parse_integer_or_text

TAB = "plan"
MAX_ITEMS_SHOWN = 200  # items of one row
TEXT_FIELDS = ("row", "month", "amount", "currency", "frequency", "duration", "growth", "percent")
GROWTH_LABELS = {
    "fixed": gettext_lazy("No growth"),
    "changeByAmount": gettext_lazy("By the amount: 100, 200, 300"),
    "relative": gettext_lazy("By a percentage"),
}
FIELD_BY_POINTER = {
    "categoryId": "row",
    "plType": "row",
    "amount/amount/value": "amount",
    "amount/amount/currency": "currency",
    "amount/type": "growth",
    "amount/relativeChange": "percent",
}


@company_page(reads=Permission.PLANNING_READ, writes=Permission.PLANNING_WRITE)
def show_plan(page: CompanyPage) -> HttpResponse:
    """Show a year of the plan; on POST save the changed cells, all or nothing."""
    start, notice = plan_grid.parse_start_month(page.request.GET.get("startMonth", ""), today=page.today)
    page_number = parse_integer_or_text(page.request.GET.get("page", "1"))
    if not isinstance(page_number, int) or page_number < 1:
        raise InvalidListPage
    if page.is_post and notice:
        raise Http404
    try:
        plan_grid_page = plan_grid.build_plan_grid(page, start=start, page_number=page_number)
    except RateLookupError as missing:
        return page.render("planning/plan/plan.html", tab=TAB, missing=missing.currency, start=format_month(start))
    if not page.is_post:
        return render_plan_grid(page, plan_grid_page, notice=notice)
    grid_input = posted_grid.parse_grid(
        page.request.POST, months=plan_grid_page.months, currency=page.company.base_currency
    )
    if not (grid_input.cells or grid_input.errors or grid_input.cleared_rows):
        messages.info(page.request, _("No changes to save."))
        return redirect_to_plan(page, start, page_number)
    with page.handle_errors(plan_grid_page):
        grid_input.raise_if_invalid()
        grid_changes.save_plan_cells(
            company=page.company,
            context=page.audit_context,
            cells=grid_input.cells,
            rates=get_rate_table(),
            cleared_rows=grid_input.cleared_rows,
            months=plan_grid_page.months,
        )
        if page.audit_context.touched_company_ids:
            messages.success(
                page.request,
                build_saved_message(
                    len(grid_input.cells), is_cleared=bool(grid_input.cleared_rows), months=plan_grid_page.months
                ),
            )
        else:
            messages.info(page.request, _("Nothing to clear in this row."))
        return redirect_to_plan(page, start, page_number)
    plan_grid_page.typed_texts = grid_input.texts
    return render_plan_grid(page, plan_grid_page, status=400)


def build_saved_message(cells: int, *, is_cleared: bool, months: Sequence[dt.date]) -> str:
    """Build the message after saving cells and clearing a row."""
    saved_text = ngettext("{count} amount saved.", "{count} amounts saved.", cells)
    cleared_text = _("Row cleared from {first} to {last}.")
    parts = [saved_text.format(count=in_digits(cells))] if cells else []
    if is_cleared:
        parts.append(
            cleared_text.format(
                first=get_current_locale().format_month(months[0]), last=get_current_locale().format_month(months[-1])
            )
        )
    return " ".join(parts)


def render_plan_grid(
    page: CompanyPage, plan_grid_page: PlanGrid, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    can_write = page.has_permission(Permission.PLANNING_WRITE) and plan_grid_page.style.unit != "thousands"
    changed_time = (
        grid_changes.find_last_plan_change(company=page.company, actor=page.audit_context.actor) if can_write else None
    )
    lines = plan_grid_page.build_lines()
    return page.render(
        "planning/plan/plan.html",
        status=status,
        tab=TAB,
        grid=plan_grid_page,
        lines=lines,
        differs=any(row["differs"] for line in lines for row in line["rows"]),
        sheet=plan_grid.build_plan_sheet(plan_grid_page, lines, title=build_title(plan_grid_page), today=page.today),
        style=plan_grid_page.style,
        start=format_month(plan_grid_page.months[0]),
        neighbours=plan_grid.find_adjacent_years(plan_grid_page.months[0], today=page.today),
        today=page.today,
        changed=changed_time and changed_time.isoformat(),
        changed_time=changed_time,
        period_message=notice,
        writes=can_write,
    )


@company_page(reads=Permission.PLANNING_READ)
def download_plan(page: CompanyPage) -> HttpResponse:
    """Download a year of the plan as CSV."""
    start, _ = plan_grid.parse_start_month(page.request.GET.get("startMonth", ""), today=page.today)
    try:
        grid = plan_grid.build_plan_grid(page, start=start, page_number=None)
    except RateLookupError:
        return redirect_to_plan(page, start)  # which shows the error
    sheet = plan_grid.build_plan_sheet(grid, grid.build_lines(), title="", today=page.today)
    return build_sheet_csv_response(sheet, name="plan")


def build_title(grid: PlanGrid) -> str:
    return _("Plan from {month}").format(month=get_current_locale().format_month(grid.months[0], full=True))


def redirect_to_plan(page: CompanyPage, start: dt.date, page_number: int = 1) -> HttpResponse:
    """Redirect to the plan grid."""
    query: dict[str, Any] = {"startMonth": format_month(start)}
    query |= {"page": page_number} if page_number > 1 else {}
    return redirect(f"{reverse('plan', args=[page.company.id])}?{urlencode(query)}")


@company_page(writes=Permission.PLANNING_WRITE)
def undo_plan_change_page(page: CompanyPage) -> HttpResponse:
    """Undo the user's last change of the plan."""
    start = plan_grid.parse_start_month(page.request.POST.get("startMonth", ""), today=page.today)[0]
    with page.handle_errors():
        grid_changes.undo_last_plan_change(
            company=page.company,
            context=page.audit_context,
            changed_time=parse_change_time(page.request.POST.get("changed", "")),
        )
        messages.success(page.request, _("Change undone."))
    return redirect_to_plan(page, start)


def parse_change_time(text: str) -> dt.datetime:
    """Parse the time of the change to undo.

    Raises:
        NothingToTakeBack: it is no time.
    """
    try:
        time = dt.datetime.fromisoformat(text)
        if time.tzinfo is not None:
            return time.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise grid_changes.NothingToTakeBack


# ---------------------------------------------------------------------------------------------- rules


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def fill_plan_row_page(page: CompanyPage) -> HttpResponse:
    """Show the items of a plan row, and add one."""
    query = page.request.GET
    start = plan_grid.parse_start_month(query.get("startMonth", ""), today=page.today)[0]
    if not page.is_post:
        defaults = {"currency": page.company.base_currency, "frequency": "1", "growth": "fixed"}
        requested_values = {"row": query.get("row", ""), "month": format_month(start)}
        return render_plan_item_form(
            page, BoundForm(values=dict.fromkeys(TEXT_FIELDS, "") | defaults | requested_values)
        )
    form = parse_plan_item_form(page.request.POST)
    if form.is_valid:
        replaces = "replaces" in page.request.POST
        with page.handle_errors(form):
            item = grid_changes.fill_plan_row(
                company=page.company, context=page.audit_context, values=form.data, replaces=replaces
            )
            messages.success(page.request, _("Row filled."))
            return redirect_to_plan(page, choose_start_month(item, start))
    return render_plan_item_form(page, form)


def choose_start_month(item: PlanItem, start: dt.date) -> dt.date:
    """Return the first month to show: the current one if the item starts in its year, else the item's January."""
    return start if 0 <= count_months_between(start, item.month) < MONTHS_PER_YEAR else item.month.replace(month=1)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit_plan_item_page(page: CompanyPage, plan_item_id: UUID) -> HttpResponse:
    """Edit a plan item."""
    item = get_plan_item_or_404(page, plan_item_id)
    if not page.is_post:
        return render_plan_item_form(page, BoundForm(values=build_plan_item_values(item)), item=item)
    form = parse_plan_item_form(page.request.POST)
    if form.is_valid:
        with page.handle_errors(form):
            changed = plan_items.update_plan_item(
                company=page.company,
                context=page.audit_context,
                item_id=plan_item_id,
                build_values=lambda stored: form.data,
            )
            messages.success(page.request, _("Plan item saved."))
            return redirect_to_plan(page, changed.month.replace(month=1))
    return render_plan_item_form(page, form, item=item)


@company_page(writes=Permission.PLANNING_WRITE)
def delete_plan_item_page(page: CompanyPage, plan_item_id: UUID) -> HttpResponse:
    """Delete a plan item."""
    item = get_plan_item_or_404(page, plan_item_id)
    start = item.month.replace(month=1)
    with page.handle_errors():
        plan_items.delete_plan_item(company=page.company, context=page.audit_context, item_id=plan_item_id)
        messages.success(page.request, _("Plan item deleted."))
        return redirect_to_plan(page, start)
    return redirect_to_plan(page, start)


def get_plan_item_or_404(page: CompanyPage, plan_item_id: UUID) -> PlanItem:
    """Return the plan item of the URL.

    Raises:
        Http404: there is none.
    """
    return get_object_or_404(PlanItem.objects.for_company(page.company.id), id=plan_item_id)


def parse_plan_item_form(post_data: Mapping[str, str]) -> BoundForm:
    """Parse the posted form of a plan item, validated by the API's serializer."""
    values = {name: post_data.get(name, "").strip() for name in TEXT_FIELDS}
    category_id, line = parse_category_choice(values["row"])
    amounts, amount_errors = parse_form_amounts(values, ["amount"], currency=values["currency"])
    change = parse_percent_or_text(values["percent"]) if values["growth"] == "relative" else None
    body = {
        "month": values["month"],
        "categoryId": category_id,
        "plType": line,
        "frequency": parse_integer_or_text(values["frequency"] or "0"),
        "duration": parse_integer_or_text(values["duration"]) if values["duration"] else None,
        "amount": {
            "type": values["growth"],
            "amount": {
                "value": parse_amount_or_text(amounts.get("amount", values["amount"])),
                "currency": values["currency"],
            },
            "relativeChange": change / 100 if not isinstance(change, str) and change is not None else change,
        },
    }
    form = bind_body(PlanItemSerializer, body, values=values, fields=FIELD_BY_POINTER)
    form.errors |= amount_errors
    return form


def parse_amount_or_text(text: str) -> Any:
    """Parse an amount; return the text if it is none, for the serializer to reject."""
    try:
        return parse_amount(text)
    except InvalidAmount:
        return text


def parse_percent_or_text(text: str) -> Any:
    """Parse a percentage in the reader's number format; return the text if it is none."""
    try:
        return parse_amount(parse_typed_amount(text))
    except ValueError:  # both functions raise subclasses
        return text


def build_plan_item_values(item: PlanItem) -> dict[str, str]:
    """Return the form values of a plan item."""
    change = item.relative_change
    return {
        "row": format_line_choice(item.category_id, item.pl_type),
        "month": format_month(item.month),
        "amount": format_amount(item.amount_value, item.amount_currency),
        "currency": item.amount_currency,
        "frequency": str(item.frequency),
        "duration": str(item.duration or ""),
        "growth": item.amount_type,
        "percent": "" if change is None else f"{(change * 100).normalize():f}",
    }


def render_plan_item_form(page: CompanyPage, form: BoundForm, *, item: PlanItem | None = None) -> HttpResponse:
    names = load_visible_names(page)
    lines, row = names.list_line_choices(), posted_grid.parse_plan_row(form.values["row"])
    if row and form.values["row"] not in {value for _, choices in lines for value, _ in choices}:
        lines.append(
            (_("Other"), [(form.values["row"], names.get_category_name(row.category_id))])
        )  # keep the item's row
    return page.render(
        "planning/plan/plan_item.html",
        status=400 if form.errors else 200,
        tab=TAB,
        form=form,
        item=item,
        seen=page.get_seen_version(item) if item else "",
        category_lines=lines,
        items=[] if item else list_row_items(page, form.values["row"]),
        growths=GROWTH_LABELS,
        currencies=Currency.values,
    )


def list_row_items(page: CompanyPage, row: str) -> list[dict[str, Any]]:
    """List the items of a plan row with a description of each."""
    plan_row = posted_grid.parse_plan_row(row)
    if plan_row is None:
        return []
    rows = PlanItem.objects.for_company(page.company.id).filter(pl_type=plan_row.pl_type, category=plan_row.category_id)
    return [{"row": item, "words": describe_plan_item(item)} for item in rows.order_by("month", "id")[:MAX_ITEMS_SHOWN]]


def describe_plan_item(item: PlanItem) -> str:
    """Describe a plan item: "every 3 months, 2 % more each time, for 12 months"."""
    if item.frequency == 0:
        return _("once")
    interval_text = ngettext("every month", "every {count} months", item.frequency)
    parts = [interval_text.format(count=item.frequency)]
    if item.amount_type == "changeByAmount":
        parts.append(_("growing by the amount each time"))
    if item.amount_type == "relative" and item.relative_change is not None:
        percent = f"{(item.relative_change * 100).normalize():f}".replace(".", get_current_locale().decimal)
        parts.append(_("{percent}% more each time").format(percent=percent))
    if item.duration is not None:
        duration_text = ngettext("for {count} month", "for {count} months", item.duration)
        parts.append(duration_text.format(count=in_digits(item.duration)))
    return ", ".join(parts)
