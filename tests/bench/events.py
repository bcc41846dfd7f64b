"""What a page of the feed of events costs beside a page of the audit log it is made of: 100 rows each, in turn.

Run with ``make bench`` or ``python -m tests.bench.events``. BENCH_SECONDS sets the length of a measurement.
"""

from tests.bench.assistants import in_turn
from tests.bench.figures import AT_MOST, figure
from tests.bench.load import get
from tests.bench.served import served

CHANGES = 200  # two pages
GOAL = 1.2


def main() -> None:
    with served() as bench:
        for number in range(CHANGES):
            bench.call("POST", f"{bench.path}/account_groups", {"name": str(number)})
        pages = [get(f"{bench.path}/{name}?limit=100", bench.key) for name in ("audit_log", "events")]
        log, feed = in_turn(bench.port, *pages)
        figure(
            "events: a page of 100", feed / log, "× a page of the audit log", goal=GOAL, way=AT_MOST,
            behind=f"{feed * 1000:.1f} against {log * 1000:.1f} ms",
        )  # fmt: skip


if __name__ == "__main__":
    main()
