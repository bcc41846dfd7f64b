"""Registered apps, consents, and the codes and tokens based on them.

The toolkit's models are swapped for these, so that each code and token refers to its consent. Requests with
an access token read the consent every time; the token's row serves the toolkit.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from oauth2_provider.models import (
    AbstractAccessToken,
    AbstractApplication,
    AbstractGrant,
    AbstractIDToken,
    AbstractRefreshToken,
)

from companies.models import Company, Membership, Shared, Unowned, User, generate_id
from companies.permissions import Permissions, parse_permissions
from oauth.protocol import redirects, scopes

MAX_REFRESH_IDLE_TIME = timedelta(days=60)
MAX_REFRESH_LIFETIME = timedelta(days=365)  # counted from the consent


def all_scopes() -> list[str]:
    return list(scopes.ALL_SCOPES)


class Application(Shared, AbstractApplication):
    """A third-party app, registered by staff."""

    PUBLIC, CONFIDENTIAL = AbstractApplication.CLIENT_PUBLIC, AbstractApplication.CLIENT_CONFIDENTIAL

    name = models.CharField(max_length=100)
    client_type = models.CharField(max_length=32, choices=AbstractApplication.CLIENT_TYPES, default=PUBLIC)
    authorization_grant_type = models.CharField(
        max_length=44,
        choices=AbstractApplication.GRANT_TYPES,
        default=AbstractApplication.GRANT_AUTHORIZATION_CODE,
        editable=False,
    )
    client_secret = models.CharField(max_length=255, blank=True, default="", editable=False)  # a keyed digest
    hash_client_secret = models.BooleanField(default=False, editable=False)  # already hashed by us
    algorithm = models.CharField(
        max_length=5,
        choices=AbstractApplication.ALGORITHM_TYPES,
        default=AbstractApplication.RS256_ALGORITHM,
        editable=False,
    )
    redirect_uris = models.TextField(
        "redirect URIs",
        help_text="One per line: https, http (127.0.0.1 and [::1] only) or a private-use scheme such as app.example:/",
    )
    # Why redirect URIs of the app's own document were left out, one a line.
    skipped_redirects = models.TextField(blank=True, default="", editable=False)
    allowed_scopes = ArrayField(models.CharField(max_length=40), default=all_scopes)
    logo_path = models.CharField(max_length=200, blank=True, default="", editable=False)
    website = models.URLField(blank=True, default="", help_text="Shown on the consent page.")
    contact = models.EmailField(blank=True, default="", help_text="Contact for operators; not shown to users.")
    notes = models.TextField(blank=True, default="")
    enabled = models.BooleanField(default=True, help_text="Disabling the app rejects all its tokens immediately.")

    class Meta:
        constraints: ClassVar[list[Any]] = [
            models.CheckConstraint(
                condition=Q(client_type__in=["public", "confidential"]), name="application_type_known"
            ),
            models.CheckConstraint(
                condition=Q(allowed_scopes__contained_by=list(scopes.ALL_SCOPES)), name="application_scopes_known"
            ),
        ]

    def __str__(self) -> str:
        return str(self.name)

    def clean(self) -> None:
        """Check the redirect URIs.

        Of those named in an app's own document, unusable ones are left out if another one remains.
        """
        faults = {uri: fault for uri in self.uris if (fault := redirects.find_redirect_fault(uri))}
        usable = [uri for uri in self.uris if uri not in faults]
        if not usable or (faults and not self.is_self_described):
            raise ValidationError({"redirect_uris": [*faults.values()] or ["Enter at least one redirect URI."]})
        self.redirect_uris = "\n".join(usable)
        self.skipped_redirects = "\n".join(faults.values())

    @property
    def uris(self) -> list[str]:
        return str(self.redirect_uris).split()

    @property
    def confidential(self) -> bool:
        return bool(self.client_type == self.CONFIDENTIAL)

    @property
    def logo_url(self) -> str | None:
        return f"{settings.ASSETS_URL}/{self.logo_path}" if self.logo_path else None

    @property
    def is_self_described(self) -> bool:
        """Whether it describes itself in a metadata document, instead of being registered."""
        return bool(self.registration_source == self.RegistrationSource.CIMD)

    @property
    def host(self) -> str | None:
        """The host of the metadata document of a self-described app."""
        return urlsplit(str(self.client_id)).netloc if self.is_self_described else None

    # Called by the toolkit.

    def is_usable(self, request: Any) -> bool:
        return bool(self.enabled)

    def redirect_uri_allowed(self, uri: str) -> bool:
        return redirects.is_redirect_allowed(uri, self.uris)

    def get_allowed_schemes(self) -> set[str]:
        return {uri.partition(":")[0] for uri in self.uris}


class ClientHost(Shared):
    """A host whose apps describe themselves at their client_id, without registration."""

    host = models.CharField(
        max_length=253,
        unique=True,
        validators=[
            RegexValidator(r"^\.?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$", "Enter a host name in lower case.")
        ],
        help_text="For example apps.example.com, or .example.com to include all subdomains.",
    )

    def __str__(self) -> str:
        return str(self.host)


class RevokedReason(models.TextChoices):
    USER = "user", "disconnected in Settings"
    CLIENT = "client", "revoked by the app"
    CODE_REPLAY = "codeReplay", "an authorization code was used twice"
    REFRESH_REPLAY = "refreshReplay", "a refresh token was used twice"
    MEMBERSHIP_ENDED = "membershipEnded", "the user left the company"
    USER_DEACTIVATED = "userDeactivated", "the user was deactivated"
    PASSWORD_CHANGED = "passwordChanged", "signed out by a password change"


class ConsentGrantQuerySet(models.QuerySet["ConsentGrant"]):
    def for_company(self, company_id: UUID) -> Self:
        return self.filter(company_id=company_id)

    def standing(self) -> Self:
        """Not revoked, with an active user and an enabled app."""
        return self.filter(revoked_time=None, user__is_active=True, application__enabled=True).select_related(
            "application", "user"
        )

    def live(self) -> Self:
        """Not revoked, with an active user, an enabled app and a membership."""
        return self.standing().filter(
            Exists(Membership.objects.filter(company=OuterRef("company"), user=OuterRef("user")))
        )

    def redeemed(self) -> Self:
        """Those whose code the app redeemed, latest first."""
        return self.filter(redeemed_time__isnull=False).order_by("-created_time", "-id")

    def connected(self) -> Self:
        """Live ones whose code the app redeemed, latest first."""
        return self.live().redeemed()


class ConsentGrant(Unowned):
    """A consent: this user granted this app these scopes in this company."""

    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    company = models.ForeignKey(Company, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    application = models.ForeignKey(Application, models.CASCADE, related_name="consents")
    scopes = ArrayField(models.CharField(max_length=40))
    permissions = ArrayField(models.CharField(max_length=40))  # the user's at consent, without administrative ones
    auth_time = models.DateTimeField()
    created_time = models.DateTimeField()
    redeemed_time = models.DateTimeField(null=True)
    last_used_time = models.DateTimeField(null=True)
    revoked_time = models.DateTimeField(null=True)
    revoked_reason = models.CharField(max_length=20, choices=RevokedReason, blank=True, default="")

    objects = ConsentGrantQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["company", "created_time"], name="consent_by_company"),
            models.Index(fields=["user", "application", "company"], name="consent_by_user"),
        ]
        constraints: ClassVar[list[Any]] = [
            models.CheckConstraint(
                condition=Q(revoked_time=None, revoked_reason="")
                | Q(revoked_time__isnull=False, revoked_reason__in=RevokedReason.values),
                name="consent_revoked_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} by {self.user_id}"

    @property
    def snapshot(self) -> Permissions:
        return parse_permissions(self.permissions)


class AuthorizationCode(Unowned, AbstractGrant):
    """A code valid for one minute and one use; `code` is its SHA-256. The row stays to detect a second use."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    consent = models.ForeignKey(ConsentGrant, models.CASCADE, related_name="+")
    auth_time = models.DateTimeField()
    exchanged_time = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar[list[Any]] = [models.Index(fields=["expires"], name="code_by_expiry")]

    @property
    def used(self) -> datetime | None:
        return self.exchanged_time


class AccessToken(Unowned, AbstractAccessToken):
    """A signed token; access depends on its signature and consent, not on this row."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    consent = models.ForeignKey(ConsentGrant, models.CASCADE, related_name="+")


class RefreshToken(Unowned, AbstractRefreshToken):
    """An opaque token; `token_checksum` is its SHA-256, `token` is blank. Used once, then `revoked`."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    consent = models.ForeignKey(ConsentGrant, models.CASCADE, related_name="+")
    scope = models.TextField()  # what was granted; a narrower refresh does not narrow the next one
    reissued_time = models.DateTimeField(null=True)  # when its successor was returned a second time

    class Meta:
        unique_together: ClassVar[list[Any]] = [("token_checksum", "revoked")]
        indexes: ClassVar[list[Any]] = [models.Index(fields=["created"], name="refresh_token_by_age")]

    @property
    def used(self) -> datetime | None:
        return self.revoked

    def revoke(self) -> None:
        """Mark the token as used. The access token's row stays until it expires."""
        now = timezone.now()
        RefreshToken.objects.filter(pk=self.pk, revoked=None).update(revoked=now, updated=now)


class IDToken(Unowned, AbstractIDToken):
    """A signed token, by its id."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
