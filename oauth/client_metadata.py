"""Client ID metadata documents: apps that nobody registered describe themselves at their own URL.

The toolkit reads the document; this module decides whether and how: from hosts allowed by staff, through
the safe outbound client.
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

from companies import http_client
from companies.auth import throttling
from oauth.models import ClientHost

CLIENT_URL_PATTERN = re.compile(r"https://[^/?#@\\]+/[^?#\\]*")  # with a path; without user name, query and fragment
MAX_NAME_LENGTH = 100
MAX_FETCHES_PER_MINUTE = 10  # for one caller's address

# (address of the signed-in caller, time) while a document may be fetched, else None.
FETCH_CALLER: ContextVar[tuple[str, datetime] | None] = ContextVar("fetching_for", default=None)


@contextmanager
def allow_metadata_fetches(caller_address: str, *, now: datetime) -> Iterator[None]:
    """Allow metadata fetches for a signed-in caller at this address."""
    previous = FETCH_CALLER.set((caller_address, now))
    try:
        yield
    finally:
        FETCH_CALLER.reset(previous)


def strip_client_id_query(client_id: str) -> str:
    """Return the client id without a query, which does not make it another client."""
    return client_id.partition("?")[0] if client_id[:8].lower() == "https://" else client_id


def is_allowed_client_url(client_id: str) -> bool:
    """Return whether a client id is the URL of a document on an allowed host."""
    if not CLIENT_URL_PATTERN.fullmatch(client_id):
        return False
    parts = urlsplit(client_id)
    return not {".", ".."} & set(parts.path.split("/")) and validate_host(str(parts.hostname), list_allowed_hosts())


def list_allowed_hosts() -> list[str]:
    """Return the hosts from settings and staff, as in ALLOWED_HOSTS: a name, or .example.com for subdomains too."""
    return [*oauth2_settings.CIMD_ALLOWED_HOSTS, *ClientHost.objects.values_list("host", flat=True)]


def has_allowed_hosts() -> bool:
    return bool(list_allowed_hosts())


class AllowedHostsPermission:
    """Permission hook of the toolkit: a document is fetched only while a signed-in user is asked for consent.

    Anonymous callers cannot make us call a server, and the token endpoint never waits for one.
    """

    def has_permission(self, request: Request, client_id: str) -> bool:
        """Return whether the document may be fetched.

        Raises:
            RateLimited: the caller's address had too many documents fetched.
        """
        caller = FETCH_CALLER.get()
        if caller is None or request.grant_type is not None or not is_allowed_client_url(client_id):
            return False
        budget = throttling.consume_budget(
            f"client-documents:{caller[0]}", now=caller[1].timestamp(), limit=MAX_FETCHES_PER_MINUTE, exact=True
        )
        if budget.is_exceeded:
            raise throttling.RateLimited(wait=budget.resets_in)
        return True


class MetadataFetcher:
    """Replaces the toolkit's fetcher, which has no total timeout and treats multicast addresses as public."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return (document, seconds it is valid).

        Raises:
            CIMDError: there is no valid document.
        """
        try:
            response = http_client.fetch_url(client_id, accept="application/json")
            document = json.loads(response.body)
        except (http_client.OutboundError, ValueError) as error:
            raise CIMDError(str(error)) from None
        except RecursionError:
            raise CIMDError("nested too deeply") from None
        if response.status != 200 or not isinstance(document, dict):
            raise CIMDError(f"no client metadata document (HTTP {response.status})")
        name = document.get("client_name")
        printable_name = "".join(each for each in name if each.isprintable()).strip() if isinstance(name, str) else ""
        document["client_name"] = (printable_name or urlsplit(client_id).netloc)[:MAX_NAME_LENGTH]
        return document, oauth2_settings.CIMD_METADATA_MAX_AGE_SECONDS
