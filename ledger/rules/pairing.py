"""Movements that look like the two legs of a transfer, to be confirmed by a person."""

from datetime import date
from decimal import Decimal

from django.db.models import F

from companies.models import Company
from ledger.calc.fx import MissingRate, convert
from ledger.calc.money import round_half_up
from ledger.models import RefusedMatch, Transaction
from ledger.money.rates import rate_table
from ledger.rules.calc.pairs import Leg, Pair, pairs
from ledger.rules.identity import load_identity

MOST_PAIRS = 10_000  # of one answer


def transfer_pairs(*, company: Company, start: date, end: date) -> list[Pair]:
    """Return pairs among the open, booked transactions of the days, the nearest first, 10,000 at most; one query each
    for them, for the accounts, for what people refused and for the rates.

    Amounts are what is open of them. A currency without a rate fits no other.
    """
    found = Transaction.objects.of(company.id).booked().open().filter(date__range=(start, end)).order_by("date", "id")
    open_value = F("amount_value") - F("categorized_value")
    rows = found.values_list("id", "account_id", "date", open_value, "amount_currency", "from_to", "description")
    legs = [Leg(*row) for row in rows]
    if not legs:
        return []
    rates = rate_table()

    def worth(amount: Decimal, source: str, target: str, day: date) -> Decimal | None:
        try:
            return round_half_up(convert(amount, source=source, target=target, day=day, rates=rates), target)
        except MissingRate:
            return None

    refused = RefusedMatch.objects.of(company.id).transfers().pairs()
    return pairs(legs, worth=worth, identity=load_identity(company), refused=refused)[:MOST_PAIRS]
