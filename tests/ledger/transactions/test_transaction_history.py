"""The history of one transaction in sentences: who did what to it, alone and among many."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests import factories
from tests.ledger.conftest import get_page_text
from tests.ledger.transactions.test_detail_pages import PDF, build_split_form, parse_split_form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


@pytest.fixture
def bought(books, bank):
    return books.book(bank, "-119.00", fromTo="Nimbus Cloud", description="March hosting", notes="paid late")["id"]


def test_history_describes_changes_with_their_authors(pages, books, bought, savings, api, alice):
    pages.post(f"/{bought}/edit", amountValue="-120.00", fromTo="Nimbus", description="March hosting", notes="")
    hosting, support = (f"{books.category(key)}:cogs" for key in ("hosting", "support"))
    form = build_split_form({"category": hosting, "amount": "-100"}, {"category": support, "amount": ""})
    pages.post(f"/{bought}/split", **form)
    pages.post(
        f"/{bought}/split", **parse_split_form(pages.get(f"/{bought}/split").content.decode()) | {"remove-1": "on"}
    )
    other = books.book(savings, "20.00")["id"]
    books.link(bought, other)
    pages.post(act="uncategorize", id=[bought])
    text = get_page_text(pages.get(f"/{bought}"))
    for part in (
        f"{alice.display_name} changed the amount from −€119.00 to −€120.00, the from / to from “Nimbus Cloud” to",
        "Hosting −€100.00 and",
        "support −€20.00.",
        "changed the categorization to",
        "API key “test” linked it as a transfer with €20.00 on Savings",
        f"{alice.display_name} removed the categories, together with 1 other.",
    ):
        assert part in text, part
    assert text.index("removed the categories") < text.index("linked it") < text.index("created it"), "latest first"


def test_history_describes_bulk_actions_and_undo(pages, books, bought, bank, savings, api):
    other, target = books.book(bank, "-5.00", fromTo="Nimbus")["id"], books.book(savings, "119.00")["id"]
    hosting, support = books.category("hosting"), books.category("support")
    both = {"mode": "ids", "ids": [bought, other]}
    assert api.post("transactions/categorize", {"selection": both, "categoryId": hosting}).status_code == 200
    answer = pages.post(act="categorize", id=bought, category=f"{support}:cogs")  # as one row's choice in the list does
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    pages.post(act="undo", run=run)
    assert api.post("transactions/uncategorize", {"selection": both}).status_code == 200
    rule = {"text": {"operator": "contains", "value": "nimbus"}}
    api.post("categorization_rules", {"name": "r", "conditions": rule, "action": {"categoryId": hosting}})
    applied = api.post("categorization_rules/apply", {"selection": both}).json()
    assert api.delete(f"categorization_runs/{applied['runId']}").status_code == 200
    books.link(target, bought)
    pages.client.post(f"{pages.base}/{bought}/documents", {"file": SimpleUploadedFile("bill.pdf", PDF)})
    text = get_page_text(pages.get(f"/{bought}"))
    answers = (
        "added a file.",
        "API key “test” linked it as a transfer with €119.00 on Savings",
        "API key “test” undid the changes by rules, together with 1 other.",
        "API key “test” applied the rules, together with 1 other.",
        "API key “test” removed the categories, together with 1 other.",
        "undid the categorization.",
        "Customer support.",
        "Hosting, together with 1 other.",
        "created it:",
    )
    places = [text.find(part) for part in answers]
    assert -1 not in places, (answers[places.index(-1)], text)
    assert places == sorted(places)


def test_history_names_replaced_categories_and_counterparties(pages, books, bought, acme, api):
    gone, remaining = factories.make_customer(acme, "Nimbsu"), factories.make_customer(acme, "Nimbus")
    old = api.post("categories", {"name": "Servers", "plTypes": ["cogs"]}).json()["id"]
    books.split(bought, {"categoryId": old, "plSplit": {"cogs": -119}, "counterparty": {"id": str(gone.id)}})
    merge = f"/app/companies/{acme.id}/settings/counterparties/{gone.id}/merge"
    assert pages.client.post(merge, {"into": remaining.name}).status_code == 303
    assert api.delete(f"categories/{old}?replaceWith={books.category('hosting')}").status_code == 200
    text = get_page_text(pages.get(f"/{bought}"))
    assert "merged the counterparty “Nimbsu” into “Nimbus”." in text
    assert re.search(r"changed the category to \S* ?Hosting because the previous one was deleted.", text)


def test_history_of_other_leg_shows_undone_import(pages, books, bank, savings, api):
    target = books.book(savings, "7.00")["id"]
    item = {"accountId": bank, "date": "2026-03-15", "amountValue": "-7.00"}
    import_id = api.post("transactions/import", {"transactions": [item]}).json()["importId"]
    (row,) = api.get(f"transactions?importId={import_id}").json()
    books.link(row["id"], target)
    assert api.delete(f"imports/{import_id}").status_code == 200
    assert "unlinked the transfer because the import of the other leg was undone" in get_page_text(
        pages.get(f"/{target}")
    )
