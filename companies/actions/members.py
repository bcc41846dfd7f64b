"""Operations on members: role, permissions, profile, removal. Invitations are in
companies.actions.invitations.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from companies import hooks
from companies.auth import session_revocation
from companies.auth.access import Access
from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, NotFoundError, PermissionDeniedError
from companies.models import ApiKey, AuditContext, Company, Membership, User
from companies.models.memberships import MembershipQuerySet
from companies.permissions import Permission, Role, get_membership_permissions


class LastOwner(ConflictError):
    """A company needs at least one owner. Make another member an owner first."""

    code = "last_owner"


class OwnerRequired(PermissionDeniedError):
    """You cannot change this member's role or permissions. You can only grant permissions you have yourself."""


def update_member(
    *, company: Company, context: AuditContext, actor_access: Access, member_id: UUID | str, values: dict[str, Any]
) -> Membership:
    """Change a member's role or permissions; null means the permissions of the role.

    Raises:
        NotFoundError, PreconditionFailed, LastOwner, OwnerRequired
    """
    with change_company(company, context=context) as change:
        membership = change.lock(Membership.objects.select_related("user"), member_id)
        role = values.get("role", membership.role)
        permissions = values.get("permissions", membership.permissions)
        check_can_grant(actor_access=actor_access, role=role, permissions=permissions)
        check_can_change_member(actor_access=actor_access, membership=membership)
        if role != Role.OWNER or permissions is not None:
            require_remaining_owner(membership)
        before = {"role": membership.role, "permissions": membership.permissions}
        if membership.apply_changes(context, role=role, permissions=permissions):
            after = {"role": role, "permissions": permissions}
            change.record(membership, "member.updated", before=before, after=after)
    return membership


def update_member_role(
    *, company: Company, context: AuditContext, actor_access: Access, member_id: UUID | str, role: str
) -> tuple[Membership, bool]:
    """Change a member's role. Returns (member, whether their own list of permissions was dropped).

    A member who keeps their role keeps their permissions. Raises what ``update_member`` raises.
    """
    with change_company(company, context=context) as company_change:
        stored_membership = company_change.lock(Membership, member_id)
        permissions = stored_membership.permissions if stored_membership.role == role else None
        values = {"role": role, "permissions": permissions}
        member = update_member(
            company=company, context=context, actor_access=actor_access, member_id=member_id, values=values
        )
    return member, stored_membership.permissions != permissions


def update_user_profile(*, user: User, name: str, locale: str, context: AuditContext) -> None:
    """Change the user's own name and locale."""
    before = snapshot_user(user)
    user.name, user.locale = name, locale
    user.save(update_fields=["name", "locale"])
    record_user_change(user=user, before=before, context=context)


VISIBLE_USER_FIELDS = ("email", "name", "is_active")  # what companies see of their members


def snapshot_user(user: User) -> dict[str, Any]:
    """Return the facts of a user that their companies see."""
    return {name: getattr(user, name) for name in VISIBLE_USER_FIELDS}


def record_user_change(*, user: User, before: dict[str, Any], context: AuditContext) -> None:
    """Write an audit entry in each company that knows the user, if a visible fact changed; run the hook on
    deactivation.
    """
    after = snapshot_user(user)
    if after != before:
        memberships = Membership.objects.for_user(user.id).select_related("user", "company")
        for membership in memberships.order_by("company_id"):  # all company locks are held to the end
            if membership.is_known:
                with change_company(membership.company, context=context) as change:
                    change.record(membership, "member.updated", before=before, after=after)
    if before["is_active"] and not user.is_active:
        session_revocation.revoke_deactivated_user_sessions(user=user, context=context)
        hooks.user_deactivated.run(user=user, context=context)


def remove_member(
    *, company: Company, context: AuditContext, actor_access: Access, member_id: UUID | str
) -> Membership:
    """Remove a member, or cancel an invitation.

    Raises:
        NotFoundError, PreconditionFailed, LastOwner, OwnerRequired
    """
    with change_company(company, context=context) as change:
        membership = change.lock(Membership.objects.select_related("user"), member_id)
        check_can_change_member(actor_access=actor_access, membership=membership)
        end_membership(change, membership, "member.removed")
    return membership


def leave_company(*, company: Company, context: AuditContext) -> None:
    """Remove the calling user from the company. Raises NotFoundError, PreconditionFailed, LastOwner."""
    with change_company(company, context=context) as change:
        own_membership = (
            Membership.objects.for_company(company.id).filter(user_id=context.user_id).first()
            if context.user_id
            else None
        )
        if own_membership is None:
            raise NotFoundError
        end_membership(change, change.lock(Membership.objects.select_related("user"), own_membership.id), "member.left")


def end_membership(change: CompanyChange, membership: Membership, action: str) -> None:
    """Delete a locked membership; the user's apps end, their API keys stay and owners are notified."""
    require_remaining_owner(membership)
    before = {"email": membership.shown_email, "role": membership.role}
    keys = ApiKey.objects.for_company(change.company.id).active(change.context.time)
    active_keys = list(keys.filter(created_user_id=str(membership.user_id))) if membership.user_id else []
    change.delete(membership, action, before=before)
    hooks.member_left.run(membership=membership, context=change.context)
    if active_keys:
        hooks.api_key_creator_left.run(membership=membership, keys=active_keys, context=change.context)


def check_can_grant(*, actor_access: Access, role: str, permissions: list[str] | None) -> None:
    """Raise OwnerRequired if the actor grants permissions they do not have."""
    granted_permissions = get_membership_permissions(role=role, explicit=permissions)
    if (role == Role.OWNER and actor_access.role != Role.OWNER) or granted_permissions - actor_access.permissions:
        raise OwnerRequired


def check_can_change_member(*, actor_access: Access, membership: Membership) -> None:
    """Raise OwnerRequired if the actor may not change this member: owners need the permission company:manage."""
    if membership.role == Role.OWNER and Permission.COMPANY_MANAGE not in actor_access.permissions:
        raise OwnerRequired


def require_remaining_owner(membership: Membership) -> None:
    """Raise LastOwner if no owner with all permissions would be left."""
    full = list_full_owners(membership.company_id)
    is_full = membership.user_id is not None and membership.role == Role.OWNER and membership.permissions is None
    if is_full and full.count() == 1:
        raise LastOwner


def list_full_owners(company_id: UUID) -> MembershipQuerySet:
    """Return the owners with all permissions."""
    return Membership.objects.for_company(company_id).owners().filter(permissions=None)


def is_last_owner(*, company: Company, user_id: UUID) -> bool:
    """Return whether the user is the only owner with all permissions and so cannot leave."""
    return list(list_full_owners(company.id).values_list("user_id", flat=True)[:2]) == [user_id]


def build_password_link(user: User) -> str:
    """Build the link for setting a password; valid until it is used or the password changes."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"{settings.APP_URL}/password-reset/{uid}/{default_token_generator.make_token(user)}"
