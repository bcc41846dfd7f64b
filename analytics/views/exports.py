"""The export of the profit and loss statement."""

import datetime as dt
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from analytics import serializers
from analytics.calc.calendar_periods import PERIOD_MONTHS
from analytics.query_window import MAX_MONTHLY_YEARS, check_window_length, check_window_order, get_default_start
from analytics.reports.profit_and_loss import build_company_statement
from analytics.reports.profit_and_loss_workbook import write_statement_workbook
from analytics.views.base import DataViewSet
from companies.permissions import Permission
from ledger.calc.months import list_months
from ledger.exports import file_responses
from ledger.money.rates import get_rate_table

STATEMENT_PARAMETERS = [
    OpenApiParameter("startDate", dt.date, description="Day in the first month; 11 months earlier by default."),
    OpenApiParameter("endDate", dt.date, description="Day in the last month; today by default."),
    OpenApiParameter("interval", enum=list(PERIOD_MONTHS), description="Length of the periods; `month` by default."),
    OpenApiParameter(
        "comparison", enum=serializers.COMPARISONS, description="Adds a sheet with the comparison period."
    ),
    OpenApiParameter(
        "toDate", enum=["true", "false"], description="`true`: count the current month and its plan up to today only."
    ),
]
FILE_RESPONSE = OpenApiResponse({"type": "string", "format": "binary", "maxLength": 2**31 - 1})


class StatementExportViewSet(DataViewSet):
    schema_tags = ["Exports"]
    permission_for = {"profit_and_loss": Permission.FINANCIALS_READ}

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """A file is answered as what it is, whatever the caller would accept."""
        return self.get_renderers()[0], "*/*"

    @extend_schema(
        operation_id="exportProfitAndLoss",
        parameters=STATEMENT_PARAMETERS,
        responses={(200, file_responses.XLSX_CONTENT_TYPE): FILE_RESPONSE},
    )
    def profit_and_loss(self, request: Request, company_id: str) -> Any:
        """Export the profit and loss statement to Excel with formulas, one sheet for actual and one for plan.

        Covers the months in the window, up to the current one. Expenses are positive. Months count in full; with
        `toDate`, the current month and its plan count up to today.
        """
        self.allow_parameters("startDate", "endDate", "interval", "comparison", "toDate")
        values = self.parse_body(serializers.StatementQuery, data=request.query_params.dict())
        today = self.today
        end = values.get("end_date") or today
        start = values.get("start_date") or get_default_start(end)
        check_window_order(start=start, end=end)
        check_window_length(start=start, end=end, years=MAX_MONTHLY_YEARS)
        table = build_company_statement(
            self.company,
            months=list_months(start, end),
            today=today,
            interval=values["interval"],
            comparison=values.get("comparison"),
            rates=get_rate_table(),
            to_date=values["to_date"] == "true",
        )
        return file_responses.build_file_response(
            lambda file: write_statement_workbook(file, table),
            name="profitAndLoss.xlsx",
            content_type=file_responses.XLSX_CONTENT_TYPE,
        )
