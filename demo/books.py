"""The books of a demo company while they are filled."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from companies.models import AuditContext, Company
from ledger.models import Account, Category, Counterparty


@dataclass(slots=True)
class DemoBooks:
    """A demo company with its accounts by key, categories by system key and counterparties by name."""

    company: Company
    context: AuditContext
    today: date
    accounts: dict[str, Account] = field(default_factory=dict)
    category_ids: dict[str, UUID] = field(default_factory=dict)
    counterparty_ids: dict[str, UUID] = field(default_factory=dict)

    @property
    def scope(self) -> dict[str, Any]:
        """The arguments that every action takes."""
        return {"company": self.company, "context": self.context}

    def load_ids(self) -> None:
        """Look up the ids of the categories and counterparties."""
        categories = Category.objects.for_company(self.company.id).exclude(system_key=None)
        self.category_ids = {str(key): row_id for key, row_id in categories.values_list("system_key", "id")}
        self.counterparty_ids = dict(Counterparty.objects.for_company(self.company.id).values_list("name", "id"))
