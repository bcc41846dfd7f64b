"""Labels of the actions in audit entries, such as "Transaction updated"."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from companies.audit.field_labels import to_plain_words
from companies.pages.amount_formats import format_count

# Entity type → label, for the filter and the labels of actions.
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
GROUP_LABELS = {  # of actions on many
    "categorizationRules": _("Rules"),
    "invoices": _("Invoices"),
    "plannedTransactions": _("Planned transactions"),
    "subscriptionEvents": _("Subscription prices"),
    "transactions": _("Transactions"),
}
VERB_LABELS = {
    "adopted": _("{entity} adopted"),
    "archived": _("{entity} archived"),
    "arranged": _("{entity} reordered"),
    "booked": _("{entity} booked"),
    "categorized": _("{entity} categorized"),
    "created": _("{entity} created"),
    "deleted": _("{entity} deleted"),
    "disabled": _("{entity} disabled"),
    "finished": _("{entity} finished"),
    "groupChanged": _("{entity} moved to another group"),
    "imported": _("{entity} imported"),
    "invited": _("{entity} invited"),
    "joined": _("{entity} joined"),
    "left": _("{entity} left"),
    "linked": _("{entity} linked"),
    "merged": _("{entity} merged"),
    "overridden": _("{entity} updated"),
    "paid": _("{entity} settled in full"),
    "read": _("{entity} read"),
    "removed": _("{entity} removed"),
    "replaced": _("{entity} replaced"),
    "reset": _("{entity} reset"),
    "retracted": _("{entity} retracted"),
    "revoked": _("{entity} revoked"),
    "rolled": _("{entity} rolled"),
    "settled": _("{entity} settled"),
    "split": _("{entity} categorized"),
    "tested": _("{entity} tested"),
    "unarchived": _("{entity} restored"),
    "uncategorized": _("{entity} uncategorized"),
    "undone": _("{entity} undone"),
    "unlinked": _("{entity} unlinked"),
    "unsettled": _("{entity} unsettled"),
    "updated": _("{entity} updated"),
    "writtenOff": _("{entity} written off"),
}
ACTION_LABELS = {  # of actions that an entity and a verb do not name
    "app.connected": _("App connected"),
    "app.revoked": _("App disconnected"),
    "closing.closed": _("Month closed"),
    "closing.reopened": _("Month reopened"),
    "company.copied": _("Sandbox created"),
    "company.logoRemoved": _("Logo removed"),
    "company.logoReplaced": _("Logo replaced"),
    "invoice.settled": _("Invoice partly paid"),
    "invoices.importUndone": _("Import of invoices undone"),
    "member.declined": _("Invitation declined"),
    "member.invitedAgain": _("Invitation resent"),
    "member.secondFactorRemoved": _("Two-factor authentication removed"),
    "notification.allRead": _("Notifications read"),
    "plannedTransaction.overridden": _("Occurrence updated"),
    "scenario.adoptionUndone": _("Adoption of scenario undone"),
    "subscriptionEvents.importUndone": _("Import of subscription prices undone"),
    "transaction.matchAllowed": _("Rejected match restored"),
    "transaction.matchRefused": _("Match rejected"),
    "transaction.importedPending": _("Pending transaction imported"),
    "transactions.rulesApplied": _("Rules applied"),
    "transactions.runTakenBack": _("Bulk change undone"),
    "webhookEndpoint.redelivered": _("Webhook event resent"),
    "webhookEndpoint.secretRolled": _("Webhook secret rolled"),
}


def format_action(action: str, *, count: int | None = None) -> str:
    """Return the label of an action, with the number of records that it changed.

    >>> format_action("account.updated")
    'Account updated'
    >>> format_action("transactions.categorized", count=12)
    'Transactions categorized (12)'
    """
    label = find_action_label(action) or to_plain_words(action.replace(".", " "))
    return label if count is None else f"{label} ({format_count(count)})"


def find_action_label(action: str) -> str:
    """Return the label of an action; "" if it is unknown."""
    if action in ACTION_LABELS:
        return str(ACTION_LABELS[action])
    kind, _, verb = action.partition(".")
    entity: Any = ENTITY_LABELS.get(kind) or GROUP_LABELS.get(kind)
    return VERB_LABELS[verb].format(entity=entity) if entity and verb in VERB_LABELS else ""
