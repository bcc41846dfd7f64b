"""An account's bank statements beside what its transactions add up to."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse

from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.bank_statements.actions.reconciliation import ComparedBalance, compare_statement_balances
from ledger.models import Account, ImportBatch, Statement


@dataclass(frozen=True, slots=True)
class ReconciliationLine:
    """A statement with both balances; the new difference arose in the days since the statement before."""

    day: date | None
    currency: str
    reported: Decimal
    calculated: Decimal
    difference: Decimal
    new: Decimal  # the change of the difference since the statement before
    file: str
    file_address: str  # empty without the permission to read transactions
    days_address: str

    @property
    def less(self) -> Decimal:
        """How much less the bank has, of the new difference; negative where it has more."""
        return -self.new


def list_reconciliation_rows(page: CompanyPage, account: Account) -> tuple[list[ReconciliationLine], str | None]:
    """Return (rows of `GET accounts/{id}/reconciliation`, cursor of earlier ones), latest first."""
    rows = Statement.objects.for_company(page.company.id).for_account(account.id).with_closing_balance()
    statements, cursor = page.paginate(rows, order=("-day", "-id"))
    comparisons = compare_statement_balances(
        page.company, [*statements, *(find_statement_before(rows, statements[-1]) if cursor else [])]
    )
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    files = ImportBatch.objects.for_company(page.company.id).filter(id__in={row.import_batch_id for row in statements})
    names = {row.id: row.filename or "" for row in files} if statements and can_list else {}
    transactions_url = reverse("transactions", args=[page.company.id]) if can_list else ""
    previous_comparisons = (
        find_previous_comparison(row, comparisons[place + 1 :]) for place, row in enumerate(comparisons)
    )
    return [
        build_reconciliation_row(
            row, earlier, file=names.get(row.statement.import_batch_id, ""), transactions_url=transactions_url
        )
        for row, earlier in zip(comparisons[: len(statements)], previous_comparisons, strict=False)
    ], cursor


def find_statement_before(rows: QuerySet[Statement], last: Statement) -> QuerySet[Statement]:
    """Return the statement before a page's last row, which that row is compared with."""
    earlier = Q(day__lt=last.day) | Q(day=last.day, id__lt=last.id)
    return rows.filter(earlier, currency=last.currency).order_by("-day", "-id")[:1]


def find_previous_comparison(
    row: ComparedBalance, earlier_comparisons: list[ComparedBalance]
) -> ComparedBalance | None:
    """Return the previous comparison in the same currency, as far as the page goes and one further."""
    return next((each for each in earlier_comparisons if each.statement.currency == row.statement.currency), None)


def build_reconciliation_row(
    row: ComparedBalance, previous: ComparedBalance | None, *, file: str, transactions_url: str
) -> ReconciliationLine:
    statement = row.statement
    days = {"accountId": str(statement.account_id)}
    if previous and previous.statement.day:
        days["startDate"] = (previous.statement.day + timedelta(days=1)).isoformat()
    days["endDate"] = statement.day.isoformat() if statement.day else ""
    return ReconciliationLine(
        day=statement.day,
        currency=statement.currency,
        reported=row.reported,
        calculated=row.calculated,
        difference=row.difference,
        new=row.difference - (previous.difference if previous else Decimal(0)),
        file=file,
        file_address=f"{transactions_url}?importId={statement.import_batch_id}" if transactions_url else "",
        days_address=f"{transactions_url}?{urlencode(days)}" if transactions_url else "",
    )
