"""REST: files attached to transactions."""

from typing import Any
from uuid import UUID

from django.http import FileResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.rendering import JsonParser, UploadParser
from companies.api.serializers import SUCCESS
from companies.models import parse_id
from companies.permissions import Permission
from ledger.files import actions, serializers
from ledger.files.content_type import CONTENT_KINDS, UnsafeXml, UnsupportedFileType
from ledger.files.quota import QuotaExceeded
from ledger.models import File, ParseStatus
from ledger.recognition.actions.postings import MissingRateError
from ledger.recognition.service_periods import PERIOD_ERRORS

FILTER_PARAMETERS = [
    OpenApiParameter("parseStatus", enum=ParseStatus.values),
    OpenApiParameter("transactionId", UUID, description="Files linked to this transaction."),
]
CONTENT_TYPES = [kind.content_type for kind in CONTENT_KINDS]


class FileViewSet(CompanyViewSet):
    schema_tags = ["Files"]
    resource, shape = File, serializers.FileSerializer
    uploads = frozenset({"create"})
    errors_for = {
        "create": [
            actions.FileTooLarge,
            QuotaExceeded,
            UnsupportedFileType,
            UnsafeXml,
            "invalid_form",
            *PERIOD_ERRORS,
            MissingRateError,
        ],
        **dict.fromkeys(("update", "destroy"), (*PERIOD_ERRORS, MissingRateError)),
    }
    permission_for = {
        **build_crud_permissions(reads=Permission.FILES_READ, writes=Permission.FILES_WRITE),
        "content": Permission.FILES_READ,
    }

    def get_parsers(self) -> list[BaseParser]:
        """Parse multipart forms for uploads and JSON for everything else."""
        return [UploadParser()] if self.action_map.get("post") and self.is_post else [JsonParser()]

    @property
    def is_post(self) -> bool:
        request: Any = self.request
        return request is None or request.method == "POST"

    @extend_schema(parameters=[*FILTER_PARAMETERS, *PAGING_PARAMETERS])
    def list(self, request: Request, company_id: str) -> Response:
        """List the metadata of the company's files, newest first."""
        self.allow_parameters("limit", "cursor", "parseStatus", "transactionId")
        files = File.objects.for_company(self.company.id).with_transaction_ids(self.company.id)
        status, linked_transaction = request.query_params.get("parseStatus"), request.query_params.get("transactionId")
        if status is not None:
            if status not in ParseStatus.values:
                raise ValidationError({"parseStatus": [ErrorDetail("Unknown status.", code="invalid_filter")]})
            files = files.filter(parse_status=status)
        if linked_transaction is not None:
            transaction_id = parse_id(linked_transaction)
            if transaction_id is None:
                raise ValidationError({"transactionId": [ErrorDetail("Must be an ID.", code="invalid_filter")]})
            files = files.for_transaction(transaction_id)
        return self.respond_with_page(files, order=("-created_time", "-id"))

    @extend_schema(request={"multipart/form-data": serializers.Upload})
    def create(self, request: Request, company_id: str) -> Response:
        """Upload a PDF, PNG, JPEG, CSV or XML file of at most 20 MiB.

        Larger files return 413 `file_too_large`, other content 415 `unsupported_file_type`, XML with a document type
        400 `unsafe_xml`. Electronic invoices (EN 16931 in UBL, CII or a Factur-X PDF) are read: `parseStatus` is then
        `parsed` with `parseData`, or `failed` with `parseError`."""
        form, uploaded_file = self.parse_upload({"file", "transactionIds"}, repeatable_names=("transactionIds",))
        row = actions.create_file(
            company=self.company,
            context=self.audit_context,
            name=uploaded_file.name,
            content=uploaded_file.read(actions.MAX_FILE_BYTES + 1),
            transaction_ids=serializers.parse_form_ids(form.getlist("transactionIds")),
        )
        return self.respond_created(self.get_response_row(row))

    def retrieve(self, request: Request, company_id: str, file_id: str) -> Response:
        """Return the metadata of a file. Get its content from `…/content`."""
        return self.respond_with_one(self.get_row(File.objects.with_transaction_ids(self.company.id), file_id))

    @extend_schema(
        operation_id="downloadFile", responses={(200, *CONTENT_TYPES): OpenApiResponse(serializers.FILE_SCHEMA)}
    )
    def content(self, request: Request, company_id: str, file_id: str) -> Any:
        """Download a file as an attachment. The extension of its name matches its content."""
        row = self.get_row(File.objects, file_id)
        name = actions.get_download_name(row)
        response = FileResponse(
            actions.open_file(row), as_attachment=True, filename=name, content_type=row.content_type
        )
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def update(self, request: Request, company_id: str, file_id: str) -> Response:
        """Update the fields that are sent: transactionIds, parseStatus, parseData.

        The date of an invoice sets the period of its transactions' categorizations that use the invoice date."""
        values = self.parse_body(serializers.FileSerializer, partial=True)
        row = actions.update_file(company=self.company, context=self.audit_context, file_id=file_id, values=values)
        return self.respond_with_one(self.get_response_row(row))

    def destroy(self, request: Request, company_id: str, file_id: str) -> Response:
        """Delete a file and its content."""
        actions.delete_file(company=self.company, context=self.audit_context, file_id=file_id)
        return Response(SUCCESS)

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """Return file content in its own type, whatever the request accepts."""
        if self.action == "content":
            return self.get_renderers()[0], "*/*"
        return super().perform_content_negotiation(request, force)

    def get_response_row(self, row: File) -> File:
        return (
            File.objects.for_company(self.company.id).with_transaction_ids(self.company.id).filter(id=row.id).first()
            or row
        )
