"""Giving an app access, and taking it away."""

from datetime import datetime, timedelta
from uuid import UUID

from companies.access import Access
from companies.follow_ups import follow_up
from companies.models import AuditEntry, Membership, Stamp
from companies.permissions import ADMIN_LEVEL, Permissions, in_order
from oauth import scopes, tokens
from oauth.models import CODE_LIVES, Application, AuthorizationCode, ConsentGrant, RevokedReason
from oauth.permissions import effective

USED_EVERY = timedelta(minutes=1)  # lastUsedTime is written at most this often


def grantable(access: Access, asked: list[str]) -> bool:
    """Whether the user has anything to give in this company for what is asked."""
    if not scopes.reaches_data(asked):
        return True
    return bool(effective(scopes=asked, snapshot=access.permissions, current=access.permissions))


def snapshot_of(permissions: Permissions) -> list[str]:
    """What is kept of the user's permissions at consent: never what is administrative."""
    return in_order(permissions - ADMIN_LEVEL)


def give(
    *, application: Application, access: Access, user_id: UUID, asked: list[str], auth_time: datetime, stamp: Stamp
) -> ConsentGrant:
    """Stores one act of consent."""
    consent = ConsentGrant.objects.create(
        company_id=access.company.id,
        user_id=user_id,
        application=application,
        scopes=asked,
        permissions=snapshot_of(access.permissions),
        auth_time=auth_time,
        created_time=stamp.time,
    )
    AuditEntry.objects.record(
        stamp,
        company_id=consent.company_id,
        action="app.connected",
        entity_type="connectedApp",
        entity_id=consent.id,
        after={"application": application.name, "client_id": application.client_id, "scopes": asked},
    )
    follow_up("app_connected", consent=consent, stamp=stamp)
    return consent


def standing(*, application: Application, user_id: UUID, asked: list[str]) -> ConsentGrant | None:
    """The latest live consent that covers what is asked and still gives something, for a silent authorization."""
    memberships = {each.company_id: each for each in Membership.objects.filter(user_id=user_id)}
    candidates = (
        ConsentGrant.objects.standing()
        .redeemed()
        .filter(company__in=memberships, application=application, user_id=user_id, scopes__contains=asked)
    )
    for consent in candidates[:20]:
        membership = memberships[consent.company_id]
        held = effective(scopes=asked, snapshot=consent.snapshot, current=membership.effective_permissions)
        if held or not scopes.reaches_data(asked):
            return consent
    return None


def new_code(
    *,
    consent: ConsentGrant,
    asked: list[str],
    redirect_uri: str,
    challenge: str,
    nonce: str,
    auth_time: datetime,
    now: datetime,
) -> str:
    """A code for the consent; only its digest is stored."""
    code = tokens.new_code()
    AuthorizationCode.objects.create(
        code=tokens.digest(code),
        consent=consent,
        user_id=consent.user_id,
        application_id=consent.application_id,
        redirect_uri=redirect_uri,
        scope=" ".join(asked),
        code_challenge=challenge,
        code_challenge_method="S256",
        nonce=nonce,
        auth_time=auth_time,
        expires=now + CODE_LIVES,
    )
    return code


def revoke(consent: ConsentGrant, *, reason: RevokedReason, stamp: Stamp) -> bool:
    """Ends a consent, and with it every code and token that hangs on it; True where it was live."""
    ended = ConsentGrant.objects.filter(id=consent.id, revoked_time=None).update(
        revoked_time=stamp.time, revoked_reason=reason
    )
    if not ended:
        return False
    consent.revoked_time, consent.revoked_reason = stamp.time, reason
    AuditEntry.objects.record(
        stamp,
        company_id=consent.company_id,
        action="app.revoked",
        entity_type="connectedApp",
        entity_id=consent.id,
        before={"application": consent.application.name, "scopes": consent.scopes},
        after={"reason": reason.value},
    )
    follow_up("app_revoked", consent=consent, stamp=stamp)
    return True


def note_use(consent_id: str, *, now: datetime) -> None:
    """Writes lastUsedTime, at most once a minute."""
    ConsentGrant.objects.filter(id=consent_id).exclude(last_used_time__gt=now - USED_EVERY).update(last_used_time=now)
