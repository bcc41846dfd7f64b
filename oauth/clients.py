"""Which app is calling the token endpoint: by its name alone where it is public, by its secret where it has one."""

import base64
import binascii
import hashlib
import hmac
import secrets
from urllib.parse import unquote_plus

from django.conf import settings

from companies.statements import first_row
from oauth.models import Application
from oauth.refusals import InvalidClient, InvalidRequest

COLUMNS = ["id", "client_id", "client_type", "client_secret", "redirect_uris", "allowed_scopes"]
_NAMED = f"SELECT {', '.join(COLUMNS)} FROM oauth_application WHERE client_id = $1 AND enabled"  # noqa: S608


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """What is stored of a client secret: 256 random bits need no slow hash, but a key that the database lacks."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), b"client:" + secret.encode(), hashlib.sha256).hex()


def identify(body: dict[str, str], authorization: str | None) -> Application:
    """The enabled app that sent the request. Raises InvalidClient, InvalidRequest."""
    client_id, secret = body.get("client_id"), body.get("client_secret")
    if authorization is not None:
        if secret is not None:
            raise InvalidRequest("The client authenticated in two ways.")
        named, secret = basic(authorization)
        if client_id is not None and client_id != named:
            raise InvalidRequest("client_id differs from the one in the Authorization header.")
        client_id = named
    if client_id is None:
        raise InvalidClient("client_id is missing.", asked=authorization is not None)
    application = named_app(client_id)
    if application is None or not proven(application, secret):
        raise InvalidClient("The client is unknown, or did not authenticate.", asked=authorization is not None)
    return application


def named_app(client_id: str) -> Application | None:
    """The enabled app of a client id, with the columns that issuing needs."""
    if "\0" in client_id:  # nothing that is stored has one, and the database refuses to be asked
        return None
    row = first_row(_NAMED, [client_id])
    return Application.from_db("default", COLUMNS, row) if row else None


def proven(application: Application, secret: str | None) -> bool:
    """A public app proves nothing, and a secret that it has not is no proof either."""
    if not application.confidential:
        return secret is None
    return secret is not None and hmac.compare_digest(application.client_secret, secret_digest(secret))


def basic(header: str) -> tuple[str, str | None]:
    """(client id, secret) of HTTP Basic, each form-encoded (RFC 6749, 2.3.1). Raises InvalidClient."""
    scheme, _, encoded = header.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError(scheme)
        name, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        raise InvalidClient("The Authorization header is not Basic.", asked=True) from None
    if not colon:
        raise InvalidClient("The Authorization header is not Basic.", asked=True)
    return unquote_plus(name), unquote_plus(secret) or None
