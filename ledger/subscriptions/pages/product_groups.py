"""Pages of product groups."""

from typing import Any

from django.utils.translation import gettext_lazy

from companies.pages.context import CompanyPage
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.models import ProductGroup
from ledger.subscriptions.actions import product_groups
from ledger.subscriptions.serializers.product_groups import ProductGroupSerializer


class ProductGroupPages(RowPages[ProductGroup]):
    model, permission = ProductGroup, Permission.PRODUCTS_WRITE
    place, list_url = {"tab": "recurring-revenue"}, "products"
    create_action, update_action = product_groups.create_product_group, product_groups.update_product_group
    delete_action, id_argument = product_groups.delete_product_group, "group_id"
    template, new_title = "ledger/subscriptions/product_group_form.html", gettext_lazy("New group")
    deleted_message = gettext_lazy("Group deleted.")
    serializer, texts, integers = ProductGroupSerializer, ("name", "order"), ("order",)

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        return {"name": "", "order": "0"}

    def build_row_values(self, row: ProductGroup) -> dict[str, Any]:
        return {"name": row.name, "order": str(row.order)}


create_product_group_page, edit_product_group_page = ProductGroupPages().build_form_views()
delete_product_group_page = ProductGroupPages().build_delete_view()
