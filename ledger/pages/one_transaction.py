"""One transaction: all that is known of it, its own fields changed, and deleted."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from companies.models import AuditEntry
from companies.pages.activity import facts, in_words, names
from companies.pages.unchanged import unless_changed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger import booking
from ledger.models import Categorization, File, Source, Transaction
from ledger.pages.changes import found, ledger_change, parsed, show_refusal
from ledger.pages.transaction_form import body_of, fixed_fields, show_form, typed_transaction, values_of
from ledger.pages.words import LINES, RULES, SOURCES, names_for
from ledger.serializers.transaction_shape import TransactionShape

MOST_ENTRIES = 50


@company_page(reads=Permission.TRANSACTIONS_READ)
def transaction(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Facts, parts, documents and, for those who may read it, the history."""
    row = found(visit, transaction_id)
    parts = list(parts_of(row))
    words = names_for(visit)
    entries = history(visit, row)
    people = {actor for actor in (row.created_user_id, row.last_updated_user_id, row.assigned_user_id) if actor}
    actors = names(visit, people | {each.actor for each in entries if each.actor})
    return visit.show(
        "ledger/transaction.html",
        tab="transactions",
        row=row,
        title=row.from_to or row.description or "Transaction",
        account=words.account(row.account_id),
        source=SOURCES[Source(row.source)],
        parts=[shown_part(part, words) for part in parts],
        rest=row.amount_value - row.categorized_value,
        may_link=row.is_open or any(part.counter_id is None for part in parts),
        files=list(attached(visit, row)),
        history=[
            {
                "row": each,
                "actor": actors.get(each.actor or "", "the service"),
                "act": in_words(each.action),
                "facts": facts(each),
            }
            for each in entries
        ],
        sees_history=visit.may(Permission.AUDIT_READ),
        sees_files=visit.may(Permission.FILES_READ),
        writes=visit.may(Permission.TRANSACTIONS_WRITE),
        creator=actors.get(row.created_user_id or "", "the service"),
        changer=actors.get(row.last_updated_user_id or "", "the service"),
        assignee=actors.get(row.assigned_user_id or ""),
    )


def parts_of(row: Transaction) -> Any:
    """A transaction's parts in their order, with what they point at."""
    rows = Categorization.objects.of(row.company_id).filter(transaction_id=row.id)
    return rows.select_related("category", "counterparty", "counter__transaction").order_by("position", "id")


def shown_part(part: Categorization, words: Any) -> dict[str, Any]:
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


def history(visit: Visit, row: Transaction) -> list[AuditEntry]:
    """The latest changes of this transaction; acts on many at once stand in the company's log alone."""
    if not visit.may(Permission.AUDIT_READ):
        return []
    rows = AuditEntry.objects.of(visit.company.id).filter(entity_type="transaction", entity_id=str(row.id))
    return list(rows.order_by("-time", "-id")[:MOST_ENTRIES])


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def edit(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Changes its own fields, as PUT does. What a link or an initial balance holds is not offered."""
    row = found(visit, transaction_id)
    fixed = fixed_fields(row, linked=row.transferred_value != 0)
    if visit.request.method != "POST":
        return show_form(visit, typed_transaction(values_of(row)), row=row, fixed=fixed)
    form = typed_transaction(visit.request.POST)
    with ledger_change(visit) as change:
        row = found(visit, transaction_id, locked=True)
        unless_changed(row, visit.request.POST)
        values = parsed(TransactionShape, body_of(form), partial=True)
        booking.change(row=row, company=visit.company, stamp=visit.stamp, values=values)
    if change.refusal:
        show_refusal(form, change.refusal, fields={})
        form.values = {**values_of(row), **form.values}
        return show_form(visit, form, row=row, fixed=fixed)
    messages.success(visit.request, "The transaction was changed.")
    return redirect("transaction", company_id=visit.company.id, transaction_id=transaction_id)


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def delete(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Deletes it, as DELETE does; the partner of a linked one is open again."""
    with ledger_change(visit) as change:
        row = found(visit, transaction_id, locked=True)
        booking.remove_one(row=row, company=visit.company, stamp=visit.stamp)
    if change.refusal:
        messages.error(visit.request, change.refusal.detail)
        return redirect("transaction", company_id=visit.company.id, transaction_id=transaction_id)
    messages.success(visit.request, "The transaction was deleted.")
    return redirect("transactions", company_id=visit.company.id)
