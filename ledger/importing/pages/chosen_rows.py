"""The rows of a file as they are read by the choices of the form."""

from django.utils.translation import gettext as _

from companies.errors import Refusal
from ledger.importing.calc.told_currency import complete_mapping, find_unclear_currencies
from ledger.importing.items import Rows, told
from ledger.importing.pages.columns_form import ColumnsForm


def build_rows(form: ColumnsForm) -> Rows | str:
    """Return the rows for a valid form, or why they cannot be read; the error stands beside its field where it has one.

    Currencies and units that headings tell win over what was chosen.
    """
    account, data = form.chosen_account(), form.cleaned_data
    own = account.default_currency
    mapping, refused = complete_mapping(form.table, form.mapping(), own=own, told=data["amount_currency"])
    if refused:
        return told(refused)
    if unclear := find_unclear_currencies(form.table, mapping, own):
        why = _("The sign in the file may mean {currencies}. Choose the currency of the amounts.")
        form.add_error("amount_currency", why.format(currencies=", ".join(unclear)))
        return str(form.errors["amount_currency"][0])
    try:
        return Rows(form.table, mapping, account=account)
    except Refusal as refusal:
        return refusal.detail
