"""From what was seen to what to propose: pure counting.

A basis is what similar movements were for: those of the same counterparty, those whose text begins alike, those on the
same account. Of each choice is known how many were seen and how many of them agree.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.matching import fold

COUNTERPARTY, TEXT, ACCOUNT = "counterparty", "text", "account"
KINDS = (COUNTERPARTY, TEXT, ACCOUNT)  # the best first
MOST_PROPOSALS = 3
CERTAIN_SEEN, CERTAIN_SHARE = 5, Decimal("0.95")  # decisions of the API: what is called certain
# How many uses of a name, of a text's first word and on an account are looked at; of the account so many movements.
LATEST = {"latest": 20, "alike": 40, "on_account": 40, "looked_at": 500}
DOUBT = {COUNTERPARTY: 1, TEXT: 3, ACCOUNT: 6}  # as many more seen, of which none agrees


class Use(NamedTuple):
    """What a movement was for."""

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    counterparty_type: str | None


class Proposal(NamedTuple):
    use: Use
    kind: str
    seen: int
    agreed: int

    @property
    def confidence(self) -> Decimal:
        """Between 0 and 1: the share that agrees, less where little was seen.

        >>> Proposal(Use(UUID(int=1), "ga", None, None), COUNTERPARTY, seen=9, agreed=9).confidence
        Decimal('0.90')
        """
        share = Decimal(self.agreed) / (self.seen + DOUBT[self.kind])
        return share.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)

    @property
    def certain(self) -> bool:
        return self.kind == COUNTERPARTY and self.seen >= CERTAIN_SEEN and self.agreed >= CERTAIN_SHARE * self.seen


def proposals(kind: str, counts: Iterable[tuple[Use, int]]) -> list[Proposal]:
    """The best choices of one basis, from how often each was seen; of equals the one that is named first.

    A category counts as a whole: its most usual counterparty is proposed with it.
    """
    seen = 0
    choices: dict[tuple[UUID, str], tuple[int, int, Use]] = {}  # → (seen of it, seen of its most usual use, that use)
    for use, count in counts:
        seen += count
        choice = (use.category_id, use.pl_type)
        agreed, most, usual = choices.get(choice, (0, 0, use))
        choices[choice] = (agreed + count, count, use) if count > most else (agreed + count, most, usual)
    found = [Proposal(usual, kind, seen, agreed) for agreed, _, usual in choices.values()]
    return sorted(found, key=lambda each: -each.agreed)[:MOST_PROPOSALS]


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


def nearness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common."""
    return len(one & other) / len(one | other) if one or other else 0.0


def words_of(text: str) -> frozenset[str]:
    """The words of a text; numbers, which differ from one to the next, are none.

    >>> sorted(words_of("Invoice 4711, hosting March"))
    ['hosting', 'invoice', 'march']
    """
    return frozenset(word for word in fold(text).replace(",", " ").split() if word.isalpha())
