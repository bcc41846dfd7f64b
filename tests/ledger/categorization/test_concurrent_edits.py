"""What somebody decided is not lost to a page that was drawn before: the inbox, the list, the parts of one."""

import re
from datetime import UTC, datetime

import pytest

from companies.permissions import Role
from ledger.models import Transaction
from tests import factories
from tests.ledger.conftest import Pages, get_page_text
from tests.ledger.inbox.test_inbox_pages import inbox_page

pytestmark = pytest.mark.django_db
assert inbox_page  # a fixture


@pytest.fixture
def anna_pages(sign_in_browser, acme) -> Pages:
    """The pages of Anna, another editor of Acme."""
    user = factories.make_member(acme, "anna@acme.example", role=Role.EDITOR)
    user.name = "Anna"
    user.save(update_fields=["name"])
    return Pages(acme, sign_in_browser(user, acme).client)


def find_seen_value(page, transaction_id):
    """What the form of an inbox's row sends as ``seen``."""
    row = page.content.decode().partition(f'id="t-{transaction_id}"')[2]
    return re.search(r'name="seen" value="([^"]+)"', row)[1]


def list_versions(page):
    return re.findall(r'name="version" value="([^"]+)"', page.content.decode())


def list_parts(books, transaction_id):
    return [(each["categoryId"], sum(each["plSplit"].values())) for each in books.list_categorizations(transaction_id)]


def test_accepting_suggestion_fills_open_amount_and_keeps_existing_split(
    books, bank, inbox_page, hosting, office, check_derived_rows
):
    row = books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")["id"]
    part = {"categoryId": hosting, "plSplit": {"cogs": -40}, "sourceNote": "mine"}
    assert books.set_categorizations(row, part).status_code == 200
    page = inbox_page.get("inbox")
    form = {"act": "accept", "id": row, "category": f"{office}:ga", "seen": find_seen_value(page, row)}
    assert inbox_page.post("inbox", **form).status_code == 303
    assert list_parts(books, row) == [(hosting, -40), (office, -60)]
    assert books.list_categorizations(row)[0]["sourceNote"] == "mine"


def test_accepting_suggestion_keeps_transfer_leg(books, bank, savings, inbox_page, office, check_derived_rows):
    row, other = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(savings, "40.00")["id"]
    assert books.set_categorizations(row, {"categoryId": office, "plSplit": {"ga": -40}}).status_code == 200
    categorization_id = next(iter(books.get_transaction(row)["categorizations"]))
    assert books.link_transfer(row, other, categorization_id).status_code == 200
    (leg,) = books.list_categorizations(row)
    assert inbox_page.post("inbox", act="accept", id=row, category=f"{office}:ga").status_code == 303
    assert books.list_categorizations(row)[0] == leg
    assert list_parts(books, row)[1:] == [(office, -60)]


def test_accepting_suggestion_shows_and_keeps_concurrent_choice(books, bank, inbox_page, anna_pages, hosting, office):
    row = books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")["id"]
    page = inbox_page.get("inbox")
    form = {"act": "accept", "id": row, "category": f"{office}:ga"}
    anna_pages.post(act="categorize", id=row, category=f"{hosting}:cogs")
    for sent in (form | {"seen": find_seen_value(page, row)}, form):
        refused = inbox_page.post("inbox", **sent)
        assert refused.status_code == 400
        assert "Anna has categorized “Nimbus Ltd” in the meantime" in get_page_text(refused)
        assert "Hosting −€100.00" in get_page_text(refused)
    assert list_parts(books, row) == [(hosting, -100)]


def test_edit_conflict_names_other_changes(api, books, bank, inbox_page, anna_pages, office):
    row = books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")["id"]
    form = {
        "act": "accept",
        "id": row,
        "category": f"{office}:ga",
        "seen": find_seen_value(inbox_page.get("inbox"), row),
    }
    api.put(f"transactions/{row}", {"amountValue": "-120.00"})
    refused = inbox_page.post("inbox", **form)
    assert refused.status_code == 400
    assert "has changed “Nimbus Ltd” in the meantime" in get_page_text(refused)
    assert books.list_categorizations(row) == []
    form["seen"] = find_seen_value(refused, row)
    assert inbox_page.post("inbox", **form).status_code == 303
    assert list_parts(books, row) == [(office, -120)]


def test_edit_conflict_names_deleted_rows(api, books, bank, inbox_page, office):
    row = books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")["id"]
    form = {
        "act": "accept",
        "id": row,
        "category": f"{office}:ga",
        "seen": find_seen_value(inbox_page.get("inbox"), row),
    }
    api.delete(f"transactions/{row}")
    refused = inbox_page.post("inbox", **form)
    assert refused.status_code == 400
    assert "The transaction has been deleted." in get_page_text(refused)


@pytest.mark.parametrize("act", ["categorize", "uncategorize", "delete"])
def test_stale_list_does_not_overwrite_concurrent_categorization(books, bank, pages, anna_pages, hosting, office, act):
    row, other = (books.create_transaction(bank, "-100.00", fromTo=name)["id"] for name in ("Nimbus Ltd", "Cumulus"))
    listed = pages.get()
    anna_pages.post(act="categorize", id=row, category=f"{hosting}:cogs")
    form = {"act": act, "id": [row, other], "category": f"{office}:ga", "version": list_versions(listed)}
    for sent in (form, form | {"id": [], "whole": "on"}):
        refused = pages.post(**sent)
        assert refused.status_code == 400
        assert "Anna has categorized “Nimbus Ltd” in the meantime" in get_page_text(refused)
    assert (list_parts(books, row), books.list_categorizations(other)) == ([(hosting, -100)], [])
    form["version"] = list_versions(refused)  # it is shown as it is now, and meant so
    assert pages.post(**form).status_code == 303


def test_edit_conflict_ignores_unselected_rows(books, bank, pages, anna_pages, hosting, office):
    row, other = (books.create_transaction(bank, "-100.00", fromTo=name)["id"] for name in ("Nimbus Ltd", "Cumulus"))
    listed = pages.get()
    anna_pages.post(act="categorize", id=row, category=f"{hosting}:cogs")
    done = pages.post(act="categorize", id=other, category=f"{office}:ga", version=list_versions(listed))
    assert done.status_code == 303
    assert list_parts(books, other) == [(office, -100)]


def test_edit_conflict_counts_several_changed_transactions(books, bank, pages, anna_pages, hosting, office):
    rows = [
        books.create_transaction(bank, "-100.00", fromTo=name)["id"] for name in ("Nimbus Ltd", "Cumulus", "Stratus")
    ]
    listed = pages.get()
    anna_pages.post(act="categorize", id=rows[:2], category=f"{hosting}:cogs")
    refused = pages.post(act="categorize", id=rows, category=f"{office}:ga", version=list_versions(listed))
    assert "2 of the transactions have changed in the meantime" in get_page_text(refused)
    assert books.list_categorizations(rows[2]) == []


def test_stale_bulk_confirmation_is_asked_again(books, bank, pages, anna_pages, acme, hosting, office):
    rows = [books.create_transaction(bank, "-1.00")["id"] for _ in range(51)]
    form = {"act": "categorize", "whole": "on", "category": f"{office}:ga"}
    word = r'name="confirmed" value="([^"]+)"'
    confirmed = re.search(word, pages.post(**form).content.decode())[1]
    anna_pages.post(act="categorize", id=rows[0], category=f"{hosting}:cogs")
    again = pages.post(**form, confirmed=confirmed)
    assert again.status_code == 200
    assert "The selection has changed in the meantime. Review it before you continue." in get_page_text(again)
    assert Transaction.objects.for_company(acme.id).open().count() == 50
    confirmed = re.search(word, again.content.decode())[1]
    assert pages.post(**form, confirmed=confirmed).status_code == 303


def test_split_form_conflict_shows_concurrent_choice(books, bank, pages, anna_pages, hosting, office):
    row = books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")["id"]
    seen = re.search(r'name="seen" value="([^"]+)"', pages.get(f"/{row}/split").content.decode())[1]
    anna_pages.post(act="categorize", id=row, category=f"{hosting}:cogs")
    refused = pages.post(f"/{row}/split", **{"seen": seen, "category-0": f"{office}:ga", "amount-0": "-100.00"})
    assert refused.status_code == 400
    assert "Anna has categorized “Nimbus Ltd” in the meantime: " in get_page_text(refused)
    assert list_parts(books, row) == [(hosting, -100)]


def test_outdated_transfer_pair_is_not_linked(books, bank, savings, inbox_page, anna_pages, hosting):
    day = datetime.now(tz=UTC).date().isoformat()
    source, target = (
        books.create_transaction(bank, "-80.00", day)["id"],
        books.create_transaction(savings, "80.00", day)["id"],
    )
    assert "Main → Savings" in get_page_text(inbox_page.get("inbox"))
    anna_pages.post(act="categorize", id=source, category=f"{hosting}:cogs")
    refused = inbox_page.post("inbox", act="link", source=source, target=target)
    assert refused.status_code == 400
    assert list_parts(books, source) == [(hosting, -80)]
    assert books.list_categorizations(target) == []


def test_transfer_pair_conflict_names_editor_of_changed_leg(books, bank, savings, inbox_page, api):
    day = datetime.now(tz=UTC).date().isoformat()
    out = books.create_transaction(bank, "-200.00", day, fromTo="to savings")["id"]
    other = books.create_transaction(savings, "200.00", day, fromTo="from giro")["id"]
    form = {"act": "link", "source": out, "target": other, "version": list_versions(inbox_page.get("inbox"))}
    assert api.put(f"transactions/{out}", {"amountValue": "-150.00"}).status_code == 200
    page_text = get_page_text(inbox_page.post("inbox", **form))
    assert "has changed “to savings” in the meantime. Your change was not saved." in page_text
    assert "force" not in page_text
    assert api.put(f"transactions/{out}", {"amountValue": "-200.00"}).status_code == 200
    assert inbox_page.post("inbox", **form | {"version": list_versions(inbox_page.get("inbox"))}).status_code == 303
