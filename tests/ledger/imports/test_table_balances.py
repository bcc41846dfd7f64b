"""CSV files imported on pages whose balance column proves their rows: the account is reconciled as with statements."""

import pytest

from ledger.models import Statement
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import confirm_import as confirm_statements
from tests.ledger.bank_statements.test_statement_pages import open_check_page as open_statements_page
from tests.ledger.imports.test_import_pages import confirm_import, get_page_text, open_check_page
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db

HEADINGS = "Date,Payee,Amount,Balance\n"
JANUARY = f"{HEADINGS}2025-01-10,Initech,100.00,1100.00\n2025-01-31,Landlord,-40.00,1060.00\n"
FEBRUARY = f"{HEADINGS}2025-02-03,Initech,10.00,1070.00\n2025-02-27,Landlord,-40.00,1030.00\n"
UNPROVEN = f"{HEADINGS}2025-01-10,Initech,100.00,1100.00\n2025-01-31,Landlord,-40.00,1065.00\n"


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


def import_table(editor, acme, account, text, **more):
    address, _ = open_check_page(editor, acme, account, text)
    return confirm_import(editor, address, **more)


def list_reconciliation(api, account):
    rows = api.get(f"accounts/{account}/reconciliation").json()
    return [(row["date"], row["reported"], row["calculated"], row["difference"]) for row in rows]


def get_connection(api, account):
    return api.get(f"accounts/{account}").json()["bankConnection"]


def test_proven_balance_column_reconciles_account(editor, api, acme, bank):
    _, check = open_check_page(editor, acme, bank, JANUARY)
    assert "The import reconciles the account with the closing balance €1,060.00." in get_page_text(check)
    answer = import_table(editor, acme, bank, JANUARY, set_opening="on")
    assert "Reconciled through 31 Jan 2025: €1,060.00." in get_page_text(answer)
    assert list_reconciliation(api, bank) == [("2025-01-31", "1060.00", "1060.00", "0.00")]
    connection = get_connection(api, bank)
    assert (connection["type"], connection["balanceMismatchSince"]) == ("statementFile", None)
    import_table(editor, acme, bank, FEBRUARY)
    assert list_reconciliation(api, bank)[0] == ("2025-02-27", "1030.00", "1030.00", "0.00")
    assert "€1,030.00" in get_page_text(editor.get(f"/app/companies/{acme.id}/accounts/{bank}"))


def test_account_that_differs_from_balance_column_is_out_of_balance(editor, api, acme, bank):
    answer = import_table(editor, acme, bank, JANUARY)
    expected = "Out of balance on 31 Jan 2025: statement €1,060.00, ledger €60.00 (difference €1,000.00)."
    assert expected in get_page_text(answer)
    assert list_reconciliation(api, bank) == [("2025-01-31", "1060.00", "60.00", "1000.00")]
    assert get_connection(api, bank)["balanceMismatchSince"] is not None
    api.put(f"accounts/{bank}/initial_balance", {"date": "2025-01-09", "amountValue": "1000.00"})
    assert get_connection(api, bank)["balanceMismatchSince"] is None


def test_unproven_balance_column_is_not_stored(editor, api, acme, bank):
    answer = import_table(editor, acme, bank, UNPROVEN)
    assert "2 transactions imported" in get_page_text(answer)
    assert "Reconciled" not in get_page_text(answer)
    assert (list_reconciliation(api, bank), get_connection(api, bank)) == ([], None)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            ["2026-10-10,Aa,-1.00,99.00", "2026-10-11,Bb,-1.00,97.99", "2026-10-12,Cc,-1.00,97.00"],
            "does not add up in line 3",
        ),
        (
            ["2026-10-12,Cc,-1.00,97.00", "2026-10-11,Bb,-1.00,97.99", "2026-10-10,Aa,-1.00,99.00"],
            "does not add up in line 3",
        ),
        (
            ["2026-10-10,Aa,-1.00,99.00", "2026-10-10,Bb,-1.00,98.00", "2026-10-10,Cc,-1.00,96.00"],
            "does not add up in line 4",
        ),
        (["2026-10-10,Aa,-1.00,99.00", "2026-10-11,Bb,-1.00,", "2026-10-12,Cc,-1.00,97.00"], "is empty in line 3"),
    ],
)
def test_pages_name_the_line_where_the_balance_column_fails(editor, acme, bank, rows, fault):
    message = f"The balance column {fault}. The account will not be reconciled."
    text = HEADINGS + "\n".join(rows) + "\n"
    address, check = open_check_page(editor, acme, bank, text)
    assert message in get_page_text(check)
    assert message in get_page_text(confirm_import(editor, address))


def test_review_of_several_files_names_the_line_where_a_balance_column_fails(editor, acme, bank):
    files = ("january.csv", JANUARY.encode()), ("wrong.csv", UNPROVEN.replace("2025-01", "2025-02").encode())
    address, check = open_statements_page(editor, acme, *files, account=bank)
    message = "The balance column does not add up in line 3. The account will not be reconciled."
    assert get_page_text(check).count(message) == 1
    assert f"wrong.csv: {message}" in get_page_text(confirm_statements(editor, address, check))


def test_undo_of_import_removes_its_balances(editor, api, acme, bank):
    import_table(editor, acme, bank, JANUARY, set_opening="on")
    import_table(editor, acme, bank, FEBRUARY)
    february, january = (row["id"] for row in api.get("imports").json())
    assert api.delete(f"imports/{february}").status_code == 200
    assert list_reconciliation(api, bank) == [("2025-01-31", "1060.00", "1060.00", "0.00")]
    assert api.delete(f"imports/{january}").status_code == 200
    assert (list_reconciliation(api, bank), get_connection(api, bank)) == ([], None)
    assert api.get(f"accounts/{bank}/initial_balance").json()["transaction"] is None


def test_importing_table_again_stores_no_balance(editor, api, acme, bank):
    import_table(editor, acme, bank, JANUARY, set_opening="on")
    import_table(editor, acme, bank, JANUARY)
    assert Statement.objects.for_company(acme.id).count() == 1
    assert len(api.get("imports").json()) == 1


def test_table_of_earlier_days_moves_opening_balance_of_statement(editor, api, acme, bank):
    camt = build_simple_camt("-10.00", start="2025-02-01", end="2025-02-28", day="2025-02-10", opening="1060.00")
    assert upload_statement(api, camt, accountId=bank).status_code == 200
    import_table(editor, acme, bank, JANUARY)
    transaction = api.get(f"accounts/{bank}/initial_balance").json()["transaction"]
    assert (transaction["date"], transaction["amountValue"]) == ("2025-01-09", "1000.00")
    assert [row[3] for row in list_reconciliation(api, bank)] == ["0.00", "0.00"]


def test_rows_before_data_start_count_in_opening_balance(editor, api, acme, bank):
    api.put("", {"dataStartDate": "2025-01-20"})
    _, check = open_check_page(editor, acme, bank, JANUARY)
    assert "Set the opening balance to €1,100.00 on 19 Jan 2025" in get_page_text(check)
    import_table(editor, acme, bank, JANUARY, set_opening="on")
    transaction = api.get(f"accounts/{bank}/initial_balance").json()["transaction"]
    assert (transaction["date"], transaction["amountValue"]) == ("2025-01-19", "1100.00")
    assert list_reconciliation(api, bank) == [("2025-01-31", "1060.00", "1060.00", "0.00")]


def test_close_checks_count_balance_column_as_statement(editor, api, acme, bank):
    import_table(editor, acme, bank, JANUARY, set_opening="on")
    answer = get_page_text(editor.get(f"/app/companies/{acme.id}/closings?month=2025-01"))
    assert "Accounts without a closing balance None" in answer
    checks = api.post("closings", {"month": "2025-01"}).json()["checks"]
    assert (checks["uncategorized"], checks["unreconciledAccounts"]) == (2, [])


def test_refused_import_stores_no_balance(editor, api, acme, bank):
    camt = build_simple_camt("-10.00", start="2025-02-01", end="2025-02-28", day="2025-02-10", opening="1060.00")
    assert upload_statement(api, camt, accountId=bank).status_code == 200
    closed = api.post("closings", {"month": "2025-01", "acknowledge": True})
    assert closed.status_code == 201
    late = f"{HEADINGS}2025-01-30,Initech,100.00,1100.00\n2025-02-02,Landlord,-40.00,1060.00\n"
    import_table(editor, acme, bank, late)
    assert len(list_reconciliation(api, bank)) == 1
    assert len(api.get("imports").json()) == 1
