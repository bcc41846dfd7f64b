"""Idempotency-Key: a retried request takes effect once and gets the same response."""

import base64
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import connection
from django.db.models import F, Func, IntegerField, Sum, Window
from django.utils.encoding import escape_uri_path
from rest_framework.response import Response

from companies.api.rendering import read_body
from companies.errors import ConflictError, InvalidInputError
from companies.models import IdempotencyRecord

ANSWER_RETENTION = timedelta(hours=24)
MAX_STORED_BYTES = 16 * 1024 * 1024  # of one credential's responses; the oldest are deleted first
ROW_OVERHEAD_BYTES = 1024  # size of a row without its response: path, key, headers, index
CHECK_INTERVAL_BYTES = 64 * 1024  # bytes a process stores for a credential before it checks the limit again
BYTES_SINCE_CHECK: Counter[str] = Counter()  # bytes by credential
REPLAYED_HEADERS = ("Location", "ETag", "Link", "Ignored-Fields", "Cache-Control")  # no-store with a secret
MULTIPART_PATTERN = re.compile(r'\s*multipart/form-data\b.*\bboundary="?([^";,\s]+)', re.IGNORECASE)
IDEMPOTENCY_KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,255}")


class IdempotencyKeyReused(InvalidInputError):
    """This Idempotency-Key was already used with a different request. Use a new key."""

    code = "idempotency_key_reused"


class InvalidIdempotencyKey(InvalidInputError):
    """Idempotency-Key must be 1 to 255 visible ASCII characters."""

    code = "invalid_idempotency_key"


class IdempotencyInProgress(ConflictError):
    """A request with this Idempotency-Key is in progress. Retry when it has finished."""

    code = "idempotency_in_progress"


class IdempotencyAnswerLost(ConflictError):
    """The request with this Idempotency-Key succeeded, but its response is no longer available."""

    code = "idempotency_answer_lost"


def compute_request_digest(request: Any) -> bytes:
    """Return a digest of query and body; the boundary of a multipart body does not count, as clients change it."""
    body = request.body
    multipart = MULTIPART_PATTERN.match(request.META.get("CONTENT_TYPE", ""))
    if multipart:
        body = re.sub(rb"(^|\r\n)--" + re.escape(multipart[1].encode()) + rb"(?=--|\r\n|$)", rb"\1--", body)
    return hashlib.sha256(request.META["QUERY_STRING"].encode() + b"\n" + body).digest()


def run_once(
    request: Any, *, credential: str, now: datetime, most_bytes: int, run_action: Callable[[], Response]
) -> Response:
    """Run the action, or return the stored response of an earlier request. Call it inside the action's
    transaction.

    An advisory lock rejects a second request with the same key at once; it ends with the transaction, in
    which a 2xx response is stored.

    Raises:
        InvalidIdempotencyKey, IdempotencyInProgress, IdempotencyKeyReused, IdempotencyAnswerLost
    """
    key = request.META["HTTP_IDEMPOTENCY_KEY"]
    if not IDEMPOTENCY_KEY_PATTERN.fullmatch(key):
        raise InvalidIdempotencyKey
    request.body = read_body(request, limit=most_bytes)  # the parser finds it here, as the stream is read
    digest = compute_request_digest(request)
    identity = {"credential": credential, "method": request.method, "path": escape_uri_path(request.path), "key": key}
    lock = int.from_bytes(hashlib.sha256(repr(identity).encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock])
        if not cursor.fetchone()[0]:
            raise IdempotencyInProgress
    stored_record = IdempotencyRecord.objects.filter(**identity).first()
    if stored_record and stored_record.created_time > now - ANSWER_RETENTION:
        if bytes(stored_record.request_digest) != digest and is_dry_run(request):
            return run_action()
        return return_stored_answer(stored_record, digest)
    if stored_record:
        stored_record.delete()
    response = run_action()
    if 200 <= response.status_code < 300:
        store_answer(request, response, identity=identity, digest=digest, now=now)
    return response


def is_dry_run(request: Any) -> bool:
    """Whether the body, JSON or a form, asks for a dry run; the key is ignored for those.

    JSON is not taken from ``request.data``: some actions read it from the stream, which that would use up.
    """
    if MULTIPART_PATTERN.match(request.META.get("CONTENT_TYPE", "")):
        return request.data.get("dryRun") == "true"
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(body, dict) and body.get("dryRun") is True


def return_stored_answer(stored_record: IdempotencyRecord, digest: bytes) -> Response:
    """Return the stored response. Raises IdempotencyKeyReused, IdempotencyAnswerLost."""
    if bytes(stored_record.request_digest) != digest:
        raise IdempotencyKeyReused
    try:
        body = get_answer_cipher().decrypt(bytes(stored_record.body))
    except InvalidToken:  # encrypted with another pepper
        raise IdempotencyAnswerLost from None
    headers = {**stored_record.headers, "Idempotency-Replayed": "true"}
    return Response(body, status=stored_record.status, headers=headers, content_type="application/json")


@lru_cache(maxsize=1)
def get_answer_cipher() -> Fernet:
    """Return the cipher of stored responses: one of them may contain a new API key."""
    secret = hmac.digest(settings.API_KEY_PEPPER.encode(), b"kept answers", hashlib.sha256)
    return Fernet(base64.urlsafe_b64encode(secret))


def store_answer(request: Any, response: Response, *, identity: dict[str, str], digest: bytes, now: datetime) -> None:
    """Store the response for a retry, except that of a dry run. One that is too large is stored as lost."""
    if isinstance(response.data, dict) and response.data.get("dryRun") is True:
        return
    body = get_answer_cipher().encrypt(request.accepted_renderer.render(response.data))
    if len(body) + ROW_OVERHEAD_BYTES > MAX_STORED_BYTES:
        body = b""
    headers = {name: response.headers[name] for name in REPLAYED_HEADERS if name in response.headers}
    IdempotencyRecord.objects.create(
        **identity, request_digest=digest, status=response.status_code, headers=headers, body=body, created_time=now
    )
    credential = identity["credential"]
    BYTES_SINCE_CHECK[credential] += len(body) + ROW_OVERHEAD_BYTES
    if BYTES_SINCE_CHECK[credential] >= CHECK_INTERVAL_BYTES:
        del BYTES_SINCE_CHECK[credential]
        delete_oldest_answers(credential)


def delete_oldest_answers(credential: str) -> None:
    """Delete the oldest responses of a credential beyond its limit, minus what other processes may add meanwhile."""
    row_bytes = Func("body", function="octet_length", output_field=IntegerField()) + ROW_OVERHEAD_BYTES
    newest_first = [F("created_time").desc(), F("id").desc()]
    records = IdempotencyRecord.objects.filter(credential=credential)
    most_bytes = MAX_STORED_BYTES - settings.WORKERS * CHECK_INTERVAL_BYTES
    excess = records.annotate(bytes=Window(Sum(row_bytes), order_by=newest_first)).filter(bytes__gt=most_bytes)
    IdempotencyRecord.objects.filter(id__in=excess.values("id")).delete()


def prune_idempotency_records(*, now: datetime) -> int:
    """Delete expired responses; return how many."""
    deleted, _ = IdempotencyRecord.objects.filter(created_time__lte=now - ANSWER_RETENTION).delete()
    return deleted
