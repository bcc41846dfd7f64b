"""OFX: version 1 is SGML, version 2 is XML. One reader takes both: values follow their tags, and whether small
tags are closed does not matter.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Context, Decimal
from html import unescape

from ledger.bank_statements.parsers.models import (
    MAX_ACCOUNT_NUMBER_LENGTH,
    MAX_TEXT_LENGTH,
    ParsedStatement,
    TooManyEntriesError,
    UnreadableFileError,
    UnsafeXmlError,
    check_element_count,
    clean_text,
    to_signed_amount,
)
from ledger.calc.months import clamp_day_to_month
from ledger.calc.written_amounts import (
    GarbledAmountError,
    MixedMarksError,
    find_decimal_mark,
    find_mark_of_amount,
    parse_written_amount,
)
from ledger.imports.calc.entries import Entry
from ledger.money.calc.money import CURRENCIES, round_half_up

TAG_PATTERN = re.compile(r"<(/?)([A-Za-z0-9_.]++)[^<>]*+>([^<]*)")
AMOUNT_TAG = re.compile(r"<TRNAMT\b[^<>]*+>([^<\r\n]*)", re.IGNORECASE)
UNSAFE_PATTERN = re.compile(r"<!(?:DOCTYPE|ENTITY|ELEMENT)", re.IGNORECASE)
STATEMENT_TAGS = {"STMTRS", "CCSTMTRS"}
MOVEMENT_TAGS = {"STMTTRN", "STMTTRNP"}  # the second kind is pending
SKIPPED_TAGS = {"BANKACCTTO", "CCACCTTO", "IMAGEDATA", "AVAILBAL"}  # parts whose tags mean something else
SECTION_TAGS = {"BANKACCTFROM", "CCACCTFROM", "LEDGERBAL", "CURRENCY", "ORIGCURRENCY", "PAYEE"}
MAX_VALUES = 1000  # of one movement or statement; the standard has some dozens
RATE_PATTERN = re.compile(r"\+?[0-9]{0,15}(?:\.[0-9]{0,30})?")
EXACT_CONTEXT = Context(prec=80)  # holds the product of any amount and rate


def return_no_currency(_account_number: str) -> str:
    return ""


def read_ofx(
    text: str, *, max_entries: int, find_currency: Callable[[str], str] = return_no_currency
) -> list[ParsedStatement]:
    """Return the statements of all accounts.

    Args:
        find_currency: returns an account's currency by its number, for statements with an empty CURDEF.

    Raises UnreadableFileError, UnsafeXmlError, TooManyEntriesError.
    """
    if UNSAFE_PATTERN.search(text):
        raise UnsafeXmlError
    reader, last = OfxReader(max_entries, find_currency, find_ofx_decimal_mark(text)), ""
    for count, (line, closing, name, value) in enumerate(iterate_tags(text), 1):
        check_element_count(count, reader.count, line=line)
        last = f"/{name}" if closing else name
        if closing:
            reader.close(name)
        else:
            reader.open(name, value, line)
    if last != "/OFX":
        raise UnreadableFileError("The file is incomplete: </OFX> is missing.", line=text.count("\n") + 1)
    return reader.statements


def find_ofx_decimal_mark(text: str) -> str:
    """The decimal mark of all amounts; nothing where none tells it. Raises Unreadable where they differ."""
    try:
        return find_decimal_mark(match[1] for match in AMOUNT_TAG.finditer(text))
    except MixedMarksError as error:
        line = text.count("\n", 0, text.find(error.texts[1])) + 1
        raise build_mixed_marks_error(error, line) from None


def build_mixed_marks_error(error: MixedMarksError, line: int) -> UnreadableFileError:
    text, other = (each[:40] for each in error.texts)
    return UnreadableFileError("“{text}” and “{other}” use different decimal marks.", line=line, text=text, other=other)


def iterate_tags(text: str) -> Iterator[tuple[int, bool, str, str]]:
    """Yield (line, whether it closes, name, the value after it)."""
    line, counted_to = 1, 0
    for match in TAG_PATTERN.finditer(text):
        line, counted_to = line + text.count("\n", counted_to, match.start()), match.start()
        yield line, bool(match[1]), match[2].upper(), match[3].strip()


@dataclass(slots=True)
class OfxDraft:
    """A statement while it is read."""

    line: int
    values: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)


class OfxReader:
    """Takes tags one by one."""

    def __init__(self, max_entries: int, find_currency: Callable[[str], str], decimal_mark: str):
        self.statements: list[ParsedStatement] = []
        self.max_entries, self.count, self.find_currency = max_entries, 0, find_currency
        self.draft: OfxDraft | None = None
        self.movement: dict[str, str] | None = None
        self.line, self.decimal_mark = 0, decimal_mark
        self.section = self.skipped = ""

    def open(self, name: str, value: str, line: int) -> None:
        if self.skipped:
            return
        if name in SKIPPED_TAGS:
            self.skipped = name
        elif name in STATEMENT_TAGS:
            self.draft = OfxDraft(line)
        elif name in MOVEMENT_TAGS:
            self.movement, self.line = {}, line
        elif name in SECTION_TAGS:
            self.section = name
        elif value and self.draft is not None:
            target_values = self.draft.values if self.movement is None else self.movement
            if len(target_values) >= MAX_VALUES:
                raise UnreadableFileError("Too many different elements.", line=line)
            target_values.setdefault(f"{self.section}.{name}" if self.section else name, unescape(value))

    def close(self, name: str) -> None:
        if self.skipped:
            self.skipped = "" if name == self.skipped else self.skipped
        elif name in SECTION_TAGS:
            self.section = ""
        elif name in MOVEMENT_TAGS and self.movement is not None and self.draft is not None:
            self.count += 1
            if self.count > self.max_entries:
                raise TooManyEntriesError
            pending = name == "STMTTRNP"
            self.fill_currency(self.draft)
            read_entry = build_ofx_entry(
                self.movement, self.draft.values, self.line, pending=pending, decimal_mark=self.decimal_mark
            )
            self.draft.entries.append(read_entry)
            self.movement = None
        elif name in STATEMENT_TAGS and self.draft is not None:
            if len(self.statements) >= self.max_entries:
                raise TooManyEntriesError
            self.fill_currency(self.draft)
            self.statements.append(build_ofx_statement(self.draft, self.decimal_mark))
            self.draft = None

    def fill_currency(self, draft: OfxDraft) -> None:
        """Set the account's currency if the statement has none."""
        if not draft.values.get("CURDEF"):
            draft.values["CURDEF"] = self.find_currency(get_ofx_account_number(draft))


def get_ofx_account_number(draft: OfxDraft) -> str:
    number = draft.values.get("BANKACCTFROM.ACCTID") or draft.values.get("CCACCTFROM.ACCTID") or ""
    return clean_text(number)[:MAX_ACCOUNT_NUMBER_LENGTH]


def build_ofx_statement(draft: OfxDraft, decimal_mark: str) -> ParsedStatement:
    """Return the statement; the opening balance follows from the closing one and the booked entries."""
    values = draft.values
    closing_text = values.get("LEDGERBAL.BALAMT")
    closing = (
        Decimal(parse_signed_amount(closing_text, draft.line, find_mark_of_amount(closing_text) or decimal_mark))
        if closing_text
        else None
    )
    start, end = values.get("DTSTART"), values.get("LEDGERBAL.DTASOF") or values.get("DTEND")
    statement = ParsedStatement(
        account_number=get_ofx_account_number(draft),
        currency=values.get("CURDEF", "").upper(),
        start=parse_ofx_day(start, draft.line) if start else None,
        end=parse_ofx_day(end, draft.line) if end else None,
        closing=closing,
        entries=draft.entries,
        has_unique_ids=True,
    )
    booked_sum = statement.booked_sum
    if closing is None or booked_sum is None:
        return statement
    return replace(statement, opening=closing - booked_sum)


def build_ofx_entry(
    values: dict[str, str], statement_values: dict[str, str], line: int, *, pending: bool, decimal_mark: str
) -> Entry:
    """Return one transaction. Raises UnreadableFileError."""
    booking_day, amount = values.get("DTPOSTED") or (values.get("DTTRAN") if pending else None), values.get("TRNAMT")
    if not booking_day or amount is None:
        raise UnreadableFileError("STMTTRN has no DTPOSTED or no TRNAMT.", line=line)
    from_to, memo = clean_text(values.get("NAME") or values.get("PAYEE.NAME") or ""), clean_text(values.get("MEMO", ""))
    if len(from_to) > MAX_TEXT_LENGTH or len(memo) > MAX_TEXT_LENGTH:
        raise UnreadableFileError("The text is longer than {most} characters.", line=line, most=MAX_TEXT_LENGTH)
    currency, notes = statement_values.get("CURDEF", "").upper(), []
    value, foreign = parse_signed_amount(amount, line, decimal_mark), values.get("CURRENCY.CURSYM", "").upper()
    if foreign and foreign != currency:
        notes.append(f"Amount {foreign} {value}")
        value, currency = convert_to_statement_currency(
            value, values.get("CURRENCY.CURRATE"), currency=currency, foreign=foreign, line=line
        )
    if values.get("CHECKNUM"):
        notes.append(f"Check {clean_text(values['CHECKNUM'])}")
    return Entry(
        day=parse_ofx_day(booking_day, line),
        amount=value,
        currency=currency,
        from_to=from_to,
        description=memo,
        notes="\n".join(notes),
        reference=clean_text(values.get("FITID", "")),
        pending=pending,
        line=line,
    )


def convert_to_statement_currency(
    value: str, rate: str | None, *, currency: str, foreign: str, line: int
) -> tuple[str, str]:
    """Return (amount, currency) in the statement's currency if the file has the rate, rounded half up; else as it
    is.

    Raises UnreadableFileError.
    """
    if not rate or currency not in CURRENCIES:  # a statement in none is refused as a whole
        return value, foreign
    own = round_half_up(EXACT_CONTEXT.multiply(Decimal(value), parse_rate(rate, line)), currency)
    return to_signed_amount(str(own.copy_abs()), negative=own < 0, line=line), currency


def parse_rate(text: str, line: int) -> Decimal:
    """Return the value of one unit of the other currency in the statement's. Raises UnreadableFileError.

    >>> parse_rate("0,8517", 1)
    Decimal('0.8517')
    """
    plain = text.replace(",", ".")
    if RATE_PATTERN.fullmatch(plain) is None or not plain.strip("+.0"):
        raise UnreadableFileError("“{text}” is not a valid exchange rate.", line=line, text=text[:40])
    return Decimal(plain)


def parse_signed_amount(text: str, line: int, decimal_mark: str = "") -> str:
    """Return an amount with its sign as plain text. ``decimal_mark`` is that of its file, if known.

    Raises:
        Unreadable: the text is not one amount.

    >>> parse_signed_amount("-1,234.50", 1), parse_signed_amount("+12,5", 1), parse_signed_amount("1,050", 1)
    ('-1234.5', '12.5', '1050')
    """
    try:
        amount = parse_written_amount(text, decimal_mark)
    except GarbledAmountError:
        raise UnreadableFileError("“{text}” is not a valid amount.", line=line, text=text[:40]) from None
    return to_signed_amount(amount.removeprefix("-"), negative=amount.startswith("-"), line=line)


def parse_ofx_day(text: str, line: int) -> date:
    """Return the day in the time's own offset, as written. Raises UnreadableFileError."""
    digits = text[:8]
    try:
        if not (digits.isascii() and digits.isdigit()):  # int() takes signs and blanks too
            raise ValueError
        return clamp_day_to_month(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        raise UnreadableFileError("“{text}” is not a valid time.", line=line, text=text[:40]) from None
