"""A moment says where its clock stands: in numbers, as RFC 3339 has them, wherever the document asks for one."""

import re

import pytest

from tests.api.request_bodies import row_ids
from tests.api.test_document import DOCUMENT

pytestmark = pytest.mark.django_db
assert row_ids  # a fixture

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


def test_named_or_missing_time_zone_is_rejected(api):
    for path, name in MOMENTS:
        for moment in NAMED + IMPOSSIBLE + OUTSIDE:
            answer = api.get(path, {name: moment})
            assert answer.status_code == 400, answer.content
            assert [each["code"] for each in answer.json()["errors"]] == ["invalid_filter"], (path, moment)
            assert name in str(answer.json()["errors"]), (path, moment)


def test_same_moment_in_another_time_zone_gives_same_answer(api, row_ids):
    for path, name in MOMENTS:
        contents = []
        for moment in ("2026-01-31T12:00:00Z", "2026-01-30T12:01:00-23:59"):
            answer = api.get(path, {name: moment})
            assert answer.status_code == 200, answer.content
            contents.append(b"".join(answer) if answer.streaming else answer.content)
        assert contents[0] == contents[1] or path.endswith("xlsx"), path  # which says when it was made
