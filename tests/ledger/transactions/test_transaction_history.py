"""The history of one transaction: who changed which fields of it, alone and among many."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.audit import changes
from companies.models import AuditEntry, generate_id
from tests import factories
from tests.change_tables import list_changes
from tests.ledger.conftest import get_page_text
from tests.ledger.transactions.test_detail_pages import PDF, build_split_form, parse_split_form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def bill_id(books, bank):
    return books.create_transaction(
        bank, "-119.00", fromTo="Nimbus Cloud", description="March hosting", notes="paid late"
    )["id"]


def test_page_asks_for_each_name_once(pages, bill_id):
    pages.post(f"/{bill_id}/edit", amountValue="-120.00", fromTo="Nimbus", description="March hosting", notes="")
    with CaptureQueriesContext(connection) as sent:
        assert pages.get(f"/{bill_id}").status_code == 200
    statements = [query["sql"] for query in sent.captured_queries]
    assert sorted(sql for sql in set(statements) if statements.count(sql) > 1) == []


def test_history_describes_changes_with_their_authors(pages, books, bill_id, savings, api, alice):
    pages.post(f"/{bill_id}/edit", amountValue="-120.00", fromTo="Nimbus", description="March hosting", notes="")
    hosting, support = (f"{books.get_category_id(key)}:cogs" for key in ("hosting", "support"))
    form = build_split_form({"category": hosting, "amount": "-100"}, {"category": support, "amount": ""})
    pages.post(f"/{bill_id}/split", **form)
    pages.post(
        f"/{bill_id}/split", **parse_split_form(pages.get(f"/{bill_id}/split").content.decode()) | {"remove-1": "on"}
    )
    other = books.create_transaction(savings, "20.00")["id"]
    books.link_transfer(bill_id, other)
    pages.post(act="uncategorize", id=[bill_id])
    changes = list_changes(pages.get(f"/{bill_id}"))
    assert changes == [
        ("Transactions uncategorized (1)", "", alice.display_name, {"Counter transactions created": ("—", "1")}),
        ("Transfer linked", "", "API key “test”", {
            "Main": ("—", "15 Mar 2026, −€120.00"), "Savings": ("—", "15 Mar 2026, €20.00"),
        }),
        ("Transaction categorized", "", alice.display_name, {
            "Customer support": ("−€20.00", "—"), "Customer support — P&L line": ("Cost of revenue", "—"),
        }),
        ("Transaction categorized", "", alice.display_name, {
            "Hosting": ("—", "−€100.00"), "Hosting — P&L line": ("—", "Cost of revenue"),
            "Customer support": ("—", "−€20.00"), "Customer support — P&L line": ("—", "Cost of revenue"),
        }),
        ("Transaction updated", "", alice.display_name, {
            "Amount": ("−€119.00", "−€120.00"), "From / to": ("Nimbus Cloud", "Nimbus"), "Notes": ("paid late", "—"),
        }),
        ("Transaction created", "", "API key “test”", {
            "Amount": ("—", "−€119.00"), "Date": ("—", "15 Mar 2026"), "Account": ("—", "Main"),
            "From / to": ("—", "Nimbus Cloud"),
        }),
    ], "latest first"  # fmt: skip


def test_history_shows_every_changed_field_of_a_categorization(pages, books, bill_id, acme, api):
    vendor, hosting = factories.make_customer(acme, "Nimbus"), books.get_category_id("hosting")
    path = f"transactions/{bill_id}/categorizations"
    plain = {"categoryId": hosting, "plSplit": {"cogs": -119}}
    (part_id,) = api.put(path, {"categorizations": {"0": plain}}).json()["categorizations"]
    period = {"type": "servicePeriod", "startDate": "2026-03-01", "endDate": "2026-05-31"}
    changed = {
        "categoryId": hosting, "plSplit": {"cogs": -100}, "passThroughTax": -19, "usingDateRule": period,
        "counterparty": {"id": str(vendor.id)}, "sourceNote": "invoice 7",
    }  # fmt: skip
    assert api.put(path, {"categorizations": {part_id: changed}}).status_code == 200
    other = changed | {"usingDateRule": {"type": "month"}}
    assert api.put(path, {"categorizations": {part_id: other}}).status_code == 200
    moved, edited, created, _booked = list_changes(pages.get(f"/{bill_id}"))
    assert created.fields == {"Hosting": ("—", "−€119.00"), "Hosting — P&L line": ("—", "Cost of revenue")}
    assert edited.fields == {
        "Hosting — Pass-through tax": ("—", "−€19.00"),
        "Hosting — Counterparty": ("—", "Nimbus"),
        "Hosting — Date rule": ("Transaction date", "Service period"),
        "Hosting — Service start date": ("—", "1 Mar 2026"),
        "Hosting — Service end date": ("—", "31 May 2026"),
        "Hosting — Note": ("—", "invoice 7"),
    }
    assert moved.fields == {
        "Hosting — Date rule": ("Service period", "Whole month"),
        "Hosting — Service start date": ("1 Mar 2026", "—"),
        "Hosting — Service end date": ("31 May 2026", "—"),
    }


def test_history_shows_amounts_by_profit_and_loss_line(pages, books, bill_id, api):
    category = api.post("categories", {"name": "Servers", "plTypes": ["cogs", "pd"]}).json()["id"]
    path = f"transactions/{bill_id}/categorizations"
    body = {"categorizations": {"0": {"categoryId": category, "plSplit": {"cogs": -119}}}}
    (part_id,) = api.put(path, body).json()["categorizations"]
    part = {"categoryId": category, "plSplit": {"cogs": -100, "pd": -19}}
    assert api.put(path, {"categorizations": {part_id: part}}).status_code == 200
    assert list_changes(pages.get(f"/{bill_id}"))[0].fields == {
        "Servers — P&L line": ("Cost of revenue", "Cost of revenue −€100.00, Product development −€19.00")
    }


def test_history_shows_entries_of_earlier_versions(pages, books, bill_id, acme, alice):
    part = {"category_id": books.get_category_id("hosting"), "value": "-100.0000"}
    AuditEntry.objects.create(
        company=acme, time=timezone.now(), actor=str(alice.pk), action="transaction.split", entity_type="transaction",
        entity_id=bill_id, before={}, after={str(generate_id()): part},
    )  # fmt: skip
    assert list_changes(pages.get(f"/{bill_id}"))[0].fields == {"Hosting": ("—", "−€100.00")}


def test_history_links_to_all_changes_if_there_are_more(pages, books, bill_id, api, acme, monkeypatch):
    link = f'href="/app/companies/{acme.id}/settings/activity?thing={bill_id}"'
    monkeypatch.setattr(changes, "MAX_HISTORY_CHANGES", 2)
    assert api.put(f"transactions/{bill_id}", {"notes": "a"}).status_code == 200
    assert link not in pages.get(f"/{bill_id}").content.decode()
    assert api.put(f"transactions/{bill_id}", {"notes": "b"}).status_code == 200
    answer = pages.get(f"/{bill_id}")
    assert (link in answer.content.decode(), len(list_changes(answer))) == (True, 2)


def test_history_describes_bulk_actions_and_undo(pages, books, bill_id, bank, savings, api):
    other, target = (
        books.create_transaction(bank, "-5.00", fromTo="Nimbus")["id"],
        books.create_transaction(savings, "119.00")["id"],
    )
    hosting, support = books.get_category_id("hosting"), books.get_category_id("support")
    both = {"mode": "ids", "ids": [bill_id, other]}
    assert api.post("transactions/categorize", {"selection": both, "categoryId": hosting}).status_code == 200
    answer = pages.post(
        act="categorize", id=bill_id, category=f"{support}:cogs"
    )  # as one row's choice in the list does
    run = re.search(r"run=([^&]+)", answer["Location"])[1]
    pages.post(act="undo", run=run)
    assert api.post("transactions/uncategorize", {"selection": both}).status_code == 200
    rule = {"text": {"operator": "contains", "value": "nimbus"}}
    api.post("categorization_rules", {"name": "r", "conditions": rule, "action": {"categoryId": hosting}})
    applied = api.post("categorization_rules/apply", {"selection": both}).json()
    assert api.delete(f"categorization_runs/{applied['runId']}").status_code == 200
    books.link_transfer(target, bill_id)
    pages.client.post(f"{pages.base}/{bill_id}/documents", {"file": SimpleUploadedFile("bill.pdf", PDF)})
    changes = list_changes(pages.get(f"/{bill_id}"))
    category = {"Category": ("—", "Hosting"), "P&L line": ("—", "Cost of revenue")}
    assert [(change.label, change.fields) for change in changes] == [
        ("Document created", {"Size": ("—", str(len(PDF))), "Data status": ("—", "Not read")}),
        ("Transfer linked", {"Savings": ("—", "15 Mar 2026, €119.00"), "Main": ("—", "15 Mar 2026, −€119.00")}),
        ("Bulk change undone (2)", {"Action": ("—", "rules")}),
        ("Rules applied (2)", {}),
        ("Transactions uncategorized (2)", {}),
        ("Bulk change undone (1)", {"Action": ("—", "categorize")}),
        ("Transactions categorized (1)", {"Category": ("Hosting", "Customer support")}),
        ("Transactions categorized (2)", category),
        ("Transaction created", changes[-1].fields),
    ]
    assert (changes[0].name, changes[2].actor) == ("bill.pdf", "API key “test”")


def test_history_names_replaced_categories_and_counterparties(pages, books, bill_id, acme, api):
    gone, remaining = factories.make_customer(acme, "Nimbsu"), factories.make_customer(acme, "Nimbus")
    old = api.post("categories", {"name": "Servers", "plTypes": ["cogs"]}).json()["id"]
    books.set_categorizations(
        bill_id, {"categoryId": old, "plSplit": {"cogs": -119}, "counterparty": {"id": str(gone.id)}}
    )
    merge = f"/app/companies/{acme.id}/settings/counterparties/{gone.id}/merge"
    assert pages.client.post(merge, {"into": remaining.name}).status_code == 303
    assert api.delete(f"categories/{old}?replaceWith={books.get_category_id('hosting')}").status_code == 200
    replaced, merged = list_changes(pages.get(f"/{bill_id}"))[:2]
    assert (replaced.label, replaced.fields) == ("Category replaced", {"Replaced with": ("—", "Hosting")})
    assert (merged.label, merged.fields["Counterparty"]) == ("Counterparty merged", ("Nimbsu", "Nimbus"))


def test_history_hides_what_the_reader_may_not_see(books, bill_id, savings, acme, api, pages, make_pages):
    gone, remaining = factories.make_customer(acme, "Nimbsu"), factories.make_customer(acme, "Initech")
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}}
    books.set_categorizations(bill_id, part | {"counterparty": {"id": str(gone.id)}})
    merge = f"/app/companies/{acme.id}/settings/counterparties/{gone.id}/merge"
    assert pages.client.post(merge, {"into": remaining.name}).status_code == 303
    api.client.post(
        api.path("files"),
        {"file": SimpleUploadedFile("bill.pdf", PDF), "transactionIds": bill_id},
        headers=api.headers,
    )
    books.link_transfer(bill_id, books.create_transaction(savings, "19.00")["id"])
    eve = factories.make_member(acme, "eve@acme.example", permissions=["audit:read", "transactions:read"])
    answer = make_pages(eve, acme).get(f"/{bill_id}")
    linked, document, merged, categorized, created = list_changes(answer)
    assert list(linked.fields) == ["(no access)"]
    assert categorized.fields == {
        "(no access)": ("—", "−€100.00"), "(no access) — P&L line": ("—", "Cost of revenue"),
    }  # fmt: skip
    assert (document.fields, merged.fields, "Account" in created.fields) == ({}, {}, False)
    for hidden in ("Nimbsu", "Initech", "bill.pdf", "Hosting", "Savings", "Main", "“test”"):
        assert hidden not in get_page_text(answer), hidden


def test_files_are_attached_to_a_named_transaction(pages, books, bill_id, bank, api):
    other = books.create_transaction(bank, "-5.00", fromTo="Initech")["id"]
    answer = api.client.post(
        api.path("files"), {"file": SimpleUploadedFile("bill.pdf", PDF), "transactionIds": bill_id}, headers=api.headers
    )
    assert api.put(f"files/{answer.json()['id']}", {"transactionIds": [other]}).status_code == 200
    (change, *_) = list_changes(pages.get(f"/{bill_id}"))
    assert (change.label, change.name, change.fields) == (
        "Document updated", "bill.pdf", {"Transactions": ("Nimbus Cloud", "Initech")},
    )  # fmt: skip


def test_history_of_other_leg_shows_undone_import(pages, books, bank, savings, api):
    target = books.create_transaction(savings, "7.00")["id"]
    item = {"accountId": bank, "date": "2026-03-15", "amountValue": "-7.00"}
    import_id = api.post("transactions/import", {"transactions": [item]}).json()["importId"]
    (row,) = api.get(f"transactions?importId={import_id}").json()
    books.link_transfer(row["id"], target)
    assert api.delete(f"imports/{import_id}").status_code == 200
    undone, linked, _created = list_changes(pages.get(f"/{target}"))
    assert undone.label == "Other side: Import undone (1)"
    assert linked.fields == {"Transaction": ("—", "Deleted"), "Savings": ("—", "15 Mar 2026, €7.00")}
