"""What a categorization refers to: the P&L line of its category, and its counterparty."""

from collections.abc import Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from companies.errors import InvalidInputError, ValidationFailed, build_unknown_id_error
from companies.models import Company
from ledger import hooks
from ledger.models import Category, Counterparty


class PlTypeNeeded(InvalidInputError):
    """The category posts to several P&L lines. Choose one (plType)."""

    code = "pl_type_needed"


class PlTypeNotAllowed(InvalidInputError):
    """The category does not post to this P&L line."""

    code = "pl_type_not_allowed"


def resolve_pl_type(pl_types: Sequence[str], pl_type: str | None, *, pointer: str = "#/plType") -> str:
    """Return the requested P&L line, or the only one that the category posts to.

    Raises:
        PlTypeNeeded: none is requested and the category has several.
        PlTypeNotAllowed: the category does not post to the requested line.
    """
    if pl_type is None:
        if len(pl_types) != 1:
            raise PlTypeNeeded(pointer=pointer)
        return pl_types[0]
    if pl_type not in pl_types:
        raise PlTypeNotAllowed(pointer=pointer)
    return pl_type


def get_category_pl_types(company: Company, category_id: UUID, *, pointer: str = "#/categoryId") -> list[str]:
    """Return the P&L lines of a category. Raises ValidationFailed (unknown_id)."""
    category = Category.objects.for_company(company.id).filter(id=category_id).first()
    if category is None:
        raise build_unknown_id_error(pointer)
    return category.pl_types


def resolve_counterparty_id(
    company: Company, reference: tuple[UUID, str | None] | None, *, pointer: str = "#/counterparty"
) -> UUID | None:
    """Return the id of a requested counterparty. Raises ValidationFailed (unknown_id, wrong_type)."""
    if reference is None:
        return None
    counterparty = Counterparty.objects.for_company(company.id).filter(id=reference[0]).first()
    if counterparty is None:
        raise build_unknown_id_error(f"{pointer}/id")
    if reference[1] not in (None, counterparty.type):
        raise ValidationFailed(
            [
                (
                    f"{pointer}/type",
                    "wrong_type",
                    _("The type of the counterparty is {type}.").format(type=counterparty.type),
                )
            ]
        )
    return counterparty.id


def find_settled_counterparties(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, UUID]:
    """Return the counterparty of what a transaction settles, by transaction id. Planning answers (ledger.hooks)."""
    counterparty_ids: dict[UUID, UUID] = {}
    for settled in hooks.list_settled_counterparties.run(company_id=company_id, transaction_ids=transaction_ids):
        counterparty_ids |= settled
    return counterparty_ids
