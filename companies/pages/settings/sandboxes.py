"""Pages that create a sandbox of a company, and delete it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from companies.actions import sandboxes
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.permissions import Permission
from companies.serializers import NewSandbox

MAX_NAME_LENGTH = 200


@company_page(reads=Permission.COMPANY_MANAGE, writes=Permission.COMPANY_MANAGE)
def create_sandbox_page(page: CompanyPage) -> HttpResponse:
    """Copy the company as a sandbox."""
    if page.company.is_sandbox:
        raise Http404
    name = _("{company} (sandbox)").format(company=page.company.name)[:MAX_NAME_LENGTH]
    form = BoundForm(values={"name": name, "expiresInDays": sandboxes.DEFAULT_DAYS})
    if page.is_post:
        values = {name: page.request.POST.get(name, "").strip() for name in ("name", "expiresInDays")}
        body = values | {"expiresInDays": parse_integer(values["expiresInDays"])}
        form = bind_body(NewSandbox, body, values=values)
        if form.is_valid:
            with page.handle_errors(form):
                sandbox = sandboxes.copy_company(company=page.company, context=page.audit_context, **form.data)
                messages.success(page.request, _("Sandbox “{name}” created.").format(name=sandbox.name))
                return redirect("company", company_id=sandbox.id)
    return page.render(
        "companies/settings/create_sandbox.html",
        status=400 if form.errors else 200,
        section="company",
        form=form,
        max_days=sandboxes.MAX_DAYS,
    )


@company_page(reads=Permission.COMPANY_MANAGE, writes=Permission.COMPANY_MANAGE)
def delete_sandbox_page(page: CompanyPage) -> HttpResponse:
    """Ask for confirmation, and delete the sandbox."""
    if not page.company.is_sandbox:
        raise Http404
    if page.is_post:
        with page.handle_errors():
            sandboxes.delete_sandbox(company=page.company, context=page.audit_context)
            messages.success(page.request, _("Sandbox “{name}” deleted.").format(name=page.company.name))
            return redirect("home")
    return page.render("companies/settings/delete_sandbox.html", section="company")
