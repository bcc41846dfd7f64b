"""What a page of the feed of events costs beside a page of the audit log it is made of: 100 rows each, in turn.

Run with ``make bench`` or ``python -m tests.bench.events``. BENCH_SECONDS sets the length of a measurement.
"""

from tests.bench.assistants import measure_in_turn
from tests.bench.bench_server import serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.load import build_get

CHANGE_COUNT = 200  # two pages
GOAL = 1.2


def main() -> None:
    with serve_bench() as bench:
        for number in range(CHANGE_COUNT):
            bench.call("POST", f"{bench.path}/account_groups", {"name": str(number)})
        pages = [build_get(f"{bench.path}/{name}?limit=100", bench.key) for name in ("audit_log", "events")]
        log, feed = measure_in_turn(bench.port, *pages)
        print_figure(
            "events: a page of 100", feed / log, "× a page of the audit log", goal=GOAL, way=AT_MOST,
            behind=f"{feed * 1000:.1f} against {log * 1000:.1f} ms",
        )  # fmt: skip


if __name__ == "__main__":
    main()
