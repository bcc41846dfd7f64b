"""The rows of a file as they are read by the choices of the form."""

from django.utils.translation import gettext as _

from companies.errors import DomainError
from ledger.imports.calc.column_mapping import ColumnMapping
from ledger.imports.calc.file_currency import complete_mapping, find_unclear_currencies
from ledger.imports.calc.table import Table
from ledger.imports.forms import ColumnsForm
from ledger.imports.queries.account_numbers import find_other_account
from ledger.imports.table_items import TableItems, describe_reader_error
from ledger.models import Account


def build_import_rows(form: ColumnsForm) -> TableItems | str:
    """Return the rows for a valid form, or why they cannot be read; the error stands beside its field where it has one.

    Currencies and units that headings tell win over what was chosen.
    """
    account, data = form.get_chosen_account(), form.cleaned_data
    account_currency = account.default_currency
    mapping, fault = complete_mapping(
        form.table, form.build_mapping(), own=account_currency, stated=data["amount_currency"]
    )
    if fault:
        return describe_reader_error(fault)
    if unclear := find_unclear_currencies(form.table, mapping, account_currency):
        message = _("The currency sign stands for {currencies}. Choose the currency of the amounts.")
        form.add_error("amount_currency", message.format(currencies=", ".join(unclear)))
        return str(form.errors["amount_currency"][0])
    try:
        return TableItems(form.table, mapping, account=account)
    except DomainError as refusal:
        return refusal.detail


def describe_other_account(account: Account, table: Table, mapping: ColumnMapping) -> str:
    """Say of which account a file is, where that is not the chosen one; else nothing."""
    other = find_other_account(account, table, mapping)
    if other is None:
        return ""
    if other.account is not None:
        return _("The file belongs to account {account}. Choose that account.").format(account=other.account.name)
    detail = _("The file belongs to account {number}, not to {account}. Choose the account with that number.")
    return detail.format(number=other.numbers[0], account=account.name)
