"""Step-up authentication in the API: sensitive operations of a browser session need a recent sign-in."""

from typing import Any

from companies.auth import sessions
from companies.errors import PermissionDeniedError


class SignInAgain(PermissionDeniedError):
    """This operation needs a recent sign-in. Sign in again."""

    code = "sign_in_again"


def require_recent_login(view: Any) -> None:
    """Raise SignInAgain if the session's user last authenticated more than ten minutes ago.

    API keys and access tokens pass: they have no sign-in. `view` is the API's viewset.
    """
    if view.caller.kind == "session" and not sessions.is_recently_authenticated(view.request, now=view.now):
        raise SignInAgain
