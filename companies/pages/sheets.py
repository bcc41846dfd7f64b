"""Sheets: tables of amounts by period, as profit and loss, plan, cash plan and cohorts show them.

A sheet has a row name and one value a cell, so that a copied sheet is numbers in a spreadsheet: a hyphen as minus
sign, no currency, no words. Texts beside a value (class `meta`) are not copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from babel.numbers import get_currency_precision
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from companies.locales import get_current_locale
from companies.pages.amount_formats import WIDE
from companies.pages.csv_files import build_csv_response

UNIT_LABELS: dict[str, str | Promise] = {"whole": _("Whole"), "cents": _("Cents"), "thousands": _("Thousands")}
NEGATIVE_LABELS = {"minus": "-{}", "parentheses": "({})"}
MAX_WIDTH_UPRIGHT = 14  # amounts of a row on upright paper
PLACES = {"percent": 1, "count": 0}  # decimals
THOUSAND, THOUSANDS_DECIMALS = Decimal(1000), 1


@dataclass(frozen=True, slots=True)
class SheetStyle:
    """How a person wants amounts: their unit, and how negative ones look."""

    unit: str = "whole"
    negative: str = "minus"

    @property
    def choices(self) -> list[tuple[str, str | Promise, list[tuple[str, str | Promise, bool]]]]:
        """(parameter, label, [(value, label, whether it is chosen)]) for the switches of a sheet."""
        number = get_current_locale().format_number(Decimal(1234), 0)
        return [
            ("unit", _("Amounts"), [(each, label, each == self.unit) for each, label in UNIT_LABELS.items()]),
            (
                "negative",
                _("Negative amounts"),
                [(each, label.format(number), each == self.negative) for each, label in NEGATIVE_LABELS.items()],
            ),
        ]

    def format_amount(self, amount: Decimal, currency: str) -> str:
        """Format an amount in the person's locale, without the currency; zero has no sign.

        >>> SheetStyle().format_amount(Decimal("-1234.50"), "EUR")
        '-1,235'
        >>> SheetStyle("cents", "parentheses").format_amount(Decimal("-1234.5"), "EUR")
        '(1,234.50)'
        >>> SheetStyle("thousands").format_amount(Decimal(190246), "EUR")
        '190.2'
        >>> SheetStyle().format_amount(Decimal("-0.4"), "EUR")
        '0'
        """
        decimals = {"cents": get_currency_precision(currency), "thousands": THOUSANDS_DECIMALS}.get(self.unit, 0)
        size = abs(amount) / THOUSAND if self.unit == "thousands" else abs(amount)
        rounded = size.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=WIDE)
        text = get_current_locale().format_number(rounded, decimals)
        if amount >= 0 or not rounded:
            return text
        return f"({text})" if self.negative == "parentheses" else f"-{text}"


def get_sheet_style(request: HttpRequest) -> SheetStyle:
    """Return the style of the URL, which the session keeps, else the one chosen last."""
    chosen: dict[str, str] = {}
    for name, values in (("unit", UNIT_LABELS), ("negative", NEGATIVE_LABELS)):
        key, default, requested = f"sheet_{name}", next(iter(values)), request.GET.get(name)
        if requested in values and request.session.get(key, default) != requested:
            request.session[key] = requested
        stored_value = request.session.get(key)
        chosen[name] = str(stored_value) if stored_value in values else default
    return SheetStyle(**chosen)


class SheetColumn(NamedTuple):
    """A period of the sheet, with the headings of its parts where it has several."""

    name: str
    notes: Sequence[str] = ()
    parts: Sequence[str] = ()
    kind: str = ""  # "total", "current" or "planned"


class SheetCell(NamedTuple):
    """A cell: `kind` is money, count or percent; None is an empty cell. `tone` is a class, `note` is not copied."""

    amount: Decimal | None
    link: str = ""
    tone: str = ""
    note: str = ""
    kind: str = "money"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row; `kind` is line, category or sum."""

    name: str
    cells: Sequence[SheetCell]
    kind: str = "category"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of amounts by period. `cells` of a row follow the parts of the columns.

    `shows_money` is whether its cells are amounts in the currency, not counts or percentages.
    """

    title: str
    first: str
    currency: str
    columns: Sequence[SheetColumn]
    rows: Sequence[SheetRow] = ()
    style: SheetStyle = field(default_factory=SheetStyle)
    shows_money: bool = True

    @property
    def has_parts(self) -> bool:
        return any(column.parts for column in self.columns)

    @property
    def width(self) -> int:
        """The number of amounts of a row."""
        return sum(max(len(column.parts), 1) for column in self.columns)

    @property
    def is_wide(self) -> bool:
        """Whether it is printed across the paper."""
        return self.width > MAX_WIDTH_UPRIGHT

    @property
    def starts_at_end(self) -> bool:
        """Whether what does not fit is scrolled away at the start, so that the latest month and total are in view."""
        return self.columns[-1].kind == "total"

    @property
    def body(self) -> SafeString:
        """The rows as HTML, built in Python since a template loop over as many cells is slow."""
        kinds = [column.kind for column in self.columns for _ in column.parts or ("",)]
        return SafeString("".join(self._render_row(row, kinds) for row in self.rows))

    def _render_row(self, row: SheetRow, kinds: Sequence[str]) -> str:
        cells = "".join(self._render_cell(cell, kind) for cell, kind in zip(row.cells, kinds, strict=True))
        return f'<tr class="kind-{row.kind}"><th scope="row">{escape(row.name)}</th>{cells}</tr>'

    def _render_cell(self, cell: SheetCell, kind: str) -> str:
        css_classes = " ".join(filter(None, (f"kind-{kind}" if kind else "", cell.tone)))
        opening = f'<td class="{css_classes}">' if css_classes else "<td>"
        if cell.amount is None:
            return f"{opening}</td>"
        text = self.format_cell(cell)
        if cell.link:
            text = f'<a href="{escape(cell.link)}">{text}</a>'
        note = f'<span class="meta">{escape(cell.note)}</span>' if cell.note else ""
        return f"{opening}{text}{note}</td>"

    def format_cell(self, cell: SheetCell) -> str:
        assert cell.amount is not None  # noqa: S101 - an empty cell is drawn without
        if cell.kind != "money":
            return get_current_locale().format_number(cell.amount, PLACES[cell.kind])
        return self.style.format_amount(cell.amount, self.currency)

    def list_csv_rows(self) -> list[Sequence[object]]:
        """Return the rows of a CSV file: amounts to the cent, empty where there is nothing."""
        names = (
            " ".join(filter(None, (column.name, *column.notes, part)))
            for column in self.columns
            for part in column.parts or ("",)
        )
        decimals = Decimal(1).scaleb(-get_currency_precision(self.currency))
        rows = ([row.name, *(round_csv_amount(cell, decimals) for cell in row.cells)] for row in self.rows)
        return [[self.first, *names], *rows]


def round_csv_amount(cell: SheetCell, decimals: Decimal) -> Decimal | None:
    """Return the number of a cell as a file has it; None if it is empty."""
    if cell.amount is None:
        return None
    places = decimals if cell.kind == "money" else Decimal(1).scaleb(-PLACES[cell.kind])
    return cell.amount.quantize(places, rounding=ROUND_HALF_UP, context=WIDE)


def build_sheet_csv_response(sheet: Sheet, *, name: str) -> HttpResponse:
    """Build the download of a sheet."""
    return build_csv_response(sheet.list_csv_rows(), name=name)


def build_amount_cells(amounts: Sequence[Decimal], **more: Any) -> list[SheetCell]:
    """Return a cell for each amount, and one for their sum."""
    return [SheetCell(amount, **more) for amount in (*amounts, sum(amounts, Decimal(0)))]
