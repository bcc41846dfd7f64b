"""What the entries of a file are to a ledger: new, known, booked, pending still or lapsed. Without a database."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.text_normalization import fold_words as words
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import StoredTransaction, build_entry_groups
from ledger.imports.calc.entry_matcher import MAX_COMPARED_PAIRS, EntryMatcher, get_format_family, list_match_keys

DAY = date(2026, 3, 10)


def build_entry(amount="-3.5", text="Coffee", *, days=0, **more):
    return Entry(DAY + timedelta(days), amount, "EUR", description=text, **more)


def build_row(number, amount="-3.50", text="Coffee", *, days=0, reference="", format_="camt.053", account="a", **more):
    """What a file has brought, if not said otherwise."""
    answer = ("EUR", reference, "", text)
    return StoredTransaction(number, account, DAY + timedelta(days), Decimal(amount), *answer, format=format_, **more)


def match_entries(rows, *entries, format_="camt.053", details=False, settled=None):
    groups = build_entry_groups("a", entries, details=details)
    fresh = [replace(each, is_matched=False) for each in rows]  # they remember what took them
    return EntryMatcher(fresh, format_=format_).match_entries(groups, final_days=settled or {})


def list_booked(found):
    return [(stored.id, answer) for stored, answer in found.booked]


def list_new(found):
    return [entry for group in found.groups for entry in group.new]


# ---------------------------------------------------------------------------------------------- known


@pytest.mark.parametrize(
    ("stored", "entry", "known"),
    [
        (build_row(1), build_entry(), True),
        (build_row(1, text="COF-FEE"), build_entry(text="c of fee!"), True),  # formats break lines and drop signs
        (build_row(1), build_entry(text="Tea"), False),
        (build_row(1), build_entry("-3.51"), False),
        (build_row(1), build_entry(days=1), False),
        (build_row(1), replace(build_entry(), currency="USD"), False),
        (build_row(1, account="b"), build_entry(), False),
        (
            build_row(1, reference="A", text="x"),
            build_entry(reference="A"),
            True,
        ),  # the reference tells, whatever the words
        (build_row(1, reference="A"), build_entry(reference="B"), False),  # both have one: by that alone
        (build_row(1, reference="A"), build_entry(), True),
        (build_row(1), build_entry(reference="A"), True),
        (build_row(1, reference="A"), build_entry("-4", reference="A"), False),
        (build_row(1, format_=None), build_entry(), True),  # typed by hand, or from a table
        (replace(build_row(1), from_to="Bistro"), replace(build_entry(), from_to="BISTRO"), True),
        (replace(build_row(1), from_to="Bistro"), replace(build_entry(), from_to="Bakery"), False),
    ],
)
def test_entry_matches_by_account_date_amount_and_reference_or_text(stored, entry, known):
    entries = match_entries([stored], entry)
    assert (list_new(entries), entries.known_ids) == (([], [1]) if known else ([entry], []))


@given(st.lists(st.sampled_from(["-1", "-2"]), max_size=6), st.lists(st.sampled_from(["-1", "-2"]), max_size=6))
def test_equal_entries_match_equal_rows_one_to_one_oldest_first(row_amounts, entry_amounts):
    entries = match_entries(
        [build_row(n, each) for n, each in enumerate(row_amounts)], *map(build_entry, entry_amounts)
    )
    for amount in ("-1", "-2"):
        row_count, entry_count = row_amounts.count(amount), entry_amounts.count(amount)
        assert sum(each.amount == amount for each in list_new(entries)) == max(entry_count - row_count, 0)
        oldest = [n for n, each in enumerate(row_amounts) if each == amount][: min(row_count, entry_count)]
        assert sorted(n for n in entries.known_ids if row_amounts[n] == amount) == oldest


def test_references_match_before_texts():
    plain, named = build_entry(), build_entry(reference="A")
    entries = match_entries([build_row(1, reference="A")], plain, named)
    assert (list_new(entries), entries.known_ids) == ([plain], [1])


def test_edited_row_matches_imported_and_edited_values():
    as_made = build_entry("-4", "Tea", days=1)
    for reported_entries, new_count in (
        ([build_entry()], 0),
        ([as_made], 0),
        ([build_entry(), as_made], 1),
    ):  # it is one row
        assert (
            len(
                list_new(
                    match_entries([build_row(1, corrected=build_row(1, "-4.00", "Tea", days=1))], *reported_entries)
                )
            )
            == new_count
        )


def test_edited_row_also_matches_by_edited_counterparty():
    stored = build_row(1, corrected=replace(build_row(1, text="Tea"), from_to="Bistro"))
    for party, known in (("Bistro", [1]), ("Bakery", [])):
        assert match_entries([stored], replace(build_entry(text="Tea"), from_to=party)).known_ids == known


# ---------------------------------------------------------------------------------------------- of other formats


@pytest.mark.parametrize(
    ("row_format", "entry_text", "known"),
    [
        ("mt940", "Kaffee", False),  # the texts contradict each other
        ("mt940", "Coffee bar", True),
        ("mt940", "", True),  # it says nothing, so nothing contradicts
        ("camt.052", "Coffee bar", False),  # the same family words it alike
        (None, "Coffee bar", False),  # no bank has told it
    ],
)
def test_entries_of_different_format_families_match_by_compatible_text(row_format, entry_text, known):
    entries = match_entries([build_row(1, format_=row_format)], build_entry(text=entry_text))
    assert (entries.known_ids == [1]) is known
    assert (list_new(entries) == []) is known


def test_format_families_group_formats_with_same_references():
    assert get_format_family("camt.052") == get_format_family("camt.054") == "camt"
    assert get_format_family("mt940") == get_format_family("mt942") == "mt94"
    assert get_format_family(None) is None
    assert get_format_family("ofx") == "ofx"


def test_each_row_of_other_format_matches_one_entry_of_its_day_and_amount():
    stored = [build_row(1, format_="mt940"), build_row(2, format_="mt940"), build_row(3, format_="mt940", days=1)]
    answers = [build_entry(text=f"Coffee {word}") for word in ("bar", "house", "shop")]
    entries = match_entries(stored, *answers)
    assert (len(list_new(entries)), sorted(entries.known_ids)) == (1, [1, 2])


def test_row_matched_by_other_format_does_not_absorb_pending_entry():
    announced = build_entry(pending=True)
    entries = match_entries([build_row(1, format_="mt940")], build_entry(text="Coffee bar"), announced)
    assert (entries.known_ids, list_new(entries)) == ([1], [announced])


def test_agreeing_texts_match_before_empty_texts():
    entries = match_entries(
        [build_row(1, text="", format_="mt940"), build_row(2, text="Coffee", format_="mt940")],
        build_entry(text="Coffee x"),
    )
    assert entries.known_ids == [2]


@pytest.mark.parametrize(("rows", "entries", "compared"), [(40, MAX_COMPARED_PAIRS // 40, True), (32, 32, False)])
def test_texts_are_compared_only_up_to_max_pairs(rows, entries, compared):
    stored = [build_row(n, text=f"Kaffee kx{n:02}y", format_="mt940") for n in range(rows)]
    answers = [build_entry(text=f"Tea ty{n:02}z") for n in range(entries)]
    assert len(list_new(match_entries(stored, *answers))) == (entries if compared else 0)


# ---------------------------------------------------------------------------------------------- whole, or its payments


def build_batch(*amounts, **more):
    parts = tuple(build_entry(each, f"to {each}") for each in amounts)
    return build_entry(str(sum(map(Decimal, amounts))), "Batch", parts=parts, **more)


def test_entry_is_new_whole_or_as_its_payments():
    both = build_batch("-1", "-2")
    assert list_new(match_entries([], both)) == [both]
    assert list_new(match_entries([], both, details=True)) == [*both.parts]
    assert list_new(match_entries([], build_entry(), details=True)) == [build_entry()]


def test_entry_stored_whole_matches_its_payments():
    entries = match_entries([build_row(1, "-3", "Batch")], build_batch("-1", "-2"), details=True)
    assert (list_new(entries), entries.known_ids) == ([], [1])
    entries = match_entries(
        [build_row(1, "-3", "x", reference="A")], build_batch("-1", "-2", reference="A"), details=True
    )
    assert (list_new(entries), entries.known_ids) == ([], [1])


def test_entry_stored_whole_matches_its_payments_beside_other_entries():
    entries = match_entries(
        [build_row(1), build_row(2, "-3", "Batch")], build_entry(), build_batch("-1", "-2"), details=True
    )
    assert (list_new(entries), entries.known_ids) == ([], [1, 2])


def test_stored_payments_match_their_whole_entry():
    entries = match_entries([build_row(1, "-1", "to -1"), build_row(2, "-2", "to -2")], build_batch("-1", "-2"))
    assert (list_new(entries), entries.known_ids) == ([], [1, 2])


def test_entry_with_missing_payment_is_new_and_frees_other_payments():
    stored = [build_row(1, "-1", "to -1"), build_row(3, "-4", "to -4")]
    one, other = build_batch("-1", "-2"), build_batch("-1", "-4")
    entries = match_entries(stored, one, other)
    assert (list_new(entries), entries.known_ids) == ([one], [1, 3])


def test_missing_payment_is_new_if_the_others_are_stored():
    both = build_batch("-1", "-2")
    entries = match_entries([build_row(1, "-1", "to -1")], both, details=True)
    assert (list_new(entries), entries.known_ids) == ([both.parts[1]], [1])


def test_batch_stored_whole_matches_even_if_one_payment_is_stored():
    both = build_batch("-1", "-2")
    entries = match_entries([build_row(1, "-1", "to -1"), build_row(2, "-3", "Batch")], both, details=True)
    assert (list_new(entries), entries.known_ids) == ([], [2])


def test_match_keys_cover_entry_and_its_payments():
    groups = build_entry_groups("a", [build_batch("-1", "-2")], details=False)
    assert [*list_match_keys(groups)] == [("a", DAY, Decimal(amount), "EUR") for amount in ("-3", "-1", "-2")]


# ---------------------------------------------------------------------------------------------- pending


def build_pending_row(number, *args, **more):
    return build_row(number, *args, pending=True, **more)


@pytest.mark.parametrize(
    ("stored", "entry", "is_booked"),
    [
        (build_pending_row(1), build_entry(), True),
        (build_pending_row(1), build_entry(days=5), True),
        (build_pending_row(1), build_entry(days=-5), True),
        (build_pending_row(1), build_entry(days=6), False),
        (build_pending_row(1), build_entry(days=-6), False),
        (build_pending_row(1), build_entry(text="Tea"), False),
        (build_pending_row(1), build_entry("-4"), False),
        (build_pending_row(1, account="b"), build_entry(), False),
        (build_pending_row(1), replace(build_entry(), currency="USD"), False),
        (
            build_pending_row(1, reference="A", text="x"),
            build_entry(days=30, reference="A"),
            True,
        ),  # a reference needs no day
        (
            build_pending_row(1, reference="A"),
            build_entry("-9", "Tea", reference="A"),
            True,
        ),  # an estimate was announced
        (
            build_pending_row(1, reference="A"),
            build_entry("9", "Tea", reference="A"),
            True,
        ),  # and even the other way round
        (build_pending_row(1, reference="A"), build_entry("0.5", "Tea", reference="A"), True),
        (build_pending_row(1, "3.5", reference="A"), build_entry("0", "Tea", reference="A"), True),
        (replace(build_pending_row(1), from_to="Bistro"), replace(build_entry(), from_to="Bistro"), True),
        (replace(build_pending_row(1), from_to="Bistro"), replace(build_entry(), from_to="Bakery"), False),
        (build_pending_row(1, reference="A"), build_entry("-9", reference="B"), False),
        (build_pending_row(1, reference="A", account="b"), build_entry(reference="A"), False),
    ],
)
def test_booked_entry_replaces_matching_pending_row(stored, entry, is_booked):
    entries = match_entries([stored], entry)
    assert list_booked(entries) == ([(1, entry)] if is_booked else [])
    assert list_new(entries) == ([] if is_booked else [entry])
    assert entries.groups[0].booked == is_booked
    assert entries.known_ids == []


def test_booking_takes_pending_row_of_nearest_day():
    near, far = build_pending_row(1, days=2), build_pending_row(2, days=-3)
    assert list_booked(match_entries([near, far], build_entry())) == [(1, build_entry())]
    assert list_booked(match_entries([far, near], build_entry(days=-1))) == [(2, build_entry(days=-1))]
    after, before = build_pending_row(1, days=1), build_pending_row(2, days=-1)
    assert list_booked(match_entries([after, before], build_entry())) == [(2, build_entry())], (
        "of equally near ones the earlier"
    )


@pytest.mark.parametrize(
    ("other_amount", "similar_amount", "entry_amount"),
    [
        ("-3.5", "-8", "-8"),  # the very amount
        ("5", "0", "-2"),  # nothing counts as money out
        ("-5", "0.5", "2"),
        ("-5", "7", "0.5"),
    ],
)
def test_booking_by_reference_prefers_same_amount_then_same_direction(other_amount, similar_amount, entry_amount):
    announced = [
        build_pending_row(1, other_amount, "x", reference="A"),
        build_pending_row(2, similar_amount, "x", reference="A"),
    ]
    assert [
        stored.id for stored, _ in match_entries(announced, build_entry(entry_amount, "y", reference="A")).booked
    ] == [2]


def test_bookings_match_same_amount_first_then_same_direction():
    announced = [build_pending_row(1, "-3.5", "x", reference="A"), build_pending_row(2, "-8", "x", reference="A")]
    back, other, same = (build_entry(each, "y", reference="A") for each in ("5", "-2", "-8"))
    entries = match_entries(announced, back, other, same)
    assert {(stored.id, answer.amount) for stored, answer in entries.booked} == {(2, "-8"), (1, "-2")}
    assert list_new(entries) == [back]


def test_zero_booking_counts_as_money_out():
    announced = build_pending_row(1, "-3.5", "x", reference="A")
    entries = match_entries(
        [announced, build_pending_row(2, "3.5", "x", reference="A")], build_entry("0", "y", reference="A")
    )
    assert [stored.id for stored, _ in entries.booked] == [1]


def test_each_booking_takes_one_pending_row():
    entries = match_entries(
        [build_pending_row(1), build_pending_row(2)], build_entry(), build_entry(days=1), build_entry(days=2)
    )
    assert ([stored.id for stored, _ in entries.booked], len(list_new(entries))) == ([1, 2], 1)


def test_payments_of_entry_are_booked_one_by_one():
    entries = match_entries([build_pending_row(1, "-1", "to -1")], build_batch("-1", "-2"), details=True)
    assert (entries.groups[0].booked, [each.amount for each in list_new(entries)]) == (1, ["-2"])


def test_booked_rows_match_before_pending_rows():
    entries = match_entries([build_row(1), build_pending_row(2)], build_entry())
    assert (entries.known_ids, entries.booked, list_new(entries)) == ([1], [], [])


def test_repeated_pending_entry_is_a_duplicate():
    entries = match_entries([build_pending_row(1, days=2)], build_entry(pending=True))
    assert (entries.still_pending_ids, list_new(entries), entries.booked, entries.known_ids) == ({1}, [], [], [])
    assert entries.groups[0].lapsed == 0


def test_pending_entry_after_booking_is_ignored():
    entries = match_entries([build_row(1, days=3)], build_entry(pending=True))
    assert (entries.still_pending_ids, list_new(entries)) == (set(), [])
    typed = match_entries([build_row(1, days=3, format_=None)], build_entry(pending=True))
    assert len(list_new(typed)) == 1, "no bank has booked it"


@pytest.mark.parametrize(("days", "there"), [(0, True), (5, True), (6, False), (-1, False), (-4, False)])
def test_entry_booked_before_pending_date_is_a_different_entry(days, there):
    entry = build_entry(pending=True)
    assert list_new(match_entries([build_row(1, days=days)], entry)) == ([] if there else [entry])


def test_pending_entries_match_same_reference_and_nearest_day_first():
    later, again = build_entry(days=4, pending=True), build_entry(pending=True)
    entries = match_entries([build_pending_row(1)], later, again)
    assert (entries.still_pending_ids, list_new(entries)) == ({1}, [later])
    other, same = build_entry(days=4, reference="B", pending=True), build_entry(reference="A", pending=True)
    entries = match_entries([build_pending_row(1, reference="A")], other, same)
    assert (entries.still_pending_ids, list_new(entries)) == ({1}, [other])


def test_pending_row_is_booked_by_booking_of_nearest_day():
    later, same = build_entry(days=4), build_entry()
    entries = match_entries([build_pending_row(1)], later, same)
    assert (list_booked(entries), list_new(entries)) == ([(1, same)], [later])


def test_one_booked_row_matches_one_pending_entry():
    assert len(list_new(match_entries([build_row(1)], build_entry(pending=True), build_entry(pending=True)))) == 1


@pytest.mark.parametrize(("settled", "lapsed"), [(-1, False), (0, True), (1, True), (None, False)])
def test_pending_entry_lapses_if_missing_in_final_statement_of_its_day(settled, lapsed):
    until = {"b": DAY} if settled is None else {"a": DAY + timedelta(settled)}
    entries = match_entries([], build_entry(pending=True), settled=until)
    assert (entries.groups[0].lapsed, len(list_new(entries))) == ((1, 0) if lapsed else (0, 1))
    assert list_new(match_entries([], build_entry(), settled=until)) == [build_entry()], "what is booked never lapses"


# ---------------------------------------------------------------------------------------------- words


@given(st.text(max_size=20), st.text(max_size=20))
def test_words_drop_case_spaces_and_punctuation(one, other):
    results = words(one, other)
    assert results == words(f"{one} - ", other.upper().lower()) or not (one + other).isascii()
    assert results == "".join(each for each in (one + other).casefold() if each.isalnum())
