"""How rows become answers: what a serializer class shows is worked out once, and each row is read in one go."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework.serializers import Field


class ReadInOneGo:
    """Mixed into a serializer: the framework's answers, with a fraction of its steps."""

    @property
    def _readable_fields(self) -> tuple[Field, ...]:  # the framework's own name
        """The fields of an answer, made once a class and not once a row's answer: reading keeps nothing in them."""
        return readable(type(self))  # type: ignore[arg-type]

    def to_representation(self, instance: Any) -> Any:
        plan = plan_of(type(self))  # type: ignore[arg-type]
        if plan is not None:
            with suppress(AttributeError, ObjectDoesNotExist):  # the framework knows what stands for what is missing
                values = plan.values(instance)
                if not any(map(callable, values)):  # nor does a method stand for its result here
                    return {
                        name: None if value is None else shown(value)
                        for (name, shown), value in zip(plan.fields, values, strict=True)
                    }
        return super().to_representation(instance)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Plan:
    """The attributes of a row, read together, and for each of them its name on the wire and the way it is shown."""

    values: Callable[[Any], tuple[Any, ...]]
    fields: tuple[tuple[str, Callable[[Any], Any]], ...]


@cache
def readable(serializer_class: Any) -> tuple[Field, ...]:
    return tuple(field for field in serializer_class().fields.values() if not field.write_only)


@cache
def plan_of(serializer_class: Any) -> Plan | None:
    """None where a field is more than one attribute: it looks further, or decides itself what it reads."""
    fields = readable(serializer_class)
    sources = [str(field.source) for field in fields]
    own_ways = any(type(field).get_attribute is not Field.get_attribute for field in fields)
    if own_ways or len(fields) < 2 or not all(source.isidentifier() for source in sources):
        return None
    shown = tuple((str(field.field_name), field.to_representation) for field in fields)
    return Plan(values=attrgetter(*sources), fields=shown)
