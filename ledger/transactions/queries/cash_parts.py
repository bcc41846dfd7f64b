"""The parts of the change of cash, and how transactions are divided among them.

Cash is the balance of the accounts that count as cash. Every booked transaction on one of them counts
completely, divided by its categorizations: an initial balance is an opening balance; a categorization in a
financing category is financing; a leg of a transfer is classified by the account of its other leg; the rest
is operating.
"""

from datetime import date
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Case, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from companies.models import IdIn
from ledger.models import AccountType, Categorization, Category, Source


class CashPart(models.TextChoices):
    OPENING_BALANCES = "openingBalances"
    OPERATING_INFLOW = "operatingInflow"
    OPERATING_OUTFLOW = "operatingOutflow"
    CARDS = "cards"  # transfers to and from credit cards
    FINANCING = "financing"  # financing categories, and transfers from and to loans
    EXCHANGE_RESULT = "exchangeResult"  # both legs of transfers between cash accounts: rates, fees
    OTHER_TRANSFERS = "otherTransfers"  # to and from all other accounts, and legs without their other leg in the window


AMOUNT_FIELD: Any = models.DecimalField(max_digits=23, decimal_places=4)
ZERO = Value(0, AMOUNT_FIELD)
COUNTER_TRANSACTION = "counter__transaction"
COUNTER_ACCOUNT = f"{COUNTER_TRANSACTION}__account"


def list_cash_shares(*, company_id: UUID, start: date | None = None, end: date | None = None) -> Any:
    """Return the categorizations on cash accounts in [start, end] that are not operating, each with its `cash_part`.

    They are legs of transfers, and categorizations in financing categories.
    """
    both_legs = Q(
        **{f"{COUNTER_TRANSACTION}__pending": False},
        **build_date_conditions(f"{COUNTER_TRANSACTION}__date", start, end),
    )
    with_loan = Q(
        **{f"{COUNTER_ACCOUNT}__type": AccountType.LOAN, f"{COUNTER_ACCOUNT}__include_in_cash_balance": False}
    )
    cash_part = Case(
        When(Q(counter__isnull=True) | with_loan, then=Value(CashPart.FINANCING)),
        When(both_legs, **{f"{COUNTER_ACCOUNT}__include_in_cash_balance": True}, then=Value(CashPart.EXCHANGE_RESULT)),
        When(**{f"{COUNTER_ACCOUNT}__include_in_cash_balance": True}, then=Value(CashPart.OTHER_TRANSFERS)),
        When(**{f"{COUNTER_ACCOUNT}__type": AccountType.CREDIT_CARD}, then=Value(CashPart.CARDS)),
        default=Value(CashPart.OTHER_TRANSFERS),
        output_field=models.CharField(),
    )
    rows = Categorization.objects.for_company(company_id).filter(
        Q(counter__isnull=False) | Q(category__financing=True),
        transaction__account__include_in_cash_balance=True,
        transaction__pending=False,
        **build_date_conditions("transaction__date", start, end),
    )
    return rows.exclude(transaction__source=Source.INITIAL_BALANCE).annotate(cash_part=cash_part)


def filter_by_cash_part(rows: Any, part: str, *, company_id: UUID, start: date | None, end: date | None) -> Any:
    """Return the transactions that count in a part of the change of cash in [start, end].

    The alias `counted` is the amount of each that counts there, in its own currency.
    """
    rows = rows.filter(
        account__include_in_cash_balance=True, pending=False, **build_date_conditions("date", start, end)
    )
    if part == CashPart.OPENING_BALANCES:
        return rows.initial_balances().alias(counted=F("amount_value"))
    rows = rows.without_initial_balances()
    if part in {CashPart.OPERATING_INFLOW, CashPart.OPERATING_OUTFLOW}:
        categories = Category.objects.for_company(company_id).filter(financing=True)
        financed = (
            Categorization.objects.for_company(company_id)
            .unlinked()
            .filter(IdIn("category_id", categories.values("id")))
        )
        # Few transactions are financed: only of those the categorizations are added up.
        is_financed = IdIn("id", financed.values("transaction_id"))
        financed_amount = Case(
            When(is_financed, then=sum_by_transaction(financed)), default=ZERO, output_field=AMOUNT_FIELD
        )
        remainder = F("amount_value") - F("transferred_value") - financed_amount
        sign = {"amount_value__gt" if part == CashPart.OPERATING_INFLOW else "amount_value__lt": 0}
        return rows.filter(**sign).alias(counted=remainder).exclude(counted=0)
    shares = list_cash_shares(company_id=company_id, start=start, end=end).filter(cash_part=part)
    matching = rows.filter(IdIn("id", shares.values("transaction_id")))
    return matching.alias(counted=sum_by_transaction(shares))


def sum_by_transaction(shares: Any) -> Any:
    """Return an expression: the sum of an outer transaction's categorizations among those given, or 0."""
    sums = shares.filter(transaction_id=OuterRef("id")).order_by().values("transaction_id")
    total = Subquery(sums.annotate(total=Sum("value")).values("total"), output_field=AMOUNT_FIELD)
    return Coalesce(total, ZERO, output_field=AMOUNT_FIELD)


def build_date_conditions(column: str, start: date | None, end: date | None) -> dict[str, date]:
    """Return the conditions for a date column to be in [start, end]; None leaves a side open."""
    bounds = {f"{column}__gte": start, f"{column}__lte": end}
    return {condition: day for condition, day in bounds.items() if day is not None}
