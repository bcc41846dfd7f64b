"""A company's own facts: every field, who may change them, and what moves with them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from companies.models import STATUS_TRANSITIONS, AuditEntry, Company, Currency, SystemStatus
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

FIELDS = {
    "id", "datastoreId", "name", "baseCurrency", "domain", "customLogoPath", "lastOverallUpdatedTime",
    "plShowPlanningPercentageForPastMonths", "plShowAllCategories", "plRecognizeRevenueOnInvoice", "autoCategorize",
    "requireSecondFactor", "dataStartDate", "standardTaxPercent", "timeZone", "testToday", "closedThrough",
    "valuationCategory", "valuationLens", "systemStatus", "systemTrialUntil", "systemExpiredAt",
    "systemDeletionWarning", "systemSandboxExpireTime", "systemDeletionScheduledTime", "systemPaymentProvider",
    "systemTierOverageSince", "computedCommittedMrrEur", "computedActiveCustomerCount", "computedMetricsTime",
    "createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId",
}  # fmt: skip
CHANGES = {
    "name": "Acme GmbH",
    "baseCurrency": "USD",
    "timeZone": "America/New_York",
    "domain": "acme.example",
    "plShowPlanningPercentageForPastMonths": True,
    "plShowAllCategories": True,
    "plRecognizeRevenueOnInvoice": True,
    "dataStartDate": "2024-02-29",
    "standardTaxPercent": 8.1,
    "valuationCategory": "aiNative",
    "valuationLens": "acquisition",
}


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme)


@pytest.fixture
def old_update_time(acme):
    """The time of Acme's last update, years ago."""
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=long_ago, last_updated_time=long_ago)
    return long_ago.isoformat().replace("+00:00", "Z")


def test_company_has_every_documented_field(api):
    company = api.get("").json()
    assert set(company) == FIELDS
    assert company["baseCurrency"] == "EUR"
    assert company["systemStatus"] == "trial"
    assert company["systemPaymentProvider"] is None
    assert company["computedCommittedMrrEur"] is None


def test_company_list_item_has_role_and_permissions_but_no_domain_or_logo(api):
    (item,) = api.get("/companies").json()
    assert set(item) == FIELDS - {"domain", "customLogoPath"} | {"role", "permissions"}


def test_stored_system_fields_are_returned_with_documented_types(api, acme, now):
    provider = {
        "customerId": "cus_1",
        "subscription": {
            "id": "sub_1", "status": "active", "productName": "starter", "interval": "monthly",
            "currentPeriodStart": "2026-01-01", "currentPeriodEnd": "2026-02-01",
            "price": {"value": 49.5, "currency": "EUR"}, "cancelAt": None, "limits": {"minARR": 0, "maxARR": 100000},
        },
    }  # fmt: skip
    Company.objects.filter(id=acme.id).update(
        system_payment_provider=provider, computed_committed_mrr_eur="1234.5", computed_active_customer_count=7,
        system_deletion_warning=2, system_expired_at=now, datastore_id="old-1",
    )  # fmt: skip
    company = api.get("").json()
    assert company["systemPaymentProvider"] == provider
    assert company["computedCommittedMrrEur"] == "1234.50"
    assert company["computedActiveCustomerCount"] == 7
    assert company["systemDeletionWarning"] == 2
    assert company["systemExpiredAt"] == now.isoformat().replace("+00:00", "Z")
    assert company["datastoreId"] == "old-1"
    (item,) = api.get("/companies").json()
    assert item["systemPaymentProvider"] == provider


def test_each_writable_company_field_can_be_changed_alone(api):
    before = api.get("").json()
    for field, value in CHANGES.items():
        with undo_changes():
            after = api.put("", {field: value})
            assert after.status_code == 200, after.content
            assert after.json() == api.get("").json(), field
        different = {name for name in FIELDS if after.json()[name] != before[name]}
        assert different - {"lastUpdatedTime", "lastUpdatedUserId", "lastOverallUpdatedTime"} == {field}
        assert after.json()[field] == value


def test_all_company_fields_can_be_changed_together_and_unset(api):
    assert api.put("", CHANGES).json().items() >= CHANGES.items()
    unset = dict.fromkeys(("domain", "dataStartDate", "standardTaxPercent", "valuationCategory", "valuationLens"))
    assert api.put("", unset).json().items() >= unset.items()


def test_empty_or_unchanged_company_update_changes_nothing(api, old_update_time):
    before = api.get("").json()
    for body in ({}, before, {"name": "Acme"}):
        answer = api.put("", body)
        assert answer.status_code == 200
        assert answer.json() == before
        assert "Ignored-Fields" not in answer
    assert api.get("").json() == before
    assert not AuditEntry.objects.filter(action="company.updated").exists()


def test_listed_company_can_be_sent_back_unchanged(api):
    answer = api.put("", api.get("/companies").json()[0])
    assert answer.status_code == 200
    assert "Ignored-Fields" not in answer


def test_read_only_company_fields_are_ignored_silently(api, globex):
    body = {"id": str(globex.id), "systemStatus": "paid", "customLogoPath": "x", "createdUserId": "me", "name": "New"}
    answer = api.put("", body)
    assert "Ignored-Fields" not in answer
    assert answer.json()["systemStatus"] == "trial"
    assert answer.json()["customLogoPath"] is None
    assert answer.json()["id"] != str(globex.id)


def test_invalid_company_value_is_rejected_and_nothing_is_stored(api):
    before = api.get("").json()
    for field, value, code in [
        ("name", None, "must_not_be_null"),
        ("name", 12.5, "invalid_value"),
        ("name", "x" * 201, "too_long"),
        ("baseCurrency", "eur", "invalid_choice"),
        ("baseCurrency", "BGN", "invalid_choice"),
        ("baseCurrency", None, "must_not_be_null"),
        ("domain", "", "must_not_be_empty"),
        ("domain", "localhost", "invalid_value"),
        ("domain", "https://acme.example", "invalid_value"),
        ("domain", "a b.example", "invalid_value"),
        ("domain", " acme.example", "invalid_value"),
        ("domain", "acme.example\n", "invalid_value"),
        ("domain", "-acme.example", "invalid_value"),
        ("domain", "192.0.2.1", "invalid_value"),
        ("domain", "a" * 64 + ".example", "invalid_value"),
        ("domain", 7, "invalid_value"),
        ("domain", "аcme.example", "invalid_value"),
        ("plShowAllCategories", None, "must_not_be_null"),
        ("plShowAllCategories", 1, "invalid_value"),
        ("dataStartDate", "2023-02-29", "invalid_date"),
        ("dataStartDate", "2024-1-1", "invalid_value"),
        ("dataStartDate", "2024-01-01T00:00:00Z", "invalid_value"),
        ("dataStartDate", "0000-01-01", "invalid_date"),
        ("dataStartDate", 20240101, "invalid_value"),
        ("standardTaxPercent", "19", "invalid_value"),
        ("standardTaxPercent", True, "invalid_value"),
        ("standardTaxPercent", -0.1, "out_of_range"),
        ("standardTaxPercent", 100.5, "out_of_range"),
        ("standardTaxPercent", 19.00001, "too_many_decimals"),
        ("timeZone", "Europe/Atlantis", "invalid_choice"),
        ("timeZone", "../../etc/passwd", "invalid_choice"),
        ("timeZone", "localtime", "invalid_choice"),
        ("timeZone", None, "must_not_be_null"),
        ("valuationCategory", "saas", "invalid_choice"),
        ("valuationLens", 3, "invalid_choice"),
    ]:
        answer = api.put("", {"valuationLens": "acquisition", "plShowAllCategories": True} | {field: value})
        assert answer.status_code == 400, answer.content
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(f"#/{field}", code)]
        assert api.get("").json() == before, field


def test_company_domain_accepts_valid_domains(api):
    for domain in ["acme.example", "a.b.c.example", "xn--bcher-kva.example", "a1-2.co", "acme.xn--p1ai"]:
        assert api.put("", {"domain": domain}).json()["domain"] == domain


@pytest.mark.parametrize("field", ["baseCurrency", "dataStartDate"])
def test_company_wide_settings_require_company_manage(api, make_api, acme, field):
    writer = make_api(acme, "company:read", "company:write")
    refused = writer.put("", {field: CHANGES[field], "name": "New"})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert "company:manage" in refused.json()["detail"]
    assert api.get("").json()["name"] == "Acme"
    assert writer.put("", {field: api.get("").json()[field], "name": "New"}).json()["name"] == "New"
    assert api.put("", {field: CHANGES[field]}).status_code == 200


def test_base_currency_accepts_each_of_thirty_currencies(api):
    for currency in Currency.values:
        with undo_changes():
            assert len(Currency.values) == 30, currency
            assert api.put("", {"baseCurrency": currency}).json()["baseCurrency"] == currency


# ---------------------------------------------------------------------------------------------- starting one


def test_user_creates_company_and_becomes_owner(owner, alice):
    made = owner.post("/companies", {"name": "Second", "baseCurrency": "CHF", "domain": "second.example"})
    assert made.status_code == 201
    company = made.json()
    assert made["Location"] == f"/companies/{company['id']}"
    assert set(company) == FIELDS
    assert (company["baseCurrency"], company["domain"], company["systemStatus"]) == ("CHF", "second.example", "trial")
    created, until = (datetime.fromisoformat(company[name]) for name in ("createdTime", "systemTrialUntil"))
    assert until - created == timedelta(days=14)
    assert company["createdUserId"] == str(alice.id)
    assert owner.get(made["Location"]).json() == company
    listed = {each["name"]: each["role"] for each in owner.get("/companies").json()}
    assert listed == {"Acme": "owner", "Second": "owner"}
    assert AuditEntry.objects.filter(company=company["id"], action="company.created").count() == 1


def test_company_base_currency_defaults_to_euro_and_its_time_zone_to_utc(owner):
    created = owner.post("/companies", {"name": "Second"}).json()
    assert (created["baseCurrency"], created["timeZone"]) == ("EUR", "UTC")
    assert (
        owner.post("/companies", {"name": "Third", "timeZone": "Europe/Berlin"}).json()["timeZone"] == "Europe/Berlin"
    )


def test_new_company_on_the_page_takes_the_chosen_time_zone(owner):
    form = owner.client.get("/app/companies/new").content.decode()
    assert "data-browser-time-zone" in form
    values = {"name": "Second", "baseCurrency": "EUR", "domain": "", "timeZone": "Asia/Tokyo"}
    assert owner.client.post("/app/companies/new", values).status_code == 303
    assert Company.objects.get(name="Second").time_zone == "Asia/Tokyo"
    wrong = owner.client.post("/app/companies/new", values | {"timeZone": "Moon"})
    assert wrong.status_code == 400
    assert "data-browser-time-zone" not in wrong.content.decode()


def test_new_company_takes_the_standard_tax_that_its_country_suggests(owner):
    form = owner.client.get("/app/companies/new").content.decode()
    assert 'data-standard-tax="19">Europe/Berlin<' in form
    assert ">America/New_York<" in form
    assert 'name="standardTaxPercent"' in form
    values = {"name": "Second", "baseCurrency": "EUR", "domain": "", "timeZone": "Europe/Berlin"}
    for name, typed, stored in (("A", "19", 19), ("B", "8,1 %", Decimal("8.1")), ("C", "0", 0), ("D", "", None)):
        answer = owner.client.post("/app/companies/new", values | {"name": name, "standardTaxPercent": typed})
        assert answer.status_code == 303, typed
        assert Company.objects.get(name=name).standard_tax_percent == stored
    assert owner.client.post("/app/companies/new", values | {"standardTaxPercent": "190"}).status_code == 400
    assert owner.post("/companies", {"name": "E", "standardTaxPercent": 25.5}).json()["standardTaxPercent"] == 25.5


def test_invalid_company_is_rejected_and_not_created(owner):
    for body, pointer, code in [
        ({}, "#/name", "required"),
        ({"name": None}, "#/name", "must_not_be_null"),
        ({"name": ""}, "#/name", "blank"),
        ({"name": "x", "baseCurrency": "XXX"}, "#/baseCurrency", "invalid_choice"),
        ({"name": "x", "domain": "x"}, "#/domain", "invalid_value"),
        ({"name": "x", "timeZone": "Moon"}, "#/timeZone", "invalid_choice"),
        ([], "#", "invalid_value"),
    ]:
        answer = owner.post("/companies", body)
        assert answer.status_code == 400, body
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], body
        assert Company.objects.count() == 1, body


def test_api_key_cannot_create_company(api, client):
    answer = api.post("/companies", {"name": "x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert client.post("/companies", {"name": "x"}, content_type="application/json").status_code == 401
    assert Company.objects.count() == 1


# ---------------------------------------------------------------------------------------------- what moves


def test_last_overall_updated_time_changes_with_any_change(api, old_update_time, acme):
    bank = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    for change in (
        lambda: api.post("account_groups", {"name": "x"}),
        lambda: api.put(f"accounts/{bank}", {"name": "y"}),
        lambda: api.put(f"accounts/{bank}/archive"),
        lambda: api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-01", "amountValue": "1.00"}),
        lambda: api.post(
            "transactions/import", {"transactions": [{"accountId": bank, "date": "2024-05-01", "amountValue": "1"}]}
        ),
        lambda: api.put("", {"name": "New"}),
        lambda: api.post("api_keys", {"name": "x", "permissions": ["accounts:read"]}),
        lambda: api.post("members", {"email": "new@acme.example", "role": "viewer"}),
    ):
        Company.objects.filter(id=acme.id).update(last_overall_updated_time=datetime(2020, 1, 1, tzinfo=UTC))
        assert change().status_code in (200, 201)
        assert api.get("").json()["lastOverallUpdatedTime"] > "2026", change


def test_company_update_response_has_new_last_overall_updated_time(api, old_update_time):
    assert api.put("", {"name": "New"}).json()["lastOverallUpdatedTime"] > old_update_time
    assert api.put("", {"name": "New"}).json() == api.get("").json()


def test_last_overall_updated_time_ignores_reads_errors_and_empty_changes(api, old_update_time, acme):
    group = api.post("account_groups", {"name": "x"}).json()["id"]
    bank = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=datetime(2020, 1, 1, tzinfo=UTC))
    api.get("accounts")
    api.get("")
    api.post("data/accountBalanceByAccount", {"startDate": "2024-01-01", "endDate": "2024-01-31"})
    api.post("account_groups", {"name": 1})
    api.put(f"account_groups/{group}", {})
    api.put(f"accounts/{bank}/unarchive")
    api.post("transactions/import", {"transactions": []})
    row = {"accountId": bank, "date": "2024-05-01", "amountValue": "1"}
    api.post("transactions/import", {"transactions": [row], "dryRun": True})
    api.put("logo", {"imageBase64": "x"})
    api.delete("logo")
    assert api.get("").json()["lastOverallUpdatedTime"] == old_update_time


def test_last_overall_updated_time_changes_at_most_once_a_second(acme, now):
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=now - timedelta(seconds=5))
    moment = now.replace(microsecond=100)
    for later in (moment, moment.replace(microsecond=900_000)):
        Company.objects.touch(acme.id, later)
        assert Company.objects.get(id=acme.id).last_overall_updated_time == moment
    Company.objects.touch(acme.id, moment + timedelta(seconds=1))
    assert Company.objects.get(id=acme.id).last_overall_updated_time == moment + timedelta(seconds=1)


def test_status_transitions_are_exactly_the_allowed_ones():
    assert {(a, b) for a, targets in STATUS_TRANSITIONS.items() for b in targets} == {
        ("sandbox", "trial"), ("trial", "free"), ("trial", "paid"), ("trial", "expired"), ("free", "paid"),
        ("paid", "cancelled"), ("cancelled", "paid"), ("cancelled", "expired"), ("expired", "paid"), ("beta", "free"),
        ("beta", "paid"),
    }  # fmt: skip
    assert set(STATUS_TRANSITIONS) == set(SystemStatus.values)
