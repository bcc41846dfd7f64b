"""Settings: the exchange rates that figures are converted at."""

from django.http import HttpResponse

from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.money.current_rates import MAX_RATE_AGE_DAYS, list_rates


@company_page(reads=Permission.BALANCES_READ)
def exchange_rates(visit: Visit) -> HttpResponse:
    """The current rate of each currency that the company uses, with its date and age, as the API lists them."""
    return visit.show(
        "ledger/money/exchange_rates.html",
        section="exchange-rates",
        rates=list_rates(company=visit.company, today=visit.today),
        max_age_days=MAX_RATE_AGE_DAYS,
    )
