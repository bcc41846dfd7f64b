"""Pages of subscription events: list, change the price, end, and retract."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.models import Currency
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.calc.months import get_last_day_of_month
from ledger.models import Subscription, SubscriptionEvent
from ledger.subscriptions.actions import subscription_events
from ledger.subscriptions.pages.subscriptions import (
    PERIOD_LABELS,
    bind_price_form,
    format_billing_interval,
    get_product_name,
    get_subscription_or_404,
)
from ledger.subscriptions.serializers.subscription_events import to_event_values
from ledger.subscriptions.serializers.subscriptions import SubscriptionSerializer
from ledger.transactions.pages.labels import HIDDEN_NAME

EVENT_FILTERS = ("startMonth", "endMonth", "by")  # of the list of events


def parse_event_months(query: Mapping[str, str]) -> tuple[date, date] | None:
    """Return the first and the last month of the URL; None without valid ones."""
    try:
        first, last = (date.fromisoformat(f"{query.get(name, '')}-01") for name in ("startMonth", "endMonth"))
    except ValueError:
        return None
    return (first, last) if first <= last else None


def build_bridge_query(query: Mapping[str, str]) -> str:
    """Return the query of the recurring revenue page whose figures the URL's events are behind."""
    measure = {"mrrType": "cmrr"} if query.get("by") == "committed" else {}
    return urlencode({name: query[name] for name in EVENT_FILTERS[:2]} | measure)


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def show_subscription_events(page: CompanyPage) -> HttpResponse:
    """Show subscription events, the latest first, including retracted ones: all, or those behind a figure."""
    rows = SubscriptionEvent.objects.for_company(page.company.id).select_related(
        "subscription__customer", "subscription__product"
    )
    months = parse_event_months(page.request.GET)
    if months:
        by = "committed_date" if page.request.GET.get("by") == "committed" else "effective_date"
        rows = rows.filter(**{f"{by}__range": (months[0], get_last_day_of_month(months[1]))})
    page_rows, cursor = page.paginate(rows, order=("-effective_date", "-id"))
    return page.render(
        "ledger/subscriptions/events.html",
        tab="recurring-revenue",
        events=[{"row": row, "every": format_billing_interval(row.interval, row.interval_count)} for row in page_rows],
        cursor=cursor,
        months=months,
        query=urlencode(
            {name: page.request.GET[name] for name in EVENT_FILTERS if months and name in page.request.GET}
        ),
        bridge_query=build_bridge_query(page.request.GET) if months else "",
        names_customers=page.has_permission(Permission.COUNTERPARTIES_READ),
        names_products=page.has_permission(Permission.PRODUCTS_READ),
        not_shown=HIDDEN_NAME,
    )


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def add_subscription_event_page(page: CompanyPage, subscription_id: UUID) -> HttpResponse:
    """Set another price from a day on, or end the subscription."""
    subscription = get_subscription_or_404(page, subscription_id)
    is_end = "end" in page.request.GET
    if not page.is_post:
        return render_subscription_event_form(
            page, subscription, BoundForm(values=build_price_values(page, subscription)), is_end=is_end
        )
    form = bind_price_form(page.request.POST, is_end=is_end)
    if form.is_valid:
        with page.handle_errors(form):
            event = subscription_events.create_subscription_event(
                company=page.company,
                context=page.audit_context,
                values=to_event_values(form.data | {"subscription_id": subscription.id}),
            )
            ended = _("The subscription ends on {day}.").format(
                day=get_current_locale().format_day(event.effective_date)
            )
            message = ended if is_end else _("Price changed.")
            return page.redirect_with_message(message, "customer", customer_id=subscription.customer_id)
    return render_subscription_event_form(page, subscription, form, is_end=is_end)


@company_page(writes=Permission.SUBSCRIPTIONS_WRITE)
def retract_subscription_event_page(page: CompanyPage, event_id: UUID) -> HttpResponse:
    """Retract an event, so that it no longer counts."""
    rows = SubscriptionEvent.objects.for_company(page.company.id).select_related("subscription")
    event = get_object_or_404(rows, id=event_id)
    customer_id = event.subscription.customer_id
    with page.handle_errors():
        subscription_events.retract_subscription_event(
            company=page.company, context=page.audit_context, event_id=event_id
        )
        return page.redirect_with_message(_("Event retracted."), "customer", customer_id=customer_id)
    return page.redirect("customer", customer_id=customer_id)


def build_price_values(page: CompanyPage, subscription: Subscription) -> dict[str, str]:
    """Return the form values of today's price, effective today."""
    current_terms: dict[str, Any] = SubscriptionSerializer(subscription).data
    return {
        "amountValue": current_terms["currentAmountValue"] or "",
        "amountCurrency": current_terms["currentAmountCurrency"] or page.company.base_currency,
        "interval": current_terms["interval"] or "month",
        "intervalCount": str(current_terms["intervalCount"] or 1),
        "effectiveDate": page.today.isoformat(),
        "committedDate": "",
    }


def render_subscription_event_form(
    page: CompanyPage, subscription: Subscription, form: BoundForm, *, is_end: bool
) -> HttpResponse:
    """Render the form of a subscription event."""
    return page.render(
        "ledger/subscriptions/event_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        subscription=subscription,
        product=get_product_name(page, subscription),
        ends=is_end,
        currencies=Currency.values,
        periods=PERIOD_LABELS,
    )
