"""Balances: what statements open accounts with, and whether the ledger agrees with the bank."""

from itertools import permutations

import pytest

from notifications.models import Notification
from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


# ---------------------------------------------------------------------------------- balances


def get_initial_balance(api, account):
    found = api.get(f"accounts/{account}/initial_balance").json()["transaction"]
    return found and (found["date"], found["amountValue"])


def test_the_first_statement_gives_the_initial_balance_on_its_eve(api, take, main):
    take(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main) == ("2025-12-31", "100.00")


def test_an_account_with_transactions_or_an_initial_balance_keeps_what_it_has(api, take, books, main):
    books.book(main, "-1.00", "2025-06-01")
    take(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main) is None
    other = books.account()
    api.put(f"accounts/{other}/initial_balance", {"date": "2025-01-01", "amountValue": "7.00"})
    take(build_simple_camt("-41.00", iban="DE02120300000000202051"), accountId=other)
    assert get_initial_balance(api, other) == ("2025-01-01", "7.00")


def test_an_earlier_statement_that_comes_later_moves_the_initial_balance(api, take, main):
    february = build_simple_camt("-10.00", start="2026-02-01", end="2026-02-28", day="2026-02-10", opening="60.00")
    take(february)
    assert get_initial_balance(api, main) == ("2026-01-31", "60.00")
    told = take(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main) == ("2025-12-31", "100.00")
    assert told["statements"][0]["ledgerDifference"] == "0.00"
    api.delete(f"imports/{told['importId']}")
    assert get_initial_balance(api, main) == ("2026-01-31", "60.00")


def get_file_name(content):
    return ("notes", "earlier", "january", "february")[[NOTIFICATION_FILE, EARLIER, JANUARY, FEBRUARY].index(content)]


JANUARY = build_simple_camt("-40.00")
FEBRUARY = build_simple_camt("-10.00", start="2026-02-01", end="2026-02-28", day="2026-02-10", opening="60.00")
EMPTY_STATEMENT = build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="50.00", closing="50.00"))


@pytest.mark.parametrize(
    ("first", "second", "opens_first", "opens_second"),
    [
        (JANUARY, FEBRUARY, ("2025-12-31", "100.00"), ("2026-01-31", "60.00")),
        (FEBRUARY, JANUARY, ("2026-01-31", "60.00"), ("2025-12-31", "100.00")),
        (JANUARY, EMPTY_STATEMENT, ("2025-12-31", "100.00"), ("2026-02-28", "50.00")),
        (JANUARY, JANUARY, ("2025-12-31", "100.00"), ("2025-12-31", "100.00")),
    ],
    ids=["in order", "the earlier one later", "one without entries", "the same file twice"],
)
@pytest.mark.parametrize("undone", ["first", "second"])
def test_of_two_statements_the_one_that_is_left_says_what_the_account_opens_with(
    api, acme, take, main, first, second, opens_first, opens_second, undone
):
    one, other = take(first)["importId"], take(second)["importId"]
    gone, left = (one, other) if undone == "first" else (other, one)
    api.delete(f"imports/{gone}")
    assert get_initial_balance(api, main) == (opens_second if undone == "first" else opens_first)
    api.delete(f"imports/{left}")
    assert (list_stored_rows(acme), get_initial_balance(api, main)) == ([], None)
    take(first)
    assert get_initial_balance(api, main) == opens_first, "and the next one is a first again"


NOTIFICATION_FILE = build_camt(build_statement(build_entry("-40.00", ref="2026-01-15-1"), kind="054"), kind="054")
EARLIER = build_camt(
    build_statement(build_entry("-7.00", "2025-12-20"), kind="054", start="2025-12-20", end="2025-12-20"), kind="054"
)


@pytest.mark.parametrize(
    "files",
    [*permutations([NOTIFICATION_FILE, EARLIER, JANUARY, FEBRUARY])],
    ids=lambda files: "-".join(map(get_file_name, files)),
)
def test_notifications_before_a_statement_leave_it_the_initial_balance(api, take, main, files):
    for content in files:
        told = take(content)
    assert get_initial_balance(api, main) == ("2025-12-19", "107.00")
    balances = {row["difference"] for row in api.get(f"accounts/{main}/reconciliation").json()}
    assert (balances, get_bank_connection(api, main)["balanceMismatchSince"]) == ({"0.00"}, None)
    assert told["importId"]


def test_an_initial_balance_that_somebody_changed_is_theirs(api, take, main):
    told = take(build_simple_camt("-40.00"))
    api.put(f"accounts/{main}/initial_balance", {"date": "2025-12-31", "amountValue": "90.00"})
    api.delete(f"imports/{told['importId']}")
    assert get_initial_balance(api, main) == ("2025-12-31", "90.00")


def test_undoing_gives_the_ledger_before(api, take, acme, main):
    told = take(build_simple_camt("-40.00", "25.50"))
    undone = api.delete(f"imports/{told['importId']}").json()
    assert undone["deletedCount"] == 2
    assert (
        list_stored_rows(acme),
        get_initial_balance(api, main),
        api.get(f"accounts/{main}").json()["bankConnection"],
    ) == ([], None, None)
    assert api.get(f"accounts/{main}/reconciliation").json() == []


def get_bank_connection(api, account):
    return api.get(f"accounts/{account}").json()["bankConnection"]


def test_after_a_statement_the_account_is_connected_by_its_files(api, take, main):
    take(build_simple_camt("-40.00"))
    found = get_bank_connection(api, main)
    assert (found["type"], found["status"]) == ("statementFile", "active")
    assert found["lastSyncTime"].endswith("Z")
    rest = set(found) - {"type", "status", "lastSyncTime"}
    assert {name: found[name] for name in rest} == dict.fromkeys(rest)
    assert "balanceMismatchSince" in rest


def test_a_difference_is_kept_and_told_once_to_owners_and_admins_until_a_statement_agrees(api, take, main, alice, bob):
    take(build_simple_camt("-40.00"))
    told = take(build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55")))
    assert told["statements"][0]["difference"] == "-4.45"
    assert told["statements"][0]["ledgerDifference"] == "-4.45"
    found = get_bank_connection(api, main)
    assert (found["balanceMismatchReportedBalances"], found["balanceMismatchCalculatedBalance"]) == ([55.55], 60)
    since = found["balanceMismatchSince"]
    told = Notification.objects.filter(type="balance.mismatch")
    assert set(told.values_list("recipient_id", flat=True)) >= {alice.id}
    assert not told.filter(recipient_id=bob.id).exists()
    before = told.count()
    take(build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="55.55", closing="50")))
    assert told.count() == before
    assert get_bank_connection(api, main)["balanceMismatchSince"] == since
    take(build_camt(build_statement(start="2026-04-01", end="2026-04-30", opening="60", closing="60")))
    assert get_bank_connection(api, main)["balanceMismatchSince"] is None
    take(build_camt(build_statement(start="2026-05-01", end="2026-05-31", opening="60", closing="61")))
    assert get_bank_connection(api, main)["balanceMismatchSince"] is not None
    assert told.count() == 2 * before  # another one, though nobody has read the first
    payload = told.filter(recipient_id=alice.id).latest("created_time", "id").payload
    assert (payload["date"], payload["reported"], payload["calculated"]) == ("2026-05-31", "61.00", "60.00")


def test_the_reconciliation_lists_what_was_reported_latest_first(api, take, main):
    one = take(build_simple_camt("-40.00"))
    two = take(build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55")))
    take(build_camt(build_statement(build_entry("-1.00", "2026-03-02"), kind="054"), kind="054"))
    rows = api.get(f"accounts/{main}/reconciliation").json()
    assert rows == [
        {
            "date": "2026-02-28",
            "reported": "55.55",
            "calculated": "60.00",
            "difference": "-4.45",
            "importId": two["importId"],
        },
        {
            "date": "2026-01-31",
            "reported": "60.00",
            "calculated": "60.00",
            "difference": "0.00",
            "importId": one["importId"],
        },
    ]
    page = api.get(f"accounts/{main}/reconciliation", {"limit": "1"})
    assert page.json() == rows[:1]
    assert api.get(page["Link"].split(">")[0][1:]).json() == rows[1:]


def test_undoing_the_statement_that_differs_takes_its_row_and_the_mismatch_along(api, take, main):
    take(build_simple_camt("-40.00"))
    two = take(build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55")))
    api.delete(f"imports/{two['importId']}")
    assert len(api.get(f"accounts/{main}/reconciliation").json()) == 1
    assert get_bank_connection(api, main)["balanceMismatchSince"] is None


def test_reconciliation_needs_to_see_balances(make_api, acme, main):
    assert make_api(acme, "accounts:read").get(f"accounts/{main}/reconciliation").status_code == 403
    assert make_api(acme, "balances:read").get(f"accounts/{main}/reconciliation").status_code == 200


def test_a_statement_that_contradicts_itself_is_told_and_not_mended(take, acme, main):
    told = take(build_simple_camt("-40.00", closing="70.00"))["statements"][0]
    assert (told["difference"], told["ledgerBalance"], told["ledgerDifference"]) == ("10.00", "60.00", "10.00")


def test_an_entry_in_another_currency_counts_by_its_amount_in_the_statements(api, take, main):
    own = bank_file_builders.build_tag(
        "AmtDtls", bank_file_builders.build_tag("TxAmt", bank_file_builders.build_amount("-92.00"))
    )
    told = take(
        build_camt(build_statement(build_entry("-100.00", currency="USD", more=own), opening="100", closing="8"))
    )["statements"][0]
    assert (told["bookedSum"], told["difference"], told["ledgerDifference"]) == ("-92.00", "0.00", "0.00")
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (row["amountValue"], row["amountCurrency"], row["notes"]) == ("-92.00", "EUR", "Amount USD -100")


def test_without_an_amount_in_the_statements_currency_there_is_no_sum(api, take, main):
    told = take(build_camt(build_statement(build_entry("-100.00", currency="USD"), opening="100", closing="8")))[
        "statements"
    ][0]
    assert (told["bookedSum"], told["difference"], told["ledgerDifference"]) == (None, None, None)
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (row["amountValue"], row["amountCurrency"]) == ("-100.00", "USD")


def test_balances_are_compared_in_their_own_currency_alone(api, take, main):
    other = bank_file_builders.build_balance("OPBD", "100", "2026-01-01", "USD") + bank_file_builders.build_balance(
        "CLBD", "60", "2026-01-31", "USD"
    )
    told = take(build_camt(build_statement(other, build_entry("-40.00"))))["statements"][0]
    assert (told["currency"], told["bookedSum"]) == ("EUR", "-40.00")
    assert {told[name] for name in ("openingBalance", "closingBalance", "difference", "ledgerDifference")} == {None}
    assert get_initial_balance(api, main) is None
    both = other + bank_file_builders.build_balance("CLBD", "7", "2026-01-31")
    assert take(build_camt(build_statement(both)))["statements"][0]["closingBalance"] == "7.00"


def test_a_difference_in_one_currency_is_not_hidden_by_another_that_agrees(api, take, main):
    take(build_camt(build_statement(build_entry("-40.00"), opening="100", closing="70")))
    api.put(f"accounts/{main}", {"defaultCurrency": "USD"})
    take(build_camt(build_statement(build_entry("5.00", currency="USD"), currency="USD", opening="0", closing="5")))
    assert get_bank_connection(api, main)["balanceMismatchReportedBalances"] == [70]


def test_a_statement_that_opens_in_one_currency_and_closes_in_another_is_refused(api, main):
    answer = upload_statement(
        api, bank_file_builders.build_mt940(("2601150115D40,00NTRFNONREF", "Rent"), closing="C260131USD60,00")
    )
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert "EUR" in answer.json()["detail"]
    assert "USD" in answer.json()["detail"]


# ---------------------------------------------------------------------------------- changed behind a statement


def get_mismatch(api, account):
    """What the account says of its mismatch: (the bank's balance, ours)."""
    found = get_bank_connection(api, account)
    assert (found["balanceMismatchSince"] is None) is (found["balanceMismatchReportedBalances"] is None)
    return found["balanceMismatchReportedBalances"], found["balanceMismatchCalculatedBalance"]


NO_MISMATCH = (None, None)


def count_mismatch_notifications():
    return Notification.objects.filter(type="balance.mismatch").values("id").distinct().count()


@pytest.fixture
def reconciled(api, take, main):
    """The only row of a statement that agrees."""
    take(build_simple_camt("-5712.00", opening="10000.00"))
    assert get_mismatch(api, main) == NO_MISMATCH
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    return row


@pytest.mark.parametrize(
    ("values", "ours"),
    [({"amountValue": "-5721.00"}, 4279), ({"date": "2026-02-15"}, 10000), ({"pending": True}, 10000)],
    ids=["amount", "date", "pending"],
)
def test_a_change_behind_a_statement_sets_the_mismatch_and_the_change_back_clears_it(
    api, main, reconciled, values, ours
):
    answer = api.put(f"transactions/{reconciled['id']}", values)
    assert answer.status_code == 200, answer.content
    assert get_mismatch(api, main) == ([4288], ours)
    (row,) = api.get(f"accounts/{main}/reconciliation").json()
    assert (row["calculated"], row["difference"]) == (f"{ours}.00", f"{4288 - ours}.00")
    api.put(f"transactions/{reconciled['id']}", {"amountValue": "-5722.00"} if "amountValue" in values else values)
    assert count_mismatch_notifications() == 1, "told once"
    api.put(f"transactions/{reconciled['id']}", {name: reconciled[name] for name in values})
    assert get_mismatch(api, main) == NO_MISMATCH


def test_a_row_that_moves_to_another_account_sets_the_mismatch_of_both(api, take, books, main, reconciled):
    other = books.account(accountNumber="DE02120300000000202051")
    take(build_simple_camt("-1.00", iban="DE02120300000000202051"))
    api.put(f"transactions/{reconciled['id']}", {"accountId": other})
    assert get_mismatch(api, main) == ([4288], 10000)
    assert get_mismatch(api, other) == ([99], -5613)
    api.put(f"transactions/{reconciled['id']}", {"accountId": main})
    assert (get_mismatch(api, main), get_mismatch(api, other)) == (NO_MISMATCH, NO_MISMATCH)


def test_zero_and_future_transactions_do_not_change_the_mismatch(api, books, main, reconciled):
    api.put(f"transactions/{reconciled['id']}", {"notes": "ask Bob", "fromTo": "Landlord"})
    later = books.book(main, "-7.00", "2026-03-01")
    api.delete(f"transactions/{later['id']}")
    assert (get_mismatch(api, main), count_mismatch_notifications()) == (NO_MISMATCH, 0)


def test_deleted_and_new_rows_behind_a_statement_set_the_mismatch(api, books, main, reconciled):
    first, second = (books.book(main, "-7.00", "2026-01-20")["id"] for _ in range(2))
    assert get_mismatch(api, main) == ([4288], 4274)
    api.post("transactions/batch_delete", {"transactionIds": [first]})
    assert get_mismatch(api, main) == ([4288], 4281)
    api.delete(f"transactions/{second}")
    assert get_mismatch(api, main) == NO_MISMATCH
    sent = api.post(
        "transactions/import", {"transactions": [{"accountId": main, "date": "2026-01-20", "amountValue": "-1.00"}]}
    )
    assert get_mismatch(api, main) == ([4288], 4287)
    api.delete(f"imports/{sent.json()['importId']}")
    assert get_mismatch(api, main) == NO_MISMATCH
    api.put(f"accounts/{main}/initial_balance", {"date": "2025-12-31", "amountValue": "1.00"})
    assert get_mismatch(api, main) == ([4288], -5711)


def test_undoing_a_statement_tells_nobody_of_a_mismatch(api, take, main):
    sent = take(build_simple_camt("-40.00"))
    api.delete(f"imports/{sent['importId']}")
    assert count_mismatch_notifications() == 0


def test_the_form_of_a_reconciled_row_says_so_before_it_is_changed(api, pages, main, reconciled):
    said = "This transaction is reconciled with the bank statement up to 31 Jan 2026."
    address = f"/{reconciled['id']}/edit"
    assert said in get_page_text(pages.get(address))
    assert "It is reconciled with the bank statement up to 31 Jan 2026." in get_page_text(
        pages.get(f"/{reconciled['id']}")
    )
    api.put(f"transactions/{reconciled['id']}", {"amountValue": "-5721.00"})
    assert said not in get_page_text(pages.get(address)), "it is out of balance already"
    overview = get_page_text(pages.client.get(pages.base.removesuffix("/transactions")))
    assert "Main does not agree with its bank" in overview


def test_the_form_of_a_row_that_no_statement_covers_says_nothing(books, pages, main, reconciled):
    later = books.book(main, "-7.00", "2026-03-01")
    assert "is reconciled with" not in get_page_text(pages.get(f"/{later['id']}/edit"))
