"""Notifications over HTTP: who is told what, who reads it and who deletes it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from companies.models import AuditContext, AuditEntry, Membership
from companies.permissions import Permission, Role
from notifications import notify
from notifications.models import Notification, NotificationType
from tests import factories

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def create_notification(acme: Any, audit_context: AuditContext) -> Any:
    """Create a notification for a user."""

    def create(user: Any, title: str = "Hello", company: Any = acme) -> Notification:
        payload = {"title": title, "body": "", "link": None, "entityType": "import", "entityId": None}
        row = Notification(company=company, type=NotificationType.IMPORT_FINISHED, recipient=user, payload=payload)
        row.mark_created(audit_context).save()
        return row

    return create


@pytest.fixture
def ann(acme: Any) -> Any:
    """Ann, an admin of Acme."""
    return factories.make_member(acme, "ann@acme.example", role=Role.ADMIN)


@pytest.fixture(autouse=True)
def delete_notifications(api: Any, acme: Any, alice: Any, bob: Any) -> None:
    """Delete the notifications that creating the API clients sent."""
    Notification.objects.all().delete()


def list_titles(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [row["payload"]["title"] for row in answer.json()]


def test_notification_is_returned_as_sent(sign_in_browser, alice, acme, create_notification):
    row = create_notification(alice)
    (read,) = sign_in_browser(alice, acme).get("notifications").json()
    assert read == {
        "id": str(row.id),
        "companyId": str(acme.id),
        "type": "import.finished",
        "recipientUserId": str(alice.id),
        "readTime": None,
        "payload": {"title": "Hello", "body": "", "link": None, "entityType": "import", "entityId": None},
        "createdTime": read["createdTime"],
        "createdUserId": None,
        "lastUpdatedTime": read["createdTime"],
        "lastUpdatedUserId": None,
    }


def test_users_see_their_own_notifications_latest_first(sign_in_browser, alice, bob, acme, create_notification):
    for title in ("one", "two"):
        create_notification(bob, title)
    create_notification(alice, "hers")
    assert list_titles(sign_in_browser(bob, acme).get("notifications")) == ["two", "one"]
    assert list_titles(sign_in_browser(bob, acme).get("notifications", {"recipientUserId": str(bob.id)})) == [
        "two",
        "one",
    ]


def test_api_key_has_no_own_notifications_but_may_see_all(api, make_api, acme, alice, bob, create_notification):
    create_notification(alice, "hers")
    create_notification(bob, "his")
    assert list_titles(api.get("notifications")) == []
    assert list_titles(api.get("notifications", {"recipientUserId": "all"})) == ["his", "hers"]
    assert list_titles(api.get("notifications", {"recipientUserId": str(alice.id)})) == ["hers"]
    assert list_titles(api.get("notifications", {"recipientUserId": UNKNOWN_ID})) == []
    plain = make_api(acme, "notifications:read", "notifications:write")
    assert list_titles(plain.get("notifications")) == []
    assert plain.post("notifications/read_all").json() == {"success": True, "readCount": 0}


@pytest.mark.parametrize("whose", ["all", "other"])
def test_notifications_of_others_require_manage_permission(
    sign_in_browser, alice, bob, acme, create_notification, whose
):
    create_notification(alice)
    params = {"recipientUserId": str(alice.id) if whose == "other" else "all"}
    answer = sign_in_browser(bob, acme).get("notifications", params)
    assert answer.status_code == 403
    assert "notifications:manage" in answer.json()["detail"]


def test_notifications_can_be_filtered_by_unread(sign_in_browser, bob, acme, create_notification):
    one = create_notification(bob, "one")
    create_notification(bob, "two")
    his = sign_in_browser(bob, acme)
    his.put(f"notifications/{one.id}/read")
    assert list_titles(his.get("notifications", {"unread": "true"})) == ["two"]
    assert list_titles(his.get("notifications", {"unread": "false"})) == ["one"]


def test_invalid_list_parameter_is_rejected(api):
    for params, pointer, code in [
        ({"unread": "yes"}, "#/unread", "invalid_filter"),
        ({"recipientUserId": "me"}, "#/recipientUserId", "invalid_filter"),
        ({"type": "import.finished"}, "#/type", "unknown_parameter"),
        ({"limit": "0"}, "#/limit", "out_of_range"),
        ({"cursor": "x"}, "#/cursor", "invalid_cursor"),
    ]:
        answer = api.get("notifications", params)
        assert answer.status_code == 400, params
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], params


def test_notification_list_is_paged_without_repetition(sign_in_browser, bob, acme, create_notification):
    for title in ("one", "two", "three"):
        create_notification(bob, title)
    his = sign_in_browser(bob, acme)
    first = his.get("notifications", {"limit": 2})
    create_notification(bob, "four")
    rest = his.get(first["Link"].split(";")[0].strip("<>"))
    assert list_titles(first) + list_titles(rest) == ["three", "two", "one"]


def test_first_read_time_is_kept(sign_in_browser, bob, acme, create_notification):
    row = create_notification(bob)
    his = sign_in_browser(bob, acme)
    first = his.put(f"notifications/{row.id}/read")
    assert first.status_code == 200
    assert first.json()["readTime"] is not None
    assert first.json()["lastUpdatedUserId"] == str(bob.id)
    again = his.put(f"notifications/{row.id}/read")
    assert (again.json(), again["ETag"]) == (first.json(), first["ETag"])
    assert AuditEntry.objects.filter(action="notification.read").count() == 1


def test_unreadable_notification_is_not_found(
    sign_in_browser, alice, bob, acme, globex, globex_api, carol, create_notification
):
    hers = create_notification(alice)
    theirs = create_notification(carol, company=globex)
    his = sign_in_browser(bob, acme)
    answers = [his.put(f"notifications/{row}/read") for row in (hers.id, theirs.id, UNKNOWN_ID, "x")]
    answers.append(globex_api.put(f"notifications/{hers.id}/read"))
    bodies = [
        {name: value for name, value in answer.json().items() if name not in {"instance", "requestId"}}
        for answer in answers
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert all(body == bodies[0] for body in bodies)
    assert not Notification.objects.read().exists()


def test_manage_permission_marks_notifications_of_others_as_read(sign_in_browser, ann, bob, acme, create_notification):
    row = create_notification(bob)
    assert sign_in_browser(ann, acme).put(f"notifications/{row.id}/read").status_code == 200


def test_stale_read_is_rejected(sign_in_browser, bob, acme, create_notification):
    row = create_notification(bob)
    his = sign_in_browser(bob, acme)
    assert his.put(f"notifications/{row.id}/read", if_match='"other"').status_code == 412
    assert not Notification.objects.read().exists()


def test_read_all_marks_own_notifications_as_read(sign_in_browser, alice, bob, acme, create_notification):
    for _ in range(3):
        row = create_notification(bob)
    create_notification(alice)
    his = sign_in_browser(bob, acme)
    first = his.put(f"notifications/{row.id}/read").json()
    assert his.post("notifications/read_all").json() == {"success": True, "readCount": 2}
    assert his.post("notifications/read_all").json() == {"success": True, "readCount": 0}
    assert Notification.objects.unread().get().recipient == alice
    assert his.get("notifications").json()[0]["readTime"] == first["readTime"]
    assert AuditEntry.objects.get(action="notification.allRead").after == {"read_count": 2}


def test_batch_delete_deletes_own_notifications_and_ignores_others(
    sign_in_browser, alice, bob, acme, globex, carol, create_notification
):
    mine, hers, theirs = (
        create_notification(bob),
        create_notification(alice),
        create_notification(carol, company=globex),
    )
    ids = [str(mine.id), str(mine.id), str(hers.id), str(theirs.id), UNKNOWN_ID, "nonsense", ""]
    answer = sign_in_browser(bob, acme).post("notifications/batch_delete", {"notificationIds": [i for i in ids if i]})
    assert answer.json() == {"success": True, "deletedCount": 1}
    assert set(Notification.objects.values_list("id", flat=True)) == {hers.id, theirs.id}
    assert AuditEntry.objects.get(action="notification.deleted").after == {"deleted_count": 1}


def test_manage_permission_deletes_notifications_within_own_company_only(
    api, alice, bob, globex, carol, create_notification
):
    ids = [str(create_notification(user).id) for user in (alice, bob)]
    theirs = create_notification(carol, company=globex)
    answer = api.post("notifications/batch_delete", {"notificationIds": [*ids, str(theirs.id)]})
    assert answer.json()["deletedCount"] == 2
    assert Notification.objects.get() == theirs


def test_invalid_batch_delete_is_rejected_and_nothing_is_deleted(api, bob, create_notification):
    create_notification(bob)
    for body, pointer, code in [
        ({}, "#/notificationIds", "required"),
        ({"notificationIds": "all"}, "#/notificationIds", "invalid_value"),
        ({"notificationIds": [7]}, "#/notificationIds/0", "invalid_value"),
        ({"notificationIds": [UNKNOWN_ID] * 10_001}, "#/notificationIds", "too_long"),
        ({"notificationIds": ["no id"] * 10_001}, "#/notificationIds", "too_long"),
    ]:
        answer = api.post("notifications/batch_delete", body)
        assert answer.status_code == 400, body
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], body
        assert Notification.objects.count() == 1, body


def test_batch_delete_handles_ten_thousand_notifications(api, bob, acme, audit_context, django_assert_max_num_queries):
    rows = [
        Notification(company=acme, type="import.finished", recipient=bob, payload={}).mark_created(audit_context)
        for _ in range(10_000)
    ]
    Notification.objects.bulk_create(rows)
    with django_assert_max_num_queries(12):
        answer = api.post("notifications/batch_delete", {"notificationIds": [str(row.id) for row in rows]})
    assert answer.json()["deletedCount"] == 10_000


# ------------------------------------------------------------------------------------------------- who is told what


def list_recipients_by_type() -> dict[str, set[str]]:
    """Type → e-mails of those who were told."""
    result: dict[str, set[str]] = {}
    for row in Notification.objects.select_related("recipient"):
        result.setdefault(row.type, set()).add(row.recipient.email)
    return result


def test_acting_user_is_notified(sign_in_browser, alice, ann, acme):
    hers = sign_in_browser(ann, acme)
    assert hers.post("api_keys", {"name": "ci", "permissions": ["accounts:read"]}).status_code == 201
    assert list_recipients_by_type() == {"apiKey.created": {"ann@acme.example"}}
    payload = Notification.objects.get(type="apiKey.created").payload
    assert payload["title"] == "API key “ci” created"
    assert payload["link"].endswith(f"/app/companies/{acme.id}/settings/api-keys")


def test_owners_and_admins_are_notified_of_new_members(api, invite_member, alice, ann, bob, acme):
    invite_member(api, "new@acme.example", role="admin").accept()
    owners = set(Membership.objects.for_company(acme.id).owners().values_list("user__email", flat=True))
    assert list_recipients_by_type() == {"member.joined": {"ann@acme.example", "alice@acme.example"} | owners}


def test_inactive_users_are_not_notified(api, invite_member, alice, acme):
    alice.is_active = False
    alice.save()
    invite_member(api, "new@acme.example").accept()
    assert "alice@acme.example" not in list_recipients_by_type()["member.joined"]


def test_owners_are_notified_of_api_keys_whose_creator_left(sign_in_browser, alice, ann, acme):
    sign_in_browser(ann, acme).post("api_keys", {"name": "ci", "permissions": ["accounts:read"]})
    Notification.objects.all().delete()
    membership = Membership.objects.for_company(acme.id).get(user=ann)
    assert sign_in_browser(alice, acme).delete(f"members/{membership.id}").status_code == 200
    owners = set(Membership.objects.for_company(acme.id).owners().values_list("user__email", flat=True))
    assert list_recipients_by_type() == {"apiKey.creatorLeft": owners}


def test_connecting_and_revoking_an_app_sends_notifications(acme, alice, audit_context):
    consent = SimpleNamespace(
        id=uuid4(), company_id=acme.id, user=alice, application=SimpleNamespace(name="Robot"), scopes=["svc:read"]
    )
    hers = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    notify.notify_app_connected(consent=consent, context=hers)
    notify.notify_app_revoked(consent=consent, context=hers)
    assert list_recipients_by_type() == {"app.connected": {"alice@acme.example"}, "app.revoked": {"alice@acme.example"}}
    assert Notification.objects.get(type="app.connected").payload["entityId"] == str(consent.id)


def test_import_notifications_contain_counts(acme, alice, audit_context):
    hers = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    batch = uuid4()
    notify.notify_import_finished(
        company_id=acme.id, context=hers, import_id=batch, count=5, skipped_before_data_start=2, duplicates=1
    )
    notify.notify_import_undone(company_id=acme.id, context=hers, import_id=batch, deleted_count=5, changed_count=1)
    (finished,) = Notification.objects.filter(type="import.finished")
    assert finished.payload["entityId"] == str(batch)
    assert (finished.payload["count"], finished.payload["duplicates"]) == (5, 1)
    assert Notification.objects.get(type="import.undone").payload["changedCount"] == 1


def test_import_notification_names_the_file(acme, alice, audit_context):
    hers = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    counts = {"count": 5, "skipped_before_data_start": 0, "duplicates": 0}
    notify.notify_import_finished(company_id=acme.id, context=hers, import_id=uuid4(), filename="march.csv", **counts)
    payload = Notification.objects.get(type="import.finished").payload
    assert (payload["filename"], payload["body"]) == ("march.csv", "5 transactions saved. File: march.csv")


def test_lasting_problem_is_notified_once_until_read(acme, alice, audit_context):
    facts = {"day": date(2026, 3, 1), "amount": Decimal("-5.00"), "currency": "EUR"}
    mismatch = {"account_name": "Main", "reported": Decimal(1), "calculated": Decimal(2), "currency": "EUR"}
    mismatch["day"] = date(2026, 2, 28)
    one, other = uuid4(), uuid4()
    people = len(notify.list_manager_ids(acme.id, Permission.BALANCES_READ))
    for _ in range(2):
        notify.notify_cash_below_zero(company_id=acme.id, context=audit_context, **facts)
        for account in (one, other):
            notify.notify_balance_mismatch(company_id=acme.id, context=audit_context, account_id=account, **mismatch)
    assert Notification.objects.filter(type="cash.belowZero").count() == people
    assert Notification.objects.filter(type="balance.mismatch").count() == 2 * people
    another = mismatch | {"day": date(2026, 3, 31)}
    notify.notify_balance_mismatch(company_id=acme.id, context=audit_context, account_id=one, **another)
    assert Notification.objects.filter(type="balance.mismatch").count() == 3 * people
    Notification.objects.update(read_time=datetime.now(tz=UTC))
    notify.notify_cash_below_zero(company_id=acme.id, context=audit_context, **facts)
    assert Notification.objects.filter(type="cash.belowZero").count() == 2 * people


def test_all_recipients_are_notified_with_constant_queries(acme, alice, ann, audit_context, django_assert_num_queries):
    with django_assert_num_queries(3):  # who, the rows, and to whom by mail too
        notify.notify_import_undone(company_id=acme.id, context=audit_context, import_id=uuid4(), deleted_count=5)


def test_unknown_notification_type_cannot_be_stored(acme, alice, audit_context):
    with pytest.raises(IntegrityError), transaction.atomic():
        Notification(company=acme, type="gossip", recipient=alice, payload={}).mark_created(audit_context).save()


@pytest.mark.parametrize(
    ("counts", "title", "body"),
    [
        ((20_000, 0, 0), "20,000 transactions imported", "20,000 transactions saved."),
        ((1, 1, 0), "1 transaction imported", "1 transaction saved. 1 duplicate skipped."),
        (
            (0, 1_200, 3),
            "0 transactions imported",
            "0 transactions saved. 1,200 duplicates skipped. 3 are before the data start date.",
        ),
    ],
)
def test_import_message_mentions_only_nonzero_counts(acme, audit_context, alice, counts, title, body):
    hers = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    count, duplicates, too_old = counts
    notify.notify_import_finished(
        company_id=acme.id,
        context=hers,
        import_id=uuid4(),
        count=count,
        duplicates=duplicates,
        skipped_before_data_start=too_old,
    )
    payload = Notification.objects.get(type="import.finished").payload
    assert (payload["title"], payload["body"]) == (title, body)


def test_message_formats_amounts_and_dates_as_on_pages(acme, alice, audit_context):
    hers = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id)
    day, amount = date(2026, 12, 5), Decimal("-1234.5")
    notify.notify_cash_below_zero(company_id=acme.id, context=hers, day=day, amount=amount, currency="EUR")
    body = Notification.objects.get(type="cash.belowZero").payload["body"]
    assert body == "Forecast cash on 5 Dec 2026: −€1,234.50."


def test_notification_links_to_page_where_action_is_possible(acme, alice, audit_context):
    hers, account = AuditContext(time=audit_context.time, actor=str(alice.id), user_id=alice.id), uuid4()
    factories.make_member(acme, "new@acme.example")
    notify.notify_member_joined(membership=Membership.objects.for_company(acme.id).latest("id"), context=hers)
    notify.notify_balance_mismatch(
        company_id=acme.id,
        context=hers,
        account_id=account,
        account_name="Main",
        reported=Decimal("1.00"),
        calculated=Decimal("2.00"),
        currency="EUR",
        day=date(2026, 2, 28),
    )
    links = {row.type: row.payload["link"].partition(f"/companies/{acme.id}")[2] for row in Notification.objects.all()}
    assert links["member.joined"] == "/settings/members"
    assert links["balance.mismatch"] == f"/accounts/{account}"


def test_admin_with_narrow_permissions_gets_no_forbidden_notifications(acme, alice, audit_context):
    """The label alone tells nothing: a membership may carry its own list of permissions."""
    narrow = factories.make_member(acme, "narrow@acme.example", role=Role.ADMIN, permissions=["accounts:read"])
    admin = factories.make_member(acme, "admin@acme.example", role=Role.ADMIN)
    notify.notify_cash_below_zero(
        company_id=acme.id, context=audit_context, day=date(2026, 3, 1), amount=Decimal(-5), currency="EUR"
    )
    recipients = set(Notification.objects.for_company(acme.id).values_list("recipient_id", flat=True))
    assert {alice.id, admin.id} <= recipients
    assert narrow.id not in recipients
