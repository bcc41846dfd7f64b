"""Documents kept beside transactions."""

from typing import Any
from uuid import UUID

from django.http import FileResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, UnsupportedMediaType, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.rendering import JsonParser, UploadParser
from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet, granted
from companies.models import id_from
from companies.permissions import Permission
from ledger.documents import keeping
from ledger.documents import serializers as shapes
from ledger.documents.quota import QuotaExceeded
from ledger.documents.sniffing import KINDS, UnsupportedFile
from ledger.models import File, ParseStatus
from ledger.recognition.dating import PERIODS
from ledger.recognition.posting import NoRate

FILTERS = [
    OpenApiParameter("parseStatus", enum=ParseStatus.values),
    OpenApiParameter("transactionId", UUID, description="documents of one transaction"),
]
CONTENT_TYPES = [kind.content_type for kind in KINDS]


class FileViewSet(CompanyViewSet):
    schema_tags = ["Files"]
    resource, shape = File, shapes.FileShape
    uploads = frozenset({"create"})
    refuses = {
        "create": [keeping.FileTooLarge, QuotaExceeded, UnsupportedFile, "invalid_form"],
        **dict.fromkeys(("update", "destroy"), (*PERIODS, NoRate)),
    }
    permission_for = {
        **granted(reads=Permission.FILES_READ, writes=Permission.FILES_WRITE),
        "content": Permission.FILES_READ,
    }

    def get_parsers(self) -> list[BaseParser]:
        """A form where a document is sent, JSON elsewhere."""
        return [UploadParser()] if self.action_map.get("post") and self.posts else [JsonParser()]

    @property
    def posts(self) -> bool:
        request: Any = self.request
        return request is None or request.method == "POST"

    @extend_schema(parameters=[*FILTERS, *PAGING])
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
        return self.page(rows, order=("-created_time", "-id"))

    @extend_schema(request={"multipart/form-data": shapes.Upload})
    def create(self, request: Request, company_id: str) -> Response:
        """Stores a document of at most 20 MiB (413 `file_too_large`): PDF, PNG, JPEG, CSV or XML, judged by its content
        (415 `unsupported_file_type`)."""
        form = request.data
        if not hasattr(form, "getlist"):
            raise UnsupportedMediaType(request.content_type or "")
        self.ignored(sorted(set(form) - {"file", "transactionIds"}))
        document = form.get("file")
        if document is None or not hasattr(document, "read"):
            raise serializers.ValidationError({"file": "A file must be sent in this field."}, code="required")
        row = keeping.keep(
            company=self.company,
            stamp=self.stamp,
            name=document.name,
            content=document.read(keeping.MOST_BYTES + 1),
            transaction_ids=shapes.form_ids(form.getlist("transactionIds")),
        )
        return self.created(self.as_answered(row))

    def retrieve(self, request: Request, company_id: str, file_id: str) -> Response:
        """What is known of a document; `…/content` has its bytes."""
        return self.one(self.found(File.objects.with_transactions(self.company.id), file_id))

    @extend_schema(operation_id="downloadFile", responses={(200, *CONTENT_TYPES): OpenApiResponse(shapes.DOCUMENT)})
    def content(self, request: Request, company_id: str, file_id: str) -> Any:
        """The document itself, as an attachment; the extension of its name is its content's."""
        row = self.found(File.objects, file_id)
        name = keeping.download_name(row)
        answer = FileResponse(keeping.opened(row), as_attachment=True, filename=name, content_type=row.content_type)
        answer["X-Content-Type-Options"] = "nosniff"
        return answer

    def update(self, request: Request, company_id: str, file_id: str) -> Response:
        """Changes transactionIds, parseStatus and parseData where they are sent. A date that was read in an invoice
        dates the parts of its transactions that go by the invoice."""
        values = self.parsed(shapes.FileShape, partial=True)
        row = keeping.change(company=self.company, stamp=self.stamp, file_id=file_id, values=values)
        return self.one(self.as_answered(row))

    def destroy(self, request: Request, company_id: str, file_id: str) -> Response:
        """Deletes a document and its bytes."""
        keeping.delete(company=self.company, stamp=self.stamp, file_id=file_id)
        return Response(SUCCESS)

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """A document is answered as what it is, whatever the caller would accept."""
        if self.action == "content":
            return self.get_renderers()[0], "*/*"
        return super().perform_content_negotiation(request, force)

    def as_answered(self, row: File) -> File:
        return File.objects.of(self.company.id).with_transactions(self.company.id).filter(id=row.id).first() or row
