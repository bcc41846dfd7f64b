"""Categorizing in groups: by suggested category or counterparty, with tax, what is left out, and undoing it."""

import re
from urllib.parse import urlencode

import pytest

from companies.permissions import Role
from tests import factories
from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def groups_path(acme):
    return f"/app/companies/{acme.id}/inbox/groups"


@pytest.fixture
def salaries(api):
    body = {"name": "Salaries", "plTypes": ["cogs", "cac", "pd", "ga"]}
    return api.post("categories", body).json()["id"]


def list_forms(answer):
    """Return the titles, ticked values and suggested category of the groups of a page."""
    forms = re.findall(
        r'<form method="post" class="card transaction-group".*?</form>', answer.content.decode(), re.DOTALL
    )
    return [
        (
            re.search(r"<h2[^>]*>(.*?)</h2>", form)[1],
            re.findall(r'name="transaction" value="([^"]+)" checked', form),
            (re.search(r'name="category" value="([^"]+)"', form) or ("", ""))[1],
        )
        for form in forms
    ]


def test_transactions_with_one_suggested_category_are_categorized_at_once(editor, groups_path, books, bank, salaries):
    names = ("Anna Schneider", "Ben Wagner", "Clara Hoffmann")
    ids = [
        books.create_transaction(bank, "-2500.00", fromTo=name, description="Gehalt Oktober")["id"] for name in names
    ]
    books.create_transaction(bank, "-5.00", fromTo="Somebody new", description="x")
    shown = editor.get(groups_path)
    (title, values, choice), other = list_forms(shown)
    assert title == "Salaries · General and administration"
    assert "3 transactions · Looks like a salary" in text(shown)
    assert [value.split(" ")[0] for value in values] == ids[::-1]
    assert (choice, other[0], other[2]) == (f"{salaries}:ga", "Somebody new", "")
    form = {"act": "categorize", "transaction": values[1:], "category": choice, "next": "o-1"}
    done = editor.post(groups_path, form)
    assert done.status_code == 303
    assert done["Location"].endswith("#o-1")
    assert "2 transactions categorized." in text(editor.get(done["Location"]))
    assert [list_pl_amounts(part) for row in ids for part in books.list_categorizations(row)] == [{"ga": -2500}] * 2
    run = re.search(r"run=([0-9a-f-]+)", done["Location"])[1]
    undone = editor.post(groups_path, {"act": "undo", "run": run}, follow=True)
    assert "2 transactions restored." in text(undone)
    assert [books.list_categorizations(row) for row in ids] == [[], [], []]


def test_several_groups_are_accepted_at_once(editor, groups_path, books, bank, salaries):
    """Each group is encoded as its own form: ticked transactions, category and rates."""
    rows = [
        books.create_transaction(bank, "-2500.00", fromTo="Anna Schneider", description="Gehalt Oktober")["id"],
        books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"],
        books.create_transaction(bank, "-5.00", fromTo="Somebody new")["id"],
    ]
    shown = editor.get(groups_path)
    assert "Accept all groups" in text(shown)
    suggested = [(values, choice) for _title, values, choice in list_forms(shown) if choice]
    groups = [
        {"transaction": values, "category": choice, "next": f"o-{place}"}
        for place, (values, choice) in enumerate(suggested, 1)
    ]
    groups[0][f"tax-{groups[0]['transaction'][0].split(' ')[0]}"] = "much"
    refused = editor.post(groups_path, {"act": "categorize", "group": [urlencode(group, True) for group in groups]})
    assert refused.status_code == 400
    assert 'value="much"' in refused.content.decode()
    groups[0][f"tax-{groups[0]['transaction'][0].split(' ')[0]}"] = "0"
    done = editor.post(groups_path, {"act": "categorize", "group": [urlencode(group, True) for group in groups]})
    assert "2 transactions categorized." in text(editor.get(done["Location"]))
    assert [len(books.list_categorizations(row)) for row in rows] == [1, 1, 0]
    run = re.search(r"run=([0-9a-f-]+)", done["Location"])[1]
    editor.post(groups_path, {"act": "undo", "run": run})
    assert [len(books.list_categorizations(row)) for row in rows] == [0, 0, 0]


def test_money_in_without_a_likely_category_is_one_group(editor, groups_path, api, books, bank):
    """Customers share a few categories: of many payments the ticked ones get the chosen category at once."""
    known = api.post("counterparties", {"type": "customer", "name": "Novatec AG"}).json()["id"]
    names = ("Novatec AG", "Brandt GmbH", "Kita-App UG")
    rows = [
        books.create_transaction(bank, "119.00", fromTo=name, description="Rechnung RE-1002")["id"] for name in names
    ]
    books.create_transaction(bank, "-5.00", fromTo="Somebody")
    shown = editor.get(groups_path)
    usage = f"{books.get_category_id('revenueUsage')}:revenue"
    forms = list_forms(shown)
    assert [(title, len(values), choice) for title, values, choice in forms] == [
        ("Money in", 3, ""),
        ("Somebody", 1, ""),
    ]
    assert not re.search(r'class="button small primary"[^>]*name="category"', shown.content.decode())
    chosen = [value for value in forms[0][1] if not value.startswith(rows[1])]
    body = {"act": "categorize", "transaction": chosen, "other": usage, "tax": "19"}
    assert editor.post(groups_path, body).status_code == 303
    parts = [books.list_categorizations(row) for row in rows]
    assert [len(each) for each in parts] == [1, 0, 1]
    assert [(list_pl_amounts(part), part["passThroughTax"]) for (part,) in (parts[0], parts[2])] == [
        ({"revenue": 100}, 19)
    ] * 2
    assert parts[0][0]["counterparty"]["id"] == known
    assert parts[2][0]["counterparty"] is None
    by_counterparty = list_forms(editor.get(f"{groups_path}?by=counterparty"))
    assert [title for title, _, _ in by_counterparty] == ["Brandt GmbH", "Somebody"]


def test_category_is_created_beside_the_groups(editor, groups_path, api, books, bank):
    books.create_transaction(bank, "-5.00", fromTo="LinkedIn")
    body = {"act": "create-category", "name": "Recruiting", "plType": "ga"}
    done = editor.post(groups_path, body, follow=True)
    assert "Recruiting created." in text(done)
    assert ">Recruiting</option>" in done.content.decode()
    (created,) = [row for row in api.get("categories").json() if row["name"] == "Recruiting"]
    assert created["plTypes"] == ["ga"]
    assert created["order"] == max(row["order"] for row in api.get("categories").json())
    for changes, message in (
        ({"name": " "}, "Name: This field is required."),
        ({"plType": ""}, "Posts to: Choose at least one P&L line."),
        ({"plType": "x"}, "Posts to: "),
    ):
        refused = editor.post(groups_path, body | {"name": "Other"} | changes)
        assert refused.status_code == 400, changes
        assert text(refused).count(message) == 1, changes
    assert re.search(r'<details class="disclosure spaced-below" open><summary>New category', refused.content.decode())
    assert 'value="Other"' in refused.content.decode()
    assert "Other" not in [row["name"] for row in api.get("categories").json()]


def test_category_needs_its_permission(sign_in_browser, acme, groups_path, books, bank):
    books.create_transaction(bank, "-5.00", fromTo="LinkedIn")
    member = factories.make_member(
        acme, "tina@acme.example", role=Role.EDITOR, permissions=["transactions:read", "transactions:write"]
    )
    browser = sign_in_browser(member, acme).client
    assert "New category" not in text(browser.get(groups_path))
    body = {"act": "create-category", "name": "Recruiting", "plType": "ga"}
    assert browser.post(groups_path, body).status_code == 403


def test_nothing_is_categorized_by_looking(editor, groups_path, books, bank, salaries):
    row = books.create_transaction(bank, "-2500.00", fromTo="Anna", description="Gehalt Oktober")["id"]
    editor.get(groups_path)
    editor.get(groups_path.removesuffix("/groups"))
    assert books.list_categorizations(row) == []


def test_transactions_of_a_counterparty_get_the_chosen_category_and_tax(editor, groups_path, books, bank):
    ids = [
        books.create_transaction(bank, amount, fromTo=name)["id"]
        for amount, name in (("119.00", "Novatec"), ("238.00", "NOVATEC"))
    ]
    books.create_transaction(bank, "-5.00", fromTo="Novatec")
    forms = list_forms(editor.get(groups_path, {"by": "counterparty"}))
    assert [(title, len(values)) for title, values, _ in forms] == [("NOVATEC", 2), ("Novatec", 1)]
    choice = f"{books.get_category_id('revenueRecurring')}:revenue"
    form = {"act": "categorize", "transaction": forms[0][1], "other": choice, "tax": "19"}
    done = editor.post(f"{groups_path}?by=counterparty", form)
    assert "by=counterparty" in done["Location"]
    assert [list_pl_amounts(books.list_categorizations(row)[0]) for row in ids] == [{"revenue": 100}, {"revenue": 200}]
    assert [books.list_categorizations(row)[0]["passThroughTax"] for row in ids] == [19, 38]


def test_card_payments_whose_texts_begin_alike_are_one_group(editor, groups_path, books, bank):
    for description in ("PARKHAUS DOM 4711 KOELN", "PARKHAUS DOM 4712 KOELN", "BLUMEN 1"):
        books.create_transaction(bank, "-5.00", description=description)
    forms = list_forms(editor.get(groups_path, {"by": "counterparty"}))
    assert [len(values) for _title, values, _choice in forms] == [2, 1]


def test_refused_group_is_shown_as_it_was_posted(editor, groups_path, books, bank):
    for amount in ("119.00", "238.00"):
        books.create_transaction(bank, amount, fromTo="Novatec")
    ((_, values, _),) = list_forms(editor.get(groups_path))
    choice = f"{books.get_category_id('revenueRecurring')}:revenue"
    form = {"act": "categorize", "transaction": values[:1], "other": choice, "tax": "much", "next": "o-1"}
    refused = editor.post(groups_path, form)
    assert refused.status_code == 400
    assert "Enter a percentage, such as 19 %." in text(refused)
    assert list_forms(refused)[0][1] == values[:1]
    assert 'value="much"' in refused.content.decode()
    assert f'value="{choice}" selected' in refused.content.decode()


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"act": "categorize", "transaction": ["x"]}, "Choose a category."),
        ({"act": "categorize", "transaction": ["x"], "other": "CHOICE"}, "Select at least one transaction."),
        ({"act": "elsewhere"}, "Choose an action."),
    ],
)
def test_incomplete_group_is_refused(editor, groups_path, books, bank, form, message):
    choice = f"{books.get_category_id('hosting')}:cogs"
    answer = editor.post(groups_path, {name: choice if value == "CHOICE" else value for name, value in form.items()})
    assert answer.status_code == 400
    assert message in text(answer)


def test_transfers_and_closed_months_are_in_no_group(editor, groups_path, api, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "-80.00", fromTo="Kartenabrechnung Oktober")
    books.create_transaction(card, "80.00", fromTo="Zahlung erhalten")
    books.create_transaction(bank, "-1.00", "2026-02-20", fromTo="Somebody")
    assert len(list_forms(editor.get(groups_path))) == 1
    body = {"month": "2026-02", "acknowledge": True}
    assert api.post("closings", body).status_code == 201
    shown = editor.get(groups_path)
    assert list_forms(shown) == []
    assert "No transactions to group" in text(shown)


def test_counterparty_of_earlier_transactions_is_kept(editor, groups_path, api, books, bank):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Cloud"}).json()["id"]
    past = books.create_transaction(bank, "-10.00", fromTo="Cloud")["id"]
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -10}, "counterparty": {"id": vendor}}
    books.set_categorizations(past, part)
    row = books.create_transaction(bank, "-11.00", fromTo="Cloud")["id"]
    ((_, values, choice),) = list_forms(editor.get(groups_path))
    editor.post(groups_path, {"act": "categorize", "transaction": values, "category": choice})
    assert books.list_categorizations(row)[0]["counterparty"]["id"] == vendor


def test_changed_transaction_is_not_categorized(editor, groups_path, api, books, bank):
    rows = [books.create_transaction(bank, amount, fromTo="Hetzner Online GmbH")["id"] for amount in ("-1.00", "-2.00")]
    ((_, values, choice),) = list_forms(editor.get(groups_path))
    assert api.put(f"transactions/{rows[0]}", {"notes": "Ask first"}).status_code == 200
    done = editor.post(groups_path, {"act": "categorize", "transaction": values, "category": choice}, follow=True)
    assert "1 transaction categorized. Not categorized: Hetzner Online GmbH, " in text(done)
    assert [len(books.list_categorizations(row)) for row in rows] == [0, 1]


def test_groups_need_permission_to_change_transactions(sign_in_browser, bob, acme, groups_path, books, bank):
    books.create_transaction(bank, "-1.00", fromTo="Hetzner Online GmbH")
    reader = sign_in_browser(bob, acme).client
    shown = reader.get(groups_path)
    assert shown.status_code == 200
    assert 'name="category"' not in shown.content.decode()
    assert reader.post(groups_path, {"act": "categorize"}).status_code == 403


def test_queries_do_not_grow_with_transactions(editor, groups_path, api, books, bank):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for many in (2, 60):
        items = [
            {"accountId": bank, "date": "2026-04-01", "amountValue": "-1.00", "fromTo": f"n{many}-{n}"}
            for n in range(many)
        ]
        api.post("transactions/import", {"transactions": items})
        editor.get(groups_path)
        with CaptureQueriesContext(connection) as captured:
            editor.get(groups_path)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_groups_whose_tax_rate_varies_come_first(editor, groups_path, api, books, bank, salaries):
    api.put("", {"standardTaxPercent": 19})
    travel, meals = (
        api.post("categories", {"name": name, "plTypes": ["ga"]}).json()["id"] for name in ("Travel", "Entertainment")
    )
    for name in ("Anna Schneider", "Ben Wagner", "Clara Hoffmann"):
        books.create_transaction(bank, "-2500.00", fromTo=name, description="Gehalt Oktober")
    books.create_transaction(bank, "-35.00", fromTo="Restaurant Adria", description="Bewirtung")
    books.create_transaction(bank, "-99.00", fromTo="Hotel Post", description="Hotel Übernachtung")
    shown = editor.get(groups_path)
    forms = list_forms(shown)
    assert {choice for _title, _values, choice in forms[:2]} == {f"{travel}:ga", f"{meals}:ga"}
    assert forms[2][2] == f"{salaries}:ga"
    assert text(shown).count("enter the VAT rate") == 2


def test_all_groups_are_listed_and_the_last_are_folded(editor, groups_path, books, bank):
    for number in range(12):
        books.create_transaction(bank, "-5.00", fromTo=f"Shop {number}")
    shown = editor.get(groups_path)
    assert len(list_forms(shown)) == 12
    assert shown.content.decode().count("group-details") == 4
    assert shown.content.decode().count("open-when-wide") == 4
    assert "More transactions follow" not in text(shown)
    (_title, (value,), _choice) = list_forms(shown)[11]
    refused = editor.post(groups_path, {"act": "categorize", "transaction": value, "next": "o-12"})
    assert refused.content.decode().count("group-details") == 3, "the refused group is open"


def test_large_groups_stay_folded_unless_their_suggestions_differ(editor, groups_path, books, bank):
    for name in [f"Shop {number}" for number in range(9)] * 3:
        books.create_transaction(bank, "-5.00", fromTo=name)
    for tax in ("Umsatzsteuer 09/2026", "Lohnsteuer 09/2026", "Umsatzsteuer 10/2026"):
        books.create_transaction(bank, "-5.00", "2026-01-01", fromTo="Finanzamt Köln", description=tax)
    shown = editor.get(f"{groups_path}?by=counterparty").content.decode()
    assert re.findall(r'<details class="disclosure group-details([^"]*)"', shown) == ["", " open-when-wide"]
