"""Pages that create rules for many counterparties at once, and undo it."""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import ValidationFailed
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.rules.actions.suggested_rules import create_suggested_rules, undo_created_rules
from ledger.rules.forms import describe_rule
from ledger.rules.queries.counterparty_rules import MAX_PAYMENTS, CounterpartyRule, list_counterparty_rules
from ledger.transactions.actions.bulk_undo import AlreadyUndone
from ledger.transactions.pages.labels import LedgerNames, join_texts, load_visible_names

MAX_CREATED = 200  # rules of one form
MAX_PRESELECTED = 35  # all of them are open, on a page that people read through
MAX_OPEN_LINES = 20  # where none is selected; the others are folded
MAX_SKIPPED_NAMED = 10
READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE
SUGGESTED_RULE_FIELDS = {"suggestion": "suggestion"}


@company_page(reads=READ, writes=WRITE)
def create_suggested_rules_page(page: CompanyPage) -> HttpResponse:
    """List counterparties that are always categorized the same way, and create rules for the selected ones.

    Raises PermissionDenied.
    """
    form = BoundForm(values={}, fields=SUGGESTED_RULE_FIELDS)
    selected: list[str] | None = None
    if page.is_post:
        if not page.has_permission(READ):
            raise PermissionDenied  # the answer is the list
        selected = page.request.POST.getlist("suggestion")
        with page.handle_errors(form):
            return create_selected_rules(page, selected)
    suggested = list_counterparty_rules(page.company)
    lines = list_suggestion_lines(suggested, load_visible_names(page), selected=selected)
    selected_count = sum(line["is_selected"] for line in lines)
    open_count = selected_count or MAX_OPEN_LINES
    return page.render(
        "ledger/rules/suggested_rules.html",
        status=200 if form.is_valid else 400,
        tab="inbox",
        form=form,
        lines=lines[:open_count],
        more=lines[open_count:],
        selected_count=selected_count,
        is_applied="apply" in page.request.POST,
        max_payments=MAX_PAYMENTS,
        writes=page.has_permission(WRITE),
    )


def list_suggestion_lines(
    suggested: Sequence[CounterpartyRule], names: LedgerNames, *, selected: Collection[str] | None
) -> list[dict[str, Any]]:
    """Return the rules of visible categories for the template, the selected ones first, then the recommended ones.

    Args:
        selected: values of a posted form; None selects the first recommended rules.
    """
    visible = [
        (suggestion, category_id)
        for suggestion in sorted(suggested, key=lambda suggestion: not suggestion.is_recommended)
        if (category_id := suggestion.rule.category_id) in names.categories
    ]
    lines = []
    for place, (suggestion, category_id) in enumerate(visible):
        rule, words = suggestion.rule, describe_rule(suggestion.rule, names)
        value = f"{suggestion.key} {rule.name}"
        is_preselected = suggestion.is_recommended and place < MAX_PRESELECTED
        lines.append(
            {
                "value": value,
                "is_selected": is_preselected if selected is None else value in selected,
                "name": rule.name,
                "conditions": words["conditions"],
                "category": names.get_choice_name(category_id, rule.pl_type),
                "tax": words["tax"],
                "payment_count": suggestion.payment_count,
                "month_count": suggestion.month_count,
                "open_count": suggestion.open_count,
            }
        )
    return sorted(lines, key=lambda line: not line["is_selected"])


def create_selected_rules(page: CompanyPage, selected: Sequence[str]) -> HttpResponse:
    """Create the selected rules, and show all rules with the message that undoes it. Raises ValidationFailed."""
    names_by_key = {key: name for key, _space, name in (value.partition(" ") for value in selected)}
    if not names_by_key:
        raise ValidationFailed([("#/suggestion", "required", _("Select at least one rule."))])
    if len(names_by_key) > MAX_CREATED:
        detail = _("Select at most {count} rules at once.").format(count=MAX_CREATED)
        raise ValidationFailed([("#/suggestion", "too_many", detail)])
    created = create_suggested_rules(
        company=page.company,
        context=page.audit_context,
        keys=names_by_key,
        is_applied="apply" in page.request.POST,
    )
    skipped_text = format_skipped([name for key, name in names_by_key.items() if key not in created.keys])
    if created.entry_id is None:
        raise ValidationFailed([("#/suggestion", "not_suggested", skipped_text)])
    count = len(created.keys)
    sentence = ngettext("{count} rule created.", "{count} rules created.", count).format(count=format_count(count))
    messages.success(page.request, f"{sentence} {skipped_text}".strip())
    parameters = {"created": created.entry_id}
    if created.run and created.run.affected:
        parameters["run"] = created.run.run_id
    return redirect(f"{reverse('rules', args=[page.company.id])}?{urlencode(parameters)}")


def format_skipped(names: Sequence[str]) -> str:
    """Say which rules were not created and why; empty if all were."""
    if not names:
        return ""
    items = list(names[:MAX_SKIPPED_NAMED])
    if other_count := len(names) - len(items):
        items.append(ngettext("{count} more", "{count} more", other_count).format(count=format_count(other_count)))
    reason = _("Not created, because rules or categories changed in the meantime: {names}.")
    return reason.format(names=join_texts(items))


@company_page(writes=WRITE)
def undo_created_rules_page(page: CompanyPage, entry_id: UUID) -> HttpResponse:
    """Delete the rules that were created at once; what they categorized stays."""
    with page.handle_errors():
        return page.redirect_with_message(undo_rules(page, entry_id), "rules")
    return page.redirect("rules")


def undo_rules(page: CompanyPage, entry_id: UUID) -> str:
    """Delete the rules that were created at once, and describe it. Raises NotFoundError."""
    try:
        deleted_count, kept_count = undo_created_rules(
            company=page.company, context=page.audit_context, entry_id=entry_id
        )
    except AlreadyUndone as undone:
        return str(undone.detail)
    sentence = ngettext("{count} rule deleted.", "{count} rules deleted.", deleted_count)
    message = sentence.format(count=format_count(deleted_count))
    if kept_count:
        kept_text = ngettext(
            "{count} rule was changed since and stays.", "{count} rules were changed since and stay.", kept_count
        )
        message = f"{message} {kept_text.format(count=format_count(kept_count))}"
    return message
