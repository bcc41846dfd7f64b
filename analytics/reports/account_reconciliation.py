"""An account's bank statements beside what its transactions add up to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
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
    is_replaced: bool  # a later statement in the currency that includes the day decides

    @property
    def missing_amount(self) -> Decimal:
        """How much less the bank has, of the new difference; negative where it has more."""
        return -self.new


def list_reconciliation_rows(page: CompanyPage, account: Account) -> tuple[list[ReconciliationLine], str | None]:
    """Return (rows of `GET accounts/{id}/reconciliation`, cursor of earlier ones), latest first."""
    rows = Statement.objects.for_company(page.company.id).for_account(account.id).with_closing_balance()
    statements, cursor = page.paginate(rows, order=("-day", "-id"))
    compared = [*statements, *(find_statement_before(rows, statements[-1]) if cursor else [])]
    replaced_ids = find_replaced_ids(rows, compared)
    comparisons = compare_statement_balances(page.company, compared)
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    files = ImportBatch.objects.for_company(page.company.id).filter(id__in={row.import_batch_id for row in statements})
    names = {row.id: row.filename or "" for row in files} if statements and can_list else {}
    transactions_url = reverse("transactions", args=[page.company.id]) if can_list else ""
    deciding = [each for each in comparisons if each.statement.id not in replaced_ids]
    return [
        build_reconciliation_row(
            row,
            find_previous_comparison(row, deciding),
            file=names.get(row.statement.import_batch_id, ""),
            transactions_url=transactions_url,
            is_replaced=row.statement.id in replaced_ids,
        )
        for row in comparisons[: len(statements)]
    ], cursor


def find_replaced_ids(rows: QuerySet[Statement], statements: Sequence[Statement]) -> set[UUID]:
    """Return the ids of statements after which another one in the currency was imported that includes their day."""
    day = OuterRef("day")
    including = rows.filter(Q(day=day) | Q(day__gt=day, start_date__lte=day), currency=OuterRef("currency"))
    later = including.filter(
        Q(created_time__gt=OuterRef("created_time")) | Q(created_time=OuterRef("created_time"), id__gt=OuterRef("id"))
    )
    replaced = rows.filter(Exists(later), id__in=[row.id for row in statements])
    return set(replaced.values_list("id", flat=True))


def find_statement_before(rows: QuerySet[Statement], last: Statement) -> QuerySet[Statement]:
    """Return the statement before a page's last row, which that row is compared with."""
    earlier = Q(day__lt=last.day) | Q(day=last.day, id__lt=last.id)
    return rows.filter(earlier, currency=last.currency).order_by("-day", "-id")[:1]


def find_previous_comparison(row: ComparedBalance, comparisons: list[ComparedBalance]) -> ComparedBalance | None:
    """Return the comparison of the latest earlier day in the currency, as far as the page goes and one further.

    Args:
        comparisons: latest first.
    """
    statement = row.statement
    return next(
        (
            comparison
            for comparison in comparisons
            if comparison.statement.currency == statement.currency
            and (comparison.statement.day or date.min) < (statement.day or date.min)
        ),
        None,
    )


def build_reconciliation_row(
    row: ComparedBalance, previous: ComparedBalance | None, *, file: str, transactions_url: str, is_replaced: bool
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
        is_replaced=is_replaced,
    )
