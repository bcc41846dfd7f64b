"""The list of transactions with its bulk actions: categorize, uncategorize and delete, as in the API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import ROWS_PER_PAGE, CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.categorization.actions import bulk_categorization, uncategorization
from ledger.categorization.pages.split_rows import parse_tax_percentage
from ledger.categorization.queries.details_to_keep import DetailsToKeep
from ledger.categorization.serializers import categorizations
from ledger.models import BulkOperation
from ledger.transactions.actions import transactions
from ledger.transactions.actions.bulk_undo import AlreadyUndone, RunUndoResult, record_undo, undo_run
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name
from ledger.transactions.pages.edit_conflicts import check_not_changed
from ledger.transactions.pages.labels import load_visible_names, parse_category_choice
from ledger.transactions.pages.return_urls import CATEGORIZED_PARAMETER
from ledger.transactions.pages.transaction_list import BulkConfirmation, parse_list_query, render_transaction_list
from ledger.transactions.queries.selections import MAX_SELECTED_IDS, select_transactions
from ledger.transactions.queries.totals import CurrencySums, sum_by_currency
from ledger.transactions.serializers import SelectionSerializer

MAX_LISTED_NAMES = 5  # of planned transactions in a message
TEXT_FIELDS = ("category", "counterparty", "tax", "rule", "ruleStart", "ruleEnd")
BULK_FORM_FIELDS = {  # where the page shows what is wrong with a field of the body
    "categoryId": "category",
    "plType": "category",
    "counterparty": "counterparty",
    "tax": "tax",
    "usingDateRule": "rule",
    "usingDateRule/startDate": "ruleStart",
    "usingDateRule/endDate": "ruleEnd",
    "selection": "selection",
}


@dataclass(frozen=True, slots=True)
class BulkAction:
    """A bulk action. `prepare` reads the form and returns the function that runs it and describes the result."""

    kind: BulkOperation
    verb: Any  # lazy: in the language of who reads it
    prepare: Callable[[CompanyPage, BoundForm, dict[str, Any]], Callable[[], str]]
    max_transactions: int | None = None  # transactions at once
    limit_message: Any = ""  # what is said of more


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def show_transactions(page: CompanyPage) -> HttpResponse:
    """Show the list with its filters, and run a bulk action on selected rows. Raises PermissionDenied."""
    if not page.is_post:
        return render_transaction_list(page)
    if not page.has_permission(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    posted = page.request.POST
    if posted.get("act") == "undo":
        return undo_bulk_action(page)
    values = {name: posted.get(name, "").strip() for name in TEXT_FIELDS} | {"whole": "whole" in posted}
    form = BoundForm(values=values, fields=BULK_FORM_FIELDS)
    ticked_ids = frozenset(posted.getlist("id"))
    with page.handle_errors(form):
        selection_body = build_selection(page, form)
        action = get_requested_action(page)
        run_action = action.prepare(page, form, selection_body)
        rows = select_transactions(page.company, validate_request_body(SelectionSerializer, selection_body))
        totals = sum_by_currency(rows)
        check_action_limit(action, totals)
        if has_hidden_transactions(page, form, totals) and posted.get("confirmed") != totals.selection_fingerprint:
            is_repeated = "confirmed" in posted
            question = BulkConfirmation(
                action.kind,
                action.verb,
                totals,
                category=get_action_category_name(page, action, form),
                is_repeated=is_repeated,
            )
            return render_transaction_list(page, bulk=form, ticked=ticked_ids, question=question)
        with record_undo(company=page.company, context=page.audit_context, operation=action.kind, rows=rows) as run:
            if "confirmed" not in posted:
                check_not_changed(page, rows)
            categorized_id = find_transaction_of_common_party(rows) if action.kind == BulkOperation.CATEGORIZE else None
            message = run_action()
        if action.kind == BulkOperation.CATEGORIZE and totals.count > run.affected:
            message += f" {format_skipped_count(totals.count - run.affected)}"
        add_message = messages.success if run.affected else messages.warning
        add_message(page.request, message)
        return redirect(
            build_transaction_list_url(
                page, run_id=str(run.id) if run.affected else None, categorized_id=categorized_id
            )
        )
    return render_transaction_list(page, bulk=form, ticked=ticked_ids)


def get_requested_action(page: CompanyPage) -> BulkAction:
    """Return the requested bulk action. Raises ValidationFailed."""
    action = BULK_ACTIONS.get(page.request.POST.get("act", ""))
    if action is None:
        raise ValidationFailed([("#/selection", "required", _("Choose an action."))])
    return action


def check_action_limit(action: BulkAction, totals: CurrencySums) -> None:
    """Check the maximum number of transactions of an action. Raises ValidationFailed."""
    if action.max_transactions is not None and totals.count > action.max_transactions:
        raise ValidationFailed(
            [
                (
                    "#/selection",
                    "too_many_ids",
                    str(action.limit_message).format(most=format_count(action.max_transactions)),
                )
            ]
        )


def has_hidden_transactions(page: CompanyPage, form: BoundForm, totals: CurrencySums) -> bool:
    """Whether the selection has transactions that the page does not show; then it must be confirmed."""
    return form.values["whole"] and (totals.count > ROWS_PER_PAGE or bool({"cursor", "before"} & set(page.request.GET)))


def get_action_category_name(page: CompanyPage, action: BulkAction, form: BoundForm) -> str:
    """Return the name of the category that the action assigns; empty if it assigns none."""
    category_id = parse_id(parse_category_choice(form.values["category"])[0])
    if action.kind != BulkOperation.CATEGORIZE or category_id is None:
        return ""
    return load_visible_names(page).get_category_name(category_id)


def undo_bulk_action(page: CompanyPage) -> HttpResponse:
    """Undo a bulk action where nobody has changed the transactions since."""
    with page.handle_errors():
        try:
            result = undo_run(company=page.company, context=page.audit_context, run_id=page.request.POST.get("run", ""))
        except AlreadyUndone as undone:
            messages.info(page.request, undone.detail)
        else:
            messages.success(page.request, format_undo_result(page, result))
    return redirect(build_transaction_list_url(page))


def format_undo_result(page: CompanyPage, result: RunUndoResult) -> str:
    """Describe how many transactions were restored, how many were kept, and what is not settled again."""
    sentence = ngettext("{count} transaction restored.", "{count} transactions restored.", result.affected)
    message = append_kept_count(sentence, result)
    if not result.unsettled_names:
        return message
    count = len(result.unsettled_names)
    names = ngettext("{count} planned transaction", "{count} planned transactions", count).format(
        count=format_count(count)
    )
    if page.has_permission(Permission.PLANNING_READ) and count <= MAX_LISTED_NAMES:
        names = ", ".join(result.unsettled_names)
    unsettled_sentence = _("Not settled again because of later changes: {names}.").format(names=names)
    return f"{message} {unsettled_sentence}"


def append_kept_count(first_sentence: str, result: RunUndoResult) -> str:
    """Add sentences about the transactions that were not restored, and fill in the counts."""
    sentences = [first_sentence]
    edited_count = result.kept_count - result.reimported_count
    if edited_count:
        kept_sentence = ngettext(
            "{kept} unchanged because it was edited since.",
            "{kept} unchanged because they were edited since.",
            edited_count,
        )
        sentences.append(kept_sentence)
    if result.reimported_count:
        reimported_sentence = ngettext(
            "{reimported} transaction was imported again since and is not restored.",
            "{reimported} transactions were imported again since and are not restored.",
            result.reimported_count,
        )
        sentences.append(reimported_sentence)
    return " ".join(sentences).format(
        count=format_count(result.affected),
        kept=format_count(edited_count),
        reimported=format_count(result.reimported_count),
    )


def find_transaction_of_common_party(rows: Any) -> UUID | None:
    """Return one transaction id if all rows have the same other party; None if not, or if they exceed a page."""
    ids_and_names = list(rows.order_by("-date", "-id").values_list("id", "from_to")[: ROWS_PER_PAGE + 1])
    has_one_name = len({name.casefold() for _, name in ids_and_names}) == 1 and len(ids_and_names) <= ROWS_PER_PAGE
    return ids_and_names[0][0] if has_one_name and (ids_and_names[0][1] or len(ids_and_names) == 1) else None


def build_transaction_list_url(
    page: CompanyPage, *, run_id: str | None = None, categorized_id: UUID | None = None
) -> str:
    """Return the URL of the list with its filters, with the run to undo and the transaction that was categorized."""
    query = page.request.GET.copy()
    for name, value in {"run": run_id, CATEGORIZED_PARAMETER: categorized_id}.items():
        query.pop(name, None)
        if value:
            query[name] = str(value)
    return f"{page.request.path}?{query.urlencode()}" if query else page.request.path


def build_selection(page: CompanyPage, form: BoundForm) -> dict[str, Any]:
    """Return the selection of the request body: selected rows, or all that match. Raises ValidationFailed."""
    if form.values["whole"]:
        list_query = parse_list_query(page)
        if not list_query.form.is_valid:  # without the filter that is wrong, others would match
            raise ValidationFailed([("#/selection", "invalid_filter", _("Correct the filter first."))])
        return list_query.to_selection()
    ids = page.request.POST.getlist("id")
    if not ids:
        raise ValidationFailed([("#/selection", "required", _("Select at least one transaction."))])
    return {"mode": "ids", "ids": ids}


def validate_request_body(serializer_class: Any, body: Any) -> dict[str, Any]:
    """Validate a request body with a serializer of the API. Raises ValidationError."""
    serializer = serializer_class(data=body)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def prepare_categorize_action(page: CompanyPage, form: BoundForm, selection_body: dict[str, Any]) -> Callable[[], str]:
    """Prepare POST transactions/categorize."""
    if not form.values["category"]:
        raise ValidationFailed([("#/categoryId", "required", _("Choose a category."))])
    category_id, pl_type = parse_category_choice(form.values["category"])
    body: dict[str, Any] = {"selection": selection_body, "categoryId": category_id, "plType": pl_type}
    if name := form.values["counterparty"]:
        body["counterparty"] = {"id": str(get_counterparty_by_name(page, name).id)}
    if form.values["rule"] or form.values["ruleStart"] or form.values["ruleEnd"]:
        body["usingDateRule"] = build_date_rule(form.values["rule"], form.values["ruleStart"], form.values["ruleEnd"])
    values = validate_request_body(categorizations.CategorizeRequest, body)
    tax_percent = parse_tax_percentage(form.values["tax"], pointer="#/tax")
    keep = DetailsToKeep(
        tax=not form.values["tax"], period="usingDateRule" not in body, counterparty="counterparty" not in body
    )

    def run_action() -> str:
        count = bulk_categorization.categorize_transactions(
            company=page.company,
            context=page.audit_context,
            selection=values["selection"],
            tax_percent=tax_percent,
            keep=keep,
            **categorizations.to_categorize_arguments(values),
        )
        return format_categorized_count(count)

    return run_action


def format_categorized_count(count: int) -> str:
    """Describe how many transactions were categorized."""
    sentence = ngettext("{count} transaction categorized.", "{count} transactions categorized.", count)
    return sentence.format(count=format_count(count))


def format_skipped_count(count: int) -> str:
    """Describe how many transactions were not categorized, and why."""
    sentence = ngettext(
        "{count} skipped: transfers and opening balances have no category.",
        "{count} skipped: transfers and opening balances have no category.",
        count,
    )
    hint = _("To categorize a transfer, unlink it first.")
    return f"{sentence.format(count=format_count(count))} {hint}"


def build_date_rule(rule: str, start: str, end: str, *, invoice: str = "") -> dict[str, Any]:
    """Return ``usingDateRule`` for the typed values; empty dates are left out."""
    days = {"startDate": start, "endDate": end, "invoiceDate": invoice}
    return {"type": rule or DateRule.TRANSACTION_DATE.value} | {name: day for name, day in days.items() if day}


def prepare_uncategorize_action(
    page: CompanyPage, form: BoundForm, selection_body: dict[str, Any]
) -> Callable[[], str]:
    """Prepare POST transactions/uncategorize."""
    values = validate_request_body(categorizations.UncategorizeRequest, {"selection": selection_body})

    def run_action() -> str:
        done = uncategorization.uncategorize_transactions(
            company=page.company, context=page.audit_context, selection=values["selection"]
        )
        count, legs = len(done.affected_ids), done.counters_created
        texts = [ngettext("{count} transaction uncategorized.", "{count} transactions uncategorized.", count)]
        if legs:
            texts.append(
                ngettext(
                    "{legs} other side of a transfer is uncategorized again.",
                    "{legs} other sides of transfers are uncategorized again.",
                    legs,
                )
            )
        return " ".join(texts).format(count=format_count(count), legs=format_count(legs))

    return run_action


def prepare_delete_action(page: CompanyPage, form: BoundForm, selection_body: dict[str, Any]) -> Callable[[], str]:
    """Prepare POST transactions/batch_delete for the selected ids."""
    values = validate_request_body(SelectionSerializer, selection_body)

    def run_action() -> str:
        ids = select_transactions(page.company, values).order_by("id").values_list("id", flat=True)
        wanted: dict[str, UUID | None] = {str(each): each for each in ids}
        count = transactions.delete_transactions(company=page.company, context=page.audit_context, ids=wanted)
        text = ngettext("{count} transaction deleted.", "{count} transactions deleted.", count)
        return text.format(count=format_count(count))

    return run_action


BULK_ACTIONS = {
    "categorize": BulkAction(BulkOperation.CATEGORIZE, gettext_lazy("Categorize"), prepare_categorize_action),
    "uncategorize": BulkAction(BulkOperation.UNCATEGORIZE, gettext_lazy("Uncategorize"), prepare_uncategorize_action),
    "delete": BulkAction(
        BulkOperation.DELETE,
        gettext_lazy("Delete"),
        prepare_delete_action,
        max_transactions=MAX_SELECTED_IDS,
        limit_message=gettext_lazy("You can delete at most {most} transactions at once. Narrow the filter."),
    ),
}
