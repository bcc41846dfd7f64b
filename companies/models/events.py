"""The types of events: what may stand as ``action`` in the log, in the feed and in a webhook endpoint's list."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# fmt: off
ENTITIES = {  # what an event is about → what became of it
    "account": "created updated archived unarchived groupChanged deleted",
    "accountGroup": "created updated deleted",
    "apiKey": "created rolled revoked",
    "app": "connected updated revoked",
    "categorizationRule": "created updated disabled deleted",
    "categorizationRules": "arranged",
    "category": "created updated replaced deleted",
    "company": "created updated reset logoReplaced logoRemoved",
    "counterparty": "created updated merged deleted",
    "file": "created updated deleted",
    "import": "finished undone",
    "initialBalance": "created updated",
    "member": "invited invitedAgain joined declined updated left removed secondFactorRemoved",
    "notification": "read allRead deleted",
    "planItem": "created updated deleted",
    "plannedTransaction": "created updated overridden settled unsettled deleted",
    "plannedTransactions": "settled",
    "product": "created updated deleted",
    "productGroup": "created updated deleted",
    "savedView": "created updated deleted",
    "subscription": "created updated deleted",
    "subscriptionEvent": "created retracted",
    "subscriptionEvents": "imported",
    "transaction": "created updated split matchRefused matchAllowed deleted",
    "transactions": "categorized uncategorized rulesApplied runTakenBack deleted",
    "transfer": "linked unlinked",
    "webhookEndpoint": "created updated disabled secretRolled tested redelivered deleted",
}
# fmt: on

EVENT_TYPES = frozenset(f"{entity}.{act}" for entity, acts in ENTITIES.items() for act in acts.split())
LONGEST_EVENT_TYPE = 60


def check_event_type(text: str) -> None:
    """Raises ValidationError (invalid_event_type): what the log does not have would never come. Who asks for one caps
    its length and says so."""
    if len(text) <= LONGEST_EVENT_TYPE and text not in EVENT_TYPES:
        raise ValidationError(_("Must be a type such as transaction.created."), code="invalid_event_type")
