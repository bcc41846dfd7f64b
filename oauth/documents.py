"""Apps that nobody registered, but that describe themselves in a document at their own address (client ID metadata
documents). The toolkit reads it; whether and how is decided here: from hosts that staff allow, by the guarded way out.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.http.request import validate_host
from oauth2_provider.cimd import CIMDError
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request

from companies import outbound
from companies.api import throttling
from oauth.models import ClientHost

ADDRESS = re.compile(r"https://[^/?#@\\]+/[^?#\\]*")  # with a path; no user name, no query, no fragment
MOST_LETTERS_OF_NAME = 100
MAX_FETCHES_A_MINUTE = 10  # for one caller's address

# The address of the signed-in caller for whom a document may be fetched, and the time; None where none may.
FETCHING_FOR: ContextVar[tuple[str, datetime] | None] = ContextVar("fetching_for", default=None)


@contextmanager
def fetching_for(place: str, *, now: datetime) -> Iterator[None]:
    """Let documents be fetched for a signed-in caller at this address."""
    before = FETCHING_FOR.set((place, now))
    try:
        yield
    finally:
        FETCHING_FOR.reset(before)


def without_query(client_id: str) -> str:
    """Return the client that an id names: the query of a document's address makes no other client of it."""
    return client_id.partition("?")[0] if client_id[:8].lower() == "https://" else client_id


def may_be_client(client_id: str) -> bool:
    """Whether an id is the address of a document on a host that staff allow."""
    if not ADDRESS.fullmatch(client_id):
        return False
    parts = urlsplit(client_id)
    return not {".", ".."} & set(parts.path.split("/")) and validate_host(str(parts.hostname), allowed_hosts())


def allowed_hosts() -> list[str]:
    """From the settings and from staff, as in ALLOWED_HOSTS: a name, or .example.com for all below it too."""
    return [*oauth2_settings.CIMD_ALLOWED_HOSTS, *ClientHost.objects.values_list("host", flat=True)]


def any_host_allowed() -> bool:
    return bool(allowed_hosts())


class AllowedHosts:
    """The toolkit's question whether a document may be fetched: only where a signed-in user is asked for an
    authorization. Nobody who is not signed in has us call a server, and the token endpoint never waits for one.
    """

    def has_permission(self, request: Request, client_id: str) -> bool:
        """Raises RateLimited where the caller's address had too many documents fetched."""
        caller = FETCHING_FOR.get()
        if caller is None or request.grant_type is not None or not may_be_client(client_id):
            return False
        budget = throttling.spend(
            f"client-documents:{caller[0]}", now=caller[1].timestamp(), limit=MAX_FETCHES_A_MINUTE, exact=True
        )
        if budget.exceeded:
            raise throttling.RateLimited(wait=budget.resets_in)
        return True


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
        except RecursionError:
            raise CIMDError("nested too deeply") from None
        if answer.status != 200 or not isinstance(document, dict):
            raise CIMDError(f"no document: {answer.status}")
        name = document.get("client_name")
        shown = "".join(each for each in name if each.isprintable()).strip() if isinstance(name, str) else ""
        document["client_name"] = (shown or urlsplit(client_id).netloc)[:MOST_LETTERS_OF_NAME]
        return document, oauth2_settings.CIMD_METADATA_MAX_AGE_SECONDS
