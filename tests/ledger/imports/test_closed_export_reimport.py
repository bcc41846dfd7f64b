"""An export with rows of closed and of open months, with and without categories, adds nothing when it comes back."""

import pytest

from tests.ledger.imports.test_export_reimport import download_export
from tests.ledger.imports.test_import_pages import list_sums, open_check_page
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db


@pytest.fixture
def exported(api, books, bank):
    """Transactions in a closed and an open month, some with an external id, some categorized."""
    hosting = books.get_category_id("hosting")
    rows = [
        books.create_transaction(bank, "-119.00", "2026-03-16", fromTo="Nimbus Cloud", externalId="e-1")["id"],
        books.create_transaction(bank, "-4.20", "2026-03-17", description="Café", externalId="e-2")["id"],
        books.create_transaction(bank, "-4.20", "2026-03-17", description="Café")["id"],
        books.create_transaction(bank, "-7.00", "2026-04-05", fromTo="Shop", externalId="e-3")["id"],
        books.create_transaction(bank, "-7.00", "2026-04-05", fromTo="Shop", externalId="e-4")["id"],
        books.create_transaction(bank, "1190.50", "2026-04-06", fromTo="Initech", description="=Invoice 1042")["id"],
    ]
    for row in rows[::2]:
        amount = float(books.get_transaction(row)["amountValue"])
        books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": amount}})
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    return len(rows)


def test_page_knows_all_rows(editor, acme, bank, exported):
    _, answer = open_check_page(editor, acme, bank, download_export(editor, acme, bank))
    assert list_sums(answer) == [0, exported, 0, 0]


@pytest.mark.parametrize("parameters", [{}, {"dryRun": "true"}])
def test_api_knows_all_rows(api, acme, bank, editor, exported, parameters):
    table = download_export(editor, acme, bank)
    answer = upload_statement(api, table, name="transactions.csv", accountId=bank, **parameters)
    assert answer.status_code == 200, answer.content
    assert (answer.json()["count"], answer.json()["duplicates"]) == (0, exported)
    assert len(api.get("transactions").json()) == exported
