"""What imported transactions were for, where their items say so: categories, lines and counterparties."""

from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from companies.errors import unknown_at
from companies.models import Company, id_from
from ledger.bulk.bodies import Fault
from ledger.importing.bodies import Item
from ledger.models import Category, Counterparty
from ledger.purposes.categorizing import PlTypeNeeded, PlTypeNotAllowed, Whole, line_of


class Purposes:
    """The company's categories and those of its counterparties that an import names; two queries, or none."""

    def __init__(self, *, company: Company, items: Iterable[Item | None]):
        named = [item for item in items if item is not None and (item.category_id or item.counterparty)]
        self.categories: dict[str, tuple[UUID, list[str]]] = {}
        self.counterparties: dict[str, UUID] = {}
        if named:
            found = Category.objects.of(company.id).values_list("id", "pl_types")
            self.categories = {str(category): (category, lines) for category, lines in found}
            ids = {item.counterparty.id for item in named if item.counterparty}
            asked = [row_id for each in ids if (row_id := id_from(each))]
            known = Counterparty.objects.of(company.id).filter(id__in=asked)
            self.counterparties = {str(each): each for each in known.values_list("id", flat=True)}

    def fault(self, item: Item) -> Fault | None:
        """(field, code, detail) of what is wrong with an item's purpose."""
        if item.category_id is None:
            return without_category(item)
        category = self.categories.get(item.category_id.lower())
        if category is None:
            return unknown_at("categoryId")
        try:
            line_of(category[1], item.pl_type)
        except (PlTypeNeeded, PlTypeNotAllowed) as refusal:
            return "plType", refusal.code, refusal.detail
        if item.counterparty and item.counterparty.id.lower() not in self.counterparties:
            return unknown_at("counterparty/id")
        return None

    def whole(self, item: Item, transaction_id: UUID) -> Whole:
        """The part that takes an accepted item's whole amount."""
        category_id, lines = self.categories[str(item.category_id).lower()]
        return Whole(
            transaction_id=transaction_id,
            day=item.date,
            amount=Decimal(item.amount_value),
            currency=str(item.amount_currency),
            pending=bool(item.pending),
            category_id=category_id,
            pl_type=line_of(lines, item.pl_type),
            counterparty_id=self.counterparties[item.counterparty.id.lower()] if item.counterparty else None,
        )


def without_category(item: Item) -> Fault | None:
    """A line or a counterparty belongs to a category's part: without one it would be lost."""
    for name, given in (("plType", item.pl_type), ("counterparty", item.counterparty)):
        if given is not None:
            return name, "category_needed", "This needs a categoryId."
    return None
