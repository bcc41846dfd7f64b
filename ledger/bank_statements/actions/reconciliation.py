"""Reconcile the balances that banks report with the sums of transactions."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import accumulate
from typing import Any
from uuid import UUID

from companies.change import CompanyChange
from companies.models import Company
from ledger.models import Account, DayMovement, Statement
from notifications.notify import notify_balance_mismatch

STATEMENT_FILE_TYPE = "statementFile"
EMPTY_CONNECTION: dict[str, Any] = dict.fromkeys(
    (
        "type",
        "countryCode",
        "status",
        "integrationId",
        "expireTime",
        "lastSyncTime",
        "balanceMismatchReportedBalances",
        "balanceMismatchCalculatedBalance",
        "balanceMismatchSince",
        "bankProviderAAccount",
        "createdUserId",
    )
)
BalanceKey = tuple[UUID, str, date]  # account, currency, day


@dataclass(frozen=True, slots=True)
class ComparedBalance:
    """A statement's closing balance and the ledger balance at the end of that day."""

    statement: Statement
    reported: Decimal
    calculated: Decimal

    @property
    def difference(self) -> Decimal:
        return self.reported - self.calculated


def compute_balances_at(company: Company, keys: Iterable[BalanceKey]) -> dict[BalanceKey, Decimal]:
    """Return account balances by currency at the end of days; one statement for all accounts."""
    keys = set(keys)
    last = max((day for _, _, day in keys), default=None)
    if last is None:
        return {}
    movements: dict[tuple[UUID, str], list[tuple[date, Decimal]]] = defaultdict(list)
    rows = DayMovement.objects.for_company(company.id).filter(account_id__in={key[0] for key in keys}, date__lte=last)
    for account_id, currency, day, amount in rows.order_by("date").values_list(
        "account_id", "currency", "date", "amount"
    ):
        movements[account_id, currency].append((day, amount))
    days = {name: [day for day, _ in day_amounts] for name, day_amounts in movements.items()}
    sums = {
        name: list(accumulate((amount for _, amount in day_amounts), initial=Decimal(0)))
        for name, day_amounts in movements.items()
    }
    return {key: sums[key[:2]][bisect_right(days[key[:2]], key[2])] if key[:2] in sums else Decimal(0) for key in keys}


def compare_statement_balances(company: Company, statements: Sequence[Statement]) -> list[ComparedBalance]:
    """Compare statements with a closing balance with the ledger as it is now."""
    keys = [get_balance_key(statement) for statement in statements]
    balances = compute_balances_at(company, keys)
    return [
        ComparedBalance(statement, statement.closing_balance or Decimal(0), balances[key])
        for statement, key in zip(statements, keys, strict=True)
    ]


def get_balance_key(statement: Statement) -> BalanceKey:
    return statement.account_id, statement.currency, statement.day or date.min


def reconcile_account(change: CompanyChange, account: Account) -> None:
    """Store on the account whether its latest statement in each currency agrees with the ledger; owners and admins
    are notified when one no longer does.
    """
    company = change.company
    statements = Statement.objects.for_company(company.id).for_account(account.id)
    newest = statements.order_by("-created_time", "-id").first()
    before = account.bank_connection or {}
    is_statement_connection = before.get("type") in (None, STATEMENT_FILE_TYPE)
    if newest is None:
        if is_statement_connection:
            account.apply_changes(change.context, bank_connection=None)
        return
    latest = statements.with_closing_balance().order_by("currency", "-day", "-created_time", "-id").distinct("currency")
    mismatches = [
        comparison for comparison in compare_statement_balances(company, [*latest]) if comparison.difference
    ]  # one of each currency
    latest_mismatch = max(mismatches, key=lambda each: each.statement.day or date.min, default=None)
    since = before.get("balanceMismatchSince")
    connection = {**EMPTY_CONNECTION, **before} | (
        {"type": STATEMENT_FILE_TYPE, "status": "active"} if is_statement_connection else {}
    )
    connection |= {
        "lastSyncTime": format_utc_time(newest.created_time),
        "balanceMismatchReportedBalances": [to_json_balance(comparison.reported) for comparison in mismatches] or None,
        "balanceMismatchCalculatedBalance": to_json_balance(latest_mismatch.calculated) if latest_mismatch else None,
        "balanceMismatchSince": (since or format_utc_time(change.context.time)) if latest_mismatch else None,
    }
    account.apply_changes(change.context, bank_connection=connection)
    if latest_mismatch and not since:
        notify_balance_mismatch(
            company_id=company.id,
            context=change.context,
            account_id=account.id,
            account_name=account.name,
            reported=latest_mismatch.reported,
            calculated=latest_mismatch.calculated,
            currency=latest_mismatch.statement.currency,
            day=latest_mismatch.statement.day or date.min,
        )


def reconcile_changed_accounts(*, change: CompanyChange, account_ids: Collection[UUID | str]) -> None:
    """Reconcile accounts again after their transactions changed; one statement if none of them has any."""
    if not account_ids:
        return
    accounts = Account.objects.for_company(change.company.id).filter(id__in=account_ids, bank_connection__isnull=False)
    for account in accounts.in_display_order():
        reconcile_account(change, account)


def format_utc_time(moment: Any) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def to_json_balance(value: Decimal) -> float | str:
    """Return a number for JSON: a text where a float would lose digits."""
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == value else format(value, "f")
