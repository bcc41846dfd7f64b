"""Random plans of a company over HTTP, and what a scenario says of one occurrence by the rules of each change."""

from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from hypothesis import strategies as st

from tests.planning.scenarios.conftest import TODAY, day_in_month, month_ahead

WINDOW = (TODAY + timedelta(days=1), date.fromisoformat(day_in_month(14, 28)))
REACH = 100  # days by which the changes of one scenario may move a payment
HORIZON = TODAY + timedelta(days=3 * 366 + REACH)  # what the runway looks at, and what can be moved there

days = st.builds(day_in_month, st.integers(1, 12), st.integers(1, 28))
numbers = st.integers(0, 2)
amounts = st.decimals(-9999, 9999, places=2).filter(bool)
planned_bodies = st.fixed_dictionaries(
    {
        "startDate": st.one_of(days, st.sampled_from(["2026-01-31", "2026-08-30"])),
        "amountValue": amounts.map(str),
        "category": st.none() | numbers,
        "transfer": st.booleans(),  # between own accounts, where there is no category
        "counterparty": st.none() | numbers,
        "weekendShift": st.sampled_from(["none", "before", "after"]),
        "recurrence": st.none()
        | st.fixed_dictionaries(
            {
                "frequency": st.sampled_from(["day", "week", "month", "month", "year"]),
                "interval": st.integers(1, 4),
                "end": st.one_of(
                    st.just({"type": "never"}),
                    st.builds(lambda count: {"type": "count", "count": count}, st.integers(1, 30)),
                ),
            }
        ),
        "paid": st.none() | st.sampled_from(["settle", "settle in part", "write_off"]),
        "override": st.none()
        | st.fixed_dictionaries(
            {"index": st.integers(0, 5)},
            optional={
                "amountValue": amounts.map(str),
                "date": days,
                "skipped": st.booleans(),
                "category": numbers,
            },
        ),
    }
)
invoice_bodies = st.fixed_dictionaries(
    {
        "startDate": st.integers(-90, 90).map(lambda number: str(TODAY + timedelta(days=number))),
        "invoiceDate": st.integers(-120, 30).map(lambda number: str(TODAY + timedelta(days=number))),
        "paymentTerms": st.none() | st.integers(0, 60),
        "amountValue": amounts.map(str),
        "category": st.none() | numbers,
        "counterparty": numbers,
        "recurrence": st.none(),
        "paid": st.none() | st.sampled_from(["settle", "settle in part", "write_off"]),
        "override": st.none()
        | st.fixed_dictionaries({"index": st.just(0)}, optional={"date": days, "amountValue": amounts.map(str)}),
    }
)
item_bodies = st.fixed_dictionaries(
    {
        "month": st.builds(month_ahead, st.integers(1, 12)),
        "category": numbers,
        "frequency": st.integers(0, 3),
        "duration": st.none() | st.integers(1, 20),
        "amount": st.builds(
            lambda kind, value, growth: {
                "type": kind,
                "amount": {"value": value / 100, "currency": "EUR"},
                "relativeChange": growth / 100,
            },
            st.sampled_from(["fixed", "changeByAmount", "relative"]),
            st.integers(-99999, 99999),
            st.integers(-5, 5),
        ),
    }
)
targets = st.one_of(
    st.tuples(st.just("plannedTransactionId"), numbers),
    st.tuples(st.just("counterpartyId"), numbers),
    st.tuples(st.just("categoryId"), numbers),
)
periods = st.fixed_dictionaries({}, optional={"from": days, "to": days}).filter(
    lambda period: period.get("from", "") <= period.get("to", "9")
)
changes = st.one_of(
    st.builds(lambda target, percent, period: ("scale", target, {"percent": percent} | period),
              targets | st.just(("plType", "ga")), st.integers(-1000, 1000).map(lambda number: number / 10), periods),
    st.builds(lambda target, number, period: ("shift", target, {"days": number} | period),
              targets.filter(lambda target: target[0] != "categoryId"), st.integers(-20, 20), periods),
    st.builds(lambda target, day: ("stop", target, {"from": day}), targets, days),
    st.builds(lambda body: ("add", ("plannedTransaction", body), {}), planned_bodies),
    st.builds(lambda body: ("add", ("planItem", body), {}), item_bodies),
)  # fmt: skip


class RandomCompany:
    """A company with random plans, which can turn drawn values into bodies."""

    def __init__(self, api: Any, account: Any, categories: list[Any], counterparties: list[Any]):
        self.api, self.account, self.planned = api, account, list[dict[str, Any]]()
        self.categories = [str(category.id) for category in categories]
        self.counterparties = [str(counterparty.id) for counterparty in counterparties]
        self.card = self.create("accounts", {"name": "Card", "type": "creditCard"})["id"]

    def build_planned(self, drawn: dict[str, Any]) -> dict[str, Any]:
        body = {
            name: value
            for name, value in drawn.items()
            if name not in ("category", "counterparty", "transfer", "paid", "override")
        }
        body |= {
            "autoSettle": False,
            "accountId": str(self.account.id),
            "name": "Planned",
            "categoryId": None,
            "counterparty": None,
        }
        if drawn["category"] is not None:
            body["categoryId"] = self.categories[drawn["category"]]
        elif drawn.get("transfer"):
            body["transferAccountId"] = self.card
        if drawn["counterparty"] is not None:
            body["counterparty"] = {"id": self.counterparties[drawn["counterparty"]]}
        return body

    def build_item(self, drawn: dict[str, Any]) -> dict[str, Any]:
        body = {name: drawn[name] for name in ("month", "frequency", "duration", "amount")}
        return body | {"plType": "ga", "categoryId": self.categories[drawn["category"]]}

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        made = self.api.post(path, body)
        assert made.status_code == 201, made.content
        return made.json()

    def plan(self, drawn: dict[str, Any]) -> None:
        planned = self.create("planned_transactions", self.build_planned(drawn))
        self.planned.append(planned)
        occurrences = self.list_occurrences(planned["id"])
        if occurrences and (override := drawn["override"]):
            day = occurrences[override["index"] % len(occurrences)]["originalDate"]
            patch = {name: value for name, value in override.items() if name in ("amountValue", "date", "skipped")}
            if "category" in override and planned["transferAccountId"] is None:
                patch["categoryId"] = self.categories[override["category"]]
            answer = self.api.put(f"planned_transactions/{planned['id']}/overrides/{day}", patch)
            assert answer.status_code == 200, answer.content
        self.pay(planned, drawn["paid"])

    def pay(self, planned: dict[str, Any], paid: str | None) -> None:
        """Settle the first occurrence in part or as a whole, or write it off."""
        occurrences = self.list_occurrences(planned["id"])
        if paid is None or not occurrences:
            return
        day, amount = occurrences[0]["originalDate"], Decimal(occurrences[0]["amountValue"])
        body: dict[str, Any] = {"date": day, "reason": "Lost"}
        if paid == "write_off" and planned["recurrence"] is None:  # from the invoice date on
            body["date"] = max(day, planned["invoiceDate"] or "")
        if paid != "write_off":
            amount = amount if paid == "settle" else (amount / 3).quantize(Decimal("0.01")) or amount
            booked = {"accountId": str(self.account.id), "date": str(TODAY), "amountValue": str(amount)}
            body = {"date": day, "transactionId": self.create("transactions", booked)["id"]}
        answer = self.api.post(f"planned_transactions/{planned['id']}/{paid.removesuffix(' in part')}", body)
        assert answer.status_code == 200, answer.content

    def list_occurrences(self, planned_id: str) -> list[dict[str, Any]]:
        query = {"startDate": "2025-06-01", "endDate": str(HORIZON)}
        answer = self.api.get(f"planned_transactions/{planned_id}/occurrences", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def build_change(self, kind: str, target: tuple[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        name, value = target
        if name == "plannedTransaction":
            value = self.build_planned(value)
        elif name == "planItem":
            value = self.build_item(value)
        elif name == "plannedTransactionId":
            value = self.planned[value % len(self.planned)]["id"]
        elif name in ("categoryId", "counterpartyId"):
            value = (self.categories if name == "categoryId" else self.counterparties)[value]
        return {"kind": kind, name: value, **values}

    def query(self, scenario_id: str | None, *, api: Any = None) -> list[Any]:
        """The cash flow, the balances and the plan, under a scenario or without one; of a copy with another caller."""
        days = {"startDate": str(WINDOW[0]), "endDate": str(WINDOW[1]), "interval": "day", "scenarioId": scenario_id}
        months = {"startMonth": month_ahead(1), "endMonth": month_ahead(14), "scenarioId": scenario_id}
        bodies = {
            "forecastCashFlowTimeSeries": days,
            "forecastBalanceTimeSeries": days | {"byAccount": True},
            "profitAndLoss": months,
            "runway": {"scenarioId": scenario_id},
        }
        answers = [(api or self.api).post(f"data/{name}", body) for name, body in bodies.items()]
        assert [answer.status_code for answer in answers] == [200] * 4, [answer.content for answer in answers]
        return [answer.json() for answer in answers]


def apply_to_occurrence(
    planned: dict[str, Any], occurrence: dict[str, Any], scenario_changes: list[dict[str, Any]]
) -> tuple[date, Decimal]:
    """The day and the amount of an occurrence under changes; 0 if it is stopped. What is settled does not change."""
    day, amount = date.fromisoformat(occurrence["expectedDate"]), Decimal(occurrence["amountValue"])
    if occurrence["settlements"]:
        return day, amount
    for change in scenario_changes:
        is_target = (
            change.get("plannedTransactionId") == planned["id"]
            or (planned["counterparty"] and change.get("counterpartyId") == planned["counterparty"]["id"])
            or (occurrence["categoryId"] and change.get("categoryId") == occurrence["categoryId"])
            or (occurrence["categoryId"] and change.get("plType"))
        )
        first, last = change.get("from", ""), change.get("to", "9")
        if change["kind"] == "add" or not is_target or not first <= occurrence["originalDate"] <= last:
            continue
        if change["kind"] == "stop":
            return day, Decimal(0)
        if change["kind"] == "shift":
            day += timedelta(days=change["days"])
        else:
            factor = 1 + Decimal(str(change["percent"])) / 100
            amount = (amount * factor).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return day, amount
