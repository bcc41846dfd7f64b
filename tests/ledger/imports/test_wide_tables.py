"""Tables with many columns: detection compares what each column says, and its work grows with the number of cells."""

import sys

import pytest

from ledger.calc.delimited_text import Line
from ledger.imports.calc import pair_search
from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.detection_result import AccountFacts

ROWS = 60
NARROW, WIDE = 40, 160
MAX_GROWTH = 6  # of the work from a narrow table to one with four times as many columns
HEADINGS = ["Date", "Text", "Amount", "Balance"]


def build_statement_cells(row):
    """Return date, text, amount and balance of a row; the balance falls by each amount."""
    return [f"2026-03-{1 + row // 3:02d}", f"Payment {row}", f"-{row + 1}.00", f"{9000 - sum(range(row + 2))}.00"]


def build_lines(columns, get_cell, *, heading="c{}", is_statement=False):
    """Return the lines of a table with columns of one kind, behind those of a statement or alone."""
    names = [heading.format(position) for position in range(columns)]
    rows = [[get_cell(row, position) for position in range(columns)] for row in range(ROWS)]
    if is_statement:
        names = HEADINGS + names
        rows = [build_statement_cells(row) + cells for row, cells in enumerate(rows)]
    return [Line(number, cells) for number, cells in enumerate([names, *rows], start=1)]


def get_number(row, position):
    return str((row * 7919 + position * 104729) % 1_000_003)


def get_money(row, position):
    return f"{get_number(row, position)}.{(row + position) % 90 + 10}"


def get_alternating_money(row, position):
    return get_money(row, position) if (row + position) % 2 else ""


def get_grouped_money(row, position):
    return f"{row + 1}.{100 + position} EUR"


def get_word(row, position):
    return f"word {get_number(row, position)}"


def get_letter(row, position):
    return "AB"[(row * position) % 3 % 2]


def count_calls(lines):
    """Return how many functions a detection calls: its work, whatever the machine does besides."""
    calls = 0

    def count_call(_frame, event, _argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        detect_mapping(lines, account=AccountFacts("EUR"))
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("get_cell", "heading", "is_statement"),
    [
        pytest.param(get_number, "c{}", False, id="numbers"),
        pytest.param(get_money, "c{}", True, id="amounts-beside-a-statement"),
        pytest.param(get_money, "Fee {}", True, id="fees-beside-a-statement"),
        pytest.param(get_money, "Balance {}", True, id="balances-beside-a-statement"),
        pytest.param(get_money, "Amount {}", False, id="amounts"),
        pytest.param(get_alternating_money, "c{}", False, id="possible-debits-and-credits"),
        pytest.param(get_alternating_money, "", False, id="possible-debits-and-credits-without-headings"),
        pytest.param(get_alternating_money, "Debit {}", True, id="named-debits"),
        pytest.param(get_grouped_money, "c{}", False, id="two-decimal-marks"),
        pytest.param(get_word, "t{}", True, id="texts"),
        pytest.param(get_letter, "t{}", False, id="possible-directions"),
        pytest.param(get_letter, "Status", True, id="equal-headings"),
        pytest.param(get_letter, "IBAN", True, id="account-numbers"),
    ],
)
def test_detection_work_grows_with_number_of_columns_only(get_cell, heading, is_statement):
    narrow, wide = (
        count_calls(build_lines(columns, get_cell, heading=heading, is_statement=is_statement))
        for columns in (NARROW, WIDE)
    )
    assert wide <= MAX_GROWTH * narrow


def test_detection_compares_each_pair_of_columns_once(monkeypatch):
    compared = []
    compare = pair_search.has_complementary_amounts

    def record_pair(first, second, **options):
        compared.append((first.position, second.position))
        return compare(first, second, **options)

    monkeypatch.setattr(pair_search, "has_complementary_amounts", record_pair)
    detect_mapping(build_lines(NARROW, get_money), account=AccountFacts("EUR"))
    assert len(compared) == len(set(compared)) == NARROW * (NARROW - 1) / 2


@pytest.mark.parametrize("heading", ["m{}", "Amount {}", "Fee {}", "Total"])
def test_statement_with_many_money_columns_is_read_by_its_balance(heading):
    lines = build_lines(60, get_money, heading=heading, is_statement=True)
    detection = detect_mapping(lines, account=AccountFacts("EUR"))
    assert (detection.fault, detection.questions) == (None, [])
    assert "amount" in detection.proven_fields
    columns = detection.mapping.columns
    assert {name: columns.get(name) for name in ("date", "amount", "balance")} == {
        "date": 0,
        "amount": 2,
        "balance": 3,
    }
