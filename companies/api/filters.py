"""Filters of lists: what is unknown or malformed is refused, never ignored."""

from collections.abc import Collection
from typing import Any

import django_filters
from django import forms
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields

PAGING = {"limit", "cursor"}


class FieldOfShape(forms.Field):
    """Takes what a field of our shapes ``reads``, and refuses all else in its words."""

    reads: serializers.Field

    def to_python(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.reads.run_validation(value)
        except ValidationError as error:
            raise forms.ValidationError(fields.sentence(error.detail)) from None


class IdFormField(FieldOfShape):
    reads = fields.IdField(error_messages={"unknown_id": gettext_lazy("Must be an id.")})


class IdFilter(django_filters.UUIDFilter):
    """An id as it is printed."""

    field_class = IdFormField


class DayFormField(FieldOfShape):
    reads = fields.DayField()
    schema = {"type": "string", "format": "date"}


class TimeFormField(FieldOfShape):
    reads = fields.TimeField()
    schema = {"type": "string", "format": "date-time"}


class TimeFilter(django_filters.IsoDateTimeFilter):
    """A moment with its offset, as everywhere."""

    field_class = TimeFormField


class DayFilter(django_filters.DateFilter):
    """A day as it is printed, YYYY-MM-DD."""

    field_class = DayFormField


def filtered(view: Any, filterset_class: Any, rows: Any, *, also: frozenset[str] = frozenset()) -> Any:
    """The rows that the query parameters ask for. Raises ValidationError."""
    params = view.request.query_params
    refuse_unknown(set(params) - PAGING - also - set(filterset_class.base_filters))
    refuse_repeated(params, but=repeatable(filterset_class))
    refuse_empty(params)
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


def repeatable(filterset_class: Any) -> set[str]:
    """The filters that take several values."""
    several = (forms.MultipleHiddenInput, forms.SelectMultiple)
    return {name for name, each in filterset_class.base_filters.items() if isinstance(each.field.widget, several)}


def refuse_repeated(params: Any, *, but: Collection[str] = ()) -> None:
    """One of two values would be ignored."""
    refuse([name for name in params if name not in but and len(params.getlist(name)) > 1], "Given more than once.")


def refuse_empty(params: Any) -> None:
    refuse([name for name in params if "" in params.getlist(name)], "Has no value.")


def refuse(names: Collection[str], message: str) -> None:
    if names:
        raise ValidationError({name: [ErrorDetail(message, code="invalid_filter")] for name in sorted(names)})
