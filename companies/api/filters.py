"""Filters of lists: what is unknown or malformed is refused, never ignored."""

from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

PAGING = {"limit", "cursor"}


def filtered(view: Any, filterset_class: Any, rows: Any, *, also: frozenset[str] = frozenset()) -> Any:
    """The rows that the query parameters ask for. Raises ValidationError."""
    params = view.request.query_params
    refuse_unknown(set(params) - PAGING - also - set(filterset_class.base_filters))
    filterset = filterset_class(data=params, queryset=rows, request=view.request)
    if not filterset.is_valid():
        raise ValidationError(
            {
                name: [ErrorDetail(str(message), code="invalid_filter") for message in messages]
                for name, messages in filterset.errors.items()
            }
        )
    return filterset.qs


def refuse_unknown(names: set[str]) -> None:
    if names:
        raise ValidationError(
            {name: [ErrorDetail("Unknown query parameter.", code="unknown_parameter")] for name in sorted(names)}
        )
