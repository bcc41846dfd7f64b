"""Trying rules on 100,000 transactions against listing them, and proposals against ``select 1``.

Run with ``make bench`` or ``python -m tests.bench.rules``. Every figure is a ratio within this run.
"""

import http.client
import json
import random
import re
import sys
from datetime import date, timedelta

from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import open_accounts

TRANSACTIONS, NAMES, RULES, ASKED_COUNT = 100_000, 2_000, 20, 100
GOAL_PREVIEW, GOAL_PROPOSALS = 3, 50
ROUNDS, MANY = 5, 201


def fill(bench: BenchServer) -> list[str]:
    """Two thousand names over three years, each with its own category; the last hundred transactions are open."""
    accounts, _ = open_accounts(bench, 3)
    categories = [each["id"] for each in bench.call("GET", f"{bench.path}/categories") if len(each["plTypes"]) == 1]
    chance = random.Random(1)
    items = []
    for number in range(TRANSACTIONS):
        name = chance.randrange(NAMES)
        item = {
            "accountId": accounts[name % 3],
            "date": str(date(2023, 1, 1) + timedelta(days=chance.randrange(1000))),
            "amountValue": f"-{chance.uniform(1, 1000):.2f}",
            "fromTo": f"Vendor {name} Ltd",
            "description": f"Invoice {number} for services of kind {name % 97}",
        }
        items.append(item | ({"categoryId": categories[name % len(categories)]} if number >= ASKED_COUNT else {}))
    answer = bench.call("POST", f"{bench.path}/transactions/import", json.dumps({"transactions": items}).encode())
    assert answer["count"] == TRANSACTIONS
    for number in range(RULES):
        conditions = {"text": {"operator": ("contains", "wholeWord")[number % 2], "value": f"kind {number}"}}
        body = {"name": f"Rule {number}", "conditions": conditions, "action": {"categoryId": categories[0]}}
        bench.call("POST", f"{bench.path}/categorization_rules", body)
    bench.database.execute("VACUUM ANALYZE")
    return [each["id"] for each in bench.call("GET", f"{bench.path}/transactions?open=true&limit=1000")]


def list_transactions(bench: BenchServer) -> None:
    """All transactions, a thousand a page."""
    address, seen = f"{bench.path}/transactions?limit=1000", 0
    headers = {"Authorization": f"Bearer {bench.key}"}
    while address:
        connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
        connection.request("GET", address, headers=headers)
        answer = connection.getresponse()
        seen += len(json.loads(answer.read()))
        result = re.search(r"<[^>]*(/companies/[^>]+)>", answer.headers.get("Link", ""))
        address = result[1] if result else ""
        connection.close()
    assert seen == TRANSACTIONS


def main() -> None:
    with serve_bench() as bench:
        ids = fill(bench)
        assert len(ids) == ASKED_COUNT
        body = json.dumps({"transactionIds": ids}).encode()
        preview, listing = measure_alternating(
            lambda: bench.call("POST", f"{bench.path}/categorization_rules/preview", {}),
            lambda: list_transactions(bench),
            rounds=ROUNDS,
        )
        print_figure(
            f"preview of {RULES} rules over {TRANSACTIONS:,} transactions",
            preview / listing,
            "× listing them",
            goal=GOAL_PREVIEW,
            way=AT_MOST,
            behind=f"{preview:.2f} s against {listing:.2f} s",
        )
        code = f"from tests.bench import rules; rules.proposals('{bench.company}')"
        done = bench.machine.run("shell", "-v", "0", "-c", code)
        sys.stdout.write(done.stdout)
        if done.returncode:
            sys.exit(done.stderr)
        query, one = measure_alternating(
            lambda: bench.call("POST", f"{bench.path}/transactions/proposals", body),
            lambda: bench.call("GET", bench.path),
            rounds=MANY,
        )
        print_figure("the same over HTTP", query / one, "× GET of the company", behind=f"{1000 * query:.1f} ms")


# Inside the service's own process: called by ``manage.py shell``


def proposals(company_id: str) -> None:
    """For the open transactions of the company, against ``select 1``."""
    from django.db import connection

    from companies.models import Company
    from ledger.models import Transaction
    from ledger.rules.queries.history_proposals import propose_categories

    company = Company.objects.get(id=company_id)
    ids = list(Transaction.objects.for_company(company.id).open().values_list("id", flat=True))

    def one() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()

    categories = propose_categories(company, ids)
    assert len(categories) == ASKED_COUNT
    assert all(categories.values())
    query, nothing = measure_alternating(lambda: propose_categories(company, ids), one, rounds=MANY)
    print_figure(
        f"proposals for {ASKED_COUNT} of {TRANSACTIONS:,} transactions",
        query / nothing,
        "× select 1",
        goal=GOAL_PROPOSALS,
        way=AT_MOST,
        behind=f"{1000 * query:.2f} against {1000 * nothing:.2f} ms",
    )


if __name__ == "__main__":
    sys.exit(main())
