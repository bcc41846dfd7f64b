"""Checks of request bodies: ids of the company's rows and amounts of a currency. Errors are collected, not
raised.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.errors import ValidationFailed, build_unknown_id_error
from companies.models import Company
from ledger.money.amounts import parse_api_amount


@dataclass
class BodyChecks:
    """Collects the errors of one request body; call `raise_if_invalid` at the end."""

    company: Company
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    references: list[tuple[Any, UUID, str]] = field(default_factory=list)

    def add_error(self, pointer: str, code: str, detail: str) -> None:
        self.errors.append((pointer, code, detail))

    def parse_amount(self, text: str, currency: str, pointer: str) -> Decimal:
        """Parse an amount; add an error and return zero if it is none."""
        try:
            return parse_api_amount(text, currency, pointer=pointer)
        except ValidationFailed as error:
            self.errors += error.errors
        return Decimal(0)

    def add_reference(self, model: Any, row_id: UUID | None, pointer: str) -> None:
        """Add an id that must belong to one of the company's rows."""
        if row_id is not None:
            self.references.append((model, row_id, pointer))

    def raise_if_invalid(self) -> None:
        """Look up the added ids, one query a table.

        Raises:
            ValidationFailed: there are errors.
        """
        for model in dict.fromkeys(model for model, _, _ in self.references):
            ids_with_pointers = [(row_id, pointer) for kind, row_id, pointer in self.references if kind is model]
            rows = model.objects.for_company(self.company.id).filter(id__in={row_id for row_id, _ in ids_with_pointers})
            known_ids = set(rows.values_list("id", flat=True))
            for row_id, pointer in ids_with_pointers:
                if row_id not in known_ids:
                    self.errors += build_unknown_id_error(pointer).errors
        if self.errors:
            raise ValidationFailed(self.errors)
