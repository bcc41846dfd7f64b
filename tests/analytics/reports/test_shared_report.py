"""The page behind a shared link: one report and nothing else, without sign-in or cookies."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client

from analytics.reports import shared_report
from companies.permissions import Role
from tests import factories
from tests.analytics.reports.report_pages import build_report_path, read_table
from tests.ledger.conftest import get_page_text as text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


@pytest.fixture
def share_report(api):
    """Share a report or a closing; return the path of its page."""

    def share(kind="reports", month="2026-03", caller=None):
        expires = (datetime.now(tz=UTC) + timedelta(days=30)).isoformat().replace("+00:00", "Z")
        answer = (caller or api).post(f"{kind}/{month}/links", {"expiresTime": expires})
        assert answer.status_code == 201, answer.content
        return urlsplit(answer.json()["url"]).path

    return share


def list_tables(answer):
    ids = re.findall(r'<h2 id="(\w+)-heading"', answer.content.decode())
    return {table_id: read_table(answer, table_id) for table_id in ids if table_id != "commentary"}


def test_shared_report_is_that_of_the_page(acme, api, owner, client, share_report, booked_year, create_subscription):
    create_subscription("Big", "2025-06-01", "300.00")
    api.put("reports/2026-03/commentary", {"text": "We <hired>."})
    answer = client.get(share_report())
    assert answer.status_code == 200
    own, shared = list_tables(owner.get(build_report_path(acme))), list_tables(answer)
    for name in ("Landlord", "Small landlord", "Customer A", "No name"):
        del own["changes"][name]
    del own["measures"]  # none is available
    assert shared == own
    assert len(shared) == 8
    assert "We <hired>." in text(answer)


def test_shared_report_has_no_sections_without_figures(client, share_report, booked_year):
    answer = client.get(share_report())
    assert list(list_tables(answer)) == ["figures", "cash", "results", "changes", "year", "margin"]
    assert "There were no subscriptions. No receivables are open. No payables are open." in text(answer)
    assert "Not available" not in text(answer)


def test_shared_page_is_private(client, acme, share_report, booked_year):
    answer = client.get(share_report())
    assert answer["X-Robots-Tag"].startswith("noindex")
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"
    assert "Cookie" not in answer.get("Vary", "")
    assert not answer.cookies
    html = answer.content.decode()
    assert re.findall(r"<form\b", html) == []
    assert {link for link in re.findall(r'<a [^>]*href="([^"]*)"', html) if not link.startswith("?table=")} == set()
    assert "Landlord" not in html
    assert f"/app/companies/{acme.id}" not in html
    missing = client.get(f"/app/shared/{acme.id}/{'x' * 43}")
    assert missing.status_code == 404
    assert (missing["X-Robots-Tag"], missing["Referrer-Policy"]) == (answer["X-Robots-Tag"], "no-referrer")


@pytest.mark.parametrize("session", ["valid", "stale"])
def test_shared_page_sets_no_cookie_for_who_is_signed_in(owner, share_report, booked_year, age_session, session):
    path = share_report()
    age_session(owner)
    if session == "stale":
        owner.cookies["svc-session" if "svc-session" in owner.cookies else next(iter(owner.cookies))] = "x" * 32
    answer = owner.get(path)
    assert answer.status_code == 200
    assert not answer.cookies


def test_wrong_tokens_are_not_found(client, acme, globex, share_report, booked_year):
    path = share_report()
    for token in ["", "x", "a%00b", "é", "../x", "x" * 5000]:
        assert client.get(f"/app/shared/{acme.id}/{token}").status_code == 404
        assert client.get(path.replace(str(acme.id), str(globex.id))).status_code == 404, token
        assert client.get(path.replace(str(acme.id), "x")).status_code == 404, token
        assert client.post(path).status_code in (403, 405), token
        assert Client(enforce_csrf_checks=True).post(path).status_code in (403, 405), token


def test_shared_page_is_rate_limited(client, share_report, booked_year, monkeypatch):
    path = share_report()
    monkeypatch.setattr(shared_report, "MAX_REQUESTS_PER_MINUTE", 3)
    answers = [client.get(path) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[3]["Retry-After"]) > 0


def test_shared_report_shows_no_more_than_its_creator_sees(
    acme, client, share_report, sign_in_browser, booked_year, create_subscription
):
    create_subscription("Big", "2025-06-01", "300.00")
    permissions = ["closings:manage", "financials:read", "subscriptions:read"]
    manager = factories.make_member(acme, "m@acme.example", role=Role.ADMIN, permissions=permissions)
    answer = client.get(share_report(caller=sign_in_browser(manager, acme)))
    shown = list_tables(answer)
    assert "cash" not in shown
    assert "recurring" in shown
    assert "Big" not in answer.content.decode()


def test_link_of_a_closing_shows_the_figures_of_its_version(
    acme, api, client, share_report, booked_year, close_month, create_categorized_transaction, create_subscription
):
    create_subscription("Big", "2025-06-01", "300.00")
    first = close_month()
    path = share_report("closings")
    frozen = api.get("closings/2026-03").json()["figures"]
    before = client.get(path)
    assert "As reported on 10 May 2026, version 1" in text(before)
    assert first["digest"] in before.content.decode()
    assert api.post("closings/2026-03/reopen", {"reason": "Late invoice"}).status_code == 200
    create_categorized_transaction("officeAndAdmin", "ga", "-50.00", "2026-03-31")
    close_month()
    assert client.get(path).content == before.content
    tables = list_tables(before)
    values = {
        (each["figure"], each.get("plType") or each.get("movement")): each["value"]
        for each in frozen
        if each.get("mrrType") != "cmrr"
    }
    assert tables["results"]["Revenue"] == [f"{values['profitAndLoss', 'revenue']:,.2f}"]
    assert tables["results"]["Result"] == ["600.25"]
    assert tables["cash"]["Total"][2] == f"{values['balance', None]:,.2f}"
    assert tables["recurring"]["MRR at the end"][0] == f"{values['recurringRevenue', 'end']:,.2f}"
    assert "450.25" in client.get(share_report("closings")).content.decode()


def test_shared_page_speaks_the_reader_s_language(client, share_report, booked_year):
    answer = client.get(share_report(), headers={"Accept-Language": "de"})
    assert '<html lang="de"' in answer.content.decode()
    assert "Umsatz" in text(answer)
