"""Invoices in the search of a company."""

from typing import Any

from django.db.models import F, Func, Q, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.lookups import IContains
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from companies.templatetags.pages import format_day
from ledger.transactions.pages.search import RESULTS_PER_GROUP, SearchGroup, SearchResult
from planning.models import PlannedTransaction


def list_search_groups(page: CompanyPage, text: str) -> list[SearchGroup]:
    """Find invoices by number or name, latest first; one statement."""
    if not page.has_permission(Permission.PLANNING_READ):
        return []
    invoices = PlannedTransaction.objects.for_company(page.company.id).invoices().filter(build_text_condition(text))
    results = [build_invoice_result(page, row) for row in invoices.order_by("-invoice_date", "-id")[:RESULTS_PER_GROUP]]
    return [SearchGroup(_("Invoices"), results)]


def build_text_condition(text: str) -> Any:
    """Return the condition that name or number has a text. With a digit it may be a number: then separators do not
    count, so that RE-2026-001 is found by "RE2026001" and by "2026 001".
    """
    condition = Q(name__icontains=text)
    condition |= Q(external_data__invoice_number__icontains=text) | Q(external_invoice_id__icontains=text)
    number = "".join(character for character in text if character.isalnum())
    if any(character.isdigit() for character in number):
        for column in (F("name"), F("external_invoice_id"), KT("external_data__invoice_number")):
            pattern = (Value("[^[:alnum:]]+"), Value(""), Value("g"))
            joined = Func(column, *pattern, function="regexp_replace", output_field=TextField())
            condition |= Q(IContains(joined, number))
    return condition


def build_invoice_result(page: CompanyPage, row: PlannedTransaction) -> SearchResult:
    """Return an invoice as a search result, with its number first."""
    number = (row.external_data or {}).get("invoice_number") or row.external_invoice_id or ""
    day = format_day(row.invoice_date)  # type: ignore[arg-type]
    return SearchResult(
        title=number or row.name,
        detail=f"{row.name} · {day}" if number and number != row.name else day,
        address=reverse("planned-one", args=[page.company.id, row.id]),
        amount=format_money(row.amount_value, row.amount_currency),
    )
