"""MFA devices of a user: adding and removing authenticator apps, passkeys and recovery codes.

Each operation locks the user's row, so that concurrent calls never leave codes without a device or a
device without codes. The hook ``factor_changed`` sends the notification.
"""

import hashlib
import hmac
import secrets
from base64 import b32encode
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from companies.auth import emails
from companies.auth.calc import mfa_codes
from companies.change import change_company
from companies.errors import ConflictError, InvalidInputError, NotFoundError
from companies.models import AuditContext, Membership, Passkey, RecoveryCode, User

MAX_PASSKEYS = 20
RECOVERY_CODE_COUNT = 10
RECOVERY_CODE_BYTES = 15  # 24 characters of base32
ALLOWED_SKEW_STEPS = 1  # steps of thirty seconds


class OneAuthenticatorApp(ConflictError):
    """You already have an authenticator app. Remove it to add another."""

    code = "one_authenticator_app"


class TooManyPasskeys(ConflictError):
    """You have reached the limit of 20 passkeys. Remove one you do not use."""

    code = "too_many_passkeys"


class KnownPasskey(ConflictError):
    """This passkey is already set up."""

    code = "known_passkey"


class WrongCode(InvalidInputError):
    """The code is incorrect. Check your device's clock and enter the next code."""

    code = "wrong_code"


def find_authenticator_app(user: User) -> TOTPDevice | None:
    """Return the user's authenticator app, or None."""
    return TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).order_by("id").first()


def reset_totp_throttling(user_id: UUID) -> None:
    """Clear the delay after wrong codes: an attacker is locked out, or the user signed in by other means."""
    TOTPDevice.objects.filter(user_id=user_id).update(throttling_failure_timestamp=None, throttling_failure_count=0)


def generate_seed() -> str:
    """Generate a seed of 160 bits, in hexadecimal (RFC 4226, section 4)."""
    return secrets.token_hex(20)


@transaction.atomic
def add_authenticator_app(*, user: User, seed: str, code: str, context: AuditContext) -> list[str]:
    """Add an authenticator app that produced a valid code; return the recovery codes if it is the user's first
    device.

    Raises:
        WrongCode, OneAuthenticatorApp
    """
    lock_user(user)
    if find_authenticator_app(user):
        raise OneAuthenticatorApp
    step = find_totp_step(seed, code, now=context.time)
    if step is None:
        raise WrongCode(pointer="#/code")
    # The step is used up: this code cannot sign in.
    TOTPDevice.objects.create(user=user, name="Authenticator app", key=seed, tolerance=ALLOWED_SKEW_STEPS, last_t=step)
    return complete_device_addition(user, "An authenticator app was added.", context=context)


def find_totp_step(seed: str, code: str, *, now: datetime) -> int | None:
    """Return the time step of a code; None if the code matches no step near `now` (RFC 6238, section 5.2)."""
    normalized_code = mfa_codes.normalize_code(code)
    totp = TOTP(bytes.fromhex(seed))
    totp.time = now.timestamp()
    if not mfa_codes.is_totp_code(normalized_code) or not totp.verify(
        int(normalized_code), tolerance=ALLOWED_SKEW_STEPS
    ):
        return None
    return int(totp.t())


@transaction.atomic
def add_passkey(passkey: Passkey, *, context: AuditContext) -> list[str]:
    """Store a passkey; return the recovery codes if it is the user's first device.

    Raises:
        TooManyPasskeys, KnownPasskey
    """
    user = lock_user(passkey.user)
    if Passkey.objects.for_user(user.pk).count() >= MAX_PASSKEYS:
        raise TooManyPasskeys
    if Passkey.objects.filter(credential_id=passkey.credential_id).exists():
        raise KnownPasskey
    passkey.save(force_insert=True)
    return complete_device_addition(passkey.user, f"The passkey “{passkey.name}” was added.", context=context)


def complete_device_addition(user: User, change_text: str, *, context: AuditContext) -> list[str]:
    """Turn MFA on with the first device, run the hooks, and return the recovery codes if it was the first."""
    is_first = user.second_factor_since is None
    if is_first:
        user.second_factor_since = context.time
        user.save(update_fields=["second_factor_since"])
    emails.send_mfa_changed_email(user=user, event=change_text, context=context)
    return generate_recovery_codes(user) if is_first else []


@transaction.atomic
def remove_authenticator_app(*, user: User, context: AuditContext) -> None:
    """Remove the authenticator app. Raises NotFoundError."""
    lock_user(user)
    removed_count, _ = TOTPDevice.objects.filter(user_id=user.pk).delete()
    if not removed_count:
        raise NotFoundError
    complete_device_removal(user, "The authenticator app was removed.", context=context)


@transaction.atomic
def remove_passkey(*, user: User, passkey_id: UUID, context: AuditContext) -> str:
    """Remove a passkey and return its name. Raises NotFoundError."""
    lock_user(user)
    passkey = Passkey.objects.for_user(user.pk).filter(id=passkey_id).first()
    if passkey is None:
        raise NotFoundError
    passkey.delete()
    complete_device_removal(user, f"The passkey “{passkey.name}” was removed.", context=context)
    return passkey.name


def complete_device_removal(user: User, change_text: str, *, context: AuditContext) -> None:
    """Run the hooks; after the last device was removed also delete the recovery codes and turn MFA off."""
    if not find_authenticator_app(user) and not Passkey.objects.for_user(user.pk).exists():
        RecoveryCode.objects.for_user(user.pk).delete()
        user.second_factor_since = None
        user.save(update_fields=["second_factor_since"])
    emails.send_mfa_changed_email(user=user, event=change_text, context=context)


@transaction.atomic
def remove_all_devices(*, user: User, context: AuditContext) -> bool:
    """Remove all devices of a user who lost them, with an audit entry in each of their companies; False if
    there were none.
    """
    lock_user(user)
    if user.second_factor_since is None:
        return False
    TOTPDevice.objects.filter(user_id=user.pk).delete()
    Passkey.objects.for_user(user.pk).delete()
    memberships = Membership.objects.for_user(user.pk).select_related("user", "company")
    for membership in memberships.order_by("company_id"):  # all company locks are held to the end
        with change_company(membership.company, context=context) as change:
            change.record(membership, "member.secondFactorRemoved", before={"email": membership.shown_email})
    complete_device_removal(user, "Two-factor authentication was removed by the operator.", context=context)
    return True


@transaction.atomic
def replace_recovery_codes(*, user: User, context: AuditContext) -> list[str]:
    """Replace the recovery codes with ten new ones. Raises NotFoundError for a user without MFA."""
    lock_user(user)
    if user.second_factor_since is None:
        raise NotFoundError
    emails.send_mfa_changed_email(user=user, event="New recovery codes were created.", context=context)
    return generate_recovery_codes(user)


def generate_recovery_codes(user: User) -> list[str]:
    """Generate and store ten recovery codes; return them in groups for display."""
    codes = [b32encode(secrets.token_bytes(RECOVERY_CODE_BYTES)).decode().lower() for _ in range(RECOVERY_CODE_COUNT)]
    RecoveryCode.objects.for_user(user.pk).delete()
    RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=hash_recovery_code(code)) for code in codes)
    return [mfa_codes.group_code(code) for code in codes]


def hash_recovery_code(code: str) -> bytes:
    """Return the stored digest of a recovery code."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), f"recovery:{code}".encode(), hashlib.sha256)


def lock_user(user: User) -> User:
    """Lock the user's row until the end of the transaction and refresh `second_factor_since`."""
    locked_user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.second_factor_since = locked_user.second_factor_since
    return user
