"""Apps that nobody registered, but that describe themselves in a document at their own address (client ID metadata
documents). The toolkit reads it; whether and how is decided here: from hosts that staff allow, by the guarded way out.
"""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from django.http.request import validate_host
from oauth2_provider.cimd import CIMDError
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request

from companies import outbound
from oauth.models import ClientHost

ADDRESS = re.compile(r"https://[^/?#@\\]+/[^#\\]*")  # with a path; no user name, no fragment
MOST_LETTERS_OF_NAME = 100


def allowed_hosts() -> list[str]:
    """From the settings and from staff, as in ALLOWED_HOSTS: a name, or .example.com for all below it too."""
    return [*oauth2_settings.CIMD_ALLOWED_HOSTS, *ClientHost.objects.values_list("host", flat=True)]


def any_host_allowed() -> bool:
    return bool(allowed_hosts())


class AllowedHosts:
    """The toolkit's question whether a document may be fetched: only where a user asks for an authorization, so that
    the token endpoint never waits for somebody else's server."""

    def has_permission(self, request: Request, client_id: str) -> bool:
        if request.grant_type is not None or not ADDRESS.fullmatch(client_id):
            return False
        parts = urlsplit(client_id)
        dotted = {".", ".."} & set(parts.path.split("/"))
        return not dotted and validate_host(str(parts.hostname), allowed_hosts())


class Fetcher:
    """In the place of the toolkit's own fetcher, whose time ends no body that comes slowly, and which takes multicast
    for public."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """(the document, seconds it holds). Raises CIMDError."""
        try:
            answer = outbound.fetch(client_id, accept="application/json")
            document = json.loads(answer.body)
        except (outbound.Refused, ValueError) as error:
            raise CIMDError(str(error)) from None
        if answer.status != 200 or not isinstance(document, dict):
            raise CIMDError(f"no document: {answer.status}")
        name = document.get("client_name")
        shown = "".join(each for each in name if each.isprintable()).strip() if isinstance(name, str) else ""
        document["client_name"] = (shown or urlsplit(client_id).netloc)[:MOST_LETTERS_OF_NAME]
        return document, oauth2_settings.CIMD_METADATA_MAX_AGE_SECONDS
