"""Pages that create, edit and delete the rows of one model, as Django's generic views do."""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from companies.pages.context import CompanyPage, PageFunction, company_page
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission

M = TypeVar("M", bound=Any)


class RowPages(Generic[M]):
    """The pages of a model. A subclass names the model, its actions and its form, and overrides what differs:

        class ProductGroupPages(RowPages[ProductGroup]):
            model, permission = ProductGroup, Permission.PRODUCTS_WRITE
            …

        create_product_group_page, edit_product_group_page = ProductGroupPages().build_form_views()
        delete_product_group_page = ProductGroupPages().build_delete_view()

    The address of a page about a row contains the row's id after the company's. The template extends
    ``companies/row_form.html``; it gets `row`, `form`, `seen`, `new_title` and ``build_context``.
    """

    model: ClassVar[type[Any]]
    permission: ClassVar[Permission]  # needed by every page
    place: ClassVar[dict[str, str]]  # `tab` or `section` of the menu
    list_url: ClassVar[str]  # name of the page to return to

    create_action: ClassVar[Callable[..., Any]]
    update_action: ClassVar[Callable[..., Any]]
    delete_action: ClassVar[Callable[..., Any]]
    id_argument: ClassVar[str]  # name of the row's id in actions

    template: ClassVar[str]
    new_title: ClassVar[Any]
    added_message: ClassVar[Any] = _("{name} added.")
    saved_message: ClassVar[Any] = _("{name} saved.")
    deleted_message: ClassVar[Any] = _("{name} deleted.")

    serializer: ClassVar[type[Any]]
    texts: ClassVar[tuple[str, ...]]
    flags: ClassVar[tuple[str, ...]] = ()
    integers: ClassVar[tuple[str, ...]] = ()  # texts with a number
    partial: ClassVar[bool] = False  # the form lacks required fields of the serializer

    def build_form_views(self) -> tuple[PageFunction, PageFunction]:
        """Return the views that create and edit a row."""
        form_page = company_page(reads=self.permission, writes=self.permission)
        return form_page(self.create), form_page(self.edit)

    def build_delete_view(self) -> PageFunction:
        """Return the view that deletes a row, for a form on another page."""
        return company_page(writes=self.permission)(self.delete)

    def create(self, page: CompanyPage) -> HttpResponse:
        """Show the form of a new row; on POST create it."""
        if not page.is_post:
            return self.render_form(page, BoundForm(values=self.build_initial_values(page)), None)
        form = self.bind_form(page, None)
        if form.is_valid:
            with page.handle_errors(form):
                values = self.build_action_values(form, None)
                row = type(self).create_action(company=page.company, context=page.audit_context, values=values)
                return self.redirect_to_row(page, row, self.added_message.format(name=row.name))
        return self.render_form(page, form, None)

    def edit(self, page: CompanyPage, **ids: UUID) -> HttpResponse:
        """Show the form of a row; on POST update it."""
        row = self.get_row_or_404(page, **ids)
        if not page.is_post:
            return self.render_form(page, BoundForm(values=self.build_row_values(row)), row)
        form = self.bind_form(page, row)
        if form.is_valid:
            with page.handle_errors(form):
                values = {"values": self.build_action_values(form, row), self.id_argument: row.id}
                changed = type(self).update_action(company=page.company, context=page.audit_context, **values)
                return self.redirect_to_row(page, changed, self.saved_message.format(name=changed.name))
        return self.render_form(page, form, row)

    def delete(self, page: CompanyPage, **ids: UUID) -> HttpResponse:
        """Delete a row."""
        row = self.get_row_or_404(page, **ids)
        with page.handle_errors():
            type(self).delete_action(company=page.company, context=page.audit_context, **{self.id_argument: row.id})
            return self.redirect_after_deletion(page, self.deleted_message.format(name=row.name))
        return self.redirect_to_undeleted_row(page, row)

    def get_row_or_404(self, page: CompanyPage, **ids: UUID) -> M:
        """Return the row of the address. Raises Http404."""
        (row_id,) = ids.values()
        row: M = get_object_or_404(self.list_rows(page), id=row_id)
        return row

    def render_form(self, page: CompanyPage, form: BoundForm, row: M | None) -> HttpResponse:
        """Render the form, with status 400 if it has errors."""
        return page.render(
            self.template,
            status=400 if form.errors else 200,
            form=form,
            row=row,
            seen=page.get_seen_version(row) if row else "",
            new_title=self.new_title,
            **self.place,
            **self.build_context(page, form, row),
        )

    # ---------------------------------------------------------------------------------------------- what may differ

    def list_rows(self, page: CompanyPage) -> QuerySet[Any]:
        """Return the rows that the pages are about."""
        rows: QuerySet[Any] = self.model.objects.for_company(page.company.id)
        return rows

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        """Return the form's values of a new row."""
        raise NotImplementedError

    def build_row_values(self, row: M) -> dict[str, Any]:
        """Return the form's values of a row."""
        raise NotImplementedError

    def bind_form(self, page: CompanyPage, row: M | None) -> BoundForm:
        """Bind the posted form."""
        return bind_form(
            self.serializer,
            page.request.POST,
            texts=self.texts,
            flags=self.flags,
            integers=self.integers,
            partial=self.partial,
        )

    def build_action_values(self, form: BoundForm, row: M | None) -> dict[str, Any]:
        """Return the values for the action."""
        return form.data

    def build_context(self, page: CompanyPage, form: BoundForm, row: M | None) -> dict[str, Any]:
        """Return what the template needs besides."""
        return {}

    def redirect_to_row(self, page: CompanyPage, row: M, message: str) -> HttpResponse:
        """Redirect after the row was created or updated."""
        return page.redirect_with_message(message, self.list_url)

    def redirect_after_deletion(self, page: CompanyPage, message: str) -> HttpResponse:
        """Redirect after a row was deleted."""
        return page.redirect_with_message(message, self.list_url)

    def redirect_to_undeleted_row(self, page: CompanyPage, row: M) -> HttpResponse:
        """Redirect after an error, which the next page shows."""
        return page.redirect(self.list_url)
