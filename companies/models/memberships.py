"""Who belongs to which company, and as what."""

from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies.errors import Conflict
from companies.models.stamps import Audited
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet
from companies.models.users import User
from companies.permissions import Permissions, Role, membership_permissions


class AlreadyMember(Conflict):
    """This person is a member already."""

    code = "already_member"


class MembershipQuerySet(CompanyOwnedQuerySet["Membership"]):
    def owners(self) -> "MembershipQuerySet":
        return self.filter(role=Role.OWNER)

    def managers(self) -> "MembershipQuerySet":
        """Owners and admins: those who are told what keys and the service itself did."""
        return self.filter(role__in=[Role.OWNER, Role.ADMIN], user__is_active=True)

    def with_people(self) -> "MembershipQuerySet":
        return self.select_related("user").order_by("user__canonical_email")


class Membership(CompanyOwned, Audited):
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
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
            models.CheckConstraint(condition=Q(role__in=[r.value for r in Role]), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} as {self.role}"

    @property
    def is_known(self) -> bool:
        """Whether the company may see who this is. Whoever a member or a key adds stays an address until they sign in:
        it tells nobody whether there is an account, and whose."""
        added_by_another = self.created_user_id not in (None, str(self.user_id))
        last = self.user.last_login
        return not added_by_another or (last is not None and last >= self.created_time)

    @property
    def shown_user_id(self) -> UUID | None:
        return self.user_id if self.is_known else None

    @property
    def shown_email(self) -> str:
        """As its owner spells it; of somebody who is not known, in the form that tells nothing of them."""
        return self.user.email if self.is_known else self.user.canonical_email

    @property
    def shown_name(self) -> str | None:
        return (self.user.name or None) if self.is_known else None

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
