"""Which transactions an act is about: named ones, those of a filter, or all."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from companies.errors import FieldErrors, unknown_at
from companies.models import Among, Company
from ledger.models import Transaction
from ledger.transactions.filters import from_object, narrowed

MOST_IDS = 10_000  # service.md, part 8
MOST_ERRORS = 1000
MODES = ["ids", "filter", "all"]


class ConfirmationRequired(FieldErrors):
    """This is about all transactions: confirm must be true."""

    code = "confirmation_required"

    def __init__(self) -> None:
        super().__init__([("#/selection/confirm", self.code, _("Must be true: this is about all."))])


def of_ids(ids: Iterable[UUID]) -> dict[str, Any]:
    """The selection of named transactions."""
    return {"mode": "ids", "ids": {str(each): each for each in ids}}


def selected(company: Company, selection: dict[str, Any]) -> Any:
    """The transactions of a selection as SelectionShape reads it, as a query set; initial balances are in none.

    Raises FieldErrors (unknown_id), ConfirmationRequired and ValidationError.
    """
    rows = Transaction.objects.of(company.id).without_initial()
    confirmed = selection.get("confirm") is True
    match selection["mode"]:
        case "ids":
            return rows.filter(Among("id", known_ids(company, selection["ids"], pointer="#/selection/ids")))
        case "filter":
            try:
                found = narrowed(rows, from_object(selection["filter"]), company_id=company.id)
            except ValidationError as error:
                raise ValidationError({"selection": {"filter": error.detail}}) from None
            if found.query.where == rows.query.where and not confirmed:
                raise ConfirmationRequired
            excluded = known_ids(company, selection.get("excluded_ids", {}), pointer="#/selection/excludedIds")
            return found.exclude(Among("id", excluded)) if excluded else found
    if not confirmed:
        raise ConfirmationRequired
    return rows


def known_ids(company: Company, asked: Mapping[str, UUID | None], *, pointer: str) -> list[UUID]:
    """The ids, each once. Raises FieldErrors with unknown_id for those that the company does not have."""
    wanted = {each for each in asked.values() if each}
    known = set(Transaction.objects.of(company.id).filter(Among("id", list(wanted))).values_list("id", flat=True))
    unknown = [position for position, each in enumerate(asked.values()) if each not in known]
    if unknown:
        raise FieldErrors([unknown_at(f"{pointer}/{position}") for position in unknown[:MOST_ERRORS]])
    return sorted(known)
