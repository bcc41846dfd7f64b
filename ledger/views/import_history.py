"""Imports that were kept, and undoing one."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.schema import PAGING
from companies.permissions import Permission
from ledger import undoing
from ledger.models import ImportBatch
from ledger.serializers import import_history as shapes
from ledger.views.base import LedgerViewSet


class ImportHistoryViewSet(LedgerViewSet):
    schema_tags = ["Imports"]
    schema_noun = "import"
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
        batch = self.found(ImportBatch.objects, import_id, locked=True)
        self.unless_stale(batch)
        done = undoing.undo(batch=batch, company=self.company, stamp=self.stamp)
        return Response({"success": True, "deletedCount": done.deleted, "changedCount": done.changed})
