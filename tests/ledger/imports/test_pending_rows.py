"""Pending rows of CSV files: the booking takes their place, on the page and by the API."""

import pytest

from ledger.models import Transaction
from notifications.models import Notification
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

BUSINESS = "Date started (UTC),Date completed (UTC),ID,Type,State,Description,Amount,Currency\n"
BUSINESS_PENDING = (
    BUSINESS
    + "2025-03-01,,a1,CARD_PAYMENT,PENDING,Shop,-12.00,EUR\n2025-03-01,2025-03-01,a0,TOPUP,COMPLETED,Client,50.00,EUR\n"
)
BUSINESS_BOOKED = BUSINESS + "2025-03-01,2025-03-03,a1,CARD_PAYMENT,COMPLETED,Shop,-12.00,EUR\n"
RETAIL = "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State\n"
RETAIL_PENDING = (
    RETAIL + "CARD_PAYMENT,Current,2025-03-01 10:00:00,,Shop,-12.00,0.00,EUR,PENDING\n"
    "TOPUP,Current,2025-03-01 10:00:00,2025-03-01 10:00:00,Client,50.00,0.00,EUR,COMPLETED\n"
)
RETAIL_BOOKED = RETAIL + "CARD_PAYMENT,Current,2025-03-01 10:00:00,2025-03-03 09:00:00,Shop,-12.00,0.00,EUR,COMPLETED\n"
FILES = [(BUSINESS_PENDING, BUSINESS_BOOKED), (RETAIL_PENDING, RETAIL_BOOKED)]
BOOKED = [("2025-03-01", "50.00", "EUR"), ("2025-03-03", "-12.00", "EUR")]


@pytest.fixture
def import_by_page(editor, acme, bank):
    def import_by_page(text):
        confirm_import(editor, open_check_page(editor, acme, bank, text)[0])

    return import_by_page


@pytest.fixture
def import_by_api(upload_statement_file, bank):
    return lambda text: upload_statement_file(text.encode(), accountId=bank)


@pytest.mark.parametrize(("pending", "booked"), FILES)
@pytest.mark.parametrize("first_by", ["import_by_page", "import_by_api"])
@pytest.mark.parametrize("then_by", ["import_by_page", "import_by_api"])
def test_booking_takes_the_place_of_the_pending_row(request, acme, pending, booked, first_by, then_by):
    request.getfixturevalue(first_by)(pending)
    row_id = Transaction.objects.for_company(acme.id).get(pending=True).id
    request.getfixturevalue(then_by)(booked)
    assert list_stored(acme) == BOOKED
    assert Transaction.objects.for_company(acme.id).get(date="2025-03-03").id == row_id


def test_file_with_a_pending_row_adds_nothing_when_sent_again(import_by_page, editor, acme, bank):
    import_by_page(RETAIL_PENDING)
    _, answer = open_check_page(editor, acme, bank, RETAIL_PENDING)
    assert "Nothing new" in get_page_text(answer)
    assert len(list_stored(acme)) == 2


def test_page_shows_what_is_pending_and_what_is_booked(import_by_page, editor, acme, bank):
    _, answer = open_check_page(editor, acme, bank, RETAIL_PENDING)
    assert "Pending" in get_page_text(answer).partition("Preview for")[2].partition("Import settings")[0]
    import_by_page(RETAIL_PENDING)
    address, answer = open_check_page(editor, acme, bank, RETAIL_BOOKED)
    assert "1 pending transaction is booked by this file." in get_page_text(answer)
    assert "Duplicates 0" in get_page_text(answer)
    done = get_page_text(confirm_import(editor, address))
    assert "1 pending transaction is now booked." in done
    assert "0 Pending, now booked: 1 Show" in done
    assert "duplicate" not in done.lower()


def test_undoing_the_import_makes_the_row_pending_again(import_by_page, api, acme):
    import_by_page(BUSINESS_PENDING)
    import_by_page(BUSINESS_BOOKED)
    batch = Transaction.objects.for_company(acme.id).get(date="2025-03-03").import_batch_id
    assert api.delete(f"imports/{batch}").status_code == 200
    assert ("2025-03-01", "-12.00", "EUR", "pending") in list_stored(acme)


@pytest.mark.parametrize("by", ["import_by_page", "import_by_api"])
def test_notification_counts_duplicates_as_the_list_of_imports_does(request, editor, acme, by):
    import_rows = request.getfixturevalue(by)
    import_rows(BUSINESS_PENDING)
    import_rows(BUSINESS_BOOKED + BUSINESS_PENDING.splitlines()[2] + "\n")
    counts = [
        (row.payload["count"], row.payload["duplicates"])
        for row in Notification.objects.filter(company_id=acme.id, type="import.finished").order_by("created_time")
    ]
    assert list(dict.fromkeys(counts)) == [(2, 0), (0, 1)]  # an import by API notifies several people
    shown = get_page_text(editor.get(f"/app/companies/{acme.id}/imports"))
    assert "Pending, now booked: 1 Duplicates: 1" in shown
