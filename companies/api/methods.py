"""Documents that are only read, outside the API's views: any other method is 405, whoever asks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from companies.api.errors import plain

View = Callable[..., HttpResponseBase]


def only(*methods: str) -> Callable[[View], View]:
    """Decorates a view that answers these methods. It changes nothing, so no form token is looked for."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method in methods:
                return view(request, *args, **kwargs)
            detail = f'Method "{request.method}" not allowed.'
            answer = plain(request, status=405, code="method_not_allowed", detail=detail)
            answer["Allow"] = ", ".join(methods)
            return answer

        return guarded

    return decorate


read_only = only("GET", "HEAD")
