"""Recording of failed requests (5xx), the latest of each company, for support."""

import logging
from datetime import datetime
from typing import Any

from django.db import Error, connection, transaction

from companies.models import FailedRequest

log = logging.getLogger(__name__)

MAX_STORED_REQUESTS = 20  # per company
MAX_PATH_LENGTH, MAX_ERROR_NAME_LENGTH, MAX_METHOD_LENGTH = 200, 100, 8


def record_failed_request(request: Any, error: BaseException | None, *, status: int, now: datetime) -> None:
    """Record a failed request after its rollback.

    Requests without a company are not recorded, nor any while the database is unavailable. Errors here never
    affect the response.
    """
    access = getattr(request, "access", None)  # set when access was granted
    if access is None or connection.connection is None or connection.connection.closed:
        return
    row = FailedRequest(
        company_id=access.company.id,
        time=now,
        request_id=getattr(request, "request_id", ""),
        method=request.method[:MAX_METHOD_LENGTH],
        path=request.path[:MAX_PATH_LENGTH],
        status=status,
        error=type(error).__name__[:MAX_ERROR_NAME_LENGTH],
    )
    rows = FailedRequest.objects.for_company(access.company.id)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            latest = rows.latest_first().values_list("id", flat=True)[:MAX_STORED_REQUESTS]
            rows.exclude(id__in=list(latest)).delete()
    except Error:
        log.warning("could not save the failure of request %s", row.request_id, exc_info=True)
