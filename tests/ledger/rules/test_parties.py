"""Who the other party of a movement is, by its texts: the company itself, somebody else, or not named."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.rules.calc.parties import (
    CompanyIdentity,
    OwnAccount,
    PartySigns,
    extract_words,
    is_own_party,
    is_same_party,
    read_party_signs,
)

MAIN, DOLLARS, TILL = UUID(int=1), UUID(int=2), UUID(int=3)
ACCOUNTS = (
    OwnAccount(MAIN, "Main", ("DE89 3704 0044 0532 0130 00",), "Acme Trading GmbH"),
    OwnAccount(DOLLARS, "Dollar reserve", ("US-001234567",), None),
    OwnAccount(TILL, "Till", ("12",), None),
)
ACME = CompanyIdentity("Acme GmbH", ACCOUNTS)


@pytest.mark.parametrize(
    ("from_to", "description", "expected"),
    [
        pytest.param("Acme GmbH", "", True, id="the company"),
        pytest.param("  ACME   gmbh ", "Invoice 7", True, id="without case and runs of spaces"),
        pytest.param("Ácme", "", True, id="without accents and legal form"),
        pytest.param("acme trading g.m.b.h.", "", True, id="a legal form with dots"),
        pytest.param("ACME TRADING GMBH", "", True, id="an account holder"),
        pytest.param("US001234567", "", True, id="the number of another account"),
        pytest.param("US 0012 34567", "", True, id="the number in groups"),
        pytest.param("12", "", True, id="a short number as the whole name"),
        pytest.param("Transfer to Acme GmbH", "", True, id="words that name nobody beside the name"),
        pytest.param("", "US-001234567", True, id="another account's number in the text"),
        pytest.param("", "Umbuchung Acme GmbH", True, id="nobody but the company in the text"),
        pytest.param("Umbuchung", "Acme GmbH", True, id="a word in place of the name"),
        pytest.param("Acme Inc.", "", False, id="another legal form is another company"),
        pytest.param("Acme Hosting GmbH", "", False, id="a longer name is another company"),
        pytest.param("Acmeister", "", False, id="part of a word"),
        pytest.param("Globex", "Invoice for Acme GmbH", False, id="a customer who names the company"),
        pytest.param("Globex", "US-001234567", False, id="a customer who names an account"),
        pytest.param("", "Invoice for Acme GmbH", False, id="a text that says more"),
        pytest.param("", "order 12", False, id="a short number inside of a text"),
        pytest.param("DE89370400440532013000", "", False, id="the number of its own account"),
        pytest.param("Umbuchung", "", False, id="a word alone"),
        pytest.param("Dollar reserve", "", False, id="an account's name alone"),
        pytest.param("", "", False, id="nothing"),
    ],
)
def test_own_company_is_the_party_if_no_third_party_is_named(from_to, description, expected):
    assert is_own_party(from_to, description, MAIN, ACME) is expected


@pytest.mark.parametrize(
    ("from_to", "description", "own", "third_party"),
    [
        pytest.param("Acme GmbH", "", True, (), id="the company"),
        pytest.param("Globex", "Payment to Acme GmbH", True, ("globex",), id="the company's name in a text"),
        pytest.param("Wise", "to US001234567", True, ("wise",), id="another account's number"),
        pytest.param("Wise", "to Dollar Reserve", True, ("wise",), id="another account's name"),
        pytest.param("Dollar reserve", "", True, (), id="another account as the party"),
        pytest.param("", "Main street", False, (), id="a name that says nothing"),
        pytest.param("", "DE89370400440532013000", False, (), id="its own account"),
        pytest.param("Kartenabrechnung 10/2026", "VISA Dollar", True, (), id="settlement words as the party"),
        pytest.param("", "Kreditkarten-Abrechnung", True, (), id="settlement words as the text"),
        *(
            pytest.param("", text, True, (), id=text)
            for text in (
                "Kartenabrechnung Oktober",
                "Abrechnung Visa",
                "VISA-Abrechnung Oktober 2026",
                "Abrechnung Mastercard Gold 10/2026",
                "Kreditkartenabrechnung März",
                "Card statement October",
            )
        ),
        pytest.param("Kartenabrechnung Oktober", "", True, (), id="settlement of a month as the party"),
        pytest.param("", "Abrechnung Strom Oktober", False, (), id="a settlement of no card"),
        pytest.param("Visa Travel", "", False, ("visa", "travel"), id="a card's name beside others"),
        pytest.param("", "Kartenabrechnung Oktober Globex", False, (), id="a card settlement beside others"),
        pytest.param("April May", "", False, ("april", "may"), id="names that are months"),
        pytest.param("", "Zahlungseingang Rechnung 7", False, (), id="settlement words beside others"),
        pytest.param("Globex", "Zahlungseingang", False, ("globex",), id="settlement words of a customer's payment"),
        pytest.param("Einzug Globex", "", False, ("einzug", "globex"), id="a third party beside settlement words"),
        *(
            pytest.param("", text, True, (), id=text)
            for text in (
                "Transfer",
                "Umbuchung 4711",
                "Übertrag auf Tagesgeld",
                "UEBERTRAG",
                "Virement interne",
                "Traspaso entre cuentas",
                "Giroconto",
                "Przelew własny",
                "Egen överföring",
                "Eigen rekening",
            )
        ),
        *(
            pytest.param("", text, False, (), id=text)
            for text in ("SEPA Credit Transfer", "Wire transfer fee", "Überweisung", "Virement SEPA", "TransferWise")
        ),
        pytest.param("TransferWise Ltd", "", False, ("transferwise",), id="a word that begins alike"),
        pytest.param("Transfer Solutions", "", True, ("transfer", "solutions"), id="a company with such a word"),
        pytest.param("Müller & Söhne S.A.", "", False, ("muller", "sohne"), id="a third party"),
        pytest.param("DE02120300000000202051", "", False, ("de02120300000000202051",), id="a stranger's number"),
    ],
)
def test_own_transfer_signs_are_names_numbers_and_transfer_words(from_to, description, own, third_party):
    assert read_party_signs(from_to, description, MAIN, ACME) == PartySigns(own, third_party)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("PayPal", "PayPal Europe S.à r.l.", True),
        ("Globex", "Initech", False),
        ("Globex North", "Globex South", False),
        ("Söhne Müller", "Müller und Söhne", True),
    ],
)
def test_names_match_if_one_contains_all_words_of_the_other(one, other, expected):
    assert is_same_party(extract_words(one), extract_words(other)) is expected
    assert is_same_party(extract_words(other), extract_words(one)) is expected


TEXTS = st.text(st.sampled_from("Aa ceGgmbhH.-0123äÉ"), max_size=20)


@given(TEXTS, TEXTS, st.sampled_from(["Acme GmbH", "acme", "ACME GMBH"]))
def test_own_company_is_not_a_third_party(from_to, description, name):
    for text in (name, from_to):
        signs = read_party_signs(text, description, MAIN, ACME)
        if is_own_party(text, description, MAIN, ACME):
            assert signs.is_between_own_accounts
            assert not signs.third_party
    assert is_own_party(name, description, MAIN, ACME)
