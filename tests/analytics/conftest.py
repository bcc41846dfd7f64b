"""Short words for the facts that the data queries are asked about."""

import pytest

from tests.ledger.conftest import Books


@pytest.fixture
def books(api):
    return Books(api)


@pytest.fixture
def bank(books):
    return books.account()


@pytest.fixture
def ask(api):
    """Asks a data query and gives its answer."""

    def asked(query, **question):
        answer = api.post(f"data/{query}", question)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return asked
