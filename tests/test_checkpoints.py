"""The main job on real input, as a customer does it: a real server, a real file, every balance the bank asserted."""

import csv
import json
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.machine import create_prepared_machine, find_free_port

pytestmark = pytest.mark.server
DATA = Path(__file__).parent / "data"
KINDS = {"Assets:US:BofA:Checking": "bank", "Liabilities:US:Chase:Slate": "creditCard"}


class Caller:
    """Calls the API of a running server with a key."""

    def __init__(self, base: str, key: str):
        self.base, self.key = base, key

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.base}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def fava_company() -> Iterator[tuple[Caller, str, dict[str, str]]]:
    """(caller, company's path, account ids by name) with the whole ledger imported."""
    port = find_free_port()
    with create_prepared_machine() as machine, machine.up(port):
        owner = ("--owner", "owner@example.com")
        made = machine.run("create_company", "--name", "Fava", "--currency", "USD", *owner)
        company = made.stdout.strip()
        key = machine.run("create_api_key", "--company", company).stdout.strip()
        call = Caller(f"http://127.0.0.1:{port}", key)
        path = f"/companies/{company}"
        accounts = {
            name: call("POST", f"{path}/accounts", {"type": kind, "name": name})["id"] for name, kind in KINDS.items()
        }
        with (DATA / "ledger_fava_transactions.csv").open() as file:
            items = [
                {
                    "accountId": accounts[row["account"]],
                    "date": row["date"],
                    "amountValue": row["amount"],
                    "amountCurrency": row["currency"],
                    "description": row["description"],
                }
                for row in csv.DictReader(file)
            ]
        assert call("POST", f"{path}/transactions/import", {"transactions": items})["count"] == 713
        yield call, path, accounts


def test_balances_match_every_bank_checkpoint(fava_company):
    call, path, accounts = fava_company
    with (DATA / "ledger_fava_checkpoints.csv").open() as file:
        checkpoints = list(csv.DictReader(file))
    assert len(checkpoints) == 71
    off = []
    for row in checkpoints:
        window = {"startDate": row["date"], "endDate": row["date"], "accountTypes": ["bank", "creditCard"]}
        answer = call("POST", f"{path}/data/accountBalanceByAccount", window)
        result = Decimal(str(answer[accounts[row["account"]]]["valuePreviousPeriod"]))
        if result != Decimal(row["balance_at_start_of_day"]):
            off.append((row, result))
    assert not off


def test_reimport_of_same_transaction_adds_nothing(fava_company):
    call, path, accounts = fava_company
    item = {
        "accountId": accounts["Assets:US:BofA:Checking"],
        "date": "2014-01-04",
        "amountValue": "-4.00",
        "amountCurrency": "USD",
        "description": "BANK FEES | Monthly bank fee",
    }
    again = call("POST", f"{path}/transactions/import", {"transactions": [item], "duplicates": "skip"})
    assert (again["count"], again["duplicates"]) == (0, 1)
