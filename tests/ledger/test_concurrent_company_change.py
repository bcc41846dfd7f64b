"""A change of the ledger that waited for its turn goes by what the company has become meanwhile."""

import threading

import pytest
from django.db import connection

from companies import change
from ledger.models import Categorization
from ledger.recognition.actions.postings import find_posting_differences

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run_concurrently(monkeypatch):
    """Run a function in another thread while the next import waits for the company lock."""

    def run(act):
        def wait(*args):
            monkeypatch.undo()
            other = threading.Thread(target=lambda: (act(), connection.close()))
            other.start()
            other.join()
            turn(*args)

        turn = change.lock_company
        monkeypatch.setattr(change, "lock_company", wait)

    return run


@pytest.fixture
def import_payment(api, books, bank):
    """Import one categorized payment."""
    item = {
        "accountId": bank,
        "date": "2026-11-18",
        "amountValue": "-100.00",
        "categoryId": books.get_category_id("hosting"),
    }
    return lambda: api.post("transactions/import", {"transactions": [item]})


def test_change_uses_the_new_base_currency(api, run_concurrently, import_payment):
    run_concurrently(lambda: api.put("", {"baseCurrency": "USD"}))
    assert import_payment().status_code == 200
    assert api.get("").json()["baseCurrency"] == "USD"
    assert Categorization.objects.count() == 1
    assert find_posting_differences(api.company.id) == []
