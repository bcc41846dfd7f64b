"""Planned transactions, overrides and the financial plan of the demo company."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.models import AuditContext, Company
from companies.time_zones import get_today
from demo.scenario import loans
from demo.scenario.expenses import MONTHLY_COSTS, PAYROLL_TAX, compute_budget_share
from demo.scenario.scenario import Scenario
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.models import Account, Transaction
from planning.models import PlannedSource, PlannedTransaction, SettledBy
from planning.plan.actions import plan_items
from planning.planned_transactions.actions import overrides, planned_transactions, settlements
from planning.planned_transactions.queries import transaction_matches

MONTHLY = {"frequency": "month", "interval": 1, "last_day_of_month": False, "end": {"type": "never"}}
PAYDAY = {**MONTHLY, "last_day_of_month": True}
QUARTERLY = {**MONTHLY, "interval": 3}
YEARLY = {**MONTHLY, "frequency": "year"}
REVENUE_SHARE_BY_ACCOUNT = (("main", "0.60"), ("dollars", "0.28"), ("pounds", "0.11"))  # by account
TEN = Decimal(10)
ONE_WEEK = timedelta(days=7)


class PlanWriter:
    def __init__(
        self,
        *,
        company: Company,
        context: AuditContext,
        accounts: Mapping[str, Account],
        categories: Mapping[str, UUID],
        story: Scenario,
    ):
        self.company, self.context, self.accounts, self.categories = company, context, accounts, categories
        self.today = get_today(company, context.time)
        self.month = get_first_day_of_month(self.today)
        self.budget, self.recurring = story.budgets[-1], story.recurring[-1]
        instalments_paid = loans.count_instalments(story.months, story.months[-1]) + 1
        self.interest = loans.compute_monthly_interest(story.loan, instalments_paid=instalments_paid)

    def plan_payments(self) -> None:
        """Plan wages on the last day of the month, rent, hosting, taxes and customer payments."""
        wages = self.plan_monthly_cost("Salaries", recurrence=PAYDAY)
        rent = self.plan_monthly_cost("Office rent")
        advertising = self.plan_monthly_cost("Search advertising")
        for text in ("Hosting", "Contractors", "Bookkeeping and legal advice", "Outsourced first-level support"):
            self.plan_monthly_cost(text)
        self.create_planned("Payroll tax and contributions", -compute_budget_share(self.budget, PAYROLL_TAX), day=10)
        self.create_planned("Card settlement: software and travel", -compute_budget_share(self.budget, 0.05), day=5)
        self.create_planned(
            "Value-added tax", -compute_budget_share(self.recurring, 0.03), day=10, category="taxPayments"
        )
        if self.interest:
            self.create_planned("Loan interest", -self.interest, day=loans.INSTALMENT_DAY, category="interest")
        quarter = add_months(self.month, -((self.month.month - 3) % 3))
        self.create_planned(
            "Corporate tax, prepayment", -compute_budget_share(self.budget, 0.02), first=quarter, day=10,
            category="incomeTax", recurrence=QUARTERLY,
        )  # fmt: skip
        january = date(self.month.year, 1, 1)
        self.create_planned(
            "Business insurance", -compute_budget_share(self.budget, 0.06), first=january, day=14,
            category="officeAndAdmin", recurrence=YEARLY,
        )  # fmt: skip
        for account, share in REVENUE_SHARE_BY_ACCOUNT:
            for day in (8, 16, 24):
                self.create_planned(
                    f"Subscriptions, {self.accounts[account].default_currency}",
                    compute_budget_share(self.recurring, float(share) / 3 * 1.02),
                    account=account, day=day, category="revenueRecurring", settled_by=SettledBy.CATEGORY,
                )  # fmt: skip
        self.add_overrides(wages, rent, advertising)
        self.settle_matches()

    def plan_monthly_cost(self, text: str, recurrence: dict[str, Any] = MONTHLY) -> PlannedTransaction:
        """Plan a monthly cost of the budget; several under one heading together."""
        costs = [cost for cost in MONTHLY_COSTS if cost.text.startswith(text)]
        amount = sum((compute_budget_share(self.budget, cost.share) for cost in costs), start=Decimal(0))
        category = costs[0].category if len(costs) == 1 else None
        return self.create_planned(
            text, -amount, account=costs[0].account, day=costs[0].day, category=category, recurrence=recurrence
        )

    def create_planned(
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
        start = min(month + timedelta(days=day - 1), get_last_day_of_month(month))
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
        return planned_transactions.create_planned_transaction(
            company=self.company, context=self.context, source=PlannedSource.MANUAL, values=values
        )

    def add_overrides(
        self, wages: PlannedTransaction, rent: PlannedTransaction, advertising: PlannedTransaction
    ) -> None:
        """Override occurrences: December's bonus, no advertising over the holidays, this month's rent as paid."""
        december = date(self.month.year, 12, 31)
        bonus = wages.amount_value * Decimal("1.15")
        self.set_override(wages, december, {"amount_value": f"{bonus:.2f}", "name": "Salaries with year-end bonus"})
        self.set_override(advertising, add_months(advertising.start_date, 2), {"skipped": True})
        rent_payments = Transaction.objects.for_company(self.company.id).filter(
            date__gte=self.month, description__startswith="Office rent"
        )
        row = rent_payments.values_list("id", flat=True).first()
        if row:
            self.settle(rent.id, rent.start_date, row)

    def settle_matches(self) -> None:
        """Settle this month's matches up to a week ago; newer ones stay proposals, unmatched ones are overdue."""
        last = self.today - ONE_WEEK
        if last < self.month:
            return
        for match in transaction_matches.propose_matches(
            company=self.company, window_start=self.month, window_end=last
        ):
            self.settle(match.occurrence.planned_id, match.occurrence.original_date, match.transaction.id)

    def settle(self, planned_id: UUID, day: date, transaction_id: UUID) -> None:
        """Settle an occurrence, and write off what is left of it."""
        settlements.settle_occurrence(
            company=self.company,
            context=self.context,
            planned_id=planned_id,
            original_date=day,
            transaction_id=transaction_id,
            rest_reason="Paid less than planned",
        )

    def set_override(self, planned: PlannedTransaction, day: date, patch: dict[str, Any]) -> None:
        overrides.set_occurrence_override(
            company=self.company, context=self.context, planned_id=planned.id, original_date=day, patch=patch
        )

    # ------------------------------------------------------------------------------------------ the financial plan

    def create_plan_items(self) -> None:
        """Create plan items for this year and the next: fixed, growing by a step, and growing by a percentage."""
        year = self.month.replace(month=1)
        for start, factor in ((year, Decimal("0.88")), (add_months(year, 12), Decimal("1.12"))):
            self.create_plan_line(
                start, "revenue", "revenueRecurring", self.recurring * factor, growth=Decimal("0.022")
            )
            self.create_plan_line(
                start, "revenue", "revenueUsage", self.recurring * factor * Decimal("0.004"), step=True
            )
            self.create_plan_line(
                start, "cogs", "hosting", self.get_category_budget("hosting") * factor, growth=Decimal("0.015")
            )
            self.create_plan_line(start, "cogs", "support", self.get_category_budget("support") * factor)
            self.create_plan_line(start, "cac", "marketing", self.get_category_budget("marketing") * factor)
            self.create_plan_line(
                start, "cac", "sales", self.get_category_budget("sales") * factor, growth=Decimal("0.01")
            )
            self.create_plan_line(
                start, "pd", "productDevelopment", self.get_category_budget("productDevelopment") * factor
            )
            self.create_plan_line(start, "ga", "officeAndAdmin", self.get_category_budget("officeAndAdmin") * factor)
            self.create_plan_line(
                start, "ga", "professionalServices", self.get_category_budget("professionalServices") * factor
            )
            self.create_plan_line(start, "no", "interest", -self.interest)
            self.create_plan_line(
                add_months(start, 2),
                "no",
                "incomeTax",
                -self.budget * factor * Decimal("0.02"),
                frequency=3,
                duration=10,
            )

    def get_category_budget(self, category: str) -> Decimal:
        """Return the monthly budget of a category."""
        return sum(
            (compute_budget_share(self.budget, cost.share) for cost in MONTHLY_COSTS if cost.category == category),
            start=Decimal(0),
        )

    def create_plan_line(
        self,
        month: date,
        pl_type: str,
        category: str,
        amount: Decimal,
        *,
        growth: Decimal | None = None,
        step: bool = False,
        frequency: int = 1,
        duration: int = 12,
    ) -> None:
        kind = "relative" if growth else "changeByAmount" if step else "fixed"
        money = {"value": (amount / TEN).quantize(Decimal(1)) * TEN, "currency": "EUR"}
        values = {
            "month": month,
            "pl_type": pl_type,
            "category_id": self.categories[category],
            "amount": {"type": kind, "amount": money, "relative_change": growth},
            "frequency": frequency,
            "duration": duration,
        }
        plan_items.create_plan_item(company=self.company, context=self.context, values=values)
