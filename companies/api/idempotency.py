"""Idempotency-Key: a retried request has its effect once and gets the same answer."""

import base64
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import connection
from django.utils.encoding import escape_uri_path
from rest_framework.response import Response

from companies.api.rendering import read
from companies.errors import Conflict, Invalid
from companies.models import IdempotencyRecord

KEPT = timedelta(hours=24)
MAX_KEPT_BYTES = 16 * 1024 * 1024  # of one credential's answers; the oldest are forgotten first
ROW_BYTES = 1024  # that a row takes beside its answer: path, key, headers, index
CHECK_BYTES = 64 * 1024  # that a process keeps of a credential before it looks again
KEPT_SINCE_CHECK: Counter[str] = Counter()  # bytes by credential
REPLAYED_HEADERS = ("Location", "ETag", "Link", "Ignored-Fields")
FORM = re.compile(r'\s*multipart/form-data\b.*\bboundary="?([^";,\s]+)', re.IGNORECASE)
KEY = re.compile(r"[\x21-\x7e]{1,255}")


class KeyReused(Invalid):
    """This Idempotency-Key was used with another request body."""

    code = "idempotency_key_reused"


class KeyMalformed(Invalid):
    """Idempotency-Key must be 1 to 255 visible ASCII characters."""

    code = "invalid_idempotency_key"


class InProgress(Conflict):
    """A request with this Idempotency-Key is still running."""

    code = "idempotency_in_progress"


class AnswerLost(Conflict):
    """The request with this Idempotency-Key had its effect, but its answer can be read no more: look what is there."""

    code = "idempotency_answer_lost"


def request_digest(request: Any) -> bytes:
    """A digest of query and body; a multipart body's boundary, which clients choose anew, does not count."""
    body = request.body
    form = FORM.match(request.META.get("CONTENT_TYPE", ""))
    if form:
        body = re.sub(rb"(^|\r\n)--" + re.escape(form[1].encode()) + rb"(?=--|\r\n|$)", rb"\1--", body)
    return hashlib.sha256(request.META["QUERY_STRING"].encode() + b"\n" + body).digest()


def once(request: Any, *, credential: str, now: datetime, most_bytes: int, act: Callable[[], Response]) -> Response:
    """Runs the act, or answers what it answered before. Call inside the act's transaction.

    The advisory lock makes a second request with the same key refuse at once instead of waiting; it ends with the
    transaction, in which a 2xx answer is stored beside the effect.
    """
    key = request.META["HTTP_IDEMPOTENCY_KEY"]
    if not KEY.fullmatch(key):
        raise KeyMalformed
    http = request._request
    http._body = read(http, limit=most_bytes)  # noqa: SLF001 - its own way to keep it knows one limit for all
    digest = request_digest(http)
    identity = {"credential": credential, "method": request.method, "path": escape_uri_path(request.path), "key": key}
    lock = int.from_bytes(hashlib.sha256(repr(identity).encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock])
        if not cursor.fetchone()[0]:
            raise InProgress
    stored = IdempotencyRecord.objects.filter(**identity).first()
    if stored and stored.created_time > now - KEPT:
        return replay(stored, digest)
    if stored:
        stored.delete()
    response = act()
    if 200 <= response.status_code < 300:
        keep(request, response, identity=identity, digest=digest, now=now)
    return response


def replay(stored: IdempotencyRecord, digest: bytes) -> Response:
    if bytes(stored.request_digest) != digest:
        raise KeyReused
    try:
        body = sealed().decrypt(bytes(stored.body))
    except InvalidToken:  # sealed under another pepper
        raise AnswerLost from None
    headers = {**stored.headers, "Idempotency-Replayed": "true"}
    return Response(body, status=stored.status, headers=headers, content_type="application/json")


@lru_cache(maxsize=1)
def sealed() -> Fernet:
    """Seals kept answers: one of them is a new API key, which is stored nowhere in readable form."""
    secret = hmac.digest(settings.API_KEY_PEPPER.encode(), b"kept answers", hashlib.sha256)
    return Fernet(base64.urlsafe_b64encode(secret))


def keep(request: Any, response: Response, *, identity: dict[str, str], digest: bytes, now: datetime) -> None:
    """Store the answer for a retry; that of a dry run is not kept, which did nothing. An answer that is too large is
    kept as lost, so that a retry has no second effect."""
    if isinstance(response.data, dict) and response.data.get("dryRun") is True:
        return
    body = sealed().encrypt(request.accepted_renderer.render(response.data))
    if len(body) + ROW_BYTES > MAX_KEPT_BYTES:
        body = b""
    headers = {name: response.headers[name] for name in REPLAYED_HEADERS if name in response.headers}
    IdempotencyRecord.objects.create(
        **identity, request_digest=digest, status=response.status_code, headers=headers, body=body, created_time=now
    )
    credential = identity["credential"]
    KEPT_SINCE_CHECK[credential] += len(body) + ROW_BYTES
    if KEPT_SINCE_CHECK[credential] >= CHECK_BYTES:
        del KEPT_SINCE_CHECK[credential]
        forget_oldest(credential)


def forget_oldest(credential: str) -> None:
    """Delete the oldest of a credential's answers beyond what it may keep, less what other processes may add before
    they look."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM companies_idempotencyrecord WHERE id IN (SELECT id FROM (SELECT id, sum(octet_length(body) + "
            "%(row)s) OVER (ORDER BY created_time DESC, id DESC) AS bytes FROM companies_idempotencyrecord "
            "WHERE credential = %(credential)s) AS kept WHERE bytes > %(most)s)",
            {"row": ROW_BYTES, "credential": credential, "most": MAX_KEPT_BYTES - settings.WORKERS * CHECK_BYTES},
        )


def prune(*, now: datetime) -> int:
    """Deletes answers that are kept no longer; returns how many."""
    deleted, _ = IdempotencyRecord.objects.filter(created_time__lte=now - KEPT).delete()
    return deleted
