"""Form submitted when step-up authentication was needed; kept in the session until the user has
authenticated again.
"""

from collections.abc import MutableMapping
from typing import Any

from django.http import HttpRequest

SESSION_KEY = "waiting"
PENDING_FORM_TTL_SECONDS = 15 * 60  # seconds
SECRET_FIELD_PARTS = ("password", "secret", "token", "code", "answer")  # in names of fields: not stored


def store_pending_form(request: HttpRequest, *, action_label: str, now: float) -> bool:
    """Store the submitted form in the session, replacing any other; return whether it was stored.

    `action_label` describes what the form does. Not stored: forms with files or secrets, and requests sent
    by scripts.
    """
    request.session.pop(SESSION_KEY, None)
    if (
        request.content_type != "application/x-www-form-urlencoded"
        or request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate"
    ):
        return False
    fields = [
        (name, value) for name, values in request.POST.lists() for value in values if name != "csrfmiddlewaretoken"
    ]
    if any(secret in name.lower() for name, _ in fields for secret in SECRET_FIELD_PARTS):
        return False
    request.session[SESSION_KEY] = {
        "asks": action_label,
        "address": request.get_full_path(),
        "fields": fields,
        "time": now,
    }
    return True


def pop_pending_form(request: HttpRequest) -> Any:
    """Remove the stored form from the session and return it; None if there is none."""
    return request.session.pop(SESSION_KEY, None)


def delete_expired_pending_form(session: MutableMapping[str, Any], *, now: float) -> None:
    """Delete the stored form if it is older than PENDING_FORM_TTL_SECONDS."""
    if SESSION_KEY in session and now - session[SESSION_KEY]["time"] > PENDING_FORM_TTL_SECONDS:
        del session[SESSION_KEY]
