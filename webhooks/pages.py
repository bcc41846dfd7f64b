"""Settings → Webhooks: where events are sent to, and what became of that."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.pages.typed import Typed, of_body
from companies.pages.visits import Visit, company_page, prove_again
from companies.permissions import Permission
from webhooks import endpoints
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.serializers import WebhookEndpointShape

MANAGE = Permission.COMPANY_MANAGE


def read(visit: Visit) -> Typed:
    """The form as the body that the API takes: types stand in one line, and none stand for all."""
    sent = visit.request.POST
    values: dict[str, Any] = {name: sent.get(name, "").strip() for name in ("url", "types", "description")}
    types = values["types"].replace(",", " ").split()
    return of_body(WebhookEndpointShape, values | {"types": types or None}, values=values, fields={"types": "types"})


@company_page(reads=MANAGE)
def everything(visit: Visit) -> HttpResponse:
    rows = WebhookEndpoint.objects.of(visit.company.id).in_order()
    return visit.show("webhooks/all.html", section="webhooks", rows=rows, most=endpoints.MOST)


@company_page(reads=MANAGE, writes=MANAGE)
def new(visit: Visit) -> HttpResponse:
    """Adds an endpoint and shows its secret this once."""
    form = read(visit) if visit.sent else Typed(values={"url": "", "types": "", "description": ""})
    asks = _("Send events to {address}.")
    if asking := prove_again(
        visit.request, then=visit.request.path, asks=lambda: asks.format(address=form.values["url"])
    ):
        return asking
    if visit.sent and form.valid:
        with visit.sending(form):
            return show_once(visit, endpoints.add(company=visit.company, stamp=visit.stamp, values=form.data))
    return visit.show("webhooks/new.html", status=400 if form.errors else 200, section="webhooks", form=form)


def show_once(visit: Visit, shown: endpoints.Shown, *, rolled: bool = False) -> HttpResponse:
    """The secret, on a page that nobody keeps."""
    response = visit.show("webhooks/secret.html", section="webhooks", shown=shown, rolled=rolled)
    response["Cache-Control"] = "no-store"
    return response


@company_page(reads=MANAGE, writes=MANAGE)
def endpoint(visit: Visit, endpoint_id: UUID) -> HttpResponse:
    """One endpoint with its last deliveries; the form changes it, the button beside enables or disables it."""
    row = found(visit, endpoint_id)
    form = Typed(values={"url": row.url, "types": " ".join(row.types or ()), "description": row.description})
    if visit.sent:
        switches = "enabled" in visit.request.POST
        values = {"enabled": visit.request.POST["enabled"] == "true"} if switches else {}
        form = form if switches else read(visit)
        if asking := ask_for_login(visit, row):
            return asking
        if form.valid:
            with visit.sending(form):
                endpoints.change_endpoint(
                    company=visit.company, stamp=visit.stamp, endpoint_id=endpoint_id, values=values or form.data
                )
                return visit.done(_("Saved."), "webhook", endpoint_id=endpoint_id)
    deliveries = WebhookDelivery.objects.of(visit.company.id).filter(endpoint=row)
    rows, cursor = visit.page_of(deliveries, order=("-id",))
    status = 400 if form.errors else 200
    return visit.show(
        "webhooks/endpoint.html", status=status, section="webhooks", row=row, form=form, deliveries=rows,
        cursor=cursor, seen=visit.seen(row),
    )  # fmt: skip


def ask_for_login(visit: Visit, row: WebhookEndpoint) -> HttpResponse | None:
    """Return the sign-in page where the last sign-in is too old to change where events go."""
    then = reverse("webhook", kwargs={"company_id": visit.company.id, "endpoint_id": row.id})
    return prove_again(
        visit.request, then=then, asks=lambda: _("Change the webhook {address}.").format(address=row.url)
    )


def found(visit: Visit, endpoint_id: UUID) -> WebhookEndpoint:
    row = WebhookEndpoint.objects.of(visit.company.id).filter(id=endpoint_id).first()
    if row is None:
        raise Http404
    return row


@company_page(writes=MANAGE)
def roll(visit: Visit, endpoint_id: UUID) -> HttpResponse:
    """Another secret, shown this once."""
    if asking := ask_for_login(visit, found(visit, endpoint_id)):
        return asking
    with visit.sending():
        shown = endpoints.roll_secret(company=visit.company, stamp=visit.stamp, endpoint_id=endpoint_id)
        return show_once(visit, shown, rolled=True)
    return visit.to("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def test(visit: Visit, endpoint_id: UUID) -> HttpResponse:
    with visit.sending():
        endpoints.test(company=visit.company, stamp=visit.stamp, endpoint_id=endpoint_id)
        return visit.done(_("A test is on its way: look below in a moment."), "webhook", endpoint_id=endpoint_id)
    return visit.to("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def redeliver(visit: Visit, endpoint_id: UUID, delivery_id: UUID) -> HttpResponse:
    with visit.sending():
        endpoints.redeliver(company=visit.company, stamp=visit.stamp, endpoint_id=endpoint_id, delivery_id=delivery_id)
        return visit.done(_("The event is sent again."), "webhook", endpoint_id=endpoint_id)
    return visit.to("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def delete(visit: Visit, endpoint_id: UUID) -> HttpResponse:
    if asking := ask_for_login(visit, found(visit, endpoint_id)):
        return asking
    with visit.sending():
        row = endpoints.delete(company=visit.company, stamp=visit.stamp, endpoint_id=endpoint_id)
        return visit.done(_("{address} is sent nothing any more.").format(address=row.url), "webhooks")
    return visit.to("webhooks")
