"""Pages of products."""

from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy

from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.calc.months import get_last_day_of_month
from ledger.models import Product, ProductGroup
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.subscriptions.actions import products
from ledger.subscriptions.queries import committed_revenue
from ledger.subscriptions.serializers.products import ProductSerializer


@company_page(reads=Permission.PRODUCTS_READ)
def show_products(page: CompanyPage) -> HttpResponse:
    """Show products by group, with the committed revenue at the end of the current month."""
    company = page.company
    groups = {group.id: group for group in ProductGroup.objects.for_company(company.id).in_display_order()}
    rows = list(Product.objects.for_company(company.id).with_external_ids(company.id).in_display_order())
    group_positions = {group_id: place for place, group_id in enumerate(groups)}
    rows.sort(key=lambda row: group_positions.get(row.product_group_id, len(group_positions)))  # type: ignore[arg-type]
    (revenue_by_product, rate_error), event_counts = (
        load_committed_revenue(page),
        committed_revenue.count_events_by_product(company_id=company.id),
    )
    shelves = [
        (
            groups.get(group_id) if group_id else None,
            [
                {"row": row, "worth": revenue_by_product.get(row.id, 0), "events": event_counts.get(row.id, 0)}
                for row in group_rows
            ],
        )
        for group_id, group_rows in groupby(rows, key=lambda row: row.product_group_id)
    ]
    return page.render(
        "ledger/subscriptions/products.html",
        tab="recurring-revenue",
        shelves=shelves,
        groups=list(groups.values()),
        sees_worth=page.has_permission(Permission.SUBSCRIPTIONS_READ) and not rate_error,
        missing=rate_error,
        writes=page.has_permission(Permission.PRODUCTS_WRITE),
    )


def load_committed_revenue(page: CompanyPage) -> tuple[dict[Any, Any], str]:
    """Return (committed revenue by product, as in GET products; the error if a rate is missing)."""
    if not page.has_permission(Permission.SUBSCRIPTIONS_READ):
        return {}, ""
    try:
        revenue_by_product = committed_revenue.compute_committed_revenue_by_product(
            company_id=page.company.id,
            month_end=get_last_day_of_month(page.today),
            base_currency=page.company.base_currency,
            rates=get_rate_table(),
        )
    except MissingRateError as error:
        return {}, error.detail
    return revenue_by_product, ""


class ProductPages(RowPages[Product]):
    model, permission = Product, Permission.PRODUCTS_WRITE
    place, list_url = {"tab": "recurring-revenue"}, "products"
    create_action, update_action = products.create_product, products.update_product
    delete_action, id_argument = products.delete_product, "product_id"
    template, new_title = "ledger/subscriptions/product_form.html", gettext_lazy("New product")
    texts = ("name", "productGroupId", "order", "externalIds")

    def list_rows(self, page: CompanyPage) -> QuerySet[Product]:
        return Product.objects.for_company(page.company.id).with_external_ids(page.company.id)

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        return dict.fromkeys(self.texts, "") | {"order": "0"}

    def build_row_values(self, row: Product) -> dict[str, Any]:
        return {
            "name": row.name,
            "productGroupId": str(row.product_group_id or ""),
            "order": str(row.order),
            "externalIds": "\n".join(row.external_ids),
        }

    def bind_form(self, page: CompanyPage, row: Product | None) -> BoundForm:
        """Bind the posted form; external ids are one per line."""
        values = {name: page.request.POST.get(name, "").strip() for name in self.texts}
        body: dict[str, Any] = {
            "name": values["name"],
            "productGroupId": values["productGroupId"] or None,
            "order": parse_integer(values["order"]),
            "externalIds": [line.strip() for line in values["externalIds"].splitlines() if line.strip()],
        }
        return bind_body(ProductSerializer, body, values=values, fields={"externalIds": "externalIds"})

    def build_context(self, page: CompanyPage, form: BoundForm, row: Product | None) -> dict[str, Any]:
        groups = ProductGroup.objects.for_company(page.company.id).in_display_order()
        return {"groups": [(str(group.id), group.name) for group in groups]}


create_product_page, edit_product_page = ProductPages().build_form_views()
delete_product_page = ProductPages().build_delete_view()
