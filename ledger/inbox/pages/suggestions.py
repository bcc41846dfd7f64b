"""The page that accepts the primary suggestions of the inbox in one act, which can be undone in one act."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.closed_periods import is_day_closed
from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.models import parse_id
from companies.pages.amount_formats import format_count, format_money, format_percent_for_input
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from companies.versions import compute_version
from ledger.categorization.actions.remainder import categorize_remainder
from ledger.categorization.pages.bulk_actions import format_categorized_count
from ledger.categorization.pages.split_rows import parse_tax_percentage
from ledger.inbox.pages.inbox_actions import ActionResult, create_requested_rules, record_inbox_undo
from ledger.inbox.proposal_basis import describe_proposal_basis
from ledger.inbox.queries import filter_open_transactions, find_pair_ids
from ledger.models import TRANSFER_SYSTEM_KEY, Category, Transaction
from ledger.rules.calc.category_proposals import MIN_LIKELY_CONFIDENCE, CategoryProposal
from ledger.rules.pages.split_offers import SplitOffer, build_split_offers
from ledger.rules.pages.transaction_texts import format_purpose, format_title
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.transactions.pages.labels import LedgerNames, format_line_choice, load_visible_names, parse_category_choice
from ledger.transactions.pages.return_urls import build_inbox_url

MAX_REVIEWED = 1000  # open transactions, the latest
MAX_ACCEPTED = 200  # suggestions of one act
DEFAULT_CONFIDENCE = f"{MIN_LIKELY_CONFIDENCE * 100:.0f}"  # percent; those with a primary button in the inbox
CONFIDENCES = (DEFAULT_CONFIDENCE, "75", "90")
REFUSALS_SHOWN = 10  # transactions that a message names
MAX_OFFERS_SHOWN = 20  # of payments that need more than a category
MAX_NAME_LENGTH = 60  # of a transaction in a message


class PrimarySuggestion(NamedTuple):
    """A transaction with the category that the inbox suggests first."""

    row: Transaction
    proposal: CategoryProposal
    category: str  # its name

    @property
    def amount(self) -> Decimal:
        """The uncategorized amount."""
        return self.row.amount_value - self.row.categorized_value

    @property
    def field_value(self) -> str:
        """The suggestion as the form sends it: transaction, version, category with line, counterparty, tax rate."""
        chosen = self.proposal.categorization
        line = format_line_choice(chosen.category_id, chosen.pl_type)
        parts = (self.row.id, compute_version(self.row), line, chosen.counterparty_id, self.proposal.tax_percent)
        return " ".join(str(part or "-") for part in parts)


class AcceptedSuggestion(NamedTuple):
    """A suggestion of the posted form."""

    transaction_id: UUID
    version: str
    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None
    tax_percent: Decimal | None


class SuggestionGroup(NamedTuple):
    """The suggestions of one category for the template."""

    category: str
    amount: str  # the sums by currency
    lines: list[dict[str, Any]]


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def accept_suggestions_page(page: CompanyPage) -> HttpResponse:
    """Show what accepting the primary suggestions would categorize, and categorize it once confirmed."""
    form = BoundForm(values={})
    if page.is_post:
        with page.handle_errors(form):
            return accept_suggestions(page, parse_accepted_suggestions(page))
    confidence = page.request.GET.get("confidence", "")
    confidence = confidence if confidence in CONFIDENCES else DEFAULT_CONFIDENCE
    suggestions, transfer_count, split_offers = list_primary_suggestions(
        page, load_visible_names(page), min_confidence=Decimal(confidence) / 100
    )
    return page.render(
        "ledger/inbox/accept_suggestions.html",
        status=400 if form.general or form.errors else 200,
        tab="inbox",
        form=form,
        groups=build_suggestion_groups(suggestions[:MAX_ACCEPTED], form, page.request.POST),
        more=len(suggestions) > MAX_ACCEPTED,
        most=MAX_ACCEPTED,
        transfer_count=transfer_count,
        split_offers=split_offers[:MAX_OFFERS_SHOWN],
        split_offer_count=len(split_offers),
        confidence=confidence,
        confidences=CONFIDENCES,
    )


def list_primary_suggestions(
    page: CompanyPage, names: LedgerNames, *, min_confidence: Decimal
) -> tuple[list[PrimarySuggestion], int, list[SplitOffer]]:
    """Return the transactions whose first suggestion has a primary button, latest first, the number of transfers, and
    the payments that need more than a category.

    Those of closed months are left out, and possible transfers, which need their other leg: legs of suggested
    pairs, and those with Transfers as their first suggestion. A pair counts once. Payments that need more than a
    category state parts or a period in their text, or were split the last time, such as instalments of a loan.
    """
    rows = [
        row
        for row in filter_open_transactions(page.company).order_by("-date", "-id")[:MAX_REVIEWED]
        if not is_day_closed(page.company, row.date)
    ]
    pair_ids = find_pair_ids(page.company, today=page.today)
    transfer_category = Category.objects.for_company(page.company.id).for_system_key(TRANSFER_SYSTEM_KEY)
    transfer_id = transfer_category.values_list("id", flat=True).first()
    transfers: set[UUID] = set()  # of a pair the source
    proposals_by_id = suggest_categories(page.company, [row.id for row in rows]) if rows else {}
    unpaired_rows = [row for row in rows if row.id not in pair_ids]
    split_offers = build_split_offers(page.company, unpaired_rows, proposals_by_id, names)
    suggestions = []
    for row in rows:
        if row.id in split_offers:
            continue
        visible = (
            proposal
            for proposal in proposals_by_id.get(row.id, [])
            if proposal.categorization.category_id in names.categories
        )
        first = next(visible, None)
        if not (first and first.is_likely and first.confidence >= min_confidence):
            continue
        if row.id in pair_ids or first.categorization.category_id == transfer_id:
            transfers.add(pair_ids.get(row.id, row.id))
            continue
        category = names.get_choice_name(*first.categorization.choice)
        suggestions.append(PrimarySuggestion(row, first, category))
    return suggestions, len(transfers), list(split_offers.values())


def build_suggestion_groups(
    suggestions: Iterable[PrimarySuggestion], form: BoundForm, post_data: QueryDict
) -> list[SuggestionGroup]:
    """Return the suggestions by category, the most frequent first; with what was posted where the form is refused."""
    by_category: defaultdict[str, list[PrimarySuggestion]] = defaultdict(list)
    for suggestion in suggestions:
        by_category[suggestion.category].append(suggestion)
    ticked_ids = {text.split(" ")[0] for text in post_data.getlist("suggestion")}
    groups = []
    for category, members in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0])):
        sums: defaultdict[str, Decimal] = defaultdict(Decimal)
        for each in members:
            sums[each.row.amount_currency] += each.amount
        lines = [
            build_row_line(
                each.row,
                amount=each.amount,
                value=each.field_value,
                why=describe_proposal_basis(each.proposal, is_incoming=each.amount > 0),
                tax=format_percent_for_input(each.proposal.tax_percent),
            )
            for each in members
        ]
        if not form.is_valid:
            for line in lines:
                restore_posted_line(line, form, post_data, ticked_ids)
        groups.append(
            SuggestionGroup(category, " + ".join(format_money(total, code) for code, total in sums.items()), lines)
        )
    return groups


def build_row_line(row: Transaction, *, amount: Decimal, value: str, why: str, tax: str) -> dict[str, Any]:
    """Return a transaction for `group_row.html`.

    Args:
        amount: what of it is not categorized.
        value: what its box sends.
        why: the reason of the suggestion.
        tax: the suggested rate, as it is typed.
    """
    return {
        "row": row,
        "value": value,
        "title": format_title(row),
        "text": format_purpose(row),
        "amount": amount,
        "why": why,
        "ticked": True,
        "tax": tax,
        "tax_field": build_tax_field(row.id),
    }


def restore_posted_line(line: dict[str, Any], form: BoundForm, post_data: QueryDict, ticked_ids: set[str]) -> None:
    """Show a transaction of a refused form as it was posted."""
    line["ticked"] = str(line["row"].id) in ticked_ids
    line["tax"] = post_data.get(line["tax_field"], line["tax"])
    line["has_error"] = line["tax_field"] in form.errors


def build_tax_field(transaction_id: UUID) -> str:
    """Return the name of the field with the tax rate of a transaction."""
    return f"tax-{transaction_id}"


def parse_accepted_suggestions(page: CompanyPage) -> list[AcceptedSuggestion]:
    """Parse the ticked suggestions of the form and their tax rates. Raises ValidationFailed."""
    post_data = page.request.POST
    chosen, tax_texts = [], {}
    for text in post_data.getlist("suggestion")[:MAX_ACCEPTED]:
        transaction_text, version, line, counterparty, tax = [*text.split(" "), "", "", "", "", ""][:5]
        category_text, pl_type = parse_category_choice(line)
        transaction_id, category_id = parse_id(transaction_text), parse_id(category_text or "")
        if transaction_id and category_id and pl_type:
            tax_texts[transaction_id] = post_data.get(build_tax_field(transaction_id), tax.strip("-")).strip()
            chosen.append((transaction_id, version, category_id, pl_type, parse_id(counterparty)))
    if not chosen:
        raise ValidationFailed([("#/suggestion", "required", _("Select at least one transaction."))])
    percents = parse_tax_rates(page, tax_texts)
    return [AcceptedSuggestion(*each, tax_percent=percents[each[0]]) for each in chosen]


def parse_tax_rates(page: CompanyPage, texts: Mapping[UUID, str]) -> dict[UUID, Decimal | None]:
    """Parse the tax rates of transactions. Raises ValidationFailed, which names the transactions of invalid ones."""
    percents, errors = {}, {}
    for transaction_id, text in texts.items():
        try:
            percents[transaction_id] = parse_tax_percentage(text, pointer=f"#/{build_tax_field(transaction_id)}")
        except ValidationFailed as error:
            errors[transaction_id] = error.errors[0]
    if errors:
        rows = Transaction.objects.for_company(page.company.id).in_bulk(list(errors))
        raise ValidationFailed(
            [
                (pointer, code, f"{describe_transaction(rows[row_id])}: {detail}" if row_id in rows else detail)
                for row_id, (pointer, code, detail) in errors.items()
            ]
        )
    return percents


def accept_suggestions(page: CompanyPage, accepted: Sequence[AcceptedSuggestion]) -> HttpResponse:
    """Categorize the suggestions, and show the inbox, which offers to undo it. Raises ValidationFailed."""
    result = categorize_accepted(page, accepted)
    messages.success(page.request, result.message)
    return redirect(build_inbox_url(page, None, run=result.run_id))


def categorize_accepted(
    page: CompanyPage, accepted: Sequence[AcceptedSuggestion], *, rule_ids: Collection[UUID] = ()
) -> ActionResult:
    """Categorize the transactions that can be, as one run that can be undone.

    Args:
        rule_ids: of the transactions that rules are created for too, if they are categorized.

    Raises TooManyRules, and ValidationFailed if none can be.
    """
    ids = [suggestion.transaction_id for suggestion in accepted]
    refusals: list[str] = []
    done_ids = set[UUID]()
    with record_inbox_undo(page, ids) as run:
        rows = Transaction.objects.for_company(page.company.id).in_bulk(ids)
        for suggestion in accepted:
            row = rows.get(suggestion.transaction_id)
            if reason := categorize_as_suggested(page, suggestion, row):
                refusals.append(f"{describe_transaction(row)}: {reason}" if row else reason)
            else:
                done_ids.add(suggestion.transaction_id)
        requested = create_requested_rules(page, done_ids.intersection(rule_ids))
    done_count = len(accepted) - len(refusals)
    refusal_text = format_refusals(refusals)
    if not done_count:
        raise ValidationFailed([("#/suggestion", "not_categorized", refusal_text)])
    sentences = (format_categorized_count(done_count), refusal_text, requested.message)
    return ActionResult(
        " ".join(filter(None, sentences)),
        run_id=run.id if run.affected else None,
        created_entry_id=requested.created_entry_id,
    )


def categorize_as_suggested(page: CompanyPage, suggestion: AcceptedSuggestion, row: Transaction | None) -> str:
    """Categorize a transaction that is as the form showed it; return why it was not, empty if it was."""
    if row is None:
        return _("The transaction has been deleted.")
    if compute_version(row) != suggestion.version:
        return _("It was changed in the meantime.")
    form = BoundForm(values={})
    with page.handle_errors(form):
        categorize_remainder(
            company=page.company,
            context=page.audit_context,
            transaction_id=row.id,
            category_id=suggestion.category_id,
            pl_type=suggestion.pl_type,
            counterparty=(suggestion.counterparty_id, None) if suggestion.counterparty_id else None,
            tax_percent=suggestion.tax_percent,
        )
    return form.general or next(iter(form.errors.values()), "")


def describe_transaction(row: Transaction) -> str:
    """Return the name, day and amount of a transaction."""
    name = row.from_to or row.description or _("No text")
    amount = format_money(row.amount_value, row.amount_currency)
    return f"{name[:MAX_NAME_LENGTH]}, {get_current_locale().format_day(row.date)}, {amount}"


def format_refusals(refusals: Sequence[str]) -> str:
    """Say which transactions were not categorized and why; empty if all were."""
    if not refusals:
        return ""
    items = list(refusals[:REFUSALS_SHOWN])
    if other_count := len(refusals) - len(items):
        text = ngettext("{count} more transaction.", "{count} more transactions.", other_count)
        items.append(text.format(count=format_count(other_count)))
    return " ".join([_("Not categorized:"), *items])
