"""Categories, P&L lines and counterparties that imported items name."""

from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from companies.errors import build_unknown_id_entry
from companies.models import Company, parse_id
from ledger.bulk.request_bodies import Fault
from ledger.categorization.actions.full_categorization import FullCategorization
from ledger.categorization.queries.references import PlTypeNeeded, PlTypeNotAllowed, resolve_pl_type
from ledger.imports.import_body import TransactionImportItem
from ledger.models import Category, Counterparty


class CategorizationLookup:
    """The company's categories and the counterparties that an import names; two queries, or none."""

    def __init__(self, *, company: Company, items: Iterable[TransactionImportItem | None]):
        referring_items = [item for item in items if item is not None and (item.category_id or item.counterparty)]
        self.categories: dict[str, tuple[UUID, list[str]]] = {}
        self.counterparties: dict[str, UUID] = {}
        if referring_items:
            category_rows = Category.objects.for_company(company.id).values_list("id", "pl_types")
            self.categories = {str(category): (category, lines) for category, lines in category_rows}
            ids = {item.counterparty.id for item in referring_items if item.counterparty}
            counterparty_ids = [row_id for counterparty_id in ids if (row_id := parse_id(counterparty_id))]
            counterparties = Counterparty.objects.for_company(company.id).filter(id__in=counterparty_ids)
            self.counterparties = {
                str(counterparty_id): counterparty_id for counterparty_id in counterparties.values_list("id", flat=True)
            }

    def find_error(self, item: TransactionImportItem) -> Fault | None:
        """Return (field, code, detail) of what is wrong with an item's category, or None."""
        if item.category_id is None:
            return find_missing_category_error(item)
        category = self.categories.get(item.category_id.lower())
        if category is None:
            return build_unknown_id_entry("categoryId")
        try:
            resolve_pl_type(category[1], item.pl_type)
        except (PlTypeNeeded, PlTypeNotAllowed) as error:
            return "plType", error.code, error.detail
        if item.counterparty and item.counterparty.id.lower() not in self.counterparties:
            return build_unknown_id_entry("counterparty/id")
        return None

    def to_full_categorization(self, item: TransactionImportItem, transaction_id: UUID) -> FullCategorization:
        """Return the categorization of a validated item's whole amount."""
        category_id, lines = self.categories[str(item.category_id).lower()]
        return FullCategorization(
            transaction_id=transaction_id,
            day=item.date,
            amount=Decimal(item.amount_value),
            currency=str(item.amount_currency),
            pending=bool(item.pending),
            category_id=category_id,
            pl_type=resolve_pl_type(lines, item.pl_type),
            counterparty_id=self.counterparties[item.counterparty.id.lower()] if item.counterparty else None,
        )


def find_missing_category_error(item: TransactionImportItem) -> Fault | None:
    """Return the error of an item with a P&L line or a counterparty but no category."""
    for name, value in (("plType", item.pl_type), ("counterparty", item.counterparty)):
        if value is not None:
            return name, "category_needed", "Requires categoryId."
    return None
