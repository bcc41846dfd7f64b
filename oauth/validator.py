"""What the toolkit's server asks us: each method is one question of its validator, answered by the policy of this
service.

One consent stands behind every code and token. A code or refresh token is used under the lock of its row, inside the
transaction that the token endpoint opens, so that of many that try one finds it unused. A second use within
``GRACE_PERIOD`` is a client that retried; a later one is a replay, which ends the consent.

The ``error_description`` of ``invalid_grant`` is one of the codes of ``GrantProblem``.
"""

import hmac
import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256
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

GRACE_PERIOD = timedelta(seconds=10)  # a second use this soon is a client that retried, and harms nothing
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class GrantProblem(StrEnum):
    """Why a code or refresh token is refused; none of them for one that is unknown, or another app's."""

    CODE_USED = "code_used"
    CODE_EXPIRED = "code_expired"
    VERIFIER_MISMATCH = "verifier_mismatch"
    REDIRECT_URI_MISMATCH = "redirect_uri_mismatch"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105
    TOKEN_REPLACED = "token_replaced"  # noqa: S105
    TOKEN_REVOKED = "token_revoked"  # noqa: S105


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
    """Whether a second use is a theft and not a retry."""
    return now - used > GRACE_PERIOD


def build_grant_error(problem: GrantProblem, request: Request) -> errors.InvalidGrantError:
    return errors.InvalidGrantError(problem.value, request=request)


def matches_challenge(verifier: str, challenge: str) -> bool:
    """Check a code verifier against an S256 challenge (RFC 7636, 4.6)."""
    return bool(VERIFIER.fullmatch(verifier)) and code_challenge_method_s256(verifier, challenge)


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
        row = self.lock_row(AuthorizationCode.objects.filter(code=code, application=client), request)
        if row is None:
            return False
        if row.used is not None:
            if is_replay(row.used, now=request.now):
                self.end_replayed_consent(request, reason=RevokedReason.CODE_REPLAY)
            raise build_grant_error(GrantProblem.CODE_USED, request)
        self.check_consent(request)
        if row.is_expired():
            raise build_grant_error(GrantProblem.CODE_EXPIRED, request)
        if request.code_verifier is not None and not matches_challenge(request.code_verifier, row.code_challenge):
            raise build_grant_error(GrantProblem.VERIFIER_MISMATCH, request)
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
                raise build_grant_error(GrantProblem.REDIRECT_URI_MISMATCH, request) from None
            raise

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Another address is invalid_grant (RFC 6749, 5.2); oauthlib alone says invalid_request."""
        if redirect_uri != request.row.redirect_uri:
            raise build_grant_error(GrantProblem.REDIRECT_URI_MISMATCH, request)
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
        """Accept a token that was not used before, or once more within the grace period: see ``find_successor``."""
        rows = RefreshToken.objects.filter(token_checksum=tokens.digest(refresh_token), application=client)
        row = self.lock_row(rows, request)
        if row is None:
            return False
        if row.used is not None and is_replay(row.used, now=request.now):
            self.end_replayed_consent(request, reason=RevokedReason.REFRESH_REPLAY)
            raise build_grant_error(GrantProblem.TOKEN_REPLACED, request)
        self.check_consent(request)
        if row.used is not None:
            request.row = self.find_successor(row, refresh_token, request)
        since, allowed_since = request.row.created, request.consent.created_time
        if request.now >= min(since + REFRESH_IDLE, allowed_since + REFRESH_LIVES):
            raise build_grant_error(GrantProblem.TOKEN_EXPIRED, request)
        if request.scope is not None and not request.scope.strip():
            raise errors.InvalidScopeError(request=request)
        if scopes.OFFLINE not in self.still_allowed(request):
            raise build_grant_error(GrantProblem.TOKEN_REVOKED, request)
        request.refresh_token_instance = request.row  # what the toolkit's own method leaves
        return True

    def find_successor(self, row: RefreshToken, refresh_token: str, request: Request) -> RefreshToken:
        """Return the token that replaced this one moments ago, so that an answer that got lost can be given again.

        Once only, and only while the successor is unused. Raises InvalidGrantError.
        """
        checksum = tokens.digest(tokens.derive_successor(refresh_token))
        unused = RefreshToken.objects.select_for_update().filter(token_checksum=checksum, revoked=None)
        successor = None if row.reissued_time else unused.first()
        if successor is None:
            raise build_grant_error(GrantProblem.TOKEN_REPLACED, request)
        RefreshToken.objects.filter(pk=row.pk).update(reissued_time=request.now)
        request.is_reissue = True
        return successor

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        """What was granted: a narrower refresh does not narrow the next one (RFC 6749, 6)."""
        return self.still_allowed(request)

    def refresh_id_token(self, request: Request) -> bool:
        return False  # who signed in, and when, is said once

    # ------------------------------------------------------------------ what both have in common

    def lock_row(self, rows: QuerySet[Any], request: Request) -> Any:
        """Lock the code or refresh token and remember it, its consent and user in the request; None without one."""
        request.now = timezone.now()
        row = rows.select_related("consent__user").select_for_update(of=("self",)).first()
        if row is not None:
            request.row, request.consent, request.user = row, row.consent, row.consent.user
        return row

    def check_consent(self, request: Request) -> None:
        """Refuse what hangs on a consent that ended: revoked, a deactivated user, or a member who left."""
        consent, user = request.consent, request.user  # the app was looked at before
        is_member = Membership.objects.of(consent.company_id).filter(user=user).exists()
        if consent.revoked_time is not None or not user.is_active or not is_member:
            raise build_grant_error(GrantProblem.TOKEN_REVOKED, request)

    def end_replayed_consent(self, request: Request, *, reason: RevokedReason) -> None:
        """Somebody has a copy of a code or token that was used long ago: nothing of its consent counts any more."""
        if request.consent.revoked_time is None:
            consents.revoke(request.consent, reason=reason, stamp=stamp_of(request, request.now))

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
        if getattr(request, "is_reissue", False):  # its refresh token is stored already
            expires = request.now + timedelta(seconds=token["expires_in"])
            self._create_access_token(expires, request, token)
        else:
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
