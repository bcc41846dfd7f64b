"""Authentication backends for MFA. A wrong code counts like a wrong password, wherever it is entered."""

import logging
from datetime import UTC, datetime

from django.contrib.auth.backends import BaseBackend
from django.db import transaction
from django.http import HttpRequest

from companies.auth.calc import mfa_codes
from companies.auth.mfa import devices, passkeys
from companies.mailer import to_one_line
from companies.models import Passkey, RecoveryCode, User

log = logging.getLogger("sign-in")
MAX_REASON_LENGTH = 200  # characters in the log
MAX_DELAY_DOUBLINGS = (
    7  # the delay after a wrong code doubles up to 64 seconds; without a limit it would lock owners out
)

APP, RECOVERY, PASSKEY = "app", "recovery", "passkey"  # MFA methods stored in the session


class MfaCodeBackend(BaseBackend):
    """Authenticates with a code of the authenticator app or a recovery code; ``user.mfa_method`` says which."""

    @transaction.atomic
    def authenticate(self, request: HttpRequest | None, username: str, code: str) -> User | None:  # type: ignore[override]
        user = User.objects.find_by_email(username)
        if user is None or not user.is_active:
            return None
        normalized_code = mfa_codes.normalize_code(code)
        if mfa_codes.is_totp_code(normalized_code):
            mfa_method = APP if verify_totp_code(user, normalized_code) else None
        else:
            mfa_method = (
                RECOVERY
                if mfa_codes.is_recovery_code(normalized_code) and redeem_recovery_code(user, normalized_code)
                else None
            )
        if mfa_method is None:
            log.warning("Code of user %s rejected: wrong, already used, or too soon after a wrong one.", user.pk)
            return None
        user.mfa_method = mfa_method
        return user


def verify_totp_code(user: User, code: str) -> bool:
    """Verify a code of the authenticator app. Each code is valid once; after wrong codes there is a delay."""
    device = devices.find_authenticator_app(user)
    if device is None:
        return False
    device = type(device).objects.select_for_update().get(pk=device.pk)
    device.throttling_failure_count = min(device.throttling_failure_count, MAX_DELAY_DOUBLINGS)
    return bool(device.verify_token(code))


def redeem_recovery_code(user: User, code: str) -> bool:
    """Verify a recovery code and delete it; return whether it was valid."""
    deleted_count, _ = RecoveryCode.objects.for_user(user.pk).filter(digest=devices.hash_recovery_code(code)).delete()
    return deleted_count == 1


class PasskeyBackend(BaseBackend):
    """Authenticates with a passkey. An empty `username` allows any user."""

    @transaction.atomic
    def authenticate(  # type: ignore[override]
        self, request: HttpRequest | None, username: str, assertion: str, challenge: bytes | None
    ) -> User | None:
        try:
            user = verify_passkey_answer(username, assertion, challenge)
        except passkeys.PasskeyNotAccepted as error:
            log.warning("Passkey rejected: %s", to_one_line(error.reason)[:MAX_REASON_LENGTH])
            return None
        user.mfa_method = PASSKEY
        return user


def verify_passkey_answer(username: str, assertion: str, challenge: bytes | None) -> User:
    """Verify a passkey's answer and return its user. Raises PasskeyNotAccepted."""
    if challenge is None:
        raise passkeys.PasskeyNotAccepted("nobody asked for it, or it was answered before")
    passkey = Passkey.objects.select_for_update().filter(credential_id=passkeys.parse_credential_id(assertion)).first()
    if passkey is None:
        raise passkeys.PasskeyNotAccepted("it is not known")
    user = User.objects.get(pk=passkey.user_id)
    if not user.is_active or (username and user.email != username):
        raise passkeys.PasskeyNotAccepted("it is somebody else's")
    passkeys.verify_passkey(passkey, assertion, challenge=challenge, now=datetime.now(tz=UTC))
    return user
