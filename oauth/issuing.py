"""Codes and refresh tokens against access tokens: each exactly once, however many come at the same moment.

Every function here runs in one transaction and takes a lock on the row of the code or the refresh token: the first
redeems it, the others find it used. What they return is a refusal and no exception where the transaction has something
to keep: a replay revokes the consent.
"""

import hashlib
import re
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef

from companies.models import Membership, Stamp
from oauth import consents, scopes, tokens
from oauth.models import (
    Application,
    AuthorizationCode,
    ConsentGrant,
    RefreshToken,
    RevokedReason,
    refresh_expired,
)
from oauth.refusals import InvalidGrant, InvalidRequest, InvalidScope, InvalidTarget, Refusal

RACE = timedelta(seconds=10)  # a second use this soon is a client that retried, and harms nothing
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
UNUSABLE = "The code or token is unknown, used, expired, revoked, or another client's."

Answer = dict[str, Any]


def s256(verifier: str) -> str:
    """The challenge of a verifier (RFC 7636)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def pkce_holds(*, challenge: str, verifier: str) -> bool:
    return bool(challenge) and s256(verifier) == challenge


def is_replay(used: datetime, *, now: datetime) -> bool:
    """Whether a second use is a theft and not a race."""
    return now - used > RACE


def redeem(*, application: Application, body: dict[str, str], stamp: Stamp) -> Answer | Refusal:
    """Tokens for an authorization code. Raises Refusal where nothing was changed."""
    check_resource(body)
    code = required(body, "code")
    verifier = required(body, "code_verifier")
    row = locked(AuthorizationCode, application, code=tokens.digest(code))
    if row.exchanged_time is not None:
        return replayed(row.consent, used=row.exchanged_time, reason=RevokedReason.CODE_REPLAY, stamp=stamp)
    if row.expires <= stamp.time or not VERIFIER.fullmatch(verifier):
        raise InvalidGrant(UNUSABLE)
    if not pkce_holds(challenge=row.code_challenge, verifier=verifier):
        raise InvalidGrant("code_verifier does not fit the code_challenge.")
    if body.get("redirect_uri", only_uri(application)) != row.redirect_uri:
        raise InvalidGrant("redirect_uri is not the one of the authorization request.")
    AuthorizationCode.objects.filter(pk=row.pk).update(exchanged_time=stamp.time)
    if row.consent.redeemed_time is None:
        ConsentGrant.objects.filter(pk=row.consent_id).update(redeemed_time=stamp.time)
    granted = row.scope.split()
    answer = issue(row.consent, granted=granted, narrowed=granted, application=application, now=stamp.time)
    if scopes.OPENID in granted:
        answer["id_token"] = tokens.id_token(
            user_id=row.user_id,
            client_id=application.client_id,
            nonce=row.nonce,
            auth_time=row.auth_time,
            access=answer["access_token"],
            now=stamp.time,
        )
    return answer


def refresh(*, application: Application, body: dict[str, str], stamp: Stamp) -> Answer | Refusal:
    """New tokens for a refresh token, which is used up. Raises Refusal where nothing was changed."""
    check_resource(body)
    text = required(body, "refresh_token")
    row = locked(RefreshToken, application, token_checksum=tokens.digest(text))
    if row.revoked is not None:
        return replayed(row.consent, used=row.revoked, reason=RevokedReason.REFRESH_REPLAY, stamp=stamp)
    if refresh_expired(row, row.consent, stamp.time):
        raise InvalidGrant(UNUSABLE)
    granted = row.scope.split()
    narrowed = scopes.in_order(body["scope"].split()) if "scope" in body else granted
    if "scope" in body and not (narrowed and set(body["scope"].split()) <= set(granted)):
        raise InvalidScope("The scope is wider than what was granted.")
    RefreshToken.objects.filter(pk=row.pk).update(revoked=stamp.time)
    return issue(row.consent, granted=granted, narrowed=narrowed, application=application, now=stamp.time)


def locked(model: Any, application: Application, **by: str) -> Any:
    """The row of a code or refresh token of this app, locked, with its consent. Raises InvalidGrant.

    The consent must be live, its user active and still a member: one statement asks all of that.
    """
    member = Membership.objects.filter(company=OuterRef("consent__company"), user=OuterRef("consent__user"))
    row = (
        model.objects.select_for_update(of=("self",))
        .select_related("consent")
        .filter(Exists(member), application=application, consent__user__is_active=True, **by)
        .first()
    )
    if row is None or row.consent.revoked_time is not None:
        raise InvalidGrant(UNUSABLE)
    row.consent.application = application
    return row


def replayed(consent: ConsentGrant, *, used: datetime, reason: RevokedReason, stamp: Stamp) -> Refusal:
    """The refusal of a second use, which ends the whole consent unless it was a race."""
    if is_replay(used, now=stamp.time):
        consents.revoke(consent, reason=reason, stamp=stamp)
    return InvalidGrant(UNUSABLE)


def issue(
    consent: ConsentGrant, *, granted: list[str], narrowed: list[str], application: Application, now: datetime
) -> Answer:
    """A new access token, and with offline_access a new refresh token for all that was granted."""
    access = tokens.access_token(
        grant_id=consent.id,
        company_id=consent.company_id,
        user_id=consent.user_id,
        client_id=application.client_id,
        scopes=narrowed,
        now=now,
    )
    answer: Answer = {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": int(tokens.ACCESS_LIVES.total_seconds()),
        "scope": " ".join(narrowed),
    }
    if scopes.OFFLINE in granted:
        answer["refresh_token"] = text = tokens.new_refresh_token()
        RefreshToken.objects.bulk_create(
            [
                RefreshToken(
                    consent=consent,
                    user_id=consent.user_id,
                    application=application,
                    token="",
                    token_checksum=tokens.digest(text),
                    scope=" ".join(granted),
                )
            ]
        )
    return answer


def revoke(*, application: Application, body: dict[str, str], stamp: Stamp) -> None:
    """RFC 7009: either kind of token ends its consent; a token that is not this app's changes nothing."""
    text = required(body, "token")
    consent = consent_of(text, application=application, now=stamp.time)
    if consent is not None:
        consents.revoke(consent, reason=RevokedReason.CLIENT, stamp=stamp)


def consent_of(text: str, *, application: Application, now: datetime) -> ConsentGrant | None:
    rows = ConsentGrant.objects.select_related("application").filter(application=application)
    row = RefreshToken.objects.filter(token_checksum=tokens.digest(text), application=application).first()
    if row is not None:
        return rows.filter(id=row.consent_id).first()
    claims = tokens.read_access_token(text, now=now, even_expired=True)
    return rows.filter(id=claims.grant_id).first() if claims else None


def check_resource(body: dict[str, str]) -> None:
    """RFC 8707: tokens are for this API and nothing else. Raises InvalidTarget."""
    if "resource" in body and not ours(body["resource"]):
        raise InvalidTarget("resource must be this API's address, or one below it.")


def ours(resource: str) -> bool:
    return resource == settings.BASE_URL or resource.startswith(f"{settings.BASE_URL}/")


def only_uri(application: Application) -> str | None:
    """redirect_uri may be left out by an app that registered just one."""
    return application.uris[0] if len(application.uris) == 1 else None


def required(body: dict[str, str], name: str) -> str:
    if name not in body:
        raise InvalidRequest(f"{name} is missing.")
    return body[name]
