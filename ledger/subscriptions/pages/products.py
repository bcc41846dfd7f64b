"""Pages of products and product groups."""

from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.permissions import Permission
from ledger.calc.months import get_last_day_of_month
from ledger.models import Product, ProductGroup
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.subscriptions.actions import products
from ledger.subscriptions.queries import committed_revenue
from ledger.subscriptions.serializers.products import ProductGroupSerializer, ProductSerializer

TEXT_FIELDS = ("name", "productGroupId", "order", "externalIds")


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


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def create_product_page(page: CompanyPage) -> HttpResponse:
    """Create a product."""
    if not page.is_post:
        return render_product_form(page, BoundForm(values=dict.fromkeys(TEXT_FIELDS, "") | {"order": "0"}))
    form = bind_product_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            product = products.create_product(company=page.company, context=page.audit_context, values=form.data)
            return page.redirect_with_message(_("{name} added.").format(name=product.name), "products")
    return render_product_form(page, form)


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def edit_product_page(page: CompanyPage, product_id: UUID) -> HttpResponse:
    """Edit a product."""
    product = get_product_or_404(page, product_id)
    if not page.is_post:
        values = {
            "name": product.name,
            "productGroupId": str(product.product_group_id or ""),
            "order": str(product.order),
            "externalIds": "\n".join(product.external_ids),
        }
        return render_product_form(page, BoundForm(values=values), product=product)
    form = bind_product_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            product = products.update_product(
                company=page.company, context=page.audit_context, product_id=product_id, values=form.data
            )
            return page.redirect_with_message(_("{name} saved.").format(name=product.name), "products")
    return render_product_form(page, form, product=product)


@company_page(writes=Permission.PRODUCTS_WRITE)
def delete_product_page(page: CompanyPage, product_id: UUID) -> HttpResponse:
    """Delete a product without subscriptions."""
    product = get_product_or_404(page, product_id)
    with page.handle_errors():
        products.delete_product(company=page.company, context=page.audit_context, product_id=product_id)
        return page.redirect_with_message(_("{name} deleted.").format(name=product.name), "products")
    return page.redirect("products")


def bind_product_form(page: CompanyPage) -> BoundForm:
    """Bind the posted form of a product; external ids are one per line."""
    posted = page.request.POST
    values = {name: posted.get(name, "").strip() for name in TEXT_FIELDS}
    body: dict[str, Any] = {
        "name": values["name"],
        "productGroupId": values["productGroupId"] or None,
        "order": parse_integer(values["order"]),
        "externalIds": [line.strip() for line in values["externalIds"].splitlines() if line.strip()],
    }
    return bind_body(ProductSerializer, body, values=values, fields={"externalIds": "externalIds"})


def render_product_form(page: CompanyPage, form: BoundForm, *, product: Product | None = None) -> HttpResponse:
    """Render the form of a product."""
    groups = ProductGroup.objects.for_company(page.company.id).in_display_order()
    return page.render(
        "ledger/subscriptions/product_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        product=product,
        seen=page.get_seen_version(product) if product else "",
        groups=[(str(group.id), group.name) for group in groups],
    )


def get_product_or_404(page: CompanyPage, product_id: UUID) -> Product:
    """Return the product of the URL. Raises Http404."""
    rows = Product.objects.for_company(page.company.id).with_external_ids(page.company.id)
    return get_object_or_404(rows, id=product_id)


# ---------------------------------------------------------------------------------------------- groups


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def create_product_group_page(page: CompanyPage) -> HttpResponse:
    """Create a product group."""
    if not page.is_post:
        return render_product_group_form(page, BoundForm(values={"name": "", "order": "0"}))
    form = bind_product_group_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            group = products.create_product_group(company=page.company, context=page.audit_context, values=form.data)
            return page.redirect_with_message(_("{name} added.").format(name=group.name), "products")
    return render_product_group_form(page, form)


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def edit_product_group_page(page: CompanyPage, product_group_id: UUID) -> HttpResponse:
    """Edit a product group."""
    group = get_object_or_404(ProductGroup.objects.for_company(page.company.id), id=product_group_id)
    if not page.is_post:
        return render_product_group_form(
            page, BoundForm(values={"name": group.name, "order": str(group.order)}), group=group
        )
    form = bind_product_group_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            group = products.update_product_group(
                company=page.company, context=page.audit_context, group_id=product_group_id, values=form.data
            )
            return page.redirect_with_message(_("{name} saved.").format(name=group.name), "products")
    return render_product_group_form(page, form, group=group)


@company_page(writes=Permission.PRODUCTS_WRITE)
def delete_product_group_page(page: CompanyPage, product_group_id: UUID) -> HttpResponse:
    """Delete an empty product group."""
    with page.handle_errors():
        products.delete_product_group(company=page.company, context=page.audit_context, group_id=product_group_id)
        return page.redirect_with_message(_("Group deleted."), "products")
    return page.redirect("products")


def bind_product_group_form(page: CompanyPage) -> BoundForm:
    """Bind the posted form of a product group."""
    values = {name: page.request.POST.get(name, "").strip() for name in ("name", "order")}
    body = {"name": values["name"], "order": parse_integer(values["order"])}
    return bind_body(ProductGroupSerializer, body, values=values)


def render_product_group_form(page: CompanyPage, form: BoundForm, *, group: ProductGroup | None = None) -> HttpResponse:
    """Render the form of a product group."""
    return page.render(
        "ledger/subscriptions/product_group_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        group=group,
        seen=page.get_seen_version(group) if group else "",
    )
