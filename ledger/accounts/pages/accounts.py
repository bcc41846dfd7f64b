"""Pages: accounts with their balances, one account, and the forms to create, edit, archive and delete it."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from companies.models import Currency
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage, company_page
from companies.pages.csv_files import build_csv_response
from companies.pages.forms import BoundForm, bind_form
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.accounts.account_balances import (
    AccountWithBalance,
    build_account_balances,
    group_account_balances,
    sum_base_values,
)
from ledger.accounts.actions import accounts as account_actions
from ledger.accounts.actions import initial_balances
from ledger.accounts.fields import ACCOUNT_TEXTS
from ledger.accounts.serializers.accounts import AccountSerializer, InitialBalance
from ledger.models import Account, AccountGroup, AccountType, Transaction
from ledger.money.amounts import format_plain_amount
from ledger.money.calc.money import format_amount
from ledger.transactions.pages.labels import join_texts, load_visible_names

TEXT_FIELDS = ("name", "type", "accountGroupId", "defaultCurrency", "defaultCategoryId")
FORM_FIELDS = (*TEXT_FIELDS, *(text.name for text in ACCOUNT_TEXTS))
CASH_CHOICES = {
    "": _("Default for the account type"),
    "true": _("Counts as cash"),
    "false": _("Does not count as cash"),
}
FIELD_PERMISSIONS = {"accountGroupId": Permission.ACCOUNTS_READ, "defaultCategoryId": Permission.CATEGORIES_READ}
ACCOUNT_TYPE_LABELS = {
    AccountType.BANK: _("Bank"),
    AccountType.CASH: pgettext_lazy("account", "Cash"),
    AccountType.CREDIT_CARD: _("Credit card"),
    AccountType.LOAN: _("Loan"),
    AccountType.TRANSIT: _("Transit"),
    AccountType.OTHER: _("Other"),
}


@company_page(reads=Permission.ACCOUNTS_READ)
def show_accounts(page: CompanyPage) -> HttpResponse:
    """Show the accounts by account group; with `archived=true` the archived ones."""
    archived = page.request.GET.get("archived") == "true"
    accounts = Account.objects.for_company(page.company.id).filter(archived=archived).in_display_order()
    balances, missing_currency = list_visible_balances(page, list(accounts))
    return page.render(
        "ledger/accounts/accounts.html",
        tab="accounts",
        archived=archived,
        shelves=group_account_balances(
            balances, list(AccountGroup.objects.for_company(page.company.id).active().in_display_order())
        ),
        total=sum_base_values(balances) if balances else None,
        missing=missing_currency,
        types=ACCOUNT_TYPE_LABELS,
        **get_account_permissions(page),
    )


@company_page(reads=Permission.ACCOUNTS_READ)
def download_accounts(page: CompanyPage) -> HttpResponse:
    """Download the accounts with today's balances as CSV, a row for each currency of an account."""
    archived, base = page.request.GET.get("archived") == "true", page.company.base_currency
    accounts = Account.objects.for_company(page.company.id).filter(archived=archived).in_display_order()
    balances, _ = list_visible_balances(page, list(accounts))
    in_base = gettext("In {currency}").format(currency=base)
    headings = [gettext("Account"), gettext("Type"), gettext("Currency"), gettext("Balance"), in_base]
    rows: list[list[object]] = [[*headings, *(gettext(text.label) for text in ACCOUNT_TEXTS)]]
    for balance in balances:
        account = balance.account
        base_balance: object = (
            "" if balance.base_balance is None else Decimal(format_amount(balance.base_balance, base))
        )
        amounts: list[tuple[object, str]] = [
            (Decimal(format_amount(amount, currency)), currency) for amount, currency in balance.amounts
        ]
        for amount, currency in amounts or [("", account.default_currency)]:
            cells = [account.name, str(ACCOUNT_TYPE_LABELS[AccountType(account.type)]), currency, amount, base_balance]
            rows.append([*cells, *(getattr(account, text.column) or "" for text in ACCOUNT_TEXTS)])
            base_balance = ""  # of all currencies of the account together
    return build_csv_response(rows, name="accounts")


def list_visible_balances(page: CompanyPage, accounts: list[Account]) -> tuple[list[AccountWithBalance], str]:
    """Return the accounts with today's balances, and the first currency without a rate ("" if none).

    Without the permission to read balances, the accounts have none.
    """
    if not page.has_permission(Permission.BALANCES_READ):
        return [AccountWithBalance(row) for row in accounts], ""
    return build_account_balances(page.company, accounts, day=page.today)


def get_account_permissions(page: CompanyPage) -> dict[str, bool]:
    """Return which account actions the user may take, as template context."""
    return {
        "writes": page.has_permission(Permission.ACCOUNTS_WRITE),
        "sees_balances": page.has_permission(Permission.BALANCES_READ),
        "imports": page.has_permission(Permission.TRANSACTIONS_WRITE),
    }


# ---------------------------------------------------------------------------------------------- new and changed


class AccountPages(RowPages[Account]):
    """The form of an account. Its cash choice is empty while the account follows its type."""

    model, permission = Account, Permission.ACCOUNTS_WRITE
    place, list_url = {"tab": "accounts"}, "accounts"
    create_action, update_action = account_actions.create_account, account_actions.update_account
    delete_action, id_argument = account_actions.delete_account, "account_id"
    template, new_title = "ledger/accounts/account_form.html", _("New account")
    added_message = _("{name} created.")

    def list_rows(self, page: CompanyPage) -> QuerySet[Account]:
        return Account.objects.for_company(page.company.id).select_related("account_group")

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        """Return the values of a new account. The query parameter `accountNumber` prefills the number."""
        number = page.request.GET.get("accountNumber", "")
        defaults = {"type": "bank", "defaultCurrency": page.company.base_currency, "includeInCashBalance": ""}
        return dict.fromkeys(FORM_FIELDS, "") | defaults | {"accountNumber": number}

    def build_row_values(self, row: Account) -> dict[str, Any]:
        return {**AccountSerializer(row).data, "includeInCashBalance": format_cash_choice(row)}

    def bind_form(self, page: CompanyPage, row: Account | None) -> BoundForm:
        texts = list_visible_text_fields(page)
        form = bind_form(AccountSerializer, page.request.POST, texts=texts, partial=row is not None)
        cash_choice = page.request.POST.get("includeInCashBalance", "")
        form.values = {**form.values, "includeInCashBalance": cash_choice}
        if cash_choice not in CASH_CHOICES:
            form.errors["includeInCashBalance"] = gettext("Choose one of the options.")
        form.data["include_in_cash_balance"] = {"true": True, "false": False}.get(cash_choice)
        form.data["cash_chosen"] = cash_choice != ""
        return form

    def build_action_values(self, form: BoundForm, row: Account | None) -> dict[str, Any]:
        if row and not form.data.get("account_group_id") and get_active_account_group(row) is None:
            form.data.pop("account_group_id", None)  # the form does not offer an archived group: keep it
        return form.data

    def build_context(self, page: CompanyPage, form: BoundForm, row: Account | None) -> dict[str, Any]:
        groups = AccountGroup.objects.for_company(page.company.id).active().in_display_order()
        return {
            "types": ACCOUNT_TYPE_LABELS,
            "counting": CASH_CHOICES,
            "texts": ACCOUNT_TEXTS,
            "currencies": Currency.values,
            "hidden": list_hidden_account_fields(page),
            "groups": [(str(group.id), group.name) for group in groups],
            "categories": load_visible_names(page).list_category_choices(),
        }

    def redirect_to_row(self, page: CompanyPage, row: Account, message: str) -> HttpResponse:
        return page.redirect_with_message(message, "account", account_id=row.id)

    def redirect_to_undeleted_row(self, page: CompanyPage, row: Account) -> HttpResponse:
        return page.redirect("account", account_id=row.id)


create_account_page, edit_account_page = AccountPages().build_form_views()
delete_account_page = AccountPages().build_delete_view()


def format_cash_choice(account: Account) -> str:
    """Return the form's value for the cash choice: empty while the account follows its type."""
    if not account.cash_chosen:
        return ""
    return "true" if account.include_in_cash_balance else "false"


def get_active_account_group(account: Account) -> AccountGroup | None:
    """Return the account's group, or None if it has none or the group is archived."""
    group = account.account_group
    return None if group is None or group.archived else group


def list_hidden_account_fields(page: CompanyPage) -> set[str]:
    """Return the form fields that the user may not see; their stored values do not change."""
    return {name for name, permission in FIELD_PERMISSIONS.items() if not page.has_permission(permission)}


def list_visible_text_fields(page: CompanyPage) -> list[str]:
    """Return the text fields that the user may see."""
    return [name for name in FORM_FIELDS if name not in list_hidden_account_fields(page)]


# ---------------------------------------------------------------------------------------------- one account


def render_account_page(
    page: CompanyPage, account: Account, form: BoundForm | None = None, **extra_context: Any
) -> HttpResponse:
    """Render one account; `extra_context` is added by apps above the ledger."""
    (balance,), missing_currency = list_visible_balances(page, [account])
    initial_balance = initial_balances.find_initial_balance(account=account)
    transactions = Transaction.objects.for_company(page.company.id).filter(account=account)
    if form is None:
        amount = (
            format_plain_amount(initial_balance.amount_value, initial_balance.amount_currency)
            if initial_balance
            else ""
        )
        day = initial_balance.date if initial_balance else page.today.replace(month=1, day=1)
        form = BoundForm(values={"date": day.isoformat(), "amountValue": amount})
    return page.render(
        "ledger/accounts/account.html",
        status=400 if form.errors else 200,
        tab="accounts",
        account=account,
        type=ACCOUNT_TYPE_LABELS[AccountType(account.type)],
        group=get_active_account_group(account),
        category=load_visible_names(page).get_category_name(account.default_category_id)
        if account.default_category_id
        else "",
        holding=balance,
        held=join_texts([format_money(amount, currency) for amount, currency in balance.amounts]),
        currencies=[currency for _, currency in balance.amounts],
        missing=missing_currency,
        texts=ACCOUNT_TEXTS,
        initial=initial_balance,
        empty=not transactions.without_initial_balances().exists(),
        form=form,
        **get_account_permissions(page),
        **extra_context,
    )


@company_page(writes=Permission.ACCOUNTS_WRITE)
def set_initial_balance_page(page: CompanyPage, account_id: UUID) -> HttpResponse:
    """Set the account's initial balance."""
    account, text_fields = get_account_or_404(page, account_id), ("date", "amountValue")
    form = bind_form(
        InitialBalance,
        page.request.POST,
        texts=text_fields,
        amounts=("amountValue",),
        currency=account.default_currency,
    )
    if form.is_valid:
        with page.handle_errors(form):
            initial_balances.set_initial_balance(
                company=page.company,
                context=page.audit_context,
                account_id=account_id,
                day=form.data["date"],
                amount=form.data["amount_value"],
            )
            return page.redirect_with_message(gettext("Opening balance saved."), "account", account_id=account_id)
    return render_account_page(page, account, form)


@company_page(writes=Permission.ACCOUNTS_WRITE)
def archive_account_page(page: CompanyPage, account_id: UUID) -> HttpResponse:
    """Archive an account, or restore it."""
    archived = "restore" not in page.request.POST
    with page.handle_errors():
        account = account_actions.update_account(
            company=page.company,
            context=page.audit_context,
            account_id=account_id,
            values={"archived": archived},
            action="account.archived" if archived else "account.unarchived",
        )
        message = gettext("{name} archived.") if archived else gettext("{name} restored.")
        return page.redirect_with_message(message.format(name=account.name), "account", account_id=account_id)
    return page.redirect("account", account_id=account_id)


def get_account_or_404(page: CompanyPage, account_id: UUID) -> Account:
    """Return the account with this id. Raises Http404."""
    return get_object_or_404(
        Account.objects.for_company(page.company.id).select_related("account_group"), id=account_id
    )
