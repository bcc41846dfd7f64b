"""Compare the amounts of two transactions that are or could be the legs of a transfer."""

from decimal import Decimal

from ledger.models import Transaction
from ledger.money.calc.fx import RateLookupError, convert_currency
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError

AMOUNT_TOLERANCE = Decimal("0.10")  # across currencies: fees and the bank's own rate


def has_amount_difference(
    source: Transaction, source_value: Decimal, target: Transaction, target_value: Decimal
) -> bool:
    """Return whether the amounts of the legs differ too much. Raises MissingRateError."""
    if source.amount_currency == target.amount_currency:
        return source_value + target_value != 0
    try:
        expected = convert_currency(
            source_value,
            source=source.amount_currency,
            target=target.amount_currency,
            day=source.date,
            rates=get_rate_table(),
        )
    except RateLookupError as error:
        raise MissingRateError.from_missing_rate(error) from None
    return abs(expected + target_value) > AMOUNT_TOLERANCE * abs(expected)
