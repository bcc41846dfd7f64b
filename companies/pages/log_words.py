"""The words in which the log tells what somebody did: a sentence for each act, and what a field is called."""

import re
from collections.abc import Mapping
from typing import Any

from companies.pages.amounts import number

# What the log calls a thing → how people do; also the choices of its filter.
KINDS = {
    "account": "account",
    "accountGroup": "account group",
    "apiKey": "API key",
    "app": "connected app",
    "categorizationRule": "rule",
    "categorizationRun": "run of the rules",
    "category": "category",
    "company": "company",
    "counterparty": "counterparty",
    "file": "document",
    "import": "import",
    "initialBalance": "initial balance",
    "member": "member",
    "notification": "notification",
    "planItem": "plan line",
    "plannedTransaction": "planned payment",
    "product": "product",
    "productGroup": "product group",
    "savedView": "saved view",
    "subscription": "subscription",
    "subscriptionEvent": "price of a subscription",
    "transaction": "transaction",
    "transfer": "transfer",
    "webhookEndpoint": "webhook",
}
VERBS = {
    "created": "added",
    "updated": "changed",
    "deleted": "deleted",
    "archived": "archived",
    "unarchived": "restored",
    "disabled": "switched off",
    "removed": "removed",
    "revoked": "revoked",
    "rolled": "renewed",
}
# Acts that are more than a verb and a thing: {name} is the thing's, {n} the number of the first count, {s} its plural.
ACTS = {
    "account.groupChanged": "moved the account{name} to another group",
    "app.connected": "connected the app{name}",
    "app.revoked": "disconnected the app{name}",
    "categorizationRule.disabled": "switched off the rule{name}",
    "categorizationRules.arranged": "put the rules into another order",
    "category.replaced": "put another category in the place of{name}",
    "company.logoRemoved": "removed the logo",
    "company.logoReplaced": "replaced the logo",
    "company.updated": "changed the company’s settings",
    "counterparty.merged": "merged the counterparty{name} into another",
    "import.finished": "imported {n} transaction{s}",
    "import.undone": "undid the import{name} of {n} transaction{s}",
    "member.declined": "declined the invitation{name}",
    "member.invited": "invited{name}",
    "member.invitedAgain": "invited{name} again",
    "member.joined": "joined the company",
    "member.left": "left the company",
    "member.secondFactorRemoved": "took all second factors from{name}",
    "notification.allRead": "marked {n} notification{s} as read",
    "notification.deleted": "deleted {n} notification{s}",
    "notification.read": "read a notification",
    "plannedTransaction.overridden": "changed one occurrence of the planned payment{name}",
    "plannedTransaction.settled": "settled the planned payment{name}",
    "plannedTransaction.unsettled": "took back that the planned payment{name} was settled",
    "plannedTransactions.settled": "settled {n} planned payment{s}",
    "subscriptionEvent.retracted": "took back a price of a subscription",
    "subscriptionEvents.imported": "imported {n} price{s} of subscriptions",
    "transaction.split": "said what the transaction{name} was for",
    "transactions.categorized": "categorized {n} transaction{s}",
    "transactions.deleted": "deleted {n} transaction{s}",
    "transactions.rulesApplied": "applied the rules to {n} transaction{s}",
    "transactions.runTakenBack": "took back what was done to {n} transaction{s}",
    "transactions.uncategorized": "uncategorized {n} transaction{s}",
    "transfer.linked": "linked a transfer",
    "transfer.unlinked": "unlinked a transfer",
    "webhookEndpoint.redelivered": "sent an event to the webhook{name} again",
    "webhookEndpoint.secretRolled": "renewed the secret of the webhook{name}",
    "webhookEndpoint.tested": "tested the webhook{name}",
}
COUNTS = ("affected", "count", "deleted", "settled", "read_count", "deleted_count")
NAMES = ("name", "filename", "from_to", "description", "email", "url")
MOVED = "moved {what}{name} to place {place}"
FIELDS = {
    "amount_currency": "currency",
    "amount_value": "amount",
    "auto_settle": "settles by itself",
    "categorized_value": "categorized",
    "default_currency": "currency",
    "emoji": "sign",
    "external_id": "external id",
    "file_extension": "format",
    "filename": "file",
    "from_to": "from / to",
    "kept": "stay as they were",
    "include_in_cash_balance": "counts as cash",
    "order": "place in lists",
    "parse_data": "what it says",
    "parse_status": "state",
    "pl_type": "P&L line",
    "pl_types": "P&L lines",
    "rule": "counts by",
    "system": "built in",
    "transaction_ids": "transactions",
}


def sentence(action: str, *, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What somebody did, to stand behind who: changed the account “Main”.

    >>> sentence("account.updated", name="Main", before={}, after={})
    'changed the account “Main”'
    >>> sentence("transactions.categorized", name="", before={}, after={"affected": 12})
    'categorized 12 transactions'
    """
    called = f" “{name}”" if name else ""
    if told := ACTS.get(action):
        count = next((after[each] for each in COUNTS if isinstance(after.get(each), int)), 0)
        return told.format(name=called, n=number(count), s="" if count == 1 else "s")
    kind, _, act = action.partition(".")
    if act == "updated" and after.keys() == {"order"}:
        return MOVED.format(what=noun(kind), name=called, place=after["order"] + 1)
    return f"{VERBS.get(act, plain(act))} {noun(kind)}{called}"


def noun(kind: str) -> str:
    """the account; API keys are called as people do."""
    return f"the {KINDS.get(kind, plain(kind))}"


def named(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What a thing was called by its own columns, for one that is gone or has just come."""
    found = (each.get(name) for name in NAMES for each in (after, before))
    return next((text for text in found if isinstance(text, str) and text), "")


def field_word(name: str) -> str:
    """last_of_month → last of month"""
    return FIELDS.get(name) or plain(name)


def plain(name: str) -> str:
    """lastOfMonth, last_of_month → last of month"""
    return re.sub(r"(?<=[a-z])([A-Z])", r" \1", name).replace("_", " ").lower()
