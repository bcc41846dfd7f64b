"""The account that an uploaded file is imported into: the one that was chosen, or that the file seems to be of."""

from typing import Any
from uuid import UUID

from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.delimited_text import Lines
from ledger.imports.actions import uploads
from ledger.imports.calc.card_files import is_card_table
from ledger.imports.pages.uploaded_files import get_upload_owner
from ledger.imports.queries.account_numbers import (
    find_account_of_headings,
    find_account_of_table,
    find_other_account,
)
from ledger.imports.table_items import detect_account_mapping, read_uploaded_table
from ledger.models import Account, AccountType


def list_importable_accounts(page: CompanyPage) -> list[Account]:
    """Return the accounts that an import can go to, as far as the user may see them."""
    if not page.has_permission(Permission.ACCOUNTS_READ):
        return []
    return list(Account.objects.for_company(page.company.id).active().in_display_order())


def find_chosen_account(page: CompanyPage, form_data: Any) -> Account | None:
    """Return the account that was chosen."""
    account_text = form_data.get("account")
    return next((each for each in list_importable_accounts(page) if str(each.id) == account_text), None)


def find_account_of_upload(page: CompanyPage, upload_id: UUID) -> Account | None:
    """Return the account that an uploaded table seems to be of, if the user may see it.

    The table states its number, or has its saved columns, or it is the only account and the table says nothing else.
    """
    lines = read_uploaded_table(uploads.read_upload(**get_upload_owner(page), upload_id=upload_id))
    accounts = list_importable_accounts(page)
    if account := find_account_of_table(accounts, lines) or find_account_of_headings(accounts, lines):
        return account
    return accounts[0] if len(accounts) == 1 and may_be_of_account(lines, accounts[0]) else None


def may_be_of_account(lines: Lines, account: Account) -> bool:
    """Whether nothing in a table says that it is of another account, or of a card while the account is none."""
    detection = detect_account_mapping(account, lines, {})
    is_other_type = account.type != AccountType.CREDIT_CARD and is_card_table(detection.table)
    return not is_other_type and not find_other_account(account, detection.table, detection.mapping)
