"""Two who settle with one transaction at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from planning.models import PlannedOverride

WRITER_COUNT = 6


@pytest.mark.django_db(transaction=True)
def test_concurrent_settlements_by_one_transaction_settle_one_occurrence(api, body, account, make_transaction):
    plans = [api.post("planned_transactions", body).json()["id"] for _ in range(WRITER_COUNT)]
    paid = {"transactionId": str(make_transaction(account).id)}
    start = Barrier(WRITER_COUNT)

    def settle(planned: str) -> tuple[int, Any]:
        try:
            start.wait()
            answer = api.put(f"planned_transactions/{planned}/overrides/2026-01-31", paid)
            return answer.status_code, answer.json().get("code")
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITER_COUNT) as pool:
        answers = sorted(pool.map(settle, plans))
    assert answers == [(200, None)] + [(409, "transaction_settles_another")] * (WRITER_COUNT - 1)
    assert PlannedOverride.objects.count() == 1
