"""A form that came when its sender's last proof was too old: it waits in their session until they gave another one."""

from collections.abc import MutableMapping
from typing import Any

from django.http import HttpRequest

KEY = "waiting"
PATIENCE = 15 * 60  # seconds
SECRET = ("password", "secret", "token", "code", "answer")  # a field whose name has one of these is never kept


def keep(request: HttpRequest, *, asks: str, now: float) -> bool:
    """Whether the form waits from now on, in the place of any other; ``asks`` says in words what it is for.

    Without files, which no session holds, and only what a page itself sent: a script knows better what it asked for.
    It is no larger than ``MAX_FORM_BYTES``, or would not have come this far.
    """
    request.session.pop(KEY, None)
    if (
        request.content_type != "application/x-www-form-urlencoded"
        or request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate"
    ):
        return False
    fields = [
        (name, value) for name, values in request.POST.lists() for value in values if name != "csrfmiddlewaretoken"
    ]
    if any(secret in name.lower() for name, _ in fields for secret in SECRET):
        return False
    request.session[KEY] = {"asks": asks, "address": request.get_full_path(), "fields": fields, "time": now}
    return True


def take(request: HttpRequest) -> Any:
    """The form that waits, which is then kept no longer; None where there is none."""
    return request.session.pop(KEY, None)


def forget_old(session: MutableMapping[str, Any], *, now: float) -> None:
    if KEY in session and now - session[KEY]["time"] > PATIENCE:
        del session[KEY]
