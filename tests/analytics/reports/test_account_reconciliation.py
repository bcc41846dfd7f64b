"""What the bank reported of an account, on the account's own page: the rows of the API, and what to do about them."""

import re
from html import unescape

import pytest

from companies.permissions import Role
from tests import factories
from tests.analytics.reports.test_account_page import get_account_page
from tests.analytics.reports.test_overview import read_list_total, sign_in
from tests.ledger.bank_file_builders import build_camt, build_simple_camt, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db
FEBRUARY = build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55"))
MARCH = build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="55.55", closing="55.55"))


@pytest.fixture
def main(books):
    return books.account(accountNumber="DE89 3704 0044 0532 0130 00")


def parse_reconciliation_table(html):
    """The cells of each row, without their markup."""
    body = re.search(r'<section[^>]*id="reconciliation".*?</section>', html, re.DOTALL)[0]
    return [
        [
            " ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split())
            for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
        if "<td" in row
    ]


def test_account_page_shows_reconciliation_of_api_with_next_steps(api, alice, acme, main):
    for content, name in ((build_simple_camt("-40.00"), "jan.xml"), (FEBRUARY, "feb.xml"), (MARCH, "mar.xml")):
        assert upload_statement(api, content, name).status_code == 200
    body = api.get(f"accounts/{main}/reconciliation").json()
    assert [each["difference"] for each in body] == ["-4.45", "-4.45", "0.00"]
    html = get_account_page(alice, acme, main)
    shown = parse_reconciliation_table(html)
    assert [row[:4] for row in shown] == [
        ["31 Mar 2026", "€55.55", "€60.00", "−€4.45"],
        ["28 Feb 2026", "€55.55", "€60.00", "−€4.45"],
        ["31 Jan 2026", "€60.00", "€60.00", "none"],
    ]
    assert [row[4].split(" ")[0] for row in shown] == ["mar.xml", "feb.xml", "jan.xml"]
    assert "Same difference as in the previous statement." in shown[0][4]
    assert "The statement is €4.45 lower in this period" in shown[1][4]
    link = re.findall(r'href="([^"]+)">Transactions in this period', html)[-1]
    assert "startDate=2026-02-01&amp;endDate=2026-02-28" in link
    assert read_list_total(alice, f"{link}&amp;total=true")[1] == 0
    first = re.search(r'href="([^"]+)">jan.xml<', html)[1]
    assert read_list_total(alice, f"{first}&amp;total=true")[1] == 1


def test_latest_statement_of_a_day_decides_on_the_account_page(api, alice, acme, main):
    """An older statement of the same day tells no longer what to look for."""
    wrong = build_camt(build_statement(start="2026-01-01", end="2026-01-31", opening="100", closing="70"))
    for content, name in ((build_simple_camt("-40.00"), "first.xml"), (wrong, "wrong.xml")):
        assert upload_statement(api, content, name).status_code == 200
    shown = parse_reconciliation_table(get_account_page(alice, acme, main))
    assert [row[3] for row in shown] == ["€10.00", "none"]
    assert "higher in this period. Look for a missing income or a duplicate expense." in shown[0][4]
    right = build_camt(build_statement(start="2026-01-01", end="2026-01-31", opening="100", closing="60"))
    assert upload_statement(api, right, "right.xml").status_code == 200
    shown = parse_reconciliation_table(get_account_page(alice, acme, main))
    assert [row[3] for row in shown] == ["none", "–", "none"]
    assert "look for" not in shown[1][4]
    assert "Replaced by a later statement that includes this day." in shown[1][4]


def test_later_statement_that_includes_the_day_decides_on_the_account_page(api, alice, acme, main):
    """The first file was exported in the middle of its last day."""
    first = build_simple_camt("-40.00", end="2026-01-15")
    rest = build_simple_camt("-5.00", "-2.00", start="2026-01-15", end="2026-01-31", day="2026-01-15", opening="60.00")
    for content, name in ((first, "first.xml"), (rest, "rest.xml")):
        assert upload_statement(api, content, name).status_code == 200
    shown = parse_reconciliation_table(get_account_page(alice, acme, main))
    assert [row[:4] for row in shown] == [
        ["31 Jan 2026", "€53.00", "€53.00", "none"],
        ["15 Jan 2026", "€60.00", "€53.00", "–"],
    ]
    assert "Replaced by a later statement that includes this day." in shown[1][4]
    assert "ook for" not in shown[1][4]


def test_earlier_statement_does_not_replace_the_balance_of_a_later_import(api, alice, acme, main):
    january = build_simple_camt("-40.00")
    middle = build_camt(build_statement(start="2026-01-01", end="2026-01-15", opening="100", closing="70"))
    for content, name in ((january, "january.xml"), (middle, "middle.xml")):
        assert upload_statement(api, content, name).status_code == 200
    shown = parse_reconciliation_table(get_account_page(alice, acme, main))
    assert [row[3] for row in shown] == ["none", "€10.00"]


def test_account_page_hides_reconciliation_without_statements(alice, acme, main):
    assert 'id="reconciliation"' not in get_account_page(alice, acme, main)


def test_account_page_paginates_many_statements(api, alice, acme, main):
    months = [(f"2025-{month:02}-01", f"2025-{month:02}-28") for month in range(1, 13)]
    files = [build_statement(start=first, end=last, opening="5.00", closing="5.00") for first, last in months]
    more = [
        build_statement(start=f"2026-01-{day:02}", end=f"2026-01-{day:02}", opening="5", closing="5")
        for day in range(1, 29)
    ]
    more += [
        build_statement(start=f"2026-02-{day:02}", end=f"2026-02-{day:02}", opening="5", closing="5")
        for day in range(1, 15)
    ]
    for each in (files, more):
        assert upload_statement(api, build_camt(*each)).status_code == 200
    html = get_account_page(alice, acme, main)
    assert len(parse_reconciliation_table(html)) == 50
    assert "44 more" in re.search(r'<details class="disclosure more-rows"><summary>(.*?)<', html)[1]
    earlier = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)"', html)[1])
    rest = get_account_page(alice, acme, main, earlier.partition("#")[0])
    days = [row[0] for row in parse_reconciliation_table(html) + parse_reconciliation_table(rest)]
    assert (len(days), len({*days})) == (54, 54)


def test_last_reconciliation_row_of_page_considers_previous_statement(api, alice, acme, main):
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 28)]
    files = [build_statement(start=day, end=day, opening="5", closing="5") for day in days]
    assert upload_statement(api, build_camt(*files)).status_code == 200
    early = {"accountId": main, "date": days[0], "amountValue": "1.00", "amountCurrency": "EUR"}
    assert api.post("transactions", early).status_code == 201
    html = get_account_page(alice, acme, main)
    assert {"Same difference as in the previous statement." in row[4] for row in parse_reconciliation_table(html)} == {
        True
    }
    earlier = unescape(re.search(r'href="(\?[^"]*cursor=[^"]*)"', html)[1])
    rest = parse_reconciliation_table(get_account_page(alice, acme, main, earlier.partition("#")[0]))
    assert ["The statement is €1.00 lower in this period" in row[4] for row in rest] == [False, False, False, True]


def test_reconciliation_hides_files_and_balances_without_permission(api, acme, main):
    assert upload_statement(api, build_simple_camt("-40.00"), "jan.xml").status_code == 200
    sees = factories.make_member(
        acme, "dan@acme.example", role=Role.VIEWER, permissions=["accounts:read", "balances:read"]
    )
    html = get_account_page(sees, acme, main)
    assert parse_reconciliation_table(html)[0][1:4] == ["€60.00", "€60.00", "none"]
    assert "importId" not in html
    blind = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["accounts:read"])
    assert 'id="reconciliation"' not in get_account_page(blind, acme, main)


def test_overview_links_to_account_reconciliation(api, alice, acme, main):
    for content in (build_simple_camt("-40.00"), FEBRUARY):
        assert upload_statement(api, content).status_code == 200
    answer = sign_in(alice).get(f"/app/companies/{acme.id}")
    assert "Main is out of balance" in get_page_text(answer)
    assert f"/accounts/{main}#reconciliation" in answer.content.decode()
