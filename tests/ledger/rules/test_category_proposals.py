"""From what was seen to what is proposed: counting, without a database."""

from collections import Counter
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.rules.calc.category_proposals import (
    ACCOUNT,
    COUNTERPARTY,
    TEXT,
    CategoryProposal,
    PastCategorization,
    compute_word_overlap,
    count_nearest_categorizations,
    extract_text_words,
    propose_by_name_words,
    propose_by_text,
    rank_proposals,
)


def build_use(category, counterparty=None, line="ga"):
    return PastCategorization(
        UUID(int=category), line, counterparty and UUID(int=counterparty), counterparty and "vendor"
    )


RENT, FOOD, FUEL, FEES = (build_use(number) for number in (1, 2, 3, 4))
USES = st.builds(build_use, st.integers(1, 5), st.sampled_from([None, 1, 2]), st.sampled_from(["ga", "cogs"]))


@given(st.lists(st.tuples(USES, st.integers(1, 4)), max_size=10))
def test_most_frequent_categories_are_proposed(counts):
    results = rank_proposals(COUNTERPARTY, counts)
    made = Counter()
    for each, count in counts:
        made[each.category_id, each.pl_type] += count
    assert [each.agreed for each in results] == [count for _, count in made.most_common(3)]
    assert [(each.categorization.category_id, each.categorization.pl_type) for each in results] == [
        choice for choice, _ in made.most_common(3)
    ]
    assert {each.seen for each in results} <= {sum(made.values())}
    assert {each.kind for each in results} <= {COUNTERPARTY}


def test_proposed_category_carries_its_most_used_counterparty():
    counts = [(build_use(1, 7), 2), (build_use(2), 4), (build_use(1, 8), 3), (build_use(1, 9), 3)]
    best, second = rank_proposals(TEXT, counts)
    assert best == CategoryProposal(
        build_use(1, 8), TEXT, seen=12, agreed=8
    )  # of 8 and 9, used as often, the one named first
    assert second == CategoryProposal(build_use(2), TEXT, seen=12, agreed=4)


def test_same_category_on_other_line_is_a_separate_proposal():
    assert [
        each.agreed for each in rank_proposals(TEXT, [(build_use(1, line="ga"), 2), (build_use(1, line="cogs"), 1)])
    ] == [2, 1]


@pytest.mark.parametrize(
    ("kind", "seen", "agreed", "confidence", "certain"),
    [
        (COUNTERPARTY, 9, 9, "0.90", True),
        (COUNTERPARTY, 5, 5, "0.83", True),
        (COUNTERPARTY, 4, 4, "0.80", False),  # too few were seen
        (COUNTERPARTY, 20, 19, "0.90", True),
        (COUNTERPARTY, 20, 18, "0.86", False),  # less than nineteen in twenty agree
        (TEXT, 9, 9, "0.75", False),  # who it is was not known
        (ACCOUNT, 9, 9, "0.50", False),  # most of an account says little of one
        (ACCOUNT, 9, 3, "0.20", False),
        (COUNTERPARTY, 400, 1, "0.01", False),  # never nothing
        (TEXT, 5, 1, "0.13", False),  # half up from 0.125
    ],
)
def test_few_uses_lower_confidence_and_only_counterparty_can_be_certain(kind, seen, agreed, confidence, certain):
    proposal = CategoryProposal(RENT, kind, seen, agreed)
    assert (proposal.confidence, proposal.is_certain) == (Decimal(confidence), certain)


# ---------------------------------------------------------------------------------------------- by text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Invoice 4711, hosting March", {"invoice", "hosting", "march"}),
        ("rent,April", {"rent", "april"}),  # a comma parts words
        ("RE4711 no. 5", set()),  # numbers differ from one to the next, and so do words with them
        ("Café CAFE", {"cafe"}),
        ("", set()),
    ],
)
def test_text_words_exclude_numbers_case_and_accents(text, words):
    assert extract_text_words(text) == words


WORDS = st.frozensets(st.sampled_from("abcd"))


@given(WORDS, WORDS)
def test_word_overlap_is_share_of_common_words(one, other):
    both = sum(each in one and each in other for each in "abcd")
    either = sum(each in one or each in other for each in "abcd")
    assert compute_word_overlap(one, other) == (both / either if either else 0)


@given(WORDS, st.lists(st.tuples(WORDS, st.sampled_from([RENT, FOOD])), max_size=8))
def test_only_nearest_texts_count_including_ties(words, others):
    counted = dict(count_nearest_categorizations(words, others))
    best = max((compute_word_overlap(words, theirs) for theirs, _ in others), default=0)
    assert counted == Counter(each for theirs, each in others if compute_word_overlap(words, theirs) == best)


def test_text_proposes_categories_of_nearest_texts():
    others = [
        (extract_text_words("Hosting March"), FEES),
        (extract_text_words("Hosting April"), FEES),
        (extract_text_words("Hosting May"), FOOD),
        (extract_text_words("Fuel"), FUEL),
    ]
    assert propose_by_text("hosting June", others) == [
        CategoryProposal(FEES, TEXT, seen=3, agreed=2),
        CategoryProposal(FOOD, TEXT, seen=3, agreed=1),
    ]
    assert propose_by_text("hosting", []) == []


def test_rare_word_of_name_outweighs_common_one():
    uses = {
        "services": [("north services", FOOD, 20), ("south services", FOOD, 20), ("east services", FEES, 1)],
        "rail": [("north rail", FUEL, 1)],
    }
    assert propose_by_name_words(uses)[0].categorization == FUEL
    assert [
        (each.categorization, each.seen, each.agreed) for each in propose_by_name_words({"services": uses["services"]})
    ] == [
        (FOOD, 41, 40),
        (FEES, 41, 1),
    ]
