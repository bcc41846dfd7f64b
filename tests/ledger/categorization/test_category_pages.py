"""The pages on which a company keeps its categories, counterparties and account groups."""

import re
from html import unescape

import pytest

from companies.models import AuditEntry
from ledger.models import (
    Account,
    AccountGroup,
    Categorization,
    CategorizationRule,
    Category,
    Counterparty,
    Subscription,
)
from planning.models import PlannedTransaction
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/{path}"


def list_log_entries(company):
    return list(AuditEntry.objects.for_company(company.id).order_by("number").values_list("action", flat=True))


@pytest.fixture
def account(bank):
    return bank


@pytest.fixture
def snacks(api):
    body = {"name": "Snacks", "plTypes": ["ga"], "order": 50}
    return api.post("categories", body).json()["id"]


@pytest.fixture
def cloud(api):
    return api.post("categories", {"name": "Cloud", "plTypes": ["cogs", "pd"], "order": 51}).json()["id"]


def book_categorized(api, account, category, line, **more):
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-10.00"}
    row_id = api.post("transactions", row).json()["id"]
    body = {"selection": {"mode": "ids", "ids": [row_id]}, "categoryId": category, "plType": line, **more}
    assert api.post("transactions/categorize", body).json()["affected"] == 1
    return row_id


# ---------------------------------------------------------------------------------------------- categories


def test_category_page_lists_categories_in_order_with_lines_and_usage(viewer, api, acme, account, snacks):
    book_categorized(api, account, snacks, "ga")
    seen = get_page_text(viewer.get(build_page_path(acme, "settings/categories")))
    assert "Snacks General and administration · 1 use 1 0" in seen
    assert seen.index("Interest") < seen.index("Snacks")
    assert "New category" not in seen


def test_category_can_be_created_changed_and_moved_on_pages(owner, api, acme):
    form = {"name": " Snacks ", "emoji": "🍏", "plTypes": ["ga", "cogs"], "order": "3"}
    assert owner.post(build_page_path(acme, "settings/categories/new"), form).status_code == 303
    row = Category.objects.for_company(acme.id).get(name="Snacks")
    assert (row.emoji, row.pl_types, row.order) == ("🍏", ["cogs", "ga"], 3)
    answer = owner.post(build_page_path(acme, f"settings/categories/{row.id}"), form | {"name": "Fruit", "emoji": ""})
    assert answer.status_code == 303
    row.refresh_from_db()
    assert (row.name, row.emoji, row.financing) == ("Fruit", None, False)
    assert (
        owner.post(build_page_path(acme, f"settings/categories/{row.id}"), form | {"financing": "true"}).status_code
        == 303
    )
    row.refresh_from_db()
    assert (row.name, row.financing) == ("Snacks", True)
    assert (
        'name="financing" value="true" aria-describedby="financing-hint" checked'
        in owner.get(build_page_path(acme, f"settings/categories/{row.id}")).content.decode()
    )
    assert (
        owner.post(build_page_path(acme, f"settings/categories/{row.id}"), form | {"name": "Fruit"}).status_code == 303
    )
    before = [each["name"] for each in api.get("categories").json()]
    place = before.index("Fruit")
    for to, moved in (("down", place + 1), ("up", place)):
        assert owner.post(build_page_path(acme, f"settings/categories/{row.id}/move"), {"to": to}).status_code == 303
        assert [each["name"] for each in api.get("categories").json()].index("Fruit") == moved
    assert [each["name"] for each in api.get("categories").json()] == before
    first = api.get("categories").json()[0]["id"]
    owner.post(build_page_path(acme, f"settings/categories/{first}/move"), {"to": "up"})
    assert api.get("categories").json()[0]["id"] == first


def test_invalid_category_form_shows_field_errors(owner, acme):
    answer = owner.post(build_page_path(acme, "settings/categories/new"), {"name": "", "emoji": "", "order": "soon"})
    assert answer.status_code == 400
    assert re.findall(r'id="(\w+)-error"', answer.content.decode()) == ["name", "order", "plTypes"]
    assert "category.created" not in list_log_entries(acme)


def test_system_category_page_cannot_change_line_or_delete(owner, api, acme):
    row = next(each for each in api.get("categories").json() if each["systemKey"] == "hosting")
    shown = owner.get(build_page_path(acme, f"settings/categories/{row['id']}"))
    assert "Delete" not in get_page_text(shown)
    form = {"name": "Servers", "emoji": "", "order": str(row["order"]), "plTypes": ["ga"]}
    assert owner.post(build_page_path(acme, f"settings/categories/{row['id']}"), form).status_code == 303
    body = api.get(f"categories/{row['id']}").json()
    assert (body["name"], body["plTypes"]) == ("Servers", ["cogs"])
    assert owner.get(build_page_path(acme, f"settings/categories/{row['id']}/delete")).status_code == 200
    answer = owner.post(build_page_path(acme, f"settings/categories/{row['id']}/delete"), {})
    assert (answer.status_code, "System categories cannot be deleted" in get_page_text(answer)) == (400, True)


def test_category_in_use_is_deleted_on_page_with_a_replacement(owner, api, acme, account, snacks, cloud):
    row_id = book_categorized(api, account, snacks, "ga")
    assert api.put(f"accounts/{account}", {"defaultCategoryId": snacks}).status_code == 200
    other = api.post("categories", {"name": "Food", "plTypes": ["ga"]}).json()["id"]
    address = build_page_path(acme, f"settings/categories/{snacks}/delete")
    seen = owner.get(address)
    assert "1 transaction 1 account" in get_page_text(seen)
    assert (other in seen.content.decode(), cloud in seen.content.decode()) == (True, False)
    for wrong in ("", UNKNOWN_ID, "nothing"):
        answer = owner.post(address, {"replaceWith": wrong})
        assert (answer.status_code, 'id="replaceWith-error"' in answer.content.decode()) == (400, True)
    assert owner.post(address, {"replaceWith": other}).status_code == 303
    parts = api.get(f"transactions/{row_id}").json()["categorizations"]
    assert [part["categoryId"] for part in parts.values()] == [other]
    assert api.get(f"accounts/{account}").json()["defaultCategoryId"] == other
    assert api.get(f"categories/{snacks}").status_code == 404


def test_unused_category_is_deleted_on_page_without_a_replacement(owner, api, acme, snacks):
    address = build_page_path(acme, f"settings/categories/{snacks}/delete")
    assert "Not in use." in get_page_text(owner.get(address))
    assert owner.post(address, {}).status_code == 303
    assert api.get(f"categories/{snacks}").status_code == 404


# ---------------------------------------------------------------------------------------------- counterparties


@pytest.fixture
def counterparty_ids(api):
    """The ids of a vendor under two names, and of a customer."""

    def made(name, kind, **more):
        return api.post("counterparties", {"name": name, "type": kind, **more}).json()["id"]

    return {
        "old": made("Amazon EU", "vendor", externalId="amz"),
        "new": made("Amazon", "vendor"),
        "hooli": made("Hooli", "customer"),
    }


def test_counterparties_are_found_by_name_external_id_and_type(viewer, api, acme, account, counterparty_ids, cloud):
    book_categorized(api, account, cloud, "cogs", counterparty={"id": counterparty_ids["old"]})
    address = build_page_path(acme, "settings/counterparties")
    assert "Amazon EU Vendor amz 1" in get_page_text(viewer.get(address))
    for query, names in (({"q": "AMZ"}, ["Amazon EU"]), ({"type": "customer"}, ["Hooli"]), ({"q": "x\0y"}, [])):
        shown = viewer.get(address, query).content.decode()
        assert re.findall(r"<strong>(Amazon EU|Amazon|Hooli)</strong>", shown) == names
    assert "No counterparties found" in get_page_text(viewer.get(address, {"q": "zzz"}))


def test_counterparty_list_is_paged_by_name(viewer, acme, audit_context):
    rows = [
        Counterparty(company=acme, name=f"N{number:03}", type="vendor").mark_created(audit_context)
        for number in range(60)
    ]
    Counterparty.objects.bulk_create(rows)
    answer, seen = viewer.get(build_page_path(acme, "settings/counterparties"), {"q": "n"}), []
    seen += re.findall(r"<strong>(N\d+)</strong>", answer.content.decode())
    following = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)" rel="next"', answer.content.decode())[1])
    assert "q=n" in following
    answer = viewer.get(build_page_path(acme, f"settings/counterparties{following}"))
    seen += re.findall(r"<strong>(N\d+)</strong>", answer.content.decode())
    assert seen == [f"N{number:03}" for number in range(60)]
    assert viewer.get(build_page_path(acme, "settings/counterparties?cursor=x")).status_code == 400


def test_counterparty_can_be_created_changed_and_deleted_on_pages(owner, api, acme):
    form = {"name": "Initech", "type": "vendor", "externalId": ""}
    assert owner.post(build_page_path(acme, "settings/counterparties/new"), form).status_code == 303
    row = Counterparty.objects.for_company(acme.id).get(name="Initech")
    assert row.external_id is None
    address = build_page_path(acme, f"settings/counterparties/{row.id}")
    assert owner.post(address, form | {"type": "authority", "externalId": "i-1"}).status_code == 303
    assert api.get(f"counterparties/{row.id}").json()["type"] == "authority"
    answer = owner.post(address, form | {"name": ""})
    assert (answer.status_code, 'id="name-error"' in answer.content.decode()) == (400, True)
    assert owner.post(f"{address}/delete").status_code == 303
    assert api.get(f"counterparties/{row.id}").status_code == 404


def test_merging_counterparties_moves_all_references(owner, api, acme, account, counterparty_ids, cloud):
    row_id = book_categorized(api, account, cloud, "cogs", counterparty={"id": counterparty_ids["old"]})
    tag = api.get(f"transactions/{row_id}")["ETag"]
    plan = {"name": "Prime", "accountId": account, "startDate": "2027-01-01", "amountValue": "-9.00"}
    plan_id = api.post("planned_transactions", plan | {"counterparty": {"id": counterparty_ids["old"]}}).json()["id"]
    rule = {
        "name": "Amazon",
        "conditions": {"counterpartyId": counterparty_ids["old"]},
        "action": {"categoryId": cloud, "plType": "cogs", "counterparty": {"id": counterparty_ids["old"]}},
    }
    rule_id = api.post("categorization_rules", rule).json()["id"]
    address = build_page_path(acme, f"settings/counterparties/{counterparty_ids['old']}/merge")
    assert "1 transaction 1 rule 1 planned transaction" in get_page_text(owner.get(address))
    before = len(list_log_entries(acme))
    assert owner.post(address, {"into": "amazon"}).status_code == 303
    new = counterparty_ids["new"]
    parts = api.get(f"transactions/{row_id}").json()["categorizations"].values()
    assert [part["counterparty"]["id"] for part in parts] == [new]
    assert api.get(f"transactions/{row_id}")["ETag"] != tag
    assert api.get(f"planned_transactions/{plan_id}").json()["counterparty"]["id"] == new
    stored = api.get(f"categorization_rules/{rule_id}").json()
    assert (stored["conditions"]["counterpartyId"], stored["action"]["counterparty"]["id"]) == (new, new)
    assert api.get(f"counterparties/{counterparty_ids['old']}").status_code == 404
    assert api.get(f"counterparties/{new}").json()["externalId"] == "amz"
    assert list_log_entries(acme)[before:] == ["counterparty.merged", "counterparty.updated"]
    for model, column in ((Categorization, "counterparty"), (CategorizationRule, "counterparty"),
                          (PlannedTransaction, "counterparty"), (Subscription, "customer")):  # fmt: skip
        assert not model.objects.for_company(acme.id).filter(**{column: counterparty_ids["old"]}).exists()


def test_merging_customers_combines_their_subscription_metrics(owner, api, acme, counterparty_ids):
    other = api.post("counterparties", {"name": "Hooli Inc", "type": "customer"}).json()["id"]
    for customer, amount in ((counterparty_ids["hooli"], "100.00"), (other, "20.00")):
        subscription = api.post("subscriptions", {"customerId": customer}).json()["id"]
        event = {"subscriptionId": subscription, "effectiveDate": "2026-01-10", "amountValue": amount}
        assert api.post("subscription_events", event | {"amountCurrency": "EUR"}).status_code == 201
    query = {"mrrType": "mrr", "startMonth": "2026-01", "endMonth": "2026-01"}
    (month,) = api.post("data/monthlyData", query).json()
    assert (month["new"], month["newCount"]) == (120, 2)
    vendor = build_page_path(acme, f"settings/counterparties/{other}/merge")
    refused = owner.post(vendor, {"into": "Amazon"})
    assert (
        refused.status_code,
        "The counterparty has subscriptions. Merge it into a customer." in get_page_text(refused),
    ) == (400, True)
    assert owner.post(vendor, {"into": "Hooli"}).status_code == 303
    (month,) = api.post("data/monthlyData", query).json()
    assert (month["new"], month["newCount"], month["end"]) == (120, 1, 120)


@pytest.mark.parametrize(
    ("into", "said"),
    [
        ("", "Choose the counterparty to merge into."),
        ("Nobody", "This counterparty does not exist."),
        ("Amazon EU", "Choose a different counterparty."),
    ],
)
def test_invalid_merge_target_shows_a_field_error(owner, acme, counterparty_ids, into, said):
    answer = owner.post(
        build_page_path(acme, f"settings/counterparties/{counterparty_ids['old']}/merge"), {"into": into}
    )
    assert (answer.status_code, said in get_page_text(answer)) == (400, True)
    assert Counterparty.objects.for_company(acme.id).count() == 3


# ---------------------------------------------------------------------------------------------- account groups


def test_account_groups_can_be_created_changed_moved_and_deleted_on_pages(owner, api, acme):
    for name in ("Banks", "Cards"):
        form = {"name": name, "order": "0"}
        assert owner.post(build_page_path(acme, "accounts/groups/new"), form).status_code == 303
    banks = AccountGroup.objects.for_company(acme.id).get(name="Banks")
    assert owner.post(build_page_path(acme, f"accounts/groups/{banks.id}/move"), {"to": "down"}).status_code == 303
    assert [each["name"] for each in api.get("account_groups").json()] == ["Cards", "Banks"]
    form = {"name": "Old banks", "order": "7", "archived": "on"}
    assert owner.post(build_page_path(acme, f"accounts/groups/{banks.id}"), form).status_code == 303
    banks.refresh_from_db()
    assert (banks.name, banks.order, banks.archived) == ("Old banks", 7, True)
    assert "Old banks archived 0" in get_page_text(owner.get(build_page_path(acme, "accounts/groups")))
    assert owner.post(build_page_path(acme, f"accounts/groups/{banks.id}/delete")).status_code == 303
    assert not AccountGroup.objects.for_company(acme.id).filter(id=banks.id).exists()


def test_account_group_moves_are_saved_together_and_keep_concurrent_moves(owner, api, acme, account):
    banks = api.post("account_groups", {"name": "Banks"}).json()["id"]
    other = api.post("accounts", {"name": "Card", "type": "creditCard"}).json()["id"]
    seen = owner.get(build_page_path(acme, "accounts/groups")).content.decode()
    assert f'name="group-{account}"' in seen
    api.put(f"accounts/{other}/change_group", {"accountGroupId": banks})  # somebody else, meanwhile
    form = {f"was-{account}": "", f"group-{account}": banks, f"was-{other}": "", f"group-{other}": ""}
    before = len(list_log_entries(acme))
    assert owner.post(build_page_path(acme, "accounts/groups"), form).status_code == 303
    groups = Account.objects.for_company(acme.id).values_list("account_group_id", flat=True)
    assert {str(each) for each in groups} == {banks}
    assert list_log_entries(acme)[before:] == ["account.groupChanged"]
    refused = owner.post(build_page_path(acme, f"accounts/groups/{banks}/delete"), follow=True)
    assert "The group still has accounts, including archived ones. Move them to another group first." in get_page_text(
        refused
    )


@pytest.mark.parametrize("wrong", [UNKNOWN_ID, "nothing"])
def test_unknown_account_group_moves_no_account(owner, acme, account, wrong):
    form = {f"was-{account}": "", f"group-{account}": wrong}
    answer = owner.post(build_page_path(acme, "accounts/groups"), form)
    assert (answer.status_code, 'role="alert"' in answer.content.decode()) == (400, True)
    assert Account.objects.for_company(acme.id).get().account_group_id is None


def test_counterparty_page_links_back_to_searched_list(api, owner, acme):
    api.post("counterparties", {"name": "Nimbus", "type": "vendor"})
    listed = build_page_path(acme, "settings/counterparties?q=nim&type=vendor")
    address = re.search(r'href="([^"]+)"><strong>Nimbus', owner.get(listed).content.decode())[1]
    assert unescape(owner.get(address).content.decode()).count(f'href="{listed}"') == 2, "above, and to cancel"
    saved = owner.post(address, {"name": "Nimbus Cloud", "type": "vendor", "externalId": ""})
    assert saved["Location"] == listed
