"""Find the account of a CSV file, and compare the numbers in it with the account that was named."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.utils.translation import gettext as _

from companies.models import Company
from ledger.bank_statements.parsers.models import ParsedStatement
from ledger.bank_statements.queries.statement_accounts import AccountDiffers, AccountUnknown, find_account_by_number
from ledger.calc.delimited_text import Lines
from ledger.imports.calc.account_numbers import find_stated_numbers
from ledger.imports.calc.detection import find_configured_table, has_account_number
from ledger.imports.calc.detection_result import Detection
from ledger.imports.calc.masked_numbers import is_same_masked_number
from ledger.imports.own_export_settings import find_own_export_settings
from ledger.imports.queries.account_numbers import find_other_account, has_stated_number
from ledger.models import Account

NUMBERS_SHOWN = 5


def find_stated_account(company: Company, lines: Lines, csv_settings: dict[str, Any]) -> Account | None:
    """Return the active account whose number the lines above a table state. Raises AccountUnknown, AccountAmbiguous."""
    numbers = find_stated_numbers(find_configured_table(lines, csv_settings).above)
    if not numbers:
        return None
    active_accounts = list(Account.objects.for_company(company.id).active().in_display_order())
    matches = [each for each in active_accounts if any(has_stated_number(each, number) for number in numbers)]
    return matches[0] if len(matches) == 1 else find_account_of_label(active_accounts, numbers[0])


@contextmanager
def explain_missing_account(lines: Lines, settings: Any) -> Iterator[None]:
    """Say of our own export why its accounts are not found: it has their names, not their numbers."""
    try:
        yield
    except AccountUnknown:
        if settings is not None or find_own_export_settings(None, lines) is None:
            raise
        detail = _("accountId is missing. An export of transactions names accounts, not their numbers.")
        raise AccountUnknown(detail) from None


def find_account_of_label(accounts: Sequence[Account], label: str) -> Account:
    """Return the account whose number a cell or section title has. Raises AccountUnknown, AccountAmbiguous."""
    matches = [
        account
        for account in accounts
        if (number := account.account_number)
        and (has_account_number(label, number) or is_same_masked_number(label, number))
    ]
    return matches[0] if len(matches) == 1 else find_account_by_number(accounts, ParsedStatement(label, "", []))


def check_account_numbers(detection: Detection, account: Account) -> None:
    """Raise AccountDiffers with the numbers in a table where it is of another account."""
    other = find_other_account(account, detection.table, detection.mapping)
    if other is not None:
        detail = _("The file belongs to account {number}. Choose that account or none.")
        raise AccountDiffers(detail.format(number=", ".join(other.numbers[:NUMBERS_SHOWN])))
