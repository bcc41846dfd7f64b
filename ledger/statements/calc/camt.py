"""ISO 20022: camt.052 (reports), camt.053 (statements) and camt.054 (notifications), versions 02 to 13.

Read as a stream: of the file there is never more in memory than one entry. Names count without their prefix.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ledger.importing.calc.entries import Entry
from ledger.statements.calc.camt_entries import NO_DAY, entry_of
from ledger.statements.calc.elements import at, day_at, said
from ledger.statements.calc.facts import (
    LONGEST_NUMBER,
    NoStatement,
    Statement,
    TooManyEntries,
    Unreadable,
    Unsafe,
    amount_of,
    clean,
    enough,
    iso_day,
    unheard,
)

MESSAGES = {"BkToCstmrAcctRpt": "camt.052", "BkToCstmrStmt": "camt.053", "BkToCstmrDbtCdtNtfctn": "camt.054"}
STATEMENTS = {"Rpt", "Stmt", "Ntfctn"}
ENDED = [  # too early
    expat.errors.codes[each]
    for each in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
]
AT_ONCE = 64 * 1024
DEEPEST = 64  # levels; the standard has about fifteen
LARGEST = 500_000  # elements of one entry: a batch of some twenty thousand payments
LONGEST = 16_000_000  # characters of their texts
LONGEST_TAG = 1024 * 1024  # bytes
MOST_NAMES, MOST_BALANCES = 10_000, 1000  # the standard has some hundred, and banks tell a dozen
SKIPPED = {"BkTxCd", "RltdAgts", "PstlAdr", "Chrgs", "DbtrAcct", "CdtrAcct", "TxsSummry", "Purp", "RltdDts", "Svcr"}


def read(
    content: bytes, *, encoding: str | None = None, most: int, far: Callable[[int], None] = unheard
) -> tuple[str, list[Statement]]:
    """(format, statements). Raises Unreadable, Unsafe, TooManyEntries, NoStatement.

    ``encoding`` takes the place of the declared one; ``far`` hears how many bytes are read.
    """
    stream = Stream(encoding, most=most)
    try:
        for start in range(0, len(content), AT_ONCE):
            stream.parser.Parse(content[start : start + AT_ONCE])
            far(start)
            if start - stream.parser.CurrentByteIndex > LONGEST_TAG:  # it waits for the end of a tag, and keeps it all
                raise Unreadable("A tag without an end.", line=stream.parser.CurrentLineNumber)
        stream.parser.Parse(b"", True)
        far(len(content))
    except expat.ExpatError as error:
        if error.code in ENDED:
            why = Unreadable(
                "The file ends here, in its middle: it was cut off. Export or download it again.", line=error.lineno
            )
        else:
            why = Unreadable("The file is broken here, its XML is not well-formed. Export it again.", line=error.lineno)
        raise why from None
    except (LookupError, ValueError) as error:
        raise Unreadable("Its encoding cannot be read: {error}.", line=1, error=str(error)) from None
    if not stream.format:
        raise NoStatement
    return stream.format, stream.statements


@dataclass(slots=True)
class Draft:
    """A statement while it is read."""

    about: dict[str, Element] = field(default_factory=dict)
    balances: list[Element] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    undated: list[int] = field(default_factory=list)
    currency: str = ""


class Stream:
    """The parser's callbacks. A tree is made of each child of a statement alone."""

    def __init__(self, encoding: str | None, *, most: int):
        self.format, self.statements, self.most = "", [], most  # type: tuple[str, list[Statement], int]
        self.depth = self.base = self.size = self.length = self.line = self.count = 0
        self.opened = self.payments = 0
        self.skipping = 0  # the level of an element of which nothing is wanted
        self.names: dict[str, str] = {}
        self.draft: Draft | None = None
        self.builder: TreeBuilder | None = None
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data

    def refuse(self, *_args: object) -> None:
        raise Unsafe

    def local(self, name: str) -> str:
        """The name without its prefix, which is kept."""
        if len(self.names) >= MOST_NAMES:
            raise Unreadable("Too many kinds of elements.", line=self.parser.CurrentLineNumber)
        self.names[name] = name.rpartition(":")[2]
        return self.names[name]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = self.names.get(name) or self.local(name)
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("More than {most} levels.", line=self.parser.CurrentLineNumber, most=DEEPEST)
        if self.skipping or (self.draft is not None and name in SKIPPED):
            self.skipping = self.skipping or self.depth
        elif self.builder is not None:
            self.size += 1
            if self.size > LARGEST:
                raise Unreadable("An entry with too many elements.", line=self.line)
            self.builder.start(name, attributes)
        else:
            self.open(name, attributes)

    def open(self, name: str, attributes: dict[str, str]) -> None:
        """A message, a statement, or a child of one."""
        self.opened += 1
        enough(self.opened, self.count, line=self.parser.CurrentLineNumber)
        if self.draft is not None:
            self.builder, self.line = TreeBuilder(), self.parser.CurrentLineNumber
            self.size = self.length = 0
            self.builder.start(name, attributes)
        elif self.format and self.depth == self.base + 1 and name in STATEMENTS:
            if len(self.statements) >= self.most:
                raise TooManyEntries
            self.draft = Draft()
        elif not self.format and name in MESSAGES:
            self.format, self.base = MESSAGES[name], self.depth

    def end(self, name: str) -> None:
        if self.skipping:
            self.skipping = 0 if self.skipping == self.depth else self.skipping
        elif self.builder is not None:
            self.builder.end(self.names[name])
            if self.depth == self.base + 2:
                element = self.builder.close()
                self.builder = None
                self.take(element, self.draft or Draft())
        elif self.draft is not None and self.depth == self.base + 1:
            self.statements.append(finished(self.draft, self.format))
            self.draft = None
        self.depth -= 1

    def data(self, text: str) -> None:
        if self.builder is not None and not self.skipping:
            self.length += len(text)
            if self.length > LONGEST:
                raise Unreadable("An entry with too much text.", line=self.line)
            self.builder.data(text)

    def take(self, element: Element, draft: Draft) -> None:
        """One child of a statement."""
        if element.tag == "Ntry":
            self.count += 1
            self.payments += sum(len(group.findall("TxDtls")) for group in element.iterfind("NtryDtls"))
            if self.count > self.most or self.payments > 2 * self.most:
                raise TooManyEntries
            draft.currency = draft.currency or currency_of(draft)
            entry = entry_of(element, self.format, draft.currency, self.line)
            draft.currency = draft.currency or entry.currency
            if entry.day is NO_DAY:
                draft.undated.append(len(draft.entries))
            draft.entries.append(entry)
        elif element.tag == "Bal" and len(draft.balances) < MOST_BALANCES:
            draft.balances.append(element)
        elif element.tag in ("Acct", "Id", "FrToDt", "CreDtTm"):
            draft.about[element.tag] = element


# ---------------------------------------------------------------------------------------------- statements


def finished(draft: Draft, format_: str) -> Statement:
    """The statement of what was read."""
    account = draft.about.get("Acct")
    currency = draft.currency or currency_of(draft)
    balances = [
        each for each in draft.balances if told_in(each) in ("", currency)
    ]  # others can be compared with nothing
    opening, closing = opening_of(balances), closing_of(balances)
    start, end = period_of(draft, opening, closing)
    written = said(draft.about.get("CreDtTm"))
    for place in draft.undated:
        draft.entries[place] = redated(draft.entries[place], end or iso_day(written))
    return Statement(
        account_number=clean(number_of(account))[:LONGEST_NUMBER],
        currency=currency,
        statement_id=clean(said(draft.about.get("Id"))),
        start=start,
        end=end or iso_day(written),
        opening=value_of(opening),
        closing=value_of(closing),
        final=format_ == "camt.053",
        entries=draft.entries,
    )


def redated(entry: Entry, day: date | None) -> Entry:
    if day is None:
        raise Unreadable("Ntry has no BookgDt.", line=entry.line)
    return replace(entry, day=day, parts=tuple(replace(part, day=day) for part in entry.parts))


def number_of(account: Element | None) -> str:
    """The IBAN, or else the bank's own number.

    >>> from xml.etree.ElementTree import SubElement
    >>> account = Element("Acct")
    >>> SubElement(SubElement(SubElement(account, "Id"), "Othr"), "Id").text = "4711"
    >>> number_of(account)
    '4711'
    """
    return at(account, "Id", "IBAN") or at(account, "Id", "Othr", "Id") or at(account, "Id", "PrtryAcct", "Id")


def currency_of(draft: Draft) -> str:
    """The account's, or else that of its balances."""
    named = at(draft.about.get("Acct"), "Ccy")
    if named:
        return named
    return next(filter(None, map(told_in, draft.balances)), "")


def told_in(balance: Element) -> str:
    """The currency of a balance; nothing where it names none."""
    amount = balance.find("Amt")
    return amount.get("Ccy", "") if amount is not None else ""


def opening_of(balances: list[Element]) -> Element | None:
    """The opening balance, that of the closing before, or the first of two interim ones."""
    interim = of_kind(balances, "ITBD")
    return next(iter([*of_kind(balances, "OPBD"), *of_kind(balances, "PRCD"), *interim[:-1]]), None)


def closing_of(balances: list[Element]) -> Element | None:
    return next(iter([*of_kind(balances, "CLBD"), *reversed(of_kind(balances, "ITBD"))]), None)


def of_kind(balances: list[Element], kind: str) -> list[Element]:
    return [each for each in balances if at(each, "Tp", "CdOrPrtry", "Cd") == kind]


def value_of(balance: Element | None) -> Decimal | None:
    if balance is None:
        return None
    text = at(balance, "Amt")
    debit = at(balance, "CdtDbtInd") == "DBIT"
    return Decimal(amount_of(text, negative=debit, line=0))


def period_of(draft: Draft, opening: Element | None, closing: Element | None) -> tuple[date | None, date | None]:
    """The days that the statement says it covers, or else those of its balances."""
    period = draft.about.get("FrToDt")
    start = iso_day(at(period, "FrDtTm") or at(period, "FrDt"))
    end = iso_day(at(period, "ToDtTm") or at(period, "ToDt"))
    if start is None and opening is not None:
        start = day_at(opening.find("Dt"))
        if start is not None and at(opening, "Tp", "CdOrPrtry", "Cd") == "PRCD":
            start += timedelta(days=1)
    if end is None and closing is not None:
        end = day_at(closing.find("Dt"))
    return start, end
