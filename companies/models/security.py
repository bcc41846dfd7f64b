"""Where people are signed in, and what happened to their accounts: each sees their own."""

from datetime import datetime
from importlib import import_module
from typing import Any, Self

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import F, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from companies.models.tenancy import Unowned, new_id
from companies.models.users import User


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, user: User) -> Self:
        return self.filter(user_id=user.pk)

    def latest_first(self) -> Self:
        return self.order_by(F("seen_time").desc(nulls_last=True), "session_key")


class Session(Unowned, AbstractBaseSession):
    """A browser's session. What the columns say stands in its data too, from which they are filled
    (companies.security.store); without a user it is of somebody who has not signed in."""

    user = models.ForeignKey(User, models.CASCADE, null=True, db_index=False, related_name="+")
    device = models.CharField(max_length=60, blank=True)
    address = models.CharField(max_length=45, blank=True)
    started_time = models.DateTimeField(null=True)
    auth_time = models.DateTimeField(null=True)  # of the last proof of who it is
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
        """Names the session on a page; its key would open it."""
        return salted_hmac("companies.session", self.session_key, algorithm="sha256").hexdigest()[:32]


class EmailChange(Unowned):
    """An address that somebody asked to have, until they open the link that was mailed to it. One of each person."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="+")
    email = models.EmailField(max_length=254)
    token_digest = models.CharField(max_length=64)
    expires_time = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id} to another address"


class PersonalEvent(models.TextChoices):
    SIGNED_IN = "signedIn", _("Signed in")
    SIGN_IN_FAILED = "signInFailed", _("Sign-in failed")
    PASSWORD_CHANGED = "passwordChanged", _("Password changed")
    FACTOR_CHANGED = "factorChanged", _("Second factor changed")
    API_KEY_CREATED = "apiKeyCreated", _("API key created")
    EMAIL_CHANGED = "emailChanged", _("E-mail address changed")
    SESSIONS_ENDED = "sessionsEnded", _("Other sessions ended")


class PersonalEntryQuerySet(models.QuerySet["PersonalEntry"]):
    def of(self, user: User) -> Self:
        return self.filter(user_id=user.pk)

    def since(self, time: datetime) -> Self:
        return self.filter(time__gt=time)

    def signed_in_with(self, browser: str) -> Self:
        return self.filter(event=PersonalEvent.SIGNED_IN, browser=browser)


class PersonalEntry(Unowned):
    """One line of a person's own log; nothing changes it, and ``prune`` forgets it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="+")
    time = models.DateTimeField()
    event = models.CharField(max_length=20, choices=PersonalEvent.choices)
    detail = models.CharField(max_length=300, blank=True)
    device = models.CharField(max_length=60, blank=True)
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=64, blank=True)  # digest of the cookie by which a browser is known again
    request_id = models.CharField(max_length=64, blank=True)

    objects = PersonalEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "personal entries"
        indexes = [models.Index(fields=["user", "time", "id"], name="personal_entry_by_time")]
        constraints = [
            models.CheckConstraint(condition=Q(event__in=PersonalEvent.values), name="personal_event_known"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.event}"
