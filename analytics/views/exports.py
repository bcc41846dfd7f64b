"""The profit and loss statement as a file."""

import datetime as dt
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from analytics import serializers as shapes
from analytics.calc.periods import LENGTHS
from analytics.pages.profit_and_loss import statement_of
from analytics.pages.workbook import write_workbook
from analytics.views.base import DataViewSet
from analytics.windows import MOST_YEARS_OF_MONTHS, check_length, check_order, year_up_to
from companies.permissions import Permission
from ledger.calc.months import months_from
from ledger.exporting import files
from ledger.money.rates import rate_table

ASKED = [
    OpenApiParameter("startDate", dt.date, description="a day of the first month; left out: eleven months earlier"),
    OpenApiParameter("endDate", dt.date, description="a day of the last month; left out: today"),
    OpenApiParameter(
        "interval", enum=list(LENGTHS), description="periods of the calendar; `month` where it is left out"
    ),
    OpenApiParameter("comparison", enum=shapes.COMPARISONS, description="adds a sheet of what was before"),
    OpenApiParameter(
        "toDate", enum=["true", "false"], description="true: the running month counts up to today, its plan by the days"
    ),
]
FILE = OpenApiResponse({"type": "string", "format": "binary", "maxLength": 2**31 - 1})


class StatementExportViewSet(DataViewSet):
    schema_tags = ["Exports"]
    permission_for = {"profit_and_loss": Permission.FINANCIALS_READ}

    def perform_content_negotiation(self, request: Request, force: Any = False) -> Any:
        """A file is answered as what it is, whatever the caller would accept."""
        return self.get_renderers()[0], "*/*"

    @extend_schema(operation_id="exportProfitAndLoss", parameters=ASKED, responses={(200, files.XLSX): FILE})
    def profit_and_loss(self, request: Request, company_id: str) -> Any:
        """The statement of the months that the window touches, up to the running one: a sheet of actual amounts and one
        of the plan, in which lines, sums and totals are formulas. Expenses are positive. Months count whole; with
        `toDate` the running one counts up to today, its plan by the days so far."""
        self.only_parameters("startDate", "endDate", "interval", "comparison", "toDate")
        asked = self.parsed(shapes.StatementQuery, data=request.query_params.dict())
        today = self.today
        end = asked.get("end_date") or today
        start = asked.get("start_date") or year_up_to(end)
        check_order(start=start, end=end)
        check_length(start=start, end=end, years=MOST_YEARS_OF_MONTHS)
        found = statement_of(
            self.company,
            months=months_from(start, end),
            today=today,
            interval=asked["interval"],
            comparison=asked.get("comparison"),
            rates=rate_table(),
            to_date=asked["to_date"] == "true",
        )
        return files.download(lambda file: write_workbook(file, found), name="profitAndLoss.xlsx", kind=files.XLSX)
