"""Customers: new, changed and deleted."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Counterparty, CounterpartyType
from ledger.purposes import counterparties
from ledger.purposes.serializers import CounterpartyShape

TEXTS = ("name", "externalId")


@company_page(reads=Permission.COUNTERPARTIES_WRITE, writes=Permission.COUNTERPARTIES_WRITE)
def new(visit: Visit) -> HttpResponse:
    """A counterparty of type customer."""
    if not visit.sent:
        return customer_form(visit, Typed(values=dict.fromkeys(TEXTS, "")))
    form = typed(CounterpartyShape, visit.request.POST, texts=TEXTS, partial=True)
    if form.valid:
        values = form.data | {"type": CounterpartyType.CUSTOMER.value}
        with visit.sending(form):
            customer = counterparties.add(company=visit.company, stamp=visit.stamp, values=values)
            return after(visit, _("{name} was added.").format(name=customer.name), customer.id)
    return customer_form(visit, form)


@company_page(reads=Permission.COUNTERPARTIES_WRITE, writes=Permission.COUNTERPARTIES_WRITE)
def edit(visit: Visit, customer_id: UUID) -> HttpResponse:
    customer = found(visit, customer_id)
    if not visit.sent:
        values = {"name": customer.name, "externalId": customer.external_id or ""}
        return customer_form(visit, Typed(values=values), customer=customer)
    form = typed(CounterpartyShape, visit.request.POST, texts=TEXTS, partial=True)
    if form.valid:
        with visit.sending(form):
            customer = counterparties.change(
                company=visit.company, stamp=visit.stamp, counterparty_id=customer_id, values=form.data
            )
            return after(visit, _("{name} was saved.").format(name=customer.name), customer_id)
    return customer_form(visit, form, customer=customer)


@company_page(writes=Permission.COUNTERPARTIES_WRITE)
def delete(visit: Visit, customer_id: UUID) -> HttpResponse:
    """Deletes a customer whom nothing refers to."""
    customer = found(visit, customer_id)
    with visit.sending():
        counterparties.delete(company=visit.company, stamp=visit.stamp, counterparty_id=customer_id)
        said = _("{name} was deleted.").format(name=customer.name)
        return visit.done(said, "customers" if visit.may(Permission.SUBSCRIPTIONS_READ) else "company")
    return visit.to("customer", customer_id=customer_id)


def customer_form(visit: Visit, form: Typed, *, customer: Counterparty | None = None) -> HttpResponse:
    return visit.show(
        "revenue/customer_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        customer=customer,
        seen=visit.seen(customer) if customer else "",
        shown=visit.may(Permission.SUBSCRIPTIONS_READ),
    )


def after(visit: Visit, said: str, customer_id: UUID) -> HttpResponse:
    """The customer's page, for those who may see it."""
    if visit.may(Permission.SUBSCRIPTIONS_READ):
        return visit.done(said, "customer", customer_id=customer_id)
    return visit.done(said, "company")


def found(visit: Visit, customer_id: UUID) -> Counterparty:
    """The customer of the address. Raises Http404."""
    rows = Counterparty.objects.of(visit.company.id).filter(type=CounterpartyType.CUSTOMER)
    return get_object_or_404(rows, id=customer_id)
