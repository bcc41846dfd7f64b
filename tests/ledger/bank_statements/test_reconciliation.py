"""Balances: what statements open accounts with, and whether the ledger agrees with the bank."""

import pytest

from notifications.models import Notification
from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


# ---------------------------------------------------------------------------------- balances


def get_initial_balance(api, account):
    transaction = api.get(f"accounts/{account}/initial_balance").json()["transaction"]
    return transaction and (transaction["date"], transaction["amountValue"])


def test_first_statement_sets_initial_balance_on_day_before(api, upload_statement_file, main_account):
    upload_statement_file(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main_account) == ("2025-12-31", "100.00")


def test_first_statement_keeps_initial_balance_of_account_in_use(api, upload_statement_file, books, main_account):
    books.create_transaction(main_account, "-1.00", "2025-06-01")
    upload_statement_file(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main_account) is None
    other = books.create_account()
    api.put(f"accounts/{other}/initial_balance", {"date": "2025-01-01", "amountValue": "7.00"})
    upload_statement_file(build_simple_camt("-41.00", iban="DE02120300000000202051"), accountId=other)
    assert get_initial_balance(api, other) == ("2025-01-01", "7.00")


def test_earlier_statement_moves_initial_balance_back(api, upload_statement_file, main_account):
    february = build_simple_camt("-10.00", start="2026-02-01", end="2026-02-28", day="2026-02-10", opening="60.00")
    upload_statement_file(february)
    assert get_initial_balance(api, main_account) == ("2026-01-31", "60.00")
    answer = upload_statement_file(build_simple_camt("-40.00"))
    assert get_initial_balance(api, main_account) == ("2025-12-31", "100.00")
    assert answer["statements"][0]["ledgerDifference"] == "0.00"
    api.delete(f"imports/{answer['importId']}")
    assert get_initial_balance(api, main_account) == ("2026-01-31", "60.00")


def get_file_name(content):
    return ("notes", "earlier", "january", "february")[[NOTIFICATION_FILE, EARLIER, JANUARY, FEBRUARY].index(content)]


JANUARY = build_simple_camt("-40.00")
FEBRUARY = build_simple_camt("-10.00", start="2026-02-01", end="2026-02-28", day="2026-02-10", opening="60.00")
EMPTY_STATEMENT = build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="50.00", closing="50.00"))


def test_remaining_statement_determines_initial_balance_after_undo(api, acme, upload_statement_file, main_account):
    for first, second, opens_first, opens_second in [
        (JANUARY, FEBRUARY, ("2025-12-31", "100.00"), ("2026-01-31", "60.00")),
        (FEBRUARY, JANUARY, ("2026-01-31", "60.00"), ("2025-12-31", "100.00")),
        (JANUARY, EMPTY_STATEMENT, ("2025-12-31", "100.00"), ("2026-02-28", "50.00")),
        (JANUARY, JANUARY, ("2025-12-31", "100.00"), ("2025-12-31", "100.00")),
    ]:
        for undone in ["first", "second"]:
            with undo_changes():
                one, other = upload_statement_file(first)["importId"], upload_statement_file(second)["importId"]
                gone, left = (one, other) if undone == "first" else (other, one)
                api.delete(f"imports/{gone}")
                assert get_initial_balance(api, main_account) == (opens_second if undone == "first" else opens_first), (
                    first,
                    undone,
                )
                api.delete(f"imports/{left}")
                assert (list_stored_rows(acme), get_initial_balance(api, main_account)) == ([], None), (first, undone)
                upload_statement_file(first)
                assert get_initial_balance(api, main_account) == opens_first, "and the next one is a first again"


NOTIFICATION_FILE = build_camt(build_statement(build_entry("-40.00", ref="2026-01-15-1"), kind="054"), kind="054")
EARLIER = build_camt(
    build_statement(build_entry("-7.00", "2025-12-20"), kind="054", start="2025-12-20", end="2025-12-20"), kind="054"
)

FILE_ORDERS = [  # each file in each place, each after each other, and all by their days, forth and back
    [NOTIFICATION_FILE, EARLIER, FEBRUARY, JANUARY],
    [EARLIER, JANUARY, NOTIFICATION_FILE, FEBRUARY],
    [JANUARY, FEBRUARY, EARLIER, NOTIFICATION_FILE],
    [FEBRUARY, NOTIFICATION_FILE, JANUARY, EARLIER],
    [EARLIER, NOTIFICATION_FILE, JANUARY, FEBRUARY],
    [FEBRUARY, JANUARY, NOTIFICATION_FILE, EARLIER],
]


def test_statement_sets_initial_balance_despite_earlier_notifications(api, upload_statement_file, main_account):
    for files in FILE_ORDERS:
        order = [*map(get_file_name, files)]
        with undo_changes():
            for content in files:
                assert upload_statement_file(content)["importId"], order
            assert get_initial_balance(api, main_account) == ("2025-12-19", "107.00"), order
            balances = {row["difference"] for row in api.get(f"accounts/{main_account}/reconciliation").json()}
            mismatch = get_bank_connection(api, main_account)["balanceMismatchSince"]
            assert (balances, mismatch) == ({"0.00"}, None), order


def test_statement_undo_keeps_edited_initial_balance(api, upload_statement_file, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00"))
    api.put(f"accounts/{main_account}/initial_balance", {"date": "2025-12-31", "amountValue": "90.00"})
    api.delete(f"imports/{answer['importId']}")
    assert get_initial_balance(api, main_account) == ("2025-12-31", "90.00")


def test_statement_undo_restores_previous_ledger(api, upload_statement_file, acme, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00", "25.50"))
    undone = api.delete(f"imports/{answer['importId']}").json()
    assert undone["deletedCount"] == 2
    assert (
        list_stored_rows(acme),
        get_initial_balance(api, main_account),
        api.get(f"accounts/{main_account}").json()["bankConnection"],
    ) == ([], None, None)
    assert api.get(f"accounts/{main_account}/reconciliation").json() == []


def get_bank_connection(api, account):
    return api.get(f"accounts/{account}").json()["bankConnection"]


def test_statement_import_sets_bank_connection_of_account(api, upload_statement_file, main_account):
    upload_statement_file(build_simple_camt("-40.00"))
    bank_connection = get_bank_connection(api, main_account)
    assert (bank_connection["type"], bank_connection["status"]) == ("statementFile", "active")
    assert bank_connection["lastSyncTime"].endswith("Z")
    rest = set(bank_connection) - {"type", "status", "lastSyncTime"}
    assert {name: bank_connection[name] for name in rest} == dict.fromkeys(rest)
    assert "balanceMismatchSince" in rest


def test_difference_notifies_owners_and_admins_once_until_resolved(
    api, upload_statement_file, main_account, alice, bob
):
    upload_statement_file(build_simple_camt("-40.00"))
    notifications = upload_statement_file(
        build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55"))
    )
    assert notifications["statements"][0]["difference"] == "-4.45"
    assert notifications["statements"][0]["ledgerDifference"] == "-4.45"
    bank_connection = get_bank_connection(api, main_account)
    assert (
        bank_connection["balanceMismatchReportedBalances"],
        bank_connection["balanceMismatchCalculatedBalance"],
    ) == ([55.55], 60)
    since = bank_connection["balanceMismatchSince"]
    notifications = Notification.objects.filter(type="balance.mismatch")
    assert set(notifications.values_list("recipient_id", flat=True)) >= {alice.id}
    assert not notifications.filter(recipient_id=bob.id).exists()
    before = notifications.count()
    upload_statement_file(
        build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="55.55", closing="50"))
    )
    assert notifications.count() == before
    assert get_bank_connection(api, main_account)["balanceMismatchSince"] == since
    upload_statement_file(build_camt(build_statement(start="2026-04-01", end="2026-04-30", opening="60", closing="60")))
    assert get_bank_connection(api, main_account)["balanceMismatchSince"] is None
    upload_statement_file(build_camt(build_statement(start="2026-05-01", end="2026-05-31", opening="60", closing="61")))
    assert get_bank_connection(api, main_account)["balanceMismatchSince"] is not None
    assert notifications.count() == 2 * before  # another one, though nobody has read the first
    payload = notifications.filter(recipient_id=alice.id).latest("created_time", "id").payload
    assert (payload["date"], payload["reported"], payload["calculated"]) == ("2026-05-31", "61.00", "60.00")


def test_reconciliation_lists_reported_balances_latest_first(api, upload_statement_file, main_account):
    one = upload_statement_file(build_simple_camt("-40.00"))
    two = upload_statement_file(
        build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55"))
    )
    upload_statement_file(build_camt(build_statement(build_entry("-1.00", "2026-03-02"), kind="054"), kind="054"))
    rows = api.get(f"accounts/{main_account}/reconciliation").json()
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
    page = api.get(f"accounts/{main_account}/reconciliation", {"limit": "1"})
    assert page.json() == rows[:1]
    assert api.get(page["Link"].split(">")[0][1:]).json() == rows[1:]


def test_statement_undo_removes_reconciliation_row_and_mismatch(api, upload_statement_file, main_account):
    upload_statement_file(build_simple_camt("-40.00"))
    two = upload_statement_file(
        build_camt(build_statement(start="2026-02-01", end="2026-02-28", opening="60", closing="55.55"))
    )
    api.delete(f"imports/{two['importId']}")
    assert len(api.get(f"accounts/{main_account}/reconciliation").json()) == 1
    assert get_bank_connection(api, main_account)["balanceMismatchSince"] is None


def test_inconsistent_statement_is_reported_but_not_corrected(upload_statement_file, acme, main_account):
    statement = upload_statement_file(build_simple_camt("-40.00", closing="70.00"))["statements"][0]
    assert (statement["difference"], statement["ledgerBalance"], statement["ledgerDifference"]) == (
        "10.00",
        "60.00",
        "10.00",
    )


def test_foreign_entry_counts_at_its_amount_in_statement_currency(api, upload_statement_file, main_account):
    own = bank_file_builders.build_tag(
        "AmtDtls", bank_file_builders.build_tag("TxAmt", bank_file_builders.build_amount("-92.00"))
    )
    statement = upload_statement_file(
        build_camt(build_statement(build_entry("-100.00", currency="USD", more=own), opening="100", closing="8"))
    )["statements"][0]
    assert (statement["bookedSum"], statement["difference"], statement["ledgerDifference"]) == (
        "-92.00",
        "0.00",
        "0.00",
    )
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (row["amountValue"], row["amountCurrency"], row["notes"]) == ("-92.00", "EUR", "Amount USD -100")


def test_foreign_entry_without_statement_amount_leaves_booked_sum_null(api, upload_statement_file, main_account):
    statement = upload_statement_file(
        build_camt(build_statement(build_entry("-100.00", currency="USD"), opening="100", closing="8"))
    )["statements"][0]
    assert (statement["bookedSum"], statement["difference"], statement["ledgerDifference"]) == (None, None, None)
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (row["amountValue"], row["amountCurrency"]) == ("-100.00", "USD")


def test_balances_are_compared_in_same_currency_only(api, upload_statement_file, main_account):
    other = bank_file_builders.build_balance("OPBD", "100", "2026-01-01", "USD") + bank_file_builders.build_balance(
        "CLBD", "60", "2026-01-31", "USD"
    )
    statement = upload_statement_file(build_camt(build_statement(other, build_entry("-40.00"))))["statements"][0]
    assert (statement["currency"], statement["bookedSum"]) == ("EUR", "-40.00")
    assert {statement[name] for name in ("openingBalance", "closingBalance", "difference", "ledgerDifference")} == {
        None
    }
    assert get_initial_balance(api, main_account) is None
    both = other + bank_file_builders.build_balance("CLBD", "7", "2026-01-31")
    assert upload_statement_file(build_camt(build_statement(both)))["statements"][0]["closingBalance"] == "7.00"


def test_mismatch_in_one_currency_is_not_hidden_by_another(api, upload_statement_file, main_account):
    upload_statement_file(build_camt(build_statement(build_entry("-40.00"), opening="100", closing="70")))
    api.put(f"accounts/{main_account}", {"defaultCurrency": "USD"})
    upload_statement_file(
        build_camt(build_statement(build_entry("5.00", currency="USD"), currency="USD", opening="0", closing="5"))
    )
    assert get_bank_connection(api, main_account)["balanceMismatchReportedBalances"] == [70]


def test_statement_with_mixed_balance_currencies_is_rejected(api, main_account):
    answer = upload_statement(
        api, bank_file_builders.build_mt940(("2601150115D40,00NTRFNONREF", "Rent"), closing="C260131USD60,00")
    )
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert "EUR" in answer.json()["detail"]
    assert "USD" in answer.json()["detail"]


# ---------------------------------------------------------------------------------- changed behind a statement


def get_mismatch(api, account):
    """What the account says of its mismatch: (the bank's balance, ours)."""
    bank_connection = get_bank_connection(api, account)
    assert (bank_connection["balanceMismatchSince"] is None) is (
        bank_connection["balanceMismatchReportedBalances"] is None
    )
    return bank_connection["balanceMismatchReportedBalances"], bank_connection["balanceMismatchCalculatedBalance"]


NO_MISMATCH = (None, None)


def count_mismatch_notifications():
    return Notification.objects.filter(type="balance.mismatch").values("id").distinct().count()


@pytest.fixture
def reconciled_transaction(api, upload_statement_file, main_account):
    """The only transaction of a reconciled statement."""
    upload_statement_file(build_simple_camt("-5712.00", opening="10000.00"))
    assert get_mismatch(api, main_account) == NO_MISMATCH
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    return row


@pytest.mark.parametrize(
    ("values", "ours"),
    [({"amountValue": "-5721.00"}, 4279), ({"date": "2026-02-15"}, 10000), ({"pending": True}, 10000)],
    ids=["amount", "date", "pending"],
)
def test_edited_reconciled_transaction_sets_mismatch_until_reverted(
    api, main_account, reconciled_transaction, values, ours
):
    answer = api.put(f"transactions/{reconciled_transaction['id']}", values)
    assert answer.status_code == 200, answer.content
    assert get_mismatch(api, main_account) == ([4288], ours)
    (row,) = api.get(f"accounts/{main_account}/reconciliation").json()
    assert (row["calculated"], row["difference"]) == (f"{ours}.00", f"{4288 - ours}.00")
    api.put(
        f"transactions/{reconciled_transaction['id']}",
        {"amountValue": "-5722.00"} if "amountValue" in values else values,
    )
    assert count_mismatch_notifications() == 1, "told once"
    api.put(f"transactions/{reconciled_transaction['id']}", {name: reconciled_transaction[name] for name in values})
    assert get_mismatch(api, main_account) == NO_MISMATCH


def test_moved_transaction_sets_mismatch_on_both_accounts(
    api, upload_statement_file, books, main_account, reconciled_transaction
):
    other = books.create_account(accountNumber="DE02120300000000202051")
    upload_statement_file(build_simple_camt("-1.00", iban="DE02120300000000202051"))
    api.put(f"transactions/{reconciled_transaction['id']}", {"accountId": other})
    assert get_mismatch(api, main_account) == ([4288], 10000)
    assert get_mismatch(api, other) == ([99], -5613)
    api.put(f"transactions/{reconciled_transaction['id']}", {"accountId": main_account})
    assert (get_mismatch(api, main_account), get_mismatch(api, other)) == (NO_MISMATCH, NO_MISMATCH)


def test_text_edits_and_future_transactions_do_not_change_mismatch(api, books, main_account, reconciled_transaction):
    api.put(f"transactions/{reconciled_transaction['id']}", {"notes": "ask Bob", "fromTo": "Landlord"})
    later = books.create_transaction(main_account, "-7.00", "2026-03-01")
    api.delete(f"transactions/{later['id']}")
    assert (get_mismatch(api, main_account), count_mismatch_notifications()) == (NO_MISMATCH, 0)


def test_deleted_and_added_transactions_set_mismatch(api, books, main_account, reconciled_transaction):
    first, second = (books.create_transaction(main_account, "-7.00", "2026-01-20")["id"] for _ in range(2))
    assert get_mismatch(api, main_account) == ([4288], 4274)
    api.post("transactions/batch_delete", {"transactionIds": [first]})
    assert get_mismatch(api, main_account) == ([4288], 4281)
    api.delete(f"transactions/{second}")
    assert get_mismatch(api, main_account) == NO_MISMATCH
    sent = api.post(
        "transactions/import",
        {"transactions": [{"accountId": main_account, "date": "2026-01-20", "amountValue": "-1.00"}]},
    )
    assert get_mismatch(api, main_account) == ([4288], 4287)
    api.delete(f"imports/{sent.json()['importId']}")
    assert get_mismatch(api, main_account) == NO_MISMATCH
    api.put(f"accounts/{main_account}/initial_balance", {"date": "2025-12-31", "amountValue": "1.00"})
    assert get_mismatch(api, main_account) == ([4288], -5711)


def test_statement_undo_sends_no_mismatch_notification(api, upload_statement_file, main_account):
    sent = upload_statement_file(build_simple_camt("-40.00"))
    api.delete(f"imports/{sent['importId']}")
    assert count_mismatch_notifications() == 0


def test_reconciled_transaction_form_shows_warning(api, pages, main_account, reconciled_transaction):
    text = "This transaction is reconciled with the bank statement up to 31 Jan 2026."
    address = f"/{reconciled_transaction['id']}/edit"
    assert text in get_page_text(pages.get(address))
    assert "It is reconciled with the bank statement up to 31 Jan 2026." in get_page_text(
        pages.get(f"/{reconciled_transaction['id']}")
    )
    api.put(f"transactions/{reconciled_transaction['id']}", {"amountValue": "-5721.00"})
    assert text not in get_page_text(pages.get(address)), "it is out of balance already"
    overview = get_page_text(pages.client.get(pages.base.removesuffix("/transactions")))
    assert "Main is out of balance" in overview


def test_unreconciled_transaction_form_shows_no_warning(books, pages, main_account, reconciled_transaction):
    later = books.create_transaction(main_account, "-7.00", "2026-03-01")
    assert "is reconciled with" not in get_page_text(pages.get(f"/{later['id']}/edit"))
