"""The page to reset the demo company."""

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from demo import reset
from ledger.models import Transaction


@company_page(reads=Permission.COMPANY_MANAGE, writes=Permission.COMPANY_MANAGE)
def reset_demo_page(page: CompanyPage) -> HttpResponse:
    """Show what will be lost, and reset the company's data."""
    if page.company.demonstration is None:
        raise Http404
    if page.is_post:
        with page.handle_errors():
            reset.reset_demo_company(
                company=page.company, context=page.audit_context, permissions=page.access.permissions
            )
            return page.redirect_with_message(_("{company} was reset.").format(company=page.company.name), "company")
    count = Transaction.objects.for_company(page.company.id).count()
    return page.render("demo/reset.html", section="company", count=count)
