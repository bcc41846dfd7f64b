"""A form that is sent twice, by a double click or a reload, has its effect once."""

import hashlib
from datetime import datetime
from urllib.parse import urlencode

from django.http import HttpRequest

from companies.errors import Conflict
from companies.models import IdempotencyRecord

FIELD = "once"  # in forms that make something new: a number of their own, by the template tag of this name


class SentBefore(Conflict):
    """This form came twice; what it asks for was done the first time. Send it again if it is to be done once more."""

    code = "sent_before"


def only_once(request: HttpRequest, *, now: datetime) -> None:
    """Call in the form's transaction: the refusal undoes it, and what is undone is not remembered. Raises SentBefore.

    The same form with other words in it, as after going back to it, is another one. Two that come at the same moment
    wait for each other at the unique key.
    """
    if FIELD not in request.POST:
        return
    sent = sorted((name, value) for name, value in request.POST.lists() if name != "csrfmiddlewaretoken")
    digest = hashlib.sha256(urlencode(sent, doseq=True).encode())
    _, first = IdempotencyRecord.objects.get_or_create(
        credential=f"session:{request.user.pk}",
        method="POST",
        path=request.path,
        key=digest.hexdigest(),
        defaults={"request_digest": digest.digest(), "status": 302, "body": b"", "created_time": now},
    )
    if not first:
        raise SentBefore
