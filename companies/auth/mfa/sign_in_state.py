"""State of a sign-in in the session: pending user, passkey challenge, seed of a new app. Valid for minutes,
used once.
"""

import secrets
from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from companies.auth.mfa import devices, passkeys
from companies.models import User

PENDING_USER_KEY, CHALLENGE_KEY, SEED_KEY = "second_step", "passkey_challenge", "new_seed"
STATE_TTL_SECONDS = 10 * 60  # between password and second step, and for setting up an app


def begin_second_step(request: HttpRequest, user: User, *, now: datetime) -> None:
    """Remember the user whose password was correct until the second factor is verified."""
    request.session.cycle_key()
    request.session[PENDING_USER_KEY] = {
        "user": str(user.pk), "password": user.get_session_auth_hash(), "time": now.timestamp(),
    }  # fmt: skip


def find_pending_user(request: HttpRequest, *, now: datetime) -> User | None:
    """Return the user whose password was verified within STATE_TTL_SECONDS and has not changed since; None
    otherwise.
    """
    entry = get_unexpired_entry(request.session.get(PENDING_USER_KEY), now=now, seconds=STATE_TTL_SECONDS)
    user = User.objects.filter(pk=entry["user"], is_active=True).first() if entry else None
    if user is None or entry is None or not constant_time_compare(entry["password"], user.get_session_auth_hash()):
        return None
    return user


def find_second_step_user(request: HttpRequest, *, now: datetime) -> User | None:
    """Return the user whose second factor is needed: the one signing in, otherwise the signed-in user with MFA."""
    user = find_pending_user(request, now=now)
    if user is None and isinstance(request.user, User) and request.user.second_factor_since:
        return request.user
    return user


def clear_sign_in_state(request: HttpRequest) -> None:
    """Delete all sign-in state from the session."""
    for name in (PENDING_USER_KEY, CHALLENGE_KEY, SEED_KEY):
        request.session.pop(name, None)


def create_challenge(request: HttpRequest, *, purpose: str, now: datetime) -> bytes:
    """Create a random passkey challenge, stored in the session for one purpose."""
    challenge = secrets.token_bytes(32)
    request.session[CHALLENGE_KEY] = {
        "challenge": b64encode(challenge).decode(), "purpose": purpose, "time": now.timestamp(),
    }  # fmt: skip
    return challenge


def pop_challenge(request: HttpRequest, *, purpose: str, now: datetime) -> bytes | None:
    """Take the latest challenge out of the session; None if there is none for the purpose, or it has expired."""
    entry = get_unexpired_entry(
        request.session.pop(CHALLENGE_KEY, None), now=now, seconds=passkeys.CHALLENGE_TTL_SECONDS
    )
    return b64decode(entry["challenge"]) if entry and entry["purpose"] == purpose else None


def get_or_create_seed(request: HttpRequest, *, now: datetime) -> str:
    """Return the seed for a new authenticator app; the same one until it expires or an app was added."""
    entry = get_unexpired_entry(request.session.get(SEED_KEY), now=now, seconds=STATE_TTL_SECONDS)
    if entry is None:
        entry = request.session[SEED_KEY] = {"seed": devices.generate_seed(), "time": now.timestamp()}
    return str(entry["seed"])


def get_unexpired_entry(entry: Any, *, now: datetime, seconds: int) -> dict[str, Any] | None:
    """Return the entry if it is not older than `seconds`, otherwise None."""
    return entry if entry and 0 <= now.timestamp() - entry["time"] <= seconds else None
