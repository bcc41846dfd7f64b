"""What one session with twelve slow pages at a time does to a page of another company.

Run with ``make bench`` or ``python -m tests.bench.fairness``. The clients run on the same machine, and wait as long as
``Retry-After`` says.
"""

import http.client
import json
import subprocess
import sys
import threading
import time
from collections import Counter

from tests.bench.bench_server import BenchServer, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.machine import ROOT

GOAL = 3.0
PARALLEL_PAGES, PLANS, PAGES = 12, 600, 200


def main() -> None:
    with serve_bench(workers=3, REQUESTS_PER_CREDENTIAL=4, THREADS=4) as bench:
        slow, other = add_company(bench, "slow"), add_company(bench, "other")
        page, slow_page = f"/app/companies/{other['id']}/transactions", f"/app/companies/{slow['id']}/planned"
        idle = measure_pages(bench, page, other["session"])
        answers: Counter[int] = Counter()
        stop = threading.Event()
        callers = [
            threading.Thread(target=call_until, args=(bench, slow_page, slow["session"], stop, answers))
            for _ in range(PARALLEL_PAGES)
        ]
        for caller in callers:
            caller.start()
        time.sleep(2)
        busy, health = measure_pages(bench, page, other["session"]), measure_pages(bench, "/healthz", "")
        stop.set()
        for caller in callers:
            caller.join()
    status_counts = ", ".join(f"{count} × {status}" for status, count in sorted(answers.items()))
    print_figure(
        f"99th percentile of another company's page beside {PARALLEL_PAGES} slow ones of one session",
        compute_p99(busy) / compute_p99(idle),
        "× idle",
        goal=GOAL,
        way=AT_MOST,
        behind=f"{1000 * compute_p99(idle):.0f} ms idle, {1000 * compute_p99(busy):.0f} ms beside; "
        f"the slow ones: {status_counts}",
    )
    print_figure("health check beside them, 99th percentile", 1000 * compute_p99(health), "ms")


def compute_p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99) - 1]


def request_page(bench: BenchServer, path: str, session: str) -> tuple[int, int]:
    """(status, seconds to wait) of a page over a connection of its own, as a browser's first one."""
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=120)
    connection.request("GET", path, headers={"Cookie": f"svc-session={session}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, int(answer.headers.get("Retry-After", 0))


def measure_pages(bench: BenchServer, path: str, session: str) -> list[float]:
    results = []
    for _ in range(PAGES):
        start = time.perf_counter()
        status, _ = request_page(bench, path, session)
        results.append(time.perf_counter() - start)
        assert status == 200, status
    return results


def call_until(bench: BenchServer, path: str, session: str, stop: threading.Event, answers: Counter[int]) -> None:
    while not stop.is_set():
        status, seconds = request_page(bench, path, session)
        answers[status] += 1
        stop.wait(seconds)


def add_company(bench: BenchServer, kind: str) -> dict[str, str]:
    """A company with its owner's session; the slow one has plans."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.fairness", kind],
        cwd=ROOT,
        env=bench.machine.environment(DJANGO_SETTINGS_MODULE="config.settings"),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def make_company(kind: str) -> None:
    """Runs beside the server, on its database."""
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client

    from tests.bench.plans import make_planning_company

    settings.ALLOWED_HOSTS = ["testserver"]
    company, owner = make_planning_company(kind, plans=PLANS if kind == "slow" else 5)
    browser = Client()
    browser.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    sys.stdout.write(json.dumps({"id": str(company.id), "session": session}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_company(sys.argv[1])
    else:
        main()
