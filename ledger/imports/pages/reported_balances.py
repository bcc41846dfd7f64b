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
from ledger.imports.table_items import TableItems
from ledger.models import Account, Transaction


@dataclass(frozen=True, slots=True)
class OpeningBalance:
    """The balance of an account at the end of a day, before its first transaction."""

    day: date
    amount: Decimal
    currency: str


def find_opening_balance(page: CompanyPage, account: Account, rows: TableItems) -> OpeningBalance | None:
    """Return the balance before the first row, if the balance column has it and the account has no transactions."""
    balances = rows.balances
    if balances is None or Transaction.objects.for_company(page.company.id).filter(account=account).exists():
        return None
    first = rows.balance_check.first_day
    return OpeningBalance(first - timedelta(days=1), balances.opening, account.default_currency)


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
