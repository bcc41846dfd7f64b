"""Read a plan from a table: a category in each row, a month in each column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from ledger.calc.delimited_text import Line, MalformedTable, NumberText
from ledger.imports.calc.amounts import DecimalMark, UnreadableValueError, find_amount_sign, parse_bank_money
from ledger.imports.calc.columns import format_column_letters
from ledger.imports.calc.dates import DateOrder, find_bank_date
from ledger.imports.calc.heading_units import AmountUnit, find_heading_unit, find_noted_unit
from ledger.imports.calc.named_columns import (
    MAX_LINES_ABOVE,
    NamedColumns,
    NamedTable,
    find_amount,
    find_distinct_decimal_marks,
    find_named_columns,
    rank_headings,
)
from ledger.money.calc.money import format_amount, has_too_many_decimals

MAX_MONTHS = 60
MAX_ROWS = 200
MAX_NAME_LENGTH = 200
NAME = "name"  # the column with the categories
NAME_HEADINGS = rank_headings(
    {
        NAME: [
            "category", "kategorie", "name", "bezeichnung", "description", "beschreibung", "position", "posten",
            "cost type", "kostenart", "account", "konto",
        ]
    }
)  # fmt: skip
DASHES = {"-", "–", "—"}  # for nothing, as accounting formats show it
_MONTH_FORMS = (  # a month without a day, and the first of it
    (re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})"), r"\1-\2-01"),
    (re.compile(r"([0-9]{1,2})[-/.]([0-9]{4})"), r"\2-\1-01"),
    (re.compile(r"([^\W\d_]{3,12}\.?)[-. /'’]{1,2}([0-9]{4}|[0-9]{2})"), r"1 \1 \2"),
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_NOTED_YEAR = re.compile(r"[^0-9]{0,60}((?:19|20)[0-9]{2})[^0-9]{0,60}")  # with no other number, such as a date


class WrittenAmount(NamedTuple):
    """An amount of the table with the sign it is written with."""

    amount: Decimal
    has_plus: bool = False


class PlanTableRow(NamedTuple):
    """A row of the table; months with an empty cell have no amount."""

    line: int
    name: str
    amounts: dict[date, WrittenAmount]


class CellFault(NamedTuple):
    """What is wrong with a cell."""

    line: int
    name: str
    heading: str
    error: UnreadableValueError


@dataclass(frozen=True, slots=True)
class PlanTable(NamedTable):
    """A plan: the months of its columns, by position, in the order of time."""

    months: dict[int, date]

    def find_decimal_marks(self) -> list[DecimalMark]:
        """Return the decimal marks with which the amounts can be read; one where both mean the same amounts."""
        return find_distinct_decimal_marks(self.list_amount_texts())

    def find_ambiguous_text(self) -> str:
        """Return the first amount that another decimal mark makes another one; empty without one."""
        texts = self.list_amount_texts()
        return next(
            (text for text in texts if len({find_amount(text, decimal_mark) for decimal_mark in DecimalMark}) > 1), ""
        )

    def list_amount_texts(self) -> list[str]:
        cells = (line.cells for line in self.rows)
        return [row[place] for row in cells for place in self.months if place < len(row) and row[place] not in DASHES]


def parse_month_heading(text: str) -> date | None:
    """Return the first day of the month that a heading names; None if it names none.

    A full date names a month if it is the first or last day of one.

    >>> [str(parse_month_heading(text)) for text in ("10/2026", "Okt 26", "01.10.2026", "2026-10-31", "10/01/2026")]
    ['2026-10-01', '2026-10-01', '2026-10-01', '2026-10-01', '2026-10-01']
    >>> [parse_month_heading(text) for text in ("Total", "2026", "2026-10-15", "10.26", "13/2026")]
    [None, None, None, None, None]
    """
    text = " ".join(text.split())
    for pattern, first_day in _MONTH_FORMS:
        if match := pattern.fullmatch(text):
            return find_bank_date(match.expand(first_day), DateOrder.ISO)
    for order in (DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST):
        day = find_bank_date(text, order)
        if day and 1 in (day.day, (day + timedelta(1)).day):
            return day.replace(day=1)
    return None


def find_plan_table(lines: Sequence[Line]) -> PlanTable:
    """Return the table below the line whose cells name the most months.

    Raises:
        MalformedTable: it has no months or no column of categories, a month twice, too many months or rows, or
            amounts in thousands or cents.

    >>> table = find_plan_table([Line(1, ["Plan"]), Line(2, ["", "Oct 2026", "Total"]), Line(3, ["Rent", "5", "5"])])
    >>> table.months, dict(table.columns.positions), table.unused_headings
    ({1: datetime.date(2026, 10, 1)}, {'2026-10': 1, 'name': 0}, ['Total'])
    """
    headings_by_line = [
        add_years_above(line.cells, lines[:place]) for place, line in enumerate(lines[:MAX_LINES_ABOVE])
    ]
    candidates = [find_months(headings) for headings in headings_by_line]
    top = max(range(len(candidates)), key=lambda place: (len(candidates[place]), -place), default=0)
    if not candidates or not candidates[top]:
        raise MalformedTable("No column is named after a month, such as 2026-10, 10/2026 or Oct 2026.")
    cells, months, rows = headings_by_line[top], candidates[top], lines[top + 1 :]
    check_months(cells, months)
    if cells != lines[top].cells:
        check_month_order(cells, months)
    check_units(cells, lines[:top])
    if len(rows) > MAX_ROWS:
        raise MalformedTable("The plan has more than {most} rows. Split it.", most=MAX_ROWS)
    others = [place for place in range(len(cells)) if place not in months]
    if not others:
        raise MalformedTable("No column with categories found. Put their names in the first column.")
    name_place = find_named_columns(cells, NAME_HEADINGS).positions.get(NAME, others[0])
    headings = [text or format_column_letters(place) for place, text in enumerate(cells)]
    positions = {month.isoformat()[:7]: place for place, month in months.items()} | {NAME: name_place}
    return PlanTable(headings, NamedColumns(positions, {}), rows, months)


def add_years_above(cells: Sequence[str], above: Sequence[Line]) -> list[str]:
    """Return headings with the year above them added to names of months without one.

    A line of years counts from each year to the next one, as merged cells are exported. Otherwise a year in the notes
    above counts for all months, if they name one only.

    >>> add_years_above(["", "Nov", "Dec", "Jan", "Total"], [Line(1, ["", "2026", "", "2027"])])
    ['', 'Nov 2026', 'Dec 2026', 'Jan 2027', 'Total']
    >>> add_years_above(["", "Jan", "Feb 2027"], [Line(1, ["Budget 2026"])])
    ['', 'Jan 2026', 'Feb 2027']
    """
    years = find_years(above, width=len(cells))
    dated = [f"{text} {year}" for text, year in zip(cells, years, strict=True)]
    return [
        dated_text if year and parse_month_heading(dated_text) else text
        for text, year, dated_text in zip(cells, years, dated, strict=True)
    ]


def find_years(above: Sequence[Line], *, width: int) -> list[str]:
    """Return the year of each column; empty where none is stated."""
    for line in reversed(above):
        if any(_YEAR.fullmatch(cell) for cell in line.cells):
            stated = [cell if _YEAR.fullmatch(cell) else "" for cell in line.cells[:width]]
            return carry_forward([*stated, *[""] * (width - len(stated))])
    notes = {match[1] for line in above for cell in line.cells if (match := _NOTED_YEAR.fullmatch(cell))}
    return [notes.pop() if len(notes) == 1 else ""] * width


def carry_forward(texts: Sequence[str]) -> list[str]:
    """Return the texts with empty ones replaced by the last one before.

    >>> carry_forward(["", "2026", "", "2027"])
    ['', '2026', '2026', '2027']
    """
    carried: list[str] = []
    for text in texts:
        carried.append(text or (carried[-1] if carried else ""))
    return carried


def find_months(headings: Sequence[str]) -> dict[int, date]:
    """Return the months that headings name by position, in the order of time."""
    months = {place: month for place, text in enumerate(headings) if (month := parse_month_heading(text))}
    return dict(sorted(months.items(), key=lambda each: each[1]))


def check_months(headings: Sequence[str], months: dict[int, date]) -> None:
    """Check that no month is there twice, and that there are not too many. Raises MalformedTable."""
    first_places: dict[date, int] = {}
    for place, month in months.items():
        other = first_places.setdefault(month, place)
        if other != place:
            raise MalformedTable(
                "The columns “{first}” and “{second}” are the same month. Remove one of them.",
                first=headings[other][:40],
                second=headings[place][:40],
            )
    if len(months) > MAX_MONTHS:
        raise MalformedTable("The plan has more than {most} months. Split it.", most=MAX_MONTHS)


def check_month_order(headings: Sequence[str], months: dict[int, date]) -> None:
    """Check that months whose years stand above them follow each other. Raises MalformedTable.

    A year that stands above months of the next one too would put them twelve months too early.
    """
    places = list(months)  # in the order of time
    for earlier, later in pairwise(places):
        if earlier > later:
            raise MalformedTable(
                "“{text}” is right of a later month. Write the year of each month in its heading.",
                text=headings[earlier][:40],
            )


def check_units(headings: Sequence[str], above: Sequence[Line]) -> None:
    """Check that neither a heading nor a note above states thousands or cents. Raises MalformedTable."""
    noted = [cell for line in above for cell in line.cells if find_noted_unit(cell) is not AmountUnit.WHOLE]
    named = [text for text in headings if find_heading_unit(text) is not AmountUnit.WHOLE]
    if units := [*noted, *named]:
        raise MalformedTable(
            "“{text}”: import the plan in full amounts, not in thousands or cents.", text=units[0][:40]
        )


def read_plan_rows(
    table: PlanTable, decimal_mark: DecimalMark, currency: str
) -> tuple[list[PlanTableRow], list[CellFault]]:
    """Read the rows that have a name or an amount, and return with them what is wrong with cells."""
    rows, faults = [], []
    name_heading = table.headings[table.columns.positions[NAME]]
    for line in table.rows:
        cells, amounts = line.cells, dict[date, WrittenAmount]()
        name = table.columns.get_cell(cells, NAME)
        for place, month in table.months.items():
            text = cells[place] if place < len(cells) else ""
            if not text or text in DASHES:
                continue
            try:
                amounts[month] = read_plan_amount(text, decimal_mark, currency)
            except UnreadableValueError as error:
                faults.append(CellFault(line.number, name[:40], table.headings[place], error))
        if fault := find_name_fault(name, has_amounts=bool(amounts)):
            faults.append(CellFault(line.number, name[:40], name_heading, fault))
        if name:
            rows.append(PlanTableRow(line.number, name, amounts))
    return rows, faults


def find_name_fault(name: str, *, has_amounts: bool) -> UnreadableValueError | None:
    """Return what is wrong with the name of a row."""
    if has_amounts and not name:
        return UnreadableValueError("The category is missing.")
    if len(name) > MAX_NAME_LENGTH:
        return UnreadableValueError("The text is too long.")
    return None


def read_plan_amount(text: str, decimal_mark: DecimalMark, currency: str) -> WrittenAmount:
    """Return an amount in the plan's currency. A spreadsheet's own number is rounded, for it has what formulas give.

    Raises:
        UnreadableValueError: it is no amount, is in another currency or has too many decimals.

    >>> read_plan_amount("+1.234,50 €", DecimalMark.COMMA, "EUR")
    WrittenAmount(amount=Decimal('1234.50'), has_plus=True)
    >>> read_plan_amount(NumberText("333.333333"), DecimalMark.COMMA, "EUR").amount
    Decimal('333.33')
    """
    money = parse_bank_money(text, decimal_mark)
    amount = Decimal(money.amount)
    if money.currencies and currency not in money.currencies:
        raise UnreadableValueError("“{text}” is not in {currency}.", text=text[:40], currency=currency)
    if has_too_many_decimals(amount, currency) and type(text) is not NumberText:
        raise UnreadableValueError("“{text}” has too many decimals.", text=text[:40])
    return WrittenAmount(Decimal(format_amount(amount, currency)), find_amount_sign(text) == "+")
