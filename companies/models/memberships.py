"""Who belongs to which company, and as what."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies import emails
from companies.errors import Conflict
from companies.models.directory import DirectoryEntry, Listed
from companies.models.stamps import Audited, Stamp
from companies.models.tenancy import CompanyOwnedQuerySet
from companies.models.users import User
from companies.permissions import Permissions, Role, membership_permissions


class Status(models.TextChoices):
    INVITED = "invited"
    ACTIVE = "active"


class AlreadyMember(Conflict):
    """This person is a member already."""

    code = "already_member"


class AlreadyInvited(Conflict):
    """This address is invited already; the invitation can be sent again."""

    code = "already_invited"


class MembershipQuerySet(CompanyOwnedQuerySet["Membership"]):
    def of_person(self, user_id: UUID) -> Self:
        """Theirs in whichever company; the directory is asked now."""
        return self.filter(company_id__in=DirectoryEntry.objects.companies_of(user_id), user_id=user_id)

    def active(self) -> "MembershipQuerySet":
        """Without those who are invited and have not accepted."""
        return self.filter(user__isnull=False)

    def owners(self) -> "MembershipQuerySet":
        return self.active().filter(role=Role.OWNER)

    def managers(self) -> "MembershipQuerySet":
        """Owners and admins: those who are told what keys and the service itself did."""
        return self.filter(role__in=[Role.OWNER, Role.ADMIN], user__is_active=True)

    def with_people(self) -> "MembershipQuerySet":
        """Those who belong to the company, and then those who are invited, each by address."""
        return self.select_related("user").order_by("user__canonical_email", "invited_email")


class Membership(Listed, Audited):
    """Somebody who belongs to a company, or an invitation to: that one is an address and no user, so that nothing which
    asks for a user's memberships ever finds it."""

    LISTED_BY = "user_id"

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", null=True)
    joined_time = models.DateTimeField(null=True)
    invited_email = models.CharField(max_length=emails.LONGEST, null=True)  # noqa: DJ001 - in its one form
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

    def stamp_new(self, stamp: Stamp) -> Self:
        if self.user_id is not None:
            self.joined_time = stamp.time
        return super().stamp_new(stamp)

    @property
    def status(self) -> str:
        return Status.INVITED if self.user_id is None else Status.ACTIVE

    @property
    def is_known(self) -> bool:
        """Whether the company may see who this is: never while they are invited. Whom an older release added without
        asking stays an address until they sign in: it tells nobody whether there is an account, and whose."""
        if self.user is None or self.joined_time is None:
            return False
        accepted = self.joined_time > self.created_time
        added_by_another = self.created_user_id not in (None, str(self.user_id))
        last = self.user.last_login
        return accepted or not added_by_another or (last is not None and last >= self.created_time)

    @property
    def shown_user_id(self) -> UUID | None:
        return self.user_id if self.is_known else None

    @property
    def shown_email(self) -> str:
        """As its owner spells it; of somebody who is not known, in the form that tells nothing of them."""
        if self.user is None:
            return str(self.invited_email)
        return self.user.email if self.is_known else self.user.canonical_email

    @property
    def shown_name(self) -> str | None:
        return (self.user.name or None) if self.user and self.is_known else None

    @property
    def called(self) -> str:
        """What to call them in a sentence."""
        return self.shown_name or self.shown_email

    @property
    def shown_beside(self) -> str:
        """What an answer shows of the person; a cached one is stale when it changes."""
        return f"{self.shown_user_id} {self.shown_email} {self.shown_name}"

    @property
    def effective_permissions(self) -> Permissions:
        return membership_permissions(role=self.role, explicit=self.permissions)
