"""Several who change one company's ledger at once neither block each other for good nor leave a wrong sum."""

import random
import threading

import pytest
from django.db import connection

from ledger.recognition.actions import account_movements, postings

ROUNDS, WRITERS = 8, 4


def run_random_change(chance, *, api, books, accounts, categories, sources, targets):
    """The answer to one change, of any kind."""
    selection = {"mode": "ids", "ids": chance.sample(sources, 4)}
    n, day = chance.randrange(len(sources)), f"2026-0{chance.randrange(1, 7)}-10"
    match chance.randrange(7):
        case 0 | 1:
            body = {"selection": selection, "categoryId": chance.choice(categories)}
            return api.post("transactions/categorize", body)
        case 2:
            return api.post("transactions/uncategorize", {"selection": selection})
        case 3:
            return books.link_transfer(sources[n], targets[n])
        case 4:
            rows = [{"accountId": each, "date": day, "amountValue": "1.00"} for each in accounts]
            return api.post("transactions/import", {"transactions": rows})
        case 5:
            return api.put(f"transactions/{sources[n]}", {"date": day})
    body = {"date": day, "amountValue": "5.00"}
    return api.put(f"accounts/{chance.choice(accounts)}/initial_balance", body)


def run_concurrently(*acts):
    """Runs the acts in threads of their own."""

    def run(act):
        try:
            act()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_opposite_category_moves_do_not_deadlock(books, api, bank, acme):
    hosting, support = books.get_category_id("hosting"), books.get_category_id("support")
    statuses = []

    def moving(row, *order):
        def act():
            for category in order * 15:
                statuses.append(
                    books.set_categorizations(row, {"categoryId": category, "plSplit": {"cogs": -1}}).status_code
                )

        return act

    one, two = books.create_transaction(bank)["id"], books.create_transaction(bank)["id"]
    run_concurrently(moving(one, hosting, support), moving(two, support, hosting))
    assert statuses == [200] * 60
    assert postings.find_posting_differences(acme.id) == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_writers_succeed_and_leave_exact_sums(books, api, bank, savings, acme):
    things = {
        "accounts": [bank, savings],
        "categories": [books.get_category_id(key) for key in ("hosting", "marketing", "officeAndAdmin")],
        "sources": [books.create_transaction(bank, f"-{n}.00", f"2026-0{n % 6 + 1}-10")["id"] for n in range(1, 13)],
        "targets": [books.create_transaction(savings, f"{n}.00", f"2026-0{n % 6 + 1}-11")["id"] for n in range(1, 13)],
    }
    statuses = []

    def writing(seed):
        def act():
            chance = random.Random(seed)
            for _ in range(ROUNDS):
                statuses.append(run_random_change(chance, api=api, books=books, **things).status_code)

        return act

    run_concurrently(*(writing(seed) for seed in range(WRITERS)))
    assert len(statuses) == ROUNDS * WRITERS
    assert max(statuses) < 500
    assert postings.find_posting_differences(acme.id) == []
    assert account_movements.find_account_movement_differences(acme.id) == []
