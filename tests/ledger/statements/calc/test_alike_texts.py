"""Whether two formats can mean the same payment by what they say of it; without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.importing.calc.alike import LONGEST, NO, PERHAPS, SURELY, Said, likeness, pairs

TEXTS = st.text(st.sampled_from("ab1äé "), max_size=8) | st.sampled_from(
    ["Initech GmbH", "INITECH", "Invoice 1042", "Invoice 1043", "Müller", "Mueller", ""]
)
SAID = st.builds(Said.of, TEXTS, TEXTS)


@given(SAID, SAID)
def test_likeness_is_mutual(one, other):
    assert likeness(one, other) == likeness(other, one)


@given(SAID)
def test_what_says_something_is_like_itself_and_nothing_can_be_compared_with_silence(one):
    assert likeness(one, one) == (SURELY if one.name or one.text else likeness(one, one))
    assert likeness(one, Said.of("", " . ")) == PERHAPS


@pytest.mark.parametrize(
    ("one", "other", "level", "why"),
    [
        (("Initech", "Invoice"), ("Initech", "Rent"), SURELY, "the name agrees"),
        (("Initech", "Invoice"), ("Globex", "Invoice"), NO, "the names contradict each other"),
        (("Initech", ""), ("Initech", ""), SURELY, "the name is all that both say"),
        (("Initech GmbH", ""), ("Globex GmbH", ""), NO, "a legal form is nobody's name"),
        (("Initech", ""), ("", "Transfer to INITECH"), SURELY, "one puts the name into the text"),
        (("", "Transfer to INITECH"), ("Initech", ""), SURELY, "and the other way round"),
        (("Initech", ""), ("", "Rent"), PERHAPS, "one tells who, the other what for"),
        (("", "Rent"), ("", "Coffee"), NO, "both tell what for"),
        (("", "Invoice 1042"), ("", "Invoice 1043"), NO, "the numbers contradict each other"),
        (("", "Invoice 42"), ("", "Invoice 43"), SURELY, "two digits are no number"),
        (("", "Invoice 1042"), ("", "Invoice"), SURELY, "one tells no number"),
        (("", "Invoice 1042"), ("", "RE 10421"), SURELY, "a number may go on in the other"),
        (("", "Re 10 42"), ("", "no. 1042 x"), PERHAPS, "pieces of two letters say nothing"),
        (("", "Inite ch"), ("Initech", ""), SURELY, "a line may break within a word"),
        (("", "Ini tec"), ("Initec", ""), SURELY, "and into pieces of three letters"),
        (("Müller", ""), ("MUELLER", ""), SURELY, "an umlaut may be two letters"),
        (("Café", ""), ("Cafe", ""), SURELY, "accents are lost"),
        (("Bob", ""), ("Bobsled", ""), NO, "three letters are found within another word by chance"),
        (("Tech", ""), ("Initech", ""), SURELY, "four are not"),
        (("Bob", ""), ("Bob", ""), SURELY, "three are a word like any other"),
        (("x" * LONGEST + " Initech", ""), ("y" * LONGEST + " Initech", ""), NO, "only what comes first is compared"),
        (("", "x" * LONGEST + " Initech"), ("", "y" * LONGEST + " Initech"), NO, "of the text too"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_texts_say_agrees_contradicts_or_says_nothing(one, other, level, why):
    assert likeness(Said.of(*one), Said.of(*other)) == level
    assert likeness(Said.of(*other), Said.of(*one)) == level


def test_pairs_come_the_surest_first_and_never_where_texts_contradict_each_other():
    ones = [Said.of("", ""), Said.of("Initech", ""), Said.of("Globex", "")]
    others = [Said.of("Globex", ""), Said.of("", "")]
    assert [*pairs(ones, others)] == [(2, 0), (0, 0), (0, 1), (1, 1), (2, 1)]
