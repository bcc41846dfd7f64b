"""Who joins, changes role or leaves."""

from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from companies import mailing
from companies.access import Access
from companies.errors import Conflict, Denied
from companies.follow_ups import follow_up
from companies.models import ApiKey, Company, Membership, Stamp, User, record_change
from companies.permissions import Permission, Role, membership_permissions


class LastOwner(Conflict):
    """The last owner of a company can be neither removed nor demoted."""

    code = "last_owner"


class AlreadyMember(Conflict):
    """This person is a member already."""

    code = "already_member"


class OwnersOnly(Denied):
    """Only owners make owners, only who may manage the company changes them, and nobody gives what they do not hold."""


def add(
    *, company: Company, stamp: Stamp, by: Access, email: str, role: str, permissions: list[str] | None
) -> Membership:
    """A new member by e-mail; somebody unknown gets an account without a password and a mail to set one.

    Raises AlreadyMember, OwnersOnly.
    """
    check_grant(by=by, role=role, permissions=permissions)
    user = User.objects.with_email(email)
    if user is None:
        user = User.objects.create_user(email)
        transaction.on_commit(lambda: invite(user=user, company=company))
    membership, created = Membership.objects.get_or_create(
        company=company,
        user=user,
        defaults={
            "role": role,
            "permissions": permissions,
            "created_time": stamp.time,
            "created_user_id": stamp.actor,
            "last_updated_time": stamp.time,
            "last_updated_user_id": stamp.actor,
        },
    )
    if not created:
        raise AlreadyMember
    record_change(
        stamp, membership, "member.added", after={"email": user.email, "role": role, "permissions": permissions}
    )
    follow_up("member_joined", membership=membership, stamp=stamp)
    return membership


def change(*, membership: Membership, stamp: Stamp, by: Access, role: str, permissions: list[str] | None) -> Membership:
    """Another role or another list of permissions. Raises LastOwner, OwnersOnly."""
    check_grant(by=by, role=role, permissions=permissions)
    check_reach(by=by, membership=membership)
    if role != Role.OWNER or permissions is not None:
        keep_an_owner(membership)
    before = {"role": membership.role, "permissions": membership.permissions}
    if membership.change(stamp, role=role, permissions=permissions):
        record_change(
            stamp, membership, "member.updated", before=before, after={"role": role, "permissions": permissions}
        )
    return membership


SHOWN = ("email", "name", "is_active")  # what the companies of a person see of them


def person_changed(*, user: User, before: dict[str, Any], stamp: Stamp) -> None:
    """A row in the log of each of the person's companies, where staff changed what is ``SHOWN`` of them."""
    after = {name: getattr(user, name) for name in SHOWN}
    if after != before:
        for membership in Membership.objects.filter(user=user):
            record_change(stamp, membership, "member.updated", before=before, after=after)


def remove(*, membership: Membership, stamp: Stamp, by: Access) -> None:
    """Ends a membership; its holder's keys live on and the owners are told. Raises LastOwner, OwnersOnly."""
    check_reach(by=by, membership=membership)
    keep_an_owner(membership)
    left = ApiKey.objects.of(membership.company_id).live(stamp.time).filter(created_user_id=str(membership.user_id))
    keys = list(left)
    record_change(stamp, membership, "member.removed", before={"email": membership.user.email, "role": membership.role})
    membership.delete()
    if keys:
        follow_up("api_key_creator_left", membership=membership, keys=keys, stamp=stamp)


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
    """Locks the company's owners, so that two leaving at once cannot both be the last but one."""
    owners = list(Membership.objects.of(membership.company_id).owners().select_for_update().order_by("id"))
    full = [each.id for each in owners if each.permissions is None]
    if membership.role == Role.OWNER and membership.permissions is None and full == [membership.id]:
        raise LastOwner


def invite(*, user: User, company: Company) -> None:
    """Mails a link to set the first password."""
    mailing.send_later(
        to=[user.email],
        subject=f"You were added to {company.name}",
        message=(
            f"You can now work with {company.name}. Set your password first:\n\n{password_link(user)}\n\n"
            "If you did not expect this, you can ignore this message."
        ),
    )


def password_link(user: User) -> str:
    """Where the user sets a password; holds until it is used or a password is set."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"{settings.APP_URL}/password-reset/{uid}/{default_token_generator.make_token(user)}"
