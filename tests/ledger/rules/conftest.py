"""Fixtures for rules and category proposals."""

import pytest


@pytest.fixture
def create_history(api, books, bank):
    """Create transactions with a name and categorize them; return their ids."""

    def create(category, *, times=1, name="Nimbus Ltd", account=None, amount="-100.00", **more):
        row = {"amountValue": amount, "fromTo": name} | more
        ids = books.import_transactions(account or bank, *([row] * times))
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": category}
        assert api.post("transactions/categorize", body).status_code == 200
        return ids

    return create
