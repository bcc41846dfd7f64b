"""Registration of apps by staff."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.storage import storages

from companies.actions.logo import clean_png
from companies.models import AuditContext, AuditEntry, generate_id
from companies.names import parse_name
from companies.storage.actions import delete_from_storage_after_commit, save_to_storage
from oauth.models import Application, ConsentGrant
from oauth.protocol import scopes


@dataclass(frozen=True, slots=True)
class RegisteredApp:
    """A new app with its secret, which is shown only now; None for a public app."""

    application: Application
    secret: str | None


def register_app(*, name: str, redirect_uris: list[str], allowed: list[str], confidential: bool) -> RegisteredApp:
    """Register an app.

    Raises:
        ValidationError: the values are invalid.
    """
    application = Application(
        name=parse_name(name, max_length=100),
        redirect_uris="\n".join(redirect_uris),
        allowed_scopes=allowed or list(scopes.ALL_SCOPES),
        client_type=Application.CONFIDENTIAL if confidential else Application.PUBLIC,
    )
    application.full_clean()
    secret = assign_client_secret(application) if confidential else None
    application.save()
    return RegisteredApp(application=application, secret=secret)


# Changes that are recorded in the audit logs of companies with a consent.
LOGGED_FIELDS = ("name", "client_type", "redirect_uris", "allowed_scopes", "enabled")


def record_app_change(*, application: Application, before: dict[str, Any], context: AuditContext) -> None:
    """Record changed LOGGED_FIELDS in the audit log of each company with a standing consent."""
    after = {name: getattr(application, name) for name in LOGGED_FIELDS}
    changed_fields = [name for name in LOGGED_FIELDS if before[name] != after[name]]
    if not changed_fields:
        return
    standing = ConsentGrant.objects.filter(application=application, revoked_time=None, redeemed_time__isnull=False)
    for company_id in standing.order_by("company_id").values_list("company_id", flat=True).distinct():
        AuditEntry.objects.build_entry(
            context,
            company_id=company_id,
            action="app.updated",
            entity_type="app",
            entity_id=application.client_id,
            before={name: before[name] for name in changed_fields},
            after={name: after[name] for name in changed_fields},
        ).save(force_insert=True)


def compute_secret_digest(secret: str) -> str:
    """Return what is stored of a client secret: a keyed digest; 256 random bits need no slow hash."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), b"client:" + secret.encode(), hashlib.sha256).hex()


def assign_client_secret(application: Application) -> str:
    """Assign a new secret and return it to show it once; the caller saves."""
    secret = secrets.token_urlsafe(32)
    application.client_secret = compute_secret_digest(secret)
    return secret


def store_app_logo(application: Application, raw: bytes) -> None:
    """Store a logo re-encoded from the pixels of a PNG; the caller saves.

    Raises:
        NotAPng, ImageTooLarge: the image cannot be used.
    """
    storage, old = storages["assets"], application.logo_path
    png = clean_png(raw)
    application.logo_path = save_to_storage(storage=storage, name=f"logos/{generate_id()}.png", content=png)
    if old:
        delete_from_storage_after_commit(storage=storage, name=old)
