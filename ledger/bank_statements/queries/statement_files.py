"""Read a bank file: its statements, or why it cannot be read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from companies.models import Company
from ledger.bank_statements.archives import StatementFileContent, build_too_many_entries_error, read_archive
from ledger.bank_statements.errors import (
    ColumnsUnknown,
    CurrencyUnknown,
    DateOrderUnknown,
    MappingAmbiguous,
    StatementFormatUnknown,
    StatementUnreadable,
)
from ledger.bank_statements.parsers import formats, qif
from ledger.bank_statements.parsers.models import (
    NotAStatementError,
    ParsedStatement,
    TooManyEntriesError,
    UnreadableFileError,
    UnsafeXmlError,
    clean_text,
)
from ledger.bank_statements.queries.csv_accounts import (
    check_account_numbers,
    explain_missing_account,
    find_account_of_label,
    find_stated_account,
)
from ledger.bank_statements.queries.statement_accounts import (
    AccountDiffers,
    AccountUnknown,
    find_account_by_name,
    find_account_by_number,
)
from ledger.bank_statements.table_errors import raise_detection_fault
from ledger.bulk.request_bodies import DECIMALS_BY_CURRENCY
from ledger.calc.delimited_text import Lines
from ledger.files.content_type import UnsafeXml
from ledger.imports import progress
from ledger.imports.calc.column_mapping import (
    AMOUNT_FIELDS,
    fold_setting_value,
    normalize_csv_settings,
)
from ledger.imports.calc.detection import (
    detect_mapping,
    split_lines_by_account,
)
from ledger.imports.calc.detection_result import AccountFacts, Detection
from ledger.imports.calc.entries import Entry, EntryList
from ledger.imports.calc.movements import LeftOutRow
from ledger.imports.calc.table_rows import RowReader
from ledger.imports.encoding_choices import Choice, find_encoding_choices
from ledger.imports.file_errors import UnreadableCell, UnreadableTable
from ledger.imports.import_body import MAX_IMPORT_ITEMS, TransactionImportRequest
from ledger.imports.kept_settings import read_kept_table
from ledger.imports.own_export_settings import find_own_export_settings
from ledger.imports.queries.account_numbers import list_numbered_accounts
from ledger.imports.table_items import (
    EXAMPLE_ROWS,
    TableItems,
    build_example_rows,
    describe_reader_error,
    detect_account_mapping,
    read_uploaded_table,
)
from ledger.models import Account, AccountType
from ledger.money.calc.money import has_too_many_decimals
from ledger.transactions.fields import OTHER_TEXTS


def read_statements(
    content: bytes, *, company: Company, account: Account | None, date_order: str | None, settings: Any = None
) -> StatementFileContent:
    """What a file says. ``account`` is the one that was named; CSV needs it, and QIF that names no account of ours.
    ``settings`` say how a CSV file is read, in place of those that are kept.

    Raises StatementFormatUnknown, StatementUnreadable, UnsafeXml, CurrencyUnknown, ColumnsUnknown, MappingAmbiguous,
    DateOrderUnknown, AccountUnknown, AccountDiffers, TooManyRows, and those of table_errors.
    """
    statement_file = read_file(formats.detect_file_kind(content), content, company, account, date_order, settings)
    for statement in statement_file.statements:
        check_statement_values(statement)
    return statement_file


def read_file(
    kind: str | None,
    content: bytes,
    company: Company,
    account: Account | None,
    date_order: str | None,
    settings: Any,
) -> StatementFileContent:
    """What a file of a kind says, its statements with their format. Raises what ``read`` raises."""
    try:
        file = read_file_by_kind(kind, content, company, account, date_order, settings)
    except UnreadableFileError as error:
        raise StatementUnreadable(format_line_error(error.line, describe_reader_error(error))) from None
    except UnsafeXmlError:
        raise UnsafeXml from None
    except TooManyEntriesError:
        raise build_too_many_entries_error() from None
    except NotAStatementError:
        raise StatementFormatUnknown from None
    formatted = [replace(each, format=each.format or file.format) for each in file.statements]
    return replace(file, statements=formatted)


def format_line_error(line: int, reason: str) -> str:
    return _("Line {line}: {why}").format(line=line, why=reason) if line else reason


def read_file_by_kind(
    kind: str | None,
    content: bytes,
    company: Company,
    account: Account | None,
    date_order: str | None,
    settings: Any,
) -> StatementFileContent:
    if kind is None:
        raise StatementFormatUnknown(None if content.strip() else _("The file is empty. Export it again."))
    if kind == formats.CSV:
        return read_csv(content, company, account, settings)
    if kind == formats.ZIP:
        return read_archive(
            content, lambda kind, member: read_file(kind, member, company, account, date_order, settings)
        )
    if kind == formats.QIF:
        return read_qif(content, company, account, date_order)
    on_progress = partial(progress.report_import_progress, progress.BYTES, total=len(content))
    file = formats.read_statement_file(
        content,
        kind,
        max_entries=MAX_IMPORT_ITEMS,
        on_progress=on_progress,
        find_currency=build_currency_lookup(company, account),
    )
    return StatementFileContent(file.format, file.statements)


def build_currency_lookup(company: Company, account: Account | None) -> Callable[[str], str]:
    """Return a function that finds the currency of an account by the number in a file."""

    def find_currency(number: str) -> str:
        if account is not None:
            return account.default_currency
        active = list(Account.objects.for_company(company.id).active().in_display_order())
        return find_account_by_number(
            active, ParsedStatement(account_number=number, currency="", entries=[])
        ).default_currency

    return find_currency


def read_qif(content: bytes, company: Company, account: Account | None, date_order: str | None) -> StatementFileContent:
    """Return a QIF file's entries, one statement for each account that it names."""
    qif_settings = (account.import_settings or {}).get("qif") or {} if account else {}
    last_order = qif_settings.get("dateOrder") if isinstance(qif_settings, dict) else None
    accounts: dict[str, Account] = {}

    def find_currency(name: str) -> str:
        if account is not None:
            accounts[name] = account
        else:
            accounts[name] = find_account_by_name(
                list(Account.objects.for_company(company.id).active().in_display_order()), name
            )
        return accounts[name].default_currency

    try:
        order, entries = qif.read_qif_entries(
            formats.iterate_text_lines(content),
            find_currency=find_currency,
            order=date_order,
            default_order=last_order if last_order in (qif.DAY_FIRST, qif.MONTH_FIRST) else None,
            max_entries=MAX_IMPORT_ITEMS,
        )
    except qif.AmbiguousDateOrderError:
        raise DateOrderUnknown from None
    except qif.SeveralAccounts as error:
        why = _("Another section begins here, but the file does not name both accounts (!Account).")
        advice = _("Save each as a file of its own.")
        raise AccountDiffers(f"{format_line_error(error.line, why)} {advice}") from None
    if not entries:  # an account that is named is opened with nothing
        find_currency("")
        entries = {"": []}
    statements = [
        build_plain_statement(accounts[name], account_entries, name=name) for name, account_entries in entries.items()
    ]
    return StatementFileContent("qif", statements, order)


def read_csv(content: bytes, company: Company, account: Account | None, settings: Any) -> StatementFileContent:
    """Return a CSV file's rows, one statement for each account; one bad row rejects the file."""
    csv_settings = settings
    try:
        if settings is None:
            lines, csv_settings = read_kept_table(content, account)
        else:
            lines = read_uploaded_table(content, normalize_csv_settings(settings))
    except UnreadableCell as error:
        raise StatementUnreadable(error.detail) from None
    except UnreadableTable as error:
        raise StatementFormatUnknown(error.detail) from None
    if account is None:
        with explain_missing_account(lines, settings):
            return read_multi_account_csv(company, content, lines, csv_settings)
    if settings is None:
        csv_settings = find_own_export_settings(account, lines) or csv_settings
    return read_account_csv(content, account, lines, csv_settings)


def read_account_csv(content: bytes, account: Account, lines: Lines, csv_settings: Any) -> StatementFileContent:
    """Return the rows of a table for one account.

    Raises AccountDiffers, ColumnsUnknown, MappingAmbiguous, StatementUnreadable, and those of table_errors.
    """
    detection = detect_account_mapping(account, lines, csv_settings)
    check_required_columns(detection)
    check_account_numbers(detection, account)
    raise_detection_fault(detection.fault)
    encodings = find_encoding_choices(content, settings=csv_settings, account=account, count=EXAMPLE_ROWS)
    check_no_open_questions(detection, account.default_currency, encodings)
    rows, statement = read_table_statement(account, detection)
    return StatementFileContent("csv", [statement], left_out=sum(rows.left_out_counts.values()))


def read_multi_account_csv(company: Company, content: bytes, lines: Lines, settings: Any) -> StatementFileContent:
    """Read a table that names the account of each row, by ``settings`` alone, alike for all accounts.

    Raises AccountUnknown, AccountAmbiguous, ColumnsUnknown, MappingAmbiguous, StatementUnreadable.
    """
    company_numbers = tuple(account.account_number or "" for account in list_numbered_accounts(company.id))
    lines_by_label, without_account = split_lines_by_account(
        lines, settings=settings, account=AccountFacts(company_numbers=company_numbers)
    )
    csv_settings = normalize_csv_settings(settings)
    wanted_values = {fold_setting_value(value) for value in csv_settings.get("accountValues", lines_by_label)}
    if not lines_by_label and (account := find_stated_account(company, lines, csv_settings)):
        read = read_account_csv(content, account, lines, settings)
        number = account.account_number or ""
        return replace(read, statements=[replace(each, account_number=number) for each in read.statements])
    if not any(fold_setting_value(label) in wanted_values for label in lines_by_label):
        raise AccountUnknown(_("Files of this format contain no account number. Send accountId."))
    left_out = sum(
        len(account_lines)
        for label, account_lines in lines_by_label.items()
        if fold_setting_value(label) not in wanted_values
    )
    active_accounts = list(Account.objects.for_company(company.id).active().in_display_order())
    accounts: dict[Account, Lines] = {}
    for label, account_lines in (
        (label, account_lines)
        for label, account_lines in lines_by_label.items()
        if fold_setting_value(label) in wanted_values
    ):
        account = find_account_of_label(active_accounts, label)
        accounts[account] = accounts[account].join([account_lines]) if account in accounts else account_lines
    currencies = {account.default_currency for account in accounts}
    is_card_account = all(account.type == AccountType.CREDIT_CARD for account in accounts)
    account_facts = AccountFacts(
        currencies.pop() if len(currencies) == 1 else "", is_card_account, company_numbers=company_numbers
    )
    detection = detect_mapping(
        lines, settings={**csv_settings, "accountValues": list(lines_by_label)}, account=account_facts
    )
    check_required_columns(detection)
    raise_detection_fault(detection.fault)
    check_no_open_questions(detection, account_facts.currency or company.base_currency)
    detection.mapping = replace(detection.mapping, accounts=None)
    check_rows_without_account(detection, without_account)
    left_out += len(without_account)
    statements = []
    for account, account_lines in accounts.items():
        rows, statement = read_table_statement(
            account, replace(detection, table=replace(detection.table, rows=account_lines))
        )
        left_out += sum(rows.left_out_counts.values())
        statements.append(replace(statement, account_number=account.account_number or ""))
    return StatementFileContent("csv", statements, left_out=left_out)


def check_no_open_questions(detection: Detection, currency: str, encodings: Sequence[Choice] = ()) -> None:
    """Raises MappingAmbiguous where a question is open, of the encoding too."""
    choices = build_question_choices(detection, currency)
    if encodings:
        options = [{"value": name, "examples": rows} for name, rows in encodings]
        choices.insert(0, {"question": "encoding", "field": "encoding", "file": None, "options": options})
    if choices:
        raise MappingAmbiguous(choices)


def check_rows_without_account(detection: Detection, lines: Lines) -> None:
    """Raise StatementUnreadable if a row without an account is more than a sum or a footer."""
    reader = RowReader(replace(detection.table, rows=lines), detection.mapping, "")
    for row in reader.read_rows():
        if not isinstance(row, LeftOutRow):
            raise StatementUnreadable(format_line_error(row.line, _("The account number is missing.")))


def read_table_statement(account: Account, detection: Detection) -> tuple[TableItems, ParsedStatement]:
    """Return the rows of a table as a statement of an account. Raises StatementUnreadable."""
    rows = TableItems(detection.table, detection.mapping, account=account)
    request = TransactionImportRequest(items=[], trust_external_ids=False)
    statement = build_plain_statement(account, EntryList(iter_table_movements(account, rows, request)))
    statement = replace(statement, has_unique_ids=rows.has_unique_ids, balance_fault=rows.balance_fault)
    if balances := rows.balances:
        statement = replace(statement, opening=balances.opening, closing=balances.closing)
    return rows, statement


def iter_table_movements(account: Account, rows: TableItems, request: TransactionImportRequest) -> Iterator[Entry]:
    """Yield the movements of a table. Raises StatementUnreadable."""
    for item in rows.read_items(request):
        if item is None or request.errors:
            bad = rows.list_bad_rows(request.errors[:1])[0]
            is_currency = request.errors[0][0].endswith("/currency")
            raise (CurrencyUnknown if is_currency else StatementUnreadable)(
                format_line_error(bad.line, f"{bad.column}: {bad.reason}")
            )
        yield Entry(
            day=item.date,
            amount=format(Decimal(item.amount_value), "f"),
            currency=item.amount_currency or account.default_currency,
            from_to=clean_text(item.from_to or ""),
            description=clean_text(item.description or ""),
            notes=item.notes or "",
            reference=item.external_id or "",
            pending=bool(item.pending),
            category_id=item.category_id or "",
            line=rows.get_line(-1).number,
            texts=tuple(getattr(item, text.column) or "" for text in OTHER_TEXTS),
        )


def check_required_columns(detection: Detection) -> None:
    """Raise ColumnsUnknown if no column has the dates, or none the amounts."""
    columns = detection.mapping.columns
    asked_fields = {question.field for question in detection.questions}
    if "date" not in columns and "columns.date" not in asked_fields:
        raise ColumnsUnknown
    if not any(name in columns or f"columns.{name}" in asked_fields for name in AMOUNT_FIELDS):
        raise ColumnsUnknown


def build_question_choices(detection: Detection, currency: str) -> list[dict[str, Any]]:
    """Return the open questions for the API: each option with two example rows."""
    return [
        {
            "question": question.question,
            "field": question.field,
            "file": None,
            "options": [
                {"value": option.value, "examples": examples}
                for option, examples in zip(
                    question.options, build_example_rows(detection.table, question, currency), strict=True
                )
            ],
        }
        for question in detection.questions
    ]


def build_plain_statement(account: Account, entries: Sequence[Entry], *, name: str = "") -> ParsedStatement:
    """Return entries of a format without balances as a statement. ``name``: the account's name in the file."""
    statement = ParsedStatement(
        account_number="", account_name=name, currency=account.default_currency, entries=entries
    )
    start, end = statement.days or (None, None)
    return replace(statement, start=start, end=end)


def check_statement_values(statement: ParsedStatement) -> None:
    """Check that the ledger can store it. Raises CurrencyUnknown, StatementUnreadable."""
    for currency in {statement.currency, *(entry.currency for entry in statement.entries)}:
        if currency not in DECIMALS_BY_CURRENCY:
            detail = _("“{currency}” is not a supported currency.").format(currency=clean_text(currency)[:10])
            raise CurrencyUnknown(detail)
    for entry in statement.entries:
        for unit in (entry, *entry.parts):
            _whole, point, cents = unit.amount.partition(".")
            if (
                point
                and len(cents) > DECIMALS_BY_CURRENCY[unit.currency]
                and has_too_many_decimals(Decimal(unit.amount), unit.currency)
            ):
                reason = _("{amount} has more decimals than {currency} allows.")
                reason = reason.format(amount=unit.amount, currency=unit.currency)
                raise StatementUnreadable(format_line_error(entry.line, reason))
