"""Which rule a movement is for.

Texts are compared without case, accents and runs of spaces. Each is folded once, whatever the number of rules, and
every comparison looks for a plain text in a plain text: no caller's text is a pattern, and time is linear in it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from ledger.calc.letters import bare

R = TypeVar("R")
STROKES = str.maketrans("øØłŁđĐħĦŧŦı", "oOlLdDhHtTi")  # accents that Unicode does not take apart
TOKENS = re.compile(r"\w+|\W")
ZERO = Decimal(0)  # a number of another kind is slow to compare with
EDGE = "\x1f"  # stands between words and signs; folding takes it out of texts


def fold(text: str) -> str:
    """The text without case, accents and runs of spaces; folding it again changes nothing.

    >>> fold("  CAFÉ   Łódź\\n")
    'cafe lodz'
    """
    if not text.isascii():
        text = plain(plain(text).casefold())
    return " ".join(text.lower().replace(EDGE, " ").split())


def plain(text: str) -> str:
    """The text without accents, those included that Unicode does not take apart."""
    return bare(text.translate(STROKES))


def edged(folded: str) -> str:
    """A folded text with a mark at every edge of its words, so that whole words can be looked for as plain texts.

    >>> edged("rent 5").replace(EDGE, "|")
    '|rent| |5|'
    """
    return EDGE + EDGE.join(TOKENS.findall(folded)) + EDGE


class Movement(NamedTuple):
    """What rules look at."""

    from_to: str
    description: str
    amount: Decimal
    currency: str
    account_id: object
    counterparty_ids: frozenset[object] = frozenset()  # of its parts


@dataclass(frozen=True, slots=True)
class Condition:
    """How a text has to compare."""

    operator: str  # contains, equals, startsWith, wholeWord
    value: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """All that must hold; None asks nothing."""

    from_to: Condition | None = None
    description: Condition | None = None
    text: Condition | None = None  # either of the two
    account_ids: frozenset[object] | None = None
    direction: str | None = None  # in, out
    min_amount: Decimal | None = None  # without sign, in the movement's currency
    max_amount: Decimal | None = None
    currency: str | None = None
    counterparty_id: object = None
    counterparty_name: str = ""  # holds for movements from or to somebody of this name too


class Text:
    """A movement's text, folded when somebody first asks for it."""

    __slots__ = ("_edged", "folded")

    def __init__(self, text: str):
        self.folded = fold(text)
        self._edged: str | None = None

    @property
    def edged(self) -> str:
        if self._edged is None:
            self._edged = edged(self.folded)
        return self._edged


Test = Callable[[Movement, Text, Text], bool]


def text_test(condition: Condition) -> Callable[[Text], bool]:
    """Whether a text compares as the condition says."""
    wanted = fold(condition.value)
    match condition.operator:
        case "contains":
            return lambda text: wanted in text.folded
        case "equals":
            return lambda text: wanted == text.folded
        case "startsWith":
            return lambda text: text.folded.startswith(wanted)
        case "wholeWord":
            word = edged(wanted)
            return lambda text: word in text.edged
    raise ValueError(condition.operator)


def tests_of(conditions: Conditions) -> list[Test]:
    """The conditions that ask something, the quickest first."""
    return [*fact_tests(conditions), *text_tests(conditions)]


def fact_tests(conditions: Conditions) -> Iterable[Test]:
    """All facts in one test, for a call costs more than what it compares."""
    accounts, currency, direction = conditions.account_ids, conditions.currency, conditions.direction
    least, most, inward = conditions.min_amount, conditions.max_amount, direction == "in"

    def holds(movement: Movement, _: Text, __: Text) -> bool:
        amount = movement.amount
        return (
            (accounts is None or movement.account_id in accounts)
            and (currency is None or movement.currency == currency)
            and (direction is None or (amount > ZERO if inward else amount < ZERO))
            and (least is None or abs(amount) >= least)
            and (most is None or abs(amount) <= most)
        )

    if any(each is not None for each in (accounts, currency, direction, least, most)):
        yield holds


def text_tests(conditions: Conditions) -> Iterable[Test]:
    if conditions.counterparty_id is not None:
        known, name = conditions.counterparty_id, fold(conditions.counterparty_name)
        yield lambda movement, from_to, _: known in movement.counterparty_ids or (name == from_to.folded != "")
    if conditions.from_to is not None:
        of_name = text_test(conditions.from_to)
        yield lambda _, from_to, __: of_name(from_to)
    if conditions.description is not None:
        of_description = text_test(conditions.description)
        yield lambda _, __, description: of_description(description)
    if conditions.text is not None:
        of_either = text_test(conditions.text)
        yield lambda _, from_to, description: of_either(from_to) or of_either(description)


def needles(conditions: Conditions) -> list[str]:
    """The texts that a movement has to have, however they are compared."""
    asked = (conditions.from_to, conditions.description, conditions.text)
    return [fold(each.value) for each in asked if each is not None]


class Matcher(Generic[R]):
    """Rules in their order, made ready for many movements."""

    def __init__(self, rules: Iterable[tuple[R, Conditions]]):
        rows = [(rule, needles(conditions), tests_of(conditions)) for rule, conditions in rules]
        shared = Counter(text for _, texts, _ in rows for text in texts)
        # Most rules fail by one plain look for a text: the one that the fewest of them have, of these the longest.
        self.rules = [
            (rule, min(texts, key=lambda text: (shared[text], -len(text)), default=""), tests)
            for rule, texts, tests in rows
        ]

    def first(self, movement: Movement) -> R | None:
        """The first rule all of whose conditions hold."""
        from_to, description = Text(movement.from_to), Text(movement.description)
        said = from_to.folded + EDGE + description.folded
        for rule, wanted, tests in self.rules:
            if wanted not in said:
                continue
            for test in tests:
                if not test(movement, from_to, description):
                    break
            else:
                return rule
        return None
