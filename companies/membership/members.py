"""Who changes role or leaves; who joins is invited (companies.membership.inviting)."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from companies import hooks
from companies.callers.access import Access
from companies.changing import Change, changing
from companies.errors import Conflict, Denied, Missing
from companies.models import ApiKey, Company, Membership, Stamp, User
from companies.models.memberships import MembershipQuerySet
from companies.permissions import Permission, Role, membership_permissions
from companies.security import ending


class LastOwner(Conflict):
    """The last owner of a company can be neither removed nor demoted."""

    code = "last_owner"


class OwnersOnly(Denied):
    """Only owners make owners, only who may manage the company changes them, and nobody gives what they do not hold."""


def change(*, company: Company, stamp: Stamp, by: Access, member_id: UUID | str, values: dict[str, Any]) -> Membership:
    """Another role or another list of permissions; null means the role's.

    Raises Missing, Stale, LastOwner, OwnersOnly.
    """
    with changing(company, stamp=stamp) as change:
        membership = change.locked(Membership.objects.select_related("user"), member_id)
        role = values.get("role", membership.role)
        permissions = values.get("permissions", membership.permissions)
        check_grant(by=by, role=role, permissions=permissions)
        check_reach(by=by, membership=membership)
        if role != Role.OWNER or permissions is not None:
            keep_an_owner(membership)
        before = {"role": membership.role, "permissions": membership.permissions}
        if membership.change(stamp, role=role, permissions=permissions):
            after = {"role": role, "permissions": permissions}
            change.record(membership, "member.updated", before=before, after=after)
    return membership


def change_role(
    *, company: Company, stamp: Stamp, by: Access, member_id: UUID | str, role: str
) -> tuple[Membership, bool]:
    """(the member, in another role and with its permissions; whether own ones were given up). Who keeps the role keeps
    those too. Raises what ``change`` raises."""
    with changing(company, stamp=stamp) as change_of:
        stored = change_of.locked(Membership, member_id)
        kept = stored.permissions if stored.role == role else None
        values = {"role": role, "permissions": kept}
        member = change(company=company, stamp=stamp, by=by, member_id=member_id, values=values)
    return member, stored.permissions != kept


def describe(*, user: User, name: str, locale: str, stamp: Stamp) -> None:
    """What somebody is called, and how they read: by themselves."""
    before = shown(user)
    user.name, user.locale = name, locale
    user.save(update_fields=["name", "locale"])
    person_changed(user=user, before=before, stamp=stamp)


SHOWN = ("email", "name", "is_active")  # what the companies of a person see of them


def shown(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in SHOWN}


def person_changed(*, user: User, before: dict[str, Any], stamp: Stamp) -> None:
    """A row in the log of each company that knows the person, where something that is ``SHOWN`` of them changed.

    The apps of one who was switched off end.
    """
    after = shown(user)
    if after != before:
        memberships = Membership.objects.of_person(user.id).select_related("user", "company")
        for membership in memberships.order_by("company_id"):  # for all their turns are kept to the end
            if membership.is_known:
                with changing(membership.company, stamp=stamp) as change:
                    change.record(membership, "member.updated", before=before, after=after)
    if before["is_active"] and not user.is_active:
        ending.person_deactivated(user=user, stamp=stamp)
        hooks.user_deactivated.run(user=user, stamp=stamp)


def remove(*, company: Company, stamp: Stamp, by: Access, member_id: UUID | str) -> Membership:
    """Ends a membership, or cancels an invitation.

    Raises Missing, Stale, LastOwner, OwnersOnly.
    """
    with changing(company, stamp=stamp) as change:
        membership = change.locked(Membership.objects.select_related("user"), member_id)
        check_reach(by=by, membership=membership)
        end(change, membership, "member.removed")
    return membership


def leave(*, company: Company, stamp: Stamp) -> None:
    """The person who asks goes. Raises Missing, Stale, LastOwner."""
    with changing(company, stamp=stamp) as change:
        mine = Membership.objects.of(company.id).filter(user_id=stamp.user_id).first() if stamp.user_id else None
        if mine is None:
            raise Missing
        end(change, change.locked(Membership.objects.select_related("user"), mine.id), "member.left")


def end(change: Change, membership: Membership, action: str) -> None:
    """With a membership end its holder's apps; their keys live on and the owners are told."""
    keep_an_owner(membership)
    before = {"email": membership.shown_email, "role": membership.role}
    keys = ApiKey.objects.of(change.company.id).live(change.stamp.time)
    left = list(keys.filter(created_user_id=str(membership.user_id))) if membership.user_id else []
    change.delete(membership, action, before=before)
    hooks.member_left.run(membership=membership, stamp=change.stamp)
    if left:
        hooks.api_key_creator_left.run(membership=membership, keys=left, stamp=change.stamp)


def check_grant(*, by: Access, role: str, permissions: list[str] | None) -> None:
    """Nobody hands out more than they hold."""
    granted = membership_permissions(role=role, explicit=permissions)
    if (role == Role.OWNER and by.role != Role.OWNER) or granted - by.permissions:
        raise OwnersOnly


def check_reach(*, by: Access, membership: Membership) -> None:
    """An owner's membership is changed by those who may manage the company: owners, and keys of theirs that may."""
    if membership.role == Role.OWNER and Permission.COMPANY_MANAGE not in by.permissions:
        raise OwnersOnly


def keep_an_owner(membership: Membership) -> None:
    """An owner with all permissions stays. Raises LastOwner."""
    full = full_owners(membership.company_id)
    is_full = membership.user_id is not None and membership.role == Role.OWNER and membership.permissions is None
    if is_full and full.count() == 1:
        raise LastOwner


def full_owners(company_id: UUID) -> MembershipQuerySet:
    """Its owners with all permissions, of whom one stays."""
    return Membership.objects.of(company_id).owners().filter(permissions=None)


def is_last_owner(*, company: Company, user_id: UUID) -> bool:
    """Whether nobody else could do what this person can, so that they cannot leave."""
    return list(full_owners(company.id).values_list("user_id", flat=True)[:2]) == [user_id]


def password_link(user: User) -> str:
    """Where the user sets a password; holds until it is used or a password is set."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"{settings.APP_URL}/password-reset/{uid}/{default_token_generator.make_token(user)}"
