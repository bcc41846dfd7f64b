"""Accounts: all of them with what they hold, and one with what can be done with it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies.models import Currency
from companies.pages.typed import Typed, typed
from companies.pages.unchanged import seen, unless_changed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger import accounts
from ledger.models import Account, AccountGroup, AccountType, Source, Transaction
from ledger.pages.holdings import Holding, holdings, shelves, worth_of
from ledger.pages.words import names_for
from ledger.serializers.accounts import AccountShape, InitialBalance
from ledger.serializers.money import amount_in, amount_out

TEXTS = ("name", "type", "accountNumber", "accountGroupId", "defaultCurrency", "defaultCategoryId")
FLAGS = ("includeInCashBalance",)
NAMING = {"accountGroupId": Permission.ACCOUNTS_READ, "defaultCategoryId": Permission.CATEGORIES_READ}
TYPES = {
    AccountType.BANK: "Bank",
    AccountType.CASH: "Cash",
    AccountType.CREDIT_CARD: "Credit card",
    AccountType.LOAN: "Loan",
    AccountType.TRANSIT: "Transit",
    AccountType.OTHER: "Other",
}


@company_page(reads=Permission.ACCOUNTS_READ)
def shelf(visit: Visit) -> HttpResponse:
    """The accounts by group; archived ones when they are asked for."""
    archived = visit.request.GET.get("archived") == "true"
    rows = Account.objects.of(visit.company.id).filter(archived=archived).in_order()
    held, missing = shown_holdings(visit, list(rows))
    return visit.show(
        "ledger/accounts.html",
        tab="accounts",
        archived=archived,
        shelves=shelves(held, list(AccountGroup.objects.of(visit.company.id).in_order())),
        total=worth_of(held) if held else None,
        missing=missing,
        types=TYPES,
        **rights(visit),
    )


def shown_holdings(visit: Visit, rows: list[Account]) -> tuple[list[Holding], str]:
    """The accounts with what they hold today, as far as the visitor may see it; and the currency without a rate."""
    if not visit.may(Permission.BALANCES_READ):
        return [Holding(row) for row in rows], ""
    return holdings(visit.company, rows, day=visit.today)


def rights(visit: Visit) -> dict[str, bool]:
    return {
        "writes": visit.may(Permission.ACCOUNTS_WRITE),
        "sees_balances": visit.may(Permission.BALANCES_READ),
        "imports": visit.may(Permission.TRANSACTIONS_WRITE),
    }


# ---------------------------------------------------------------------------------------------- new and changed


@company_page(reads=Permission.ACCOUNTS_WRITE, writes=Permission.ACCOUNTS_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Opens an account."""
    if visit.request.method != "POST":
        blank = {"type": "bank", "defaultCurrency": visit.company.base_currency, "includeInCashBalance": True}
        return account_form(visit, Typed(values=dict.fromkeys(TEXTS, "") | blank))
    form = typed(AccountShape, visit.request.POST, texts=shown_texts(visit), flags=FLAGS)
    if form.valid:
        with visit.change() as change:
            account = accounts.open_account(company=visit.company, stamp=visit.stamp, values=form.data)
        if change.refusal is None:
            messages.success(visit.request, f"{account.name} was opened.")
            return redirect("account", company_id=visit.company.id, account_id=account.id)
        form.refuse(change.refusal)
    return account_form(visit, form)


@company_page(reads=Permission.ACCOUNTS_WRITE, writes=Permission.ACCOUNTS_WRITE)
def edit(visit: Visit, account_id: UUID) -> HttpResponse:
    """Changes an account's facts."""
    account = found(visit, account_id)
    if visit.request.method != "POST":
        return account_form(visit, Typed(values=AccountShape(account).data), account=account)
    form = typed(AccountShape, visit.request.POST, texts=shown_texts(visit), flags=FLAGS, partial=True)
    if form.valid:
        with visit.change() as change:
            locked = found(visit, account_id, locked=True)
            unless_changed(locked, visit.request.POST)
            accounts.change_account(account=locked, stamp=visit.stamp, values=form.data)
        if change.refusal is None:
            messages.success(visit.request, f"{locked.name} was saved.")
            return redirect("account", company_id=visit.company.id, account_id=account_id)
        form.refuse(change.refusal)
    return account_form(visit, form, account=account)


def hidden(visit: Visit) -> set[str]:
    """The fields that the form does not show to somebody who may not see what they name; what they hold stays."""
    return {name for name, permission in NAMING.items() if not visit.may(permission)}


def shown_texts(visit: Visit) -> list[str]:
    return [name for name in TEXTS if name not in hidden(visit)]


def account_form(visit: Visit, form: Typed, *, account: Account | None = None) -> HttpResponse:
    groups = AccountGroup.objects.of(visit.company.id).in_order()
    return visit.show(
        "ledger/account_form.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        account=account,
        seen=seen(account) if account else "",
        types=TYPES,
        currencies=Currency.values,
        hidden=hidden(visit),
        groups=[(str(group.id), group.name) for group in groups],
        categories=names_for(visit).category_choices(),
    )


# ---------------------------------------------------------------------------------------------- one account


@company_page(reads=Permission.ACCOUNTS_READ)
def one(visit: Visit, account_id: UUID) -> HttpResponse:
    """What is known of an account."""
    return account_page(visit, found(visit, account_id))


def account_page(visit: Visit, account: Account, form: Typed | None = None) -> HttpResponse:
    (holding,), missing = shown_holdings(visit, [account])
    stored = accounts.initial_balance(account=account)
    rows = Transaction.objects.of(visit.company.id).filter(account=account)
    if form is None:
        amount = amount_out(stored.amount_value, stored.amount_currency) if stored else ""
        day = stored.date if stored else visit.today.replace(month=1, day=1)
        form = Typed(values={"date": day.isoformat(), "amountValue": amount})
    return visit.show(
        "ledger/account.html",
        status=400 if form.errors else 200,
        tab="accounts",
        account=account,
        type=TYPES[AccountType(account.type)],
        group=account.account_group,
        category=names_for(visit).category(account.default_category_id) if account.default_category_id else "",
        holding=holding,
        missing=missing,
        initial=stored,
        empty=not rows.exclude(source=Source.INITIAL_BALANCE).exists(),
        form=form,
        **rights(visit),
    )


@company_page(writes=Permission.ACCOUNTS_WRITE)
def initial(visit: Visit, account_id: UUID) -> HttpResponse:
    """Sets what the account held at the start of a day."""
    form = typed(InitialBalance, visit.request.POST, texts=("date", "amountValue"))
    account = found(visit, account_id)
    if form.valid:
        with visit.change() as change:
            locked = found(visit, account_id, locked=True)
            amount = amount_in(form.data["amount_value"], locked.default_currency, pointer="#/amountValue")
            accounts.set_initial_balance(account=locked, stamp=visit.stamp, day=form.data["date"], amount=amount)
        if change.refusal is None:
            messages.success(visit.request, "The initial balance was saved.")
            return redirect("account", company_id=visit.company.id, account_id=account_id)
        form.refuse(change.refusal)
    return account_page(visit, account, form)


@company_page(writes=Permission.ACCOUNTS_WRITE)
def archive(visit: Visit, account_id: UUID) -> HttpResponse:
    """Hides the account from the lists, or shows it again."""
    archived = "restore" not in visit.request.POST
    action = "account.archived" if archived else "account.unarchived"
    with visit.change() as change:
        account = found(visit, account_id, locked=True)
        accounts.change_account(account=account, stamp=visit.stamp, values={"archived": archived}, action=action)
    if change.refusal:
        messages.error(visit.request, change.refusal.detail)
    else:
        messages.success(visit.request, f"{account.name} was {'archived' if archived else 'restored'}.")
    return redirect("account", company_id=visit.company.id, account_id=account_id)


@company_page(writes=Permission.ACCOUNTS_WRITE)
def delete(visit: Visit, account_id: UUID) -> HttpResponse:
    """Deletes an account without transactions."""
    with visit.change() as change:
        account = found(visit, account_id, locked=True)
        name = account.name
        accounts.close_account(account=account, stamp=visit.stamp)
    if change.refusal:
        messages.error(visit.request, change.refusal.detail)
        return redirect("account", company_id=visit.company.id, account_id=account_id)
    messages.success(visit.request, f"{name} was deleted.")
    return redirect("accounts", company_id=visit.company.id)


def found(visit: Visit, account_id: UUID, *, locked: bool = False) -> Account:
    """The account of the address. Raises Http404."""
    rows: Any = Account.objects.of(visit.company.id)
    rows = rows.select_for_update(of=("self",)) if locked else rows.select_related("account_group")
    account: Account | None = rows.filter(id=account_id).first()
    if account is None:
        raise Http404
    return account
