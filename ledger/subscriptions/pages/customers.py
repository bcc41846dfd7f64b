"""Pages of customers: create, edit and delete."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from ledger.categorization.actions import counterparties
from ledger.categorization.serializers.categories import CounterpartySerializer
from ledger.models import Counterparty, CounterpartyType

TEXT_FIELDS = ("name", "externalId")


@company_page(reads=Permission.COUNTERPARTIES_WRITE, writes=Permission.COUNTERPARTIES_WRITE)
def create_customer_page(page: CompanyPage) -> HttpResponse:
    """Create a counterparty of type customer."""
    if not page.is_post:
        return render_customer_form(page, BoundForm(values=dict.fromkeys(TEXT_FIELDS, "")))
    form = bind_form(CounterpartySerializer, page.request.POST, texts=TEXT_FIELDS, partial=True)
    if form.is_valid:
        values = form.data | {"type": CounterpartyType.CUSTOMER.value}
        with page.handle_errors(form):
            customer = counterparties.create_counterparty(
                company=page.company, context=page.audit_context, values=values
            )
            return redirect_after_customer_change(page, _("{name} added.").format(name=customer.name), customer.id)
    return render_customer_form(page, form)


@company_page(reads=Permission.COUNTERPARTIES_WRITE, writes=Permission.COUNTERPARTIES_WRITE)
def edit_customer_page(page: CompanyPage, customer_id: UUID) -> HttpResponse:
    """Edit a customer."""
    customer = get_customer_or_404(page, customer_id)
    if not page.is_post:
        values = {"name": customer.name, "externalId": customer.external_id or ""}
        return render_customer_form(page, BoundForm(values=values), customer=customer)
    form = bind_form(CounterpartySerializer, page.request.POST, texts=TEXT_FIELDS, partial=True)
    if form.is_valid:
        with page.handle_errors(form):
            customer = counterparties.update_counterparty(
                company=page.company, context=page.audit_context, counterparty_id=customer_id, values=form.data
            )
            return redirect_after_customer_change(page, _("{name} saved.").format(name=customer.name), customer_id)
    return render_customer_form(page, form, customer=customer)


@company_page(writes=Permission.COUNTERPARTIES_WRITE)
def delete_customer_page(page: CompanyPage, customer_id: UUID) -> HttpResponse:
    """Delete a customer that nothing refers to."""
    customer = get_customer_or_404(page, customer_id)
    with page.handle_errors():
        counterparties.delete_counterparty(
            company=page.company, context=page.audit_context, counterparty_id=customer_id
        )
        message = _("{name} deleted.").format(name=customer.name)
        return page.redirect_with_message(
            message, "customers" if page.has_permission(Permission.SUBSCRIPTIONS_READ) else "company"
        )
    return page.redirect("customer", customer_id=customer_id)


def render_customer_form(page: CompanyPage, form: BoundForm, *, customer: Counterparty | None = None) -> HttpResponse:
    """Render the form of a customer."""
    return page.render(
        "ledger/subscriptions/customer_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        customer=customer,
        seen=page.get_seen_version(customer) if customer else "",
        shown=page.has_permission(Permission.SUBSCRIPTIONS_READ),
    )


def redirect_after_customer_change(page: CompanyPage, message: str, customer_id: UUID) -> HttpResponse:
    """Redirect to the customer's page, or to the company if the user may not see subscriptions."""
    if page.has_permission(Permission.SUBSCRIPTIONS_READ):
        return page.redirect_with_message(message, "customer", customer_id=customer_id)
    return page.redirect_with_message(message, "company")


def get_customer_or_404(page: CompanyPage, customer_id: UUID) -> Counterparty:
    """Return the customer of the URL. Raises Http404."""
    rows = Counterparty.objects.for_company(page.company.id).filter(type=CounterpartyType.CUSTOMER)
    return get_object_or_404(rows, id=customer_id)
