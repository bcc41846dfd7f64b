"""The actions of the forms in the inbox: categorize, link, reject and undo."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.actions.companies import update_company
from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count, format_percent_for_input
from companies.pages.context import CompanyPage
from companies.pages.forms import bind_body, bind_form
from companies.permissions import Permission
from companies.serializers import CompanySerializer
from ledger.categorization.actions.categories import append_categories
from ledger.categorization.actions.remainder import categorize_remainder
from ledger.categorization.pages.bulk_actions import format_categorized_count, format_undo_result, validate_request_body
from ledger.categorization.pages.split_rows import parse_tax_percentage
from ledger.categorization.serializers import categorizations
from ledger.categorization.serializers.categories import CategorySerializer
from ledger.inbox.missing_categories import add_missing_categories
from ledger.inbox.repeated_choice import find_repeated_choice
from ledger.models import BulkOperation, CategorizationRun, Transaction
from ledger.rules.actions import dismissed_matches
from ledger.rules.actions.suggested_rules import create_rules_for_transactions
from ledger.rules.pages.suggested_rules import undo_rules
from ledger.rules.queries.usual_counterparties import find_usual_counterparty
from ledger.rules.queries.usual_taxes import find_usual_tax_percentage
from ledger.rules.serializers import DismissedMatchSerializer
from ledger.transactions.actions import transfers
from ledger.transactions.actions.bulk_undo import AlreadyUndone, record_undo, undo_run
from ledger.transactions.pages.edit_conflicts import check_not_changed
from ledger.transactions.pages.labels import join_texts, parse_category_choice
from ledger.transactions.queries.transfer_candidates import find_unlinked_transfers


class ActionResult(NamedTuple):
    """The result of an action: its message, the categorized transaction, and what undoes it."""

    message: str
    categorized_id: UUID | None = None
    run_id: UUID | None = None
    dismissed_match_id: UUID | None = None
    return_row: str = ""  # the row that is there again then
    created_entry_id: UUID | None = None  # the audit entry of rules that were created with it


def accept_suggestion(page: CompanyPage) -> ActionResult:
    """Categorize the remaining amount of one transaction."""
    post_data = page.request.POST
    category_id, pl_type = parse_category_choice(post_data.get("category", ""))
    if not category_id:
        raise ValidationFailed([("#/categoryId", "required", _("Choose a category."))])
    rows = get_form_transactions(page)
    if not rows:
        raise ValidationFailed([("#/id", "unknown_id", _("The transaction has been deleted."))])
    selection = {"mode": "ids", "ids": [str(rows[0].id)]}
    body: dict[str, Any] = {"selection": selection, "categoryId": category_id, "plType": pl_type}
    if post_data.get("counterparty"):
        body["counterparty"] = {"id": post_data["counterparty"]}
    choice = categorizations.to_categorize_arguments(validate_request_body(categorizations.CategorizeRequest, body))
    tax_percent = parse_tax_percentage(post_data.get("tax", ""), pointer="#/tax")
    if "counterparty" not in post_data and choice["pl_type"]:  # a category of the list: nobody has chosen these
        category_line = choice["category_id"], choice["pl_type"]
        usual_id = find_usual_counterparty(page.company, rows[0], category_line)
        choice["counterparty"] = (usual_id, None) if usual_id else None
        if "tax" not in post_data:
            tax_percent = find_usual_tax_percentage(page.company, rows[0].id, category_line)
    with record_inbox_undo(page, [rows[0].id]) as run:
        categorize_remainder(
            company=page.company,
            context=page.audit_context,
            transaction_id=rows[0].id,
            tax_percent=tax_percent,
            **{name: choice[name] for name in ("category_id", "pl_type", "counterparty")},
        )
        requested = create_requested_rules(page, [rows[0].id] if post_data.get("always") else [])
    message = format_categorized_count(1)
    if tax_percent:
        tax_text = _("Includes {percent} % tax.").format(percent=format_percent_for_input(tax_percent))
        message = f"{message} {tax_text}"
    return ActionResult(
        f"{message} {requested.message}".strip(),
        categorized_id=rows[0].id,
        run_id=run.id,
        return_row=f"t-{rows[0].id}",
        created_entry_id=requested.created_entry_id,
    )


def create_requested_rules(page: CompanyPage, transaction_ids: Collection[UUID]) -> ActionResult:
    """Create the rules that categorize the next payments like these, as far as they can be suggested.

    Raises TooManyRules.
    """
    if not transaction_ids:
        return ActionResult("")
    created = create_rules_for_transactions(
        company=page.company, context=page.audit_context, transaction_ids=transaction_ids
    )
    if created.entry_id is None:
        reason = _(
            "No rule created: one exists already, similar payments have other categories, or the text is too general."
        )
        return ActionResult(reason)
    count = len(created.keys)
    sentence = ngettext(
        "{count} rule created. Undo deletes it too.", "{count} rules created. Undo deletes them too.", count
    )
    return ActionResult(sentence.format(count=format_count(count)), created_entry_id=created.entry_id)


def record_inbox_undo(page: CompanyPage, transaction_ids: list[UUID]) -> AbstractContextManager[CategorizationRun]:
    """Record the categorization so that it can be undone like a bulk action."""
    rows = Transaction.objects.for_company(page.company.id).filter(id__in=transaction_ids)
    return record_undo(company=page.company, context=page.audit_context, operation=BulkOperation.CATEGORIZE, rows=rows)


def get_form_transactions(page: CompanyPage) -> list[Transaction]:
    """Return the transaction of the posted form as it is now; empty if it was deleted."""
    transaction_id = parse_id(page.request.POST.get("id", ""))
    return list(Transaction.objects.for_company(page.company.id).filter(id=transaction_id)) if transaction_id else []


def link_suggested_transfer(page: CompanyPage) -> ActionResult:
    """Link a proposed pair with POST transactions/link_transfer."""
    source_id, target_id = (parse_id(page.request.POST.get(name, "")) for name in ("source", "target"))
    if source_id is None or target_id is None:
        raise ValidationFailed([("#/target", "required", _("Choose a transfer."))])
    # Described here; a change after this check is rejected by the action itself.
    check_not_changed(page, Transaction.objects.for_company(page.company.id).filter(id__in=[source_id, target_id]))
    with record_inbox_undo(page, [source_id, target_id]) as run:
        unlinked_transfers = find_unlinked_transfers(page.company, [source_id, target_id])
        transfers.link_transfer(
            company=page.company,
            context=page.audit_context,
            source_id=source_id,
            source_categorization_id=unlinked_transfers.get(source_id),
            target_id=target_id,
            target_categorization_id=unlinked_transfers.get(target_id),
        )
    return ActionResult(
        _("Transactions linked as a transfer."), run_id=run.id if run.affected else None, return_row=f"p-{source_id}"
    )


def dismiss_suggested_match(page: CompanyPage) -> ActionResult:
    """Dismiss a proposed match; neither the inbox nor the API proposes it again."""
    post_data = page.request.POST
    body = {"id": post_data.get("id", ""), "otherId": post_data.get("other", ""), "day": post_data.get("day") or None}
    dismissed_match = dismissed_matches.dismiss_match(
        company=page.company, context=page.audit_context, **validate_request_body(DismissedMatchSerializer, body)
    )
    return ActionResult(
        _("Suggestion rejected."),
        dismissed_match_id=dismissed_match.id,
        return_row=post_data.get("back", ""),
    )


def undo_inbox_action(page: CompanyPage) -> ActionResult:
    """Undo the last action."""
    if dismissed_match_id := page.request.POST.get("refused"):
        dismissed_matches.allow_dismissed_match(
            company=page.company, context=page.audit_context, dismissed_match_id=dismissed_match_id
        )
        return ActionResult(_("Suggestion restored."))
    try:
        result = undo_run(company=page.company, context=page.audit_context, run_id=page.request.POST.get("run", ""))
    except AlreadyUndone as undone:
        return ActionResult(undone.detail)
    entry_id = parse_id(page.request.POST.get("created", ""))
    rule_message = undo_rules(page, entry_id) if entry_id else ""
    return ActionResult(f"{format_undo_result(page, result)} {rule_message}".strip())


def repeat_choice(page: CompanyPage) -> ActionResult:
    """Categorize the others of the same counterparty as the posted transaction is."""
    repeated = find_repeated_choice(page.company, parse_id(page.request.POST.get("id", "")), today=page.today)
    if repeated is None:
        raise ValidationFailed([("#/id", "nothing_open", _("No other transactions of this counterparty."))])
    ids = [row.id for row in repeated.transactions]
    with record_inbox_undo(page, ids) as run:
        for row_id in ids:
            categorize_remainder(
                company=page.company,
                context=page.audit_context,
                transaction_id=row_id,
                category_id=repeated.category_id,
                pl_type=repeated.pl_type,
                counterparty=(repeated.counterparty_id, None) if repeated.counterparty_id else None,
                tax_percent=repeated.tax_percent,
            )
    return ActionResult(format_categorized_count(len(ids)), categorized_id=ids[0], run_id=run.id)


def add_categories(page: CompanyPage) -> ActionResult:
    """Create the selected categories that the company lacks for the transactions to review.

    Raises PermissionDenied.
    """
    if not page.has_permission(Permission.CATEGORIES_WRITE):
        raise PermissionDenied
    kinds = page.request.POST.getlist("kind")
    if not kinds:
        raise ValidationFailed([("#/kind", "required", _("Select a category to add."))])
    names = add_missing_categories(company=page.company, context=page.audit_context, kinds=kinds)
    if not names:
        return ActionResult(_("The categories exist already."))
    sentence = ngettext("Category added: {names}.", "Categories added: {names}.", len(names))
    return ActionResult(sentence.format(names=join_texts(names)))


def create_named_category(page: CompanyPage) -> ActionResult:
    """Create a category with a name and one P&L line. Raises PermissionDenied, ValidationFailed."""
    if not page.has_permission(Permission.CATEGORIES_WRITE):
        raise PermissionDenied
    pl_type = page.request.POST.get("plType", "")
    body = {"name": page.request.POST.get("name", "").strip(), "plTypes": [pl_type] if pl_type else []}
    form = bind_body(CategorySerializer, body, values={})
    if not pl_type:
        form.errors["plTypes"] = _("Choose at least one P&L line.")
    if not form.is_valid:
        labels = {"name": _("Name"), "plTypes": _("Posts to")}
        raise ValidationFailed(
            [
                (f"#/{name}", "invalid_value", f"{labels.get(name.partition('/')[0], name)}: {message}")
                for name, message in form.errors.items()
            ]
        )
    (category,) = append_categories(company=page.company, context=page.audit_context, rows=[dict(form.data)])
    return ActionResult(_("{name} created.").format(name=category.name))


def set_standard_tax(page: CompanyPage) -> ActionResult:
    """Save the company's standard VAT rate; 0 for none. Raises PermissionDenied, ValidationFailed."""
    if not page.has_permission(Permission.COMPANY_WRITE):
        raise PermissionDenied
    typed_rate = "0" if page.request.POST.get("none") else page.request.POST.get("standardTaxPercent", "")
    form = bind_form(
        CompanySerializer,
        {"standardTaxPercent": typed_rate},
        texts=("standardTaxPercent",),
        percents=("standardTaxPercent",),
        partial=True,
    )
    pointer, percent = "#/standardTaxPercent", form.data.get("standard_tax_percent")
    if not form.is_valid:
        raise ValidationFailed([(pointer, "invalid_value", message) for message in form.errors.values()])
    if percent is None:
        raise ValidationFailed([(pointer, "required", _("Enter a percentage, such as 19 %."))])
    if page.company.standard_tax_percent is not None:
        raise ValidationFailed(
            [(pointer, "already_set", _("The standard VAT rate is already set. Change it in the settings."))]
        )
    update_company(
        company=page.company,
        context=page.audit_context,
        permissions=page.access.permissions,
        values={"standard_tax_percent": percent},
    )
    if not percent:
        return ActionResult(_("No VAT is suggested."))
    text = _("Standard VAT rate saved: {percent} %.")
    return ActionResult(text.format(percent=format_percent_for_input(percent)))


def reject_unknown_action(page: CompanyPage) -> ActionResult:
    """Raise FieldErrors for an unknown action."""
    raise ValidationFailed([("#/act", "required", _("Choose an action."))])


INBOX_ACTIONS: dict[str, Callable[[CompanyPage], ActionResult]] = {
    "accept": accept_suggestion,
    "link": link_suggested_transfer,
    "refuse": dismiss_suggested_match,
    "repeat": repeat_choice,
    "add-categories": add_categories,
    "set-standard-tax": set_standard_tax,
    "undo": undo_inbox_action,
}
