"""Whether somebody proves a factor: backends, so that what is wrong counts like a wrong password, at every door."""

import logging
from datetime import UTC, datetime

from django.contrib.auth.backends import BaseBackend
from django.db import transaction
from django.http import HttpRequest

from companies.factors import calc, keeping, passkeys
from companies.models import Passkey, RecoveryCode, User
from companies.running.mailing import one_line

log = logging.getLogger("sign-in")
LONGEST_REASON = 200  # characters of the log
MOST_DOUBLINGS = 7  # the wait behind a wrong code of the app doubles up to 64 seconds; unbounded it kept owners out

APP, RECOVERY, PASSKEY = "app", "recovery", "passkey"  # what a session remembers to have been proven by


class Codes(BaseBackend):
    """A code of the authenticator app, or one from paper; ``user.proven_by`` says which."""

    @transaction.atomic
    def authenticate(self, request: HttpRequest | None, username: str, code: str) -> User | None:  # type: ignore[override]
        user = User.objects.with_email(username)
        if user is None or not user.is_active:
            return None
        plain = calc.plain(code)
        if calc.is_app_code(plain):
            by = APP if of_app(user, plain) else None
        else:
            by = RECOVERY if calc.is_recovery_code(plain) and of_paper(user, plain) else None
        if by is None:
            log.warning("A code of %s was refused: it is wrong, was used, or came too soon after a wrong one.", user.pk)
            return None
        user.proven_by = by
        return user


def of_app(user: User, code: str) -> bool:
    """Whether it is the app's code of now, which is taken once; after wrong ones it takes none for a while."""
    device = keeping.app_of(user)
    if device is None:
        return False
    device = type(device).objects.select_for_update().get(pk=device.pk)
    device.throttling_failure_count = min(device.throttling_failure_count, MOST_DOUBLINGS)
    return bool(device.verify_token(code))


def of_paper(user: User, code: str) -> bool:
    """Whether it is one of the recovery codes, which is gone then."""
    used, _ = RecoveryCode.objects.of(user.pk).filter(digest=keeping.digest(code)).delete()
    return used == 1


class Passkeys(BaseBackend):
    """A browser's answer to a challenge. ``username`` is empty where anybody may sign in, else whose it must be."""

    @transaction.atomic
    def authenticate(  # type: ignore[override]
        self, request: HttpRequest | None, username: str, assertion: str, challenge: bytes | None
    ) -> User | None:
        try:
            user = proven(username, assertion, challenge)
        except passkeys.NotAccepted as refused:
            log.warning("A passkey was refused: %s", one_line(refused.why)[:LONGEST_REASON])
            return None
        user.proven_by = PASSKEY
        return user


def proven(username: str, assertion: str, challenge: bytes | None) -> User:
    """Raises NotAccepted."""
    if challenge is None:
        raise passkeys.NotAccepted("nobody asked for it, or it was answered before")
    passkey = Passkey.objects.select_for_update().filter(credential_id=passkeys.named_in(assertion)).first()
    if passkey is None:
        raise passkeys.NotAccepted("it is not known")
    user = User.objects.get(pk=passkey.user_id)
    if not user.is_active or (username and user.email != username):
        raise passkeys.NotAccepted("it is somebody else's")
    passkeys.prove(passkey, assertion, challenge=challenge, now=datetime.now(tz=UTC))
    return user
