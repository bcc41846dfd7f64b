"""What the owners of the demonstration company can do about it."""

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from analytics.demonstration import resetting
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Transaction


@company_page(reads=Permission.COMPANY_MANAGE, writes=Permission.COMPANY_MANAGE)
def reset(visit: Visit) -> HttpResponse:
    """Says what is lost, and puts the company's data back as it was made."""
    if visit.company.demonstration is None:
        raise Http404
    if visit.sent:
        with visit.sending():
            resetting.reset(company=visit.company, stamp=visit.stamp, permissions=visit.access.permissions)
            return visit.done(_("{company} is as it was made.").format(company=visit.company.name), "company")
    count = Transaction.objects.of(visit.company.id).count()
    return visit.show("analytics/reset.html", section="company", count=count)
