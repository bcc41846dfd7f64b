"""Whether a categorization can be assigned automatically."""

from collections.abc import Callable

from companies.models import Company
from ledger.calc.allocation import SharesExceedAmount
from ledger.categorization.choices import CategorizableTransaction, CategorizationChoice, list_chosen_categorizations
from ledger.money.calc.fx import RateLookupError, convert_currency
from ledger.money.rates import get_rate_table
from ledger.recognition.service_periods import PeriodOutOfRange, PeriodTooLong, RecognitionRule, resolve_service_period


def build_assignability_check(company: Company) -> Callable[[CategorizableTransaction, CategorizationChoice], bool]:
    """Return a function that tells whether a choice can be assigned; nobody asked, so nobody gets an error."""
    rates = get_rate_table()

    def can_assign(fact: CategorizableTransaction, choice: CategorizationChoice) -> bool:
        try:
            if choice.splits:
                list_chosen_categorizations(fact, choice)
            if choice.rule.type != RecognitionRule().type:
                resolve_service_period(
                    choice.rule,
                    day=fact.day,
                    known_invoice_date=None,
                    recognize_revenue_on_invoice=False,
                    has_revenue=False,
                )
            if fact.currency != company.base_currency:
                convert_currency(
                    fact.amount, source=fact.currency, target=company.base_currency, day=fact.day, rates=rates
                )
        except (RateLookupError, PeriodOutOfRange, PeriodTooLong, SharesExceedAmount):
            return False
        return True

    return can_assign
