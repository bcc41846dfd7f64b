"""Models of companies, members and credentials."""

from companies.models.api_keys import ApiKey
from companies.models.audit import MAX_ENTITY_ID_LENGTH, AuditEntry, snapshot_row
from companies.models.audit_context import MAX_ACTOR_LENGTH, AuditContext, Audited
from companies.models.companies import (
    STATUS_TRANSITIONS,
    Company,
    Currency,
    SystemStatus,
    ValuationCategory,
    ValuationLens,
    build_amount_condition,
)
from companies.models.directory import DirectoryEntry
from companies.models.events import MAX_EVENT_TYPE_LENGTH, check_event_type
from companies.models.failed_requests import FailedRequest
from companies.models.idempotency import IdempotencyRecord
from companies.models.maintenance_checkpoints import MaintenanceCheckpoint
from companies.models.memberships import AlreadyInvited, AlreadyMember, Membership, MembershipStatus
from companies.models.mfa import Passkey, RecoveryCode
from companies.models.rate_counters import RateCounter
from companies.models.tenancy import (
    CompanyForeignKey,
    CompanyKeys,
    CompanyOwned,
    CompanyOwnedQuerySet,
    IdIn,
    Shared,
    Unowned,
    generate_id,
    parse_id,
)
from companies.models.user_security import EmailChange, SecurityEvent, SecurityLogEntry, Session
from companies.models.users import User

__all__ = [
    "MAX_ACTOR_LENGTH",
    "MAX_ENTITY_ID_LENGTH",
    "MAX_EVENT_TYPE_LENGTH",
    "STATUS_TRANSITIONS",
    "AlreadyInvited",
    "AlreadyMember",
    "ApiKey",
    "AuditContext",
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
    "IdIn",
    "IdempotencyRecord",
    "MaintenanceCheckpoint",
    "Membership",
    "MembershipStatus",
    "Passkey",
    "RateCounter",
    "RecoveryCode",
    "SecurityEvent",
    "SecurityLogEntry",
    "Session",
    "Shared",
    "SystemStatus",
    "Unowned",
    "User",
    "ValuationCategory",
    "ValuationLens",
    "build_amount_condition",
    "check_event_type",
    "generate_id",
    "parse_id",
    "snapshot_row",
]
