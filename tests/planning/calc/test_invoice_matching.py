"""Matching of bank transactions to invoices: labelled cases, and what holds for all."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.calc.invoice_matching import (
    MAX_SUMMED_INVOICES,
    BankTransaction,
    NameIndex,
    OpenInvoice,
    is_distinctive,
    match_invoices,
)

DAY = dt.date(2026, 3, 1)
ACCOUNT, OTHER_ACCOUNT = UUID(int=1), UUID(int=2)


def owe(key, amount, party="Nordwind GmbH", numbers=(), references=(), **values):
    day = dt.date(2026, 2, 1) + dt.timedelta(days=key)
    invoice = OpenInvoice(UUID(int=100 + key), day, day, Decimal(amount), "EUR", None, party, numbers, references)
    return invoice._replace(**values)


def pay(key, amount, party="NORDWIND", text="", **values):
    row = BankTransaction(UUID(int=900 + key), DAY, Decimal(amount), "EUR", ACCOUNT, party, text)
    return row._replace(**values)


def describe(matches):
    """(transaction, {invoice: amount}, evidence, ambiguous) of each match, in short."""
    return sorted(
        (
            match.transaction.id.int - 900,
            sorted((each.invoice.planned_id.int - 100, str(each.amount)) for each in match.settlements),
            " ".join(match.evidence),
            match.is_ambiguous,
        )
        for match in matches
    )


CASES = {
    "a number in the text": (
        [owe(1, "-119.00", numbers=("NW-2026-17",)), owe(2, "-119.00", numbers=("NW-2026-18",))],
        [pay(1, "-119.00", text="Rechnung NW 2026/17 danke")],
        [(1, [(1, "-119.00")], "number amount counterparty", False)],
    ),
    "a number without its punctuation": (
        [owe(1, "-119.00", numbers=("NW-2026-17",))],
        [pay(1, "-119.00", party="", text="RE NW202617")],
        [(1, [(1, "-119.00")], "number amount", False)],
    ),
    "a number long after the due date": (
        [owe(1, "-119.00", numbers=("NW-2026-17",))],
        [pay(1, "-119.00", party="", text="NW-2026-17", date=dt.date(2027, 3, 1))],
        [(1, [(1, "-119.00")], "number amount", False)],
    ),
    "a number inside another number": (
        [owe(1, "-119.00", party="", numbers=("202617",))], [pay(1, "-119.00", text="ref 1202617 and 2026170")], [],
    ),
    "a number inside a longer one of another invoice": (
        [owe(1, "-5.00", party="A", numbers=("2026-17",)), owe(2, "-7.00", party="B", numbers=("NW-2026-17",))],
        [pay(1, "-7.00", party="", text="NW-2026-17")],
        [(1, [(2, "-7.00")], "number amount", False)],
    ),
    "a short number alone is no evidence": (
        [owe(1, "-119.00", party="", numbers=("17",))], [pay(1, "-119.00", text="Invoice 17")], [],
    ),
    "a year is no evidence": (
        [owe(1, "-119.00", party="", numbers=("2026",))], [pay(1, "-119.00", text="Rent 2026")], [],
    ),
    "a short number decides between equal amounts": (
        [owe(1, "-119.00", numbers=("17",)), owe(2, "-119.00", numbers=("18",))],
        [pay(1, "-119.00", text="Invoice 18")],
        [(1, [(2, "-119.00")], "number amount counterparty", False)],
    ),
    "a payment reference": (
        [owe(1, "-119.00", references=("RF18 5390 0754 7034",))],
        [pay(1, "-119.00", party="", text="RF18539007547034")],
        [(1, [(1, "-119.00")], "reference amount", False)],
    ),
    "an instalment": (
        [owe(1, "-119.00", numbers=("NW-17-A",))],
        [pay(1, "-50.00", party="", text="NW-17-A")],
        [(1, [(1, "-50.00")], "number", False)],
    ),
    "too much": (
        [owe(1, "-119.00", numbers=("NW-17-A",))],
        [pay(1, "-120.00", party="", text="NW-17-A")],
        [(1, [(1, "-119.00")], "number", False)],
    ),
    "the other direction": ([owe(1, "-119.00", numbers=("NW-17-A",))], [pay(1, "119.00", text="NW-17-A")], []),
    "another currency": (
        [owe(1, "-119.00", numbers=("NW-17-A",), currency="USD")], [pay(1, "-119.00", text="NW-17-A")], [],
    ),
    "the number of two vendors": (
        [owe(1, "-119.00", "Nordwind", ("2026-001",)), owe(2, "-80.00", "Südwind", ("2026-001",))],
        [pay(1, "-80.00", party="", text="2026-001")],
        [(1, [(2, "-80.00")], "number amount", False)],
    ),
    "the number and amount of two vendors": (
        [owe(1, "-80.00", "Nordwind", ("2026-001",)), owe(2, "-80.00", "Südwind", ("2026-001",))],
        [pay(1, "-80.00", party="", text="2026-001")],
        [(1, [(1, "-80.00")], "number amount", True), (1, [(2, "-80.00")], "number amount", True)],
    ),
    "amount and party": (
        [owe(1, "-119.00"), owe(2, "-120.00")],
        [pay(1, "-119.00", party="Nordwind GmbH, Berlin")],
        [(1, [(1, "-119.00")], "amount counterparty", False)],
    ),
    "amount without party": ([owe(1, "-119.00")], [pay(1, "-119.00", party="Südwind")], []),
    "amount and party on another account": ([owe(1, "-119.00", account_id=OTHER_ACCOUNT)], [pay(1, "-119.00")], []),
    "two equal invoices": (
        [owe(1, "-119.00"), owe(2, "-119.00")],
        [pay(1, "-119.00")],
        [(1, [(1, "-119.00")], "amount counterparty", True), (1, [(2, "-119.00")], "amount counterparty", True)],
    ),
    "two equal payments": (
        [owe(1, "-119.00")],
        [pay(1, "-119.00"), pay(2, "-119.00")],
        [(1, [(1, "-119.00")], "amount counterparty", True), (2, [(1, "-119.00")], "amount counterparty", True)],
    ),
    "a number leaves the other payment the other invoice": (
        [owe(1, "-119.00", numbers=("NW-17-A",)), owe(2, "-119.00")],
        [pay(1, "-119.00", text="NW-17-A"), pay(2, "-119.00")],
        [
            (1, [(1, "-119.00")], "number amount counterparty", False),
            (2, [(2, "-119.00")], "amount counterparty", False),
        ],
    ),
    "a sum of named invoices": (
        [owe(1, "-100.00", numbers=("NW-17-A",)), owe(2, "-19.00", numbers=("NW-18-A",))],
        [pay(1, "-119.00", text="NW-17-A, NW-18-A")],
        [(1, [(1, "-100.00"), (2, "-19.00")], "number sum counterparty", False)],
    ),
    "a sum of five": (
        [owe(key, amount) for key, amount in enumerate(["-1.00", "-2.00", "-4.00", "-8.00", "-16.00", "-32.00"])],
        [pay(1, "-31.00")],
        [(1, [(0, "-1.00"), (1, "-2.00"), (2, "-4.00"), (3, "-8.00"), (4, "-16.00")], "sum counterparty", False)],
    ),
    "a sum of six is none": (
        [owe(key, amount) for key, amount in enumerate(["-1.00", "-2.00", "-4.00", "-8.00", "-16.00", "-32.00"])],
        [pay(1, "-63.00")],
        [],
    ),
    "a credit note in a sum": (
        [owe(1, "-100.00"), owe(2, "19.00")],
        [pay(1, "-81.00")],
        [(1, [(1, "-100.00"), (2, "19.00")], "sum counterparty", False)],
    ),
    "two sums": (
        [owe(1, "-10.00"), owe(2, "-20.00"), owe(3, "-12.00"), owe(4, "-18.00")],
        [pay(1, "-30.00")],
        [
            (1, [(1, "-10.00"), (2, "-20.00")], "sum counterparty", True),
            (1, [(3, "-12.00"), (4, "-18.00")], "sum counterparty", True),
        ],
    ),
    "one invoice before a sum": (
        [owe(1, "-30.00"), owe(2, "-10.00"), owe(3, "-20.00")],
        [pay(1, "-30.00")],
        [(1, [(1, "-30.00")], "amount counterparty", False)],
    ),
    "a sum of two parties": ([owe(1, "-10.00", "Nordwind"), owe(2, "-20.00", "Südwind")], [pay(1, "-30.00")], []),
    "named invoices of two parties": (
        [owe(1, "-10.00", "Nordwind", ("NW-17-A",)), owe(2, "-20.00", "Südwind", ("SW-18-A",))],
        [pay(1, "-30.00", party="", text="NW-17-A SW-18-A")],
        [(1, [(1, "-10.00")], "number", True), (1, [(2, "-20.00")], "number", True)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_transactions_are_matched_by_evidence(name):
    invoices, rows, expected = CASES[name]
    assert describe(match_invoices(invoices, rows)) == expected
    assert describe(match_invoices(reversed(invoices), reversed(rows))) == expected


@pytest.mark.parametrize(
    ("name", "is_applied"),
    [
        ("a number in the text", True), ("a payment reference", True), ("a sum of named invoices", True),
        ("an instalment", False), ("too much", False), ("amount and party", False), ("a sum of five", False),
        ("two equal invoices", False), ("the number and amount of two vendors", False),
    ],
)  # fmt: skip
def test_only_numbers_and_references_with_equal_amounts_are_applied(name, is_applied):
    invoices, rows, _expected = CASES[name]
    assert {match.can_be_applied for match in match_invoices(invoices, rows)} == {is_applied}


amounts = st.integers(-40, 40).filter(bool).map(Decimal)
texts = st.lists(st.sampled_from(["A-1001", "A-1002", "B/2001", "1001", "R-77 55", "and"]), max_size=3).map(" ".join)
parties = st.sampled_from(["Nordwind GmbH", "Südwind", ""])
invoices = st.lists(
    st.tuples(
        amounts,
        parties,
        st.sampled_from([("A-1001",), ("A-1002",), ("B/2001",), ()]),
        st.sampled_from([("R-7755",), ()]),
    ),
    max_size=9,
).map(lambda rows: [owe(key, *row) for key, row in enumerate(rows)])
transactions = st.lists(st.tuples(amounts, parties, texts), max_size=6).map(
    lambda rows: [pay(key, *row) for key, row in enumerate(rows)]
)


@given(invoices, transactions)
def test_matches_never_exceed_either_side_nor_mix_parties(invoices, transactions):
    matches = match_invoices(invoices, transactions)
    for match in matches:
        paid = sum(each.amount for each in match.settlements)
        assert abs(paid) <= abs(match.transaction.amount)
        assert all(abs(each.amount) <= abs(each.invoice.amount) for each in match.settlements)
        assert all(each.amount * each.invoice.amount > 0 for each in match.settlements)
        assert len({each.invoice.party for each in match.settlements}) == 1
        assert len({each.invoice.key for each in match.settlements}) == len(match.settlements) <= MAX_SUMMED_INVOICES
        assert match.evidence
        assert ("sum" in match.evidence) == (len(match.settlements) > 1)
        if match.can_be_applied:
            assert paid == match.transaction.amount
    certain = [match for match in matches if not match.is_ambiguous]
    rows = [match.transaction.id for match in matches]
    keys = [each.invoice.key for match in matches for each in match.settlements]
    for match in certain:
        assert rows.count(match.transaction.id) == 1
        assert all(keys.count(each.invoice.key) == 1 for each in match.settlements)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Invoice RE-17-2026", ["re172026"]), ("re172026", ["re172026"]), ("XRE-17-2026", []), ("RE-17-20261", []),
        ("R E 1 7 2 0 2 6", ["re172026"]), ("", []), ("re-17-2026 RE 17/2026", ["re172026", "re172026"]),
        ("Überweisung re_17_2026.", ["re172026"]),
    ],
)  # fmt: skip
def test_numbers_are_found_as_whole_words(text, found):
    assert NameIndex(["re172026"]).find_in(text) == found


@pytest.mark.parametrize(
    ("name", "distinctive"),
    [("17", False), ("1899", True), ("2026", False), ("2101", True), ("re17", True), ("abcd", False)],
)
def test_short_numbers_and_years_are_not_distinctive(name, distinctive):
    assert is_distinctive(name) == distinctive
