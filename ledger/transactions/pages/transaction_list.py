"""Page: the list of transactions, with filters, totals and bulk operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError

from companies.api.fields import get_first_detail, get_first_message
from companies.api.pagination import build_cursor, list_keyset_page, reverse_order
from companies.errors import ValidationFailed
from companies.models import Currency, parse_id
from companies.pages.context import ROWS_PER_PAGE, CompanyPage, InvalidListPage, get_signed_in_user
from companies.pages.form_messages import to_form_message
from companies.pages.forms import BoundForm, parse_form_amounts
from companies.permissions import Permission
from companies.versions import compute_version
from ledger.models import EXPENSE_LINES, Categorization, CategorizationRun, Counterparty, SavedView, Transaction
from ledger.recognition.actions.postings import MissingRateError
from ledger.transactions.filters import build_filterset, filter_transactions, parse_sort
from ledger.transactions.pages.closed_months import ClosedMonthLabels
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name, list_counterparty_suggestions
from ledger.transactions.pages.filter_chips import AMOUNT_FILTERS, build_filter_chips
from ledger.transactions.pages.imported_text import translate_description
from ledger.transactions.pages.labels import (
    ASSIGNER_LABELS,
    DATE_RULE_LABELS,
    LINE_LABELS,
    SOURCE_LABELS,
    LedgerNames,
    describe_assigners,
    format_included_tax,
    load_visible_names,
    to_choices,
)
from ledger.transactions.pages.return_urls import CATEGORIZED_PARAMETER
from ledger.transactions.queries.totals import (
    CurrencySums,
    TransactionTotal,
    compute_total,
    list_recognized_shares,
    sum_by_currency,
)

MAX_CATEGORY_CHIPS = 3
NO_SHARES: Mapping[UUID, Decimal] = {}
MAX_SHARES = 10_000  # up to this many rows show their recognized amount
VIEW_PARAMETERS = (
    "cursor",
    "before",
    "run",
    "density",
    CATEGORIZED_PARAMETER,
)  # address parameters that are neither filters nor order
DENSITIES = ("comfortable", "compact")
DEFAULT_SORT = "-date"
SORT_LABELS = {
    "-date": _("Newest first"),
    "date": _("Oldest first"),
    "-amount": _("Largest first"),
    "amount": _("Smallest first"),
}
MAIN_FILTERS = ("q", "startDate", "endDate", "accountId", "categoryId", "open")
MORE_FILTERS = (
    *("plType", "counterparty", "direction", "pending", "transfer"),
    *("assignedBy", "source", "currency", "minAmount", "maxAmount", "sort"),
)


@dataclass(slots=True)
class TransactionListQuery:
    """The parsed address of the list: API filters by name, order, bound form and matching rows."""

    filters: "MultiValueDict[str, str]"
    order: tuple[str, str]
    form: BoundForm
    rows: Any  # the matching transactions; none if a filter is invalid
    counterparty: Counterparty | None = None
    other_filters: list[tuple[str, str]] = field(default_factory=list)  # active filters without a form field
    assigners: dict[str, str] = field(default_factory=dict)  # choices of the filter assignedBy
    totals: bool = False  # whether to compute totals

    def to_selection(self) -> dict[str, Any]:
        """Return all matching transactions as a selection of the API."""
        if not self.filters:
            return {"mode": "all", "confirm": True}
        return {"mode": "filter", "filter": dict(self.filters.lists()), "confirm": True}


def parse_list_query(page: CompanyPage, query: QueryDict | None = None) -> TransactionListQuery:
    """Parse the address, or another query, as GET transactions does. Empty fields do not filter."""
    query = page.request.GET if query is None else query
    non_empty = MultiValueDict({name: [v for v in values if v] for name, values in query.lists()})
    filters = MultiValueDict({name: values for name, values in non_empty.lists() if values})
    for name in VIEW_PARAMETERS:
        filters.pop(name, None)
    totals = filters.pop("total", None)
    form = BoundForm(values={name: filters.get(name, "") for name in (*MAIN_FILTERS, *MORE_FILTERS)})
    amounts, amount_errors = parse_form_amounts(form.values, AMOUNT_FILTERS, currency=form.values["currency"])
    form.values = {**form.values, **amounts}
    form.errors |= amount_errors
    for name, text in amounts.items():
        filters[name] = text
    for name in amount_errors:  # an invalid form shows no rows
        del filters[name]
    sorts = filters.pop("sort", None) or [DEFAULT_SORT]
    counterparty = resolve_counterparty_filter(page, filters, form)
    rows, order = Transaction.objects.for_company(page.company.id), parse_sort(DEFAULT_SORT)
    try:
        rows = filter_transactions(rows, filters, company_id=page.company.id)
    except ValidationError as error:
        add_filter_errors(form, error)
    try:
        order = parse_sort("".join(sorts))
    except ValidationError as error:
        add_filter_errors(form, error)
    items = [(name, value) for name, values in filters.lists() for value in values]
    other_filters = [item for item in items if item not in form.values.items()]
    other_filters = [(name, value) for name, value in other_filters if name != "counterpartyId" or counterparty is None]
    rows = rows if form.is_valid else rows.none()
    return TransactionListQuery(
        filters=filters,
        order=order,
        form=form,
        rows=rows,
        counterparty=counterparty,
        other_filters=other_filters,
        assigners=dict(to_choices(ASSIGNER_LABELS)) | describe_assigners(page.company, filters.getlist("assignedBy")),
        totals=totals == ["true"] and form.is_valid,
    )


@dataclass(frozen=True, slots=True)
class ListTotals:
    """The total of the rows on all pages, and the recognized amount of each transaction."""

    total: TransactionTotal | None = None
    shares: Mapping[UUID, Decimal] = field(default_factory=dict)


def compute_list_totals(page: CompanyPage, list_query: TransactionListQuery) -> ListTotals:
    """Compute the totals that the address asks for with `total=true`; none if a rate is missing.

    On a line of expenses, costs are negative as in the sheet of the profit and loss that leads here.
    """
    company = page.company
    if not list_query.totals:
        return ListTotals()
    filterset = build_filterset(Transaction.objects.for_company(company.id), list_query.filters, company_id=company.id)
    try:
        total = compute_total(filterset, company=company)
    except MissingRateError:
        return ListTotals()
    is_cost = filterset.posting_conditions.get("pl_type") in EXPENSE_LINES
    if is_cost:
        total = replace(total, amount=-total.amount)
    if not filterset.posting_conditions or total.count > MAX_SHARES:
        return ListTotals(total)
    shares = list_recognized_shares(filterset, company=company)
    return ListTotals(total, {key: -amount if is_cost else amount for key, amount in shares.items()})


def add_filter_errors(form: BoundForm, error: ValidationError) -> None:
    """Add filter errors to the form: at their fields, or above the form if it has no such field."""
    details: Mapping[str, Any] = error.detail  # type: ignore[assignment]
    for name, detail in details.items():
        message = to_form_message(get_first_message(detail), getattr(get_first_detail(detail), "code", ""))
        form.errors[name] = message if name in form.values else f"{name}: {message}"


def resolve_counterparty_filter(
    page: CompanyPage, filters: "MultiValueDict[str, str]", form: BoundForm
) -> Counterparty | None:
    """Replace a typed counterparty name with its id in the filters, and show the name of a known id."""
    name = "".join(filters.pop("counterparty", []))
    if not (text := name or filters.get("counterpartyId", "")):
        return None
    try:
        counterparty = get_counterparty_by_name(page, text)
    except ValidationFailed as error:
        if name:  # an unknown id matches nothing, as in the API
            form.errors["counterparty"] = error.errors[0][2]
        return None
    filters.setlist("counterpartyId", list({*filters.getlist("counterpartyId"), str(counterparty.id)}))
    form.values = {**form.values, "counterparty": counterparty.name}
    return counterparty


# ---------------------------------------------------------------------------------------------- the page


@dataclass(frozen=True, slots=True)
class BulkConfirmation:
    """A bulk operation on more than the shown page, before the user confirms it."""

    operation: str
    verb: str
    meant: CurrencySums
    category: str = ""  # to be assigned
    is_repeated: bool = False  # asked again because rows have changed since


@dataclass(slots=True)
class ListPage:
    """The rows of a page of the list, and the cursors of the pages before and after."""

    rows: list[Transaction] = field(default_factory=list)
    earlier: str | None = None
    later: str | None = None


def render_transaction_list(
    page: CompanyPage,
    *,
    bulk: BoundForm | None = None,
    ticked: frozenset[str] = frozenset(),
    question: BulkConfirmation | None = None,
) -> HttpResponse:
    """Render a page of the list; with status 400 if a filter or bulk form has errors."""
    list_query, ledger_names = parse_list_query(page), load_visible_names(page)
    try:
        list_page = load_list_page(page, list_query)
    except ValidationError:
        raise InvalidListPage from None
    bulk = bulk or BoundForm(values={})
    query = page.request.GET.copy()
    for name in VIEW_PARAMETERS:
        query.pop(name, None)
    filters = urlencode(list_query_items(query))
    totals = compute_list_totals(page, list_query)
    lines = build_transaction_lines(page, list_page.rows, ledger_names, shares=totals.shares)
    sums = sum_by_currency(list_query.rows) if list_page.rows else None
    return page.render(
        "ledger/transactions/transactions.html",
        status=200 if list_query.form.is_valid and bulk.is_valid else 400,
        tab="transactions",
        filter=list_query.form,
        filtered=bool(filters),
        query=filters,
        seen=urlencode(
            [item for item in list_query_items(page.request.GET) if item[0] not in ("run", CATEGORIZED_PARAMETER)]
        ),
        beyond=list_query.other_filters,
        chips=build_filter_chips(
            page,
            list_collapsed_filters(list_query),
            items=list_query_items(query),
            counterparty=list_query.counterparty,
            names=ledger_names,
        ),
        more_open=any(list_query.form.values[name] or name in list_query.form.errors for name in MORE_FILTERS),
        lines=lines,
        has_taxes=any(line["tax"] for line in lines),
        sums=sums,
        converts=sums is not None and any(currency != page.company.base_currency for _, currency in sums.amounts),
        total=totals.total,
        next=urlencode([*list_query_items(query), ("cursor", list_page.later)]) if list_page.later else None,
        previous=urlencode([*list_query_items(query), ("before", list_page.earlier)]) if list_page.earlier else None,
        later="cursor" in page.request.GET or "before" in page.request.GET,
        bulk=bulk,
        ticked=ticked,
        question=question,
        run=find_undoable_run(page),
        density=get_list_density(page),
        views=list_saved_views(page),
        assigners=list_query.assigners.items(),
        writes=page.has_permission(Permission.TRANSACTIONS_WRITE),
        counterparties=list_counterparty_suggestions(page),
        **build_filter_choices(ledger_names),
    )


def load_list_page(page: CompanyPage, list_query: TransactionListQuery) -> ListPage:
    """Load the page of the address's cursor. Raises ValidationError for an invalid cursor."""
    request, order = page.request, list_query.order
    reversed_columns = reverse_order(order)
    if "before" not in request.GET:
        rows, later = list_keyset_page(request, list_query.rows, order=order, limit=ROWS_PER_PAGE)
        earlier = build_cursor(request, rows[0], order=reversed_columns) if rows and "cursor" in request.GET else None
        return ListPage(rows, earlier, later)
    rows, earlier = list_keyset_page(
        request, list_query.rows, order=reversed_columns, limit=ROWS_PER_PAGE, parameter="before"
    )
    rows.reverse()
    return ListPage(rows, earlier, build_cursor(request, rows[-1], order=order) if rows else None)


def find_undoable_run(page: CompanyPage) -> CategorizationRun | None:
    """Return the run named in the address, if the user may undo it."""
    run_id = parse_id(page.request.GET.get("run", ""))
    if run_id is None or not page.has_permission(Permission.TRANSACTIONS_WRITE):
        return None
    return CategorizationRun.objects.for_company(page.company.id).filter(id=run_id).first()


def get_list_density(page: CompanyPage) -> str:
    """Return the row density that the user chose last."""
    session, requested = page.request.session, page.request.GET.get("density")
    if requested in DENSITIES and session.get("density", DENSITIES[0]) != requested:
        session["density"] = requested
    return str(session.get("density", DENSITIES[0]))


def list_saved_views(page: CompanyPage) -> list[SavedView]:
    """Return the saved views that the user can see."""
    return list(SavedView.objects.for_company(page.company.id).visible_to(get_signed_in_user(page.request).pk))


def build_filter_choices(ledger_names: LedgerNames) -> dict[str, Any]:
    """Return the choices of the filter fields."""
    return {
        "accounts": ledger_names.list_account_choices(),
        "categories": ledger_names.list_category_choices(),
        "category_lines": ledger_names.list_line_choices(),
        "pl_types": to_choices(LINE_LABELS),
        "sources": to_choices(SOURCE_LABELS),
        "rules": to_choices(DATE_RULE_LABELS),
        "currencies": Currency.values,
        "orders": to_choices(SORT_LABELS),
    }


def list_query_items(query: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, values in query.lists() for value in values if value]


def list_collapsed_filters(list_query: TransactionListQuery) -> list[tuple[str, str]]:
    """Return the filters that have no field in the first row of the form."""
    items = [(name, value) for name, values in list_query.filters.lists() for value in values]
    return [item for item in items if item[0] not in MAIN_FILTERS or item in list_query.other_filters]


def build_transaction_lines(
    page: CompanyPage,
    transactions: list[Transaction],
    ledger_names: LedgerNames,
    *,
    shares: Mapping[UUID, Decimal] = NO_SHARES,
) -> list[dict[str, Any]]:
    """Return the transactions as template rows; one query, whatever their number."""
    category_names: dict[UUID, dict[str, None]] = {}
    amounts: dict[UUID, list[tuple[Decimal | None, Decimal | None]]] = {}
    rows = Categorization.objects.for_company(page.company.id).filter(
        transaction_id__in=[row.id for row in transactions]
    )
    rows = rows.filter(counter__isnull=True).order_by("transaction_id", "position", "id")
    for transaction_id, category_id, *amount in rows.values_list(
        "transaction_id", "category_id", "value", "pass_through_tax"
    ):
        category_names.setdefault(transaction_id, {})[ledger_names.get_category_name(category_id)] = None
        amounts.setdefault(transaction_id, []).append((amount[0], amount[1]))
    lines, closed_months = [], ClosedMonthLabels(page)
    list_path = reverse(
        "transactions", args=[page.company.id]
    )  # reversing the URL for each row takes as long as the row
    for row in transactions:
        chips = list(category_names.get(row.id, ()))
        lines.append(
            {
                "row": row,
                "key": str(row.id),
                "address": f"{list_path}/{row.id}",
                "version": compute_version(row),
                "title": row.from_to or translate_description(row) or gettext("No text"),
                "text": translate_description(row) if row.from_to else "",
                "account": ledger_names.get_account_name(row.account_id),
                "chips": chips[:MAX_CATEGORY_CHIPS],
                "more": len(chips) - MAX_CATEGORY_CHIPS if len(chips) > MAX_CATEGORY_CHIPS else 0,
                "tax": format_included_tax(amounts.get(row.id, ()), row.amount_currency),
                "share": shares.get(row.id),
                "closed": closed_months.find_closed_month(row),
                "linked": row.transferred_value != 0,
                "all_linked": row.transferred_value == row.amount_value != 0,
                "at_once": row.transferred_value == 0
                and len(chips) < 2,  # one category for the whole amount can be chosen in the list
            }
        )
    return lines
