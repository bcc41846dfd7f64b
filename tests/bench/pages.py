"""The page of the demonstration company and the making of that company, against ``select 1`` and raw COPY.

Run with ``make bench`` or ``python -m tests.bench.pages``. Every figure is a ratio within this run.
"""

import gzip
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from tests.bench.served import seconds, served

COUNT, MONTHS = 20_000, 36
GOAL_PAGE, GOAL_QUERIES, GOAL_DEMO = 100, 30, 15  # times select 1, statements, seconds
SPANS = (6, 12, 24)
ROUNDS, MANY = 31, 100  # of select 1 a round, so that a new connection does not count


def main() -> None:
    with served() as bench:
        for call in ("demonstration", "page"):
            done = bench.machine.run("shell", "-v", "0", "-c", f"from tests.bench import pages; pages.{call}()")
            print(done.stdout, end="")
            if done.returncode:
                sys.exit(done.stderr)


# Inside the service's own process: each is called by ``manage.py shell``


def demonstration() -> None:
    """Making the company, against a COPY of the same transactions into the same table."""
    from django.core.management import call_command
    from django.db import connection, transaction

    from companies.models import Company

    start = time.perf_counter()
    with open_nowhere() as nowhere:
        call_command("demo", transactions=COUNT, months=MONTHS, stdout=nowhere)
    taken = time.perf_counter() - start
    company = Company.objects.get(name="Northwind Analytics")
    with transaction.atomic(), connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT * FROM ledger_transaction) TO STDOUT") as copy:
            rows = b"".join(bytes(block) for block in copy)
        cursor.execute("CREATE TEMP TABLE bare (LIKE ledger_transaction INCLUDING ALL) ON COMMIT DROP")
        start = time.perf_counter()
        with cursor.copy("COPY bare FROM STDIN") as copy:
            copy.write(rows)
        copied = time.perf_counter() - start
    print(f"demo of {COUNT:,} transactions over {MONTHS} months in {taken:.1f} s (goal ≤ {GOAL_DEMO} s), ", end="")
    print(f"{taken / copied:.0f} × the raw COPY of its transactions; company {company.id}")


@contextmanager
def open_nowhere():
    import os

    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - no path to speak of
        yield nowhere


def page() -> None:
    """The whole of a request, from the first middleware to the last, against a bare statement."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from companies.models import Company, User

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client(headers={"accept-encoding": "gzip"})
    user = User.objects.get(email="demo@example.com")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    path = f"/app/companies/{Company.objects.get(name='Northwind Analytics').id}"

    def ones() -> None:
        for _ in range(MANY):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                cursor.fetchall()

    print(f"company page of the demonstration (goals ≤ {GOAL_PAGE} × select 1, ≤ {GOAL_QUERIES} statements):")
    for months in SPANS:
        address = f"{path}?months={months}"
        html = gzip.decompress(client.get(address).content)
        with CaptureQueriesContext(connection) as sent:
            weight = len(client.get(address).content)
        statements = len(sent)
        asked, empty, nothing = quickest(
            lambda a=address: client.get(a), lambda: client.get("/app/password"), ones, rounds=ROUNDS
        )
        nothing /= MANY
        print(
            f"  {months} months: {asked / nothing:.0f} × select 1, {asked / empty:.1f} × a page without figures ",
            end="",
        )
        print(
            f"({1000 * asked:.1f} ms, {1e6 * nothing:.0f} µs, {1000 * empty:.1f} ms); {statements} statements, ", end=""
        )
        print(f"{len(html) / 1024:.0f} KB of HTML, {weight / 1024:.0f} KB on the wire")


def quickest(*acts: Callable[[], Any], rounds: int) -> list[float]:
    """The shortest time of each act: what it takes where nobody else is in the way. They take turns."""
    taken = [[seconds(act) for act in acts] for _ in range(rounds)]
    return [min(times) for times in zip(*taken, strict=True)]


if __name__ == "__main__":
    main()
