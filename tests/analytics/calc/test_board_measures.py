"""Measures of the monthly report."""

from decimal import Decimal

import pytest

from analytics.calc.board_measures import (
    compute_burn_multiple,
    compute_cac_payback,
    compute_gross_margin,
    compute_share,
)

D = Decimal


@pytest.mark.parametrize(
    ("burn", "growth", "value", "obstacle"),
    [
        (D("300"), D("240"), D("1.25"), None),
        (D("1"), D("3"), D("0.33"), None),
        (D("0.125"), D("1"), D("0.13"), None),
        (D("0.01"), D("0.01"), D("1.00"), None),
        (D("0"), D("240"), None, "no_burn"),
        (D("-5"), D("240"), None, "no_burn"),
        (D("5"), D("0"), None, "no_growth"),
        (D("5"), D("-1"), None, "no_growth"),
        (D("0"), D("0"), None, "no_burn"),
    ],
)
def test_burn_multiple(burn, growth, value, obstacle):
    assert compute_burn_multiple(burn=burn, net_new_arr=growth) == (value, obstacle)


@pytest.mark.parametrize(
    ("revenue", "cost", "value", "obstacle"),
    [
        (D("200"), D("50"), D("75.00"), None),
        (D("3"), D("1"), D("66.67"), None),
        (D("100"), D("150"), D("-50.00"), None),
        (D("100"), D("0"), D("100.00"), None),
        (D("0"), D("50"), None, "no_revenue"),
        (D("-1"), D("50"), None, "no_revenue"),
    ],
)
def test_gross_margin(revenue, cost, value, obstacle):
    assert compute_gross_margin(revenue=revenue, cost_of_revenue=cost) == (value, obstacle)


@pytest.mark.parametrize(
    ("marketing", "new", "revenue", "cost", "value", "obstacle"),
    [
        (D("900"), D("100"), D("200"), D("50"), D("12.0"), None),
        (D("100"), D("100"), D("200"), D("0"), D("1.0"), None),
        (D("125"), D("100"), D("1"), D("0"), D("1.3"), None),
        (D("0"), D("100"), D("200"), D("50"), None, "no_marketing"),
        (D("900"), D("0"), D("200"), D("50"), None, "no_new_customers"),
        (D("900"), D("100"), D("0"), D("0"), None, "no_revenue"),
        (D("900"), D("100"), D("50"), D("50"), None, "no_margin"),
        (D("900"), D("100"), D("50"), D("51"), None, "no_margin"),
    ],
)
def test_cac_payback(marketing, new, revenue, cost, value, obstacle):
    assert compute_cac_payback(marketing=marketing, new_mrr=new, revenue=revenue, cost_of_revenue=cost) == (
        value,
        obstacle,
    )


@pytest.mark.parametrize(
    ("parts", "total", "value", "obstacle"),
    [
        ([D(1), D(2)], D(4), D("75.00"), None),
        ([], D(4), D("0.00"), None),
        ([D(1)], D(3), D("33.33"), None),
        ([D(1)], D(0), None, "no_revenue"),
    ],
)
def test_share_of_total(parts, total, value, obstacle):
    assert compute_share(parts, total) == (value, obstacle)
