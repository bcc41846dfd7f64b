"""Settlements at the same moment: together they never exceed the transaction or the invoice."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum

from planning.models import Settlement

WRITER_COUNT = 6


def settle_at_once(api: Any, settlements: list[tuple[str, dict[str, Any]]]) -> list[tuple[int, Any]]:
    """Send settlements at the same moment; return status and code of each, sorted."""
    start = Barrier(len(settlements))

    def settle(planned_id: str, body: dict[str, Any]) -> tuple[int, Any]:
        try:
            start.wait()
            answer = api.post(f"planned_transactions/{planned_id}/settle", {"date": "2026-01-31"} | body)
            return answer.status_code, answer.json().get("code")
        finally:
            connection.close()

    with ThreadPoolExecutor(len(settlements)) as pool:
        return sorted(pool.map(lambda each: settle(*each), settlements))


@pytest.mark.django_db(transaction=True)
def test_concurrent_settlements_by_one_transaction_settle_one_occurrence(api, body, account, make_transaction):
    plans = [api.post("planned_transactions", body).json()["id"] for _ in range(WRITER_COUNT)]
    paid = {"transactionId": str(make_transaction(account).id)}
    answers = settle_at_once(api, [(planned, paid) for planned in plans])
    assert answers == [(200, None)] + [(409, "settles_too_much")] * (WRITER_COUNT - 1)
    assert Settlement.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_settlements_of_one_occurrence_never_exceed_it(api, body, account, make_transaction):
    planned = api.post("planned_transactions", body | {"amountValue": "-10.00"}).json()["id"]
    bodies = [
        {"transactionId": str(make_transaction(account, amount_value="-6").id), "amountValue": "-6.00"}
        for _ in range(WRITER_COUNT)
    ]
    answers = settle_at_once(api, [(planned, each) for each in bodies])
    assert answers == [(200, None)] + [(409, "settles_too_much")] * (WRITER_COUNT - 1)
    assert Settlement.objects.aggregate(total=Sum("amount_value"))["total"] == Decimal(-6)
