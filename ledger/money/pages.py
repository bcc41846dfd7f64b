"""Pages: the exchange rates that figures are converted at."""

from django.http import HttpResponse

from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.money.current_rates import MAX_RATE_AGE_DAYS, list_current_rates


@company_page(reads=Permission.BALANCES_READ)
def show_exchange_rates(page: CompanyPage) -> HttpResponse:
    """Show the current rate of each currency that the company uses, with its date and age."""
    return page.render(
        "ledger/money/exchange_rates.html",
        section="exchange-rates",
        rates=list_current_rates(company=page.company, today=page.today),
        max_age_days=MAX_RATE_AGE_DAYS,
    )
