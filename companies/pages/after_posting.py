"""Where a browser goes after a form."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseRedirect


def see_other(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A redirect that answers a form is 303: what follows is a GET for every client (RFC 9110, 15.4.4). A 302 leaves it
    to the client whether a password is sent once more, to another place (RFC 9700, 4.12).

    How an app is answered is OAuth's own business and stays as it is (``oauth.pages.Redirect``).
    """

    def middleware(request: HttpRequest) -> Any:
        response = get_response(request)
        if request.method == "POST" and isinstance(response, HttpResponseRedirect) and response.status_code == 302:
            response.status_code = 303
        return response

    return middleware
