"""What rules and accounts say of what arrives, over HTTP; what a person decided is never changed."""

import pytest

from tests.ledger.conftest import get_page_text, list_month_results, list_pl_amounts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def create_rule(api, hosting):
    """Create a rule for transactions with "nimbus" in a text."""

    def create(value="nimbus", category=None, conditions=None, **action):
        body = {
            "name": "Hosting",
            "conditions": conditions or {"text": {"operator": "contains", "value": value}},
            "action": {"categoryId": category or hosting} | action,
        }
        answer = api.post("categorization_rules", body)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    return create


def import_items(api, *items, **request):
    """What an import stored, by what stands in fromTo."""
    answer = api.post("transactions/import", {"transactions": list(items)} | request)
    assert answer.status_code == 200, answer.content
    return {each["fromTo"]: each for each in api.get("transactions").json()}


def build_item(account, name="Nimbus Ltd", amount="-10.00", date="2026-03-15", **more):
    return {"accountId": account, "date": date, "amountValue": amount, "fromTo": name} | more


def get_assignment(transaction):
    """(assigned by itself, the notes of its parts)"""
    notes = [part["sourceNote"] for part in transaction["categorizations"].values()]
    return transaction["categorizationsAutoAssigned"], notes


def test_transaction_is_assigned_by_first_matching_rule(api, books, bank, acme, create_rule, hosting):
    later = create_rule(category=books.get_category_id("support"))
    first = create_rule("NÍMBUS")
    api.put("categorization_rules/order", {"ids": [first, later]})
    made = books.create_transaction(bank, "-10.00", fromTo="Nimbus Ltd")
    assert get_assignment(made) == (True, [f"rule:{first}"])
    (part,) = made["categorizations"].values()
    assert (part["categoryId"], list_pl_amounts(part)) == (hosting, {"cogs": -10})
    assert list_month_results(acme) == {("2026-03", "cogs"): -10}
    assert api.get("transactions", {"open": "true"}).json() == []
    counts = {each["id"]: (each["matchedCount"], bool(each["lastMatchedTime"])) for each in list_rules(api)}
    assert counts == {first: (1, True), later: (0, False)}


def list_rules(api):
    return api.get("categorization_rules").json()


def test_rule_separates_tax_from_amount(api, books, bank, create_rule):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    create_rule(
        counterparty={"id": vendor},
        usingDateRule={"type": "month"},
        passThroughTaxPercent=19,
    )
    for amount, tax in [("-119.00", -19), ("-10.00", -1.6), ("0.03", 0), ("0.05", 0.01)]:
        (part,) = books.create_transaction(bank, amount, fromTo="nimbus")["categorizations"].values()
        assert part["passThroughTax"] == tax
        assert list_pl_amounts(part).get("cogs", 0) == pytest.approx(float(amount) - tax)
        assert (part["computedStartDate"], part["computedEndDate"]) == ("2026-03-01", "2026-03-31")
        assert part["counterparty"] == {"type": "vendor", "id": vendor}


def test_import_applies_rules_in_one_pass(api, bank, create_rule, django_assert_max_num_queries):
    made = create_rule()
    items = [build_item(bank, f"Nimbus {n}", externalId=str(n)) for n in range(60)]
    with django_assert_max_num_queries(40):
        result = import_items(api, *items, build_item(bank, "Somebody"))
    assert [get_assignment(result[f"Nimbus {n}"]) for n in range(60)] == [(True, [f"rule:{made}"])] * 60
    assert get_assignment(result["Somebody"]) == (False, [])
    assert list_rules(api)[0]["matchedCount"] == 60


def test_rules_skip_pending_categorized_and_zero_transactions(api, books, bank, create_rule, hosting):
    create_rule(conditions={"direction": "out"})
    support = books.get_category_id("support")
    items = import_items(
        api,
        build_item(bank, "pending", pending=True),
        build_item(bank, "decided", categoryId=support),
        build_item(bank, "nothing", amount="0.00"),
        build_item(bank, "for rules"),
    )
    assert [get_assignment(items[name]) for name in ("pending", "decided", "nothing")] == [
        (False, []),
        (False, [None]),
        (False, []),
    ]
    assert get_assignment(items["for rules"])[0]
    excluded = books.create_transaction(bank, "-5.00", fromTo="excluded", excludeFromAutoCategorization=True)
    assert get_assignment(excluded) == (False, [])
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "-50.00"})
    (initial,) = api.get("transactions", {"source": "initialBalance"}).json()
    assert get_assignment(initial) == (False, [None])


def test_edited_transaction_is_matched_against_rules_again(api, books, bank, create_rule):
    made = create_rule(conditions={"text": {"operator": "contains", "value": "nimbus"}, "minAmount": "20"})
    row = books.create_transaction(bank, "-10.00", fromTo="x", pending=True)
    path = f"transactions/{row['id']}"
    for values, expected in [
        ({"notes": "x"}, (False, [])),
        ({"fromTo": "Nimbus"}, (False, [])),
        ({"amountValue": "-20.00"}, (False, [])),
        ({"pending": False}, (True, [f"rule:{made}"])),
    ]:
        answer = api.put(path, values)
        assert get_assignment(answer.json()) == expected
        assert answer["ETag"] == api.get(path)["ETag"]


def test_rule_assignment_follows_amount_changes(api, books, bank, acme, create_rule):
    create_rule(passThroughTaxPercent=25)
    row = books.create_transaction(bank, "-100.00", fromTo="nimbus")
    for amount, tax in [("-50.00", -10), ("-1000.00", -200), ("10.00", 2)]:
        changed = api.put(f"transactions/{row['id']}", {"amountValue": amount}).json()
        (part,) = changed["categorizations"].values()
        assert (get_assignment(changed)[0], part["passThroughTax"]) == (True, tax)
        assert list_pl_amounts(part) == {"cogs": float(amount) - tax}
    api.delete(f"categorization_rules/{list_rules(api)[0]['id']}")
    changed = api.put(f"transactions/{row['id']}", {"amountValue": "-5.00", "date": "2026-04-01"}).json()
    (part,) = changed["categorizations"].values()
    assert (get_assignment(changed)[0], part["passThroughTax"], list_pl_amounts(part)) == (True, -1, {"cogs": -4})
    assert list_month_results(acme) == {("2026-04", "cogs"): -4}


def test_manual_change_replaces_auto_assignment(api, books, bank, create_rule, hosting):
    create_rule()
    support = books.get_category_id("support")
    ids = [books.create_transaction(bank, "-10.00", fromTo="nimbus")["id"] for _ in range(4)]
    assert books.set_categorizations(ids[0], {"categoryId": hosting, "plSplit": {"cogs": -10}}).status_code == 200
    api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [ids[1]]}, "categoryId": support})
    api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [ids[2]]}})
    whole = api.get(f"transactions/{ids[3]}").json()
    api.put(f"transactions/{ids[3]}/categorizations", {"categorizations": whole["categorizations"]})
    assert [books.get_transaction(each)["categorizationsAutoAssigned"] for each in ids] == [False] * 4
    applied = api.post("categorization_rules/apply", {"selection": {"mode": "all", "confirm": True}}).json()
    assert applied["affected"] == 1  # the one that is open again
    assert get_assignment(books.get_transaction(ids[1])) == (False, [None])


def test_account_default_applies_after_rules(api, books, create_rule, hosting):
    support = books.get_category_id("support")
    bank = books.create_account(defaultCategoryId=support)
    made = create_rule()
    items = import_items(api, build_item(bank), build_item(bank, "Somebody"))
    assert get_assignment(items["Nimbus Ltd"]) == (True, [f"rule:{made}"])
    assert get_assignment(items["Somebody"]) == (True, ["account"])
    (part,) = items["Somebody"]["categorizations"].values()
    assert part["categoryId"] == support


def test_uncategorizable_transactions_stay_open(api, books, bank, acme, create_rule, set_exchange_rates):
    """A rate is missing, or a period lies before the calendar: nobody asked for it, so nothing is refused."""
    set_exchange_rates(USD="1.25")
    create_rule(usingDateRule={"type": "previousMonth"})
    items = import_items(
        api, build_item(bank, "nimbus a", amountCurrency="GBP"), build_item(bank, "nimbus b", date="0001-01-01")
    )
    assert [get_assignment(each) for each in items.values()] == [(False, [])] * 2


def test_import_undo_removes_rule_assignments(api, books, bank, acme, create_rule):
    create_rule()
    done = api.post("transactions/import", {"transactions": [build_item(bank)]}).json()
    answer = api.delete(f"imports/{done['importId']}").json()
    assert (answer["deletedCount"], answer["changedCount"]) == (1, 0)
    assert list_month_results(acme) == {}


def test_transaction_list_filters_by_assignment_source(api, books, bank, create_rule):
    made = create_rule()
    mine, auto = books.create_transaction(bank, fromTo="x")["id"], books.create_transaction(bank, fromTo="nimbus")["id"]
    for flag, expected in [("true", [auto]), ("false", [mine])]:
        listed = api.get("transactions", {"categorizationsAutoAssigned": flag}).json()
        assert [each["id"] for each in listed] == expected
    assert [each["id"] for each in api.get("transactions", {"assignedBy": f"rule:{made}"}).json()] == [auto]
    assert api.get("transactions", {"assignedBy": "history"}).json() == []


def test_transaction_pages_show_and_filter_by_assignment_source(api, books, create_rule, sign_in_browser, alice, acme):
    bank = books.create_account(defaultCategoryId=books.get_category_id("support"))
    made, gone = create_rule(), create_rule("cirrus")
    texts = ("nimbus", "cirrus", "somebody")
    by_rule, by_none, by_account = [books.create_transaction(bank, fromTo=text)["id"] for text in texts]
    api.delete(f"categorization_rules/{gone}")
    client, base = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    pages = [client.get(f"{base}/transactions/{each}") for each in (by_rule, by_none, by_account)]
    answer = ("Rule “Hosting”", "Deleted rule", "Default category of the account")
    for page, words in zip(pages, answer, strict=True):
        assert f"Categorized by: {words}" in get_page_text(page)
        assert "rule:" not in get_page_text(page)
    listed = client.get(f"{base}/transactions", {"assignedBy": f"rule:{made}"})
    assert "Categorized by: Rule “Hosting”" in get_page_text(listed)
    assert f'<option value="rule:{made}" selected>Rule “Hosting”' in listed.content.decode()
    response = client.get(f"{base}/transactions", {"assignedBy": "account"})
    assert ("somebody" in get_page_text(response), "nimbus" in get_page_text(response)) == (True, False)
    assert '<option value="account" selected>' in response.content.decode()


# ---------------------------------------------------------------------------------------------- trying and applying


def preview_rule(api, **body):
    answer = api.post("categorization_rules/preview", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


ALL_SELECTION = {"selection": {"mode": "all", "confirm": True}}


def apply_rules(api, **body):
    answer = api.post("categorization_rules/apply", body or ALL_SELECTION)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_rule_preview_reports_matches_and_stores_nothing(api, books, bank, hosting):
    support = books.get_category_id("support")
    ids = [books.create_transaction(bank, fromTo=name)["id"] for name in ("Nimbus", "Nimbus B", "Other")]
    api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [ids[0]]}, "categoryId": support})
    rule = {"conditions": {"fromTo": {"operator": "startsWith", "value": "nimbus"}}, "action": {"categoryId": hosting}}
    result = preview_rule(api, rule=rule)
    assert result == {
        "matched": 2,
        "changed": 1,
        "byRule": [{"ruleId": None, "count": 2}],
        "sample": [{"transactionId": ids[1], "ruleId": None, "categoryId": hosting}],
    }
    assert preview_rule(api, rule=rule, selection={"mode": "ids", "ids": [ids[2]]})["matched"] == 0
    assert preview_rule(api) == {"matched": 0, "changed": 0, "byRule": [], "sample": []}
    assert [books.get_transaction(each)["categorizationsAutoAssigned"] for each in ids] == [False] * 3


def test_applying_rules_changes_open_and_rule_assigned_transactions(api, books, bank, acme, create_rule, hosting):
    names = ["Nimbus", "Nimbus B", "Nimbus C", "Other"]
    ids = dict(zip(names, [books.create_transaction(bank, "-10.00", fromTo=name)["id"] for name in names], strict=True))
    office, sales = books.get_category_id("officeAndAdmin"), books.get_category_id("sales")
    decided = {"selection": {"mode": "ids", "ids": [ids["Nimbus"]]}, "categoryId": office}
    api.post("transactions/categorize", decided)
    first = create_rule()
    done = apply_rules(api)
    assert (done["affected"], done["byRule"]) == (2, [{"ruleId": first, "count": 2}])
    assert apply_rules(api)["affected"] == 0
    second = create_rule("nimbus b", category=sales)
    api.put("categorization_rules/order", {"ids": [second, first]})
    assert preview_rule(api)["byRule"] == [{"ruleId": first, "count": 2}, {"ruleId": second, "count": 1}]
    assert (preview_rule(api)["matched"], preview_rule(api)["changed"]) == (3, 1)
    done = apply_rules(api)
    assert (done["affected"], done["byRule"]) == (1, [{"ruleId": second, "count": 1}])
    assert get_assignment(books.get_transaction(ids["Nimbus B"])) == (True, [f"rule:{second}"])
    assert list_month_results(acme) == {("2026-03", "cogs"): -10, ("2026-03", "cac"): -10, ("2026-03", "ga"): -10}
    back = api.delete(f"categorization_runs/{done['runId']}").json()
    assert (back["affected"], back["keptCount"]) == (1, 0)
    assert get_assignment(books.get_transaction(ids["Nimbus B"])) == (True, [f"rule:{first}"])
    assert {each["id"]: each["matchedCount"] for each in list_rules(api)} == {first: 2, second: 0}
    assert list_month_results(acme) == {("2026-03", "cogs"): -20, ("2026-03", "ga"): -10}


def test_rule_runs_can_be_undone_one_after_another(api, books, bank, acme, create_rule, hosting):
    """What a run gave, and a later one that was taken back, nobody has touched."""
    ids = [books.create_transaction(bank, "-10.00", fromTo=name)["id"] for name in ("Nimbus", "Nimbus B")]
    first = create_rule()
    runs = [apply_rules(api)["runId"]]
    order = [first]
    for number in range(3):
        order.insert(
            0, create_rule("nimbus b", category=books.get_category_id("sales" if number % 2 else "officeAndAdmin"))
        )
        api.put("categorization_rules/order", {"ids": order})
        runs.append(apply_rules(api)["runId"])
    back = [api.delete(f"categorization_runs/{run}").json() for run in reversed(runs)]
    assert [(each["affected"], each["keptCount"]) for each in back] == [(1, 0), (1, 0), (1, 0), (2, 0)]
    assert [books.get_transaction(each)["categorizations"] for each in ids] == [{}, {}]
    assert list_month_results(acme) == {}


def test_undo_keeps_categories_of_later_runs(api, books, bank, create_rule, hosting):
    row = books.create_transaction(bank, "-10.00", fromTo="Nimbus")["id"]
    first = create_rule()
    earlier = apply_rules(api)["runId"]
    second = create_rule("nimbus", category=books.get_category_id("sales"))
    api.put("categorization_rules/order", {"ids": [second, first]})
    later = apply_rules(api)["runId"]
    back = api.delete(f"categorization_runs/{earlier}").json()
    assert (back["affected"], back["keptCount"]) == (0, 1)
    assert api.delete(f"categorization_runs/{later}").json()["affected"] == 1
    assert get_assignment(books.get_transaction(row)) == (True, [f"rule:{first}"])


def test_rule_run_undo_skips_transactions_recategorized_by_hand(api, books, bank, acme, create_rule, hosting):
    ids = [books.create_transaction(bank, "-10.00", fromTo="Nimbus")["id"] for _ in range(4)]
    create_rule()
    run = apply_rules(api)
    part = next(iter(books.get_transaction(ids[0])["categorizations"].items()))
    api.put(f"transactions/{ids[0]}/categorizations", {"categorizations": dict([part])})
    api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [ids[1]]}})
    api.put(f"transactions/{ids[2]}", {"notes": "looked at"})
    back = api.delete(f"categorization_runs/{run['runId']}")
    assert (back.status_code, back.json()["affected"], back.json()["keptCount"]) == (200, 2, 2)
    assert [bool(books.list_categorizations(each)) for each in ids] == [True, False, False, False]
    assert list_month_results(acme) == {("2026-03", "cogs"): -10}
    assert api.delete(f"categorization_runs/{run['runId']}").status_code == 404


def test_rule_can_match_by_counterparty(api, books, bank, hosting):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Café Nimbus"}).json()["id"]
    known, named = (
        books.create_transaction(bank, "-10.00", fromTo="CN 77")["id"],
        books.create_transaction(bank, fromTo="CAFE  NIMBUS")["id"],
    )
    books.set_categorizations(
        known, {"categoryId": hosting, "plSplit": {"cogs": -10}, "counterparty": {"type": "vendor", "id": vendor}}
    )
    books.create_transaction(bank, fromTo="Somebody")
    result = preview_rule(api, rule={"conditions": {"counterpartyId": vendor}, "action": {"categoryId": hosting}})
    assert (result["matched"], [each["transactionId"] for each in result["sample"]]) == (2, [named])


def test_applying_rules_to_all_needs_confirmation(api, create_rule):
    create_rule()
    answer = api.post("categorization_rules/apply", {"selection": {"mode": "all"}})
    assert (answer.status_code, answer.json()["code"]) == (400, "confirmation_required")
    assert preview_rule(api, selection={"mode": "all"})["matched"] == 0


def test_rule_assignments_are_audited(api, books, bank, create_rule):
    made = create_rule()
    import_items(api, build_item(bank))
    books.create_transaction(bank, fromTo="Nimbus")
    entries = {each["action"]: each["after"] for each in api.get("audit_log").json()}
    assert entries["import.finished"]["assigned"] == {made: 1}
    assert entries["transaction.created"]["categorizationsAutoAssigned"] is True
