"""Whether two entries of different formats can be the same payment, by their texts.

Account, day and amount are equal already. Each bank words its formats in its own way: one has no name, one
puts it into the text, one breaks lines within words. So what only one of them has proves nothing; where
both have something and nothing of it agrees, they are two payments.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

DIFFERENT, UNDECIDED, SAME = range(3)
LEGAL_FORMS = {"gmbh", "mbh", "ltd", "inc", "llc", "llp", "plc", "corp", "sarl", "sas", "spa", "srl"}
LEGAL_FORMS |= {"the", "and", "und"}
NUMBER = re.compile(r"[0-9]{3,}")
WORD = re.compile(r"[a-z0-9]{3,}")
TWO_LETTER_UMLAUT_PATTERN = re.compile(r"([aou])e")  # an umlaut in two letters
UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})
MIN_WORD_LENGTH = 4  # letters that are found within another text only by chance
MAX_COMPARED_PAIRS = 1000  # pairs of texts of one account, day and amount
MAX_COMPARED_LENGTH = 200  # of what is compared of a text


@dataclass(frozen=True, slots=True)
class PaymentTexts:
    """The texts of a payment, prepared to be compared."""

    name: frozenset[str]
    text: frozenset[str]
    numbers: frozenset[str]
    all_text: str  # without blanks

    @classmethod
    def from_texts(cls, from_to: str, description: str) -> "PaymentTexts":
        name, text = (
            normalize_umlauts(from_to[:MAX_COMPARED_LENGTH]),
            normalize_umlauts(description[:MAX_COMPARED_LENGTH]),
        )
        return cls(
            name=frozenset(WORD.findall(name)) - LEGAL_FORMS,
            text=frozenset(WORD.findall(text)) - LEGAL_FORMS,
            numbers=frozenset(NUMBER.findall(f"{name} {text}")),
            all_text="".join(WORD.findall(f"{name} {text}")),
        )


def normalize_umlauts(text: str) -> str:
    """Return the text in lower case without accents; umlauts as one letter however they are written.

    >>> normalize_umlauts("Müller & Söhne"), normalize_umlauts("MUELLER"), normalize_umlauts("Café")
    ('muller & sohne', 'muller', 'cafe')
    """
    folded = unicodedata.normalize("NFKD", text.casefold().translate(UMLAUTS))
    bare = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return TWO_LETTER_UMLAUT_PATTERN.sub(r"\1", bare)


def compare_payment_texts(first: PaymentTexts, second: PaymentTexts) -> int:
    """Return SAME if something agrees, UNDECIDED if nothing can be compared, DIFFERENT if they contradict each
    other.

    >>> bill = PaymentTexts.from_texts("Initech GmbH", "Invoice 1042")
    >>> again = PaymentTexts.from_texts("", "INITECH GMBH RE 1042")
    >>> compare_payment_texts(bill, again)
    2
    >>> compare_payment_texts(bill, PaymentTexts.from_texts("", ""))
    1
    >>> compare_payment_texts(bill, PaymentTexts.from_texts("Initech", "Invoice 1043"))
    0
    >>> compare_payment_texts(bill, PaymentTexts.from_texts("Globex GmbH", "Invoice 1042"))
    0
    >>> compare_payment_texts(bill, PaymentTexts.from_texts("", "Coffee"))
    0
    """
    if first.name and second.name and not (has_common_word(first.name, second) or has_common_word(second.name, first)):
        return DIFFERENT
    if (
        first.numbers
        and second.numbers
        and not (
            is_any_word_within(first.numbers, second.all_text) or is_any_word_within(second.numbers, first.all_text)
        )
    ):
        return DIFFERENT
    if has_common_word(first.name | first.text, second) or has_common_word(second.name | second.text, first):
        return SAME
    return DIFFERENT if first.text and second.text else UNDECIDED


def has_common_word(words: frozenset[str], other: PaymentTexts) -> bool:
    """Whether a text has one of the words, in one piece or broken over lines."""
    long_words = (word for word in words if len(word) >= MIN_WORD_LENGTH)
    return not words.isdisjoint(other.name | other.text) or is_any_word_within(long_words, other.all_text)


def is_any_word_within(words: Iterable[str], text: str) -> bool:
    """Whether one of the words is in the text."""
    return any(word in text for word in words)


def iterate_similar_pairs(
    first_texts: Sequence[PaymentTexts], second_texts: Sequence[PaymentTexts]
) -> Iterator[tuple[int, int]]:
    """Yield the positions of pairs that may be the same payment, the most certain first."""
    position_pairs = product(range(len(first_texts)), range(len(second_texts)))
    scored_pairs = [
        (compare_payment_texts(first_texts[first], second_texts[second]), first, second)
        for first, second in position_pairs
    ]
    yield from ((one, other) for level, one, other in sorted(scored_pairs, key=lambda each: -each[0]) if level)
