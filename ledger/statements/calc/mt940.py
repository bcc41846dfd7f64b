"""SWIFT's MT940 (statements) and MT942 (reports within the day), as banks write them.

A reader of our own: the libraries take many times the file's memory, name no line where a file is broken, and take
RC, a reversed credit, for money that comes in. It is money out, and RD money in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import chain, pairwise

from ledger.calc.months import day_in_month
from ledger.importing.calc.entries import Entry
from ledger.statements.calc.facts import (
    LONGEST_NUMBER,
    LONGEST_PIECE,
    LONGEST_TEXT,
    Statement,
    TooManyEntries,
    Unreadable,
    amount_of,
    clean,
)

TAG = re.compile(r":([0-9]{2}[A-Z]?|NS):")
BALANCE = re.compile(r"([CD])([0-9]{6})([A-Z]{3})([0-9,.]+)\s*")
LINE = re.compile(
    r"(?P<value>[0-9]{6})(?P<entry>[0-9]{4}|[ ]{4})?(?P<mark>R[CD]|E[CD]|[CD])[A-Z]?(?P<amount>[0-9][0-9,.]*)"
    r"(?:(?P<type>(?!E[0-9])[A-Z][A-Z0-9 ]{3})(?P<rest>.*)|(?P<bare>(?://.*)?))"  # 1E3 is no amount
)
# Fields that may follow a text. Others in it are text: a time of day that is broken over two lines begins with :08:12.
AFTER_TEXT = {"61", "64", "65", "86", "NS", "13C", "13D", "25P", "28C", "34F", "60F", "60M", "62F", "62M", "90C", "90D"}
# Fields that begin a message also look like minutes; they count where their neighbours follow.
FOLLOWERS = {"20": re.compile(r":(?:21|25P?|28C?):"), "25": re.compile(r":(?:28C?|60[FM]):")}
NUMBERED = re.compile(r"[0-9 ]{3}(?:(\?)[0-9]|([^0-9A-Za-z\s])(?:00|10|20)(?=.*\2(?:20|21|32)))", re.DOTALL)
SUBFIELD = re.compile(r"\?([0-9]{2})")
SEPA = re.compile(r"(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP)\+")
SLASHED = re.compile(r"/(TRTP|IBAN|BIC|NAME|REMI|EREF|MARF|CSID|BENM|ORDP|ISDT|ID|ADDR|PREF|RTRN|PURP|ULTC|ULTD|CNTP)/")
CHUNK = 27  # characters of a field of remittance text: a full one goes on in the next
MONEY_OUT = {"D", "RC", "ED"}
CENTURY_TURNS = 80  # 79 is 2079, 80 is 1980: SWIFT's own rule for YYMMDD
NOT_GIVEN = {"", "NONREF", "NOTPROVIDED"}


REFERENCE_TAG = re.compile(r"^(?:\{4:\s*)?:20:", re.MULTILINE)
ACCOUNT_TAG = re.compile(r"^(?:\{4:\s*)?:25P?:", re.MULTILINE)
BALANCE_TAG = re.compile(r"^:(?:60[FM]|34F):", re.MULTILINE)


def is_one(text: str) -> bool:
    """Whether a text begins as such a file does, behind what banks write above; some begin with field 25."""
    start = text[:5000]
    if REFERENCE_TAG.search(start):
        return True
    return bool(ACCOUNT_TAG.search(start) and BALANCE_TAG.search(start))


def read(lines: Iterator[str], *, most: int) -> tuple[str, list[Statement]]:
    """(format, statements). Raises Unreadable, TooManyEntries."""
    drafts: list[Draft] = []
    count = 0
    for number, tag, value in fields(lines):
        if tag == "20":
            drafts.append(Draft(number))
        elif tag in ("25", "25P") and (not drafts or drafts[-1].is_over):
            drafts.append(Draft(number))
            drafts[-1].take(number, tag, value)
        elif drafts:
            drafts[-1].take(number, tag, value)
            count += tag == "61"
        if max(count, len(drafts)) > most:
            raise TooManyEntries
    interim = bool(drafts) and all(draft.interim for draft in drafts)
    return "mt942" if interim else "mt940", [draft.finished() for draft in joined(drafts)]


def fields(lines: Iterator[str]) -> Iterator[tuple[int, str, str]]:
    """(number of its line, tag, value) of each field; a value may go over several lines. Raises
    Unreadable."""
    tag, begun, value, length = "", 0, [], 0  # type: tuple[str, int, list[str], int]
    for number, (line, next_line) in enumerate(pairwise(chain(map(plain_line, lines), [""])), 1):
        match = TAG.match(line)
        if match and (tag != "86" or ends_text(match[1], next_line)):
            if tag:
                yield begun, tag, "\n".join(value)
            tag, begun, value, length = match[1], number, [line[match.end() :]], len(line)
        elif line.startswith(("-}", "{1:", "-XXX")) or line == "-":
            if tag:
                yield begun, tag, "\n".join(value)
            tag, value = "", []
        elif tag:
            length = bearable(length + len(line) + 1, begun)
            value.append(line)
    if tag:
        yield begun, tag, "\n".join(value)


def plain_line(line: str) -> str:
    return line.rstrip("\r\n").removeprefix("{4:")


def ends_text(tag: str, next_line: str) -> bool:
    """Whether a line in a text (field 86) that begins with a tag is the next field."""
    follower = FOLLOWERS.get(tag)
    return tag in AFTER_TEXT or (follower is not None and follower.match(next_line) is not None)


def bearable(length: int, line: int) -> int:
    """The length of a field, which its readers split again and again. Raises Unreadable."""
    if length > LONGEST_PIECE:
        raise Unreadable("A text of more than {most} characters.", line=line, most=LONGEST_PIECE)
    return length


@dataclass(slots=True)
class Draft:
    """A message while it is read."""

    line: int
    about: dict[str, str] = field(default_factory=dict)
    balances: dict[str, tuple[date, str, Decimal]] = field(default_factory=dict)
    entries: list[tuple[int, str, str]] = field(default_factory=list)  # line, field 61, field 86
    last: str = ""

    @property
    def is_over(self) -> bool:
        """Whether another account number begins the next message, which has no field 20."""
        return "25" in self.about and bool(self.balance("62F", "62M") or self.interim)

    @property
    def interim(self) -> bool:
        """Whether it is a report within the day: it tells no balances."""
        return not self.balances and "34" in self.about

    def take(self, line: int, tag: str, value: str) -> None:
        if tag in ("60F", "60M", "62F", "62M"):
            self.balances[tag] = balance(line, value)
        elif tag == "61":
            self.entries.append((line, value, ""))
        elif tag == "86" and self.last == "61":
            number, movement, _ = self.entries[-1]
            self.entries[-1] = number, movement, value
        elif tag in ("25", "25P", "28", "28C"):
            self.about[tag[:2]] = value
        elif tag == "34F":
            self.about.setdefault("34", value)
        self.last = tag

    def balance(self, *tags: str) -> tuple[date, str, Decimal] | None:
        return next((self.balances[tag] for tag in tags if tag in self.balances), None)

    def finished(self) -> Statement:
        opening, closing = self.balance("60F", "60M"), self.balance("62F", "62M")
        if opening and not closing:
            raise Unreadable("The statement ends without its closing balance (62F).", line=self.line)
        if opening and closing and opening[1] != closing[1]:
            raise Unreadable(
                "The statement opens in {opening} and closes in {closing}. Ask the bank for it again.",
                line=self.line,
                opening=opening[1],
                closing=closing[1],
            )
        interim = self.interim
        currency = (opening or closing or ("", self.about.get("34", "")[:3], ""))[1]
        if not currency:
            raise Unreadable("The statement names no currency (60F, 62F or 34F).", line=self.line)
        number = clean(self.about.get("25", "").split("\n")[0])[:LONGEST_NUMBER]
        return Statement(
            account_number=number,
            currency=currency,
            statement_id=clean(self.about.get("28", "")),
            start=opening[0] if opening else None,
            end=closing[0] if closing else None,
            opening=opening[2] if opening else None,
            closing=closing[2] if closing else None,
            final=not interim,
            entries=[entry(*each, currency=currency, pending=interim) for each in self.entries],
        )


def joined(drafts: list[Draft]) -> Iterator[Draft]:
    """The statements, whose pages have an interim closing balance (62M) and go on from there (60M)."""
    held: Draft | None = None
    for draft in drafts:
        if not draft.balances and not draft.entries and not draft.interim:
            continue
        if held and "62M" in held.balances and "60M" in draft.balances and same_account(held, draft):
            held.balances.pop("62M")
            draft.balances.pop("60M")
            held.balances |= draft.balances
            held.entries += draft.entries
            continue
        if held:
            yield held
        held = draft
    if held:
        yield held


def same_account(one: Draft, other: Draft) -> bool:
    return one.about.get("25") == other.about.get("25")


def balance(line: int, value: str) -> tuple[date, str, Decimal]:
    """(day, currency, amount) of a field 60 or 62."""
    match = BALANCE.fullmatch(value.split("\n")[0])
    if match is None:
        raise Unreadable("“{text}” is no balance.", line=line, text=value[:40])
    amount = amount_of(plain(match[4]), negative=match[1] == "D", line=line)
    return six(match[2], line), match[3], Decimal(amount)


def plain(amount: str) -> str:
    """With a point before the cents."""
    return amount.replace(",", ".")


def six(text: str, line: int) -> date:
    """The day that YYMMDD names."""
    year = int(text[:2])
    return checked(line, text, year + (2000 if year < CENTURY_TURNS else 1900), int(text[2:4]), int(text[4:]))


def checked(line: int, text: str, *parts: int) -> date:
    try:
        return day_in_month(*parts)
    except ValueError:
        raise Unreadable("“{text}” is no day.", line=line, text=text) from None


def entry_day(value: date, text: str, line: int) -> date:
    """The day that MMDD names, in the year in which it lies closest to the value date."""
    month, day = int(text[:2]), int(text[2:])
    years = (value.year - 1, value.year, value.year + 1)
    return min((checked(line, text, year, month, day) for year in years), key=lambda day: abs(day - value))


def entry(line: int, movement: str, information: str, *, currency: str, pending: bool) -> Entry:
    """A movement (field 61) with what is said of it (field 86). Raises Unreadable."""
    first, _, further = movement.partition("\n")
    match = LINE.fullmatch(first)
    if match is None:
        raise Unreadable("“{text}” is no movement (61).", line=line, text=first[:40])
    valued = six(match["value"], line)
    given = (match["entry"] or "").strip()
    day = entry_day(valued, given, line) if given else valued
    customer, _, bank = (match["rest"] or match["bare"] or "").partition("//")
    from_to, description, notes = told(information)
    if valued != day:
        notes.insert(0, f"Value date {valued}")
    description = description or clean(further) or ("" if customer.strip() in NOT_GIVEN else clean(customer))
    if len(description) > LONGEST_TEXT or len(from_to) > LONGEST_TEXT:
        raise Unreadable("A text of more than {most} characters.", line=line, most=LONGEST_TEXT)
    return Entry(
        day=day,
        amount=amount_of(plain(match["amount"]), negative=match["mark"] in MONEY_OUT, line=line),
        currency=currency,
        from_to=from_to,
        description=description,
        notes="\n".join(notes),
        reference="" if bank.strip() in NOT_GIVEN else clean(bank),
        pending=pending,
        line=line,
    )


# ---------------------------------------------------------------------------------------------- field 86


def told(information: str) -> tuple[str, str, list[str]]:
    """(the other party, the remittance text, notes) of a field 86: in numbered fields, in words between slashes, or
    as a plain text."""
    text = information.strip()
    if match := NUMBERED.match(text):
        return numbered(text, match[1] or match[2])
    if len(found := SLASHED.split(text.replace("\n", ""))) > 1:
        return slashed(found)
    return "", clean(text), []


def numbered(text: str, separator: str = "?") -> tuple[str, str, list[str]]:
    """As German banks write it: ?20 to ?29 and ?60 to ?63 are the text, ?32 and ?33 the party. Other banks have another
    separator.

    >>> numbered("166?00GUTSCHRIFT?20EREF+A-1?21SVWZ+Invoice 1042?32Initech GmbH")
    ('Initech GmbH', 'Invoice 1042', ['End-to-end A-1'])
    >>> numbered("000>100987654321>20GENERAL CO>21STS>32Bank NV", ">")
    ('Bank NV', 'GENERAL COSTS', [])
    """
    has: dict[str, str] = {}
    blanks: dict[str, str] = {}
    for name, value, blank in subfields(text, separator):
        has.setdefault(name, value)
        blanks.setdefault(name, blank)
    names = [name for name in sorted(has) if "20" <= name <= "29" or "60" <= name <= "63"]
    body = "".join(has[name] + blanks[name] for name in names)
    party = clean(has.get("32", "") + has.get("33", ""))
    pieces = SEPA.split(body)
    if len(pieces) == 1:
        return party, clean(body) or clean(has.get("00", "")), []
    marked = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return party, clean(marked.get("SVWZ", "")) or clean(pieces[0]), noted(marked.get("EREF"), marked.get("MREF"))


def subfields(text: str, separator: str) -> Iterator[tuple[str, str, str]]:
    """(number, value, the blank behind it or nothing) of each numbered field.

    The text of a full field goes on in the next. With the separator "?" one that is not full ends a word; with
    another it does where its line ends.
    """
    if separator == "?":
        parts = SUBFIELD.split(text.replace("\n", ""))
    else:
        parts = re.split(rf"{re.escape(separator)}([0126][0-9]|3[0-4])", text)
    for name, value in zip(parts[1::2], parts[2::2], strict=True):
        one_line = value.replace("\n", "")
        goes_on = len(one_line) >= CHUNK or (separator != "?" and not value.endswith("\n"))
        yield name, one_line, "" if goes_on else " "


def slashed(found: list[str]) -> tuple[str, str, list[str]]:
    """As Dutch banks write it: /NAME/Initech BV/REMI/Invoice 1042.

    >>> slashed(SLASHED.split("/EREF/A-1/BENM//NAME/Initech BV/REMI/Invoice 1042"))
    ('Initech BV', 'Invoice 1042', ['End-to-end A-1'])
    """
    has: dict[str, str] = {}
    for name, value in zip(found[1::2], found[2::2], strict=True):
        has.setdefault(name, value)
    notes = noted(has.get("EREF"), has.get("MARF"))
    return clean(has.get("NAME", "")), clean(has.get("REMI", "")) or clean(found[0]), notes


def noted(end_to_end: str | None, mandate: str | None) -> list[str]:
    named = (("End-to-end", clean(end_to_end or "")), ("Mandate", clean(mandate or "")))
    return [f"{name} {value}" for name, value in named if value not in NOT_GIVEN]
