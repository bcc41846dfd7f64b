"""Setting factors up and taking them away.

Each act holds the person's row, so that two at once neither leave codes without a factor nor a factor without codes.
Who is to know is told by the follow-up ``factor_changed``.
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

from companies.changing import changing
from companies.errors import Conflict, Invalid, Missing
from companies.factors import calc
from companies.models import Membership, Passkey, RecoveryCode, Stamp, User
from companies.security import telling

MOST_PASSKEYS = 20
CODES = 10
CODE_BYTES = 15  # 24 characters of base32
SKEW = 1  # steps of thirty seconds that an authenticator's clock may be off


class OneApp(Conflict):
    """There is an authenticator app already. Remove it to set up another."""

    code = "one_authenticator_app"


class TooManyPasskeys(Conflict):
    """There are twenty passkeys already. Remove one that is not used."""

    code = "too_many_passkeys"


class KnownPasskey(Conflict):
    """This passkey is set up already."""

    code = "known_passkey"


class WrongCode(Invalid):
    """This is not the code that the app shows now. Check that the device's clock is right, and type the next one."""

    code = "wrong_code"


def app_of(user: User) -> TOTPDevice | None:
    """The person's authenticator app."""
    return TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).order_by("id").first()


def forgive(user_id: UUID) -> None:
    """The app takes the next code at once: somebody who guessed is out, or the person came in another way."""
    TOTPDevice.objects.filter(user_id=user_id).update(throttling_failure_timestamp=None, throttling_failure_count=0)


def new_seed() -> str:
    """160 bits in hexadecimal digits (RFC 4226, section 4)."""
    return secrets.token_hex(20)


@transaction.atomic
def add_app(*, user: User, seed: str, code: str, stamp: Stamp) -> list[str]:
    """An authenticator app that has shown that it knows the seed; returns the recovery codes, if these are the first.

    Raises WrongCode, OneApp.
    """
    held(user)
    if app_of(user):
        raise OneApp
    step = step_of(seed, code, now=stamp.time)
    if step is None:
        raise WrongCode(pointer="#/code")
    # The step is spent: what was typed here signs nobody in.
    TOTPDevice.objects.create(user=user, name="Authenticator app", key=seed, tolerance=SKEW, last_t=step)
    return added(user, "An authenticator app was added.", stamp=stamp)


def step_of(seed: str, code: str, *, now: datetime) -> int | None:
    """Which step of the clock the code is of; None for one that is of none near now (RFC 6238, section 5.2)."""
    plain = calc.plain(code)
    totp = TOTP(bytes.fromhex(seed))
    totp.time = now.timestamp()
    if not calc.is_app_code(plain) or not totp.verify(int(plain), tolerance=SKEW):
        return None
    return int(totp.t())


@transaction.atomic
def add_passkey(passkey: Passkey, *, stamp: Stamp) -> list[str]:
    """Stores a passkey; returns the recovery codes, if these are the first. Raises TooManyPasskeys, KnownPasskey."""
    user = held(passkey.user)
    if Passkey.objects.of(user.pk).count() >= MOST_PASSKEYS:
        raise TooManyPasskeys
    if Passkey.objects.filter(credential_id=passkey.credential_id).exists():
        raise KnownPasskey
    passkey.save(force_insert=True)
    return added(passkey.user, f"The passkey “{passkey.name}” was added.", stamp=stamp)


def added(user: User, what: str, *, stamp: Stamp) -> list[str]:
    first = user.second_factor_since is None
    if first:
        user.second_factor_since = stamp.time
        user.save(update_fields=["second_factor_since"])
    telling.factor_changed(user=user, what=what, stamp=stamp)
    return fresh_codes(user) if first else []


@transaction.atomic
def remove_app(*, user: User, stamp: Stamp) -> None:
    """Raises Missing."""
    held(user)
    removed, _ = TOTPDevice.objects.filter(user_id=user.pk).delete()
    if not removed:
        raise Missing
    after_removal(user, "The authenticator app was removed.", stamp=stamp)


@transaction.atomic
def remove_passkey(*, user: User, passkey_id: UUID, stamp: Stamp) -> str:
    """Returns its name. Raises Missing."""
    held(user)
    passkey = Passkey.objects.of(user.pk).filter(id=passkey_id).first()
    if passkey is None:
        raise Missing
    passkey.delete()
    after_removal(user, f"The passkey “{passkey.name}” was removed.", stamp=stamp)
    return passkey.name


def after_removal(user: User, what: str, *, stamp: Stamp) -> None:
    """With the last factor the codes go, and the password is enough again."""
    if not app_of(user) and not Passkey.objects.of(user.pk).exists():
        RecoveryCode.objects.of(user.pk).delete()
        user.second_factor_since = None
        user.save(update_fields=["second_factor_since"])
    telling.factor_changed(user=user, what=what, stamp=stamp)


@transaction.atomic
def remove_all(*, user: User, stamp: Stamp) -> bool:
    """Everything, for somebody who lost it; False where there was nothing. Stands in the logs of their companies."""
    held(user)
    if user.second_factor_since is None:
        return False
    TOTPDevice.objects.filter(user_id=user.pk).delete()
    Passkey.objects.of(user.pk).delete()
    memberships = Membership.objects.of_person(user.pk).select_related("user", "company")
    for membership in memberships.order_by("company_id"):  # for all their turns are kept to the end
        with changing(membership.company, stamp=stamp) as change:
            change.record(membership, "member.secondFactorRemoved", before={"email": membership.shown_email})
    after_removal(user, "All second factors were removed by whoever runs this server.", stamp=stamp)
    return True


@transaction.atomic
def new_codes(*, user: User, stamp: Stamp) -> list[str]:
    """Ten new recovery codes in the place of the old ones. Raises Missing for somebody without a factor."""
    held(user)
    if user.second_factor_since is None:
        raise Missing
    telling.factor_changed(user=user, what="New recovery codes were made.", stamp=stamp)
    return fresh_codes(user)


def fresh_codes(user: User) -> list[str]:
    codes = [b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower() for _ in range(CODES)]
    RecoveryCode.objects.of(user.pk).delete()
    RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=digest(code)) for code in codes)
    return [calc.grouped(code) for code in codes]


def digest(code: str) -> bytes:
    """What is kept of a recovery code."""
    return hmac.digest(settings.API_KEY_PEPPER.encode(), f"recovery:{code}".encode(), hashlib.sha256)


def held(user: User) -> User:
    """The person as they are stored, and nobody else's until the end."""
    stored = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.second_factor_since = stored.second_factor_since
    return user
