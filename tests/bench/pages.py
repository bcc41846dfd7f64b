"""The page of the demonstration company and the making of that company, against ``select 1`` and raw COPY.

Run with ``make bench`` or ``python -m tests.bench.pages``. Every figure is a ratio within this run.
"""

import io
import sys
from collections.abc import Callable
from typing import Any

from tests.bench.bench_server import measure_alternating, measure_seconds, serve_bench
from tests.bench.figures import AT_MOST, print_figure

COUNT, MONTHS = 20_000, 36
GOAL_PAGE, GOAL_QUERIES, GOAL_DEMO = 700, 33, 15  # times select 1, statements, seconds
GOAL_PLANS, PLANS = 10, 600  # times the page of a company without plans
SPANS = (6, 12, 24)
ROUNDS, MANY = 31, 100  # of select 1 a round, so that a new connection does not count


def main() -> None:
    with serve_bench() as bench:
        for call in ("demonstration", "page", "planned"):
            done = bench.machine.run("shell", "-v", "0", "-c", f"from tests.bench import pages; pages.{call}()")
            sys.stdout.write(done.stdout)
            if done.returncode:
                sys.exit(done.stderr)


# Inside the service's own process: each is called by ``manage.py shell``


def demonstration() -> None:
    """Making the company, against a COPY of the same transactions into a table of the same shape."""
    from django.core.management import call_command
    from django.db import connection, transaction

    taken = measure_seconds(lambda: call_command("demo", transactions=COUNT, months=MONTHS, stdout=io.StringIO()))
    with transaction.atomic(), connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT * FROM ledger_transaction) TO STDOUT") as copy:
            rows = b"".join(bytes(block) for block in copy)
        cursor.execute("CREATE TEMP TABLE bare (LIKE ledger_transaction INCLUDING ALL) ON COMMIT DROP")

        def copied() -> None:
            with cursor.copy("COPY bare FROM STDIN") as copy:
                copy.write(rows)

        raw = measure_seconds(copied)
    title = f"demo of {COUNT:,} transactions over {MONTHS} months"
    print_figure(
        title, taken, "seconds", goal=GOAL_DEMO, way=AT_MOST, behind=f"{taken / raw:.0f} × the raw COPY of its rows"
    )


def page() -> None:
    """The whole of a request, from the first middleware to the last, against a bare statement."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from companies.models import Company, User
    from ledger.models import Account

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

    account = Account.objects.for_company(Company.objects.get(name="Northwind Analytics").id).in_display_order()[0].id
    pages = {
        **{f"company page of the demonstration, {months} months": f"{path}?months={months}" for months in SPANS},
        "its profit and loss, 24 months beside the year before": (
            f"{path}/profit-and-loss?months=24&comparison=previousYear"
        ),
        "recurring revenue": f"{path}/recurring-revenue",
        "customers": f"{path}/recurring-revenue/customers",
        "plan": f"{path}/plan",
        "the page of an account, 12 months": f"{path}/accounts/{account}",
    }
    for name, address in pages.items():

        def open_page(address: str = address) -> None:
            client.get(address)

        open_page()
        with CaptureQueriesContext(connection) as sent:
            open_page()
            statements = len(sent)
        query, empty, nothing = measure_alternating(open_page, lambda: client.get("/app/password"), ones, rounds=ROUNDS)
        nothing /= MANY
        behind = (
            f"{1000 * query:.1f} ms, {query / empty:.1f} × a page without figures; {statements} statements of "
            f"{GOAL_QUERIES}, {len(client.get(address).content) / 1024:.0f} KB on the wire"
        )
        print_figure(name, query / nothing, "× select 1", goal=GOAL_PAGE, way=AT_MOST, behind=behind)


def planned() -> None:
    """Print the time of the list of planned payments with many daily plans, against the same list without any."""
    from django.conf import settings
    from django.test import Client

    from tests.bench.plans import make_planning_company

    settings.ALLOWED_HOSTS = ["testserver"]

    def open_list(name: str, *, plans: int) -> Callable[[], Any]:
        company, owner = make_planning_company(name, plans=plans)
        client = Client()
        client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
        address = f"/app/companies/{company.id}/planned"
        assert client.get(address).status_code == 200
        return lambda: client.get(address)

    many, none = measure_alternating(open_list("many", plans=PLANS), open_list("none", plans=0), rounds=ROUNDS)
    print_figure(
        f"planned payments of {PLANS} daily plans",
        many / none,
        "× the page without plans",
        goal=GOAL_PLANS,
        way=AT_MOST,
        behind=f"{1000 * many:.0f} ms, {1000 * none:.0f} ms without",
    )


if __name__ == "__main__":
    main()
