"""REST: import bank statements, and list the reconciliation of an account."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_by_keyset
from companies.api.rendering import UploadParser
from companies.permissions import Permission
from ledger.bank_statements import errors, serializers, table_errors
from ledger.bank_statements.actions import statements
from ledger.bank_statements.actions.reconciliation import ComparedBalance, compare_statement_balances
from ledger.bank_statements.queries import statement_accounts
from ledger.files.actions import clean_filename
from ledger.files.content_type import UnsafeXml
from ledger.imports.file_errors import SeveralSheets, TableTooLarge, TooManyRows
from ledger.models import Account, Statement
from ledger.money.amounts import format_plain_amount
from ledger.recognition.actions.postings import MissingRateError


class StatementViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    schema_noun = "statement"
    uploads = frozenset({"create"})
    errors_for = {
        "create": [
            statement_accounts.AccountUnknown,
            statement_accounts.AccountDiffers,
            statement_accounts.AccountAmbiguous,
            errors.StatementFormatUnknown,
            errors.StatementUnreadable,
            UnsafeXml,
            errors.CurrencyUnknown,
            errors.ColumnsUnknown,
            errors.MappingAmbiguous,
            *table_errors.BY_CODE.values(),
            errors.DateOrderUnknown,
            TooManyRows,
            TableTooLarge,
            SeveralSheets,
            MissingRateError,
        ]
    }
    permission_for = {"create": Permission.TRANSACTIONS_WRITE}

    def get_parsers(self) -> list[BaseParser]:
        return [UploadParser()]

    @extend_schema(
        operation_id="importStatement",
        request={"multipart/form-data": serializers.StatementUpload},
        responses={200: serializers.StatementResult},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Import a bank statement with up to 100,000 entries, all or none, and reconcile its balances.

        Each entry is stored once, even if several files or formats contain it. The account is found by its number (IBAN
        or account number of the bank). A file can contain several accounts; with `accountId`, only that account is
        imported and `otherAccountNumbers` lists the others. A booked entry books its pending transaction. Pending
        transactions missing from the next final statement are deleted. `dryRun` returns the result without storing it.

        A CSV file has opening and closing balance if its balance column proves its rows: each balance is the previous
        one plus the amount. Otherwise `balanceFault` names the line, and the account is not reconciled.

        In an `.xlsx` workbook the visible sheet with transactions is read like a CSV file. The files of a ZIP archive
        are one import, in their order. `leftOutFiles` lists files that are not statements, and each of `choices` names
        its `file`.
        """
        form, file = self.parse_upload(serializers.FORM_FIELDS)
        options = serializers.parse_statement_options(form)
        result = statements.import_statement(
            company=self.company,
            context=self.audit_context,
            content=file.read(),
            filename=clean_filename(file.name),
            account=statement_accounts.get_requested_account(self.company, options.get("accountId")),
            details=options.get("split") == "details",
            date_order=options.get("dateOrder"),
            dry_run=options.get("dryRun") == "true",
            settings=serializers.parse_import_settings(options),
            skips_closed=options.get("closed") == "skip",
        )
        return Response(serializers.serialize_import_result(result))


class ReconciliationViewSet(CompanyViewSet):
    schema_tags = ["Accounts"]
    resource = Account
    permission_for = {"list": Permission.BALANCES_READ}

    @extend_schema(
        operation_id="listReconciliation",
        parameters=PAGING_PARAMETERS,
        responses=serializers.ReconciliationRow(many=True),
    )
    def list(self, request: Request, company_id: str, account_id: str) -> Response:
        """List the balances an account's statements reported, with the calculated balances, newest first."""
        self.allow_parameters("limit", "cursor")
        account = self.get_row(Account.objects, account_id)
        rows = Statement.objects.for_company(self.company.id).for_account(account.id).with_closing_balance()
        page_rows, headers = paginate_by_keyset(request, rows, order=("-day", "-id"))
        return Response(
            [serialize_comparison(each) for each in compare_statement_balances(self.company, page_rows)],
            headers=headers,
        )


def serialize_comparison(comparison: ComparedBalance) -> dict[str, Any]:
    currency = comparison.statement.currency
    return {
        "date": comparison.statement.day and comparison.statement.day.isoformat(),
        "reported": format_plain_amount(comparison.reported, currency),
        "calculated": format_plain_amount(comparison.calculated, currency),
        "difference": format_plain_amount(comparison.difference, currency),
        "importId": str(comparison.statement.import_batch_id),
    }
