"""Page: create a transaction."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.transactions.actions import transactions
from ledger.transactions.pages.transaction_form import EMPTY_VALUES, bind_transaction_form, render_transaction_form


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def create_transaction_page(page: CompanyPage) -> HttpResponse:
    """Create a transaction, as POST transactions does."""
    if not page.is_post:
        return render_transaction_form(page, BoundForm(values=EMPTY_VALUES | {"date": page.today.isoformat()}))
    form = bind_transaction_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            row = transactions.create_transaction(company=page.company, context=page.audit_context, values=form.data)
            return page.redirect_with_message(_("Transaction created."), "transaction", transaction_id=row.id)
    return render_transaction_form(page, form)
