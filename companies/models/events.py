"""Event types: values of ``action`` in the audit log, the event feed and the subscriptions of webhook
endpoints.
"""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# fmt: off
EVENT_ACTIONS = {  # entity → actions
    "account": "created updated archived unarchived groupChanged deleted",
    "accountGroup": "created updated deleted",
    "apiKey": "created rolled revoked",
    "app": "connected updated revoked",
    "categorizationRule": "created updated disabled deleted",
    "categorizationRules": "created arranged deleted",
    "category": "created updated replaced deleted",
    "closing": "closed reopened",
    "company": "created copied updated reset logoReplaced logoRemoved",
    "counterparty": "created updated merged deleted",
    "file": "created updated deleted",
    "import": "finished undone",
    "initialBalance": "created updated",
    "invoice": "created updated overridden settled paid unsettled writtenOff deleted",
    "invoices": "imported importUndone",
    "member": "invited invitedAgain joined declined updated left removed secondFactorRemoved",
    "notification": "read allRead deleted",
    "planItem": "created updated deleted",
    "plannedTransaction": "created updated overridden settled unsettled writtenOff deleted",
    "plannedTransactions": "settled",
    "product": "created updated deleted",
    "productGroup": "created updated deleted",
    "reportCommentary": "created updated",
    "reportLink": "created revoked",
    "savedView": "created updated deleted",
    "scenario": "created updated adopted adoptionUndone deleted",
    "subscription": "created updated deleted",
    "subscriptionEvent": "created retracted",
    "subscriptionEvents": "imported importUndone",
    "transaction": "created updated split matchRefused matchAllowed deleted",
    "transactions": "categorized uncategorized rulesApplied runTakenBack deleted",
    "transfer": "linked unlinked",
    "webhookEndpoint": "created updated disabled secretRolled tested redelivered deleted",
}
# fmt: on

EVENT_TYPES = frozenset(f"{entity}.{act}" for entity, acts in EVENT_ACTIONS.items() for act in acts.split())
MAX_EVENT_TYPE_LENGTH = 60


def check_event_type(text: str) -> None:
    """Raise ValidationError (invalid_event_type) for an unknown event type. Callers limit the length themselves."""
    if len(text) <= MAX_EVENT_TYPE_LENGTH and text not in EVENT_TYPES:
        raise ValidationError(_("Must be an event type such as transaction.created."), code="invalid_event_type")
