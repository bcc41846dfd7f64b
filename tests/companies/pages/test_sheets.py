"""Sheets: what a cell says, what is copied and downloaded, and which style a person chose."""

import csv
import io
from decimal import Decimal

import pytest

from companies.locales import get_locale, use_locale
from companies.pages.csv_files import write_csv
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, SheetStyle, build_amount_cells


@pytest.mark.parametrize(
    ("unit", "negative", "currency", "shown"),
    [
        ("whole", "minus", "EUR", ["1,235", "-1,235", "0", "0"]),
        ("cents", "minus", "EUR", ["1,234.50", "-1,234.50", "-0.40", "0.00"]),
        ("cents", "parentheses", "EUR", ["1,234.50", "(1,234.50)", "(0.40)", "0.00"]),
        ("cents", "minus", "JPY", ["1,235", "-1,235", "0", "0"]),
        ("thousands", "parentheses", "EUR", ["1.2", "(1.2)", "0.0", "0.0"]),
    ],
)
def test_amounts_are_shown_in_the_chosen_style(unit, negative, currency, shown):
    style = SheetStyle(unit, negative)
    amounts = map(Decimal, ("1234.50", "-1234.50", "-0.4", "0"))
    assert [style.format_amount(amount, currency) for amount in amounts] == shown


@pytest.mark.parametrize(("tag", "shown"), [("en-US", ["-1,234", "(1,234)"]), ("de", ["-1.234", "(1.234)"])])
def test_switch_shows_negative_amounts_in_the_locale(tag, shown):
    with use_locale(get_locale(tag)):
        assert [label for _, label, _ in SheetStyle().choices[1][2]] == shown


def test_sheet_has_one_value_a_cell_and_escapes_names():
    row = SheetRow("<b>=1", [SheetCell(Decimal("-2"), note="reported 3", link="/a?b&c"), SheetCell(None)])
    sheet = Sheet("Plan", "Line", "EUR", [SheetColumn("Jan", parts=("Actual", "Plan"))], [row])
    assert sheet.body == (
        '<tr class="kind-category"><th scope="row">&lt;b&gt;=1</th>'
        '<td><a href="/a?b&amp;c">-2</a><span class="meta">reported 3</span></td><td></td></tr>'
    )
    head, line = csv.reader(io.StringIO(write_csv(sheet.list_csv_rows())))
    assert head == ["Line", "Jan Actual", "Jan Plan"]
    assert line[1:] == ["-2.00", ""]


def test_row_of_amounts_ends_with_their_total():
    assert [cell.amount for cell in build_amount_cells([Decimal(1), Decimal("2.5")])] == [
        1,
        Decimal("2.5"),
        Decimal("3.5"),
    ]


def test_cells_must_fit_the_columns():
    sheet = Sheet("Plan", "Line", "EUR", [SheetColumn("Jan")], [SheetRow("a", [SheetCell(None)] * 2)])
    with pytest.raises(ValueError, match="shorter"):
        _ = sheet.body
