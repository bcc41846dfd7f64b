"""The loop of a deliverer: some endpoints at once, so that one that hangs delays no other."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from companies.membership.owners import find_owner_id
from webhooks.delivering import Clock, deliver, waiting

log = logging.getLogger("webhooks")

AT_ONCE = 16
OF_ONE_OWNER = AT_ONCE // 4  # at once, so that one whose endpoints all hang leaves room for others
OWNERS_KEPT = 60.0  # seconds for which it is not asked again who owns a company
PAUSE = 0.25  # seconds until it is looked again

Hands = dict[tuple[UUID, UUID], "Future[int]"]


def run(*, clock: Clock, stop: threading.Event, once: bool = False) -> int:
    """Delivers until it is stopped; ``once``: until nothing waits. How many calls were made."""
    called, hands, owners = 0, Hands(), Owners()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="webhooks") as pool:
        while not stop.is_set():
            for key in [key for key, future in hands.items() if future.done()]:
                called += hands.pop(key).result()
            waits = found(clock)
            for key in chosen(waits, busy=hands, owners=owners.of({company for company, _ in (*waits, *hands)})):
                hands[key] = pool.submit(turn, key, clock, stop)
            if hands:
                wait(hands.values(), timeout=PAUSE, return_when=FIRST_COMPLETED)
            elif once:
                break
            else:
                stop.wait(PAUSE)
    return called + sum(future.result() for future in hands.values())


class Owners:
    """Who owns the companies that wait, asked for once a minute."""

    def __init__(self) -> None:
        self.known: dict[UUID, UUID] = {}
        self.asked = time.monotonic()

    def of(self, companies: Iterable[UUID]) -> dict[UUID, UUID]:
        """Return the owner of each company; a company that nobody owns is its own."""
        if time.monotonic() - self.asked > OWNERS_KEPT:
            self.known, self.asked = {}, time.monotonic()
        try:
            for company_id in companies:
                if company_id not in self.known:
                    self.known[company_id] = find_owner_id(company_id) or company_id
        except (DatabaseError, InterfaceError):
            connection.close()
        return self.known


def chosen(
    found: list[tuple[UUID, UUID]], *, busy: Iterable[tuple[UUID, UUID]], owners: Mapping[UUID, UUID]
) -> list[tuple[UUID, UUID]]:
    """Return those to begin with now: at most a quarter of what is told at once is one owner's."""
    under_way = list(busy)
    of_owner = Counter(owners.get(company, company) for company, _ in under_way)
    picked: list[tuple[UUID, UUID]] = []
    for key in found:
        owner = owners.get(key[0], key[0])
        if key not in under_way and of_owner[owner] < OF_ONE_OWNER and len(under_way) + len(picked) < AT_ONCE:
            of_owner[owner] += 1
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
