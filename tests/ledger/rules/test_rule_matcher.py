"""Matching by rules against a naive reading of the same words."""

import re
import sys
import time
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.rules.calc.rule_matcher import (
    MatchInput,
    RuleConditions,
    RuleMatcher,
    TextCondition,
    fold_text,
    mark_word_edges,
)

OPERATORS = ["contains", "equals", "startsWith", "wholeWord"]
letters = st.text(st.sampled_from("aAáÄßñ bB1-_.\t\u00a0İłŁ"), max_size=12)
anything = st.text(max_size=30)


def fold_naively(text):
    """Letter by letter."""
    strokes = dict(zip("øØłŁđĐħĦŧŦı", "oOlLdDhHtTi", strict=True))
    for _ in range(3):  # until nothing changes any more
        result = ""
        for char in text:
            for part in unicodedata.normalize("NFKD", strokes.get(char, char)):
                result += "" if unicodedata.combining(part) else part
        text = result.casefold()
    return re.sub(r"[\s\x1c-\x1f]+", " ", text).strip()


def matches_naively(operator, value, text):
    value, text = fold_naively(value), fold_naively(text)
    match operator:
        case "contains":
            return any(text[at : at + len(value)] == value for at in range(len(text) + 1))
        case "equals":
            return text == value
        case "startsWith":
            return text[: len(value)] == value
    return any(
        text[at : at + len(value)] == value and is_edge(text, at) and is_edge(text, at + len(value))
        for at in range(len(text) + 1)
    )


def is_edge(text, at):
    """No word goes on here."""
    inside = 0 < at < len(text)
    return not (inside and re.match(r"\w", text[at - 1]) and re.match(r"\w", text[at]))


def build_movement(from_to="", description="", amount="-10", currency="EUR", account=1, people=()):
    return MatchInput(from_to, description, Decimal(amount), currency, account, frozenset(people))


def matches_conditions(conditions, of):
    return RuleMatcher([("rule", conditions)]).find_first(of) == "rule"


@given(anything)
def test_text_folding_is_idempotent(text):
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.one_of(letters, anything))
@example("\N{CHEROKEE SMALL LETTER A}")  # whose folded form is the capital
def test_text_folding_equals_naive_implementation(text):
    assert fold_text(text) == fold_naively(text)


@given(st.sampled_from(OPERATORS), letters.filter(fold_text), letters, letters)
def test_text_conditions_equal_naive_implementation(operator, value, from_to, description):
    condition, of = TextCondition(operator, value), build_movement(from_to, description)
    in_name, in_text = matches_naively(operator, value, from_to), matches_naively(operator, value, description)
    assert matches_conditions(RuleConditions(from_to=condition), of) == in_name
    assert matches_conditions(RuleConditions(description=condition), of) == in_text
    assert matches_conditions(RuleConditions(text=condition), of) == (in_name or in_text)


amounts = st.decimals(min_value=-50, max_value=50, places=2)
bounds = st.one_of(st.none(), st.decimals(min_value=0, max_value=50, places=2))


@given(amounts, bounds, bounds, st.sampled_from([None, "in", "out"]), st.sampled_from([None, "EUR", "USD"]))
def test_other_conditions_equal_naive_implementation(amount, least, most, direction, currency):
    queries = RuleConditions(min_amount=least, max_amount=most, direction=direction, currency=currency)
    expected = (
        (least is None or abs(amount) >= least)
        and (most is None or abs(amount) <= most)
        and (direction is None or ((amount > 0) == (direction == "in") and amount != 0))
        and currency in (None, "EUR")
    )
    assert matches_conditions(queries, build_movement(amount=str(amount))) == expected


def test_first_matching_rule_wins():
    rules = [(name, RuleConditions(text=TextCondition("contains", name))) for name in ("beta", "alpha", "alp")]
    assert RuleMatcher(rules).find_first(build_movement("Alpha", "beta")) == "beta"
    assert RuleMatcher(rules).find_first(build_movement("Alpha")) == "alpha"
    assert RuleMatcher(rules).find_first(build_movement("Gamma")) is None


def test_rule_with_failed_condition_falls_through_to_next_rule():
    rules = [
        ("in", RuleConditions(text=TextCondition("contains", "rent"), direction="in")),
        ("any", RuleConditions(currency="EUR")),
    ]
    assert RuleMatcher(rules).find_first(build_movement("Rent")) == "any"


def test_all_conditions_of_a_rule_must_hold():
    facts = {
        "account_ids": frozenset([1, 2]), "currency": "EUR", "direction": "out",
        "min_amount": Decimal(5), "max_amount": Decimal(10),
    }  # fmt: skip
    assert matches_conditions(RuleConditions(**facts), build_movement())
    for other in ({"account": 3}, {"currency": "USD"}, {"amount": "7"}, {"amount": "-4.99"}, {"amount": "-10.01"}):
        assert not matches_conditions(RuleConditions(**facts), build_movement(**other)), other


def test_zero_amount_has_no_direction():
    assert not matches_conditions(RuleConditions(direction="out"), build_movement(amount="0"))
    assert not matches_conditions(RuleConditions(direction="in"), build_movement(amount="0"))


def test_unknown_operator_is_rejected():
    with pytest.raises(ValueError, match="matches"):
        RuleMatcher([("rule", RuleConditions(text=TextCondition("matches", "x")))])


def test_counterparty_condition_matches_by_id_or_name():
    queries = RuleConditions(counterparty_id=7, counterparty_name="Café Nimbus")
    assert matches_conditions(queries, build_movement(people=[7]))
    assert matches_conditions(queries, build_movement("CAFE  NIMBUS"))
    assert not matches_conditions(queries, build_movement("Cafe Nimbus GmbH"))
    assert not matches_conditions(RuleConditions(counterparty_id=7, counterparty_name=" "), build_movement(""))


def test_whole_word_condition_may_contain_punctuation():
    assert mark_word_edges("a-b 1").split("\x1f") == ["", "a", "-", "b", " ", "1", ""]
    queries = RuleConditions(text=TextCondition("wholeWord", "no. 7"))
    assert matches_conditions(queries, build_movement("Invoice No. 7/2026"))
    assert not matches_conditions(queries, build_movement("Invoice No. 77"))


def test_repetitive_text_is_matched_quickly():
    """Ten thousand letters that nearly match, at each of their places: a search that starts anew takes their square."""
    text, value = "a" * 10_000, "a" * 199 + "b"
    matcher = RuleMatcher([(operator, RuleConditions(text=TextCondition(operator, value))) for operator in OPERATORS])
    began = time.process_time()
    assert matcher.find_first(build_movement(text, f"{text} {text}")) is None
    assert time.process_time() - began < 0.5


def count_calls(act):
    """How many functions of Python's own an act calls."""
    calls = 0

    def counted(_frame, event, _arg):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls


def test_rules_with_unmatched_texts_cost_no_extra_calls():
    """A preview asks them of 100,000 transactions."""
    facts = {"direction": "out", "currency": "EUR", "account_ids": frozenset([1]), "max_amount": Decimal(50)}
    calls = []
    for number in (2, 500):
        queries = [
            RuleConditions(
                from_to=TextCondition("contains", "Initech"), text=TextCondition(OPERATORS[n % 4], f"No {n}"), **facts
            )
            for n in range(number)
        ]
        matcher = RuleMatcher(enumerate(queries))
        calls.append(count_calls(lambda matcher=matcher: matcher.find_first(build_movement("Initech", "Invoice 1042"))))
    assert calls[0] == calls[1]


def test_other_conditions_are_checked_in_one_call_per_rule():
    facts = {"direction": "out", "currency": "EUR", "account_ids": frozenset([1]), "min_amount": Decimal(1)}
    matcher = RuleMatcher([(n, RuleConditions(max_amount=Decimal(5), **facts)) for n in range(500)])
    assert count_calls(lambda: matcher.find_first(build_movement())) < 600
