"""As reported + differences = now, after any operations on reopened months, against a naive model (hypothesis)."""

from collections import defaultdict
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.models import Categorization, Closing, Transaction
from tests.api.request_bodies import FUZZ

pytestmark = pytest.mark.django_db

MONTHS = ["2026-01", "2026-02", "2026-03"]
DAYS = [f"{month}-{day:02}" for month in MONTHS for day in (1, 15, 28)]
AMOUNTS = st.integers(-500, 500).filter(bool).map(lambda cents: f"{Decimal(cents) / 100:.2f}")
DAY = st.sampled_from(DAYS)
INDEX = st.integers(0, 30)
OPERATIONS = st.one_of(
    st.tuples(st.just("book"), AMOUNTS, DAY),
    st.tuples(st.just("change"), INDEX, AMOUNTS, DAY),
    st.tuples(st.just("delete"), INDEX),
    st.tuples(st.just("categorize"), INDEX, st.sampled_from([None, "2026-01-10", "2026-02-20"])),
    st.tuples(st.just("uncategorize"), INDEX),
    st.tuples(st.just("link"), INDEX, INDEX),
    st.tuples(st.just("close"), st.sampled_from(MONTHS)),
    st.tuples(st.just("reopen"), st.sampled_from(MONTHS)),
)


class Driver:
    """Runs operations over HTTP; what is closed must refuse, and all else may."""

    def __init__(self, api, accounts, category):
        self.api, self.accounts, self.category = api, accounts, category
        self.ids = []

    def pick(self, index):
        return self.ids[index % len(self.ids)] if self.ids else "00000000-0000-7000-8000-000000000000"

    def run(self, name, *args):
        answer = getattr(self, name)(*args)
        assert answer.status_code < 500, answer.content
        return answer

    def book(self, amount, day):
        account = self.accounts[len(self.ids) % 2]
        answer = self.api.post("transactions", {"accountId": account, "date": day, "amountValue": amount})
        if answer.status_code == 201:
            self.ids.append(answer.json()["id"])
        return answer

    def change(self, index, amount, day):
        return self.api.put(f"transactions/{self.pick(index)}", {"amountValue": amount, "date": day})

    def delete(self, index):
        row_id = self.pick(index)
        answer = self.api.delete(f"transactions/{row_id}")
        if answer.status_code == 200:
            self.ids.remove(row_id)
        return answer

    def categorize(self, index, start):
        body = {"selection": {"mode": "ids", "ids": [self.pick(index)]}, "categoryId": self.category}
        if start:
            body["usingDateRule"] = {"type": "servicePeriod", "startDate": start, "endDate": "2026-03-20"}
        return self.api.post("transactions/categorize", body)

    def uncategorize(self, index):
        return self.api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [self.pick(index)]}})

    def link(self, source, target):
        body = {"sourceTransactionId": self.pick(source), "targetTransactionId": self.pick(target), "force": True}
        return self.api.post("transactions/link_transfer", body)

    def close(self, month):
        return self.api.post("closings", {"month": month, "acknowledge": True})

    def reopen(self, month):
        return self.api.post(f"closings/{month}/reopen", {"reason": "Test"})


def compute_naive_figures(company, month):
    """The figures of a month, added up from the facts one by one; all in the base currency."""
    result = defaultdict(Decimal)
    for row in Transaction.objects.for_company(company.id):
        if row.date.isoformat()[:7] <= month:
            result["balance", str(row.account_id)] += row.amount_value
        if row.date.isoformat()[:7] == month:
            flow = row.amount_value - row.transferred_value
            result["inflow" if row.amount_value > 0 else "outflow", str(row.account_id)] += abs(flow)
    for part in Categorization.objects.for_company(company.id).filter(counter=None):
        start, end = part.computed_start_date, part.computed_end_date
        days = (end - start).days + 1
        whole = part.split.get("ga", Decimal(0))
        before = Decimal(0)
        for number in range(1, days + 1):
            share = (abs(whole) * number / days).quantize(Decimal("0.01"), "ROUND_HALF_UP").copy_sign(whole)
            day = start.fromordinal(start.toordinal() + number - 1)
            if day.isoformat()[:7] == month:
                result["profitAndLoss", str(part.category_id)] -= share - before
            before = share
    return {key: value for key, value in result.items() if value}


def build_key(figure):
    return figure["figure"], figure.get("accountId") or figure.get("categoryId")


def exact(answer):
    return {build_key(each): each for each in answer.json()}


@settings(max_examples=FUZZ or 6)
@given(operations=st.lists(OPERATIONS, min_size=8, max_size=40))
def test_reported_and_differences_make_what_is_now(open_driver, operations):
    with open_driver() as driver:
        api = driver.api
        driver.book("100.00", "2026-01-15")
        driver.book("-100.00", "2026-01-15")
        for operation in operations:
            closed_through = api.get().json()["closedThrough"]
            before = [compute_naive_figures(api.company, month) for month in MONTHS]
            answer = driver.run(*operation)
            after = [compute_naive_figures(api.company, month) for month in MONTHS]
            for month, was, now in zip(MONTHS, before, after, strict=True):
                if closed_through and f"{month}-01" <= closed_through and operation[0] != "reopen":
                    assert was == now, (operation, answer.content)
        for closing in Closing.objects.for_company(api.company.id):
            month, params = f"{closing.month:%Y-%m}", {"version": closing.version}
            figures = api.get(f"closings/{month}", params).json()["figures"]
            reported = {build_key(each): Decimal(str(each["value"])) for each in figures if each["value"]}
            differences = exact(api.get(f"closings/{month}/differences", params))
            now = dict(reported)
            for key, each in differences.items():
                was, is_now, difference = (Decimal(str(each[name])) for name in ("was", "is", "difference"))
                assert was + difference == is_now
                assert was == reported.get(key, 0)
                assert each["because"], "somebody did it"
                now[key] = is_now
            assert {key: value for key, value in now.items() if value} == compute_naive_figures(api.company, month)
