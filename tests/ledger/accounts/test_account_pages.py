"""The pages of accounts: what they hold, by group, and what can be done with one."""

import re
from datetime import timedelta
from html import unescape

import pytest

from ledger.accounts import account_balances
from ledger.models import Account
from ledger.money import rates as stored_rates
from ledger.money.calc.fx import RateTable
from tests import factories
from tests.page_text import get_page_text
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


@pytest.fixture
def set_dollar_rate(monkeypatch):
    table = RateTable([("USD", TODAY - timedelta(days=10), 1 / stored_rates.parse_positive_rate("0.8"))])
    monkeypatch.setattr(account_balances, "get_rate_table", lambda: table)


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/accounts{path}"


def build_account_form(**changes):
    shown = {"name": "Main", "type": "bank", "accountNumber": "", "accountGroupId": "", "defaultCurrency": "EUR"}
    return shown | {"defaultCategoryId": "", "includeInCashBalance": ""} | changes


# ---------------------------------------------------------------------------------------------- what they hold


def test_account_list_groups_accounts_and_shows_balances(viewer, api, books, acme, set_dollar_rate):
    group = api.post("account_groups", {"name": "Banks"}).json()["id"]
    main = books.create_account(accountGroupId=group, accountNumber="DE00 1234")
    dollars = books.create_account(name="Dollars", defaultCurrency="USD", accountGroupId=group)
    box = books.create_account(name="Box", type="cash")
    books.create_transaction(main, "100.00", str(TODAY))
    books.create_transaction(main, "10.00", str(TODAY), amountCurrency="USD")
    books.create_transaction(main, "55.00", str(TODAY + timedelta(days=1)))
    books.create_transaction(dollars, "-50.00", str(TODAY))
    books.create_transaction(box, "7.00", str(TODAY))
    seen = get_page_text(viewer.get(build_page_path(acme)))
    assert "Main DE00 1234 Bank cash €100.00 $10.00 €108.00" in seen
    assert "Dollars Bank cash −$50.00 −€40.00" in seen
    assert "Banks €68.00 Dollars" in seen
    assert "No group" in seen
    assert "Total of active accounts €75.00" in seen


def test_account_list_separates_letter_currency_code_from_amount(viewer, books, acme):
    francs = books.create_account(name="Francs", defaultCurrency="CHF")
    books.create_transaction(francs, "-1234.50", str(TODAY), amountCurrency="CHF")
    assert "Francs Bank cash −CHF 1,234.50 " in get_page_text(viewer.get(build_page_path(acme)))


def test_account_list_balances_match_api(viewer, api, books, bank, acme):
    books.create_transaction(bank, "12.34", str(TODAY))
    window = {"startDate": str(TODAY), "endDate": str(TODAY)}
    value = api.post("data/accountBalanceByAccount", window).json()[bank]["value"]
    assert f"€{value}" in get_page_text(viewer.get(build_page_path(acme)))


def test_account_pages_hide_balances_without_permission(sign_in_browser, acme, books, bank):
    books.create_transaction(bank, "12.34", str(TODAY))
    reader = factories.make_member(acme, "r@acme.example", permissions=["accounts:read"])
    client = sign_in_browser(reader, acme).client
    for path in ("", f"/{bank}"):
        seen = get_page_text(client.get(build_page_path(acme, path)))
        assert "Main" in seen
        assert "12.34" not in seen


def test_account_list_can_be_downloaded(viewer, books, bank, acme, set_dollar_rate):
    books.create_transaction(bank, "12.50")
    books.create_transaction(books.create_account(name="=Dollars", defaultCurrency="USD"), "100.00", currency="USD")
    books.create_transaction(books.create_account(name="Card"), "-3.20")
    html = viewer.get(f"/app/companies/{acme.id}/accounts").content.decode()
    assert f'href="/app/companies/{acme.id}/accounts.csv"' in html
    lines = viewer.get(f"/app/companies/{acme.id}/accounts.csv").content.decode().splitlines()
    assert lines[0] == "Account,Type,Currency,Balance,In EUR,Number or IBAN"
    assert "'=Dollars,Bank,USD,100.00,80.00," in lines
    assert any(line.endswith("Bank,EUR,12.50,12.50,") for line in lines)
    assert "Card,Bank,EUR,-3.20,-3.20," in lines


def test_account_list_without_exchange_rate_shows_notice_and_no_conversion(viewer, books, acme, monkeypatch):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    books.create_transaction(dollars, "5.00", str(TODAY))
    monkeypatch.setattr(account_balances, "get_rate_table", lambda: RateTable([]))
    seen = get_page_text(viewer.get(build_page_path(acme)))
    assert "No exchange rate for USD" in seen
    assert "$5.00 –" in seen


def test_archived_accounts_are_listed_separately(viewer, api, books, bank, acme):
    api.put(f"accounts/{bank}/archive")
    assert "No accounts yet" in get_page_text(viewer.get(build_page_path(acme)))
    assert "Main" in get_page_text(viewer.get(build_page_path(acme, "?archived=true")))


def test_empty_account_list_offers_new_account_to_editors_only(owner, viewer, acme):
    assert "New account" in get_page_text(owner.get(build_page_path(acme)))
    assert "New account" not in get_page_text(viewer.get(build_page_path(acme)))


def test_account_list_queries_do_not_grow_with_accounts(
    viewer, acme, books, audit_context, django_assert_max_num_queries
):
    books.create_transaction(books.create_account(), "1.00", str(TODAY))
    viewer.get(build_page_path(acme))
    counted = []
    for count in (0, 100):
        Account.objects.bulk_create(
            Account(
                company=acme, name=f"a{n}", type="bank", default_currency="EUR", include_in_cash_balance=True
            ).mark_created(audit_context)
            for n in range(count)
        )
        with django_assert_max_num_queries(11) as seen:  # one of them names the currencies of old rates
            viewer.get(build_page_path(acme))
        counted.append(len(seen.captured_queries))
    assert counted[0] == counted[1]


# ---------------------------------------------------------------------------------------------- one account


def test_account_can_be_created_with_form(owner, api, acme):
    group_id = api.post("account_groups", {"name": "Banks"}).json()["id"]
    sent = build_account_form(name="Savings", accountNumber="1", accountGroupId=group_id, defaultCurrency="CHF")
    answer = owner.post(build_page_path(acme, "/new"), sent, follow=True)
    account = Account.objects.for_company(acme.id).get()
    assert answer.redirect_chain == [(build_page_path(acme, f"/{account.id}"), 303)]
    assert "Savings created." in get_page_text(answer)
    assert (account.default_currency, str(account.account_group_id)) == ("CHF", group_id)
    assert account.include_in_cash_balance


def test_invalid_account_form_shows_field_errors(owner, acme):
    for field, value, message in [
        ("name", "", "This field is required."),
        ("name", "x" * 201, "no more than 200"),
        ("type", "piggyBank", "Choose one of the options."),
        ("defaultCurrency", "XXX", "Choose one of the options."),
        ("accountGroupId", "00000000-0000-7000-8000-000000000000", "This record does not exist in this company."),
        ("accountNumber", "\0", "Null characters"),
        ("includeInCashBalance", "on", "Choose one of the options."),
    ]:
        answer = owner.post(build_page_path(acme, "/new"), build_account_form() | {field: value})
        assert answer.status_code == 400, field
        html = unescape(answer.content.decode())
        assert f'id="{field}-error"' in html
        assert f'aria-describedby="{field}-error"' in html
        assert message in html, field
        assert not Account.objects.for_company(acme.id).exists(), field


@pytest.mark.parametrize(("type_", "cash"), [("bank", True), ("cash", True), ("loan", False), ("creditCard", False)])
def test_new_account_cash_flag_follows_type_unless_set(owner, acme, type_, cash):
    for text, counts in (("", cash), ("true", True), ("false", False)):
        owner.post(
            build_page_path(acme, "/new"),
            build_account_form(name=f"said {text or 'nothing'}", type=type_, includeInCashBalance=text),
        )
        assert (
            Account.objects.for_company(acme.id).get(name=f"said {text or 'nothing'}").include_in_cash_balance is counts
        )


def test_account_cash_flag_follows_type_by_default(owner, api, acme, bank):
    def changed(**to):
        shown = owner.get(build_page_path(acme, f"/{bank}/edit")).content.decode()
        chosen = re.search(r'<select id="includeInCashBalance".*?<option value="(\w*)" selected>', shown, re.DOTALL)[1]
        assert (
            owner.post(
                build_page_path(acme, f"/{bank}/edit"), build_account_form(includeInCashBalance=chosen) | to
            ).status_code
            == 303
        )
        return api.get(f"accounts/{bank}").json()["includeInCashBalance"]

    assert changed(type="loan") is False
    assert changed(type="bank") is True
    assert changed(type="bank", includeInCashBalance="false") is False
    assert changed(type="cash") is False


def test_account_form_keeps_fields_that_are_not_shown(owner, api, acme, bank):
    api.put(f"accounts/{bank}", {"importSettings": {"csv": {"flipSign": True}}, "order": 3})
    sent = build_account_form(name="Renamed", type="other", includeInCashBalance="false")
    assert owner.post(build_page_path(acme, f"/{bank}/edit"), sent).status_code == 303
    body = api.get(f"accounts/{bank}").json()
    assert (body["name"], body["type"], body["includeInCashBalance"]) == ("Renamed", "other", False)
    assert (body["order"], body["importSettings"]) == (3, {"csv": {"flipSign": True}})


def test_archived_account_group_is_neither_shown_nor_offered(owner, api, acme, bank):
    group = api.post("account_groups", {"name": "Past glories"}).json()["id"]
    api.put(f"accounts/{bank}/change_group", {"accountGroupId": group})
    assert "Past glories" in get_page_text(owner.get(build_page_path(acme)))
    api.put(f"account_groups/{group}", {"archived": True})
    listed = get_page_text(owner.get(build_page_path(acme)))
    assert "Main" in listed
    for path in ("", f"/{bank}", f"/{bank}/edit", "/new"):
        assert "Past glories" not in get_page_text(owner.get(build_page_path(acme, path)))


def test_account_keeps_archived_group_unless_another_is_chosen(owner, api, acme, bank):
    group = api.post("account_groups", {"name": "Past glories"}).json()["id"]
    other = api.post("account_groups", {"name": "Banks"}).json()["id"]
    api.put(f"accounts/{bank}/change_group", {"accountGroupId": group})
    api.put(f"account_groups/{group}", {"archived": True})
    assert owner.post(build_page_path(acme, f"/{bank}/edit"), build_account_form(name="Renamed")).status_code == 303
    body = api.get(f"accounts/{bank}").json()
    assert (body["name"], body["accountGroupId"]) == ("Renamed", group)
    owner.post(build_page_path(acme, f"/{bank}/edit"), build_account_form(accountGroupId=other))
    assert api.get(f"accounts/{bank}").json()["accountGroupId"] == other
    owner.post(build_page_path(acme, f"/{bank}/edit"), build_account_form())
    assert api.get(f"accounts/{bank}").json()["accountGroupId"] is None


def test_initial_balance_can_be_set_and_is_shown(owner, viewer, acme, bank):
    answer = owner.post(
        build_page_path(acme, f"/{bank}/initial-balance"), {"date": "2026-01-01", "amountValue": "-5.5"}, follow=True
    )
    assert 'value="-5.50"' in answer.content.decode()
    assert "−€5.50 on 1 Jan 2026" in get_page_text(viewer.get(build_page_path(acme, f"/{bank}")))


@pytest.mark.parametrize(("field", "value"), [("amountValue", "1.234"), ("amountValue", "x"), ("date", "2026-02-30")])
def test_invalid_initial_balance_shows_field_error(owner, acme, bank, field, value):
    sent = {"date": "2026-01-01", "amountValue": "1.00"} | {field: value}
    answer = owner.post(build_page_path(acme, f"/{bank}/initial-balance"), sent)
    assert answer.status_code == 400
    assert f'id="{field}-error"' in answer.content.decode()


def test_account_can_be_archived_and_restored(owner, acme, bank):
    assert "Main archived." in get_page_text(owner.post(build_page_path(acme, f"/{bank}/archive"), follow=True))
    assert Account.objects.for_company(acme.id).get().archived
    assert "Main restored." in get_page_text(
        owner.post(build_page_path(acme, f"/{bank}/archive"), {"restore": "1"}, follow=True)
    )
    assert not Account.objects.for_company(acme.id).get().archived


def test_account_with_transactions_is_not_deleted_and_shows_reason(owner, books, acme, bank):
    assert "Delete “Main”" in get_page_text(owner.get(build_page_path(acme, f"/{bank}")))
    books.create_transaction(bank)
    assert "Delete “Main”" not in get_page_text(owner.get(build_page_path(acme, f"/{bank}")))
    answer = owner.post(build_page_path(acme, f"/{bank}/delete"), follow=True)
    assert "The account has transactions. Archive it, or delete the transactions first." in get_page_text(answer)
    assert Account.objects.for_company(acme.id).exists()


def test_empty_account_can_be_deleted(owner, acme, bank):
    answer = owner.post(build_page_path(acme, f"/{bank}/delete"), follow=True)
    assert "Main deleted." in get_page_text(answer)
    assert not Account.objects.for_company(acme.id).exists()


def test_account_page_shows_no_forms_to_readers(viewer, acme, bank):
    html = viewer.get(build_page_path(acme, f"/{bank}")).content.decode()
    assert html.count('<form method="post"') == 1  # to sign out
    assert viewer.post(build_page_path(acme, f"/{bank}/archive")).status_code == 403


def test_account_page_highlights_import_first_and_edit_later(owner, books, acme):
    def standing_out():
        html = owner.get(build_page_path(acme, f"/{main}")).content.decode()
        return re.findall(r'class="button primary" href="[^"]*/([^/"]+)"', html)

    main = books.create_account()
    assert standing_out() == [f"new?account={main}"]
    books.create_transaction(main, "100.00", str(TODAY))
    assert standing_out() == ["edit"]
