"""Closing balances of imported statements."""

from collections.abc import Collection
from datetime import date
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.models import Statement


def has_new_closing_balance(company: Company, balances: Collection[tuple[UUID, date | None, Decimal | None]]) -> bool:
    """Return whether one of these closing balances (account, day, balance) is not stored yet."""
    stated = {(account_id, day, closing) for account_id, day, closing in balances if day and closing is not None}
    statements = Statement.objects.for_company(company.id).filter(
        account_id__in={account_id for account_id, _, _ in stated}, day__in={day for _, day, _ in stated}
    )
    return bool(stated - set(statements.values_list("account_id", "day", "closing_balance")))
