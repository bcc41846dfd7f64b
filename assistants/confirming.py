"""Writing in two calls: the first shows what would come of it, the second does it, if nothing has changed since.

Both do the same: they take the company's turn, look at what the act is about, and act. The first one, and a second one
whose digest is another, are rolled back. The digest is of who asks for what, and of the state of all that it is about;
only this server can make one, so that nobody comes past the first call.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.postgres.aggregates import StringAgg
from django.db import transaction
from django.db.models import CharField, Count, F, Func, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework.exceptions import ValidationError

from assistants.calling import Answer, Arguments, called, refusal
from assistants.catalogue import DEFAULT_ROWS, Tool
from assistants.messages import value_of
from companies.callers.access import Credential
from companies.changing import take_turn
from companies.errors import Refusal
from companies.models import Company, id_from
from companies.permissions import Permission
from ledger.models import Account, Categorization, CategorizationRule, Category, Counterparty, Transaction
from ledger.money.amounts import amount_out
from ledger.transactions.selections import selected
from planning.models import PlannedOverride, PlannedTransaction

DIFFERS = (
    "What was confirmed is not what would be done now: the arguments are others, or the data has changed. "
    "Call again without confirm, and look at what it answers."
)
NOTHING = UUID(int=0)
MOST_DIGITS = 1000  # Python refuses 4,300
Asked = Mapping[str, Any]


def in_two_calls(
    tool: Tool, arguments: Arguments, *, company_id: str, caller: Credential, request: HttpRequest
) -> tuple[Answer, str | None, bool, list[dict[str, Any]] | None]:
    """(what the endpoint answered, the digest, whether it was done, what would change).

    What would change is told by the first call of `categorize`, to who may read transactions; else it is None.
    """
    confirmed = value_of(arguments["confirm"]) if "confirm" in arguments else None
    access = caller.access(company_id) if id_from(company_id) else None
    if access is None:
        return called(tool, arguments, company_id=company_id, caller=caller, request=request), None, False, None
    with transaction.atomic():
        take_turn(access.company)
        asked = {name: measured(raw) for name, raw in arguments.items() if name != "confirm"}
        state = STATES[tool.name](access.company, asked)
        tells = tool.tells_changes and confirmed is None and Permission.TRANSACTIONS_READ in access.permissions
        before = list_selected(access.company, asked) if tells else []
        answer = called(tool, arguments, company_id=company_id, caller=caller, request=request)
        changes = list_changes(access.company, before) if tells and not answer.refused else None
        digest = digest_of(tool, asked, company_id=company_id, caller=caller, state=state)
        done = not answer.refused and isinstance(confirmed, str) and constant_time_compare(confirmed, digest)
        if not done:
            transaction.set_rollback(True)
    if confirmed is not None and not done and not answer.refused:
        answer = refusal(409, "digest_differs", DIFFERS)
    return answer, digest, done, changes


def measured(raw: msgspec.Raw) -> Any:
    """An argument as Python has it; a number of more digits than Python reads stays as it was written."""
    return json.loads(bytes(raw), parse_int=lambda digits: int(digits) if len(digits) <= MOST_DIGITS else digits)


def digest_of(tool: Tool, asked: Asked, *, company_id: str, caller: Credential, state: str) -> str:
    told = json.dumps([tool.name, company_id, caller.key, asked, state], sort_keys=True)
    return salted_hmac("assistants.confirming", told, algorithm="sha256").hexdigest()[:32]


# ---------------------------------------------------------------------------------------------- what would change


def list_selected(company: Company, asked: Asked) -> list[dict[str, Any]]:
    """The newest selected transactions, at most 20, with the categories that they have."""
    rows = find_selected(company, asked)
    if rows is None:
        return []
    newest = list(rows.order_by("-date", "-id")[:DEFAULT_ROWS])
    categories = list_categories_by_transaction(company, [row.id for row in newest])
    return [
        {
            "transactionId": row.id,
            "date": row.date,
            "fromTo": row.from_to,
            "amountValue": amount_out(row.amount_value, row.amount_currency),
            "amountCurrency": row.amount_currency,
            "before": categories.get(row.id, []),
        }
        for row in newest
    ]


def list_changes(company: Company, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same transactions with the categories that they have now."""
    categories = list_categories_by_transaction(company, [row["transactionId"] for row in before])
    return [
        {name: value for name, value in row.items() if value is not None}
        | {"after": categories.get(row["transactionId"], [])}
        for row in before
    ]


def list_categories_by_transaction(company: Company, ids: list[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    parts = Categorization.objects.of(company.id).filter(transaction_id__in=ids).order_by("position", "id")
    found: dict[UUID, list[dict[str, Any]]] = {}
    columns = ("transaction_id", "category__name", "value", "transaction__amount_currency")
    for transaction_id, name, value, currency in parts.values_list(*columns):
        part = {"categoryName": name, "amountValue": amount_out(value, currency)}
        found.setdefault(transaction_id, []).append(part)
    return found


# ---------------------------------------------------------------------------------------------- what it is about


def of_categorize(company: Company, asked: Asked) -> str:
    """Every selected transaction, and where it would go."""
    rows = find_selected(company, asked)
    return ("" if rows is None else fingerprint(rows)) + purposes(company, asked)


def find_selected(company: Company, asked: Asked) -> QuerySet[Transaction] | None:
    """The selected transactions; None where there is no selection, which the endpoint refuses."""
    selection = asked.get("selection")
    if not isinstance(selection, dict):
        return None
    try:
        rows: QuerySet[Transaction] = selected(company, read(selection))
    except (Refusal, ValidationError, KeyError, TypeError, AttributeError):
        return None
    return rows


def read(selection: dict[str, Any]) -> dict[str, Any]:
    """A selection as its shape reads it."""
    ids = {name: {str(each): id_from(str(each)) for each in selection.get(sent) or ()} for sent, name in IDS.items()}
    return selection | ids


IDS = {"ids": "ids", "excludedIds": "excluded_ids"}


def of_create_rule(company: Company, asked: Asked) -> str:
    """The rules that it would stand among."""
    action = asked.get("action")
    return fingerprint(CategorizationRule.objects.of(company.id)) + purposes(company, action)


def of_link_transfer(company: Company, asked: Asked) -> str:
    """Both transactions."""
    ids = [known(asked, name) for name in ("sourceTransactionId", "targetTransactionId")]
    return fingerprint(Transaction.objects.of(company.id).filter(id__in=ids))


def of_plan_payment(company: Company, asked: Asked) -> str:
    """All that is planned: the same payment is not planned twice by one digest."""
    accounts = Account.objects.of(company.id).filter(id=known(asked, "accountId"))
    planned = PlannedTransaction.objects.of(company.id)
    return fingerprint(planned) + fingerprint(accounts) + purposes(company, asked)


def of_settle_planned(company: Company, asked: Asked) -> str:
    """The transaction, what was planned, and what is said of its occurrences."""
    planned = known(asked, "plannedTransactionId")
    overrides = PlannedOverride.objects.of(company.id).filter(planned=planned)
    return (
        fingerprint(PlannedTransaction.objects.of(company.id).filter(id=planned))
        + fingerprint(Transaction.objects.of(company.id).filter(id=known(asked, "transactionId")))
        + fingerprint(overrides, column="transaction_id")
    )


STATES: Mapping[str, Callable[[Company, Asked], str]] = {
    "categorize": of_categorize,
    "create_rule": of_create_rule,
    "link_transfer": of_link_transfer,
    "plan_payment": of_plan_payment,
    "settle_planned": of_settle_planned,
}


def purposes(company: Company, asked: Any) -> str:
    """The category and the counterparty that are named."""
    asked = asked if isinstance(asked, dict) else {}
    party = asked.get("counterparty")
    named = known(party, "id") if isinstance(party, dict) else NOTHING
    return fingerprint(Category.objects.of(company.id).filter(id=known(asked, "categoryId"))) + fingerprint(
        Counterparty.objects.of(company.id).filter(id=named)
    )


def known(asked: Asked, name: str) -> UUID:
    """The id that an argument names; one that nothing has where it names none."""
    value = asked.get(name)
    return (id_from(value) if isinstance(value, str) else None) or NOTHING


def fingerprint(rows: QuerySet[Any], *, column: str = "last_updated_time") -> str:
    """A text that changes when a row comes, goes or changes; one statement that answers one row."""
    each = Concat(Cast("id", CharField()), Value(" "), Cast(F(column), CharField()), output_field=CharField())
    all_of_them = Func(StringAgg(each, ",", order_by="id"), function="md5", output_field=CharField())
    found = rows.order_by().aggregate(count=Count("id"), text=all_of_them)
    return f"{found['count']}:{found['text']};"
