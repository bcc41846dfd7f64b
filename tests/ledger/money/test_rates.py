"""Rates: the bank's file against the package's own reading of it, and what follows when others arrive."""

import io
import zipfile
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import psycopg
import pytest
from currency_converter import CurrencyConverter
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from ledger.models import MonthResult, Rate, RateLoad
from ledger.money import rates
from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import CURRENCIES
from ledger.money.rates import UnreadableRates, get_rate_table, load_packaged_rates, load_rates, parse_rates
from ledger.recognition.actions import rate_updates
from ledger.recognition.actions.postings import find_posting_differences

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture(scope="module")
def converter():
    return CurrencyConverter(
        decimal=True,
        fallback_on_missing_rate=True,
        fallback_on_missing_rate_method="last_known",
        fallback_on_wrong_date=True,
    )


def test_conversion_agrees_with_currency_converter_package(converter):
    """Where it answers for the day itself or a later one: before a currency's first rate our rule differs."""
    chance, rates = Random(7), get_rate_table()
    first = {currency: rates.get_rate_date(currency, date.min) for currency in CURRENCIES if currency != "EUR"}
    first["EUR"] = date(1999, 1, 4)
    compared = 0
    while compared < 1000:
        source, target = chance.sample(CURRENCIES, 2)
        begin = max(first[source], first[target])
        day = begin + timedelta(days=chance.randrange((date(2026, 10, 30) - begin).days + 1))
        theirs = converter.convert(Decimal(1000), source, target, date=day)
        ours = convert_currency(Decimal(1000), source=source, target=target, day=day, rates=rates)
        assert abs(theirs - ours) <= abs(ours) * Decimal("1e-20"), (source, target, day)
        compared += 1


def test_weekend_uses_friday_rate_and_earlier_days_use_first_rate():
    rates = get_rate_table()
    assert rates.get_rate("USD", date(2024, 1, 7)) == rates.get_rate("USD", date(2024, 1, 5))
    assert rates.get_rate("INR", date(1999, 1, 1)) == rates.get_rate("INR", date(2009, 1, 1))


def test_currency_without_rates_raises_error():
    with pytest.raises(RateLookupError):
        RateTable([]).get_rate("USD", date(2024, 1, 1))


def test_loading_same_rates_again_changes_nothing():
    loads = RateLoad.objects.count()
    assert load_packaged_rates(now=NOW) is None
    data = b"Date,USD,JPY,\n2026-11-19,1.10,170.5,\n"
    assert load_rates(data=data, source="one", now=NOW) == date(2026, 11, 19)
    assert load_rates(data=data, source="two", now=NOW) is None
    assert RateLoad.objects.count() == loads + 1


@pytest.mark.parametrize(
    "data",
    [
        b"Date,USD,\n2026-11-19,1.10,\n",
        b"Date, USD, JPY, \n19 November 2026, 1.10, N/A, \n",
    ],
)
def test_rate_history_and_daily_file_are_read_zipped_or_plain(data):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("eurofxref.csv", data)
    expected = [("USD", date(2026, 11, 19), Decimal("1.10"))]
    assert list(parse_rates(data)) == list(parse_rates(packed.getvalue())) == expected


def test_invalid_rates_file_is_rejected(tmp_path):
    before = Rate.objects.count()
    for data in [
        b"",
        b"hello",
        b"Date,USD\n2026-13-01,1\n",
        b"Date,USD\n2026-01-01,-1\n",
        b"Date,USD\n2026-01-01,x\n",
        b"PK??",
    ]:
        with pytest.raises(UnreadableRates):
            load_rates(data=data, source="x", now=NOW)
        (tmp_path / "rates.csv").write_bytes(data)
        with pytest.raises(CommandError):
            call_command("update_rates", file=str(tmp_path / "rates.csv"))
        assert Rate.objects.count() == before, data


def test_new_rates_reconvert_results_and_balances(api, tmp_path):
    account = api.post("accounts", {"type": "bank", "name": "Dollars", "defaultCurrency": "USD"}).json()["id"]
    hosting = api.get_category_id("hosting")
    item = {"accountId": account, "date": "2026-11-18", "amountValue": "-100.00", "categoryId": hosting}
    api.post("transactions/import", {"transactions": [item]})
    window = {"startDate": "2026-11-18", "endDate": "2026-11-18"}
    old = api.post("data/accountBalanceByAccount", window).json()[account]["value"]
    (tmp_path / "rates.csv").write_text("Date,USD,\n2026-11-18,2.00,\n2026-11-19,4.00,\n")
    call_command("update_rates", file=str(tmp_path / "rates.csv"))
    assert old != -50
    assert api.post("data/accountBalanceByAccount", window).json()[account]["value"] == -50
    (result,) = MonthResult.objects.exclude(count=0)
    assert result.base_amount == -50
    assert find_posting_differences(api.company.id) == []


def test_interrupted_rate_update_is_completed_by_the_next(api, get_spent_amount, tmp_path, monkeypatch):
    (tmp_path / "rates.csv").write_text("Date,USD,\n2026-11-18,2.00,\n2026-11-19,4.00,\n")
    with monkeypatch.context() as killed:
        killed.setattr(rate_updates, "convert_company_postings", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            call_command("update_rates", file=str(tmp_path / "rates.csv"))
    output = io.StringIO()
    call_command("update_rates", file=str(tmp_path / "rates.csv"), stdout=output)
    assert "Rates loaded. Transactions converted again: 1." in output.getvalue()
    assert get_spent_amount() == -50
    assert find_posting_differences(api.company.id) == []
    call_command("update_rates", file=str(tmp_path / "rates.csv"), stdout=output)
    assert output.getvalue().endswith("No new rates.\n")


def raise_interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture
def get_spent_amount(api):
    """Create a payment of 100 dollars; return its result in the company's currency."""
    account = api.post("accounts", {"type": "bank", "name": "Dollars", "defaultCurrency": "USD"}).json()["id"]
    hosting = api.get_category_id("hosting")
    item = {"accountId": account, "date": "2026-11-18", "amountValue": "-100.00", "categoryId": hosting}
    api.post("transactions/import", {"transactions": [item]})
    return lambda: MonthResult.objects.exclude(count=0).get().base_amount


RATES_FILE = b"Date,USD,\n2026-11-18,2.00,\n2026-11-19,4.00,\n"


def test_concurrent_base_currency_change_converts_to_new_currency(api, get_spent_amount):
    load_rates(data=RATES_FILE, source="one", now=NOW)
    rate_updates.convert_results_to_new_rates(now=NOW, report_progress=lambda *_: api.put("", {"baseCurrency": "USD"}))
    assert get_spent_amount() == -100
    assert find_posting_differences(api.company.id) == []


def test_rate_load_without_changed_from_is_still_converted(api, get_spent_amount):
    """It may still run beside this one, and be stopped as well."""
    load_rates(data=RATES_FILE, source="one", now=NOW)
    RateLoad.objects.update(changed_from=None)
    assert rate_updates.convert_results_to_new_rates(now=NOW) == 1
    assert get_spent_amount() == -50
    assert rate_updates.convert_results_to_new_rates(now=NOW) is None


def test_rate_load_waits_for_a_concurrent_load():
    """Of two at once the later number might be there first, and nobody would look for the other any more."""
    with psycopg.connect(**connection.get_connection_params()) as other, connection.cursor() as cursor:
        other.execute("INSERT INTO ledger_rateload (source, loaded_time, rows) VALUES ('other', now(), 1)")
        cursor.execute("SET LOCAL lock_timeout = '50ms'")
        with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
            load_rates(data=RATES_FILE, source="one", now=NOW)
        other.rollback()
    assert load_rates(data=RATES_FILE, source="one", now=NOW) == date(2026, 11, 18)


def test_rate_table_is_returned_even_if_another_thread_replaced_cache(monkeypatch):
    class Contended(dict):
        def __setitem__(self, version, table):
            super().__setitem__(version + 1, table)

    monkeypatch.setattr(rates, "_RATE_TABLES", Contended())
    assert get_rate_table().get_rate("USD", date(2024, 1, 2)) > 1
