"""The parts that the text of a payment states."""

from decimal import Decimal

import pytest

from ledger.rules.calc.stated_parts import find_named_parts, find_stated_parts

LOAN = [("loan", "-1850.00"), ("interest", "-212.50")]


@pytest.mark.parametrize(
    ("text", "amount", "expected"),
    [
        ("Darlehen 6001234567 Rate 10/26 Tilgung 1.850,00 Zins 212,50", "-2062.50", LOAN),
        ("TILGUNG:1850,00EUR ZINSEN:212,50EUR", "-2062.50", LOAN),
        ("Zinsanteil EUR 212,50 + Tilgungsanteil EUR 1.850,00", "-2062.50", LOAN[::-1]),
        ("Loan 7: principal 1,850.00, interest 212.50.", "-2062.50", LOAN),
        ("1.850,00 EUR Tilgung, 212,50 EUR Zinsen", "-2062.50", LOAN),
        ("1.850,00 EUR Tilgung 212,50 EUR Zinsen", "-2062.50", LOAN),
        ("Tilgung 1.850 Zins 212,50", "-2062.50", [("loan", "-1850"), ("interest", "-212.50")]),
        ("Zinssatz 3,5 % Tilgung 1.850,00 Zins 212,50", "-2062.50", LOAN),
        ("Zins 3,45 % Tilgung 1.850,00 Zinsen 212,50", "-2062.50", LOAN),
        ("Restschuld 50.000,00 Tilgung 1.850,00 Zins 212,50", "-2062.50", LOAN),
        ("Tilgung 1.850,00 Zins 200,00 Zins 12,50", "-2062.50", LOAN),
        (
            "Tilgung 1.850,00 Zins 212,50 Gebühr 5,00",
            "-2067.50",
            [*LOAN, ("bankFees", "-5.00")],
        ),
        ("Darlehen 6001 Tilgung und Zins 10/2026 Tilgung 1850,00 Zins 212,50", "-2062.50", LOAN),
        ("Zins und Tilgung 31.10.2026 Tilgung 1850,00 Zins 212,50", "-2062.50", LOAN),
        ("Tilgung 10.2026 1.850,00 Zins 10.2026 212,50", "-2062.50", LOAN),
        ("Interest and principal 2026-10 principal 1,850.00 interest 212.50", "-2062.50", LOAN),
        ("Tilgung 10,26 Zins 12,99", "-23.25", [("loan", "-10.26"), ("interest", "-12.99")]),
        ("repayment 100.00 interest 2.50", "102.50", [("loan", "100.00"), ("interest", "2.50")]),
    ],
)
def test_text_states_the_parts(text, amount, expected):
    parts = find_stated_parts(text, Decimal(amount))
    assert [(part.kind, str(part.amount)) for part in parts] == expected


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        pytest.param("Tilgung 1.850,00 Zins 212,50", "-2062.51", id="another sum"),
        pytest.param("Tilgung 1.850,00 Zins 212,50 Gebühr 5,00", "-2062.50", id="one part too many"),
        pytest.param("Tilgung 2.062,50", "-2062.50", id="one part"),
        pytest.param("Tilgung 1,850.00 Zins 212,50", "-2062.50", id="two decimal marks"),
        pytest.param("Tilgung 1.8.50,00 Zins 212,50", "-2062.50", id="no amount"),
        pytest.param("Tilgung 2.062,50 Zins 0,00", "-2062.50", id="nothing"),
        pytest.param("Miete 1.850,00 Nebenkosten 212,50", "-2062.50", id="other words"),
        pytest.param("Tilgung Darlehen 1.850,00 Zins 212,50", "-2062.50", id="a word between"),
        pytest.param("Tilgung laut Plan, Zins laut Plan", "-2062.50", id="no amounts"),
        pytest.param("", "-2062.50", id="no text"),
    ],
)
def test_other_texts_state_no_parts(text, amount):
    assert find_stated_parts(text, Decimal(amount)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Darlehen 6001 Tilgung und Zins 10/2026", ["loan", "interest"]),
        ("Zinsen und Tilgung 2.062,50 lt. Plan", ["interest", "loan"]),
        ("Loan 7: principal and interest", ["loan", "interest"]),
        ("Tilgung Darlehen 6001", []),
        ("Sollzinsen und Entgelt", []),
        ("", []),
    ],
)
def test_text_names_repayment_and_interest(text, expected):
    assert find_named_parts(text) == expected


def test_long_text_is_read_up_to_its_limit():
    assert find_stated_parts("x " * 600 + "Tilgung 1.850,00 Zins 212,50", Decimal("-2062.50")) == []
