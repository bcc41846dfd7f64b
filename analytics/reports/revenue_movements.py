"""Page of the customers behind a figure of recurring revenue."""

from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _

from analytics import recurring_revenue_params
from analytics.charts import recurring_revenue_figures
from analytics.charts.recurring_revenue_sections import END_LABELS, MOVEMENT_KEYS
from analytics.queries.revenue_movements import (
    FIGURES,
    CustomerMovement,
    MovementList,
    list_customer_movements,
)
from analytics.recurring_revenue_params import RecurringRevenueParams
from analytics.reports.recurring_revenue import MEASURE_LABELS, TAB, list_product_names, parse_page_number
from companies.models import IdIn
from companies.pages.context import CompanyPage, company_page
from companies.pages.csv_files import build_csv_response
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Counterparty
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import format_amount
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import HIDDEN_NAME

ROWS_PER_PAGE = 50
DEFAULT_MOVEMENT = "new"


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_revenue_movements(page: CompanyPage) -> HttpResponse:
    """List the customers behind a figure of the bridge; their amounts add up to it."""
    params, movement = parse_movement(page)
    page_number = parse_page_number(page.request.GET.get("page", "1"))
    start = (page_number - 1) * ROWS_PER_PAGE
    movements, missing_currency = None, ""
    try:
        movements = list_movements(page, params, movement)
    except RateLookupError as error:
        missing_currency = error.currency
    customers = movements.customers[start : start + ROWS_PER_PAGE] if movements else []
    names = list_customer_names(page, customers)
    return page.render(
        "analytics/revenue_movements.html",
        tab=TAB,
        params=params,
        figure=movement,
        figures=label_figures(),
        measures=MEASURE_LABELS,
        products=list_product_names(page),
        measure=recurring_revenue_figures.get_measure(params.measure),
        with_change=movement not in {"start", "end"},
        lines=[(names.get(each.customer_id, HIDDEN_NAME), each) for each in customers],
        movements=movements,
        missing=missing_currency,
        page=page_number,
        more=movements is not None and len(movements.customers) > start + ROWS_PER_PAGE,
        query=params.address(movement=movement),
        events_query=build_events_query(params),
    )


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def download_revenue_movements(page: CompanyPage) -> HttpResponse:
    """Download the customers behind a figure as CSV; the amounts of the file add up to it."""
    params, movement = parse_movement(page)
    currency = page.company.base_currency
    headings = [_("Customer"), *(f"{name} ({currency})" for name in (_("Before"), _("After"), _("Amount")))]
    try:
        movements = list_movements(page, params, movement)
    except RateLookupError:
        return page.redirect("revenue-movements")  # which shows the error
    names = list_customer_names(page, movements.customers)
    rows: list[Sequence[object]] = [
        [names.get(customer_id, str(HIDDEN_NAME)), *(Decimal(format_amount(amount, currency)) for amount in amounts)]
        for customer_id, *amounts in movements.customers
    ]
    if movements.rounding:
        rows.append([_("Rounding"), "", "", Decimal(format_amount(movements.rounding, currency))])
    name = f"mrr-{movement}-{format_month(params.first)}-{format_month(params.last)}"
    return build_csv_response([headings, *rows], name=name)


def parse_movement(page: CompanyPage) -> tuple[RecurringRevenueParams, str]:
    """Parse the parameters of the URL and the figure."""
    query = page.request.GET
    params = recurring_revenue_params.parse_params(query, today=page.today, products=list_product_names(page))
    movement = recurring_revenue_params.parse_choice(query, "movement", FIGURES, params.complaints)
    return params, movement or DEFAULT_MOVEMENT


def list_movements(page: CompanyPage, params: RecurringRevenueParams, movement: str) -> MovementList:
    return list_customer_movements(
        company=page.company,
        mrr_type=params.measure,
        figure=movement,
        first=params.first,
        last=params.last,
        rates=get_rate_table(),
        products=[UUID(params.product)] if params.product else [],
    )


def list_customer_names(page: CompanyPage, customers: Sequence[CustomerMovement]) -> dict[UUID, str]:
    """Return customer id -> name; empty without the permission to read names."""
    if not page.has_permission(Permission.COUNTERPARTIES_READ):
        return {}
    rows = Counterparty.objects.for_company(page.company.id).filter(
        IdIn("id", [each.customer_id for each in customers])
    )
    return dict(rows.values_list("id", "name"))


def label_figures() -> dict[str, str]:
    """Return the labels of the figures, in the order of the bridge."""
    start, end = END_LABELS.split(", ")
    return {"start": start, **{key.series: str(key.label) for key in MOVEMENT_KEYS}, "end": end}


def build_events_query(params: RecurringRevenueParams) -> str:
    """Return the query of the subscription events of the same months."""
    date_basis = "committed" if params.measure in {"cmrr", "carr"} else "effective"
    return urlencode(
        {"startMonth": format_month(params.first), "endMonth": format_month(params.last), "by": date_basis}
    )
