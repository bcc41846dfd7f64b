"""Imports of transactions: those that come, those that were kept, and undoing one."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.rendering import json_body
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger.bulk.shapes import row_errors
from ledger.importing import imports, undoing
from ledger.importing import serializers as shapes
from ledger.importing.bodies import IMPORT
from ledger.models import ImportBatch
from ledger.recognition.posting import NoRate


class ImportViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    uploads = frozenset({"create"})
    refuses = {"create": [NoRate]}
    permission_for = {"create": Permission.TRANSACTIONS_WRITE}

    @extend_schema(
        operation_id="importTransactions",
        request=shapes.ImportRequest,
        responses={200: shapes.ImportResult},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Imports up to 100,000 transactions, all or none of them unless `onError` is `skip`.

        Transactions dated before the company's dataStartDate are skipped. An item whose `externalId` the account knows
        is a duplicate; with `duplicates: skip` so is one with the same account, date, amount, currency and text,
        counted with multiplicity. `dryRun` says what would happen and stores nothing.
        """
        asked = IMPORT.read(json_body(request))
        self.ignored(asked.ignored)
        outcome = imports.import_transactions(company=self.company, stamp=self.stamp, request=asked)
        return Response(answered(outcome, self.company.data_start_date))


def answered(outcome: imports.Outcome, data_start_date: Any) -> dict[str, Any]:
    return {
        "success": True,
        "count": outcome.count,
        "skippedBeforeDataStart": outcome.skipped_before_data_start,
        "dataStartDate": data_start_date.isoformat() if data_start_date else None,
        "importId": str(outcome.batch.id) if outcome.batch else None,
        "duplicates": outcome.duplicates,
        "possibleDuplicates": outcome.possible_duplicates,
        "errors": row_errors(outcome.errors),
        "dryRun": outcome.dry_run,
    }


class ImportHistoryViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    schema_noun = "import"
    resource = ImportBatch
    refuses = {"destroy": [undoing.ImportUndone]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.TRANSACTIONS_READ),
        "destroy": Permission.TRANSACTIONS_WRITE,
    }

    @extend_schema(parameters=PAGING, responses=shapes.ImportShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The company's imports, latest first; undone ones too."""
        self.only_parameters("limit", "cursor")
        rows = ImportBatch.objects.of(self.company.id)
        return self.page(rows, shapes.ImportShape, order=("-created_time", "-id"))

    @extend_schema(responses=shapes.ImportShape)
    def retrieve(self, request: Request, company_id: str, import_id: str) -> Response:
        """One import: how many rows were stored, skipped and known, and whether it was undone."""
        return self.one(self.found(ImportBatch.objects, import_id), shapes.ImportShape)

    @extend_schema(responses={200: shapes.UndoResult})
    def destroy(self, request: Request, company_id: str, import_id: str) -> Response:
        """Undoes an import: its transactions go, their external ids are free again, partners of linked ones are
        unlinked. An import is undone once (409 `import_already_undone`)."""
        done = undoing.undo(company=self.company, stamp=self.stamp, import_id=import_id)
        return Response({"success": True, "deletedCount": done.deleted, "changedCount": done.changed})
