"""Pages of customers: create, edit and delete."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy

from companies.pages.context import CompanyPage
from companies.pages.forms import BoundForm
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.categorization.actions import counterparties
from ledger.categorization.fields import COUNTERPARTY_TEXTS
from ledger.categorization.serializers.categories import CounterpartySerializer
from ledger.models import Counterparty, CounterpartyType


class CustomerPages(RowPages[Counterparty]):
    """The pages of a counterparty of type customer, which return to where the user may see customers."""

    model, permission = Counterparty, Permission.COUNTERPARTIES_WRITE
    place, list_url = {"tab": "recurring-revenue"}, "customers"
    create_action, update_action = counterparties.create_counterparty, counterparties.update_counterparty
    delete_action, id_argument = counterparties.delete_counterparty, "counterparty_id"
    template, new_title = "ledger/subscriptions/customer_form.html", gettext_lazy("New customer")
    serializer, partial = CounterpartySerializer, True
    texts = ("name", *(text.name for text in COUNTERPARTY_TEXTS))

    def list_rows(self, page: CompanyPage) -> QuerySet[Counterparty]:
        return filter_customers(page)

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        return dict.fromkeys(self.texts, "")

    def build_row_values(self, row: Counterparty) -> dict[str, Any]:
        data: dict[str, Any] = CounterpartySerializer(row).data
        return data

    def build_action_values(self, form: BoundForm, row: Counterparty | None) -> dict[str, Any]:
        return form.data if row else form.data | {"type": CounterpartyType.CUSTOMER.value}

    def build_context(self, page: CompanyPage, form: BoundForm, row: Counterparty | None) -> dict[str, Any]:
        return {"shown": page.has_permission(Permission.SUBSCRIPTIONS_READ), "texts": COUNTERPARTY_TEXTS}

    def redirect_to_row(self, page: CompanyPage, row: Counterparty, message: str) -> HttpResponse:
        if page.has_permission(Permission.SUBSCRIPTIONS_READ):
            return page.redirect_with_message(message, "customer", customer_id=row.id)
        return page.redirect_with_message(message, "company")

    def redirect_after_deletion(self, page: CompanyPage, message: str) -> HttpResponse:
        sees_customers = page.has_permission(Permission.SUBSCRIPTIONS_READ)
        return page.redirect_with_message(message, self.list_url if sees_customers else "company")

    def redirect_to_undeleted_row(self, page: CompanyPage, row: Counterparty) -> HttpResponse:
        return page.redirect("customer", customer_id=row.id)


create_customer_page, edit_customer_page = CustomerPages().build_form_views()
delete_customer_page = CustomerPages().build_delete_view()


def filter_customers(page: CompanyPage) -> QuerySet[Counterparty]:
    """Return the company's counterparties of type customer."""
    return Counterparty.objects.for_company(page.company.id).filter(type=CounterpartyType.CUSTOMER)


def get_customer_or_404(page: CompanyPage, customer_id: UUID) -> Counterparty:
    """Return the customer of the URL. Raises Http404."""
    return get_object_or_404(filter_customers(page), id=customer_id)
