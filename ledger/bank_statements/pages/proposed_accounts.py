"""The account that an uploaded statement seems to be of, where none has its number."""

from uuid import UUID

from companies.errors import DomainError
from companies.models import Currency
from companies.pages.context import CompanyPage
from ledger.bank_statements.parsers.models import MAX_ACCOUNT_NUMBER_LENGTH
from ledger.bank_statements.queries.statement_accounts import AccountUnknown
from ledger.imports.calc.masked_numbers import is_masked_number
from ledger.imports.pages.file_accounts import describe_number_owners, list_number_owners, read_table_of_upload
from ledger.imports.pages.new_account import ProposedAccount, find_opening_day, propose_account_of_table
from ledger.imports.table_items import detect_account_mapping


def propose_account(page: CompanyPage, upload_id: UUID, refusal: DomainError) -> ProposedAccount | None:
    """Return the account that a statement without a known account seems to be of; None where one has its number."""
    if not isinstance(refusal, AccountUnknown) or list_number_owners(page, refusal.number):
        return None
    lines = read_table_of_upload(page, upload_id)
    detection = detect_account_mapping(None, lines, {}) if lines is not None else None
    if lacks_full_number(refusal):
        if detection is None:
            return ProposedAccount(refusal.number, page.company.base_currency)
        return propose_account_of_table(detection, base_currency=page.company.base_currency)
    currency = refusal.currency if refusal.currency in Currency.values else page.company.base_currency
    opening_day = find_opening_day(detection) if detection else None
    return ProposedAccount(refusal.number[:MAX_ACCOUNT_NUMBER_LENGTH], currency, opening_day=opening_day)


def describe_owners_of_refused(page: CompanyPage, refusal: DomainError) -> str:
    """Say which accounts have the number that no active account was found for; empty if none has it."""
    return describe_number_owners(page, refusal.number) if isinstance(refusal, AccountUnknown) else ""


def lacks_full_number(refusal: DomainError) -> bool:
    """Whether the account of a file is not known, and the file states no more than the ends of its number."""
    return isinstance(refusal, AccountUnknown) and (not refusal.number or is_masked_number(refusal.number))
