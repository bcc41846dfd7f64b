"""Make the changes of a scenario by hand, with ordinary API calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ledger.calc.months import add_months, get_first_day_of_month
from planning.calc.plan_postings import PlanAmount, PlanItemSchedule, compute_plan_postings
from tests.planning.scenarios.random_company import HORIZON, apply_to_occurrence

CENT = Decimal("0.01")
Changes = Sequence[dict[str, Any]]


class Person:
    """Makes the changes of a scenario in a company, one planned transaction and plan item at a time."""

    def __init__(self, api: Any):
        self.api = api

    def send(self, method: str, path: str, *body: Any) -> Any:
        response = getattr(self.api, method)(path, *body)
        assert response.status_code in (200, 201), (path, body, response.content)
        return response.json()

    def make_changes(self, changes: Changes) -> None:
        for path, name, make in (
            ("planned_transactions", "plannedTransaction", self.change_planned),
            ("plan_items", "planItem", self.change_item),
        ):
            rows = [(row, list(changes)) for row in self.send("get", path)]
            for position, change in enumerate(changes):
                if name in change:
                    rows.append((self.send("post", path, change[name]), list(changes[position + 1 :])))
            for row, later_changes in rows:
                make(row, later_changes)

    # ------------------------------------------------------------------------------------------ planned transactions

    def change_planned(self, planned: dict[str, Any], changes: Changes) -> None:
        """Override each occurrence that differs; delete one-time transactions that are stopped."""
        window = {"startDate": "2025-06-01", "endDate": str(HORIZON)}
        overrides = dict(planned["overrides"])
        for occurrence in self.send("get", f"planned_transactions/{planned['id']}/occurrences", window):
            day, amount = apply_to_occurrence(planned, occurrence, changes)
            patch: dict[str, Any] = {}
            if not amount:
                patch["skipped"] = True
            elif amount != Decimal(occurrence["amountValue"]):
                patch["amountValue"] = str(amount)
            if str(day) != occurrence["expectedDate"]:
                patch["date"] = str(day)
            if patch:
                original_date = occurrence["originalDate"]
                overrides[original_date] = overrides.get(original_date, {}) | patch
        if overrides == planned["overrides"]:
            return
        if planned["recurrence"] is None and overrides[planned["startDate"]].get("skipped"):
            self.send("delete", f"planned_transactions/{planned['id']}")
        else:
            self.send("put", f"planned_transactions/{planned['id']}", {"overrides": overrides})

    # ------------------------------------------------------------------------------------------ plan items

    def change_item(self, item: dict[str, Any], changes: Changes) -> None:
        """Change the amount or the end of an item, and add items for months that still differ."""
        plan = PlanByHand(item)
        for change in changes:
            if change.get("categoryId") == item["categoryId"] or change.get("plType") == item["plType"]:
                plan = plan.stop(change) if change["kind"] == "stop" else plan.scale(change)
        if plan.is_deleted:
            self.send("delete", f"plan_items/{item['id']}")
        elif plan != PlanByHand(item):
            self.send(
                "put", f"plan_items/{item['id']}", {"amount": plan.item["amount"], "duration": plan.item["duration"]}
            )
        for month, amount in plan.list_differences():
            money = {"value": float(amount), "currency": "EUR"}
            body = {"month": f"{month:%Y-%m}", "frequency": 0, "amount": {"type": "fixed", "amount": money}}
            self.send("post", "plan_items", body | {name: item[name] for name in ("plType", "categoryId")})


def round_to_cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class PlanByHand:
    """A plan item, and the amounts of single months that are changed beside it."""

    item: dict[str, Any]
    amounts: dict[date, Decimal] = field(default_factory=dict)
    is_deleted: bool = False

    @property
    def month(self) -> date:
        return date.fromisoformat(f"{self.item['month'][:7]}-01")

    @property
    def value(self) -> Decimal:
        return Decimal(str(self.item["amount"]["amount"]["value"]))

    @property
    def postings(self) -> dict[date, Decimal]:
        amount = self.item["amount"]
        plan_amount = PlanAmount(amount["type"], self.value, Decimal(str(amount.get("relativeChange") or 0)))
        schedule = PlanItemSchedule(self.month, plan_amount, self.item["frequency"], self.item["duration"])
        return compute_plan_postings(schedule, window_start=self.month, window_end=get_first_day_of_month(HORIZON))

    def scale(self, change: dict[str, Any]) -> "PlanByHand":
        factor = 1 + Decimal(str(change["percent"])) / 100
        first, last = change.get("from", ""), change.get("to", "9")
        is_once, is_fixed = self.item["frequency"] == 0, self.item["amount"]["type"] == "fixed"
        duration = 1 if is_once else self.item["duration"]
        ends_within = last == "9" or (duration and str(add_months(self.month, duration - 1)) <= last)
        scaled = round_to_cents(self.value * factor)
        is_whole = first <= str(self.month) and ends_within and not self.amounts
        if is_whole and (is_fixed or is_once or scaled == self.value * factor):
            amount = self.item["amount"]
            return replace(
                self, item=self.item | {"amount": amount | {"amount": amount["amount"] | {"value": float(scaled)}}}
            )
        amounts = dict(self.amounts)
        for month, exact in self.postings.items():
            if first <= str(month) <= last:
                amounts[month] = round_to_cents(amounts.get(month, exact) * factor)
        return replace(self, amounts=amounts)

    def stop(self, change: dict[str, Any]) -> "PlanByHand":
        months = [month for month in self.postings if str(month) < change["from"]]
        if len(months) == len(self.postings):
            return self
        amounts = {month: amount for month, amount in self.amounts.items() if month in months}
        if not months:
            return replace(self, amounts={}, is_deleted=True)
        duration = (months[-1].year - self.month.year) * 12 + months[-1].month - self.month.month + 1
        return replace(self, item=self.item | {"duration": duration}, amounts=amounts)

    def list_differences(self) -> list[tuple[date, Decimal]]:
        planned = self.postings
        results = [(month, amount - round_to_cents(planned[month])) for month, amount in self.amounts.items()]
        return [(month, difference) for month, difference in results if difference]
