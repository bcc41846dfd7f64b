"""Step-up authentication in the API: sensitive operations of a browser session need a recent sign-in."""

from typing import Any

from companies.callers import sessions
from companies.errors import Denied


class SignInAgain(Denied):
    """Your sign-in is too old for this operation. Sign in again."""

    code = "sign_in_again"


def require_recent_login(view: Any) -> None:
    """Raise SignInAgain for a browser session whose user proved who they are more than ten minutes ago.

    Keys and tokens have no sign-in of their own and pass. ``view`` is the API's viewset.
    """
    if view.caller.kind == "session" and not sessions.signed_in_recently(view.request, now=view.now):
        raise SignInAgain
