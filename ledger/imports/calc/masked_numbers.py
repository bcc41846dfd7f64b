"""Masked account and card numbers, of which banks show the beginning and the last four digits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MASKED_NUMBER_PATTERN = re.compile(
    r"(?<![0-9A-Za-z*•])(?P<prefix>(?:[A-Za-z]{2}[0-9]{2}|[0-9])(?:[ -]?[0-9]){0,14}[ -]?)?"
    r"[*xX•](?:[ -]?[*xX•]){3,30}[ -]?(?P<suffix>[0-9]{4})(?![0-9A-Za-z*•])"
)
MIN_DIGITS = 4  # of a stored number that is no more than the end of one
MAX_TEXT_LENGTH = 100


@dataclass(frozen=True, slots=True)
class VisibleParts:
    """What a masked number shows, without blanks: ``prefix`` may be empty."""

    prefix: str
    suffix: str

    def fits_parts(self, other: "VisibleParts") -> bool:
        """Whether another masked number shows nothing that this one shows otherwise."""
        prefixes = self.prefix.startswith(other.prefix) or other.prefix.startswith(self.prefix)
        return self.suffix == other.suffix and prefixes

    def fits_number(self, number: str) -> bool:
        """Whether a number, which may be the end of one, has these parts at its ends. A number without the country of
        an IBAN is held against its last digits alone."""
        plain = "".join(filter(str.isalnum, number)).upper()
        if len(plain) <= len(self.suffix):
            return len(plain) >= MIN_DIGITS and plain == self.suffix
        is_local = self.prefix[:1].isalpha() and plain.isdigit()
        is_long_enough = is_local or len(plain) > len(self.prefix) + len(self.suffix)
        return is_long_enough and plain.endswith(self.suffix) and (is_local or plain.startswith(self.prefix))


def iterate_masked_numbers(text: str) -> Iterator[str]:
    """Yield the masked numbers in a text as they are written.

    >>> list(iterate_masked_numbers("Kreditkarte 5412********1188")), list(iterate_masked_numbers("Card: XXXX-1188"))
    (['5412********1188'], ['XXXX-1188'])
    >>> list(iterate_masked_numbers("DE12 **** **** 1234")), list(iterate_masked_numbers("********11885"))
    (['DE12 **** **** 1234'], [])
    """
    yield from (match[0] for match in MASKED_NUMBER_PATTERN.finditer(text[:MAX_TEXT_LENGTH]))


def is_masked_number(text: str) -> bool:
    """Whether a text is one masked number and nothing else."""
    return _find_visible_parts(text) is not None


def is_same_masked_number(first: str, second: str) -> bool:
    """Whether two numbers of which at least one is masked agree in all that they show.

    >>> [is_same_masked_number("5412********1188", number) for number in ("1188", "5412 3456 1234 1188", "XXXX-1188")]
    [True, True, True]
    >>> [is_same_masked_number("5412********1188", number) for number in ("4711", "4929 3456 1234 1188", "88")]
    [False, False, False]
    >>> is_same_masked_number("DE12 **** 1234", "DE12 5001 0517 0648 4812 34"), is_same_masked_number("1188", "1188")
    (True, False)
    """
    parts, other_parts = _find_visible_parts(first), _find_visible_parts(second)
    if parts and other_parts:
        return parts.fits_parts(other_parts)
    if parts:
        return parts.fits_number(second)
    return other_parts is not None and other_parts.fits_number(first)


def _find_visible_parts(text: str) -> VisibleParts | None:
    match = MASKED_NUMBER_PATTERN.fullmatch(text.strip()) if len(text) <= MAX_TEXT_LENGTH else None
    if match is None:
        return None
    return VisibleParts("".join(filter(str.isalnum, match["prefix"] or "")).upper(), match["suffix"])
