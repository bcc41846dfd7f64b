"""What proposing transfers reads of a large company: only rows that another one matches by day and amount."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given

from ledger.models import Transaction
from ledger.models.transactions import Source
from ledger.rules.calc import transfer_pairs
from ledger.rules.calc.parties import CompanyIdentity
from ledger.rules.calc.transfer_candidates import filter_matching_amounts
from ledger.rules.calc.transfer_pairs import CandidateLeg, find_transfer_pairs
from ledger.rules.queries.transfer_proposals import list_candidate_legs, list_transfer_proposals
from tests.ledger.rules.test_transfer_proposals import convert_at_par, legs

YEAR = {"start": date(2025, 1, 1), "end": date(2025, 12, 31)}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@given(legs)
def test_filter_by_amount_keeps_every_pair(rows):
    identity = CompanyIdentity("Acme")
    matching = filter_matching_amounts(rows, convert_amount=convert_at_par)
    pairs = find_transfer_pairs(matching, convert_amount=convert_at_par, identity=identity)
    assert pairs == find_transfer_pairs(rows, convert_amount=convert_at_par, identity=identity)


@given(legs)
def test_filter_by_amount_keeps_only_legs_with_a_match(rows):
    """Texts of all these legs allow a pair, so a leg is kept exactly where it and another are one."""

    def has_pair(leg):
        return any(find_transfer_pairs([leg, other], convert_amount=convert_at_par, identity=ACME) for other in rows)

    matching = {leg.id for leg in filter_matching_amounts(rows, convert_amount=convert_at_par)}
    assert matching == {leg.id for leg in rows if has_pair(leg)}


ACME = CompanyIdentity("Acme")


def create_transactions(company, rows):
    """Store (account id, day, amount, currency) rows, which name nobody."""
    columns = ("account_id", "date", "amount_value", "amount_currency")
    audit = {
        "created_time": NOW,
        "created_user_id": "alice",
        "last_updated_time": NOW,
        "last_updated_user_id": "alice",
    }
    Transaction.objects.bulk_create(
        Transaction(
            company=company,
            source=Source.IMPORT,
            description="Transfer",
            **audit,
            **dict(zip(columns, row, strict=True)),
        )
        for row in rows
    )


@pytest.fixture
def count_read_texts(monkeypatch):
    """A function that returns how many texts were searched for signs since the test began."""
    read_texts = []
    read_party_signs = transfer_pairs.read_party_signs

    def record_text(from_to, description, *others):
        read_texts.append(description)
        return read_party_signs(from_to, description, *others)

    monkeypatch.setattr(transfer_pairs, "read_party_signs", record_text)
    return lambda: len(read_texts)


@pytest.mark.django_db
def test_rows_without_opposite_amount_are_not_read(acme, bank, savings, count_read_texts):
    first = YEAR["start"]
    outgoing = [(bank, first + timedelta(n % 300), Decimal(-1 - n), "EUR") for n in range(3000)]
    late = [(savings, first + timedelta(n % 300 + 6), Decimal(1 + n), "EUR") for n in range(1000)]
    create_transactions(acme, outgoing + late)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert list_transfer_proposals(company=acme, **YEAR) == []
    assert len([query for query in captured if "ledger_transaction" in query["sql"]]) == 1
    assert list_candidate_legs(company=acme, **YEAR, include_categorized=False) == []
    assert count_read_texts() == 0


@pytest.mark.django_db
def test_only_rows_of_possible_pairs_are_read_beside_another_currency(
    acme, books, bank, set_exchange_rates, count_read_texts
):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    outgoing = [(bank, YEAR["start"] + timedelta(n % 300), Decimal(-100 - n), "EUR") for n in range(3000)]
    incoming = [(dollars, YEAR["start"] + timedelta(n), Decimal(1), "USD") for n in range(300)]
    create_transactions(acme, [*outgoing, *incoming, (dollars, YEAR["start"], Decimal("125.00"), "USD")])
    (pair,) = list_transfer_proposals(company=acme, **YEAR)
    assert (pair.source.amount, pair.target.amount) == (Decimal(-100), Decimal(125))
    assert count_read_texts() < 10


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(5))
def test_proposals_are_those_among_all_rows(acme, books, bank, savings, set_exchange_rates, seed):
    random, dollars = Random(seed), books.create_account(name="Dollars", defaultCurrency="USD")
    accounts = [(bank, "EUR"), (savings, "EUR"), (dollars, "USD"), (bank, "USD")]
    rows = [
        (account, YEAR["start"] + timedelta(random.randrange(60)), random.choice((-1, 1)) * amount, currency)
        for account, currency in random.choices(accounts, k=120)
        for amount in [Decimal(random.choice(("10", "12.5", "12.3", "20", "25")))]
    ]
    create_transactions(acme, rows)
    all_legs = [
        CandidateLeg(*row)
        for row in Transaction.objects.for_company(acme.id).values_list(
            "id", "account_id", "date", "amount_value", "amount_currency", "from_to", "description"
        )
    ]
    expected = find_transfer_pairs(all_legs, convert_amount=convert_at_test_rate, identity=CompanyIdentity("Acme"))
    assert len(expected) > 10
    assert list_transfer_proposals(company=acme, **YEAR) == expected


def convert_at_test_rate(amount, source, target, day):
    return (amount * Decimal("1.25") if target == "USD" else amount / Decimal("1.25")).quantize(Decimal("0.01"))
