"""Companies, the people in them and their credentials."""

from companies.models.api_keys import ApiKey
from companies.models.audit import LONGEST_ENTITY_ID, AuditEntry, LogMonth, latest_first, snapshot
from companies.models.companies import (
    STATUS_MOVES,
    Company,
    Currency,
    SystemStatus,
    ValuationCategory,
    ValuationLens,
    a_number,
)
from companies.models.directory import DirectoryEntry
from companies.models.events import LONGEST_EVENT_TYPE, check_event_type
from companies.models.factors import Passkey, RecoveryCode
from companies.models.failures import FailedRequest
from companies.models.idempotency import IdempotencyRecord
from companies.models.memberships import AlreadyInvited, AlreadyMember, Membership, Status
from companies.models.rate_counters import RateCounter
from companies.models.rounds import LastRound
from companies.models.security import EmailChange, PersonalEntry, PersonalEvent, Session
from companies.models.stamps import LONGEST_ACTOR, Audited, Stamp
from companies.models.tenancy import (
    Among,
    CompanyForeignKey,
    CompanyKeys,
    CompanyOwned,
    CompanyOwnedQuerySet,
    Shared,
    Unowned,
    id_from,
    new_id,
)
from companies.models.users import User

__all__ = [
    "LONGEST_ACTOR",
    "LONGEST_ENTITY_ID",
    "LONGEST_EVENT_TYPE",
    "STATUS_MOVES",
    "AlreadyInvited",
    "AlreadyMember",
    "Among",
    "ApiKey",
    "AuditEntry",
    "Audited",
    "Company",
    "CompanyForeignKey",
    "CompanyKeys",
    "CompanyOwned",
    "CompanyOwnedQuerySet",
    "Currency",
    "DirectoryEntry",
    "EmailChange",
    "FailedRequest",
    "IdempotencyRecord",
    "LastRound",
    "LogMonth",
    "Membership",
    "Passkey",
    "PersonalEntry",
    "PersonalEvent",
    "RateCounter",
    "RecoveryCode",
    "Session",
    "Shared",
    "Stamp",
    "Status",
    "SystemStatus",
    "Unowned",
    "User",
    "ValuationCategory",
    "ValuationLens",
    "a_number",
    "check_event_type",
    "id_from",
    "latest_first",
    "new_id",
    "snapshot",
]
