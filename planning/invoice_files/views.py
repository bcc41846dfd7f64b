"""Endpoint that plans the invoice in a file."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.permissions import Permission
from ledger.models import Direction, File
from planning.base_views import WRITE, PlanningViewSet
from planning.invoice_files import actions
from planning.invoice_files.serializers import PlanFileRequest
from planning.models import PlannedSource, attach_overrides
from planning.planned_transactions.serializers import PlannedTransactionSerializer


class InvoiceFileViewSet(PlanningViewSet):
    schema_tags = ["Files"]
    resource = File
    errors_for = {
        "plan": [
            actions.AlreadyPlanned,
            actions.DuplicateInvoice,
            actions.FileNotParsed,
            actions.NothingToPay,
            actions.PartyUnknown,
        ],
    }
    permission_for = {"plan": WRITE}

    @extend_schema(operation_id="planFile", request=PlanFileRequest, responses={201: PlannedTransactionSerializer})
    def plan(self, request: Request, company_id: str, file_id: str) -> Response:
        """Create the receivable or payable of the invoice in a file, once.

        Your company is recognized as seller or buyer by name, account numbers and the VAT id of earlier invoices. If
        the answer is 409 `party_unknown`, send `direction`. The counterparty is found
        by VAT id, name or IBAN, or created. An invoice of the same seller and number is refused with 409
        `duplicate_invoice` and `plannedTransactionId`. Also needs `files:read`.
        """
        self.get_row(File.objects, file_id)
        self.require_permission(Permission.FILES_READ)
        values = self.parse_body(PlanFileRequest)
        planned = actions.plan_invoice_file(
            company=self.company,
            context=self.audit_context,
            file_id=file_id,
            account_id=values["account_id"],
            direction=Direction(values["direction"]) if values["direction"] else None,
            source=PlannedSource.MANUAL if self.caller.kind == "session" else PlannedSource.API,
        )
        location = f"/companies/{self.company.id}/planned_transactions/{planned.id}"
        row = attach_overrides([planned])[0]
        return self.respond_with_one(row, PlannedTransactionSerializer, status=201, location=location)
