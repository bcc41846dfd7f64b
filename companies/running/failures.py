"""Keeps the latest requests of each company that failed on our side, so that staff who are asked find them."""

import logging
from datetime import datetime
from typing import Any

from django.db import Error, connection, transaction

from companies.models import FailedRequest

log = logging.getLogger(__name__)

KEPT = 20  # of a company
LONGEST_PATH, LONGEST_NAME, LONGEST_METHOD = 200, 100, 8


def keep(request: Any, error: BaseException | None, *, status: int, now: datetime) -> None:
    """Called once what failed is rolled back. A request that reached no company is none of anybody's; nothing is kept
    while the database is away, and whatever goes wrong here takes nobody's answer away."""
    access = getattr(request, "access", None)  # set where the caller's right to the company was found
    if access is None or connection.connection is None or connection.connection.closed:
        return
    row = FailedRequest(
        company_id=access.company.id,
        time=now,
        request_id=getattr(request, "request_id", ""),
        method=request.method[:LONGEST_METHOD],
        path=request.path[:LONGEST_PATH],
        status=status,
        error=type(error).__name__[:LONGEST_NAME],
    )
    rows = FailedRequest.objects.of(access.company.id)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            latest = rows.latest_first().values_list("id", flat=True)[:KEPT]
            rows.exclude(id__in=list(latest)).delete()
    except Error:
        log.warning("the failure of request %s could not be kept", row.request_id, exc_info=True)
