"""Documents kept beside transactions."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import FileResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, UnsupportedMediaType, ValidationError
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.rendering import BodyTooLarge, JsonParser
from companies.api.schema import PAGING
from companies.api.serializers import SUCCESS, Success
from companies.errors import Missing
from companies.models import id_from
from companies.permissions import Permission
from ledger import files
from ledger.models import File, ParseStatus
from ledger.posting import RateMissing
from ledger.serializers import files as shapes
from ledger.sniffing import KINDS, UnsupportedFile
from ledger.views.base import PERIODS, LedgerViewSet

FILTERS = [
    OpenApiParameter("parseStatus", enum=ParseStatus.values),
    OpenApiParameter("transactionId", UUID, description="documents of one transaction"),
]
CONTENT_TYPES = [kind.content_type for kind in KINDS]


class FileViewSet(LedgerViewSet):
    schema_tags = ["Files"]
    touches_nothing = frozenset({"create"})  # what arrives has no date yet, and reading it takes its time
    refuses = {
        "create": [files.FileTooLarge, UnsupportedFile],
        **dict.fromkeys(("update", "destroy"), (*PERIODS, RateMissing)),
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "content"), Permission.FILES_READ),
        **dict.fromkeys(("create", "update", "destroy"), Permission.FILES_WRITE),
    }

    def get_parsers(self) -> list[BaseParser]:
        """A form where a document is sent, JSON elsewhere."""
        return [MultiPartParser()] if self.action_map.get("post") and self.posts else [JsonParser()]

    @property
    def posts(self) -> bool:
        request: Any = self.request
        return request is None or request.method == "POST"

    @extend_schema(parameters=[*FILTERS, *PAGING], responses=shapes.FileShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The company's documents, latest first: what is known of them, not their bytes."""
        self.only_parameters("limit", "cursor", "parseStatus", "transactionId")
        rows = File.objects.of(self.company.id).with_transactions(self.company.id)
        status, tied = request.query_params.get("parseStatus"), request.query_params.get("transactionId")
        if status is not None:
            if status not in ParseStatus.values:
                raise ValidationError({"parseStatus": [ErrorDetail("No such status.", code="invalid_filter")]})
            rows = rows.filter(parse_status=status)
        if tied is not None:
            wanted = id_from(tied)
            if wanted is None:
                raise ValidationError({"transactionId": [ErrorDetail("Must be an id.", code="invalid_filter")]})
            rows = rows.tied_to(wanted)
        return self.page(rows, shapes.FileShape, order=("-created_time", "-id"))

    @extend_schema(request={"multipart/form-data": shapes.Upload}, responses={201: shapes.FileShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Stores a document of at most 20 MiB (413 `file_too_large`): PDF, PNG, JPEG, CSV or XML, judged by its content
        (415 `unsupported_file_type`)."""
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_UPLOAD_MB * 1024 * 1024:
            raise BodyTooLarge
        form = request.data
        if not hasattr(form, "getlist"):
            raise UnsupportedMediaType(request.content_type or "")
        self.ignored(set(form) - {"file", "transactionIds"})
        document = form.get("file")
        if document is None or not hasattr(document, "read"):
            raise serializers.ValidationError({"file": "A file must be sent in this field."}, code="required")
        row = files.keep(
            company=self.company,
            stamp=self.stamp,
            name=document.name,
            content=document.read(files.MOST_BYTES + 1),
            transaction_ids=shapes.form_ids(form.getlist("transactionIds")),
        )
        location = f"/companies/{self.company.id}/files/{row.id}"
        return self.one(self.tied(row), shapes.FileShape, status=201, location=location)

    @extend_schema(responses=shapes.FileShape)
    def retrieve(self, request: Request, company_id: str, file_id: str) -> Response:
        """What is known of a document; `…/content` has its bytes."""
        return self.one(self.found(File.objects.with_transactions(self.company.id), file_id), shapes.FileShape)

    @extend_schema(operation_id="downloadFile", responses={(200, *CONTENT_TYPES): OpenApiResponse(shapes.DOCUMENT)})
    def content(self, request: Request, company_id: str, file_id: str) -> Any:
        """The document itself, as an attachment."""
        row = self.found(File.objects, file_id)
        try:
            stored = default_storage.open(row.storage_path)
        except FileNotFoundError:
            raise Missing from None
        answer = FileResponse(stored, as_attachment=True, filename=row.filename, content_type=row.content_type)
        answer["X-Content-Type-Options"] = "nosniff"
        return answer

    @extend_schema(request=shapes.FileShape(partial=True), responses=shapes.FileShape)
    def update(self, request: Request, company_id: str, file_id: str) -> Response:
        """Changes transactionIds, parseStatus and parseData where they are sent. A date that was read in an invoice
        dates the parts of its transactions that go by the invoice."""
        row = self.locked(file_id)
        values = self.parsed(shapes.FileShape, partial=True)
        files.change(row=row, company=self.company, stamp=self.stamp, values=values)
        return self.one(self.tied(row), shapes.FileShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, file_id: str) -> Response:
        """Deletes a document and its bytes."""
        files.delete(row=self.locked(file_id), company=self.company, stamp=self.stamp)
        return Response(SUCCESS)

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """A document is answered as what it is, whatever the caller would accept."""
        if self.action == "content":
            return self.get_renderers()[0], "*/*"
        return super().perform_content_negotiation(request, force)

    def locked(self, file_id: str) -> File:
        row: Any = self.found(File.objects, file_id, locked=True)
        self.unless_stale(row)
        return row

    def tied(self, row: File) -> File:
        return File.objects.of(self.company.id).with_transactions(self.company.id).get(id=row.id)
