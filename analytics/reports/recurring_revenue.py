"""Pages of recurring revenue: overview, customers, and one customer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics import recurring_revenue_params
from analytics.charts import recurring_revenue_figures, recurring_revenue_sections
from analytics.charts.recurring_revenue_data import CustomerRevenueData, RecurringRevenueData
from analytics.queries.billed_and_received import get_invoiced_amount, list_customer_invoices
from analytics.queries.customers import (
    ID_LENGTH,
    MAX_PAGE_NUMBER,
    ORDER_BY,
    ORDER_BY_WITHOUT_NAMES,
    PAGE_SIZE,
    STATUS_CONDITIONS,
    CustomerLine,
    CustomerSelection,
    compute_mrr_by_customer,
    list_customer_ids,
    list_customer_lines,
)
from companies.pages.context import CompanyPage, InvalidListPage, company_page
from companies.pages.csv_files import build_csv_response
from companies.pages.sheets import SheetStyle, build_sheet_csv_response, get_sheet_style
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Counterparty, CounterpartyType, Product, Subscription, SubscriptionEvent
from ledger.money.calc.fx import RateLookupError
from ledger.money.calc.money import format_amount
from ledger.money.rates import get_rate_table
from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS
from ledger.subscriptions.pages.subscriptions import format_billing_interval
from ledger.subscriptions.serializers.subscription_events import EventSerializer
from ledger.subscriptions.serializers.subscriptions import SubscriptionSerializer
from ledger.transactions.pages.labels import HIDDEN_NAME
from planning.models import PlannedTransaction, attach_overrides

TAB = "recurring-revenue"
MAX_SUBSCRIPTIONS_SHOWN = 200  # subscriptions of one customer
MAX_INVOICES_SHOWN = 50  # invoices of one customer
MEASURE_LABELS = {"mrr": "MRR", "cmrr": _("Committed MRR"), "arr": "ARR", "carr": _("Committed ARR")}
COMPARISON_LABELS = {"previousPeriod": _("Previous period"), "previousYear": _("Previous year")}
COHORT_LABELS = {"revenue": _("Revenue"), "customers": _("Customers")}
SORT_LABELS = {
    "-mrr": _("Highest MRR first"),
    "mrr": _("Lowest MRR first"),
    "name": _("Name (A–Z)"),
    "-name": _("Name (Z–A)"),
}
CUSTOMER_STATUS_LABELS = {"": _("All"), "active": _("Active"), "churned": _("Churned")}
CUSTOMERS_PER_READ = 1_000  # of a file
STATUS_LABELS = {"scheduled": _("scheduled"), "active": _("active"), "ended": _("ended")}


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_recurring_revenue(page: CompanyPage) -> HttpResponse:
    """Show summary, bridge and cohorts of the requested months; a first step while there are no subscriptions."""
    products = list_product_names(page)
    data = RecurringRevenueData(
        page.company,
        recurring_revenue_params.parse_params(page.request.GET, today=page.today, products=products),
        page.today,
    )
    html = ""
    if Subscription.objects.for_company(page.company.id).exists():
        html = render_recurring_revenue(data, get_sheet_style(page.request))
    return page.render(
        "analytics/recurring_revenue.html",
        tab=TAB,
        params=data.params,
        spans=data.params.spans(page.today),
        measures=MEASURE_LABELS,
        cohorts=COHORT_LABELS,
        comparisons=COMPARISON_LABELS,
        products=products,
        drawn=html,
    )


def render_recurring_revenue(data: RecurringRevenueData, style: SheetStyle) -> str:
    """Render figures, charts and cohorts; nothing depends on the user."""
    context: dict[str, Any] = {"company": data.company, "params": data.params, "query": data.params.address()}
    try:
        context |= {
            "figures": recurring_revenue_figures.build_summary_figures(data),
            "sections": [section(data) for section in recurring_revenue_figures.SECTION_BUILDERS.values()],
            "sheet": recurring_revenue_figures.build_cohort_sheet(data, style),
            "style": style,
        }
    except RateLookupError as error:
        context["missing"] = error.currency
    return render_to_string("analytics/recurring_revenue_charts.html", context)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def download_recurring_revenue_chart(page: CompanyPage, chart: str) -> HttpResponse:
    """Download the table of a chart as CSV."""
    params = recurring_revenue_params.parse_params(
        page.request.GET, today=page.today, products=list_product_names(page)
    )
    section = recurring_revenue_figures.SECTION_BUILDERS.get(chart)
    if section is None and chart != "cohorts":
        raise Http404
    data = RecurringRevenueData(page.company, params, page.today)
    try:
        if section is None:
            return build_sheet_csv_response(
                recurring_revenue_figures.build_cohort_sheet(data, get_sheet_style(page.request)), name="cohorts"
            )
        table = section(data).table
    except RateLookupError:
        raise Http404 from None  # the page shows the error and has no such link
    assert table is not None  # noqa: S101 - every section has one
    name = f"{chart}-{params.values['startMonth']}-{params.values['endMonth']}"
    return build_csv_response(table.list_csv_rows(), name=name)


def list_product_names(page: CompanyPage) -> dict[str, str]:
    """Return product id -> name; empty without the permission to read products."""
    if not page.has_permission(Permission.PRODUCTS_READ):
        return {}
    rows = Product.objects.for_company(page.company.id).in_display_order().values_list("id", "name")
    return {str(product_id): name for product_id, name in rows}


# ---------------------------------------------------------------------------------------------- customers


@dataclass(frozen=True, slots=True)
class CustomerQuery:
    """The parameters of the customer list; invalid values are replaced by the defaults."""

    text: str
    status: str
    sort: str
    orders: Mapping[str, str]

    @property
    def address(self) -> str:
        values = {"q": self.text, "status": self.status, "sort": self.sort}
        return urlencode({name: value for name, value in values.items() if value})


def parse_customer_query(page: CompanyPage) -> CustomerQuery:
    """Parse the parameters; users who may not read names cannot search or sort by them."""
    query, can_read_names = page.request.GET, page.has_permission(Permission.COUNTERPARTIES_READ)
    orders = ORDER_BY if can_read_names else ORDER_BY_WITHOUT_NAMES
    sort, status = query.get("sort", "-mrr"), query.get("status", "")
    return CustomerQuery(
        text=query.get("q", "").replace("\0", "").strip()[:200] if can_read_names else "",
        status=status if status in STATUS_CONDITIONS else "",
        sort=sort if sort in orders else "-mrr",
        orders=orders,
    )


def list_selected_customer_ids(page: CompanyPage, query: CustomerQuery) -> bytes:
    selection = CustomerSelection(text=query.text, status=query.status, order=query.orders[query.sort])
    return list_customer_ids(company=page.company, today=page.today, selection=selection, rates=get_rate_table())


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_customers(page: CompanyPage) -> HttpResponse:
    """List the customers with their recurring revenue."""
    query, can_read_names = parse_customer_query(page), page.has_permission(Permission.COUNTERPARTIES_READ)
    page_number = parse_page_number(page.request.GET.get("page", "1"))
    ids = list_selected_customer_ids(page, query)
    if page_number > 1 and len(ids) <= (page_number - 1) * PAGE_SIZE * ID_LENGTH:
        raise InvalidListPage
    lines, missing_currency = list[CustomerLine](), ""
    try:
        lines = list_customer_lines(
            company=page.company,
            ids=ids,
            start=(page_number - 1) * PAGE_SIZE,
            count=PAGE_SIZE,
            today=page.today,
            rates=get_rate_table(),
        )
    except RateLookupError as error:
        missing_currency = error.currency
    return page.render(
        "analytics/customers.html",
        tab=TAB,
        lines=lines,
        missing=missing_currency,
        named=can_read_names,
        not_shown=HIDDEN_NAME,
        query=query,
        statuses=CUSTOMER_STATUS_LABELS,
        sorts={name: label for name, label in SORT_LABELS.items() if name in query.orders},
        page=page_number,
        total=len(ids) // ID_LENGTH,
        more=len(ids) > page_number * PAGE_SIZE * ID_LENGTH,
        writes=page.has_permission(Permission.COUNTERPARTIES_WRITE) and can_read_names,
    )


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def download_customers(page: CompanyPage) -> HttpResponse:
    """Download the selected customers with their recurring revenue as CSV."""
    query, currency = parse_customer_query(page), page.company.base_currency
    can_read_names = page.has_permission(Permission.COUNTERPARTIES_READ)
    rows: list[Sequence[object]] = [
        [gettext("Customer"), gettext("Since"), gettext("Subscriptions"), f"MRR ({currency})"]
    ]
    ids = list_selected_customer_ids(page, query)
    try:
        for start in range(0, len(ids) // ID_LENGTH, CUSTOMERS_PER_READ):
            lines = list_customer_lines(
                company=page.company,
                ids=ids,
                start=start,
                count=CUSTOMERS_PER_READ,
                today=page.today,
                rates=get_rate_table(),
            )
            rows += [
                [
                    line.name if can_read_names else str(HIDDEN_NAME),
                    format_month(line.since) if line.since else "",
                    line.subscriptions,
                    Decimal(format_amount(line.mrr, currency)),
                ]
                for line in lines
            ]
    except RateLookupError:
        return page.redirect("customers")  # which shows the error
    return build_csv_response(rows, name="customers")


def parse_page_number(text: str) -> int:
    """Parse the page number.

    Raises:
        InvalidListPage: it is none.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= MAX_PAGE_NUMBER):
        raise InvalidListPage
    return int(text)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_customer(page: CompanyPage, customer_id: UUID) -> HttpResponse:
    """Show a customer's subscriptions, events and monthly revenue."""
    company, can_read_name = page.company, page.has_permission(Permission.COUNTERPARTIES_READ)
    rows = Counterparty.objects.for_company(company.id).filter(type=CounterpartyType.CUSTOMER)
    customer = get_object_or_404(rows, id=customer_id)
    params = recurring_revenue_params.parse_params(page.request.GET, today=page.today, products={})
    products = list_product_names(page)
    subscriptions_of_customer = Subscription.objects.for_company(company.id).filter(customer=customer)
    events = SubscriptionEvent.objects.for_company(company.id).filter(subscription__customer_id=customer_id)
    events_found, cursor = page.paginate(events, order=("-id",))
    context: dict[str, Any] = {}
    data = CustomerRevenueData(company, params, page.today, customer_id=customer_id)
    try:
        mrr = recurring_revenue_figures.get_measure("mrr")
        movement_section = replace(recurring_revenue_sections.build_movement_section(data, mrr), span=3)
        context["sections"] = [recurring_revenue_sections.build_level_section(data, mrr), movement_section]
        context["worth"], context["since"] = compute_mrr_by_customer(
            company, [customer_id], today=page.today, rates=get_rate_table()
        ).get(customer_id, (0, None))
    except RateLookupError as error:
        context["missing"] = error.currency
    subscriptions_with_status = subscriptions_of_customer.with_current_terms(company.id, page.today).order_by("-id")[
        :MAX_SUBSCRIPTIONS_SHOWN
    ]
    subscriptions = [
        add_subscription_labels(subscription, products)
        for subscription in SubscriptionSerializer(subscriptions_with_status, many=True).data
    ]
    product_by_subscription = {
        UUID(str(subscription["id"])): subscription["product"] or subscription["externalId"] or ""
        for subscription in subscriptions
    }
    return page.render(
        "analytics/customer.html",
        tab=TAB,
        customer=customer,
        called=customer.name if can_read_name else HIDDEN_NAME,
        named=can_read_name,
        params=params,
        spans=params.spans(page.today),
        subscriptions=subscriptions,
        texts=SUBSCRIPTION_TEXTS,
        several=len(subscriptions) > 1,
        events=[
            {
                "row": row,
                "every": format_billing_interval(event_data["interval"], event_data["intervalCount"]),
                "of": product_by_subscription.get(row.subscription_id, ""),
            }
            for row, event_data in zip(events_found, EventSerializer(events_found, many=True).data, strict=True)
        ],
        cursor=cursor,
        invoices=list_invoice_lines(page, customer_id),
        most_invoices=MAX_INVOICES_SHOWN,
        edits=can_read_name and page.has_permission(Permission.COUNTERPARTIES_WRITE),
        writes=page.has_permission(Permission.SUBSCRIPTIONS_WRITE),
        **context,
    )


def list_invoice_lines(page: CompanyPage, customer_id: UUID) -> list[tuple[PlannedTransaction, Decimal]]:
    """Return (invoice, amount) of a customer's latest invoices; none without the permission to read them."""
    if not page.has_permission(Permission.PLANNING_READ):
        return []
    invoices = list_customer_invoices(page.company).filter(counterparty=customer_id).order_by("-invoice_date", "-id")
    amounts = (
        (invoice, get_invoiced_amount(invoice)) for invoice in attach_overrides(list(invoices[:MAX_INVOICES_SHOWN]))
    )
    return [(invoice, amount) for invoice, amount in amounts if amount is not None]


def add_subscription_labels(row: dict[str, Any], products: dict[str, str]) -> dict[str, Any]:
    """Return a subscription of the API with texts for product, status and interval."""
    product = row.get("productId")
    return {
        **row,
        "product": products.get(product or "", HIDDEN_NAME if product else ""),
        "standing": STATUS_LABELS[row["status"]],
        "every": format_billing_interval(row["interval"], row["intervalCount"] or 1),
        "texts": [row[text.name] or "" for text in SUBSCRIPTION_TEXTS],
    }
