"""The delivery worker: several endpoints at once, so that one that hangs delays no other."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from companies.queries import find_owner_id
from webhooks.delivery import Clock, deliver_to_endpoint, list_waiting_endpoints

log = logging.getLogger("webhooks")

MAX_CONCURRENT_ENDPOINTS = 16
MAX_CONCURRENT_PER_OWNER = MAX_CONCURRENT_ENDPOINTS // 4  # leaves room if all endpoints of an owner hang
OWNER_CACHE_SECONDS = 60.0  # how long owners are cached
POLL_SECONDS = 0.25  # time between two polls

EndpointFutures = dict[tuple[UUID, UUID], "Future[int]"]


def run_delivery_worker(*, clock: Clock, stop: threading.Event, once: bool = False) -> int:
    """Deliver until stopped, or with `once` until nothing waits; return the number of calls."""
    call_count, futures, owners = 0, EndpointFutures(), OwnerCache()
    with ThreadPoolExecutor(MAX_CONCURRENT_ENDPOINTS, thread_name_prefix="webhooks") as pool:
        while not stop.is_set():
            for key in [key for key, future in futures.items() if future.done()]:
                call_count += futures.pop(key).result()
            waiting_endpoints = find_waiting_endpoints(clock)
            for key in choose_endpoints(
                waiting_endpoints,
                busy=futures,
                owners=owners.get_owner_ids({company for company, _ in (*waiting_endpoints, *futures)}),
            ):
                futures[key] = pool.submit(run_endpoint_turn, key, clock, stop)
            if futures:
                wait(futures.values(), timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            elif once:
                break
            else:
                stop.wait(POLL_SECONDS)
    return call_count + sum(future.result() for future in futures.values())


class OwnerCache:
    """The owners of companies, looked up once a minute."""

    def __init__(self) -> None:
        self.owner_ids: dict[UUID, UUID] = {}
        self.refreshed_at = time.monotonic()

    def get_owner_ids(self, companies: Iterable[UUID]) -> dict[UUID, UUID]:
        """Return the owner of each company; a company without one is its own."""
        if time.monotonic() - self.refreshed_at > OWNER_CACHE_SECONDS:
            self.owner_ids, self.refreshed_at = {}, time.monotonic()
        try:
            for company_id in companies:
                if company_id not in self.owner_ids:
                    self.owner_ids[company_id] = find_owner_id(company_id) or company_id
        except (DatabaseError, InterfaceError):
            connection.close()
        return self.owner_ids


def choose_endpoints(
    waiting_endpoints: list[tuple[UUID, UUID]], *, busy: Iterable[tuple[UUID, UUID]], owners: Mapping[UUID, UUID]
) -> list[tuple[UUID, UUID]]:
    """Return the endpoints to start now: at most a quarter of those called at once belong to one owner."""
    active = list(busy)
    count_by_owner = Counter(owners.get(company, company) for company, _ in active)
    selected: list[tuple[UUID, UUID]] = []
    for key in waiting_endpoints:
        owner = owners.get(key[0], key[0])
        if (
            key not in active
            and count_by_owner[owner] < MAX_CONCURRENT_PER_OWNER
            and len(active) + len(selected) < MAX_CONCURRENT_ENDPOINTS
        ):
            count_by_owner[owner] += 1
            selected.append(key)
    return selected


def find_waiting_endpoints(clock: Clock) -> list[tuple[UUID, UUID]]:
    """Return the waiting endpoints; none while the database is unavailable."""
    try:
        return list_waiting_endpoints(clock())
    except (DatabaseError, InterfaceError) as error:
        log.warning("cannot read queued webhook events (%s)", type(error).__name__)
        connection.close()
        return []


def run_endpoint_turn(key: tuple[UUID, UUID], clock: Clock, stop: threading.Event) -> int:
    """Run one endpoint's turn, in a thread with its own connection."""
    company_id, endpoint_id = key
    try:
        return deliver_to_endpoint(company_id=company_id, endpoint_id=endpoint_id, clock=clock, stop=stop)
    except Exception as error:  # noqa: BLE001 - whatever one endpoint meets, the others are served; it is tried again
        log.error("webhook endpoint %s: %s", endpoint_id, type(error).__name__)
        return 0
    finally:
        connection.close()
