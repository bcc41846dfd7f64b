"""Finding and moving: the search of a company, the way to another one, pages back and forth, views kept by name."""

import re

import pytest

from companies.models import AuditEntry
from ledger.models import SavedView
from tests import factories
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def search_as_user(sign_in_browser):
    def search(user, company, text):
        return sign_in_browser(user, company).client.get(f"/app/companies/{company.id}/search", {"q": text})

    return search


@pytest.fixture
def nimbus_transaction_id(books, bank, acme):
    factories.make_customer(acme, "Nimbus Hosting")
    books.create_account(name="Nimbus savings", accountNumber="DE89 3704 0044 0532 0130 00")
    return books.create_transaction(bank, "-119.00", fromTo="Nimbus Cloud", description="March")["id"]


# ---------------------------------------------------------------------------------------------- search


def test_search_finds_records_by_words_or_amount(search_as_user, alice, acme, nimbus_transaction_id):
    for text, kinds in [
        ("nimbus", ["Transactions", "Counterparties", "Accounts"]),
        ("march", ["Transactions"]),
        ("119,00", ["Transactions"]),
        ("DE893704", ["Accounts"]),
        ("0044 0532", ["Accounts"]),
        ("profit", ["Pages"]),
        ("bank statement", ["Pages"]),
        ("", ["Pages"]),
        ("nothing at all", []),
        ("%", []),
        ("a\0b", []),
    ]:
        answer = search_as_user(alice, acme, text)
        assert answer.status_code == 200, text
        assert re.findall(r'<h2 id="kind-\d">([^<]+)</h2>', answer.content.decode()) == kinds, text
        assert ("No results" in get_page_text(answer)) is not kinds or kinds, text


def test_search_results_link_to_existing_pages(search_as_user, alice, acme, nimbus_transaction_id, pages):
    body = search_as_user(alice, acme, "nimbus").content.decode()
    links = re.findall(r'href="([^"]+)"', body.split("data-results")[1])
    assert f"{pages.base}/{nimbus_transaction_id}" in links
    for link in links:
        assert pages.client.get(link.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("text", ["RE-2026-0417", "2026-0417", "re-2026-0417 ", "in_77", "Stark"])
def test_search_finds_invoices_by_number_or_name(text, search_as_user, api, bank, alice, bob, acme, pages):
    invoice = {"accountId": bank, "name": "Stark Industries", "startDate": "2026-03-10", "amountValue": "119.00",
               "invoiceDate": "2026-02-10", "externalInvoiceId": "in_77",
               "externalData": {"invoiceNumber": "RE-2026-0417"}}  # fmt: skip
    made = api.post("planned_transactions", invoice)
    assert made.status_code == 201, made.content
    for user in (alice, bob):
        answer = search_as_user(user, acme, text)
        assert re.findall(r'<h2 id="kind-\d">([^<]+)</h2>', answer.content.decode()) == ["Invoices"]
        assert "RE-2026-0417 €119.00 Stark Industries · 10 Feb 2026" in get_page_text(answer)
    link = re.search(r'<a\s+href="([^"]+/planned/[^"]+)"', answer.content.decode())[1]
    assert made.json()["id"] in link
    assert pages.client.get(link).status_code == 200


@pytest.mark.parametrize("query", ["RE2026001", "2026 001", "re-2026.001", "RE 2026/001", "26-0-01"])
def test_search_of_invoices_ignores_separators(search_as_user, api, bank, alice, acme, query):
    invoice = {"accountId": bank, "startDate": "2026-03-10", "amountValue": "1.00", "invoiceDate": "2026-02-10"}
    numbers = {"RE-2026-001": {"externalData": {"invoiceNumber": "RE-2026-001"}}, "RE 2026.001": {}}
    for name, values in numbers.items():
        assert api.post("planned_transactions", invoice | {"name": name} | values).status_code == 201
    assert api.post("planned_transactions", invoice | {"name": "RE-2026-010"}).status_code == 201
    found = search_as_user(alice, acme, query).content.decode()
    assert ("RE-2026-001" in found, "RE 2026.001" in found, "RE-2026-010" in found) == (True, True, False)


def test_search_of_invoices_needs_planning_permission_and_their_company(search_as_user, api, bank, acme, globex, carol):
    invoice = {"accountId": bank, "name": "INV-9", "startDate": "2026-03-10", "amountValue": "1.00"}
    assert api.post("planned_transactions", invoice | {"invoiceDate": "2026-02-10"}).status_code == 201
    assert api.post("planned_transactions", invoice | {"name": "INV-9 rent"}).status_code == 201, "which is no invoice"
    few = factories.make_member(acme, "few@acme.example", permissions=["company:read", "transactions:read"])
    for user, company in ((few, acme), (carol, globex)):
        assert "No results" in get_page_text(search_as_user(user, company, "INV-9"))


def test_search_shows_only_what_the_user_may_see(search_as_user, acme, globex, carol, nimbus_transaction_id):
    few = factories.make_member(acme, "few@acme.example", permissions=["company:read", "accounts:read"])
    body = search_as_user(few, acme, "nimbus").content.decode()
    assert re.findall(r'<h2 id="kind-\d">([^<]+)</h2>', body) == ["Accounts"]
    assert "Profit and loss" not in get_page_text(search_as_user(few, acme, ""))
    assert "Nimbus" not in get_page_text(search_as_user(carol, globex, "nimbus")).replace("“nimbus”", "")


# ---------------------------------------------------------------------------------------------- another company


def test_company_menu_links_to_same_page_of_other_companies(pages, alice, acme, globex):
    assert ", switch company" not in pages.get().content.decode()
    second = factories.make_company(name="Umbrella", owner=alice)
    body = pages.get().content.decode()
    assert f'href="/app/companies/{second.id}/transactions"' in body
    assert str(globex.id) not in body


def test_company_menu_links_to_overview_if_page_is_not_permitted(pages, alice, acme):
    other = factories.make_company(name="Umbrella")
    from companies.models import Membership

    row = Membership(company=other, user=alice, role="viewer", permissions=["company:read"])
    row.mark_created(factories.make_audit_context()).save(force_insert=True)
    body = pages.get().content.decode()
    assert f'href="/app/companies/{other.id}/transactions"' not in body
    assert f'href="/app/companies/{other.id}"' in body


def test_keyboard_shortcuts_page_requires_sign_in(pages, client):
    assert "Next / previous row" in get_page_text(pages.client.get("/app/shortcuts"))
    assert client.get("/app/shortcuts").status_code == 302


# ---------------------------------------------------------------------------------------------- pages and rows


def test_list_pages_go_forward_and_back_over_the_same_rows(pages, books, bank):
    made = [books.create_transaction(bank, f"-{number + 1}.00")["id"] for number in range(120)]

    def ids(answer):
        return re.findall(r'name="id" value="([^"]+)"', answer.content.decode())

    def follow(answer, rel):
        result = re.search(rf'href="(\?[^"]+)" rel="{rel}"', answer.content.decode())
        return pages.client.get(pages.base + result[1].replace("&amp;", "&")) if result else None

    first = pages.get(sort="amount")
    assert follow(first, "prev") is None
    second = follow(first, "next")
    third = follow(second, "next")
    assert follow(third, "next") is None
    assert ids(first) + ids(second) + ids(third) == made[::-1]
    back = follow(third, "prev")
    assert ids(back) == ids(second)
    assert ids(follow(back, "next")) == ids(third)
    start = follow(back, "prev")
    assert ids(start) == ids(first)
    assert follow(start, "prev") is None
    assert pages.get(before="x").status_code == 400


def test_row_density_choice_is_remembered(pages, books, bank):
    books.create_transaction(bank)
    assert 'transaction-list two-line-rows comfortable"' in pages.get().content.decode()
    assert 'transaction-list two-line-rows compact"' in pages.get(density="compact").content.decode()
    assert 'transaction-list two-line-rows compact"' in pages.get(q="").content.decode()
    assert 'transaction-list two-line-rows compact"' in pages.get(density="tiny").content.decode()
    assert 'transaction-list two-line-rows comfortable"' in pages.get(density="comfortable").content.decode()


# ---------------------------------------------------------------------------------------------- views


def test_saved_view_keeps_filters_and_order(pages, books, bank, acme):
    books.create_transaction(bank)
    answer = pages.post("/views", name="  Large bills ", query="open=true&sort=amount&q=&cursor=abc&run=1")
    assert (answer.status_code, answer["Location"]) == (303, f"{pages.base}?open=true&sort=amount")
    body = pages.get().content.decode()
    assert f'href="{pages.base}?open=true&amp;sort=amount">Large bills</a>' in body
    pages.post("/views", name="Large bills", query="open=false")
    view = SavedView.objects.for_company(acme.id).get()
    assert view.query == "open=false"
    actions = list(
        AuditEntry.objects.for_company(acme.id).filter(entity_type="savedView").values_list("action", flat=True)
    )
    assert sorted(actions) == ["savedView.created", "savedView.updated"]
    assert pages.post(f"/views/{view.id}/delete").status_code == 303
    assert not SavedView.objects.exists()


def test_invalid_saved_view_is_rejected(pages, acme):
    for form in [
        {"name": "", "query": "open=true"},
        {"name": "n" * 81, "query": "open=true"},
        {"name": "n", "query": "open=maybe"},
        {"name": "n", "query": "colour=red"},
        {"name": "n", "query": "q=" + "x" * 3000},
    ]:
        answer = pages.client.post(f"{pages.base}/views", form, follow=True)
        assert "View not saved." in get_page_text(answer), form
        assert not SavedView.objects.exists(), form


def test_saved_views_are_private_or_shared_by_writers(pages, make_pages, alice, bob, acme, carol, globex):
    pages.post("/views", name="Mine", query="open=true")
    pages.post("/views", name="Ours", query="open=true", shared="on")
    viewer = make_pages(bob, acme)
    viewer.post("/views", name="Bob's", query="")
    viewer.post("/views", name="Everybody's", query="", shared="on")
    names = set(SavedView.objects.values_list("name", flat=True))
    assert names == {"Mine", "Ours", "Bob's"}
    body = viewer.get(q="x").content.decode()
    assert ("Ours" in body, "Mine" in body) == (True, False)
    ours = SavedView.objects.get(name="Ours")
    assert viewer.post(f"/views/{ours.id}/delete").status_code == 404
    assert make_pages(carol, globex).post(f"/views/{ours.id}/delete").status_code == 404
    assert "Ours" not in make_pages(carol, globex).get(q="x").content.decode()
    assert SavedView.objects.count() == 3
