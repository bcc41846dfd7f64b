"""What becomes of a company whose trial or subscription ends: over HTTP, on its pages, and by the daily command."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from companies.actions.companies import update_company
from companies.models import AuditContext, AuditEntry, Company, SystemStatus
from ledger.models import Account

pytestmark = pytest.mark.django_db
EXPIRED_RESPONSE = (403, "company_expired")


def change_status(company, *ways):
    for status in ways:
        stored = Company.objects.get(id=company.id)
        update_company(
            company=stored,
            context=AuditContext(time=datetime.now(tz=UTC)),
            permissions=frozenset(),
            values={"system_status": status},
        )


def get_status_and_code(answer):
    return answer.status_code, answer.json().get("code")


@pytest.mark.parametrize("ways", [("expired",), ("paid", "cancelled")])
def test_expired_or_cancelled_company_is_read_only(api, acme, ways):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    change_status(acme, *ways)
    assert [row["id"] for row in api.get("accounts").json()] == [account]
    assert api.post("data/accountBalanceByAccount", {"startDate": "2026-01-01", "endDate": "2026-01-31"}).json()
    for answer in (
        api.post("accounts", {"type": "bank", "name": "Another"}),
        api.post("accounts", {}),
        api.put(f"accounts/{account}", {"name": "Renamed"}),
        api.put("accounts/nobody", {"name": "Renamed"}),
        api.delete(f"accounts/{account}"),
        api.post("transactions/import", {"transactions": [], "dryRun": True}),
        api.post("members", {"email": "new@acme.example", "role": "viewer"}),
        api.post("api_keys", {"name": "x", "permissions": ["accounts:read"]}),
        api.put("", {"name": "Renamed"}),
        api.put("logo", {"imageBase64": "x"}),
    ):
        assert get_status_and_code(answer) == EXPIRED_RESPONSE, answer.content
    assert Account.objects.get().name == "Main"
    change_status(acme, "paid")
    assert api.put(f"accounts/{account}", {"name": "Renamed"}).status_code == 200


def test_expired_company_settings_can_be_changed(api, make_api, acme):
    change_status(acme, "expired")
    assert api.put("", {"dataStartDate": "2026-01-01"}).json()["dataStartDate"] == "2026-01-01"
    assert get_status_and_code(api.put("", {"dataStartDate": "2026-02-01", "name": "Renamed"})) == EXPIRED_RESPONSE
    writer = make_api(acme, "company:read", "company:write")
    assert get_status_and_code(writer.put("", {"dataStartDate": "2026-02-01"}))[0] == 403
    assert api.get("").json()["dataStartDate"] == "2026-01-01"


def test_missing_permission_is_reported_before_expiry(make_api, acme):
    change_status(acme, "expired")
    assert get_status_and_code(make_api(acme, "accounts:read").post("accounts", {})) == (403, "permission_denied")


def test_expiry_time_is_set_only_while_expired(api, acme):
    for ways, remaining in ((("paid", "cancelled"), False), (("expired",), True), (("paid",), False)):
        change_status(acme, *ways)
        assert (api.get("").json()["systemExpiredAt"] is not None) is remaining


@pytest.mark.parametrize("ends_as", ["free", "expired"])
def test_trial_ends_when_its_time_is_over(api, acme, globex, globex_api, settings, ends_as):
    settings.TRIAL_ENDS_AS = ends_as
    over = datetime.now(tz=UTC) - timedelta(minutes=1)
    Company.objects.filter(id=acme.id).update(system_trial_until=over)
    for _ in range(2):
        call_command("refresh_metrics")
    body = api.get("").json()
    assert body["systemStatus"] == ends_as
    assert (body["systemExpiredAt"] is not None) is (ends_as == "expired")
    assert globex_api.get("").json()["systemStatus"] == "trial"
    (entry,) = AuditEntry.objects.for_company(acme.id).filter(action="company.updated")
    assert (entry.before["system_status"], entry.after["system_status"]) == ("trial", ends_as)


def test_daily_command_keeps_trials_without_end_and_other_statuses(acme, globex):
    Company.objects.filter(id=acme.id).update(system_trial_until=None)
    over = datetime.now(tz=UTC) - timedelta(days=1)
    Company.objects.filter(id=globex.id).update(system_status="paid", system_trial_until=over)
    call_command("refresh_metrics")
    assert Company.objects.get(id=acme.id).system_status == SystemStatus.TRIAL
    assert Company.objects.get(id=globex.id).system_status == SystemStatus.PAID


def test_company_created_on_command_line_is_free(db, capsys):
    call_command("create_company", name="Initech", currency="EUR", owner="o@initech.example")
    company = Company.objects.get(id=capsys.readouterr().out.strip())
    assert (company.system_status, company.system_trial_until) == (SystemStatus.FREE, None)


# ---------------------------------------------------------------------------------------------- pages


def test_read_only_company_pages_show_notice_and_no_forms(sign_in_browser, alice, api, acme):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    client, base = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    assert "is read-only" not in client.get(f"{base}/accounts").content.decode()
    change_status(acme, "expired")
    for path in ("", "/accounts", f"/accounts/{account}", "/transactions", "/planned", "/settings"):
        html = client.get(base + path).content.decode()
        assert "Acme is read-only" in html, path
        posted = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', html)
        assert posted == ["/app/sign-out"], path
        assert "/accounts/new" not in html


def test_read_only_company_rejects_submitted_forms_with_reason(sign_in_browser, alice, api, acme):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    client, base = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    change_status(acme, "expired")
    for answer in (
        client.get(f"{base}/accounts/new"),
        client.post(f"{base}/accounts/{account}/archive"),
        client.post(f"{base}/settings/members", {"email": "x@acme.example", "role": "viewer"}),
    ):
        assert answer.status_code == 403
        assert "This company is read-only because its trial or subscription has ended." in answer.content.decode()
    assert not Account.objects.get().archived
