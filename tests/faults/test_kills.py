"""``kill -9`` in the middle of the work: nothing half done stays, nothing acknowledged is lost, and work goes on.

FAULT_ROUNDS sets the kills of each case; ``make faults`` makes many.
"""

import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Event

import pytest

from tests.faults.activities import ACTIVITIES, LANE_COUNT, Activity
from tests.faults.service import ConnectionCutOff, Service
from tests.machine import wait_until

pytestmark = pytest.mark.server

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
VICTIMS = ("worker", "server", "database")
MAX_DELAY_SECONDS = 0.6  # seconds of work before a kill
MAX_TRIES = 10  # a kill that met no request at work is made again


@pytest.fixture(scope="module")
def activities(service: Service) -> dict[str, Activity]:
    """What callers are busy with, prepared once: each goes on after every kill."""
    return {name: create_activity(service) for name, create_activity in ACTIVITIES.items()}


@pytest.mark.parametrize(
    ("victim", "activity"), [pytest.param(*case, id=" during ".join(case)) for case in product(VICTIMS, ACTIVITIES)]
)
def test_killed_process_leaves_each_change_complete_or_absent(
    service: Service,
    activities: dict[str, Activity],
    victim: str,
    activity: str,
    record_property: Callable[[str, object], None],
):
    busy, cut = activities[activity], 0
    for _ in range(ROUNDS):
        cut += next(filter(None, (kill_during(service, busy, victim) for _ in range(MAX_TRIES))))
    service.check_categorized_values()
    record_property("report", f"{victim:8} killed during {activity:15} {ROUNDS:4} times, {cut:4} requests cut off")
    record_property("kills survived", ROUNDS)


def test_derived_tables_are_right_after_all_kills(service: Service):
    service.proves_its_figures()


def kill_during(service: Service, busy: Activity, victim: str) -> int:
    """How many requests the kill cut off; the service answers again, and the rules hold."""
    done = Event()
    turns = [0] * LANE_COUNT

    def lane(number: int) -> bool:
        caller = service.caller()
        try:
            while not done.is_set():
                busy.turn(caller, number)
                turns[number] += 1
        except ConnectionCutOff:
            return True
        finally:
            caller.close()
        return False

    with ThreadPoolExecutor(LANE_COUNT) as pool:
        lanes = [pool.submit(lane, number) for number in range(LANE_COUNT)]
        try:
            assert wait_until(lambda: any(turns) or any(each.done() for each in lanes), seconds=180)
            time.sleep(random.uniform(0, MAX_DELAY_SECONDS))
            service.kill(victim)
        finally:
            done.set()
        cut = sum(each.result() for each in lanes)
    busy.settle()
    return cut
