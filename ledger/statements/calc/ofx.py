"""OFX: version 1, which is SGML, and version 2, which is XML. One reader takes both: values stand behind their tags,
and whether small tags are closed changes nothing."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Context, Decimal
from html import unescape

from ledger.calc.money import CURRENCIES, round_half_up
from ledger.calc.months import day_in_month
from ledger.calc.written_amounts import (
    GarbledAmountError,
    MixedMarksError,
    find_decimal_mark,
    parse_written_amount,
    tell_mark,
)
from ledger.importing.calc.entries import Entry
from ledger.statements.calc.facts import (
    LONGEST_NUMBER,
    LONGEST_TEXT,
    Statement,
    TooManyEntries,
    Unreadable,
    Unsafe,
    amount_of,
    clean,
    enough,
)

TAG = re.compile(r"<(/?)([A-Za-z0-9_.]++)[^<>]*+>([^<]*)")
AMOUNT_TAG = re.compile(r"<TRNAMT\b[^<>]*+>([^<\r\n]*)", re.IGNORECASE)
UNSAFE = re.compile(r"<!(?:DOCTYPE|ENTITY|ELEMENT)", re.IGNORECASE)
STATEMENTS = {"STMTRS", "CCSTMTRS"}
MOVEMENTS = {"STMTTRN", "STMTTRNP"}  # the second kind is pending
OTHERS = {"BANKACCTTO", "CCACCTTO", "IMAGEDATA", "AVAILBAL"}  # parts whose tags mean something else
SECTIONS = {"BANKACCTFROM", "CCACCTFROM", "LEDGERBAL", "CURRENCY", "ORIGCURRENCY", "PAYEE"}
MOST_VALUES = 1000  # of one movement or statement; the standard has some dozens
RATE = re.compile(r"\+?[0-9]{0,15}(?:\.[0-9]{0,30})?")
EXACT = Context(prec=80)  # holds the product of any amount and rate


def no_currency(_account_number: str) -> str:
    return ""


def read(text: str, *, most: int, currency_of: Callable[[str], str] = no_currency) -> list[Statement]:
    """The statements of all accounts. ``currency_of`` tells the currency of an account by its number, for statements
    that name none (an empty CURDEF). Raises Unreadable, Unsafe, TooManyEntries."""
    if UNSAFE.search(text):
        raise Unsafe
    reader, last = Reader(most, currency_of, find_mark(text)), ""
    for count, (line, closing, name, value) in enumerate(tags(text), 1):
        enough(count, reader.count, line=line)
        last = f"/{name}" if closing else name
        if closing:
            reader.close(name)
        else:
            reader.open(name, value, line)
    if last != "/OFX":
        raise Unreadable("The file ends before its </OFX>.", line=text.count("\n") + 1)
    return reader.statements


def find_mark(text: str) -> str:
    """The decimal mark of all amounts; nothing where none tells it. Raises Unreadable where they differ."""
    try:
        return find_decimal_mark(match[1] for match in AMOUNT_TAG.finditer(text))
    except MixedMarksError as error:
        line = text.count("\n", 0, text.find(error.texts[1])) + 1
        raise mixed_marks(error, line) from None


def mixed_marks(error: MixedMarksError, line: int) -> Unreadable:
    text, other = (each[:40] for each in error.texts)
    return Unreadable("“{text}” and “{other}” have different decimal marks.", line=line, text=text, other=other)


def tags(text: str) -> Iterator[tuple[int, bool, str, str]]:
    """(line, whether it closes, name, the value behind it)."""
    line, seen = 1, 0
    for match in TAG.finditer(text):
        line, seen = line + text.count("\n", seen, match.start()), match.start()
        yield line, bool(match[1]), match[2].upper(), match[3].strip()


@dataclass(slots=True)
class Draft:
    """A statement while it is read."""

    line: int
    about: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)


class Reader:
    """Takes tags one by one."""

    def __init__(self, most: int, currency_of: Callable[[str], str], mark: str):
        self.statements: list[Statement] = []
        self.most, self.count, self.currency_of = most, 0, currency_of
        self.draft: Draft | None = None
        self.movement: dict[str, str] | None = None
        self.line, self.mark = 0, mark
        self.section = self.skipped = ""

    def open(self, name: str, value: str, line: int) -> None:
        if self.skipped:
            return
        if name in OTHERS:
            self.skipped = name
        elif name in STATEMENTS:
            self.draft = Draft(line)
        elif name in MOVEMENTS:
            self.movement, self.line = {}, line
        elif name in SECTIONS:
            self.section = name
        elif value and self.draft is not None:
            into = self.draft.about if self.movement is None else self.movement
            if len(into) >= MOST_VALUES:
                raise Unreadable("Too many kinds of values.", line=line)
            into.setdefault(f"{self.section}.{name}" if self.section else name, unescape(value))

    def close(self, name: str) -> None:
        if self.skipped:
            self.skipped = "" if name == self.skipped else self.skipped
        elif name in SECTIONS:
            self.section = ""
        elif name in MOVEMENTS and self.movement is not None and self.draft is not None:
            self.count += 1
            if self.count > self.most:
                raise TooManyEntries
            pending = name == "STMTTRNP"
            self.fill_currency(self.draft)
            read_entry = entry(self.movement, self.draft.about, self.line, pending=pending, mark=self.mark)
            self.draft.entries.append(read_entry)
            self.movement = None
        elif name in STATEMENTS and self.draft is not None:
            if len(self.statements) >= self.most:
                raise TooManyEntries
            self.fill_currency(self.draft)
            self.statements.append(finished(self.draft, self.mark))
            self.draft = None

    def fill_currency(self, draft: Draft) -> None:
        """Gives a statement that names no currency its account's."""
        if not draft.about.get("CURDEF"):
            draft.about["CURDEF"] = self.currency_of(number_of(draft))


def number_of(draft: Draft) -> str:
    number = draft.about.get("BANKACCTFROM.ACCTID") or draft.about.get("CCACCTFROM.ACCTID") or ""
    return clean(number)[:LONGEST_NUMBER]


def finished(draft: Draft, mark: str) -> Statement:
    """The opening balance follows from the closing one and what was booked."""
    about = draft.about
    told = about.get("LEDGERBAL.BALAMT")
    closing = Decimal(parse_signed_amount(told, draft.line, tell_mark(told) or mark)) if told else None
    start, end = about.get("DTSTART"), about.get("LEDGERBAL.DTASOF") or about.get("DTEND")
    statement = Statement(
        account_number=number_of(draft),
        currency=about.get("CURDEF", "").upper(),
        start=day(start, draft.line) if start else None,
        end=day(end, draft.line) if end else None,
        closing=closing,
        entries=draft.entries,
    )
    booked = statement.booked_sum
    if closing is None or booked is None:
        return statement
    return replace(statement, opening=closing - booked)


def entry(has: dict[str, str], about: dict[str, str], line: int, *, pending: bool, mark: str) -> Entry:
    """One movement. Raises Unreadable."""
    posted, amount = has.get("DTPOSTED") or (has.get("DTTRAN") if pending else None), has.get("TRNAMT")
    if not posted or amount is None:
        raise Unreadable("STMTTRN has no DTPOSTED or no TRNAMT.", line=line)
    from_to, memo = clean(has.get("NAME") or has.get("PAYEE.NAME") or ""), clean(has.get("MEMO", ""))
    if len(from_to) > LONGEST_TEXT or len(memo) > LONGEST_TEXT:
        raise Unreadable("A text of more than {most} characters.", line=line, most=LONGEST_TEXT)
    currency, notes = about.get("CURDEF", "").upper(), []
    value, foreign = parse_signed_amount(amount, line, mark), has.get("CURRENCY.CURSYM", "").upper()
    if foreign and foreign != currency:
        notes.append(f"Amount {foreign} {value}")
        value, currency = in_own(value, has.get("CURRENCY.CURRATE"), currency=currency, foreign=foreign, line=line)
    if has.get("CHECKNUM"):
        notes.append(f"Check {clean(has['CHECKNUM'])}")
    return Entry(
        day=day(posted, line),
        amount=value,
        currency=currency,
        from_to=from_to,
        description=memo,
        notes="\n".join(notes),
        reference=clean(has.get("FITID", "")),
        pending=pending,
        line=line,
    )


def in_own(value: str, rate: str | None, *, currency: str, foreign: str, line: int) -> tuple[str, str]:
    """(amount, currency): in the statement's where the file tells the rate, rounded half up; else as it is. Raises
    Unreadable."""
    if not rate or currency not in CURRENCIES:  # a statement in none is refused as a whole
        return value, foreign
    own = round_half_up(EXACT.multiply(Decimal(value), rate_of(rate, line)), currency)
    return amount_of(str(own.copy_abs()), negative=own < 0, line=line), currency


def rate_of(text: str, line: int) -> Decimal:
    """What one of the other currency is worth in the statement's. Raises Unreadable.

    >>> rate_of("0,8517", 1)
    Decimal('0.8517')
    """
    plain = text.replace(",", ".")
    if RATE.fullmatch(plain) is None or not plain.strip("+.0"):
        raise Unreadable("“{text}” is no exchange rate.", line=line, text=text[:40])
    return Decimal(plain)


def parse_signed_amount(text: str, line: int, mark: str = "") -> str:
    """Return an amount with its sign as plain text. ``mark`` is the decimal mark of its file, where that is known.

    Raises:
        Unreadable: the text is not one amount.

    >>> parse_signed_amount("-1,234.50", 1), parse_signed_amount("+12,5", 1), parse_signed_amount("1,050", 1)
    ('-1234.5', '12.5', '1050')
    """
    try:
        amount = parse_written_amount(text, mark)
    except GarbledAmountError:
        raise Unreadable("“{text}” is no amount.", line=line, text=text[:40]) from None
    return amount_of(amount.removeprefix("-"), negative=amount.startswith("-"), line=line)


def day(text: str, line: int) -> date:
    """The day in the time's own offset: as it is written."""
    digits = text[:8]
    try:
        if not (digits.isascii() and digits.isdigit()):  # int() takes signs and blanks too
            raise ValueError
        return day_in_month(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        raise Unreadable("“{text}” is no time.", line=line, text=text[:40]) from None
