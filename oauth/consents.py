"""Giving an app access, and taking it away."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from companies import hooks
from companies.callers.access import Access
from companies.callers.authentication import access_of
from companies.errors import Missing
from companies.models import AuditEntry, Membership, Stamp, User
from companies.permissions import ADMIN_LEVEL, Permissions, in_order
from oauth.models import Application, ConsentGrant, ConsentGrantQuerySet, RevokedReason
from oauth.permissions import effective
from oauth.wire import scopes

USED_EVERY = timedelta(minutes=1)  # lastUsedTime is written at most this often


def grantable(access: Access, asked: list[str], *, snapshot: Permissions) -> bool:
    """Whether the user has anything to give in this company for what is asked: of what they held at consent, or who
    they are where that is all."""
    if scopes.reaches_data(asked):
        return bool(effective(scopes=asked, snapshot=snapshot, current=access.permissions))
    return not access.waits


def snapshot_of(permissions: Permissions) -> list[str]:
    """What is kept of the user's permissions at consent: never what is administrative."""
    return in_order(permissions - ADMIN_LEVEL)


@transaction.atomic
def give(
    *, application: Application, access: Access, user_id: UUID, asked: list[str], auth_time: datetime, stamp: Stamp
) -> ConsentGrant:
    """Stores one act of consent. Raises Missing where the membership or the user's account has just ended.

    Both are held: whoever ends one waits, and then ends this consent too.
    """
    memberships = Membership.objects.of(access.company.id).filter(user_id=user_id, user__is_active=True)
    if not memberships.select_for_update(of=("self", "user"), no_key=True).select_related("user").first():
        raise Missing
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
    hooks.app_connected.run(consent=consent, stamp=stamp)
    return consent


def standing(*, application: Application, user_id: UUID, asked: list[str]) -> ConsentGrant | None:
    """The latest live consent that covers what is asked and still gives something, for a silent authorization."""
    rows = Membership.objects.of_person(user_id).select_related("company", "user")
    memberships = {each.company_id: access_of(each, each.user) for each in rows if each.user}
    candidates = (
        ConsentGrant.objects.standing()
        .redeemed()
        .filter(company__in=memberships, application=application, user_id=user_id, scopes__contains=asked)
    )
    for consent in candidates[:20]:
        if grantable(memberships[consent.company_id], asked, snapshot=consent.snapshot):
            return consent
    return None


def revoke(consent: ConsentGrant, *, reason: RevokedReason, stamp: Stamp, told: bool = False) -> bool:
    """Ends a consent, and with it every code and token that hangs on it; True where it was live.

    ``told``: whoever is to know has heard it of another consent of the same app.
    """
    ended = ConsentGrant.objects.filter(id=consent.id, revoked_time=None).update(
        revoked_time=stamp.time, revoked_reason=reason
    )
    if not ended:
        return False
    AuditEntry.objects.record(
        stamp,
        company_id=consent.company_id,
        action="app.revoked",
        entity_type="connectedApp",
        entity_id=consent.id,
        before={"application": consent.application.name, "scopes": consent.scopes},
        after={"reason": reason.value},
    )
    if not told:
        hooks.app_revoked.run(consent=consent, stamp=stamp)
    return True


def connections(consents: ConsentGrantQuerySet) -> list[ConsentGrant]:
    """What people let apps do, latest first: one for an app, however often it was approved by somebody in a company. It
    is the latest consent, with the scopes and the last use of all that live."""
    found: dict[tuple[Any, ...], ConsentGrant] = {}
    for each in consents.connected():
        one = found.setdefault((each.company_id, each.application_id, each.user_id), each)
        one.scopes = scopes.in_order([*one.scopes, *each.scopes])
        one.last_used_time = max(filter(None, (one.last_used_time, each.last_used_time)), default=None)
    return list(found.values())


def disconnect(consent: ConsentGrant, *, stamp: Stamp) -> None:
    """Ends a connection: the consent, and every other that its user gave the app in the company."""
    same = {"company_id": consent.company_id, "user_id": consent.user_id, "application_id": consent.application_id}
    end_all(ConsentGrant.objects.filter(**same), reason=RevokedReason.USER, stamp=stamp)


@transaction.atomic
def end_all(consents: ConsentGrantQuerySet, *, reason: RevokedReason, stamp: Stamp) -> None:
    """Ends those that were not ended before, for good: nothing brings them back."""
    rows = consents.filter(revoked_time=None).select_related("application", "user")
    told: set[tuple[UUID, UUID, Any]] = set()
    for consent in rows.order_by("company_id", "id"):  # so that two who end many wait for each other in one order
        connection = (consent.company_id, consent.user_id, consent.application_id)
        if revoke(consent, reason=reason, stamp=stamp, told=connection in told):
            told.add(connection)


def member_left(*, membership: Membership, stamp: Stamp) -> None:
    """Called where a membership ends: so do the apps that its holder let into the company."""
    if membership.user_id is None:
        return  # an invitation, which let nothing in
    consents = ConsentGrant.objects.of(membership.company_id).filter(user_id=membership.user_id)
    end_all(consents, reason=RevokedReason.MEMBERSHIP_ENDED, stamp=stamp)


def person_deactivated(*, user: User, stamp: Stamp) -> None:
    """Called where a person is switched off. Owners and admins are told: who did it belongs to no company."""
    consents = ConsentGrant.objects.filter(user=user)
    end_all(consents, reason=RevokedReason.USER_DEACTIVATED, stamp=replace(stamp, user_id=None))


def apps_signed_out(*, user: User, stamp: Stamp) -> None:
    """Called where a person sets a new password and wants apps signed out too."""
    end_all(ConsentGrant.objects.filter(user=user), reason=RevokedReason.PASSWORD_CHANGED, stamp=stamp)


def note_use(consent_id: UUID, *, now: datetime) -> None:
    """Writes lastUsedTime, at most once a minute."""
    ConsentGrant.objects.filter(id=consent_id).exclude(last_used_time__gt=now - USED_EVERY).update(last_used_time=now)
