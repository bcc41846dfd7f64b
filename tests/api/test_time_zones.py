"""A moment says where its clock stands: in numbers, as RFC 3339 has them, wherever the document asks for one."""

import re
from typing import Any

import pytest

from tests.api.request_bodies import ids
from tests.api.test_document import DOCUMENT

pytestmark = pytest.mark.django_db
assert ids  # a fixture

MOMENTS = [
    (re.sub(r"{\w+}", "{}", path.removeprefix("/companies/{companyId}/")), parameter["name"])
    for path, item in DOCUMENT["paths"].items()
    for parameter in item.get("get", {}).get("parameters", [])
    if parameter.get("schema", {}).get("format") == "date-time"
]
NAMED = ["2026-01-31T12:00:00CET", "2026-01-31T12:00:00Europe/Berlin", "2026-01-31T12:00:00 UTC"]
IMPOSSIBLE = ["2026-01-31T12:00:00+25:00", "2026-01-31T12:00:00Z+01:00", "2026-01-31T12:00:00+01:00:"]
OUTSIDE = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59"]  # of the calendar, by the clock of UTC


def test_time_parameters_are_found_in_the_document():
    assert {path for path, _ in MOMENTS} >= {"audit_log", "transactions"}


@pytest.mark.parametrize(("path", "name"), MOMENTS)
@pytest.mark.parametrize("moment", NAMED + IMPOSSIBLE + OUTSIDE)
def test_named_or_missing_time_zone_is_rejected(api, path, name, moment):
    answer = api.get(path, {name: moment})
    assert answer.status_code == 400, answer.content
    assert [each["code"] for each in answer.json()["errors"]] == ["invalid_filter"]
    assert name in str(answer.json()["errors"])


@pytest.mark.parametrize(("path", "name"), MOMENTS)
def test_same_moment_in_another_time_zone_gives_same_answer(api, ids, path, name):
    def get_content(moment: str) -> Any:
        answer = api.get(path, {name: moment})
        assert answer.status_code == 200, answer.content
        return b"".join(answer) if answer.streaming else answer.content

    there, elsewhere = get_content("2026-01-31T12:00:00Z"), get_content("2026-01-30T12:01:00-23:59")
    assert there == elsewhere or path.endswith("xlsx")  # which says when it was made
