"""Currencies, units and titles in the languages of banks: what headings and lines above a table tell."""

import io

import pytest

from ledger.calc.delimited_text import read_delimited_lines
from ledger.imports.calc.currencies import find_heading_currencies, find_named_currencies
from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.detection_result import AccountFacts
from ledger.imports.calc.heading_units import find_heading_unit


@pytest.mark.parametrize(
    ("heading", "currencies", "unit"),
    [
        ("Amount (US$)", ["USD"], "whole"),
        ("Amount in US dollars", ["USD"], "whole"),
        ("amountUsd", ["USD"], "whole"),
        ("In Cent", [], "minor"),
        ("In TEUR", [], "thousands"),
        ("Umsatz in Euro", ["EUR"], "whole"),
        ("Montant (k€)", [], "thousands"),
        ("Débit (centimes)", [], "minor"),
        ("Importe en céntimos", [], "minor"),
        ("Importo (in migliaia)", [], "thousands"),
        ("Valor (R$)", ["BRL"], "whole"),
        ("Bedrag (EUR)", ["EUR"], "whole"),
        ("Kwota w groszach", [], "minor"),
        ("Kwota w tys. zł", ["PLN"], "thousands"),
        ("Částka v haléřích", [], "minor"),
        ("Částka v tis. Kč", ["CZK"], "thousands"),
        ("Összeg (Ft)", ["HUF"], "whole"),
        ("Belopp i öre", [], "minor"),
        ("Belopp (tkr)", [], "thousands"),
        ("Сумма, тыс. руб.", ["RUB"], "thousands"),
        ("Сумма (коп.)", [], "minor"),
        ("金额（元）", ["CNY"], "whole"),
        ("金额（万元）", [], "thousands"),
        ("出金額（円）", ["JPY"], "whole"),
        ("出金額（千円）", [], "thousands"),
        ("Percent", [], "whole"),
        ("Gr Amount", [], "whole"),
        ("Suma bani", [], "whole"),
        ("All", [], "whole"),
    ],
)
def test_heading_determines_currency_and_unit(heading, currencies, unit):
    heading_currencies = find_heading_currencies(heading)
    assert (find_heading_unit(heading), unit == "thousands" or list(heading_currencies) == currencies) == (unit, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Schweizer Franken", "CHF"),
        ("dollar des États-Unis", "USD"),
        ("złoty polski", "PLN"),
        ("česká koruna", "CZK"),
        ("36", "AUD"),
        ("人民币", "CNY"),
        ("£", "GBP"),
    ],
)
def test_currency_column_accepts_names_and_numbers(text, code):
    assert find_named_currencies(text) == (code,)


@pytest.mark.parametrize(
    ("above", "code"),
    [
        ("Statement currency: US Dollar", "currency_differs"),
        ("Kontoauszug in USD", "currency_differs"),
        ("Girokonto (CHF)", "currency_differs"),
        ("Waluta rachunku;PLN", "currency_differs"),
        ("Opening balance;$100.00", "currency_differs"),
        ("Alle Beträge in T€", "amount_unit_unsupported"),
        ("Waluta rachunku: EUR", None),
        ("Saldo;1.234,56;EUR", None),
        ("Kontoinhaber;Try Inc", None),
        ("Datei erstellt am: 25.03.2024", None),
        ("A million customers trust us", None),
    ],
)
def test_preamble_determines_currency_and_unit_of_all_amounts(above, code):
    text = f"{above}\n\nDatum;Text;Betrag\n24.03.2024;Miete;-7,00\n25.03.2024;Verkauf;8,00\n"
    refused = detect_mapping(
        read_delimited_lines(io.StringIO(text, newline=""), max_lines=100), account=AccountFacts("EUR")
    ).fault
    assert (refused and refused.code) == code


@pytest.mark.parametrize("marks", ["-4,50 1.25", "-4,50 -3,20 1.25"])
def test_mixed_decimal_marks_are_never_read_together(marks):
    rows = "".join(f"24.03.2024;a;{amount}\n" for amount in marks.split())
    mapping = detect_mapping(
        read_delimited_lines(io.StringIO(f"Datum;Text;Betrag\n{rows}", newline=""), max_lines=100),
        account=AccountFacts("EUR"),
    )
    assert not mapping.questions
    assert (mapping.fault is not None) == (len(marks.split()) == 2)  # else the odd row is named when rows are read


def test_debits_and_credits_in_two_currencies_are_rejected():
    text = "Date,Text,Debit (USD),Credit (EUR)\n2024-03-24,a,5.00,\n2024-03-25,b,,7.00\n"
    mapping = detect_mapping(
        read_delimited_lines(io.StringIO(text, newline=""), max_lines=100), account=AccountFacts("EUR")
    )
    assert mapping.fault.code == "currency_differs"
