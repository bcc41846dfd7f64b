"""Pages: link a transaction with the other leg of its transfer, and unlink it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from companies.errors import NotFoundError, ValidationFailed, build_unknown_id_error
from companies.models import parse_id
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.models import Categorization, Transaction
from ledger.recognition.actions.postings import MissingRateError
from ledger.transactions.actions import transfers
from ledger.transactions.actions.other_leg import find_open_leg
from ledger.transactions.pages.detail import (
    get_transaction_or_404,
    list_transaction_categorizations,
    reject_initial_balance,
)
from ledger.transactions.pages.labels import LedgerNames, load_visible_names
from ledger.transactions.pages.return_urls import build_return_urls, redirect_to_transaction
from ledger.transactions.queries.transfer_candidates import find_unlinked_transfers, list_transfer_candidates

DAY_RANGES = (3, 10, 30, 90)
DEFAULT_DAYS = 10


@dataclass(frozen=True, slots=True)
class TransferLeg:
    """What can be the leg of the source: one of its categorizations, or its uncategorized amount."""

    categorization_id: UUID | None
    value: Decimal
    label: str

    @property
    def key(self) -> str:
        return str(self.categorization_id or "")


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def link_transfer_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Show candidates for the other leg; a POST links them, as POST transactions/link_transfer does.

    Raises:
        PermissionDenied: the user may not read transactions.
    """
    if not page.has_permission(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the page lists other transactions
    row, ledger_names = get_transaction_or_404(page, transaction_id), load_visible_names(page)
    if redirect_response := reject_initial_balance(page, row):
        return redirect_response
    legs = list_source_legs(row, ledger_names)
    if not page.is_post:
        return render_transfer_candidates(page, row, legs, ledger_names, BoundForm(values={}))
    post_data = page.request.POST
    form = BoundForm(values={"target": post_data.get("target", ""), "force": "force" in post_data})
    with page.handle_errors(form):
        target_id = parse_target_id(page, form.values["target"])
        transfers.link_transfer(
            company=page.company,
            context=page.audit_context,
            source_id=row.id,
            source_categorization_id=parse_existing_id(post_data["part"]) if post_data.get("part") else None,
            target_id=target_id,
            target_categorization_id=find_unlinked_transfers(page.company, [target_id]).get(target_id),
            force=form.values["force"],
        )
        return redirect_to_transaction(page, row.id, _("Transactions linked as a transfer."))
    return render_transfer_candidates(page, row, legs, ledger_names, form)


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def unlink_transfer_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Unlink a transfer, as POST transactions/unlink_transfer does."""
    row = get_transaction_or_404(page, transaction_id)
    with page.handle_errors():
        leg = (
            list_transaction_categorizations(row)
            .linked()
            .filter(id=parse_id(page.request.POST.get("part", "")))
            .first()
        )
        if leg is None:
            raise transfers.NotLinked(_("This transfer is already unlinked."))
        transfers.unlink_transfer(
            company=page.company, context=page.audit_context, transaction_id=row.id, categorization_id=leg.id
        )
        message = _("Transfer unlinked. Both transactions are now uncategorized.")
        return redirect_to_transaction(page, row.id, message)
    return redirect_to_transaction(page, row.id)


def parse_existing_id(text: str) -> UUID:
    """Parse an id. Raises NotFoundError for a malformed one, as for an unknown one."""
    if not (parsed_id := parse_id(text)):
        raise NotFoundError
    return parsed_id


def parse_target_id(page: CompanyPage, text: str) -> UUID:
    """Parse the id of the chosen transaction. Raises ValidationFailed with `required` or `unknown_id`."""
    if not text:
        raise ValidationFailed([("#/target", "required", _("Select the other side."))])
    parsed_id = parse_id(text)
    if parsed_id is None or not Transaction.objects.for_company(page.company.id).filter(id=parsed_id).exists():
        raise build_unknown_id_error("#/target")
    return parsed_id


def list_source_legs(row: Transaction, ledger_names: LedgerNames) -> list[TransferLeg]:
    """Return the uncategorized amount first, if there is any, then the categorizations that are not linked."""
    uncategorized = row.amount_value - row.categorized_value
    open_legs = [TransferLeg(None, uncategorized, _("Uncategorized amount"))] if uncategorized else []
    unlinked: list[Categorization] = [
        part for part in list_transaction_categorizations(row) if part.counter_id is None and part.value
    ]
    return open_legs + [
        TransferLeg(part.id, part.value, ledger_names.get_category_name(part.category_id)) for part in unlinked
    ]


def render_transfer_candidates(
    page: CompanyPage, row: Transaction, legs: list[TransferLeg], ledger_names: LedgerNames, form: BoundForm
) -> HttpResponse:
    """Render the candidates for the other leg, with status 400 if the form has errors."""
    query = page.request.GET
    days, amounts_mode = parse_candidate_filters(query, form)
    leg = get_chosen_leg(legs, query.get("part"))
    rows: list[Any] = []
    if leg:
        try:
            rows = list_transfer_candidates(
                company=page.company, source=row, value=leg.value, days=days, any_amount=amounts_mode == "any"
            )
        except MissingRateError as error:
            form.add_error(error)
    return page.render(
        "ledger/transactions/link_transfer.html",
        status=200 if form.is_valid else 400,
        tab="transactions",
        row=row,
        **build_return_urls(page, row.id),
        then=query.get("then", ""),
        account=ledger_names.get_account_name(row.account_id),
        legs=legs,
        leg=leg,
        form=form,
        days=days,
        all_days=DAY_RANGES,
        amounts=amounts_mode,
        may_create_leg=page.has_permission(Permission.ACCOUNTS_READ) and find_open_leg(page.company, row) is not None,
        candidates=[
            {"row": row, "key": str(row.id), "account": ledger_names.get_account_name(row.account_id)} for row in rows
        ],
    )


def parse_candidate_filters(query: Mapping[str, str], form: BoundForm) -> tuple[int, str]:
    """Return within how many days and with which amounts to look; the default, and an error, for other values."""
    choices = {"days": [str(each) for each in DAY_RANGES], "amounts": ["equal", "any"]}
    values = {"days": str(DEFAULT_DAYS), "amounts": "equal"}
    for name, allowed in choices.items():
        if name in query:
            if query[name] in allowed:
                values[name] = query[name]
            else:
                form.errors[name] = _("Choose one of the options.")
    form.values = {**form.values, **values}
    return int(values["days"]), values["amounts"]


def get_chosen_leg(legs: list[TransferLeg], key: str | None) -> TransferLeg | None:
    """Return the leg with this key, the first without a key. Raises Http404 for an unknown key."""
    if key is None:
        return legs[0] if legs else None
    for leg in legs:
        if leg.key == key:
            return leg
    raise Http404
