"""Acts on many transactions from their page: what is meant is told and confirmed first, and can be taken back."""

import re

import pytest

from companies.models import AuditEntry
from ledger.models import CategorizationRun, Transaction, TransactionSnapshot
from tests import factories
from tests.ledger.conftest import get_page_text, list_pl_amounts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def hosting(books):
    return f"{books.get_category_id('hosting')}:cogs"


@pytest.fixture
def bill_ids(books, bank):
    """The ids of sixty transactions, more than one page shows."""
    return books.import_transactions(
        bank, *({"amountValue": f"-{number}.50", "fromTo": "Nimbus"} for number in range(60))
    )


def press_undo(pages, answer):
    """Presses Undo on the page that an act leads to."""
    run = re.search(r'name="run" value="([^"]+)"', pages.client.get(answer["Location"]).content.decode())[1]
    return pages.client.post(answer["Location"], {"act": "undo", "run": run}, follow=True)


# ---------------------------------------------------------------------------------------------- before


@pytest.mark.parametrize("tax", ["19", "19 %"])
def test_bulk_tax_is_a_percentage_of_each_amount(pages, books, bank, hosting, tax):
    ids = [books.create_transaction(bank, amount)["id"] for amount in ("-119.00", "-11.90")]
    assert pages.post(act="categorize", id=ids, category=hosting, tax=tax).status_code == 303
    parts = [part for row in ids for part in books.list_categorizations(row)]
    assert [part["passThroughTax"] for part in parts] == [-19, -1.9]
    assert [list_pl_amounts(part)["cogs"] for part in parts] == [-100, -10]


@pytest.fixture
def marketing(books):
    return f"{books.get_category_id('marketing')}:cac"


def get_details(part):
    """What a categorization has beside its category."""
    return part["passThroughTax"], part["usingDateRule"], part["counterparty"]


def test_another_category_keeps_tax_period_and_counterparty(pages, books, bank, acme, hosting, marketing):
    row = books.create_transaction(bank, "-119.00")["id"]
    rule = {"type": "servicePeriod", "startDate": "2026-01-01", "endDate": "2026-12-31"}
    supplier = {"id": str(factories.make_customer(acme, "Nimbus").id)}
    category_id, _ = hosting.split(":")
    books.set_categorizations(
        row,
        {
            "categoryId": category_id,
            "plSplit": {"cogs": -100},
            "passThroughTax": -19,
            "usingDateRule": rule,
            "counterparty": supplier,
        },
    )
    (before,) = books.list_categorizations(row)
    assert pages.post(act="categorize", id=row, category=marketing).status_code == 303
    (after,) = books.list_categorizations(row)
    assert list_pl_amounts(after) == {"cac": -100}
    assert get_details(after) == get_details(before)


def test_given_tax_and_period_replace_those_of_the_transaction(pages, books, bank, hosting, marketing):
    row = books.create_transaction(bank, "-119.00")["id"]
    pages.post(act="categorize", id=row, category=hosting, tax="19", rule="month")
    pages.post(act="categorize", id=row, category=marketing, tax="0", rule="transactionDate")
    (part,) = books.list_categorizations(row)
    assert not part["passThroughTax"]
    assert part["usingDateRule"]["type"] == "transactionDate"
    assert list_pl_amounts(part) == {"cac": -119}


def test_category_of_a_split_transaction_takes_no_tax_of_its_parts(pages, books, bank, hosting, marketing):
    row = books.create_transaction(bank, "-119.00")["id"]
    category_id, _ = hosting.split(":")
    parts = ({"plSplit": {"cogs": -50}, "passThroughTax": -9.5}, {"plSplit": {"cogs": -59.5}})
    books.set_categorizations(row, *({"categoryId": category_id, **each} for each in parts))
    pages.post(act="categorize", id=row, category=marketing)
    (part,) = books.list_categorizations(row)
    assert (part["passThroughTax"], list_pl_amounts(part)) == (None, {"cac": -119})


def test_bulk_tax_is_kept_while_the_user_confirms(pages, books, bill_ids, hosting):
    answer = pages.post("?q=nimbus", act="categorize", whole="on", category=hosting, tax="25")
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.content.decode()))
    assert pages.post("?q=nimbus", **fields).status_code == 303
    (part,) = books.list_categorizations(bill_ids[9])
    assert (part["passThroughTax"], list_pl_amounts(part)["cogs"]) == (-1.9, -7.6)


def test_invalid_bulk_tax_is_refused_beside_its_field(pages, books, bank, hosting):
    row = books.create_transaction(bank, "-119.00")["id"]
    refused = pages.post(act="categorize", id=[row], category=hosting, tax="much")
    assert refused.status_code == 400
    assert "Enter a percentage, such as 19 %." in get_page_text(refused)
    assert 'aria-invalid="true"' in refused.content.decode().split('id="bulk-tax"')[1][:200]
    assert books.list_categorizations(row) == []


def test_list_shows_count_and_total_per_currency(pages, books, bank, savings):
    books.create_transaction(bank, "-119.00")
    books.create_transaction(bank, "-4.50")
    books.create_transaction(savings, "500.00", amountCurrency="USD")
    assert "3 transactions · −€123.50 · $500.00" in get_page_text(pages.get())
    assert "2 transactions · −€123.50" in get_page_text(pages.get(direction="out"))


def test_list_totals_show_pending_apart(pages, books, bank, savings):
    books.create_transaction(bank, "-119.00")
    books.create_transaction(bank, "-4.50", pending=True)
    books.create_transaction(savings, "500.00", amountCurrency="USD", pending=True)
    assert "3 transactions · −€123.50 · $500.00 of which 2 pending · −€4.50 · $500.00" in get_page_text(pages.get())
    assert "of which" not in get_page_text(pages.get(pending="true"))
    assert "of which" not in get_page_text(pages.get(pending="false"))
    total = get_page_text(pages.get(total="true", currency="EUR"))
    assert "−€123.50 in 2 transactions of which 1 pending: −€4.50" in total


def test_bulk_action_beyond_one_page_is_counted_and_confirmed(pages, books, bill_ids, hosting, acme):
    act = {"act": "categorize", "whole": "on", "category": hosting, "rule": "month"}
    answer = pages.post("?q=nimbus", **act)
    assert answer.status_code == 200
    assert re.search(r"Categorize 60 transactions as \S* ?Hosting\?", get_page_text(answer))
    assert "60 transactions · −€1,800.00" in get_page_text(answer)
    assert Transaction.objects.for_company(acme.id).exclude(categorized_value=0).count() == 0
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.content.decode()))
    assert fields.items() >= {"act": "categorize", "whole": "on", "category": hosting, "rule": "month"}.items()
    done = pages.post("?q=nimbus", **fields)
    assert done.status_code == 303
    assert "60 transactions categorized." in get_page_text(pages.client.get(done["Location"]))
    (part,) = books.list_categorizations(bill_ids[7])
    assert (list_pl_amounts(part)["cogs"], part["usingDateRule"]["type"]) == (-7.5, "month")


def test_bulk_action_asks_again_after_new_rows(pages, books, bank, bill_ids, acme):
    page = pages.post(act="delete", whole="on")
    word = re.search(r'name="confirmed" value="([^"]+)"', page.content.decode())[1]
    books.create_transaction(bank, "-1.00")
    again = pages.post(act="delete", whole="on", confirmed=word)
    assert again.status_code == 200
    assert "Delete 61 transactions?" in get_page_text(again)
    assert Transaction.objects.for_company(acme.id).count() == 61


def test_bulk_action_on_later_page_applies_to_all_pages(pages, books, bank, bill_ids):
    link = next(part for part in pages.get().content.decode().split('"') if part.startswith("?") and "cursor=" in part)
    page = pages.post(link.replace("&amp;", "&"), act="uncategorize", whole="on")
    assert "Uncategorize 60 transactions?" in get_page_text(page)


def test_bulk_action_on_one_page_needs_no_confirmation(pages, books, bank, hosting):
    made = books.create_transaction(bank, "-1.00")["id"]
    assert pages.post(act="categorize", id=made, category=hosting).status_code == 303
    assert pages.post(act="uncategorize", whole="on").status_code == 303


# ---------------------------------------------------------------------------------------------- and after


def test_undo_restores_categorizations_with_ids_and_authors(pages, books, bank, api, hosting, acme):
    support = books.get_category_id("support")
    split, auto, bare = (
        books.create_transaction(bank, "-100.00", fromTo=name)["id"] for name in ("Split", "Auto", "Bare")
    )
    nimbus = factories.make_customer(acme, "Nimbus")
    parts = (
        {"categoryId": support, "plSplit": {"cogs": -50}, "passThroughTax": -10, "sourceNote": "invoice 7"},
        {"categoryId": support, "plSplit": {"cogs": -20}, "counterparty": {"id": str(nimbus.id)}},
    )
    books.set_categorizations(split, *parts)
    rule = {"text": {"operator": "contains", "value": "auto"}}
    api.post("categorization_rules", {"name": "r", "conditions": rule, "action": {"categoryId": support}})
    api.post("categorization_rules/apply", {"selection": {"mode": "ids", "ids": [auto]}})
    before = {each: books.get_transaction(each) for each in (split, auto, bare)}
    assert before[auto]["categorizationsAutoAssigned"]
    answer = pages.post("?direction=out", act="categorize", id=[split, auto, bare], category=hosting)
    page_text = pages.client.get(answer["Location"]).content.decode()
    assert re.findall(r'role="status">(.*?)<', page_text) == ["3 transactions categorized."], (
        "one notice, with Undo in it"
    )
    assert "3 transactions changed just now" in get_page_text(pages.client.get(answer["Location"]))
    after = press_undo(pages, answer)
    assert "3 transactions restored." in get_page_text(after)
    assert after.redirect_chain[-1][0] == f"{pages.base}?direction=out"
    for each, was in before.items():
        now = books.get_transaction(each)
        assert {name for name in was if was[name] != now[name]} <= {"lastUpdatedTime", "lastUpdatedUserId"}
    entry = AuditEntry.objects.for_company(acme.id).filter(action="transactions.runTakenBack").get()
    assert entry.after == {"act": "categorize", "affected": 3, "kept": 0}
    assert not TransactionSnapshot.objects.for_company(acme.id).exists()


def test_undo_relinks_transfers(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-50.00")["id"], books.create_transaction(savings, "50.00")["id"]
    books.link_transfer(source, target)
    before = books.list_categorizations(source), books.list_categorizations(target)
    answer = pages.post(act="uncategorize", id=source)
    assert books.list_categorizations(target) == []
    assert "2 transactions restored." in get_page_text(press_undo(pages, answer))
    assert (books.list_categorizations(source), books.list_categorizations(target)) == before


def test_undo_reports_one_changed_transaction_in_singular(pages, books, bank):
    one = books.create_transaction(bank, "-50.00")["id"]
    answer = pages.post(act="categorize", id=one, category=f"{books.get_category_id('hosting')}:cogs")
    books.api.put(f"transactions/{one}", {"notes": "mine"})
    assert "0 transactions restored. 1 unchanged because it was edited since." in get_page_text(
        press_undo(pages, answer)
    )


def test_undo_does_not_relink_leg_whose_partner_was_changed(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-50.00")["id"], books.create_transaction(savings, "50.00")["id"]
    books.link_transfer(source, target)
    answer = pages.post(act="uncategorize", id=source)
    books.api.put(f"transactions/{target}", {"notes": "mine"})
    assert "0 transactions restored. 2 unchanged because they were edited since." in get_page_text(
        press_undo(pages, answer)
    )
    assert books.list_categorizations(source) == books.list_categorizations(target) == []


def test_undo_restores_deleted_transactions(pages, books, bank, savings, api, acme):
    gone = books.create_transaction(bank, "-119.00", fromTo="Nimbus", notes="paid", externalId="x-1", pending=False)[
        "id"
    ]
    books.set_categorizations(
        gone, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}, "passThroughTax": -19}
    )
    source, target = books.create_transaction(bank, "-50.00")["id"], books.create_transaction(savings, "50.00")["id"]
    books.link_transfer(source, target)
    before = {each: books.get_transaction(each) for each in (gone, source, target)}
    answer = pages.post(act="delete", id=[gone, source])
    assert api.get(f"transactions/{gone}").status_code == 404
    assert "2 transactions restored." in get_page_text(press_undo(pages, answer))
    for each, was in before.items():
        now = books.get_transaction(each)
        assert {name for name in was if was[name] != now[name]} <= {"lastUpdatedTime", "lastUpdatedUserId"}


def test_undo_counts_deleted_leg_of_transfer_only(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-50.00")["id"], books.create_transaction(savings, "50.00")["id"]
    books.link_transfer(source, target)
    before = books.list_categorizations(source), books.list_categorizations(target)
    answer = pages.post(f"/{source}/delete")
    assert "1 transaction restored." in get_page_text(press_undo(pages, answer))
    assert (books.list_categorizations(source), books.list_categorizations(target)) == before
    answer = pages.post(act="delete", id=source)
    books.api.put(f"transactions/{target}", {"notes": "mine"})
    assert "0 transactions restored. 1 unchanged" in get_page_text(press_undo(pages, answer))
    assert books.list_categorizations(target) == []


def test_undo_does_not_restore_deleted_transaction_if_external_id_is_taken(pages, books, bank, acme):
    taken = books.create_transaction(bank, "-1.00", externalId="x-1")["id"]
    free = books.create_transaction(bank, "-2.00")["id"]
    answer = pages.post(act="delete", id=[taken, free])
    books.create_transaction(bank, "-3.00", externalId="x-1")
    assert "1 transaction restored. 1 unchanged" in get_page_text(press_undo(pages, answer))
    assert not Transaction.objects.for_company(acme.id).filter(id=taken).exists()
    assert Transaction.objects.for_company(acme.id).filter(id=free).exists()


def test_undo_leaves_out_deleted_transaction_that_was_imported_again(pages, books, bank, upload_statement_file, acme):
    rows = ["2026-03-01,Cafe,-3.00", "2026-03-01,Cafe,-3.00", "2026-03-02,Rent,-500.00", "2026-03-03,Sale,90.00"]
    file = "\n".join(["Date,Text,Amount", *rows, ""]).encode()
    upload_statement_file(file, accountId=bank)
    by_text = {each["description"]: each["id"] for each in books.api.get("transactions").json()}
    own = books.create_transaction(bank, "-1.00")["id"]
    books.api.put(f"transactions/{by_text['Cafe']}", {"amountValue": "-4.00"})
    answer = pages.post(act="delete", id=[by_text["Cafe"], by_text["Rent"], own])
    upload_statement_file(("Date,Text,Amount\n" + "\n".join([*rows[:2], rows[3], ""])).encode(), accountId=bank)
    text = get_page_text(press_undo(pages, answer))
    assert "2 transactions restored. 1 transaction was imported again since and is not restored." in text
    entry = AuditEntry.objects.for_company(acme.id).filter(action="transactions.runTakenBack").get()
    assert entry.after == {"act": "delete", "affected": 2, "kept": 1}
    left = sorted(each["amountValue"] for each in books.api.get("transactions").json())
    assert left == sorted(["-3.00", "-3.00", "-500.00", "90.00", "-1.00"])
    assert upload_statement_file(file, accountId=bank)["count"] == 0


def test_undo_counts_imported_external_ids_as_imported_again(pages, books, bank):
    item = {"accountId": bank, "date": "2026-03-01", "amountValue": "-3.00", "externalId": "x-1"}
    books.api.post("transactions/import", {"transactions": [item]})
    (row,) = books.api.get("transactions").json()
    answer = pages.post(act="delete", id=row["id"])
    assert books.api.post("transactions/import", {"transactions": [item]}).json()["count"] == 1
    text = get_page_text(press_undo(pages, answer))
    assert "0 transactions restored. 1 transaction was imported again since and is not restored." in text


def test_undo_keeps_rows_whose_category_was_deleted(pages, books, bank, api, hosting):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga"]}).json()["id"]
    row = books.create_transaction(bank, "-10.00")["id"]
    books.set_categorizations(row, {"categoryId": own, "plSplit": {"ga": -10}})
    answer = pages.post(act="categorize", id=row, category=hosting)
    assert api.delete(f"categories/{own}").status_code == 200
    assert "0 transactions restored. 1 unchanged" in get_page_text(press_undo(pages, answer))
    assert books.list_categorizations(row)[0]["categoryId"] == hosting.partition(":")[0]


def test_undo_keeps_later_changes(pages, books, bank, hosting):
    mine, theirs = (books.create_transaction(bank, "-10.00")["id"] for _ in range(2))
    answer = pages.post(act="categorize", id=[mine, theirs], category=hosting)
    books.set_categorizations(theirs, {"categoryId": books.get_category_id("support"), "plSplit": {"cogs": -4}})
    assert "1 transaction restored. 1 unchanged" in get_page_text(press_undo(pages, answer))
    assert books.list_categorizations(mine) == []
    assert list_pl_amounts(books.list_categorizations(theirs)[0]) == {"cogs": -4}


def test_bulk_action_is_undone_once_by_its_company(pages, make_pages, books, bank, hosting, carol, globex):
    row = books.create_transaction(bank, "-10.00")["id"]
    answer = pages.post(act="categorize", id=row, category=hosting)
    run = CategorizationRun.objects.get()
    stranger = make_pages(carol, globex)
    for unknown in (str(run.id), "01a2222a-5c97-74f6-a8c6-99ff44ec0c0e", "x", "\0"):
        answer_to_stranger = stranger.post(act="undo", run=unknown)
        assert answer_to_stranger.status_code == 404, unknown
        assert "This address does not exist" in get_page_text(answer_to_stranger)
    assert str(run.id) not in stranger.get(run=str(run.id)).content.decode()
    assert books.list_categorizations(row) != []
    press_undo(pages, answer)
    again = pages.post(act="undo", run=str(run.id))
    assert (again.status_code, again["Location"]) == (303, pages.base)
    assert "Already undone." in get_page_text(pages.get())
    assert books.list_categorizations(row) == []
    assert 'value="undo"' not in pages.client.get(answer["Location"]).content.decode()


def test_bulk_action_without_effect_offers_no_undo(pages, books, bank):
    row = books.create_transaction(bank, "-10.00")["id"]
    answer = pages.post(act="uncategorize", id=row)
    assert answer["Location"] == pages.base
    assert not CategorizationRun.objects.exists()


def test_bulk_action_can_be_undone_by_api(pages, books, bank, hosting, api):
    row = books.create_transaction(bank, "-10.00")["id"]
    pages.post(act="categorize", id=row, category=hosting)
    answer = api.delete(f"categorization_runs/{CategorizationRun.objects.get().id}")
    assert answer.json() == {"success": True, "affected": 1, "keptCount": 0}
    assert books.list_categorizations(row) == []


def test_bulk_action_queries_do_not_grow_with_rows(pages, books, bill_ids, hosting, django_assert_max_num_queries):
    for few in (bill_ids[:2], bill_ids[2:50]):
        with django_assert_max_num_queries(60):
            answer = pages.post(act="categorize", id=few, category=hosting)
        with django_assert_max_num_queries(75):
            press_undo(pages, answer)
    assert books.list_categorizations(bill_ids[3]) == []
