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


@pytest.fixture(scope="module")
def northwind(make_demo_company):
    with make_demo_company(name="Northwind", now=timezone.now(), **SIZE) as access:
        yield access


@pytest.fixture
def demo_company(northwind):
    return Company.objects.get(id=northwind.company_id)


@pytest.fixture
def demo_owner(demo_company, sign_in_browser):
    """The browser of the demo company's owner."""
    return sign_in_browser(User.objects.get(email="demo@example.com"), demo_company).client


def build_company_path(company, path=""):
    return f"/app/companies/{company.id}{path}"


RESET = "/settings/reset"


def test_demo_reset_by_owner_restores_original_data(demo_company, demo_owner):
    made = describe_demo(demo_company.id)
    stays = [
        list(rows.for_company(demo_company.id).order_by("id").values()) for rows in (Membership.objects, ApiKey.objects)
    ]
    logged = set(AuditEntry.objects.for_company(demo_company.id).values_list("id", flat=True))
    papers = [row.storage_path for row in File.objects.for_company(demo_company.id)]
    Transaction.objects.for_company(demo_company.id).filter(source="initialBalance").update(description="Mine")
    PlannedTransaction.objects.for_company(demo_company.id).update(name="Mine")
    changed = {"name": "Mine", "baseCurrency": "USD", "dataStartDate": "2026-11-01", "timeZone": "Asia/Tokyo"}
    demo_owner.post(build_company_path(demo_company, "/settings"), changed)
    query, count = (
        demo_owner.get(build_company_path(demo_company, RESET)),
        Transaction.objects.for_company(demo_company.id).count(),
    )
    assert f"This deletes all {count} transactions" in text(query)
    assert Transaction.objects.for_company(demo_company.id).filter(description="Mine").exists(), (
        "to look changes nothing"
    )
    answer = demo_owner.post(build_company_path(demo_company, RESET), follow=True)
    assert answer.redirect_chain[-1][0] == build_company_path(demo_company)
    assert "Mine was reset." in text(answer)
    assert describe_demo(demo_company.id) == made
    demo_company.refresh_from_db()
    assert (demo_company.name, demo_company.base_currency, demo_company.data_start_date) == ("Mine", "EUR", None)
    assert stays == [
        list(rows.for_company(demo_company.id).order_by("id").values()) for rows in (Membership.objects, ApiKey.objects)
    ]
    entries = AuditEntry.objects.for_company(demo_company.id)
    assert logged < set(entries.values_list("id", flat=True))
    (entry,) = entries.filter(action="company.reset")
    assert (entry.actor, entry.before["transaction"]) == (str(User.objects.get(email="demo@example.com").id), count)
    changes = list_changes(demo_owner.get(build_company_path(demo_company, "/settings/activity?kind=company")))
    assert "Company reset" in [change.label for change in changes]
    assert not set(papers) & {row.storage_path for row in File.objects.for_company(demo_company.id)}
    call_command("rebuild_derived", check=True, company=str(demo_company.id), stdout=io.StringIO())


def test_failed_demo_reset_changes_nothing(demo_company, monkeypatch):
    made, accounts = (
        describe_demo(demo_company.id),
        set(Account.objects.for_company(demo_company.id).values_list("id", flat=True)),
    )
    monkeypatch.setattr(reset, "fill_demo_company", raise_runtime_error)
    with pytest.raises(RuntimeError):
        reset.reset_demo_company(
            company=demo_company, context=factories.make_audit_context(), permissions=Role.OWNER.permissions
        )
    assert describe_demo(demo_company.id) == made
    assert set(Account.objects.for_company(demo_company.id).values_list("id", flat=True)) == accounts
    assert not AuditEntry.objects.for_company(demo_company.id).filter(action="company.reset").exists()


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


def test_demo_reset_is_rejected_for_other_companies(owner, acme, demo_company):
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


def test_demo_reset_is_rejected_for_read_only_company(demo_company):
    Company.objects.filter(id=demo_company.id).update(system_status="expired")
    with pytest.raises(CompanyExpired):
        reset.reset_demo_company(
            company=demo_company, context=AuditContext(time=timezone.now()), permissions=Role.OWNER.permissions
        )


def test_demo_overview_explains_reset_and_leave(demo_company, demo_owner, sign_in_browser):
    page_text = demo_owner.get(build_company_path(demo_company)).content.decode()
    for way in (
        "/app/companies/new",
        build_company_path(demo_company, RESET),
        build_company_path(demo_company, "/settings/leave"),
    ):
        assert f'href="{way}"' in page_text
    assert (
        build_company_path(demo_company, RESET)
        in demo_owner.get(build_company_path(demo_company, "/settings")).content.decode()
    )
    finn = sign_in_browser(User.objects.get(email="finn.finance@example.com"), demo_company).client
    page_text = finn.get(build_company_path(demo_company)).content.decode()
    assert build_company_path(demo_company, RESET) not in page_text, "its owners alone put it back"
    assert build_company_path(demo_company, "/settings/leave") in page_text
    left = finn.post(build_company_path(demo_company, "/settings/leave"), follow=True)
    assert "You left Northwind." in text(left)


def test_last_demo_owner_is_led_to_members_page_instead_of_leaving(demo_company, demo_owner, sign_in_browser, acme):
    page_text = demo_owner.get(build_company_path(demo_company, "/settings/leave")).content.decode()
    assert f'href="{build_company_path(demo_company, "/settings/members")}"' in page_text
    assert 'type="submit">Leave' not in page_text
    finn = sign_in_browser(User.objects.get(email="finn.finance@example.com"), demo_company).client
    assert 'type="submit">Leave' in finn.get(build_company_path(demo_company, "/settings/leave")).content.decode()


def test_closed_months_are_reset_too(demo_company, audit_context):
    made = describe_demo(demo_company.id)
    month = add_months(get_first_day_of_month(get_today(demo_company, audit_context.time)), -1)
    close_months(company=demo_company, context=audit_context, month=month, acknowledge=True)
    assert Company.objects.get(id=demo_company.id).closed_through == get_last_day_of_month(month)
    reset.reset_demo_company(company=demo_company, context=audit_context, permissions=ALL_PERMISSIONS)
    assert describe_demo(demo_company.id) == made
    assert not Closing.objects.for_company(demo_company.id).exists()
    assert Company.objects.get(id=demo_company.id).closed_through is None
    close_months(company=demo_company, context=audit_context, month=month, acknowledge=True)
