"""The current exchange rates of a company's currencies, and how old they are."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal

from companies.models import Company
from ledger import hooks
from ledger.models import Account, MonthMovement, SubscriptionEvent
from ledger.money.calc.fx import EURO, RateLookupError, RateTable
from ledger.money.calc.money import CURRENCIES
from ledger.money.rates import get_rate_table

MAX_RATE_AGE_DAYS = 4  # banks publish on working days; weekends and single holidays are no gap
RATE_DIGITS = Context(prec=12)


@dataclass(frozen=True, slots=True)
class CurrentRate:
    """The current rate of a currency: units of the base currency for one unit, and the day it was published.

    `rate`, `day` and `age_days` are None if there is no rate.
    """

    currency: str
    rate: Decimal | None
    day: date | None
    age_days: int | None

    @property
    def is_old(self) -> bool:
        return self.age_days is not None and self.age_days > MAX_RATE_AGE_DAYS

    def is_old_on(self, day: date) -> bool:
        """Whether figures of a day are converted at an old rate."""
        return self.day is not None and (day - self.day).days > MAX_RATE_AGE_DAYS


def list_current_rates(*, company: Company, today: date, rates: RateTable | None = None) -> list[CurrentRate]:
    """Return the rates of the currencies that a company uses besides its base currency, sorted by code.

    One statement, and one for the version of the rates unless that is given.
    """
    currencies = list_used_currencies(company)
    if not currencies:
        return []
    table = get_rate_table() if rates is None else rates
    return [get_current_rate(currency, base=company.base_currency, today=today, rates=table) for currency in currencies]


def has_old_rates(*, today: date, rates: RateTable) -> bool:
    """Return whether the rate of any supported currency is older than four days; no statement."""
    days = (rates.get_rate_date(currency, today) for currency in CURRENCIES if currency != EURO)
    return any((today - day).days > MAX_RATE_AGE_DAYS for day in days)


def list_old_rates(*, company: Company, today: date, rates: RateTable) -> list[CurrentRate]:
    """Return the old rates of the currencies that a company uses; no statement if no rate is old."""
    if not has_old_rates(today=today, rates=rates):
        return []
    return [rate for rate in list_current_rates(company=company, today=today, rates=rates) if rate.is_old]


def list_used_currencies(company: Company) -> list[str]:
    """Return the currencies of what a company converts, without its base currency.

    That is its accounts, booked transactions, subscription events, open planned transactions and plan.
    """
    queries = [
        MonthMovement.objects.for_company(company.id).values_list("currency"),
        SubscriptionEvent.objects.for_company(company.id)
        .filter(retracted_time=None)
        .order_by()
        .values_list("amount_currency"),
        *(query for queries in hooks.build_planned_currency_queries.run(company.id) for query in queries),
    ]
    account_currencies = Account.objects.for_company(company.id).order_by().values_list("default_currency")
    used_currencies = {currency for (currency,) in account_currencies.union(*queries)}
    return sorted(used_currencies - {company.base_currency})


def get_current_rate(currency: str, *, base: str, today: date, rates: RateTable) -> CurrentRate:
    """Return the rate of a currency today; of a pair, the older of both publications counts."""
    try:
        rate = RATE_DIGITS.plus(rates.get_cross_rate(currency, base, today))
        day = min(rates.get_rate_date(each, today) for each in (currency, base) if each != EURO)
    except RateLookupError:
        return CurrentRate(currency, None, None, None)
    return CurrentRate(currency, rate, day, max((today - day) // timedelta(days=1), 0))
