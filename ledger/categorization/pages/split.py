"""The split form of a transaction: one row for each category and P&L line, saved as one map."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.error_pages import render_refused_body_page
from companies.errors import ValidationFailed
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.calc.stated_period import find_stated_period
from ledger.categorization.actions import split
from ledger.categorization.pages.bulk_actions import build_date_rule, validate_request_body
from ledger.categorization.pages.split_rows import SplitRow, check_split_total, resolve_split_rows
from ledger.categorization.serializers import categorizations
from ledger.models import BulkOperation, Categorization, Transaction
from ledger.money.amounts import normalize_typed_amount, parse_api_amount
from ledger.money.calc.money import format_amount
from ledger.transactions.actions.bulk_undo import record_undo
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name, list_counterparty_suggestions
from ledger.transactions.pages.detail import (
    get_transaction_or_404,
    list_transaction_categorizations,
    reject_initial_balance,
)
from ledger.transactions.pages.edit_conflicts import describe_concurrent_changes
from ledger.transactions.pages.labels import (
    DATE_RULE_LABELS,
    LedgerNames,
    format_line_choice,
    is_assigner_note,
    load_visible_names,
    parse_category_choice,
    to_choices,
)
from ledger.transactions.pages.return_urls import build_return_urls, redirect_to_transaction
from ledger.transactions.representation import FIRST_OPEN_MONTH

EMPTY_ROWS_SHOWN = 2  # empty rows below those that are stored
EMPTY_ROWS_ADDED = 3
MAX_ROWS = 300  # filled in, they are what a form may have
TOO_MANY_ROWS_MESSAGE = gettext_lazy("Nothing was saved. This page allows at most {most} rows; use the API for more.")
ROW_FIELD_PATTERN = re.compile(r"category-(\d{1,5})", re.ASCII)
ROW_FIELDS = ("key", "category", "amount")  # a part with several lines has a row for each; the rest stands in its first
DETAIL_FIELDS = ("counterparty", "rule", "start", "end", "invoice", "note")
MAX_GIVEN_ROWS = 50
# What the address of the form may give, and what a row has otherwise.
GIVEN_FIELDS = {
    **dict.fromkeys(("category", "amount", "tax", "counterparty", "start", "end"), ""),
    "rule": DateRule.TRANSACTION_DATE.value,
}
CATCH_UP = "catch-up"  # ticked: what lies in closed months is recognized in the first open one
SPLIT_FORM_FIELDS = {  # where a row shows what is wrong with a field of its part
    "categoryId": "category",
    "plSplit": "amount",
    "passThroughTax": "tax",
    "counterparty": "counterparty",
    "usingDateRule": "rule",
    "usingDateRule/startDate": "start",
    "usingDateRule/endDate": "end",
    "usingDateRule/invoiceDate": "invoice",
    "sourceNote": "note",
}


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def split_transaction_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Edit the categorizations of a transaction with PUT transactions/{id}/categorizations; transfer legs stay."""
    row = get_transaction_or_404(page, transaction_id)
    if refusal_response := reject_initial_balance(page, row):
        return refusal_response
    parts, names = list(list_transaction_categorizations(row)), load_visible_names(page)
    if not page.is_post:
        stored_rows = [
            form_row for part in parts if part.counter_id is None for form_row in build_form_rows(part, row, names)
        ]
        given_rows = [] if parts else parse_given_rows(page.request.GET)
        return render_split_editor(
            page,
            row,
            parts,
            rows=number_split_rows(stored_rows or given_rows or build_period_rows(row)),
            spare=EMPTY_ROWS_SHOWN,
            form=BoundForm(values={}),
            names=names,
            is_suggested=bool(given_rows),
        )
    rows = parse_posted_rows(page.request.POST)
    if not rows:  # the page sends empty ones too: without any it is no form of ours, and would leave no part
        return render_refused_body_page(
            page.request, status=400, text=_("The form could not be read. Nothing was saved.")
        )
    if len(rows) > MAX_ROWS:
        return render_refused_body_page(page.request, status=413, text=TOO_MANY_ROWS_MESSAGE.format(most=MAX_ROWS))
    if "more" in page.request.POST:
        return render_split_editor(
            page, row, parts, rows=rows, spare=EMPTY_ROWS_ADDED, form=BoundForm(values={}), names=names
        )
    reader = SplitFormReader(page, row, index_counterparty_names(parts, names))
    form = BoundForm(values={}, fields=reader.form_field_by_pointer)
    with page.handle_errors(form):
        inputs = [split.build_stored_input(part) for part in parts if part.counter_id]
        unlinked_amount = row.amount_value - row.transferred_value
        resolved_rows = resolve_split_rows(rows, amount=unlinked_amount, currency=row.amount_currency)
        inputs += categorizations.to_categorization_inputs(
            validate_request_body(categorizations.CategorizationMap, reader.build_body(resolved_rows))
        )
        check_split_total(resolved_rows, amount=unlinked_amount, currency=row.amount_currency)
        run_id = save_split(page, row, inputs)
        message = _("Categorizations saved.")
        saved_transaction = get_transaction_or_404(page, row.id)
        if saved_transaction.is_open:
            remaining_text = format_money(
                saved_transaction.amount_value - saved_transaction.categorized_value, saved_transaction.amount_currency
            )
            message += " " + _("{amount} is uncategorized.").format(amount=remaining_text)
        return redirect_to_transaction(page, row.id, message, categorized_id=row.id, run_id=run_id)
    if page.is_outdated:
        form.errors = {"row": describe_concurrent_changes(page, [get_transaction_or_404(page, row.id)])}
    return render_split_editor(page, row, parts, rows=rows, spare=0, form=form, names=names)


def save_split(page: CompanyPage, row: Transaction, inputs: list[split.CategorizationInput]) -> UUID | None:
    """Replace the categorizations; return the run that undoes it, if the form was opened from the inbox."""
    save = partial(
        split.replace_categorizations,
        company=page.company,
        context=page.audit_context,
        transaction_id=row.id,
        inputs=inputs,
    )
    if page.request.GET.get("from") != "inbox":
        save()
        return None
    rows = Transaction.objects.for_company(page.company.id).filter(id=row.id)
    operation = BulkOperation.CATEGORIZE
    with record_undo(company=page.company, context=page.audit_context, operation=operation, rows=rows) as run:
        save()
    return run.id if run.affected else None


# ---------------------------------------------------------------------------------------------- form rows


def build_form_rows(categorization: Categorization, row: Transaction, names: LedgerNames) -> list[dict[str, str]]:
    """Return the form rows of a categorization: one for each P&L line, or one for tax alone."""
    currency = row.amount_currency
    lines = [
        (format_line_choice(categorization.category_id, line), format_amount(value, currency))
        for line, value in categorization.split.items()
    ]
    rows = [
        build_empty_row(key=str(categorization.id), category=name, amount=amount)
        for name, amount in lines
        or [(format_line_choice(categorization.category_id, categorization.category.pl_types[0]), "")]
    ]
    rows[0] |= {
        "tax": ""
        if categorization.pass_through_tax is None
        else format_amount(categorization.pass_through_tax, currency),
        "counterparty": names.get_counterparty_name(categorization.counterparty) if categorization.counterparty else "",
        "rule": categorization.rule,
        "start": format_iso_date(categorization.rule_start_date),
        "end": format_iso_date(categorization.rule_end_date),
        "invoice": format_iso_date(categorization.invoice_date),
        "note": "" if is_assigner_note(categorization.source_note) else categorization.source_note or "",
    }
    return rows


def index_counterparty_names(categorizations: list[Categorization], names: LedgerNames) -> dict[str, tuple[str, UUID]]:
    """Return the shown name and id of the counterparty by categorization id."""
    return {
        str(categorization.id): (
            names.get_counterparty_name(categorization.counterparty),
            categorization.counterparty.id,
        )
        for categorization in categorizations
        if categorization.counterparty
    }


def format_iso_date(value: Any) -> str:
    """Return an ISO date, or an empty text."""
    return value.isoformat() if value else ""


def build_empty_row(**values: str) -> dict[str, str]:
    """Return the values of a form row, empty but for `values`."""
    return (
        dict.fromkeys((*ROW_FIELDS, "tax", *DETAIL_FIELDS, "remove"), "")
        | {"rule": DateRule.TRANSACTION_DATE.value}
        | values
    )


def number_split_rows(rows: list[dict[str, str]]) -> list[SplitRow]:
    """Return rows numbered by their position."""
    return [SplitRow(position, values) for position, values in enumerate(rows)]


def parse_posted_rows(posted: Mapping[str, str]) -> list[SplitRow]:
    """Return the posted rows in order; every row has a category field."""
    numbers = sorted({int(match[1]) for name in posted if (match := ROW_FIELD_PATTERN.fullmatch(name))})
    return [
        SplitRow(position, {name: posted.get(f"{name}-{position}", "").strip() for name in build_empty_row()})
        for position in numbers
    ]


def parse_given_rows(parameters: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the rows that the address of the form gives, as suggestions for a person to check."""
    rows = parse_posted_rows(parameters)[:MAX_GIVEN_ROWS]
    return [
        build_empty_row(**{name: row.values[name] or default for name, default in GIVEN_FIELDS.items()}) for row in rows
    ]


def build_period_rows(row: Transaction) -> list[dict[str, str]]:
    """Return an empty row with the service period that the text of an uncategorized transaction states, if any."""
    period = None if row.categorized_value else find_stated_period(row.description or row.from_to)
    if period is None:
        return []
    days = {"start": period.start.isoformat(), "end": period.end.isoformat()}
    return [build_empty_row(rule=DateRule.SERVICE_PERIOD.value, **days)]


@dataclass(slots=True)
class SplitFormReader:
    """Reads form rows as a request body, and remembers which form field each part of the body came from."""

    page: CompanyPage
    transaction: Transaction
    known_counterparties: Mapping[
        str, tuple[str, UUID]
    ]  # by part: what its counterparty is called on the page, and its id
    form_field_by_pointer: dict[str, str] = field(default_factory=dict)  # the beginning of a pointer → the field
    errors: list[tuple[str, str, str]] = field(default_factory=list)

    def build_body(self, rows: list[SplitRow]) -> dict[str, Any]:
        """Return the request body. Raises ValidationFailed with everything that is wrong."""
        parts: dict[str, dict[str, Any]] = {}
        first_rows: dict[str, SplitRow] = {}  # the details of a part stand in its first row, be that removed
        for row in rows:
            first_row = first_rows.setdefault(row.values["key"] or f"row-{row.number}", row)
            if row.is_filled:
                self.add_row(row, first_row, parts)
        if self.errors:
            raise ValidationFailed(self.errors)
        return {"categorizations": parts}

    def add_row(self, row: SplitRow, first_row: SplitRow, parts: dict[str, dict[str, Any]]) -> None:
        """Add a row to the body; rows with the same key and category belong to one categorization."""
        category_id, pl_type = parse_category_choice(row.values["category"])
        key = row.values["key"] or f"row-{row.number}"
        if key in parts and parts[key]["categoryId"] != category_id:  # moved to another category: a part of its own
            key = f"row-{row.number}"
        pointer = f"#/categorizations/{key}"
        for path, name in SPLIT_FORM_FIELDS.items():
            number = (first_row if name in DETAIL_FIELDS else row).number
            self.form_field_by_pointer.setdefault(f"categorizations/{key}/{path}", f"{name}-{number}")
        try:
            if not category_id or (row.values["amount"] and not pl_type):
                raise ValidationFailed([(f"{pointer}/categoryId", "required", _("Choose a category."))])
            part = parts.get(key) or self.build_details(row, first_row, pointer) | {
                "categoryId": category_id,
                "plSplit": {},
            }
            if pl_type and row.values["amount"]:
                value = self.parse_row_amount(row.values["amount"], pointer=f"{pointer}/plSplit")
                if not value and not row.values["tax"]:
                    message = _("Enter an amount other than 0.")
                    raise ValidationFailed([(f"{pointer}/plSplit", "amount_zero", message)])
                part["plSplit"][pl_type] = part["plSplit"].get(pl_type, Decimal(0)) + value
            parts[key] = part
        except ValidationFailed as refusal:
            self.errors += refusal.errors

    def parse_row_amount(self, text: str, *, pointer: str) -> Decimal:
        """Parse an amount in the currency of the transaction. Raises ValidationFailed."""
        currency = self.transaction.amount_currency
        return parse_api_amount(
            normalize_typed_amount(text, currency=currency, pointer=pointer), currency, pointer=pointer
        )

    def build_details(self, row: SplitRow, first_row: SplitRow, pointer: str) -> dict[str, Any]:
        """Return what a categorization has besides its amounts. Raises ValidationFailed."""
        values = first_row.values
        rule = build_date_rule(values["rule"], values["start"], values["end"], invoice=values["invoice"])
        if CATCH_UP in self.page.request.POST:
            rule["recognizeFrom"] = FIRST_OPEN_MONTH
        body: dict[str, Any] = {"usingDateRule": rule, "sourceNote": values["note"] or None}
        if tax := row.values["tax"]:
            body["passThroughTax"] = self.parse_row_amount(tax, pointer=f"{pointer}/passThroughTax")
        if name := values["counterparty"]:
            body["counterparty"] = {
                "id": str(self.resolve_counterparty(values["key"], name, f"{pointer}/counterparty"))
            }
        return body

    def resolve_counterparty(self, key: str, name: str, pointer: str) -> UUID:
        """Return the counterparty's id; an unchanged name keeps its counterparty even if others share it."""
        known_name, known_id = self.known_counterparties.get(key, ("", None))
        if known_id and name == known_name:
            return known_id
        return get_counterparty_by_name(self.page, name, pointer=pointer).id


# ---------------------------------------------------------------------------------------------- the page


def render_split_editor(
    page: CompanyPage,
    row: Transaction,
    parts: list[Categorization],
    *,
    rows: list[SplitRow],
    spare: int,
    form: BoundForm,
    names: LedgerNames,
    is_suggested: bool = False,
) -> HttpResponse:
    """Render the rows and some empty ones below."""
    first_number = max((split_row.number for split_row in rows), default=-1) + 1
    rows = rows + [SplitRow(first_number + number, build_empty_row()) for number in range(spare)]
    form.values = {
        f"{name}-{split_row.number}": value for split_row in rows for name, value in split_row.values.items()
    }
    return page.render(
        "ledger/categorization/split.html",
        **build_return_urls(page, row.id),
        status=200 if form.is_valid else 400,
        tab="transactions",
        row=row,
        seen=page.get_seen_version(row),
        form=form,
        rows=[build_editor_row(split_row, rows, form) for split_row in rows],
        legs=[part for part in parts if part.counter_id],
        is_suggested=is_suggested,
        rest=row.amount_value - row.categorized_value,
        free=row.amount_value - row.transferred_value,
        category_lines=names.list_line_choices(),
        rules=to_choices(DATE_RULE_LABELS),
        counterparties=list_counterparty_suggestions(page),
    )


def build_editor_row(row: SplitRow, rows: list[SplitRow], form: BoundForm) -> dict[str, Any]:
    """Return the template context of one row."""
    values, key = row.values, row.values["key"]
    default_rule = DateRule.TRANSACTION_DATE.value
    has_details = any(values[name] for name in DETAIL_FIELDS if name != "rule") or values["rule"] not in (
        "",
        default_rule,
    )
    return {
        "number": row.number,
        "values": values,
        "names": {name: f"{name}-{row.number}" for name in values},
        "continues": bool(key) and any(other.values["key"] == key for other in rows if other.number < row.number),
        "open": has_details or any(f"{name}-{row.number}" in form.errors for name in DETAIL_FIELDS),
    }
