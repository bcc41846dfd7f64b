"""The list of transactions: what its address asks for, and the page that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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

from companies.api.fields import sentence
from companies.api.pagination import cursor_at, keyset_rows, reversed_order
from companies.errors import FieldErrors
from companies.models import Currency, id_from
from companies.pages.typed import Typed, read_amounts
from companies.pages.visits import A_PAGE, Visit, person
from companies.permissions import Permission
from companies.versions import version_of
from ledger.models import Categorization, CategorizationRun, Counterparty, SavedView, Transaction
from ledger.recognition.posting import NoRate
from ledger.transactions.filters import filtered, narrowed, order_of
from ledger.transactions.listed import Sums, Total, shares_of, summed, total_of
from ledger.transactions.pages.chips import AMOUNTS, filter_chips
from ledger.transactions.pages.counterparties import counterparty_called, suggested
from ledger.transactions.pages.own_words import description_of
from ledger.transactions.pages.ways import SAID
from ledger.transactions.pages.words import ASSIGNERS, LINES, RULES, SOURCES, Names, assigners, in_choices, names_for

MOST_CHIPS = 3
NO_SHARES: Mapping[UUID, Decimal] = {}
MOST_SHARES = 10_000  # rows behind a figure of which each says its share; nobody adds up more by hand
BESIDE = ("cursor", "before", "run", "density", SAID)  # what the address says besides filters and order
DENSITIES = ("comfortable", "compact")
USUAL_ORDER = "-date"
ORDERS = {
    "-date": _("Latest first"),
    "date": _("Earliest first"),
    "-amount": _("Largest first"),
    "amount": _("Smallest first"),
}
FIRST_ROW = ("q", "startDate", "endDate", "accountId", "categoryId", "open")
REST = (
    *("plType", "counterparty", "direction", "pending", "transfer"),
    *("assignedBy", "source", "currency", "minAmount", "maxAmount", "sort"),
)


@dataclass(slots=True)
class Asked:
    """What an address asks for: the filters of the API by name, an order, and the form filled in so."""

    filters: "MultiValueDict[str, str]"
    order: tuple[str, str]
    form: Typed
    rows: Any  # of the company, narrowed; none where a filter is wrong
    counterparty: Counterparty | None = None
    beyond: list[tuple[str, str]] = field(default_factory=list)  # what is asked for and has no field in the form
    assigners: dict[str, str] = field(default_factory=dict)  # who may have assigned, in words
    totals: bool = False  # whether it is to say what the rows come to

    def selection(self) -> dict[str, Any]:
        """All that match, as a selection of the API names them."""
        if not self.filters:
            return {"mode": "all", "confirm": True}
        return {"mode": "filter", "filter": dict(self.filters.lists()), "confirm": True}


def asked(visit: Visit, query: QueryDict | None = None) -> Asked:
    """Reads the address, or another query, as GET transactions does. Fields that were left empty do not narrow."""
    query = visit.request.GET if query is None else query
    given = MultiValueDict({name: [v for v in values if v] for name, values in query.lists()})
    filters = MultiValueDict({name: values for name, values in given.lists() if values})
    for name in BESIDE:
        filters.pop(name, None)
    totals = filters.pop("total", None)
    form = Typed(values={name: filters.get(name, "") for name in (*FIRST_ROW, *REST)})
    read, wrong = read_amounts(form.values, AMOUNTS, currency=form.values["currency"])
    form.values = {**form.values, **read}
    form.errors |= wrong
    for name, text in read.items():
        filters[name] = text
    for name in wrong:  # then there are no rows
        del filters[name]
    sorts = filters.pop("sort", None) or [USUAL_ORDER]
    counterparty = named_counterparty(visit, filters, form)
    rows, order = Transaction.objects.of(visit.company.id), order_of(USUAL_ORDER)
    try:
        rows = narrowed(rows, filters, company_id=visit.company.id)
    except ValidationError as error:
        refuse(form, error)
    try:
        order = order_of("".join(sorts))
    except ValidationError as error:
        refuse(form, error)
    items = [(name, value) for name, values in filters.lists() for value in values]
    beyond = [item for item in items if item not in form.values.items()]
    beyond = [(name, value) for name, value in beyond if name != "counterpartyId" or counterparty is None]
    rows = rows if form.valid else rows.none()
    return Asked(
        filters=filters,
        order=order,
        form=form,
        rows=rows,
        counterparty=counterparty,
        beyond=beyond,
        assigners=dict(in_choices(ASSIGNERS)) | assigners(visit.company, filters.getlist("assignedBy")),
        totals=totals == ["true"] and form.valid,
    )


@dataclass(frozen=True, slots=True)
class Told:
    """What the rows of all pages come to, and of each what counts in the months that are asked for."""

    total: Total | None = None
    shares: Mapping[UUID, Decimal] = field(default_factory=dict)


def told(visit: Visit, wanted: Asked) -> Told:
    """As ``total=true`` of the API has it; nothing where a rate is missing."""
    company = visit.company
    if not wanted.totals:
        return Told()
    found = filtered(Transaction.objects.of(company.id), wanted.filters, company_id=company.id)
    try:
        total = total_of(found, company=company)
    except NoRate:
        return Told()
    if found.posted and total.count <= MOST_SHARES:
        return Told(total, shares_of(found, company=company))
    return Told(total)


def refuse(form: Typed, error: ValidationError) -> None:
    """Says at each field what is wrong with it, and above the form what has no field there."""
    details: Mapping[str, Any] = error.detail  # type: ignore[assignment]
    for name, detail in details.items():
        form.errors[name] = sentence(detail) if name in form.values else f"{name}: {sentence(detail)}"


def named_counterparty(visit: Visit, filters: "MultiValueDict[str, str]", form: Typed) -> Counterparty | None:
    """Puts the id in the place of the name that was typed, and the name of a known id into the form."""
    name = "".join(filters.pop("counterparty", []))
    if not (text := name or filters.get("counterpartyId", "")):
        return None
    try:
        found = counterparty_called(visit, text)
    except FieldErrors as refusal:
        if name:  # an id that nobody has matches nothing, as in the API
            form.errors["counterparty"] = refusal.errors[0][2]
        return None
    filters.setlist("counterpartyId", list({*filters.getlist("counterpartyId"), str(found.id)}))
    form.values = {**form.values, "counterparty": found.name}
    return found


# ---------------------------------------------------------------------------------------------- the page


@dataclass(frozen=True, slots=True)
class Question:
    """An act on more than the page shows, before it is done."""

    act: str
    verb: str
    meant: Sums
    category: str = ""  # that is to be given
    again: bool = False  # after a yes to what has changed since


@dataclass(slots=True)
class Page:
    """Rows of the list, and the cursors of those before and after them."""

    rows: list[Transaction] = field(default_factory=list)
    earlier: str | None = None
    later: str | None = None


def show_list(
    visit: Visit,
    *,
    bulk: Typed | None = None,
    ticked: frozenset[str] = frozenset(),
    question: Question | None = None,
) -> HttpResponse:
    """A page of the list; with status 400 where a filter, or what was to be done with the rows, is wrong."""
    wanted, names = asked(visit), names_for(visit)
    page = Page()
    try:
        page = page_of(visit, wanted)
    except ValidationError as error:
        refuse(wanted.form, error)
    bulk = bulk or Typed(values={})
    query = visit.request.GET.copy()
    for name in BESIDE:
        query.pop(name, None)
    filters = urlencode(query_items(query))
    summary = told(visit, wanted)
    return visit.show(
        "ledger/transactions/transactions.html",
        status=200 if wanted.form.valid and bulk.valid else 400,
        tab="transactions",
        filter=wanted.form,
        filtered=bool(filters),
        query=filters,
        seen=urlencode([item for item in query_items(visit.request.GET) if item[0] not in ("run", SAID)]),
        beyond=wanted.beyond,
        chips=filter_chips(
            visit, outside(wanted), items=query_items(query), counterparty=wanted.counterparty, names=names
        ),
        more_open=any(wanted.form.values[name] or name in wanted.form.errors for name in REST),
        lines=list_lines(visit, page.rows, names, shares=summary.shares),
        sums=summed(wanted.rows) if page.rows else None,
        total=summary.total,
        next=urlencode([*query_items(query), ("cursor", page.later)]) if page.later else None,
        previous=urlencode([*query_items(query), ("before", page.earlier)]) if page.earlier else None,
        later="cursor" in visit.request.GET or "before" in visit.request.GET,
        bulk=bulk,
        ticked=ticked,
        question=question,
        run=run_of(visit),
        density=density(visit),
        views=views_of(visit),
        assigners=wanted.assigners.items(),
        writes=visit.may(Permission.TRANSACTIONS_WRITE),
        counterparties=suggested(visit),
        **choices(names),
    )


def page_of(visit: Visit, wanted: Asked) -> Page:
    """The rows that the address asks for. Raises ValidationError for a cursor that is none of this list's."""
    request, order = visit.request, wanted.order
    back = reversed_order(order)
    if "before" not in request.GET:
        rows, later = keyset_rows(request, wanted.rows, order=order, limit=A_PAGE)
        earlier = cursor_at(request, rows[0], order=back) if rows and "cursor" in request.GET else None
        return Page(rows, earlier, later)
    rows, earlier = keyset_rows(request, wanted.rows, order=back, limit=A_PAGE, parameter="before")
    rows.reverse()
    return Page(rows, earlier, cursor_at(request, rows[-1], order=order) if rows else None)


def run_of(visit: Visit) -> CategorizationRun | None:
    """What was done just now, by the address, where the visitor may take it back."""
    run_id = id_from(visit.request.GET.get("run", ""))
    if run_id is None or not visit.may(Permission.TRANSACTIONS_WRITE):
        return None
    return CategorizationRun.objects.of(visit.company.id).filter(id=run_id).first()


def density(visit: Visit) -> str:
    """How close the rows stand, as the visitor chose it last."""
    session, chosen = visit.request.session, visit.request.GET.get("density")
    if chosen in DENSITIES and session.get("density", DENSITIES[0]) != chosen:
        session["density"] = chosen
    return str(session.get("density", DENSITIES[0]))


def views_of(visit: Visit) -> list[SavedView]:
    """Those that the visitor sees; each is theirs to take away where it is their own."""
    return list(SavedView.objects.of(visit.company.id).seen_by(person(visit.request).pk))


def choices(names: Names) -> dict[str, Any]:
    """What the fields of the list offer."""
    return {
        "accounts": names.account_choices(),
        "categories": names.category_choices(),
        "category_lines": names.lines(),
        "pl_types": in_choices(LINES),
        "sources": in_choices(SOURCES),
        "rules": in_choices(RULES),
        "currencies": Currency.values,
        "orders": in_choices(ORDERS),
    }


def query_items(query: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, values in query.lists() for value in values if value]


def outside(wanted: Asked) -> list[tuple[str, str]]:
    """The filters that do not show in the first row of fields."""
    items = [(name, value) for name, values in wanted.filters.lists() for value in values]
    return [item for item in items if item[0] not in FIRST_ROW or item in wanted.beyond]


def list_lines(
    visit: Visit, page: list[Transaction], names: Names, *, shares: Mapping[UUID, Decimal] = NO_SHARES
) -> list[dict[str, Any]]:
    """The rows as they are shown; one query whatever their number."""
    parts: dict[UUID, dict[str, None]] = {}
    rows = Categorization.objects.of(visit.company.id).filter(transaction_id__in=[row.id for row in page])
    rows = rows.filter(counter__isnull=True).order_by("transaction_id", "position", "id")
    for transaction_id, category_id in rows.values_list("transaction_id", "category_id"):
        parts.setdefault(transaction_id, {})[names.category(category_id)] = None
    found = []
    here = reverse("transactions", args=[visit.company.id])  # asking the router for each takes as long as a row
    for row in page:
        chips = list(parts.get(row.id, ()))
        found.append(
            {
                "row": row,
                "key": str(row.id),
                "address": f"{here}/{row.id}",
                "version": version_of(row),
                "title": row.from_to or description_of(row) or gettext("No text"),
                "text": description_of(row) if row.from_to else "",
                "account": names.account(row.account_id),
                "chips": chips[:MOST_CHIPS],
                "more": len(chips) - MOST_CHIPS if len(chips) > MOST_CHIPS else 0,
                "share": shares.get(row.id),
                "linked": row.transferred_value != 0,
                "all_linked": row.transferred_value == row.amount_value != 0,
                "at_once": row.transferred_value == 0 and len(chips) < 2,  # a category of it all can be chosen here
            }
        )
    return found
