"""Account numbers in tables: their spellings, those that lines above a table state, and those of other parties."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ledger.calc.delimited_text import Line
from ledger.imports.calc.dates import is_date_like
from ledger.imports.calc.headings import find_heading_fields, fold_heading
from ledger.imports.calc.masked_numbers import is_masked_number, is_same_masked_number, iterate_masked_numbers

GERMAN_NUMBER_PATTERN = re.compile(r"([0-9]{8})/([0-9]{1,10})")  # bank code and account, the two parts of an IBAN
NUMBER_WITH_CURRENCY_PATTERN = re.compile(r"(.*[0-9])[A-Z]{3}")
NUMBER_WITH_BIC_PATTERN = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?/(.+)")
IBAN_PATTERN = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![0-9A-Za-z])", re.IGNORECASE)
PLAIN_NUMBER_PATTERN = re.compile(r"(?<![0-9A-Za-z*])[0-9][0-9 /-]{4,30}[0-9](?![0-9A-Za-z*])")
LOCAL_FORM_COUNTRIES = {"CZ", "SK", "DK", "SE", "FI", "IS"}  # whose account numbers are written otherwise than in IBANs
MIN_NUMBER_DIGITS = 6  # fewer are the last ones of a card
MAX_LINES_ABOVE = 40
MAX_CELL_LENGTH = 100  # characters of a cell above the table that are looked at
OWN_ACCOUNT_HEADINGS = {
    "account", "account number", "own account", "my account", "konto", "auftragskonto", "iban auftragskonto",
    "bezeichnung auftragskonto", "eigenes konto", "iban kontoinhaber", "compte", "cuenta", "conto", "conta", "rekening",
    "eigen rekening", "van rekening", "rachunek", "rachunek nadawcy własny", "vlastní účet", "saját számla", "oma tili",
    "kliendi konto", "本方账号",
}  # fmt: skip
FOLDED_OWN_HEADINGS = frozenset(map(fold_heading, OWN_ACCOUNT_HEADINGS))
OPEN_HEADING = "account number"  # the own one, or beside a column of other parties theirs


def list_number_spellings(number: str, currency: str = "") -> set[str]:
    """Return the spellings of a number that mean the same account.

    >>> sorted(list_number_spellings("12345678/1020304050"))
    ['12345678/1020304050', 'DE123456781020304050']
    >>> sorted(list_number_spellings("NL71RABO0123456789EUR", "EUR"))
    ['NL71RABO0123456789', 'NL71RABO0123456789EUR']
    >>> sorted(list_number_spellings("DE89 3704 0044 0532 0130 00"))
    ['DE370400440532013000', 'DE89370400440532013000']
    """
    plain = "".join(number.split()).upper()
    variants = {plain}
    if german_match := GERMAN_NUMBER_PATTERN.fullmatch(plain):
        variants.add(f"DE{german_match[1]}{int(german_match[2]):010}")
    if plain.startswith("DE") and len(plain) == 22:  # without its check digits, which the older form has not
        variants.add(f"DE{plain[4:]}")
    if currency and plain.endswith(currency) and (match := NUMBER_WITH_CURRENCY_PATTERN.fullmatch(plain)):
        variants.add(match[1])
    if bic_match := NUMBER_WITH_BIC_PATTERN.fullmatch(plain):
        variants.add(bic_match[1])
    return variants


def has_full_number(text: str) -> bool:
    """Whether a text has digits enough for the number of an account."""
    return sum(sign.isdigit() for sign in text) >= MIN_NUMBER_DIGITS


def is_same_number(first: str, second: str) -> bool:
    """Whether two numbers mean one account, of which one may be masked, or without the bank or the check digits.

    >>> is_same_number("DE89 3704 0044 0532 0130 00", "532013000"), is_same_number("DE02120300000000202051", "202052")
    (True, False)
    """
    if list_number_spellings(first) & list_number_spellings(second):
        return True
    if is_masked_number(first) or is_masked_number(second):
        return is_same_masked_number(first, second)
    plain = sorted(("".join(filter(str.isalnum, text)).upper().lstrip("0") for text in (first, second)), key=len)
    return has_full_number(plain[0]) and plain[0] in plain[1]


def is_comparable(first: str, second: str) -> bool:
    """Whether two numbers that are not the same mean two accounts: in some countries the local form of a number is no
    part of its IBAN, and the masked number of a card is none of the number of its account.

    >>> is_comparable("CZ6508000000192000145399", "19-2000145399/0800"), is_comparable("DE89370400440532013000", "4711")
    (False, True)
    """
    plain = ["".join(text.split()).upper() for text in (first, second)]
    if any(map(is_masked_number, plain)):
        return False
    ibans = [text for text in plain if re.match(r"[A-Z]{2}[0-9]{2}", text)]
    return len(ibans) != 1 or ibans[0][:2] not in LOCAL_FORM_COUNTRIES


def find_stated_numbers(lines: Sequence[Line]) -> list[str]:
    """The numbers that lines above a table state as those of its account: an IBAN, or a number behind a label; masked
    ones where none is stated in full."""
    numbers: dict[str, None] = {}
    for line in lines[-MAX_LINES_ABOVE:]:
        cells = [cell[:MAX_CELL_LENGTH] for cell in line.cells]
        for position, cell in enumerate(cells):
            label, _, inside = cell.partition(":")
            fields = find_heading_fields(label.strip("# ")) if label else ()
            ibans = list(_find_ibans(cell))
            if not ibans and fields and fields[0][0] == "account":
                following = next(filter(None, cells[position + 1 :]), "")
                is_certain = fields[0][1] > 1
                ibans = [
                    number for text in (inside, following) for number in _find_numbers(text, is_certain=is_certain)
                ]
            numbers |= dict.fromkeys(ibans)
    masked_numbers = (
        number for line in lines[-MAX_LINES_ABOVE:] for cell in line.cells for number in iterate_masked_numbers(cell)
    )
    return list(numbers or dict.fromkeys(masked_numbers))


def _find_ibans(text: str) -> Iterator[str]:
    """The IBANs in a text, with right check digits."""
    for match in IBAN_PATTERN.finditer(text):
        plain = "".join(match[0].split()).upper()
        if int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1:
            yield plain


def _find_numbers(text: str, *, is_certain: bool) -> Iterator[str]:
    """The account numbers in a text. Digits alone may be a date, unless their label certainly names an account."""
    if "," not in text and ((is_certain and text.strip().isdigit()) or not is_date_like(text)):
        yield from (match[0] for match in PLAIN_NUMBER_PATTERN.finditer(text) if has_full_number(match[0]))


def is_other_party_column(
    heading: str,
    values: Sequence[str],
    *,
    own_number: str,
    company_numbers: Iterable[str],
    stated: Iterable[str],
    has_empty: bool = False,
    has_counterparty: bool = False,
) -> bool:
    """Whether a column that may have the own account's number has those of other parties.

    Several numbers, of which none or only some are the company's, are of others. One constant number may be the own
    one, unless the lines above the table state another, or some rows have none (``has_empty``).

    >>> values = ["DE02120300000000202051", "DE02500105170137075030"]
    >>> is_other_party_column("IBAN", values, own_number="", company_numbers=values[:1], stated=())
    True
    >>> is_other_party_column("IBAN", values, own_number="", company_numbers=values, stated=())
    False
    """
    numbers = [value for value in values if has_full_number(value)]
    folded = fold_heading(heading)
    is_own_heading = folded in FOLDED_OWN_HEADINGS and not (has_counterparty and folded == OPEN_HEADING)
    if is_own_heading or 2 * len(numbers) <= len([value for value in values if value]):
        return False
    if own_number and any(is_same_number(number, own_number) for number in numbers):
        return False
    known_numbers = list(company_numbers)
    stated_numbers = list(stated)
    if any(is_same_number(number, each) for number in numbers for each in stated_numbers):
        return False
    if len(values) > 1:
        return not all(any(is_same_number(value, each) for each in known_numbers) for value in values)
    return has_empty or bool(stated_numbers)
