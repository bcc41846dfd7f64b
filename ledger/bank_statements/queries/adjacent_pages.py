"""Find stored rows of statements that end where another begins: pages of one day have entries of their own."""

from collections.abc import Iterable
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Max, Min, Sum

from companies.models import Company
from ledger.bank_statements.parsers.models import ParsedStatement
from ledger.imports.calc.entry_groups import StoredTransaction
from ledger.models import Account, Statement, Transaction


def find_adjacent_page_row_ids(
    company: Company, account: Account, statement: ParsedStatement, rows: Iterable[StoredTransaction]
) -> frozenset[UUID]:
    """Return the ids of those rows that no entry of a statement can be, since another page brought them.

    That page ends with the balance with which the statement begins, or begins with the one with which it ends, and both
    have entries on that day. Nothing is found where the statement does not agree with its own balances, or is stored
    already.
    """
    if statement.difference != 0 or not statement.days:
        return frozenset()
    first, last = statement.days
    stored = Statement.objects.for_company(company.id).for_account(account.id).filter(currency=statement.currency)
    earlier = stored.filter(closing_balance=statement.opening, start_date__lte=first, day__gte=first)
    later = stored.filter(opening_balance=statement.closing, start_date__lte=last, day__gte=last)
    batch_ids_by_day = {
        first: list_page_batch_ids(stored.filter(opening_balance=statement.opening), earlier, account, first, "latest"),
    }
    later_ids = list_page_batch_ids(stored.filter(closing_balance=statement.closing), later, account, last, "earliest")
    batch_ids_by_day[last] = batch_ids_by_day.get(last, set()) | later_ids
    brought_ids: set[UUID] = set()
    for day, batch_ids in batch_ids_by_day.items():
        row_ids = [row.id for row in rows if row.day == day and row.account == str(account.id)] if batch_ids else []
        brought = Transaction.objects.for_company(company.id).filter(id__in=row_ids, import_batch_id__in=batch_ids)
        brought_ids.update(brought.values_list("id", flat=True))
    return frozenset(brought_ids)


def list_page_batch_ids(same: Any, adjacent: Any, account: Account, day: date, bound: str) -> set[UUID]:
    """Return the imports of adjacent pages whose entries go up to a day (``latest``), or begin with it.

    An import that also has a page in the place of the statement (``same``) is left out, and so is one whose entries of
    that day add up to zero: it may be the statement's own day.
    """
    batch_ids = set()
    for batch_id in set(adjacent.values_list("import_batch_id", flat=True)) - set(
        same.values_list("import_batch_id", flat=True)
    ):
        brought = Transaction.objects.for_company(account.company_id).filter(
            import_batch_id=batch_id, account_id=account.id
        )
        ends = brought.without_initial_balances().aggregate(latest=Max("date"), earliest=Min("date"))
        total = brought.filter(date=day).aggregate(total=Sum("amount_value"))["total"]
        if ends[bound] == day and total:
            batch_ids.add(batch_id)
    return batch_ids
