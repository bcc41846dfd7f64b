"""Create the accounts that files belong to while their import is reviewed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.models import Currency
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage
from companies.pages.forms import BoundForm, bind_body, parse_form_amounts
from companies.permissions import Permission
from ledger.accounts.actions.accounts import create_account
from ledger.accounts.actions.initial_balances import set_initial_balance
from ledger.accounts.pages.accounts import ACCOUNT_TYPE_LABELS
from ledger.accounts.serializers.accounts import AccountSerializer
from ledger.imports.calc.account_numbers import find_stated_numbers
from ledger.imports.calc.card_files import is_card_table
from ledger.imports.calc.currencies import find_named_currencies
from ledger.imports.calc.dates import find_bank_date
from ledger.imports.calc.detection_result import Detection
from ledger.imports.forms import list_column_values
from ledger.imports.queries.account_numbers import list_imported_numbers
from ledger.models import Account, AccountType

FIELD_LABELS = {
    "name": gettext_lazy("Name"),
    "type": gettext_lazy("Type"),
    "defaultCurrency": gettext_lazy("Currency"),
    "accountNumber": gettext_lazy("Number or IBAN"),
}
OPENING_BALANCE, OPENING_DAY = "openingBalance", "openingDay"
FORM_FIELDS = (*FIELD_LABELS, OPENING_BALANCE, OPENING_DAY)
CREATE_FIELD, CREATE_ALL = "create", "all"  # button of the review: the position of a file, or all files
LAST_DIGITS = 4  # of a number, in the name of its account


@dataclass(frozen=True, slots=True)
class ProposedAccount:
    """The account that a file seems to be of. Empty where the file does not say."""

    number: str = ""
    currency: str = ""
    type: str = AccountType.BANK
    opening_day: date | None = None  # before the first row; None where the file has balances

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
        opening_day=find_opening_day(detection),
    )


def find_opening_day(detection: Detection) -> date | None:
    """Return the day of the balance before the first row of a table without balances; None where a date is not clear.

    It is the end of the month before if all rows are of one month, else the day before the first row.
    """
    columns, order = detection.mapping.columns, detection.mapping.date_order
    position = columns.get("date")
    is_order_open = any(question.question == "date_order" for question in detection.questions)
    if position is None or "balance" in columns or is_order_open:
        return None
    cells = (line.cells[position] for line in detection.table.rows if position < len(line.cells))
    days = [day for cell in cells if (day := find_bank_date(cell, order))]
    if not days:
        return None
    first, last = min(days), max(days)
    if (first.year, first.month) == (last.year, last.month):
        first = first.replace(day=1)
    return first - timedelta(days=1) if first > date.min else None


def can_create_account(page: CompanyPage) -> bool:
    """Whether the user may create an account and choose it for a file."""
    return page.has_permission(Permission.ACCOUNTS_WRITE) and page.has_permission(Permission.ACCOUNTS_READ)


def build_new_account_context(page: CompanyPage) -> dict[str, object]:
    """Return what forms of new accounts need; nothing without the permission to create one."""
    if not can_create_account(page):
        return {}
    return {"account_types": ACCOUNT_TYPE_LABELS, "currencies": Currency.values}


@dataclass(frozen=True, slots=True)
class NewAccountForm:
    """The form of a file's new account. Its fields are named by the position of the file, such as `name-0`."""

    position: int
    form: BoundForm
    file_names: Sequence[str] = ()  # of the account, where the page has several files

    @property
    def fields(self) -> dict[str, str]:
        return {name: build_field_name(name, self.position) for name in FORM_FIELDS}

    @property
    def opening_day(self) -> date | None:
        return parse_opening_day(self.values[OPENING_DAY])

    @property
    def values(self) -> dict[str, str]:
        return {name: self.form.values[field] for name, field in self.fields.items()}


def build_field_name(name: str, position: int) -> str:
    return f"{name}-{position}"


def parse_opening_day(text: str) -> date | None:
    """Return the day of a form's hidden field; None where it is empty or no date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def build_new_account_form(
    page: CompanyPage,
    position: int,
    proposed_account: ProposedAccount,
    rejected: BoundForm | None = None,
    *,
    file_names: Sequence[str] = (),
) -> NewAccountForm:
    """Return the form of a file's new account: the rejected one, else with what was typed or what the file says."""
    values = {
        "name": proposed_account.name,
        "type": proposed_account.type,
        "defaultCurrency": proposed_account.currency,
        "accountNumber": proposed_account.number,
        OPENING_BALANCE: "",
        OPENING_DAY: proposed_account.opening_day.isoformat() if proposed_account.opening_day else "",
    }
    fields = {build_field_name(name, position): value for name, value in values.items()}
    shown_values = {field: page.request.POST.get(field, value) for field, value in fields.items()}
    return NewAccountForm(position, rejected or BoundForm(values=shown_values), file_names)


def bind_new_account_form(page: CompanyPage, position: int) -> BoundForm:
    """Validate what was typed for a file's new account, with its opening balance in `data`."""
    fields = {name: build_field_name(name, position) for name in FORM_FIELDS}
    values = {field: page.request.POST.get(field, "").strip() for field in fields.values()}
    body = {name: values[fields[name]] or None for name in FIELD_LABELS}
    form = bind_body(AccountSerializer, body, values=values, fields=fields)
    if form.is_valid and parse_opening_day(values[fields[OPENING_DAY]]):
        currency = form.data["default_currency"]
        amounts, form.errors = parse_form_amounts(values, [fields[OPENING_BALANCE]], currency=currency)
        form.data = {**form.data, OPENING_BALANCE: amounts.get(fields[OPENING_BALANCE])}
    return form


def create_opened_account(page: CompanyPage, position: int, form: BoundForm) -> Account:
    """Create the account of a form, with the balance before its first transaction if one was entered."""
    values = dict(form.data)
    opening_balance = values.pop(OPENING_BALANCE, None)
    account = create_account(company=page.company, context=page.audit_context, values=values)
    day = parse_opening_day(form.values[build_field_name(OPENING_DAY, position)])
    if opening_balance and day:
        set_initial_balance(
            company=page.company, context=page.audit_context, account_id=account.id, day=day, amount=opening_balance
        )
    return account


@dataclass(slots=True)
class NewAccounts:
    """The accounts created for files, by position; or why none was created: an error, and the invalid forms."""

    accounts: dict[int, Account] = field(default_factory=dict)
    others_remain: bool = False  # forms that were sent, and whose accounts were not to be created
    error: str = ""
    forms: dict[int, BoundForm] = field(default_factory=dict)


def create_new_accounts(page: CompanyPage, *, file_count: int) -> NewAccounts:
    """Create the accounts that a review asks for, all or none: of every form sent, or of the one whose button was used.

    Raises PermissionDenied.
    """
    if not can_create_account(page):
        raise PermissionDenied
    requested = page.request.POST[CREATE_FIELD]
    sent_positions = [each for each in range(file_count) if build_field_name("name", each) in page.request.POST]
    positions = [each for each in sent_positions if requested in (CREATE_ALL, str(each))]
    forms = {position: bind_new_account_form(page, position) for position in positions}
    if not positions or not all(form.is_valid for form in forms.values()):
        return NewAccounts(error=_("No account was created. Check the new accounts."), forms=forms)
    general = BoundForm(values={})
    with page.handle_errors(general):
        accounts = {position: create_opened_account(page, position, form) for position, form in forms.items()}
        messages.success(page.request, format_created_accounts(list(accounts.values())))
        return NewAccounts(accounts, others_remain=len(accounts) < len(sent_positions))
    return NewAccounts(error=general.general, forms=forms)


def format_created_accounts(accounts: Sequence[Account]) -> str:
    """Return the message of created accounts: the name of a single one, else their number."""
    if len(accounts) == 1:
        return _("{name} created.").format(name=accounts[0].name)
    return _("{count} accounts created.").format(count=format_count(len(accounts)))
