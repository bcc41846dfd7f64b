"""ISO 20022: camt.052 (reports), camt.053 (statements) and camt.054 (notifications), versions 02 to 13.

Read as a stream: at most one entry is in memory. Namespace prefixes are ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ledger.bank_statements.parsers.camt_entries import NO_DAY, build_camt_entry
from ledger.bank_statements.parsers.models import (
    MAX_ACCOUNT_NUMBER_LENGTH,
    NotAStatementError,
    ParsedStatement,
    TooManyEntriesError,
    UnreadableFileError,
    UnsafeXmlError,
    check_element_count,
    clean_text,
    discard_progress,
    parse_iso_day,
    to_signed_amount,
)
from ledger.bank_statements.parsers.xml_elements import get_day_at, get_element_text, get_text_at
from ledger.imports.calc.entries import Entry

FORMAT_BY_MESSAGE = {"BkToCstmrAcctRpt": "camt.052", "BkToCstmrStmt": "camt.053", "BkToCstmrDbtCdtNtfctn": "camt.054"}
STATEMENT_ELEMENTS = {"Rpt", "Stmt", "Ntfctn"}
TRUNCATION_ERRORS = [  # too early
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
]
CHUNK_BYTES = 64 * 1024
MAX_DEPTH = 64  # levels; the standard has about fifteen
MAX_ENTRY_ELEMENTS = 500_000  # elements of one entry: a batch of some twenty thousand payments
MAX_ENTRY_CHARACTERS = 16_000_000  # characters of their texts
MAX_TAG_BYTES = 1024 * 1024  # bytes
MAX_NAMES, MAX_BALANCES = 10_000, 1000  # the standard has some hundred, and banks tell a dozen
SKIPPED_ELEMENTS = {
    "BkTxCd",
    "RltdAgts",
    "PstlAdr",
    "Chrgs",
    "DbtrAcct",
    "CdtrAcct",
    "TxsSummry",
    "Purp",
    "RltdDts",
    "Svcr",
}


def read_camt(
    content: bytes,
    *,
    encoding: str | None = None,
    max_entries: int,
    on_progress: Callable[[int], None] = discard_progress,
) -> tuple[str, list[ParsedStatement]]:
    """Return (format, statements). ``encoding`` replaces the declared one; ``on_progress`` gets the number of
    bytes read.

    Raises UnreadableFileError, UnsafeXmlError, TooManyEntriesError, NotAStatementError.
    """
    stream = CamtStream(encoding, max_entries=max_entries)
    try:
        for start in range(0, len(content), CHUNK_BYTES):
            stream.parser.Parse(content[start : start + CHUNK_BYTES])
            on_progress(start)
            if (
                start - stream.parser.CurrentByteIndex > MAX_TAG_BYTES
            ):  # it waits for the end of a tag, and keeps it all
                raise UnreadableFileError("Unclosed XML tag.", line=stream.parser.CurrentLineNumber)
        stream.parser.Parse(b"", True)
        on_progress(len(content))
    except expat.ExpatError as error:
        if error.code in TRUNCATION_ERRORS:
            unreadable = UnreadableFileError(
                "The file is incomplete and ends here. Export or download it again.", line=error.lineno
            )
        else:
            unreadable = UnreadableFileError(
                "The XML is not well-formed here. Export the file again.", line=error.lineno
            )
        raise unreadable from None
    except (LookupError, ValueError) as error:
        raise UnreadableFileError("Unsupported encoding: {error}.", line=1, error=str(error)) from None
    if not stream.format:
        raise NotAStatementError
    return stream.format, stream.statements


@dataclass(slots=True)
class CamtDraft:
    """A statement while it is read."""

    details: dict[str, Element] = field(default_factory=dict)
    balances: list[Element] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    undated_positions: list[int] = field(default_factory=list)
    currency: str = ""


class CamtStream:
    """The parser's callbacks. Only children of a statement become trees, one at a time."""

    def __init__(self, encoding: str | None, *, max_entries: int):
        self.format, self.max_entries = "", max_entries
        self.statements: list[ParsedStatement] = []
        self.depth = self.base = self.size = self.length = self.line = self.count = 0
        self.opened = self.payments = 0
        self.skipping = 0  # the level of an element of which nothing is wanted
        self.names: dict[str, str] = {}
        self.draft: CamtDraft | None = None
        self.builder: TreeBuilder | None = None
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.reject_doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data

    def reject_doctype(self, *_args: object) -> None:
        raise UnsafeXmlError

    def get_local_name(self, name: str) -> str:
        """Return the name without its prefix, and cache it."""
        if len(self.names) >= MAX_NAMES:
            raise UnreadableFileError("Too many different elements.", line=self.parser.CurrentLineNumber)
        self.names[name] = name.rpartition(":")[2]
        return self.names[name]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = self.names.get(name) or self.get_local_name(name)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableFileError(
                "Nested deeper than {most} levels.", line=self.parser.CurrentLineNumber, most=MAX_DEPTH
            )
        if self.skipping or (self.draft is not None and name in SKIPPED_ELEMENTS):
            self.skipping = self.skipping or self.depth
        elif self.builder is not None:
            self.size += 1
            if self.size > MAX_ENTRY_ELEMENTS:
                raise UnreadableFileError("The entry has too many elements.", line=self.line)
            self.builder.start(name, attributes)
        else:
            self.open_element(name, attributes)

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        """Start a message, a statement, or a child of one."""
        self.opened += 1
        check_element_count(self.opened, self.count, line=self.parser.CurrentLineNumber)
        if self.draft is not None:
            self.builder, self.line = TreeBuilder(), self.parser.CurrentLineNumber
            self.size = self.length = 0
            self.builder.start(name, attributes)
        elif self.format and self.depth == self.base + 1 and name in STATEMENT_ELEMENTS:
            if len(self.statements) >= self.max_entries:
                raise TooManyEntriesError
            self.draft = CamtDraft()
        elif not self.format and name in FORMAT_BY_MESSAGE:
            self.format, self.base = FORMAT_BY_MESSAGE[name], self.depth

    def end(self, name: str) -> None:
        if self.skipping:
            self.skipping = 0 if self.skipping == self.depth else self.skipping
        elif self.builder is not None:
            self.builder.end(self.names[name])
            if self.depth == self.base + 2:
                element = self.builder.close()
                self.builder = None
                self.add_statement_child(element, self.draft or CamtDraft())
        elif self.draft is not None and self.depth == self.base + 1:
            self.statements.append(finish_camt_statement(self.draft, self.format))
            self.draft = None
        self.depth -= 1

    def data(self, text: str) -> None:
        if self.builder is not None and not self.skipping:
            self.length += len(text)
            if self.length > MAX_ENTRY_CHARACTERS:
                raise UnreadableFileError("The entry has too much text.", line=self.line)
            self.builder.data(text)

    def add_statement_child(self, element: Element, draft: CamtDraft) -> None:
        """Add one child of a statement."""
        if element.tag == "Ntry":
            self.count += 1
            self.payments += sum(len(group.findall("TxDtls")) for group in element.iterfind("NtryDtls"))
            if self.count > self.max_entries or self.payments > 2 * self.max_entries:
                raise TooManyEntriesError
            draft.currency = draft.currency or find_camt_currency(draft)
            entry = build_camt_entry(element, self.format, draft.currency, self.line)
            draft.currency = draft.currency or entry.currency
            if entry.day is NO_DAY:
                draft.undated_positions.append(len(draft.entries))
            draft.entries.append(entry)
        elif element.tag == "Bal" and len(draft.balances) < MAX_BALANCES:
            draft.balances.append(element)
        elif element.tag in ("Acct", "Id", "FrToDt", "CreDtTm"):
            draft.details[element.tag] = element


# ---------------------------------------------------------------------------------------------- statements


def finish_camt_statement(draft: CamtDraft, format_: str) -> ParsedStatement:
    """Return the statement of a draft."""
    account = draft.details.get("Acct")
    currency = draft.currency or find_camt_currency(draft)
    balances = [
        balance for balance in draft.balances if get_balance_currency(balance) in ("", currency)
    ]  # others can be compared with nothing
    opening, closing = find_opening_element(balances), find_closing_element(balances)
    start, end = find_statement_period(draft, opening, closing)
    creation_text = get_element_text(draft.details.get("CreDtTm"))
    for position in draft.undated_positions:
        draft.entries[position] = set_entry_day(draft.entries[position], end or parse_iso_day(creation_text))
    return ParsedStatement(
        account_number=clean_text(get_camt_account_number(account))[:MAX_ACCOUNT_NUMBER_LENGTH],
        currency=currency,
        statement_id=clean_text(get_element_text(draft.details.get("Id"))),
        start=start,
        end=end or parse_iso_day(creation_text),
        opening=parse_balance_value(opening),
        closing=parse_balance_value(closing),
        final=format_ == "camt.053",
        entries=draft.entries,
    )


def set_entry_day(entry: Entry, day: date | None) -> Entry:
    """Return the entry with the statement's day. Raises UnreadableFileError if there is none."""
    if day is None:
        raise UnreadableFileError("Ntry has no BookgDt.", line=entry.line)
    return replace(entry, day=day, parts=tuple(replace(part, day=day) for part in entry.parts))


def get_camt_account_number(account: Element | None) -> str:
    """Return the IBAN, or else the bank's own number.

    >>> from xml.etree.ElementTree import SubElement
    >>> account = Element("Acct")
    >>> SubElement(SubElement(SubElement(account, "Id"), "Othr"), "Id").text = "4711"
    >>> get_camt_account_number(account)
    '4711'
    """
    return (
        get_text_at(account, "Id", "IBAN")
        or get_text_at(account, "Id", "Othr", "Id")
        or get_text_at(account, "Id", "PrtryAcct", "Id")
    )


def find_camt_currency(draft: CamtDraft) -> str:
    """Return the account's currency, or else that of its balances."""
    account_currency = get_text_at(draft.details.get("Acct"), "Ccy")
    if account_currency:
        return account_currency
    return next(filter(None, map(get_balance_currency, draft.balances)), "")


def get_balance_currency(balance: Element) -> str:
    """Return the currency of a balance; empty if it has none."""
    amount = balance.find("Amt")
    return amount.get("Ccy", "") if amount is not None else ""


def find_opening_element(balances: list[Element]) -> Element | None:
    """Return the opening balance, the previous closing balance, or the first of two interim ones."""
    interim = filter_balances(balances, "ITBD")
    return next(iter([*filter_balances(balances, "OPBD"), *filter_balances(balances, "PRCD"), *interim[:-1]]), None)


def find_closing_element(balances: list[Element]) -> Element | None:
    """Return the closing balance, or the last interim one."""
    return next(iter([*filter_balances(balances, "CLBD"), *reversed(filter_balances(balances, "ITBD"))]), None)


def filter_balances(balances: list[Element], kind: str) -> list[Element]:
    """Return the balances of a kind."""
    return [each for each in balances if get_text_at(each, "Tp", "CdOrPrtry", "Cd") == kind]


def parse_balance_value(balance: Element | None) -> Decimal | None:
    """Return the signed amount of a balance."""
    if balance is None:
        return None
    text = get_text_at(balance, "Amt")
    debit = get_text_at(balance, "CdtDbtInd") == "DBIT"
    return Decimal(to_signed_amount(text, negative=debit, line=0))


def find_statement_period(
    draft: CamtDraft, opening: Element | None, closing: Element | None
) -> tuple[date | None, date | None]:
    """Return the period that the statement names, or else the days of its balances."""
    period = draft.details.get("FrToDt")
    start = parse_iso_day(get_text_at(period, "FrDtTm") or get_text_at(period, "FrDt"))
    end = parse_iso_day(get_text_at(period, "ToDtTm") or get_text_at(period, "ToDt"))
    if start is None and opening is not None:
        start = get_day_at(opening.find("Dt"))
        if start is not None and get_text_at(opening, "Tp", "CdOrPrtry", "Cd") == "PRCD":
            start += timedelta(days=1)
    if end is None and closing is not None:
        end = get_day_at(closing.find("Dt"))
    return start, end
