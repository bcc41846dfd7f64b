"""How long the cash lasts: the query, over HTTP."""

from datetime import date, timedelta
from decimal import ROUND_DOWN, Decimal

import pytest
from hypothesis import given, settings

from ledger.calc.money import round_half_up
from ledger.calc.months import add_months, first_of_month
from ledger.money.rates import rate_table
from tests import factories
from tests.analytics.anybooks import any_books
from tests.days import TODAY

pytestmark = pytest.mark.django_db
MONTH = first_of_month(TODAY)


def in_month(back, day=10):
    """A day of the month so many before this one."""
    return str(add_months(MONTH, -back).replace(day=day))


def months(*back):
    return [in_month(each)[:7] for each in back]


def test_runway_is_cash_by_the_mean_net_outflow_of_three_whole_months_rounded_down(ask, books, bank):
    books.book(bank, "10000.00", in_month(9))
    for back in (1, 2, 3):
        books.book(bank, "-777.00", in_month(back))
    books.book(bank, "-1.00", str(MONTH))
    assert ask("runway") == {
        "cash": 7668, "monthlyNet": -777, "months": months(3, 2, 1), "runwayMonths": 9.8,
    }  # fmt: skip


def test_months_without_flows_do_not_count_and_fewer_than_three_are_enough(ask, books, bank):
    books.book(bank, "-100.00", in_month(14))
    books.book(bank, "1000.00", str(TODAY))
    assert ask("runway") == {"cash": 900, "monthlyNet": -100, "months": months(14), "runwayMonths": 9}
    books.book(bank, "-200.00", in_month(2))
    books.book(bank, "-300.00", in_month(3))
    books.book(bank, "-999.00", in_month(20))
    found = ask("runway")
    assert (found["months"], found["monthlyNet"]) == (months(14, 3, 2), -200)


def test_without_a_whole_month_nothing_is_known(ask, books, bank):
    books.book(bank, "-100.00", str(MONTH))
    assert ask("runway") == {"cash": -100, "monthlyNet": None, "months": [], "runwayMonths": None}


def test_who_burns_nothing_never_runs_out_and_who_has_nothing_has_run_out(ask, books, bank):
    books.book(bank, "100.00", in_month(1))
    assert ask("runway") == {"cash": 100, "monthlyNet": 100, "months": months(1), "runwayMonths": None}
    books.book(bank, "-150.00", in_month(1))
    assert ask("runway") == {"cash": -50, "monthlyNet": -50, "months": months(1), "runwayMonths": 0}


def test_transfers_initial_balances_and_accounts_that_are_no_cash_burn_nothing(api, ask, books, bank):
    card = books.account(name="Card", type="creditCard")
    api.put(f"accounts/{bank}/initial_balance", {"date": in_month(2), "amountValue": "500.00"})
    out, into = books.book(bank, "-200.00", in_month(2)), books.book(card, "200.00", in_month(2))
    assert books.link(out["id"], into["id"]).status_code == 200
    books.book(card, "-90.00", in_month(2))
    books.book(bank, "-30.00", in_month(1))
    assert ask("runway") == {"cash": 270, "monthlyNet": -30, "months": months(1), "runwayMonths": 9}


@given(drawn=any_books(first=add_months(MONTH, -7), days=(TODAY - add_months(MONTH, -7)).days + 1))
@settings(max_examples=12)
def test_runway_is_what_the_bookings_say_in_any_currencies(db, make_api, drawn):
    api = make_api(factories.company(name="Any", base_currency=drawn.base))
    drawn.made(api)
    rates = rate_table()
    burning = [each for each in drawn.flows(date.min, MONTH - timedelta(days=1)) if drawn.is_cash(each.account)]
    counted = sorted({first_of_month(each.day) for each in burning})[-3:]
    net = drawn.in_base([each for each in burning if first_of_month(each.day) in counted], rates)
    found = api.post("data/runway", {}).json()
    assert Decimal(str(found["cash"])) == drawn.cash(TODAY, rates)
    assert found["months"] == [f"{month:%Y-%m}" for month in counted]
    if not counted:
        assert found["monthlyNet"] is found["runwayMonths"] is None
        return
    assert Decimal(str(found["monthlyNet"])) == round_half_up(net / len(counted), drawn.base)
    if net >= 0:
        assert found["runwayMonths"] is None
    else:
        lasting = max(drawn.cash(TODAY, rates), Decimal(0)) * len(counted) / -net
        assert Decimal(str(found["runwayMonths"])) == lasting.quantize(Decimal("0.1"), rounding=ROUND_DOWN)


def test_nothing_may_be_said_and_asking_needs_permission(api, make_api, acme):
    assert api.post("data/runway", {"months": 3})["Ignored-Fields"] == "months"
    assert make_api(acme, "financials:read").post("data/runway", {}).status_code == 403
