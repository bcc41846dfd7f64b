"""Lists that grow come in pages that neither repeat nor skip a row."""

import re

import pytest
from django.conf import settings

from companies.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def audit_entries(acme, audit_context):
    """250 entries of the audit log, all of one moment."""
    AuditEntry.objects.bulk_create(
        AuditEntry(company=acme, time=audit_context.time, action="test.done", entity_type="test", entity_id=str(n % 2))
        for n in range(250)
    )


def iterate_pages(api, path, between=lambda: None):
    """Every page of a list, following its links."""
    while path:
        answer = api.get(path)
        assert answer.status_code == 200, answer.content
        yield answer.json()
        link = answer.get("Link")
        path = re.fullmatch(r'<https?://[^/]+(.+)>; rel="next"', link)[1] if link else None
        between()


def test_pagination_defaults_to_hundred_rows_with_next_link(api, audit_entries):
    assert [len(page) for page in iterate_pages(api, "audit_log?entityType=test")] == [100, 100, 50]
    assert "Link" not in api.get("audit_log?entityType=test&limit=250")
    assert [len(page) for page in iterate_pages(api, "audit_log?entityType=test&limit=125")] == [125, 125]


@pytest.mark.parametrize("limit", [1, 7, 99, 1000])
def test_pages_together_equal_the_full_list(api, audit_entries, limit):
    whole = [row["id"] for row in api.get("audit_log?entityType=test&limit=1000").json()]
    results = [row["id"] for page in iterate_pages(api, f"audit_log?entityType=test&limit={limit}") for row in page]
    assert results == whole
    assert len(set(results)) == 250


def test_next_link_is_absolute_and_keeps_filters(api, audit_entries):
    answer = api.get("audit_log?entityType=test&entityId=1&limit=10")
    address = re.fullmatch(r'<(.+)>; rel="next"', answer["Link"])[1]
    assert address.startswith(f"{settings.BASE_URL}/companies/{api.company.id}/audit_log?")
    assert "entityType=test" in address
    assert "entityId=1" in address
    assert "limit=10" in address
    rows = [row for page in iterate_pages(api, "audit_log?entityType=test&entityId=1&limit=10") for row in page]
    assert {row["entityId"] for row in rows} == {"1"}
    assert len(rows) == 125


def test_pagination_neither_repeats_nor_skips_rows_during_inserts(api, audit_entries):
    expected = {row["id"] for row in api.get("audit_log?entityType=test&limit=1000").json()}
    results = []
    for page in iterate_pages(api, "audit_log?limit=20", between=lambda: api.post("account_groups", {"name": "x"})):
        results += [row["id"] for row in page]
    assert len(results) == len(set(results))
    assert expected <= set(results)


def test_cursor_of_another_company_is_rejected(api, audit_entries, globex_api):
    address = api.get("audit_log?limit=1")["Link"]
    cursor = re.search(r"cursor=([^&>]+)", address)[1]
    answer = globex_api.get(f"audit_log?cursor={cursor}")
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "invalid_cursor")


@pytest.mark.parametrize(("limit", "code"), [("0", "out_of_range"), ("1001", "out_of_range"), ("x", "out_of_range")])
def test_limit_out_of_range_is_rejected(api, limit, code):
    answer = api.get(f"audit_log?limit={limit}")
    assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("#/limit", code)]


def test_invalid_cursor_is_rejected(api):
    for cursor in ["x", "", "W10", "bnVsbA", "WzEsMl0", "WyJhIiwiYiJd", "e30", "WyIyMDI2LTAxLTAxIl0"]:
        answer = api.get(f"audit_log?cursor={cursor}")
        assert answer.status_code == 400, cursor
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] in (
            [("#/cursor", "invalid_cursor")], [("#/cursor", "invalid_filter")],
        ), cursor  # fmt: skip
