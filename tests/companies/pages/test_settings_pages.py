"""The pages of a company's own facts, its members and its log."""

import io
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from uuid import uuid4

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from PIL import Image

from companies import change
from companies.models import ApiKey, AuditContext, AuditEntry, Company, Membership
from companies.permissions import Role
from notifications.models import Notification
from notifications.notify import notify_import_finished
from tests import factories
from tests.change_tables import list_changes

pytestmark = pytest.mark.django_db


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/{path}".rstrip("/")


def build_company_form(company, **changes):
    """The form as it is shown."""
    company.refresh_from_db()
    shown = {"name": company.name, "domain": company.domain or "", "baseCurrency": company.base_currency}
    shown |= {"timeZone": company.time_zone}
    shown |= {"dataStartDate": company.data_start_date or "", "valuationCategory": "", "valuationLens": ""}
    return shown | changes


def build_png(size=(8, 8)):
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, "PNG")
    return out.getvalue()


# ---------------------------------------------------------------------------------------------- starting


def test_user_without_company_can_create_one_and_becomes_owner(client, db):
    person = factories.UserFactory(email="new@example.com")
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    assert b'href="/app/companies/new"' in client.get("/app/").content
    answer = client.post("/app/companies/new", {"name": "Initrode", "baseCurrency": "CHF", "domain": ""}, follow=True)
    company = Company.objects.get(name="Initrode")
    assert answer.redirect_chain == [(build_page_path(company), 303)]
    assert (company.base_currency, company.domain) == ("CHF", None)
    assert Membership.objects.for_company(company.id).get().role == Role.OWNER
    assert (
        AuditEntry.objects.for_company(company.id).filter(action="company.created", actor=str(person.pk)).count() == 1
    )


@pytest.mark.parametrize(
    ("field", "value"), [("name", ""), ("name", "x" * 201), ("baseCurrency", "XXX"), ("domain", "not a domain")]
)
def test_invalid_company_creation_shows_field_error(owner, field, value):
    answer = owner.post(
        "/app/companies/new", {"name": "Initrode", "baseCurrency": "EUR", "domain": ""} | {field: value}
    )
    assert answer.status_code == 400
    assert f'id="{field}-error"' in answer.content.decode()
    assert not Company.objects.filter(base_currency="EUR", name="Initrode").exists()


# ---------------------------------------------------------------------------------------------- facts


def test_company_settings_form_changes_only_shown_fields(owner, acme):
    before = build_company_form(acme)
    answer = owner.post(build_page_path(acme, "settings"), before | {"name": "Acme Corp", "plShowAllCategories": "on"})
    assert (answer.status_code, answer["Location"]) == (303, build_page_path(acme, "settings"))
    assert build_company_form(acme) == before | {"name": "Acme Corp"}
    assert (acme.pl_show_all_categories, acme.pl_recognize_revenue_on_invoice) == (True, False)
    entry = AuditEntry.objects.for_company(acme.id).get(action="company.updated")
    assert entry.after == {"name": "Acme Corp", "pl_show_all_categories": True}


def test_invalid_company_settings_show_field_error_and_are_not_saved(owner, acme):
    for field, value in [
        ("name", ""),
        ("domain", "nonsense"),
        ("baseCurrency", "XXX"),
        ("dataStartDate", "tomorrow"),
        ("timeZone", "Mars"),
    ]:
        answer = owner.post(
            build_page_path(acme, "settings"), build_company_form(acme, **{"name": "Other", field: value})
        )
        text = answer.content.decode()
        assert answer.status_code == 400, field
        assert f'id="{field}-error"' in text
        assert f'aria-describedby="{field}-error"' in text
        assert Company.objects.get(id=acme.id).name == "Acme", field


@pytest.mark.parametrize(
    ("language", "typed", "stored", "shown"),
    [
        ("en", "19", "19", "19"),
        ("en", "25.5 %", "25.5", "25.5"),
        ("de", "8,1", "8.1", "8,1"),
        ("en", "0", "0", "0"),
        ("en", "", None, ""),
    ],
)
def test_standard_vat_rate_is_saved_and_shown_as_typed(owner, acme, language, typed, stored, shown):
    headers = {"accept-language": language}
    form = build_company_form(acme, standardTaxPercent=typed)
    assert owner.post(build_page_path(acme, "settings"), form, headers=headers).status_code == 303
    acme.refresh_from_db()
    assert acme.standard_tax_percent == (None if stored is None else Decimal(stored))
    page = owner.get(build_page_path(acme, "settings"), headers=headers).content.decode()
    assert f'name="standardTaxPercent" inputmode="decimal" size="5" placeholder="%" value="{shown}"' in page


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("much", "Enter a percentage, such as 19 %."),
        ("101", "Must be between 0 and 100."),
        ("-1", "Enter a percentage"),
    ],
)
def test_invalid_standard_vat_rate_shows_field_error(owner, acme, typed, message):
    form = build_company_form(acme, standardTaxPercent=typed)
    answer = owner.post(build_page_path(acme, "settings"), form)
    assert answer.status_code == 400
    text = answer.content.decode()
    assert 'id="standardTaxPercent-error"' in text
    assert message in text
    assert f'value="{typed}"' in text


def test_history_names_the_standard_vat_rate(owner, acme):
    owner.post(build_page_path(acme, "settings"), build_company_form(acme, standardTaxPercent="25.5"))
    change, *_ = list_changes(owner.get(build_page_path(acme, "settings/activity")))
    assert change.fields == {"Standard VAT rate": ("—", "25.5%")}


def test_admin_cannot_change_base_currency(sign_in_browser, acme):
    admin = sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme).client
    text = admin.get(build_page_path(acme, "settings")).content.decode()
    assert '<select id="baseCurrency" name="baseCurrency" disabled' in text
    assert (
        admin.post(
            build_page_path(acme, "settings"), build_company_form(acme, baseCurrency="USD", name="Acme Ltd")
        ).status_code
        == 303
    )
    assert build_company_form(acme)["baseCurrency"] == "EUR"
    assert acme.name == "Acme Ltd"


def test_viewer_sees_read_only_company_settings(sign_in_browser, bob, acme):
    viewer = sign_in_browser(bob, acme).client
    text = viewer.get(build_page_path(acme, "settings")).content.decode()
    assert '<fieldset disabled class="stack"' in text
    assert ">Save<" not in text
    assert viewer.post(build_page_path(acme, "settings"), build_company_form(acme)).status_code == 403


def test_logo_can_be_uploaded_and_removed_on_settings_page(owner, acme):
    upload = SimpleUploadedFile("anything.txt", build_png(), content_type="text/plain")
    assert owner.post(build_page_path(acme, "settings/logo"), {"logo": upload}).status_code == 303
    acme.refresh_from_db()
    assert acme.custom_logo_path.startswith("logos/")
    owner.post(build_page_path(acme, "settings/logo"), {"remove": "1"})
    acme.refresh_from_db()
    assert acme.custom_logo_path is None


@pytest.mark.parametrize("content", [b"GIF89a", b"", b"\0" * (512 * 1024 + 1), build_png((5000, 1))])
def test_invalid_logo_upload_shows_error_and_changes_nothing(owner, acme, content):
    upload = SimpleUploadedFile("logo.png", content, content_type="image/png")
    answer = owner.post(build_page_path(acme, "settings/logo"), {"logo": upload}, follow=True)
    assert "notice error" in answer.content.decode()
    acme.refresh_from_db()
    assert acme.custom_logo_path is None


# ---------------------------------------------------------------------------------------------- members


def test_invited_member_can_be_changed_and_removed(owner, acme, mailoutbox, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert (
            owner.post(
                build_page_path(acme, "settings/members"), {"email": "new@x.example", "role": "editor"}
            ).status_code
            == 303
        )
    member = Membership.objects.for_company(acme.id).get(invited_email="new@x.example")
    assert (member.role, [mail.to for mail in mailoutbox]) == (Role.EDITOR, [["new@x.example"]])
    owner.post(build_page_path(acme, f"settings/members/{member.id}"), {"role": "viewer"})
    member.refresh_from_db()
    assert member.role == Role.VIEWER
    owner.post(build_page_path(acme, f"settings/members/{member.id}/remove"))
    assert not Membership.objects.filter(company=acme, id=member.id).exists()


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"email": "nobody", "role": "viewer"}, 'id="email-error"'),
        ({"email": "x@x.example", "role": "king"}, 'id="role-error"'),
        ({"email": "bob@acme.example", "role": "viewer"}, "This person is already a member."),
    ],
)
def test_duplicate_or_invalid_invitation_is_rejected(owner, acme, bob, sent, place):
    before = Membership.objects.for_company(acme.id).count()
    answer = owner.post(build_page_path(acme, "settings/members"), sent)
    assert answer.status_code == 400
    assert place in answer.content.decode()
    assert Membership.objects.for_company(acme.id).count() == before


def test_last_owner_cannot_be_demoted_or_removed(owner, acme, alice):
    for other in Membership.objects.for_company(acme.id).owners().exclude(user=alice):
        other.delete()
    mine = Membership.objects.for_company(acme.id).get(user=alice)
    for path, sent in ((f"settings/members/{mine.id}", {"role": "viewer"}), (f"settings/members/{mine.id}/remove", {})):
        answer = owner.post(build_page_path(acme, path), sent, follow=True)
        assert "A company needs at least one owner. Make another member an owner first." in answer.content.decode()
    mine.refresh_from_db()
    assert mine.role == Role.OWNER


def test_admin_cannot_make_owner(sign_in_browser, acme, bob):
    admin = sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme).client
    member = Membership.objects.for_company(acme.id).get(user=bob)
    admin.post(build_page_path(acme, f"settings/members/{member.id}"), {"role": "owner"})
    member.refresh_from_db()
    assert member.role == Role.VIEWER


def test_custom_permissions_are_replaced_only_by_another_role(owner, acme):
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["accounts:read"])
    member = Membership.objects.for_company(acme.id).get(user=dan)
    assert (
        "Changing the role resets custom permissions."
        in owner.get(build_page_path(acme, "settings/members")).content.decode()
    )
    for role, permissions, answers in (
        ("viewer", ["accounts:read"], "dan@acme.example is now viewer."),
        ("editor", None, "dan@acme.example is now editor with all permissions of that role."),
    ):
        answer = owner.post(build_page_path(acme, f"settings/members/{member.id}"), {"role": role}, follow=True)
        member.refresh_from_db()
        assert (member.role, member.permissions) == (role, permissions)
        assert answers in answer.content.decode()


# ---------------------------------------------------------------------------------------------- activity


def test_activity_page_shows_changes_and_is_paginated(owner, api, acme, django_assert_max_num_queries):
    for number in range(60):
        api.post("account_groups", {"name": f"Group {number}"})
    first = owner.get(build_page_path(acme, "settings/activity"))
    text = first.content.decode()
    changes = list_changes(first)
    assert len(changes) == 36
    assert changes[0][:2] == ("Account group created", "Group 59")
    assert "API key “test”" in text
    assert "Group 9<" not in text
    with django_assert_max_num_queries(14):
        second = owner.get(f"{build_page_path(acme, 'settings/activity')}?cursor={first.context['cursor']}")
    assert "Group 9<" in second.content.decode()
    assert owner.get(f"{build_page_path(acme, 'settings/activity')}?cursor=x").status_code == 400


def test_activity_page_shows_lists_and_booleans_as_text(owner, api, acme):
    owner.post(build_page_path(acme, "settings/api-keys/new"), {"name": "Nightly", "preset": "read", "expiry": "90"})
    api.post("categories", {"name": "Books", "plTypes": ["no", "pd"]})
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    assert api.put(f"accounts/{account}/archive").status_code == 200
    answer = owner.get(build_page_path(acme, "settings/activity"))
    archived, _, category, key = list_changes(answer)[:4]
    assert archived.fields == {"Archived": ("no", "yes")}
    assert category.fields["P&L lines"] == ("—", "Product development, Non-operating")
    assert (key.label, key.name.startswith("Nightly")) == ("API key created", True)
    text = unescape(answer.content.decode())
    assert "['" not in text
    assert "False" not in text


# ---------------------------------------------------------------------------------------------- notifications


@pytest.fixture
def notification(owner, acme, alice):
    """Alice's notification about a new API key."""
    sent = {"name": "Nightly", "preset": "read", "expiry": "90"}
    assert owner.post(build_page_path(acme, "settings/api-keys/new"), sent).status_code == 200
    return Notification.objects.for_company(acme.id).for_recipient(alice.pk).get()


def test_notification_bell_counts_unread(owner, acme, notification):
    assert '<span class="count">1' in owner.get(build_page_path(acme)).content.decode()
    owner.post(build_page_path(acme, "notifications"))
    assert '<span class="count">' not in owner.get(build_page_path(acme)).content.decode()


def test_notification_bell_does_not_count_own_imports(owner, acme, audit_context, alice):
    alices = AuditContext(time=audit_context.time, actor=str(alice.pk), user_id=alice.pk)
    counts = {"count": 5, "skipped_before_data_start": 0, "duplicates": 0}
    notify_import_finished(company_id=acme.id, context=alices, import_id=uuid4(), **counts)
    assert '<span class="count">' not in owner.get(build_page_path(acme)).content.decode()
    assert "5 transactions saved." in owner.get(build_page_path(acme, "notifications")).content.decode()
    notify_import_finished(company_id=acme.id, context=audit_context, import_id=uuid4(), **counts)
    assert '<span class="count">1' in owner.get(build_page_path(acme)).content.decode(), "what a key imported counts"


def test_opening_notification_marks_as_read_and_redirects_to_subject(owner, acme, notification):
    answer = owner.post(build_page_path(acme, f"notifications/{notification.id}/read"))
    assert answer["Location"].endswith("/settings/api-keys")
    notification.refresh_from_db()
    assert notification.read_time is not None


def test_notification_link_to_another_site_is_not_followed(owner, acme, notification):
    notification.payload["link"] = "https://evil.example/app/"
    notification.save(update_fields=["payload"])
    assert owner.post(build_page_path(acme, f"notifications/{notification.id}/read"))["Location"] == build_page_path(
        acme, "notifications"
    )


def test_notifications_of_another_user_cannot_be_read_or_deleted(sign_in_browser, acme, notification):
    other = sign_in_browser(factories.make_member(acme, "other@acme.example", role=Role.OWNER), acme).client
    assert notification.payload["title"] not in other.get(build_page_path(acme, "notifications")).content.decode()
    assert other.post(build_page_path(acme, f"notifications/{notification.id}/read")).status_code == 404
    other.post(build_page_path(acme, f"notifications/{notification.id}/delete"))
    notification.refresh_from_db()
    assert notification.read_time is None


def test_notification_can_be_deleted(owner, acme, notification):
    assert notification.payload["title"] in owner.get(build_page_path(acme, "notifications")).content.decode()
    owner.post(build_page_path(acme, f"notifications/{notification.id}/delete"))
    assert not Notification.objects.for_company(acme.id).exists()
    assert "No notifications" in owner.get(build_page_path(acme, "notifications")).content.decode()


# ---------------------------------------------------------------------------------------------- what every change does


def test_api_key_changes_update_the_company_time(owner, acme):
    for path in ("new", "roll", "revoke"):
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        Company.objects.filter(id=acme.id).update(last_overall_updated_time=long_ago)
        live = ApiKey.objects.for_company(acme.id).active(datetime.now(tz=UTC)).first()
        where = f"settings/api-keys/{path}" if path == "new" else f"settings/api-keys/{live.id}/{path}"
        owner.get("/app/")
        session = owner.session
        session["auth_time"] = datetime.now(tz=UTC).timestamp()
        session.save()
        sent = {"name": "x", "preset": "read", "expiry": "90", "overlap": "24"}
        assert owner.post(build_page_path(acme, where), sent).status_code in (200, 303)
        acme.refresh_from_db()
        assert acme.last_overall_updated_time > long_ago, path


def raise_deadlock(*_):
    raise OperationalError from psycopg.errors.DeadlockDetected()


def test_settings_change_that_lost_a_race_shows_error_message(owner, acme, monkeypatch):
    monkeypatch.setattr(change, "lock_company", raise_deadlock)
    answer = owner.post(build_page_path(acme, "settings"), build_company_form(acme, name="Other"))
    assert answer.status_code == 400
    assert "Another change was made at the same time. Try again." in answer.content.decode()


@pytest.mark.parametrize("path", ["", "/remove"])
def test_member_change_that_lost_a_race_shows_error_message(path, owner, acme, bob, monkeypatch):
    row = Membership.objects.for_company(acme.id).get(user=bob)
    monkeypatch.setattr(change, "lock_company", raise_deadlock)
    answer = owner.post(build_page_path(acme, f"settings/members/{row.id}{path}"), {"role": "editor"}, follow=True)
    assert "Another change was made at the same time. Try again." in answer.content.decode()
    assert Membership.objects.for_company(acme.id).get(user=bob).role == Role.VIEWER
