"""Is the process up, and is it ready?"""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from companies.api.methods import read_only
from companies.running.counters import note_error

READY: set[str] = set()  # migrations are looked at until they are found applied once


@read_only
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while the process answers."""
    return JsonResponse({"status": "ok"})


@read_only
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and every migration is applied, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not READY:
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                return JsonResponse({"status": "migrations are missing"}, status=503)
            READY.add("migrations")
    except DatabaseError as error:
        note_error(error)
        return JsonResponse({"status": "the database does not answer"}, status=503)
    return JsonResponse({"status": "ready"})
