"""The pages that link two transactions as a transfer."""

import pytest

from ledger.models import Categorization, Transaction
from tests.ledger.conftest import get_page_text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def test_transfer_candidates_are_open_opposite_near_and_equal_in_amount(
    pages, books, bank, savings, set_exchange_rates
):
    source = books.create_transaction(bank, "-100.00", "2026-03-15")["id"]
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    fits = {
        "equal": books.create_transaction(savings, "100.00", "2026-03-17", fromTo="equal")["id"],
        # worth 125.00 at the day's rate
        "abroad": books.create_transaction(dollars, "130.00", "2026-03-14", fromTo="abroad")["id"],
    }
    for amount, day, account in (
        ("100.00", "2026-03-15", bank),
        ("-100.00", "2026-03-15", savings),
        ("100.01", "2026-03-15", savings),
        ("100.00", "2026-03-26", savings),
        ("140.00", "2026-03-15", dollars),
    ):
        books.create_transaction(account, amount, day, fromTo="unfit")
    closed = books.create_transaction(savings, "100.00", fromTo="unfit")["id"]
    books.set_categorizations(
        closed, {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": 100}}
    )
    body = pages.get(f"/{source}/link").content.decode()
    assert body.find(fits["abroad"]) < body.find(fits["equal"])
    assert body.count('name="target"') == 2
    assert "unfit" not in body
    assert pages.get(f"/{source}/link", days="30").content.decode().count('name="target"') == 3
    assert pages.get(f"/{source}/link", amounts="any").content.decode().count('name="target"') == 4


@pytest.mark.parametrize("query", ["days=abc", "days=4", "amounts=some"])
def test_wrong_filter_of_transfer_candidates_is_a_form_error(pages, books, bank, savings, query):
    source, target = (
        books.create_transaction(account, amount)["id"] for account, amount in ((bank, "-5.00"), (savings, "5.00"))
    )
    answer = pages.get(f"/{source}/link?{query}")
    assert answer.status_code == 400
    assert f'id="{query.partition("=")[0]}-error">Choose one of the options.<' in answer.content.decode()
    assert target in answer.content.decode(), "the defaults count"


def test_transfer_can_be_linked_and_unlinked(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(savings, "100.00")["id"]
    answer = pages.post(f"/{source}/link", target=target, part="")
    assert (answer.status_code, answer["Location"]) == (303, f"{pages.base}/{source}")
    page = pages.get(f"/{source}")
    assert "Transactions linked as a transfer." in get_page_text(page)
    assert f"/transactions/{target}" in page.content.decode()
    ((part, _),) = books.get_transaction(source)["categorizations"].items()
    assert pages.post(f"/{source}/unlink", part=part).status_code == 303
    assert "Transfer unlinked. Both transactions are now uncategorized." in get_page_text(pages.get(f"/{source}"))
    assert (books.list_categorizations(source), books.list_categorizations(target)) == ([], [])
    pages.post(f"/{source}/unlink", part=part)
    assert "This transfer is already unlinked." in get_page_text(pages.get(f"/{source}"))


def test_single_categorization_can_be_a_transfer_leg(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-119.00")["id"], books.create_transaction(savings, "100.00")["id"]
    books.set_categorizations(source, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    ((part, _),) = books.get_transaction(source)["categorizations"].items()
    assert target not in pages.get(f"/{source}/link").content.decode()
    assert target in pages.get(f"/{source}/link", part=part).content.decode()
    assert pages.get(f"/{source}/link", part=UNKNOWN_ID).status_code == 404
    assert pages.post(f"/{source}/link", part=part, target=target).status_code == 303
    assert Categorization.objects.get(id=part).counter.transaction_id == Transaction.objects.get(id=target).id


def test_missing_or_unknown_transfer_target_is_rejected(pages, books, bank, savings):
    source = books.create_transaction(bank, "-100.00")["id"]
    books.create_transaction(savings, "100.00")
    for target in ["", "nonsense", UNKNOWN_ID]:
        answer = pages.post(f"/{source}/link", target=target)
        assert answer.status_code == 400, target
        assert 'role="alert"' in answer.content.decode(), target


def test_different_amounts_are_linked_only_with_force(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-101.50")["id"], books.create_transaction(savings, "100.00")["id"]
    answer = pages.post(f"/{source}/link?amounts=any", target=target)
    assert answer.status_code == 400
    assert "The amounts differ (by more than 10 % across currencies). Use force to link them anyway." in get_page_text(
        answer
    )
    assert pages.post(f"/{source}/link?amounts=any", target=target, force="on").status_code == 303


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_transfer_candidates_are_found_at_calendar_ends(day, pages, books, bank, savings):
    source, target = (
        books.create_transaction(bank, "-100.00", day)["id"],
        books.create_transaction(savings, "100.00", day)["id"],
    )
    assert target in pages.get(f"/{source}/link", days="90").content.decode()
    assert pages.post(f"/{source}/link", target=target, part="").status_code == 303
