"""Accounts on which the other leg of a transfer may be created."""

from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from companies.models import Company
from ledger.models import Account, Statement, Transaction


def filter_accounts_without_import(company: Company, *, day: date, except_id: UUID) -> Any:
    """Return the active accounts, but one, without a bank statement or imported transaction of the day: from others
    the leg came, or will come, with the file.
    """
    statements = (
        Statement.objects.for_company(company.id)
        .with_closing_balance()
        .filter(account=OuterRef("id"), start_date__lte=day, day__gte=day)
    )
    imported_rows = Transaction.objects.for_company(company.id).filter(
        account=OuterRef("id"), date=day, import_batch__isnull=False
    )
    accounts = Account.objects.for_company(company.id).active().exclude(id=except_id)
    return accounts.exclude(Exists(statements)).exclude(Exists(imported_rows))
