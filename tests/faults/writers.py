"""What eight writers do to one company at the same time, each act with the refusals that another's act explains."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Any

from tests.faults.service import Answer, Caller, Service

Refusals = Set[tuple[int, str]]

ROWS = 50  # of an import
GONE = {(404, "not_found"), (400, "unknown_id")}  # another deleted it
STALE = {(412, "precondition_failed")}
LINKED = {(409, "transaction_linked")}
UNLINKABLE = {(409, "already_linked"), (400, "transfer_source_closed"), (400, "transfer_target_closed")}
APART = {(409, "not_linked")}


@dataclass
class SharedState:
    """What all writers know, and what came of their acts."""

    service: Service
    accounts: list[str]
    categories: list[str]
    general: str  # a category that posts to general and administrative costs
    subscription: str
    transactions: list[str] = field(default_factory=list)
    amounts: dict[str, int] = field(default_factory=dict)
    linked: list[str] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)  # id → the name in its rows
    undone: set[str] = field(default_factory=set)
    plan_items: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)  # request id of a change → what was changed how
    idle: list[str] = field(default_factory=list)  # request ids of what was refused, or had nothing to change
    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    surprises: list[Any] = field(default_factory=list)
    numbers: Any = field(default_factory=itertools.count)


def create_shared_state(service: Service) -> SharedState:
    caller = service.caller()
    accounts = [service.account("Left"), service.account("Right")]
    categories = caller.ask("GET", service.path("categories")).body
    customer = caller.ask("POST", service.path("counterparties"), {"type": "customer", "name": "Customer"}).body["id"]
    subscription = caller.ask("POST", service.path("subscriptions"), {"customerId": customer}).body["id"]
    chosen = [each["id"] for each in categories if len(each["plTypes"]) == 1][:6]
    general = next(each["id"] for each in categories if each["systemKey"] == "officeAndAdmin")
    return SharedState(service, accounts, chosen, general, subscription)


class Writer:
    """One of the eight."""

    def __init__(self, shared: SharedState, *, seed: int) -> None:
        self.shared, self.random = shared, random.Random(seed)
        self.caller: Caller = shared.service.caller()

    def act(self) -> None:
        """One act of any kind; those that others build upon more often."""
        self.random.choice(ACTS)(self)

    def ask(self, method: str, path: str, body: Any = None, *, but: Refusals = frozenset(), **headers: str) -> Any:
        """The body of a good answer; None for one of the refusals that are expected."""
        shared = self.shared
        request = f"w{next(shared.numbers)}"
        answer = self.caller.ask(method, shared.service.path(path), body, X_Request_Id=request, **headers)
        changes = method != "GET"
        shared.counts[f"{method} {path.split('/')[0].split('?')[0]}", answer.status] += 1
        without_effect = answer.fine and isinstance(answer.body, dict) and answer.body.get("affected") == 0
        if changes and (without_effect or not answer.fine):
            shared.idle.append(request)
        elif changes:
            shared.acknowledged[request] = f"{method} {path}"
        if answer.fine:
            return answer
        if not list_error_codes(answer) & but:
            shared.surprises.append((method, path, body, answer.status, answer.body))
        return None

    def pick(self, pool: list[str]) -> str | None:
        return self.random.choice(pool) if pool else None

    # ------------------------------------------------------------------ acts

    def book(self) -> None:
        amount = self.random.choice((-10, 10))
        body = {
            "accountId": self.shared.accounts[amount > 0], "date": f"2025-03-{self.random.randint(10, 28)}",
            "amountValue": f"{amount}.00",
        }  # fmt: skip
        if made := self.ask("POST", "transactions", body):
            self.shared.amounts[made.body["id"]] = amount
            self.shared.transactions.append(made.body["id"])

    def edit(self) -> None:
        """With the version that was read; every fifth moves money to the other day, which balances must follow."""
        if not (row := self.pick(self.shared.transactions)):
            return
        if not (read := self.ask("GET", f"transactions/{row}", but=GONE)):
            return
        body: dict[str, Any] = {"notes": f"note {self.random.random()}"}
        if self.random.random() < 0.2:
            body["date"] = f"2025-04-{self.random.randint(10, 28)}"
        self.ask("PUT", f"transactions/{row}", body, but=GONE | STALE | LINKED, If_Match=read.headers["etag"])

    def delete(self) -> None:
        if self.random.random() < 0.5 and (row := self.pick(self.shared.transactions)):
            read = self.ask("GET", f"transactions/{row}", but=GONE)
            if read:
                self.ask("DELETE", f"transactions/{row}", but=GONE | STALE, If_Match=read.headers["etag"])

    def categorize(self) -> None:
        rows = [row for _ in range(5) if (row := self.pick(self.shared.transactions))]
        selection = {"mode": "ids", "ids": rows}
        if self.random.random() < 0.2:
            selection = {"mode": "filter", "filter": {"accountId": self.shared.accounts, "startDate": "2025-04-01"}}
        body = {"selection": selection, "categoryId": self.random.choice(self.shared.categories)}
        if rows:
            self.ask("POST", "transactions/categorize", body, but=GONE)

    def uncategorize(self) -> None:
        rows = [row for _ in range(5) if (row := self.pick(self.shared.transactions))]
        if rows:
            self.ask("POST", "transactions/uncategorize", {"selection": {"mode": "ids", "ids": rows}}, but=GONE)

    def link(self) -> None:
        rows = [row for _ in range(20) if (row := self.pick(self.shared.transactions))]
        sources = [row for row in rows if self.shared.amounts[row] < 0]
        targets = [row for row in rows if self.shared.amounts[row] > 0]
        if sources and targets:
            body = {"sourceTransactionId": sources[0], "targetTransactionId": targets[0]}
            if self.ask("POST", "transactions/link_transfer", body, but=GONE | UNLINKABLE):
                self.shared.linked.append(sources[0])

    def unlink(self) -> None:
        row = self.pick(self.shared.linked)
        read = row and self.ask("GET", f"transactions/{row}", but=GONE)
        if read and (part := next(iter(read.body["categorizations"]), None)):
            body = {"transactionId": row, "categorizationId": part}
            self.ask("POST", "transactions/unlink_transfer", body, but=GONE | APART)

    def import_rows(self) -> None:
        name = f"rows {next(self.shared.numbers)}"
        row = {"date": "2025-05-05", "amountValue": "-1.00", "fromTo": name, "categoryId": self.shared.categories[0]}
        rows = [row | {"accountId": self.random.choice(self.shared.accounts)} for _ in range(ROWS)]
        if made := self.ask("POST", "transactions/import", {"transactions": rows}):
            self.shared.imports[made.body["importId"]] = name

    def undo(self) -> None:
        if self.random.random() < 0.3 and (batch := self.pick(list(self.shared.imports))):
            self.ask("DELETE", f"imports/{batch}", but={(409, "import_already_undone")})
            self.shared.undone.add(batch)

    def plan(self) -> None:
        body = {
            "month": "2026-01", "plType": "ga", "categoryId": self.shared.general,
            "amount": {"type": "fixed", "amount": {"value": 10, "currency": "EUR"}},
        }  # fmt: skip
        item = self.pick(self.shared.plan_items)
        if item and self.random.random() < 0.5:
            self.ask("DELETE", f"plan_items/{item}", but=GONE)
        elif made := self.ask("POST", "plan_items", body):
            self.shared.plan_items.append(made.body["id"])

    def subscribe(self) -> None:
        event = self.pick(self.shared.events)
        if event and self.random.random() < 0.3:
            self.ask("DELETE", f"subscription_events/{event}", but=GONE)
            return
        body = {
            "subscriptionId": self.shared.subscription, "effectiveDate": f"2025-0{self.random.randint(1, 9)}-01",
            "amountValue": f"{self.random.randint(0, 99)}.00", "amountCurrency": "EUR",
        }  # fmt: skip
        if made := self.ask("POST", "subscription_events", body):
            self.shared.events.append(made.body["id"])

    def make_key(self) -> None:
        key = self.pick(self.shared.keys)
        if key and self.random.random() < 0.5:
            self.ask("DELETE", f"api_keys/{key}", but=GONE)
        elif made := self.ask("POST", "api_keys", {"name": "Key", "permissions": ["transactions:read"]}):
            self.shared.keys.append(made.body["id"])

    def rename(self) -> None:
        """All want the same two accounts."""
        account = self.random.choice(self.shared.accounts)
        read = self.ask("GET", f"accounts/{account}")
        if read:
            body = {"name": f"Account {next(self.shared.numbers)}"}
            self.ask("PUT", f"accounts/{account}", body, but=STALE, If_Match=read.headers["etag"])

    def look(self) -> None:
        window = {"startDate": "2025-01-01", "endDate": "2025-12-31"}
        caller, path = self.caller, self.shared.service.path
        for question in ("data/accountBalanceByAccount", "data/revenueExpensesBar"):
            answer = caller.ask("POST", path(question), window)
            self.shared.counts[f"POST {question}", answer.status] += 1
            if not answer.fine:
                self.shared.surprises.append((question, answer.status, answer.body))


ACTS: list[Callable[[Writer], None]] = [
    Writer.book, Writer.book, Writer.book, Writer.edit, Writer.edit, Writer.delete, Writer.categorize,
    Writer.uncategorize, Writer.link, Writer.link, Writer.unlink, Writer.import_rows, Writer.undo, Writer.plan,
    Writer.subscribe, Writer.make_key, Writer.rename, Writer.look,
]  # fmt: skip


def list_error_codes(answer: Answer) -> set[tuple[int, str]]:
    """(status, code) of a refusal, and of each of its fields."""
    body = answer.body if isinstance(answer.body, dict) else {}
    codes = {body.get("code"), *(each["code"] for each in body.get("errors", []))}
    return {(answer.status, code) for code in codes if code}
