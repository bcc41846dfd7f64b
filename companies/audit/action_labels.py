"""Sentences for audit entries, in the user's language."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from companies.audit.field_labels import to_plain_words
from companies.pages.amount_formats import format_count

# Entity type → label, for the filter and sentences.
ENTITY_LABELS = {
    "account": _("Account"),
    "accountGroup": _("Account group"),
    "apiKey": _("API key"),
    "app": _("Connected app"),
    "categorizationRule": _("Rule"),
    "categorizationRun": _("Rule run"),
    "category": _("Category"),
    "closing": _("Closed month"),
    "company": _("Company"),
    "counterparty": _("Counterparty"),
    "file": _("Document"),
    "import": _("Import"),
    "initialBalance": _("Opening balance"),
    "invoice": _("Invoice"),
    "member": _("Member"),
    "notification": _("Notification"),
    "planItem": _("Plan item"),
    "plannedTransaction": _("Planned transaction"),
    "product": _("Product"),
    "productGroup": _("Product group"),
    "reportCommentary": _("Report commentary"),
    "reportLink": _("Report link"),
    "savedView": _("Saved view"),
    "scenario": _("Scenario"),
    "subscription": _("Subscription"),
    "subscriptionEvent": _("Subscription price"),
    "transaction": _("Transaction"),
    "transfer": _("Transfer"),
    "webhookEndpoint": _("Webhook"),
}
ENTITY_PHRASES = {
    "account": _("the account"),
    "accountGroup": _("the account group"),
    "apiKey": _("the API key"),
    "app": _("the connected app"),
    "categorizationRule": _("the rule"),
    "categorizationRun": _("the rule run"),
    "category": _("the category"),
    "closing": _("the closed month"),
    "company": _("the company"),
    "counterparty": _("the counterparty"),
    "file": _("the document"),
    "import": _("the import"),
    "initialBalance": _("the opening balance"),
    "invoice": _("the invoice"),
    "member": _("the member"),
    "notification": _("the notification"),
    "planItem": _("the plan item"),
    "plannedTransaction": _("the planned transaction"),
    "product": _("the product"),
    "productGroup": _("the product group"),
    "reportCommentary": _("the commentary on the report"),
    "reportLink": _("a link to the report"),
    "savedView": _("the saved view"),
    "scenario": _("the scenario"),
    "subscription": _("the subscription"),
    "subscriptionEvent": _("the subscription price"),
    "transaction": _("the transaction"),
    "transfer": _("the transfer"),
    "webhookEndpoint": _("the webhook"),
}
VERB_PHRASES = {
    "created": _("created {what}"),
    "updated": _("changed {what}"),
    "deleted": _("deleted {what}"),
    "archived": _("archived {what}"),
    "unarchived": _("restored {what}"),
    "disabled": _("disabled {what}"),
    "removed": _("removed {what}"),
    "revoked": _("revoked {what}"),
    "rolled": _("rolled {what}"),
}
# Actions with a sentence of their own: {name} is the entity's name, {n} the first count.
ACTION_PHRASES = {
    "account.groupChanged": _("moved the account{name} to another group"),
    "app.connected": _("connected the app{name}"),
    "app.revoked": _("disconnected the app{name}"),
    "categorizationRule.disabled": _("disabled the rule{name}"),
    "categorizationRules.arranged": _("reordered the rules"),
    "category.replaced": _("replaced the category{name}"),
    "closing.closed": _("closed the month{name}"),
    "closing.reopened": _("reopened the month{name}"),
    "company.copied": _("created a sandbox"),
    "company.logoRemoved": _("removed the logo"),
    "company.logoReplaced": _("replaced the logo"),
    "company.reset": _("reset the demo company"),
    "company.updated": _("changed the company settings"),
    "counterparty.merged": _("merged the counterparty{name} into another"),
    "import.finished": ngettext_lazy("imported {n} transaction", "imported {n} transactions", "count"),
    "import.undone": ngettext_lazy(
        "undid the import{name} with {n} transaction", "undid the import{name} with {n} transactions", "count"
    ),
    "invoice.overridden": _("changed the invoice{name}"),
    "invoice.paid": _("settled the invoice{name} in full"),
    "invoice.settled": _("settled a part of the invoice{name}"),
    "invoice.unsettled": _("unsettled the invoice{name}"),
    "invoice.writtenOff": _("wrote off the invoice{name}"),
    "invoices.imported": ngettext_lazy("imported {n} invoice", "imported {n} invoices", "count"),
    "invoices.importUndone": ngettext_lazy(
        "undid an import of {n} invoice", "undid an import of {n} invoices", "count"
    ),
    "member.declined": _("declined the invitation{name}"),
    "member.invited": _("invited{name}"),
    "member.invitedAgain": _("resent the invitation to{name}"),
    "member.joined": _("joined the company"),
    "member.left": _("left the company"),
    "member.secondFactorRemoved": _("removed two-factor authentication of{name}"),
    "notification.allRead": ngettext_lazy(
        "marked {n} notification as read", "marked {n} notifications as read", "count"
    ),
    "notification.deleted": ngettext_lazy("deleted {n} notification", "deleted {n} notifications", "count"),
    "notification.read": _("read a notification"),
    "plannedTransaction.overridden": _("changed an occurrence of the planned transaction{name}"),
    "plannedTransaction.settled": _("settled the planned transaction{name}"),
    "plannedTransaction.unsettled": _("unsettled the planned transaction{name}"),
    "plannedTransaction.writtenOff": _("wrote off the planned transaction{name}"),
    "plannedTransactions.settled": ngettext_lazy(
        "settled {n} planned transaction", "settled {n} planned transactions", "count"
    ),
    "scenario.adopted": _("adopted the scenario{name}"),
    "scenario.adoptionUndone": _("undid the adoption of the scenario{name}"),
    "subscriptionEvent.retracted": _("retracted a subscription price"),
    "subscriptionEvents.imported": ngettext_lazy(
        "imported {n} subscription price", "imported {n} subscription prices", "count"
    ),
    "subscriptionEvents.importUndone": ngettext_lazy(
        "undid an import of {n} subscription price", "undid an import of {n} subscription prices", "count"
    ),
    "transaction.matchAllowed": _("restored a rejected match of the transaction{name}"),
    "transaction.matchRefused": _("rejected a match of the transaction{name}"),
    "transaction.split": _("categorized the transaction{name}"),
    "transactions.categorized": ngettext_lazy("categorized {n} transaction", "categorized {n} transactions", "count"),
    "transactions.deleted": ngettext_lazy("deleted {n} transaction", "deleted {n} transactions", "count"),
    "transactions.rulesApplied": ngettext_lazy(
        "applied the rules to {n} transaction", "applied the rules to {n} transactions", "count"
    ),
    "transactions.runTakenBack": ngettext_lazy(
        "undid the changes to {n} transaction", "undid the changes to {n} transactions", "count"
    ),
    "transactions.uncategorized": ngettext_lazy(
        "uncategorized {n} transaction", "uncategorized {n} transactions", "count"
    ),
    "transfer.linked": _("linked a transfer"),
    "transfer.unlinked": _("unlinked a transfer"),
    "webhookEndpoint.redelivered": _("resent an event to the webhook{name}"),
    "webhookEndpoint.secretRolled": _("rolled the secret of the webhook{name}"),
    "webhookEndpoint.tested": _("tested the webhook{name}"),
}
COUNT_FIELDS = ("affected", "count", "deleted", "settled", "read_count", "deleted_count")
NAME_FIELDS = ("name", "filename", "from_to", "description", "email", "url")


def format_action(action: str, *, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Format an action as a sentence without its subject.

    >>> format_action("account.updated", name="Main", before={}, after={})
    'changed the account “Main”'
    >>> format_action("transactions.categorized", name="", before={}, after={"affected": 12})
    'categorized 12 transactions'
    """
    quoted_name = gettext(" “{name}”").format(name=name) if name else ""
    if phrase := ACTION_PHRASES.get(action):
        count = next((after[each] for each in COUNT_FIELDS if isinstance(after.get(each), int)), 0)
        return phrase.format(name=quoted_name, n=format_count(count), count=count)
    kind, _dot, verb = action.partition(".")
    object_text = f"{get_entity_phrase(kind)}{quoted_name}"
    if verb == "updated" and after.keys() == {"order"}:
        return gettext("moved {what} to position {place}").format(what=object_text, place=after["order"] + 1)
    return (
        VERB_PHRASES[verb].format(what=object_text) if verb in VERB_PHRASES else f"{to_plain_words(verb)} {object_text}"
    )


def get_entity_phrase(kind: str) -> str:
    """Return the phrase for a kind of entity, such as "the account"."""
    return (
        str(ENTITY_PHRASES[kind])
        if kind in ENTITY_PHRASES
        else gettext("the {thing}").format(thing=to_plain_words(kind))
    )


def get_object_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the name of an entity from its columns in the entry; "" if there is none."""
    candidates = (each.get(name) for name in NAME_FIELDS for each in (after, before))
    return next((text for text in candidates if isinstance(text, str) and text), "")
