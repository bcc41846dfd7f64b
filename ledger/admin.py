"""Read-only admin inlines of a company: its accounts and latest imports."""

from companies.admin import CompanyAdmin, CompanyRowsInline
from ledger.models import Account, ImportBatch


class AccountInline(CompanyRowsInline):
    model = Account
    fields = readonly_fields = (
        "name", "type", "default_currency", "import_type", "include_in_cash_balance", "archived", "created_time",
    )  # fmt: skip


class ImportBatchInline(CompanyRowsInline):
    model = ImportBatch
    fields = readonly_fields = (
        "created_time", "source", "format", "count", "duplicates", "skipped_before_data_start", "undone_time",
    )  # fmt: skip
    ordering = ("-created_time", "-id")
    latest = 10
    verbose_name_plural = "latest imports"


CompanyAdmin.inlines += [AccountInline, ImportBatchInline]
