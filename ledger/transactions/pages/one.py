"""One transaction: all that is known of it, its own fields changed, and deleted."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from companies.pages.settings.activity import names
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import Categorization, File, InitialBalanceFixed, RunAct, Source, Transaction
from ledger.transactions import booking
from ledger.transactions.pages.form import find_reconciled_day, fixed_fields, read_form, show_form, values_of
from ledger.transactions.pages.history import history
from ledger.transactions.pages.meanwhile import there_now, what_became_of
from ledger.transactions.pages.own_words import description_of, notes_of
from ledger.transactions.pages.ways import kept, list_before, to_its_page
from ledger.transactions.pages.words import LINES, RULES, SOURCES, assigners, names_for
from ledger.transactions.settled import settled_by
from ledger.transactions.undoing import undoable

MOST_LOOSE = 20  # documents to choose from


@company_page(reads=Permission.TRANSACTIONS_READ)
def transaction(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Facts, parts, documents and, for those who may read it, the history."""
    row = transaction_of(visit, transaction_id)
    parts = list(parts_of(row))
    words, by_itself = names_for(visit), assigners(visit.company, [part.source_note for part in parts])
    people = {actor for actor in (row.created_user_id, row.last_updated_user_id, row.assigned_user_id) if actor}
    entries = history(visit, row, words, parts=parts, by_itself=by_itself)
    actors = names(visit, people | {each.actor for each in entries if each.actor})
    return visit.show(
        "ledger/transactions/transaction.html",
        tab="transactions",
        row=row,
        then=visit.request.GET.get("then", ""),
        kept=kept(visit),
        back=list_before(visit, visit.request.GET.get("then", "")),
        title=row.from_to or description_of(row) or _("Transaction"),
        description=description_of(row),
        notes=notes_of(row),
        account=words.account(row.account_id),
        source=SOURCES[Source(row.source)],
        parts=[part_line(part, words) | {"assigner": by_itself.get(part.source_note or "")} for part in parts],
        rest=row.amount_value - row.categorized_value,
        may_split=not row.is_initial,
        may_link=not row.is_initial and (row.is_open or any(part.counter_id is None for part in parts)),
        settles=settled_by(company_id=row.company_id, transaction_ids=[row.id]).get(row.id),
        sees_plans=visit.may(Permission.PLANNING_READ),
        files=list(attached(visit, row)),
        loose=list(loose(visit)),
        keeps=visit.may(Permission.FILES_WRITE),
        history=[(actors.get(each.actor or "", _("The service")), each) for each in entries],
        sees_history=visit.may(Permission.AUDIT_READ),
        sees_files=visit.may(Permission.FILES_READ),
        writes=visit.may(Permission.TRANSACTIONS_WRITE),
        reconciled_until=find_reconciled_day(row) if visit.may(Permission.TRANSACTIONS_WRITE) else None,
        creator=actors.get(row.created_user_id or "", _("the service")),
        changer=actors.get(row.last_updated_user_id or "", _("the service")),
        assignee=actors.get(row.assigned_user_id or ""),
    )


def parts_of(row: Transaction) -> Any:
    """A transaction's parts in their order, with what they point at."""
    rows = Categorization.objects.of(row.company_id).filter(transaction_id=row.id)
    return rows.select_related("category", "counterparty", "counter__transaction").order_by("position", "id")


def part_line(part: Categorization, words: Any) -> dict[str, Any]:
    partner = part.counter.transaction if part.counter else None
    return {
        "part": part,
        "category": words.category(part.category_id),
        "lines": [(LINES[line], value) for line, value in part.split.items()],  # type: ignore[index]
        "counterparty": words.counterparty(part.counterparty) if part.counterparty else "",
        "findable": words.sees_counterparties,
        "rule": RULES[part.rule],  # type: ignore[index]
        "partner": partner,
        "partner_account": words.account(partner.account_id) if partner else "",
    }


def attached(visit: Visit, row: Transaction) -> Any:
    if not visit.may(Permission.FILES_READ):
        return ()
    return File.objects.of(visit.company.id).tied_to(row.id).order_by("-created_time", "-id")


def loose(visit: Visit) -> Any:
    """The latest documents that lie beside no transaction yet."""
    if not visit.may(Permission.FILES_WRITE):
        return ()
    return File.objects.of(visit.company.id).loose().order_by("-created_time", "-id")[:MOST_LOOSE]


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def edit(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Changes its own fields, as PUT does. What a link or an initial balance holds is not offered."""
    row = transaction_of(visit, transaction_id)
    fixed = fixed_fields(row, linked=row.transferred_value != 0)
    if not visit.sent:
        return show_form(visit, Typed(values=values_of(row)), row=row, fixed=fixed)
    form = read_form(visit, row)
    if form.valid:
        with visit.sending(form):
            booking.change(company=visit.company, stamp=visit.stamp, transaction_id=row.id, values=form.data)
            return to_its_page(visit, row.id, _("The transaction was changed."))
    form.values = {**values_of(row), **form.values}
    if visit.outdated:
        row = transaction_of(visit, row.id)
        form.errors = {"row": " ".join((what_became_of(visit, [row]), there_now(visit, row, form.values)))}
    return show_form(visit, form, row=row, fixed=fixed)


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def delete(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Deletes it, as DELETE does; the partner of a linked one is open again. The list offers to take it back."""
    with visit.sending():
        rows = Transaction.objects.of(visit.company.id).filter(id=transaction_id)
        with undoable(company=visit.company, stamp=visit.stamp, act=RunAct.DELETE, rows=rows) as run:
            booking.remove_one(company=visit.company, stamp=visit.stamp, transaction_id=transaction_id)
        messages.success(visit.request, _("The transaction was deleted."))
        return redirect(list_before(visit, visit.request.POST.get("then", ""), run=str(run.id)))
    return visit.to("transaction", transaction_id=transaction_id)


def transaction_of(visit: Visit, transaction_id: UUID) -> Transaction:
    """The transaction of the address. Raises Http404."""
    return get_object_or_404(Transaction.objects.of(visit.company.id), id=transaction_id)


def initial_refused(visit: Visit, row: Transaction) -> HttpResponse | None:
    """Back to its page with the reason, where it is an initial balance: that has no other parts and no other leg."""
    if not row.is_initial:
        return None
    messages.error(visit.request, InitialBalanceFixed().detail)
    return to_its_page(visit, row.id)
