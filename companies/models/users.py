"""People, known by their e-mail address."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Collate, Lower

from companies import emails
from companies.models.tenancy import Shared, new_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        """Raises InvalidEmail."""
        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> "User":
        user = self.with_email(username or "")
        if user is None:
            raise self.model.DoesNotExist
        return user

    def with_email(self, email: str) -> "User | None":
        """The user of an address in any spelling; none of what is no address."""
        try:
            return self.filter(canonical_email=emails.canonical(email)).first()
        except emails.InvalidEmail:
            return None


class CanonicalEmail(models.CharField):
    """Follows ``email`` whenever a row is written whole."""

    def pre_save(self, model_instance: Any, add: bool) -> str:  # noqa: FBT001
        value = emails.canonical(model_instance.email)
        setattr(model_instance, self.attname, value)
        return value


class User(Shared, AbstractBaseUser, PermissionsMixin):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(max_length=254, unique=True, validators=[emails.validate])
    canonical_email = CanonicalEmail(max_length=emails.LONGEST, editable=False)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    joined_time = models.DateTimeField(auto_now_add=True)
    locale = models.CharField(max_length=10, blank=True)  # a tag of companies.locales; empty as the browser says
    mailed = ArrayField(models.CharField(max_length=40), default=list, blank=True)  # which notifications, by mail too
    second_factor_since = models.DateTimeField(null=True, editable=False)  # null while the password is all they have

    objects = UserManager()
    proven_by = ""  # which factor they proved in this request

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = []

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["canonical_email"], name="user_email_unique_in_any_spelling"),
            # Of an address in ASCII the database itself knows the form: no statement changes one without the other.
            models.CheckConstraint(
                condition=Q(email__regex=r"[^\x01-\x7f]") | Q(canonical_email=Lower(Collate("email", "C"))),
                name="user_canonical_email_follows",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        """Forms are told of an address that is somebody's, in whatever spelling."""
        other = User.objects.with_email(self.email)
        if other and other.pk != self.pk:
            raise ValidationError({"email": "There is a user with this e-mail address."})

    @property
    def display_name(self) -> str:
        return self.name or self.email
