"""Products and the groups they are shown in."""

from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.pages.typed import Typed, of_body, whole
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.months import last_of_month
from ledger.models import Product, ProductGroup
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate
from ledger.subscriptions import committed, products
from ledger.subscriptions.product_serializers import ProductGroupShape, ProductShape

TEXTS = ("name", "productGroupId", "order", "externalIds")


@company_page(reads=Permission.PRODUCTS_READ)
def everything(visit: Visit) -> HttpResponse:
    """The products by group, each with what is committed to it at the end of the running month."""
    company = visit.company
    groups = {group.id: group for group in ProductGroup.objects.of(company.id).in_order()}
    rows = list(Product.objects.of(company.id).with_external_ids(company.id).in_order())
    places = {group_id: place for place, group_id in enumerate(groups)}
    rows.sort(key=lambda row: places.get(row.product_group_id, len(places)))  # type: ignore[arg-type]
    (worth, missing), counted = worth_of(visit), committed.events_by_product(company_id=company.id)
    shelves = [
        (
            groups.get(group_id) if group_id else None,
            [{"row": row, "worth": worth.get(row.id, 0), "events": counted.get(row.id, 0)} for row in found],
        )
        for group_id, found in groupby(rows, key=lambda row: row.product_group_id)
    ]
    return visit.show(
        "revenue/products.html",
        tab="recurring-revenue",
        shelves=shelves,
        groups=list(groups.values()),
        sees_worth=visit.may(Permission.SUBSCRIPTIONS_READ) and not missing,
        missing=missing,
        writes=visit.may(Permission.PRODUCTS_WRITE),
    )


def worth_of(visit: Visit) -> tuple[dict[Any, Any], str]:
    """(product -> committed MRR as GET products tells it, what is wrong with the rates)."""
    if not visit.may(Permission.SUBSCRIPTIONS_READ):
        return {}, ""
    try:
        found = committed.by_product(
            company_id=visit.company.id,
            month_end=last_of_month(visit.today),
            base=visit.company.base_currency,
            rates=rate_table(),
        )
    except NoRate as missing:
        return {}, missing.detail
    return found, ""


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def new(visit: Visit) -> HttpResponse:
    if not visit.sent:
        return product_form(visit, Typed(values=dict.fromkeys(TEXTS, "") | {"order": "0"}))
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            product = products.add_product(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("{name} was added.").format(name=product.name), "products")
    return product_form(visit, form)


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def edit(visit: Visit, product_id: UUID) -> HttpResponse:
    product = found(visit, product_id)
    if not visit.sent:
        values = {
            "name": product.name,
            "productGroupId": str(product.product_group_id or ""),
            "order": str(product.order),
            "externalIds": "\n".join(product.external_ids),
        }
        return product_form(visit, Typed(values=values), product=product)
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            product = products.change_product(
                company=visit.company, stamp=visit.stamp, product_id=product_id, values=form.data
            )
            return visit.done(_("{name} was saved.").format(name=product.name), "products")
    return product_form(visit, form, product=product)


@company_page(writes=Permission.PRODUCTS_WRITE)
def delete(visit: Visit, product_id: UUID) -> HttpResponse:
    """Deletes a product that nobody ever subscribed to."""
    product = found(visit, product_id)
    with visit.sending():
        products.delete_product(company=visit.company, stamp=visit.stamp, product_id=product_id)
        return visit.done(_("{name} was deleted.").format(name=product.name), "products")
    return visit.to("products")


def read(visit: Visit) -> Typed:
    """What was typed of a product; external ids are one a line."""
    posted = visit.request.POST
    values = {name: posted.get(name, "").strip() for name in TEXTS}
    sent: dict[str, Any] = {
        "name": values["name"],
        "productGroupId": values["productGroupId"] or None,
        "order": whole(values["order"]),
        "externalIds": [line.strip() for line in values["externalIds"].splitlines() if line.strip()],
    }
    return of_body(ProductShape, sent, values=values, fields={"externalIds": "externalIds"})


def product_form(visit: Visit, form: Typed, *, product: Product | None = None) -> HttpResponse:
    groups = ProductGroup.objects.of(visit.company.id).in_order()
    return visit.show(
        "revenue/product_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        product=product,
        seen=visit.seen(product) if product else "",
        groups=[(str(group.id), group.name) for group in groups],
    )


def found(visit: Visit, product_id: UUID) -> Product:
    """The product of the address. Raises Http404."""
    rows = Product.objects.of(visit.company.id).with_external_ids(visit.company.id)
    return get_object_or_404(rows, id=product_id)


# ---------------------------------------------------------------------------------------------- groups


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def new_group(visit: Visit) -> HttpResponse:
    if not visit.sent:
        return group_form(visit, Typed(values={"name": "", "order": "0"}))
    form = read_group(visit)
    if form.valid:
        with visit.sending(form):
            group = products.add_group(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("{name} was added.").format(name=group.name), "products")
    return group_form(visit, form)


@company_page(reads=Permission.PRODUCTS_WRITE, writes=Permission.PRODUCTS_WRITE)
def edit_group(visit: Visit, product_group_id: UUID) -> HttpResponse:
    group = get_object_or_404(ProductGroup.objects.of(visit.company.id), id=product_group_id)
    if not visit.sent:
        return group_form(visit, Typed(values={"name": group.name, "order": str(group.order)}), group=group)
    form = read_group(visit)
    if form.valid:
        with visit.sending(form):
            group = products.change_group(
                company=visit.company, stamp=visit.stamp, group_id=product_group_id, values=form.data
            )
            return visit.done(_("{name} was saved.").format(name=group.name), "products")
    return group_form(visit, form, group=group)


@company_page(writes=Permission.PRODUCTS_WRITE)
def delete_group(visit: Visit, product_group_id: UUID) -> HttpResponse:
    """Deletes a group in which no product remains."""
    with visit.sending():
        products.delete_group(company=visit.company, stamp=visit.stamp, group_id=product_group_id)
        return visit.done(_("The group was deleted."), "products")
    return visit.to("products")


def read_group(visit: Visit) -> Typed:
    values = {name: visit.request.POST.get(name, "").strip() for name in ("name", "order")}
    sent = {"name": values["name"], "order": whole(values["order"])}
    return of_body(ProductGroupShape, sent, values=values)


def group_form(visit: Visit, form: Typed, *, group: ProductGroup | None = None) -> HttpResponse:
    return visit.show(
        "revenue/product_group_form.html",
        status=400 if form.errors else 200,
        tab="recurring-revenue",
        form=form,
        group=group,
        seen=visit.seen(group) if group else "",
    )
