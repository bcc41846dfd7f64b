"""The parts of an earlier payment for another amount."""

from decimal import Decimal
from uuid import UUID

import pytest

from ledger.rules.calc.split_parts import SplitPart, scale_split_parts

FIRST, SECOND = UUID(int=1), UUID(int=2)


def scale(amount, *parts):
    """Return (amounts by line, tax) of each scaled part as texts."""
    scaled = scale_split_parts([SplitPart(*part) for part in parts], to=Decimal(amount), currency="EUR")
    assert sum(part.value for part in scaled) == Decimal(amount)
    return [
        ({line: str(value) for line, value in part.lines.items()}, str(part.tax) if part.tax else "") for part in scaled
    ]


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("-2062.50", [({"neutral": "-1850.00"}, ""), ({"no": "-212.50"}, "")]),
        ("-1031.25", [({"neutral": "-925.00"}, ""), ({"no": "-106.25"}, "")]),
        ("-100.00", [({"neutral": "-89.70"}, ""), ({"no": "-10.30"}, "")]),
    ],
)
def test_parts_keep_their_proportion(amount, expected):
    parts = (FIRST, {"neutral": Decimal("-1850.00")}), (SECOND, {"no": Decimal("-212.50")})
    assert scale(amount, *parts) == expected


def test_largest_part_has_what_rounding_leaves():
    parts = [(FIRST, {"ga": Decimal("-1.00")})] * 2 + [(SECOND, {"pd": Decimal("-1.01")})]
    assert scale("-2.00", *parts) == [({"ga": "-0.66"}, ""), ({"ga": "-0.66"}, ""), ({"pd": "-0.68"}, "")]


def test_tax_rate_stays():
    parts = (FIRST, {"ga": Decimal("-100.00")}, Decimal("-19.00")), (SECOND, {"ga": Decimal("-50.00")})
    assert scale("-84.50", *parts) == [({"ga": "-50.00"}, "-9.50"), ({"ga": "-25.00"}, "")]


def test_tax_without_a_rate_stays_in_proportion():
    parts = (FIRST, {"ga": Decimal("-1.00")}, Decimal("-9.00")), (SECOND, {"ga": Decimal("-10.00")})
    assert scale("-10.00", *parts) == [({"ga": "-0.50"}, "-4.50"), ({"ga": "-5.00"}, "")]


def test_lines_of_a_part_keep_their_proportion():
    parts = (FIRST, {"cogs": Decimal("-10.00"), "ga": Decimal("-20.00")}), (SECOND, {}, Decimal("-3.00"))
    assert scale("-11.00", *parts) == [({"cogs": "-3.33", "ga": "-6.67"}, ""), ({}, "-1.00")]
