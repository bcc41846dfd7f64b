"""The accounts of the overview: their sums, and how other currencies are converted."""

from datetime import timedelta

import pytest

from tests.analytics.reports.test_overview import (
    create_transaction,
    find_section,
    get_overview,
    parse_key_figures,
    parse_table_rows,
    sign_in,
)
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def test_overview_accounts_have_a_cash_subtotal_beside_other_accounts(api, alice, acme, bank, books):
    create_transaction(api, bank, "1000.00", TODAY - timedelta(days=800))
    assert list(parse_table_rows(find_section(get_overview(alice, acme), "Accounts"))) == ["Main", "All accounts"]
    loan = books.create_account(name="Loan", type="loan")
    savings = books.create_account(name="Savings")
    create_transaction(api, loan, "-300.00", TODAY)
    create_transaction(api, savings, "50.50", TODAY)
    html = get_overview(alice, acme)
    rows = parse_table_rows(find_section(html, "Accounts"))
    assert rows["Cash accounts"] == ["1,050.50", "+50.50"]
    assert rows["All accounts"] == ["750.50", "−249.50"]
    assert list(rows)[-2:] == ["Cash accounts", "All accounts"]
    assert parse_key_figures(html)["Cash"][0] == "€1,051"


def test_conversion_of_balances_is_explained_where_currencies_are_mixed(api, alice, acme, bank):
    create_transaction(api, bank, "100.00", TODAY - timedelta(days=9))
    address = f"/app/companies/{acme.id}/transactions?total=true"
    for is_mixed in (False, True):
        assert ("Balances are converted" in find_section(get_overview(alice, acme), "Accounts")) is is_mixed
        total = sign_in(alice).get(address).content.decode()
        assert ("Each amount is converted at the rate of its day." in total) is is_mixed
        create_transaction(api, bank, "100.00", TODAY - timedelta(days=9), "USD")
