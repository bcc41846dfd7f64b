"""Health checks."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from companies.api.http_methods import read_only
from companies.counters import count_database_error
from config.databases.setup import has_pending_migrations

READY_CHECKS: set[str] = set()  # migrations are checked until they are found applied once


@read_only
def check_liveness(request: HttpRequest) -> JsonResponse:
    """Return 200 while the process responds."""
    return JsonResponse({"status": "ok"})


@read_only
def check_readiness(request: HttpRequest) -> JsonResponse:
    """Return 200 if the database responds and all migrations are applied, otherwise 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not READY_CHECKS:
            if has_pending_migrations():
                return JsonResponse({"status": "migrations are missing"}, status=503)
            READY_CHECKS.add("migrations")
    except DatabaseError as error:
        count_database_error(error)
        return JsonResponse({"status": "the database is unavailable"}, status=503)
    return JsonResponse({"status": "ready"})
