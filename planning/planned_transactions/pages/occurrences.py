"""Pages of single occurrences: edit, skip, restore, settle and unsettle."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_form, parse_form_amounts
from companies.permissions import Permission
from ledger.categorization.pages.bulk_actions import validate_request_body
from ledger.money.amounts import parse_api_amount
from ledger.money.calc.money import format_amount
from ledger.transactions.pages.labels import load_visible_names
from ledger.transactions.pages.return_urls import MAX_QUERY_LENGTH, build_inbox_url, build_list_url
from planning.calc.recurrence import is_occurrence
from planning.models import PlannedTransaction
from planning.planned_transactions.actions import overrides, settlements
from planning.planned_transactions.forms import apply_direction, find_direction_errors, split_signed_amount
from planning.planned_transactions.pages.planned_transactions import (
    get_planned_transaction_or_404,
    list_hidden_fields,
    list_visible_account_names,
)
from planning.planned_transactions.pages.write_off_undo import (
    WRITE_OFFS_FIELD,
    WRITTEN_OFF_PARAMETER,
    format_write_off,
)
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.queries.occurrences import PlannedOccurrence, get_planned_occurrence
from planning.planned_transactions.queries.settlement_candidates import (
    MAX_CANDIDATES,
    SettlementSearch,
    list_settlement_candidates,
    search_settling_transactions,
)
from planning.planned_transactions.queries.settlements import find_settled_amounts
from planning.planned_transactions.serializers import OccurrenceOverride, WriteOffRequest, parse_date_or_none

MAX_SEARCH_LENGTH = 200
OTHER_FIELDS = {"name": "name", "accountId": "account_id", "categoryId": "category_id"}
RETURN_PAGES = {
    "plan": "planned",
    "inbox": "inbox",
    "receivables": "receivables",
    "payables": "payables",
}  # other pages with these buttons → URL names


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Edit the date, amount, name, account or category of an occurrence."""
    original = parse_day_or_404(day)
    planned = get_planned_transaction_or_404(page, planned_id)
    if not is_occurrence(planned.recurrence_rule(), original):
        raise Http404
    if page.request.method != "POST":
        return render_occurrence_form(page, planned, original, build_occurrence_form(planned, original))
    form = parse_occurrence_form(page.request.POST, currency=planned.amount_currency, hidden=list_hidden_fields(page))
    if form.is_valid:
        with page.handle_errors(form):
            patch = {"skipped": None, **find_changed_values(planned, original, form.data)}
            saved = overrides.set_occurrence_override(
                company=page.company,
                context=page.audit_context,
                planned_id=planned_id,
                original_date=original,
                patch=patch,
            )
            message = format_occurrence_message(_("{name} on {day} saved."), planned, original)
            return redirect_after_occurrence_change(page, saved, message)
    return render_occurrence_form(page, planned, original, form)


def render_occurrence_form(
    page: CompanyPage, planned: PlannedTransaction, original: dt.date, form: BoundForm
) -> HttpResponse:
    return page.render(
        "planning/planned_transactions/occurrence.html",
        status=400 if form.errors else 200,
        tab="planned",
        planned=planned,
        original=original,
        form=form,
        seen=page.get_seen_version(planned),
        differs=original in planned.overrides,
        hidden=list_hidden_fields(page),
        accounts=[(str(key), name) for key, name in list_visible_account_names(page).items()],
        categories=load_visible_names(page).list_category_choices(),
    )


def build_occurrence_form(planned: PlannedTransaction, original: dt.date) -> BoundForm:
    """Build the form of an occurrence with its current values."""
    patch: Mapping[str, Any] = planned.overrides[original].to_patch() if original in planned.overrides else {}
    amount = format_amount(patch.get("amount_value", planned.amount_value), planned.amount_currency)
    other_values = {at: str(patch.get(column) or getattr(planned, column) or "") for at, column in OTHER_FIELDS.items()}
    return BoundForm(
        values={
            "date": patch.get("date", planned.recurrence_rule().get_expected_day(original)).isoformat(),
            **split_signed_amount(amount),
            **other_values,
        }
    )


def parse_occurrence_form(posted: Mapping[str, Any], *, currency: str, hidden: set[str]) -> BoundForm:
    """Parse the posted form of an occurrence; fields that it does not show are left out."""
    shown_fields = [name for name in OTHER_FIELDS if name in posted and name not in hidden]
    direction, amount = posted.get("direction", ""), posted.get("amountValue", "").strip()
    amounts, amount_errors = parse_form_amounts({"amountValue": amount}, ["amountValue"], currency=currency)
    texts = {
        "date": posted.get("date", ""),
        "amountValue": apply_direction(direction, amounts.get("amountValue", amount)),
    }
    texts |= {name: posted[name].strip() for name in shown_fields}
    form = bind_form(OccurrenceOverride, texts, texts=("date", "amountValue", *shown_fields))
    form.values = {**form.values, "date": posted.get("date", ""), "direction": direction, "amountValue": amount}
    form.errors |= amount_errors | find_direction_errors(direction, amounts.get("amountValue", ""))
    return form


def find_changed_values(planned: PlannedTransaction, original: dt.date, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the posted values; None for each that equals the planned one.

    Raises:
        ValidationFailed: the amount is wrong.
    """
    values = dict(data)
    if values.get("date") == planned.recurrence_rule().get_expected_day(original):
        values["date"] = None
    text = values.get("amount_value")
    if text and parse_api_amount(text, planned.amount_currency, pointer="#/amountValue") == planned.amount_value:
        values["amount_value"] = None
    for column in OTHER_FIELDS.values():
        if values.get(column) == getattr(planned, column):
            values[column] = None
    return values


@company_page(writes=Permission.PLANNING_WRITE)
def skip_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Skip an occurrence."""
    original = parse_day_or_404(day)
    with page.handle_errors():
        planned = overrides.set_occurrence_override(
            company=page.company,
            context=page.audit_context,
            planned_id=planned_id,
            original_date=original,
            patch={"skipped": True},
        )
        return redirect_after_occurrence_change(
            page, planned, format_occurrence_message(_("{name} on {day} skipped."), planned, original)
        )
    return page.redirect("planned-one", planned_id=planned_id)


@company_page(writes=Permission.PLANNING_WRITE)
def restore_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Reset an occurrence to the planned values."""
    original = parse_day_or_404(day)
    with page.handle_errors():
        planned = overrides.delete_occurrence_override(
            company=page.company, context=page.audit_context, planned_id=planned_id, original_date=original
        )
        return redirect_after_occurrence_change(
            page, planned, format_occurrence_message(_("{name} on {day} reset to the plan."), planned, original)
        )
    return page.redirect("planned-one", planned_id=planned_id)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def settle_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Choose the transaction that settles an occurrence."""
    original = parse_day_or_404(day)
    if page.is_post:
        with page.handle_errors():
            posted = page.request.POST
            planned = settlements.settle_occurrence(
                company=page.company,
                context=page.audit_context,
                planned_id=planned_id,
                original_date=original,
                transaction_id=posted.get("transactionId", ""),
                amount_value=parse_settled_amount(posted, get_planned_transaction_or_404(page, planned_id)),
                rest_reason=_("Paid less than planned") if posted.get("closeRest") else None,
            )
            message = describe_payment(page, planned, original)
            return redirect_after_occurrence_change(page, planned, message, settled=f"{planned.id}.{original}")
        return page.redirect("planned-one", planned_id=planned_id)
    planned = get_planned_transaction_or_404(page, planned_id)
    if not is_occurrence(planned.recurrence_rule(), original):
        raise Http404
    attach_expected_dates([planned])
    occurrence = get_planned_occurrence(planned, original, today=page.today, settled=find_settled_amounts([planned]))
    can_read_transactions = page.has_permission(Permission.TRANSACTIONS_READ)
    names = load_visible_names(page)
    form, search = parse_settlement_search(page.request.GET, currency=planned.amount_currency)
    rows = []
    if can_read_transactions and search:
        rows = search_settling_transactions(planned=planned, occurrence=occurrence, search=search)
    elif can_read_transactions and form.is_valid:
        rows = list_settlement_candidates(planned=planned, occurrence=occurrence)
    return page.render(
        "planning/planned_transactions/settle.html",
        status=200 if form.is_valid else 400,
        tab="planned",
        planned=planned,
        original=original,
        awaited=occurrence,
        amount=Decimal(occurrence.open_amount_value),
        at=page.request.GET.get("from", "") if page.request.GET.get("from", "") in RETURN_PAGES else "",
        then=page.request.GET.get("then", "")[:MAX_QUERY_LENGTH],
        can_read_transactions=can_read_transactions,
        form=form,
        is_search=bool(search),
        most=MAX_CANDIDATES,
        rows=[(row, names.get_account_name(row.account_id), compute_preset_amount(row, occurrence)) for row in rows],
    )


def parse_settlement_search(params: Mapping[str, str], *, currency: str) -> tuple[BoundForm, SettlementSearch | None]:
    """Return the form of a search and what it looks for; None for an empty form or one with errors."""
    values = {name: params.get(name, "").strip()[:MAX_SEARCH_LENGTH] for name in ("q", "amount", "day")}
    amounts, errors = parse_form_amounts(values, ["amount"], currency=currency)
    day = parse_date_or_none(values["day"]) if values["day"] else None
    if values["day"] and day is None:
        errors["day"] = _("Must be a date (YYYY-MM-DD).")
    if "\0" in values["q"]:
        errors["q"] = _("Must not contain NUL characters.")
    form = BoundForm(values=values, errors=errors)
    amount = abs(Decimal(amounts["amount"])) if "amount" in amounts else None
    search = SettlementSearch(text=values["q"], amount=amount, day=day)
    return form, search if search and form.is_valid else None


def compute_preset_amount(transaction: Any, occurrence: PlannedOccurrence) -> str:
    """Return what both sides have left, without a sign; empty if their currencies differ.

    Args:
        transaction: with `used_value`.
    """
    if transaction.amount_currency != occurrence.amount_currency:
        return ""
    unused, open_amount = transaction.amount_value - transaction.used_value, Decimal(occurrence.open_amount_value)
    return format_amount(min(abs(unused), abs(open_amount)), occurrence.amount_currency)


def parse_settled_amount(posted: Mapping[str, Any], planned: PlannedTransaction) -> str | None:
    """Parse the amount to settle, with the planned sign if it has none; None for an empty field.

    Raises:
        ValidationFailed: it is no amount.
    """
    amounts, errors = parse_form_amounts(posted, ["amountValue"], currency=planned.amount_currency)
    if errors:
        raise ValidationFailed([("#/amountValue", "invalid_decimal", errors["amountValue"])])
    amount = amounts.get("amountValue")
    if not amount or amount.startswith("-"):
        return amount
    return apply_direction("out" if planned.amount_value < 0 else "in", amount)


@company_page(writes=Permission.PLANNING_WRITE)
def write_off_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Write off what is open of an occurrence: of an invoice from the day of the form on."""
    original = parse_day_or_404(day)
    with page.handle_errors():
        stored = get_planned_transaction_or_404(page, planned_id)
        posted = page.request.POST
        day = posted.get("date", "").strip() if stored.frequency is None else original.isoformat()
        values = validate_request_body(WriteOffRequest, {"date": day, "reason": posted.get("reason", "").strip()})
        planned = settlements.write_off_occurrence(
            company=page.company, context=page.audit_context, planned_id=planned_id, today=page.today, **values
        )
        return redirect_after_occurrence_change(
            page,
            planned,
            format_occurrence_message(_("{name} written off on {day}."), planned, values["date"]),
            written_off=format_write_off(planned.id, planned.start_date if planned.frequency is None else original),
        )
    return page.redirect("planned-one", planned_id=planned_id)


@company_page(writes=Permission.PLANNING_WRITE)
def unsettle_occurrence_page(page: CompanyPage, planned_id: UUID, day: str) -> HttpResponse:
    """Remove settlements of an occurrence: one, its write-offs, or all."""
    original = parse_day_or_404(day)
    write_offs_only = WRITE_OFFS_FIELD in page.request.POST
    with page.handle_errors():
        planned = settlements.unsettle_occurrence(
            company=page.company,
            context=page.audit_context,
            planned_id=planned_id,
            original_date=original,
            transaction_id=page.request.POST.get("transactionId") or None,
            write_offs_only=write_offs_only,
        )
        text = _("{name} on {day} is no longer settled.")
        if write_offs_only:
            text = _("{name} on {day} is no longer written off.")
        return redirect_after_occurrence_change(page, planned, format_occurrence_message(text, planned, original))
    return page.redirect("planned-one", planned_id=planned_id)


def redirect_after_occurrence_change(
    page: CompanyPage, planned: PlannedTransaction, message: str, *, settled: str = "", written_off: str = ""
) -> HttpResponse:
    """Redirect to the page of the button, filtered as before: a list, the inbox or the planned transaction.

    Args:
        settled: the occurrence that was just settled, for the undo link of the inbox.
        written_off: the occurrence that was just written off, for the undo of the other pages.
    """
    posted = page.request.POST
    sent = posted if "from" in posted else page.request.GET  # a form on a page of its own keeps it in its address
    return_page = RETURN_PAGES.get(sent.get("from", ""))
    messages.success(page.request, message)
    if return_page == "inbox":
        return redirect(build_inbox_url(page, posted.get("next"), settled=settled))
    undo = {WRITTEN_OFF_PARAMETER: written_off} if written_off else {}
    if return_page:
        filters = QueryDict(sent.get("then", "")[:MAX_QUERY_LENGTH], mutable=True)
        filters.pop(WRITTEN_OFF_PARAMETER, None)
        return redirect(build_list_url(page, return_page, filters.urlencode(), **undo))
    response = page.redirect("planned-one", planned_id=planned.id)
    return redirect(f"{response['Location']}?{urlencode(undo)}") if undo else response


def describe_payment(page: CompanyPage, planned: PlannedTransaction, original: dt.date) -> str:
    """Return the message after settling: on which day the occurrence was paid, or how much of it."""
    stored = get_planned_transaction_or_404(page, planned.id)
    settled = find_settled_amounts([stored])
    occurrence = get_planned_occurrence(stored, original, today=page.today, settled=settled)
    paid_day = max(part.date for part in occurrence.settlements if part.transaction_id)
    if not Decimal(occurrence.open_amount_value):
        return format_occurrence_message(_("{name} paid on {day}."), planned, paid_day)
    paid, total = (
        format_money(Decimal(amount), occurrence.amount_currency)
        for amount in (occurrence.settled_amount_value, occurrence.amount_value)
    )
    text = _("{name} partly paid on {day}: {amount} of {total}.")
    return text.format(name=planned.name, day=format_local_day(paid_day), amount=paid, total=total)


def format_occurrence_message(text: str, planned: PlannedTransaction, day: dt.date) -> str:
    """Format a message about an occurrence and a day."""
    return text.format(name=planned.name, day=format_local_day(day))


def parse_day_or_404(text: str) -> dt.date:
    """Parse the date of the URL.

    Raises:
        Http404: it is no date.
    """
    day = parse_date_or_none(text)
    if day is None:
        raise Http404
    return day


def format_local_day(day: dt.date) -> str:
    """Format a day in the reader's locale."""
    return get_current_locale().format_day(day)
