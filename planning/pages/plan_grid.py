"""The plan as a grid of lines, categories and months: what stands in it, and what was typed into it."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.errors import FieldErrors, Refusal
from companies.models import Company
from companies.pages.visits import Visit
from ledger.calc.money import InvalidAmount, format_amount, parse_amount, round_half_up
from ledger.calc.months import MONTHS_A_YEAR, add_months, format_month, months_between, months_from
from ledger.models import PlType
from ledger.money.amounts import amount_in, typed_in
from ledger.money.rates import rate_table
from ledger.transactions.pages.words import LINES, Names, as_line, names_for, of_line
from planning.filling import Cell, Row
from planning.forecasting import Result, planned_in_base
from planning.serializers import PlanItemShape

MOST_ROWS = 60  # of a page: with every amount as long as can be, its form is half of what a form may have
SYSTEM = {"transfer", "initialBalance"}  # what the service itself posts to
APART = "_"  # between the amounts of a row as they were
ZERO = Decimal(0)
EARLIEST = dt.date(1900, 1, 1)
YEARS_AHEAD = 50  # that are shown


@dataclass(slots=True)
class Grid:
    """A page of the plan; ``typed`` and ``errors`` are what was typed differently in cells, and its mistakes."""

    company: Company
    months: list[dt.date]
    rows: list[Row]
    amounts: Mapping[Result, Decimal]
    names: Names
    page: int = 1
    more: bool = False
    typed: dict[Result, str] = field(default_factory=dict)
    errors: dict[Result, str] = field(default_factory=dict)
    general: str = ""

    def refuse(self, refusal: Refusal) -> None:
        """Shows mistakes at their cells."""
        told = refusal.errors if isinstance(refusal, FieldErrors) else [("", "", refusal.detail)]
        for pointer, _code, detail in told:
            key = of_pointer(pointer)
            if key is None:
                self.general = detail
            else:
                self.errors.setdefault(key, detail)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Lines of the statement with their rows, for the template."""
        found = []
        for line, label in LINES.items():
            rows = [self.shown_row(place, row) for place, row in enumerate(self.rows) if row.pl_type == line]
            if rows:
                sums = [self.sum_of(line, month) for month in self.months]
                found.append({"label": label, "rows": rows, "sums": [*sums, sum(sums, ZERO)]})
        return found

    def sum_of(self, line: str, month: dt.date) -> Decimal:
        return sum((self.amount(row, month) for row in self.rows if row.pl_type == line), ZERO)

    def amount(self, row: Row, month: dt.date) -> Decimal:
        return round_half_up(self.amounts.get((month, row.pl_type, row.category_id), ZERO), self.company.base_currency)

    def text(self, row: Row, month: dt.date) -> str:
        """The amount as it is typed; nothing for none."""
        amount = self.amount(row, month)
        return format_amount(amount, self.company.base_currency) if amount else ""

    def shown_row(self, place: int, row: Row) -> dict[str, Any]:
        amounts = [self.amount(row, month) for month in self.months]
        return {
            "place": place,
            "key": as_line(row.category_id, row.pl_type),
            "name": self.names.category(row.category_id),
            "was": APART.join(self.text(row, month) for month in self.months),
            "cells": [self.shown_cell(place, number, row, month) for number, month in enumerate(self.months)],
            "amounts": amounts,
            "sum": sum(amounts, ZERO),
        }

    def shown_cell(self, place: int, number: int, row: Row, month: dt.date) -> dict[str, Any]:
        key = (month, row.pl_type, row.category_id)
        return {
            "name": f"c{place}-{number}",
            "month": month,
            "text": self.typed.get(key, self.text(row, month)),
            "error": self.errors.get(key, ""),
        }


def grid_of(visit: Visit, *, start: dt.date, page: int = 1) -> Grid:
    """A year of the plan from a month on, and a page of its rows. Raises MissingRate."""
    months = months_from(start, add_months(start, MONTHS_A_YEAR - 1))
    amounts, names = planned_in_base(visit.company, months, rate_table()), names_for(visit)
    rows = rows_of(names, amounts)
    first = (page - 1) * MOST_ROWS
    return Grid(
        company=visit.company,
        months=months,
        rows=rows[first : first + MOST_ROWS],
        amounts=amounts,
        names=names,
        page=page,
        more=len(rows) > first + MOST_ROWS,
    )


def rows_of(names: Names, amounts: Mapping[Result, Decimal]) -> list[Row]:
    """Every category on each of its lines, and whatever else is planned; lines in the order of the statement."""
    planned = {Row(line, category_id) for _, line, category_id in amounts}
    rows = [
        Row(line.value, category.id)
        for line in LINES
        for category in names.categories.values()
        if line in category.pl_types and (line != PlType.NEUTRAL and category.system_key not in SYSTEM)
    ]
    known, places = set(rows), {line.value: place for place, line in enumerate(LINES)}
    rows += sorted(planned - known, key=lambda row: str(row.category_id))
    return sorted(rows, key=lambda row: places[row.pl_type])


def start_of(text: str, *, today: dt.date) -> tuple[dt.date, str]:
    """The first month that is shown, and what was wrong with the one that was asked for: then it is January."""
    january = today.replace(month=1, day=1)
    if not text:
        return january, ""
    shape = PlanItemShape(data={"month": text}, partial=True)
    if not shape.is_valid():
        return january, _("“{text}” is no month. This year is shown.").format(text=text[:20])
    start: dt.date = shape.validated_data["month"]
    last = last_start(today)
    if not EARLIEST <= start <= last:
        told = _("The plan is shown from {first} to {last}. This year is shown.")
        return january, told.format(first=EARLIEST.year, last=last.year)
    return start, ""


def last_start(today: dt.date) -> dt.date:
    return today.replace(year=min(today.year + YEARS_AHEAD, dt.date.max.year), month=1, day=1)


def neighbours(start: dt.date, *, today: dt.date) -> dict[str, str]:
    """The years before and after, as far as they are shown."""
    found = {}
    if months_between(EARLIEST, start) >= MONTHS_A_YEAR:
        found["before"] = format_month(add_months(start, -MONTHS_A_YEAR))
    if months_between(start, last_start(today)) >= MONTHS_A_YEAR:
        found["after"] = format_month(add_months(start, MONTHS_A_YEAR))
    return found


# ---------------------------------------------------------------------------------------------- what was typed


def pointer_of(key: Result) -> str:
    month, line, category_id = key
    return f"#/{as_line(category_id, line)}/{format_month(month)}"


def of_pointer(pointer: str) -> Result | None:
    """The cell that mistakes are told of; none where they are about something else."""
    parts = pointer.removeprefix("#/").split("/")
    if len(parts) != 2:
        return None
    category_id, line = of_line(parts[0])
    return dt.date.fromisoformat(f"{parts[1]}-01"), line or "", UUID(category_id)


@dataclass(slots=True)
class Typed:
    """What was typed differently: cells to store, their texts, and mistakes by pointer."""

    cells: list[Cell] = field(default_factory=list)
    texts: dict[Result, str] = field(default_factory=dict)
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    emptied: list[Row] = field(default_factory=list)

    def pass_or_raise(self) -> None:
        if self.errors:
            raise FieldErrors(self.errors)


def read(posted: Mapping[str, str], *, months: Sequence[dt.date], currency: str) -> Typed:
    """The cells of a sent grid that differ from what stood in them. ``across`` and ``clear`` name a row to copy from
    its first change on, or to empty."""
    found = Typed()
    for place in range(MOST_ROWS):
        row = row_in(posted.get(f"row{place}", ""))
        if row is None:
            continue
        was = posted.get(f"was{place}", "").split(APART)
        was = was if len(was) == len(months) else [""] * len(months)
        texts = [posted.get(f"c{place}-{number}", "").strip() for number in range(len(months))]
        if posted.get("clear") == str(place):
            found.emptied.append(row)
            continue
        if posted.get("across") == str(place):
            texts = copied(texts, was, currency)
        for month, text, before in zip(months, texts, was, strict=True):
            read_cell(found, row, month, text, before, currency)
    return found


def row_in(text: str) -> Row | None:
    """A row as the form names it; none for what is no such name."""
    category_id, line = of_line(text)
    try:
        return Row(PlType(line or "").value, UUID(category_id))
    except ValueError:
        return None


def copied(texts: list[str], was: list[str], currency: str) -> list[str]:
    """The row with its first change, else its first amount, in all months after it; as it is where that is no amount,
    which is then told at its cell alone."""
    changed = (place for place, text in enumerate(texts) if differs(text, was[place], currency))
    filled = (place for place, text in enumerate(texts) if text)
    source = next(changed, next(filled, 0))
    try:
        amount_of(texts[source], currency)
    except FieldErrors:
        return texts
    return texts[:source] + [texts[source]] * (len(texts) - source)


def differs(text: str, before: str, currency: str) -> bool:
    if text == before:
        return False
    try:
        return amount_of(text, currency) != amount_of(before, currency)
    except FieldErrors:
        return True


def amount_of(text: str, currency: str, pointer: str = "") -> Decimal:
    if not text:
        return ZERO
    return amount_in(typed_in(text, currency=currency, pointer=pointer), currency, pointer=pointer)


def read_cell(found: Typed, row: Row, month: dt.date, text: str, before: str, currency: str) -> None:
    if not differs(text, before, currency):
        return
    key = (month, row.pl_type, row.category_id)
    found.texts[key] = text
    try:
        amount = round_half_up(amount_of(text, currency, pointer_of(key)), currency)
    except FieldErrors as wrong:
        found.errors += wrong.errors
        return
    try:
        was = parse_amount(before) if before else ZERO
    except InvalidAmount:
        was = ZERO
    found.cells.append(Cell(row, month, amount, was, pointer_of(key)))
