"""What the demonstration company expects: recurring movements, what differs about some, and its financial plan."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from analytics.demonstration.story import loans
from analytics.demonstration.story.plot import Story
from analytics.demonstration.story.spending import COSTS, PAYROLL_TAX, part
from companies.models import Company, Stamp
from companies.time_zones import get_today
from ledger.calc.months import add_months, first_of_month, last_of_month
from ledger.models import Account, Transaction
from planning import budgeting, matching, overriding, scheduling
from planning.models import PlannedTransaction, SettledBy, Source

MONTHLY = {"frequency": "month", "interval": 1, "last_day_of_month": False, "end": {"type": "never"}}
PAYDAY = {**MONTHLY, "last_day_of_month": True}
QUARTERLY = {**MONTHLY, "interval": 3}
YEARLY = {**MONTHLY, "frequency": "year"}
COLLECTED = (("main", "0.60"), ("dollars", "0.28"), ("pounds", "0.11"))  # what customers pay, by account
TEN = Decimal(10)
A_WEEK = timedelta(days=7)


class Plans:
    def __init__(
        self,
        *,
        company: Company,
        stamp: Stamp,
        accounts: Mapping[str, Account],
        categories: Mapping[str, UUID],
        story: Story,
    ):
        self.company, self.stamp, self.accounts, self.categories = company, stamp, accounts, categories
        self.today = get_today(company, stamp.time)
        self.month = first_of_month(self.today)
        self.budget, self.recurring = story.budgets[-1], story.recurring[-1]
        paid = loans.count_instalments(story.months, story.months[-1]) + 1
        self.interest = loans.interest(story.loan, paid=paid)

    def expect(self) -> None:
        """Wages on the last day of the month, rent, hosting, taxes, and what customers pay."""
        wages = self.cost("Salaries", recurrence=PAYDAY)
        rent = self.cost("Office rent")
        advertising = self.cost("Search advertising")
        for text in ("Hosting", "Contractors", "Bookkeeping and legal advice", "Outsourced first-level support"):
            self.cost(text)
        self.planned("Payroll tax and contributions", -part(self.budget, PAYROLL_TAX), day=10)
        self.planned("Card settlement: software and travel", -part(self.budget, 0.05), day=5)
        self.planned("Value-added tax", -part(self.recurring, 0.03), day=10, category="taxPayments")
        if self.interest:
            self.planned("Loan interest", -self.interest, day=loans.DAY, category="interest")
        quarter = add_months(self.month, -((self.month.month - 3) % 3))
        self.planned(
            "Corporate tax, prepayment", -part(self.budget, 0.02), first=quarter, day=10,
            category="incomeTax", recurrence=QUARTERLY,
        )  # fmt: skip
        january = date(self.month.year, 1, 1)
        self.planned(
            "Business insurance", -part(self.budget, 0.06), first=january, day=14,
            category="officeAndAdmin", recurrence=YEARLY,
        )  # fmt: skip
        for account, share in COLLECTED:
            for day in (8, 16, 24):
                self.planned(
                    f"Subscriptions, {self.accounts[account].default_currency}",
                    part(self.recurring, float(share) / 3 * 1.02),
                    account=account, day=day, category="revenueRecurring", settled_by=SettledBy.CATEGORY,
                )  # fmt: skip
        self.differ(wages, rent, advertising)
        self.settle()

    def cost(self, text: str, recurrence: dict[str, Any] = MONTHLY) -> PlannedTransaction:
        """A monthly bill as it stands in the budget; several under one heading together."""
        costs = [cost for cost in COSTS if cost.text.startswith(text)]
        amount = sum((part(self.budget, cost.share) for cost in costs), start=Decimal(0))
        category = costs[0].category if len(costs) == 1 else None
        return self.planned(
            text, -amount, account=costs[0].account, day=costs[0].day, category=category, recurrence=recurrence
        )

    def planned(
        self,
        name: str,
        amount: Decimal,
        *,
        day: int,
        account: str = "main",
        category: str | None = None,
        recurrence: dict[str, Any] = MONTHLY,
        first: date | None = None,
        settled_by: SettledBy = SettledBy.TRANSACTION,
    ) -> PlannedTransaction:
        month = first or self.month
        start = min(month + timedelta(days=day - 1), last_of_month(month))
        rounded = amount.quantize(Decimal(1)) if abs(amount) < 1000 else (amount / TEN).quantize(Decimal(1)) * TEN
        values = {
            "account_id": self.accounts[account].id,
            "name": name,
            "start_date": start,
            "amount_value": str(rounded),
            "amount_currency": self.accounts[account].default_currency,
            "category_id": self.categories[category] if category else None,
            "recurrence": recurrence,
            "settled_by": settled_by,
        }
        return scheduling.plan(company=self.company, stamp=self.stamp, source=Source.MANUAL, values=values)

    def differ(self, wages: PlannedTransaction, rent: PlannedTransaction, advertising: PlannedTransaction) -> None:
        """A bonus with December's wages, no advertising over the holidays, and this month's rent as it was paid."""
        december = date(self.month.year, 12, 31)
        bonus = wages.amount_value * Decimal("1.15")
        self.override(wages, december, {"amount_value": f"{bonus:.2f}", "name": "Salaries with year-end bonus"})
        self.override(advertising, add_months(advertising.start_date, 2), {"skipped": True})
        paid = Transaction.objects.of(self.company.id).filter(
            date__gte=self.month, description__startswith="Office rent"
        )
        row = paid.values_list("id", flat=True).first()
        if row:
            self.override(rent, rent.start_date, {"transaction_id": row})

    def settle(self) -> None:
        """What fits this month's bills up to a week ago. The newest wait to be settled; what fits nothing is late."""
        last = self.today - A_WEEK
        if last < self.month:
            return
        for match in matching.proposed(company=self.company, window_start=self.month, window_end=last):
            overriding.settle(
                company=self.company,
                stamp=self.stamp,
                planned_id=match.awaited.planned_id,
                original_date=match.awaited.original_date,
                transaction_id=match.booked.id,
            )

    def override(self, planned: PlannedTransaction, day: date, patch: dict[str, Any]) -> None:
        overriding.override(
            company=self.company, stamp=self.stamp, planned_id=planned.id, original_date=day, patch=patch
        )

    # ------------------------------------------------------------------------------------------ the financial plan

    def budget_lines(self) -> None:
        """This year and the next: fixed amounts, amounts that grow by a step, and amounts that grow by a share."""
        year = self.month.replace(month=1)
        for start, factor in ((year, Decimal("0.88")), (add_months(year, 12), Decimal("1.12"))):
            self.line(start, "revenue", "revenueRecurring", self.recurring * factor, growth=Decimal("0.022"))
            self.line(start, "revenue", "revenueUsage", self.recurring * factor * Decimal("0.004"), step=True)
            self.line(start, "cogs", "hosting", self.of("hosting") * factor, growth=Decimal("0.015"))
            self.line(start, "cogs", "support", self.of("support") * factor)
            self.line(start, "cac", "marketing", self.of("marketing") * factor)
            self.line(start, "cac", "sales", self.of("sales") * factor, growth=Decimal("0.01"))
            self.line(start, "pd", "productDevelopment", self.of("productDevelopment") * factor)
            self.line(start, "ga", "officeAndAdmin", self.of("officeAndAdmin") * factor)
            self.line(start, "ga", "professionalServices", self.of("professionalServices") * factor)
            self.line(start, "no", "interest", -self.interest)
            self.line(
                add_months(start, 2), "no", "incomeTax", -self.budget * factor * Decimal("0.02"), every=3, lasting=10
            )

    def of(self, category: str) -> Decimal:
        """What a month's budget has for a category."""
        return sum((part(self.budget, cost.share) for cost in COSTS if cost.category == category), start=Decimal(0))

    def line(
        self,
        month: date,
        pl_type: str,
        category: str,
        amount: Decimal,
        *,
        growth: Decimal | None = None,
        step: bool = False,
        every: int = 1,
        lasting: int = 12,
    ) -> None:
        kind = "relative" if growth else "changeByAmount" if step else "fixed"
        money = {"value": (amount / TEN).quantize(Decimal(1)) * TEN, "currency": "EUR"}
        values = {
            "month": month,
            "pl_type": pl_type,
            "category_id": self.categories[category],
            "amount": {"type": kind, "amount": money, "relative_change": growth},
            "frequency": every,
            "duration": lasting,
        }
        budgeting.add(company=self.company, stamp=self.stamp, values=values)
