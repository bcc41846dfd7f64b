"""What the bodies of plans refer to: ids of this company, amounts of a currency. Mistakes are collected, not raised."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.errors import FieldErrors, unknown_id
from companies.models import Company
from ledger.money.amounts import amount_in


@dataclass
class Checks:
    """Every mistake of one body; ``pass_or_raise`` at the end."""

    company: Company
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    references: list[tuple[Any, UUID, str]] = field(default_factory=list)

    def wrong(self, pointer: str, code: str, detail: str) -> None:
        self.errors.append((pointer, code, detail))

    def amount(self, text: str, currency: str, pointer: str) -> Decimal:
        """The amount that was written; zero where it is none."""
        try:
            return amount_in(text, currency, pointer=pointer)
        except FieldErrors as wrong:
            self.errors += wrong.errors
        return Decimal(0)

    def refers(self, model: Any, row_id: UUID | None, pointer: str) -> None:
        """Notes an id that must be one of the company's rows."""
        if row_id is not None:
            self.references.append((model, row_id, pointer))

    def pass_or_raise(self) -> None:
        """Looks the ids up, one query a table. Raises FieldErrors."""
        for model in dict.fromkeys(model for model, _, _ in self.references):
            wanted = [(row_id, pointer) for kind, row_id, pointer in self.references if kind is model]
            rows = model.objects.of(self.company.id).filter(id__in={row_id for row_id, _ in wanted})
            known = set(rows.values_list("id", flat=True))
            for row_id, pointer in wanted:
                if row_id not in known:
                    self.errors += unknown_id(pointer).errors
        if self.errors:
            raise FieldErrors(self.errors)
