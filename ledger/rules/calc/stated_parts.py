"""The parts that the text of a payment states, such as "Tilgung 1.850,00 Zins 212,50"."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from ledger.calc.written_amounts import GarbledAmountError, MixedMarksError, find_decimal_mark, parse_written_amount
from ledger.rules.calc.payment_kinds import PaymentKind, extract_kind_words

MAX_TEXT_LENGTH = 1000
PART_WORDS = {
    PaymentKind.LOAN: (
        *("Tilgung", "Tilgungsanteil", "Tilgungsbetrag", "Tilgungsrate", "Kredittilgung", "Darlehenstilgung"),
        *("repayment", "principal"),
    ),
    PaymentKind.INTEREST: (
        *("Zins", "Zinsen", "Zinsanteil", "Zinsbetrag", "Sollzins", "Sollzinsen", "Darlehenszins", "Darlehenszinsen"),
        *("Kreditzinsen", "interest"),
    ),
    PaymentKind.BANK_FEES: (
        *("Gebühr", "Gebühren", "Entgelt", "Entgelte", "Bearbeitungsgebühr", "Bearbeitungsentgelt", "Bankgebühr"),
        *("Bankgebühren", "Kontoführungsgebühr", "fee", "fees", "bank fee", "bank fees"),
    ),
}
KIND_BY_WORD = {extract_kind_words(word)[-1]: kind for kind, words in PART_WORDS.items() for word in words}
LOAN_PARTS = {PaymentKind.LOAN, PaymentKind.INTEREST}
# What may stand between a word and its amount.
LINK_WORDS = frozenset(["eur", "euro", "€", "chf", "usd", "$", "gbp", "£", ":", "=", "-", "+", "von", "of", "ihv"])
# Months and days are no amounts: "Zins 10/2026", "Tilgung 10.2026", "31.10.2026", "2026-10-31".
DATE_IN_TEXT = re.compile(
    r"(?<![\w.,/-])(?:"
    r"(?:[0-3]?[0-9][./-])?[01]?[0-9][./-](?:19|20)[0-9]{2}|[0-3]?[0-9]\.[01]?[0-9]\.[0-9]{2}"
    r"|[01]?[0-9]/[0-9]{2}|(?:19|20)[0-9]{2}-[01][0-9](?:-[0-3][0-9])?"
    r")(?![\w/-]|[.,][0-9])"
)
TOKEN_PATTERN = re.compile(r"[^\W\d_]+|[0-9][0-9.,']*|\S")


class StatedPart(NamedTuple):
    """A part of a payment with the payment's sign."""

    kind: PaymentKind
    amount: Decimal


class LabelledAmount(NamedTuple):
    """An amount beside a word of a kind, as it is written."""

    kind: PaymentKind
    text: str


def find_stated_parts(text: str, amount: Decimal) -> list[StatedPart]:
    """Return the parts of several kinds that a text states, in its order; empty if they do not add up to the amount.

    >>> [str(part.amount) for part in find_stated_parts("Tilgung 1.850,00 Zins 212,50", Decimal("-2062.50"))]
    ['-1850.00', '-212.50']
    >>> find_stated_parts("Tilgung 1.850,00 Zins 212,50", Decimal(-2062))
    []
    """
    tokens = extract_tokens(text)
    # The reading with more amounts: the other one takes each word with the amount of its neighbor.
    amounts = max(list(iterate_amounts_after_words(tokens)), list(iterate_amounts_before_words(tokens)), key=len)
    parts = sum_by_kind(amounts)
    if len(parts) < 2 or sum(parts.values()) != abs(amount):
        return []
    return [StatedPart(kind, value.copy_sign(amount)) for kind, value in parts.items()]


def find_named_parts(text: str) -> list[PaymentKind]:
    """Return repayment and interest in the order of a text that names both, with or without amounts; empty otherwise.

    >>> [kind.value for kind in find_named_parts("Darlehen 7 Zins und Tilgung 10/2026")]
    ['interest', 'loan']
    """
    kinds = [kind for token in extract_tokens(text) if (kind := find_part_kind(token)) in LOAN_PARTS]
    return list(dict.fromkeys(kinds)) if set(kinds) == LOAN_PARTS else []


def extract_tokens(text: str) -> list[str]:
    """Return the words, numbers and signs of a text, without dates."""
    return TOKEN_PATTERN.findall(DATE_IN_TEXT.sub(" ", text[:MAX_TEXT_LENGTH]))


def iterate_amounts_after_words(tokens: Sequence[str]) -> Iterator[LabelledAmount]:
    """Yield the amounts that follow words of a kind: "Tilgung: 1.850,00"."""
    kind = None
    for place, token in enumerate(tokens):
        if is_amount(tokens, place):
            if kind:
                yield LabelledAmount(kind, token)
            kind = None
        elif token.casefold() not in LINK_WORDS:
            kind = find_part_kind(token)


def iterate_amounts_before_words(tokens: Sequence[str]) -> Iterator[LabelledAmount]:
    """Yield the amounts that words of a kind follow: "1.850,00 EUR Tilgung"."""
    amount = ""
    for place, token in enumerate(tokens):
        if is_amount(tokens, place):
            amount = token
        elif token.casefold() not in LINK_WORDS:
            kind = find_part_kind(token)
            if kind and amount:
                yield LabelledAmount(kind, amount)
            amount = ""


def is_amount(tokens: Sequence[str], place: int) -> bool:
    """Whether a token is a number and no percentage."""
    return tokens[place][0].isdecimal() and "%" not in tokens[place + 1 : place + 2]


def find_part_kind(token: str) -> PaymentKind | None:
    """Return the kind that a word says; None for other words, numbers and signs."""
    words = extract_kind_words(token)
    return KIND_BY_WORD.get(words[0]) if words else None


def sum_by_kind(amounts: Sequence[LabelledAmount]) -> dict[PaymentKind, Decimal]:
    """Return the positive amounts by kind; empty if one is no amount or their decimal marks differ."""
    texts = [each.text.rstrip(".,'") for each in amounts]
    sums: dict[PaymentKind, Decimal] = {}
    try:
        mark = find_decimal_mark(texts)
        for (kind, _), text in zip(amounts, texts, strict=True):
            sums[kind] = sums.get(kind, Decimal(0)) + Decimal(parse_written_amount(text, mark))
    except (GarbledAmountError, MixedMarksError):
        return {}
    return sums if all(sums.values()) else {}
