"""Logging: JSON lines with LOG_FORMAT=json, and never secrets."""

import json
import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from django.utils.functional import SimpleLazyObject

access_log = logging.getLogger("access")
CURRENT_REQUEST: ContextVar[Any] = ContextVar("request", default=None)  # request handled by this thread

# Secrets in a path: tokens of password resets, invitations, sign-ups, e-mail changes and shared reports, and keys
# or tokens pasted into the wrong place. A path can contain line breaks (%0A).
SECRET_IN_PATH_PATTERN = re.compile(
    r"(?<=/password-reset/).+|(?<=/app/invitations/).+|(?<=/app/sign-up/).+|(?<=/app/profile/email/).+"
    r"|(?<=/app/shared/).+|(?:svc|svcrt|whsec)_[^/]+|eyJ[\w.-]+",
    re.DOTALL,
)
UUID_PATTERN = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
EXTRA_FIELDS = ("status", "durationMs")


def hide_secrets(path: str) -> str:
    """Return a path without tokens."""
    return SECRET_IN_PATH_PATTERN.sub("…", path)


def log_requests(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware that logs one line per request and adds the request to all other lines."""

    def middleware(request: Any) -> Any:
        start = perf_counter()
        token = CURRENT_REQUEST.set(request)
        try:
            response = get_response(request)
            took = round((perf_counter() - start) * 1000, 3)
            access_log.info("answered", extra={"status": response.status_code, "durationMs": took})
            return response
        finally:
            CURRENT_REQUEST.reset(token)

    return middleware


class JsonFormatter(logging.Formatter):
    """Formats a record and its request as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := CURRENT_REQUEST.get()) is not None:
            line |= describe_request(request)
        line |= {name: getattr(record, name) for name in EXTRA_FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def describe_request(request: Any) -> dict[str, str | None]:
    """Return the known facts of a request. The path has no query string, which may contain codes and states."""
    return {
        "requestId": getattr(request, "request_id", None),
        "companyId": find_request_company(request),
        "credentialId": find_request_credential(request),
        "method": request.method,
        "path": hide_secrets(request.path),
    }


def find_request_company(request: Any) -> str | None:
    """Return the id of the company in the path, otherwise the only one of a key or app."""
    match = request.resolver_match
    if match and UUID_PATTERN.fullmatch(company_id := str(match.kwargs.get("company_id", ""))):
        return company_id.lower()
    access = getattr(find_caller(request), "company_access", None)
    return str(access.company.id) if access else None


def find_request_credential(request: Any) -> str | None:
    """Return the credential's name, as in rate limits and the audit log."""
    if key := getattr(find_caller(request), "key", None):
        return str(key)
    reader = getattr(request, "_cached_user", None)  # set only if the page has loaded the user: logging runs no query
    return f"session:{reader.pk}" if reader is not None and reader.is_authenticated else None


def find_caller(request: Any) -> Any:
    """Return the credential that the API authenticated, or None."""
    user = request.__dict__.get("user")
    return None if isinstance(user, SimpleLazyObject) else user


class SecretFilter(logging.Filter):
    """Removes query strings and the raw text of invalid requests from gunicorn's messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = hide_secrets(re.sub(r"\?\S*", "?…", record.getMessage()))
        if message.startswith("Invalid request from"):
            message = re.split(r"['\"]", message, maxsplit=1)[0].rstrip()
        record.msg, record.args = message, ()
        return True
