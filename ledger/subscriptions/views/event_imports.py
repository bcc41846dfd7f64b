"""REST: imports of subscription events from files, and undo."""

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.rendering import UploadParser
from companies.permissions import Permission
from ledger.bank_statements.errors import ColumnsUnknown
from ledger.files.actions import clean_filename
from ledger.files.content_type import UnsafeXml
from ledger.imports.actions.import_undo import ImportAlreadyUndone
from ledger.imports.file_errors import SeveralSheets, TableTooLarge, TooManyRows, UnreadableTable
from ledger.models import SubscriptionEventImport
from ledger.subscriptions.actions.event_file_import import import_subscription_event_file
from ledger.subscriptions.actions.event_import_undo import undo_subscription_event_import
from ledger.subscriptions.serializers import event_imports as serializers


class SubscriptionEventImportViewSet(CompanyViewSet):
    schema_tags = ["Subscriptions"]
    schema_noun = "subscriptionEventImport"
    resource = SubscriptionEventImport
    uploads = frozenset({"import_file"})
    errors_for = {
        "import_file": [ColumnsUnknown, UnreadableTable, TooManyRows, TableTooLarge, SeveralSheets, UnsafeXml],
        "destroy": [ImportAlreadyUndone],
    }
    permission_for = {
        "import_file": Permission.SUBSCRIPTIONS_WRITE,
        "list": Permission.SUBSCRIPTIONS_READ,
        "retrieve": Permission.SUBSCRIPTIONS_READ,
        "destroy": Permission.SUBSCRIPTIONS_WRITE,
    }

    def get_parsers(self) -> list[BaseParser]:
        return [UploadParser()]

    @extend_schema(parameters=PAGING_PARAMETERS, responses=serializers.EventImportSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's imports of subscription events from files, newest first, including undone ones."""
        self.allow_parameters("limit", "cursor")
        rows = SubscriptionEventImport.objects.for_company(self.company.id)
        return self.respond_with_page(rows, serializers.EventImportSerializer, order=("-created_time", "-id"))

    @extend_schema(
        operation_id="importSubscriptionEventFile",
        request={"multipart/form-data": serializers.EventFileUpload},
        responses=serializers.EventFileResult,
    )
    def import_file(self, request: Request, company_id: str) -> Response:
        """Import up to 10,000 rows of subscription events from a CSV file or workbook, all or none.

        Columns are found by their headings: customer, product, subscription ID, event date, MRR, ARR or amount,
        currency, interval, kind (start, change or cancel) and external ID. A row with an end date starts and ends a
        subscription. Rows without a subscription ID mean the subscription of their customer and product. Missing
        subscriptions, customers and products are created. Events that are stored already are left out. Errors have
        pointers such as `#/events/0/eventDate`, counted from the first row below the headings. If the file does not
        prove how it is to be read, the answer is 400 with a pointer to each option to send.
        """
        form, file = self.parse_upload(serializers.FORM_FIELDS)
        outcome = import_subscription_event_file(
            company=self.company,
            context=self.audit_context,
            content=file.read(),
            filename=clean_filename(file.name),
            options=serializers.parse_event_file_options(form),
        )
        return Response(serializers.file_outcome_to_dict(outcome))

    @extend_schema(responses=serializers.EventImportSerializer)
    def retrieve(self, request: Request, company_id: str, subscription_event_import_id: str) -> Response:
        """Get an import of subscription events with its counts."""
        row = self.get_row(SubscriptionEventImport.objects, subscription_event_import_id)
        return self.respond_with_one(row, serializers.EventImportSerializer)

    @extend_schema(responses={200: serializers.EventImportUndoResult})
    def destroy(self, request: Request, company_id: str, subscription_event_import_id: str) -> Response:
        """Undo an import: retract its events, and delete the subscriptions, customers and products that only it used.

        An import can be undone once (409 `import_already_undone`).
        """
        outcome = undo_subscription_event_import(
            company=self.company, context=self.audit_context, import_id=subscription_event_import_id
        )
        return Response(serializers.undo_outcome_to_dict(outcome))
