"""Keep how an imported table was read for the next file of its account, as the page of a single table does."""

from uuid import UUID

from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.accounts.actions.accounts import update_account
from ledger.bank_statements.actions.statement_results import StatementImportResult
from ledger.imports.calc.column_mapping import to_csv_settings
from ledger.imports.own_export_settings import find_own_export_settings
from ledger.imports.pages.file_accounts import read_table_of_upload
from ledger.imports.table_items import detect_account_mapping
from ledger.models import Account


def keep_table_settings(page: CompanyPage, upload_id: UUID, result: StatementImportResult) -> None:
    """Keep the settings of a table of one account that has none yet; nothing without the permission to change it."""
    account_ids = {outcome.account.id for outcome in result.statements}
    if result.format != "csv" or len(account_ids) != 1 or not page.has_permission(Permission.ACCOUNTS_WRITE):
        return
    account = Account.objects.for_company(page.company.id).get(id=account_ids.pop())
    import_settings = account.import_settings or {}
    lines = read_table_of_upload(page, upload_id)
    if lines is None:  # an archive of tables
        return
    if import_settings.get("csv") or find_own_export_settings(account, lines) is not None:
        return
    detection = detect_account_mapping(account, lines, {})
    names, has_headings = detection.table.names, bool(detection.table.heading_line)
    csv_settings = to_csv_settings(detection.mapping, names, has_headings=has_headings)
    update_account(
        company=page.company,
        context=page.audit_context,
        account_id=account.id,
        values={"import_settings": {**import_settings, "csv": csv_settings}},
    )
