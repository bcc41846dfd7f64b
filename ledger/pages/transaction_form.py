"""The form of a transaction's own fields: for a new one and to change one."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import HttpResponse

from companies.models import Currency, Membership
from companies.pages.typed import Typed
from companies.pages.unchanged import seen
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.booking import FIXED_BY_INITIAL_BALANCE, FIXED_BY_LINK
from ledger.calc.money import format_amount
from ledger.models import Source, Transaction
from ledger.pages.words import Choices, names_for

FLAGS = ("pending", "excludeFromAutoCategorization")
MAY_BE_NULL = ("notes", "externalId", "assignedUserId")
NEW: Mapping[str, Any] = {
    **dict.fromkeys(("accountId", "date", "amountValue", "amountCurrency", "fromTo", "description"), ""),
    **dict.fromkeys(MAY_BE_NULL, ""),
}
COLUMNS = {"account_id": "accountId", "amount_value": "amountValue", "amount_currency": "amountCurrency"}
MORE = (*MAY_BE_NULL, *FLAGS)  # fields that stand folded up


def typed_transaction(given: Mapping[str, Any]) -> Typed:
    """The form filled in with what was typed, or with NEW."""
    texts = {name: str(given[name]).strip() for name in NEW if name in given}
    return Typed(values=texts | {name: bool(given.get(name)) for name in FLAGS})


def body_of(form: Typed) -> dict[str, Any]:
    """What was typed as the body of the API: without a currency the account's counts, empty texts are null."""
    body = {name: value or None if name in MAY_BE_NULL else value for name, value in form.values.items()}
    if not body.get("amountCurrency"):
        body.pop("amountCurrency", None)
    return body


def values_of(row: Transaction) -> dict[str, Any]:
    """A stored transaction as the form shows it."""
    return {
        "accountId": str(row.account_id),
        "date": row.date.isoformat(),
        "amountValue": format_amount(row.amount_value, row.amount_currency),
        "amountCurrency": row.amount_currency,
        "fromTo": row.from_to,
        "description": row.description,
        "notes": row.notes or "",
        "externalId": row.external_id or "",
        "assignedUserId": row.assigned_user_id or "",
        "pending": row.pending,
        "excludeFromAutoCategorization": row.exclude_from_auto_categorization,
    }


def fixed_fields(row: Transaction, *, linked: bool) -> set[str]:
    """The fields that cannot be changed for now: a link holds some, an initial balance is changed with its account."""
    columns: set[str] = FIXED_BY_LINK if linked else set()
    if row.source == Source.INITIAL_BALANCE:
        columns = FIXED_BY_INITIAL_BALANCE
    return {COLUMNS.get(column, column) for column in columns}


def show_form(
    visit: Visit, form: Typed, *, row: Transaction | None = None, fixed: Collection[str] = ()
) -> HttpResponse:
    chosen = form.values.get("accountId")
    accounts = names_for(visit).account_choices(archived=False)
    if row is not None and chosen not in dict(accounts):
        accounts = names_for(visit).account_choices()
    return visit.show(
        "ledger/transaction_form.html",
        status=200 if form.valid else 400,
        tab="transactions",
        form=form,
        row=row,
        seen=seen(row) if row else "",
        fixed=fixed,
        accounts=accounts,
        currencies=Currency.values,
        people=assignees(visit, form.values.get("assignedUserId", "")),
        more_open=any(form.values.get(name) or name in form.errors for name in MORE),
    )


def assignees(visit: Visit, current: str) -> Choices:
    """Members for those who may know them; the others choose themselves, or leave who is there."""
    own = visit.stamp.user_id
    found = {str(own): "Me"}
    if visit.may(Permission.MEMBERS_MANAGE):
        rows = Membership.objects.of(visit.company.id).select_related("user").order_by("user__name", "user__email")
        found |= {str(row.user_id): row.user.display_name for row in rows if row.user_id != own}
    if current and current not in found:
        found[current] = "Somebody else"
    return list(found.items())
