"""The validator of the toolkit's server: each method answers one of its questions with this service's policy.

Every code and token belongs to a consent. A code or refresh token is used under its row lock, inside the
transaction of the token endpoint, so that only one of several attempts finds it unused. A second use within
GRACE_PERIOD is a retry; a later one is a replay, which revokes the consent. The `error_description` of
`invalid_grant` is a code of GrantProblem.
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

from companies.models import AuditContext, Membership, User
from oauth import authentication, authorization_request, consents
from oauth.models import (
    MAX_REFRESH_IDLE_TIME,
    MAX_REFRESH_LIFETIME,
    AccessToken,
    AuthorizationCode,
    ConsentGrant,
    RefreshToken,
    RevokedReason,
)
from oauth.protocol import scopes, tokens
from oauth.registration import compute_secret_digest

GRACE_PERIOD = timedelta(seconds=10)  # a second use within this time is a harmless retry
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class GrantProblem(StrEnum):
    """Why a code or refresh token is rejected; unknown ones and those of other apps have none."""

    CODE_USED = "code_used"
    CODE_EXPIRED = "code_expired"
    VERIFIER_MISMATCH = "verifier_mismatch"
    REDIRECT_URI_MISMATCH = "redirect_uri_mismatch"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105
    TOKEN_REPLACED = "token_replaced"  # noqa: S105
    TOKEN_REVOKED = "token_revoked"  # noqa: S105


class OAuthServer(ToolkitServer):
    """oauthlib's server with two grants and one response type, and our checks of requests."""

    def __init__(self, validator: Any, **kwargs: Any):
        super().__init__(validator, **kwargs)
        grant = self.openid_connect_auth  # it delegates to the plain grant without the openid scope
        grant.custom_validators.pre_auth.append(authorization_request.check_authorization_request)
        grant.register_code_modifier(lambda code, handler, request: code | {"code": tokens.generate_code()})
        for supported, allowed in (
            (self.response_types, {"code": grant}),
            (self.grant_types, {"authorization_code": grant, "refresh_token": self.refresh_grant}),
        ):
            supported.clear()
            supported.update(allowed)


def is_replay(used: datetime, *, now: datetime) -> bool:
    """Return whether a second use is a replay and not a retry."""
    return now - used > GRACE_PERIOD


def build_grant_error(problem: GrantProblem, request: Request) -> errors.InvalidGrantError:
    return errors.InvalidGrantError(problem.value, request=request)


def verify_code_challenge(verifier: str, challenge: str) -> bool:
    """Check a code verifier against an S256 challenge (RFC 7636, 4.6)."""
    return bool(VERIFIER.fullmatch(verifier)) and code_challenge_method_s256(verifier, challenge)


def build_app_audit_context(request: Request, now: datetime) -> AuditContext:
    """Build the context of a change by an app, without a user."""
    credential = f"client:{request.client.client_id}"[:120]
    return AuditContext(time=now, credential=credential, request_id=request.headers.get("request_id", ""))


class Validator(OAuth2Validator):
    # ------------------------------------------------------------------ client and scopes

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        """Compare keyed digests; a secret has 256 random bits and needs no slow hash."""
        return bool(stored_secret) and hmac.compare_digest(compute_secret_digest(provided_secret), stored_secret)

    def validate_scopes(
        self, client_id: str, requested_scopes: Any, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        if not requested_scopes or not super().validate_scopes(client_id, requested_scopes, client, request):
            authorization_request.raise_request_error(
                request, "invalid_scope", "A scope is missing, unknown or not allowed for this app."
            )
        request.scopes = scopes.sort_scopes(requested_scopes)
        return True

    def validate_silent_login(self, request: Request) -> bool:
        return True  # checked by the view

    def validate_silent_authorization(self, request: Request) -> bool:
        return True  # checked by the view

    # ------------------------------------------------------------------ codes

    def _create_authorization_code(
        self, request: Request, code: dict[str, str], expires: Any = None
    ) -> AuthorizationCode:
        """Store a digest of the code; the toolkit would store it in clear text (#1716)."""
        lives = timedelta(seconds=oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS)
        return AuthorizationCode.objects.create(
            **self.build_owner_values(request),
            code=tokens.compute_token_digest(code["code"]),
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
        if request.code_verifier is not None and not verify_code_challenge(request.code_verifier, row.code_challenge):
            raise build_grant_error(GrantProblem.VERIFIER_MISMATCH, request)
        request.auth_time, request.scopes = request.row.auth_time, self.list_allowed_scopes(request)
        if not request.scopes:
            raise errors.InvalidScopeError("The app is no longer allowed any of these scopes.", request=request)
        return True

    # The toolkit reads each of these from the code's row.

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
        """Answer another URI with invalid_grant (RFC 6749, 5.2); oauthlib answers invalid_request."""
        if redirect_uri != request.row.redirect_uri:
            raise build_grant_error(GrantProblem.REDIRECT_URI_MISMATCH, request)
        return True

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Mark the code as exchanged; its row stays to detect a second use."""
        AuthorizationCode.objects.filter(pk=request.row.pk).update(exchanged_time=request.now)
        ConsentGrant.objects.filter(id=request.consent.id, redeemed_time=None).update(redeemed_time=request.now)

    # ------------------------------------------------------------------ refresh tokens

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Accept a token that was not used before, or once more within the grace period: see ``find_successor``."""
        rows = RefreshToken.objects.filter(
            token_checksum=tokens.compute_token_digest(refresh_token), application=client
        )
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
        if request.now >= min(since + MAX_REFRESH_IDLE_TIME, allowed_since + MAX_REFRESH_LIFETIME):
            raise build_grant_error(GrantProblem.TOKEN_EXPIRED, request)
        if request.scope is not None and not request.scope.strip():
            raise errors.InvalidScopeError(request=request)
        if scopes.OFFLINE not in self.list_allowed_scopes(request):
            raise build_grant_error(GrantProblem.TOKEN_REVOKED, request)
        request.refresh_token_instance = request.row  # set as by the toolkit's own method
        return True

    def find_successor(self, row: RefreshToken, refresh_token: str, request: Request) -> RefreshToken:
        """Return the token that replaced this one moments ago, so that an answer that got lost can be given again.

        Once only, and only while the successor is unused. Raises InvalidGrantError.
        """
        checksum = tokens.compute_token_digest(tokens.derive_successor_token(refresh_token))
        unused = RefreshToken.objects.select_for_update().filter(token_checksum=checksum, revoked=None)
        successor = None if row.reissued_time else unused.first()
        if successor is None:
            raise build_grant_error(GrantProblem.TOKEN_REPLACED, request)
        RefreshToken.objects.filter(pk=row.pk).update(reissued_time=request.now)
        request.is_reissue = True
        return successor

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        """Return what was granted: a narrower refresh does not narrow the next one (RFC 6749, 6)."""
        return self.list_allowed_scopes(request)

    def refresh_id_token(self, request: Request) -> bool:
        return False  # an ID token is issued only once

    # ------------------------------------------------------------------ codes and refresh tokens

    def lock_row(self, rows: QuerySet[Any], request: Request) -> Any:
        """Lock the code or refresh token, and store it with consent and user in the request; None without one."""
        request.now = timezone.now()
        row = rows.select_related("consent__user").select_for_update(of=("self",)).first()
        if row is not None:
            request.row, request.consent, request.user = row, row.consent, row.consent.user
        return row

    def check_consent(self, request: Request) -> None:
        """Reject a consent that was revoked, or whose user is deactivated or left the company."""
        consent, user = request.consent, request.user  # the app was checked before
        is_member = Membership.objects.for_company(consent.company_id).filter(user=user).exists()
        if consent.revoked_time is not None or not user.is_active or not is_member:
            raise build_grant_error(GrantProblem.TOKEN_REVOKED, request)

    def end_replayed_consent(self, request: Request, *, reason: RevokedReason) -> None:
        """Revoke the consent of a replayed code or token, of which somebody has a copy."""
        if request.consent.revoked_time is None:
            consents.revoke_consent(
                request.consent, reason=reason, context=build_app_audit_context(request, request.now)
            )

    def list_allowed_scopes(self, request: Request) -> list[str]:
        """Return the granted scopes that staff still allow the app."""
        return [scope for scope in request.row.scope.split() if scope in request.client.allowed_scopes]

    def build_owner_values(self, request: Request) -> dict[str, Any]:
        """Return what every code and token refers to."""
        return {"consent": request.consent, "user": request.user, "application": request.client}

    def _check_and_set_request_resource(self, request: Request) -> None:
        """Skip: every token is for this API, and the resource was checked before."""

    def _save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        """Save the tokens; without offline_access there is no refresh token."""
        if scopes.OFFLINE not in self.list_allowed_scopes(request):
            token.pop("refresh_token", None)
        if getattr(request, "is_reissue", False):  # its refresh token already exists
            expires = request.now + timedelta(seconds=token["expires_in"])
            self._create_access_token(expires, request, token)
        else:
            super()._save_bearer_token(token, request, *args, **kwargs)

    def _create_access_token(
        self, expires: datetime, request: Request, token: dict[str, Any], source_refresh_token: Any = None
    ) -> AccessToken:
        row = AccessToken(
            **self.build_owner_values(request),
            scope=token["scope"],
            expires=expires,
            source_refresh_token=source_refresh_token,
        )
        self._set_token_value(row, token["access_token"])
        row.save()
        return row

    def _create_refresh_token(
        self, request: Request, code: str, access_token: AccessToken, previous: RefreshToken | None
    ) -> RefreshToken:
        family, granted = request.consent.id, request.row.scope
        row = RefreshToken(
            **self.build_owner_values(request), access_token=access_token, token_family=family, scope=granted
        )
        self._set_token_value(row, code)
        row.save()
        return row

    def get_id_token_dictionary(self, token: Any, token_handler: Any, request: Request) -> tuple[dict[str, Any], Any]:
        """Add when the user signed in for this consent; the toolkit would take the last sign-in anywhere."""
        claims, expires = super().get_id_token_dictionary(token, token_handler, request)
        return claims | {"auth_time": int(request.auth_time.timestamp())}, expires

    # ------------------------------------------------------------------ presented tokens

    def validate_bearer_token(self, token: str | None, scopes: Any, request: Request) -> bool:
        now = timezone.now()
        caller = authentication.authenticate_access_token(token, now=now) if token else None
        if caller is None:
            return False
        request.user = User.objects.only("email", "name").get(id=caller.user_id)
        request.scopes, request.access_token = list(caller.scopes), None
        caller.record_use(now)
        return True

    def validate_jwt_bearer_token(self, token: str, scopes: Any, request: Request) -> bool:
        return False  # ID tokens grant no access

    def get_userinfo_claims(self, request: Request) -> dict[str, str]:
        """Add name and email, which the ID token does not have."""
        more = {scopes.EMAIL: ("email", request.user.email), scopes.PROFILE: ("name", request.user.display_name)}
        return super().get_userinfo_claims(request) | dict(more[each] for each in more if each in request.scopes)

    def revoke_token(self, token: str, token_type_hint: str, request: Request, *args: Any, **kwargs: Any) -> None:
        """Revoke the consent of either kind of token. Raises InvalidGrantError for a token of another app."""
        now = timezone.now()
        row = RefreshToken.objects.filter(token_checksum=tokens.compute_token_digest(token)).first()
        claims = tokens.read_access_token(token, now=now, even_expired=True)
        consent_id = row.consent_id if row else claims.grant_id if claims else None
        rows = ConsentGrant.objects.select_related("application")
        consent = rows.filter(id=consent_id).first() if consent_id else None
        if consent is not None:
            if consent.application != request.client:
                raise errors.InvalidGrantError("The token was issued to another client.", request=request)
            consents.revoke_consent(consent, reason=RevokedReason.CLIENT, context=build_app_audit_context(request, now))
