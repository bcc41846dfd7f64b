"""Sessions, pending e-mail changes and the security log of a user."""

from datetime import datetime
from importlib import import_module
from typing import Any, Self

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import F, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from companies.models.tenancy import Unowned, generate_id
from companies.models.users import User


class SessionQuerySet(models.QuerySet["Session"]):
    def for_user(self, user: User) -> Self:
        return self.filter(user_id=user.pk)

    def latest_first(self) -> Self:
        return self.order_by(F("seen_time").desc(nulls_last=True), "session_key")


class Session(Unowned, AbstractBaseSession):
    """A browser session. The columns are copies of its data (companies.auth.session_store); no user before
    sign-in.
    """

    user = models.ForeignKey(User, models.CASCADE, null=True, db_index=False, related_name="+")
    device = models.CharField(max_length=60, blank=True)
    address = models.CharField(max_length=45, blank=True)
    started_time = models.DateTimeField(null=True)
    auth_time = models.DateTimeField(null=True)  # of the last authentication
    seen_time = models.DateTimeField(null=True)

    objects = SessionQuerySet.as_manager()  # type: ignore[assignment, misc] # the base's own only makes rows

    class Meta:
        indexes = [models.Index(fields=["user", "seen_time"], name="session_by_user")]

    def __str__(self) -> str:
        return f"{self.device} ({self.address})"

    @classmethod
    def get_session_store_class(cls) -> Any:
        return import_module(settings.SESSION_ENGINE).SessionStore

    @property
    def handle(self) -> str:
        """Public identifier of the session; its key would grant access."""
        return salted_hmac("companies.session", self.session_key, algorithm="sha256").hexdigest()[:32]


class EmailChange(Unowned):
    """A requested e-mail address until its link is opened; at most one per user."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="+")
    email = models.EmailField(max_length=254)
    token_digest = models.CharField(max_length=64)
    expires_time = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id} to another address"


class SecurityEvent(models.TextChoices):
    SIGNED_IN = "signedIn", _("Signed in")
    SIGN_IN_FAILED = "signInFailed", _("Sign-in failed")
    PASSWORD_CHANGED = "passwordChanged", _("Password changed")
    FACTOR_CHANGED = "factorChanged", _("Two-factor authentication changed")
    API_KEY_CREATED = "apiKeyCreated", _("API key created")
    EMAIL_CHANGED = "emailChanged", _("Email address changed")
    SESSIONS_ENDED = "sessionsEnded", _("Other sessions signed out")


class SecurityLogEntryQuerySet(models.QuerySet["SecurityLogEntry"]):
    def for_user(self, user: User) -> Self:
        return self.filter(user_id=user.pk)

    def since(self, time: datetime) -> Self:
        return self.filter(time__gt=time)

    def sign_ins_from(self, browser: str) -> Self:
        return self.filter(event=SecurityEvent.SIGNED_IN, browser=browser)


class SecurityLogEntry(Unowned):
    """An entry of a user's security log; never changed, deleted by ``prune``."""

    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="+")
    time = models.DateTimeField()
    event = models.CharField(max_length=20, choices=SecurityEvent.choices)
    detail = models.CharField(max_length=300, blank=True)
    device = models.CharField(max_length=60, blank=True)
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=64, blank=True)  # digest of the device cookie
    request_id = models.CharField(max_length=64, blank=True)

    objects = SecurityLogEntryQuerySet.as_manager()

    class Meta:
        db_table = "companies_personalentry"
        verbose_name_plural = "security log entries"
        indexes = [models.Index(fields=["user", "time", "id"], name="personal_entry_by_time")]
        constraints = [
            models.CheckConstraint(condition=Q(event__in=SecurityEvent.values), name="personal_event_known"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.event}"
