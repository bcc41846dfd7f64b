"""How long an event takes from its commit to its receiver, with eight writers on one company.

Run with ``make bench`` or ``python -m tests.bench.webhooks``. Counted from the answer to the writer, which comes right
after the commit, to the arrival at a receiver on the same machine.
"""

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.bench.bench_server import BenchServer, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.webhooks.receiver import Message, Receiver

WRITER_COUNT, EVENTS_PER_WRITER = 8, 60
PACE = 0.5  # seconds between the writes of one
GOAL = 2.0  # seconds


def write_events(bench: BenchServer, lane: int, pace: float, answered: dict[str, float]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
    headers = {"Authorization": f"Bearer {bench.key}", "Content-Type": "application/json"}
    for number in range(EVENTS_PER_WRITER):
        time.sleep(pace)
        body = json.dumps({"name": f"{lane} {number}"})
        connection.request("POST", f"{bench.path}/account_groups", body, headers)
        answer = connection.getresponse()
        row = json.loads(answer.read())
        answered[row["id"]] = time.time()
    connection.close()


def measure_delays(bench: BenchServer, pace: float) -> tuple[list[float], float]:
    """(seconds of each event, shortest first; how many were written a second)"""
    arrived: dict[str, float] = {}
    complete = threading.Event()
    receiver = Receiver()

    def answer(message: Message) -> int:
        arrived.setdefault(message.event["entityId"], time.time())
        if len(arrived) == WRITER_COUNT * EVENTS_PER_WRITER:
            complete.set()
        return 200

    receiver.answers = answer
    receiver.start()
    values = {"url": receiver.url(), "types": ["accountGroup.created"]}
    made = bench.call("POST", f"{bench.path}/webhook_endpoints", values)
    answered: dict[str, float] = {}
    began = time.perf_counter()
    with ThreadPoolExecutor(WRITER_COUNT) as pool:
        for each in [pool.submit(write_events, bench, lane, pace, answered) for lane in range(WRITER_COUNT)]:
            each.result()
    rate = WRITER_COUNT * EVENTS_PER_WRITER / (time.perf_counter() - began)
    assert complete.wait(120), f"{len(arrived)} of {WRITER_COUNT * EVENTS_PER_WRITER} came"
    bench.call("DELETE", f"{bench.path}/webhook_endpoints/{made['id']}")
    receiver.stop()
    return sorted(arrived[each] - moment for each, moment in answered.items()), rate


def main() -> None:
    with serve_bench(workers=2, OUTBOUND_ALLOW_PRIVATE="1") as bench:
        for how, pace in ((f"each every {PACE} s", PACE), ("without a pause", 0.0)):
            result, rate = measure_delays(bench, pace)
            print_figure(
                f"webhook from commit to arrival, {WRITER_COUNT} writers {how}, 95th percentile",
                result[int(len(result) * 0.95)],
                "seconds",
                goal=GOAL,
                way=AT_MOST,
                behind=(
                    f"{rate:.0f} events a second; median {result[len(result) // 2]:.2f} s, longest {result[-1]:.2f} s"
                ),
            )


if __name__ == "__main__":
    main()
