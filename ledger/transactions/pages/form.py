"""The form of a transaction's own fields: for a new one and to change one."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.models import Currency, Membership, id_from
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.calc.money import format_amount
from ledger.models import Account, Statement, Transaction
from ledger.transactions.booking import FIXED_BY_INITIAL_BALANCE, FIXED_BY_LINK
from ledger.transactions.pages.ways import ways
from ledger.transactions.pages.words import Choices, names_for
from ledger.transactions.shapes import TransactionShape

FLAGS = ("pending", "excludeFromAutoCategorization")
MORE_TEXTS = ("notes", "externalId", "assignedUserId")
TEXTS = ("accountId", "date", "amountValue", "amountCurrency", "fromTo", "description", *MORE_TEXTS)
NEW: dict[str, Any] = {**dict.fromkeys(TEXTS, ""), **dict.fromkeys(FLAGS, False)}
COLUMNS = {"account_id": "accountId", "amount_value": "amountValue", "amount_currency": "amountCurrency"}
MORE = (*MORE_TEXTS, *FLAGS)  # fields that stand folded up


def read_form(visit: Visit, row: Transaction | None = None) -> Typed:
    """The form filled in with what was typed, of a new transaction or of one that is there, read as the API does;
    without a currency the account's counts."""
    posted = visit.request.POST
    sent = [name for name in TEXTS if name in posted]
    texts = [name for name in sent if name != "amountCurrency" or posted[name].strip()]
    currency = currency_of(visit, posted, row)
    form = typed(
        TransactionShape,
        posted,
        texts=texts,
        flags=FLAGS,
        amounts=("amountValue",),
        currency=currency,
        partial=row is not None,
    )
    form.values = {name: posted[name].strip() for name in sent} | {name: name in posted for name in FLAGS}
    return form


def currency_of(visit: Visit, posted: Mapping[str, Any], row: Transaction | None) -> str:
    """That of the form, else the transaction's, else the account's; "" where there is none."""
    if named := posted.get("amountCurrency", "").strip() or (row.amount_currency if row else ""):
        return str(named)
    account = Account.objects.of(visit.company.id).filter(id=id_from(posted.get("accountId", "")) or visit.company.id)
    return account.values_list("default_currency", flat=True).first() or ""


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
    if row.is_initial:
        columns = FIXED_BY_INITIAL_BALANCE
    return {COLUMNS.get(column, column) for column in columns}


def show_form(
    visit: Visit, form: Typed, *, row: Transaction | None = None, fixed: Collection[str] = ()
) -> HttpResponse:
    chosen = form.values.get("accountId")
    names = names_for(visit)
    accounts = names.account_choices(archived=False)
    if row is not None and chosen not in dict(accounts):
        accounts = names.account_choices()
    return visit.show(
        "ledger/transactions/transaction_form.html",
        status=200 if form.valid else 400,
        tab="transactions",
        form=form,
        row=row,
        **(ways(visit, row.id) if row else {}),
        seen=visit.seen(row) if row else "",
        fixed=fixed,
        reconciled_until=find_reconciled_day(row) if row else None,
        accounts=accounts,
        account=chosen or names.only_account(),
        currencies=Currency.values,
        people=assignees(visit, form.values.get("assignedUserId", "")),
        more_open=any(form.values.get(name) or name in form.errors for name in MORE),
    )


def find_reconciled_day(row: Transaction) -> date | None:
    """The closing day of the bank statement that a transaction is in, where its account agrees with the bank."""
    if row.pending:
        return None
    covering = Statement.objects.of(row.company_id).covering(
        account_id=row.account_id, currency=row.amount_currency, day=row.date
    )
    agreeing = covering.filter(account__bank_connection__balanceMismatchSince=None)
    return agreeing.values_list("day", flat=True).first()


def assignees(visit: Visit, current: str) -> Choices:
    """Members for those who may know them; the others choose themselves, or leave who is there."""
    own = visit.stamp.user_id
    found = {str(own): _("Me")}
    if visit.may(Permission.MEMBERS_MANAGE):
        rows = (
            Membership.objects.of(visit.company.id)
            .active()
            .select_related("user")
            .order_by("user__name", "user__email")
        )
        found |= {str(row.user_id): row.called for row in rows if row.is_known and row.user_id != own}
    if current and current not in found:
        found[current] = _("Somebody else")
    return list(found.items())
