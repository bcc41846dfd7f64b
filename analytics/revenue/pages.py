"""Recurring revenue: what moved it and what became of customers, who they are, and one of them."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from analytics.overview import movements
from analytics.revenue import asking, drawing
from analytics.revenue.customers import MOST_PAGES, ORDERS, UNNAMED, Line, customers, worth_of
from analytics.revenue.facts import OneCustomer, Revenue
from companies.pages.kept import kept
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.models import Counterparty, CounterpartyType, Product, Subscription, SubscriptionEvent
from ledger.money.rates import rate_table, valued_at
from ledger.subscriptions.pages.subscriptions import every
from ledger.subscriptions.serializers import EventShape, SubscriptionShape
from ledger.transactions.pages.words import NOT_SHOWN

TAB = "recurring-revenue"
MOST_SHOWN = 200  # subscriptions of one customer
MEASURES = {"mrr": "MRR", "cmrr": _("Committed MRR"), "arr": "ARR", "carr": _("Committed ARR")}
COMPARISONS = {"previousPeriod": _("Period before"), "previousYear": _("Year before")}
COHORTS = {"revenue": _("Revenue"), "customers": _("Customers")}
SORTS = {
    "-mrr": _("Most MRR first"),
    "mrr": _("Least MRR first"),
    "name": _("By name"),
    "-name": _("By name, from the end"),
}
STANDING = {"scheduled": _("scheduled"), "active": _("active"), "ended": _("ended")}


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def overview(visit: Visit) -> HttpResponse:
    """Summary, bridge and cohorts of the months that the address asks for; where to begin while nobody subscribes."""
    products = product_names(visit)
    facts = Revenue(visit.company, asking.asked(visit.request.GET, today=visit.today, products=products), visit.today)
    drawn = ""
    if Subscription.objects.of(visit.company.id).exists():
        drawn = kept(
            company_id=visit.company.id,
            name="recurring-revenue",
            of=(facts.today, facts.asked.address(), *valued_at(), visit.company.last_updated_time.isoformat()),
            draw=lambda: draw(facts),
        )
    return visit.show(
        "revenue/overview.html",
        tab=TAB,
        asked=facts.asked,
        spans=facts.asked.spans(visit.today),
        measures=MEASURES,
        cohorts=COHORTS,
        comparisons=COMPARISONS,
        products=products,
        drawn=drawn,
    )


def draw(facts: Revenue) -> str:
    """Figures, charts and cohorts; of the viewer nothing goes in."""
    context: dict[str, Any] = {"company": facts.company, "asked": facts.asked, "query": facts.asked.address()}
    try:
        context |= {
            "figures": drawing.figures(facts),
            "sections": [section(facts) for section in drawing.SECTIONS.values()],
            "cohorts": drawing.cohort_table(facts),
        }
    except MissingRate as missing:
        context["missing"] = missing.currency
    return render_to_string("revenue/drawn.html", context)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def download(visit: Visit, chart: str) -> HttpResponse:
    """The numbers behind a chart as a file."""
    asked = asking.asked(visit.request.GET, today=visit.today, products=product_names(visit))
    section = drawing.SECTIONS.get(chart)
    if section is None:
        raise Http404
    try:
        table = section(Revenue(visit.company, asked, visit.today)).table
    except MissingRate:
        raise Http404 from None  # the page, which says why, offers no such file
    assert table is not None  # noqa: S101 - every section has one
    name = f"{chart}-{asked.values['startMonth']}-{asked.values['endMonth']}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(table.csv(), content_type="text/csv; charset=utf-8", headers=headers)


def product_names(visit: Visit) -> dict[str, str]:
    """Product id -> name, where the viewer may see them."""
    if not visit.may(Permission.PRODUCTS_READ):
        return {}
    rows = Product.objects.of(visit.company.id).in_order().values_list("id", "name")
    return {str(product_id): name for product_id, name in rows}


# ---------------------------------------------------------------------------------------------- customers


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def everyone(visit: Visit) -> HttpResponse:
    """The customers, with what they pay."""
    query, named = visit.request.GET, visit.may(Permission.COUNTERPARTIES_READ)
    orders = ORDERS if named else UNNAMED
    sort = query.get("sort", "-mrr")
    sort = sort if sort in orders else "-mrr"
    text = query.get("q", "").replace("\0", "").strip()[:200] if named else ""
    page = whole(query.get("page", "1"))
    lines, more, missing = list[Line](), False, ""
    try:
        lines, more = customers(
            company=visit.company, today=visit.today, text=text, order=orders[sort], page=page, rates=rate_table()
        )
    except MissingRate as found:
        missing = found.currency
    return visit.show(
        "revenue/customers.html",
        tab=TAB,
        lines=lines,
        missing=missing,
        named=named,
        not_shown=NOT_SHOWN,
        q=text,
        sort=sort,
        sorts={name: label for name, label in SORTS.items() if name in orders},
        page=page,
        more=more,
        writes=visit.may(Permission.COUNTERPARTIES_WRITE) and named,
    )


def whole(text: str) -> int:
    """The page's number. Raises Http404."""
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= MOST_PAGES):
        raise Http404
    return int(text)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def one(visit: Visit, customer_id: UUID) -> HttpResponse:
    """A customer's subscriptions and events, and what they paid month by month."""
    company, named = visit.company, visit.may(Permission.COUNTERPARTIES_READ)
    rows = Counterparty.objects.of(company.id).filter(type=CounterpartyType.CUSTOMER)
    customer = get_object_or_404(rows, id=customer_id)
    asked = asking.asked(visit.request.GET, today=visit.today, products={})
    products = product_names(visit)
    subscribed = Subscription.objects.of(company.id).filter(customer=customer)
    events = SubscriptionEvent.objects.of(company.id).filter(subscription__customer_id=customer_id)
    found, cursor = visit.page_of(events, order=("-id",))
    context: dict[str, Any] = {}
    facts = OneCustomer(company, asked, visit.today, customer_id=customer_id)
    try:
        mrr = drawing.measured("mrr")
        moved = replace(movements.movement_section(facts, mrr), span=3)
        context["sections"] = [movements.level_section(facts, mrr), moved]
        context["worth"], context["since"] = worth_of(
            company, [customer_id], today=visit.today, rates=rate_table()
        ).get(customer_id, (0, None))
    except MissingRate as missing:
        context["missing"] = missing.currency
    standing = subscribed.with_standing(company.id, visit.today).order_by("-id")[:MOST_SHOWN]
    subscriptions = [told(each, products) for each in SubscriptionShape(standing, many=True).data]
    called = {UUID(str(each["id"])): each["product"] or each["externalId"] or "" for each in subscriptions}
    return visit.show(
        "revenue/customer.html",
        tab=TAB,
        customer=customer,
        called=customer.name if named else NOT_SHOWN,
        named=named,
        asked=asked,
        spans=asked.spans(visit.today),
        subscriptions=subscriptions,
        several=len(subscriptions) > 1,
        events=[
            {
                "row": row,
                "every": every(each["interval"], each["intervalCount"]),
                "of": called.get(row.subscription_id, ""),
            }
            for row, each in zip(found, EventShape(found, many=True).data, strict=True)
        ],
        cursor=cursor,
        edits=named and visit.may(Permission.COUNTERPARTIES_WRITE),
        writes=visit.may(Permission.SUBSCRIPTIONS_WRITE),
        **context,
    )


def told(row: dict[str, Any], products: dict[str, str]) -> dict[str, Any]:
    """A subscription as it is answered, with words for its product, its status and how often it is paid."""
    product = row.get("productId")
    return {
        **row,
        "product": products.get(product or "", NOT_SHOWN if product else ""),
        "standing": STANDING[row["status"]],
        "every": every(row["interval"], row["intervalCount"] or 1),
    }
