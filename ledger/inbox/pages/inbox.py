"""The inbox: transactions to review with proposed categories, possible transfers, and other notices."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.models import Company, parse_id
from companies.pages.amount_formats import format_percent_for_input
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from companies.versions import compute_version
from ledger import hooks
from ledger.categorization.pages.bulk_actions import BULK_FORM_FIELDS
from ledger.inbox.card_settlements import find_settled_cards, list_missing_card_files
from ledger.inbox.missing_categories import MissingCategory, list_missing_categories
from ledger.inbox.pages.inbox_actions import INBOX_ACTIONS, get_form_transactions, reject_unknown_action
from ledger.inbox.proposal_basis import describe_customer_tax, describe_proposal_basis
from ledger.inbox.queries import filter_open_transactions
from ledger.inbox.repeated_choice import find_repeated_choice
from ledger.models import Account, CategorizationRule, Transaction
from ledger.rules.actions.suggested_rules import filter_created_rules
from ledger.rules.calc.category_proposals import ACCOUNT, CategoryProposal
from ledger.rules.calc.countries import find_company_countries, find_zone_tax_percent
from ledger.rules.calc.standard_tax import TaxSuggestion
from ledger.rules.calc.transfer_pairs import LegPair
from ledger.rules.pages.split_offers import SplitOffer, build_split_offers
from ledger.rules.pages.transaction_texts import format_purpose, format_title
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.rules.queries.suggested_taxes import suggest_customer_taxes
from ledger.rules.queries.transfer_proposals import list_recent_transfer_proposals
from ledger.transactions.pages.edit_conflicts import describe_concurrent_changes
from ledger.transactions.pages.labels import LedgerNames, format_line_choice, load_visible_names
from ledger.transactions.pages.return_urls import CATEGORIZED_PARAMETER, build_inbox_url
from ledger.transactions.pages.transaction_list import find_undoable_run
from ledger.transactions.queries.possible_duplicates import list_recent_duplicates

PAGE_SIZE = 15  # of transactions, and of pairs: each transaction has a list of all categories
MAX_COUNTED = 99
MAX_LINKED_RULES = 10  # of those that were just created
InboxNotice = tuple[str, str]  # what to look at, and where


class InboxOffer(NamedTuple):
    """A suggestion of another app that one button confirms: a form that is posted to ``address``."""

    description: str
    detail: str
    amount: Decimal
    currency: str
    address: str
    fields: dict[str, str]
    button: str
    label: str  # of the button, for who does not see what it stands beside
    refusal: dict[str, str]  # the fields that say the two do not belong together


class TaxPrompt(NamedTuple):
    """The question for the company's standard VAT rate, with the usual one of its country."""

    rate: str
    is_country_known: bool  # without it, suppliers abroad are not recognized


class UndoForm(NamedTuple):
    """The form that undoes the last action."""

    address: str
    fields: dict[str, str]


# Raw SQL, since every page runs it. ORM: 3.9 x.
_COUNT_OPEN = """
    SELECT count(*) FROM (
        SELECT FROM ledger_transaction
         WHERE company_id = %(company)s AND NOT pending AND amount_value <> categorized_value LIMIT %(most)s
    ) AS waiting
"""


def add_inbox_count(request: HttpRequest) -> dict[str, object]:
    """Context processor: the number of transactions to review, counted only if shown, up to a hundred."""

    def count_open() -> str:
        access = getattr(request, "access", None)
        if access is None or Permission.TRANSACTIONS_READ not in access.permissions:
            return ""
        with connection.cursor() as cursor:
            cursor.execute(_COUNT_OPEN, {"company": access.company.id, "most": MAX_COUNTED + 1})
            result = cursor.fetchone()[0]
        return f"{MAX_COUNTED}+" if result > MAX_COUNTED else str(result or "")

    return {"inbox_count": SimpleLazyObject(count_open)}


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def show_inbox_page(page: CompanyPage) -> HttpResponse:
    """Show the transactions to review, the latest first, and run the action of a form. Raises PermissionDenied."""
    if not page.is_post:
        return render_inbox(page, BoundForm(values={}))
    if not page.has_permission(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    form = BoundForm(values=dict.fromkeys(("category", "id"), ""), fields=BULK_FORM_FIELDS)
    with page.handle_errors(form):
        result = INBOX_ACTIONS.get(page.request.POST.get("act", ""), reject_unknown_action)(page)
        messages.success(page.request, result.message)
        undo_params = {
            "run": result.run_id,
            "created": result.created_entry_id,
            "refused": result.dismissed_match_id,
            "back": result.return_row,
        }
        return redirect(
            build_inbox_url(page, page.request.POST.get("next"), categorized_id=result.categorized_id, **undo_params)
        )
    if page.is_outdated:
        form.errors = {"row": describe_concurrent_changes(page, get_form_transactions(page))}
    return render_inbox(page, form)


def render_inbox(page: CompanyPage, form: BoundForm) -> HttpResponse:
    """Render the inbox."""
    names = load_visible_names(page)
    rows = list(filter_open_transactions(page.company).order_by("-date", "-id")[: PAGE_SIZE + 1])
    rows, more = rows[:PAGE_SIZE], len(rows) > PAGE_SIZE
    pairs = list_recent_transfer_proposals(page.company, today=page.today)[:PAGE_SIZE]
    proposals_by_id = suggest_categories(page.company, [row.id for row in rows]) if rows else {}
    has_transactions = bool(rows) or Transaction.objects.for_company(page.company.id).exists()
    listed_pairs = [
        build_pair_line(pair, rows_by_id, names) for pair, rows_by_id in load_pair_transactions(page.company, pairs)
    ]
    listed_offers = [
        {"offer": offer, "place": f"o-{place}"} for place, offer in enumerate(collect_inbox_offers(page), 1)
    ]
    paired_ids = {leg.id for pair in pairs for leg in (pair.source, pair.target)}
    unpaired_rows = [row for row in rows if row.id not in paired_ids]
    split_offers = build_split_offers(page.company, unpaired_rows, proposals_by_id, names)
    customer_taxes = suggest_customer_taxes(page.company, rows)
    cards = find_settled_cards(page.company, unpaired_rows) if page.has_permission(Permission.ACCOUNTS_READ) else {}
    lines = [
        build_inbox_line(
            row,
            proposals_by_id.get(row.id, []),
            names,
            customer_taxes.get(row.id),
            is_paired=row.id in paired_ids,
            split_offer=split_offers.get(row.id),
            card=cards.get(row.id),
        )
        for row in rows
    ]
    assign_next_focus_rows(listed_pairs, listed_offers, lines)
    return page.render(
        "ledger/inbox/inbox.html",
        status=200 if form.is_valid else 400,
        tab="inbox",
        form=form,
        look_at=[row.id for row in get_form_transactions(page)] if page.is_outdated else [],
        here=None if form.is_valid else parse_id(page.request.POST.get("id", "")),
        lines=lines,
        has_likely=any(line["best"] and line["best"]["likely"] for line in lines),
        more=more,
        begun=has_transactions,
        pairs=listed_pairs,
        offers=listed_offers,
        notices=list(collect_inbox_notices(page)),
        duplicates=list_recent_duplicates(page.company, today=page.today),
        undo=build_undo_form(page),
        created_rules=list_created_rules(page),
        writes=page.has_permission(Permission.TRANSACTIONS_WRITE),
        closes=page.has_permission(Permission.CLOSINGS_MANAGE),
        category_lines=names.list_line_choices(),
        missing_categories=list_addable_categories(page),
        repeated=build_repeated_choice(page, names),
        tax_prompt=build_tax_prompt(page) if lines else None,
    )


def list_addable_categories(page: CompanyPage) -> list[MissingCategory]:
    """Return the categories that the user may add for the transactions to review."""
    needed = (Permission.TRANSACTIONS_WRITE, Permission.CATEGORIES_READ, Permission.CATEGORIES_WRITE)
    return list_missing_categories(page.company) if all(map(page.has_permission, needed)) else []


def build_repeated_choice(page: CompanyPage, names: LedgerNames) -> dict[str, Any] | None:
    """Return the offer to categorize the others of the counterparty that was just categorized; None without others."""
    chosen_id = parse_id(page.request.GET.get(CATEGORIZED_PARAMETER, ""))
    if chosen_id is None or not page.has_permission(Permission.TRANSACTIONS_WRITE):
        return None
    repeated = find_repeated_choice(page.company, chosen_id, today=page.today)
    if repeated is None or repeated.category_id not in names.categories:
        return None
    return {
        "id": chosen_id,
        "name": repeated.name,
        "count": len(repeated.transactions),
        "category": names.get_choice_name(repeated.category_id, repeated.pl_type),
    }


def list_created_rules(page: CompanyPage) -> list[CategorizationRule]:
    """Return the rules that the last action created, to link them."""
    entry_id = parse_id(page.request.GET.get("created", ""))
    rules = filter_created_rules(page.company, entry_id) if entry_id else None
    return list(rules.in_display_order()[:MAX_LINKED_RULES]) if rules is not None else []


def build_undo_form(page: CompanyPage) -> UndoForm | None:
    """Return the form that undoes the last action of this app or of the apps above; None if there is none."""
    query, run = page.request.GET, find_undoable_run(page)
    undo_ids = {"run": run and run.id, "refused": parse_id(query.get("refused", ""))}
    if name := next((name for name, undo_id in undo_ids.items() if undo_id), None):
        fields = {"act": "undo", name: str(undo_ids[name]), "next": query.get("back", "")}
        return UndoForm("", fields | ({"created": query["created"]} if query.get("created") else {}))
    return next(filter(None, hooks.find_inbox_undo.run(page)), None)


def assign_next_focus_rows(
    pair_lines: list[dict[str, Any]], offer_lines: list[dict[str, Any]], lines: list[dict[str, Any]]
) -> None:
    """Set the row that gets the focus after each row is done: the next one below, else the one above of its kind,
    so that who keeps pressing a key does not act on a skipped row.

    Both legs of a linked pair leave the list; of offers the next one moves up into the same place.
    """
    rows = [*pair_lines, *offer_lines, *lines]
    moving_up = {current["place"] for current in offer_lines[:-1]}
    for position, current in enumerate(rows):
        lines_above = (other for other in reversed(rows[:position]) if other["place"][0] == current["place"][0])
        neighbors = [*rows[position + 1 :], *lines_above]
        next_places = (other["place"] for other in neighbors if other["place"] not in current.get("legs", ()))
        current["next"] = current["place"] if current["place"] in moving_up else next(next_places, "done")


def build_inbox_line(
    row: Transaction,
    proposals: list[CategoryProposal],
    names: LedgerNames,
    customer_tax: TaxSuggestion | None,
    *,
    is_paired: bool,
    split_offer: SplitOffer | None,
    card: Account | None,
) -> dict[str, Any]:
    """Return a transaction to review with its proposals.

    A leg of a proposed pair gets no transfer proposal: it is linked from the pair, and the category Transfers
    alone would leave it in the cash flow and remove the pair. The settlement of a card gets none either: its other
    side is created on the card, which owes the money otherwise. Unlikely categories are left out there as well, and
    those that only the account suggests everywhere. Beside the offer of a split or period no category is offered, for
    it would leave out the parts or the period. The list of categories has the suggested tax beside it, else that of a
    payment by a customer.
    """
    suggested = [
        proposal
        for proposal in proposals
        if proposal.kind != ACCOUNT
        and (not is_paired or (proposal.is_likely and not proposal.is_transfer))
        and not (card and proposal.is_transfer)
    ]
    shown_proposals = [
        build_proposal_context(proposal, names, is_incoming=row.amount_value > 0)
        for proposal in suggested
        if proposal.categorization.category_id in names.categories and split_offer is None
    ]
    if any(shown["likely"] for shown in shown_proposals):
        customer_tax = None
    return {
        "row": row,
        "place": f"t-{row.id}",
        "title": format_title(row),
        "text": format_purpose(row),
        "account": names.get_account_name(row.account_id),
        "rest": row.amount_value - row.categorized_value,
        "seen": compute_version(row),
        "best": shown_proposals[0] if shown_proposals else None,
        "others": shown_proposals[1:],
        "list_tax": format_percent_for_input(customer_tax.percent if customer_tax else None)
        or (shown_proposals[0]["tax"] if shown_proposals else ""),
        "customer_reason": describe_customer_tax(customer_tax) if customer_tax else "",
        "offer": split_offer,
        "card": card,
        "is_paired": is_paired,
    }


def build_proposal_context(proposal: CategoryProposal, names: LedgerNames, *, is_incoming: bool) -> dict[str, Any]:
    """Return a proposal for the template. Only a likely one is the primary button; a weak one has no key."""
    categorization, tax = proposal.categorization, format_percent_for_input(proposal.tax_percent)
    name = names.get_choice_name(*categorization.choice)
    return {
        "value": format_line_choice(*categorization.choice),
        "category_id": str(categorization.category_id),
        "name": name,
        "label": _("{category}, {percent} % tax").format(category=name, percent=tax) if tax else name,
        "tax": tax,
        "counterparty": str(categorization.counterparty_id) if categorization.counterparty_id else "",
        "likely": proposal.is_likely,
        "has_key": not proposal.is_weak,
        "why": describe_proposal_basis(proposal, is_incoming=is_incoming),
    }


def build_tax_prompt(page: CompanyPage) -> TaxPrompt | None:
    """Return the question for the standard VAT rate; None if it was answered, or for who cannot change the company."""
    company = page.company
    can_answer = page.has_permission(Permission.COMPANY_WRITE) and page.has_permission(Permission.TRANSACTIONS_WRITE)
    if company.standard_tax_percent is not None or not can_answer:
        return None
    rate = format_percent_for_input(find_zone_tax_percent(company.time_zone))
    return TaxPrompt(
        page.request.POST.get("standardTaxPercent", rate),
        is_country_known=bool(find_company_countries(company.name, company.time_zone)),
    )


def load_pair_transactions(company: Company, pairs: list[LegPair]) -> Iterable[tuple[LegPair, dict[UUID, Transaction]]]:
    """Return each pair with its transactions by id."""
    ids = [leg.id for pair in pairs for leg in (pair.source, pair.target)]
    rows = Transaction.objects.for_company(company.id).in_bulk(ids) if ids else {}
    return ((pair, rows) for pair in pairs)


def build_pair_line(pair: LegPair, rows: dict[UUID, Transaction], names: LedgerNames) -> dict[str, Any]:
    """Return a proposed transfer for the template."""
    legs = [(rows[leg.id], names.get_account_name(leg.account_id)) for leg in (pair.source, pair.target)]
    return {
        "place": f"p-{pair.source.id}",
        "legs": {f"t-{row.id}" for row, _ in legs},
        "source": legs[0],
        "target": legs[1],
        "versions": [compute_version(row) for row, _ in legs],
        "refusal": {"id": str(pair.source.id), "other": str(pair.target.id), "back": f"p-{pair.source.id}"},
        "what": f"{legs[0][1]} → {legs[1][1]}",
        "days": pair.days,
        "difference": pair.difference,
    }


def collect_inbox_offers(page: CompanyPage) -> Iterable[InboxOffer]:
    """Yield the suggestions of the apps above."""
    for result in hooks.list_inbox_offers.run(page):
        yield from result


def collect_inbox_notices(page: CompanyPage) -> Iterable[InboxNotice]:
    """Yield notices: accounts that do not agree with their bank, missing files, and those of the apps above."""
    if page.has_permission(Permission.ACCOUNTS_READ):
        accounts = Account.objects.for_company(page.company.id).active()
        for account in accounts.filter(bank_connection__isnull=False).in_display_order():
            if (account.bank_connection or {}).get("balanceMismatchSince"):
                address = f"{reverse('account', args=[page.company.id, account.id])}#reconciliation"
                yield _("{account} is out of balance").format(account=account.name), address
        if page.has_permission(Permission.TRANSACTIONS_WRITE):
            for account_name, month in list_missing_card_files(page.company, today=page.today):
                text = _("The file of {account} for {month} is missing")
                month_name = get_current_locale().format_month(month, full=True)
                yield text.format(account=account_name, month=month_name), reverse("import-new", args=[page.company.id])
    for result in hooks.list_inbox_notices.run(page):
        yield from result
