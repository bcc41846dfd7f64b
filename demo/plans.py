"""Planned transactions, overrides and the financial plan of the demo company."""

from datetime import date, timedelta
from decimal import Decimal

from demo.books import DemoBooks
from demo.story import read_rows, resolve_day
from ledger.calc.months import add_months, get_first_day_of_month
from planning.models import PlannedSource
from planning.plan.actions import plan_items
from planning.planned_transactions.actions import overrides, planned_transactions, settlements
from planning.planned_transactions.queries import transaction_matches

MONTHLY = {"frequency": "month", "interval": 1, "last_day_of_month": False, "end": {"type": "never"}}
RECURRENCES = {
    "monthly": MONTHLY,
    "lastDay": {**MONTHLY, "last_day_of_month": True},
    "quarterly": {**MONTHLY, "interval": 3},
    "yearly": {**MONTHLY, "frequency": "year"},
}
BONUS_FACTOR = Decimal("1.15")
ONE_WEEK = timedelta(days=7)


def plan_payments(*, books: DemoBooks) -> None:
    """Plan wages, rent, hosting, taxes and customer payments, with December's bonus and a month without advertising."""
    planned_by_name = {}
    for row in read_rows("planned_transactions"):
        account = books.accounts[row["account"]]
        values = {
            "account_id": account.id,
            "name": row["name"],
            "start_date": resolve_day(row, books.today),
            "amount_value": row["amount"],
            "amount_currency": account.default_currency,
            "category_id": books.category_ids[row["category"]] if row["category"] else None,
            "recurrence": RECURRENCES[row["recurrence"]],
            "settled_by": row["settledBy"],
        }
        planned_by_name[row["name"]] = planned_transactions.create_planned_transaction(
            **books.scope, source=PlannedSource.MANUAL, values=values
        )
    wages, advertising = planned_by_name["Salaries"], planned_by_name["Search advertising"]
    december, skipped = date(books.today.year, 12, 31), add_months(advertising.start_date, 2)
    bonus = {"amount_value": f"{wages.amount_value * BONUS_FACTOR:.2f}", "name": "Salaries with year-end bonus"}
    for planned, day, patch in ((wages, december, bonus), (advertising, skipped, {"skipped": True})):
        overrides.set_occurrence_override(**books.scope, planned_id=planned.id, original_date=day, patch=patch)
    settle_matches(books=books)


def settle_matches(*, books: DemoBooks) -> None:
    """Settle this month's matches up to a week ago; newer ones stay proposals, unmatched ones are overdue."""
    first, last = get_first_day_of_month(books.today), books.today - ONE_WEEK
    if last < first:
        return
    for match in transaction_matches.propose_matches(company=books.company, window_start=first, window_end=last):
        planned_id, day = match.occurrence.planned_id, match.occurrence.original_date
        settlements.settle_occurrence(
            **books.scope, planned_id=planned_id, original_date=day, transaction_id=match.transaction.id,
            rest_reason="Paid less than planned",
        )  # fmt: skip


def create_plan_items(*, books: DemoBooks) -> None:
    """Create plan items for this year and the next: fixed, growing by a step, and growing by a percentage."""
    for row in read_rows("plan_items"):
        money = {"value": Decimal(row["amount"]), "currency": "EUR"}
        growth = Decimal(row["growth"]) if row["growth"] else None
        values = {
            "month": add_months(books.today.replace(month=1, day=1), int(row["month"])),
            "pl_type": row["plType"],
            "category_id": books.category_ids[row["category"]],
            "amount": {"type": row["kind"], "amount": money, "relative_change": growth},
            "frequency": int(row["frequency"]),
            "duration": int(row["duration"]),
        }
        plan_items.create_plan_item(**books.scope, values=values)
