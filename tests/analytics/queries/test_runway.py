"""How long the cash lasts: the query, over HTTP."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_DOWN, Decimal

import pytest
from hypothesis import given, settings

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.booking_strategies import draw_bookings
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = get_first_day_of_month(TODAY)


def get_day_in_month(back, day=10):
    """A day of the month so many before this one."""
    return str(add_months(MONTH, -back).replace(day=day))


def list_months(*back):
    return [get_day_in_month(each)[:7] for each in back]


def settle_card(books, bank, card, amount, day):
    """Pays the card from the bank by a linked transfer."""
    out, into = books.create_transaction(bank, f"-{amount}", day), books.create_transaction(card, amount, day)
    assert books.link_transfer(out["id"], into["id"]).status_code == 200


def test_runway_counts_card_settlements_as_burn(query_data, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "100000.00", get_day_in_month(9))
    for back in (1, 2, 3):
        settle_card(books, bank, card, "20000.00", get_day_in_month(back))
    assert query_data("runway") == {
        "cash": 40000, "monthlyNet": -20000, "months": list_months(3, 2, 1), "runwayMonths": 2,
        "changeOfCash": -60000, "revaluation": 0, "financingInflow": 0,
    }  # fmt: skip


def test_runway_excludes_equity_and_loan_payouts_and_burns_principal(query_data, books, bank):
    loan = books.create_account(name="Loan", type="loan")
    equity = books.create_transaction(bank, "1000000.00", get_day_in_month(3))["id"]
    part = {"categoryId": books.get_category_id("financing"), "plSplit": {"neutral": 1000000}}
    assert books.set_categorizations(equity, part).status_code == 200
    out, into = (
        books.create_transaction(loan, "-50000.00", get_day_in_month(2)),
        books.create_transaction(bank, "50000.00", get_day_in_month(2)),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    settle_card(books, bank, loan, "10000.00", get_day_in_month(1))
    books.create_transaction(bank, "-20000.00", get_day_in_month(1))
    assert query_data("runway") == {
        "cash": 1020000, "monthlyNet": -10000, "months": list_months(3, 2, 1), "runwayMonths": 102,
        "changeOfCash": 1020000, "revaluation": 0, "financingInflow": 1050000,
    }  # fmt: skip


def test_runway_divides_cash_by_average_outflow_of_last_three_whole_months(query_data, books, bank):
    books.create_transaction(bank, "10000.00", get_day_in_month(9))
    for back in (1, 2, 3):
        books.create_transaction(bank, "-777.00", get_day_in_month(back))
    books.create_transaction(bank, "-1.00", str(MONTH))
    assert query_data("runway") == {
        "cash": 7668, "monthlyNet": -777, "months": list_months(3, 2, 1), "runwayMonths": 9.8,
        "changeOfCash": -2331, "revaluation": 0, "financingInflow": 0,
    }  # fmt: skip


def test_runway_skips_months_without_flows_and_accepts_fewer_than_three(query_data, books, bank):
    books.create_transaction(bank, "-100.00", get_day_in_month(14))
    books.create_transaction(bank, "1000.00", str(TODAY))
    result = query_data("runway")
    assert (result["cash"], result["monthlyNet"], result["months"], result["runwayMonths"]) == (
        900,
        -100,
        list_months(14),
        9,
    )
    books.create_transaction(bank, "-200.00", get_day_in_month(2))
    books.create_transaction(bank, "-300.00", get_day_in_month(3))
    books.create_transaction(bank, "-999.00", get_day_in_month(20))
    result = query_data("runway")
    assert (result["months"], result["monthlyNet"]) == (list_months(14, 3, 2), -200)


def test_runway_is_unknown_without_a_whole_month(query_data, books, bank):
    books.create_transaction(bank, "-100.00", str(MONTH))
    assert query_data("runway") == {
        "cash": -100, "monthlyNet": None, "months": [], "runwayMonths": None,
        "changeOfCash": 0, "revaluation": 0, "financingInflow": 0,
    }  # fmt: skip


def test_runway_is_unlimited_without_burn_and_zero_without_cash(query_data, books, bank):
    books.create_transaction(bank, "100.00", get_day_in_month(1))
    result = query_data("runway")
    assert (result["cash"], result["monthlyNet"], result["months"], result["runwayMonths"]) == (
        100,
        100,
        list_months(1),
        None,
    )
    books.create_transaction(bank, "-150.00", get_day_in_month(1))
    result = query_data("runway")
    assert (result["cash"], result["monthlyNet"], result["months"], result["runwayMonths"]) == (
        -50,
        -50,
        list_months(1),
        0,
    )


def test_runway_does_not_count_initial_balance_as_change_or_month(api, query_data, books, bank):
    savings = books.create_account(name="Savings")
    api.put(f"accounts/{bank}/initial_balance", {"date": get_day_in_month(2), "amountValue": "500.00"})
    api.put(f"accounts/{savings}/initial_balance", {"date": get_day_in_month(3), "amountValue": "100.00"})
    books.create_transaction(bank, "-30.00", get_day_in_month(2))
    books.create_transaction(bank, "-10.00", get_day_in_month(1))
    assert query_data("runway") == {
        "cash": 560, "monthlyNet": -20, "months": list_months(2, 1), "runwayMonths": 28,
        "changeOfCash": -40, "revaluation": 0, "financingInflow": 0,
    }  # fmt: skip


def test_runway_excludes_cards_and_pending_transactions(query_data, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(card, "-90.00", get_day_in_month(2))
    books.create_transaction(bank, "-70.00", get_day_in_month(2), pending=True)
    books.create_transaction(bank, "300.00", get_day_in_month(4))
    books.create_transaction(bank, "-30.00", get_day_in_month(1))
    result = query_data("runway")
    assert (result["cash"], result["months"], result["monthlyNet"]) == (270, list_months(4, 1), 135)


def test_runway_counts_only_inflows_as_financing(query_data, api, books, bank):
    own = api.post("categories", {"name": "Convertible", "plTypes": ["no"], "financing": True}).json()
    assert own["financing"] is True
    paid_back = books.create_transaction(bank, "-400.00", get_day_in_month(2))["id"]
    mixed = books.create_transaction(bank, "1000.00", get_day_in_month(1))["id"]
    assert books.set_categorizations(paid_back, {"categoryId": own["id"], "plSplit": {"no": -400}}).status_code == 200
    assert books.set_categorizations(mixed, {"categoryId": own["id"], "plSplit": {"no": 700}}).status_code == 200
    result = query_data("runway")
    assert (result["changeOfCash"], result["financingInflow"], result["monthlyNet"]) == (600, 700, -50)
    api.put(f"categories/{own['id']}", {"financing": False})
    assert query_data("runway")["financingInflow"] == 0


@given(drawn=draw_bookings(first=add_months(MONTH, -7), days=(TODAY - add_months(MONTH, -7)).days + 1))
@settings(max_examples=10)
def test_runway_identity_holds_across_currencies(db, make_api, drawn):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    rates, eve = get_rate_table(), MONTH - timedelta(days=1)
    moved = [
        each for each in drawn.list_booked()
        if drawn.is_cash(each.account) and each.kind != "initial" and each.day <= eve
    ]  # fmt: skip
    counted = sorted({get_first_day_of_month(each.day) for each in moved})[-3:]
    moved = [each for each in moved if get_first_day_of_month(each.day) in counted]
    financed = [replace(each, amount=each.financed) for each in moved if each.financed > 0]
    financed += [
        each for each in moved if each.amount > 0 and drawn.find_cash_part(each, date.min, date.max) == "financing"
    ]
    opened = [
        each for each in drawn.bookings
        if each.kind == "initial" and drawn.is_cash(each.account) and get_first_day_of_month(each.day) in counted
    ]  # fmt: skip
    body = api.post("data/runway", {}).json()
    change, revaluation, inflow = (
        Decimal(str(body[name])) for name in ("changeOfCash", "revaluation", "financingInflow")
    )
    assert Decimal(str(body["cash"])) == drawn.sum_cash(TODAY, rates)
    assert body["months"] == [f"{month:%Y-%m}" for month in counted]
    held = sum(
        drawn.sum_cash(get_last_day_of_month(month), rates) - drawn.sum_cash(month - timedelta(days=1), rates)
        for month in counted
    )
    assert change == held - round_half_up(drawn.sum_in_base(opened, rates), drawn.base)
    assert inflow == round_half_up(drawn.sum_in_base(financed, rates), drawn.base)
    if not counted:
        assert body["monthlyNet"] is body["runwayMonths"] is None
        assert change == revaluation == inflow == 0
        return
    net, monthly_net = change - revaluation - inflow, Decimal(str(body["monthlyNet"]))
    assert net == round_half_up(drawn.sum_in_base(moved, rates), drawn.base) - inflow
    assert abs(len(counted) * monthly_net - net) <= len(counted) * Decimal("0.005")
    if all(each.currency == drawn.base for each in drawn.bookings):
        assert revaluation == 0
    if net >= 0:
        assert body["runwayMonths"] is None
    else:
        left = max(drawn.sum_cash(TODAY, rates), Decimal(0)) * len(counted) / -net
        assert Decimal(str(body["runwayMonths"])) == left.quantize(Decimal("0.1"), rounding=ROUND_DOWN)


@given(drawn=draw_bookings(first=add_months(MONTH, -3), days=(MONTH - add_months(MONTH, -3)).days))
@settings(max_examples=10)
def test_runway_and_cash_bridge_show_the_same_revaluation(db, make_api, drawn):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    runway = api.post("data/runway", {}).json()
    months = [date.fromisoformat(f"{month}-01") for month in runway["months"]]
    if months and months == [add_months(months[0], number) for number in range(len(months))]:
        window = {"startDate": str(months[0]), "endDate": str(get_last_day_of_month(months[-1]))}
        assert api.post("data/cashBridge", window).json()["revaluation"] == runway["revaluation"]


def test_runway_ignores_body_fields_and_needs_permission(api, make_api, acme):
    assert api.post("data/runway", {"months": 3})["Ignored-Fields"] == "months"
    assert make_api(acme, "financials:read").post("data/runway", {}).status_code == 403
