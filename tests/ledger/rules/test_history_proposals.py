"""What the company's own history proposes, assigns where it is certain, and teaches, over HTTP."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def list_proposals(api, *ids):
    answer = api.post("transactions/proposals", {"transactionIds": list(ids)})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_counterparty_is_proposed_its_earlier_categories(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")
    create_history(hosting, times=3)
    create_history(support)
    open_one = books.create_transaction(bank, fromTo="NIMBUS LTD")["id"]
    proposal = list_proposals(api, open_one)[open_one]
    assert [(each["categoryId"], each["plType"], each["counterparty"]) for each in proposal] == [
        (hosting, "cogs", None),
        (support, "cogs", None),
    ]
    assert [each["basis"] for each in proposal] == [
        {"kind": "counterparty", "seen": 4, "agreed": 3},
        {"kind": "counterparty", "seen": 4, "agreed": 1},
    ]
    assert 1 > proposal[0]["confidence"] > proposal[1]["confidence"] > 0


def test_chosen_counterparty_is_proposed_and_matched_by_its_name(api, books, bank, hosting):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    known = books.create_transaction(bank, "-10.00", fromTo="NMB 4711")["id"]
    part = {"categoryId": hosting, "plSplit": {"cogs": -10}, "counterparty": {"type": "vendor", "id": vendor}}
    books.set_categorizations(known, part)
    by_text, by_name = (
        books.create_transaction(bank, fromTo="nmb 4711")["id"],
        books.create_transaction(bank, fromTo="NIMBUS")["id"],
    )
    proposals = list_proposals(api, by_text, by_name)
    assert list(proposals) == [by_text, by_name]
    for each in proposals.values():
        assert each[0]["counterparty"] == {"type": "vendor", "id": vendor}
        assert each[0]["basis"] == {"kind": "counterparty", "seen": 1, "agreed": 1}


def test_text_does_not_propose_category_for_opposite_direction(api, books, bank, savings):
    received = books.create_transaction(bank, "100.00", fromTo="Globex", description="Invoice 1042")["id"]
    revenue = books.get_category_id("revenueRecurring")
    selection = {"mode": "ids", "ids": [received]}
    assert api.post("transactions/categorize", {"selection": selection, "categoryId": revenue}).status_code == 200
    paid = books.create_transaction(savings, "-90.00", fromTo="New", description="Invoice 7041")["id"]
    other = books.create_transaction(savings, "90.00", fromTo="Newer", description="Invoice 1043")["id"]
    proposals = list_proposals(api, paid, other)
    assert proposals[paid] == []
    assert proposals[other][0]["categoryId"] == revenue


def test_new_counterparty_is_proposed_by_text_then_account(api, books, bank, savings, create_history, hosting):
    support, other = books.get_category_id("support"), books.get_category_id("marketing")
    create_history(hosting, name="A", description="Rent for servers March")
    create_history(support, name="B", description="Rent for phones March")
    create_history(other, times=3, name="C", account=savings)
    by_text = books.create_transaction(bank, fromTo="New", description="Rent for servers April 2026")["id"]
    by_account = books.create_transaction(savings, fromTo="New", description="Hello")["id"]
    nothing = books.create_transaction(savings, "5.00", fromTo="New")["id"]
    proposals = list_proposals(api, by_text, by_account, nothing)
    assert proposals[by_text][0]["categoryId"] == hosting
    assert proposals[by_text][0]["basis"] == {"kind": "text", "seen": 1, "agreed": 1}
    assert (proposals[by_account][0]["categoryId"], proposals[by_account][0]["basis"]["kind"]) == (other, "account")
    assert proposals[nothing] == []


def test_history_follows_transaction_changes(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")

    def known(name):
        result = list_proposals(api, books.create_transaction(bank, fromTo=name)["id"])
        return [
            (each["categoryId"], each["basis"]["agreed"], each["basis"]["seen"])
            for proposals in result.values()
            for each in proposals
            if each["basis"]["kind"] == "counterparty"
        ]

    first, second, third = create_history(hosting, times=3)
    assert known("nimbus LTD") == [(hosting, 3, 3)]
    api.put(f"transactions/{first}", {"fromTo": "Cumulus"})
    assert (known("Nimbus Ltd"), known("Cumulus")) == ([(hosting, 2, 2)], [(hosting, 1, 1)])
    selection = {"selection": {"mode": "ids", "ids": [second]}}
    api.post("transactions/categorize", selection | {"categoryId": support})
    assert sorted(known("Nimbus Ltd")) == sorted([(support, 1, 2), (hosting, 1, 2)])
    api.put(f"transactions/{second}", {"amountValue": "-150.00"})
    assert known("Nimbus Ltd") == [(hosting, 1, 1)]
    api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [third]}})
    assert known("Nimbus Ltd") == []
    assert api.delete(f"transactions/{first}").status_code == 200
    assert known("Cumulus") == []


def test_only_latest_twenty_uses_of_a_name_count(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")
    create_history(hosting, times=15, date="2026-01-05")
    create_history(support, times=15, date="2026-02-05")
    create_history(hosting, name="Other", date="2026-03-05")
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    proposal = list_proposals(api, row)[row]
    assert [(each["categoryId"], each["basis"]["agreed"], each["basis"]["seen"]) for each in proposal] == [
        (support, 15, 20),
        (hosting, 5, 20),
    ]


def test_same_amount_outweighs_most_frequent_category_of_name(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")
    create_history(hosting, times=3, amount="-20.00")
    create_history(support, times=2, amount="-750.00")
    small, large = (
        books.create_transaction(bank, "-20.00", fromTo="Nimbus Ltd")["id"],
        books.create_transaction(bank, "-750.00", fromTo="Nimbus Ltd")["id"],
    )
    proposals = list_proposals(api, small, large)
    assert [(each["categoryId"], each["basis"]["agreed"], each["basis"]["seen"]) for each in proposals[small]] == [
        (hosting, 3, 5),
        (support, 2, 5),
    ]
    assert [(each["categoryId"], each["basis"]["agreed"], each["basis"]["seen"]) for each in proposals[large]] == [
        (support, 2, 5),
        (hosting, 3, 5),
    ]
    for choices in proposals.values():
        assert choices[0]["confidence"] > 0.5 > choices[1]["confidence"]


@pytest.mark.parametrize(
    ("like_hosting", "like_support"),
    [
        pytest.param({"amount": "-21.00"}, {"amount": "-700.00"}, id="amounts of one size"),
        pytest.param({"description": "Servers in Berlin, May"}, {"description": "Phones May"}, id="words of the text"),
        pytest.param({"account": "savings"}, {"account": "bank"}, id="the account"),
    ],
)
def test_most_similar_transaction_decides_the_proposal(
    api, books, bank, savings, create_history, hosting, like_hosting, like_support
):
    accounts = {"bank": bank, "savings": savings}

    def known_by(traits):
        return traits | ({"account": accounts[traits["account"]]} if "account" in traits else {})

    support = books.get_category_id("support")
    create_history(support, times=4, **known_by(like_support))
    create_history(hosting, times=2, **known_by(like_hosting))
    create_history(support, times=2, **known_by(like_support))
    values = {"amount": "-20.00", "description": "Servers in Berlin, June", "account": "savings"}
    values = known_by({name: values[name] for name in like_hosting})
    row = books.create_transaction(
        values.pop("account", bank), values.pop("amount", "-100.00"), fromTo="Nimbus Ltd", **values
    )["id"]
    assert list_proposals(api, row)[row][0]["categoryId"] == hosting


def test_new_name_is_proposed_categories_of_names_sharing_a_rare_word(api, books, bank, create_history, hosting):
    support, other = books.get_category_id("support"), books.get_category_id("marketing")
    create_history(other, times=5, name="Another person Ltd")
    create_history(hosting, times=2, name="Northern Railways Ltd")
    create_history(support, name="Northern Phones")
    both, ltd = (
        books.create_transaction(bank, fromTo="NORTHERN Railways (Leeds)")["id"],
        books.create_transaction(bank, fromTo="Ltd 24")["id"],
    )
    proposals = list_proposals(api, both, ltd)
    assert [(each["categoryId"], each["basis"]) for each in proposals[both]] == [
        (hosting, {"kind": "text", "seen": 3, "agreed": 2}),
        (support, {"kind": "text", "seen": 3, "agreed": 1}),
    ]
    assert proposals[both][0]["confidence"] < 0.5
    assert {each["basis"]["kind"] for each in proposals[ltd]} == {"account"}


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ("Deutsche Post AG", "Deutsche Bank Darlehen"),
        ("Nordbank Bank eG", "Ostsee Bank"),
        ("German Paper Shop", "German Trains"),
        ("Stahl Europe GmbH", "Payments Europe Ltd"),
        ("Bäcker München", "TAXI MÜNCHEN"),
        ("Kurz und Lang GmbH", "Sommer und Partner"),
    ],
)
def test_names_that_share_only_a_common_word_are_not_similar(api, books, bank, create_history, known, other):
    create_history(books.get_category_id("marketing"), name=known)
    row = books.create_transaction(bank, fromTo=other)["id"]
    assert [each for each in list_proposals(api, row)[row] if each["basis"]["kind"] == "text"] == []


def test_recent_uses_weigh_more(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")
    create_history(hosting, times=3, date="2026-01-05")
    create_history(support, times=3, date="2026-02-05")
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    assert [each["categoryId"] for each in list_proposals(api, row)[row]] == [support, hosting]


def test_newest_decision_outweighs_a_later_transaction(api, books, bank, create_history, hosting):
    """The row that was filed last decides, though its transaction is older than the others of its name."""
    support = books.get_category_id("support")
    create_history(hosting, date="2026-03-05")
    time.sleep(1.1)  # decisions of one second are one act
    create_history(support, date="2026-01-05")
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    assert [each["categoryId"] for each in list_proposals(api, row)[row]] == [support, hosting]


def test_account_alone_has_at_most_even_odds(api, books, bank, create_history, hosting):
    for number in range(20):
        create_history(hosting, name=f"Vendor {number}")
    row = books.create_transaction(bank, fromTo="New")["id"]
    (proposal,) = list_proposals(api, row)[row]
    assert proposal["basis"] == {"kind": "account", "seen": 20, "agreed": 20}
    assert proposal["confidence"] == 0.5


def test_account_alone_needs_three_transactions_of_a_category(api, books, bank, create_history, hosting):
    row = books.create_transaction(bank, fromTo="New")["id"]
    create_history(hosting, name="A")
    create_history(hosting, name="B")
    create_history(books.get_category_id("support"), times=2, name="C")
    assert list_proposals(api, row)[row] == []
    create_history(hosting, name="D")
    (proposal,) = list_proposals(api, row)[row]
    assert (proposal["categoryId"], proposal["basis"]) == (hosting, {"kind": "account", "seen": 5, "agreed": 3})


def test_account_alone_never_proposes_revenue_for_money_out(api, books, bank, create_history):
    create_history(books.get_category_id("revenueUsage"), times=4, name="Refunded customer", amount="-20.00")
    row, refund = (
        books.create_transaction(bank, fromTo="Payout")["id"],
        books.create_transaction(bank, fromTo="Refunded customer")["id"],
    )
    proposals = list_proposals(api, row, refund)
    assert proposals[row] == []
    assert proposals[refund][0]["categoryId"] == books.get_category_id("revenueUsage"), (
        "its own refunds are known by name"
    )


# ---------------------------------------------------------------------------------------------- own transfers


@pytest.fixture
def dollar_account(books):
    return books.create_account(name="Dollar reserve", accountNumber="US-001234567", defaultCurrency="USD")


def link_as_transfer(books, found):
    (only,) = found
    assert only["basis"] == {"kind": "own", "seen": 1, "agreed": 1}
    assert 0.5 < only["confidence"] <= 1
    return (only["categoryId"], only["plType"], only["counterparty"]) == (
        books.get_category_id("transfer"),
        "neutral",
        None,
    )


@pytest.mark.parametrize("name", ["Acme", "ACME GMBH", "US 001234567", "Transfer to Acme"])
def test_own_account_transfer_is_proposed_as_transfer(api, books, bank, dollar_account, create_history, name):
    create_history(books.get_category_id("revenueRecurring"), times=6, name="Customer", amount="500.00")
    create_history(books.get_category_id("revenueRecurring"), times=6, name=name, amount="500.00")
    row = books.create_transaction(bank, "17390.00", fromTo=name)["id"]
    assert link_as_transfer(books, list_proposals(api, row)[row])


def test_account_holder_counts_as_own_company(api, books, bank, acme):
    from ledger.models import Account

    connected = {
        "bankProviderAAccount": {"id": 7, "iban": "DE02120300000000202051", "accountHolderName": "Acme Holding"}
    }
    Account.objects.for_company(acme.id).filter(id=books.create_account(name="Second")).update(
        bank_connection=connected
    )
    by_name = books.create_transaction(bank, fromTo="ACME HOLDING")["id"]
    by_number = books.create_transaction(bank, fromTo="DE02 1203 0000 0000 2020 51")["id"]
    other = books.create_transaction(bank, fromTo="Acme Hosting")["id"]
    proposals = list_proposals(api, by_name, by_number, other)
    assert link_as_transfer(books, proposals[by_name])
    assert link_as_transfer(books, proposals[by_number])
    assert proposals[other] == []


def test_history_never_assigns_a_category_to_an_own_transfer(api, books, bank, create_history, hosting):
    create_history(hosting, times=8, name="Acme")
    create_history(hosting, times=8, name="Nimbus Ltd")
    set_auto_categorize(api)
    assert books.create_transaction(bank, fromTo="Nimbus Ltd")["categorizations"]
    assert books.create_transaction(bank, fromTo="ACME")["categorizations"] == {}


NAMES = st.sampled_from(["Acme", "ACME GmbH", "US001234567", "Globex", "Acme Hosting", "Initech", "", "Umbuchung"])
TEXTS = st.sampled_from(["", "Invoice 7", "Umbuchung", "US-001234567", "Rent Acme", "Acme"])
MOVEMENTS = st.lists(st.tuples(NAMES, TEXTS, st.sampled_from(["-10.00", "500.00"])), min_size=1, max_size=12)


@given(known=MOVEMENTS, waiting=MOVEMENTS)
@settings(max_examples=7, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_own_transfer_is_never_proposed_a_category(api, books, bank, dollar_account, hosting, known, waiting):
    def item(name, text, amount, **more):
        fields = {"accountId": bank, "date": "2026-04-01", "amountValue": amount, "fromTo": name, "description": text}
        return fields | more

    items = [item(*each, categoryId=hosting) for each in known] + [item(*each) for each in waiting]
    sent = api.post("transactions/import", {"transactions": items}).json()
    ids = {each["id"]: each for each in api.get("transactions", {"open": "true", "limit": "100"}).json()}
    proposals = list_proposals(api, *ids)
    for row_id, row in ids.items():
        name, text = row["fromTo"] or "", row["description"] or ""
        is_own = name in ("Acme", "ACME GmbH", "US001234567")
        if is_own or (name in ("", "Umbuchung") and text in ("US-001234567", "Acme")):
            assert link_as_transfer(books, proposals[row_id]), (name, text)
        else:
            assert all(each["basis"]["kind"] != "own" for each in proposals[row_id]), (name, text)
    assert api.delete(f"imports/{sent['importId']}").status_code == 200


def test_import_undo_removes_learned_history(api, books, bank, hosting):
    item = {"accountId": bank, "date": "2026-04-01", "amountValue": "-1.00", "fromTo": "Nimbus", "categoryId": hosting}
    sent = api.post("transactions/import", {"transactions": [item, item | {"fromTo": "Cumulus"}]}).json()
    row = books.create_transaction(bank, fromTo="Nimbus")["id"]
    assert list_proposals(api, row)[row][0]["basis"]["seen"] == 1
    assert api.delete(f"imports/{sent['importId']}").status_code == 200
    assert list_proposals(api, row)[row] == []


def test_proposals_do_not_use_other_companies(api, books, bank, globex_api, hosting):
    made = globex_api.post("accounts", {"name": "x", "type": "bank"}).json()["id"]
    body = {"accountId": made, "date": "2026-03-15", "amountValue": "-1.00", "fromTo": "Nimbus"}
    row = globex_api.post("transactions", body).json()["id"]
    category = globex_api.get("categories").json()[0]["id"]
    globex_api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [row]}, "categoryId": category})
    open_one = books.create_transaction(bank, fromTo="Nimbus")["id"]
    assert list_proposals(api, open_one) == {open_one: []}
    answer = api.post("transactions/proposals", {"transactionIds": [open_one, row, "x"]})
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [
        ("#/transactionIds/2", "unknown_id")
    ]
    answer = api.post("transactions/proposals", {"transactionIds": [open_one, row]})
    assert answer.json()["errors"][0]["pointer"] == "#/transactionIds/1"


def test_proposal_queries_do_not_grow_with_transactions(api, books, bank, create_history, hosting):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    create_history(hosting, times=2)
    items = [
        {"accountId": bank, "date": "2026-04-01", "amountValue": "-1.00", "fromTo": f"n{n % 7}", "description": f"w{n}"}
        for n in range(999)
    ]
    api.post("transactions/import", {"transactions": items})
    ids = [each["id"] for each in api.get("transactions", {"open": "true", "limit": "1000"}).json()]
    counts = []
    for query in (ids[:1], ids):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            list_proposals(api, *query)
        counts.append(len(captured))
    assert counts[0] == counts[1]
    answer = api.post("transactions/proposals", {"transactionIds": [*ids, ids[0], ids[0]]})
    assert answer.status_code == 400


def set_auto_categorize(api, *, on=True):
    assert api.put("", {"autoCategorize": on}).json()["autoCategorize"] is on


def test_certain_proposals_are_assigned_when_enabled(api, books, bank, create_history, hosting):
    assert api.get("").json()["autoCategorize"] is False
    create_history(hosting, times=5)
    assert books.create_transaction(bank, fromTo="nimbus ltd")["categorizations"] == {}
    set_auto_categorize(api)
    made = books.create_transaction(bank, "-7.00", fromTo="nimbus ltd")
    (part,) = made["categorizations"].values()
    assert (part["categoryId"], part["sourceNote"]) == (hosting, "history")
    assert made["categorizationsAutoAssigned"] is True
    set_auto_categorize(api, on=False)
    assert books.create_transaction(bank, fromTo="nimbus ltd")["categorizations"] == {}


@pytest.mark.parametrize(("agreed", "against", "certain"), [(4, 0, False), (5, 0, True), (18, 1, False), (19, 1, True)])
def test_proposal_is_certain_from_five_uses_and_95_percent_agreement(
    api, books, bank, create_history, hosting, agreed, against, certain
):
    set_auto_categorize(api)
    support = books.get_category_id("support")
    for category, times in ((support, against), (hosting, agreed)):
        items = [
            {"accountId": bank, "date": "2026-01-01", "amountValue": "-1.00", "fromTo": "x", "categoryId": category}
        ] * times
        api.post("transactions/import", {"transactions": items})
    assert bool(books.create_transaction(bank, fromTo="X")["categorizations"]) is certain


def test_auto_assigned_categories_are_not_learned(api, books, bank, create_history, hosting):
    create_history(hosting, times=5)
    set_auto_categorize(api)
    assigned = [books.create_transaction(bank, fromTo="Nimbus Ltd")["id"] for _ in range(4)]
    other = books.create_transaction(bank, fromTo="Nimbus Ltd", excludeFromAutoCategorization=True)["id"]
    assert list_proposals(api, other)[other][0]["basis"] == {"kind": "counterparty", "seen": 5, "agreed": 5}
    body = {"selection": {"mode": "ids", "ids": assigned[:1]}, "categoryId": hosting}
    api.post("transactions/categorize", body)  # now somebody has said so
    assert list_proposals(api, other)[other][0]["basis"]["seen"] == 6


def test_account_defaults_are_not_learned(api, books, hosting):
    account = books.create_account(defaultCategoryId=hosting)
    books.create_transaction(account, fromTo="Somebody")
    open_one = books.create_transaction(account, fromTo="Somebody", excludeFromAutoCategorization=True)["id"]
    assert list_proposals(api, open_one) == {open_one: []}


def test_rules_apply_before_history_and_history_before_account_default(api, books, create_history, hosting):
    support, sales = books.get_category_id("support"), books.get_category_id("sales")
    account = books.create_account(defaultCategoryId=support)
    body = {"selection": {"mode": "all", "confirm": True}, "categoryId": hosting}
    for _ in range(5):
        books.create_transaction(account, fromTo="Nimbus")
    api.post("transactions/categorize", body)
    set_auto_categorize(api)
    conditions = {"description": {"operator": "equals", "value": "ads"}}
    rule = {"name": "Ads", "conditions": conditions, "action": {"categoryId": sales}}
    made = api.post("categorization_rules", rule).json()["id"]
    items = [("Ads Ltd", "ads"), ("Nimbus", "x"), ("Who", "x")]
    answers = [books.create_transaction(account, fromTo=name, description=text) for name, text in items]
    notes = [part["sourceNote"] for each in answers for part in each["categorizations"].values()]
    assert notes == [f"rule:{made}", "history", "account"]
