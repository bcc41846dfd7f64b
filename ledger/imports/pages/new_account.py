"""Create the account that a file belongs to while its import is reviewed."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.models import Currency
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import bind_form
from companies.permissions import Permission
from ledger.accounts.actions.accounts import create_account
from ledger.accounts.pages.accounts import ACCOUNT_TYPE_LABELS
from ledger.accounts.serializers.accounts import AccountSerializer
from ledger.imports.calc.account_numbers import find_stated_numbers
from ledger.imports.calc.card_files import is_card_table
from ledger.imports.calc.currencies import find_named_currencies
from ledger.imports.calc.detection_result import Detection
from ledger.imports.forms import list_column_values
from ledger.imports.queries.account_numbers import list_imported_numbers
from ledger.models import AccountType

FIELD_LABELS = {
    "name": gettext_lazy("Name"),
    "type": gettext_lazy("Type"),
    "defaultCurrency": gettext_lazy("Currency"),
    "accountNumber": gettext_lazy("Number or IBAN"),
}
LAST_DIGITS = 4  # of a number, in the name of its account


@dataclass(frozen=True, slots=True)
class ProposedAccount:
    """The account that a file seems to be of. Empty where the file does not say."""

    number: str = ""
    currency: str = ""
    type: str = AccountType.BANK

    @property
    def name(self) -> str:
        digits = self.number[-LAST_DIGITS:]
        if self.type == AccountType.CREDIT_CARD:
            return _("Credit card {digits}").format(digits=digits).strip()
        return _("Bank account {digits}").format(digits=digits) if digits else ""


def propose_account_of_table(detection: Detection, *, base_currency: str) -> ProposedAccount:
    """Return the account that a table seems to be of."""
    table, mapping = detection.table, detection.mapping
    numbers = find_stated_numbers(table.above) or list_imported_numbers(table, mapping)
    position = mapping.columns.get("currency")
    texts = [] if position is None else list_column_values(table, position)
    currencies = {currency for text in texts for currency in find_named_currencies(text)[:1]} or {mapping.currency}
    currency = currencies.pop() if len(currencies) == 1 else ""
    return ProposedAccount(
        number=numbers[0] if len(numbers) == 1 else "",
        currency=currency if currency in Currency.values else base_currency,
        type=AccountType.CREDIT_CARD if is_card_table(table) else AccountType.BANK,
    )


def can_create_account(page: CompanyPage) -> bool:
    """Whether the user may create an account and choose it for a file."""
    return page.has_permission(Permission.ACCOUNTS_WRITE) and page.has_permission(Permission.ACCOUNTS_READ)


def build_new_account_context(page: CompanyPage) -> dict[str, object]:
    """Return what the form of a new account needs; nothing without the permission to create one."""
    if not can_create_account(page):
        return {}
    return {"account_types": ACCOUNT_TYPE_LABELS, "currencies": Currency.values}


@company_page(writes=Permission.ACCOUNTS_WRITE)
def create_import_account_page(page: CompanyPage) -> HttpResponse:
    """Create an account and go back to the review, with the account chosen for its file."""
    review = page.request.POST.get("review", "")
    if not review.startswith(f"{reverse('imports', args=[page.company.id])}/"):
        return page.redirect("import-new")
    form = bind_form(AccountSerializer, page.request.POST, texts=FIELD_LABELS)
    if form.is_valid:
        with page.handle_errors(form):
            account = create_account(company=page.company, context=page.audit_context, values=form.data)
            messages.success(page.request, _("{name} created.").format(name=account.name))
            return redirect(choose_account(review, str(account.id), file=page.request.POST.get("file", "")))
    for name, error in form.errors.items():
        label = FIELD_LABELS.get(name)
        messages.error(page.request, f"{label}: {error}" if label else error)
    return redirect(review)


def choose_account(review: str, account: str, *, file: str) -> str:
    """Return the URL of a review with the account chosen for a file, counted from 0; without a number for all files."""
    parts = urlsplit(review)
    query = QueryDict(parts.query, mutable=True)
    accounts = query.getlist("account")
    if file in map(str, range(len(accounts))):
        accounts[int(file)] = account
    else:
        accounts = [account]
    query.setlist("account", accounts)
    return f"{parts.path}?{query.urlencode()}"
