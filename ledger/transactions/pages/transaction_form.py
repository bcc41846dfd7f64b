"""The form of a transaction's own fields, to create or edit it."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.models import Currency, Membership, parse_id
from companies.pages.context import CompanyPage
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from ledger.models import Account, Categorization, Statement, Transaction
from ledger.money.calc.money import format_amount
from ledger.transactions.actions.transactions import (
    FIXED_BY_INITIAL_BALANCE,
    FIXED_BY_LINK,
    find_whole_categorization,
)
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.pages.labels import Choices, load_visible_names
from ledger.transactions.pages.return_urls import build_return_urls
from ledger.transactions.serializers import TransactionSerializer

FLAG_FIELDS = ("pending", "excludeFromAutoCategorization")
MORE_TEXT_FIELDS = (*(text.name for text in TRANSACTION_TEXTS), "externalId", "assignedUserId")
TEXT_FIELDS = ("accountId", "date", "amountValue", "amountCurrency", "fromTo", "description", *MORE_TEXT_FIELDS)
EMPTY_VALUES: dict[str, Any] = {**dict.fromkeys(TEXT_FIELDS, ""), **dict.fromkeys(FLAG_FIELDS, False)}
FIELD_BY_COLUMN = {"account_id": "accountId", "amount_value": "amountValue", "amount_currency": "amountCurrency"}
COLLAPSED_FIELDS = (*MORE_TEXT_FIELDS, *FLAG_FIELDS)  # fields in the collapsed section


def bind_transaction_form(page: CompanyPage, row: Transaction | None = None) -> BoundForm:
    """Bind the posted form of a new or stored transaction, validated as the API does."""
    post_data = page.request.POST
    sent_fields = [name for name in TEXT_FIELDS if name in post_data]
    text_fields = [name for name in sent_fields if name != "amountCurrency" or post_data[name].strip()]
    currency = get_transaction_form_currency(page, post_data, row)
    form = bind_form(
        TransactionSerializer,
        post_data,
        texts=text_fields,
        flags=FLAG_FIELDS,
        amounts=("amountValue",),
        currency=currency,
        partial=row is not None,
    )
    form.values = {name: post_data[name].strip() for name in sent_fields} | {
        name: name in post_data for name in FLAG_FIELDS
    }
    return form


def get_transaction_form_currency(page: CompanyPage, post_data: Mapping[str, Any], row: Transaction | None) -> str:
    """Return the form's currency, else the transaction's, else the account's; "" if there is none."""
    if currency := post_data.get("amountCurrency", "").strip() or (row.amount_currency if row else ""):
        return str(currency)
    account = Account.objects.for_company(page.company.id).filter(
        id=parse_id(post_data.get("accountId", "")) or page.company.id
    )
    return account.values_list("default_currency", flat=True).first() or ""


def build_transaction_form_values(row: Transaction) -> dict[str, Any]:
    """Return a stored transaction as form values."""
    return {
        "accountId": str(row.account_id),
        "date": row.date.isoformat(),
        "amountValue": format_amount(row.amount_value, row.amount_currency),
        "amountCurrency": row.amount_currency,
        "fromTo": row.from_to,
        "description": row.description,
        **{text.name: getattr(row, text.column) or "" for text in TRANSACTION_TEXTS},
        "externalId": row.external_id or "",
        "assignedUserId": row.assigned_user_id or "",
        "pending": row.pending,
        "excludeFromAutoCategorization": row.exclude_from_auto_categorization,
    }


def list_fixed_fields(row: Transaction, *, linked: bool, closed: bool = False) -> set[str]:
    """Return the fields that cannot be edited: of linked transactions, initial balances and closed months."""
    columns: set[str] = FIXED_BY_LINK if linked else set()
    if row.is_initial or (closed and not row.pending):
        columns = FIXED_BY_INITIAL_BALANCE
    return {FIELD_BY_COLUMN.get(column, column) for column in columns}


def render_transaction_form(
    page: CompanyPage, form: BoundForm, *, row: Transaction | None = None, fixed: Collection[str] = ()
) -> HttpResponse:
    """Render the transaction form, with status 400 if it has errors."""
    account_id = form.values.get("accountId")
    names = load_visible_names(page)
    accounts = names.list_account_choices(archived=False)
    if row is not None and account_id not in dict(accounts):
        accounts = names.list_account_choices()
    return page.render(
        "ledger/transactions/transaction_form.html",
        status=200 if form.is_valid else 400,
        tab="transactions",
        form=form,
        row=row,
        **(build_return_urls(page, row.id) if row else {}),
        seen=page.get_seen_version(row) if row else "",
        fixed=fixed,
        reconciled_until=find_reconciled_day(row) if row else None,
        amount_effect=describe_amount_effect(row) if row and "amountValue" not in fixed else "",
        accounts=accounts,
        account=account_id or names.get_only_account_id(),
        currencies=Currency.values,
        texts=TRANSACTION_TEXTS,
        people=list_assignee_choices(page, form.values.get("assignedUserId", "")),
        more_open=any(form.values.get(name) or name in form.errors for name in COLLAPSED_FIELDS),
    )


def describe_amount_effect(row: Transaction) -> str:
    """Return what a new amount means for the categorizations of a transaction; empty without any."""
    if not row.categorized_value:
        return ""
    categorizations = list(Categorization.objects.for_company(row.company_id).filter(transaction_id=row.id))
    if row.categorizations_auto_assigned or find_whole_categorization(row, categorizations):
        return _("The category applies to the new amount.")
    return _("Categorizations keep their amounts. The difference becomes uncategorized.")


def find_reconciled_day(row: Transaction) -> date | None:
    """Return the closing day of the bank statement that includes the transaction, if its account is in balance."""
    if row.pending:
        return None
    covering = Statement.objects.for_company(row.company_id).with_closing_balance_covering(
        account_id=row.account_id, currency=row.amount_currency, day=row.date
    )
    agreeing = covering.filter(account__bank_connection__balanceMismatchSince=None)
    return agreeing.values_list("day", flat=True).first()


def list_assignee_choices(page: CompanyPage, current: str) -> Choices:
    """Return the choices for the assignee: members if the user may see them, else the user and the current one."""
    own_id = page.audit_context.user_id
    choices = {str(own_id): _("Me")}
    if page.has_permission(Permission.MEMBERS_MANAGE):
        rows = (
            Membership.objects.for_company(page.company.id)
            .active()
            .select_related("user")
            .order_by("user__name", "user__email")
        )
        choices |= {str(row.user_id): row.display_name for row in rows if row.is_known and row.user_id != own_id}
    if current and current not in choices:
        choices[current] = _("Another person")
    return list(choices.items())
