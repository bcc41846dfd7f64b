"""Nothing leaves a sandbox: no email, no webhook, no connected app, no request for a logo."""

import pytest

from companies import http_client
from companies.actions import site_logo
from companies.models import Company, Membership, SecurityLogEntry
from notifications.emails import EMAIL_SUBJECTS
from notifications.models import Notification, NotificationType
from notifications.notify import send_notification
from oauth.models import ConsentGrant
from oauth.registration import register_app
from tests.conftest import Api
from tests.oauth.conftest import REDIRECT, OAuthFlow, alice_flow, alice_tokens, application, flow
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.django_db
__all__ = ["alice_flow", "alice_tokens", "application", "flow"]  # fixtures


@pytest.fixture
def sandbox(sign_in_browser, alice, acme):
    """An API client with Alice's session in a sandbox of Acme."""
    member = sign_in_browser(alice, acme)
    answer = member.post("copy", {"name": "What if"})
    return Api(Company.objects.get(id=answer.json()["id"]), session=member.client)


def test_notifications_of_a_sandbox_are_stored_and_not_mailed(
    sandbox, acme, alice, audit_context, django_capture_on_commit_callbacks, mailoutbox
):
    kinds = [kind for kind in NotificationType if kind in EMAIL_SUBJECTS]
    alice.mailed = [kind.value for kind in kinds]
    alice.save()
    facts = {"name": "x", "email": "x", "role": "viewer", "lastFour": "1234", "applicationName": "x", "count": 1,
             "url": "x", "failingSince": "2026-01-01T00:00:00+00:00", "lastStatus": 500, "duplicates": 0, "reason": "x",
             "skippedBeforeDataStart": 0, "deletedCount": 1, "changedCount": 0, "reported": "1", "calculated": "2",
             "currency": "EUR", "accountName": "x", "date": "2026-01-01", "amount": "1", "month": "2026-01",
             "lastMonth": "2026-01"}  # fmt: skip
    for kind in kinds:
        mailoutbox.clear()
        for company, mails in ((sandbox.company, 0), (acme, 1)):
            with django_capture_on_commit_callbacks(execute=True):
                send_notification(
                    company_id=company.id, context=audit_context, type=kind, link=None, entity_type="x",
                    entity_id=None, recipients=[alice.id], **facts,
                )  # fmt: skip
            assert Notification.objects.for_company(company.id).filter(type=kind).count() == 1, kind
            assert len(mailoutbox) == mails, kind


def test_key_created_in_a_sandbox_is_logged_and_not_mailed(
    sandbox, alice, django_capture_on_commit_callbacks, mailoutbox
):
    with django_capture_on_commit_callbacks(execute=True):
        answer = sandbox.post("api_keys", {"name": "k", "permissions": ["company:read"]})
    assert answer.status_code == 201
    assert SecurityLogEntry.objects.filter(user=alice, event="apiKeyCreated").count() == 1
    assert mailoutbox == []


def test_invitation_into_a_sandbox_is_refused(sandbox, django_capture_on_commit_callbacks, mailoutbox):
    with django_capture_on_commit_callbacks(execute=True):
        answer = sandbox.post("members", {"email": "new@acme.example", "role": "viewer"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_in_sandbox")
    assert mailoutbox == []
    assert Membership.objects.for_company(sandbox.company.id).count() == 1


def test_webhook_of_a_sandbox_is_refused(sandbox):
    answer = sandbox.post("webhook_endpoints", {"url": "https://hooks.example.com/"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_in_sandbox")
    assert not WebhookEndpoint.objects.for_company(sandbox.company.id).exists()


def test_app_cannot_connect_to_a_sandbox(sandbox, acme, alice):
    app = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    flow = OAuthFlow(application=app)
    flow.sign_in(alice)
    assert "Apps cannot connect to a sandbox" in flow.browser.get(flow.url()).content.decode()
    assert flow.decide(sandbox.company).status_code == 400
    assert not ConsentGrant.objects.exists()
    assert flow.decide(acme).status_code == 303
    assert ConsentGrant.objects.get().company_id == acme.id


def test_app_cannot_copy_a_company(alice_tokens, acme):
    answer = Api(acme, key=alice_tokens["access_token"]).post("copy", {"name": "What if"})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert not Company.objects.filter(system_status="sandbox").exists()


def test_logo_of_a_sandbox_is_not_fetched(sandbox, settings, monkeypatch, now):
    settings.LOGOS_FROM_DOMAINS = True
    calls = []
    monkeypatch.setattr(http_client, "fetch_url", lambda address, **_: calls.append(address))
    sandbox.put("", {"domain": "acme.example"})
    assert not site_logo.refresh_site_logo(company=Company.objects.get(id=sandbox.company.id), now=now)
    assert calls == []
