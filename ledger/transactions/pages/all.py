"""A new transaction."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.transactions import booking
from ledger.transactions.pages.form import NEW, read_form, show_form


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Books one by hand, as POST transactions does."""
    if not visit.sent:
        return show_form(visit, Typed(values=NEW | {"date": visit.today.isoformat()}))
    form = read_form(visit)
    if form.valid:
        with visit.sending(form):
            row = booking.book(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("The transaction was booked."), "transaction", transaction_id=row.id)
    return show_form(visit, form)
