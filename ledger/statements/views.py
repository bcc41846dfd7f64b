"""Bank statements: those that come, and how an account stands against what its bank said."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.pagination import keyset
from companies.api.rendering import UploadParser
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger.documents.keeping import shown_name
from ledger.importing.items import SeveralSheets, TableTooLarge, TooManyRows, UnsafeXml
from ledger.models import Account, Statement
from ledger.money.amounts import amount_out
from ledger.recognition.posting import NoRate
from ledger.statements import accounts, errors, receiving, table_errors
from ledger.statements import serializers as shapes
from ledger.statements.reconciling import Compared, compared


class StatementViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    schema_noun = "statement"
    uploads = frozenset({"create"})
    refuses = {
        "create": [
            accounts.AccountUnknown,
            accounts.AccountDiffers,
            accounts.AccountAmbiguous,
            errors.FormatUnknown,
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
            NoRate,
        ]
    }
    permission_for = {"create": Permission.TRANSACTIONS_WRITE}

    def get_parsers(self) -> list[BaseParser]:
        return [UploadParser()]

    @extend_schema(
        operation_id="importStatement",
        request={"multipart/form-data": shapes.StatementUpload},
        responses={200: shapes.StatementResult},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Takes in what a bank exports, up to 100,000 entries, all of them or none: each is stored once, whatever files
        and formats it comes in, and balances are compared with the ledger's.

        The account is found by its number (IBAN or the bank's own). A file of several accounts goes to each of them;
        with `accountId` only what is of that account is stored, and `otherAccountNumbers` lists the others. What was
        pending is booked by the entry that books it, and goes where the next final statement does not have it.
        `dryRun` says what would happen.

        Of an `.xlsx` workbook the visible sheet with movements is read as CSV is; its numbers and dates are taken as
        they are. The files of a ZIP archive are imported as one, as if they were sent one after another;
        `leftOutFiles` lists those that are plainly no statements, and each of `choices` names its `file`.
        """
        form = request.data
        if not hasattr(form, "getlist"):
            raise UnsupportedMediaType(request.content_type or "")
        self.ignored(sorted(set(form) - shapes.NAMES))
        sent: Any = form.get("file")
        if sent is None or not hasattr(sent, "read"):
            raise serializers.ValidationError({"file": "A file must be sent in this field."}, code="required")
        options = shapes.options_of(form)
        received = receiving.receive(
            company=self.company,
            stamp=self.stamp,
            content=sent.read(),
            filename=shown_name(sent.name),
            account=accounts.named(self.company, options.get("accountId")),
            details=options.get("split") == "details",
            date_order=options.get("dateOrder"),
            dry_run=options.get("dryRun") == "true",
            settings=shapes.settings_of(options),
        )
        return Response(shapes.answered(received))


class ReconciliationViewSet(CompanyViewSet):
    schema_tags = ["Accounts"]
    resource = Account
    permission_for = {"list": Permission.BALANCES_READ}

    @extend_schema(operation_id="listReconciliation", parameters=PAGING, responses=shapes.ReconciliationRow(many=True))
    def list(self, request: Request, company_id: str, account_id: str) -> Response:
        """What the bank reported of an account, statement by statement, beside what its transactions add up to now;
        latest first."""
        self.only_parameters("limit", "cursor")
        account = self.found(Account.objects, account_id)
        rows = Statement.objects.of(self.company.id).of_account(account.id).reconciling()
        found, headers = keyset(request, rows, order=("-day", "-id"))
        return Response([row_of(each) for each in compared(self.company, found)], headers=headers)


def row_of(each: Compared) -> dict[str, Any]:
    currency = each.statement.currency
    return {
        "date": each.statement.day and each.statement.day.isoformat(),
        "reported": amount_out(each.reported, currency),
        "calculated": amount_out(each.calculated, currency),
        "difference": amount_out(each.difference, currency),
        "importId": str(each.statement.import_batch_id),
    }
