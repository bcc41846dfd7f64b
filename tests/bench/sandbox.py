"""Copying a company of 100,000 transactions as a sandbox, and deleting the sandbox.

Run with ``make bench`` or ``python -m tests.bench.sandbox``. Times are seconds of whole requests.
"""

import http.client
import json
import subprocess
import sys
from typing import Any

from tests.bench.bench_server import BenchServer, measure_seconds, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import build_items, open_accounts
from tests.bench.ledger import find_categories
from tests.machine import ROOT

ROWS, ROUNDS = 100_000, 3
GOAL_COPY_SECONDS = 5.0
CSRF_TOKEN = "a" * 32


def main() -> None:
    with serve_bench() as bench:
        accounts, _ = open_accounts(bench, 10)
        body = json.dumps({"transactions": build_items(accounts, ROWS, 1)}).encode()
        bench.call("POST", f"{bench.path}/transactions/import", body)
        hosting, _ = find_categories(bench)
        everything = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
        bench.call("POST", f"{bench.path}/transactions/categorize", everything)
        bench.database.execute("VACUUM ANALYZE")
        session = start_session(bench)
        copies, copies_processor, deletions = [], [], []
        for number in range(ROUNDS):
            made: list[Any] = []

            def copy(number: int = number, made: list[Any] = made) -> None:
                made.append(call(bench, session, "POST", f"{bench.path}/copy", {"name": f"Sandbox {number}"}))

            before = bench.read_processor_seconds()
            copies.append(measure_seconds(copy))
            copies_processor.append(bench.read_processor_seconds() - before)
            path = f"/companies/{made[0]['id']}"
            deletions.append(measure_seconds(lambda path=path: call(bench, session, "DELETE", path)))
        print_figure(
            f"copy of {ROWS:,} categorized transactions",
            min(copies),
            "s",
            goal=GOAL_COPY_SECONDS,
            way=AT_MOST,
            behind=f"{min(copies_processor):.1f} s of processor time",
        )
        print_figure("deletion of the copy", min(deletions), "s")


def call(bench: BenchServer, session: str, method: str, path: str, body: Any = None) -> Any:
    """The parsed answer to a call with the owner's session."""
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
    headers = {
        "Cookie": f"svc-session={session}; svc-csrf={CSRF_TOKEN}",
        "X-CSRFToken": CSRF_TOKEN,
        "Content-Type": "application/json",
    }
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert answer.status < 300, (answer.status, data[:2000])
    return json.loads(data)


def start_session(bench: BenchServer) -> str:
    """Sign the owner in."""
    return subprocess.run(
        [sys.executable, "-m", "tests.bench.sandbox", bench.company],
        cwd=ROOT,
        env=bench.machine.environment(DJANGO_SETTINGS_MODULE="config.settings"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def print_session(company_id: str) -> None:
    """Runs beside the server, on its database."""
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client

    from companies.models import Membership

    settings.ALLOWED_HOSTS = ["testserver"]
    browser = Client()
    owner = Membership.objects.for_company(company_id).owners().get().user
    browser.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    sys.stdout.write(browser.cookies[settings.SESSION_COOKIE_NAME].value)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print_session(sys.argv[1])
    else:
        main()
