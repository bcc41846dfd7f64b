"""Forms that take one file: a second one is an error with a stable code, over the API and on pages."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.api.openapi.error_codes import FIELD_CODES
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db
CONTENT = b"Customer,Date,MRR\nGlobex,2026-01-15,50.00\n"


def build_files(count):
    return [SimpleUploadedFile(f"{number}.csv", CONTENT, content_type="text/csv") for number in range(count)]


def test_second_file_is_rejected_by_the_api(api, acme):
    for path in ["statements", "files", "subscription_events/import_file", "receivables/import", "payables/import"]:
        answer = api.client.post(api.path(path), {"file": build_files(2)}, headers=api.headers)
        assert answer.status_code == 400, answer.content
        assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("#/file", "several_files")], (
            path
        )
        assert "several_files" in FIELD_CODES, path
        missing = api.client.post(api.path(path), {"file": build_files(0)}, headers=api.headers)
        assert [each["code"] for each in missing.json()["errors"]] == ["required"], path


def build_form(*parts):
    """A multipart body of (head, value) as no ordinary client sends it."""
    lines = [line for head, value in parts for line in ("--x", f"Content-Disposition: form-data; {head}", "", value)]
    return "\r\n".join([*lines, "--x--", ""]).encode()


def post_form(api, path, *parts):
    body, form = build_form(*parts), "multipart/form-data; boundary=x"
    return api.client.generic("POST", api.path(path), body, content_type=form, headers=api.headers)


FILE_PART = ('name="file"; filename="a.csv"', CONTENT.decode())


@pytest.mark.parametrize("path", ["statements", "files", "subscription_events/import_file", "receivables/import"])
def test_second_file_part_without_a_name_is_rejected(api, acme, path):
    answer = post_form(api, path, FILE_PART, ('name="file"', "Customer,Date"))
    assert [each["code"] for each in answer.json()["errors"]] == ["several_files"]
    alone = post_form(api, path, ('name="file"', "Customer,Date"))
    assert [each["code"] for each in alone.json()["errors"]] == ["required"]


@pytest.mark.parametrize("path", ["statements", "subscription_events/import_file", "receivables/import"])
def test_option_sent_twice_is_rejected(api, acme, path):
    answer = post_form(api, path, FILE_PART, ('name="dryRun"', "true"), ('name="dryRun"', "false"))
    assert answer.status_code == 400, answer.content
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("#/dryRun", "invalid_value")]


def test_form_without_boundary_is_rejected_in_plain_words(api, acme):
    answer = api.client.generic(
        "POST", api.path("files"), b"x", content_type="multipart/form-data", headers=api.headers
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_form")
    assert "no boundary" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["recurring-revenue/events/import", "receivables/import", "payables/import"])
def test_second_file_is_rejected_by_pages(owner, acme, path):
    answer = owner.post(f"/app/companies/{acme.id}/{path}", {"file": build_files(2)})
    assert answer.status_code == 400
    assert "Send only one file." in get_page_text(answer)


def test_second_logo_is_rejected(owner, acme):
    answer = owner.post(f"/app/companies/{acme.id}/settings/logo", {"logo": build_files(2)}, follow=True)
    assert "Send only one file." in get_page_text(answer)
