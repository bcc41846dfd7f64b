"""The account that an uploaded file is imported into: the one that was chosen, or that the file seems to be of."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.errors import DomainError
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
    has_other_masked_number,
    has_stated_number,
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


def list_number_owners(page: CompanyPage, number: str) -> list[Account]:
    """Return the accounts that have a number, archived ones too, as far as the user may see them."""
    if not number or not page.has_permission(Permission.ACCOUNTS_READ):
        return []
    accounts = Account.objects.for_company(page.company.id).in_display_order()
    return [account for account in accounts if has_stated_number(account, number)]


def describe_number_owners(page: CompanyPage, number: str) -> str:
    """Say which accounts have a number, so that no other one is offered for it; empty if none has it."""
    owners = list_number_owners(page, number)
    active_owners = [account for account in owners if not account.archived]
    if len(active_owners) == 1:
        return _("Account {name} has the number {number}.").format(name=active_owners[0].name, number=number)
    if active_owners:
        return _("Several accounts have the number {number}.").format(number=number)
    if owners:
        message = _("Archived account {name} has the number {number}. Restore it, or choose another account.")
        return message.format(name=owners[0].name, number=number)
    return ""


def find_account_of_upload(page: CompanyPage, upload_id: UUID, *, filename: str) -> Account | None:
    """Return the account that an uploaded table seems to be of, if the user may see it.

    The table or its name states its number, or it has its saved columns, or it is the only account and the table says
    nothing else.
    """
    lines, accounts = read_table_of_upload(page, upload_id), list_importable_accounts(page)
    if lines is None:
        return None
    account = find_account_of_lines(accounts, lines, filename=filename)
    if account is None and len(accounts) == 1 and may_be_of_account(lines, accounts[0]):
        return accounts[0]
    return account


def find_account_of_table_upload(page: CompanyPage, upload_id: UUID, *, filename: str) -> Account | None:
    """Return the account whose number an uploaded table or its name states, or whose saved columns it has."""
    lines = read_table_of_upload(page, upload_id)
    return find_account_of_lines(list_importable_accounts(page), lines, filename=filename) if lines else None


def find_account_of_lines(accounts: Sequence[Account], lines: Lines, *, filename: str) -> Account | None:
    """Return the account whose number a table or the name of its file states, or whose saved columns it has."""
    return find_account_of_table(accounts, lines, filename=filename) or find_account_of_headings(accounts, lines)


def read_table_of_upload(page: CompanyPage, upload_id: UUID) -> Lines | None:
    """Return the lines of an uploaded file; None if it is no table."""
    try:
        return read_uploaded_table(uploads.read_upload(**get_upload_owner(page), upload_id=upload_id))
    except DomainError:
        return None


def may_be_of_account(lines: Lines, account: Account) -> bool:
    """Whether nothing in a table says that it is of another account, or of a card while the account is none."""
    detection = detect_account_mapping(account, lines, {})
    is_other_type = account.type != AccountType.CREDIT_CARD and is_card_table(detection.table)
    if is_other_type or has_other_masked_number(account, detection.table):
        return False
    return not find_other_account(account, detection.table, detection.mapping)
