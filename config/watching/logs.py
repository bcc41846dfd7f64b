"""What the service writes down: one JSON object a line where LOG_FORMAT asks for it, and never what is secret."""

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
REQUEST: ContextVar[Any] = ContextVar("request", default=None)  # the one that this thread answers

# What a path can carry by itself: the token of a password reset, an invitation or another e-mail address; or a key,
# token or signing secret that somebody pasted into the wrong place. A path can hold line breaks (%0A).
SECRET_IN_PATH = re.compile(
    r"(?<=/password-reset/).+|(?<=/app/invitations/).+|(?<=/app/profile/email/).+|(?:svc|svcrt|whsec)_[^/]+|eyJ[\w.-]+",
    re.DOTALL,
)
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
FIELDS = ("status", "durationMs")


def without_secrets(path: str) -> str:
    return SECRET_IN_PATH.sub("…", path)


def access_lines(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """One line for each request, and its name on every other line that is written meanwhile."""

    def middleware(request: Any) -> Any:
        start = perf_counter()
        token = REQUEST.set(request)
        try:
            response = get_response(request)
            took = round((perf_counter() - start) * 1000, 3)
            access_log.info("answered", extra={"status": response.status_code, "durationMs": took})
            return response
        finally:
            REQUEST.reset(token)

    return middleware


class JsonLines(logging.Formatter):
    """A record, and the request that it was written in, as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := REQUEST.get()) is not None:
            line |= told_by(request)
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def told_by(request: Any) -> dict[str, str | None]:
    """What is known of a request by now. The path has no query: that may hold codes and states."""
    return {
        "requestId": getattr(request, "request_id", None),
        "companyId": company_of(request),
        "credentialId": credential_of(request),
        "method": request.method,
        "path": without_secrets(request.path),
    }


def company_of(request: Any) -> str | None:
    """The company of the path, whoever asks for it; else the only one of a key or an app."""
    match = request.resolver_match
    if match and UUID.fullmatch(named := str(match.kwargs.get("company_id", ""))):
        return named.lower()
    granted = getattr(caller_of(request), "granted", None)
    return str(granted.company.id) if granted else None


def credential_of(request: Any) -> str | None:
    """The caller's credential by its name, as rate limits and the audit log know it; a page's reader has a session."""
    if key := getattr(caller_of(request), "key", None):
        return str(key)
    reader = getattr(request, "_cached_user", None)  # there where the page has asked: a log asks the database nothing
    return f"session:{reader.pk}" if reader is not None and reader.is_authenticated else None


def caller_of(request: Any) -> Any:
    """The credential that the API found, or None."""
    user = request.__dict__.get("user")
    return None if isinstance(user, SimpleLazyObject) else user


class WithoutSecrets(logging.Filter):
    """Takes query strings, and the raw text of broken requests, out of gunicorn's messages: both may hold secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = without_secrets(re.sub(r"\?\S*", "?…", record.getMessage()))
        if message.startswith("Invalid request from"):
            message = re.split(r"['\"]", message, maxsplit=1)[0].rstrip()
        record.msg, record.args = message, ()
        return True
