"""Users, identified by their e-mail address."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Collate, Lower

from companies import email_addresses
from companies.models.tenancy import Shared, generate_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        """Create a user. Raises InvalidEmail."""
        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> "User":
        user = self.find_by_email(username or "")
        if user is None:
            raise self.model.DoesNotExist
        return user

    def find_by_email(self, email: str) -> "User | None":
        """Return the user with this address in any spelling; None for text that is not an address."""
        try:
            return self.filter(canonical_email=email_addresses.to_canonical_email(email)).first()
        except email_addresses.InvalidEmail:
            return None


class CanonicalEmail(models.CharField):
    """Canonical form of ``email``, set whenever the row is saved."""

    def pre_save(self, model_instance: Any, add: bool) -> str:  # noqa: FBT001
        value = email_addresses.to_canonical_email(model_instance.email)
        setattr(model_instance, self.attname, value)
        return value


class User(Shared, AbstractBaseUser, PermissionsMixin):
    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    email = models.EmailField(max_length=254, unique=True, validators=[email_addresses.validate_email_address])
    canonical_email = CanonicalEmail(max_length=email_addresses.MAX_EMAIL_LENGTH, editable=False)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    joined_time = models.DateTimeField(auto_now_add=True)
    locale = models.CharField(max_length=10, blank=True)  # a tag of companies.locales; empty: as the browser
    mailed = ArrayField(models.CharField(max_length=40), default=list, blank=True)  # notifications sent by e-mail
    second_factor_since = models.DateTimeField(null=True, editable=False)  # null without MFA

    objects = UserManager()
    mfa_method = ""  # MFA method verified in this request

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = []

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["canonical_email"], name="user_email_unique_in_any_spelling"),
            # For ASCII addresses the database checks the canonical form itself.
            models.CheckConstraint(
                condition=Q(email__regex=r"[^\x01-\x7f]") | Q(canonical_email=Lower(Collate("email", "C"))),
                name="user_canonical_email_follows",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        """Reject an address that another user has, in any spelling."""
        existing_user = User.objects.find_by_email(self.email)
        if existing_user and existing_user.pk != self.pk:
            raise ValidationError({"email": "A user with this email address already exists."})

    @property
    def display_name(self) -> str:
        return self.name or self.email
