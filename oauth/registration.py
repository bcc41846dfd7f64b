"""Registering an app. Staff do it, by hand."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.storage import storages

from companies.logos.own import clean_png
from companies.models import AuditEntry, Stamp, new_id
from companies.names import name_in
from companies.stores.storing import drop_after_commit, store_whole
from oauth.models import Application, ConsentGrant
from oauth.wire import scopes


@dataclass(frozen=True, slots=True)
class Registered:
    """A new app; its secret, where it has one, is never seen again."""

    application: Application
    secret: str | None


def register(*, name: str, redirect_uris: list[str], allowed: list[str], confidential: bool) -> Registered:
    """Stores a new app. Raises ValidationError."""
    application = Application(
        name=name_in(name, longest=100),
        redirect_uris="\n".join(redirect_uris),
        allowed_scopes=allowed or list(scopes.ALL),
        client_type=Application.CONFIDENTIAL if confidential else Application.PUBLIC,
    )
    application.full_clean()
    secret = give_secret(application) if confidential else None
    application.save()
    return Registered(application=application, secret=secret)


# What the companies that let an app in have to know of it.
LOGGED = ("name", "client_type", "redirect_uris", "allowed_scopes", "enabled")


def app_changed(*, application: Application, before: dict[str, Any], stamp: Stamp) -> None:
    """A row in the log of each company where somebody's consent stands, where something ``LOGGED`` changed."""
    after = {name: getattr(application, name) for name in LOGGED}
    differing = [name for name in LOGGED if before[name] != after[name]]
    if not differing:
        return
    standing = ConsentGrant.objects.filter(application=application, revoked_time=None, redeemed_time__isnull=False)
    for company_id in standing.order_by("company_id").values_list("company_id", flat=True).distinct():
        AuditEntry.objects.record(
            stamp,
            company_id=company_id,
            action="app.updated",
            entity_type="app",
            entity_id=application.client_id,
            before={name: before[name] for name in differing},
            after={name: after[name] for name in differing},
        )


def secret_digest(secret: str) -> str:
    """What is stored of a client secret: 256 random bits need no slow hash, but a key that the database lacks."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), b"client:" + secret.encode(), hashlib.sha256).hex()


def give_secret(application: Application) -> str:
    """A new secret in the place of any other; the caller saves, and shows it this once."""
    secret = secrets.token_urlsafe(32)
    application.client_secret = secret_digest(secret)
    return secret


def put_logo(application: Application, raw: bytes) -> None:
    """A logo made anew from the pixels of a PNG; the caller saves. Raises NotAPng, ImageTooLarge."""
    storage, old = storages["assets"], application.logo_path
    png = clean_png(raw)
    application.logo_path = store_whole(storage=storage, name=f"logos/{new_id()}.png", content=png)
    if old:
        drop_after_commit(storage=storage, name=old)
