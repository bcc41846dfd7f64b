"""Any files of a bank, in any order: the ledger ends up with each entry once. Without a database."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import count, permutations

from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import StoredTransaction, build_entry_groups
from ledger.imports.calc.entry_matcher import EntryMatcher

FIRST = date(2026, 1, 1)
ACCOUNT = "account"
FORMATS = ("camt.053", "camt.052", "mt940", "ofx")
movements = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["-3.5", "-3.50", "7", "40"]), st.sampled_from(["Coffee", "Rent", ""])
    ),
    max_size=12,
)
files = st.lists(st.tuples(st.sampled_from(FORMATS), st.integers(0, 5), st.integers(0, 5)), max_size=6)


def list_reported_entries(format_, truth, first, last):
    """What a file of some days has: the same movements, in each family of formats by other references and words."""
    for number, (day, amount, text) in enumerate(truth):
        if first <= day <= last:
            named = {"camt": f"C{number}", "ofx": f"F{number}"}.get(format_[:4], "")
            texts = text if format_.startswith("camt") else text and f"{format_}: {text.upper()}"
            yield Entry(FIRST + timedelta(days=day), amount, "EUR", "", texts, reference=named)


def apply_entries(rows, ids, format_, entries):
    """The ledger's rows after a file."""
    result = EntryMatcher([copy_row(row) for row in rows], format_=format_).match_entries(
        build_entry_groups(ACCOUNT, entries, details=False), final_days={}
    )
    new = [entry for group in result.groups for entry in group.new]
    return rows + [
        StoredTransaction(
            next(ids),
            ACCOUNT,
            each.day,
            Decimal(each.amount),
            "EUR",
            each.reference,
            "",
            each.description,
            format=format_,
        )
        for each in new
    ]


def copy_row(row):
    names = ("id", "account", "day", "amount", "currency", "reference", "from_to", "description", "pending", "format")
    return StoredTransaction(**{name: getattr(row, name) for name in names})


def replay_files(truth, sent):
    rows, ids = [], count(1)
    for format_, first, last in sent:
        rows = apply_entries(rows, ids, format_, list(list_reported_entries(format_, truth, first, last)))
    return sorted((row.day, row.amount) for row in rows)


@given(truth=movements, sent=files)
def test_overlapping_files_of_any_format_store_each_entry_once(truth, sent):
    covered = {day for _, first, last in sent for day in range(first, last + 1)}
    once = sorted((FIRST + timedelta(days=day), Decimal(amount)) for day, amount, _ in truth if day in covered)
    assert replay_files(truth, sent) == once


@given(truth=movements, sent=files.filter(lambda sent: len(sent) <= 4))
def test_file_order_does_not_change_result(truth, sent):
    results = [replay_files(truth, order) for order in permutations(sent)]
    assert all(each == results[0] for each in results)


@given(truth=movements, sent=files)
def test_repeated_files_add_nothing(truth, sent):
    assert replay_files(truth, [*sent, *sent]) == replay_files(truth, sent)


def test_matching_scales_to_many_equal_entries():
    """Ten times as many would take a hundred times as long where each looked at all others."""
    entries = [Entry(FIRST, "-3.5", "EUR", "", "Coffee") for _ in range(20_000)]
    rows = apply_entries([], count(1), "camt.053", entries)
    assert len(apply_entries(rows, count(len(rows) + 1), "camt.053", entries)) == len(entries)


def test_matching_scales_to_many_different_entries_of_one_day():
    def many(words):
        return [Entry(FIRST, "-3.5", "EUR", "", f"{words} {number}") for number in range(5_000)]

    rows = apply_entries([], count(1), "camt.053", many("Coffee"))
    assert len(apply_entries(rows, count(len(rows) + 1), "mt940", many("Kaffee"))) == 5_000
