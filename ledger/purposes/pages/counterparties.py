"""Customers, vendors and the others: found by name, new, changed, merged into one another, and deleted."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import FieldErrors
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Counterparty, CounterpartyType
from ledger.purposes import counterparties
from ledger.purposes.serializers import CounterpartyShape
from ledger.purposes.uses import uses_of
from ledger.transactions.pages.counterparties import counterparty_called, suggested
from ledger.transactions.pages.ways import back_to, kept, then
from ledger.transactions.pages.words import in_choices

READ, WRITE = Permission.COUNTERPARTIES_READ, Permission.COUNTERPARTIES_WRITE
TEXTS = ("name", "type", "externalId")
SECTION = "counterparties"
LONGEST_SEARCH = 200
TYPES: dict[CounterpartyType, Any] = {
    CounterpartyType.CUSTOMER: gettext_lazy("Customer"),
    CounterpartyType.VENDOR: gettext_lazy("Vendor"),
    CounterpartyType.EMPLOYEE: gettext_lazy("Employee"),
    CounterpartyType.OWNER: gettext_lazy("Owner"),
    CounterpartyType.AUTHORITY: gettext_lazy("Authority"),
    CounterpartyType.OTHER: gettext_lazy("Other"),
}


@company_page(reads=READ)
def everyone(visit: Visit) -> HttpResponse:
    """Those whose name or external id has a text, by name, each with how many transactions are with them."""
    query = visit.request.GET
    text = query.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    kind = query.get("type", "") if query.get("type", "") in CounterpartyType.values else ""
    rows = Counterparty.objects.of(visit.company.id)
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(external_id__icontains=text))
    if kind:
        rows = rows.filter(type=kind)
    listed, cursor = visit.page_of(rows.with_transactions(visit.company.id), order=("name", "id"))
    narrowed = query.copy()
    narrowed.pop("cursor", None)
    return visit.show(
        "ledger/purposes/counterparties.html",
        section=SECTION,
        rows=[{"row": row, "type": str(TYPES[CounterpartyType(row.type)])} for row in listed],
        cursor=cursor,
        query=narrowed.urlencode(),
        asked=query.urlencode(),
        q=text,
        type=kind,
        types=in_choices(TYPES),
        finds=visit.may(Permission.TRANSACTIONS_READ),
        writes=visit.may(WRITE),
    )


@company_page(reads=WRITE, writes=WRITE)
def new(visit: Visit) -> HttpResponse:
    if not visit.sent:
        return form_page(visit, Typed(values={"name": "", "type": CounterpartyType.VENDOR.value, "externalId": ""}))
    form = typed(CounterpartyShape, visit.request.POST, texts=TEXTS)
    if form.valid:
        with visit.sending(form):
            row = counterparties.add(company=visit.company, stamp=visit.stamp, values=form.data)
            return visit.done(_("{name} was added.").format(name=row.name), "counterparties")
    return form_page(visit, form)


@company_page(reads=WRITE, writes=WRITE)
def edit(visit: Visit, counterparty_id: UUID) -> HttpResponse:
    row = found(visit, counterparty_id)
    if not visit.sent:
        values = {"name": row.name, "type": row.type, "externalId": row.external_id or ""}
        return form_page(visit, Typed(values=values), row=row)
    form = typed(CounterpartyShape, visit.request.POST, texts=TEXTS)
    if form.valid:
        with visit.sending(form):
            row = counterparties.change(
                company=visit.company, stamp=visit.stamp, counterparty_id=counterparty_id, values=form.data
            )
            return back_to(visit, "counterparties", _("{name} was saved.").format(name=row.name))
    return form_page(visit, form, row=row)


def form_page(visit: Visit, form: Typed, *, row: Counterparty | None = None) -> HttpResponse:
    return visit.show(
        "ledger/purposes/counterparty_form.html",
        status=400 if form.errors else 200,
        section=SECTION,
        form=form,
        row=row,
        back=then(visit, "counterparties"),
        kept=kept(visit),
        seen=visit.seen(row) if row else "",
        types=in_choices(TYPES),
        uses=told_uses(visit, row) if row else [],
    )


@company_page(reads=WRITE, writes=WRITE)
def merge(visit: Visit, counterparty_id: UUID) -> HttpResponse:
    """Puts another in the place of this one, which goes: for one that is there twice."""
    row = found(visit, counterparty_id)
    form = Typed(values={"into": visit.request.POST.get("into", "").strip()})
    if visit.sent:
        with visit.sending(form):
            stays = merged(visit, row, form.values["into"])
            return back_to(visit, "counterparties", _("{name} is {other} now.").format(name=row.name, other=stays.name))
    return visit.show(
        "ledger/purposes/counterparty_merge.html",
        status=400 if form.errors else 200,
        section=SECTION,
        form=form,
        row=row,
        back=then(visit, "counterparties"),
        kept=kept(visit),
        seen=visit.seen(row),
        uses=told_uses(visit, row),
        names=suggested(visit),
    )


def merged(visit: Visit, row: Counterparty, name: str) -> Counterparty:
    """The one that is kept. Raises FieldErrors for a name that nobody has, or its own, and what the act raises."""
    if not name:
        raise FieldErrors([("#/into", "required", _("Name the one that stays."))])
    other = counterparty_called(visit, name, pointer="#/into")
    if other.id == row.id:
        raise FieldErrors([("#/into", "unknown_id", _("This is the one that goes: name another."))])
    return counterparties.merge(company=visit.company, stamp=visit.stamp, counterparty_id=row.id, into=other.id)


@company_page(writes=WRITE)
def delete(visit: Visit, counterparty_id: UUID) -> HttpResponse:
    """Deletes one that nothing names."""
    row = found(visit, counterparty_id)
    with visit.sending():
        counterparties.delete(company=visit.company, stamp=visit.stamp, counterparty_id=counterparty_id)
        return back_to(visit, "counterparties", _("{name} was deleted.").format(name=row.name))
    path = reverse("counterparty", kwargs={"company_id": visit.company.id, "counterparty_id": counterparty_id})
    return redirect(path + kept(visit))


def told_uses(visit: Visit, row: Counterparty) -> list[str]:
    return uses_of("counterparty", company_id=visit.company.id, row_id=row.id)


def found(visit: Visit, counterparty_id: UUID) -> Counterparty:
    """The counterparty of the address. Raises Http404."""
    return get_object_or_404(Counterparty.objects.of(visit.company.id), id=counterparty_id)
