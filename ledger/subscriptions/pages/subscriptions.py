"""Subscriptions: new, changed, at another price, ended and deleted; and events that were wrong."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.locales import current
from companies.models import Currency
from companies.pages.typed import Typed, of_body, read_amounts, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import BillingPeriod, Product, Subscription, SubscriptionEvent
from ledger.subscriptions import subscribing
from ledger.subscriptions.pages import customers
from ledger.subscriptions.serializers import EventFields, SubscriptionShape, event_values
from ledger.transactions.pages.words import NOT_SHOWN, Choices

OWN = ("productId", "externalId")
PRICE = ("amountValue", "amountCurrency", "interval", "intervalCount", "effectiveDate", "committedDate")
PERIODS = {
    BillingPeriod.DAY: gettext_lazy("days"),
    BillingPeriod.WEEK: gettext_lazy("weeks"),
    BillingPeriod.MONTH: gettext_lazy("months"),
    BillingPeriod.YEAR: gettext_lazy("years"),
}


@company_page(reads=Permission.SUBSCRIPTIONS_READ)
def events(visit: Visit) -> HttpResponse:
    """Everything that set a price, the latest first; retracted events too."""
    rows = SubscriptionEvent.objects.of(visit.company.id).select_related(
        "subscription__customer", "subscription__product"
    )
    found, cursor = visit.page_of(rows, order=("-id",))
    return visit.show(
        "revenue/events.html",
        tab="recurring-revenue",
        events=[{"row": row, "every": every(row.interval, row.interval_count)} for row in found],
        cursor=cursor,
        names_customers=visit.may(Permission.COUNTERPARTIES_READ),
        names_products=visit.may(Permission.PRODUCTS_READ),
        not_shown=NOT_SHOWN,
    )


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def new(visit: Visit, customer_id: UUID) -> HttpResponse:
    """A customer subscribes at a price."""
    customer = customers.found(visit, customer_id)
    if not visit.sent:
        usual = {"amountCurrency": visit.company.base_currency, "interval": "month", "intervalCount": "1"}
        blank = dict.fromkeys((*OWN, *PRICE), "") | usual | {"effectiveDate": visit.today.isoformat()}
        return subscription_form(visit, customer_id, Typed(values=blank))
    form, price = read(visit), read_price(visit.request.POST)
    form = Typed(values={**form.values, **price.values}, errors=form.errors | price.errors, data=form.data)
    if form.valid:
        with visit.sending(form):
            subscribing.subscribe(
                company=visit.company,
                stamp=visit.stamp,
                values=form.data | {"customer_id": customer.id},
                event=event_values(price.data | {"subscription_id": None}),
            )
            return visit.done(_("The subscription was added."), "customer", customer_id=customer_id)
    return subscription_form(visit, customer_id, form)


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def edit(visit: Visit, subscription_id: UUID) -> HttpResponse:
    """Another product or external id."""
    subscription = found(visit, subscription_id)
    if not visit.sent:
        values = {"productId": str(subscription.product_id or ""), "externalId": subscription.external_id or ""}
        return subscription_form(visit, subscription.customer_id, Typed(values=values), subscription=subscription)
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            subscribing.change_subscription(
                company=visit.company, stamp=visit.stamp, subscription_id=subscription_id, values=form.data
            )
            return visit.done(_("The subscription was saved."), "customer", customer_id=subscription.customer_id)
    return subscription_form(visit, subscription.customer_id, form, subscription=subscription)


@company_page(writes=Permission.SUBSCRIPTIONS_WRITE)
def delete(visit: Visit, subscription_id: UUID) -> HttpResponse:
    """Deletes a subscription of which no event counts."""
    subscription = found(visit, subscription_id)
    with visit.sending():
        subscribing.delete_subscription(company=visit.company, stamp=visit.stamp, subscription_id=subscription_id)
        return visit.done(_("The subscription was deleted."), "customer", customer_id=subscription.customer_id)
    return visit.to("customer", customer_id=subscription.customer_id)


@company_page(reads=Permission.SUBSCRIPTIONS_WRITE, writes=Permission.SUBSCRIPTIONS_WRITE)
def add_event(visit: Visit, subscription_id: UUID) -> HttpResponse:
    """From a day on it is worth another amount, or nothing: then it ends."""
    subscription = found(visit, subscription_id)
    ends = "end" in visit.request.GET
    if not visit.sent:
        return event_form(visit, subscription, Typed(values=price_of(visit, subscription)), ends=ends)
    form = read_price(visit.request.POST, ends=ends)
    if form.valid:
        with visit.sending(form):
            event = subscribing.add_event(
                company=visit.company,
                stamp=visit.stamp,
                values=event_values(form.data | {"subscription_id": subscription.id}),
            )
            ended = _("It ends on {day}.").format(day=current().day_of(event.effective_date))
            said = ended if ends else _("The price was changed.")
            return visit.done(said, "customer", customer_id=subscription.customer_id)
    return event_form(visit, subscription, form, ends=ends)


@company_page(writes=Permission.SUBSCRIPTIONS_WRITE)
def retract(visit: Visit, event_id: UUID) -> HttpResponse:
    """Nothing counts the event any more."""
    rows = SubscriptionEvent.objects.of(visit.company.id).select_related("subscription")
    event = get_object_or_404(rows, id=event_id)
    customer_id = event.subscription.customer_id
    with visit.sending():
        subscribing.retract_event(company=visit.company, stamp=visit.stamp, event_id=event_id)
        return visit.done(_("The event was retracted."), "customer", customer_id=customer_id)
    return visit.to("customer", customer_id=customer_id)


def read(visit: Visit) -> Typed:
    """What was typed of the subscription itself; a product that the visitor may not see stays."""
    texts = OWN if visit.may(Permission.PRODUCTS_READ) else OWN[1:]
    return typed(SubscriptionShape, visit.request.POST, texts=texts, partial=True)


def read_price(posted: Mapping[str, Any], *, ends: bool = False) -> Typed:
    """What was typed of the price."""
    texts = {name: posted.get(name, "").strip() for name in PRICE} | ({"amountValue": "0"} if ends else {})
    count = texts["intervalCount"]
    sent: dict[str, Any] = {name: text or None for name, text in texts.items()}
    sent["intervalCount"] = int(count) if count.isascii() and count.isdigit() and len(count) < 9 else count or None
    read, wrong = read_amounts(texts, ["amountValue"], currency=texts["amountCurrency"])
    sent["amountValue"] = read.get("amountValue", texts["amountValue"])
    form = of_body(EventFields, sent, values=texts)
    form.errors |= wrong
    return form


def price_of(visit: Visit, subscription: Subscription) -> dict[str, str]:
    """The price of today, from today on."""
    said: dict[str, Any] = SubscriptionShape(subscription).data
    return {
        "amountValue": said["currentAmountValue"] or "",
        "amountCurrency": said["currentAmountCurrency"] or visit.company.base_currency,
        "interval": said["interval"] or "month",
        "intervalCount": str(said["intervalCount"] or 1),
        "effectiveDate": visit.today.isoformat(),
        "committedDate": "",
    }


def every(interval: str | None, count: int) -> str:
    """How often it is paid: a month, every 3 months; nothing of what has no price."""
    if not interval:
        return ""
    texts = {
        "day": ngettext("a day", "every {count} days", count),
        "week": ngettext("a week", "every {count} weeks", count),
        "month": ngettext("a month", "every {count} months", count),
        "year": ngettext("a year", "every {count} years", count),
    }
    return texts[interval].format(count=count)


def subscription_form(
    visit: Visit, customer_id: UUID, form: Typed, *, subscription: Subscription | None = None
) -> HttpResponse:
    return visit.show(
        "revenue/subscription_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        customer_id=customer_id,
        subscription=subscription,
        seen=visit.seen(subscription) if subscription else "",
        products=products(visit),
        currencies=Currency.values,
        periods=PERIODS,
    )


def event_form(visit: Visit, subscription: Subscription, form: Typed, *, ends: bool) -> HttpResponse:
    return visit.show(
        "revenue/event_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        subscription=subscription,
        product=product_of(visit, subscription),
        ends=ends,
        currencies=Currency.values,
        periods=PERIODS,
    )


def products(visit: Visit) -> Choices | None:
    """The products to choose from; none where the visitor may not see them."""
    if not visit.may(Permission.PRODUCTS_READ):
        return None
    rows = Product.objects.of(visit.company.id).in_order().values_list("id", "name")
    return [(str(product_id), name) for product_id, name in rows]


def product_of(visit: Visit, subscription: Subscription) -> str:
    if subscription.product is None:
        return _("No product")
    return subscription.product.name if visit.may(Permission.PRODUCTS_READ) else NOT_SHOWN


def found(visit: Visit, subscription_id: UUID) -> Subscription:
    """The subscription of the address, with what it is worth today. Raises Http404."""
    rows = Subscription.objects.of(visit.company.id).select_related("product")
    return get_object_or_404(rows.with_standing(visit.company.id, visit.today), id=subscription_id)
