"""Accounts: all of them with what they hold, and one with what can be done with it."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from companies.models import Currency
from companies.pages.amounts import money
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.accounts import opening
from ledger.accounts.holdings import Holding, holdings, shelves, worth_of
from ledger.accounts.serializers import AccountShape, InitialBalance
from ledger.models import Account, AccountGroup, AccountType, Transaction
from ledger.money.amounts import amount_out
from ledger.transactions.pages.words import listed, names_for

TEXTS = ("name", "type", "accountNumber", "accountGroupId", "defaultCurrency", "defaultCategoryId")
COUNTING = {
    "": _("As its type says: banks and cash do"),
    "true": _("Counts as cash"),
    "false": _("Does not count as cash"),
}
NAMING = {"accountGroupId": Permission.ACCOUNTS_READ, "defaultCategoryId": Permission.CATEGORIES_READ}
TYPES = {
    AccountType.BANK: _("Bank"),
    AccountType.CASH: pgettext_lazy("account", "Cash"),
    AccountType.CREDIT_CARD: _("Credit card"),
    AccountType.LOAN: _("Loan"),
    AccountType.TRANSIT: _("Transit"),
    AccountType.OTHER: _("Other"),
}


@company_page(reads=Permission.ACCOUNTS_READ)
def shelf(visit: Visit) -> HttpResponse:
    """The accounts by group; archived ones when they are asked for."""
    archived = visit.request.GET.get("archived") == "true"
    rows = Account.objects.of(visit.company.id).filter(archived=archived).in_order()
    held, missing = shown_holdings(visit, list(rows))
    return visit.show(
        "ledger/accounts/accounts.html",
        tab="accounts",
        archived=archived,
        shelves=shelves(held, list(AccountGroup.objects.of(visit.company.id).active().in_order())),
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
    """Opens an account; the address may name the number of one that a statement is of."""
    if visit.request.method != "POST":
        blank = {"type": "bank", "defaultCurrency": visit.company.base_currency, "includeInCashBalance": ""}
        blank["accountNumber"] = visit.request.GET.get("accountNumber", "")
        return account_form(visit, Typed(values=dict.fromkeys(TEXTS, "") | blank))
    form = read_form(visit)
    if form.valid:
        with visit.sending(form):
            account = opening.open_account(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(gettext("{name} was opened.").format(name=account.name), "account", account_id=account.id)
    return account_form(visit, form)


@company_page(reads=Permission.ACCOUNTS_WRITE, writes=Permission.ACCOUNTS_WRITE)
def edit(visit: Visit, account_id: UUID) -> HttpResponse:
    """Changes an account's facts."""
    account = found(visit, account_id)
    if visit.request.method != "POST":
        counts = {"includeInCashBalance": counting(account)}
        return account_form(visit, Typed(values={**AccountShape(account).data, **counts}), account=account)
    form = read_form(visit, partial=True)
    if form.valid:
        if not form.data.get("account_group_id") and group_of(account) is None:
            form.data.pop("account_group_id", None)  # an archived group was not offered: the account stays in it
        with visit.sending(form):
            account = opening.change_account(
                company=visit.company, stamp=visit.stamp, account_id=account_id, values=form.data
            )
            return visit.done(gettext("{name} was saved.").format(name=account.name), "account", account_id=account_id)
    return account_form(visit, form, account=account)


def read_form(visit: Visit, *, partial: bool = False) -> Typed:
    """What was typed. Whether it counts as cash is a box of three: until somebody says it, it follows the type."""
    form = typed(AccountShape, visit.request.POST, texts=shown_texts(visit), partial=partial)
    said = visit.request.POST.get("includeInCashBalance", "")
    form.values = {**form.values, "includeInCashBalance": said}
    if said not in COUNTING:
        form.errors["includeInCashBalance"] = gettext("Must be one of these.")
    form.data["include_in_cash_balance"] = {"true": True, "false": False}.get(said)
    form.data["cash_chosen"] = said != ""
    return form


def counting(account: Account) -> str:
    """What the form shows of it: nothing, while nobody has said it."""
    if not account.cash_chosen:
        return ""
    return "true" if account.include_in_cash_balance else "false"


def group_of(account: Account) -> AccountGroup | None:
    """The group that the account is shown in; an archived one is not."""
    group = account.account_group
    return None if group is None or group.archived else group


def hidden(visit: Visit) -> set[str]:
    """The fields that the form does not show to somebody who may not see what they name; what they hold stays."""
    return {name for name, permission in NAMING.items() if not visit.may(permission)}


def shown_texts(visit: Visit) -> list[str]:
    return [name for name in TEXTS if name not in hidden(visit)]


def account_form(visit: Visit, form: Typed, *, account: Account | None = None) -> HttpResponse:
    groups = AccountGroup.objects.of(visit.company.id).active().in_order()
    return visit.show(
        "ledger/accounts/account_form.html",
        status=400 if form.errors else 200,
        tab="accounts",
        form=form,
        account=account,
        seen=visit.seen(account) if account else "",
        types=TYPES,
        counting=COUNTING,
        currencies=Currency.values,
        hidden=hidden(visit),
        groups=[(str(group.id), group.name) for group in groups],
        categories=names_for(visit).category_choices(),
    )


# ---------------------------------------------------------------------------------------------- one account


def account_page(visit: Visit, account: Account, form: Typed | None = None, **more: Any) -> HttpResponse:
    """What is known of an account; ``more`` is what apps above have to show of it."""
    (holding,), missing = shown_holdings(visit, [account])
    stored = opening.initial_balance(account=account)
    rows = Transaction.objects.of(visit.company.id).filter(account=account)
    if form is None:
        amount = amount_out(stored.amount_value, stored.amount_currency) if stored else ""
        day = stored.date if stored else visit.today.replace(month=1, day=1)
        form = Typed(values={"date": day.isoformat(), "amountValue": amount})
    return visit.show(
        "ledger/accounts/account.html",
        status=400 if form.errors else 200,
        tab="accounts",
        account=account,
        type=TYPES[AccountType(account.type)],
        group=group_of(account),
        category=names_for(visit).category(account.default_category_id) if account.default_category_id else "",
        holding=holding,
        held=listed([money(amount, currency) for amount, currency in holding.amounts]),
        missing=missing,
        initial=stored,
        empty=not rows.without_initial().exists(),
        form=form,
        **rights(visit),
        **more,
    )


@company_page(writes=Permission.ACCOUNTS_WRITE)
def initial(visit: Visit, account_id: UUID) -> HttpResponse:
    """Sets what the account held at the start of a day."""
    account, texts = found(visit, account_id), ("date", "amountValue")
    form = typed(
        InitialBalance, visit.request.POST, texts=texts, amounts=("amountValue",), currency=account.default_currency
    )
    if form.valid:
        with visit.sending(form):
            opening.set_initial_balance(
                company=visit.company,
                stamp=visit.stamp,
                account_id=account_id,
                day=form.data["date"],
                amount=form.data["amount_value"],
            )
            return visit.done(gettext("The initial balance was saved."), "account", account_id=account_id)
    return account_page(visit, account, form)


@company_page(writes=Permission.ACCOUNTS_WRITE)
def archive(visit: Visit, account_id: UUID) -> HttpResponse:
    """Hides the account from the lists, or shows it again."""
    archived = "restore" not in visit.request.POST
    with visit.sending():
        account = opening.change_account(
            company=visit.company,
            stamp=visit.stamp,
            account_id=account_id,
            values={"archived": archived},
            action="account.archived" if archived else "account.unarchived",
        )
        said = gettext("{name} was archived.") if archived else gettext("{name} was restored.")
        return visit.done(said.format(name=account.name), "account", account_id=account_id)
    return visit.to("account", account_id=account_id)


@company_page(writes=Permission.ACCOUNTS_WRITE)
def delete(visit: Visit, account_id: UUID) -> HttpResponse:
    """Deletes an account without transactions."""
    with visit.sending():
        account = opening.close_account(company=visit.company, stamp=visit.stamp, account_id=account_id)
        return visit.done(gettext("{name} was deleted.").format(name=account.name), "accounts")
    return visit.to("account", account_id=account_id)


def found(visit: Visit, account_id: UUID) -> Account:
    """The account of the address. Raises Http404."""
    return get_object_or_404(Account.objects.of(visit.company.id).select_related("account_group"), id=account_id)
