"""The pages of what is planned: the next occurrences, what they add up to, rules, and single occurrences."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from analytics.reports import cash_plan
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.money.calc.fx import RateTable
from planning.models import PlannedOverride, PlannedTransaction
from tests import factories
from tests.page_text import get_page_text
from tests.rollback import undo_changes
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
NEXT_MONTH = add_months(get_first_day_of_month(TODAY), 1)  # the first of next month
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def account(bank):
    return bank


@pytest.fixture
def rent(api, account):
    body = {"accountId": account, "name": "Rent", "startDate": str(NEXT_MONTH), "amountValue": "-2400.00"}
    answer = api.post("planned_transactions", body | {"recurrence": {"frequency": "month"}})
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/planned{path}"


def format_day(date):
    return f"{date:%-d %b %Y}"


def build_rule_form(**changes):
    shown = {"name": "Rent", "direction": "out", "amountValue": "2400.00", "amountCurrency": "", "accountId": ""}
    shown |= {"categoryId": "", "startDate": str(NEXT_MONTH), "frequency": "month", "interval": "1"}
    return shown | {"endType": "never", "endDate": "", "endCount": ""} | changes


def list_monthly_sums(client, company):
    """Return (in, out, net) of each month of the cash plan, to the cent, and of all of them at last."""
    text = get_page_text(client.get(build_page_path(company), {"unit": "cents"}))
    rows = re.search(r" In ([-\d., ]+) Out ([-\d., ]+) Net ([-\d., ]+) Upcoming", text).groups()
    columns = [[Decimal(cell.replace(",", "")) for cell in row.split()] for row in rows]
    return list(zip(*columns, strict=True))


def test_cash_plan_lists_next_occurrences_and_monthly_sums(viewer, api, acme, account, rent):
    grant_day = str(NEXT_MONTH + timedelta(days=3))
    body = {"accountId": account, "name": "Grant", "startDate": grant_day, "amountValue": "900"}
    api.post("planned_transactions", body)
    seen = get_page_text(viewer.get(build_page_path(acme)))
    assert f"{format_day(NEXT_MONTH)} Rent Main −€2,400.00" in seen
    assert f"{format_day(NEXT_MONTH + timedelta(days=3))} Grant Main €900.00" in seen
    assert list_monthly_sums(viewer, acme)[1] == (Decimal(900), Decimal(-2400), Decimal(-1500))
    rules = get_page_text(viewer.get(build_page_path(acme, "/rules")))
    assert f"Rent Main Main · every month {format_day(NEXT_MONTH)} −€2,400.00" in rules
    assert f"Grant Main Main · once {format_day(NEXT_MONTH + timedelta(days=3))} €900.00" in rules
    last = add_months(NEXT_MONTH, 2)
    assert format_day(last) in seen
    assert format_day(add_months(last, 1)) not in seen


def test_monthly_sums_equal_the_forecast(viewer, api, acme, account, rent):
    body = {"accountId": account, "name": "USD", "startDate": str(NEXT_MONTH), "amountValue": "-10"}
    api.post("planned_transactions", body | {"amountCurrency": "USD"})
    end = add_months(NEXT_MONTH, 1) - timedelta(days=1)
    answer = api.post("data/forecastCashFlowTimeSeries", {"endDate": str(end), "interval": "month"}).json()
    out = answer["plannedOutflow"][-1]
    assert out["date"] == str(NEXT_MONTH)
    sums = Decimal(0), -Decimal(str(out["value"])), -Decimal(str(out["value"]))
    assert list_monthly_sums(viewer, acme)[1] == sums


def test_monthly_sums_equal_forecast_with_due_overdue_and_future_booked(viewer, api, acme, account):
    for name, away, amount in [("Due", 0, "-70.00"), ("Late", -30, "-8.05"), ("Lapsed", -61, "-900.00")]:
        body = {
            "accountId": account,
            "name": name,
            "startDate": str(TODAY + timedelta(days=away)),
            "amountValue": amount,
        }
        api.post("planned_transactions", body)
    dollars = {"amountValue": "-33.33", "amountCurrency": "USD", "recurrence": {"frequency": "week"}}
    api.post("planned_transactions", {"accountId": account, "name": "Weekly", "startDate": str(NEXT_MONTH)} | dollars)
    ahead = {"accountId": account, "date": str(TODAY + timedelta(days=1)), "amountValue": "12.34"}
    assert api.post("transactions", ahead).status_code == 201
    end = add_months(NEXT_MONTH, 3) - timedelta(days=1)
    answer = api.post("data/forecastCashFlowTimeSeries", {"endDate": str(end), "interval": "month"}).json()
    seen = get_page_text(viewer.get(build_page_path(acme)))
    assert f"{format_day(TODAY)} Due Main −€70.00" in seen
    assert f"{format_day(TODAY - timedelta(days=30))} Late overdue Main −€8.05" in seen
    assert "Lapsed" not in seen
    pairs = zip(answer["plannedInflow"][-4:], answer["plannedOutflow"][-4:], strict=True)
    values = [(Decimal(str(inflow["value"])), Decimal(str(outflow["value"]))) for inflow, outflow in pairs]
    assert list_monthly_sums(viewer, acme)[:4] == [(inflow, -outflow, inflow - outflow) for inflow, outflow in values]


def test_missing_rate_shows_a_message(viewer, api, acme, account, monkeypatch):
    body = {"accountId": account, "name": "USD", "startDate": str(NEXT_MONTH), "amountValue": "-10"}
    api.post("planned_transactions", body | {"amountCurrency": "USD"})
    monkeypatch.setattr(cash_plan, "get_rate_table", lambda: RateTable([]))
    assert "No exchange rate for USD" in get_page_text(viewer.get(build_page_path(acme)))


def test_cash_plan_omits_skipped_and_marks_changed_occurrences(viewer, api, acme, rent):
    second, moved = add_months(NEXT_MONTH, 1), add_months(NEXT_MONTH, 1) + timedelta(days=4)
    api.put(f"planned_transactions/{rent}/overrides/{NEXT_MONTH}", {"skipped": True})
    api.put(f"planned_transactions/{rent}/overrides/{second}", {"date": str(moved), "amountValue": "-2500.00"})
    seen = get_page_text(viewer.get(build_page_path(acme)))
    assert f"{format_day(NEXT_MONTH)} Rent" not in seen
    assert f"{format_day(moved)} moved from {format_day(second)} Rent changed Main −€2,500.00" in seen
    assert f"Rent Main Main · every month {format_day(moved)} −€2,500.00" in get_page_text(
        viewer.get(build_page_path(acme, "/rules"))
    )


def test_cash_plan_links_the_recent_months(viewer, acme, rent):
    page = viewer.get(build_page_path(acme)).content.decode()
    assert re.findall(r'href="\?months=([^"]*)"', page) == ["6", "12", "24"]


def test_form_of_a_new_invoice_shows_its_main_fields_first(owner, api, acme, account):
    path = build_page_path(acme, "/new?invoice=in")
    shown = owner.get(path).content.decode()
    assert "Create invoice" in shown
    main, *folds = re.split(r'<details class="disclosure">', shown)
    assert len(folds) == 2
    for name in (
        "name",
        "amountValue",
        "counterparty",
        "invoiceNumber",
        "invoiceDate",
        "dueDate",
        "accountId",
        "startDate",
    ):
        assert f'name="{name}"' in main
    for name in ("startDate", "invoiceDate"):
        assert re.search(rf'name="{name}" type="date"[^>]* value="{TODAY}"', shown)
    names = re.findall(r'<(?:input|select)[^>]* name="(\w+)"', shown)
    assert all(names.count(name) == 1 for name in names if name not in ("settledBy", "csrfmiddlewaretoken", "q")), names
    form = build_rule_form(name="Invoice 7", direction="in", frequency="", accountId=account, interval="x")
    refused = owner.post(path, form | {"invoiceDate": str(TODAY), "frequency": "month"}).content.decode()
    assert refused.count('<details class="disclosure" open>') == 1
    assert 'id="interval-error"' in refused


def test_empty_cash_plan_suggests_next_step_to_editors_only(owner, viewer, acme):
    assert "Plan transaction" in get_page_text(owner.get(build_page_path(acme)))
    assert "No planned transactions yet" in get_page_text(owner.get(build_page_path(acme, "/rules")))
    assert "Plan transaction" not in get_page_text(viewer.get(build_page_path(acme)))


def test_account_names_are_hidden_without_permission(sign_in_browser, acme, rent):
    planner = factories.make_member(acme, "p@acme.example", permissions=["planning:read", "planning:write"])
    client = sign_in_browser(planner, acme).client
    for path in ("", "/rules", f"/{rent}", f"/{rent}/edit", "/new"):
        answer = client.get(build_page_path(acme, path))
        assert answer.status_code == 200
        assert "Main" not in re.sub(r'aria-label="Main"', "", answer.content.decode())
    assert client.post(build_page_path(acme, f"/{rent}/edit"), build_rule_form(name="Rent 2")).status_code == 303
    assert PlannedTransaction.objects.for_company(acme.id).get().account_id is not None


@pytest.mark.parametrize("path", ["", "/rules"])
def test_page_queries_do_not_grow_with_rules(viewer, acme, rent, audit_context, path, django_assert_max_num_queries):
    viewer.get(build_page_path(acme, path))
    counted = []
    for count in (0, 60):
        rows = [
            PlannedTransaction(
                company=acme, name=f"p{n}", start_date=NEXT_MONTH, amount_value=1, amount_currency="EUR", source="api"
            ).mark_created(audit_context)
            for n in range(count)
        ]
        PlannedTransaction.objects.bulk_create(rows)
        PlannedOverride.objects.bulk_create(
            PlannedOverride(company=acme, planned=row, original_date=NEXT_MONTH, amount_value=2) for row in rows
        )
        with django_assert_max_num_queries(32) as seen:
            viewer.get(build_page_path(acme, path))
        counted.append(len(seen.captured_queries))
    assert counted[0] == counted[1]


def test_rule_list_is_paged(viewer, acme, rent, audit_context):
    rows = [
        PlannedTransaction(
            company=acme, name=f"p{n}", start_date=NEXT_MONTH, amount_value=1, amount_currency="EUR", source="api"
        ).mark_created(audit_context)
        for n in range(30)
    ]
    PlannedTransaction.objects.bulk_create(rows)
    first = viewer.get(build_page_path(acme, "/rules"))
    assert "Rent" not in get_page_text(first)
    following = re.search(r'href="(\?cursor=[^"]+)"', first.content.decode())[1]
    assert "Rent" in get_page_text(viewer.get(build_page_path(acme, "/rules") + unescape(following)))
    assert viewer.get(build_page_path(acme, "/rules?cursor=x")).status_code == 400


def test_planned_transaction_can_be_created_on_page(owner, acme, api, account):
    sent = build_rule_form(
        accountId=account, frequency="month", interval="3", lastDayOfMonth="on", endType="count", endCount="4"
    )
    answer = owner.post(build_page_path(acme, "/new"), sent, follow=True)
    assert "Rent added." in get_page_text(answer)
    assert "every 3 months on the last day, 4 times" in get_page_text(answer)
    (body,) = api.get("planned_transactions").json()
    assert (body["amountValue"], body["amountCurrency"], body["source"]) == ("-2400.00", "EUR", "manual")
    end = {"type": "count", "date": None, "count": 4}
    assert body["recurrence"] == {"frequency": "month", "interval": 3, "lastDayOfMonth": True, "end": end}


def test_recurrence_is_described_in_language_of_user(owner, acme, account):
    for changes, said in [
        ({"frequency": ""}, "einmalig"),
        ({"frequency": "week"}, "jede Woche"),
        ({"interval": "3", "lastDayOfMonth": "on"}, "alle 3 Monate am letzten Tag"),
        ({"frequency": "year", "endType": "count", "endCount": "4"}, "jedes Jahr, 4-mal"),
        ({"endType": "date", "endDate": "2031-12-31"}, "jeden Monat, bis 31.12.2031"),
    ]:
        with undo_changes():
            owner.post(build_page_path(acme, "/new"), build_rule_form(accountId=account, **changes))
            page_text = get_page_text(owner.get(build_page_path(acme, "/rules"), headers={"accept-language": "de"}))
            assert f"Rent Main Main · {said} " in page_text, changes


def test_invalid_plan_form_shows_field_errors(owner, acme):
    for changes, field in [
        ({"name": ""}, "name"),
        ({"amountValue": "1.234"}, "amountValue"),
        ({"amountValue": "-5"}, "amountValue"),
        ({"amountCurrency": "XXX"}, "amountCurrency"),
        ({"accountId": UNKNOWN_ID}, "accountId"),
        ({"categoryId": "x"}, "categoryId"),
        ({"startDate": "2026-02-30"}, "startDate"),
        ({"frequency": "fortnight"}, "frequency"),
        ({"interval": "0"}, "interval"),
        ({"frequency": "day", "lastDayOfMonth": "on"}, "lastDayOfMonth"),
        ({"endType": "date"}, "endDate"),
        ({"endType": "date", "endDate": "2020-01-01"}, "endDate"),
        ({"endType": "count", "endCount": "0"}, "endCount"),
    ]:
        answer = owner.post(build_page_path(acme, "/new"), build_rule_form(**{"name": "Kept", **changes}))
        assert answer.status_code == 400, changes
        html = answer.content.decode()
        assert f'id="{field}-error"' in html, changes
        assert field == "name" or 'value="Kept"' in html, changes
        assert not PlannedTransaction.objects.exists(), changes


def test_editing_rule_keeps_fields_not_in_the_form(owner, api, acme, rent, account):
    api.put(f"planned_transactions/{rent}", {"externalId": "x-1", "passThroughTaxAmount": "-100.00"})
    api.put(f"planned_transactions/{rent}/overrides/{NEXT_MONTH}", {"amountValue": "-1.00"})
    shown = owner.get(build_page_path(acme, f"/{rent}/edit")).content.decode()
    assert 'value="2400.00"' in shown
    sent = build_rule_form(accountId=account, amountCurrency="EUR", amountValue="2500.00")
    assert owner.post(build_page_path(acme, f"/{rent}/edit"), sent).status_code == 303
    body = api.get(f"planned_transactions/{rent}").json()
    assert (body["amountValue"], body["externalId"], body["passThroughTaxAmount"]) == ("-2500.00", "x-1", "-100.00")
    assert body["overrides"] == {str(NEXT_MONTH): {"amountValue": "-1.00"}}


def test_invalid_rule_update_is_rejected_and_changes_nothing(owner, api, acme, rent):
    api.put(f"planned_transactions/{rent}", {"passThroughTaxAmount": "-100.00"})
    answer = owner.post(build_page_path(acme, f"/{rent}/edit"), build_rule_form(amountValue="50.00", name="Other"))
    assert answer.status_code == 400
    assert "Must have the same sign as the amount" in get_page_text(answer)
    assert api.get(f"planned_transactions/{rent}").json()["name"] == "Rent"


def test_rule_can_be_deleted_on_page(owner, acme, rent):
    assert "Rent deleted." in get_page_text(owner.post(build_page_path(acme, f"/{rent}/delete"), follow=True))
    assert not PlannedTransaction.objects.exists()


def get_overrides(api, rent):
    return api.get(f"planned_transactions/{rent}").json()["overrides"]


def test_occurrence_can_be_skipped_and_restored(owner, api, acme, rent):
    answer = owner.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}/skip"), follow=True)
    assert f"Rent on {format_day(NEXT_MONTH)} skipped." in get_page_text(answer)
    assert get_overrides(api, rent) == {str(NEXT_MONTH): {"skipped": True}}
    assert f"{format_day(NEXT_MONTH)} skipped" in get_page_text(answer)
    answer = owner.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}/restore"), follow=True)
    assert "reset to the plan." in get_page_text(answer)
    assert get_overrides(api, rent) == {}


def test_skipping_keeps_other_overrides(owner, api, acme, rent):
    api.put(f"planned_transactions/{rent}/overrides/{NEXT_MONTH}", {"amountValue": "-1.00", "name": "Less rent"})
    owner.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}/skip"))
    assert get_overrides(api, rent) == {str(NEXT_MONTH): {"skipped": True, "amountValue": "-1.00", "name": "Less rent"}}


def test_occurrence_date_and_amount_can_be_changed(owner, api, acme, rent):
    address, moved = build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}"), NEXT_MONTH + timedelta(days=2)
    api.put(f"planned_transactions/{rent}/overrides/{NEXT_MONTH}", {"name": "Other", "amountValue": "-7.00"})
    assert 'value="7.00"' in owner.get(address).content.decode()
    sent = {"date": str(moved), "direction": "out", "amountValue": "2300"}
    assert owner.post(address, sent).status_code == 303
    assert get_overrides(api, rent) == {
        str(NEXT_MONTH): {"name": "Other", "date": str(moved), "amountValue": "-2300.00"}
    }


def test_occurrence_equal_to_rule_loses_its_override(owner, api, acme, rent):
    for amount in ("2400.00", "2400"):
        api.put(f"planned_transactions/{rent}/overrides/{NEXT_MONTH}", {"amountValue": "-7.00"})
        sent = {"date": str(NEXT_MONTH), "direction": "out", "amountValue": amount}
        owner.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}"), sent)
        assert get_overrides(api, rent) == {}


@pytest.mark.parametrize("direction", ["", "sideways"])
def test_planned_transaction_requires_a_direction(owner, acme, direction):
    answer = owner.post(build_page_path(acme, "/new"), build_rule_form(direction=direction))
    assert answer.status_code == 400
    assert 'id="direction-error"' in answer.content.decode()
    assert not PlannedTransaction.objects.for_company(acme.id).exists()


@pytest.mark.parametrize(
    ("field", "value"), [("amountValue", "1.234"), ("amountValue", "-1"), ("amountValue", "x"), ("date", "2026-02-30")]
)
def test_invalid_occurrence_shows_field_error(owner, api, acme, rent, field, value):
    sent = {"date": str(NEXT_MONTH), "direction": "out", "amountValue": "1.00"} | {field: value}
    answer = owner.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}"), sent)
    assert answer.status_code == 400
    assert f'id="{field}-error"' in answer.content.decode()
    assert get_overrides(api, rent) == {}


def test_date_without_occurrence_is_not_found(owner, acme, rent):
    other = NEXT_MONTH + timedelta(days=1)
    assert owner.get(build_page_path(acme, f"/{rent}/occurrences/{other}")).status_code == 404
    assert owner.get(build_page_path(acme, f"/{rent}/occurrences/nonsense")).status_code == 404
    assert owner.post(build_page_path(acme, f"/{rent}/occurrences/{other}/restore")).status_code == 404
    answer = owner.post(build_page_path(acme, f"/{rent}/occurrences/{other}/skip"), follow=True)
    assert "The planned transaction has no occurrence on this date." in get_page_text(answer)


def test_readers_see_no_forms(viewer, acme, rent):
    for path in ("", f"/{rent}"):
        assert viewer.get(build_page_path(acme, path)).content.decode().count('method="post"') == 1  # to sign out
    assert viewer.post(build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}/skip")).status_code == 403


OPTIONAL_FIELDS = {
    "passThroughTaxAmount": "383,19",
    "counterparty": "Landlord",
    "dateRule": "servicePeriod",
    "ruleStart": "2027-01-01",
    "ruleEnd": "2027-01-31",
    "ruleInvoice": "",
    "invoiceDate": "2026-12-15",
    "serviceStartDate": "2027-01-01",
    "serviceEndDate": "2027-01-31",
    "externalId": "r-1",
    "externalSubscriptionId": "s-1",
    "externalInvoiceId": "i-1",
    "invoiceNumber": "2026-12",
    "invoiceUrl": "https://a.example/i",
    "collectionMethod": "debit",
    "attempted": "false",
    "attemptCount": "0",
    "nextPaymentAttemptDate": "2027-01-03",
    "dueDate": "2027-01-02",
}


def test_every_field_of_planned_transaction_form_is_stored(owner, api, acme, account):
    landlord = api.post("counterparties", {"name": "Landlord", "type": "vendor"}).json()["id"]
    answer = owner.post(build_page_path(acme, "/new"), build_rule_form(accountId=account, **OPTIONAL_FIELDS))
    assert answer.status_code == 303
    (stored,) = api.get("planned_transactions").json()
    invoice = {
        "invoiceNumber": "2026-12", "invoiceUrl": "https://a.example/i", "collectionMethod": "debit",
        "attempted": False, "attemptCount": 0, "nextPaymentAttemptDate": "2027-01-03", "dueDate": "2027-01-02",
    }  # fmt: skip
    assert stored["passThroughTaxAmount"] == "-383.19"
    assert stored["counterparty"]["id"] == landlord
    rule = {"type": "servicePeriod", "startDate": "2027-01-01", "endDate": "2027-01-31", "invoiceDate": None}
    assert stored["usingDateRule"] == rule
    assert stored["externalData"] == invoice
    plain = ("invoiceDate", "serviceStartDate", "serviceEndDate")
    plain += ("externalId", "externalSubscriptionId", "externalInvoiceId")
    assert {name: stored[name] for name in plain} == {name: OPTIONAL_FIELDS[name] for name in plain}


def test_plan_form_shows_saved_values_and_clears_fields(owner, api, acme, account):
    api.post("counterparties", {"name": "Landlord", "type": "vendor"})
    owner.post(build_page_path(acme, "/new"), build_rule_form(accountId=account, **OPTIONAL_FIELDS))
    rule = PlannedTransaction.objects.for_company(acme.id).get()
    shown = owner.get(build_page_path(acme, f"/{rule.id}/edit")).content.decode()
    for name in set(OPTIONAL_FIELDS) - {"dateRule", "attempted", "passThroughTaxAmount", "ruleInvoice"}:
        assert re.search(rf'name="{name}"[^>]* value="{re.escape(OPTIONAL_FIELDS[name])}"', shown), name
    assert 'name="passThroughTaxAmount" inputmode="decimal" class="number" value="383.19"' in shown
    assert '<option value="servicePeriod" selected>' in shown
    assert '<option value="false" selected>' in shown
    assert '<details class="disclosure" open>' in shown
    same = build_rule_form(accountId=account, amountCurrency="EUR", **OPTIONAL_FIELDS)
    before = api.get(f"planned_transactions/{rule.id}").json()
    assert owner.post(build_page_path(acme, f"/{rule.id}/edit"), same).status_code == 303
    assert api.get(f"planned_transactions/{rule.id}").json() == before
    assert (
        owner.post(
            build_page_path(acme, f"/{rule.id}/edit"),
            build_rule_form(accountId=account, **dict.fromkeys(OPTIONAL_FIELDS, "")),
        ).status_code
        == 303
    )
    stored = api.get(f"planned_transactions/{rule.id}").json()
    emptied = ("counterparty", "externalData", "externalId", "invoiceDate", "passThroughTaxAmount", "serviceEndDate")
    assert {name: stored[name] for name in emptied} == dict.fromkeys(emptied)
    assert stored["usingDateRule"]["type"] == "transactionDate"


def test_errors_in_optional_fields_open_the_section(owner, api, acme, account):
    wrong = {
        "passThroughTaxAmount": "lots", "counterparty": "Nobody", "dateRule": "custom", "ruleStart": "2027-01-01",
        "ruleEnd": "2026-01-01", "invoiceDate": "soon", "attemptCount": "often", "dueDate": "soon",
    }  # fmt: skip
    answer = owner.post(build_page_path(acme, "/new"), build_rule_form(accountId=account, **OPTIONAL_FIELDS | wrong))
    assert answer.status_code == 400
    answers = set(re.findall(r'id="(\w+)-error"', answer.content.decode()))
    assert answers == {"passThroughTaxAmount", "counterparty", "ruleEnd", "invoiceDate", "attemptCount", "dueDate"}
    assert '<details class="disclosure" open>' in answer.content.decode()
    assert not PlannedTransaction.objects.for_company(acme.id).exists()


def test_occurrence_can_override_name_account_and_category(owner, api, acme, account, rent):
    other = api.post("accounts", {"name": "Savings", "type": "bank"}).json()["id"]
    category = api.get_category_id("hosting")
    address = build_page_path(acme, f"/{rent}/occurrences/{NEXT_MONTH}")
    same = {"date": str(NEXT_MONTH), "direction": "out", "amountValue": "2400.00"}
    besides = {"name": "Rent and heating", "accountId": other, "categoryId": category}
    assert owner.post(address, same | besides).status_code == 303
    assert api.get(f"planned_transactions/{rent}").json()["overrides"][str(NEXT_MONTH)] == besides
    assert 'value="Rent and heating"' in owner.get(address).content.decode()
    assert owner.post(address, same | {"name": "Rent", "accountId": account, "categoryId": ""}).status_code == 303
    assert api.get(f"planned_transactions/{rent}").json()["overrides"] == {}


def test_tax_percentage_is_converted_to_an_amount(owner, api, acme, account):
    sent = build_rule_form(accountId=account, amountCurrency="EUR", amountValue="119.00", passThroughTaxAmount="19 %")
    assert owner.post(build_page_path(acme, "/new"), sent).status_code == 303
    (stored,) = api.get("planned_transactions").json()
    assert (stored["amountValue"], stored["passThroughTaxAmount"]) == ("-119.00", "-19.00")
    wrong = owner.post(build_page_path(acme, "/new"), sent | {"passThroughTaxAmount": "0 %"})
    assert "Must be more than 0% and at most 100%." in get_page_text(wrong)
    assert "Or enter a percentage such as 19%." in get_page_text(
        owner.post(build_page_path(acme, "/new"), sent | {"passThroughTaxAmount": "a lot"})
    )


def test_unknown_counterparty_can_be_created_from_the_form(owner, api, acme, account):
    sent = build_rule_form(accountId=account, counterparty="New Landlord")
    refused = owner.post(build_page_path(acme, "/new"), sent)
    assert refused.status_code == 400
    assert "Add “New Landlord” as a new counterparty" in get_page_text(refused)
    assert owner.post(build_page_path(acme, "/new"), sent | {"addCounterparty": "New Landlord"}).status_code == 303
    (stored,) = api.get("planned_transactions").json()
    body = api.get(f"counterparties/{stored['counterparty']['id']}").json()
    assert (body["name"], body["type"]) == ("New Landlord", "vendor")
    renamed = owner.post(
        build_page_path(acme, "/new"), sent | {"counterparty": "Other", "addCounterparty": "New Landlord"}
    )
    assert renamed.status_code == 400, "what was agreed to was another name"


def test_invoice_url_must_be_a_web_address(owner, api, acme, account):
    for address in ["javascript:alert(1)", "data:text/html,x", "//a.example", "https://", "a.example"]:
        answer = owner.post(build_page_path(acme, "/new"), build_rule_form(accountId=account, invoiceUrl=address))
        assert answer.status_code == 400, address
        assert 'id="invoiceUrl-error"' in answer.content.decode(), address
        body = {"accountId": account, "name": "x", "startDate": "2027-01-01", "amountValue": "-1.00"}
        refused = api.post("planned_transactions", body | {"externalData": {"invoiceUrl": address}})
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "not_a_web_address"), address
        assert refused.json()["errors"][0]["pointer"] == "#/externalData/invoiceUrl", address
        assert not PlannedTransaction.objects.exists(), address
