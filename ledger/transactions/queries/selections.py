"""Selections: the transactions that a bulk operation applies to (ids, a filter, or all)."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from companies.errors import ValidationFailed, build_unknown_id_entry
from companies.models import Company, IdIn
from ledger.models import Transaction
from ledger.transactions.filters import filter_transactions, to_filter_query

MAX_SELECTED_IDS = 10_000  # service.md, part 8
MAX_ERRORS = 1000
MAX_AUDITED_IDS = 100  # the other transactions are linked to the entry
SELECTION_MODES = ["ids", "filter", "all"]


class ConfirmationRequired(ValidationFailed):
    """The selection includes all transactions. Set confirm to true."""

    code = "confirmation_required"

    def __init__(self) -> None:
        super().__init__([("#/selection/confirm", self.code, _("Must be true to select all transactions."))])


def build_id_selection(ids: Iterable[UUID]) -> dict[str, Any]:
    """Return the selection of these transactions."""
    return {"mode": "ids", "ids": {str(each): each for each in ids}}


def build_audited_selection(selection: dict[str, Any]) -> dict[str, Any]:
    """Return what an audit entry keeps of a selection, named as in requests: mode, filter and first ids."""
    audited = {"mode": selection["mode"]}
    for name, key in (("ids", "ids"), ("excluded_ids", "excludedIds")):
        if ids_by_text := selection.get(name):
            audited[key] = [str(each) for each in ids_by_text.values()][:MAX_AUDITED_IDS]
    if selection["mode"] == "filter":
        audited["filter"] = selection["filter"]
    return audited


def select_transactions(company: Company, selection: dict[str, Any]) -> Any:
    """Return the transactions of a selection as a queryset, without initial balances.

    Raises:
        ValidationFailed: `unknown_id`.
        ConfirmationRequired, ValidationError.
    """
    rows = Transaction.objects.for_company(company.id).without_initial_balances()
    is_confirmed = selection.get("confirm") is True
    match selection["mode"]:
        case "ids":
            return rows.filter(IdIn("id", get_transaction_ids(company, selection["ids"], pointer="#/selection/ids")))
        case "filter":
            try:
                transactions = filter_transactions(rows, to_filter_query(selection["filter"]), company_id=company.id)
            except ValidationError as error:
                raise ValidationError({"selection": {"filter": error.detail}}) from None
            if transactions.query.where == rows.query.where and not is_confirmed:
                raise ConfirmationRequired
            excluded_ids = get_transaction_ids(
                company, selection.get("excluded_ids", {}), pointer="#/selection/excludedIds"
            )
            return transactions.exclude(IdIn("id", excluded_ids)) if excluded_ids else transactions
    if not is_confirmed:
        raise ConfirmationRequired
    return rows


def get_transaction_ids(company: Company, ids_by_text: Mapping[str, UUID | None], *, pointer: str) -> list[UUID]:
    """Return the ids, sorted and unique. Raises ValidationFailed with `unknown_id` for unknown ones."""
    wanted_ids = {each for each in ids_by_text.values() if each}
    found_ids = set(
        Transaction.objects.for_company(company.id).filter(IdIn("id", list(wanted_ids))).values_list("id", flat=True)
    )
    unknown_positions = [position for position, each in enumerate(ids_by_text.values()) if each not in found_ids]
    if unknown_positions:
        raise ValidationFailed(
            [build_unknown_id_entry(f"{pointer}/{position}") for position in unknown_positions[:MAX_ERRORS]]
        )
    return sorted(found_ids)
