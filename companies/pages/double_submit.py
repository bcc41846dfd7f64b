"""Double-submit protection: a form submitted twice, by a double click or reload, takes effect once."""

import hashlib
from datetime import datetime
from urllib.parse import urlencode

from django.http import HttpRequest

from companies.errors import ConflictError
from companies.models import IdempotencyRecord

SUBMISSION_FIELD = "once"  # hidden field with a unique value in forms that create something


class SentBefore(ConflictError):
    """This form was already submitted. Submit it again to repeat the action."""

    code = "sent_before"


def reject_duplicate_submission(request: HttpRequest, *, now: datetime) -> None:
    """Raise SentBefore if the same form was submitted before. Call it in the form's transaction.

    A rollback also forgets the submission. The same form with other values is another one. Concurrent
    submissions wait for each other at the unique key.
    """
    if SUBMISSION_FIELD not in request.POST:
        return
    sorted_fields = sorted((name, value) for name, value in request.POST.lists() if name != "csrfmiddlewaretoken")
    digest = hashlib.sha256(urlencode(sorted_fields, doseq=True).encode())
    _, is_first = IdempotencyRecord.objects.get_or_create(
        credential=f"session:{request.user.pk}",
        method="POST",
        path=request.path,
        key=digest.hexdigest(),
        defaults={"request_digest": digest.digest(), "status": 302, "body": b"", "created_time": now},
    )
    if not is_first:
        raise SentBefore
