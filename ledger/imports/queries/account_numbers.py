"""Whether a table is of another account than the one that it is imported into."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ledger.calc.delimited_text import Line
from ledger.imports.calc.account_numbers import find_stated_numbers, has_full_number, is_comparable, is_same_number
from ledger.imports.calc.column_mapping import ColumnMapping, find_column_position, normalize_csv_settings
from ledger.imports.calc.detection import detect_mapping, find_configured_table, list_configured_columns
from ledger.imports.calc.detection_result import AccountFacts
from ledger.imports.calc.masked_numbers import is_masked_number, is_same_masked_number, iterate_masked_numbers
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


def has_stated_number(account: Account, number: str) -> bool:
    """Whether a number in a file is the account's; a masked one may be at the end of the name of an account without
    a number."""
    if account.account_number:
        return is_same_number(number, account.account_number)
    return is_masked_number(number) and is_same_masked_number(number, account.name.rpartition(" ")[2])


def has_other_masked_number(account: Account, table: Table) -> bool:
    """Whether a table states masked numbers, none of which is the account's. Some cards have another number than their
    account, so that a person may choose the account all the same."""
    numbers = list(filter(is_masked_number, find_stated_numbers(table.above))) if account.account_number else []
    return bool(numbers) and not any(has_stated_number(account, number) for number in numbers)


def find_other_account(account: Account, table: Table, mapping: ColumnMapping) -> OtherAccount | None:
    """Return which other account a table is of; None where it is of this one, or does not say.

    Its own-account column and the lines above it say so.
    """
    stated_numbers, in_rows = find_stated_numbers(table.above), list_imported_numbers(table, mapping)
    for numbers in (stated_numbers, in_rows):
        own_number = account.account_number or ""
        if not numbers or any(has_stated_number(account, number) for number in numbers):
            continue
        other_accounts = [each for each in list_numbered_accounts(account.company_id) if each.id != account.id]
        owners = [
            next((each for each in other_accounts if has_stated_number(each, number)), None) for number in numbers
        ]
        is_foreign = has_full_number(own_number) and all(is_comparable(own_number, number) for number in numbers)
        if all(owners) or (is_foreign and (numbers is stated_numbers or mapping.accounts is None)):
            return OtherAccount(numbers, next(filter(None, owners), None))
    return None


def list_imported_numbers(table: Table, mapping: ColumnMapping) -> list[str]:
    """Return the numbers in the column of accounts, of the rows that are imported."""
    if mapping.accounts is not None:
        return list(filter(_is_number, mapping.accounts))
    position = mapping.columns.get("account")
    if position is None:
        return []
    cells = (line.cells for line in table.rows)
    return list(dict.fromkeys(row[position] for row in cells if position < len(row) and _is_number(row[position])))


def _is_number(text: str) -> bool:
    return has_full_number(text) or is_masked_number(text)


def find_account_of_table(accounts: Sequence[Account], lines: Sequence[Line], *, filename: str = "") -> Account | None:
    """Return the one of the accounts whose number a table states above its rows or in all of them, or whose masked
    number its name has, else None."""
    numbers = tuple(account.account_number for account in accounts if account.account_number)
    detection = detect_mapping(lines, account=AccountFacts(company_numbers=numbers))
    stated_numbers = (
        find_stated_numbers(detection.table.above)
        or list_imported_numbers(detection.table, detection.mapping)
        or list(iterate_masked_numbers(filename))
    )
    return find_account_of_numbers(accounts, stated_numbers)


def find_account_of_numbers(accounts: Sequence[Account], numbers: Sequence[str]) -> Account | None:
    """Return the only one of the accounts that has all of the numbers, else None."""
    matches = [each for each in accounts if numbers and all(has_stated_number(each, number) for number in numbers)]
    return matches[0] if len(matches) == 1 else None


def find_account_of_headings(accounts: Sequence[Account], lines: Sequence[Line]) -> Account | None:
    """Return the only one of the accounts whose saved CSV columns are all in a table that states no other number, else
    None."""
    matches = [account for account in accounts if has_saved_columns(account, lines)]
    return matches[0] if len(matches) == 1 else None


def has_saved_columns(account: Account, lines: Sequence[Line]) -> bool:
    """Whether a table has a heading for each column of the account's saved CSV settings, and states no number that is
    not the account's."""
    settings = normalize_csv_settings((account.import_settings or {}).get("csv"))
    columns = [each for each in list_configured_columns(settings.get("columns", {})) if each is not None]
    headings = settings.get("headings", ())
    if not columns or not all(isinstance(each, str) or headings for each in columns):
        return False
    table = find_configured_table(lines, settings)
    names = table.names
    return not has_other_masked_number(account, table) and all(
        find_column_position(each, names, headings) is not None for each in columns
    )
