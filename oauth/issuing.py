"""Codes and refresh tokens against access tokens: each exactly once, however many come at the same moment.

Two statements each. The first reads the row with all that it rests on; the second takes it, and stores what comes in
its place, in one go: of many that try, the database lets one find the row unused. What was used before is either a
race, which harms nothing, or a replay, which ends the consent.

Written without the ORM, whose making of statements costs more than the statements do.
"""

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from companies.models import Stamp
from companies.statements import row_of
from oauth import consents, scopes, tokens
from oauth.models import REFRESH_IDLE, REFRESH_LIVES, Application, ConsentGrant, RefreshToken, RevokedReason
from oauth.refusals import InvalidGrant, InvalidRequest, InvalidScope, InvalidTarget

RACE = timedelta(seconds=10)  # a second use this soon is a client that retried, and harms nothing
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
UNUSABLE = "The code or token is unknown, used, expired, revoked, or another client's."

_RESTS_ON = """
    JOIN oauth_consentgrant g ON g.id = t.consent_id AND g.revoked_time IS NULL
    JOIN companies_user u ON u.id = g.user_id AND u.is_active
    JOIN companies_membership m ON m.company_id = g.company_id AND m.user_id = g.user_id
"""
_CODE = f"""
    SELECT t.id, t.exchanged_time, t.scope, g.id, g.company_id, g.user_id,
           t.expires, t.redirect_uri, t.code_challenge, t.nonce, t.auth_time
      FROM oauth_authorizationcode t {_RESTS_ON} WHERE t.code = %s AND t.application_id = %s
"""  # noqa: S608 - all ours
_REFRESH = f"""
    SELECT t.id, t.revoked, t.scope, g.id, g.company_id, g.user_id, t.created, g.created_time
      FROM oauth_refreshtoken t {_RESTS_ON} WHERE t.token_checksum = %s AND t.application_id = %s
"""  # noqa: S608
_TAKE_CODE = """
    WITH used AS (
        UPDATE oauth_authorizationcode SET exchanged_time = %(now)s
         WHERE id = %(id)s AND exchanged_time IS NULL RETURNING id
    ), redeemed AS (
        UPDATE oauth_consentgrant SET redeemed_time = %(now)s
         WHERE id = %(consent)s AND redeemed_time IS NULL AND EXISTS (SELECT FROM used)
    )
"""
_TAKE_REFRESH = """
    WITH used AS (
        UPDATE oauth_refreshtoken SET revoked = %(now)s, updated = %(now)s
         WHERE id = %(id)s AND revoked IS NULL RETURNING id
    )
"""
_AND_ISSUE = """
    INSERT INTO oauth_refreshtoken
           (token, token_checksum, application_id, resource, created, updated, user_id, consent_id, scope)
    SELECT '', %(digest)s, %(application)s, '[]', %(now)s, %(now)s, %(user)s, %(consent)s, %(scope)s FROM used
    RETURNING id
"""
_AND_NO_MORE = "SELECT id FROM used"

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """What a code and a refresh token have in common."""

    id: int
    used: datetime | None
    scope: str
    consent_id: UUID
    company_id: UUID
    user_id: UUID


@dataclass(frozen=True, slots=True)
class Code(Held):
    expires: datetime
    redirect_uri: str
    challenge: str
    nonce: str
    auth_time: datetime


@dataclass(frozen=True, slots=True)
class Refresh(Held):
    created: datetime
    consented: datetime

    def expired(self, now: datetime) -> bool:
        """Unused for 60 days, or a year after the consent."""
        return now >= self.created + REFRESH_IDLE or now >= self.consented + REFRESH_LIVES


def s256(verifier: str) -> str:
    """The challenge of a verifier (RFC 7636)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def pkce_holds(*, challenge: str, verifier: str) -> bool:
    return bool(challenge) and hmac.compare_digest(s256(verifier).encode(), challenge.encode())


def is_replay(used: datetime, *, now: datetime) -> bool:
    """Whether a second use is a theft and not a race."""
    return now - used > RACE


def redeem(*, application: Application, body: dict[str, str], stamp: Stamp) -> Answer:
    """Tokens for an authorization code. Raises Refusal."""
    check_resource(body)
    digest, verifier = tokens.digest(required(body, "code")), required(body, "code_verifier")
    row = row_of(_CODE, [digest, application.pk])
    if row is None:
        raise InvalidGrant(UNUSABLE)
    code = Code(*row)
    refuse_used(code, reason=RevokedReason.CODE_REPLAY, stamp=stamp)
    if code.expires <= stamp.time or not VERIFIER.fullmatch(verifier):
        raise InvalidGrant(UNUSABLE)
    if not pkce_holds(challenge=code.challenge, verifier=verifier):
        raise InvalidGrant("code_verifier does not fit the code_challenge.")
    if body.get("redirect_uri", only_uri(application)) != code.redirect_uri:
        raise InvalidGrant("redirect_uri is not the one of the authorization request.")
    granted = still_allowed(code, application)
    if not granted:
        raise InvalidScope("The app may have none of these scopes any more.")
    answer = exchange(code, take=_TAKE_CODE, narrowed=granted, application=application, now=stamp.time)
    if scopes.OPENID in granted:
        answer["id_token"] = tokens.id_token(
            user_id=code.user_id,
            client_id=application.client_id,
            nonce=code.nonce,
            auth_time=code.auth_time,
            access=answer["access_token"],
            now=stamp.time,
        )
    return answer


def refresh(*, application: Application, body: dict[str, str], stamp: Stamp) -> Answer:
    """New tokens for a refresh token, which is used up. Raises Refusal."""
    check_resource(body)
    row = row_of(_REFRESH, [tokens.digest(required(body, "refresh_token")), application.pk])
    if row is None:
        raise InvalidGrant(UNUSABLE)
    token = Refresh(*row)
    refuse_used(token, reason=RevokedReason.REFRESH_REPLAY, stamp=stamp)
    if token.expired(stamp.time):
        raise InvalidGrant(UNUSABLE)
    granted = still_allowed(token, application)
    if scopes.OFFLINE not in granted:
        raise InvalidGrant("The app may not stay connected any more.")
    narrowed = narrower(body.get("scope"), granted=granted)
    return exchange(token, take=_TAKE_REFRESH, narrowed=narrowed, application=application, now=stamp.time)


def still_allowed(held: Held, application: Application) -> list[str]:
    """What was granted, without what staff have withdrawn from the app meanwhile; given back it counts again."""
    return [scope for scope in held.scope.split() if scope in application.allowed_scopes]


def narrower(asked: str | None, *, granted: list[str]) -> list[str]:
    """What is asked of what was granted; all of it where nothing is asked. Raises InvalidScope."""
    if asked is None:
        return granted
    wanted = asked.split()
    if not wanted or not set(wanted) <= set(granted):
        raise InvalidScope("The scope is wider than what was granted.")
    return scopes.in_order(wanted)


def refuse_used(held: Held, *, reason: RevokedReason, stamp: Stamp) -> None:
    """Raises InvalidGrant where a code or token was used before; a replay ends the whole consent besides."""
    if held.used is None:
        return
    if is_replay(held.used, now=stamp.time):
        with transaction.atomic():
            consent = ConsentGrant.objects.select_related("application").get(id=held.consent_id)
            consents.revoke(consent, reason=reason, stamp=stamp)
    raise InvalidGrant(UNUSABLE)


def exchange(held: Held, *, take: str, narrowed: list[str], application: Application, now: datetime) -> Answer:
    """Takes what is held, and answers a new access token, with offline_access a new refresh token for all that was
    granted. Raises InvalidGrant where another request was quicker.
    """
    offline = scopes.OFFLINE in still_allowed(held, application)
    fresh = tokens.new_refresh_token() if offline else ""
    values = {"now": now, "id": held.id, "consent": held.consent_id}
    if offline:
        values |= {"digest": tokens.digest(fresh), "application": application.pk, "user": held.user_id}
        values["scope"] = held.scope
    if row_of(take + (_AND_ISSUE if offline else _AND_NO_MORE), values) is None:
        raise InvalidGrant(UNUSABLE)
    access = tokens.access_token(
        grant_id=held.consent_id,
        company_id=held.company_id,
        user_id=held.user_id,
        client_id=application.client_id,
        scopes=narrowed,
        now=now,
    )
    lives = int(tokens.ACCESS_LIVES.total_seconds())
    answer = {"access_token": access, "token_type": "Bearer", "expires_in": lives, "scope": " ".join(narrowed)}
    return answer | {"refresh_token": fresh} if offline else answer


def revoke(*, application: Application, body: dict[str, str], stamp: Stamp) -> None:
    """RFC 7009: either kind of token ends its consent; a token that is not this app's changes nothing."""
    text = required(body, "token")
    consent = consent_of(text, application=application, now=stamp.time)
    if consent is not None:
        with transaction.atomic():
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
    """This API's address, or one below it; no fragment (RFC 8707, section 2)."""
    if "#" in resource:
        return False
    return resource == settings.BASE_URL or resource.startswith(f"{settings.BASE_URL}/")


def only_uri(application: Application) -> str | None:
    """redirect_uri may be left out by an app that registered just one."""
    return application.uris[0] if len(application.uris) == 1 else None


def required(body: dict[str, str], name: str) -> str:
    if name not in body:
        raise InvalidRequest(f"{name} is missing.")
    return body[name]
