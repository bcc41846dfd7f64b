"""Pairs that look like transfers: over HTTP, and by properties of the arithmetic."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.rules.calc.parties import CompanyIdentity
from ledger.rules.calc.transfer_pairs import CandidateLeg, find_transfer_pairs
from tests.rollback import undo_changes

START = date(2026, 3, 1)


def build_leg(number, account=1, day=0, amount="-10.00", currency="EUR"):
    """Every leg says that it is a transfer, so that amounts and days alone decide."""
    day = START + timedelta(day)
    return CandidateLeg(UUID(int=number), UUID(int=account), day, Decimal(amount), currency, description="Transfer")


def convert_at_par(amount, source, target, day):
    return None if "XXX" in (source, target) else amount * (2 if target == "USD" else 1)


def find_pairs(*legs):
    return [
        (each.source.id.int, each.target.id.int, each.days)
        for each in find_transfer_pairs(legs, convert_amount=convert_at_par, identity=CompanyIdentity("Acme"))
    ]


AMOUNTS, CURRENCIES = ["-10", "10", "-20", "20", "20.5", "-7"], ["EUR", "USD"]
row = st.integers(0, 3 * 10 * len(AMOUNTS) * len(CURRENCIES) - 1)  # one draw is quicker than four
legs = st.lists(row, max_size=12).map(lambda rows: [build_leg_from_seed(n + 1, each) for n, each in enumerate(rows)])


def build_leg_from_seed(number, seed):
    seed, account = divmod(seed, 3)
    seed, day = divmod(seed, 10)
    currency, amount = divmod(seed, len(AMOUNTS))
    return build_leg(number, account, day, AMOUNTS[amount], CURRENCIES[currency])


def is_pair_naively(source, target):
    """A naive reading of the rule."""
    days = abs((source.day - target.day).days)
    opposite = source.amount < 0 < target.amount and source.account_id != target.account_id and days <= 5
    if source.currency == target.currency:
        return opposite and source.amount == -target.amount
    expected = -source.amount * (2 if target.currency == "USD" else 1)
    return opposite and abs(target.amount - expected) <= Decimal("0.05") * expected


@given(legs)
def test_transfer_pairs_are_valid_disjoint_nearest_first_and_complete(rows):
    result = find_transfer_pairs(rows, convert_amount=convert_at_par, identity=CompanyIdentity("Acme"))
    taken = [each.id for pair in result for each in (pair.source, pair.target)]
    assert len(taken) == len(set(taken))
    assert all(is_pair_naively(pair.source, pair.target) for pair in result)
    assert [pair.days for pair in result] == sorted(pair.days for pair in result)
    left = [each for each in rows if each.id not in taken]
    assert not [(one, other) for one in left for other in left if is_pair_naively(one, other)]
    for pair in result:  # nobody who waits was nearer
        nearer = [
            each
            for each in left
            if is_pair_naively(pair.source, each) and abs((pair.source.day - each.day).days) < pair.days
        ]
        assert not nearer


def test_nearer_of_two_days_is_paired():
    assert find_pairs(build_leg(1), build_leg(2, 2, 3, "10"), build_leg(3, 2, -1, "10")) == [(1, 3, 1)]


def test_legs_on_the_same_account_are_not_paired():
    assert find_pairs(build_leg(1), build_leg(2, 1, 0, "10"), build_leg(3, 2, 4, "10")) == [(1, 3, 4)]


def test_nearest_amount_is_paired_across_currencies():
    rows = [
        build_leg(1, amount="-100"),
        build_leg(2, 2, 0, "205", "USD"),
        build_leg(3, 2, 0, "199", "USD"),
        build_leg(4, 2, 0, "211", "USD"),
    ]
    assert find_pairs(*rows) == [(1, 3, 0)]
    assert find_pairs(build_leg(1, amount="-100", currency="XXX"), *rows[1:]) == []


MARCH = {"startDate": "2026-03-01", "endDate": "2026-03-31"}


@pytest.fixture
def dollars(books):
    return books.create_account(name="Dollars", defaultCurrency="USD")


def list_proposals(api):
    answer = api.post("transactions/transfer_proposals", MARCH)
    assert answer.status_code == 200, answer.content
    return [(each["sourceTransactionId"], each["targetTransactionId"]) for each in answer.json()]


@pytest.mark.django_db
def test_transfer_pairs_are_proposed_and_confirmed(api, books, bank, savings, dollars, set_exchange_rates):
    out = books.create_transaction(bank, "-100.00", "2026-03-10")["id"]
    into = books.create_transaction(savings, "100.00", "2026-03-12")["id"]
    out_b = books.create_transaction(bank, "-40.00", "2026-03-10", description="Umbuchung")["id"]
    into_b = books.create_transaction(dollars, "49.00", "2026-03-10")["id"]
    books.create_transaction(bank, "-100.00", "2026-03-10", pending=True)
    books.create_transaction(savings, "77.00", "2026-03-10")
    answer = api.post("transactions/transfer_proposals", MARCH)
    assert answer.status_code == 200, answer.content
    assert answer.json() == [
        {"sourceTransactionId": out_b, "targetTransactionId": into_b, "days": 0, "difference": "-1.00"},
        {"sourceTransactionId": out, "targetTransactionId": into, "days": 2, "difference": "0.00"},
    ]
    for pair in answer.json():
        assert books.link_transfer(pair["sourceTransactionId"], pair["targetTransactionId"]).status_code == 200
    assert api.post("transactions/transfer_proposals", MARCH).json() == []
    wrong = api.post("transactions/transfer_proposals", {"startDate": "2026-03-02", "endDate": "2026-03-01"})
    assert wrong.json()["errors"][0]["code"] == "end_before_start"


@pytest.mark.django_db
def test_cross_currency_transfer_needs_own_company_sign(api, books, bank, dollars, set_exchange_rates):
    for source, target, dollars_in, expected in [
        ({}, {}, "50.00", False),
        ({"fromTo": "Acme"}, {}, "48.50", True),
        ({"fromTo": "Acme"}, {}, "48.49", False),
        ({"fromTo": "ACME"}, {"fromTo": "Acme"}, "47.50", True),
        ({"fromTo": "ACME"}, {"fromTo": "Acme"}, "47.49", False),
        ({"fromTo": "Acme"}, {"fromTo": "Globex"}, "50.00", False),
        ({"description": "To Dollars"}, {}, "50.00", True),
        ({}, {"description": "Virement interne"}, "50.00", True),
        ({"description": "SEPA credit transfer"}, {}, "50.00", False),
        ({"fromTo": "Globex"}, {"fromTo": "Initech"}, "50.00", False),
    ]:
        with undo_changes():
            out = books.create_transaction(bank, "-40.00", "2026-03-10", **({"fromTo": ""} | source))["id"]
            into = books.create_transaction(dollars, dollars_in, "2026-03-11", **({"fromTo": ""} | target))["id"]
            assert list_proposals(api) == ([(out, into)] if expected else []), source


@pytest.mark.django_db
def test_third_parties_with_same_amount_are_not_a_transfer(api, books, bank, savings):
    books.create_transaction(bank, "-250.00", "2026-03-10", fromTo="Landlord", description="Rent")
    books.create_transaction(savings, "250.00", "2026-03-10", fromTo="Globex", description="Invoice 7")
    assert list_proposals(api) == []


@pytest.mark.django_db
def test_own_company_legs_are_paired_before_a_third_party(api, books, bank, savings):
    out = books.create_transaction(bank, "-250.00", "2026-03-10", fromTo="Acme")["id"]
    books.create_transaction(savings, "250.00", "2026-03-10", fromTo="Globex")
    into = books.create_transaction(savings, "250.00", "2026-03-12", fromTo="Acme")["id"]
    assert list_proposals(api) == [(out, into)]


@pytest.fixture
def card(books):
    return books.create_account(name="Firmenkreditkarte", type="creditCard")


CARD_SETTLEMENTS = {  # texts at the bank, texts of the card, whether they are proposed
    "settlement words": ({"fromTo": "Kartenabrechnung"}, {"fromTo": "ZAHLUNG ERHALTEN"}, True),
    "in the text": ({"description": "Kartenabrechnung"}, {"description": "ZAHLUNG ERHALTEN"}, True),
    "the card's name": ({"fromTo": "Firmenkreditkarte"}, {"fromTo": "Zahlungseingang"}, True),
    "the card's name and the company": (
        {"fromTo": "Firmenkreditkarte", "description": "transfer"},
        {"fromTo": "Acme", "description": "transfer"},
        True,
    ),
    "the card's name beside settlement words": (
        {"fromTo": "Kartenabrechnung Firmenkreditkarte", "description": "transfer"},
        {"fromTo": "Zahlung erhalten, Danke!", "description": "transfer"},
        True,
    ),
    "English": ({"fromTo": "Credit card payment"}, {"fromTo": "PAYMENT RECEIVED - THANK YOU"}, True),
    "French": ({"fromTo": "Règlement carte de crédit"}, {"fromTo": "Paiement reçu"}, True),
    "Spanish": ({"fromTo": "Liquidación tarjeta"}, {"fromTo": "Pago recibido"}, True),
    "Italian": ({"fromTo": "Addebito carta di credito"}, {"fromTo": "Pagamento ricevuto"}, True),
    "Dutch": ({"fromTo": "Afrekening creditcard"}, {"fromTo": "Betaling ontvangen"}, True),
    "one third party": ({"fromTo": "Bankhaus Nord"}, {"fromTo": "Zahlung erhalten"}, True),
    "two third parties": ({"fromTo": "Amazon"}, {"fromTo": "Globex"}, False),
    "a third party beside a word": ({"fromTo": "Einzug Amazon"}, {"fromTo": "Globex"}, False),
    "a company with such a name": ({"fromTo": "Autopay GmbH"}, {"fromTo": "Globex"}, False),
}


@pytest.mark.django_db
def test_card_settlement_is_proposed_as_transfer(api, books, bank, card):
    for name, (bank_text, card_text, expected) in CARD_SETTLEMENTS.items():
        with undo_changes():
            out = books.create_transaction(bank, "-812.34", "2026-03-10", **bank_text)["id"]
            into = books.create_transaction(card, "812.34", "2026-03-10", **card_text)["id"]
            assert list_proposals(api) == ([(out, into)] if expected else []), name


@pytest.mark.django_db
def test_card_settlement_is_paired_before_a_purchase_of_the_same_amount(api, books, bank, card):
    into = books.create_transaction(card, "812.34", "2026-03-10", fromTo="Zahlung erhalten")["id"]
    books.create_transaction(bank, "-812.34", "2026-03-10", fromTo="Amazon")
    out = books.create_transaction(bank, "-812.34", "2026-03-12", fromTo="Kartenabrechnung")["id"]
    assert list_proposals(api) == [(out, into)]
