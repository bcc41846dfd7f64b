"""What the bank reported of an account, statement by statement, beside what its transactions add up to now."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse

from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import Account, ImportBatch, Statement
from ledger.statements.reconciling import Compared, compared


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A statement as the page shows it. What came to differ since the one before is in the days between."""

    day: date | None
    currency: str
    reported: Decimal
    calculated: Decimal
    difference: Decimal
    new: Decimal  # what differs that did not in the statement before
    file: str
    file_address: str  # empty for those who may not see transactions
    days_address: str

    @property
    def less(self) -> Decimal:
        """What the bank has less than the books, of what came to differ; it has more where this is negative."""
        return -self.new


def reconciliation(visit: Visit, account: Account) -> tuple[list[Reconciled], str | None]:
    """(the rows of ``GET accounts/{id}/reconciliation``, the cursor of the earlier ones), latest first."""
    rows = Statement.objects.of(visit.company.id).of_account(account.id).reconciling()
    found, cursor = visit.page_of(rows, order=("-day", "-id"))
    each = compared(visit.company, [*found, *(one_more(rows, found[-1]) if cursor else [])])
    lists = visit.may(Permission.TRANSACTIONS_READ)
    files = ImportBatch.objects.of(visit.company.id).filter(id__in={row.import_batch_id for row in found})
    names = {row.id: row.filename or "" for row in files} if found and lists else {}
    listed = reverse("transactions", args=[visit.company.id]) if lists else ""
    before = (before_of(row, each[place + 1 :]) for place, row in enumerate(each))
    return [
        shown(row, earlier, file=names.get(row.statement.import_batch_id, ""), listed=listed)
        for row, earlier in zip(each[: len(found)], before, strict=False)
    ], cursor


def one_more(rows: QuerySet[Statement], last: Statement) -> QuerySet[Statement]:
    """The statement before a page's last row, which that one is told beside."""
    earlier = Q(day__lt=last.day) | Q(day=last.day, id__lt=last.id)
    return rows.filter(earlier, currency=last.currency).order_by("-day", "-id")[:1]


def before_of(row: Compared, earlier: list[Compared]) -> Compared | None:
    """The statement before, in its currency, as far as this page goes and one further."""
    return next((each for each in earlier if each.statement.currency == row.statement.currency), None)


def shown(row: Compared, before: Compared | None, *, file: str, listed: str) -> Reconciled:
    statement = row.statement
    days = {"accountId": str(statement.account_id)}
    if before and before.statement.day:
        days["startDate"] = (before.statement.day + timedelta(days=1)).isoformat()
    days["endDate"] = statement.day.isoformat() if statement.day else ""
    return Reconciled(
        day=statement.day,
        currency=statement.currency,
        reported=row.reported,
        calculated=row.calculated,
        difference=row.difference,
        new=row.difference - (before.difference if before else Decimal(0)),
        file=file,
        file_address=f"{listed}?importId={statement.import_batch_id}" if listed else "",
        days_address=f"{listed}?{urlencode(days)}" if listed else "",
    )
