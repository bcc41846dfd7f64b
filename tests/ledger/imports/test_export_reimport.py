"""What we export is known again when it is imported, in whatever language its headings are."""

from urllib.parse import urlsplit

import pytest
from django.conf import settings

from tests.ledger.imports.test_import_pages import list_sums, open_check_page, upload_csv

pytestmark = pytest.mark.django_db

LANGUAGES = [code for code, _name in settings.LANGUAGES]


@pytest.fixture
def main_account(books):
    account = books.create_account()
    answer = books.api.put(f"accounts/{account}/initial_balance", {"date": "2026-01-01", "amountValue": "1000.00"})
    assert answer.status_code == 200, answer.content
    return account


@pytest.fixture
def booked(books, main_account):
    books.create_transaction(
        main_account, "-119.00", fromTo="Nimbus Cloud", description="March hosting", notes="Value date 2026-03-16"
    )
    books.create_transaction(
        main_account, "1190.50", fromTo="Initech", description="=Invoice 1042", externalId="bank-17"
    )
    books.create_transaction(main_account, "-4.20", date="2026-03-05", description="Café")
    books.create_transaction(main_account, "-4.20", date="2026-03-05", description="Café")


@pytest.fixture
def reader(sign_in_browser, alice, acme):
    def reading(language):
        client = sign_in_browser(alice, acme).client
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        return client

    return reading


def download_export(client, company, account):
    address = f"/app/companies/{company.id}/transactions/export/transactions.csv?accountId={account}"
    return b"".join(client.get(address))


@pytest.mark.usefixtures("booked")
@pytest.mark.parametrize("written", LANGUAGES)
@pytest.mark.parametrize("read", LANGUAGES)
def test_reimported_export_adds_nothing(reader, acme, main_account, written, read):
    table = download_export(reader(written), acme, main_account)
    _, answer = open_check_page(reader(read), acme, main_account, table)
    assert list_sums(answer) == [0, 4, 0, 0]  # the initial balance is a balance


@pytest.mark.usefixtures("booked")
@pytest.mark.parametrize("language", LANGUAGES)
def test_saved_columns_do_not_apply_to_own_exports(reader, acme, main_account, language):
    client = reader(language)
    table = download_export(client, acme, main_account)
    headings = table.decode("utf-8-sig").splitlines()[0].replace(";", ",").split(",")
    wrong = {"date": headings[0], "amount": headings[4], "reference": headings[-1]}
    save_column_settings(
        client, acme, main_account, headings, {name: str(headings.index(each)) for name, each in wrong.items()}
    )
    _, answer = open_check_page(client, acme, main_account, table)
    assert list_sums(answer) == [0, 4, 0, 0]  # the initial balance is a balance


def save_column_settings(client, company, account, headings, columns):
    """Imports a row of its own under the same headings, in other columns, which are remembered."""
    row = ["2026-05-05", *[""] * (len(headings) - 2), "B-1"]
    row[4] = "-1.00"
    address = upload_csv(client, company, account, "\n".join(map(",".join, (headings, row))))["Location"]
    sent = columns | {"account": account, "skip_above": "0", "name": "other.csv"}
    sent |= {"date_order": "iso", "decimal_mark": "point"}
    done = client.post(urlsplit(address).path, sent, follow=True)
    assert done.redirect_chain, done.content.decode()


@pytest.mark.usefixtures("booked")
@pytest.mark.parametrize("language", LANGUAGES)
def test_export_reimport_leaves_out_transactions_of_other_accounts(reader, acme, books, main_account, language):
    client = reader(language)
    books.create_transaction(books.create_account(name="=Tax"), "-7.00")
    both = b"".join(client.get(f"/app/companies/{acme.id}/transactions/export/transactions.csv"))
    _, answer = open_check_page(client, acme, main_account, both)
    assert list_sums(answer) == [0, 4, 0, 0]
