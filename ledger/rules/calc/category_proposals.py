"""Category proposals, counted from earlier categorizations.

A basis is which earlier transactions are counted: those of the same counterparty, those with a similar text
or name, those on the same account. A transaction whose other party is the company itself has the basis
``own`` and is always proposed as a transfer. The basis ``paymentKind`` needs no earlier transactions.

Where the latest categorizations of a counterparty disagree, each votes with a weight: the more its
transaction is like this one (account, amount, text) and the more recent it is, the more it weighs. A few
that agree in everything outweigh many that share only the name, which is back-off over all combinations
without a table for each.

Money in says little of money out: a choice that was never made for an amount of the transaction's direction comes
last, and nothing applies it without being asked.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.rules.calc.booking_phrases import remove_booking_phrases
from ledger.rules.calc.parties import LEGAL_FORMS
from ledger.rules.calc.payment_kinds import (
    KIND_CONFIDENCE,
    TRANSFER_KINDS,
    VAGUE_KIND_CONFIDENCE,
    VAGUE_KINDS,
    PaymentKind,
    extract_kind_words,
)
from ledger.rules.calc.standard_tax import TaxSuggestion

COUNTERPARTY, TEXT, ACCOUNT, OWN, PAYMENT_KIND = "counterparty", "text", "account", "own", "paymentKind"
BASIS_KINDS = (COUNTERPARTY, TEXT, ACCOUNT, OWN, PAYMENT_KIND)
MAX_PROPOSALS = 3
MIN_CERTAIN_COUNT, MIN_CERTAIN_SHARE = 5, Decimal("0.95")  # decisions of the API: what is called certain
# How many of the latest transactions are used: counted and compared for a name, by the first word of a text,
# and on an account (of the transactions looked at). A word that occurs in more history rows than the last limit
# is too common.
HISTORY_LIMITS = {"latest": 20, "compared": 40, "alike": 40, "on_account": 40, "looked_at": 500, "rows_of_word": 100}
DOUBT_COUNTS = {COUNTERPARTY: 1, TEXT: 3, ACCOUNT: 6}  # as many more seen, of which none agrees
MAX_WEAK_CONFIDENCE = Decimal("0.5")  # of what is known of the account, or of the opposite direction, alone
MIN_ACCOUNT_COUNT = 3  # as few on an account are chance
OWN_CONFIDENCE = Decimal("0.95")
MIN_LIKELY_CONFIDENCE = Decimal("0.5")  # from which a suggestion may be the first thing to press
# How many times more an earlier transaction weighs that has this in common. Chosen on public spending data (see
# tests/bench/results.md); halving or doubling any of them changes the share of right suggestions by less than 0.3
# points.
SAME_ACCOUNT, SAME_AMOUNT, SAME_TEXT = 50.0, 50.0, 20.0
SAME_AMOUNT_CLASS, NEAR_AMOUNT_CLASS = 12.0, 3.5
WEIGHT_DECAY = 0.98  # of a use's weight for each more recent one
NEWEST_WEIGHT = 2.0  # times more that the newest decision of all weighs, which may correct the earlier ones
CENT = Decimal("0.01")
# Words that unrelated companies have in their names: legal forms, countries, sorts of companies, cities, fillers.
COMMON_NAME_WORDS = LEGAL_FORMS.keys() | frozenset(
    extract_kind_words(
        "deutsche deutscher deutsches deutschland german germany europe european europa euro eu international global "
        "national uk british england english united states america american ireland austria österreich schweiz swiss "
        "bank banking sparkasse volksbank group gruppe holding gesellschaft company corporation gmbh mbh co eg "
        "service services solutions systems partner partners payment payments operations trading online digital "
        "und and der die das the of for für am im an in zum zur bei von de la "
        "berlin hamburg münchen munich köln cologne frankfurt stuttgart düsseldorf leipzig dresden hannover nürnberg "
        "bremen essen dortmund bonn wien vienna zürich zurich london paris dublin amsterdam luxembourg"
    )
)


CategoryLine = tuple[UUID, str]  # (category, line)


class PastCategorization(NamedTuple):
    """What an earlier transaction was categorized as."""

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    counterparty_type: str | None

    @property
    def choice(self) -> CategoryLine:
        """The category and the line, which are proposed whatever the counterparty."""
        return self.category_id, self.pl_type


class TransactionTraits(NamedTuple):
    """What transactions of one counterparty are compared by."""

    account_id: UUID
    amount: Decimal  # in the account's currency, signed
    words: frozenset[str]  # of its description


class CategoryProposal(NamedTuple):
    """A proposed category. ``seen`` and ``agreed`` count earlier transactions of its basis; ``share`` is its part of
    their weight, where they were weighed. ``is_same_direction`` is false where none that agreed moved money in the
    direction of the transaction. ``has_other_names`` is true where transactions under other names were counted that
    have the counterparty of the name. ``is_other_purpose`` is true where the texts of those counted say that they were
    paid for something else. ``payment_kind`` is what suggests it without earlier transactions. ``tax`` is the
    tax that is suggested with it, if any.
    """

    categorization: PastCategorization
    kind: str
    seen: int
    agreed: int
    share: Decimal | None = None
    is_same_direction: bool = True
    has_other_names: bool = False
    is_other_purpose: bool = False
    payment_kind: PaymentKind | None = None
    tax: TaxSuggestion | None = None

    def without_counterparty(self) -> "CategoryProposal":
        return self._replace(categorization=PastCategorization(*self.categorization.choice, None, None))

    def with_other_names(self) -> "CategoryProposal":
        return self._replace(has_other_names=True)

    def for_other_purpose(self) -> "CategoryProposal":
        return self._replace(is_other_purpose=True)

    def with_tax(self, tax: TaxSuggestion | None) -> "CategoryProposal":
        return self._replace(tax=tax)

    @property
    def tax_percent(self) -> Decimal | None:
        """The suggested tax rate; None for no tax."""
        return self.tax.percent if self.tax else None

    @property
    def is_weak(self) -> bool:
        """Whether only the account suggests it, or only transactions of the opposite direction or another purpose."""
        return self.kind == ACCOUNT or not self.is_same_direction or self.is_other_purpose

    @property
    def confidence(self) -> Decimal:
        """Between 0 and 1: the share that agrees, less where little was seen; at most 0.5 if it is weak.

        >>> rent = PastCategorization(UUID(int=1), "ga", None, None)
        >>> CategoryProposal(rent, COUNTERPARTY, seen=9, agreed=9).confidence
        Decimal('0.90')
        """
        if self.kind == OWN:
            return OWN_CONFIDENCE
        share = self.share
        if share is None:
            share = Decimal(self.agreed) / (self.seen + DOUBT_COUNTS[self.kind])
        confidence = max(share.quantize(CENT, rounding=ROUND_HALF_UP), CENT)
        return min(confidence, MAX_WEAK_CONFIDENCE) if self.is_weak else confidence

    @property
    def is_likely(self) -> bool:
        """Whether pages may offer it as the primary button and by a key; never if it is weak."""
        return not self.is_weak and self.confidence >= MIN_LIKELY_CONFIDENCE

    @property
    def is_transfer(self) -> bool:
        """Whether the texts say that money moved between own accounts, so that another leg is expected."""
        return self.kind == OWN or self.payment_kind in TRANSFER_KINDS

    @property
    def is_certain(self) -> bool:
        return (
            self.kind == COUNTERPARTY
            and self.is_same_direction
            and self.seen >= MIN_CERTAIN_COUNT
            and self.agreed >= MIN_CERTAIN_SHARE * self.seen
        )


def build_transfer_proposal(category_id: UUID) -> CategoryProposal:
    """Return the proposal for a transaction whose other party is the company itself."""
    return CategoryProposal(PastCategorization(category_id, "neutral", None, None), OWN, seen=1, agreed=1)


def build_payment_kind_proposal(
    payment_kind: PaymentKind, choice: CategoryLine, proposals: Iterable[CategoryProposal]
) -> CategoryProposal:
    """Return the proposal of a category by kind of payment, with the counterparty that the history proposes with it."""
    same_choice = next((proposal for proposal in proposals if proposal.categorization.choice == choice), None)
    return CategoryProposal(
        same_choice.categorization if same_choice else PastCategorization(*choice, None, None),
        PAYMENT_KIND,
        seen=0,
        agreed=0,
        share=VAGUE_KIND_CONFIDENCE if payment_kind in VAGUE_KINDS else KIND_CONFIDENCE,
        payment_kind=payment_kind,
    )


def rank_proposals(
    kind: str,
    counts: Iterable[tuple[PastCategorization, int]],
    weights: Mapping[CategoryLine, float] | None = None,
    same_direction: Container[CategoryLine] | None = None,
) -> list[CategoryProposal]:
    """Return the best choices of one basis, from how often each was seen.

    Those of the transaction's direction come first, then the heaviest where they were weighed, else the most
    frequent; of equal ones the first. A category counts as a whole: its most frequent counterparty is proposed
    with it.

    Args:
        same_direction: choices that were made for the transaction's direction; None: all.
    """
    seen = 0
    choices: dict[
        CategoryLine, tuple[int, int, PastCategorization]
    ] = {}  # → (seen of it, seen of its most usual use, that use)
    for categorization, count in counts:
        seen += count
        choice = categorization.choice
        agreed, max_count, most_common = choices.get(choice, (0, 0, categorization))
        choices[choice] = (
            (agreed + count, count, categorization) if count > max_count else (agreed + count, max_count, most_common)
        )
    total = sum(weights.values()) + DOUBT_COUNTS[kind] if weights else 0.0
    weighted_proposals = []
    for choice, (agreed, _, most_common) in choices.items():
        weight = weights.get(choice, 0.0) if weights else 0.0
        share = Decimal(weight / total) if weights else None
        is_same_direction = same_direction is None or choice in same_direction
        weighted_proposals.append(
            (-weight, CategoryProposal(most_common, kind, seen, agreed, share, is_same_direction))
        )
    weighted_proposals.sort(key=lambda each: (not each[1].is_same_direction, each[0], -each[1].agreed))
    return [proposal for _, proposal in weighted_proposals[:MAX_PROPOSALS]]


def propose_by_account_use(
    counts: Sequence[tuple[PastCategorization, int]], *, is_incoming: bool
) -> list[CategoryProposal]:
    """Return proposals from what transactions of one direction on an account were categorized as.

    A choice needs at least three such transactions, and revenue is never proposed for money out: a refund says
    nothing about a payment to somebody else.

    >>> refund = PastCategorization(UUID(int=1), "revenue", None, None)
    >>> propose_by_account_use([(refund, 9)], is_incoming=False)
    []
    """
    return [
        proposal
        for proposal in rank_proposals(ACCOUNT, counts)
        if proposal.agreed >= MIN_ACCOUNT_COUNT and (is_incoming or proposal.categorization.pl_type != "revenue")
    ]


def weigh_choices(
    transaction: TransactionTraits, past_uses: Sequence[tuple[CategoryLine, TransactionTraits]]
) -> dict[CategoryLine, float]:
    """Return the weight of each choice among earlier categorizations of a counterparty, the newest first.

    The one most like the transaction weighs about 1, the others in proportion.

    >>> rent, food = ((UUID(int=n), "ga") for n in (1, 2))
    >>> account, words = UUID(int=9), frozenset()
    >>> food_traits = TransactionTraits(account, Decimal(-7), words)
    >>> rent_traits = TransactionTraits(account, Decimal(-900), words)
    >>> weights = weigh_choices(rent_traits, [(food, food_traits)] * 3 + [(rent, rent_traits)])
    >>> weights[rent] > weights[food]
    True
    """
    amount_class = classify_amount(transaction.amount)
    weights: dict[CategoryLine, float] = {}
    heaviest, decay = 0.0, 1.0
    for place, (choice, traits) in enumerate(past_uses):
        weight = decay * compare_traits(transaction, amount_class, traits) * (1.0 if place else NEWEST_WEIGHT)
        heaviest = max(heaviest, weight)
        weights[choice] = weights.get(choice, 0.0) + weight
        decay *= WEIGHT_DECAY
    return {choice: weight / heaviest for choice, weight in weights.items()}


def compare_traits(transaction: TransactionTraits, amount_class: tuple[bool, int], other: TransactionTraits) -> float:
    """Return how many times more an earlier transaction weighs than one that has nothing in common with this one."""
    similarity = SAME_ACCOUNT if transaction.account_id == other.account_id else 1.0
    is_incoming, size = classify_amount(other.amount)
    if is_incoming == amount_class[0]:
        if transaction.amount == other.amount:
            similarity *= SAME_AMOUNT * SAME_AMOUNT_CLASS
        elif size == amount_class[1]:
            similarity *= SAME_AMOUNT_CLASS
        elif abs(size - amount_class[1]) == 1:
            similarity *= NEAR_AMOUNT_CLASS
    return similarity * float(SAME_TEXT ** compute_word_overlap(transaction.words, other.words))


def classify_amount(amount: Decimal) -> tuple[bool, int]:
    """Return the direction and the size of an amount: a class is 41 % wider than the one below.

    >>> classify_amount(Decimal("-99")), classify_amount(Decimal("-105")), classify_amount(Decimal("200"))
    ((False, 13), (False, 13), (True, 15))
    """
    return amount > 0, int(2 * math.log2(abs(float(amount)) + 1))


def propose_by_text(
    text: str, similar_transactions: Iterable[tuple[frozenset[str], PastCategorization]]
) -> list[CategoryProposal]:
    """Return proposals from the transactions whose words are most like those of a text."""
    return rank_proposals(TEXT, count_nearest_categorizations(extract_text_words(text), similar_transactions))


def count_nearest_categorizations(
    words: frozenset[str], other_texts: Iterable[tuple[frozenset[str], PastCategorization]]
) -> list[tuple[PastCategorization, int]]:
    """Return how often each categorization occurs among the transactions with the most words in common.

    >>> rent, food = (PastCategorization(UUID(int=n), "ga", None, None) for n in (1, 2))
    >>> rows = [(frozenset("ab"), rent), (frozenset("ab"), rent), (frozenset("a"), food)]
    >>> [(use.category_id.int, count) for use, count in count_nearest_categorizations(frozenset("abc"), rows)]
    [(1, 2)]
    """
    overlaps = [
        (compute_word_overlap(words, other_words), categorization) for other_words, categorization in other_texts
    ]
    best_overlap = max((overlap for overlap, _ in overlaps), default=0.0)
    counts: dict[PastCategorization, int] = {}
    for overlap, categorization in overlaps:
        if overlap >= best_overlap:
            counts[categorization] = counts.get(categorization, 0) + 1
    return list(counts.items())


def extract_name_words(name: str) -> frozenset[str]:
    """Return the words of a lower-case name that others may share: letters only, no legal forms and no common words.

    >>> sorted(extract_name_words("acme care 24 ltd")), extract_name_words("deutsche bank münchen ag")
    (['acme', 'care'], frozenset())
    """
    return frozenset(word for word in name.split() if len(word) > 1 and word.isalpha() and not is_common_word(word))


def is_common_word(word: str) -> bool:
    """Whether names of unrelated companies share a lower-case word."""
    return not COMMON_NAME_WORDS.isdisjoint(extract_kind_words(word))


def propose_by_name_words(
    uses_by_word: Mapping[str, Sequence[tuple[str, PastCategorization, int]]],
    same_direction: Container[CategoryLine] | None = None,
) -> list[CategoryProposal]:
    """Return proposals from transactions of other names that share a word with a name.

    Each word has one vote, divided among the names that have it and then among their categorizations: a rare
    word says more than a common one.

    Args:
        uses_by_word: by word (name, categorization, how often).
        same_direction: choices that were made for the transaction's direction; None: all.
    """
    weights: dict[CategoryLine, float] = {}
    counts: dict[str, dict[PastCategorization, int]] = {}
    for rows in uses_by_word.values():
        uses_of_word: dict[str, dict[PastCategorization, int]] = {}
        for name, categorization, count in rows:
            uses_of_word.setdefault(name, {})[categorization] = count
        for uses_of_name in uses_of_word.values():
            share = 1 / len(uses_of_word) / sum(uses_of_name.values())
            for categorization, count in uses_of_name.items():
                choice = categorization.choice
                weights[choice] = weights.get(choice, 0.0) + share * count
        counts |= uses_of_word
    use_counts = [
        (categorization, count) for uses_of_name in counts.values() for categorization, count in uses_of_name.items()
    ]
    return rank_proposals(TEXT, use_counts, weights, same_direction)


def compute_word_overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words that two texts have in common."""
    return len(first & second) / len(first | second) if first or second else 0.0


def extract_text_words(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about: no numbers, which differ from one to the next, and nothing
    on how the payment was made.

    >>> sorted(extract_text_words("Direct debit: Invoice 4711, hosting March"))
    ['hosting', 'invoice', 'march']
    """
    return frozenset(word for word in remove_booking_phrases(text).replace(",", " ").split() if word.isalpha())


def extract_first_word(text: str) -> str:
    """Return the first word of a text that does not say how the payment was made; empty without any.

    >>> extract_first_word("SEPA-Lastschrift Miete"), extract_first_word("Direct debit")
    ('miete', '')
    """
    words = remove_booking_phrases(text).split()
    return next((word for word in words if any(letter.isalnum() for letter in word)), "")
