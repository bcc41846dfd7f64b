"""Notifications are stored in English and shown in the language of who reads them."""

from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from uuid import uuid4

import pytest

from companies.models import ApiKey, AuditContext, Membership
from notifications import notify
from notifications.messages import MESSAGE_BUILDERS
from notifications.models import Notification, NotificationType
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db
GERMAN = {"Accept-Language": "de-DE,de;q=0.9"}


@pytest.fixture
def sample_notifications(acme, alice, audit_context):
    """Notifications of every type about what Alice did."""
    audit_context = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    facts = {"company_id": acme.id, "context": audit_context}
    money = {"reported": Decimal("-1.50"), "calculated": Decimal("1234.5"), "currency": "EUR"}
    membership = Membership.objects.for_company(acme.id).get(user=alice)
    key = ApiKey(id=uuid4(), company=acme, name="ci", last_four="abcd", permissions=[])
    app = SimpleNamespace(name="Robot")
    consent = SimpleNamespace(id=uuid4(), company_id=acme.id, user=alice, application=app, scopes=["svc:read"])
    hook = {"id": uuid4(), "company_id": acme.id, "url": "https://hook.example/", "last_status": 500}
    notify.notify_api_key_created(key=key, context=audit_context)
    notify.notify_api_key_creator_left(membership=membership, keys=[key], context=audit_context)
    notify.notify_app_connected(consent=consent, context=audit_context)
    notify.notify_app_revoked(consent=consent, context=audit_context)
    notify.notify_webhook_disabled(
        endpoint=SimpleNamespace(**hook, failing_since=datetime(2026, 3, 1, 9, 5, tzinfo=UTC)), context=audit_context
    )
    notify.notify_import_finished(**facts, import_id=uuid4(), count=1200, skipped_before_data_start=1, duplicates=2)
    notify.notify_import_undone(**facts, import_id=uuid4(), deleted_count=1, changed_count=1)
    notify.notify_balance_mismatch(**facts, account_id=uuid4(), account_name="Main", day=date(2026, 2, 28), **money)
    notify.notify_cash_below_zero(**facts, day=date(2026, 12, 5), amount=Decimal("-1234.5"), currency="EUR")


def test_notifications_are_localized_on_pages_and_english_in_api(api, sample_notifications, owner, acme):
    page = f"/app/companies/{acme.id}/notifications"
    german, english = get_page_text(owner.get(page, headers=GERMAN)), get_page_text(owner.get(page))
    for text, answer in {
        "1.200 Buchungen importiert": "1,200 transactions imported",
        "1.200 Buchungen gespeichert. 2 bereits vorhandene Zeilen übersprungen. 1 liegt": (
            "1,200 transactions saved. 2 duplicates skipped. 1 is before the data start date."
        ),
        "1 Buchung gelöscht. 1 war seit dem Import geändert worden.": (
            "1 transaction deleted. 1 had been changed since the import."
        ),
        "Main ist nicht abgestimmt": "Main is out of balance",
        "Am 28.02.2026: Kontoauszug −1,50 €, Buchungen 1.234,50 €.": (
            "On 28 Feb 2026: statement −€1.50, ledger €1,234.50."
        ),
        "Prognostizierte Liquidität am 05.12.2026: −1.234,50 €.": "Forecast cash on 5 Dec 2026: −€1,234.50.",
        "Robot verbunden": "Robot connected",
        "API-Schlüssel „ci“ angelegt": "API key “ci” created",
        "API-Schlüssel …abcd ist jetzt aktiv.": "API key …abcd is now active.",
        "seit 01.03.2026, 09:05 UTC kein Ereignis angenommen.": (
            "has not accepted an event since 1 March 2026, 09:05 UTC."
        ),
    }.items():
        assert text in german
        assert answer in english
    stored = {row["type"]: row["payload"]["title"] for row in api.get("notifications?recipientUserId=all").json()}
    assert stored["import.finished"] == "1,200 transactions imported"
    assert stored["app.revoked"] == "Robot disconnected"


def test_notification_stored_without_message_data_keeps_its_text(owner, acme, alice, audit_context):
    payload = {"title": "API key “old” created", "body": "The key ending in wxyz.", "link": None, "name": "old"}
    Notification(company=acme, type="apiKey.created", recipient=alice, payload=payload).mark_created(
        audit_context
    ).save()
    shown = get_page_text(owner.get(f"/app/companies/{acme.id}/notifications", headers=GERMAN))
    assert "API key “old” created" in shown
    assert "The key ending in wxyz." in shown


def test_every_notification_type_has_a_message():
    assert set(MESSAGE_BUILDERS) == set(NotificationType)


def test_member_joined_notification_names_the_role(owner, invite_member, api, acme):
    invite_member(api, "new@acme.example", role="admin").accept()
    page = f"/app/companies/{acme.id}/notifications"
    assert "ist dem Unternehmen als Administrator beigetreten." in get_page_text(owner.get(page, headers=GERMAN))
    assert "joined the company as admin." in get_page_text(owner.get(page))
