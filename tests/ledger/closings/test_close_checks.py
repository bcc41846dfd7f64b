"""What is unfinished before a month is closed: each check counts what it says, up to the month's end."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest
import time_machine

from ledger.models import Rate
from ledger.money.rates import load_rates
from tests.ledger.archives import build_zip
from tests.ledger.closings.test_protection import mt940
from tests.ledger.conftest import get_page_text as text
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db


@pytest.fixture
def list_failed_checks(api):
    """Return the failed checks of a month, None if it can be closed; the month stays open."""

    def list_failed_checks(month="2026-03"):
        answer = api.post("closings", {"month": month})
        if answer.status_code == 201:
            assert api.post(f"closings/{month}/reopen", {"reason": "Test"}).status_code == 200
            return None
        assert (answer.status_code, answer.json()["code"]) == (409, "close_checks_failed"), answer.content
        assert api.get().json()["closedThrough"] is None
        return answer.json()["checks"]

    return list_failed_checks


def test_finished_month_is_closed_without_acknowledgement(transaction_ids, list_failed_checks):
    assert list_failed_checks() is None


def test_open_months_after_it_do_not_count(books, bank, transaction_ids, list_failed_checks):
    books.create_transaction(bank, "-3.00", "2026-04-01")
    books.create_transaction(bank, "-3.00", "2026-04-02", pending=True)
    assert list_failed_checks() is None
    assert list_failed_checks("2026-04")["uncategorized"] == 2


@pytest.mark.parametrize(("last_day", "is_listed"), [("260330", True), ("260331", False), ("260401", False)])
def test_account_whose_statements_end_before_the_month_is_listed(
    api, books, transaction_ids, list_failed_checks, last_day, is_listed
):
    account = books.create_account(name="Statements")
    content = mt940("260227", "C1000,00", last_day, "C1000,00", [])
    answer = upload_statement(api, content, accountId=account, name="a.sta")
    assert answer.status_code == 200, answer.content
    found = list_failed_checks()
    assert (found["unreconciledAccounts"] if found else []) == ([account] if is_listed else [])


@pytest.mark.parametrize(
    ("month", "last_day", "booked", "is_listed"),
    [
        pytest.param("2026-05", "260529", None, False, id="Friday before Sunday, May 31"),
        pytest.param("2026-05", "260528", None, True, id="Thursday before"),
        pytest.param("2026-05", "260529", "2026-05-30", True, id="booked on Saturday"),
        pytest.param("2026-05", "260530", "2026-05-30", False, id="booked on Saturday, statement too"),
        pytest.param("2026-05", "260530", "2026-05-31", True, id="booked on Sunday, statement until Saturday"),
        pytest.param("2026-05", "260529", "2026-06-01", False, id="booked in the next month"),
        pytest.param("2026-10", "261030", None, False, id="Friday before Saturday, October 31"),
        pytest.param("2026-10", "261029", None, True, id="Thursday before October 30"),
        pytest.param("2026-09", "260928", None, True, id="Monday before Wednesday, September 30"),
    ],
)
def test_weekend_at_the_end_of_the_month_is_no_gap_in_statements(
    api, books, bank, transaction_ids, list_failed_checks, month, last_day, booked, is_listed
):
    account = books.create_account(name="Statements")
    content = mt940("260227", "C1000,00", last_day, "C1000,00", [])
    assert upload_statement(api, content, accountId=account, name="a.sta").status_code == 200
    books.create_transaction(bank, "-5.00", f"{month}-30")
    if booked:
        for amount in ("-9.00", "9.00"):
            books.create_transaction(account, amount, booked)
    with time_machine.travel(datetime(2026, 11, 10, tzinfo=UTC), tick=False):
        assert list_failed_checks(month)["unreconciledAccounts"] == ([account] if is_listed else [])


@pytest.mark.parametrize("last_day", ["2026-03-26", "2026-03-31"])
@pytest.mark.parametrize("is_archive", [True, False], ids=["with another file", "alone"])
def test_csv_without_balances_is_no_statement(
    acme, owner, api, books, transaction_ids, list_failed_checks, last_day, is_archive
):
    rows = books.create_account(name="Rows only")
    content = f"Date,Payee,Amount\n2026-03-02,Shop,-8.00\n{last_day},Shop,-9.50\n".encode()
    if is_archive:
        content = build_zip(**{"a.csv": content, "b.csv": content.replace(b"-9.50", b"-7.50")})
    answer = upload_statement(api, content, accountId=rows, name="a.zip" if is_archive else "a.csv")
    assert answer.status_code == 200, answer.content
    assert list_failed_checks()["unreconciledAccounts"] == []
    shown = text(owner.get(f"/app/companies/{acme.id}/closings", {"month": "2026-03"}))
    assert (
        "Accounts without a closing balance They are not compared with the bank. "
        "You can close the month without it. Main" in shown
    )
    assert "Rows only 2" in shown
    assert api.delete(f"imports/{answer.json()['importId']}").status_code == 200
    again = upload_statement(api, content, accountId=rows, name="a.zip" if is_archive else "a.csv").json()
    assert again["count"] == answer.json()["count"]


def test_account_page_says_how_to_reconcile(acme, owner, api, books, transaction_ids):
    account = books.create_account(name="Rows only")
    address = f"/app/companies/{acme.id}/accounts/{account}"
    assert "Reconciliation" not in text(owner.get(address))
    content = b"Date,Payee,Amount\n2026-03-02,Shop,-8.00\n"
    assert upload_statement(api, content, accountId=account, name="a.csv").status_code == 200
    shown = owner.get(address)
    assert "No bank statement with a closing balance has been imported" in text(shown)
    assert "Import a CAMT, MT940 or OFX file, or a CSV file with a balance column" in text(shown)
    content = mt940("260227", "C1000,00", "260330", "C992,00", ["2603020302D8,00NTRFNONREF"])
    assert upload_statement(api, content, accountId=account, name="a.sta").status_code == 200
    shown = text(owner.get(address))
    assert "Statements are compared up to 30 Mar 2026. Import the next one to reconcile later days." in shown
    assert "No bank statement" not in shown
    [link] = read_check_links(owner, acme)["Accounts that are not reconciled"]
    assert link == f"{address}#reconciliation"


def test_account_that_differs_from_its_bank_is_listed(api, books, office, transaction_ids, list_failed_checks):
    account = books.create_account(name="Statements")
    content = mt940("260227", "C1000,00", "260331", "C1000,00", [])
    assert upload_statement(api, content, accountId=account, name="a.sta").status_code == 200
    row = books.create_transaction(account, "-9.00", "2026-03-20")["id"]
    books.set_categorizations(row, {"categoryId": office, "plSplit": {"ga": -9}})
    assert list_failed_checks()["unreconciledAccounts"] == [account]


def test_account_that_differs_from_its_bank_only_later_is_not_listed(api, books, transaction_ids, list_failed_checks):
    account = books.create_account(name="Statements")
    for content in (
        mt940("260227", "C1000,00", "260331", "C1000,00", []),
        mt940("260331", "C1000,00", "260430", "C900,00", []),
    ):
        assert upload_statement(api, content, accountId=account, name="a.sta").status_code == 200
    assert api.get(f"accounts/{account}").json()["bankConnection"]["balanceMismatchSince"]
    row = books.create_transaction(account, "5.00", "2026-03-31")["id"]
    assert list_failed_checks()["unreconciledAccounts"] == [account]
    assert api.delete(f"transactions/{row}").status_code == 200
    assert list_failed_checks() is None


@pytest.mark.parametrize(("due", "overdue"), [("2026-02-28", 1), ("2026-03-31", 1), ("2026-04-01", 0)])
def test_open_invoices_that_were_due_by_the_end_of_the_month_count(
    api, bank, transaction_ids, list_failed_checks, due, overdue
):
    invoice = {"name": "Initech", "accountId": bank, "startDate": due, "dueDate": due, "amountValue": "100.00"}
    assert api.post("planned_transactions", invoice | {"invoiceDate": "2026-02-01"}).status_code == 201
    with time_machine.travel(datetime(2026, 12, 10, tzinfo=UTC)):  # long after plans without an invoice lapse
        found = list_failed_checks()
    assert (found["overdue"] if found else 0) == overdue


def test_overdue_plans_count_until_they_lapse(api, bank, transaction_ids, list_failed_checks):
    plan = {"name": "Rent", "accountId": bank, "startDate": "2026-03-31", "amountValue": "-100.00"}
    with time_machine.travel(datetime(2026, 4, 10, tzinfo=UTC), tick=False):
        assert api.post("planned_transactions", plan).status_code == 201
        assert list_failed_checks()["overdue"] == 1
    assert list_failed_checks() is None


@pytest.mark.parametrize(("published", "missing"), [("2026-03-24", []), ("2026-03-23", ["USD"])])
def test_rate_is_missing_from_the_eighth_day_before_the_months_end(
    books, transaction_ids, list_failed_checks, published, missing
):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    books.create_transaction(dollars, "-10.00", "2026-03-15", amountCurrency="USD")
    Rate.objects.filter(currency="USD", date__gt="2026-01-31").delete()
    load_rates(data=f"Date,USD\n{published},2\n".encode(), source="test", now=datetime.now(tz=UTC))
    assert list_failed_checks()["missingRates"] == missing


def read_check_links(owner, acme, month="2026-03"):
    """The links behind the checks of the page, by label."""
    shown = owner.get(f"/app/companies/{acme.id}/closings", {"month": month}).content.decode()
    table = shown[shown.index('data-table="checks"') : shown.index("</table>")]
    rows = re.findall(r'<tr><th scope="row" class="wrap-text">(.*?)</tr>', table, re.S)
    return {
        re.split(r"<", row)[0].strip(): [unescape(link) for link in re.findall(r'href="([^"]+)"', row)] for row in rows
    }


def test_links_of_checks_lead_to_what_is_counted(acme, owner, api, books, bank, transaction_ids, list_failed_checks):
    books.create_transaction(bank, "-3.00", "2026-03-20", fromTo="Uncategorized one")
    books.create_transaction(bank, "-4.00", "2026-03-21", fromTo="Pending one", pending=True)
    books.create_transaction(bank, "-5.00", "2026-04-01", fromTo="Later one")
    links = read_check_links(owner, acme)
    uncategorized = text(owner.get(links["Uncategorized transactions"][0]))
    pending = text(owner.get(links["Pending transactions"][0]))
    assert ("Uncategorized one" in uncategorized, "Pending one" in uncategorized) == (True, False)
    assert ("Uncategorized one" in pending, "Pending one" in pending) == (False, True)
    assert "Later one" not in uncategorized
    counts = list_failed_checks()
    assert (counts["uncategorized"], counts["pending"]) == (1, 1)


def test_open_invoice_of_an_earlier_month_counts_until_it_is_paid(
    acme, owner, api, bank, transaction_ids, close_month, list_failed_checks
):
    """It counts whichever months are closed together, and if its customer is expected to pay only later."""
    invoice = {"name": "Initech", "accountId": bank, "startDate": "2026-03-20", "amountValue": "100.00"}
    rent = {"name": "Rent", "accountId": bank, "startDate": "2026-03-25", "amountValue": "-900.00"}
    with time_machine.travel(datetime(2026, 5, 10, tzinfo=UTC), tick=False):
        created = api.post("planned_transactions", invoice | {"invoiceDate": "2026-02-01"}).json()
        moved = api.put(f"planned_transactions/{created['id']}/overrides/2026-03-20", {"date": "2026-06-15"})
        assert moved.status_code == 200, moved.content
        assert api.post("planned_transactions", rent).status_code == 201
        assert [list_failed_checks("2026-03")["overdue"], list_failed_checks("2026-04")["overdue"]] == [2, 2]
        close_month("2026-03", acknowledge=True)
        assert api.post("closings", {"month": "2026-04"}).json()["checks"]["overdue"] == 2
        [link] = read_check_links(owner, acme, "2026-04")["Overdue planned transactions"]
        shown = owner.get(link.split("#")[0]).content.decode()
        overdue = shown[shown.index('data-table="overdue"') :]
        overdue = overdue[: overdue.index("</table>")]
        assert ["Initech" in overdue, "Rent" in overdue, overdue.count("<tr>")] == [True, True, 3]
        write_off = {"reason": "Insolvent", "date": "2026-05-01"}
        answer = api.post(f"planned_transactions/{created['id']}/write_off", write_off)
        assert answer.status_code == 200, answer.content
        assert api.post("closings", {"month": "2026-04"}).json()["checks"]["overdue"] == 1


def test_link_of_overdue_payments_leads_to_those_of_the_months_to_close(
    acme, owner, api, bank, transaction_ids, list_failed_checks
):
    for name, day in (("Due in March", "2026-03-30"), ("Due in April", "2026-04-02")):
        plan = {"name": name, "accountId": bank, "startDate": day, "amountValue": "-100.00", "autoSettle": False}
        assert api.post("planned_transactions", plan).status_code == 201
    with time_machine.travel(datetime(2026, 4, 10, tzinfo=UTC), tick=False):
        assert list_failed_checks()["overdue"] == 1
        [link] = read_check_links(owner, acme)["Overdue planned transactions"]
        shown = owner.get(link.split("#")[0]).content.decode()
        overdue = shown[shown.index('data-table="overdue"') :]
        overdue = overdue[: overdue.index("</table>")]
        assert "Due in March" in overdue
        assert "Due in April" not in overdue
        assert "Due in April" in owner.get(f"/app/companies/{acme.id}/planned").content.decode()


def test_page_names_accounts_that_are_not_reconciled_and_those_without_statement(
    acme, owner, books, bank, transaction_ids
):
    account = books.create_account(name="Statements")
    content = mt940("260227", "C1000,00", "260330", "C1000,00", [])
    upload_statement(books.api, content, accountId=account, name="a.sta")
    answer = owner.get(f"/app/companies/{acme.id}/closings", {"month": "2026-03"})
    assert "Accounts that are not reconciled Statements (statements end on 30 Mar 2026) 1" in text(answer)
    expected = "They are not compared with the bank. You can close the month without it. Main 1"
    assert f"Accounts without a closing balance {expected}" in text(answer)
    assert [link.rsplit("/", 1)[1] for link in read_check_links(owner, acme)["Accounts that are not reconciled"]] == [
        f"{account}#reconciliation"
    ]


def test_acknowledged_checks_are_kept_with_the_closing(acme, owner, api, books, bank, transaction_ids, reopen_month):
    for day in ("20", "21", "22"):
        books.create_transaction(bank, "-3.00", f"2026-03-{day}")
    answer = api.post("closings", {"month": "2026-03", "acknowledge": True})
    assert answer.status_code == 201, answer.content
    expected = {"uncategorized": 3, "pending": 0, "unreconciledAccounts": [], "overdue": 0, "missingRates": []}
    assert answer.json()["acknowledgedChecks"] == expected
    assert api.get("closings").json()[0]["acknowledgedChecks"] == expected
    address = f"/app/companies/{acme.id}/closings"
    assert "Closed with 3 uncategorized transactions" in text(owner.get(address))
    assert "Closed with 3 uncategorized transactions" in text(owner.get(f"{address}/2026-03"))


def test_closing_without_unfinished_items_has_no_acknowledged_checks(api, transaction_ids):
    answer = api.post("closings", {"month": "2026-03", "acknowledge": True})
    assert answer.json()["acknowledgedChecks"] is None


def test_page_links_transfers_without_other_transaction(acme, owner, books, bank, savings, transaction_ids):
    address = f"/app/companies/{acme.id}/closings"
    assert "Transfers without the other transaction None" in text(owner.get(address, {"month": "2026-03"}))
    names = {}
    for name, day, values in (
        ("Listed", "2026-03-31", {}),
        ("Also listed", "2026-03-01", {}),
        ("Pending", "2026-03-20", {"pending": True}),
        ("Later", "2026-04-01", {}),
        ("Linked", "2026-03-10", {}),
    ):
        names[name] = books.create_transaction(bank, "-80.00", day, fromTo=name, **values)["id"]
        part = {"categoryId": books.get_category_id("transfer"), "plSplit": {"neutral": -80}}
        assert books.set_categorizations(names[name], part).status_code == 200
    part = next(iter(books.get_transaction(names["Linked"])["categorizations"]))
    other = books.create_transaction(savings, "80.00", "2026-03-11", fromTo="Linked")["id"]
    assert books.link_transfer(names["Linked"], other, part).status_code == 200
    shown = text(owner.get(address, {"month": "2026-03"}))
    expected = "They count as money in and out. You can close the month without it. 2"
    assert f"Transfers without the other transaction {expected}" in shown
    [link] = read_check_links(owner, acme)["Transfers without the other transaction"]
    listed = owner.get(link).content.decode()
    found = {name for name, row in names.items() if f"/transactions/{row}" in listed}
    assert found == {"Listed", "Also listed"}
    assert "You can close the month without it. 3" in text(owner.get(address, {"month": "2026-04"}))


def test_page_counts_suggested_transfers_that_are_not_linked(acme, owner, books, bank, savings, transaction_ids):
    address = f"/app/companies/{acme.id}/closings"
    with time_machine.travel(datetime(2026, 4, 10, tzinfo=UTC), tick=False):
        assert "Suggested transfers None" in text(owner.get(address, {"month": "2026-03"}))
        legs = [
            books.create_transaction(bank, "-80.00", "2026-03-31")["id"],
            books.create_transaction(savings, "80.00", "2026-04-02")["id"],
        ]
        books.create_transaction(bank, "-70.00", "2026-04-02")
        books.create_transaction(savings, "70.00", "2026-04-02")
        shown = owner.get(address, {"month": "2026-03"})
        assert "Suggested transfers You can close the month without it. 1" in text(shown)
        [link] = read_check_links(owner, acme)["Suggested transfers"]
        assert all(f'value="{leg}"' in owner.get(link).content.decode() for leg in legs)
        assert books.link_transfer(*legs).status_code == 200
        assert "Suggested transfers None" in text(owner.get(address, {"month": "2026-03"}))


def test_page_lists_the_steps_of_a_month_end_in_order(acme, owner, api, books, bank, transaction_ids):
    shown = owner.get(f"/app/companies/{acme.id}/closings", {"month": "2026-03"})
    steps = [
        "1. Import statements Import a file",
        "2. Review Open inbox",
        "3. Transfers Show suggested transfers",
        "4. Plan against actual Compare with plan",
        "5. Report View report",
        "Commentary on March 2026 You can close the month without it. Missing",
        "6. Close",
    ]
    positions = [text(shown).index(step) for step in steps]
    assert positions == sorted(positions)
    groups = re.findall(r'(?s)<tr class="group-heading">(.*?)</tr>', shown.content.decode())
    links = [unescape(link) for group in groups for link in re.findall(r'href="([^"#]+)', group)]
    assert len(links) == 5
    assert all(owner.get(link).status_code == 200 for link in links)
    compared = text(owner.get(links[3]))
    assert "Mar 2026" in compared
    assert "Variance" in compared


def test_commentary_of_the_month_is_missing_until_it_is_written(acme, owner, transaction_ids):
    report = f"/app/companies/{acme.id}/reports/2026-03"
    assert owner.post(report, {"text": "A quiet month.", "version": "0"}).status_code == 303
    shown = text(owner.get(f"/app/companies/{acme.id}/closings", {"month": "2026-03"}))
    assert "Commentary on March 2026 Written" in shown
