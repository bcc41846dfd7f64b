"""Imports of transactions."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.errors import entry
from companies.api.rendering import json_body
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger import importing
from ledger.bulk_body import NotJson
from ledger.import_body import IMPORT
from ledger.posting import RateMissing
from ledger.serializers import imports as shapes


class ImportViewSet(CompanyViewSet):
    schema_tags = ["Imports"]
    refuses = {"create": [RateMissing]}
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
        try:
            asked = IMPORT.read(json_body(request))
        except NotJson:
            raise ParseError("The body is not JSON.", code="invalid_json") from None
        self.ignored(asked.ignored)
        outcome = importing.import_transactions(company=self.company, stamp=self.stamp, request=asked)
        return Response(answered(outcome, self.company.data_start_date))

    def changes_company(self, response: Response) -> bool:
        return super().changes_company(response) and bool(response.data.get("importId"))


def answered(outcome: importing.Outcome, data_start_date: Any) -> dict[str, Any]:
    errors = outcome.errors[: importing.MOST_ERRORS]
    return {
        "success": True,
        "count": outcome.count,
        "skippedBeforeDataStart": outcome.skipped_before_data_start,
        "dataStartDate": data_start_date.isoformat() if data_start_date else None,
        "importId": str(outcome.batch.id) if outcome.batch else None,
        "duplicates": outcome.duplicates,
        "errors": [entry(*each) for each in errors],
        "dryRun": outcome.dry_run,
    }
