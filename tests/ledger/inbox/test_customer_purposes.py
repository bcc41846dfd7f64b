"""One customer pays for several things: few earlier payments say little of one for something else."""

import re

import pytest

from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db


@pytest.fixture
def categorize_payments(api, books, bank):
    """Create payments of Novatec with these descriptions, and categorize them."""

    def categorize(key, *descriptions):
        ids = [
            books.create_transaction(bank, "119.00", fromTo="Novatec AG", description=each)["id"]
            for each in descriptions
        ]
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id(key)}
        assert api.post("transactions/categorize", body).status_code == 200

    return categorize


@pytest.fixture
def propose(api, books, bank):
    """Return the first proposal for a payment of Novatec: (category, basis, confidence)."""
    keys = {row["id"]: row["systemKey"] for row in api.get("categories").json()}

    def propose(description):
        row = books.create_transaction(bank, "8330.00", fromTo="NOVATEC AG", description=description)["id"]
        body = {"transactionIds": [row], "paymentKinds": True}
        first = api.post("transactions/proposals", body).json()[row][0]
        return keys[first["categoryId"]], first["basis"]["kind"], first["confidence"]

    return propose


def test_project_of_a_subscriber_is_a_project(categorize_payments, propose):
    categorize_payments("revenueRecurring", "Abo Oktober")
    assert propose("Onboarding Rechnung 7") == ("revenueOneOff", "paymentKind", 0.75)
    assert propose("Abo November")[0] == "revenueRecurring"


def test_bill_of_a_subscriber_is_left_open(editor, acme, books, bank, categorize_payments, propose):
    categorize_payments("revenueRecurring", "Abo Oktober")
    assert propose("RE-2026-0193") == ("revenueRecurring", "counterparty", 0.5)
    inbox = editor.get(f"/app/companies/{acme.id}/inbox")
    assert "Recurring revenue: 1 of 1 transaction with this name" in text(inbox)
    assert not re.search(r'class="button small primary"[^>]*name="category"', inbox.content.decode())
    assert "Categorize as" not in text(editor.get(f"/app/companies/{acme.id}/inbox/groups"))


def test_payments_whose_texts_say_nothing_have_the_category_of_the_earlier_ones(
    editor, acme, categorize_payments, propose
):
    categorize_payments("revenueUsage", "RE-2026-0192")
    category, basis, confidence = propose("RE-2026-0193")
    assert (category, basis, confidence) == ("revenueUsage", "counterparty", 0.5)
    inbox = editor.get(f"/app/companies/{acme.id}/inbox").content.decode()
    assert re.search(r'class="button small primary"[^>]*name="category"', inbox)


def test_own_choice_for_subscriptions_is_kept(categorize_payments, propose):
    categorize_payments("revenueUsage", "Lizenz September")
    categorize_payments("revenueOneOff", "Workshop")
    assert propose("Lizenz Oktober")[0] == "revenueUsage"
    assert propose("Workshop II")[0] == "revenueOneOff"


def test_five_earlier_payments_say_more_than_the_words_of_one(categorize_payments, propose):
    categorize_payments("revenueRecurring", *(f"Abo {month}" for month in range(1, 6)))
    category, basis, confidence = propose("RE-2026-0193")
    assert (category, basis) == ("revenueRecurring", "counterparty")
    assert confidence > 0.5
    assert propose("Projekt 7")[1] == "counterparty"
