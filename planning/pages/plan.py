"""The plan: typed into a grid, filled by rules, and the last change taken back."""

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

from companies.locales import current
from companies.models import Currency
from companies.pages.amounts import amount_typed
from companies.pages.amounts import number as in_digits
from companies.pages.typed import Typed, of_body, read_amounts
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.calc.money import InvalidAmount, format_amount, parse_amount
from ledger.calc.months import MONTHS_A_YEAR, first_of_month, format_month, months_between
from ledger.money.rates import rate_table
from ledger.transactions.pages.words import as_line, names_for, of_line
from planning import budgeting, filling
from planning.models import PlanItem
from planning.pages import plan_grid
from planning.pages.plan_form import whole
from planning.pages.plan_grid import Grid
from planning.serializers import PlanItemShape

TAB = "profit-and-loss"
MOST_SHOWN = 200  # items of one row
TEXTS = ("row", "month", "amount", "currency", "frequency", "duration", "growth", "percent")
GROWTHS = {
    "fixed": gettext_lazy("Stays the same"),
    "changeByAmount": gettext_lazy("Grows by itself each time: 100, 200, 300"),
    "relative": gettext_lazy("Grows by a percentage each time"),
}
FIELD_AT = {
    "categoryId": "row",
    "plType": "row",
    "amount/amount/value": "amount",
    "amount/amount/currency": "currency",
    "amount/type": "growth",
    "amount/relativeChange": "percent",
}


@company_page(reads=Permission.PLANNING_READ, writes=Permission.PLANNING_WRITE)
def grid(visit: Visit) -> HttpResponse:
    """A year of the plan; what is typed differently is stored, all of it or nothing."""
    start, mended = plan_grid.start_of(visit.request.GET.get("startMonth", ""), today=visit.today)
    page = whole(visit.request.GET.get("page", "1"))
    if not isinstance(page, int) or page < 1 or (visit.sent and mended):
        raise Http404
    try:
        found = plan_grid.grid_of(visit, start=start, page=page)
    except MissingRate as missing:
        return visit.show("planning/plan.html", tab=TAB, missing=missing.currency, start=format_month(start))
    if not visit.sent:
        return grid_page(visit, found, mended=mended)
    typed = plan_grid.read(visit.request.POST, months=found.months, currency=visit.company.base_currency)
    if not (typed.cells or typed.errors or typed.emptied):
        messages.info(visit.request, _("Nothing was typed differently."))
        return to_grid(visit, start, page)
    with visit.sending(found):
        typed.pass_or_raise()
        filling.fill_in(
            company=visit.company,
            stamp=visit.stamp,
            cells=typed.cells,
            rates=rate_table(),
            emptied=typed.emptied,
            months=found.months,
        )
        if visit.stamp.changed:
            messages.success(visit.request, said(len(typed.cells), emptied=bool(typed.emptied), months=found.months))
        else:
            messages.info(visit.request, _("Nothing was planned there, so nothing was changed."))
        return to_grid(visit, start, page)
    found.typed = typed.texts
    return grid_page(visit, found, status=400)


def said(cells: int, *, emptied: bool, months: Sequence[dt.date]) -> str:
    """Both sentences, or one."""
    saved = ngettext("{count} amount was saved.", "{count} amounts were saved.", cells)
    cleared = _("The row was emptied from {first} to {last}.")
    parts = [saved.format(count=in_digits(cells))] if cells else []
    if emptied:
        parts.append(cleared.format(first=current().month(months[0]), last=current().month(months[-1])))
    return " ".join(parts)


def grid_page(visit: Visit, found: Grid, *, status: int = 200, mended: str = "") -> HttpResponse:
    writes = visit.may(Permission.PLANNING_WRITE)
    changed = filling.last_change(company=visit.company, actor=visit.stamp.actor) if writes else None
    return visit.show(
        "planning/plan.html",
        status=status,
        tab=TAB,
        grid=found,
        lines=found.lines,
        start=format_month(found.months[0]),
        neighbours=plan_grid.neighbours(found.months[0], today=visit.today),
        running=first_of_month(visit.today),
        changed=changed and changed.isoformat(),
        changed_time=changed,
        mended=mended,
        writes=writes,
    )


def to_grid(visit: Visit, start: dt.date, page: int = 1) -> HttpResponse:
    """The grid again."""
    query: dict[str, Any] = {"startMonth": format_month(start)}
    query |= {"page": page} if page > 1 else {}
    return redirect(f"{reverse('plan', args=[visit.company.id])}?{urlencode(query)}")


@company_page(writes=Permission.PLANNING_WRITE)
def undo(visit: Visit) -> HttpResponse:
    """Takes back what the visitor changed last."""
    start = plan_grid.start_of(visit.request.POST.get("startMonth", ""), today=visit.today)[0]
    with visit.sending():
        filling.take_back(
            company=visit.company, stamp=visit.stamp, changed=moment(visit.request.POST.get("changed", ""))
        )
        messages.success(visit.request, _("The change was taken back."))
    return to_grid(visit, start)


def moment(text: str) -> dt.datetime:
    """When the change was made. Raises NothingToTakeBack."""
    try:
        found = dt.datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return found.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise filling.NothingToTakeBack


# ---------------------------------------------------------------------------------------------- rules


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def fill(visit: Visit) -> HttpResponse:
    """A row of the plan: what it is made of, and another rule for it."""
    query = visit.request.GET
    start = plan_grid.start_of(query.get("startMonth", ""), today=visit.today)[0]
    if not visit.sent:
        usual = {"currency": visit.company.base_currency, "frequency": "1", "growth": "fixed"}
        asked = {"row": query.get("row", ""), "month": format_month(start)}
        return rule_page(visit, Typed(values=dict.fromkeys(TEXTS, "") | usual | asked))
    form = read(visit.request.POST)
    if form.valid:
        replaces = "replaces" in visit.request.POST
        with visit.sending(form):
            item = filling.fill_by_rule(company=visit.company, stamp=visit.stamp, values=form.data, replaces=replaces)
            messages.success(visit.request, _("The row was filled."))
            return to_grid(visit, start_for(item, start))
    return rule_page(visit, form)


def start_for(item: PlanItem, start: dt.date) -> dt.date:
    """The year to show an item in: the one that was looked at, where the item begins in it."""
    return start if 0 <= months_between(start, item.month) < MONTHS_A_YEAR else item.month.replace(month=1)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit(visit: Visit, plan_item_id: UUID) -> HttpResponse:
    """Changes an item of the plan."""
    item = found_item(visit, plan_item_id)
    if not visit.sent:
        return rule_page(visit, Typed(values=of_item(item)), item=item)
    form = read(visit.request.POST)
    if form.valid:
        with visit.sending(form):
            changed = budgeting.change(
                company=visit.company, stamp=visit.stamp, item_id=plan_item_id, values=lambda stored: form.data
            )
            messages.success(visit.request, _("The plan was changed."))
            return to_grid(visit, changed.month.replace(month=1))
    return rule_page(visit, form, item=item)


@company_page(writes=Permission.PLANNING_WRITE)
def delete(visit: Visit, plan_item_id: UUID) -> HttpResponse:
    """Takes an item out of the plan."""
    item = found_item(visit, plan_item_id)
    start = item.month.replace(month=1)
    with visit.sending():
        budgeting.remove(company=visit.company, stamp=visit.stamp, item_id=plan_item_id)
        messages.success(visit.request, _("It is planned no longer."))
        return to_grid(visit, start)
    return to_grid(visit, start)


def found_item(visit: Visit, plan_item_id: UUID) -> PlanItem:
    """The item of the address. Raises Http404."""
    return get_object_or_404(PlanItem.objects.of(visit.company.id), id=plan_item_id)


def read(posted: Mapping[str, str]) -> Typed:
    """A rule as it was typed, checked by the API's shape."""
    values = {name: posted.get(name, "").strip() for name in TEXTS}
    category_id, line = of_line(values["row"])
    read_in, wrong = read_amounts(values, ["amount"], currency=values["currency"])
    change = percent(values["percent"]) if values["growth"] == "relative" else None
    body = {
        "month": values["month"],
        "categoryId": category_id,
        "plType": line,
        "frequency": whole(values["frequency"] or "0"),
        "duration": whole(values["duration"]) if values["duration"] else None,
        "amount": {
            "type": values["growth"],
            "amount": {"value": number(read_in.get("amount", values["amount"])), "currency": values["currency"]},
            "relativeChange": change / 100 if not isinstance(change, str) and change is not None else change,
        },
    }
    form = of_body(PlanItemShape, body, values=values, fields=FIELD_AT)
    form.errors |= wrong
    return form


def number(text: str) -> Any:
    """The number that was typed; what is none stays as it is, for the shape to refuse."""
    try:
        return parse_amount(text)
    except InvalidAmount:
        return text


def percent(text: str) -> Any:
    """The same, of what was typed in the reader's way."""
    try:
        return parse_amount(amount_typed(text))
    except ValueError:  # of either
        return text


def of_item(item: PlanItem) -> dict[str, str]:
    """The form of an item, as it is."""
    change = item.relative_change
    return {
        "row": as_line(item.category_id, item.pl_type),
        "month": format_month(item.month),
        "amount": format_amount(item.amount_value, item.amount_currency),
        "currency": item.amount_currency,
        "frequency": str(item.frequency),
        "duration": str(item.duration or ""),
        "growth": item.amount_type,
        "percent": "" if change is None else f"{(change * 100).normalize():f}",
    }


def rule_page(visit: Visit, form: Typed, *, item: PlanItem | None = None) -> HttpResponse:
    names = names_for(visit)
    lines, wanted = names.lines(), plan_grid.row_in(form.values["row"])
    if wanted and form.values["row"] not in {value for _, choices in lines for value, _ in choices}:
        lines.append(
            (_("Elsewhere"), [(form.values["row"], names.category(wanted.category_id))])
        )  # it stays what it is
    return visit.show(
        "planning/plan_rule.html",
        status=400 if form.errors else 200,
        tab=TAB,
        form=form,
        item=item,
        seen=visit.seen(item) if item else "",
        category_lines=lines,
        items=[] if item else items_of(visit, form.values["row"]),
        growths=GROWTHS,
        currencies=Currency.values,
    )


def items_of(visit: Visit, row: str) -> list[dict[str, Any]]:
    """What a row is made of, in words."""
    wanted = plan_grid.row_in(row)
    if wanted is None:
        return []
    rows = PlanItem.objects.of(visit.company.id).filter(pl_type=wanted.pl_type, category=wanted.category_id)
    return [{"row": each, "words": in_words(each)} for each in rows.order_by("month", "id")[:MOST_SHOWN]]


def in_words(item: PlanItem) -> str:
    """every 3 months, 2 % more each time, for 12 months"""
    if item.frequency == 0:
        return _("once")
    often = ngettext("every month", "every {count} months", item.frequency)
    parts = [often.format(count=item.frequency)]
    if item.amount_type == "changeByAmount":
        parts.append(_("growing by itself each time"))
    if item.amount_type == "relative" and item.relative_change is not None:
        percent = f"{(item.relative_change * 100).normalize():f}".replace(".", current().decimal)
        parts.append(_("{percent} % more each time").format(percent=percent))
    if item.duration is not None:
        lasts = ngettext("for {count} month", "for {count} months", item.duration)
        parts.append(lasts.format(count=in_digits(item.duration)))
    return ", ".join(parts)
