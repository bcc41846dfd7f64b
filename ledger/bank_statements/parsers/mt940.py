"""SWIFT's MT940 (statements) and MT942 (intraday reports), as banks write them.

A reader of our own: the libraries take many times the file's memory, report no line for a broken file, and
take RC, a reversed credit, for money in. It is money out, and RD money in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import chain, pairwise

from ledger.bank_statements.parsers.models import (
    MAX_ACCOUNT_NUMBER_LENGTH,
    MAX_PIECE_LENGTH,
    MAX_TEXT_LENGTH,
    ParsedStatement,
    TooManyEntriesError,
    UnreadableFileError,
    clean_text,
    to_signed_amount,
)
from ledger.calc.months import clamp_day_to_month
from ledger.imports.calc.entries import Entry

TAG_PATTERN = re.compile(r":([0-9]{2}[A-Z]?|NS):")
BALANCE_PATTERN = re.compile(r"([CD])([0-9]{6})([A-Z]{3})([0-9,.]+)\s*")
MOVEMENT_PATTERN = re.compile(
    r"(?P<value>[0-9]{6})(?P<entry>[0-9]{4}|[ ]{4})?(?P<mark>R[CD]|E[CD]|[CD])[A-Z]?(?P<amount>[0-9][0-9,.]*)"
    r"(?:(?P<type>(?!E[0-9])[A-Z][A-Z0-9 ]{3})(?P<rest>.*)|(?P<bare>(?://.*)?))"  # 1E3 is no amount
)
# Fields that may follow a text. Others are part of it: a time broken over two lines begins with :08:12.
TAGS_AFTER_TEXT = {
    "61",
    "64",
    "65",
    "86",
    "NS",
    "13C",
    "13D",
    "25P",
    "28C",
    "34F",
    "60F",
    "60M",
    "62F",
    "62M",
    "90C",
    "90D",
}
# Fields that begin a message also look like minutes; they count only if the next field follows.
FOLLOWER_PATTERNS = {"20": re.compile(r":(?:21|25P?|28C?):"), "25": re.compile(r":(?:28C?|60[FM]):")}
NUMBERED_PATTERN = re.compile(r"[0-9 ]{3}(?:(\?)[0-9]|([^0-9A-Za-z\s])(?:00|10|20)(?=.*\2(?:20|21|32)))", re.DOTALL)
SUBFIELD_PATTERN = re.compile(r"\?([0-9]{2})")
SEPA_PATTERN = re.compile(r"(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP)\+")
SLASHED_PATTERN = re.compile(
    r"/(TRTP|IBAN|BIC|NAME|REMI|EREF|MARF|CSID|BENM|ORDP|ISDT|ID|ADDR|PREF|RTRN|PURP|ULTC|ULTD|CNTP)/"
)
FIELD_CHARACTERS = 27  # characters of a field of remittance text: a full one goes on in the next
MONEY_OUT_MARKS = {"D", "RC", "ED"}
CENTURY_TURNS = 80  # 79 is 2079, 80 is 1980: SWIFT's own rule for YYMMDD
NOT_GIVEN = {"", "NONREF", "NOTPROVIDED"}


REFERENCE_TAG_PATTERN = re.compile(r"^(?:\{4:\s*)?:20:", re.MULTILINE)
ACCOUNT_TAG_PATTERN = re.compile(r"^(?:\{4:\s*)?:25P?:", re.MULTILINE)
BALANCE_TAG_PATTERN = re.compile(r"^:(?:60[FM]|34F):", re.MULTILINE)


def is_mt940(text: str) -> bool:
    """Whether a text begins like MT940, after what banks write above; some begin with field 25."""
    start = text[:5000]
    if REFERENCE_TAG_PATTERN.search(start):
        return True
    return bool(ACCOUNT_TAG_PATTERN.search(start) and BALANCE_TAG_PATTERN.search(start))


def read_mt940(lines: Iterator[str], *, max_entries: int) -> tuple[str, list[ParsedStatement]]:
    """Return (format, statements). Raises UnreadableFileError, TooManyEntriesError."""
    drafts: list[Mt940Draft] = []
    count = 0
    for number, tag, value in iterate_mt940_fields(lines):
        if tag == "20":
            drafts.append(Mt940Draft(number))
        elif tag in ("25", "25P") and (not drafts or drafts[-1].is_over):
            drafts.append(Mt940Draft(number))
            drafts[-1].add_field(number, tag, value)
        elif drafts:
            drafts[-1].add_field(number, tag, value)
            count += tag == "61"
        if max(count, len(drafts)) > max_entries:
            raise TooManyEntriesError
    is_interim = bool(drafts) and all(draft.is_interim for draft in drafts)
    return "mt942" if is_interim else "mt940", [draft.to_statement() for draft in join_pages(drafts)]


def iterate_mt940_fields(lines: Iterator[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, tag, value) of each field; a value may have several lines. Raises UnreadableFileError."""
    tag, first_line, value, length = "", 0, [], 0  # type: tuple[str, int, list[str], int]
    for number, (line, next_line) in enumerate(pairwise(chain(map(strip_line, lines), [""])), 1):
        match = TAG_PATTERN.match(line)
        if match and (tag != "86" or is_next_field(match[1], next_line)):
            if tag:
                yield first_line, tag, "\n".join(value)
            tag, first_line, value, length = match[1], number, [line[match.end() :]], len(line)
        elif line.startswith(("-}", "{1:", "-XXX")) or line == "-":
            if tag:
                yield first_line, tag, "\n".join(value)
            tag, value = "", []
        elif tag:
            length = check_field_length(length + len(line) + 1, first_line)
            value.append(line)
    if tag:
        yield first_line, tag, "\n".join(value)


def strip_line(line: str) -> str:
    return line.rstrip("\r\n").removeprefix("{4:")


def is_next_field(tag: str, next_line: str) -> bool:
    """Whether a line in a text (field 86) that begins with a tag is the next field."""
    follower = FOLLOWER_PATTERNS.get(tag)
    return tag in TAGS_AFTER_TEXT or (follower is not None and follower.match(next_line) is not None)


def check_field_length(length: int, line: int) -> int:
    """Return the length of a field. Raises UnreadableFileError if it is too long, since readers split it repeatedly."""
    if length > MAX_PIECE_LENGTH:
        raise UnreadableFileError("The text is longer than {most} characters.", line=line, most=MAX_PIECE_LENGTH)
    return length


@dataclass(slots=True)
class Mt940Draft:
    """A message while it is read."""

    line: int
    details: dict[str, str] = field(default_factory=dict)
    balances: dict[str, tuple[date, str, Decimal]] = field(default_factory=dict)
    entries: list[tuple[int, str, str]] = field(default_factory=list)  # line, field 61, field 86
    last_tag: str = ""

    @property
    def is_over(self) -> bool:
        """Whether another account number starts the next message, which has no field 20."""
        return "25" in self.details and bool(self.get_balance("62F", "62M") or self.is_interim)

    @property
    def is_interim(self) -> bool:
        """Whether it is an intraday report, which has no balances."""
        return not self.balances and "34" in self.details

    def add_field(self, line: int, tag: str, value: str) -> None:
        if tag in ("60F", "60M", "62F", "62M"):
            self.balances[tag] = parse_mt940_balance(line, value)
        elif tag == "61":
            self.entries.append((line, value, ""))
        elif tag == "86" and self.last_tag == "61":
            number, movement, _ = self.entries[-1]
            self.entries[-1] = number, movement, value
        elif tag in ("25", "25P", "28", "28C"):
            self.details[tag[:2]] = value
        elif tag == "34F":
            self.details.setdefault("34", value)
        self.last_tag = tag

    def get_balance(self, *tags: str) -> tuple[date, str, Decimal] | None:
        return next((self.balances[tag] for tag in tags if tag in self.balances), None)

    def to_statement(self) -> ParsedStatement:
        opening, closing = self.get_balance("60F", "60M"), self.get_balance("62F", "62M")
        if opening and not closing:
            raise UnreadableFileError("The statement has no closing balance (62F).", line=self.line)
        if opening and closing and opening[1] != closing[1]:
            raise UnreadableFileError(
                "The statement opens in {opening} and closes in {closing}. Request it from the bank again.",
                line=self.line,
                opening=opening[1],
                closing=closing[1],
            )
        is_interim = self.is_interim
        currency = (opening or closing or ("", self.details.get("34", "")[:3], ""))[1]
        if not currency:
            raise UnreadableFileError("The statement has no currency (60F, 62F or 34F).", line=self.line)
        number = clean_text(self.details.get("25", "").split("\n")[0])[:MAX_ACCOUNT_NUMBER_LENGTH]
        return ParsedStatement(
            account_number=number,
            currency=currency,
            statement_id=clean_text(self.details.get("28", "")),
            start=opening[0] if opening else None,
            end=closing[0] if closing else None,
            opening=opening[2] if opening else None,
            closing=closing[2] if closing else None,
            final=not is_interim,
            entries=[build_mt940_entry(*each, currency=currency, pending=is_interim) for each in self.entries],
        )


def join_pages(drafts: list[Mt940Draft]) -> Iterator[Mt940Draft]:
    """Yield statements; pages with an interim closing balance (62M) are continued by the next one (60M)."""
    open_draft: Mt940Draft | None = None
    for draft in drafts:
        if not draft.balances and not draft.entries and not draft.is_interim:
            continue
        if (
            open_draft
            and "62M" in open_draft.balances
            and "60M" in draft.balances
            and is_same_account(open_draft, draft)
        ):
            open_draft.balances.pop("62M")
            draft.balances.pop("60M")
            open_draft.balances |= draft.balances
            open_draft.entries += draft.entries
            continue
        if open_draft:
            yield open_draft
        open_draft = draft
    if open_draft:
        yield open_draft


def is_same_account(first: Mt940Draft, second: Mt940Draft) -> bool:
    return first.details.get("25") == second.details.get("25")


def parse_mt940_balance(line: int, value: str) -> tuple[date, str, Decimal]:
    """Return (day, currency, amount) of a field 60 or 62."""
    match = BALANCE_PATTERN.fullmatch(value.split("\n")[0])
    if match is None:
        raise UnreadableFileError("“{text}” is not a valid balance.", line=line, text=value[:40])
    amount = to_signed_amount(to_decimal_point(match[4]), negative=match[1] == "D", line=line)
    return parse_six_digit_date(match[2], line), match[3], Decimal(amount)


def to_decimal_point(amount: str) -> str:
    """Return the amount with a decimal point."""
    return amount.replace(",", ".")


def parse_six_digit_date(text: str, line: int) -> date:
    """Return the date of YYMMDD."""
    year = int(text[:2])
    return parse_day_parts(line, text, year + (2000 if year < CENTURY_TURNS else 1900), int(text[2:4]), int(text[4:]))


def parse_day_parts(line: int, text: str, *parts: int) -> date:
    try:
        return clamp_day_to_month(*parts)
    except ValueError:
        raise UnreadableFileError("“{text}” is not a valid date.", line=line, text=text) from None


def find_entry_day(value: date, text: str, line: int) -> date:
    """Return the date of MMDD, in the year closest to the value date."""
    month, day = int(text[:2]), int(text[2:])
    years = (value.year - 1, value.year, value.year + 1)
    return min((parse_day_parts(line, text, year, month, day) for year in years), key=lambda day: abs(day - value))


def build_mt940_entry(line: int, movement: str, information: str, *, currency: str, pending: bool) -> Entry:
    """Return a transaction (field 61) with its information (field 86). Raises UnreadableFileError."""
    first_line, _, further = movement.partition("\n")
    match = MOVEMENT_PATTERN.fullmatch(first_line)
    if match is None:
        raise UnreadableFileError("“{text}” is not a valid entry (61).", line=line, text=first_line[:40])
    value_date = parse_six_digit_date(match["value"], line)
    entry_date_text = (match["entry"] or "").strip()
    day = find_entry_day(value_date, entry_date_text, line) if entry_date_text else value_date
    customer, _, bank = (match["rest"] or match["bare"] or "").partition("//")
    from_to, description, notes = parse_information(information)
    if value_date != day:
        notes.insert(0, f"Value date {value_date}")
    description = description or clean_text(further) or ("" if customer.strip() in NOT_GIVEN else clean_text(customer))
    if len(description) > MAX_TEXT_LENGTH or len(from_to) > MAX_TEXT_LENGTH:
        raise UnreadableFileError("The text is longer than {most} characters.", line=line, most=MAX_TEXT_LENGTH)
    return Entry(
        day=day,
        amount=to_signed_amount(
            to_decimal_point(match["amount"]), negative=match["mark"] in MONEY_OUT_MARKS, line=line
        ),
        currency=currency,
        from_to=from_to,
        description=description,
        notes="\n".join(notes),
        reference="" if bank.strip() in NOT_GIVEN else clean_text(bank),
        pending=pending,
        line=line,
    )


# ---------------------------------------------------------------------------------------------- field 86


def parse_information(information: str) -> tuple[str, str, list[str]]:
    """Return (the other party, the remittance text, notes) of a field 86: numbered, with slashes, or plain."""
    text = information.strip()
    if match := NUMBERED_PATTERN.match(text):
        return parse_numbered_information(text, match[1] or match[2])
    if len(pieces := SLASHED_PATTERN.split(text.replace("\n", ""))) > 1:
        return parse_slashed_information(pieces)
    return "", clean_text(text), []


def parse_numbered_information(text: str, separator: str = "?") -> tuple[str, str, list[str]]:
    """Parse the format of German banks: ?20 to ?29 and ?60 to ?63 are the text, ?32 and ?33 the party. Other banks
    have another separator.

    >>> parse_numbered_information("166?00GUTSCHRIFT?20EREF+A-1?21SVWZ+Invoice 1042?32Initech GmbH")
    ('Initech GmbH', 'Invoice 1042', ['End-to-end A-1'])
    >>> parse_numbered_information("000>100987654321>20GENERAL CO>21STS>32Bank NV", ">")
    ('Bank NV', 'GENERAL COSTS', [])
    """
    value_by_field: dict[str, str] = {}
    blank_by_field: dict[str, str] = {}
    for name, value, blank in iterate_subfields(text, separator):
        value_by_field.setdefault(name, value)
        blank_by_field.setdefault(name, blank)
    names = [name for name in sorted(value_by_field) if "20" <= name <= "29" or "60" <= name <= "63"]
    body = "".join(value_by_field[name] + blank_by_field[name] for name in names)
    party = clean_text(value_by_field.get("32", "") + value_by_field.get("33", ""))
    pieces = SEPA_PATTERN.split(body)
    if len(pieces) == 1:
        return party, clean_text(body) or clean_text(value_by_field.get("00", "")), []
    value_by_keyword = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return (
        party,
        clean_text(value_by_keyword.get("SVWZ", "")) or clean_text(pieces[0]),
        build_reference_notes(value_by_keyword.get("EREF"), value_by_keyword.get("MREF")),
    )


def iterate_subfields(text: str, separator: str) -> Iterator[tuple[str, str, str]]:
    """Yield (number, value, the space after it or nothing) of each numbered field.

    The text of a full field continues in the next one. With the separator "?" a field that is not full ends a
    word; with another one it does if its line ends.
    """
    if separator == "?":
        parts = SUBFIELD_PATTERN.split(text.replace("\n", ""))
    else:
        parts = re.split(rf"{re.escape(separator)}([0126][0-9]|3[0-4])", text)
    for name, value in zip(parts[1::2], parts[2::2], strict=True):
        one_line = value.replace("\n", "")
        continues = len(one_line) >= FIELD_CHARACTERS or (separator != "?" and not value.endswith("\n"))
        yield name, one_line, "" if continues else " "


def parse_slashed_information(pieces: list[str]) -> tuple[str, str, list[str]]:
    """Parse the format of Dutch banks: /NAME/Initech BV/REMI/Invoice 1042.

    >>> parse_slashed_information(SLASHED_PATTERN.split("/EREF/A-1/BENM//NAME/Initech BV/REMI/Invoice 1042"))
    ('Initech BV', 'Invoice 1042', ['End-to-end A-1'])
    """
    value_by_keyword: dict[str, str] = {}
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        value_by_keyword.setdefault(name, value)
    notes = build_reference_notes(value_by_keyword.get("EREF"), value_by_keyword.get("MARF"))
    return (
        clean_text(value_by_keyword.get("NAME", "")),
        clean_text(value_by_keyword.get("REMI", "")) or clean_text(pieces[0]),
        notes,
    )


def build_reference_notes(end_to_end: str | None, mandate: str | None) -> list[str]:
    references = (("End-to-end", clean_text(end_to_end or "")), ("Mandate", clean_text(mandate or "")))
    return [f"{name} {value}" for name, value in references if value not in NOT_GIVEN]
