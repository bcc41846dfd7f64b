"""Shared by all data queries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.fields import to_json_number
from companies.errors import build_unknown_id_error
from ledger.money.calc.fx import RateLookupError
from ledger.recognition.actions.postings import MissingRateError
from planning.scenarios.queries import LoadedScenario, find_scenario


class DataViewSet(CompanyViewSet):
    """The data queries' ground: what cannot be converted is a refusal like any other."""

    schema_tags = ["Data"]

    def __init_subclass__(cls) -> None:
        """Add the missing exchange rate to each query's errors."""
        cls.errors_for = dict.fromkeys(cls.permission_for, (MissingRateError,))

    def find_scenario(self, values: Mapping[str, Any]) -> LoadedScenario | None:
        """Return the scenario that a query names.

        Raises:
            ValidationFailed: it is unknown.
        """
        return find_scenario(self.company, values.get("scenario_id"), today=self.today)

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(MissingRateError(str(exc)) if isinstance(exc, RateLookupError) else exc)


def build_point_dicts(days: Iterable[date], values: Iterable[Decimal]) -> list[dict[str, object]]:
    return series_to_dicts(zip(days, values, strict=True))


def series_to_dicts(points: Iterable[tuple[date, Decimal]]) -> list[dict[str, object]]:
    return [point_to_dict(day, value) for day, value in points]


def point_to_dict(day: date, value: Decimal) -> dict[str, object]:
    return {"date": day, "value": to_json_number(value)}


def check_known_ids(rows: Any, ids: Sequence[UUID], *, name: str) -> None:
    """Check that all ids are among the rows.

    Raises:
        ValidationFailed: with unknown_id for the first that is not.
    """
    known_ids = set(rows.filter(id__in=ids).values_list("id", flat=True))
    for index, row_id in enumerate(ids):
        if row_id not in known_ids:
            raise build_unknown_id_error(f"#/{name}/{index}")
