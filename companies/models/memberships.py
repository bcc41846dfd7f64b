"""Who belongs to which company, and as what."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from companies.models.stamps import Audited
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet
from companies.models.users import User
from companies.permissions import Permissions, Role, membership_permissions


class MembershipQuerySet(CompanyOwnedQuerySet["Membership"]):
    def owners(self) -> "MembershipQuerySet":
        return self.filter(role=Role.OWNER)

    def managers(self) -> "MembershipQuerySet":
        """Owners and admins: those who are told what keys and the service itself did."""
        return self.filter(role__in=[Role.OWNER, Role.ADMIN], user__is_active=True)

    def with_people(self) -> "MembershipQuerySet":
        return self.select_related("user").order_by("user__email")


class Membership(CompanyOwned, Audited):
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    permissions = ArrayField(models.CharField(max_length=40), null=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "user"], name="membership_once_per_company"),
            models.CheckConstraint(condition=Q(role__in=[r.value for r in Role]), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} as {self.role}"

    @property
    def effective_permissions(self) -> Permissions:
        return membership_permissions(role=self.role, explicit=self.permissions)
