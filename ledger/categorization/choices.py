"""What is chosen for a transaction: one category for its amount, or several that share it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.models import Company
from ledger.bulk.request_bodies import describe_too_many_decimals
from ledger.calc.allocation import Share, split_by_shares
from ledger.models import PlType, SplitExceedsAmount
from ledger.money.calc.money import compute_included_tax, has_too_many_decimals
from ledger.recognition.service_periods import (
    RecognitionRule,
    find_invoice_dates,
    needs_invoice_date,
    resolve_service_period,
)


class NewCounterparty(NamedTuple):
    """A counterparty to create when the choice is applied."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ChoiceSplit:
    """A share of the amount that goes to another category."""

    category_id: UUID
    pl_type: str
    share: Share
    pass_through_tax: Decimal | None = None


@dataclass(frozen=True, slots=True)
class CategorizationChoice:
    """The category for a transaction, or for what its splits leave.

    The tax is an amount, or a percentage of the amount it is added to.
    """

    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None = None
    rule: RecognitionRule = field(default_factory=RecognitionRule)
    pass_through_tax: Decimal | None = None
    tax_percent: Decimal | None = None
    source_note: str | None = None
    splits: tuple[ChoiceSplit, ...] = ()
    new_counterparty: NewCounterparty | None = None


class CategorizableTransaction(NamedTuple):
    """The columns of a transaction that categorization needs."""

    id: UUID
    day: date
    amount: Decimal
    currency: str
    transferred_amount: Decimal
    is_counted_in_results: bool

    @property
    def remaining_amount(self) -> Decimal:
        """The amount that is not a leg of a transfer."""
        return self.amount - self.transferred_amount


class ChosenCategorization(NamedTuple):
    """One categorization of a transaction to be; its choice has no splits, its amount includes tax."""

    transaction: CategorizableTransaction
    choice: CategorizationChoice
    position: int
    amount: Decimal


def list_chosen_categorizations(
    transaction: CategorizableTransaction, choice: CategorizationChoice
) -> list[ChosenCategorization]:
    """Return the categorizations that a choice makes, of the remainder first; those of nothing are left out.

    Raises:
        SharesExceedAmount: the splits do not fit into the amount.
    """
    if not choice.splits:
        return [ChosenCategorization(transaction, choice, 0, transaction.remaining_amount)]
    amounts, remainder = split_by_shares(
        transaction.remaining_amount, [split.share for split in choice.splits], transaction.currency
    )
    choices = [
        replace(choice, splits=()),
        *(
            replace(
                choice,
                category_id=split.category_id,
                pl_type=split.pl_type,
                pass_through_tax=split.pass_through_tax,
                splits=(),
            )
            for split in choice.splits
        ),
    ]
    pairs = [pair for pair in zip(choices, [remainder, *amounts], strict=True) if pair[1]]
    return [ChosenCategorization(transaction, each, position, amount) for position, (each, amount) in enumerate(pairs)]


def compute_pass_through_tax(part: ChosenCategorization) -> Decimal | None:
    """Return the pass-through tax of one categorization. Raises ValidationFailed and SplitExceedsAmount."""
    transaction, choice = part.transaction, part.choice
    if choice.tax_percent:
        return compute_included_tax(part.amount, choice.tax_percent, transaction.currency)
    tax = choice.pass_through_tax
    if not tax:
        return tax
    if tax * transaction.amount < 0:
        raise ValidationFailed([("#/passThroughTax", "wrong_sign", _("Must have the same sign as the transactions."))])
    if has_too_many_decimals(tax, transaction.currency):
        detail = describe_too_many_decimals(f"{tax.normalize():f}", transaction.currency)
        raise ValidationFailed([("#/passThroughTax", "too_many_decimals", detail)])
    if abs(tax) > abs(part.amount):
        raise SplitExceedsAmount
    return tax


def list_recognition_periods(company: Company, parts: Iterable[ChosenCategorization]) -> list[tuple[date, date]]:
    """Return the recognition period of each categorization.

    Two statements at most. Raises PeriodTooLong, PeriodOutOfRange.
    """
    parts = list(parts)
    invoice_dated_ids = [
        part.transaction.id
        for part in parts
        if needs_invoice_date(part.choice.rule, **get_revenue_options(company, part.choice))
    ]
    known_invoice_dates = (
        find_invoice_dates(company_id=company.id, transaction_ids=invoice_dated_ids) if invoice_dated_ids else {}
    )
    return [
        resolve_service_period(
            part.choice.rule,
            day=part.transaction.day,
            known_invoice_date=known_invoice_dates.get(part.transaction.id),
            **get_revenue_options(company, part.choice),
        )
        for part in parts
    ]


def get_revenue_options(company: Company, choice: CategorizationChoice) -> dict[str, bool]:
    """Return the revenue options of ``resolve_service_period`` for a choice."""
    return {
        "recognize_revenue_on_invoice": company.pl_recognize_revenue_on_invoice,
        "has_revenue": choice.pl_type == PlType.REVENUE,
    }
