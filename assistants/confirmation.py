"""Confirmation of writing tools: the first call shows the result, the second one applies it if nothing has
changed.

Both take the company lock, read the state of all data involved, and write. The first call, and a second one
with another digest, are rolled back. The digest covers caller, arguments and state; only this server can
compute it, so that nobody can skip the first call.
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

from assistants.jsonrpc import decode_value
from assistants.tool_calls import Arguments, ToolAnswer, build_error_answer, call_tool
from assistants.tool_definition import DEFAULT_ROWS, Tool
from companies.auth.access import Credential
from companies.change import lock_company
from companies.errors import DomainError
from companies.models import Company, parse_id
from companies.permissions import Permission
from ledger.models import Account, Categorization, CategorizationRule, Category, Counterparty, Transaction
from ledger.money.amounts import format_plain_amount
from ledger.transactions.queries.selections import select_transactions
from planning.models import PlannedTransaction, Settlement

DIGEST_DIFFERS_MESSAGE = (
    "The arguments or the data changed since the preview. Call again without confirm and review the new preview."
)
NO_ID = UUID(int=0)
MAX_NUMBER_DIGITS = 1000  # Python's own limit is 4,300
ParsedArguments = Mapping[str, Any]


def call_with_confirmation(
    tool: Tool, arguments: Arguments, *, company_id: str, caller: Credential, request: HttpRequest
) -> tuple[ToolAnswer, str | None, bool, list[dict[str, Any]] | None]:
    """Return (endpoint's answer, digest, whether it was applied, changes).

    The first call of `categorize` lists the changes for callers who may read transactions; else they are None.
    """
    confirmed_digest = decode_value(arguments["confirm"]) if "confirm" in arguments else None
    access = caller.access(company_id) if parse_id(company_id) else None
    if access is None:
        return call_tool(tool, arguments, company_id=company_id, caller=caller, request=request), None, False, None
    with transaction.atomic():
        lock_company(access.company)
        parsed = {name: parse_argument(raw) for name, raw in arguments.items() if name != "confirm"}
        state = STATE_BUILDERS[tool.name](access.company, parsed)
        has_change_list = (
            tool.has_change_list and confirmed_digest is None and Permission.TRANSACTIONS_READ in access.permissions
        )
        before = list_selected_transactions(access.company, parsed) if has_change_list else []
        answer = call_tool(tool, arguments, company_id=company_id, caller=caller, request=request)
        changes = list_category_changes(access.company, before) if has_change_list and not answer.is_error else None
        digest = compute_call_digest(tool, parsed, company_id=company_id, caller=caller, state=state)
        is_applied = (
            not answer.is_error
            and isinstance(confirmed_digest, str)
            and constant_time_compare(confirmed_digest, digest)
        )
        if not is_applied:
            transaction.set_rollback(True)
    if confirmed_digest is not None and not is_applied and not answer.is_error:
        answer = build_error_answer(409, "digest_differs", DIGEST_DIFFERS_MESSAGE)
    return answer, digest, is_applied, changes


def parse_argument(raw: msgspec.Raw) -> Any:
    """Parse an argument; a number with more digits than Python parses stays text."""
    return json.loads(bytes(raw), parse_int=lambda digits: int(digits) if len(digits) <= MAX_NUMBER_DIGITS else digits)


def compute_call_digest(tool: Tool, parsed: ParsedArguments, *, company_id: str, caller: Credential, state: str) -> str:
    payload = json.dumps([tool.name, company_id, caller.key, parsed, state], sort_keys=True)
    return salted_hmac("assistants.confirmation", payload, algorithm="sha256").hexdigest()[:32]


# ---------------------------------------------------------------------------------------------- changes


def list_selected_transactions(company: Company, parsed: ParsedArguments) -> list[dict[str, Any]]:
    """List the newest selected transactions, at most 20, with their current categories."""
    rows = find_selected_transactions(company, parsed)
    if rows is None:
        return []
    newest = list(rows.order_by("-date", "-id")[:DEFAULT_ROWS])
    categories = list_categories_by_transaction(company, [row.id for row in newest])
    return [
        {
            "transactionId": row.id,
            "date": row.date,
            "fromTo": row.from_to,
            "amountValue": format_plain_amount(row.amount_value, row.amount_currency),
            "amountCurrency": row.amount_currency,
            "before": categories.get(row.id, []),
        }
        for row in newest
    ]


def list_category_changes(company: Company, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """List the same transactions with the categories they have now."""
    categories = list_categories_by_transaction(company, [row["transactionId"] for row in before])
    return [
        {name: value for name, value in row.items() if value is not None}
        | {"after": categories.get(row["transactionId"], [])}
        for row in before
    ]


def list_categories_by_transaction(company: Company, ids: list[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    categorizations = (
        Categorization.objects.for_company(company.id).filter(transaction_id__in=ids).order_by("position", "id")
    )
    categories: dict[UUID, list[dict[str, Any]]] = {}
    columns = ("transaction_id", "category__name", "value", "transaction__amount_currency")
    for transaction_id, name, value, currency in categorizations.values_list(*columns):
        part = {"categoryName": name, "amountValue": format_plain_amount(value, currency)}
        categories.setdefault(transaction_id, []).append(part)
    return categories


# ---------------------------------------------------------------------------------------------- state of the data


def build_categorize_state(company: Company, parsed: ParsedArguments) -> str:
    """Return the state of the selected transactions, category and counterparty."""
    rows = find_selected_transactions(company, parsed)
    return ("" if rows is None else compute_fingerprint(rows)) + build_reference_state(company, parsed)


def find_selected_transactions(company: Company, parsed: ParsedArguments) -> QuerySet[Transaction] | None:
    """Return the selected transactions; None without a valid selection, which the endpoint rejects."""
    selection = parsed.get("selection")
    if not isinstance(selection, dict):
        return None
    try:
        rows: QuerySet[Transaction] = select_transactions(company, parse_selection(selection))
    except (DomainError, ValidationError, KeyError, TypeError, AttributeError):
        return None
    return rows


def parse_selection(selection: dict[str, Any]) -> dict[str, Any]:
    """Return a selection as its serializer parses it."""
    ids = {
        name: {str(each): parse_id(str(each)) for each in selection.get(sent) or ()}
        for sent, name in SELECTION_ID_FIELDS.items()
    }
    return selection | ids


SELECTION_ID_FIELDS = {"ids": "ids", "excludedIds": "excluded_ids"}


def build_create_rule_state(company: Company, parsed: ParsedArguments) -> str:
    """Return the state of all rules, and of the rule's category and counterparty."""
    action = parsed.get("action")
    return compute_fingerprint(CategorizationRule.objects.for_company(company.id)) + build_reference_state(
        company, action
    )


def build_link_transfer_state(company: Company, parsed: ParsedArguments) -> str:
    """Return the state of both transactions."""
    ids = [get_id_argument(parsed, name) for name in ("sourceTransactionId", "targetTransactionId")]
    return compute_fingerprint(Transaction.objects.for_company(company.id).filter(id__in=ids))


def build_plan_payment_state(company: Company, parsed: ParsedArguments) -> str:
    """Return the state of all planned transactions, so that a digest does not plan a payment twice."""
    account_ids = [get_id_argument(parsed, name) for name in ("accountId", "transferAccountId")]
    accounts = Account.objects.for_company(company.id).filter(id__in=account_ids)
    planned = PlannedTransaction.objects.for_company(company.id)
    return compute_fingerprint(planned) + compute_fingerprint(accounts) + build_reference_state(company, parsed)


def build_settle_planned_state(company: Company, parsed: ParsedArguments) -> str:
    """Return the state of the transaction, and of the planned transaction and its settlements."""
    planned = get_id_argument(parsed, "plannedTransactionId")
    settlements = Settlement.objects.for_company(company.id).filter(planned=planned)
    return (
        compute_fingerprint(PlannedTransaction.objects.for_company(company.id).filter(id=planned))
        + compute_fingerprint(
            Transaction.objects.for_company(company.id).filter(id=get_id_argument(parsed, "transactionId"))
        )
        + compute_fingerprint(settlements, column="transaction_id")
    )


STATE_BUILDERS: Mapping[str, Callable[[Company, ParsedArguments], str]] = {
    "categorize": build_categorize_state,
    "create_rule": build_create_rule_state,
    "link_transfer": build_link_transfer_state,
    "plan_payment": build_plan_payment_state,
    "settle_planned": build_settle_planned_state,
}


def build_reference_state(company: Company, parsed: Any) -> str:
    """Return the state of the category and counterparty of the arguments."""
    parsed = parsed if isinstance(parsed, dict) else {}
    counterparty = parsed.get("counterparty")
    counterparty_id = get_id_argument(counterparty, "id") if isinstance(counterparty, dict) else NO_ID
    return compute_fingerprint(
        Category.objects.for_company(company.id).filter(id=get_id_argument(parsed, "categoryId"))
    ) + compute_fingerprint(Counterparty.objects.for_company(company.id).filter(id=counterparty_id))


def get_id_argument(parsed: ParsedArguments, name: str) -> UUID:
    """Return the id of an argument; NO_ID if it is none."""
    value = parsed.get(name)
    return (parse_id(value) if isinstance(value, str) else None) or NO_ID


def compute_fingerprint(rows: QuerySet[Any], *, column: str = "last_updated_time") -> str:
    """Return a text that changes when a row is added, deleted or changed; one statement, one row."""
    row_text = Concat(Cast("id", CharField()), Value(" "), Cast(F(column), CharField()), output_field=CharField())
    digest = Func(StringAgg(row_text, ",", order_by="id"), function="md5", output_field=CharField())
    totals = rows.order_by().aggregate(count=Count("id"), text=digest)
    return f"{totals['count']}:{totals['text']};"
