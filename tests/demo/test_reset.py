"""The demonstration company can be put back as it was made, and left; any other company's data is its own."""

import io

import pytest
from django.apps import apps
from django.core.management import call_command
from django.utils import timezone

from companies.actions.companies import CompanyExpired
from companies.errors import NotFoundError
from companies.models import ApiKey, AuditContext, AuditEntry, Company, Membership, User
from companies.permissions import ALL_PERMISSIONS, Role
from companies.time_zones import get_today
from demo import reset
from demo.actions import create_demo_company
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.closings.actions import close_months
from ledger.models import Account, Closing, File, Transaction
from notifications.models import Notification
from planning.models import PlannedTransaction
from tests import factories
from tests.change_tables import list_changes
from tests.demo.test_demo_company import describe_demo
from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db
SIZE = {"months": 3, "count": 200}


@pytest.fixture
def shown():
    return Company.objects.get(id=create_demo_company(name="Northwind", now=timezone.now(), **SIZE).company_id)


@pytest.fixture
def dana(shown, browser_of):
    """Its owner's browser."""
    return browser_of(User.objects.get(email="demo@example.com"), shown).client


def build_company_path(company, path=""):
    return f"/app/companies/{company.id}{path}"


RESET = "/settings/reset"


def test_demo_reset_by_owner_restores_original_data(shown, dana):
    made = describe_demo(shown.id)
    stays = [list(rows.for_company(shown.id).order_by("id").values()) for rows in (Membership.objects, ApiKey.objects)]
    logged = set(AuditEntry.objects.for_company(shown.id).values_list("id", flat=True))
    papers = [row.storage_path for row in File.objects.for_company(shown.id)]
    Transaction.objects.for_company(shown.id).filter(source="initialBalance").update(description="Mine")
    PlannedTransaction.objects.for_company(shown.id).update(name="Mine")
    changed = {"name": "Mine", "baseCurrency": "USD", "dataStartDate": "2026-11-01", "timeZone": "Asia/Tokyo"}
    dana.post(build_company_path(shown, "/settings"), changed)
    query, count = dana.get(build_company_path(shown, RESET)), Transaction.objects.for_company(shown.id).count()
    assert f"This deletes all {count} transactions" in text(query)
    assert Transaction.objects.for_company(shown.id).filter(description="Mine").exists(), "to look changes nothing"
    answer = dana.post(build_company_path(shown, RESET), follow=True)
    assert answer.redirect_chain[-1][0] == build_company_path(shown)
    assert "Mine was reset." in text(answer)
    assert describe_demo(shown.id) == made
    shown.refresh_from_db()
    assert (shown.name, shown.base_currency, shown.data_start_date) == ("Mine", "EUR", None)
    assert stays == [
        list(rows.for_company(shown.id).order_by("id").values()) for rows in (Membership.objects, ApiKey.objects)
    ]
    entries = AuditEntry.objects.for_company(shown.id)
    assert logged < set(entries.values_list("id", flat=True))
    (entry,) = entries.filter(action="company.reset")
    assert (entry.actor, entry.before["transaction"]) == (str(User.objects.get(email="demo@example.com").id), count)
    changes = list_changes(dana.get(build_company_path(shown, "/settings/activity?kind=company")))
    assert "Company reset" in [change.label for change in changes]
    assert not set(papers) & {row.storage_path for row in File.objects.for_company(shown.id)}
    call_command("rebuild_derived", check=True, company=str(shown.id), stdout=io.StringIO())


def test_failed_demo_reset_changes_nothing(shown, monkeypatch):
    made, accounts = describe_demo(shown.id), set(Account.objects.for_company(shown.id).values_list("id", flat=True))
    monkeypatch.setattr(reset, "fill_demo_company", raise_runtime_error)
    with pytest.raises(RuntimeError):
        reset.reset_demo_company(
            company=shown, context=factories.make_audit_context(), permissions=Role.OWNER.permissions
        )
    assert describe_demo(shown.id) == made
    assert set(Account.objects.for_company(shown.id).values_list("id", flat=True)) == accounts
    assert not AuditEntry.objects.for_company(shown.id).filter(action="company.reset").exists()


def raise_runtime_error(**_given):
    raise RuntimeError


def test_demo_reset_models_cover_all_company_data_except_access_and_log():
    owned = {model for model in apps.get_models() if any(each.name == "company" for each in model._meta.fields)}
    goes = reset.list_data_models()
    assert len(goes) == len(set(goes))
    assert {model._meta.label for model in owned - set(goes)} == {
        "companies.ApiKey", "companies.AuditEntry", "companies.FailedRequest", "companies.MaintenanceCheckpoint",
        "companies.Membership", "oauth.ConsentGrant", "webhooks.WebhookDelivery",
        "webhooks.WebhookEndpoint",
    }  # fmt: skip


def test_demo_reset_is_rejected_for_other_companies(owner, acme, shown):
    before = Notification.objects.count(), Transaction.objects.count()
    assert [
        owner.get(build_company_path(acme, RESET)).status_code,
        owner.post(build_company_path(acme, RESET)).status_code,
    ] == [404, 404]
    with pytest.raises(NotFoundError):
        reset.reset_demo_company(
            company=acme, context=factories.make_audit_context(), permissions=Role.OWNER.permissions
        )
    assert (Notification.objects.count(), Transaction.objects.count()) == before
    assert RESET not in owner.get(build_company_path(acme, "/settings")).content.decode()
    shown_page = owner.get(build_company_path(acme)).content.decode()
    assert "demonstration" not in shown_page
    assert "demo company" not in shown_page.lower()


def test_demo_reset_is_rejected_for_read_only_company(shown):
    Company.objects.filter(id=shown.id).update(system_status="expired")
    with pytest.raises(CompanyExpired):
        reset.reset_demo_company(
            company=shown, context=AuditContext(time=timezone.now()), permissions=Role.OWNER.permissions
        )


def test_demo_overview_explains_reset_and_leave(shown, dana, browser_of):
    page_text = dana.get(build_company_path(shown)).content.decode()
    for way in ("/app/companies/new", build_company_path(shown, RESET), build_company_path(shown, "/settings/leave")):
        assert f'href="{way}"' in page_text
    assert build_company_path(shown, RESET) in dana.get(build_company_path(shown, "/settings")).content.decode()
    finn = browser_of(User.objects.get(email="finn.finance@example.com"), shown).client
    page_text = finn.get(build_company_path(shown)).content.decode()
    assert build_company_path(shown, RESET) not in page_text, "its owners alone put it back"
    assert build_company_path(shown, "/settings/leave") in page_text
    left = finn.post(build_company_path(shown, "/settings/leave"), follow=True)
    assert "You left Northwind." in text(left)


def test_last_demo_owner_is_led_to_members_page_instead_of_leaving(shown, dana, browser_of, acme):
    page_text = dana.get(build_company_path(shown, "/settings/leave")).content.decode()
    assert f'href="{build_company_path(shown, "/settings/members")}"' in page_text
    assert 'type="submit">Leave' not in page_text
    finn = browser_of(User.objects.get(email="finn.finance@example.com"), shown).client
    assert 'type="submit">Leave' in finn.get(build_company_path(shown, "/settings/leave")).content.decode()


def test_closed_months_are_reset_too(shown, audit_context):
    made = describe_demo(shown.id)
    month = add_months(get_first_day_of_month(get_today(shown, audit_context.time)), -1)
    close_months(company=shown, context=audit_context, month=month, acknowledge=True)
    assert Company.objects.get(id=shown.id).closed_through == get_last_day_of_month(month)
    reset.reset_demo_company(company=shown, context=audit_context, permissions=ALL_PERMISSIONS)
    assert describe_demo(shown.id) == made
    assert not Closing.objects.for_company(shown.id).exists()
    assert Company.objects.get(id=shown.id).closed_through is None
    close_months(company=shown, context=audit_context, month=month, acknowledge=True)
