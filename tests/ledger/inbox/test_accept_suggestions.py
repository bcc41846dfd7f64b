"""Accepting the primary suggestions of the inbox at once: what the page lists, what it does, and undoing it."""

import re
from datetime import UTC, datetime

import pytest

from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox_path(acme):
    return f"/app/companies/{acme.id}/inbox"


@pytest.fixture
def create_history(api, books, bank):
    """Create categorized transactions with a name, so that a category is suggested for it."""

    def create(name, category, times=10):
        ids = [books.create_transaction(bank, "-10.00", fromTo=name)["id"] for _ in range(times)]
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id(category)}
        assert api.post("transactions/categorize", body).status_code == 200

    return create


def list_fields(answer):
    return re.findall(r'name="suggestion" value="([^"]+)"', answer.content.decode())


def test_primary_suggestions_are_accepted_and_undone_in_one_act(editor, inbox_path, books, bank, create_history):
    create_history("Cloud", "hosting")
    create_history("Landlord", "officeAndAdmin")
    rows = [books.create_transaction(bank, f"-{n}.00", fromTo="Cloud")["id"] for n in (1, 2)]
    rows.append(books.create_transaction(bank, "-900.00", fromTo="Landlord")["id"])
    unknown = books.create_transaction(bank, "-5.00", fromTo="Somebody new", description="x")["id"]
    assert f'href="{inbox_path}/accept"' in editor.get(inbox_path).content.decode()
    shown = editor.get(f"{inbox_path}/accept")
    assert "Hosting −€3.00 2 transactions" in text(shown)
    assert "Office and administration −€900.00 1 transaction" in text(shown)
    assert "Landlord" in text(shown)
    done = editor.post(f"{inbox_path}/accept", {"suggestion": list_fields(shown)}, follow=True)
    assert "3 transactions categorized." in text(done)
    assert [list_pl_amounts(books.list_categorizations(row)[0]) for row in rows] == [
        {"cogs": -1},
        {"cogs": -2},
        {"ga": -900},
    ]
    assert books.list_categorizations(unknown) == []
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    undone = editor.post(inbox_path, {"act": "undo", "run": run}, follow=True)
    assert "3 transactions restored." in text(undone)
    assert [books.list_categorizations(row) for row in rows] == [[], [], []]


def test_cleared_suggestions_stay_in_the_inbox_and_rates_can_be_changed(
    editor, inbox_path, books, bank, create_history
):
    create_history("Cloud", "hosting")
    kept, taxed = (books.create_transaction(bank, "-119.00", fromTo="Cloud")["id"] for _ in range(2))
    fields = {field.split(" ")[0]: field for field in list_fields(editor.get(f"{inbox_path}/accept"))}
    refused = editor.post(f"{inbox_path}/accept", {"suggestion": fields[taxed], f"tax-{taxed}": "much"})
    assert refused.status_code == 400
    assert "Enter a percentage, such as 19 %." in text(refused)
    page = refused.content.decode()
    assert f'value="{fields[taxed]}" checked' in page
    assert f'value="{fields[kept]}">' in page
    assert 'value="much" data-tax-rate aria-invalid="true"' in page
    done = editor.post(f"{inbox_path}/accept", {"suggestion": fields[taxed], f"tax-{taxed}": "19"}, follow=True)
    assert "1 transaction categorized." in text(done)
    assert books.list_categorizations(taxed)[0]["passThroughTax"] == -19
    assert books.list_categorizations(kept) == []


def test_nothing_selected_is_refused(editor, inbox_path, books, bank, create_history):
    create_history("Cloud", "hosting")
    books.create_transaction(bank, "-119.00", fromTo="Cloud")
    refused = editor.post(f"{inbox_path}/accept", {})
    assert refused.status_code == 400
    assert "Select at least one transaction." in text(refused)


def test_vendor_with_one_earlier_payment_is_listed_without_choosing_a_confidence(
    editor, inbox_path, books, bank, create_history
):
    """As in the inbox, where it has a primary button."""
    create_history("Cloud", "hosting", times=1)
    row = books.create_transaction(bank, "-10.00", fromTo="Cloud")["id"]
    shown = editor.get(f"{inbox_path}/accept")
    assert [field.split(" ")[0] for field in list_fields(shown)] == [row]
    assert '<option value="50" selected>' in shown.content.decode()
    assert list_fields(editor.get(f"{inbox_path}/accept", {"confidence": "75"})) == []


def test_suggestions_by_account_and_below_the_confidence_are_left_out(editor, inbox_path, books, bank, create_history):
    create_history("Cloud", "hosting", times=6)
    create_history("Cloud", "officeAndAdmin", times=4)
    books.create_transaction(bank, "-1.00", fromTo="Cloud")
    books.create_transaction(bank, "-5.00", fromTo="Somebody new")
    assert list_fields(editor.get(f"{inbox_path}/accept", {"confidence": "90"})) == []
    assert "No suggestions with this confidence." in text(editor.get(f"{inbox_path}/accept", {"confidence": "90"}))
    assert len(list_fields(editor.get(f"{inbox_path}/accept", {"confidence": "50"}))) <= 1


def test_instalments_are_left_out_once_one_was_split(editor, inbox_path, books, bank):
    def create_instalment(month):
        texts = {"fromTo": "Sparkasse KölnBonn", "description": f"Darlehen 6001234567 Rate {month}/26"}
        return books.create_transaction(bank, "-2062.50", f"2026-{month}-15", **texts)["id"]

    first = create_instalment("03")
    fee = books.create_transaction(bank, "-28.90", fromTo="Sparkasse KölnBonn", description="Kontoführung")["id"]
    assert {each.split(" ")[0] for each in list_fields(editor.get(f"{inbox_path}/accept"))} == {first, fee}
    parts = [
        {"categoryId": books.get_category_id("financing"), "plSplit": {"neutral": -1850}},
        {"categoryId": books.get_category_id("interest"), "plSplit": {"no": -212.5}},
    ]
    assert books.set_categorizations(first, *parts).status_code == 200
    create_instalment("04")
    assert [each.split(" ")[0] for each in list_fields(editor.get(f"{inbox_path}/accept"))] == [fee]


def test_transaction_that_changed_since_is_skipped(editor, inbox_path, api, books, bank, create_history):
    create_history("Cloud", "hosting")
    rows = [books.create_transaction(bank, f"-{n}.00", fromTo="Cloud")["id"] for n in (1, 2)]
    shown = editor.get(f"{inbox_path}/accept")
    assert api.put(f"transactions/{rows[0]}", {"notes": "Ask first"}).status_code == 200
    done = editor.post(f"{inbox_path}/accept", {"suggestion": list_fields(shown)}, follow=True)
    assert "1 transaction categorized. Not categorized: Cloud, " in text(done)
    assert "−€1.00: It was changed in the meantime." in text(done)
    assert books.list_categorizations(rows[0]) == []


def test_transactions_of_closed_months_are_left_out(editor, inbox_path, api, books, bank, create_history):
    create_history("Cloud", "hosting")
    row = books.create_transaction(bank, "-1.00", "2026-03-20", fromTo="Cloud")["id"]
    shown_before = list_fields(editor.get(f"{inbox_path}/accept"))
    assert len(shown_before) == 1
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert list_fields(editor.get(f"{inbox_path}/accept")) == []
    refused = editor.post(f"{inbox_path}/accept", {"suggestion": shown_before})
    assert refused.status_code == 400
    assert "Not categorized: Cloud, 20 Mar 2026, −€1.00: " in text(refused)
    assert "The first open month is 2026-04" in text(refused)
    assert books.list_categorizations(row) == []


def test_refused_transactions_are_named_and_the_others_categorized(
    editor, inbox_path, api, books, bank, create_history
):
    create_history("Cloud", "hosting")
    closed, deleted, accepted = (
        books.create_transaction(bank, f"-{n}.00", day, fromTo="Cloud")["id"]
        for n, day in ((1, "2026-03-20"), (2, "2026-04-02"), (3, "2026-04-03"))
    )
    shown = list_fields(editor.get(f"{inbox_path}/accept"))
    foreign_category = "01a21e08-7cbc-76e2-bf1e-07fd3ddcd111:cogs"
    invalid = books.create_transaction(bank, "-4.00", "2026-04-04", fromTo="Cloud")["id"]
    (line,) = (
        field.split(" ") for field in list_fields(editor.get(f"{inbox_path}/accept")) if field.startswith(invalid)
    )
    shown.append(f"{invalid} {line[1]} {foreign_category}")
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    assert api.delete(f"transactions/{deleted}").status_code in (200, 204)
    done = editor.post(f"{inbox_path}/accept", {"suggestion": shown}, follow=True)
    assert "1 transaction categorized. Not categorized: " in text(done)
    assert "Cloud, 20 Mar 2026, −€1.00: " in text(done)
    assert "The transaction has been deleted." in text(done)
    assert "Cloud, 4 Apr 2026, −€4.00: " in text(done)
    assert [len(books.list_categorizations(row)) for row in (closed, invalid, accepted)] == [0, 0, 1]
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    undone = editor.post(inbox_path, {"act": "undo", "run": run}, follow=True)
    assert "1 transaction restored." in text(undone)
    assert books.list_categorizations(accepted) == []


@pytest.mark.parametrize("sent", [[], ["x"], ["x y z"], ["01a21e08-7cbc-76e2-bf1e-07fd3ddcd111 v x:ga"]])
def test_malformed_suggestions_are_refused(editor, inbox_path, sent):
    answer = editor.post(f"{inbox_path}/accept", {"suggestion": sent})
    assert answer.status_code == 400
    assert "Select at least one transaction." in text(answer)


def test_readers_have_no_such_page(sign_in_browser, bob, acme, inbox_path, books, bank, create_history):
    create_history("Cloud", "hosting")
    books.create_transaction(bank, "-1.00", fromTo="Cloud")
    reader = sign_in_browser(bob, acme).client
    assert f"{inbox_path}/accept" not in reader.get(inbox_path).content.decode()
    assert reader.get(f"{inbox_path}/accept").status_code == 403


def test_transfers_are_left_out_and_counted(editor, inbox_path, books, bank, savings, create_history):
    """The category Transfers alone would leave half a transfer in the cash flow."""
    create_history("Cloud", "hosting")
    cloud = books.create_transaction(bank, "-1.00", fromTo="Cloud")["id"]
    assert "not included" not in text(editor.get(f"{inbox_path}/accept"))
    alone = books.create_transaction(bank, "-70.00", fromTo="Acme")["id"]
    shown = editor.get(f"{inbox_path}/accept")
    assert [field.split(" ")[0] for field in list_fields(shown)] == [cloud]
    assert "1 possible transfer is not included. Link it in the inbox." in text(shown)
    today = datetime.now(tz=UTC).date().isoformat()
    books.create_transaction(bank, "-80.00", today, fromTo="Acme")
    books.create_transaction(savings, "80.00", today, fromTo="Acme")
    shown = editor.get(f"{inbox_path}/accept")
    assert "2 possible transfers are not included. Link them in the inbox." in text(shown)
    editor.post(f"{inbox_path}/accept", {"suggestion": list_fields(shown)})
    assert (len(books.list_categorizations(cloud)), books.list_categorizations(alone)) == (1, [])


def test_categories_learned_as_transfers_are_left_out(editor, inbox_path, books, bank, create_history):
    create_history("Reserve", "transfer")
    books.create_transaction(bank, "-70.00", fromTo="Reserve")
    shown = editor.get(f"{inbox_path}/accept")
    assert list_fields(shown) == []
    assert "No suggestions with this confidence." in text(shown)
    assert "1 possible transfer is not included. Link it in the inbox." in text(shown)
