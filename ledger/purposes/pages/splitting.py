"""The editor of a transaction's parts: rows of a category with its line and an amount, saved as one map."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import FieldErrors
from companies.pages.amounts import money
from companies.pages.failures import not_taken
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.money import format_amount
from ledger.calc.recognition import DateRule
from ledger.models import Categorization, Transaction
from ledger.money.amounts import amount_in, typed_in
from ledger.purposes import shapes, splitting
from ledger.purposes.pages.categorizing import date_rule, parsed
from ledger.purposes.pages.sharing import Row, shared_out
from ledger.recognition.dating import Rule
from ledger.transactions.pages.counterparties import counterparty_called, suggested
from ledger.transactions.pages.meanwhile import what_became_of
from ledger.transactions.pages.one import initial_refused, parts_of, transaction_of
from ledger.transactions.pages.ways import to_its_page, ways
from ledger.transactions.pages.words import RULES, Names, as_line, in_choices, names_for, of_line

SPARE = 2  # empty rows below those that are stored
MORE = 3
MOST_ROWS = 300  # filled in, they are what a form may have
TOO_MANY = gettext_lazy(
    "The page takes at most {most} rows; the API takes more. Nothing was stored: go back and remove some."
)
NUMBERED = re.compile(r"category-(\d{1,5})", re.ASCII)
OF_ROW = ("key", "category", "amount")  # a part with several lines has a row for each; the rest stands in its first
DETAILS = ("counterparty", "rule", "start", "end", "invoice", "note")
FIELDS = {  # where a row shows what is wrong with a field of its part
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
def split(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """The parts to edit; saved, the map of PUT transactions/{id}/categorizations. Legs of transfers stay."""
    row = transaction_of(visit, transaction_id)
    if refused := initial_refused(visit, row):
        return refused
    parts, names = list(parts_of(row)), names_for(visit)
    if not visit.sent:
        stored = [each for part in parts if part.counter_id is None for each in rows_of(part, row, names)]
        return show_editor(visit, row, parts, rows=numbered(stored), spare=SPARE, form=Typed(values={}), names=names)
    rows = posted_rows(visit.request.POST)
    if not rows:  # the page sends empty ones too: without any it is no form of ours, and would leave no part
        return not_taken(visit.request, status=400, text=_("The form could not be read. Nothing was stored."))
    if len(rows) > MOST_ROWS:
        return not_taken(visit.request, status=413, text=TOO_MANY.format(most=MOST_ROWS))
    if "more" in visit.request.POST:
        return show_editor(visit, row, parts, rows=rows, spare=MORE, form=Typed(values={}), names=names)
    reader = Reader(visit, row, known_people(parts, names))
    form = Typed(values={}, fields=reader.fields)
    with visit.sending(form):
        given = [leg_as_given(part) for part in parts if part.counter_id]
        free = row.amount_value - row.transferred_value
        shared = shared_out(rows, amount=free, currency=row.amount_currency)
        given += shapes.given_parts(parsed(shapes.CategorizationMap, reader.body(shared)))
        splitting.replace_parts(company=visit.company, stamp=visit.stamp, transaction_id=row.id, given=given)
        said = _("The categorizations were saved.")
        saved = transaction_of(visit, row.id)
        if saved.is_open:
            rest = money(saved.amount_value - saved.categorized_value, saved.amount_currency)
            said += " " + _("{amount} stays open.").format(amount=rest)
        return to_its_page(visit, row.id, said, said_of=row.id)
    if visit.outdated:
        form.errors = {"row": what_became_of(visit, [transaction_of(visit, row.id)])}
    return show_editor(visit, row, parts, rows=rows, spare=0, form=form, names=names)


# ---------------------------------------------------------------------------------------------- rows and parts


def rows_of(part: Categorization, row: Transaction, names: Names) -> list[dict[str, str]]:
    """A part as rows: one a line, and one for a part that is nothing but tax."""
    currency = row.amount_currency
    lines = [(as_line(part.category_id, line), format_amount(value, currency)) for line, value in part.split.items()]
    rows = [
        empty_row(key=str(part.id), category=name, amount=amount)
        for name, amount in lines or [(as_line(part.category_id, part.category.pl_types[0]), "")]
    ]
    rows[0] |= {
        "tax": "" if part.pass_through_tax is None else format_amount(part.pass_through_tax, currency),
        "counterparty": names.counterparty(part.counterparty) if part.counterparty else "",
        "rule": part.rule,
        "start": day(part.rule_start_date),
        "end": day(part.rule_end_date),
        "invoice": day(part.invoice_date),
        "note": part.source_note or "",
    }
    return rows


def known_people(parts: list[Categorization], names: Names) -> dict[str, tuple[str, UUID]]:
    """By part, its counterparty as the page calls it."""
    return {
        str(part.id): (names.counterparty(part.counterparty), part.counterparty.id)
        for part in parts
        if part.counterparty
    }


def day(value: Any) -> str:
    return value.isoformat() if value else ""


def empty_row(**values: str) -> dict[str, str]:
    return dict.fromkeys((*OF_ROW, "tax", *DETAILS, "remove"), "") | {"rule": DateRule.TRANSACTION_DATE.value} | values


def numbered(rows: list[dict[str, str]]) -> list[Row]:
    return [Row(number, values) for number, values in enumerate(rows)]


def posted_rows(posted: Mapping[str, str]) -> list[Row]:
    """The rows of the form, in their order: each has a category to choose."""
    numbers = sorted({int(found[1]) for name in posted if (found := NUMBERED.fullmatch(name))})
    return [Row(n, {name: posted.get(f"{name}-{n}", "").strip() for name in empty_row()}) for n in numbers]


@dataclass(slots=True)
class Reader:
    """Reads rows as the body of the API, and remembers at which field of theirs a part's fields stand."""

    visit: Visit
    row: Transaction
    known: Mapping[str, tuple[str, UUID]]  # by part: what its counterparty is called on the page, and its id
    fields: dict[str, str] = field(default_factory=dict)  # the beginning of a pointer → the field
    faults: list[tuple[str, str, str]] = field(default_factory=list)

    def body(self, rows: list[Row]) -> dict[str, Any]:
        """Raises FieldErrors with all that is wrong."""
        parts: dict[str, dict[str, Any]] = {}
        firsts: dict[str, Row] = {}  # the details of a part stand in its first row, be that removed
        for each in rows:
            first = firsts.setdefault(each.values["key"] or f"row-{each.number}", each)
            if each.filled:
                self.add(each, first, parts)
        if self.faults:
            raise FieldErrors(self.faults)
        return {"categorizations": parts}

    def add(self, each: Row, first: Row, parts: dict[str, dict[str, Any]]) -> None:
        category_id, line = of_line(each.values["category"])
        key = each.values["key"] or f"row-{each.number}"
        if key in parts and parts[key]["categoryId"] != category_id:  # moved to another category: a part of its own
            key = f"row-{each.number}"
        pointer = f"#/categorizations/{key}"
        for path, name in FIELDS.items():
            number = (first if name in DETAILS else each).number
            self.fields.setdefault(f"categorizations/{key}/{path}", f"{name}-{number}")
        try:
            if not category_id or (each.values["amount"] and not line):
                raise FieldErrors([(f"{pointer}/categoryId", "required", _("Choose a category."))])
            part = parts.get(key) or self.details(each, first, pointer) | {"categoryId": category_id, "plSplit": {}}
            if line and each.values["amount"]:
                value = self.amount(each.values["amount"], pointer=f"{pointer}/plSplit")
                part["plSplit"][line] = part["plSplit"].get(line, Decimal(0)) + value
            parts[key] = part
        except FieldErrors as refusal:
            self.faults += refusal.errors

    def amount(self, text: str, *, pointer: str) -> Decimal:
        """Raises FieldErrors."""
        currency = self.row.amount_currency
        return amount_in(typed_in(text, currency=currency, pointer=pointer), currency, pointer=pointer)

    def details(self, each: Row, first: Row, pointer: str) -> dict[str, Any]:
        """What a part has besides its lines. Raises FieldErrors."""
        values = first.values
        rule = date_rule(values["rule"], values["start"], values["end"], invoice=values["invoice"])
        body: dict[str, Any] = {"usingDateRule": rule, "sourceNote": values["note"] or None}
        if tax := each.values["tax"]:
            body["passThroughTax"] = self.amount(tax, pointer=f"{pointer}/passThroughTax")
        if name := values["counterparty"]:
            body["counterparty"] = {"id": str(self.counterparty(values["key"], name, f"{pointer}/counterparty"))}
        return body

    def counterparty(self, key: str, name: str, pointer: str) -> UUID:
        """Who was left alone stays, whoever else has this name."""
        known_name, known_id = self.known.get(key, ("", None))
        if known_id and name == known_name:
            return known_id
        return counterparty_called(self.visit, name, pointer=pointer).id


def leg_as_given(part: Categorization) -> splitting.Given:
    """A leg of a transfer as it is: it must be among the parts, unchanged."""
    return splitting.Given(
        key=str(part.id),
        category_id=part.category_id,
        lines=part.split,
        counterparty_id=part.counterparty_id,
        rule=Rule(part.rule, part.rule_start_date, part.rule_end_date, part.invoice_date),
        pass_through_tax=part.pass_through_tax,
        source_note=part.source_note,
    )


# ---------------------------------------------------------------------------------------------- the page


def show_editor(
    visit: Visit,
    row: Transaction,
    parts: list[Categorization],
    *,
    rows: list[Row],
    spare: int,
    form: Typed,
    names: Names,
) -> HttpResponse:
    """The rows, and so many empty ones below."""
    first = max((each.number for each in rows), default=-1) + 1
    rows = rows + [Row(first + number, empty_row()) for number in range(spare)]
    form.values = {f"{name}-{each.number}": value for each in rows for name, value in each.values.items()}
    return visit.show(
        "ledger/purposes/split.html",
        **ways(visit, row.id),
        status=200 if form.valid else 400,
        tab="transactions",
        row=row,
        seen=visit.seen(row),
        form=form,
        rows=[editor_row(each, rows, form) for each in rows],
        legs=[part for part in parts if part.counter_id],
        rest=row.amount_value - row.categorized_value,
        free=row.amount_value - row.transferred_value,
        category_lines=names.lines(),
        rules=in_choices(RULES),
        counterparties=suggested(visit),
    )


def editor_row(each: Row, rows: list[Row], form: Typed) -> dict[str, Any]:
    values, key = each.values, each.values["key"]
    usual = DateRule.TRANSACTION_DATE.value
    details = any(values[name] for name in DETAILS if name != "rule") or values["rule"] not in ("", usual)
    return {
        "number": each.number,
        "values": values,
        "names": {name: f"{name}-{each.number}" for name in values},
        "continues": bool(key) and any(other.values["key"] == key for other in rows if other.number < each.number),
        "open": details or any(f"{name}-{each.number}" in form.errors for name in DETAILS),
    }
