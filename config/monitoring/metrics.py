"""Prometheus metrics at /metrics and request counting; only with METRICS_TOKEN.

Requests are counted by route, never by path or company, so that the number of series stays constant.
"""

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from companies.api.errors import build_problem_response
from companies.api.http_methods import read_only
from companies.counters import create_counter, create_gauge

KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}
DURATION_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)  # seconds

REQUESTS = create_counter("http_requests_total", "Requests answered.", "method", "route", "status")
IN_PROGRESS = create_gauge("http_requests_in_progress", "Requests in progress.")


def count_requests(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware that counts and times requests; metric children are cached."""
    from prometheus_client import Histogram

    durations = Histogram(
        "http_request_duration_seconds", "Response time.", ["method", "route"], buckets=DURATION_BUCKETS_SECONDS
    )
    metrics_by_key: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def middleware(request: Any) -> Any:
        start = perf_counter()
        IN_PROGRESS.inc()
        try:
            response = get_response(request)
        finally:
            IN_PROGRESS.dec()
        key = build_metric_labels(request, response)
        if key not in metrics_by_key:
            method, route, status = key
            answered = REQUESTS.labels(method=method, route=route, status=str(status))
            metrics_by_key[key] = answered, durations.labels(method=method, route=route)
        answered, took = metrics_by_key[key]
        answered.inc()
        took.observe(perf_counter() - start)
        return response

    return middleware


def build_metric_labels(request: Any, response: Any) -> tuple[str, str, int]:
    """Return (method, route, status); unknown methods and unmatched paths share one label each."""
    match = request.resolver_match
    route = f"/{match.route}" if match else "unmatched"
    return request.method if request.method in KNOWN_METHODS else "other", route, response.status_code


@read_only
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics of all workers, for requests with the token."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(token.strip(), settings.METRICS_TOKEN):
        answer = build_problem_response(
            request, status=401, code="invalid_credentials", detail="Send METRICS_TOKEN as a Bearer token."
        )
        answer["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return answer
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
