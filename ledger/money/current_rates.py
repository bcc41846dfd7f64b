"""The exchange rates at which a company's figures are converted today, and how old they are."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal

from django.db import connection

from companies.models import Company
from ledger.calc.fx import EURO, MissingRate, RateTable
from ledger.calc.money import CURRENCIES
from ledger.money.rates import rate_table

MAX_RATE_AGE_DAYS = 4  # banks publish on working days; weekends and single holidays are no gap
RATE_DIGITS = Context(prec=12)

# Each currency is looked for at its place in the index of movements, account by account: none of them is read.
_CURRENCIES_USED = """
    SELECT each.currency FROM unnest(%(currencies)s::text[]) AS each (currency)
     WHERE EXISTS (SELECT FROM ledger_account a
                    WHERE a.company_id = %(company)s
                      AND (a.default_currency = each.currency
                           OR EXISTS (SELECT FROM ledger_daymovement m
                                       WHERE m.company_id = %(company)s AND m.account_id = a.id
                                         AND m.currency = each.currency)))
     ORDER BY each.currency
"""


@dataclass(frozen=True, slots=True)
class CurrentRate:
    """The rate of one currency: units of the base currency for one unit, and the day on which it was published.

    ``rate``, ``day`` and ``age_days`` are None where there is no rate at all.
    """

    currency: str
    rate: Decimal | None
    day: date | None
    age_days: int | None

    @property
    def is_old(self) -> bool:
        return self.age_days is not None and self.age_days > MAX_RATE_AGE_DAYS


def list_rates(*, company: Company, today: date, rates_version: int | None = None) -> list[CurrentRate]:
    """Return the rates of the currencies that a company uses besides its base currency, by their codes.

    Used are the currencies of its accounts and booked transactions. One statement, and one for the version of the
    table of rates where that is not known.
    """
    used = find_currencies_used(company)
    if not used:
        return []
    rates = rate_table(rates_version)
    return [to_current_rate(currency, base=company.base_currency, today=today, rates=rates) for currency in used]


def has_old_rates(*, today: date, rates: RateTable) -> bool:
    """Whether the rate of any currency at all is older than four days; no statement."""
    days = (rates.rate_date(currency, today) for currency in CURRENCIES if currency != EURO)
    return any((today - day).days > MAX_RATE_AGE_DAYS for day in days)


def find_currencies_used(company: Company) -> list[str]:
    others = [currency for currency in CURRENCIES if currency != company.base_currency]
    with connection.cursor() as cursor:
        cursor.execute(_CURRENCIES_USED, {"company": company.id, "currencies": others})
        return [currency for (currency,) in cursor.fetchall()]


def to_current_rate(currency: str, *, base: str, today: date, rates: RateTable) -> CurrentRate:
    """The rate of a currency today; of a pair the older of both publications counts."""
    try:
        rate = RATE_DIGITS.plus(rates.cross(currency, base, today))
        day = min(rates.rate_date(each, today) for each in (currency, base) if each != EURO)
    except MissingRate:
        return CurrentRate(currency, None, None, None)
    return CurrentRate(currency, rate, day, max((today - day) // timedelta(days=1), 0))
