"""The loop of a deliverer: some endpoints at once, so that one that hangs delays no other."""

import logging
import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from webhooks.delivering import Clock, deliver, waiting

log = logging.getLogger("webhooks")

AT_ONCE = 16
OF_ONE_COMPANY = 4  # at once, so that one whose endpoints all hang leaves room for others
PAUSE = 0.25  # seconds until it is looked again

Hands = dict[tuple[UUID, UUID], "Future[int]"]


def run(*, clock: Clock, stop: threading.Event, once: bool = False) -> int:
    """Delivers until it is stopped; ``once``: until nothing waits. How many calls were made."""
    called, hands = 0, Hands()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="webhooks") as pool:
        while not stop.is_set():
            for key in [key for key, future in hands.items() if future.done()]:
                called += hands.pop(key).result()
            for key in chosen(found(clock), busy=hands):
                hands[key] = pool.submit(turn, key, clock, stop)
            if hands:
                wait(hands.values(), timeout=PAUSE, return_when=FIRST_COMPLETED)
            elif once:
                break
            else:
                stop.wait(PAUSE)
    return called + sum(future.result() for future in hands.values())


def chosen(found: list[tuple[UUID, UUID]], *, busy: Hands) -> list[tuple[UUID, UUID]]:
    """Those to begin with now."""
    of_company = Counter(company for company, _ in busy)
    picked: list[tuple[UUID, UUID]] = []
    for key in found:
        if key not in busy and of_company[key[0]] < OF_ONE_COMPANY and len(busy) + len(picked) < AT_ONCE:
            of_company[key[0]] += 1
            picked.append(key)
    return picked


def found(clock: Clock) -> list[tuple[UUID, UUID]]:
    """What waits; nothing while the database does not answer, which comes back or ends us from outside."""
    try:
        return waiting(clock())
    except (DatabaseError, InterfaceError) as error:
        log.warning("what waits for webhooks cannot be read (%s)", type(error).__name__)
        connection.close()
        return []


def turn(key: tuple[UUID, UUID], clock: Clock, stop: threading.Event) -> int:
    """One endpoint's turn, in a thread and with a connection of its own for as long as it lasts."""
    company_id, endpoint_id = key
    try:
        return deliver(company_id=company_id, endpoint_id=endpoint_id, clock=clock, stop=stop)
    except Exception as error:  # noqa: BLE001 - whatever one endpoint meets, the others are served; it is tried again
        log.error("webhook endpoint %s: %s", endpoint_id, type(error).__name__)
        return 0
    finally:
        connection.close()
