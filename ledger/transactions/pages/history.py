"""What became of one transaction, in sentences: who did what to it, and when."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.models import AuditEntry, id_from
from companies.pages.activity import short
from companies.pages.amounts import counted, money
from companies.pages.log_words import plain, sentence
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import ImportBatch, RunAct, Transaction, TransactionTouched
from ledger.transactions.pages.words import Names

MOST_ENTRIES = 50
MOST_PARTS = 4
UNTOLD = {"categorized_value", "transferred_value", "categorizations_auto_assigned", "import_batch_id", "provider_data"}
FIRST = ("amount_value", "amount_currency", "date", "account_id", "from_to", "description", "notes")
FIELDS = {
    "from_to": "from / to",
    "amount_value": "amount",
    "amount_currency": "currency",
    "account_id": "account",
    "assigned_user_id": "assignee",
    "external_id": "external id",
    "exclude_from_auto_categorization": "left out of automatic categorization",
}
PARTNER = {  # of the other leg of a transfer
    "transaction.deleted": "opened it: the other leg of its transfer was deleted",
    "transactions.deleted": "opened it: the other leg of its transfer was deleted",
    "import.undone": "opened it: the other leg of its transfer went with an import that was undone",
    "transactions.uncategorized": "took its categories away",
    "transfer.linked": "linked it with another transaction as a transfer",
    "transfer.unlinked": "took the link of its transfer away",
}
OF_MANY = {
    "transactions.rulesApplied": "applied the rules to it",
    "transactions.uncategorized": "took its categories away",
    "transactions.deleted": "deleted it",
}
TAKEN_BACK = {
    RunAct.RULES: "took back what the rules did to it",
    RunAct.CATEGORIZE: "took back how it was categorized",
    RunAct.UNCATEGORIZE: "gave it back the categories that were taken away",
    RunAct.DELETE: "took back that it was deleted",
}
OTHERS = ("affected", "deleted", "counters_created")  # counts of an entry about many that are transactions


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody did, as a sentence that begins with their name."""

    time: datetime
    actor: str | None
    text: str


def history(visit: Visit, row: Transaction, words: Names) -> list[Said]:
    """The latest changes of a transaction for those who may read the log; at most three statements."""
    if not visit.may(Permission.AUDIT_READ):
        return []
    company_id = visit.company.id
    entries = AuditEntry.objects.of(company_id).filter(entity_type="transaction", entity_id=str(row.id))
    told = [
        Said(each.time, each.actor, sentence_of(each.action, each.before, each.after, row=row, words=words))
        for each in entries.order_by("-time", "-id")[:MOST_ENTRIES]
    ]
    about = TransactionTouched.objects.of(company_id).filter(transaction_id=row.id).select_related("entry")
    told += [
        Said(each.entry.time, each.entry.actor, sentence_of_many(each, words))
        for each in about.order_by("-entry__time", "-entry_id")[:MOST_ENTRIES]
    ]
    if row.import_batch_id:
        batch = ImportBatch.objects.of(company_id).get(id=row.import_batch_id)
        told.append(
            Said(batch.created_time, batch.created_user_id, f"brought it with {batch.filename or 'an import'}.")
        )
    return sorted(told, key=lambda each: each.time, reverse=True)[:MOST_ENTRIES]


# ---------------------------------------------------------------------------------------------- sentences


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
            return f"booked it: {amount_in(after, row)}."
        case "transaction.updated":
            changed = in_order({*before, *after} - UNTOLD)
            return f"changed {listed([changed_field(name, before, after, row=row, words=words) for name in changed])}."
        case "transaction.split":
            return of_parts(before, after, row=row, words=words)
        case "transaction.deleted":
            return "deleted it."
        case "transfer.linked":
            return "linked it with another transaction as a transfer."
        case "transfer.unlinked":
            return "took the link of its transfer away."
    return f"{plain(action.replace('.', ' '))}."


def sentence_of_many(touched: TransactionTouched, words: Names) -> str:
    """What an entry about many, or about something else, did to the transaction; asks no database.

    took its categories away, with 3 others.
    """
    action, before, after = touched.entry.action, touched.entry.before or {}, touched.entry.after or {}
    count = sum(after.get(name) or 0 for name in OTHERS) if action.startswith("transactions.") else 1
    others = f", with {counted(count - 1, 'other')}" if count > 1 else ""
    if touched.as_partner and action in PARTNER:
        return f"{PARTNER[action]}{others}."
    if action == "transactions.categorized":
        return f"categorized it as {category_in(after, 'category_id', words)}{others}."
    if action == "transactions.runTakenBack":
        return f"{TAKEN_BACK[RunAct(after.get('act') or RunAct.RULES)]}{others}."
    if action in OF_MANY:
        return f"{OF_MANY[action]}{others}."
    return f"{of_another(action, before, after, touched=touched, words=words)}."


def of_another(
    action: str, before: Mapping[str, Any], after: Mapping[str, Any], *, touched: TransactionTouched, words: Names
) -> str:
    """What was done to a transaction by what was done to something that it refers to."""
    match action:
        case "category.replaced":
            return f"moved what it was for to {category_in(after, 'replaced_with', words)}: its category was deleted"
        case "counterparty.merged" if words.sees_counterparties:
            return f"put the counterparty “{before.get('merged_into')}” in the place of “{before.get('name')}”"
        case "file.created":
            return "added a document to it"
        case "file.updated":
            return of_document(str(touched.transaction_id), before, after)
        case "file.deleted":
            return "deleted one of its documents"
    return sentence(action, name="", before=before, after=after)


def of_document(transaction_id: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    had, has = (transaction_id in (each.get("transaction_ids") or ()) for each in (before, after))
    if had == has:
        return "changed what one of its documents says"
    return "took a document off it" if had else "attached a document to it"


def category_in(after: Mapping[str, Any], name: str, words: Names) -> str:
    category_id = id_from(str(after.get(name)))
    return words.category(category_id) if category_id in words.categories else "another category"


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
        return f"the {called}"
    if not was:
        return f"the {called} to {now}" if now else f"the {called}"
    return f"the {called} from {was} to {now or 'nothing'}"


def value_of(name: str, *, row: Transaction, words: Names) -> Callable[[Mapping[str, Any]], str]:
    """How a field's value is said, from a side of an entry."""
    if name == "amount_value":
        return lambda values: amount_in(values, row)
    if name == "account_id":
        return lambda values: words.account(UUID(values[name])) if id_from(str(values.get(name))) else ""
    return lambda values: quoted(name, short(values.get(name)))


def quoted(name: str, text: str) -> str:
    return f"“{text}”" if text and name in {"from_to", "description", "notes"} else text


def of_parts(before: Mapping[str, Any], after: Mapping[str, Any], *, row: Transaction, words: Names) -> str:
    if not after:
        return "took its categories away."
    parts = list(parts_in(after, row=row, words=words))
    return f"{'changed what it was for to' if before else 'categorized it:'} {listed(parts)}."


def parts_in(parts: Mapping[str, Any], *, row: Transaction, words: Names) -> Iterator[str]:
    """Hosting −€100.00"""
    values = list(parts.values())
    for each in values[:MOST_PARTS]:
        category_id = id_from(str(each.get("category_id")))
        called = words.category(category_id) if category_id in words.categories else "another category"
        yield f"{called} {money(Decimal(str(each.get('value') or 0)), row.amount_currency)}"
    if len(values) > MOST_PARTS:
        yield f"{len(values) - MOST_PARTS} more"


def listed(parts: list[str]) -> str:
    """a, b and c"""
    if len(parts) < 2:
        return "".join(parts) or "nothing that is shown"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
