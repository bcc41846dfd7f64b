"""What the charts of one company and period are drawn from: the answers of the data queries, each asked once."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from analytics import balances, cash_flow, recurring, results
from analytics.calc.mrr import MonthlyRow
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.months import add_months, first_of_month, last_of_month, months_from
from ledger.models import AccountType
from ledger.rates import rate_table

MONTHS_AHEAD = 6
ONE_DAY = timedelta(days=1)


@dataclass
class Facts:
    """Of so many months up to today. Every fact raises MissingRate where a currency has none."""

    company: Company
    months: int
    today: date
    opens_accounts: bool = False  # whether the viewer may go on to the accounts' own pages

    @property
    def currency(self) -> str:
        return self.company.base_currency

    @property
    def start(self) -> date:
        """The first day whose balance is shown."""
        return add_months(self.today, -self.months)

    @property
    def month(self) -> date:
        """The one under way."""
        return first_of_month(self.today)

    @property
    def calendar(self) -> list[date]:
        """The first days of the months, the one under way the last."""
        return months_from(add_months(self.month, 1 - self.months), self.month)

    @cached_property
    def rates(self) -> RateTable:
        return rate_table()

    @cached_property
    def points(self) -> list[balances.Point]:
        """Cash and other balances at the end of each day up to today."""
        return balances.by_cash_type(
            company=self.company, start=self.start, end=self.today, today=self.today, rates=self.rates
        )

    @cached_property
    def accounts(self) -> list[balances.AccountBalance]:
        """Every account of any type, today and at the end of the first day: what changed is what the points tell."""
        return balances.by_account(
            company=self.company,
            start=self.start + ONE_DAY,
            end=self.today,
            today=self.today,
            types=AccountType.values,
            rates=self.rates,
            emptied=True,
        )

    @cached_property
    def flows(self) -> cash_flow.Forecast:
        """Actual flows of the past months and planned ones of the next, by month."""
        return cash_flow.forecast(
            company=self.company,
            start=self.calendar[0],
            end=last_of_month(add_months(self.month, MONTHS_AHEAD)),
            cutover=self.today,
            today=self.today,
            interval="month",
            rates=self.rates,
        )

    @cached_property
    def year(self) -> list[results.Result]:
        """Profit and loss beside its plan, from January to the month under way."""
        return results.profit_and_loss(
            company=self.company,
            months=months_from(self.month.replace(month=1), self.month),
            today=self.today,
            every_category=False,
            rates=self.rates,
        )

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """How committed recurring revenue moved, month by month."""
        return recurring.monthly_data(
            company=self.company, mrr_type="cmrr", first=self.calendar[0], last=self.calendar[-1]
        )
