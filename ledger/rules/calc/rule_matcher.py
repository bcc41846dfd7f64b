"""Which rule matches a transaction.

Texts are compared without case, accents and repeated spaces. Each is folded once, whatever the number of
rules, and every comparison looks for a plain text in a plain text: no text of a user is a pattern, and time
is linear in it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from ledger.calc.text_normalization import strip_accents

R = TypeVar("R")
STROKE_LETTERS = str.maketrans("øØłŁđĐħĦŧŦı", "oOlLdDhHtTi")  # accents that Unicode does not take apart
TOKEN_PATTERN = re.compile(r"\w+|\W")
ZERO = Decimal(0)  # a number of another kind is slow to compare with
WORD_EDGE = "\x1f"  # stands between words and signs; folding takes it out of texts


def fold_text(text: str) -> str:
    """Return the text without case, accents and repeated spaces; folding it again changes nothing.

    >>> fold_text("  CAFÉ   Łódź ")
    'cafe lodz'
    """
    folded = text.lower() if text.isascii() else remove_accents(remove_accents(text).casefold())
    return " ".join(folded.replace(WORD_EDGE, " ").split())


def remove_accents(text: str) -> str:
    """Return the text without accents, including letters that Unicode does not decompose."""
    return strip_accents(text.translate(STROKE_LETTERS))


def mark_word_edges(text: str) -> str:
    """Return a folded text with a mark at every word edge, so that whole words can be found as plain texts.

    >>> mark_word_edges("rent 5").replace(WORD_EDGE, "|")
    '|rent| |5|'
    """
    return WORD_EDGE + WORD_EDGE.join(TOKEN_PATTERN.findall(text)) + WORD_EDGE


class MatchInput(NamedTuple):
    """What rules look at in a transaction."""

    from_to: str
    description: str
    amount: Decimal
    currency: str
    account_id: object
    counterparty_ids: frozenset[object] = frozenset()  # of its parts


@dataclass(frozen=True, slots=True)
class TextCondition:
    """How a text must compare."""

    operator: str  # contains, equals, startsWith, wholeWord
    value: str


@dataclass(frozen=True, slots=True)
class RuleConditions:
    """All conditions that must hold; None is no condition."""

    from_to: TextCondition | None = None
    description: TextCondition | None = None
    text: TextCondition | None = None  # either of the two
    account_ids: frozenset[object] | None = None
    direction: str | None = None  # in, out
    min_amount: Decimal | None = None  # without sign, in the movement's currency
    max_amount: Decimal | None = None
    currency: str | None = None
    counterparty_id: object = None
    counterparty_name: str = ""  # holds for movements from or to somebody of this name too


class FoldedText:
    """A text of a transaction; its word edges are marked when they are first needed."""

    __slots__ = ("_edged", "folded")

    def __init__(self, text: str):
        self.folded = fold_text(text)
        self._edged: str | None = None

    @property
    def with_word_edges(self) -> str:
        if self._edged is None:
            self._edged = mark_word_edges(self.folded)
        return self._edged


ConditionTest = Callable[[MatchInput, FoldedText, FoldedText], bool]


def build_text_test(condition: TextCondition) -> Callable[[FoldedText], bool]:
    """Return a function that tests a text by the condition."""
    folded_value = fold_text(condition.value)
    match condition.operator:
        case "contains":
            return lambda text: folded_value in text.folded
        case "equals":
            return lambda text: folded_value == text.folded
        case "startsWith":
            return lambda text: text.folded.startswith(folded_value)
        case "wholeWord":
            word = mark_word_edges(folded_value)
            return lambda text: word in text.with_word_edges
    raise ValueError(condition.operator)


def build_condition_tests(conditions: RuleConditions) -> list[ConditionTest]:
    """Return the tests of the conditions, the fastest first."""
    return [*build_fact_tests(conditions), *build_text_tests(conditions)]


def build_fact_tests(conditions: RuleConditions) -> Iterable[ConditionTest]:
    """Yield one test of all conditions that are no texts, since a call costs more than the comparisons."""
    accounts, currency, direction = conditions.account_ids, conditions.currency, conditions.direction
    min_amount, max_amount, is_incoming = conditions.min_amount, conditions.max_amount, direction == "in"

    def matches_facts(movement: MatchInput, _: FoldedText, __: FoldedText) -> bool:
        amount = movement.amount
        return (
            (accounts is None or movement.account_id in accounts)
            and (currency is None or movement.currency == currency)
            and (direction is None or (amount > ZERO if is_incoming else amount < ZERO))
            and (min_amount is None or abs(amount) >= min_amount)
            and (max_amount is None or abs(amount) <= max_amount)
        )

    if any(condition is not None for condition in (accounts, currency, direction, min_amount, max_amount)):
        yield matches_facts


def build_text_tests(conditions: RuleConditions) -> Iterable[ConditionTest]:
    """Yield a test for each condition on texts and on the counterparty."""
    if conditions.counterparty_id is not None:
        counterparty_id, counterparty_name = conditions.counterparty_id, fold_text(conditions.counterparty_name)
        yield (
            lambda movement, from_to, _: (
                counterparty_id in movement.counterparty_ids or (counterparty_name == from_to.folded != "")
            )
        )
    if conditions.from_to is not None:
        test_from_to = build_text_test(conditions.from_to)
        yield lambda _, from_to, __: test_from_to(from_to)
    if conditions.description is not None:
        test_description = build_text_test(conditions.description)
        yield lambda _, __, description: test_description(description)
    if conditions.text is not None:
        test_text = build_text_test(conditions.text)
        yield lambda _, from_to, description: test_text(from_to) or test_text(description)


def list_required_texts(conditions: RuleConditions) -> list[str]:
    """Return the folded texts that a transaction must contain, whatever the operator."""
    text_conditions = (conditions.from_to, conditions.description, conditions.text)
    return [fold_text(condition.value) for condition in text_conditions if condition is not None]


class RuleMatcher(Generic[R]):
    """Rules in order, prepared to match many transactions."""

    def __init__(self, rules: Iterable[tuple[R, RuleConditions]]):
        rows = [
            (rule, list_required_texts(conditions), build_condition_tests(conditions)) for rule, conditions in rules
        ]
        shared = Counter(text for _, texts, _ in rows for text in texts)
        # Most rules fail by one plain text search: for the text that fewest rules share, of these the longest.
        self.rules = [
            (rule, min(texts, key=lambda text: (shared[text], -len(text)), default=""), tests)
            for rule, texts, tests in rows
        ]

    def find_first(self, match_input: MatchInput) -> R | None:
        """Return the first rule all of whose conditions hold."""
        from_to, description = FoldedText(match_input.from_to), FoldedText(match_input.description)
        all_text = from_to.folded + WORD_EDGE + description.folded
        for rule, required_text, tests in self.rules:
            if required_text not in all_text:
                continue
            for test in tests:
                if not test(match_input, from_to, description):
                    break
            else:
                return rule
        return None
