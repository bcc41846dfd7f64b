"""Transactions to review in groups, each categorized at once: by suggested category, or by counterparty."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_money, format_percent_for_input
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from companies.versions import compute_version
from ledger.inbox.groups import (
    GroupedTransaction,
    TransactionGroup,
    group_by_category,
    group_by_counterparty,
    pick_suggestions,
)
from ledger.inbox.pages.inbox import build_tax_prompt, build_undo_form, list_addable_categories, list_created_rules
from ledger.inbox.pages.inbox_actions import (
    ActionResult,
    add_categories,
    create_named_category,
    reject_unknown_action,
    set_standard_tax,
    undo_inbox_action,
)
from ledger.inbox.pages.suggestions import (
    MAX_ACCEPTED,
    MAX_OFFERS_SHOWN,
    AcceptedSuggestion,
    build_row_line,
    build_tax_field,
    categorize_accepted,
    parse_tax_rates,
    restore_posted_line,
)
from ledger.inbox.proposal_basis import describe_customer_tax, describe_proposal_basis
from ledger.inbox.queries import list_categorizable_transactions
from ledger.models import Transaction
from ledger.rules.calc.standard_tax import TaxSuggestion
from ledger.rules.pages.split_offers import SplitOffer, build_split_offers
from ledger.rules.pages.transaction_texts import format_title
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.rules.queries.suggested_taxes import suggest_customer_taxes
from ledger.rules.queries.usual_counterparties import find_usual_counterparties
from ledger.transactions.pages.labels import (
    LINE_LABELS,
    LedgerNames,
    format_line_choice,
    load_visible_names,
    parse_category_choice,
    to_choices,
)
from ledger.transactions.pages.return_urls import INBOX_ROW_ID

MAX_GROUPED = 500  # open transactions, the latest
# Of one page; the others follow. A group is cut where it would exceed the rows.
MAX_GROUPS, MAX_GROUP_ROWS = 40, 200
MAX_OPEN_GROUPS = 8  # of the others only the title and the amount are open, on phones
MAX_SMALL_GROUP_ROWS = 2  # of a group that is open on wide screens wherever it stands
MAX_OPEN_ROWS = 4  # of a group; the others are folded
GROUPINGS: dict[str, Any] = {
    "category": gettext_lazy("Suggested category"),
    "counterparty": gettext_lazy("Counterparty"),
}
GROUP_FORM_FIELDS = {"categoryId": "category", "plType": "category", "suggestion": "group"}


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def show_inbox_groups(page: CompanyPage) -> HttpResponse:
    """Show the groups of transactions to review, and categorize the ticked ones of a group. Raises PermissionDenied."""
    grouping = page.request.GET.get("by", "")
    grouping = grouping if grouping in GROUPINGS else next(iter(GROUPINGS))
    form = BoundForm(values={}, fields=GROUP_FORM_FIELDS)
    if page.is_post:
        if not page.has_permission(Permission.TRANSACTIONS_READ):
            raise PermissionDenied  # the answer is the list
        with page.handle_errors(form):
            result = GROUP_ACTIONS.get(page.request.POST.get("act", ""), reject_unknown_action)(page)
            messages.success(page.request, result.message)
            return redirect(build_groups_url(page, grouping, result))
    names = load_visible_names(page)
    lines, more, split_offers = list_group_lines(page, names, grouping)
    if not form.is_valid:
        for posted_group in list_posted_groups(page):
            restore_posted_group(posted_group, form, lines)
    return page.render(
        "ledger/inbox/groups.html",
        status=200 if form.is_valid else 400,
        tab="inbox",
        form=form,
        groups=lines,
        more=more,
        split_offers=split_offers[:MAX_OFFERS_SHOWN],
        split_offer_count=len(split_offers),
        grouping=grouping,
        groupings=GROUPINGS.items(),
        undo=build_undo_form(page),
        created_rules=list_created_rules(page),
        writes=page.has_permission(Permission.TRANSACTIONS_WRITE),
        category_lines=names.list_line_choices(),
        missing_categories=list_addable_categories(page),
        pl_types=to_choices(LINE_LABELS) if page.has_permission(Permission.CATEGORIES_WRITE) else (),
        new_category=page.request.POST if page.request.POST.get("act") == "create-category" else None,
        tax_prompt=build_tax_prompt(page) if lines else None,
    )


def build_groups_url(page: CompanyPage, grouping: str, result: ActionResult) -> str:
    """Return the address of the groups, with what can be undone and the group that gets the focus."""
    ids = {"run": result.run_id, "created": result.created_entry_id}
    parameters = {"by": grouping, **{name: str(each or "") for name, each in ids.items()}}
    query = urlencode({name: value for name, value in parameters.items() if value})
    row = page.request.POST.get("next", "")
    place = f"#{row}" if INBOX_ROW_ID.fullmatch(row) else ""
    return f"{reverse('inbox-groups', args=[page.company.id])}?{query}{place}"


# ---------------------------------------------------------------------------------------------- the groups


def list_group_lines(
    page: CompanyPage, names: LedgerNames, grouping: str
) -> tuple[list[dict[str, Any]], bool, list[SplitOffer]]:
    """Return the groups of one page for the template, whether more transactions follow, and the payments that need more
    than a category, which are in no group."""
    rows = list_categorizable_transactions(page.company, today=page.today, limit=MAX_GROUPED)
    proposals_by_id = suggest_categories(page.company, [row.id for row in rows]) if rows else {}
    split_offers = build_split_offers(page.company, rows, proposals_by_id, names)
    grouped_rows = [row for row in rows if row.id not in split_offers]
    transactions = pick_suggestions(grouped_rows, proposals_by_id, names.categories)
    customer_taxes = suggest_customer_taxes(page.company, (each.row for each in transactions if not each.proposal))
    groups = group_by_category(transactions) if grouping == "category" else group_by_counterparty(transactions)
    lines, free_rows = [], MAX_GROUP_ROWS
    for number, group in enumerate(groups[:MAX_GROUPS], 1):
        shown_group = TransactionGroup(group.transactions[:free_rows], group.choice, group.is_likely)
        if shown_group.transactions:
            lines.append(
                build_group_line(
                    shown_group, names, customer_taxes, place=f"o-{number}", is_by_category=grouping == "category"
                )
                | {"is_folded": number > MAX_OPEN_GROUPS, "is_open_when_wide": is_open_when_wide(shown_group)}
            )
        free_rows -= len(shown_group.transactions)
    return lines, sum(len(line["rows"]) for line in lines) < len(transactions), list(split_offers.values())


def is_open_when_wide(group: TransactionGroup) -> bool:
    """Whether wide screens show a folded group open: a small one, or one whose transactions differ."""
    return len(group.transactions) <= MAX_SMALL_GROUP_ROWS or group.has_different_suggestions


def list_posted_groups(page: CompanyPage) -> list[QueryDict]:
    """Return the fields of each posted group: several groups are encoded in one field each."""
    encoded_groups = page.request.POST.getlist("group")[:MAX_GROUPS]
    return [QueryDict(text) for text in encoded_groups] or [page.request.POST]


def restore_posted_group(post_data: QueryDict, form: BoundForm, lines: list[dict[str, Any]]) -> None:
    """Show the group of a refused form as it was posted: ticked transactions, category and tax rates."""
    ticked_ids = {text.split(" ")[0] for text in post_data.getlist("transaction")}
    for line in lines:
        if line["place"] == post_data.get("next"):
            line |= {name: post_data.get(name, "") for name in ("other", "tax", "always")}
            for row_line in line["rows"]:
                restore_posted_line(row_line, form, post_data, ticked_ids)
            line["has_folded_error"] = any(row_line["has_error"] for row_line in line["folded_rows"])
            line["is_folded"] = False


def build_group_line(
    group: TransactionGroup,
    names: LedgerNames,
    customer_taxes: Mapping[UUID, TaxSuggestion],
    *,
    place: str,
    is_by_category: bool,
) -> dict[str, Any]:
    """Return a group for the template. Its title is what its transactions have in common."""
    category = names.get_choice_name(*group.choice) if group.choice else ""
    rows = [build_group_row(each, customer_taxes.get(each.row.id)) for each in group.transactions]
    # Transactions without a common suggestion are looked at one by one.
    open_count = MAX_OPEN_ROWS if group.is_likely or not group.has_several_counterparties else len(rows)
    reasons = {row["why"] for row in rows}
    if len(reasons) == 1:  # it is shown once for all
        for row in rows:
            row["why"] = ""
    return {
        "place": place,
        "title": format_group_title(group, category) if is_by_category else format_title(group.transactions[0].row),
        "category": category,
        "choice": format_line_choice(*group.choice) if group.choice else "",
        "likely": group.is_likely,
        "why": reasons.pop() if len(reasons) == 1 else "",
        "amount": " + ".join(format_money(amount, currency) for currency, amount in group.amounts.items()),
        "rows": rows,
        "open_rows": rows[:open_count],
        "folded_rows": rows[open_count:],
        "needs_tax_rates": group.needs_tax_rates,
        "folded_tax_count": sum(bool(row["tax"]) for row in rows[open_count:]),
    }


def format_group_title(group: TransactionGroup, category: str) -> str:
    """Return the likely category of a group, else what its transactions have in common."""
    if group.is_likely:
        return category
    return _("Money in") if group.has_several_counterparties else format_title(group.transactions[0].row)


def build_group_row(transaction: GroupedTransaction, customer_tax: TaxSuggestion | None) -> dict[str, Any]:
    """Return a transaction of a group for the template; its value has id, version, counterparty and tax rate.

    Args:
        customer_tax: of a payment by a customer without a suggested category.
    """
    row, proposal = transaction.row, transaction.proposal
    if proposal:
        reason, suggested_tax = describe_proposal_basis(proposal, is_incoming=transaction.amount > 0), proposal.tax
    else:
        reason, suggested_tax = describe_customer_tax(customer_tax) if customer_tax else "", customer_tax
    counterparty_id = proposal.categorization.counterparty_id if proposal else None
    tax = format_percent_for_input(suggested_tax.percent if suggested_tax else None)
    value = f"{row.id} {compute_version(row)} {counterparty_id or '-'} {tax}".strip()
    return build_row_line(row, amount=transaction.amount, value=value, why=reason, tax=tax)


# ---------------------------------------------------------------------------------------------- the action


def categorize_group(page: CompanyPage) -> ActionResult:
    """Categorize the ticked transactions of a group, or of several, as one run that can be undone."""
    accepted, rule_ids = [], []
    for posted_group in list_posted_groups(page):
        parsed_group = parse_group(page, posted_group)
        accepted += parsed_group
        rule_ids += [each.transaction_id for each in parsed_group if posted_group.get("always")]
    return categorize_accepted(page, accepted[:MAX_ACCEPTED], rule_ids=rule_ids)


def parse_group(page: CompanyPage, post_data: QueryDict) -> list[AcceptedSuggestion]:
    """Parse a posted group: the button's category, else the chosen one, and the tax rate of each transaction.

    A rate for all replaces the suggested rates that were not changed. Raises ValidationFailed.
    """
    category_text, pl_type = parse_category_choice(post_data.get("category") or post_data.get("other", ""))
    category_id = parse_id(category_text)
    if category_id is None or pl_type is None:
        raise ValidationFailed([("#/categoryId", "required", _("Choose a category."))])
    transactions, tax_texts = [], {}
    for text in post_data.getlist("transaction")[:MAX_ACCEPTED]:
        transaction_text, version, counterparty, suggested_tax = [*text.split(" "), "", "", ""][:4]
        if transaction_id := parse_id(transaction_text):
            transactions.append((transaction_id, version, parse_id(counterparty)))
            tax_text = post_data.get(build_tax_field(transaction_id), suggested_tax).strip()
            is_changed = tax_text != suggested_tax
            tax_texts[transaction_id] = tax_text if is_changed else post_data.get("tax", "").strip() or tax_text
    if not transactions:
        raise ValidationFailed([("#/suggestion", "required", _("Select at least one transaction."))])
    percents = parse_tax_rates(page, tax_texts)
    ids = [transaction_id for transaction_id, _version, _counterparty in transactions]
    usual = {}
    if not post_data.get("category"):
        rows = Transaction.objects.for_company(page.company.id).filter(id__in=ids)
        usual = find_usual_counterparties(page.company, list(rows), (category_id, pl_type))
    return [
        AcceptedSuggestion(
            row_id, version, category_id, pl_type, counterparty_id or usual.get(row_id), percents[row_id]
        )
        for row_id, version, counterparty_id in transactions
    ]


GROUP_ACTIONS = {
    "categorize": categorize_group,
    "add-categories": add_categories,
    "create-category": create_named_category,
    "set-standard-tax": set_standard_tax,
    "undo": undo_inbox_action,
}
