"""Links that show a report without sign-in: created, listed and revoked over HTTP and on pages."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import time_machine

from companies.actions.company_data import delete_company_rows
from companies.models import AuditEntry
from companies.permissions import Role
from demo.reset import list_data_models
from ledger.models import ReportLink
from tests import factories
from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def march_transaction(books, bank):
    return books.create_transaction(bank, "-100.00", "2026-03-15")


@pytest.fixture
def closing(api, march_transaction):
    answer = api.post("closings", {"month": "2026-03", "acknowledge": True})
    assert answer.status_code == 201, answer.content
    return answer.json()


def in_days(days, **more):
    return (datetime.now(tz=UTC) + timedelta(days=days, **more)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("kind", ["reports", "closings"])
def test_link_is_created_listed_and_revoked(api, client, acme, closing, kind):
    expires = in_days(30)
    made = api.post(f"{kind}/2026-03/links", {"expiresTime": expires})
    assert made.status_code == 201, made.content
    assert set(made.json()) == {"id", "url"}
    url = made.json()["url"]
    token = url.rpartition("/")[2]
    assert client.get(urlsplit(url).path).status_code == 200
    (listed,) = api.get(f"{kind}/2026-03/links").json()
    assert listed["id"] == made.json()["id"]
    assert listed["version"] == (1 if kind == "closings" else None)
    assert listed["month"] == "2026-03"
    assert token not in str(listed)
    other = "closings" if kind == "reports" else "reports"
    assert api.get(f"{other}/2026-03/links").json() == []
    assert api.delete(f"{other}/2026-03/links/{listed['id']}").status_code == 404
    assert api.delete(f"{kind}/2026-02/links/{listed['id']}").status_code == 404
    assert client.get(urlsplit(url).path).status_code == 200
    assert api.delete(f"{kind}/2026-03/links/{listed['id']}").status_code == 200
    assert api.get(f"{kind}/2026-03/links").json() == []
    assert api.delete(f"{kind}/2026-03/links/{listed['id']}").status_code == 404
    assert client.get(urlsplit(url).path).status_code == 404


def test_token_is_stored_nowhere(api, acme, closing):
    token = api.post("reports/2026-03/links", {"expiresTime": in_days(1)}).json()["url"].rpartition("/")[2]
    link = ReportLink.objects.for_company(acme.id).get()
    assert token not in str(vars(link))
    (entry,) = AuditEntry.objects.for_company(acme.id).filter(entity_type="reportLink")
    assert entry.action == "reportLink.created"
    assert token not in str(entry.after)
    assert link.digest not in str(entry.after)


def test_expiry_is_checked(api, closing):
    for kind in ["reports", "closings"]:
        for body, code in [
            ({}, "required"),
            ({"expiresTime": None}, "must_not_be_null"),
            ({"expiresTime": "tomorrow"}, "invalid_value"),
            ({"expiresTime": "2020-01-01T00:00:00Z"}, "expires_in_past"),
            ({"expiresTime": "LATE"}, "expires_too_late"),
        ]:
            sent = {name: in_days(400, minutes=1) if value == "LATE" else value for name, value in body.items()}
            answer = api.post(f"{kind}/2026-03/links", sent)
            assert answer.status_code == 400, (kind, body)
            assert code in [answer.json()["code"], *(each["code"] for each in answer.json().get("errors", []))], (
                kind,
                body,
            )
            assert api.get(f"{kind}/2026-03/links").json() == [], (kind, body)


def test_link_may_last_400_days(api):
    assert api.post("reports/2026-03/links", {"expiresTime": in_days(400)}).status_code == 201


def test_months_without_report_or_closing_are_not_found(api):
    for path in [
        "reports/2026-02/links",
        "reports/2999-01/links",
        "reports/2026-13/links",
        "closings/2026-03/links",
        "closings/x/links",
    ]:
        for body in ({"expiresTime": in_days(1)}, {}):
            assert api.post(path, body).status_code == 404


def test_link_expires(api, client):
    path = urlsplit(api.post("reports/2026-03/links", {"expiresTime": in_days(2)}).json()["url"]).path
    assert client.get(path).status_code == 200
    with time_machine.travel(datetime.now(tz=UTC) + timedelta(days=2, minutes=1)):
        assert client.get(path).status_code == 404


def test_creator_must_be_able_to_read_what_they_share(acme, make_api):
    manager = make_api(acme, "closings:manage")
    answer = manager.post("reports/2026-03/links", {"expiresTime": in_days(1)})
    assert answer.status_code == 403


def test_links_are_managed_on_pages(acme, owner, client, api, closing):
    for page, kind in (("reports", "reports"), ("closings", "closings")):
        address = f"/app/companies/{acme.id}/{page}/2026-03/links"
        assert owner.get(address).status_code == 200
        shown = owner.post(address, {"days": "30"})
        assert shown["Cache-Control"] == "no-store"
        (listed,) = api.get(f"{kind}/2026-03/links").json()
        url = text(shown).split("/app/shared/")[1].split()[0]
        assert client.get(f"/app/shared/{url}").status_code == 200
        assert url not in text(owner.get(address))
        assert owner.post(address, {"days": "5000"}).status_code == 400
        done = owner.post(f"{address}/{listed['id']}/revoke", follow=True)
        assert "Link revoked." in text(done)
        assert client.get(f"/app/shared/{url}").status_code == 404


def test_only_owners_and_admins_share(acme, sign_in_browser):
    editor = factories.make_member(acme, "e@acme.example", role=Role.EDITOR)
    browser = sign_in_browser(editor, acme)
    assert browser.client.get(f"/app/companies/{acme.id}/reports/2026-03/links").status_code == 403
    assert browser.post("reports/2026-03/links", {"expiresTime": in_days(1)}).status_code == 403
    assert "/links" not in browser.client.get(f"/app/companies/{acme.id}/reports/2026-03").content.decode()


def test_demo_reset_deletes_links_to_closings(acme, closing, api):
    for kind in ("reports", "closings"):
        assert api.post(f"{kind}/2026-03/links", {"expiresTime": in_days(1)}).status_code == 201
    factories.force_company_values(acme, demonstration={"months": 1})
    delete_company_rows(acme, list_data_models())
    assert not ReportLink.objects.for_company(acme.id).exists()


@pytest.mark.parametrize("kind", ["reports", "closings"])
def test_list_of_links_rejects_unknown_parameters(api, closing, kind):
    for name in ("bogus", "limit"):  # the list comes whole
        answer = api.get(f"{kind}/2026-03/links", {name: "1"})
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_parameter")
