"""Settings → Webhooks: endpoints and their deliveries."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page, redirect_unless_recent_login
from companies.pages.forms import BoundForm, bind_body
from companies.permissions import Permission
from webhooks import actions
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.serializers import WebhookEndpointSerializer

MANAGE = Permission.COMPANY_MANAGE


def parse_endpoint_form(page: CompanyPage) -> BoundForm:
    """Parse the posted form as the API's body: types are in one line, none means all."""
    posted = page.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in ("url", "types", "description")}
    types = values["types"].replace(",", " ").split()
    return bind_body(
        WebhookEndpointSerializer, values | {"types": types or None}, values=values, fields={"types": "types"}
    )


@company_page(reads=MANAGE)
def show_webhook_endpoints(page: CompanyPage) -> HttpResponse:
    rows = WebhookEndpoint.objects.for_company(page.company.id).in_display_order()
    return page.render("webhooks/endpoints.html", section="webhooks", rows=rows, most=actions.MAX_ENDPOINTS)


@company_page(reads=MANAGE, writes=MANAGE)
def create_webhook_endpoint_page(page: CompanyPage) -> HttpResponse:
    """Create an endpoint and show its secret once."""
    form = parse_endpoint_form(page) if page.is_post else BoundForm(values={"url": "", "types": "", "description": ""})
    question = _("Send events to {address}.")
    if sign_in_page := redirect_unless_recent_login(
        page.request, next_path=page.request.path, get_action_label=lambda: question.format(address=form.values["url"])
    ):
        return sign_in_page
    if page.is_post and form.is_valid:
        with page.handle_errors(form):
            return render_endpoint_secret(
                page,
                actions.create_webhook_endpoint(company=page.company, context=page.audit_context, values=form.data),
            )
    return page.render("webhooks/endpoint_form.html", status=400 if form.errors else 200, section="webhooks", form=form)


def render_endpoint_secret(
    page: CompanyPage, endpoint_with_secret: actions.EndpointWithSecret, *, rolled: bool = False
) -> HttpResponse:
    """Render the secret on an uncached page."""
    response = page.render("webhooks/secret.html", section="webhooks", shown=endpoint_with_secret, rolled=rolled)
    response["Cache-Control"] = "no-store"
    return response


@company_page(reads=MANAGE, writes=MANAGE)
def show_webhook_endpoint(page: CompanyPage, endpoint_id: UUID) -> HttpResponse:
    """Show an endpoint with its deliveries; the form updates it, the button enables or disables it."""
    row = get_webhook_endpoint_or_404(page, endpoint_id)
    form = BoundForm(values={"url": row.url, "types": " ".join(row.types or ()), "description": row.description})
    if page.is_post:
        is_switch = "enabled" in page.request.POST
        values = {"enabled": page.request.POST["enabled"] == "true"} if is_switch else {}
        form = form if is_switch else parse_endpoint_form(page)
        if sign_in_page := require_login_for_endpoint(page, row):
            return sign_in_page
        if form.is_valid:
            with page.handle_errors(form):
                actions.update_webhook_endpoint(
                    company=page.company,
                    context=page.audit_context,
                    endpoint_id=endpoint_id,
                    values=values or form.data,
                )
                return page.redirect_with_message(_("Saved."), "webhook", endpoint_id=endpoint_id)
    deliveries = WebhookDelivery.objects.for_company(page.company.id).filter(endpoint=row)
    rows, cursor = page.paginate(deliveries, order=("-id",))
    status = 400 if form.errors else 200
    return page.render(
        "webhooks/endpoint.html", status=status, section="webhooks", row=row, form=form, deliveries=rows,
        cursor=cursor, seen=page.get_seen_version(row),
    )  # fmt: skip


def require_login_for_endpoint(page: CompanyPage, row: WebhookEndpoint) -> HttpResponse | None:
    """Return the sign-in page if the last sign-in is too old to change where events go, else None."""
    then = reverse("webhook", kwargs={"company_id": page.company.id, "endpoint_id": row.id})
    return redirect_unless_recent_login(
        page.request,
        next_path=then,
        get_action_label=lambda: _("Edit webhook {address}.").format(address=row.url),
    )


def get_webhook_endpoint_or_404(page: CompanyPage, endpoint_id: UUID) -> WebhookEndpoint:
    row = WebhookEndpoint.objects.for_company(page.company.id).filter(id=endpoint_id).first()
    if row is None:
        raise Http404
    return row


@company_page(writes=MANAGE)
def roll_webhook_secret_page(page: CompanyPage, endpoint_id: UUID) -> HttpResponse:
    """Replace the secret and show it once."""
    if sign_in_page := require_login_for_endpoint(page, get_webhook_endpoint_or_404(page, endpoint_id)):
        return sign_in_page
    with page.handle_errors():
        endpoint_with_secret = actions.roll_webhook_secret(
            company=page.company, context=page.audit_context, endpoint_id=endpoint_id
        )
        return render_endpoint_secret(page, endpoint_with_secret, rolled=True)
    return page.redirect("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def request_test_delivery_page(page: CompanyPage, endpoint_id: UUID) -> HttpResponse:
    with page.handle_errors():
        actions.request_test_delivery(company=page.company, context=page.audit_context, endpoint_id=endpoint_id)
        return page.redirect_with_message(
            _("Test event sent. The response appears below shortly."), "webhook", endpoint_id=endpoint_id
        )
    return page.redirect("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def request_redelivery_page(page: CompanyPage, endpoint_id: UUID, delivery_id: UUID) -> HttpResponse:
    with page.handle_errors():
        actions.request_redelivery(
            company=page.company, context=page.audit_context, endpoint_id=endpoint_id, delivery_id=delivery_id
        )
        return page.redirect_with_message(_("Event resent."), "webhook", endpoint_id=endpoint_id)
    return page.redirect("webhook", endpoint_id=endpoint_id)


@company_page(writes=MANAGE)
def delete_webhook_endpoint_page(page: CompanyPage, endpoint_id: UUID) -> HttpResponse:
    if sign_in_page := require_login_for_endpoint(page, get_webhook_endpoint_or_404(page, endpoint_id)):
        return sign_in_page
    with page.handle_errors():
        row = actions.delete_webhook_endpoint(company=page.company, context=page.audit_context, endpoint_id=endpoint_id)
        return page.redirect_with_message(_("Webhook {address} deleted.").format(address=row.url), "webhooks")
    return page.redirect("webhooks")
