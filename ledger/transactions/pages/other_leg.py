"""Page: create the other leg of a transfer of which only one transaction is booked."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed, build_unknown_id_error
from companies.models import parse_id
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, parse_form_amounts
from companies.permissions import Permission
from ledger.models import Account, Transaction
from ledger.transactions.actions.other_leg import OpenLeg, create_other_leg, find_open_leg
from ledger.transactions.actions.transfers import TransferAmountsDiffer, TransferSourceClosed
from ledger.transactions.pages.detail import get_transaction_or_404
from ledger.transactions.pages.labels import load_visible_names
from ledger.transactions.pages.return_urls import build_return_urls, redirect_to_transaction
from ledger.transactions.queries.other_leg_accounts import filter_accounts_without_import


@company_page(
    reads=Permission.TRANSACTIONS_WRITE,
    writes=Permission.TRANSACTIONS_WRITE,
    reads_also=(Permission.TRANSACTIONS_READ, Permission.ACCOUNTS_READ),
)
def create_other_leg_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Choose the account of the other leg; a POST books it on the same day and links both."""
    row = get_transaction_or_404(page, transaction_id)
    leg = find_open_leg(page.company, row)
    if leg is None:
        with page.handle_errors():
            raise TransferSourceClosed
        return redirect_to_transaction(page, row.id)
    post_data = page.request.POST
    values = {"accountId": post_data.get("accountId", ""), "amountValue": post_data.get("amountValue", "").strip()}
    form = BoundForm(values={**values, "force": "force" in post_data})
    if page.is_post:
        with page.handle_errors(form):
            account = find_chosen_account(page, values["accountId"])
            create_other_leg(
                company=page.company,
                context=page.audit_context,
                transaction_id=row.id,
                account_id=account.id,
                amount_value=parse_other_amount(values, account),
                force="force" in post_data,
            )
            message = _("Other side created on {account} and linked as a transfer.").format(account=account.name)
            return redirect_to_transaction(page, row.id, message)
    return render_other_leg_form(page, row, leg, form)


def find_chosen_account(page: CompanyPage, text: str) -> Account:
    """Return the chosen account. Raises ValidationFailed with `required` or `unknown_id`."""
    if not text:
        raise ValidationFailed([("#/accountId", "required", _("Select the account."))])
    account_id = parse_id(text)
    account = Account.objects.for_company(page.company.id).filter(id=account_id).first() if account_id else None
    if account is None:
        raise build_unknown_id_error("#/accountId")
    return account


def parse_other_amount(values: dict[str, str], account: Account) -> str | None:
    """Return the entered amount as the API writes it, None if it is empty. Raises ValidationFailed."""
    amounts, errors = parse_form_amounts(values, ["amountValue"], currency=account.default_currency)
    if errors:
        raise ValidationFailed([("#/amountValue", "invalid_decimal", errors["amountValue"])])
    return amounts.get("amountValue")


def render_other_leg_form(page: CompanyPage, row: Transaction, leg: OpenLeg, form: BoundForm) -> HttpResponse:
    """Render the form, with status 400 if it has errors."""
    accounts = filter_accounts_without_import(page.company, day=row.date, except_id=row.account_id)
    return page.render(
        "ledger/transactions/other_leg.html",
        status=200 if form.is_valid else 400,
        tab="transactions",
        row=row,
        leg=leg,
        **build_return_urls(page, row.id),
        account=load_visible_names(page).get_account_name(row.account_id),
        form=form,
        accounts=[(str(each.id), f"{each.name} ({each.default_currency})") for each in accounts.in_display_order()],
        differs=str(TransferAmountsDiffer().detail) in form.errors.values(),
    )
