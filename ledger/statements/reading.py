"""Reading a file that a bank gave: its statements, or why not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from companies.models import Company
from ledger.bulk.bodies import DECIMALS
from ledger.calc.money import too_fine
from ledger.calc.tables import Lines
from ledger.importing import progress
from ledger.importing.bodies import MOST_ITEMS, Request
from ledger.importing.calc.detection import detect, names_number, split_by_account
from ledger.importing.calc.entries import Entry, EntryList
from ledger.importing.calc.mapping import AMOUNT_FIELDS, fold_value, normalize_settings
from ledger.importing.calc.movements import LeftOut
from ledger.importing.calc.questions import Detection, Own
from ledger.importing.calc.rows import RowReader
from ledger.importing.encoding_choices import Choice, find_encoding_choices
from ledger.importing.items import (
    EXAMPLES,
    Rows,
    UnreadableCell,
    UnreadableTable,
    UnsafeXml,
    detect_for,
    example_rows,
    table_of,
    told,
)
from ledger.models import Account, AccountType
from ledger.statements.accounts import AccountDiffers, AccountUnknown, find_by_name, find_by_number, spellings
from ledger.statements.archives import Read, read_archive, too_many_entries
from ledger.statements.calc import formats, qif
from ledger.statements.calc.facts import NoStatement, Statement, TooManyEntries, Unreadable, Unsafe, clean
from ledger.statements.errors import (
    ColumnsUnknown,
    CurrencyUnknown,
    DateOrderUnknown,
    FormatUnknown,
    MappingAmbiguous,
    StatementUnreadable,
)
from ledger.statements.table_errors import check_refused


def read(
    content: bytes, *, company: Company, account: Account | None, date_order: str | None, settings: Any = None
) -> Read:
    """What a file says. ``account`` is the one that was named; CSV needs it, and QIF that names no account of ours.
    ``settings`` say how a CSV file is read, in place of those that are kept.

    Raises FormatUnknown, StatementUnreadable, UnsafeXml, CurrencyUnknown, ColumnsUnknown, MappingAmbiguous,
    DateOrderUnknown, AccountUnknown, AccountDiffers, TooManyRows, and those of table_errors.
    """
    found = read_file(formats.kind_of(content), content, company, account, date_order, settings)
    for statement in found.statements:
        check(statement)
    return found


def read_file(
    kind: str | None,
    content: bytes,
    company: Company,
    account: Account | None,
    date_order: str | None,
    settings: Any,
) -> Read:
    """What a file of a kind says, its statements with their format. Raises what ``read`` raises."""
    try:
        found = of_kind(kind, content, company, account, date_order, settings)
    except Unreadable as error:
        raise StatementUnreadable(at_line(error.line, told(error))) from None
    except Unsafe:
        raise UnsafeXml from None
    except TooManyEntries:
        raise too_many_entries() from None
    except NoStatement:
        raise FormatUnknown from None
    formatted = [replace(each, format=each.format or found.format) for each in found.statements]
    return replace(found, statements=formatted)


def at_line(line: int, why: str) -> str:
    return _("Line {line}: {why}").format(line=line, why=why) if line else why


def of_kind(
    kind: str | None,
    content: bytes,
    company: Company,
    account: Account | None,
    date_order: str | None,
    settings: Any,
) -> Read:
    if kind is None:
        raise FormatUnknown
    if kind == formats.CSV:
        return read_csv(content, company, account, settings)
    if kind == formats.ZIP:
        return read_archive(
            content, lambda kind, member: read_file(kind, member, company, account, date_order, settings)
        )
    if kind == formats.QIF:
        return read_qif(content, company, account, date_order)
    far = partial(progress.far, progress.BYTES, of=len(content))
    file = formats.read(content, kind, most=MOST_ITEMS, far=far, currency_of=currencies_of(company, account))
    return Read(file.format, file.statements)


def currencies_of(company: Company, account: Account | None) -> Callable[[str], str]:
    """Return what tells the currency of an account by the number that a file has for it."""

    def find_currency(number: str) -> str:
        if account is not None:
            return account.default_currency
        active = list(Account.objects.of(company.id).active().in_order())
        return find_by_number(active, Statement(account_number=number, currency="", entries=[])).default_currency

    return find_currency


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
    except qif.SeveralAccounts as error:
        why = _(
            "The entries of another section begin here, and the file does not name the accounts of both (!Account)."
        )
        raise AccountDiffers(f"{at_line(error.line, why)} {_('Save each as a file of its own.')}") from None
    if not entries:  # an account that is named is opened with nothing
        currency_of("")
        entries = {"": []}
    statements = [plain_statement(accounts[name], each, name=name) for name, each in entries.items()]
    return Read("qif", statements, order)


def read_csv(content: bytes, company: Company, account: Account | None, settings: Any) -> Read:
    """A CSV file by what its cells prove and settings say, a statement for each account; one bad row refuses it."""
    kept = settings if settings is not None else ((account.import_settings or {}).get("csv") if account else None)
    try:
        lines = table_of(content, normalize_settings(kept))
    except UnreadableCell as error:
        raise StatementUnreadable(error.detail) from None
    except UnreadableTable as error:
        raise FormatUnknown(error.detail) from None
    if account is None:
        return read_csv_of_accounts(company, lines, kept)
    detection = detect_for(account, lines, kept)
    check_columns(detection)
    check_numbers(detection, account)
    check_refused(detection.refused)
    encodings = find_encoding_choices(content, settings=kept, account=account, count=EXAMPLES)
    check_questions(detection, account.default_currency, encodings)
    rows, statement = read_rows(account, detection)
    return Read("csv", [statement], left_out=sum(rows.left_out_counts.values()))


def read_csv_of_accounts(company: Company, lines: Lines, settings: Any) -> Read:
    """A table that names the account of each row. Its columns are read alike for all accounts, by ``settings`` alone.

    Raises AccountUnknown, AccountAmbiguous, ColumnsUnknown, MappingAmbiguous, StatementUnreadable.
    """
    parts, without_account = split_by_account(lines, settings=settings)
    given = normalize_settings(settings)
    wanted = {fold_value(value) for value in given.get("accountValues", parts)}
    if not any(fold_value(label) in wanted for label in parts):
        raise AccountUnknown(_("A file of this format does not say of which account it is: send accountId."))
    left_out = sum(len(part) for label, part in parts.items() if fold_value(label) not in wanted)
    active = list(Account.objects.of(company.id).active().in_order())
    accounts: dict[Account, Lines] = {}
    for label, part in ((label, part) for label, part in parts.items() if fold_value(label) in wanted):
        account = find_labelled(active, label)
        accounts[account] = accounts[account].join([part]) if account in accounts else part
    currencies = {account.default_currency for account in accounts}
    is_card = all(account.type == AccountType.CREDIT_CARD for account in accounts)
    own = Own(currencies.pop() if len(currencies) == 1 else "", is_card)
    detection = detect(lines, settings={**given, "accountValues": list(parts)}, own=own)
    check_columns(detection)
    check_refused(detection.refused)
    check_questions(detection, own.currency or company.base_currency)
    detection.mapping = replace(detection.mapping, accounts=None)
    check_rows_without_account(detection, without_account)
    left_out += len(without_account)
    statements = []
    for account, part in accounts.items():
        rows, statement = read_rows(account, replace(detection, table=replace(detection.table, rows=part)))
        left_out += sum(rows.left_out_counts.values())
        statements.append(replace(statement, account_number=account.account_number or ""))
    return Read("csv", statements, left_out=left_out)


def find_labelled(accounts: Sequence[Account], label: str) -> Account:
    """The account whose number a cell or the title of a section has. Raises AccountUnknown, AccountAmbiguous."""
    found = [each for each in accounts if each.account_number and names_number(label, each.account_number)]
    return found[0] if len(found) == 1 else find_by_number(accounts, Statement(label, "", []))


def check_questions(detection: Detection, currency: str, encodings: Sequence[Choice] = ()) -> None:
    """Raises MappingAmbiguous where a question is open, of the encoding too."""
    choices = choices_of(detection, currency)
    if encodings:
        options = [{"value": name, "examples": rows} for name, rows in encodings]
        choices.insert(0, {"question": "encoding", "field": "encoding", "file": None, "options": options})
    if choices:
        raise MappingAmbiguous(choices)


def check_rows_without_account(detection: Detection, lines: Lines) -> None:
    """Raises StatementUnreadable where one of the rows that name no account is more than a sum or a footer."""
    reader = RowReader(replace(detection.table, rows=lines), detection.mapping, "")
    for row in reader.read_all():
        if not isinstance(row, LeftOut):
            raise StatementUnreadable(at_line(row.line, _("The number of the account is missing.")))


def read_rows(account: Account, detection: Detection) -> tuple[Rows, Statement]:
    """The rows of a table as a statement of an account. Raises StatementUnreadable."""
    rows = Rows(detection.table, detection.mapping, account=account)
    request = Request(items=[], trusts_ids=False)
    statement = plain_statement(account, EntryList(read_entries(account, rows, request)))
    if balances := rows.balances:
        statement = replace(statement, opening=balances.opening, closing=balances.closing)
    return rows, statement


def read_entries(account: Account, rows: Rows, request: Request) -> Iterator[Entry]:
    """Yield the movements of a table. Raises StatementUnreadable."""
    for item in rows.read_items(request):
        if item is None or request.errors:
            bad = rows.bad_rows(request.errors[:1])[0]
            is_currency = request.errors[0][0].endswith("/currency")
            raise (CurrencyUnknown if is_currency else StatementUnreadable)(
                at_line(bad.line, f"{bad.column}: {bad.reason}")
            )
        yield Entry(
            day=item.date,
            amount=format(Decimal(item.amount_value), "f"),
            currency=item.amount_currency or account.default_currency,
            from_to=clean(item.from_to or ""),
            description=clean(item.description or ""),
            notes=item.notes or "",
            reference=item.external_id or "",
            pending=bool(item.pending),
            category_id=item.category_id or "",
            line=rows.get_line(-1).number,
        )


def check_columns(detection: Detection) -> None:
    """Raises ColumnsUnknown where no column has the days, or none the amounts."""
    columns = detection.mapping.columns
    asked = {question.field for question in detection.questions}
    if "date" not in columns and "columns.date" not in asked:
        raise ColumnsUnknown
    if not any(name in columns or f"columns.{name}" in asked for name in AMOUNT_FIELDS):
        raise ColumnsUnknown


def check_numbers(detection: Detection, account: Account) -> None:
    """Holds a table's own account numbers against the account's. Raises AccountDiffers with those that it has."""
    place = detection.mapping.columns.get("account")
    if place is None or not account.account_number or detection.mapping.accounts is not None:
        return
    cells = (line.cells for line in detection.table.rows)
    found = dict.fromkeys(row[place] for row in cells if place < len(row) and has_number(row[place]))
    ours = spellings(account.account_number)
    if found and not any(spellings(each) & ours for each in found):
        numbers = ", ".join([*found][:SHOWN_NUMBERS])
        detail = _("The file is of the account {number}, and you named another one. Name that one, or none.")
        raise AccountDiffers(detail.format(number=numbers))


SHOWN_NUMBERS = 5
SHORTEST_NUMBER = 6  # digits; fewer are the last ones of a card


def has_number(text: str) -> bool:
    return sum(sign.isdigit() for sign in text) >= SHORTEST_NUMBER


def choices_of(detection: Detection, currency: str) -> list[dict[str, Any]]:
    """The open questions as the API tells them: each option with two rows as they would be stored."""
    return [
        {
            "question": question.question,
            "field": question.field,
            "file": None,
            "options": [
                {"value": option.value, "examples": examples}
                for option, examples in zip(
                    question.options, example_rows(detection.table, question, currency), strict=True
                )
            ],
        }
        for question in detection.questions
    ]


def plain_statement(account: Account, entries: Sequence[Entry], *, name: str = "") -> Statement:
    """Entries of a format that tells no balances. ``name``: as the file calls the account."""
    statement = Statement(account_number="", account_name=name, currency=account.default_currency, entries=entries)
    start, end = statement.days or (None, None)
    return replace(statement, start=start, end=end)


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
