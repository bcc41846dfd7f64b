"""Query filters of lists, which reject malformed values."""

from typing import Any

import django_filters
from django import forms
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields
from companies.api.pagination import (
    PAGING_NAMES,
    refuse_empty_parameters,
    refuse_repeated_parameters,
    refuse_unknown_parameters,
)


class SerializerFormField(forms.Field):
    """Form field that parses with one of our serializer fields and reports its errors."""

    serializer_field: serializers.Field

    def to_python(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.serializer_field.run_validation(value)
        except ValidationError as error:
            raise forms.ValidationError(fields.get_first_message(error.detail)) from None


class IdFormField(SerializerFormField):
    serializer_field = fields.IdField(error_messages={"unknown_id": gettext_lazy("Must be a valid ID.")})


class IdFilter(django_filters.UUIDFilter):
    """Filter by an id."""

    field_class = IdFormField


class DateFormField(SerializerFormField):
    serializer_field = fields.DateField()
    schema = {"type": "string", "format": "date"}


class TimeFormField(SerializerFormField):
    serializer_field = fields.TimeField()
    schema = {"type": "string", "format": "date-time"}


class TimeFilter(django_filters.IsoDateTimeFilter):
    """Filter by a time with its offset."""

    field_class = TimeFormField


class DateFilter(django_filters.DateFilter):
    """Filter by a date, YYYY-MM-DD."""

    field_class = DateFormField


def filter_by_query(view: Any, filterset_class: Any, rows: Any, *, also_allowed: frozenset[str] = frozenset()) -> Any:
    """Filter the rows by the query parameters. Raises ValidationError."""
    params = view.request.query_params
    refuse_unknown_parameters(set(params) - PAGING_NAMES - also_allowed - set(filterset_class.base_filters))
    refuse_repeated_parameters(params, allowed=list_repeatable_filters(filterset_class))
    refuse_empty_parameters(params)
    filterset = filterset_class(data=params, queryset=rows, request=view.request)
    if not filterset.is_valid():
        raise ValidationError(
            {
                name: [ErrorDetail(str(message), code="invalid_filter") for message in messages]
                for name, messages in filterset.errors.items()
            }
        )
    return filterset.qs


def list_repeatable_filters(filterset_class: Any) -> set[str]:
    """Return the filters that accept several values."""
    multiple_widgets = (forms.MultipleHiddenInput, forms.SelectMultiple)
    return {
        name
        for name, filter_ in filterset_class.base_filters.items()
        if isinstance(filter_.field.widget, multiple_widgets)
    }
