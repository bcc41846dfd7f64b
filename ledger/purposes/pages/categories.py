"""The categories of a company: all in their order, new, changed, moved, and deleted with another in their place."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import FieldErrors
from companies.models import id_from
from companies.pages.typed import Typed, of_body, whole
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Category, CategoryInUse
from ledger.purposes import categories
from ledger.purposes.serializers import CategoryShape
from ledger.purposes.uses import uses_of
from ledger.transactions.pages.words import LINES, in_choices

READ, WRITE = Permission.CATEGORIES_READ, Permission.CATEGORIES_WRITE
TEXTS = ("name", "emoji", "order")
SECTION = "categories"
REPLACE = gettext_lazy("Transactions or plans name it: choose the category that takes its place.")


@company_page(reads=READ)
def everything(visit: Visit) -> HttpResponse:
    """All of them in the order in which they are offered, with the lines they post to and how often they are used."""
    rows = list(Category.objects.of(visit.company.id).with_uses(visit.company.id).in_order())
    return visit.show(
        "ledger/purposes/categories.html",
        section=SECTION,
        rows=[
            {
                "row": row,
                "lines": [str(label) for line, label in LINES.items() if line in row.pl_types],
                "first": place == 0,
                "last": place == len(rows) - 1,
            }
            for place, row in enumerate(rows)
        ],
        finds=visit.may(Permission.TRANSACTIONS_READ),
        writes=visit.may(WRITE),
    )


@company_page(reads=WRITE, writes=WRITE)
def new(visit: Visit) -> HttpResponse:
    """A category of the company's own; the last in the list until somebody moves it."""
    if not visit.sent:
        last = Category.objects.of(visit.company.id).in_order().last()
        return form_page(
            visit, Typed(values={"name": "", "emoji": "", "order": last.order + 1 if last else 0, "financing": False})
        )
    form = read(visit)
    if form.valid:
        with visit.sending(form):
            row = categories.add(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("{name} was added.").format(name=row.name), "categories")
    return form_page(visit, form)


@company_page(reads=WRITE, writes=WRITE)
def edit(visit: Visit, category_id: UUID) -> HttpResponse:
    """Its name, its sign, its lines and its place; the lines of one that the service posts to stay."""
    row = found(visit, category_id)
    if not visit.sent:
        values = {
            "name": row.name,
            "emoji": row.emoji or "",
            "order": row.order,
            "plTypes": row.pl_types,
            "financing": row.financing,
        }
        return form_page(visit, Typed(values=values), row=row)
    form = read(visit, row=row)
    if form.valid:
        with visit.sending(form):
            row = categories.change(company=visit.company, stamp=visit.stamp, category_id=category_id, values=form.data)
            return visit.done(_("{name} was saved.").format(name=row.name), "categories")
    return form_page(visit, form, row=row)


def read(visit: Visit, *, row: Category | None = None) -> Typed:
    """What was typed; the lines of a system category are not asked for."""
    posted = visit.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in TEXTS}
    values["financing"] = "financing" in posted
    values["plTypes"] = row.pl_types if row and row.system else posted.getlist("plTypes")
    body = values | {"emoji": values["emoji"] or None, "order": whole(values["order"])}
    form = of_body(CategoryShape, body, values=values, fields={"plTypes": "plTypes"})
    if not values["plTypes"]:
        form.errors["plTypes"] = _("Choose at least one line.")
    return form


def form_page(visit: Visit, form: Typed, *, row: Category | None = None) -> HttpResponse:
    return visit.show(
        "ledger/purposes/category_form.html",
        status=400 if form.errors else 200,
        section=SECTION,
        form=form,
        row=row,
        seen=visit.seen(row) if row else "",
        lines=in_choices(LINES),
        chosen=form.values.get("plTypes", []),
    )


@company_page(writes=WRITE)
def move(visit: Visit, category_id: UUID) -> HttpResponse:
    """One place up or down."""
    down = visit.request.POST.get("to") == "down"
    with visit.sending():
        categories.move(company=visit.company, stamp=visit.stamp, category_id=category_id, down=down)
        return visit.to("categories")
    return visit.to("categories")


@company_page(reads=WRITE, writes=WRITE)
def delete(visit: Visit, category_id: UUID) -> HttpResponse:
    """Tells what names it, and deletes it once another is in its place."""
    row = found(visit, category_id)
    chosen = visit.request.POST.get("replaceWith", "")
    form = Typed(values={"replaceWith": chosen})
    if row.system:
        form.errors[""] = categories.CategoryIsSystem().detail
    elif visit.sent:
        with visit.sending(form):
            remove(visit, row, chosen)
            return visit.done(_("{name} was deleted.").format(name=row.name), "categories")
    needed = categories.lines_in_use(row)
    others = Category.objects.of(visit.company.id).exclude(id=row.id).in_order()
    return visit.show(
        "ledger/purposes/category_delete.html",
        status=400 if visit.sent else 200,
        section=SECTION,
        form=form,
        row=row,
        seen=visit.seen(row),
        uses=uses_of("category", company_id=visit.company.id, row_id=row.id),
        choices=[(str(each.id), each.called) for each in others if needed <= set(each.pl_types)],
        lines=[str(label) for line, label in LINES.items() if line in needed],
    )


def remove(visit: Visit, row: Category, chosen: str) -> None:
    """Raises FieldErrors where another is to be chosen first, and what the act raises."""
    other = id_from(chosen)
    if chosen and other is None:
        raise FieldErrors([("#/replaceWith", "unknown_id", str(REPLACE))])
    try:
        categories.delete(company=visit.company, stamp=visit.stamp, category_id=row.id, replace_with=other)
    except CategoryInUse:
        raise FieldErrors([("#/replaceWith", "category_in_use", str(REPLACE))]) from None


def found(visit: Visit, category_id: UUID) -> Category:
    """The category of the address. Raises Http404."""
    return get_object_or_404(Category.objects.of(visit.company.id), id=category_id)
