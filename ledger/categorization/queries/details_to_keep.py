"""What a transaction keeps of its categorization when only its category changes: tax, period and counterparty."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from companies.models import Company, IdIn
from ledger.calc.recognition import DateRule
from ledger.categorization.choices import CategorizationChoice
from ledger.models import Categorization, Transaction
from ledger.recognition.service_periods import RecognitionRule


@dataclass(frozen=True, slots=True)
class DetailsToKeep:
    """Which details transactions keep, because the request says nothing about them."""

    tax: bool = False
    period: bool = False
    counterparty: bool = False


KEEP_NOTHING = DetailsToKeep()


def has_details_to_keep(company: Company, rows: QuerySet[Transaction], keep: DetailsToKeep) -> bool:
    """Return whether any of the transactions has a detail to keep."""
    return filter_detailed_categorizations(company, keep).filter(transaction__in=rows).exists()


def find_detailed_categorizations(
    company: Company, transaction_ids: list[UUID], keep: DetailsToKeep
) -> dict[UUID, Categorization]:
    """Return transaction id → categorization with details to keep. The parts of a split transaction have no common
    ones.
    """
    rows = filter_detailed_categorizations(company, keep).filter(IdIn("transaction_id", transaction_ids))
    return {categorization.transaction_id: categorization for categorization in rows}


def filter_detailed_categorizations(company: Company, keep: DetailsToKeep) -> QuerySet[Categorization]:
    """Return the categorizations of whole transactions that have a detail to keep."""
    has_detail = Q(pk__in=[])
    if keep.tax:
        has_detail |= Q(pass_through_tax__isnull=False)
    if keep.period:
        has_detail |= ~Q(rule=DateRule.TRANSACTION_DATE) | Q(invoice_date__isnull=False)
    if keep.counterparty:
        has_detail |= Q(counterparty__isnull=False, counterparty_by_settlement=False)
    whole_amount = F("transaction__amount_value") - F("transaction__transferred_value")
    return Categorization.objects.for_company(company.id).unlinked().filter(has_detail, value=whole_amount)


def add_details(
    choice: CategorizationChoice, categorization: Categorization | None, keep: DetailsToKeep
) -> CategorizationChoice:
    """Return the choice with the details that the transaction keeps."""
    if categorization is None:
        return choice
    details: dict[str, Any] = {}
    if keep.tax:
        details["pass_through_tax"] = categorization.pass_through_tax
    if keep.period:
        details["rule"] = RecognitionRule.from_categorization(categorization)
    if keep.counterparty and not categorization.counterparty_by_settlement:
        details["counterparty_id"] = categorization.counterparty_id
    return replace(choice, **details)
