"""The account that an uploaded statement seems to be of, where none has its number."""

from uuid import UUID

from companies.models import Currency
from companies.pages.context import CompanyPage
from ledger.bank_statements.parsers.models import MAX_ACCOUNT_NUMBER_LENGTH
from ledger.bank_statements.queries.statement_accounts import AccountUnknown
from ledger.imports.calc.masked_numbers import is_masked_number
from ledger.imports.pages.file_accounts import list_number_owners, read_table_of_upload
from ledger.imports.pages.new_account import ProposedAccount, propose_account_of_table
from ledger.imports.table_items import detect_account_mapping


def propose_account(page: CompanyPage, upload_id: UUID, refusal: AccountUnknown) -> ProposedAccount | None:
    """Return the account that a statement seems to be of; None where an account has its number."""
    if list_number_owners(page, refusal.number):
        return None
    if not names_full_number(refusal):
        lines = read_table_of_upload(page, upload_id)
        if lines is None:
            return ProposedAccount(refusal.number, page.company.base_currency)
        detection = detect_account_mapping(None, lines, {})
        return propose_account_of_table(detection, base_currency=page.company.base_currency)
    currency = refusal.currency if refusal.currency in Currency.values else page.company.base_currency
    return ProposedAccount(refusal.number[:MAX_ACCOUNT_NUMBER_LENGTH], currency)


def names_full_number(refusal: AccountUnknown) -> bool:
    """Whether a file states the number of its account, and not only the ends of it."""
    return bool(refusal.number) and not is_masked_number(refusal.number)
