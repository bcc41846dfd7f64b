"""Amounts typed on the split form: without a sign they have that of the transaction."""

import pytest

from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


@pytest.fixture
def submit_split(owner, acme):
    """Submit the split form with rows of (category, amount, tax)."""

    def submit(transaction_id, *rows):
        fields = {}
        for number, (category, amount, tax) in enumerate(rows):
            fields |= {f"key-{number}": "", f"category-{number}": category, f"amount-{number}": amount}
            fields |= {f"tax-{number}": tax, f"rule-{number}": "transactionDate"}
        return owner.post(f"/app/companies/{acme.id}/transactions/{transaction_id}/split", fields, follow=True)

    return submit


def test_amount_without_sign_has_that_of_the_transaction(books, bank, submit_split):
    for amount, typed, stored in [
        ("-100.00", "40.00", -40),
        ("-100.00", "-40.00", -40),
        ("-100.00", "−40", -40),
        ("-100.00", "40 %", -40),
        ("-100.00", "(40.00)", -40),
        ("-100.00", "(€40)", -40),
        ("100.00", "40.00", 40),
        ("100.00", "+40.00", 40),
    ]:
        with undo_changes():
            row = books.create_transaction(bank, amount)["id"]
            line = "cogs" if stored < 0 else "revenue"
            category = books.get_category_id("hosting" if stored < 0 else "revenueRecurring")
            assert "Categorizations saved." in text(submit_split(row, (f"{category}:{line}", typed, ""))), amount
            [part] = books.list_categorizations(row)
            assert list_pl_amounts(part) == {line: stored}, amount


def test_remainder_and_tax_follow_amounts_without_sign(books, bank, submit_split):
    row = books.create_transaction(bank, "-119.00")["id"]
    hosting, office = books.get_category_id("hosting"), books.get_category_id("officeAndAdmin")
    answer = submit_split(row, (f"{hosting}:cogs", "50.00", "9.50"), (f"{office}:ga", "", ""))
    assert "Categorizations saved." in text(answer)
    first, rest = books.list_categorizations(row)
    assert (list_pl_amounts(first), first["passThroughTax"]) == ({"cogs": -50}, -9.5)
    assert list_pl_amounts(rest) == {"ga": -59.5}


def test_other_sign_is_kept_and_refused(books, bank, submit_split):
    row = books.create_transaction(bank, "-100.00")["id"]
    answer = submit_split(row, (f"{books.get_category_id('hosting')}:cogs", "+40.00", ""))
    assert answer.status_code == 400
    assert "Must have the same sign as the transaction." in text(answer)
    assert books.list_categorizations(row) == []


@pytest.mark.parametrize("typed", ["0", "0.00", "-0", "(0)"])
def test_amount_of_zero_is_refused(books, bank, submit_split, typed):
    row = books.create_transaction(bank, "-100.00")["id"]
    hosting, office = books.get_category_id("hosting"), books.get_category_id("officeAndAdmin")
    answer = submit_split(row, (f"{hosting}:cogs", "40", ""), (f"{office}:ga", typed, ""))
    assert answer.status_code == 400
    assert "Enter an amount other than 0." in text(answer)
    assert 'id="amount-1-error"' in answer.content.decode()
    assert books.list_categorizations(row) == []


def test_tax_alone_is_accepted_beside_an_amount_of_zero(books, bank, submit_split):
    row = books.create_transaction(bank, "-100.00")["id"]
    assert "Categorizations saved." in text(
        submit_split(row, (f"{books.get_category_id('hosting')}:cogs", "0", "19.00"))
    )
    [part] = books.list_categorizations(row)
    assert part["passThroughTax"] == -19


def test_tax_that_may_be_a_rate_or_an_amount_is_asked_for_again(books, bank, submit_split):
    row = books.create_transaction(bank, "-119.00")["id"]
    hosting = f"{books.get_category_id('hosting')}:cogs"
    answer = submit_split(row, (hosting, "119", "19"))
    assert "Enter 19 % for a rate, or 19.00 for an amount." in text(answer)
    assert 'id="tax-0-error"' in answer.content.decode()
    assert books.list_categorizations(row) == []
    submit_split(row, (hosting, "119", "19 %"))
    [part] = books.list_categorizations(row)
    assert part["passThroughTax"] == -19


def test_amount_in_parentheses_is_negative_in_the_edit_form(owner, acme, api, books, bank):
    row = books.create_transaction(bank, "-10.00")["id"]
    form = {"accountId": bank, "date": "2026-03-10", "amountValue": "(1,500.25)", "amountCurrency": "EUR"}
    assert owner.post(f"/app/companies/{acme.id}/transactions/{row}/edit", form).status_code == 303
    assert api.get(f"transactions/{row}").json()["amountValue"] == "-1500.25"
    answer = owner.post(f"/app/companies/{acme.id}/transactions/{row}/edit", form | {"amountValue": "(12"})
    assert answer.status_code == 400
    assert "Enter an amount such as" in text(answer)


def test_form_of_money_out_says_that_no_minus_is_needed(owner, acme, books, bank):
    address = f"/app/companies/{acme.id}/transactions"
    out, income = books.create_transaction(bank, "-10.00")["id"], books.create_transaction(bank, "10.00")["id"]
    assert "Money out: no minus needed." in text(owner.get(f"{address}/{out}/split"))
    assert "Money out: no minus needed." not in text(owner.get(f"{address}/{income}/split"))


def test_row_without_amount_and_with_a_tax_of_zero_takes_the_remainder(books, bank, submit_split):
    hosting, office = books.get_category_id("hosting"), books.get_category_id("officeAndAdmin")
    for zero in ("0", "-0", "0,00"):
        with undo_changes():
            row = books.create_transaction(bank, "-119.00")["id"]
            answer = submit_split(row, (f"{hosting}:cogs", "50.00", ""), (f"{office}:ga", "", zero))
            assert "Categorizations saved." in text(answer), zero
            amounts = [list_pl_amounts(part) for part in books.list_categorizations(row)]
            assert amounts == [{"cogs": -50}, {"ga": -69}], zero
