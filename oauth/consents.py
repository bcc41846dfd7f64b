"""Consents: grant an app access, find consents, and revoke them."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from companies import hooks
from companies.auth.access import Access
from companies.auth.authentication import build_member_access
from companies.errors import NotFoundError
from companies.models import AuditContext, AuditEntry, Membership, User
from companies.permissions import ADMIN_PERMISSIONS, Permissions, sort_permissions
from oauth.models import Application, ConsentGrant, ConsentGrantQuerySet, RevokedReason
from oauth.permissions import compute_effective_permissions
from oauth.protocol import scopes

LAST_USED_INTERVAL = timedelta(minutes=1)  # minimum time between two updates of lastUsedTime


def can_grant(access: Access, requested_scopes: list[str], *, snapshot: Permissions) -> bool:
    """Return whether the user can grant anything of the scopes, given their permissions at consent.

    No app connects to a sandbox.
    """
    if access.company.is_sandbox:
        return False
    if scopes.has_data_scopes(requested_scopes):
        return bool(
            compute_effective_permissions(scopes=requested_scopes, snapshot=snapshot, current=access.permissions)
        )
    return not access.needs_mfa_setup


def list_grantable_permissions(permissions: Permissions) -> list[str]:
    """Return the permissions stored with a consent: the user's, without administrative ones."""
    return sort_permissions(permissions - ADMIN_PERMISSIONS)


@transaction.atomic
def create_consent(
    *,
    application: Application,
    access: Access,
    user_id: UUID,
    requested_scopes: list[str],
    auth_time: datetime,
    context: AuditContext,
) -> ConsentGrant:
    """Create a consent; membership and user are locked, so that whoever ends one revokes this consent too.

    Raises:
        NotFoundError: the membership or the user's account has just ended.
    """
    memberships = Membership.objects.for_company(access.company.id).filter(user_id=user_id, user__is_active=True)
    if not memberships.select_for_update(of=("self", "user"), no_key=True).select_related("user").first():
        raise NotFoundError
    consent = ConsentGrant.objects.create(
        company_id=access.company.id,
        user_id=user_id,
        application=application,
        scopes=requested_scopes,
        permissions=list_grantable_permissions(access.permissions),
        auth_time=auth_time,
        created_time=context.time,
    )
    AuditEntry.objects.build_entry(
        context,
        company_id=consent.company_id,
        action="app.connected",
        entity_type="connectedApp",
        entity_id=consent.id,
        after={"application": application.name, "client_id": application.client_id, "scopes": requested_scopes},
    ).save(force_insert=True)
    hooks.app_connected.run(consent=consent, context=context)
    return consent


def find_standing_consent(
    *, application: Application, user_id: UUID, requested_scopes: list[str]
) -> ConsentGrant | None:
    """Return the latest valid consent that covers the scopes, for a silent authorization; None without one."""
    rows = Membership.objects.for_user(user_id).select_related("company", "user")
    memberships = {each.company_id: build_member_access(each, each.user) for each in rows if each.user}
    candidates = (
        ConsentGrant.objects.standing()
        .redeemed()
        .filter(company__in=memberships, application=application, user_id=user_id, scopes__contains=requested_scopes)
    )
    for consent in candidates[:20]:
        if can_grant(memberships[consent.company_id], requested_scopes, snapshot=consent.snapshot):
            return consent
    return None


def revoke_consent(
    consent: ConsentGrant, *, reason: RevokedReason, context: AuditContext, is_notified: bool = False
) -> bool:
    """Revoke a consent with all its codes and tokens; return whether it was valid.

    Args:
        is_notified: the notification was sent for another consent of the same app.
    """
    ended = ConsentGrant.objects.filter(id=consent.id, revoked_time=None).update(
        revoked_time=context.time, revoked_reason=reason
    )
    if not ended:
        return False
    AuditEntry.objects.build_entry(
        context,
        company_id=consent.company_id,
        action="app.revoked",
        entity_type="connectedApp",
        entity_id=consent.id,
        before={"application": consent.application.name, "scopes": consent.scopes},
        after={"reason": reason.value},
    ).save(force_insert=True)
    if not is_notified:
        hooks.app_revoked.run(consent=consent, context=context)
    return True


@transaction.atomic
def revoke_consents(consents: ConsentGrantQuerySet, *, reason: RevokedReason, context: AuditContext) -> None:
    """Revoke consents for good."""
    rows = consents.filter(revoked_time=None).select_related("application", "user")
    notified: set[tuple[UUID, UUID, Any]] = set()
    for consent in rows.order_by("company_id", "id"):  # one lock order, to avoid deadlocks
        connection = (consent.company_id, consent.user_id, consent.application_id)
        if revoke_consent(consent, reason=reason, context=context, is_notified=connection in notified):
            notified.add(connection)


def revoke_consents_of_member(*, membership: Membership, context: AuditContext) -> None:
    """Revoke the consents of a member who left the company."""
    if membership.user_id is None:
        return  # an invitation, which has no consents
    consents = ConsentGrant.objects.for_company(membership.company_id).filter(user_id=membership.user_id)
    revoke_consents(consents, reason=RevokedReason.MEMBERSHIP_ENDED, context=context)


def revoke_consents_of_deactivated_user(*, user: User, context: AuditContext) -> None:
    """Revoke the consents of a deactivated user; managers are notified, since staff belong to no company."""
    consents = ConsentGrant.objects.filter(user=user)
    revoke_consents(consents, reason=RevokedReason.USER_DEACTIVATED, context=replace(context, user_id=None))


def revoke_consents_of_user(*, user: User, context: AuditContext) -> None:
    """Revoke all consents of a user who chose this with a new password."""
    revoke_consents(ConsentGrant.objects.filter(user=user), reason=RevokedReason.PASSWORD_CHANGED, context=context)


def record_consent_use(consent_id: UUID, *, now: datetime) -> None:
    """Store lastUsedTime, at most once a minute."""
    ConsentGrant.objects.filter(id=consent_id).exclude(last_used_time__gt=now - LAST_USED_INTERVAL).update(
        last_used_time=now
    )
