"""REST: import transactions, list imports, undo one."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.rendering import read_json_body
from companies.permissions import Permission
from ledger.bulk.serializers import build_row_errors
from ledger.imports import serializers
from ledger.imports.actions import import_undo, imports
from ledger.imports.import_body import TRANSACTION_IMPORT_BODY
from ledger.models import ImportBatch
from ledger.recognition.actions.postings import MissingRateError


class ImportViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    uploads = frozenset({"create"})
    errors_for = {"create": [MissingRateError]}
    permission_for = {"create": Permission.TRANSACTIONS_WRITE}

    @extend_schema(
        operation_id="importTransactions",
        request=serializers.ImportRequest,
        responses={200: serializers.ImportResult},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Import up to 100,000 transactions, all or none unless `onError` is `skip`.

        Transactions before the company's `dataStartDate` are skipped. An item is a duplicate if the account already
        has its `externalId`. With `duplicates: skip`, items with the same account, date, amount, currency and text are
        duplicates too; each existing transaction excludes one item. `dryRun` returns the result without storing it.
        """
        bulk_request = TRANSACTION_IMPORT_BODY.parse(read_json_body(request))
        self.report_ignored_fields(bulk_request.ignored)
        outcome = imports.import_transactions(company=self.company, context=self.audit_context, request=bulk_request)
        return Response(serialize_import_outcome(outcome, self.company.data_start_date))


def serialize_import_outcome(outcome: imports.TransactionImportOutcome, data_start_date: Any) -> dict[str, Any]:
    return {
        "success": True,
        "count": outcome.count,
        "skippedBeforeDataStart": outcome.skipped_before_data_start,
        "skippedClosed": outcome.skipped_closed,
        "dataStartDate": data_start_date.isoformat() if data_start_date else None,
        "importId": str(outcome.batch.id) if outcome.batch else None,
        "duplicates": outcome.duplicates,
        "possibleDuplicates": outcome.possible_duplicates,
        "errors": build_row_errors(outcome.errors),
        "dryRun": outcome.dry_run,
    }


class ImportHistoryViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    schema_noun = "import"
    resource = ImportBatch
    errors_for = {"destroy": [import_undo.ImportAlreadyUndone]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.TRANSACTIONS_READ),
        "destroy": Permission.TRANSACTIONS_WRITE,
    }

    @extend_schema(parameters=PAGING_PARAMETERS, responses=serializers.ImportSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's imports, newest first, including undone ones."""
        self.allow_parameters("limit", "cursor")
        rows = ImportBatch.objects.for_company(self.company.id)
        return self.respond_with_page(rows, serializers.ImportSerializer, order=("-created_time", "-id"))

    @extend_schema(responses=serializers.ImportSerializer)
    def retrieve(self, request: Request, company_id: str, import_id: str) -> Response:
        """Get an import with its counts of stored, skipped and duplicate rows."""
        return self.respond_with_one(self.get_row(ImportBatch.objects, import_id), serializers.ImportSerializer)

    @extend_schema(responses={200: serializers.UndoResult})
    def destroy(self, request: Request, company_id: str, import_id: str) -> Response:
        """Undo an import: delete its transactions, release their external IDs and unlink their transfers.

        An import can be undone once (409 `import_already_undone`).
        """
        outcome = import_undo.undo_import(company=self.company, context=self.audit_context, import_id=import_id)
        return Response({"success": True, "deletedCount": outcome.deleted, "changedCount": outcome.changed})
