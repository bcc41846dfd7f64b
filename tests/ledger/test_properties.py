"""Rules that hold for any numbers and dates: parts add up, links change no balance, undo is exact, pages are whole."""

from datetime import date
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.models import Categorization, DayMovement, Posting, Transaction
from ledger.money.calc.money import CURRENCIES, get_minor_units
from ledger.recognition.actions import account_movements, postings

pytestmark = pytest.mark.django_db
few_examples = settings(max_examples=12)
days = st.dates(date(2005, 1, 1), date(2026, 6, 30))


@st.composite
def draw_amount(draw, currency, least=1, most=10**12):
    """An amount of the currency as a text, out or in, never zero."""
    units = draw(st.integers(least, most)) * draw(st.sampled_from([-1, 1]))
    return f"{Decimal(units).scaleb(-get_minor_units(currency)):f}"


@st.composite
def draw_split_transaction(draw):
    """(currency, amount, day, parts of it in units, first and last day of a period)."""
    currency = draw(st.sampled_from(CURRENCIES))
    amount = draw(draw_amount(currency))
    units = abs(int(Decimal(amount).scaleb(get_minor_units(currency))))
    cuts = sorted(draw(st.lists(st.integers(0, units), max_size=3)))
    parts = [end - start for start, end in zip([0, *cuts], [*cuts, units], strict=True)]
    start = draw(days)
    length = draw(st.integers(0, 2000))
    return currency, amount, draw(days), parts, start, date.fromordinal(start.toordinal() + length)


@few_examples
@given(movement=draw_split_transaction())
def test_postings_sum_to_the_amount_in_any_currency_and_period(books, api, acme, bank, movement):
    currency, amount, day, parts, start, end = movement
    made = books.create_transaction(bank, amount, day.isoformat(), amountCurrency=currency)
    sign = -1 if amount.startswith("-") else 1
    rule = {"type": "servicePeriod", "startDate": start.isoformat(), "endDate": end.isoformat()}
    category = api.post("categories", {"name": "Any", "plTypes": ["ga", "no"]}).json()["id"]
    values = [float(Decimal(sign * part).scaleb(-get_minor_units(currency))) for part in parts]
    answer = books.set_categorizations(
        made["id"],
        *(
            {"categoryId": category, "plSplit": {"ga" if n % 2 else "no": value}, "usingDateRule": rule}
            for n, value in enumerate(values)
        ),
    )
    assert answer.status_code == 200, answer.content
    row = Transaction.objects.get(id=made["id"])
    assert row.categorized_value == row.amount_value == Decimal(amount)
    own = Categorization.objects.filter(transaction_id=made["id"]).values_list("id", flat=True)
    assert sum(line.amount for line in Posting.objects.filter(categorization_id__in=list(own))) == Decimal(amount)
    assert postings.find_posting_differences(acme.id) == []


def sum_day_movements(company):
    rows = list(DayMovement.objects.for_company(company.id))
    return [sum(getattr(row, name) for row in rows) for name in ("amount", "inflow", "outflow")]


@few_examples
@given(data=st.data(), currency=st.sampled_from(CURRENCIES), day=days, other_day=days)
def test_linked_transfer_keeps_balances_and_leaves_cash_flows(
    books, acme, bank, savings, data, currency, day, other_day
):
    amount = data.draw(draw_amount(currency))
    opposite = amount[1:] if amount.startswith("-") else f"-{amount}"
    books.create_transaction(bank, data.draw(draw_amount(currency)), day.isoformat(), amountCurrency=currency)
    source = books.create_transaction(bank, amount, day.isoformat(), amountCurrency=currency)["id"]
    target = books.create_transaction(savings, opposite, other_day.isoformat(), amountCurrency=currency)["id"]
    balance, inflow, outflow = sum_day_movements(acme)
    assert books.link_transfer(source, target).status_code == 200
    moved = abs(Decimal(amount))
    assert sum_day_movements(acme) == [balance, inflow - moved, outflow - moved]
    assert (
        account_movements.find_account_movement_differences(acme.id) == postings.find_posting_differences(acme.id) == []
    )


@few_examples
@given(data=st.data())
def test_import_after_undo_gives_same_balances(api, acme, bank, data):
    amounts = data.draw(st.lists(draw_amount("EUR", most=10**6), min_size=1, max_size=8))
    dates = data.draw(st.lists(days, min_size=len(amounts), max_size=len(amounts)))
    rows = [
        {"accountId": bank, "date": day.isoformat(), "fromTo": "x", "description": "y", "amountValue": amount}
        for amount, day in zip(amounts, dates, strict=True)
    ]

    def cells():
        return {
            (row.account_id, row.date): (row.amount, row.inflow, row.outflow)
            for row in DayMovement.objects.for_company(acme.id).exclude(count=0)
        }

    before = cells()
    first = api.post("transactions/import", {"transactions": rows}).json()
    after = cells()
    assert api.delete(f"imports/{first['importId']}").json()["deletedCount"] == len(rows)
    assert cells() == before
    api.post("transactions/import", {"transactions": rows})
    assert cells() == after


@few_examples
@given(
    sort=st.sampled_from(["-date", "date", "-amount", "amount"]),
    limit=st.integers(1, 5),
    inserts=st.lists(st.tuples(st.integers(1, 9), st.integers(-3, 3)), max_size=8),
)
def test_paging_during_inserts_skips_and_repeats_no_rows(books, api, acme, bank, sort, limit, inserts):
    Transaction.objects.for_company(acme.id).delete()
    for n in range(12):
        books.create_transaction(bank, f"{n % 3}.00", f"2026-01-0{n % 4 + 1}")
    there = {each["id"] for each in api.get("transactions").json()}
    seen, params, waiting = [], {"sort": sort, "limit": limit}, list(inserts)
    while params:
        answer = api.get("transactions", params)
        seen += [each["id"] for each in answer.json()]
        if waiting:
            day, amount = waiting.pop()
            books.create_transaction(bank, f"{amount}.00", f"2026-01-0{day}")
        link = answer.headers.get("Link", "")
        params = dict(parse_qsl(urlsplit(link[1:].partition(">")[0]).query)) if link else None
    assert len(seen) == len(set(seen))
    assert there <= set(seen)
