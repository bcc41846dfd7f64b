"""Reading a file that a bank gave: its statements, or why not."""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.utils.translation import gettext as _

from companies.errors import Invalid, Unsupported
from companies.locales import current
from companies.models import Company
from ledger.bulk.bodies import DECIMALS
from ledger.calc.money import too_fine
from ledger.importing import progress
from ledger.importing.bodies import MOST_ITEMS
from ledger.importing.calc.columns import from_kept
from ledger.importing.items import Rows, TooManyRows, UnreadableTable, table_of, told
from ledger.models import Account
from ledger.statements.accounts import AccountUnknown, find_by_name, find_by_number
from ledger.statements.calc import formats, qif
from ledger.statements.calc.facts import Entry, NoStatement, Statement, TooManyEntries, Unreadable, Unsafe, clean


class FormatUnknown(Unsupported):
    """The file is none of CAMT.052, 053 and 054, MT940, MT942, OFX, QIF and CSV, whatever its name says."""

    code = "statement_format_unknown"


class StatementUnreadable(Invalid):
    """The file is broken; the detail names the line."""

    code = "statement_unreadable"


class UnsafeXml(Invalid):
    """The XML has a document type or entities, which no statement needs."""

    code = "unsafe_xml"


class CurrencyUnknown(Invalid):
    """The statement is in a currency that is none of the thirty."""

    code = "currency_unknown"


class ColumnsUnknown(Invalid):
    """How the account's CSV files are read is not known: import one alone on the page, or set importSettings.csv."""

    code = "columns_unknown"


class DateOrderUnknown(Invalid):
    """The dates of the QIF file can be read in both orders: send dateOrder."""

    code = "date_order_unknown"


@dataclass(frozen=True, slots=True)
class Read:
    """A file's format and statements; of QIF the order in which its dates were read."""

    format: str
    statements: list[Statement]
    date_order: str | None = None


def read(content: bytes, *, company: Company, account: Account | None, date_order: str | None) -> Read:
    """What a file says. ``account`` is the one that was named; CSV needs it, and QIF that names no account of ours.

    Raises FormatUnknown, StatementUnreadable, UnsafeXml, CurrencyUnknown, ColumnsUnknown, DateOrderUnknown,
    AccountUnknown, TooManyRows.
    """
    try:
        found = of_kind(formats.kind_of(content), content, company, account, date_order)
    except Unreadable as error:
        raise StatementUnreadable(at_line(error.line, told(error))) from None
    except Unsafe:
        raise UnsafeXml from None
    except TooManyEntries:
        detail = _("More than {most} entries. Split the file.").format(most=current().number(MOST_ITEMS))
        raise TooManyRows(detail) from None
    except NoStatement:
        raise FormatUnknown from None
    for statement in found.statements:
        check(statement)
    return found


def at_line(line: int, why: str) -> str:
    return _("Line {line}: {why}").format(line=line, why=why) if line else why


def of_kind(
    kind: str | None, content: bytes, company: Company, account: Account | None, date_order: str | None
) -> Read:
    if kind is None:
        raise FormatUnknown
    if kind == formats.CSV:
        return Read("csv", [table(content, account)])
    if kind == formats.QIF:
        return read_qif(content, company, account, date_order)

    def currency_of(number: str) -> str:
        if account is not None:
            return account.default_currency
        active = list(Account.objects.of(company.id).active().in_order())
        return find_by_number(active, Statement(account_number=number, currency="", entries=[])).default_currency

    far = partial(progress.far, progress.BYTES, of=len(content))
    file = formats.read(content, kind, most=MOST_ITEMS, far=far, currency_of=currency_of)
    return Read(file.format, file.statements)


def read_qif(content: bytes, company: Company, account: Account | None, date_order: str | None) -> Read:
    """A QIF file's entries, a statement for each account that it names."""
    kept = (account.import_settings or {}).get("qif") or {} if account else {}
    last = kept.get("dateOrder") if isinstance(kept, dict) else None
    accounts: dict[str, Account] = {}

    def currency_of(name: str) -> str:
        if account is not None:
            accounts[name] = account
        else:
            accounts[name] = find_by_name(list(Account.objects.of(company.id).active().in_order()), name)
        return accounts[name].default_currency

    try:
        order, entries = qif.read(
            formats.lines_of(content),
            currency_of=currency_of,
            order=date_order,
            kept=last if last in (qif.DAY_FIRST, qif.MONTH_FIRST) else None,
            most=MOST_ITEMS,
        )
    except qif.OrderUnknown:
        raise DateOrderUnknown from None
    if not entries:  # an account that is named is opened with nothing
        currency_of("")
        entries = {"": []}
    statements = [plain_statement(accounts[name], each, name=name) for name, each in entries.items()]
    return Read("qif", statements, order)


def table(content: bytes, account: Account | None) -> Statement:
    """A CSV file by the columns that are kept for its account; one bad row refuses it."""
    try:
        lines = table_of(content)
    except UnreadableTable:
        raise FormatUnknown from None
    if account is None:
        raise AccountUnknown(_("A file of this format does not say of which account it is: send accountId."))
    columns = from_kept((account.import_settings or {}).get("csv"), lines)
    if columns is None:
        raise ColumnsUnknown
    rows = Rows(lines, columns, account_id=str(account.id))
    request = rows.request()
    if request.errors:
        bad = rows.bad_rows(request.errors[:1])[0]
        raise StatementUnreadable(at_line(bad.line, f"{bad.column}: {bad.reason}"))
    entries = [
        Entry(
            day=item.date,
            amount=format(Decimal(item.amount_value), "f"),
            currency=item.amount_currency or account.default_currency,
            from_to=clean(item.from_to or ""),
            description=clean(item.description or ""),
            notes=item.notes or "",
            reference=item.external_id or "",
            line=line.number,
        )
        for item, line in zip(request.items, rows.lines, strict=True)
    ]
    return plain_statement(account, entries)


def plain_statement(account: Account, entries: list[Entry], *, name: str = "") -> Statement:
    """Entries of a format that tells no balances. ``name``: as the file calls the account."""
    days = [entry.day for entry in entries]
    return Statement(
        account_number="",
        account_name=name,
        currency=account.default_currency,
        entries=entries,
        start=min(days, default=None),
        end=max(days, default=None),
    )


def check(statement: Statement) -> None:
    """Whether the ledger can hold it. Raises CurrencyUnknown, StatementUnreadable."""
    for currency in {statement.currency, *(entry.currency for entry in statement.entries)}:
        if currency not in DECIMALS:
            detail = _("“{currency}” is not one of the thirty currencies.").format(currency=clean(currency)[:10])
            raise CurrencyUnknown(detail)
    for entry in statement.entries:
        for unit in (entry, *entry.parts):
            _whole, point, cents = unit.amount.partition(".")
            if point and len(cents) > DECIMALS[unit.currency] and too_fine(Decimal(unit.amount), unit.currency):
                why = _("{amount} has more decimals than {currency}.")
                why = why.format(amount=unit.amount, currency=unit.currency)
                raise StatementUnreadable(at_line(entry.line, why))
