"""Balances that the balance column of a table proves, on the pages of its import."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.hooks import ReportedBalance
from ledger.imports.import_body import TransactionImportRequest
from ledger.imports.table_items import TableItems
from ledger.models import Account, Transaction

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OpeningBalance:
    """The balance of an account before its first transaction, and the day on which it is set."""

    day: date
    amount: Decimal
    currency: str


def find_opening_balance(
    page: CompanyPage, account: Account, rows: TableItems, request: TransactionImportRequest
) -> OpeningBalance | None:
    """Return the balance before the first row to import, if the balance column has it and the account has no
    transactions.

    It is set on the day before, or on the first open day where that is closed.
    """
    balances, company = rows.balances, page.company
    if balances is None or Transaction.objects.for_company(company.id).filter(account=account).exists():
        return None
    first_open_day = company.closed_through + ONE_DAY if company.closed_through else date.min
    first_day = max(rows.balance_check.first_day, company.data_start_date or date.min, first_open_day)
    left_out = (item for item in request.items if item and not item.pending and item.date < first_day)
    amount = balances.opening + sum(Decimal(item.amount_value) for item in left_out)
    return OpeningBalance(max(first_day - ONE_DAY, first_open_day), amount, account.default_currency)


def format_reported_balance(page: CompanyPage, balance: ReportedBalance | None) -> str:
    """Say whether the account agrees with the closing balance of the file; empty without the permission to see it."""
    if balance is None or not page.has_permission(Permission.BALANCES_READ):
        return ""
    day = get_current_locale().format_day(balance.day)
    difference = balance.reported - balance.calculated
    reported, calculated, difference_text = (
        format_money(amount, balance.currency) for amount in (balance.reported, balance.calculated, difference)
    )
    if not difference:
        return _("Reconciled through {day}: {balance}.").format(day=day, balance=reported)
    message = _("Out of balance on {day}: statement {reported}, ledger {calculated} (difference {difference}).")
    return message.format(day=day, reported=reported, calculated=calculated, difference=difference_text)
