"""Whether two formats can mean the same payment by what they say of it; without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.calc.matching_similarity import (
    DIFFERENT,
    MAX_COMPARED_LENGTH,
    SAME,
    UNDECIDED,
    PaymentTexts,
    compare_payment_texts,
    iterate_similar_pairs,
)

TEXTS = st.text(st.sampled_from("ab1äé "), max_size=8) | st.sampled_from(
    ["Initech GmbH", "INITECH", "Invoice 1042", "Invoice 1043", "Müller", "Mueller", ""]
)
statement_texts = st.builds(PaymentTexts.from_texts, TEXTS, TEXTS)


@given(statement_texts, statement_texts)
def test_similarity_is_symmetric(one, other):
    assert compare_payment_texts(one, other) == compare_payment_texts(other, one)


@given(statement_texts)
def test_similarity_is_reflexive_and_unknown_for_empty_texts(one):
    assert compare_payment_texts(one, one) == (SAME if one.name or one.text else compare_payment_texts(one, one))
    assert compare_payment_texts(one, PaymentTexts.from_texts("", " . ")) == UNDECIDED


@pytest.mark.parametrize(
    ("one", "other", "level", "why"),
    [
        (("Initech", "Invoice"), ("Initech", "Rent"), SAME, "the name agrees"),
        (("Initech", "Invoice"), ("Globex", "Invoice"), DIFFERENT, "the names contradict each other"),
        (("Initech", ""), ("Initech", ""), SAME, "the name is all that both say"),
        (("Initech GmbH", ""), ("Globex GmbH", ""), DIFFERENT, "a legal form is nobody's name"),
        (("Initech", ""), ("", "Transfer to INITECH"), SAME, "one puts the name into the text"),
        (("", "Transfer to INITECH"), ("Initech", ""), SAME, "and the other way round"),
        (("Initech", ""), ("", "Rent"), UNDECIDED, "one tells who, the other what for"),
        (("", "Rent"), ("", "Coffee"), DIFFERENT, "both tell what for"),
        (("", "Invoice 1042"), ("", "Invoice 1043"), DIFFERENT, "the numbers contradict each other"),
        (("", "Invoice 42"), ("", "Invoice 43"), SAME, "two digits are no number"),
        (("", "Invoice 1042"), ("", "Invoice"), SAME, "one tells no number"),
        (("", "Invoice 1042"), ("", "RE 10421"), SAME, "a number may go on in the other"),
        (("", "Re 10 42"), ("", "no. 1042 x"), UNDECIDED, "pieces of two letters say nothing"),
        (("", "Inite ch"), ("Initech", ""), SAME, "a line may break within a word"),
        (("", "Ini tec"), ("Initec", ""), SAME, "and into pieces of three letters"),
        (("Müller", ""), ("MUELLER", ""), SAME, "an umlaut may be two letters"),
        (("Café", ""), ("Cafe", ""), SAME, "accents are lost"),
        (("Bob", ""), ("Bobsled", ""), DIFFERENT, "three letters are found within another word by chance"),
        (("Tech", ""), ("Initech", ""), SAME, "four are not"),
        (("Bob", ""), ("Bob", ""), SAME, "three are a word like any other"),
        (
            ("x" * MAX_COMPARED_LENGTH + " Initech", ""),
            ("y" * MAX_COMPARED_LENGTH + " Initech", ""),
            DIFFERENT,
            "only what comes first is compared",
        ),
        (
            ("", "x" * MAX_COMPARED_LENGTH + " Initech"),
            ("", "y" * MAX_COMPARED_LENGTH + " Initech"),
            DIFFERENT,
            "of the text too",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_similarity_is_match_mismatch_or_unknown(one, other, level, why):
    assert compare_payment_texts(PaymentTexts.from_texts(*one), PaymentTexts.from_texts(*other)) == level
    assert compare_payment_texts(PaymentTexts.from_texts(*other), PaymentTexts.from_texts(*one)) == level


def test_similar_pairs_are_most_certain_first_and_never_contradictory():
    ones = [
        PaymentTexts.from_texts("", ""),
        PaymentTexts.from_texts("Initech", ""),
        PaymentTexts.from_texts("Globex", ""),
    ]
    others = [PaymentTexts.from_texts("Globex", ""), PaymentTexts.from_texts("", "")]
    assert [*iterate_similar_pairs(ones, others)] == [(2, 0), (0, 0), (0, 1), (1, 1), (2, 1)]
