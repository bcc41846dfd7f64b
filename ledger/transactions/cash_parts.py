"""The parts of a change of cash, and what of each transaction counts in which of them.

Cash is what lies on the accounts that count as cash. Every booked transaction on one of them counts in full, divided
among its parts: an initial balance is an opening balance; a categorization in a financing category is financing; a leg
of a transfer goes by the account on its other side; all the rest is operating.
"""

from datetime import date
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Case, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from companies.models import Among
from ledger.models import Account, AccountType, Categorization, Category, Source, Transaction


class CashPart(models.TextChoices):
    OPENING_BALANCES = "openingBalances"
    OPERATING_INFLOW = "operatingInflow"
    OPERATING_OUTFLOW = "operatingOutflow"
    CARDS = "cards"  # transfers to and from credit cards
    FINANCING = "financing"  # financing categories, and transfers from and to loans
    EXCHANGE_RESULT = "exchangeResult"  # both legs of transfers between cash accounts: rates, fees
    OTHER_TRANSFERS = "otherTransfers"  # to and from all other accounts, and legs without their other leg in the window


AMOUNT: Any = models.DecimalField(max_digits=23, decimal_places=4)
ZERO = Value(0, AMOUNT)
OTHER_SIDE = "counter__transaction"
OTHER_ACCOUNT = f"{OTHER_SIDE}__account"


def list_cash_shares(*, company_id: UUID, start: date | None = None, end: date | None = None) -> Any:
    """Return the categorizations on cash accounts in [start, end] that are not operating, each with its `cash_part`.

    They are legs of transfers, and categorizations in financing categories.
    """
    both_legs = Q(**{f"{OTHER_SIDE}__pending": False}, **date_range(f"{OTHER_SIDE}__date", start, end))
    cash_part = Case(
        When(counter__isnull=True, then=Value(CashPart.FINANCING)),
        When(both_legs, **{f"{OTHER_ACCOUNT}__include_in_cash_balance": True}, then=Value(CashPart.EXCHANGE_RESULT)),
        When(**{f"{OTHER_ACCOUNT}__include_in_cash_balance": True}, then=Value(CashPart.OTHER_TRANSFERS)),
        When(**{f"{OTHER_ACCOUNT}__type": AccountType.CREDIT_CARD}, then=Value(CashPart.CARDS)),
        When(**{f"{OTHER_ACCOUNT}__type": AccountType.LOAN}, then=Value(CashPart.FINANCING)),
        default=Value(CashPart.OTHER_TRANSFERS),
        output_field=models.CharField(),
    )
    rows = Categorization.objects.of(company_id).filter(
        Q(counter__isnull=False) | Q(category__financing=True),
        transaction__account__include_in_cash_balance=True,
        transaction__pending=False,
        **date_range("transaction__date", start, end),
    )
    return rows.exclude(transaction__source=Source.INITIAL_BALANCE).annotate(cash_part=cash_part)


def list_financing_shares(*, company_id: UUID, start: date, end: date) -> Any:
    """Return those of `list_cash_shares` that are financing.

    Few categorizations are: they are looked up by category and by loan account, not among all transactions of the days.
    """
    categories = Category.objects.of(company_id).filter(financing=True)
    loans = Account.objects.of(company_id).filter(type=AccountType.LOAN)
    on_loans = Transaction.objects.of(company_id).filter(Among("account_id", loans.values("id")))
    legs = Categorization.objects.of(company_id).filter(Among("transaction_id", on_loans.values("id"))).linked()
    rows = list_cash_shares(company_id=company_id, start=start, end=end).filter(
        Q(Among("category_id", categories.values("id"))) | Q(Among("counter_id", legs.values("id")))
    )
    return rows.filter(cash_part=CashPart.FINANCING)


def filter_by_cash_part(rows: Any, part: str, *, company_id: UUID, start: date | None, end: date | None) -> Any:
    """Return the transactions that count in a part of the change of cash in [start, end].

    What of each counts there, in its own currency, is the alias `counted`.
    """
    rows = rows.filter(account__include_in_cash_balance=True, pending=False, **date_range("date", start, end))
    if part == CashPart.OPENING_BALANCES:
        return rows.initial().alias(counted=F("amount_value"))
    rows = rows.without_initial()
    if part in {CashPart.OPERATING_INFLOW, CashPart.OPERATING_OUTFLOW}:
        categories = Category.objects.of(company_id).filter(financing=True)
        financed = (
            Categorization.objects.of(company_id).unlinked().filter(Among("category_id", categories.values("id")))
        )
        # Few transactions are financed: only of those the categorizations are added up.
        is_financed = Among("id", financed.values("transaction_id"))
        financed_amount = Case(When(is_financed, then=sum_by_transaction(financed)), default=ZERO, output_field=AMOUNT)
        rest = F("amount_value") - F("transferred_value") - financed_amount
        sign = {"amount_value__gt" if part == CashPart.OPERATING_INFLOW else "amount_value__lt": 0}
        return rows.filter(**sign).alias(counted=rest).exclude(counted=0)
    shares = list_cash_shares(company_id=company_id, start=start, end=end).filter(cash_part=part)
    found = rows.filter(Among("id", shares.values("transaction_id")))
    return found.alias(counted=sum_by_transaction(shares))


def sum_by_transaction(shares: Any) -> Any:
    """Return the sum of an outer transaction's categorizations among those given; 0 without any."""
    sums = shares.filter(transaction_id=OuterRef("id")).order_by().values("transaction_id")
    total = Subquery(sums.annotate(total=Sum("value")).values("total"), output_field=AMOUNT)
    return Coalesce(total, ZERO, output_field=AMOUNT)


def date_range(column: str, start: date | None, end: date | None) -> dict[str, date]:
    """Return the conditions for a date column to lie in [start, end]; a bound that is None does not count."""
    bounds = {f"{column}__gte": start, f"{column}__lte": end}
    return {condition: day for condition, day in bounds.items() if day is not None}
