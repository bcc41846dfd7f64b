"""What the bank says an account holds, beside what its transactions add up to."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import accumulate
from typing import Any
from uuid import UUID

from companies.changing import Change
from companies.models import Company
from ledger.models import Account, DayMovement, Statement
from notifications.telling import balance_mismatch

STATEMENT_FILE = "statementFile"
CONNECTION: dict[str, Any] = dict.fromkeys(
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
Place = tuple[UUID, str, date]  # account, currency, day


@dataclass(frozen=True, slots=True)
class Compared:
    """A statement's closing balance and the ledger's on that evening."""

    statement: Statement
    reported: Decimal
    calculated: Decimal

    @property
    def difference(self) -> Decimal:
        return self.reported - self.calculated


def balances_at(company: Company, places: Iterable[Place]) -> dict[Place, Decimal]:
    """What accounts hold of a currency at the end of days; one statement, which reads the days of those accounts."""
    places = set(places)
    last = max((day for _, _, day in places), default=None)
    if last is None:
        return {}
    moved: dict[tuple[UUID, str], list[tuple[date, Decimal]]] = defaultdict(list)
    rows = DayMovement.objects.of(company.id).filter(account_id__in={place[0] for place in places}, date__lte=last)
    for account, currency, day, amount in rows.order_by("date").values_list("account_id", "currency", "date", "amount"):
        moved[account, currency].append((day, amount))
    days = {name: [day for day, _ in each] for name, each in moved.items()}
    sums = {name: list(accumulate((amount for _, amount in each), initial=Decimal(0))) for name, each in moved.items()}
    return {
        place: sums[place[:2]][bisect_right(days[place[:2]], place[2])] if place[:2] in sums else Decimal(0)
        for place in places
    }


def compared(company: Company, statements: Sequence[Statement]) -> list[Compared]:
    """Each of the statements beside the ledger as it is now; they have a closing balance."""
    places = [place_of(each) for each in statements]
    held = balances_at(company, places)
    return [
        Compared(each, each.closing_balance or Decimal(0), held[place])
        for each, place in zip(statements, places, strict=True)
    ]


def place_of(statement: Statement) -> Place:
    return statement.account_id, statement.currency, statement.day or date.min


def reconcile(change: Change, account: Account) -> None:
    """Keeps on the account whether its latest statement in each currency agrees with the ledger; owners and admins are
    told when one no longer does."""
    company = change.company
    statements = Statement.objects.of(company.id).of_account(account.id)
    newest = statements.order_by("-created_time", "-id").first()
    before = account.bank_connection or {}
    ours = before.get("type") in (None, STATEMENT_FILE)
    if newest is None:
        if ours:
            account.change(change.stamp, bank_connection=None)
        return
    latest = statements.reconciling().order_by("currency", "-day", "-created_time", "-id").distinct("currency")
    found = [each for each in compared(company, [*latest]) if each.difference]  # one of each currency
    wrong = max(found, key=lambda each: each.statement.day or date.min, default=None)
    since = before.get("balanceMismatchSince")
    connection = {**CONNECTION, **before} | ({"type": STATEMENT_FILE, "status": "active"} if ours else {})
    connection |= {
        "lastSyncTime": written(newest.created_time),
        "balanceMismatchReportedBalances": [number(each.reported) for each in found] or None,
        "balanceMismatchCalculatedBalance": number(wrong.calculated) if wrong else None,
        "balanceMismatchSince": (since or written(change.stamp.time)) if wrong else None,
    }
    account.change(change.stamp, bank_connection=connection)
    if wrong and not since:
        balance_mismatch(
            company_id=company.id,
            stamp=change.stamp,
            account_id=account.id,
            account_name=account.name,
            reported=wrong.reported,
            calculated=wrong.calculated,
            currency=wrong.statement.currency,
            day=wrong.statement.day or date.min,
        )


def balances_changed(*, change: Change, account_ids: Collection[UUID | str]) -> None:
    """Compare accounts with their bank's statements again after their transactions changed; one statement where none
    of them has any."""
    if not account_ids:
        return
    accounts = Account.objects.of(change.company.id).filter(id__in=account_ids, bank_connection__isnull=False)
    for account in accounts.in_order():
        reconcile(change, account)


def written(moment: Any) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def number(value: Decimal) -> float | str:
    """As JSON keeps it: a text where a float has not its digits."""
    shown = float(value)
    return shown if Decimal(repr(shown)) == value else format(value, "f")
