"""A table of a page as CSV: the page is rendered once more in plain formats, and its table is read.

A table with ``data-table="name"`` is downloaded by ``?table=name``; the tag ``table_csv`` renders the link. Nobody
gets more than the page shows them. Tables of the same name are parts of one list.
"""

import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from companies import locales
from companies.pages.csv_files import build_csv_response

TABLE_PARAMETER, CURSOR_PARAMETER = "table", "cursor"
MAX_ROWS = 2_000  # of a list of several pages
TOO_MANY_ROWS: ContextVar[bool] = ContextVar("too_many_rows", default=False)
SKIPPED_CLASSES = {"meta", "sr", "narrow-only", "button", "confirm", "confirm-box", "heading"}
NAME_CLASSES = {
    "text",
    "name-cell",
    "context-cell",
}  # of cells with names, which are no numbers even if they look like one
STATE_CLASS = "badge"  # a word beside a value, which counts where nothing else stands in the cell
SKIPPED_TAGS = {"button", "svg", "details"}
VOID_TAGS = {"br", "hr", "img", "input", "wbr"}
DASHES = {"–", "—"}  # of cells without a value
AMOUNT = re.compile(r"([+−-]?)((?:0|[1-9]\d*)(?:\.\d+)?)(?: ?([A-Z]{3}|%))?")


@dataclass(frozen=True)
class PlainLocale(locales.Locale):
    """Formats of files: -1234.50 EUR, 2026-12-31, 2026-12."""

    def get_symbol(self, currency: str) -> str:
        return currency

    def format_short_day(self, day: date) -> str:
        return self.format_day(day)

    def format_month(self, day: date, *, full: bool = False, year: bool = True) -> str:
        return f"{day:%Y-%m}"


def build_plain_locale(locale: locales.Locale) -> PlainLocale:
    """Return the formats of files in the language of a locale."""
    values = {each.name: getattr(locale, each.name) for each in fields(locale)}
    formats = {"decimal": ".", "group": "", "is_symbol_first": False, "symbol_gap": " ", "day_format": "Y-m-d"}
    return PlainLocale(**values | formats)


class NameText(str):
    """The text of a cell with a name, which is no number even if it looks like one."""

    __slots__ = ()


@dataclass
class Cell:
    """A cell as it is read: its text, and over how many columns it goes."""

    width: int = 1
    is_name: bool = False
    texts: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        text = " ".join("".join(self.texts).split()) or " ".join(" ".join(self.states).split())
        if text in DASHES:
            return ""
        return NameText(text) if self.is_name else text


class TableReader(HTMLParser):
    """Reads the rows of the tables with one name: values only, no notes beside them and no controls."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.head: list[list[Cell]] = []
        self.body: list[list[Cell]] = []
        self.is_inside = self.is_head = False
        self.skip_depth = self.state_depth = self.parts = 0
        self.row: list[Cell] | None = None
        self.cell: Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "table" and attributes.get("data-table") == self.name:
            self.is_inside, self.parts = True, self.parts + 1
        elif not self.is_inside or tag in VOID_TAGS:
            return
        elif self.skip_depth:
            self.skip_depth += 1
        elif self.state_depth or STATE_CLASS in (attributes.get("class") or "").split():
            self.state_depth += 1
        elif is_control_or_note(tag, attributes):
            self.skip_depth = 1
        else:
            self.open_part(tag, attributes)

    def open_part(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "thead":
            self.is_head = True
        elif tag == "tr":
            self.row = []
        elif tag in {"th", "td"} and self.row is not None:
            classes = set((attributes.get("class") or "").split())
            self.cell = Cell(
                int(attributes.get("colspan") or 1), is_name=bool(NAME_CLASSES & classes) and "amount" not in classes
            )
            self.row.append(self.cell)

    def handle_endtag(self, tag: str) -> None:
        if not self.is_inside or tag in VOID_TAGS:
            return
        if self.skip_depth:
            self.skip_depth -= 1
        elif self.state_depth:
            self.state_depth -= 1
        else:
            self.close_part(tag)

    def close_part(self, tag: str) -> None:
        if tag == "table":
            self.is_inside = False
        elif tag == "thead":
            self.is_head = False
        elif tag in {"th", "td"}:
            self.cell = None
        elif tag == "tr" and self.row is not None:
            self.add_row(self.row)
            self.row = None

    def add_row(self, row: list[Cell]) -> None:
        """Add a row; of the parts of one list only the first has its headings in the file."""
        if not self.is_head:
            self.body.append(row)
        elif self.parts == 1:
            self.head.append(row)

    def handle_data(self, data: str) -> None:
        if self.cell is not None and not self.skip_depth:
            (self.cell.states if self.state_depth else self.cell.texts).append(data)


def is_control_or_note(tag: str, attributes: dict[str, str | None]) -> bool:
    """Return whether an element is no part of a cell's value."""
    classes = set((attributes.get("class") or "").split())
    is_other_option = tag == "option" and "selected" not in attributes
    return tag in SKIPPED_TAGS or is_other_option or bool(SKIPPED_CLASSES & classes)


def read_table(html: str, name: str) -> list[list[str | Decimal]] | None:
    """Return the rows of a page's table: amounts as numbers, their currencies in a column of their own.

    Returns: None if the page has no such table.
    """
    reader = TableReader(name)
    reader.feed(html)
    if not reader.parts:
        return None
    head, body = ([expand_row(row) for row in rows] for rows in (reader.head, reader.body))
    width = max((len(row) for row in (*head, *body)), default=0)
    head, body = ([[*row, *[""] * (width - len(row))] for row in rows] for rows in (head, body))
    columns = [place for place in range(width) if not head or any(row[place] for row in head)]
    currency_columns = find_currency_columns(body, columns)
    rows = [build_row(row, columns, currency_columns, currencies=_("Currency")) for row in head]
    return rows + [build_row(row, columns, currency_columns) for row in body]


def expand_row(row: list[Cell]) -> list[str]:
    """Return the texts of a row, one for each column."""
    return [text for cell in row for text in (cell.text, *[""] * (cell.width - 1))]


def find_currency_columns(body: list[list[str]], columns: list[int]) -> dict[int, list[int]]:
    """Return after which columns a column of currencies stands, with the columns of their amounts.

    It is one after the last amount, unless a row has several currencies.
    """
    amounts = [place for place in columns if any(find_currency(row[place]) for row in body)]
    is_single = all(len({find_currency(row[place]) for place in amounts} - {""}) <= 1 for row in body)
    if is_single:
        return {amounts[-1]: amounts} if amounts else {}
    return {place: [place] for place in amounts}


def build_row(
    row: list[str], columns: list[int], currency_columns: dict[int, list[int]], *, currencies: str = ""
) -> list[str | Decimal]:
    """Return the values of the columns that a file has; `currencies` is the heading of their column."""
    values = list[str | Decimal]()
    for place in columns:
        values.append(parse_value(row[place]))
        if place in currency_columns:
            row_currencies = (find_currency(row[amount]) for amount in currency_columns[place])
            values.append(currencies or next(filter(None, row_currencies), ""))
    return values


def parse_value(text: str) -> str | Decimal:
    """Return the number that a cell shows, or its text.

    >>> parse_value("−1234.50 EUR"), parse_value("78.36 %"), parse_value("+2"), parse_value("R-1")
    (Decimal('-1234.50'), Decimal('78.36'), Decimal('2'), 'R-1')
    """
    match = match_amount(text)
    if match is None:
        return text
    sign, number, _ = match.groups()
    return -Decimal(number) if sign in {"−", "-"} else Decimal(number)


def match_amount(text: str) -> re.Match[str] | None:
    """Return the parts of an amount; None if the text is none or a name.

    >>> bool(match_amount("2.50 EUR")), match_amount(NameText("2.50 EUR"))
    (True, None)
    """
    return None if isinstance(text, NameText) else AMOUNT.fullmatch(text)


def find_currency(text: str) -> str:
    """Return the currency of an amount; empty without one."""
    match = match_amount(text)
    return match[3] if match and match[3] and match[3] != "%" else ""


def serve_table(request: HttpRequest, render_page: Callable[[], HttpResponse]) -> HttpResponse:
    """Return the page, or the table of it that the URL asks for; the page where it has no such table."""
    name = request.GET.get(TABLE_PARAMETER, "")
    if not name or request.method != "GET":
        return render_page()
    token = TOO_MANY_ROWS.set(False)
    try:
        with locales.use_locale(build_plain_locale(locales.get_current_locale())):
            response = render_page()
            is_page = response.status_code == 200 and response.get("Content-Type", "").startswith("text/html")
            rows = read_table(response.content.decode(), name) if is_page else None
        has_too_many_rows = TOO_MANY_ROWS.get()
    finally:
        TOO_MANY_ROWS.reset(token)
    if rows is None:
        return response if not is_page else redirect(request.path)
    if has_too_many_rows:
        return HttpResponse(
            _("The list has more than {most} rows. Narrow it with its filters, or use the API.").format(most=MAX_ROWS),
            status=400,
            content_type="text/plain; charset=utf-8",
        )
    return build_csv_response(rows, name=name)
