"""Somebody asks for help: staff find their company by what they name, and see on its page what is wrong."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import InternalError
from django.test import Client

from companies.models import FailedRequest, User, generate_id
from tests.oauth.conftest import alice_flow, alice_tokens, application, flow
from webhooks.models import WebhookDelivery, WebhookEndpoint

pytestmark = pytest.mark.django_db
assert all((application, flow, alice_tokens, alice_flow))  # fixtures
COMPANIES = "/admin/companies/company/"


@pytest.fixture
def staff(db):
    client = Client()
    user = User.objects.create_superuser("staff@example.com")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def search_companies(staff, term):
    """Names of the companies that a search shows."""
    answer = staff.get(COMPANIES, {"q": term})
    assert answer.status_code == 200
    return sorted(company.name for company in answer.context["cl"].result_list)


@pytest.fixture
def search_texts(api, globex_api, alice, carol, acme, alice_flow, alice_tokens):
    """What a user of Acme may name in a support request → the text to search for."""
    api.post("account_groups", {"name": "Banks"}, x_request_id="asked-for-help-1")
    api.post("members", {"email": "new@invited.example", "role": "viewer"})
    return {
        "address": "ALICE@acme.example",
        "part of an address": "alice@acme",
        "an invited address": "new@invited",
        "last four of a key": api.key[-4:],
        "client id": alice_flow.application.client_id,
        "request id": "asked-for-help-1",
        "company id": str(acme.id),
        "name": "acm",
    }


def test_support_search_finds_company_by_any_identifier(search_texts, staff):
    assert {what: search_companies(staff, term) for what, term in search_texts.items()} == {
        what: ["Acme"] for what in search_texts
    }


@pytest.mark.parametrize("term", ["nobody@acme.example", "@@@@", "zz qq", "é" * 4, "'; --", "x" * 5000, "0" * 36])
def test_support_search_finds_no_company_for_unknown_term(term, search_texts, staff):
    assert search_companies(staff, term) == []


def test_support_search_finds_audit_entry_by_request_id(search_texts, staff):
    page = staff.get("/admin/companies/auditentry/", {"q": "asked-for-help-1"}).content.decode()
    assert "accountGroup.created" in page
    assert "1 audit entry" in page


def test_admin_company_page_shows_latest_imports(api, globex_api, acme, staff):
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    theirs = globex_api.post("accounts", {"name": "Other", "type": "bank"}).json()["id"]
    for n in range(1, 13):
        rows = [{"accountId": account, "date": "2026-01-05", "amountValue": f"{n}.{k:02}"} for k in range(n)]
        assert api.post("transactions/import", {"transactions": rows}).status_code == 200
    rows = [{"accountId": theirs, "date": "2026-01-05", "amountValue": "1.00"}] * 77
    globex_api.post("transactions/import", {"transactions": rows, "duplicates": "keep"})
    formset = get_inline(staff.get(f"{COMPANIES}{acme.pk}/change/"), "importbatch")
    assert [form.instance.count for form in formset.forms] == list(range(12, 2, -1))


def get_inline(answer, name):
    (one,) = [
        each.formset for each in answer.context["inline_admin_formsets"] if each.formset.model._meta.model_name == name
    ]
    return one


def test_admin_company_page_shows_failing_webhooks_and_latest_errors(api, globex_api, acme, globex, staff):
    now = datetime.now(tz=UTC)
    for n, since in enumerate([None, now - timedelta(hours=1), now - timedelta(days=2)]):
        made = api.post("webhook_endpoints", {"url": f"https://{n}.example/", "enabled": False}).json()
        WebhookEndpoint.objects.for_company(acme.id).filter(id=made["id"]).update(failing_since=since, last_status=500)
    foreign = globex_api.post("webhook_endpoints", {"url": "https://theirs.example/", "enabled": False}).json()["id"]
    for company, endpoint, status, error in (
        (acme, made["id"], 500, ""),
        (acme, made["id"], 200, ""),
        (acme, made["id"], None, "timed out"),
        (globex, foreign, 404, "not mine"),
    ):
        WebhookDelivery.objects.create(
            company=company, endpoint_id=endpoint, event_id=generate_id(), type="account.created", time=now,
            status=status,
            error=error,
        )  # fmt: skip
    answer = staff.get(f"{COMPANIES}{acme.pk}/change/")
    endpoints = [form.instance.url for form in get_inline(answer, "webhookendpoint").forms]
    assert endpoints == ["https://2.example/", "https://1.example/", "https://0.example/"]
    errors = [(form.instance.status, form.instance.error) for form in get_inline(answer, "webhookdelivery").forms]
    assert errors == [(None, "timed out"), (500, "")]
    text = answer.content.decode()
    assert "timed out" in text
    assert "theirs.example" not in text


def raise_runtime_error(*args, **kwargs):
    raise RuntimeError("secret detail")


@pytest.fixture
def break_account_creation(monkeypatch):
    monkeypatch.setattr("ledger.accounts.actions.accounts.create_account", raise_runtime_error)


def test_admin_company_page_shows_latest_failed_requests(api, globex_api, acme, staff, break_account_creation):
    for n in range(22):
        body = {"name": "told nobody", "type": "bank"}
        assert api.post("accounts?x=y", body, x_request_id=f"failed-{n}").status_code == 500
    globex_api.post("accounts", {"name": "theirs", "type": "bank"}, x_request_id="failed-theirs")
    api.post("accounts", {"name": "", "type": "bank"}, x_request_id="refused")  # no failure of ours
    answer = staff.get(f"{COMPANIES}{acme.pk}/change/")
    rows = [form.instance for form in get_inline(answer, "failedrequest").forms]
    assert [row.request_id for row in rows] == [f"failed-{n}" for n in range(21, 1, -1)], "the last twenty are kept"
    assert {(row.method, row.path, row.status, row.error) for row in rows} == {
        ("POST", f"/companies/{acme.id}/accounts", 500, "RuntimeError")
    }
    text = answer.content.decode()
    assert "failed-21" in text
    assert "secret detail" not in text
    assert search_companies(staff, "failed-21") == ["Acme"]
    assert search_companies(staff, "failed-theirs") == ["Globex"]


def test_support_search_finds_failed_page_by_request_id(sign_in_browser, alice, acme, staff, monkeypatch):
    browser = sign_in_browser(alice, acme).client
    browser.raise_request_exception = False
    monkeypatch.setattr("companies.pages.settings.members.summarize_permissions", raise_runtime_error)
    page = browser.get(f"/app/companies/{acme.id}/settings/members", headers={"X-Request-Id": "told-by-a-page"})
    assert (page.status_code, b"told-by-a-page" in page.content) == (500, True)
    assert search_companies(staff, "told-by-a-page") == ["Acme"]


def test_failed_request_is_not_recorded_in_inaccessible_company(api, globex, break_account_creation, monkeypatch):
    monkeypatch.setattr("companies.api.company_viewset.CompanyViewSet.resolve_target", raise_runtime_error)
    assert api.client.post(f"/companies/{globex.id}/accounts", {}, headers=api.headers).status_code == 500
    assert not FailedRequest.objects.exists()


def test_unrecorded_failure_does_not_change_the_answer(api, acme, break_account_creation, monkeypatch):
    def refused(*args, **kwargs):
        raise InternalError("read-only")

    monkeypatch.setattr(FailedRequest, "save", refused)
    answer = api.post("accounts", {"name": "x", "type": "bank"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


def test_admin_company_page_shows_members_with_mfa(api, alice, acme, staff):
    page = f"{COMPANIES}{acme.pk}/change/"
    assert "4 Mar 2026" not in staff.get(page).content.decode()
    alice.second_factor_since = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    alice.save()
    assert "4 Mar 2026" in staff.get(page).content.decode()


def test_admin_company_page_hides_webhook_secrets(api, acme, staff):
    made = api.post("webhook_endpoints", {"url": "https://a.example/", "enabled": False}).json()
    text = staff.get(f"{COMPANIES}{acme.pk}/change/").content.decode()
    assert made["secret"] not in text
    assert "salt" not in text


def test_new_confidential_app_shows_id_secret_and_preview_link(staff):
    form = {
        "name": "New app", "client_type": "confidential", "redirect_uris": "https://new.example/cb",
        "allowed_scopes": ["svc:read"], "enabled": "on",
    }  # fmt: skip
    text = staff.post("/admin/oauth/application/add/", form).content.decode()
    assert 'id="client-secret"' in text
    assert "View consent page" in text
    assert ">Authorize</a> with code_verifier" in text
    assert "code_verifier" in text
