"""Figures of months as the books stand now."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, DateField, Sum, When
from django.db.models.functions import Cast, TruncMonth

from companies.models import Company
from ledger import hooks
from ledger.accounts.queries import convert_balance_to_base
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.closings.calc.figures import Figure, FigureKey
from ledger.models import EXPENSE_LINES, Account, AccountType, DayMovement, MonthMovement, MonthResult, PlType
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up

ZERO = Decimal(0)

Figures = dict[date, list[Figure]]
"""By first day of month."""


def compute_figures(company: Company, months: Sequence[date], *, rates: RateTable) -> Figures:
    """Compute the figures of consecutive months as the books stand now; a constant number of statements.

    Amounts are in the base currency, rounded once each: balances at the rate of the month's last day, flows at each
    day's, results as they were posted. Expenses are positive, as in the profit and loss.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    if not months:
        return {}
    first, last = months[0], months[-1]
    transit = Account.objects.for_company(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True)
    changes = (
        MonthMovement.objects.for_company(company.id)
        .filter(month__lte=last)
        .order_by("month")
        .values_list("account_id", "currency", "month", "amount")
    )
    flows = (
        DayMovement.objects.for_company(company.id)
        .filter(date__range=(first, get_last_day_of_month(last)))
        .exclude(inflow=0, outflow=0)
        .exclude(account_id__in=transit.order_by())
        # Days are added up by month where nothing is converted.
        .annotate(
            day=Case(When(currency=company.base_currency, then=Cast(TruncMonth("date"), DateField())), default="date")
        )
        .values_list("account_id", "currency", "day")
        .annotate(Sum("inflow"), Sum("outflow"))
    )
    results = (
        MonthResult.objects.for_company(company.id)
        .filter(month__range=(first, last), count__gt=0)
        .values_list("month", "pl_type", "category_id", "base_amount")
    )
    figures_by_month: Figures = {month: [] for month in months}
    add_balances(figures_by_month, list(changes), company=company, rates=rates)
    add_flows(figures_by_month, list(flows), company=company, rates=rates)
    add_results(figures_by_month, list(results), company=company)
    for mrr_type, row in (pair for pairs in hooks.list_recurring_rows.run(company, first, last) for pair in pairs):
        figures_by_month[row.month] += [
            Figure(FigureKey("recurringRevenue", mrr_type=mrr_type, movement=movement), getattr(row, movement))
            for movement in RECURRING_MOVEMENTS
            if any(getattr(row, name) for name in RECURRING_MOVEMENTS)
        ]
    return figures_by_month


RECURRING_MOVEMENTS = ("start", "new", "reactivate", "upgrade", "downgrade", "cancel", "currency", "end")


def add_balances(figures_by_month: Figures, changes: list[Any], *, company: Company, rates: RateTable) -> None:
    """Add the balance of every account that has had a booked transaction up to the month."""
    balances: dict[UUID, dict[str, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    remaining_changes = iter([*changes, None])
    change = next(remaining_changes)
    for month, figures in figures_by_month.items():
        while change is not None and change[2] <= month:
            balances[change[0]][change[1]] += change[3]
            change = next(remaining_changes)
        for account_id in sorted(balances):
            base = company.base_currency
            base_amount = convert_balance_to_base(
                balances[account_id], base=base, day=get_last_day_of_month(month), rates=rates
            )
            figures.append(Figure(FigureKey("balance", account_id=str(account_id)), base_amount))


def add_flows(figures_by_month: Figures, flows: list[Any], *, company: Company, rates: RateTable) -> None:
    """Add the inflow and outflow of each account but transit ones; transfers and initial balances are none."""
    base = company.base_currency
    sums: dict[tuple[date, str, UUID], Decimal] = defaultdict(lambda: ZERO)
    for account_id, currency, day, *amounts in flows:
        for name, amount in zip(("inflow", "outflow"), amounts, strict=True):
            key = (get_first_day_of_month(day), name, account_id)
            base_amount = convert_currency(amount, source=currency, target=base, day=day, rates=rates)
            sums[key] = MONEY_CONTEXT.add(sums[key], base_amount)
    for (month, name, account_id), amount in sorted(sums.items()):
        if amount:
            figure = FigureKey(name, account_id=str(account_id))
            figures_by_month[month].append(Figure(figure, round_half_up(amount, base)))


def add_results(figures_by_month: Figures, results: list[Any], *, company: Company) -> None:
    """Add the result of each category on its P&L lines."""
    lines = {line: position for position, line in enumerate(PlType.values)}
    for month, line, category_id, amount in sorted(results, key=lambda row: (row[0], lines[row[1]], row[2])):
        signed_amount = -amount if line in EXPENSE_LINES else amount
        key = FigureKey("profitAndLoss", category_id=str(category_id), pl_type=line)
        figures_by_month[month].append(Figure(key, round_half_up(signed_amount, company.base_currency)))
