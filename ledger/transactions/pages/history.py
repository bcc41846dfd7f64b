"""What became of one transaction, in sentences: who did what to it, and when."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from companies.locales import current
from companies.models import AuditEntry, id_from
from companies.models.tenancy import made_at
from companies.pages.amounts import money, number
from companies.pages.settings.activity import short
from companies.pages.settings.log_fields import plain
from companies.pages.settings.log_words import sentence
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import Categorization, ImportBatch, PendingBefore, RunAct, Transaction, TransactionTouched
from ledger.transactions.pages.words import Names, listed

MOST_ENTRIES = 50
MOST_PARTS = 4
UNTOLD = {"categorized_value", "transferred_value", "categorizations_auto_assigned", "import_batch_id", "provider_data"}
FIRST = ("amount_value", "amount_currency", "date", "account_id", "from_to", "description", "notes")
FIELDS = {
    "date": _("date"),
    "from_to": _("from / to"),
    "description": _("description"),
    "notes": _("notes"),
    "amount_value": _("amount"),
    "amount_currency": _("currency"),
    "account_id": _("account"),
    "assigned_user_id": _("assignee"),
    "external_id": _("external id"),
    "exclude_from_auto_categorization": _("left out of automatic categorization"),
    "pending": _("pending"),
    "source": _("source"),
}
LINKED = _("linked it with a transaction that is gone as a transfer")
OPENED = _("opened it: the other leg of its transfer was deleted")
DELETED = _("deleted it")
UNCATEGORIZED = _("took its categories away")
UNLINKED = _("took the link of its transfer away")
ALONE = {
    "transaction.deleted": DELETED,
    "transaction.matchAllowed": _("let it be proposed again for what it was refused for"),
    "transaction.matchRefused": _("said that it is not what it was proposed for"),
    "transfer.linked": LINKED,
    "transfer.unlinked": UNLINKED,
}
PARTNER = {  # of the other leg of a transfer
    "transaction.deleted": OPENED,
    "transactions.deleted": OPENED,
    "import.undone": _("opened it: the other leg of its transfer went with an import that was undone"),
    "transactions.uncategorized": UNCATEGORIZED,
    "transfer.linked": LINKED,
    "transfer.unlinked": UNLINKED,
}
OF_MANY = {
    "transactions.rulesApplied": _("applied the rules to it"),
    "transactions.uncategorized": UNCATEGORIZED,
    "transactions.deleted": DELETED,
}
TAKEN_BACK = {
    RunAct.RULES: _("took back what the rules did to it"),
    RunAct.CATEGORIZE: _("took back how it was categorized"),
    RunAct.UNCATEGORIZE: _("gave it back the categories that were taken away"),
    RunAct.DELETE: _("took back that it was deleted"),
}
OTHERS = ("affected", "deleted", "counters_created")  # counts of an entry about many that are transactions


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody did, as a sentence that begins with their name."""

    time: datetime
    actor: str | None
    text: str


def history(
    visit: Visit, row: Transaction, words: Names, *, parts: Sequence[Categorization], by_itself: Mapping[str, str]
) -> list[Said]:
    """The latest changes of a transaction for those who may read the log; at most five statements.

    ``by_itself`` names in words what assigned ``parts``, by their notes.
    """
    if not visit.may(Permission.AUDIT_READ):
        return []
    company_id = visit.company.id
    entries = AuditEntry.objects.of(company_id).filter(entity_type="transaction", entity_id=str(row.id))
    alone = list(entries.order_by("-time", "-id")[:MOST_ENTRIES])
    about = TransactionTouched.objects.of(company_id).filter(transaction_id=row.id).select_related("entry")
    of_many = list(about.order_by("-entry__time", "-entry_id")[:MOST_ENTRIES])
    links = linked_with(row, [*alone, *(each.entry for each in of_many)], words)
    told = [
        Said(
            each.time,
            each.actor,
            links.get(each.id) or sentence_of(each.action, each.before, each.after, row=row, words=words),
        )
        for each in alone
    ]
    told += [
        Said(each.entry.time, each.entry.actor, links.get(each.entry_id) or sentence_of_many(each, words))
        for each in of_many
    ]
    told += [*brought(row), *assigned(row, words, parts, by_itself)]
    return sorted(told, key=lambda each: each.time, reverse=True)[:MOST_ENTRIES]


# ---------------------------------------------------------------------------------------------- sentences


def linked_with(row: Transaction, entries: Sequence[AuditEntry], words: Names) -> dict[UUID, str]:
    """Entry → what it says of the other leg, as that is now; nothing of one that is gone. One statement."""
    sides = {entry.id: entry.after or {} for entry in entries if entry.action == "transfer.linked"}
    others = {
        entry_id: after["target"] if after.get("source") == str(row.id) else after.get("source")
        for entry_id, after in sides.items()
    }
    legs = Transaction.objects.of(row.company_id).in_bulk([*others.values()]) if others else {}
    said = gettext("linked it as a transfer with {amount} on {account}, {day}.")
    return {
        entry_id: said.format(
            amount=money(leg.amount_value, leg.amount_currency),
            account=words.account(leg.account_id),
            day=current().day_of(leg.date),
        )
        for entry_id, other in others.items()
        if (leg := legs.get(UUID(other)))
    }


def brought(row: Transaction) -> Iterator[Said]:
    """The import that brought it; where it was pending first, that one and the one that booked it."""
    if row.import_batch_id is None:
        return
    before = PendingBefore.objects.filter(
        company_id=row.company_id, import_batch_id=row.import_batch_id, transaction_id=row.id
    ).first()
    first = id_from(str(before.facts.get("import_batch_id"))) if before else None
    batches = ImportBatch.objects.of(row.company_id).in_bulk([each for each in (row.import_batch_id, first) if each])
    for batch_id, batch in batches.items():
        file = batch.filename or gettext("an import")
        said = gettext("brought it with {file}.")
        if before:
            booked = gettext("booked it with {file}: it was pending until then.")
            said = booked if batch_id == row.import_batch_id else gettext("brought it with {file}, still pending.")
        yield Said(batch.created_time, batch.created_user_id, said.format(file=file))


def assigned(
    row: Transaction, words: Names, parts: Sequence[Categorization], by_itself: Mapping[str, str]
) -> Iterator[Said]:
    """What said by itself what it is for, and nobody has changed since: a rule, history, the account."""
    for part in parts if row.categorizations_auto_assigned else ():
        if who := by_itself.get(part.source_note or ""):
            said = gettext("categorized it as {category}: {who}.")
            yield Said(made_at(part.id), None, said.format(category=words.category(part.category_id), who=who))


def sentence_of(
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    *,
    row: Transaction,
    words: Names,
) -> str:
    """What an entry of the log says of the transaction, after the name of who did it; asks no database."""
    before, after = before or {}, after or {}
    match action:
        case "transaction.created":
            return gettext("booked it: {amount}.").format(amount=amount_in(after, row))
        case "transaction.updated":
            changed = in_order({*before, *after} - UNTOLD)
            fields = [changed_field(name, before, after, row=row, words=words) for name in changed]
            return gettext("changed {fields}.").format(fields=listed(fields) or gettext("nothing that is shown"))
        case "transaction.split":
            return of_parts(before, after, row=row, words=words)
    return f"{ALONE.get(action) or plain(action.replace('.', ' '))}."


def sentence_of_many(touched: TransactionTouched, words: Names) -> str:
    """What an entry about many, or about something else, did to the transaction; asks no database.

    took its categories away, with 3 others.
    """
    action, before, after = touched.entry.action, touched.entry.before or {}, touched.entry.after or {}
    count = sum(after.get(name) or 0 for name in OTHERS) if action.startswith("transactions.") else 1
    did = done_to_it(action, before, after, touched=touched, words=words)
    if action.startswith("transactions.") and count > 1:
        said = ngettext("{did}, with {n} other.", "{did}, with {n} others.", count - 1)
        return said.format(did=did, n=number(count - 1))
    return f"{did}."


def done_to_it(
    action: str, before: Mapping[str, Any], after: Mapping[str, Any], *, touched: TransactionTouched, words: Names
) -> str:
    if touched.as_partner and action in PARTNER:
        return str(PARTNER[action])
    if action == "transactions.categorized":
        return gettext("categorized it as {category}").format(category=category_in(after, "category_id", words))
    if action == "transactions.runTakenBack":
        return str(TAKEN_BACK[RunAct(after.get("act") or RunAct.RULES)])
    if action in OF_MANY:
        return str(OF_MANY[action])
    return of_another(action, before, after, touched=touched, words=words)


def of_another(
    action: str, before: Mapping[str, Any], after: Mapping[str, Any], *, touched: TransactionTouched, words: Names
) -> str:
    """What was done to a transaction by what was done to something that it refers to."""
    match action:
        case "category.replaced":
            said = gettext("moved what it was for to {category}: its category was deleted")
            return said.format(category=category_in(after, "replaced_with", words))
        case "counterparty.merged" if words.sees_counterparties:
            said = gettext("put the counterparty “{kept}” in the place of “{gone}”")
            return said.format(kept=before.get("merged_into"), gone=before.get("name"))
        case "plannedTransaction.settled" | "plannedTransactions.settled":
            return gettext("settled a planned payment with it")
        case "plannedTransaction.unsettled":
            return gettext("took back that a planned payment was settled with it")
        case "file.created":
            return gettext("added a document to it")
        case "file.updated":
            return of_document(str(touched.transaction_id), before, after)
        case "file.deleted":
            return gettext("deleted one of its documents")
    return sentence(action, name="", before=before, after=after)


def of_document(transaction_id: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    had, has = (transaction_id in (each.get("transaction_ids") or ()) for each in (before, after))
    if had == has:
        return gettext("changed what one of its documents says")
    return gettext("took a document off it") if had else gettext("attached a document to it")


def category_in(after: Mapping[str, Any], name: str, words: Names) -> str:
    category_id = id_from(str(after.get(name)))
    return words.category(category_id) if category_id in words.categories else gettext("another category")


def in_order(fields: set[str]) -> list[str]:
    """What people ask for first, then the others by name."""
    return [name for name in FIRST if name in fields] + sorted(fields - {*FIRST})


def amount_in(values: Mapping[str, Any], row: Transaction) -> str:
    currency = values.get("amount_currency") or row.amount_currency
    return money(Decimal(str(values.get("amount_value") or 0)), currency)


def changed_field(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], *, row: Transaction, words: Names
) -> str:
    """the amount from −€1.00 to −€2.00"""
    called = FIELDS.get(name, plain(name))
    said: Callable[[Mapping[str, Any]], str] = value_of(name, row=row, words=words)
    was, now = said(before), said(after)
    if name == "assigned_user_id":
        was = now = ""
    match bool(was), bool(now):
        case True, True:
            said_of_it = gettext("the {field} from {was} to {now}")
        case True, False:
            said_of_it = gettext("the {field} from {was} to nothing")
        case False, True:
            said_of_it = gettext("the {field} to {now}")
        case _:
            said_of_it = gettext("the {field}")
    return said_of_it.format(field=called, was=was, now=now)


def value_of(name: str, *, row: Transaction, words: Names) -> Callable[[Mapping[str, Any]], str]:
    """How a field's value is said, from a side of an entry."""
    if name == "amount_value":
        return lambda values: amount_in(values, row)
    if name == "account_id":
        return lambda values: words.account(UUID(values[name])) if id_from(str(values.get(name))) else ""
    return lambda values: quoted(name, short(values.get(name)))


def quoted(name: str, text: str) -> str:
    return gettext("“{text}”").format(text=text) if text and name in {"from_to", "description", "notes"} else text


def of_parts(before: Mapping[str, Any], after: Mapping[str, Any], *, row: Transaction, words: Names) -> str:
    if not after:
        return f"{UNCATEGORIZED}."
    parts = listed(list(parts_in(after, row=row, words=words)))
    said = gettext("changed what it was for to {parts}.") if before else gettext("categorized it: {parts}.")
    return said.format(parts=parts)


def parts_in(parts: Mapping[str, Any], *, row: Transaction, words: Names) -> Iterator[str]:
    """Hosting −€100.00"""
    values = list(parts.values())
    for each in values[:MOST_PARTS]:
        called = category_in(each, "category_id", words)
        yield f"{called} {money(Decimal(str(each.get('value') or 0)), row.amount_currency)}"
    if len(values) > MOST_PARTS:
        more = len(values) - MOST_PARTS
        yield gettext("{n} more").format(n=number(more))
