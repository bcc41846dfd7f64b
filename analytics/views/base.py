"""What all data queries stand on."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from rest_framework.response import Response

from companies.api.fields import number
from companies.api.viewsets import CompanyViewSet
from companies.errors import unknown_id
from ledger.calc.fx import MissingRate
from ledger.recognition.posting import NoRate


class DataViewSet(CompanyViewSet):
    """The data queries' ground: what cannot be converted is a refusal like any other."""

    schema_tags = ["Data"]

    def __init_subclass__(cls) -> None:
        """Every query converts."""
        cls.refuses = dict.fromkeys(cls.permission_for, (NoRate,))

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(NoRate(str(exc)) if isinstance(exc, MissingRate) else exc)


def points(days: Iterable[date], values: Iterable[Decimal]) -> list[dict[str, object]]:
    return series(zip(days, values, strict=True))


def series(found: Iterable[tuple[date, Decimal]]) -> list[dict[str, object]]:
    return [point(day, value) for day, value in found]


def point(day: date, value: Decimal) -> dict[str, object]:
    return {"date": day, "value": number(value)}


def check_known(rows: Any, ids: Sequence[UUID], *, name: str) -> None:
    """Raises FieldErrors with unknown_id for the first id that none of the rows has."""
    known = set(rows.filter(id__in=ids).values_list("id", flat=True))
    for index, each in enumerate(ids):
        if each not in known:
            raise unknown_id(f"#/{name}/{index}")
