"""From earlier categorizations to suggestions: pure counting.

A basis is which earlier movements are counted: those of the same counterparty, those whose text begins alike or whose
name shares a word, those on the same account. A movement whose other party is the company itself has the basis ``own``
and is always a transfer.

Where the latest uses of a counterparty disagree, each votes with a weight: the more a use is like the movement
(account, amount, text) and the more recent it is, the more it weighs. A few that are alike in everything outweigh many
that share the name only, which is back-off over all combinations without a table for each.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.matching import fold
from ledger.rules.calc.parties import LEGAL_FORMS

COUNTERPARTY, TEXT, ACCOUNT, OWN = "counterparty", "text", "account", "own"
KINDS = (COUNTERPARTY, TEXT, ACCOUNT, OWN)
MOST_PROPOSALS = 3
CERTAIN_SEEN, CERTAIN_SHARE = 5, Decimal("0.95")  # decisions of the API: what is called certain
# How many uses of a name are counted and compared, of a text's first word and on an account are looked at; of the
# account so many movements; a word of names that is in more of the kept rows is too common.
LATEST = {"latest": 20, "compared": 40, "alike": 40, "on_account": 40, "looked_at": 500, "rows_of_word": 100}
DOUBT = {COUNTERPARTY: 1, TEXT: 3, ACCOUNT: 6}  # as many more seen, of which none agrees
MAX_ACCOUNT_CONFIDENCE = Decimal("0.5")  # what an account is mostly used for says little of one movement
OWN_CONFIDENCE = Decimal("0.95")
LIKELY_CONFIDENCE = Decimal("0.5")  # from which a suggestion may be the first thing to press
# How many times more a use weighs that has this in common with the movement. Chosen on public spending data (see
# docs/importing.md); halving or doubling any of them changes the share of right suggestions by less than 0.3 points.
SAME_ACCOUNT, SAME_AMOUNT, SAME_TEXT = 50.0, 50.0, 20.0
SAME_AMOUNT_CLASS, NEAR_AMOUNT_CLASS = 12.0, 3.5
FADING = 0.98  # of a use's weight for each more recent one
CENT = Decimal("0.01")


class Use(NamedTuple):
    """What a movement was for."""

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    counterparty_type: str | None


Choice = tuple[UUID, str]  # (category, line)


class Traits(NamedTuple):
    """What movements of one counterparty are compared by."""

    account_id: UUID
    amount: Decimal  # in the account's currency, signed
    words: frozenset[str]  # of its description


class Proposal(NamedTuple):
    """A suggestion. ``seen`` and ``agreed`` count the uses of its basis; ``share`` is the part of their weight, where
    they were weighed."""

    use: Use
    kind: str
    seen: int
    agreed: int
    share: Decimal | None = None

    @property
    def confidence(self) -> Decimal:
        """Between 0 and 1: the share that agrees, less where little was seen; at most 0.5 by account alone.

        >>> Proposal(Use(UUID(int=1), "ga", None, None), COUNTERPARTY, seen=9, agreed=9).confidence
        Decimal('0.90')
        """
        if self.kind == OWN:
            return OWN_CONFIDENCE
        share = self.share
        if share is None:
            share = Decimal(self.agreed) / (self.seen + DOUBT[self.kind])
        confidence = max(share.quantize(CENT, rounding=ROUND_HALF_UP), CENT)
        return min(confidence, MAX_ACCOUNT_CONFIDENCE) if self.kind == ACCOUNT else confidence

    @property
    def likely(self) -> bool:
        """Whether pages may offer it as the primary button and by a key; never by account alone."""
        return self.kind != ACCOUNT and self.confidence >= LIKELY_CONFIDENCE

    @property
    def certain(self) -> bool:
        return self.kind == COUNTERPARTY and self.seen >= CERTAIN_SEEN and self.agreed >= CERTAIN_SHARE * self.seen


def propose_transfer(category_id: UUID) -> Proposal:
    """The suggestion for a movement whose other party is the company itself; the movement alone says so."""
    return Proposal(Use(category_id, "neutral", None, None), OWN, seen=1, agreed=1)


def proposals(
    kind: str, counts: Iterable[tuple[Use, int]], weights: Mapping[Choice, float] | None = None
) -> list[Proposal]:
    """Return the best choices of one basis, from how often each was seen.

    The heaviest comes first where uses were weighed, else the most frequent; of equals the one that is named first. A
    category counts as a whole: its most usual counterparty is proposed with it.
    """
    seen = 0
    choices: dict[Choice, tuple[int, int, Use]] = {}  # → (seen of it, seen of its most usual use, that use)
    for use, count in counts:
        seen += count
        choice = (use.category_id, use.pl_type)
        agreed, most, usual = choices.get(choice, (0, 0, use))
        choices[choice] = (agreed + count, count, use) if count > most else (agreed + count, most, usual)
    total = sum(weights.values()) + DOUBT[kind] if weights else 0.0
    found = []
    for choice, (agreed, _, usual) in choices.items():
        weight = weights.get(choice, 0.0) if weights else 0.0
        found.append((-weight, Proposal(usual, kind, seen, agreed, Decimal(weight / total) if weights else None)))
    found.sort(key=lambda each: (each[0], -each[1].agreed))
    return [proposal for _, proposal in found[:MOST_PROPOSALS]]


def weigh(movement: Traits, uses: Sequence[tuple[Choice, Traits]]) -> dict[Choice, float]:
    """Return the weight of each choice among the uses of a counterparty, the latest first.

    The use that is most like the movement weighs about 1, the others in proportion.

    >>> rent, food = ((UUID(int=n), "ga") for n in (1, 2))
    >>> account, words = UUID(int=9), frozenset()
    >>> uses = [(food, Traits(account, Decimal(-7), words))] * 3 + [(rent, Traits(account, Decimal(-900), words))]
    >>> weights = weigh(Traits(account, Decimal(-900), words), uses)
    >>> weights[rent] > weights[food]
    True
    """
    amount_class = find_amount_class(movement.amount)
    weights: dict[Choice, float] = {}
    heaviest, fading = 0.0, 1.0
    for choice, traits in uses:
        weight = fading * compare(movement, amount_class, traits)
        heaviest = max(heaviest, weight)
        weights[choice] = weights.get(choice, 0.0) + weight
        fading *= FADING
    return {choice: weight / heaviest for choice, weight in weights.items()}


def compare(movement: Traits, amount_class: tuple[bool, int], other: Traits) -> float:
    """Return how many times more another movement weighs than one that has nothing in common with this one."""
    likeness = SAME_ACCOUNT if movement.account_id == other.account_id else 1.0
    inward, size = find_amount_class(other.amount)
    if inward == amount_class[0]:
        if movement.amount == other.amount:
            likeness *= SAME_AMOUNT * SAME_AMOUNT_CLASS
        elif size == amount_class[1]:
            likeness *= SAME_AMOUNT_CLASS
        elif abs(size - amount_class[1]) == 1:
            likeness *= NEAR_AMOUNT_CLASS
    return likeness * float(SAME_TEXT ** nearness(movement.words, other.words))


def find_amount_class(amount: Decimal) -> tuple[bool, int]:
    """Return the direction and the size of an amount: a class is 41 % wider than the one below.

    >>> find_amount_class(Decimal("-99")), find_amount_class(Decimal("-105")), find_amount_class(Decimal("200"))
    ((False, 13), (False, 13), (True, 15))
    """
    return amount > 0, int(2 * math.log2(abs(float(amount)) + 1))


def by_text(text: str, others: Iterable[tuple[frozenset[str], Use]]) -> list[Proposal]:
    """What the movements were for whose words are most like those of a text."""
    return proposals(TEXT, alike(words_of(text), others))


def alike(words: frozenset[str], others: Iterable[tuple[frozenset[str], Use]]) -> list[tuple[Use, int]]:
    """How often each choice is among those whose words are most alike: the nearest, and whoever is as near.

    >>> rent, food = (Use(UUID(int=n), "ga", None, None) for n in (1, 2))
    >>> rows = [(frozenset("ab"), rent), (frozenset("ab"), rent), (frozenset("a"), food)]
    >>> [(use.category_id.int, count) for use, count in alike(frozenset("abc"), rows)]
    [(1, 2)]
    """
    shares = [(nearness(words, theirs), use) for theirs, use in others]
    nearest = max((share for share, _ in shares), default=0.0)
    counts: dict[Use, int] = {}
    for share, use in shares:
        if share >= nearest:
            counts[use] = counts.get(use, 0) + 1
    return list(counts.items())


def name_words(name: str) -> frozenset[str]:
    """Return the words of a lower-case name that others may share: letters only, no legal forms.

    >>> sorted(name_words("acme care 24 ltd"))
    ['acme', 'care']
    """
    return frozenset(word for word in name.split() if len(word) > 1 and word.isalpha() and word not in LEGAL_FORMS)


def by_name_words(uses: Mapping[str, Sequence[tuple[str, Use, int]]]) -> list[Proposal]:
    """Return what movements of other names were for that share a word with a name.

    Each word has one vote, divided among the names that have it and then among what each was for: a rare word says
    more than a common one.

    Args:
        uses: by word (name, use, how often).
    """
    weights: dict[Choice, float] = {}
    counts: dict[str, dict[Use, int]] = {}
    for rows in uses.values():
        of_word: dict[str, dict[Use, int]] = {}
        for name, use, count in rows:
            of_word.setdefault(name, {})[use] = count
        for of_name in of_word.values():
            share = 1 / len(of_word) / sum(of_name.values())
            for use, count in of_name.items():
                choice = (use.category_id, use.pl_type)
                weights[choice] = weights.get(choice, 0.0) + share * count
        counts |= of_word
    flat = [(use, count) for of_name in counts.values() for use, count in of_name.items()]
    return proposals(TEXT, flat, weights)


def nearness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common."""
    return len(one & other) / len(one | other) if one or other else 0.0


def words_of(text: str) -> frozenset[str]:
    """The words of a text; numbers, which differ from one to the next, are none.

    >>> sorted(words_of("Invoice 4711, hosting March"))
    ['hosting', 'invoice', 'march']
    """
    return frozenset(word for word in fold(text).replace(",", " ").split() if word.isalpha())
