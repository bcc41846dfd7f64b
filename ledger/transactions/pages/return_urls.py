"""Return addresses of a transaction's pages: its own page, the list as it was before, or the inbox."""

import re
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from companies.pages.context import CompanyPage

MAX_QUERY_LENGTH = 2000  # as in saved views
CATEGORIZED_PARAMETER = "said"  # address parameter: the transaction that was just categorized
INBOX_ROW_ID = re.compile(r"(?:t-|p-|o-)[0-9a-f-]{1,36}|done", re.ASCII)  # ids of rows on the inbox page


def build_transactions_return_url(page: CompanyPage, query: str, **parameters: str) -> str:
    """Return the address of the transaction list as it was before; `query` is its query string."""
    return build_list_url(page, "transactions", query, **parameters)


def build_list_url(page: CompanyPage, url_name: str, query: str, **extra_parameters: str) -> str:
    """Return the address of a list with the query string it had before."""
    parameters = QueryDict(query.replace("\0", "")[:MAX_QUERY_LENGTH], mutable=True)
    parameters.update(extra_parameters)
    path = reverse(url_name, kwargs={"company_id": page.company.id})
    return f"{path}?{parameters.urlencode()}" if parameters else path


def get_return_url(page: CompanyPage, url_name: str) -> str:
    """Return the address of the list named by the parameter `then`."""
    return build_list_url(page, url_name, page.request.GET.get("then", ""))


def redirect_to_list(page: CompanyPage, url_name: str, message: str) -> HttpResponse:
    """Show a message on that list."""
    messages.success(page.request, message)
    return redirect(get_return_url(page, url_name))


def build_return_query(page: CompanyPage, *names: str) -> str:
    """Return the query string that carries the return address, and the parameters `names`, to another page."""
    parameters = {
        name: page.request.GET.get(name, "").replace("\0", "")[:MAX_QUERY_LENGTH] for name in ("then", *names)
    }
    parameters = {name: text for name, text in parameters.items() if text}
    return f"?{urlencode(parameters)}" if parameters else ""


def build_return_urls(page: CompanyPage, transaction_id: UUID) -> dict[str, str]:
    """Return template context: `own` is the transaction's page, `back` the list or inbox it was opened from."""
    transaction_url = reverse("transaction", kwargs={"company_id": page.company.id, "transaction_id": transaction_id})
    if page.request.GET.get("from") == "inbox":
        return {"own": transaction_url, "back": build_inbox_url(page, f"t-{transaction_id}")}
    return {
        "own": f"{transaction_url}{build_return_query(page)}",
        "back": build_transactions_return_url(page, page.request.GET.get("then", "")),
    }


def build_inbox_url(
    page: CompanyPage, row: str | None, *, categorized_id: UUID | None = None, **undo_parameters: object
) -> str:
    """Return the address of the inbox, with the focus on a row.

    Args:
        categorized_id: the transaction that was just categorized.
        undo_parameters: parameters that name what can be undone.
    """
    path = reverse("inbox", kwargs={"company_id": page.company.id})
    parameters = {
        name: value for name, value in {CATEGORIZED_PARAMETER: categorized_id, **undo_parameters}.items() if value
    }
    if parameters:
        path += f"?{urlencode(parameters)}"
    return f"{path}#{row}" if row and INBOX_ROW_ID.fullmatch(row) else path


def redirect_to_transaction(
    page: CompanyPage,
    transaction_id: UUID,
    message: str = "",
    *,
    categorized_id: UUID | None = None,
    run_id: UUID | None = None,
) -> HttpResponse:
    """Show a message on the transaction's page, or on the inbox if it was opened there, which offers to undo a run."""
    if message:
        messages.success(page.request, message)
    if page.request.GET.get("from") == "inbox":
        return redirect(build_inbox_url(page, page.request.GET.get("next"), categorized_id=categorized_id, run=run_id))
    transaction_url = build_return_urls(page, transaction_id)["own"]
    if categorized_id:
        transaction_url += (
            f"{'&' if '?' in transaction_url else '?'}{urlencode({CATEGORIZED_PARAMETER: categorized_id})}"
        )
    return redirect(transaction_url)
