"""Members of a company and invitations."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies import email_addresses
from companies.errors import ConflictError
from companies.models.audit_context import AuditContext, Audited
from companies.models.directory import DirectoryEntry, DirectoryListed
from companies.models.tenancy import CompanyOwnedQuerySet
from companies.models.users import User
from companies.permissions import Permissions, Role, get_membership_permissions


class MembershipStatus(models.TextChoices):
    INVITED = "invited"
    ACTIVE = "active"


class AlreadyMember(ConflictError):
    """This person is already a member."""

    code = "already_member"


class AlreadyInvited(ConflictError):
    """This person is already invited. Resend the invitation instead."""

    code = "already_invited"


class MembershipQuerySet(CompanyOwnedQuerySet["Membership"]):
    def for_user(self, user_id: UUID) -> Self:
        """Return the user's memberships in all companies; the directory is queried immediately."""
        return self.filter(company_id__in=DirectoryEntry.objects.list_company_ids(user_id), user_id=user_id)

    def active(self) -> "MembershipQuerySet":
        """Without invitations that were not accepted."""
        return self.filter(user__isnull=False)

    def owners(self) -> "MembershipQuerySet":
        return self.active().filter(role=Role.OWNER)

    def managers(self) -> "MembershipQuerySet":
        """Owners and admins: they are notified about actions of keys and the service."""
        return self.filter(role__in=[Role.OWNER, Role.ADMIN], user__is_active=True)

    def with_users(self) -> "MembershipQuerySet":
        """With their users; members first, then invitations, each ordered by e-mail address."""
        return self.select_related("user").order_by("user__canonical_email", "invited_email")


class Membership(DirectoryListed, Audited):
    """A member of a company, or an invitation: that has an e-mail address and no user, so user queries never
    return it.
    """

    DIRECTORY_FIELD = "user_id"

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", null=True)
    joined_time = models.DateTimeField(null=True)
    invited_email = models.CharField(max_length=email_addresses.MAX_EMAIL_LENGTH, null=True)  # noqa: DJ001 - in its one form
    token_digest = models.CharField(max_length=64, null=True)  # noqa: DJ001 - SHA-256 of what the mailed link carries
    expires_time = models.DateTimeField(null=True)
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    permissions = ArrayField(models.CharField(max_length=40), null=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["company", "user"],
                name="membership_once_per_company",
                violation_error_code=AlreadyMember.code,
                violation_error_message="This person is a member already.",
            ),
            models.UniqueConstraint(
                fields=["company", "invited_email"],
                name="invited_once_per_company",
                violation_error_code=AlreadyInvited.code,
                violation_error_message="This address is invited already; the invitation can be sent again.",
            ),
            models.CheckConstraint(
                condition=Q(
                    user__isnull=False,
                    joined_time__isnull=False,
                    invited_email=None,
                    token_digest=None,
                    expires_time=None,
                )
                | Q(
                    user=None,
                    joined_time=None,
                    invited_email__isnull=False,
                    token_digest__isnull=False,
                    expires_time__isnull=False,
                ),
                name="membership_joined_or_invited",
            ),
            models.CheckConstraint(condition=Q(role__in=[r.value for r in Role]), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id or self.invited_email} as {self.role}"

    def mark_created(self, context: AuditContext) -> Self:
        if self.user_id is not None:
            self.joined_time = context.time
        return super().mark_created(context)

    @property
    def status(self) -> str:
        return MembershipStatus.INVITED if self.user_id is None else MembershipStatus.ACTIVE

    @property
    def is_known(self) -> bool:
        """Whether the company may see who this is: not while invited.

        Users added without an invitation by an older release stay anonymous until they sign in, so that the list
        never reveals whether an address has an account.
        """
        if self.user is None or self.joined_time is None:
            return False
        has_accepted = self.joined_time > self.created_time
        added_by_another = self.created_user_id not in (None, str(self.user_id))
        last_login = self.user.last_login
        return has_accepted or not added_by_another or (last_login is not None and last_login >= self.created_time)

    @property
    def shown_user_id(self) -> UUID | None:
        return self.user_id if self.is_known else None

    @property
    def shown_email(self) -> str:
        """E-mail address to show: as the user spells it if known, otherwise in canonical form."""
        if self.user is None:
            return str(self.invited_email)
        return self.user.email if self.is_known else self.user.canonical_email

    @property
    def shown_name(self) -> str | None:
        return (self.user.name or None) if self.user and self.is_known else None

    @property
    def display_name(self) -> str:
        """Name to use in a sentence."""
        return self.shown_name or self.shown_email

    @property
    def unversioned_values(self) -> str:
        """Values of the user shown with the membership; a cached response is stale when they change."""
        return f"{self.shown_user_id} {self.shown_email} {self.shown_name}"

    @property
    def effective_permissions(self) -> Permissions:
        return get_membership_permissions(role=self.role, explicit=self.permissions)
