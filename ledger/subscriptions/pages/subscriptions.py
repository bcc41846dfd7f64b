"""Pages of subscriptions: create, edit and delete."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.models import Currency
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, bind_form, parse_form_amounts
from companies.permissions import Permission
from ledger.models import BillingPeriod, Product, Subscription
from ledger.subscriptions.actions import subscriptions
from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS
from ledger.subscriptions.pages import customers
from ledger.subscriptions.serializers.subscription_events import EventFields, to_event_values
from ledger.subscriptions.serializers.subscriptions import SubscriptionSerializer
from ledger.transactions.pages.labels import HIDDEN_NAME, Choices

SUBSCRIPTION_FIELDS = ("productId", *(text.name for text in SUBSCRIPTION_TEXTS))
PRICE_FIELDS = ("amountValue", "amountCurrency", "interval", "intervalCount", "effectiveDate", "committedDate")
PERIOD_LABELS = {
    BillingPeriod.DAY: gettext_lazy("days"),
    BillingPeriod.WEEK: gettext_lazy("weeks"),
    BillingPeriod.MONTH: gettext_lazy("months"),
    BillingPeriod.YEAR: gettext_lazy("years"),
}


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def create_subscription_page(page: CompanyPage, customer_id: UUID) -> HttpResponse:
    """Create a subscription of a customer with its first price."""
    customer = customers.get_customer_or_404(page, customer_id)
    if not page.is_post:
        defaults = {"amountCurrency": page.company.base_currency, "interval": "month", "intervalCount": "1"}
        empty_values = (
            dict.fromkeys((*SUBSCRIPTION_FIELDS, *PRICE_FIELDS), "")
            | defaults
            | {"effectiveDate": page.today.isoformat()}
        )
        return render_subscription_form(page, customer_id, BoundForm(values=empty_values))
    form, price = bind_subscription_form(page), bind_price_form(page.request.POST)
    form = BoundForm(values={**form.values, **price.values}, errors=form.errors | price.errors, data=form.data)
    if form.is_valid:
        with page.handle_errors(form):
            subscriptions.create_subscription_with_event(
                company=page.company,
                context=page.audit_context,
                values=form.data | {"customer_id": customer.id},
                event=to_event_values(price.data | {"subscription_id": None}),
            )
            return page.redirect_with_message(_("Subscription added."), "customer", customer_id=customer_id)
    return render_subscription_form(page, customer_id, form)


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def edit_subscription_page(page: CompanyPage, subscription_id: UUID) -> HttpResponse:
    """Change the product and texts of a subscription."""
    subscription = get_subscription_or_404(page, subscription_id)
    if not page.is_post:
        form = BoundForm(values=SubscriptionSerializer(subscription).data)
        return render_subscription_form(page, subscription.customer_id, form, subscription=subscription)
    form = bind_subscription_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            subscriptions.update_subscription(
                company=page.company, context=page.audit_context, subscription_id=subscription_id, values=form.data
            )
            return page.redirect_with_message(
                _("Subscription saved."), "customer", customer_id=subscription.customer_id
            )
    return render_subscription_form(page, subscription.customer_id, form, subscription=subscription)


@company_page(writes=Permission.SUBSCRIPTIONS_WRITE)
def delete_subscription_page(page: CompanyPage, subscription_id: UUID) -> HttpResponse:
    """Delete a subscription without live events."""
    subscription = get_subscription_or_404(page, subscription_id)
    with page.handle_errors():
        subscriptions.delete_subscription(
            company=page.company, context=page.audit_context, subscription_id=subscription_id
        )
        return page.redirect_with_message(_("Subscription deleted."), "customer", customer_id=subscription.customer_id)
    return page.redirect("customer", customer_id=subscription.customer_id)


def bind_subscription_form(page: CompanyPage) -> BoundForm:
    """Bind the posted form of a subscription; a product that the user may not see stays."""
    texts = SUBSCRIPTION_FIELDS if page.has_permission(Permission.PRODUCTS_READ) else SUBSCRIPTION_FIELDS[1:]
    return bind_form(SubscriptionSerializer, page.request.POST, texts=texts, partial=True)


def bind_price_form(post_data: Mapping[str, Any], *, is_end: bool = False) -> BoundForm:
    """Bind the posted form of a price; `is_end` sets the amount to 0."""
    texts = {name: post_data.get(name, "").strip() for name in PRICE_FIELDS} | ({"amountValue": "0"} if is_end else {})
    count = texts["intervalCount"]
    body: dict[str, Any] = {name: text or None for name, text in texts.items()}
    body["intervalCount"] = int(count) if count.isascii() and count.isdigit() and len(count) < 9 else count or None
    amounts, amount_errors = parse_form_amounts(texts, ["amountValue"], currency=texts["amountCurrency"])
    body["amountValue"] = amounts.get("amountValue", texts["amountValue"])
    form = bind_body(EventFields, body, values=texts)
    form.errors |= amount_errors
    return form


def format_billing_interval(interval: str | None, count: int) -> str:
    """Return the billing interval as text: “a month”, “every 3 months”; empty without a price."""
    if not interval:
        return ""
    texts = {
        "day": ngettext("per day", "every {count} days", count),
        "week": ngettext("per week", "every {count} weeks", count),
        "month": ngettext("per month", "every {count} months", count),
        "year": ngettext("per year", "every {count} years", count),
    }
    return texts[interval].format(count=count)


def render_subscription_form(
    page: CompanyPage, customer_id: UUID, form: BoundForm, *, subscription: Subscription | None = None
) -> HttpResponse:
    """Render the form of a subscription."""
    return page.render(
        "ledger/subscriptions/subscription_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        customer_id=customer_id,
        subscription=subscription,
        seen=page.get_seen_version(subscription) if subscription else "",
        texts=SUBSCRIPTION_TEXTS,
        products=list_product_choices(page),
        currencies=Currency.values,
        periods=PERIOD_LABELS,
    )


def list_product_choices(page: CompanyPage) -> Choices | None:
    """Return the products to choose from; None if the user may not see them."""
    if not page.has_permission(Permission.PRODUCTS_READ):
        return None
    rows = Product.objects.for_company(page.company.id).in_display_order().values_list("id", "name")
    return [(str(product_id), name) for product_id, name in rows]


def get_product_name(page: CompanyPage, subscription: Subscription) -> str:
    """Return the product's name as far as the user may see it."""
    if subscription.product is None:
        return _("No product")
    return subscription.product.name if page.has_permission(Permission.PRODUCTS_READ) else HIDDEN_NAME


def get_subscription_or_404(page: CompanyPage, subscription_id: UUID) -> Subscription:
    """Return the subscription of the URL with today's terms. Raises Http404."""
    rows = Subscription.objects.for_company(page.company.id).select_related("product")
    return get_object_or_404(rows.with_current_terms(page.company.id, page.today), id=subscription_id)
