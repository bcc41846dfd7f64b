"""What Prometheus reads at /metrics, and the counting of requests; there where METRICS_TOKEN is set, and nowhere else.

Requests are counted by the template of their address, never by the address, and nothing is counted by company: the
number of series stays that of the operations.
"""

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from companies.api.errors import plain
from companies.api.methods import read_only
from companies.running.counters import counter, gauge

METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)  # seconds

REQUESTS = counter("http_requests_total", "Requests answered.", "method", "route", "status")
IN_PROGRESS = gauge("http_requests_in_progress", "Requests being answered.")


def count_requests(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Counts and times each request; the child of a metric is looked up once and kept."""
    from prometheus_client import Histogram

    durations = Histogram("http_request_duration_seconds", "Time to answer.", ["method", "route"], buckets=BUCKETS)
    kept: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def middleware(request: Any) -> Any:
        start = perf_counter()
        IN_PROGRESS.inc()
        try:
            response = get_response(request)
        finally:
            IN_PROGRESS.dec()
        key = told_by(request, response)
        if key not in kept:
            method, route, status = key
            answered = REQUESTS.labels(method=method, route=route, status=str(status))
            kept[key] = answered, durations.labels(method=method, route=route)
        answered, took = kept[key]
        answered.inc()
        took.observe(perf_counter() - start)
        return response

    return middleware


def told_by(request: Any, response: Any) -> tuple[str, str, int]:
    """(method, template of the address, status); what has no template, and methods that nobody knows, are one each."""
    match = request.resolver_match
    route = f"/{match.route}" if match else "unmatched"
    return request.method if request.method in METHODS else "other", route, response.status_code


@read_only
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of all workers together, for who has the token."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(token.strip(), settings.METRICS_TOKEN):
        answer = plain(request, status=401, code="invalid_credentials", detail="Send the METRICS_TOKEN as a Bearer.")
        answer["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return answer
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
