"""Whether two formats can mean the same payment, of one account, day and amount, by what they say of it.

Each bank words its formats in its own way: one has no name, one puts it into the text, one breaks lines within words.
So what one says and the other does not tells nothing; where both say something and nothing of it agrees, they are two.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

NO, PERHAPS, SURELY = range(3)
LEGAL_FORMS = {"gmbh", "mbh", "ltd", "inc", "llc", "llp", "plc", "corp", "sarl", "sas", "spa", "srl"}
LEGAL_FORMS |= {"the", "and", "und"}
NUMBER = re.compile(r"[0-9]{3,}")
WORD = re.compile(r"[a-z0-9]{3,}")
AS_TWO = re.compile(r"([aou])e")  # an umlaut in two letters
SPELLED = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})
FAR_FEWER = 4  # letters that are found within another text only by chance
MOST_COMPARED = 1000  # pairs of texts of one account, day and amount
LONGEST = 200  # of what is compared of a text


@dataclass(frozen=True, slots=True)
class Said:
    """What a payment's texts say, as it is compared."""

    name: frozenset[str]
    text: frozenset[str]
    numbers: frozenset[str]
    all: str  # without blanks

    @classmethod
    def of(cls, from_to: str, description: str) -> "Said":
        name, text = plain(from_to[:LONGEST]), plain(description[:LONGEST])
        return cls(
            name=frozenset(WORD.findall(name)) - LEGAL_FORMS,
            text=frozenset(WORD.findall(text)) - LEGAL_FORMS,
            numbers=frozenset(NUMBER.findall(f"{name} {text}")),
            all="".join(WORD.findall(f"{name} {text}")),
        )


def plain(text: str) -> str:
    """Lower case without accents; umlauts as one letter however they are written.

    >>> plain("Müller & Söhne"), plain("MUELLER"), plain("Café")
    ('muller & sohne', 'muller', 'cafe')
    """
    folded = unicodedata.normalize("NFKD", text.casefold().translate(SPELLED))
    bare = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return AS_TWO.sub(r"\1", bare)


def likeness(one: Said, other: Said) -> int:
    """SURELY where something agrees, PERHAPS where nothing can be compared, NO where they contradict each other.

    >>> bill, again = Said.of("Initech GmbH", "Invoice 1042"), Said.of("", "INITECH GMBH RE 1042")
    >>> likeness(bill, again), likeness(bill, Said.of("", "")), likeness(bill, Said.of("Initech", "Invoice 1043"))
    (2, 1, 0)
    >>> likeness(bill, Said.of("Globex GmbH", "Invoice 1042")), likeness(bill, Said.of("", "Coffee"))
    (0, 0)
    """
    if one.name and other.name and not (meets(one.name, other) or meets(other.name, one)):
        return NO
    if one.numbers and other.numbers and not (within(one.numbers, other.all) or within(other.numbers, one.all)):
        return NO
    if meets(one.name | one.text, other) or meets(other.name | other.text, one):
        return SURELY
    return NO if one.text and other.text else PERHAPS


def meets(words: frozenset[str], other: Said) -> bool:
    """Whether a text has one of the words, in one piece or broken over lines."""
    long = (word for word in words if len(word) >= FAR_FEWER)
    return not words.isdisjoint(other.name | other.text) or within(long, other.all)


def within(words: Iterable[str], text: str) -> bool:
    return any(word in text for word in words)


def pairs(ones: Sequence[Said], others: Sequence[Said]) -> Iterator[tuple[int, int]]:
    """Places of both that may mean the same, the surest first."""
    everything = product(range(len(ones)), range(len(others)))
    found = [(likeness(ones[one], others[other]), one, other) for one, other in everything]
    yield from ((one, other) for level, one, other in sorted(found, key=lambda each: -each[0]) if level)
