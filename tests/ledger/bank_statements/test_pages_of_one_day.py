"""Pages of one day in files of their own: each keeps its entries, whatever comes first."""

import pytest

from tests.ledger.archives import build_zip
from tests.ledger.bank_file_builders import build_camt, build_entry, build_mt940, build_statement
from tests.ledger.imports.test_table_balances import import_table
from tests.ledger.statement_upload import list_stored_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

HEADINGS = "Date;Counterparty;Text;Amount;Balance\n"
COFFEE = ("2603030303D3,00NMSCNONREF", "Cafe")
PAGES = {
    "csv": (
        f"{HEADINGS}2026-03-02;X;x;1,00;100,00\n2026-03-03;Cafe;c;-3,00;97,00\n".encode(),
        f"{HEADINGS}2026-03-03;Cafe;c;-3,00;94,00\n2026-03-04;Y;y;1,00;95,00\n".encode(),
    ),
    "mt940": (
        build_mt940(COFFEE, opening="C260303EUR100,00", closing="C260303EUR97,00", number="1/1"),
        build_mt940(COFFEE, opening="C260303EUR97,00", closing="C260303EUR94,00", number="1/2"),
    ),
    "camt": (
        build_camt(
            build_statement(
                build_entry("-3.00", "2026-03-03"), start="2026-03-03", end="2026-03-03", opening="100", closing="97"
            )
        ),
        build_camt(
            build_statement(
                build_entry("-3.00", "2026-03-03"), start="2026-03-03", end="2026-03-03", opening="97", closing="94"
            )
        ),
    ),
}
COUNTS = {"csv": 4, "mt940": 2, "camt": 2}
pages_in_any_order = pytest.mark.parametrize(
    ("name", "pages"),
    [(name, order) for name, pages in PAGES.items() for order in (pages, pages[::-1])],
    ids=[f"{name} {order}" for name in PAGES for order in ("first", "last")],
)


@pages_in_any_order
def test_equal_payments_on_pages_in_two_files_are_both_stored(acme, upload_statement_file, main_account, name, pages):
    for page in pages:
        assert upload_statement_file(page, accountId=main_account)["duplicates"] == 0
    assert len(list_stored_rows(acme)) == COUNTS[name]
    for page in pages:
        assert upload_statement_file(page, accountId=main_account)["count"] == 0
    assert len(list_stored_rows(acme)) == COUNTS[name]


@pages_in_any_order
def test_equal_payments_on_pages_in_archive_are_both_stored(acme, upload_statement_file, main_account, name, pages):
    both = build_zip(a=pages[0], b=pages[1])
    assert upload_statement_file(both, accountId=main_account)["duplicates"] == 0
    for content in (both, *pages):
        assert upload_statement_file(content, accountId=main_account)["count"] == 0
    assert len(list_stored_rows(acme)) == COUNTS[name]


@pytest.mark.parametrize("pages", [PAGES["csv"], PAGES["csv"][::-1]], ids=["first", "last"])
def test_equal_payments_on_pages_are_both_stored_by_the_page_of_one_file(
    sign_in_browser, alice, acme, upload_statement_file, main_account, pages
):
    editor = sign_in_browser(alice, acme).client
    for page in pages:
        import_table(editor, acme, main_account, page.decode())
    assert len(list_stored_rows(acme)) == 4
    for page in pages:
        import_table(editor, acme, main_account, page.decode())
        assert upload_statement_file(page, accountId=main_account)["count"] == 0
    assert len(list_stored_rows(acme)) == 4
    both_coffees = f"{HEADINGS}2026-03-03;Cafe;c;-3,00;97,00\n2026-03-03;Cafe;c;-3,00;94,00\n"
    import_table(editor, acme, main_account, both_coffees)
    assert len(list_stored_rows(acme)) == 4


def test_longer_second_page_adds_only_what_is_new(acme, upload_statement_file, main_account):
    for page in PAGES["csv"]:
        upload_statement_file(page, accountId=main_account)
    longer = PAGES["csv"][1] + b"2026-03-05;Z;z;-5,00;90,00\n"
    assert upload_statement_file(longer, accountId=main_account)["count"] == 1
    assert len(list_stored_rows(acme)) == 5


def test_file_of_both_pages_adds_nothing(acme, upload_statement_file, main_account):
    for page in PAGES["csv"]:
        upload_statement_file(page, accountId=main_account)
    whole = PAGES["csv"][0] + PAGES["csv"][1].removeprefix(HEADINGS.encode())
    assert upload_statement_file(whole, accountId=main_account)["count"] == 0
    assert len(list_stored_rows(acme)) == 4


def test_day_that_adds_up_to_zero_is_not_a_further_page(acme, upload_statement_file, main_account):
    rows = ["2026-03-02;X;x;1,00;100,00\n", "2026-03-03;Cafe;c;-3,00;97,00\n", "2026-03-03;Y;y;3,00;100,00\n"]
    upload_statement_file((HEADINGS + "".join(rows)).encode(), accountId=main_account)
    later = HEADINGS + "".join(rows[1:]) + "2026-03-04;Z;z;1,00;101,00\n"
    assert upload_statement_file(later.encode(), accountId=main_account)["count"] == 1
    assert len(list_stored_rows(acme)) == 4
