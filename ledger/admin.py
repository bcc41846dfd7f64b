"""What staff see of a company's ledger: its accounts, read-only."""

from companies.admin import CompanyAdmin, Rows
from ledger.models import Account


class AccountRows(Rows):
    model = Account
    fields = readonly_fields = (
        "name", "type", "default_currency", "import_type", "include_in_cash_balance", "archived", "created_time",
    )  # fmt: skip


CompanyAdmin.inlines.append(AccountRows)
