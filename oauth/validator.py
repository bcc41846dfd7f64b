"""What the toolkit's server asks us: each method is one question of its validator, answered by the policy of this
service.

One consent stands behind every code and token. A code or refresh token is taken under the lock of its row, inside the
transaction that the token endpoint opens, so that of many that try one finds it unused. What was used before is either
a race, which harms nothing, or a replay, which ends the consent.
"""

import hmac
import re
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors
from oauthlib.openid import Server as ToolkitServer

from companies.models import Membership, Stamp, User
from oauth import asking, authentication, consents
from oauth.models import (
    REFRESH_IDLE,
    REFRESH_LIVES,
    AccessToken,
    AuthorizationCode,
    ConsentGrant,
    RefreshToken,
    RevokedReason,
)
from oauth.registration import secret_digest
from oauth.wire import scopes, tokens

RACE = timedelta(seconds=10)  # a second use this soon is a client that retried, and harms nothing
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class Server(ToolkitServer):
    """oauthlib's own, with two grants and one response type, and our rules for what an app may ask."""

    def __init__(self, validator: Any, **kwargs: Any):
        super().__init__(validator, **kwargs)
        grant = self.openid_connect_auth  # the plain one, where openid is not asked for
        grant.custom_validators.pre_auth.append(asking.check)
        grant.register_code_modifier(lambda code, handler, request: code | {"code": tokens.new_code()})
        for known, kept in (
            (self.response_types, {"code": grant}),
            (self.grant_types, {"authorization_code": grant, "refresh_token": self.refresh_grant}),
        ):
            known.clear()
            known.update(kept)


def is_replay(used: datetime, *, now: datetime) -> bool:
    """Whether a second use is a theft and not a race."""
    return now - used > RACE


def stamp_of(request: Request, now: datetime) -> Stamp:
    """An app changes something in the name of nobody."""
    credential = f"client:{request.client.client_id}"[:120]
    return Stamp(time=now, credential=credential, request_id=request.headers.get("request_id", ""))


class Validator(OAuth2Validator):
    # ------------------------------------------------------------------ who is calling, and what for

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        """A secret has 256 random bits: it needs no slow hash, but a key that the database lacks."""
        return bool(stored_secret) and hmac.compare_digest(secret_digest(provided_secret), stored_secret)

    def validate_scopes(
        self, client_id: str, asked: Any, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        if not asked or not super().validate_scopes(client_id, asked, client, request):
            asking.refuse(request, "invalid_scope", "A scope is missing, unknown, or not allowed to this app.")
        request.scopes = scopes.in_order(asked)
        return True

    def validate_silent_login(self, request: Request) -> bool:
        return True  # the view knows who is signed in

    def validate_silent_authorization(self, request: Request) -> bool:
        return True  # and which consent stands

    # ------------------------------------------------------------------ codes

    def _create_authorization_code(
        self, request: Request, code: dict[str, str], expires: Any = None
    ) -> AuthorizationCode:
        """A digest: the toolkit's own stands in the clear (#1716). What is presented is hashed at the door."""
        lives = timedelta(seconds=oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS)
        return AuthorizationCode.objects.create(
            **self.owned(request),
            code=tokens.digest(code["code"]),
            redirect_uri=request.redirect_uri,
            scope=" ".join(request.scopes),
            code_challenge=request.code_challenge,
            code_challenge_method=request.code_challenge_method,
            nonce=request.nonce or "",
            auth_time=request.auth_time,
            expires=expires or timezone.now() + lives,
        )

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        rows = AuthorizationCode.objects.filter(code=code, application=client)
        if not self.taken(rows, request, replayed=RevokedReason.CODE_REPLAY) or request.row.is_expired():
            return False
        if request.code_verifier is not None and not VERIFIER.fullmatch(request.code_verifier):
            return False
        request.auth_time, request.scopes = request.row.auth_time, self.still_allowed(request)
        if not request.scopes:
            raise errors.InvalidScopeError("The app may have none of these scopes any more.", request=request)
        return True

    # What the toolkit reads of the code's row, once for each.

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        return request.row.code_challenge or None

    def get_code_challenge_method(self, code: str, request: Request) -> str | None:
        return request.row.code_challenge_method or None

    def get_authorization_code_nonce(
        self, client_id: str, code: str, redirect_uri: str, request: Request
    ) -> str | None:
        return request.row.nonce or None

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str:
        try:
            return str(super().get_default_redirect_uri(client_id, request))
        except errors.MissingRedirectURIError:
            if request.grant_type:
                raise errors.InvalidGrantError(request=request) from None
            raise

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Another address is invalid_grant (RFC 6749, 5.2); oauthlib alone says invalid_request."""
        if redirect_uri != request.row.redirect_uri:
            raise errors.InvalidGrantError("redirect_uri is not the one of the authorization request.")
        return True

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Its row stays, for a second use to be seen."""
        AuthorizationCode.objects.filter(pk=request.row.pk).update(exchanged_time=request.now)
        ConsentGrant.objects.filter(id=request.consent.id, redeemed_time=None).update(redeemed_time=request.now)

    # ------------------------------------------------------------------ refresh tokens

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        rows = RefreshToken.objects.filter(token_checksum=tokens.digest(refresh_token), application=client)
        if not self.taken(rows, request, replayed=RevokedReason.REFRESH_REPLAY):
            return False
        since, allowed_since = request.row.created, request.consent.created_time
        if request.now >= min(since + REFRESH_IDLE, allowed_since + REFRESH_LIVES):
            return False
        if request.scope is not None and not request.scope.strip():
            raise errors.InvalidScopeError(request=request)
        request.refresh_token_instance = request.row  # what the toolkit's own method leaves
        return scopes.OFFLINE in self.still_allowed(request)

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        """What was granted: a narrower refresh does not narrow the next one (RFC 6749, 6)."""
        return self.still_allowed(request)

    def refresh_id_token(self, request: Request) -> bool:
        return False  # who signed in, and when, is said once

    # ------------------------------------------------------------------ what both have in common

    def taken(self, rows: QuerySet[Any], request: Request, *, replayed: RevokedReason) -> bool:
        """Locks the row, where its consent lives and all that it rests on; whether it was not used before."""
        request.now = timezone.now()
        lives = rows.filter(consent__revoked_time=None, consent__user__is_active=True)  # the app was asked for before
        row = lives.select_related("consent__user").select_for_update(of=("self",)).first()
        if row is None or not Membership.objects.of(row.consent.company_id).filter(user=row.consent.user).exists():
            return False
        if row.used is not None:
            if is_replay(row.used, now=request.now):
                consents.revoke(row.consent, reason=replayed, stamp=stamp_of(request, request.now))
            return False
        request.row, request.consent, request.user = row, row.consent, row.consent.user
        return True

    def still_allowed(self, request: Request) -> list[str]:
        """What was granted, without what staff have withdrawn from the app meanwhile; given back it counts again."""
        return [scope for scope in request.row.scope.split() if scope in request.client.allowed_scopes]

    def owned(self, request: Request) -> dict[str, Any]:
        """What a code and both kinds of token hang on."""
        return {"consent": request.consent, "user": request.user, "application": request.client}

    def _check_and_set_request_resource(self, request: Request) -> None:
        """Every token is for this one API; whether another was asked for, the door has looked."""

    def _save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        """Without offline_access the app gets no refresh token."""
        if scopes.OFFLINE not in self.still_allowed(request):
            token.pop("refresh_token", None)
        super()._save_bearer_token(token, request, *args, **kwargs)

    def _create_access_token(
        self, expires: datetime, request: Request, token: dict[str, Any], source_refresh_token: Any = None
    ) -> AccessToken:
        row = AccessToken(
            **self.owned(request), scope=token["scope"], expires=expires, source_refresh_token=source_refresh_token
        )
        self._set_token_value(row, token["access_token"])
        row.save()
        return row

    def _create_refresh_token(
        self, request: Request, code: str, access_token: AccessToken, previous: RefreshToken | None
    ) -> RefreshToken:
        family, granted = request.consent.id, request.row.scope
        row = RefreshToken(**self.owned(request), access_token=access_token, token_family=family, scope=granted)
        self._set_token_value(row, code)
        row.save()
        return row

    def get_id_token_dictionary(self, token: Any, token_handler: Any, request: Request) -> tuple[dict[str, Any], Any]:
        """When this consent's user signed in, which the toolkit takes from their last sign-in anywhere."""
        claims, expires = super().get_id_token_dictionary(token, token_handler, request)
        return claims | {"auth_time": int(request.auth_time.timestamp())}, expires

    # ------------------------------------------------------------------ tokens that are presented

    def validate_bearer_token(self, token: str | None, scopes: Any, request: Request) -> bool:
        now = timezone.now()
        caller = authentication.authenticate(token, now=now) if token else None
        if caller is None:
            return False
        request.user = User.objects.only("email", "name").get(id=caller.user_id)
        request.scopes, request.access_token = list(caller.scopes), None
        caller.note_use(now)
        return True

    def validate_jwt_bearer_token(self, token: str, scopes: Any, request: Request) -> bool:
        return False  # an ID token opens nothing

    def get_userinfo_claims(self, request: Request) -> dict[str, str]:
        """Name and address are told here, and not in the ID token."""
        more = {scopes.EMAIL: ("email", request.user.email), scopes.PROFILE: ("name", request.user.display_name)}
        return super().get_userinfo_claims(request) | dict(more[each] for each in more if each in request.scopes)

    def revoke_token(self, token: str, token_type_hint: str, request: Request, *args: Any, **kwargs: Any) -> None:
        """Either kind ends its consent; one that is not this app's changes nothing."""
        now = timezone.now()
        row = RefreshToken.objects.filter(token_checksum=tokens.digest(token)).first()
        claims = tokens.read_access_token(token, now=now, even_expired=True)
        consent_id = row.consent_id if row else claims.grant_id if claims else None
        rows = ConsentGrant.objects.select_related("application").filter(application=request.client)
        consent = rows.filter(id=consent_id).first() if consent_id else None
        if consent is not None:
            consents.revoke(consent, reason=RevokedReason.CLIENT, stamp=stamp_of(request, now))
