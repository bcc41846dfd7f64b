"""Journals, held by programs that other people wrote: no mistake is found, and one is where any amount is altered."""

import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from beancount import loader
from beancount.core import data
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import get_last_day_of_month
from ledger.exports.calc.chart_of_accounts import PREFIX_BY_LINE
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.booking_strategies import draw_bookings
from tests.ledger.conftest import Books

pytestmark = pytest.mark.django_db

START = date(2024, 1, 10)
WINDOW = {"startDate": "2024-02-01", "endDate": "2024-03-31"}
NAMES = ["main", "Main!", "MAIN", "a:b", "銀行", "🙂", "é́ß", "1st", "'\";|", "x" * 200, "Ελλάδα", "-", "٣"]
TEXTS = ['say "so"\nand so', "back\\slash", "a;b | c", "(code) x", "\x01\t\r\u2028", "", "  ", "🙂", "* ! =", "%"]
checked_settings = settings(max_examples=6)


def download_journal(api, name, **parameters):
    answer = api.get(f"exports/journal.{name}", parameters)
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def check_with_beancount(text):
    """What bean-check complains of, in its own process's words."""
    _, errors, _ = loader.load_string(text)
    return [each.message for each in errors]


def run_bean_check(text, folder):
    path = folder / "journal.beancount"
    path.write_text(text, encoding="utf-8")
    program = Path(sys.executable).with_name("bean-check")
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def check_with_hledger(text):
    if not shutil.which("hledger"):
        pytest.skip("hledger is not installed: journals for it are not tried")
    command = ["hledger", "-f", "-", "check", "--strict", "ordereddates"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"}, encoding="utf-8",
        executable=shutil.which("hledger"),
    )  # fmt: skip
    return done.stderr


CHECKS = pytest.mark.parametrize(
    ("name", "check"), [("beancount", check_with_beancount), ("hledger", check_with_hledger)]
)


@pytest.fixture
def create_drawn_company(db, make_api):
    """Create a drawn company with unusual names and texts, mostly categorized."""

    def create(drawn, seed=0):
        api, chance = (
            make_api(factories.make_company(name='Any "one"; or | none', base_currency=drawn.base)),
            random.Random(seed),
        )
        drawn.create(api)
        for each in api.get("accounts").json():
            assert api.put(f"accounts/{each['id']}", {"name": chance.choice(NAMES)}).status_code == 200
        categories = api.get("categories").json()
        for each in categories[:8]:
            api.put(f"categories/{each['id']}", {"name": chance.choice(NAMES)})
        for row in api.get("transactions", {"limit": 1000}).json():
            if row["source"] == "initialBalance":
                continue
            if not row["categorizations"]:
                split_randomly(Books(api), row, categories, chance)
            texts = {"fromTo": chance.choice(TEXTS), "description": chance.choice(TEXTS)}
            assert api.put(f"transactions/{row['id']}", texts).status_code == 200
        return api

    return create


def split_randomly(books, row, categories, chance):
    """Splits some of it over lines of categories, with tax."""
    amount, parts = Decimal(row["amountValue"]), []
    for share in (Decimal("0.3"), Decimal("0.5"))[: chance.randrange(3)]:
        category = chance.choice([each for each in categories if not each["system"]] or categories)
        value = (amount * share).quantize(Decimal("0.01"))
        part = {"categoryId": category["id"], "plSplit": {chance.choice(category["plTypes"]): float(value)}}
        if chance.random() < 0.4 and abs(value) > 1:
            part["passThroughTax"] = float((value / 10).quantize(Decimal("0.01")))
        parts.append(part)
    if parts:
        answer = books.set_categorizations(row["id"], *parts)
        assert answer.status_code == 200, answer.content


def split_in_two(books, transaction_id):
    """On two lines of a category, with tax; twenty are left."""
    made = books.api.post("categories", {"name": "Machines", "plTypes": ["cogs", "ga"]}).json()
    part = {"categoryId": made["id"], "plSplit": {"cogs": -60, "ga": -20}, "passThroughTax": -19}
    assert books.set_categorizations(transaction_id, part).status_code == 200


AMOUNT = re.compile(r"(-?\d+(?:\.(\d+))?) (?:[A-Z]{3})$|(-?\d+) (?:[A-Z]{3}) =", re.M)
NO_AMOUNTS = re.compile(r"^(?:commodity|P |option|\d{4}-\d\d-\d\d price).*$", re.M)


def list_amount_places(text):
    """Where the amounts of postings and of assertions stand."""
    skipped = [range(*each.span()) for each in NO_AMOUNTS.finditer(text)]
    results = [each.span(1) if each[1] else each.span(3) for each in AMOUNT.finditer(text)]
    return [each for each in results if not any(each[0] in span for span in skipped)]


def change_amount(text, place):
    """The journal with the least more in one place."""
    first, last = place
    digits = text[first:last].partition(".")[2]
    return f"{text[:first]}{Decimal(text[first:last]) + Decimal(1).scaleb(-len(digits))}{text[last:]}"


# ---------------------------------------------------------------------------------------------- they are right


@CHECKS
@given(drawn=draw_bookings(first=START, days=100), seed=st.integers(0, 999))
@checked_settings
def test_journal_of_any_company_passes_checks(create_drawn_company, name, check, drawn, seed):
    api = create_drawn_company(drawn, seed)
    for query in ({}, WINDOW, {"startDate": "2024-02-15"}, {"endDate": "2024-02-15"}):
        assert not check(download_journal(api, name, **query)), query


@CHECKS
def test_journal_checks_cover_every_amount(api, books, bank, name, check):
    till = books.create_account(name="Till", type="cash", defaultCurrency="JPY")
    bought = books.create_transaction(bank, "-119.00", "2024-02-10")["id"]
    split_in_two(books, bought)
    out, into = (
        books.create_transaction(bank, "-100.00", "2024-02-28")["id"],
        books.create_transaction(till, "16000", "2024-03-01")["id"],
    )
    assert books.link_transfer(out, into, force=True).status_code == 200
    out, into = (
        books.create_transaction(bank, "-50.00", "2024-03-03")["id"],
        books.create_transaction(till, "8000", "2024-03-05")["id"],
    )
    assert books.link_transfer(out, into, force=True).status_code == 200
    books.create_transaction(bank, "0.00", "2024-03-06")
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-05", "amountValue": "1000.00"})
    for query in (WINDOW, {}):
        text = download_journal(api, name, **query)
        assert not check(text)
        assert len(list_amount_places(text)) > 20
        missed = [text[a - 60 : b + 4] for a, b in list_amount_places(text) if not check(change_amount(text, (a, b)))]
        assert missed == []


def test_bean_check_accepts_journal_and_rejects_altered_amount(api, books, bank, tmp_path):
    books.create_transaction(bank, "-3.50", "2024-02-10", fromTo=TEXTS[0])
    text = download_journal(api, "beancount", **WINDOW)
    assert run_bean_check(text, tmp_path) == ""
    assert "Transaction does not balance" in run_bean_check(change_amount(text, list_amount_places(text)[0]), tmp_path)


@given(drawn=draw_bookings(first=START, days=100))
@checked_settings
def test_journal_assertions_equal_account_balances(create_drawn_company, drawn):
    api = create_drawn_company(drawn)
    known = {str(account["id"]): None for account in api.get("accounts").json()}
    assert set(drawn.ids) == set(known)
    entries, _, _ = loader.load_string(download_journal(api, "beancount", **WINDOW))
    asserted = Counter()
    for each in entries:
        if isinstance(each, data.Balance):
            asserted[each.date - timedelta(days=1), each.amount.currency] += each.amount.number
    held = Counter()
    days = {day for day, _ in asserted}
    for booking in drawn.list_booked():
        for day in days:
            if booking.day <= day:
                held[day, booking.currency] += booking.amount
    assert {key: value for key, value in asserted.items() if value} == {
        key: value for key, value in held.items() if value
    }
    if any(booking.day <= date(2024, 2, 29) for booking in drawn.list_booked()):
        assert days >= {date(2024, 2, 29), date(2024, 3, 31)}


def test_journal_balances_equal_reported_balances(api, books, bank):
    for day, amount in (
        ("2024-01-31", "10.00"),
        ("2024-02-01", "-4.00"),
        ("2024-02-29", "1.50"),
        ("2024-03-05", "8.00"),
    ):
        books.create_transaction(bank, amount, day)
    entries, _, _ = loader.load_string(download_journal(api, "beancount", **WINDOW))
    answers = {each.date - timedelta(days=1): each.amount.number for each in entries if isinstance(each, data.Balance)}
    assert sorted(answers) == [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31)]
    for day, number in answers.items():
        assert get_last_day_of_month(day) == day
        answer = api.post("data/accountBalanceByAccount", {"startDate": str(day), "endDate": str(day)}).json()
        assert Decimal(str(answer[bank]["value"])) == number


# ---------------------------------------------------------------------------------------------- what stands in them


def list_journal_transactions(api, **parameters):
    entries, errors, _ = loader.load_string(download_journal(api, "beancount", **parameters))
    assert errors == []
    return [each for each in entries if isinstance(each, data.Transaction)]


def map_postings(entry):
    return {each.account: (each.units.number, each.units.currency) for each in entry.postings}


def test_journal_entry_posts_to_lines_and_categories(api, books, bank):
    row = books.create_transaction(bank, "-119.00", "2024-02-10", fromTo='Nim"bus', description="two\nlines")
    split_in_two(books, row["id"])
    (entry,) = list_journal_transactions(api)
    assert (entry.payee, entry.narration, entry.flag, entry.meta["id"]) == ('Nim"bus', "two\nlines", "!", row["id"])
    assert map_postings(entry) == {
        "Assets:Bank:Main": (Decimal(-119), "EUR"),
        f"{PREFIX_BY_LINE['cogs']}:Machines": (Decimal(60), "EUR"),
        f"{PREFIX_BY_LINE['ga']}:Machines": (Decimal(20), "EUR"),
        "Liabilities:Pass-Through-Tax": (Decimal(19), "EUR"),
        "Expenses:Uncategorized": (Decimal(20), "EUR"),
    }


@CHECKS
def test_tax_payments_clear_the_pass_through_tax_account(api, books, bank, name, check):
    """Tax collected with a sale, less tax paid with a purchase, is what is paid to the tax office: nothing is left."""
    sale = books.create_transaction(bank, "119.00", "2024-02-01")["id"]
    purchase = books.create_transaction(bank, "-59.50", "2024-02-03")["id"]
    paid = books.create_transaction(bank, "-9.50", "2024-03-10", fromTo="Tax office")["id"]
    revenue = {"categoryId": books.get_category_id("revenueOneOff"), "plSplit": {"revenue": 100}, "passThroughTax": 19}
    hosting = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -50}, "passThroughTax": -9.5}
    payment = {"categoryId": books.get_category_id("taxPayments"), "plSplit": {"neutral": -9.5}}
    for transaction_id, part in ((sale, revenue), (purchase, hosting), (paid, payment)):
        assert books.set_categorizations(transaction_id, part).status_code == 200
    text = download_journal(api, name)
    assert not check(text)
    amounts = re.findall(r"^ +Liabilities:Pass-Through-Tax  (-?[\d.]+) EUR$", text, re.M)
    assert amounts == ["-19.00", "9.50", "9.50"]
    assert sum(map(Decimal, amounts)) == 0


def test_transfer_is_one_journal_entry(api, books, bank):
    till = books.create_account(name="Till", type="creditCard")
    out, into = (
        books.create_transaction(bank, "-50.00", "2024-02-03"),
        books.create_transaction(till, "50.00", "2024-02-05"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    (entry,) = list_journal_transactions(api)
    assert entry.date == date(2024, 2, 3)
    assert map_postings(entry) == {
        "Assets:Bank:Main": (Decimal(-50), "EUR"),
        "Liabilities:Credit-Card:Till": (Decimal(50), "EUR"),
    }


def test_transfer_in_transit_at_month_end_uses_transfers_account(api, books, bank):
    till = books.create_account(name="Till", type="cash")
    out, into = (
        books.create_transaction(bank, "-50.00", "2024-02-28"),
        books.create_transaction(till, "50.00", "2024-03-01"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    first, second = list_journal_transactions(api)
    assert map_postings(first)["Equity:Transfers"] == (Decimal(50), "EUR")
    assert map_postings(second)["Equity:Transfers"] == (Decimal(-50), "EUR")


def test_journal_leaves_out_pending_and_opens_with_earlier_balances(api, books, bank):
    books.create_transaction(bank, "7.00", "2024-01-20")
    books.create_transaction(bank, "-2.00", "2024-02-20")
    books.create_transaction(bank, "9.00", "2024-02-21", pending=True)
    opening, entry = list_journal_transactions(api, **WINDOW)
    assert (opening.date, opening.narration) == (date(2024, 1, 31), "Opening balances")
    assert map_postings(opening)["Assets:Bank:Main"] == (Decimal(7), "EUR")
    assert map_postings(entry)["Assets:Bank:Main"] == (Decimal(-2), "EUR")


def test_journal_prices_foreign_currency_on_its_day_and_at_month_ends(api, books, bank):
    books.create_transaction(bank, "10.00", "2024-02-07", amountCurrency="USD")
    entries, _, _ = loader.load_string(download_journal(api, "beancount", **WINDOW))
    prices = {each.date: each.amount.number for each in entries if isinstance(each, data.Price)}
    assert list(prices) == [date(2024, 2, 7), date(2024, 2, 29), date(2024, 3, 31)]
    for day, number in prices.items():
        assert round(1 / number, 4) == get_rate_table().get_rate("USD", day)


def test_journal_replaces_hidden_names_with_ids(acme, make_api, books, bank):
    books.create_transaction(bank, "-3.50", "2024-02-10")
    (entry,) = list_journal_transactions(make_api(acme, "transactions:read"))
    assert f"Assets:Bank:Account-{bank[-8:]}" in map_postings(entry)


def test_company_without_transactions_has_valid_journal(api):
    assert list_journal_transactions(api) == list_journal_transactions(api, **WINDOW) == []
    assert not check_with_hledger(download_journal(api, "hledger", **WINDOW))


@CHECKS
@pytest.mark.parametrize(
    "parameters",
    [{"endDate": "2023-12-31"}, {"startDate": "2090-01-01"}, {"startDate": "0001-01-01", "endDate": "9999-12-31"}],
)
def test_window_without_transactions_has_valid_journal(api, books, bank, name, check, parameters):
    books.create_transaction(bank, "-3.50", "2024-02-10")
    assert not check(download_journal(api, name, **parameters))


@pytest.mark.parametrize("name", ["beancount", "hledger"])
@pytest.mark.parametrize("day", ["0026-03-15", "2100-01-01"])
def test_journal_with_out_of_range_dates_is_rejected(api, books, bank, name, day):
    books.create_transaction(bank, "-3.50", "2024-02-10")
    books.create_transaction(bank, "-3.50", day)
    answer = api.get(f"exports/journal.{name}")
    assert (answer.status_code, answer.json()["code"]) == (400, "journal_days_out_of_range")
    assert download_journal(api, name, startDate="2024-01-01", endDate="2024-12-31")
    assert api.get(f"exports/journal.{name}", {"startDate": "2999-01-01"}).status_code == 400


def test_journal_without_rate_is_rejected(api, books, bank, monkeypatch):
    from ledger.exports import journals
    from ledger.money.calc.fx import RateTable

    books.create_transaction(bank, "-3.50", "2024-02-10", amountCurrency="USD")
    monkeypatch.setattr(journals, "get_rate_table", lambda: RateTable([]))
    answer = api.get("exports/journal.beancount")
    assert (answer.status_code, answer.json()["code"]) == (409, "rate_missing")
