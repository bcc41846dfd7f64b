"""The pages of period close."""

import re
from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.closings.pages import format_month_names
from tests.ledger.closings.page_forms import parse_forms
from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db


def page(company, path=""):
    return f"/app/companies/{company.id}/closings{path}"


def test_a_month_is_closed_and_reopened_on_pages(acme, owner, books, bank, transaction_ids, api):
    books.create_transaction(bank, "-8.00", "2026-03-21")
    shown = owner.get(page(acme), {"month": "2026-03"})
    assert shown.status_code == 200
    assert "Uncategorized transactions 1" in text(shown)
    assert (
        f"/app/companies/{acme.id}/transactions?startDate=2026-03-01&amp;endDate=2026-03-31" in shown.content.decode()
    )
    refused = owner.post(page(acme), {"month": "2026-03", "note": ""})
    assert refused.status_code == 400
    assert api.get("closings").json() == []
    done = owner.post(page(acme), {"month": "2026-03", "note": "First close", "acknowledge": "on"}, follow=True)
    assert "March 2026 is closed" in text(done)
    assert api.get().json()["closedThrough"] == "2026-03-31"
    listed = text(owner.get(page(acme)))
    assert "Closed through" in listed
    assert "First close" in listed
    assert owner.post(page(acme, "/2026-03"), {"reason": ""}).status_code == 400
    reopened = owner.post(page(acme, "/2026-03"), {"reason": "Late invoice"}, follow=True)
    assert "March 2026 is open again" in text(reopened)
    assert "Late invoice" in text(reopened)


def test_note_of_a_reopened_month_is_kept_in_the_form(
    acme, owner, books, bank, transaction_ids, close_month, reopen_month
):
    close_month(note="Board pack 3")
    reopen_month()
    assert 'name="note" maxlength="2000" value="Board pack 3"' in owner.get(page(acme)).content.decode()
    later = owner.get(page(acme), {"month": "2026-04"}).content.decode()
    assert 'name="note" maxlength="2000" value=""' in later
    books.create_transaction(bank, "-8.00", "2026-03-21")
    refused = owner.post(page(acme), {"month": "2026-03", "note": "Board pack 4"})
    assert refused.status_code == 400
    assert 'name="note" maxlength="2000" value="Board pack 4"' in refused.content.decode()


def test_page_names_the_months_that_are_closed_at_once(acme, owner, transaction_ids):
    one, two, three = (text(owner.get(page(acme), {"month": month})) for month in ("2026-03", "2026-04", "2026-05"))
    assert "still open" not in one
    assert one.count("Close March 2026") == 2, "heading and button"
    assert two.count("Close March and April 2026") == 2
    assert "March and April 2026 are still open and are closed with May 2026." in three
    assert "The note is kept with May 2026." in three
    assert three.count("Close March to May 2026") == 2
    german = text(owner.get(page(acme), {"month": "2026-04"}, headers={"Accept-Language": "de"}))
    assert german.count("März und April 2026 abschließen") == 2


def test_messages_name_all_months_that_were_closed_or_are_reopened(acme, owner, transaction_ids):
    closed = owner.post(page(acme), {"month": "2026-05", "note": "", "acknowledge": "on"}, follow=True)
    assert "March to May 2026 are closed." in text(closed)
    assert "March to May 2026 can change again." in text(owner.get(page(acme, "/2026-03")))
    assert "May 2026 can change again." in text(owner.get(page(acme, "/2026-05")))


def test_names_of_months_have_their_year_once():
    names = {
        (date(2026, 9, 1),): "September 2026",
        (date(2026, 9, 1), date(2026, 10, 1)): "September and October 2026",
        (date(2025, 12, 1), date(2026, 1, 1)): "December 2025 and January 2026",
        (date(2025, 11, 1), date(2025, 12, 1), date(2026, 1, 1)): "November 2025 to January 2026",
    }
    assert {months: format_month_names(months) for months in names} == names


def test_first_open_month_is_selected(acme, owner, transaction_ids, close_month):
    def get_selected():
        (month,) = re.findall(r'<option value="([^"]+)" selected', owner.get(page(acme)).content.decode())
        return month

    shown = owner.get(page(acme)).content.decode()
    assert get_selected() == "2026-03"
    assert '<input type="hidden" name="month" value="2026-03">' in shown
    assert "still open" not in shown
    close_month()
    assert get_selected() == "2026-04"


def test_month_of_the_opening_balance_alone_is_not_selected(acme, owner, api, books, bank, transaction_ids):
    opening = {"amountValue": "100.00", "date": "2026-02-28"}
    assert api.put(f"accounts/{bank}/initial_balance", opening).status_code in (200, 201)
    shown = owner.get(page(acme))
    assert re.findall(r'<option value="([^"]+)" selected', shown.content.decode()) == ["2026-03"]
    assert (
        "February 2026 is still open and is closed with March 2026. "
        "February 2026 has no transactions other than opening balances."
    ) in text(shown)


def test_accounts_that_never_have_a_statement_are_listed_apart(acme, owner, books, transaction_ids):
    for name, type_ in (("Petty cash", "cash"), ("Growth loan", "loan"), ("Company card", "creditCard")):
        books.create_account(name=name, type=type_)
    shown = text(owner.get(page(acme)))
    missing = shown[shown.index("Accounts without a closing balance") : shown.index("No statements expected")]
    apart = shown[shown.index("No statements expected") : shown.index("2. Review")]
    names = ("Main", "Company card", "Petty cash", "Growth loan")
    assert [name in missing for name in names] == [True, True, False, False], missing
    assert [name in apart for name in names] == [False, False, True, True], apart


def test_the_page_of_a_month_explains_what_has_changed(
    acme, owner, books, bank, transaction_ids, close_month, reopen_month, alice
):
    close_month()
    unchanged = text(owner.get(page(acme, "/2026-03")))
    assert "Nothing has changed since it was reported" in unchanged
    reopen_month()
    owner.post(
        f"/app/companies/{acme.id}/transactions/new",
        {"accountId": bank, "date": "2026-03-31", "amountValue": "-8.00", "amountCurrency": "EUR", "fromTo": "Late"},
    )
    changed = text(owner.get(page(acme, "/2026-03")))
    assert "Balance of Main" in changed
    assert "€-108.00" in changed.replace("−", "-") or "-€108.00" in changed.replace("−", "-")
    assert "Transaction created Late" in changed


def test_viewers_see_closings_and_cannot_close(acme, viewer, transaction_ids, close_month):
    close_month()
    shown = viewer.get(page(acme))
    assert shown.status_code == 200
    assert "acknowledge" not in shown.content.decode()
    assert viewer.post(page(acme), {"month": "2026-04", "acknowledge": "on"}).status_code == 403
    assert viewer.post(page(acme, "/2026-03"), {"reason": "x"}).status_code == 403


def test_locked_rows_say_so(acme, owner, transaction_ids, close_month):
    close_month()
    base = f"/app/companies/{acme.id}/transactions/{transaction_ids[0]}"
    for path in ("/edit", "/split"):
        assert "The books are closed through" in text(owner.get(base + path)), path
    form = owner.get(f"{base}/edit").content.decode()
    assert 'name="date"' in form
    assert form.count("disabled") >= 4
    answer = owner.post(f"{base}/edit", {"fromTo": "Landlord", "description": "", "notes": "Seen"})
    assert answer.status_code == 303, text(answer)
    assert "Closed" in text(owner.get(base))
    refused = owner.post(f"{base}/delete", follow=True)
    assert "The period is closed" in text(refused)


def test_transaction_in_a_closed_month_offers_only_what_is_allowed(
    acme, owner, books, bank, transaction_ids, close_month
):
    close_month()
    base = f"/app/companies/{acme.id}/transactions"
    closing = f'href="/app/companies/{acme.id}/closings/2026-03"'
    shown = owner.get(f"{base}/{transaction_ids[0]}")
    html = shown.content.decode()
    assert "March 2026 is closed. You can edit texts and notes." in text(shown)
    assert closing in html
    assert f'action="{base}/{transaction_ids[0]}/delete"' not in html
    assert re.search(r'<button[^>]+disabled title="March 2026 is closed">Delete</button>', html)
    assert f'href="{base}/{transaction_ids[0]}/split' not in html
    listed = owner.get(base).content.decode()
    assert f'href="{base}/{transaction_ids[0]}/split"' not in listed
    assert f'href="{base}/{transaction_ids[1]}/split"' in listed
    assert f'<a class="badge" {closing} title="March 2026 is closed">Closed</a>' in listed
    later = owner.get(f"{base}/{transaction_ids[1]}").content.decode()
    assert f'action="{base}/{transaction_ids[1]}/delete"' in later
    assert "is closed" not in later


def test_uncategorized_transaction_in_a_closed_month_can_be_categorized(
    acme, owner, books, bank, transaction_ids, close_month
):
    row = books.create_transaction(bank, "-31.00", "2026-03-31")["id"]
    close_month()
    base = f"/app/companies/{acme.id}/transactions"
    assert f'href="{base}/{row}/split' in owner.get(f"{base}/{row}").content.decode()
    assert f'href="{base}/{row}/split"' in owner.get(base).content.decode()


def test_the_profit_and_loss_shows_the_lock_and_what_was_reported(
    acme, owner, books, bank, office, transaction_ids, close_month, reopen_month
):
    close_month()
    address = f"/app/companies/{acme.id}/profit-and-loss?startDate=2026-03-01&endDate=2026-04-30"
    assert "Mar 2026 closed" in text(owner.get(address))
    reopen_month()
    assert "Mar 2026 closed" not in text(owner.get(address))


def test_a_closed_month_whose_rates_changed_shows_both_figures(acme, owner, books, office, close_month):
    from tests.ledger.closings.test_differences import load

    account = books.create_account(name="Dollars", defaultCurrency="USD")
    paid = books.create_transaction(account, "-100.00", "2026-03-15", amountCurrency="USD")["id"]
    books.set_categorizations(paid, {"categoryId": office, "plSplit": {"ga": -100}})
    close_month()
    load("Date,USD\n2026-03-13,2\n")
    shown = text(owner.get(f"/app/companies/{acme.id}/profit-and-loss?startDate=2026-03-01&endDate=2026-03-31"))
    assert "-50 reported −87.14" in shown


def test_a_statement_says_how_many_entries_in_closed_months_were_left_out(
    acme, owner, bank, transaction_ids, close_month
):
    close_month()
    content = (
        b":20:X\n:25:DE1\n:28C:1\n:60F:C260331EUR0,00\n:61:260331D8,00NTRFNONREF\n:86:x\n"
        b":61:260401D9,00NTRFNONREF\n:86:y\n:62F:D260401EUR17,00\n-\n"
    )
    form = {"account": bank, "file": SimpleUploadedFile("a.sta", content)}
    check = owner.post(f"/app/companies/{acme.id}/imports/new", form).headers["Location"]
    assert "The period is closed" in text(owner.get(check))
    shown = owner.get(f"{check}&closed=skip")
    assert "1 new" in text(shown)
    assert "1 in closed months left out" in text(shown)
    forms = [each.build_body() for each in parse_forms(check, shown.content.decode())]
    [body] = [each for each in forms if "upload" in each and "preview" not in each]
    stored = owner.post(check, body, follow=True)
    assert "1 transaction imported from 1 file. 1 in a closed month left out." in text(stored)


def test_a_table_is_imported_without_its_rows_in_closed_months(acme, owner, bank, transaction_ids, close_month, api):
    close_month()
    table = SimpleUploadedFile("rows.csv", b"Date,Payee,Amount\n2026-03-31,Late,-8.00\n2026-04-13,Shop,-9.50\n")
    check = owner.post(f"/app/companies/{acme.id}/imports/new", {"account": bank, "file": table}).headers["Location"]
    shown = owner.get(check)
    assert "1 new row is in a closed month" in text(shown)
    [form] = [each for each in parse_forms(check, shown.content.decode()) if "leave_closed" in str(each.fields)]
    assert "The period is closed" in text(owner.post(form.action, form.build_body()))
    stored = owner.post(form.action, form.build_body() | {"leave_closed": "on"}, follow=True)
    assert "1 transaction imported into Main. 1 in a closed month left out." in text(stored)
    assert sorted(row["date"] for row in api.get("transactions").json()) == ["2026-03-15", "2026-04-10", "2026-04-13"]


def test_a_split_catches_up_in_the_first_open_month(acme, owner, books, bank, office, transaction_ids, close_month):
    row = books.create_transaction(bank, "-31.00", "2026-03-31")["id"]
    close_month()
    address = f"/app/companies/{acme.id}/transactions/{row}/split"
    assert "first open month" in text(owner.get(address))
    part = {"key-0": "", "category-0": f"{office}:ga", "amount-0": "-31.00", "rule-0": "transactionDate"}
    refused = owner.post(address, part)
    assert refused.status_code == 400
    assert "The first open month is 2026-04" in text(refused)
    stored = owner.post(address, part | {"catch-up": "on"})
    assert stored.status_code == 303, text(stored)
    [kept] = books.list_categorizations(row)
    assert kept["usingDateRule"]["recognizeFrom"] == "firstOpenMonth"


def test_a_reopened_month_links_to_its_report_and_to_closing_it_again(
    acme, owner, transaction_ids, close_month, reopen_month
):
    close_month()
    address = f"/app/companies/{acme.id}"
    report, again = f'href="{address}/reports/2026-03"', f'href="{address}/closings?month=2026-03"'
    closed = owner.get(f"{address}/closings/2026-03").content.decode()
    assert report in closed
    assert again not in closed
    reopen_month()
    reopened = owner.get(f"{address}/closings/2026-03").content.decode()
    assert report in reopened
    assert again in reopened
