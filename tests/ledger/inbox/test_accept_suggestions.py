"""Accepting the primary suggestions of the inbox at once: what the page lists, what it does, and undoing it."""

import re
from datetime import UTC, datetime

import pytest

from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(acme):
    return f"/app/companies/{acme.id}/inbox"


@pytest.fixture
def learned(api, books, bank):
    """Categorizes what was booked with a name, so that the name has a suggestion."""

    def categorize(name, category, times=10):
        ids = [books.book(bank, "-10.00", fromTo=name)["id"] for _ in range(times)]
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.category(category)}
        assert api.post("transactions/categorize", body).status_code == 200

    return categorize


def list_fields(answer):
    return re.findall(r'name="suggestion" value="([^"]+)"', answer.content.decode())


def test_primary_suggestions_are_accepted_and_undone_in_one_act(editor, address, books, bank, learned):
    learned("Cloud", "hosting")
    learned("Landlord", "officeAndAdmin")
    rows = [books.book(bank, f"-{n}.00", fromTo="Cloud")["id"] for n in (1, 2)]
    rows.append(books.book(bank, "-900.00", fromTo="Landlord")["id"])
    unknown = books.book(bank, "-5.00", fromTo="Somebody new", description="x")["id"]
    assert f'href="{address}/accept"' in editor.get(address).content.decode()
    shown = editor.get(f"{address}/accept")
    assert "Hosting 2 −€3.00" in text(shown)
    assert "Office and administration 1 −€900.00" in text(shown)
    assert "Total 3 −€903.00" in text(shown)
    assert "Accept all 3 suggestions" in text(shown)
    done = editor.post(f"{address}/accept", {"suggestion": list_fields(shown)}, follow=True)
    assert "3 transactions categorized." in text(done)
    assert [list_pl_amounts(books.parts(row)[0]) for row in rows] == [{"cogs": -1}, {"cogs": -2}, {"ga": -900}]
    assert books.parts(unknown) == []
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    undone = editor.post(address, {"act": "undo", "run": run}, follow=True)
    assert "3 transactions restored." in text(undone)
    assert [books.parts(row) for row in rows] == [[], [], []]


def test_vendor_with_one_earlier_payment_is_listed_without_choosing_a_confidence(editor, address, books, bank, learned):
    """As in the inbox, where it has a primary button."""
    learned("Cloud", "hosting", times=1)
    row = books.book(bank, "-10.00", fromTo="Cloud")["id"]
    shown = editor.get(f"{address}/accept")
    assert [field.split(" ")[0] for field in list_fields(shown)] == [row]
    assert '<option value="50" selected>' in shown.content.decode()
    assert list_fields(editor.get(f"{address}/accept", {"confidence": "75"})) == []


def test_suggestions_by_account_and_below_the_confidence_are_left_out(editor, address, books, bank, learned):
    learned("Cloud", "hosting", times=6)
    learned("Cloud", "officeAndAdmin", times=4)
    books.book(bank, "-1.00", fromTo="Cloud")
    books.book(bank, "-5.00", fromTo="Somebody new")
    assert list_fields(editor.get(f"{address}/accept", {"confidence": "90"})) == []
    assert "No suggestions with this confidence." in text(editor.get(f"{address}/accept", {"confidence": "90"}))
    assert len(list_fields(editor.get(f"{address}/accept", {"confidence": "50"}))) <= 1


def test_transaction_that_changed_since_is_skipped(editor, address, api, books, bank, learned):
    learned("Cloud", "hosting")
    rows = [books.book(bank, f"-{n}.00", fromTo="Cloud")["id"] for n in (1, 2)]
    shown = editor.get(f"{address}/accept")
    assert api.put(f"transactions/{rows[0]}", {"notes": "Ask first"}).status_code == 200
    done = editor.post(f"{address}/accept", {"suggestion": list_fields(shown)}, follow=True)
    assert "1 transaction categorized. Not categorized: Cloud, " in text(done)
    assert "−€1.00: It was changed in the meantime." in text(done)
    assert books.parts(rows[0]) == []


def test_transactions_of_closed_months_are_left_out(editor, address, api, books, bank, learned):
    learned("Cloud", "hosting")
    row = books.book(bank, "-1.00", "2026-03-20", fromTo="Cloud")["id"]
    shown_before = list_fields(editor.get(f"{address}/accept"))
    assert len(shown_before) == 1
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert list_fields(editor.get(f"{address}/accept")) == []
    refused = editor.post(f"{address}/accept", {"suggestion": shown_before})
    assert refused.status_code == 400
    assert "Not categorized: Cloud, 20 Mar 2026, −€1.00: " in text(refused)
    assert "The first open month is 2026-04" in text(refused)
    assert books.parts(row) == []


def test_refused_transactions_are_named_and_the_others_categorized(editor, address, api, books, bank, learned):
    learned("Cloud", "hosting")
    closed, deleted, accepted = (
        books.book(bank, f"-{n}.00", day, fromTo="Cloud")["id"]
        for n, day in ((1, "2026-03-20"), (2, "2026-04-02"), (3, "2026-04-03"))
    )
    shown = list_fields(editor.get(f"{address}/accept"))
    foreign_category = "01a21e08-7cbc-76e2-bf1e-07fd3ddcd111:cogs"
    invalid = books.book(bank, "-4.00", "2026-04-04", fromTo="Cloud")["id"]
    (line,) = (field.split(" ") for field in list_fields(editor.get(f"{address}/accept")) if field.startswith(invalid))
    shown.append(f"{invalid} {line[1]} {foreign_category}")
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert api.delete(f"transactions/{deleted}").status_code in (200, 204)
    done = editor.post(f"{address}/accept", {"suggestion": shown}, follow=True)
    assert "1 transaction categorized. Not categorized: " in text(done)
    assert "Cloud, 20 Mar 2026, −€1.00: " in text(done)
    assert "The transaction has been deleted." in text(done)
    assert "Cloud, 4 Apr 2026, −€4.00: " in text(done)
    assert [len(books.parts(row)) for row in (closed, invalid, accepted)] == [0, 0, 1]
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    undone = editor.post(address, {"act": "undo", "run": run}, follow=True)
    assert "1 transaction restored." in text(undone)
    assert books.parts(accepted) == []


@pytest.mark.parametrize("sent", [[], ["x"], ["x y z"], ["01a21e08-7cbc-76e2-bf1e-07fd3ddcd111 v x:ga"]])
def test_malformed_suggestions_are_refused(editor, address, sent):
    answer = editor.post(f"{address}/accept", {"suggestion": sent})
    assert answer.status_code == 400
    assert "No suggestions to accept." in text(answer)


def test_readers_have_no_such_page(browser_of, bob, acme, address, books, bank, learned):
    learned("Cloud", "hosting")
    books.book(bank, "-1.00", fromTo="Cloud")
    reader = browser_of(bob, acme).client
    assert f"{address}/accept" not in reader.get(address).content.decode()
    assert reader.get(f"{address}/accept").status_code == 403


def test_transfers_are_left_out_and_counted(editor, address, books, bank, savings, learned):
    """The category Transfers alone would leave half a transfer in the cash flow."""
    learned("Cloud", "hosting")
    cloud = books.book(bank, "-1.00", fromTo="Cloud")["id"]
    assert "not included" not in text(editor.get(f"{address}/accept"))
    alone = books.book(bank, "-70.00", fromTo="Acme")["id"]
    shown = editor.get(f"{address}/accept")
    assert [field.split(" ")[0] for field in list_fields(shown)] == [cloud]
    assert "1 possible transfer is not included. Link it in the inbox." in text(shown)
    today = datetime.now(tz=UTC).date().isoformat()
    books.book(bank, "-80.00", today, fromTo="Acme")
    books.book(savings, "80.00", today, fromTo="Acme")
    shown = editor.get(f"{address}/accept")
    assert "2 possible transfers are not included. Link them in the inbox." in text(shown)
    editor.post(f"{address}/accept", {"suggestion": list_fields(shown)})
    assert (len(books.parts(cloud)), books.parts(alone)) == (1, [])


def test_categories_learned_as_transfers_are_left_out(editor, address, books, bank, learned):
    learned("Reserve", "transfer")
    books.book(bank, "-70.00", fromTo="Reserve")
    shown = editor.get(f"{address}/accept")
    assert list_fields(shown) == []
    assert "No suggestions with this confidence." in text(shown)
    assert "1 possible transfer is not included. Link it in the inbox." in text(shown)
