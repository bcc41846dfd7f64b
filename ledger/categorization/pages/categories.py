"""Pages of categories: list, create, edit, move, and delete with a replacement."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.categorization.actions import categories
from ledger.categorization.queries.usage import list_usage_texts
from ledger.categorization.serializers.categories import CategorySerializer
from ledger.models import Category, CategoryInUse
from ledger.transactions.pages.labels import LINE_LABELS, to_choices

READ, WRITE = Permission.CATEGORIES_READ, Permission.CATEGORIES_WRITE
TEXT_FIELDS = ("name", "emoji", "order")
SECTION = "categories"
REPLACEMENT_NEEDED_MESSAGE = gettext_lazy("Transactions or plan items use this category. Choose a replacement.")


@company_page(reads=READ)
def show_categories(page: CompanyPage) -> HttpResponse:
    """Show all categories in order, with their P&L lines and how often they are used."""
    rows = list(Category.objects.for_company(page.company.id).with_usage_counts(page.company.id).in_display_order())
    return page.render(
        "ledger/categorization/categories.html",
        section=SECTION,
        rows=[
            {
                "row": row,
                "lines": [str(label) for line, label in LINE_LABELS.items() if line in row.pl_types],
                "first": place == 0,
                "last": place == len(rows) - 1,
            }
            for place, row in enumerate(rows)
        ],
        finds=page.has_permission(Permission.TRANSACTIONS_READ),
        writes=page.has_permission(WRITE),
    )


class CategoryPages(RowPages[Category]):
    """The form of a category: new ones are last, and the P&L lines of system categories are fixed."""

    model, permission = Category, WRITE
    place, list_url = {"section": SECTION}, "categories"
    create_action, update_action = categories.create_category, categories.update_category
    id_argument = "category_id"
    template, new_title = "ledger/categorization/category_form.html", gettext_lazy("New category")

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        last = Category.objects.for_company(page.company.id).in_display_order().last()
        return {"name": "", "emoji": "", "order": last.order + 1 if last else 0, "financing": False}

    def build_row_values(self, row: Category) -> dict[str, Any]:
        values = {"name": row.name, "emoji": row.emoji or "", "order": row.order}
        return values | {"plTypes": row.pl_types, "financing": row.financing}

    def bind_form(self, page: CompanyPage, row: Category | None) -> BoundForm:
        posted = page.request.POST
        values: dict[str, Any] = {name: posted.get(name, "").strip() for name in TEXT_FIELDS}
        values["financing"] = "financing" in posted
        values["plTypes"] = row.pl_types if row and row.system else posted.getlist("plTypes")
        body = values | {"emoji": values["emoji"] or None, "order": parse_integer(values["order"])}
        form = bind_body(CategorySerializer, body, values=values, fields={"plTypes": "plTypes"})
        if not values["plTypes"]:
            form.errors["plTypes"] = _("Choose at least one P&L line.")
        return form

    def build_context(self, page: CompanyPage, form: BoundForm, row: Category | None) -> dict[str, Any]:
        return {"lines": to_choices(LINE_LABELS), "chosen": form.values.get("plTypes", [])}


create_category_page, edit_category_page = CategoryPages().build_form_views()


@company_page(writes=WRITE)
def move_category_page(page: CompanyPage, category_id: UUID) -> HttpResponse:
    """Move a category one position up or down."""
    down = page.request.POST.get("to") == "down"
    with page.handle_errors():
        categories.move_category(company=page.company, context=page.audit_context, category_id=category_id, down=down)
        return page.redirect("categories")
    return page.redirect("categories")


@company_page(reads=WRITE, writes=WRITE)
def delete_category_page(page: CompanyPage, category_id: UUID) -> HttpResponse:
    """Show where a category is used, and delete it after a replacement was chosen."""
    row = get_category_or_404(page, category_id)
    replacement_id = page.request.POST.get("replaceWith", "")
    form = BoundForm(values={"replaceWith": replacement_id})
    if row.system:
        form.errors[""] = categories.CategoryIsSystem().detail
    elif page.is_post:
        with page.handle_errors(form):
            submit_category_deletion(page, row, replacement_id)
            return page.redirect_with_message(_("{name} deleted.").format(name=row.display_name), "categories")
    used_pl_types = categories.find_used_pl_types(row)
    other_categories = Category.objects.for_company(page.company.id).exclude(id=row.id).in_display_order()
    return page.render(
        "ledger/categorization/category_delete.html",
        status=400 if page.is_post else 200,
        section=SECTION,
        form=form,
        row=row,
        seen=page.get_seen_version(row),
        uses=list_usage_texts("category", company_id=page.company.id, row_id=row.id),
        choices=[
            (str(category.id), category.display_name)
            for category in other_categories
            if used_pl_types <= set(category.pl_types)
        ],
        lines=[str(label) for line, label in LINE_LABELS.items() if line in used_pl_types],
    )


def submit_category_deletion(page: CompanyPage, row: Category, replacement_text: str) -> None:
    """Delete the category. Raises ValidationFailed if a replacement is needed, and what ``delete_category`` raises."""
    replacement_id = parse_id(replacement_text)
    if replacement_text and replacement_id is None:
        raise ValidationFailed([("#/replaceWith", "unknown_id", str(REPLACEMENT_NEEDED_MESSAGE))])
    try:
        categories.delete_category(
            company=page.company, context=page.audit_context, category_id=row.id, replace_with=replacement_id
        )
    except CategoryInUse:
        raise ValidationFailed([("#/replaceWith", "category_in_use", str(REPLACEMENT_NEEDED_MESSAGE))]) from None


def get_category_or_404(page: CompanyPage, category_id: UUID) -> Category:
    """Return the category of the URL. Raises Http404."""
    return get_object_or_404(Category.objects.for_company(page.company.id), id=category_id)
