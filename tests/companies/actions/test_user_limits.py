"""What one person may start, send and store, in all companies together."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from companies import email_limits
from companies.actions import companies as actions_companies
from companies.actions import invitations
from companies.auth import throttling
from companies.permissions import ALL_PERMISSIONS
from tests import factories

pytestmark = pytest.mark.django_db
PDF = b"%PDF-1.4\n" + b" " * 300_000 + b"%%EOF\n"


@pytest.fixture
def alice_api(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme)


def test_user_can_create_ten_companies_per_day(alice_api, sign_in_browser, carol, globex, monkeypatch):
    monkeypatch.setattr(actions_companies, "MAX_COMPANIES_PER_DAY", 10)
    for n in range(10):
        assert alice_api.post("/companies", {"name": f"Company {n}"}).status_code == 201
    for n in range(100):  # other names, which cannot displace the count
        throttling.consume_budget(f"companies:{n}", now=0.0, exact=True)
    refused = alice_api.post("/companies", {"name": "One more"})
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_companies")
    assert 0 < int(refused["Retry-After"]) <= 24 * 3600
    page = alice_api.client.post("/app/companies/new", {"name": "One more", "baseCurrency": "EUR"})
    assert page.status_code == 400
    assert "You can create up to 10 companies a day. Try again tomorrow." in page.content.decode()
    assert sign_in_browser(carol, globex).post("/companies", {"name": "Hers"}).status_code == 201


def test_user_can_send_forty_invitations_per_day_across_companies(sign_in_browser, alice, acme, monkeypatch):
    monkeypatch.setattr(invitations, "MAX_INVITATIONS_PER_USER_PER_DAY", 40)
    owned_companies = [acme, *(factories.make_company(name=f"Company {n}", owner=alice) for n in range(2))]
    sent = [
        sign_in_browser(alice, owned_companies[n // 15]).post("members", {"email": f"p{n}@x.example", "role": "viewer"})
        for n in range(41)
    ]
    assert [answer.status_code for answer in sent] == [201] * 40 + [429]
    assert sent[-1].json()["code"] == "too_many_invitations"
    key = (
        sign_in_browser(alice, owned_companies[2])
        .post("api_keys", {"name": "k", "permissions": sorted(ALL_PERMISSIONS)})
        .json()
    )
    headers = {"Authorization": f"Bearer {key['key']}"}
    by_key = Client().post(
        f"/companies/{owned_companies[2].id}/members",
        {"email": "q@x.example", "role": "viewer"},
        content_type="application/json",
        headers=headers,
    )
    assert by_key.status_code == 429, "a key counts for the person who made it"


def test_email_address_receives_at_most_five_emails_per_hour(
    sign_in_browser, alice, carol, acme, globex, client, monkeypatch, mailoutbox, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(email_limits, "MAX_EMAILS_PER_HOUR", 5)
    dora = factories.UserFactory(email="dora@dora.example")
    for n in range(3):
        client.post("/app/password-reset", {"email": ("dora@dora.example", "DORA@dora.example")[n % 2]})
    for person, company in ((alice, acme), (carol, globex), (alice, factories.make_company(name="More", owner=alice))):
        with django_capture_on_commit_callbacks(execute=True):
            answer = sign_in_browser(person, company).post("members", {"email": "dora@dora.example", "role": "viewer"})
        assert answer.status_code == 201, answer.content
    client.post("/app/password-reset", {"email": "dora@dora.example"})
    assert [letter.to for letter in mailoutbox if letter.to == [dora.email]] == [[dora.email]] * 5


def upload_file(api):
    file = SimpleUploadedFile("a.pdf", PDF, content_type="application/pdf")
    return api.client.post(api.path("files"), {"file": file}, headers=api.headers)


def test_companies_of_one_owner_share_four_storage_quotas(sign_in_browser, alice, carol, globex, settings):
    settings.STORAGE_QUOTA_MB = 1
    companies = [factories.make_company(name=f"Company {n}", owner=alice) for n in range(6)]
    statuses = [upload_file(sign_in_browser(alice, company)).status_code for company in companies for _ in range(3)]
    assert statuses == [201] * 13 + [413] * 5
    refused = upload_file(sign_in_browser(alice, companies[-1]))
    assert refused.json()["code"] == "quota_exceeded"
    assert "MB for all companies. Delete files you no longer need." in refused.json()["detail"]
    assert upload_file(sign_in_browser(carol, globex)).status_code == 201
