"""Pages of rules: list, create, edit with preview, move, delete, apply, and undo a run."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.audit.names import find_actor_names as actors
from companies.errors import NotFoundError
from companies.models import Currency, parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.categorization.pages.bulk_actions import append_kept_count, validate_request_body
from ledger.models import CategorizationRule, CategorizationRun, Transaction
from ledger.rules import serializers
from ledger.rules.actions import categorization_rules, categorization_runs, run_undo
from ledger.rules.forms import (
    FORM_FIELDS,
    OPERATOR_LABELS,
    PERIOD_START_LABELS,
    RULE_FORM_FIELDS,
    SPARE_SPLIT_ROWS,
    build_form_values_from_transaction,
    build_rule_body,
    build_rule_form_values,
    describe_rule,
    list_split_rows,
    read_split_rows,
)
from ledger.rules.queries import rule_matches, suggestions
from ledger.rules.queries.compiled_rules import build_compiled_rules, load_compiled_rules
from ledger.rules.queries.rule_matches import OPEN_TRANSACTIONS_SELECTION, RulePreview
from ledger.rules.queries.suggestions import find_rule_suggestion
from ledger.transactions.pages.counterparty_lookup import list_counterparty_suggestions
from ledger.transactions.pages.labels import DATE_RULE_LABELS, load_visible_names, to_choices

MAX_SAMPLE_SHOWN = 10  # of a preview
READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE


@company_page(reads=READ)
def show_rules(page: CompanyPage) -> HttpResponse:
    """Show all rules in order, and what applying them to uncategorized transactions would change."""
    names = load_visible_names(page)
    rows = list(
        CategorizationRule.objects.for_company(page.company.id).with_details(page.company.id).in_display_order()
    )
    compiled_rules = load_compiled_rules(page.company)
    run_id = parse_id(page.request.GET.get("run", ""))
    last_run = CategorizationRun.objects.for_company(page.company.id).filter(id=run_id).first() if run_id else None
    return page.render(
        "ledger/rules/rules.html",
        tab="inbox",
        rules=[
            {
                "row": row,
                "words": words,
                "more": [words[name] for name in ("splits", "tax", "period", "counterparty") if words[name]],
                "first": place == 0,
                "last": place == len(rows) - 1,
            }
            for place, row in enumerate(rows)
            for words in (describe_rule(row, names),)
        ],
        waiting=rule_matches.preview_rules(
            company=page.company, rules=compiled_rules, selection=OPEN_TRANSACTIONS_SELECTION
        )
        if compiled_rules
        else None,
        run=last_run,
        undo=build_created_rules_undo(page),
        writes=page.has_permission(WRITE),
    )


def build_created_rules_undo(page: CompanyPage) -> dict[str, Any] | None:
    """Return the form that undoes the creation of the rules that the URL names."""
    entry_id = parse_id(page.request.GET.get("created", ""))
    return {"address": reverse("rules-created-undo", args=[page.company.id, entry_id])} if entry_id else None


@company_page(reads=WRITE, writes=WRITE)
def create_rule_page(page: CompanyPage) -> HttpResponse:
    """Create a rule, filled in from a transaction if the URL names one."""
    if page.is_post:
        return submit_rule_form(page, None)
    transaction_id = parse_id(page.request.GET.get("transaction", ""))
    transaction = (
        Transaction.objects.for_company(page.company.id).filter(id=transaction_id).first()
        if transaction_id and page.has_permission(READ)
        else None
    )
    if transaction is None:
        return render_rule_form(page, BoundForm(values=build_rule_form_values(None)))
    suggestion = find_rule_suggestion(page.company, transaction)
    if suggestion is None:
        return render_rule_form(
            page,
            BoundForm(values=build_form_values_from_transaction(page, transaction)),
            several=transaction.categorized_value != 0,
        )
    values = build_rule_form_values(suggestion.rule)
    if suggestion.rule.given_counterparty and page.has_permission(Permission.COUNTERPARTIES_READ):
        values["given"] = suggestion.rule.given_counterparty.name
    return render_rule_form(
        page,
        BoundForm(values=values),
        preview=suggestion.preview,
        against=build_counter_example_lines(page, suggestion.counter_examples),
    )


def build_counter_example_lines(page: CompanyPage, examples: list[tuple[UUID, UUID]]) -> list[dict[str, Any]]:
    """Return transactions that the rule matches and that were categorized otherwise."""
    names, rows = (
        load_visible_names(page),
        Transaction.objects.for_company(page.company.id).in_bulk([row_id for row_id, _ in examples]),
    )
    return [
        {
            "row": rows[row_id],
            "title": rows[row_id].from_to or rows[row_id].description,
            "category": names.get_category_name(category_id),
        }
        for row_id, category_id in examples
    ]


@company_page(reads=WRITE, writes=WRITE)
def edit_rule_page(page: CompanyPage, rule_id: UUID) -> HttpResponse:
    """Edit a rule."""
    rule = get_rule_or_404(page, rule_id)
    if page.is_post:
        return submit_rule_form(page, rule)
    return render_rule_form(page, BoundForm(values=build_rule_form_values(rule)), rule=rule)


def get_rule_or_404(page: CompanyPage, rule_id: UUID) -> CategorizationRule:
    """Return the rule of the URL with its accounts. Raises Http404."""
    rows = CategorizationRule.objects.for_company(page.company.id).with_details(page.company.id)
    rule = rows.filter(id=rule_id).first()
    if rule is None:
        raise Http404
    return rule


def submit_rule_form(page: CompanyPage, rule: CategorizationRule | None) -> HttpResponse:
    """Save the posted rule, or show what it would do."""
    post_data = page.request.POST
    form = BoundForm(values=read_rule_form(post_data), fields=RULE_FORM_FIELDS)
    preview = None
    with page.handle_errors(form):
        values = validate_request_body(serializers.RuleSerializer, build_rule_body(page, form.values, rule))
        if "preview" in post_data:
            draft_rule = categorization_rules.build_unsaved_rule(
                company=page.company, context=page.audit_context, values=values
            )
            preview = rule_matches.preview_rules(
                company=page.company, rules=build_compiled_rules(page.company, [draft_rule], is_stored=False)
            )
            return render_rule_form(page, form, rule=rule, preview=preview)
        if rule is None and "transaction" in page.request.GET and "anyway" not in post_data:
            suggestion = suggestions.build_rule_suggestion(
                page.company,
                categorization_rules.build_unsaved_rule(
                    company=page.company, context=page.audit_context, values=values
                ),
            )
            if suggestion.counter_examples:  # it was offered for one transaction: what it does to others is asked first
                return render_rule_form(
                    page,
                    form,
                    preview=suggestion.preview,
                    against=build_counter_example_lines(page, suggestion.counter_examples),
                )
        if rule is None:
            categorization_rules.create_categorization_rule(
                company=page.company, context=page.audit_context, values=values
            )
            return page.redirect_with_message(_("{name} added.").format(name=values["name"]), "rules")
        categorization_rules.update_categorization_rule(
            company=page.company, context=page.audit_context, rule_id=rule.id, values=lambda _: values
        )
        return page.redirect_with_message(_("{name} saved.").format(name=values["name"]), "rules")
    if page.is_outdated and rule:
        rule = get_rule_or_404(page, rule.id)
        form.errors = {"row": describe_rule_change(page, rule)}
    return render_rule_form(page, form, rule=rule)


def describe_rule_change(page: CompanyPage, rule: CategorizationRule) -> str:
    """Describe who changed the rule while the form was open, and what it says now."""
    actor = rule.last_updated_user_id or ""
    words = describe_rule(rule, load_visible_names(page))
    template = _("{who} has changed the rule in the meantime: “{name}”, {conditions} → {category}. {then}")
    return capfirst(
        template.format(
            who=actors(page, {actor} - {""}).get(actor, _("System")),
            name=rule.name,
            conditions=words["conditions"],
            category=words["category"] or _("none"),
            then=_("Your change was not saved. Review the current version and try again."),
        )
    )


def read_rule_form(post_data: Any) -> dict[str, Any]:
    """Return the posted form values."""
    values: dict[str, Any] = {name: post_data.get(name, "").strip() for name in FORM_FIELDS}
    return values | {
        "accounts": post_data.getlist("accounts"),
        "enabled": "enabled" in post_data,
        "counterpartyFrom": "counterpartyFrom" in post_data,
        **read_split_rows(post_data),
    }


@company_page(writes=WRITE)
def move_rule_page(page: CompanyPage, rule_id: UUID) -> HttpResponse:
    """Move a rule one position up or down."""
    with page.handle_errors():
        rule_ids = list(
            CategorizationRule.objects.for_company(page.company.id).in_display_order().values_list("id", flat=True)
        )
        if rule_id not in rule_ids:
            raise NotFoundError
        place = rule_ids.index(rule_id)
        other = place + (1 if page.request.POST.get("to") == "down" else -1)
        if 0 <= other < len(rule_ids):
            rule_ids[place], rule_ids[other] = rule_ids[other], rule_ids[place]
            categorization_rules.reorder_categorization_rules(
                company=page.company, context=page.audit_context, rule_ids=rule_ids
            )
        return page.redirect("rules")
    return page.redirect("rules")


@company_page(writes=WRITE)
def delete_rule_page(page: CompanyPage, rule_id: UUID) -> HttpResponse:
    """Delete a rule; what it assigned stays."""
    with page.handle_errors():
        categorization_rules.delete_categorization_rule(
            company=page.company, context=page.audit_context, rule_id=rule_id
        )
        return page.redirect_with_message(_("Rule deleted. Its categorizations were not changed."), "rules")
    return page.redirect("rules")


@company_page(writes=WRITE)
def apply_rules_page(page: CompanyPage) -> HttpResponse:
    """Apply the rules to uncategorized transactions; the next page can undo the run."""
    with page.handle_errors():
        result = categorization_runs.apply_rules(
            company=page.company, context=page.audit_context, selection=OPEN_TRANSACTIONS_SELECTION
        )
        count = result.affected
        message = ngettext(
            "{count} transaction categorized by rules.", "{count} transactions categorized by rules.", count
        )
        response = page.redirect_with_message(message.format(count=format_count(count)), "rules")
        if result.affected:
            response["Location"] += f"?run={result.run_id}"
        return response
    return page.redirect("rules")


@company_page(writes=WRITE)
def undo_rule_run_page(page: CompanyPage, run_id: UUID) -> HttpResponse:
    """Undo a categorization run."""
    with page.handle_errors():
        result = run_undo.undo_categorization_run(company=page.company, context=page.audit_context, run_id=run_id)
        sentence = ngettext("{count} transaction restored.", "{count} transactions restored.", result.affected)
        return page.redirect_with_message(append_kept_count(sentence, result), "rules")
    return page.redirect("rules")


def render_rule_form(
    page: CompanyPage,
    form: BoundForm,
    *,
    rule: CategorizationRule | None = None,
    preview: RulePreview | None = None,
    **more: Any,
) -> HttpResponse:
    """Render the form of a rule.

    Args:
        more: for the template; ``build_counter_example_lines`` has counter-examples, ``several``: the
            transaction has several
            categories.
    """
    names = load_visible_names(page)
    return page.render(
        "ledger/rules/rule_form.html",
        status=200 if form.is_valid else 400,
        tab="inbox",
        form=form,
        rule=rule,
        seen=page.get_seen_version(rule) if rule else "",
        operators=to_choices(OPERATOR_LABELS),
        accounts=names.list_account_choices(),
        category_lines=names.list_line_choices(),
        currencies=Currency.values,
        date_rules=to_choices(DATE_RULE_LABELS),
        period_starts=to_choices(PERIOD_START_LABELS),
        split_rows=list_split_rows(form.values, spare=SPARE_SPLIT_ROWS),
        counterparties=list_counterparty_suggestions(page),
        preview=preview,
        sample=build_sample_lines(page, preview) if preview and page.has_permission(READ) else [],
        **more,
    )


def build_sample_lines(page: CompanyPage, preview: RulePreview) -> list[Mapping[str, Any]]:
    """Return some of the transactions that would change."""
    transaction_ids = [transaction_id["transaction_id"] for transaction_id in preview.sample[:MAX_SAMPLE_SHOWN]]
    rows = Transaction.objects.for_company(page.company.id).in_bulk(transaction_ids)
    return [
        {"row": rows[transaction_id], "title": rows[transaction_id].from_to or rows[transaction_id].description}
        for transaction_id in transaction_ids
    ]
