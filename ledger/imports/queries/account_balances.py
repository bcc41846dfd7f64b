"""The balance of an account before a file."""

from datetime import date
from decimal import Decimal

from django.db.models import Sum

from ledger.models import Account, Transaction


def find_balance_before(account: Account, day: date) -> Decimal | None:
    """Return the balance of an account in its currency at the start of a day; None without transactions before it."""
    rows = Transaction.objects.for_company(account.company_id).filter(account=account, date__lt=day)
    total: Decimal | None = rows.filter(amount_currency=account.default_currency, pending=False).aggregate(
        total=Sum("amount_value")
    )["total"]
    return total
