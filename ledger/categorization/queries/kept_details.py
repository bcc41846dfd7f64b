"""What a transaction keeps of its categorization when only its category changes: tax, period and counterparty."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from companies.models import Company, IdIn
from ledger.calc.recognition import DateRule
from ledger.categorization.choices import CategorizationChoice
from ledger.models import Categorization
from ledger.recognition.service_periods import RecognitionRule

Details = dict[UUID, Categorization]  # by transaction, the categorization of its whole amount


@dataclass(frozen=True, slots=True)
class KeptDetails:
    """Which details transactions keep, because the request says nothing about them."""

    tax: bool = False
    period: bool = False
    counterparty: bool = False

    def find(self, company: Company, transaction_ids: list[UUID]) -> Details:
        """Return the categorizations with details to keep. The parts of a split transaction have no common ones."""
        return {each.transaction_id: each for each in self.filter(company, IdIn("transaction_id", transaction_ids))}

    def are_in(self, company: Company, rows: Any) -> bool:
        """Whether any of the transactions has a detail to keep."""
        return bool(self.filter(company, Q(transaction__in=rows)).exists())

    def filter(self, company: Company, selected: Any) -> Any:
        condition = Q(pk__in=[])
        if self.tax:
            condition |= Q(pass_through_tax__isnull=False)
        if self.period:
            condition |= ~Q(rule=DateRule.TRANSACTION_DATE)
        if self.counterparty:
            condition |= Q(counterparty__isnull=False, counterparty_by_settlement=False)
        whole_amount = F("transaction__amount_value") - F("transaction__transferred_value")
        return Categorization.objects.for_company(company.id).unlinked().filter(selected, condition, value=whole_amount)

    def add(self, choice: CategorizationChoice, details: Categorization | None) -> CategorizationChoice:
        """Return the choice with the details that the transaction keeps."""
        if details is None:
            return choice
        values: dict[str, Any] = {}
        if self.tax:
            values["pass_through_tax"] = details.pass_through_tax
        if self.period:
            values["rule"] = RecognitionRule.from_categorization(details)
        if self.counterparty and not details.counterparty_by_settlement:
            values["counterparty_id"] = details.counterparty_id
        return replace(choice, **values)


KEEP_NOTHING = KeptDetails()
