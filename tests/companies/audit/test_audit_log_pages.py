"""The audit log page: found by person, kind of record and day, with the fields before and after."""

import re
from html import unescape
from zoneinfo import ZoneInfo

import pytest

from companies.audit.action_labels import ENTITY_LABELS, GROUP_LABELS, find_action_label
from companies.models import AuditEntry
from companies.models.events import EVENT_ACTIONS, EVENT_TYPES
from companies.permissions import Role
from tests import factories
from tests.change_tables import get_text, list_changes

pytestmark = pytest.mark.django_db
ID_PATTERN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def build_page_path(company, query=""):
    return f"/app/companies/{company.id}/settings/activity{query}"


def list_labels(answer):
    """The label and the name of each entry."""
    return [(change.label, change.name) for change in list_changes(answer)]


@pytest.fixture
def books(api, owner, acme):
    """What a key made, and what Alice changed of it."""
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-10.00", "fromTo": "Nimbus"}
    ids = [api.post("transactions", row).json()["id"] for _ in range(3)]
    category = api.get_category_id("hosting")
    body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": category}
    assert api.post("transactions/categorize", body).status_code == 200
    form = {"name": "Giro", "type": "bank", "defaultCurrency": "EUR"}
    assert owner.post(f"/app/companies/{acme.id}/accounts/{account}/edit", form).status_code == 303
    return {"account": account, "transactions": ids}


def test_audit_log_page_shows_changed_fields_without_ids_or_column_names(owner, api, acme, books):
    answer = owner.get(build_page_path(acme))
    renamed, categorized, *created = list_changes(answer)
    assert renamed == ("Account updated", "Giro", "Some Person", {"Name": ("Main", "Giro")})
    assert categorized == (
        "Transactions categorized (3)", "", "API key “test”",
        {"Category": ("—", "Hosting"), "P&L line": ("—", "Cost of revenue")},
    )  # fmt: skip
    assert [change.label for change in created[:3]] == ["Transaction created"] * 3
    assert created[0].fields == {
        "Amount": ("—", "−€10.00"), "Date": ("—", "15 Mar 2026"), "Account": ("—", "Giro"), "Source": ("—", "Manual"),
    }  # fmt: skip
    shown = get_text(answer.content.decode().partition('class="card changes"')[2])
    assert not ID_PATTERN.search(shown)
    words = re.sub(r"…\w+|IBAN", "", shown)  # a key's last letters are any
    assert not re.search(r"\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z][a-z]+\b", words), "as columns are called"


def test_audit_log_page_filters_by_person_object_and_date(owner, alice, acme, books):
    updated, created = ("Account updated", "Giro"), ("Account created", "Giro")
    assert list_labels(owner.get(build_page_path(acme), {"person": str(alice.pk)})) == [updated]
    assert list_labels(owner.get(build_page_path(acme), {"kind": "account"})) == [updated, created]
    one = {"kind": "transaction", "thing": books["transactions"][0]}
    assert list_labels(owner.get(build_page_path(acme), one)) == [("Transaction created", "Nimbus")]
    day = str(AuditEntry.objects.for_company(acme.id).latest("time").time.date())
    assert len(list_changes(owner.get(build_page_path(acme), {"from": day, "to": day, "kind": "account"}))) == 2
    assert "No results" in get_text(owner.get(build_page_path(acme), {"to": "2020-01-01"}).content.decode())


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "soon"}, "from"),
        ({"from": "2026-03-02", "to": "2026-03-01"}, "to"),
        ({"kind": "spaceship"}, "kind"),
        ({"person": "x\0y"}, "person"),
    ],
)
def test_audit_log_page_shows_errors_of_filters(owner, acme, books, query, field):
    answer = owner.get(build_page_path(acme), query)
    assert (answer.status_code, f'id="{field}-error"' in answer.content.decode()) == (400, True)
    assert 'class="card changes"' not in answer.content.decode()


def test_audit_log_of_one_record_and_its_file_show_all_fields(owner, api, acme):
    body = {"name": "Giro", "type": "bank", "externalId": "x1", "bankReference": "DE02", "expectedAnnualReturn": 2}
    account = api.post("accounts", body)
    assert account.status_code == 201, account.content
    (shortened,) = list_changes(owner.get(build_page_path(acme), {"kind": "account"}))
    (whole,) = list_changes(owner.get(build_page_path(acme), {"thing": account.json()["id"]}))
    assert len(shortened.fields) == 4
    assert len(whole.fields) > 4
    rows = b"".join(owner.get(build_page_path(acme), {"table": "audit-log", "kind": "account"})).decode().splitlines()
    assert len(rows) == 1 + len(whole.fields)


def test_audit_log_of_a_record_changed_only_with_many_others_says_so(owner, acme):
    answer = owner.get(build_page_path(acme), {"thing": "0199a0c1-8c7f-7d3a-8a4e-6b7c0de2f901"})
    assert answer.status_code == 200
    assert "Changes of many records at once are listed without this filter." in answer.content.decode()


def test_audit_log_page_keeps_filters_on_next_page(owner, api, acme, books):
    for number in range(60):
        api.post("account_groups", {"name": f"Group {number}"})
    answer = owner.get(build_page_path(acme), {"kind": "accountGroup"})
    following = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', answer.content.decode())[1])
    rest = list_labels(owner.get(build_page_path(acme, following)))
    assert len(rest) == 24
    assert rest[-1] == ("Account group created", "Group 0")


def test_audit_log_is_filtered_by_a_former_member(owner, sign_in_browser, api, acme):
    eve = factories.make_member(acme, "eve@acme.example", role=Role.EDITOR)
    form = {"name": "Eve's account", "type": "bank", "defaultCurrency": "EUR"}
    assert sign_in_browser(eve, acme).client.post(f"/app/companies/{acme.id}/accounts/new", form).status_code == 303
    member = next(each for each in api.get("members").json() if each["email"] == eve.email)
    option = f'<option value="{eve.pk}"'
    assert f"{option}>{eve.display_name}<" in owner.get(build_page_path(acme)).content.decode()
    assert api.delete(f"members/{member['id']}").status_code == 200
    shown = owner.get(build_page_path(acme)).content.decode()
    assert shown.count(option) == 1
    assert f"{option}>{eve.display_name} (former member)<" in shown
    found = owner.get(build_page_path(acme), {"person": str(eve.pk)})
    assert list_labels(found) == [("Account created", "Eve's account")]


def test_audit_log_hides_former_members_without_permission(sign_in_browser, api, acme):
    gone = factories.make_member(acme, "gone@acme.example", role=Role.EDITOR)
    form = {"name": "Main", "type": "bank", "defaultCurrency": "EUR"}
    assert sign_in_browser(gone, acme).client.post(f"/app/companies/{acme.id}/accounts/new", form).status_code == 303
    member = next(each for each in api.get("members").json() if each["email"] == gone.email)
    assert api.delete(f"members/{member['id']}").status_code == 200
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    client = sign_in_browser(eve, acme).client
    assert str(gone.pk) not in client.get(build_page_path(acme)).content.decode()
    assert client.get(build_page_path(acme), {"person": str(gone.pk)}).status_code == 400


def test_audit_log_hides_names_and_values_without_permission(sign_in_browser, api, acme, books):
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    answer = sign_in_browser(eve, acme).client.get(build_page_path(acme))
    assert ("Transaction created", "", "An API key", {}) in list_changes(answer)
    assert ("Account updated", "", "Another person", {}) in list_changes(answer)
    shown = answer.content.decode().partition('class="card changes"')[2]
    for hidden in ("Nimbus", "Giro", "Hosting", "“test”", "Some Person"):
        assert hidden not in shown, hidden


def test_audit_log_hides_names_of_references_without_permission(sign_in_browser, api, acme, books):
    permissions = ["audit:read", "transactions:read"]
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=permissions)
    answer = sign_in_browser(eve, acme).client.get(build_page_path(acme), {"kind": "transaction"})
    categorized, created, *_ = list_changes(answer)
    assert categorized.fields == {"P&L line": ("—", "Cost of revenue")}
    assert (created.name, "Account" in created.fields) == ("Nimbus", False)


def test_every_event_type_has_a_label():
    assert sorted(action for action in EVENT_TYPES if not find_action_label(action)) == []
    assert EVENT_ACTIONS.keys() - GROUP_LABELS.keys() <= ENTITY_LABELS.keys()


@pytest.mark.parametrize("words", ["to=9999-12-31", "from=0001-01-01", "from=0001-01-01&to=9999-12-31"])
def test_audit_log_page_accepts_first_and_last_calendar_day(owner, acme, words):
    assert owner.get(f"/app/companies/{acme.id}/settings/activity?{words}").status_code == 200


def test_audit_log_names_deleted_rows_and_labels_codes(owner, api, acme, books):
    api.delete(f"transactions/{books['transactions'][0]}")
    assert api.post("categories", {"name": "Ads", "plTypes": ["cac"]}).status_code == 201
    answer = owner.get(build_page_path(acme))
    created, deleted = list_changes(answer)[:2]
    assert created.fields["P&L lines"] == ("—", "Sales and marketing")
    assert (deleted.label, deleted.name) == ("Transaction deleted", "Nimbus")
    assert deleted.fields["Amount"] == ("−€10.00", "—")


def test_audit_log_describes_moved_group_and_reordered_rules(owner, api, acme):
    made = [api.post("account_groups", {"name": f"Group {number}"}).json()["id"] for number in range(3)]
    assert owner.post(f"/app/companies/{acme.id}/accounts/groups/{made[2]}/move", {"to": "up"}).status_code == 303
    moved, created = list_changes(owner.get(build_page_path(acme)))[:2]
    assert (moved.label, moved.name, moved.fields) == ("Account group updated", "Group 2", {"Position": ("1", "2")})
    assert (created.label, created.name) == ("Account group created", "Group 2")
    rule = {"conditions": {"text": {"operator": "contains", "value": "a"}}}
    hosting = api.get_category_id("hosting")
    rules = [
        api.post("categorization_rules", rule | {"name": name, "action": {"categoryId": hosting}}).json()["id"]
        for name in "abc"
    ]
    for _ in range(2):
        api.put("categorization_rules/order", {"ids": rules[::-1]})
    labels = list_labels(owner.get(build_page_path(acme)))
    assert labels.count(("Rules reordered", "")) == 1
    assert labels[0] == ("Rules reordered", "")


def test_audit_log_describes_undone_changes(owner, api, acme, books):
    transactions = f"/app/companies/{acme.id}/transactions"
    answer = owner.post(transactions, {"act": "uncategorize", "id": books["transactions"]})
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    owner.post(transactions, {"act": "undo", "run": run})
    answer = owner.get(build_page_path(acme))
    assert list_changes(answer)[0][:2] == ("Bulk change undone (3)", "")
    assert list_changes(answer)[0].fields == {"Action": ("—", "uncategorize")}


def test_audit_log_counts_imported_transactions_and_links_them(owner, api, acme, books):
    item = {"accountId": books["account"], "date": "2026-03-16", "amountValue": "-7.00"}
    import_id = api.post("transactions/import", {"transactions": [item, item | {"amountValue": "-8.00"}]}).json()[
        "importId"
    ]
    answer = owner.get(build_page_path(acme), {"kind": "import"})
    assert list_changes(answer)[0].label == "Import finished (2)"
    link = f"/app/companies/{acme.id}/transactions?importId={import_id}"
    assert f'href="{link}"' in answer.content.decode()
    assert owner.get(link).status_code == 200


def test_audit_log_file_repeats_the_change_in_the_row_of_each_field(owner, acme, books):
    rows = b"".join(owner.get(build_page_path(acme), {"table": "audit-log", "kind": "account"})).decode().splitlines()
    assert rows[0].lstrip("\ufeff") == "When,Who,Activity,Name,Field,Before,After"
    assert rows[1].endswith(",Some Person,Account updated,Giro,Name,Main,Giro")


def test_times_are_in_the_time_zone_of_the_company(owner, api, acme, books):
    entry = AuditEntry.objects.for_company(acme.id).latest("id")
    for zone in ("Asia/Tokyo", "America/New_York"):
        assert api.put("", {"timeZone": zone}).status_code == 200
        local = entry.time.astimezone(ZoneInfo(zone))
        page = owner.get(build_page_path(acme)).content.decode()
        assert re.search(rf'<time datetime="{local:%Y-%m-%dT%H:%M}[^"]*">[^<]* {local:%H:%M}</time>', page), zone
