"""Whether a table is of another account than the one that it is imported into."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ledger.calc.delimited_text import Line
from ledger.imports.calc.account_numbers import find_stated_numbers, has_full_number, is_comparable, is_same_number
from ledger.imports.calc.column_mapping import ColumnMapping, find_column_position, normalize_csv_settings
from ledger.imports.calc.detection import detect_mapping, find_configured_table, list_configured_columns
from ledger.imports.calc.detection_result import AccountFacts
from ledger.imports.calc.table import Table
from ledger.models import Account


@dataclass(frozen=True, slots=True)
class OtherAccount:
    """The numbers that a table states, none of which is the chosen account's, and the account that has one of them."""

    numbers: list[str]
    account: Account | None


def list_numbered_accounts(company_id: UUID) -> list[Account]:
    """Return the accounts of a company that have a number."""
    accounts = Account.objects.for_company(company_id).filter(account_number__isnull=False).order_by("id")
    return [account for account in accounts if account.account_number]


def find_other_account(account: Account, table: Table, mapping: ColumnMapping) -> OtherAccount | None:
    """Return which other account a table is of; None where it is of this one, or does not say.

    Its own-account column and the lines above it say so.
    """
    stated_numbers, in_rows = find_stated_numbers(table.above), list_imported_numbers(table, mapping)
    for numbers in (stated_numbers, in_rows):
        own_number = account.account_number or ""
        if not numbers or (own_number and any(is_same_number(number, own_number) for number in numbers)):
            continue
        other_accounts = [each for each in list_numbered_accounts(account.company_id) if each.id != account.id]
        owners = [
            next((each for each in other_accounts if is_same_number(number, each.account_number or "")), None)
            for number in numbers
        ]
        is_foreign = has_full_number(own_number) and all(is_comparable(own_number, number) for number in numbers)
        if all(owners) or (is_foreign and (numbers is stated_numbers or mapping.accounts is None)):
            return OtherAccount(numbers, next(filter(None, owners), None))
    return None


def list_imported_numbers(table: Table, mapping: ColumnMapping) -> list[str]:
    """Return the numbers in the column of accounts, of the rows that are imported."""
    if mapping.accounts is not None:
        return [value for value in mapping.accounts if has_full_number(value)]
    position = mapping.columns.get("account")
    if position is None:
        return []
    cells = (line.cells for line in table.rows)
    return list(dict.fromkeys(row[position] for row in cells if position < len(row) and has_full_number(row[position])))


def find_account_of_table(accounts: Sequence[Account], lines: Sequence[Line]) -> Account | None:
    """Return the one of the accounts whose number a table states above its rows or in all of them, else None."""
    numbers = tuple(account.account_number for account in accounts if account.account_number)
    detection = detect_mapping(lines, account=AccountFacts(company_numbers=numbers))
    stated_numbers = find_stated_numbers(detection.table.above) or list_imported_numbers(
        detection.table, detection.mapping
    )
    matches = [
        account
        for account in accounts
        if account.account_number
        and stated_numbers
        and all(is_same_number(each, account.account_number) for each in stated_numbers)
    ]
    return matches[0] if len(matches) == 1 else None


def find_account_of_headings(accounts: Sequence[Account], lines: Sequence[Line]) -> Account | None:
    """Return the only one of the accounts whose saved CSV columns are all in a table, else None."""
    matches = [account for account in accounts if has_saved_columns(account, lines)]
    return matches[0] if len(matches) == 1 else None


def has_saved_columns(account: Account, lines: Sequence[Line]) -> bool:
    """Whether a table has a heading for each column of the account's saved CSV settings."""
    settings = normalize_csv_settings((account.import_settings or {}).get("csv"))
    columns = [each for each in list_configured_columns(settings.get("columns", {})) if each is not None]
    headings = settings.get("headings", ())
    if not columns or not all(isinstance(each, str) or headings for each in columns):
        return False
    names = find_configured_table(lines, settings).names
    return all(find_column_position(each, names, headings) is not None for each in columns)
