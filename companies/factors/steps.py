"""What a browser's session remembers between two requests: who still has to prove a second factor, which challenge a
passkey is to answer, which seed an app is being given. Nothing of it outlives some minutes, and nothing is used twice.
"""

import secrets
from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from companies.factors import keeping, passkeys
from companies.models import User

PENDING, CHALLENGE, SEED = "second_step", "passkey_challenge", "new_seed"
PATIENCE = 10 * 60  # seconds between the password and the second step, and for setting up an app


def begin(request: HttpRequest, user: User, *, now: datetime) -> None:
    """The password was right; the second factor is asked for next."""
    request.session.cycle_key()
    request.session[PENDING] = {
        "user": str(user.pk), "password": user.get_session_auth_hash(), "time": now.timestamp(),
    }  # fmt: skip


def pending(request: HttpRequest, *, now: datetime) -> User | None:
    """Who gave the right password a moment ago, and has not changed it since."""
    kept = fresh(request.session.get(PENDING), now=now, seconds=PATIENCE)
    user = User.objects.filter(pk=kept["user"], is_active=True).first() if kept else None
    if user is None or kept is None or not constant_time_compare(kept["password"], user.get_session_auth_hash()):
        return None
    return user


def asked(request: HttpRequest, *, now: datetime) -> User | None:
    """Whose second factor is asked for: of who is signing in, else of who is signed in and has one."""
    user = pending(request, now=now)
    if user is None and isinstance(request.user, User) and request.user.second_factor_since:
        return request.user
    return user


def done(request: HttpRequest) -> None:
    for name in (PENDING, CHALLENGE, SEED):
        request.session.pop(name, None)


def new_challenge(request: HttpRequest, *, purpose: str, now: datetime) -> bytes:
    """Random bytes that only an answer made for this session, and for this purpose, will carry."""
    challenge = secrets.token_bytes(32)
    request.session[CHALLENGE] = {
        "challenge": b64encode(challenge).decode(), "purpose": purpose, "time": now.timestamp(),
    }  # fmt: skip
    return challenge


def challenge(request: HttpRequest, *, purpose: str, now: datetime) -> bytes | None:
    """The challenge that was asked for last, which is used up by this; None where there is none for the purpose."""
    kept = fresh(request.session.pop(CHALLENGE, None), now=now, seconds=passkeys.PATIENCE)
    return b64decode(kept["challenge"]) if kept and kept["purpose"] == purpose else None


def seed(request: HttpRequest, *, now: datetime) -> str:
    """The seed that the page shows until an app has taken it."""
    kept = fresh(request.session.get(SEED), now=now, seconds=PATIENCE)
    if kept is None:
        kept = request.session[SEED] = {"seed": keeping.new_seed(), "time": now.timestamp()}
    return str(kept["seed"])


def fresh(kept: Any, *, now: datetime, seconds: int) -> dict[str, Any] | None:
    return kept if kept and 0 <= now.timestamp() - kept["time"] <= seconds else None
