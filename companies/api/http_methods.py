"""Decorators that restrict the HTTP methods of read-only views outside the API."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from companies.api.errors import build_problem_response

View = Callable[..., HttpResponseBase]


def allow_methods(*methods: str) -> Callable[[View], View]:
    """Decorate a view that accepts these methods; others get 405. CSRF is not checked, since the view changes
    nothing.
    """

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def checked_view(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method in methods:
                return view(request, *args, **kwargs)
            detail = f'Method "{request.method}" not allowed.'
            answer = build_problem_response(request, status=405, code="method_not_allowed", detail=detail)
            answer["Allow"] = ", ".join(methods)
            return answer

        return checked_view

    return decorate


read_only = allow_methods("GET", "HEAD")
