"""Balances per account and by cash type."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def loan(api):
    return api.post("accounts", {"type": "loan", "name": "Loan", "defaultCurrency": "USD"}).json()["id"]


def import_transactions(api, *items):
    answer = api.post(
        "transactions/import",
        {"transactions": [{"accountId": a, "date": d, "amountValue": v} for a, d, v in items]},
    )
    assert answer.status_code == 200, answer.content


def test_account_balance_sums_transactions_up_to_end_date(api, bank):
    import_transactions(
        api, (bank, "2023-11-30", "100.00"), (bank, "2024-01-05", "-30.00"), (bank, "2024-02-01", "7.00")
    )
    answer = api.post("data/accountBalanceByAccount", {"startDate": "2024-01-01", "endDate": "2024-01-31"})
    assert answer.status_code == 200, answer.content
    assert answer.json() == {
        bank: {
            "accountId": bank,
            "accountName": "Main",
            "value": 70,
            "valuePreviousPeriod": 100,
            "valueChange": -30,
        }
    }


def test_cash_and_noncash_balances_sum_to_account_balances_of_the_day(api, bank, loan):
    import_transactions(
        api,
        (bank, "2024-01-01", "100.01"),
        (bank, "2024-01-03", "-0.02"),
        (loan, "2023-05-05", "-1000.33"),
        (loan, "2024-01-02", "12.34"),
    )
    series = api.post("data/balanceByCashType", {"startDate": "2023-12-30", "endDate": "2024-01-09"}).json()
    assert len(series["cash"]) == len(series["nonCash"]) == 11
    for cash, other in zip(series["cash"], series["nonCash"], strict=True):
        accounts = api.post(
            "data/accountBalanceByAccount",
            {"startDate": cash["date"], "endDate": cash["date"], "accountTypes": ["bank", "loan"]},
        ).json()
        total = sum(Decimal(str(account["value"])) for account in accounts.values())
        assert Decimal(str(cash["value"])) + Decimal(str(other["value"])) == total


def test_archived_accounts_count_until_balance_is_zero(api, bank):
    import_transactions(api, (bank, "2024-01-01", "5.00"))
    api.put(f"accounts/{bank}/archive")
    window = {"startDate": "2024-01-01", "endDate": "2024-01-31"}
    assert api.post("data/accountBalanceByAccount", window).json()[bank]["value"] == 5
    assert api.post("data/balanceByCashType", window).json()["cash"][-1] == {"date": "2024-01-31", "value": 5}
    import_transactions(api, (bank, "2024-01-02", "-5.00"))
    assert api.post("data/accountBalanceByAccount", window).json() == {}


def test_balance_series_end_today(api, bank):
    today = date.today()
    window = {"startDate": str(today - timedelta(days=2)), "endDate": str(today + timedelta(days=5))}
    assert len(api.post("data/balanceByCashType", window).json()["cash"]) == 3


def test_balance_queries_reject_invalid_window(api):
    for window, pointer, code in [
        ({"startDate": "2024-02-01", "endDate": "2024-01-01"}, "#/endDate", "end_before_start"),
        ({"startDate": "2010-01-01", "endDate": "2024-01-01"}, "#/endDate", "window_too_long"),
        ({"startDate": "2024-01-01"}, "#/endDate", "required"),
        ({"startDate": "2024-1-1", "endDate": "2024-01-01"}, "#/startDate", "invalid_value"),
        ({"startDate": "2024-13-01", "endDate": "2024-01-01"}, "#/startDate", "invalid_date"),
        ({"startDate": "0001-01-01", "endDate": "0001-01-02"}, "#/startDate", "out_of_range"),
    ]:
        for query in ("accountBalanceByAccount", "balanceByCashType"):
            answer = api.post(f"data/{query}", window)
            assert answer.status_code == 400, window
            assert (answer.json()["errors"][0]["pointer"], answer.json()["errors"][0]["code"]) == (pointer, code), (
                window
            )


def test_balance_queries_answer_sums_beyond_64_bits(api, bank):
    api.put("", {"baseCurrency": "KRW"})
    import_transactions(api, *[(bank, "2024-01-02", "999999999999999.00")] * 20)
    window = {"startDate": "2024-01-02", "endDate": "2024-01-02"}
    (point,) = api.post("data/balanceByCashType", window).json()["cash"]
    assert point["value"] > 2**64
    assert api.post("data/accountBalanceByAccount", window).json()[bank]["value"] == point["value"]


def test_balance_query_does_not_change_company_update_time(api, bank):
    before = api.get("").json()["lastOverallUpdatedTime"]
    api.post("data/balanceByCashType", {"startDate": "2024-01-01", "endDate": "2024-01-02"})
    assert api.get("").json()["lastOverallUpdatedTime"] == before
