"""The table of an imported plan: months of headings, and which rows are categories."""

from datetime import date
from decimal import Decimal

import pytest
from babel import Locale

from ledger.calc.delimited_text import Line, MalformedTable, NumberText
from ledger.imports.calc.amounts import DecimalMark, UnreadableValueError
from planning.plan.calc.plan_sections import PlanRowNames, place_plan_rows
from planning.plan.calc.plan_table import (
    PlanTableRow,
    WrittenAmount,
    find_plan_table,
    parse_month_heading,
    read_plan_amount,
    read_plan_rows,
)

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
SALES, SERVERS = "Sales", "Servers"
NAMES = PlanRowNames({"revenue": "revenue", "cost of revenue": "cogs"}, {"gross profit"})


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", ["wide", "abbreviated"])
@pytest.mark.parametrize("context", ["format", "stand-alone"])
def test_month_names_are_read(language, width, context):
    for number, name in Locale.parse(language).months[context][width].items():
        for text in (f"{name} 2026", f"{name.upper()} 26", f"{name.strip('.')}-26", f"{name}/2026"):
            assert parse_month_heading(text) == date(2026, number, 1), text


@pytest.mark.parametrize(
    "text",
    [
        *("2026-10", "2026/10", "10/2026", "10.2026", "10-2026", "01.10.2026", "1.10.26", "31.10.2026", "01/10/2026"),
        *("10/01/2026", "10/31/2026", "2026-10-01", "2026-10-31", " Okt  2026 ", "Okt. 26", "1 October 2026"),
    ],
)
def test_months_are_read_in_any_form(text):
    assert parse_month_heading(text) == OCTOBER


@pytest.mark.parametrize(
    "text", ["", "Total", "2026", "Q4 2026", "Plan 2026", "10", "10.26", "1.234,50", "15.10.2026", "0/2026", "13.2026"]
)
def test_other_headings_are_no_months(text):
    assert parse_month_heading(text) is None


def test_headings_stand_below_titles_and_name_the_column_of_categories():
    lines = [
        Line(1, ["Plan of Acme"]),
        Line(3, ["Konto", "Kategorie", "Nov 26", "Okt 26", "Summe"]),
        Line(4, ["4210", "Miete", "7", "5", "12"]),
    ]
    table = find_plan_table(lines)
    rows, faults = read_plan_rows(table, DecimalMark.POINT, "EUR")
    assert (rows, faults) == (
        [PlanTableRow(4, "Miete", {OCTOBER: WrittenAmount(Decimal("5.00")), NOVEMBER: WrittenAmount(Decimal("7.00"))})],
        [],
    )
    assert list(table.months.values()) == [OCTOBER, NOVEMBER]
    assert table.unused_headings == ["Konto", "Summe"]


@pytest.mark.parametrize("note", ["Amounts in thousands", "Angaben in TEUR", "in T€"])
def test_amounts_in_thousands_are_refused(note):
    with pytest.raises(MalformedTable, match="full amounts"):
        find_plan_table([Line(1, [note]), Line(2, ["Category", "Oct 2026"]), Line(3, ["Rent", "5"])])


def test_amount_is_rounded_only_where_a_spreadsheet_calculated_it():
    assert read_plan_amount(NumberText("0.005"), DecimalMark.POINT, "EUR").amount == Decimal("0.01")
    assert read_plan_amount("5.000", DecimalMark.POINT, "EUR").amount == 5
    with pytest.raises(UnreadableValueError, match="too many decimals"):
        read_plan_amount("0.005", DecimalMark.POINT, "EUR")
    with pytest.raises(UnreadableValueError, match="not in JPY"):
        read_plan_amount("$5", DecimalMark.POINT, "JPY")


def place(*rows):
    """(name, left out, line, signed) of rows of (name, amounts by month)."""
    table_rows = [
        PlanTableRow(
            line, name, dict(zip((OCTOBER, NOVEMBER), [WrittenAmount(Decimal(each)) for each in amounts], strict=False))
        )
        for line, (name, *amounts) in enumerate(rows)
    ]
    return [(each.is_left_out, each.line, each.is_signed) for each in place_plan_rows(table_rows, NAMES)]


def test_heading_that_is_the_sum_of_its_rows_proves_their_line():
    assert place(("Cost of revenue", 7, 3), (SERVERS, 5, 3), ("Support", 2)) == [
        (True, "", False), (False, "cogs", False), (False, "cogs", False),
    ]  # fmt: skip


def test_heading_without_amounts_proves_the_line_up_to_the_next_one():
    assert place(("Cost of revenue",), (SERVERS, 5), ("Total", 5), ("Rent", 1)) == [
        (True, "", False), (False, "cogs", False), (True, "", False), (False, "", False),
    ]  # fmt: skip


def test_sum_below_its_rows_proves_nothing_for_the_rows_after_it():
    assert place((SALES, 9), ("Revenue", 9), (SERVERS, 5)) == [
        (False, "", False), (True, "", False), (False, "", False),
    ]  # fmt: skip


def test_subtotal_of_amounts_as_written_proves_the_signs_of_the_rows_above():
    assert place((SALES, 9), (SERVERS, -5), ("Gross profit", 4), ("Rent", 1)) == [
        (False, "", True), (False, "", True), (True, "", False), (False, "", False),
    ]  # fmt: skip


@pytest.mark.parametrize("subtotal", [(), (14, 1), (4,)], ids=["no amounts", "another month", "costs without sign"])
def test_other_subtotal_proves_no_signs(subtotal):
    assert place((SALES, 9), (SERVERS, 5), ("Gross profit", *subtotal))[:2] == [(False, "", False)] * 2


def test_name_of_a_line_and_a_category_is_a_category_where_it_stands_alone():
    names = PlanRowNames(NAMES.lines, NAMES.subtotals, {"revenue": {1}, "🧪 revenue": {1}})
    rows = [PlanTableRow(1, "Revenue", {OCTOBER: WrittenAmount(Decimal(5))})]
    assert not place_plan_rows(rows, names)[0].is_left_out
    rows.append(PlanTableRow(2, "🧪 Revenue", {OCTOBER: WrittenAmount(Decimal(5))}))
    assert [(each.is_left_out, each.line) for each in place_plan_rows(rows, names)] == [(True, ""), (False, "revenue")]
