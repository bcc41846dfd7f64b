"""The page of what was billed to customers against what came in from them, by month."""

from collections.abc import Iterable, Sequence
from datetime import date
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.queries.billed_and_received import (
    BilledAndReceived,
    BilledCustomer,
    BilledMonth,
    compare_billed_and_received,
)
from analytics.recurring_revenue_params import SPAN_MONTHS, parse_choice
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage, company_page
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, build_sheet_csv_response, get_sheet_style
from companies.permissions import Permission
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month, list_months
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import HIDDEN_NAME

MAX_CUSTOMERS = 40  # rows of the page; the file has all
READS_ALSO = (Permission.TRANSACTIONS_READ, Permission.PLANNING_READ)


@company_page(reads=Permission.SUBSCRIPTIONS_READ, reads_also=READS_ALSO)
def show_billed_and_received(page: CompanyPage) -> HttpResponse:
    """Show the customers of the last months, those with the largest shortfall first."""
    messages: list[str] = []
    months = list_chosen_months(page, messages)
    figures, missing_currency = None, ""
    try:
        figures = compare_chosen_months(page, months)
    except RateLookupError as error:
        missing_currency = error.currency
    return page.render(
        "analytics/billed_and_received.html",
        tab="recurring-revenue",
        first=months[0],
        spans=[(count, f"months={count}", count == len(months)) for count in SPAN_MONTHS],
        query=f"months={len(months)}",
        complaints=messages,
        missing=missing_currency,
        sheet=build_sheet(page, figures, max_customers=MAX_CUSTOMERS) if figures else None,
        style=get_sheet_style(page.request),
    )


@company_page(reads=Permission.SUBSCRIPTIONS_READ, reads_also=READS_ALSO)
def download_billed_and_received(page: CompanyPage) -> HttpResponse:
    """Download all customers of the last months as CSV."""
    try:
        figures = compare_chosen_months(page, list_chosen_months(page, []))
    except RateLookupError:
        return page.redirect("billed-and-received")  # which shows the error
    return build_sheet_csv_response(build_sheet(page, figures), name="billed-and-received")


def list_chosen_months(page: CompanyPage, messages: list[str]) -> list[date]:
    """Return the first days of the months of the query, up to the current one; invalid values add a message."""
    choices = [str(count) for count in SPAN_MONTHS]
    count = int(parse_choice(page.request.GET, "months", choices, messages) or SPAN_MONTHS[0])
    current_month = get_first_day_of_month(page.today)
    return list_months(add_months(current_month, 1 - count), current_month)


def compare_chosen_months(page: CompanyPage, months: Sequence[date]) -> BilledAndReceived:
    """Compare billed and received amounts of the months.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    return compare_billed_and_received(company=page.company, months=months, today=page.today, rates=get_rate_table())


def build_sheet(page: CompanyPage, figures: BilledAndReceived, *, max_customers: int | None = None) -> Sheet:
    """Build the sheet: a row for each customer, one for those beyond `max_customers`, and their sum."""
    listed_customers, other_customers = (
        figures.customers[:max_customers],
        figures.customers[len(figures.customers[:max_customers]) :],
    )
    rows = [build_customer_row(page, customer, figures.months) for customer in listed_customers]
    if other_customers:
        name = ngettext("{count} more customer", "{count} more customers", len(other_customers)).format(
            count=len(other_customers)
        )
        rows.append(SheetRow(name, build_cells(sum_months(customer.months for customer in other_customers))))
    if any(month.received for month in figures.other_months):
        rows.append(SheetRow(_("Customers without subscription or invoice"), build_cells(figures.other_months)))
    if rows:
        months = sum_months([*(customer.months for customer in figures.customers), figures.other_months])
        rows.append(SheetRow(_("Total"), build_cells(months), "sum"))
    current_month, parts = get_first_day_of_month(page.today), (_("Billed"), _("Received"), _("Difference"))
    return Sheet(
        title=_("Billed and received"),
        first=_("Customer"),
        currency=page.company.base_currency,
        columns=[
            *(
                SheetColumn(
                    get_current_locale().format_month(month),
                    notes=[_("in progress")] if month == current_month else [],
                    parts=parts,
                    kind="current" if month == current_month else "",
                )
                for month in figures.months
            ),
            SheetColumn(_("Total"), parts=parts, kind="total"),
        ],
        rows=rows,
        style=get_sheet_style(page.request),
    )


def sum_months(rows: Iterable[Sequence[BilledMonth]]) -> list[BilledMonth]:
    """Return the sums of each month's figures."""
    return [sum(months, start=BilledMonth()) for months in zip(*rows, strict=True)]


def build_cells(months: Sequence[BilledMonth]) -> list[SheetCell]:
    """Return the cells of each month and of their total, without links."""
    total = sum(months, start=BilledMonth())
    return [
        SheetCell(amount) for month in (*months, total) for amount in (month.billed, month.received, month.difference)
    ]


def build_customer_row(page: CompanyPage, customer: BilledCustomer, months: Sequence[date]) -> SheetRow:
    """Build the row of a customer: amounts link to what they add up."""
    cells = []
    for month, figures in zip(months, customer.months, strict=True):
        end = get_last_day_of_month(month)
        billed_url = build_billed_url(page, customer, figures)
        cells += build_linked_cells(page, customer, figures, billed_url=billed_url, start=month, end=end)
    customer_url, end = reverse("customer", args=[page.company.id, customer.id]), get_last_day_of_month(months[-1])
    cells += build_linked_cells(page, customer, customer.total, billed_url=customer_url, start=months[0], end=end)
    sees_names = page.has_permission(Permission.COUNTERPARTIES_READ)
    return SheetRow(customer.name if sees_names else str(HIDDEN_NAME), cells)


def build_billed_url(page: CompanyPage, customer: BilledCustomer, figures: BilledMonth) -> str:
    """Return the URL of what was billed in a month: the invoice, else the customer's invoices or events."""
    if len(figures.invoice_ids) == 1:
        return reverse("planned-one", args=[page.company.id, figures.invoice_ids[0]])
    fragment = "invoices-title" if figures.invoice_ids else "events-title"
    return f"{reverse('customer', args=[page.company.id, customer.id])}#{fragment}"


def build_linked_cells(
    page: CompanyPage, customer: BilledCustomer, figures: BilledMonth, *, billed_url: str, start: date, end: date
) -> list[SheetCell]:
    """Return the cells of a customer in a period; received amounts link to their transactions."""
    received_query = {
        "counterpartyId": customer.id,
        "startDate": start.isoformat(),
        "endDate": min(end, page.today).isoformat(),
        "cash": "true",
        "pending": "false",
        "total": "true",
    }
    received_url = f"{reverse('transactions', args=[page.company.id])}?{urlencode(received_query)}"
    return [
        SheetCell(figures.billed, link=billed_url if figures.billed else ""),
        SheetCell(figures.received, link=received_url if figures.received else ""),
        SheetCell(figures.difference, tone="bad" if figures.difference < 0 else ""),
    ]
