"""Suggested categories for review: from the company's history, else from the kind of payment that the texts say."""

import json
from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.models import Categorization, Category
from ledger.rules.calc.category_proposals import (
    COUNTERPARTY,
    MAX_PROPOSALS,
    MIN_CERTAIN_COUNT,
    OWN,
    CategoryLine,
    CategoryProposal,
    build_payment_kind_proposal,
)
from ledger.rules.calc.kind_categories import CategoryOption, find_kind_category
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import NAMED_REVENUE_KINDS, SHARED_PAYEE_KINDS, PaymentKind
from ledger.rules.queries.history_proposals import ProposalSubject, list_proposal_subjects, propose_categories
from ledger.rules.queries.history_statements import COMPARED_SQL, fetch_history_rows
from ledger.rules.queries.suggested_taxes import add_suggested_taxes

GENERAL_SYSTEM_KEY = "officeAndAdmin"


def suggest_categories(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[CategoryProposal]]:
    """Return suggestions by transaction id, the best first, without unknown ids.

    The category of the kind of payment comes first where the history has no likely one. One payee has several kinds of
    taxes, or bank fees, interest and loans, so that its name says little: for these the category comes before a likely
    one too. It is the one that the company chose last for this kind of the same payee, else the one that fits the kind.
    A customer pays for several things: fewer than five payments say little of one whose text says something else.
    Transfers between own accounts stay. Suggestions have the tax rate of the latest transaction of the counterparty,
    else the company's standard VAT rate if the payment usually includes it. At most four more statements than
    ``propose_categories``.
    """
    proposals_by_id = propose_categories(company, transaction_ids)
    subjects = list_proposal_subjects(company, list(proposals_by_id))
    add_payment_kinds(company, subjects, proposals_by_id)
    return add_suggested_taxes(company, subjects, proposals_by_id)


def add_payment_kinds(
    company: Company, subjects: Iterable[ProposalSubject], proposals_by_id: dict[UUID, list[CategoryProposal]]
) -> None:
    """Put the category of the kind of payment before the others where it comes first."""
    kinds = {
        subject: find_payment_kind(
            from_to=subject.from_to, description=subject.description, is_incoming=subject.is_incoming
        )
        for subject in subjects
        if may_suggest_kind(company, subject, proposals_by_id[subject.id])
    }
    doubted = {subject for subject in kinds if is_short_revenue_history(proposals_by_id[subject.id])}
    compared_kinds = SHARED_PAYEE_KINDS | NAMED_REVENUE_KINDS
    names = {subject.name for subject, kind in kinds.items() if kind in compared_kinds or subject in doubted} - {""}
    past_choices = find_past_choices(company, names) if names else {}
    options = list_category_options(company) if any(kinds.values()) else []
    for subject, kind in kinds.items():
        proposals = proposals_by_id[subject.id]
        past_kinds = {past_kind for name, _, past_kind in past_choices if name == subject.name}
        if subject in doubted and kind not in NAMED_REVENUE_KINDS:
            if past_kinds and past_kinds <= NAMED_REVENUE_KINDS:
                proposals_by_id[subject.id] = [proposal.for_other_purpose() for proposal in proposals]
        elif kind and (subject in doubted or kind in SHARED_PAYEE_KINDS or not is_first_likely(proposals)):
            choice = past_choices.get((subject.name, subject.is_incoming, kind)) or find_kind_category(kind, options)
            proposals_by_id[subject.id] = put_choice_first(choice, kind, proposals)


def may_suggest_kind(company: Company, subject: ProposalSubject, proposals: list[CategoryProposal]) -> bool:
    """Whether the kind of a payment counts: not in closed months, nor for transfers between own accounts."""
    return not is_day_closed(company, subject.date) and not any(proposal.kind == OWN for proposal in proposals)


def put_choice_first(
    choice: CategoryLine | None, kind: PaymentKind, proposals: list[CategoryProposal]
) -> list[CategoryProposal]:
    """Return the proposals with the category of a kind of payment first, if there is one."""
    if choice is None or (is_first_likely(proposals) and proposals[0].categorization.choice == choice):
        return proposals
    other_proposals = [each for each in proposals if each.categorization.choice != choice]
    return [build_payment_kind_proposal(kind, choice, proposals), *other_proposals][:MAX_PROPOSALS]


def find_past_choices(
    company: Company, names: Iterable[str]
) -> dict[tuple[str, bool, PaymentKind | None], CategoryLine]:
    """Return the latest choice by name, direction and kind of payment, of the latest forty of a name; one statement."""
    choices: dict[tuple[str, bool, PaymentKind | None], CategoryLine] = {}
    rows = fetch_history_rows(COMPARED_SQL, company=company, keys=json.dumps(list(names)))
    for name, category_id, pl_type, _account_id, amount, description, _categorization_id in rows:
        kind = find_payment_kind(from_to=name, description=description, is_incoming=amount > 0)
        choices.setdefault((name, amount > 0, kind), (category_id, pl_type))
    return choices


def is_short_revenue_history(proposals: list[CategoryProposal]) -> bool:
    """Whether a few payments of a customer suggest the likely category of revenue.

    A customer pays for several things, so that they say little of a payment for something else.
    """
    return (
        is_first_likely(proposals)
        and proposals[0].kind == COUNTERPARTY
        and proposals[0].categorization.pl_type == "revenue"
        and proposals[0].seen < MIN_CERTAIN_COUNT
    )


def is_first_likely(proposals: list[CategoryProposal]) -> bool:
    return bool(proposals) and proposals[0].is_likely


def list_category_options(company: Company) -> list[CategoryOption]:
    """Return the categories that may fit a kind of payment, in display order; one statement."""
    rows = Category.objects.for_company(company.id).in_display_order()
    return [
        CategoryOption(row_id, name, system_key, tuple(pl_types))
        for row_id, name, system_key, pl_types in rows.values_list("id", "name", "system_key", "pl_types")
    ]


def count_kinds_without_category(
    company: Company, texts: Iterable[tuple[str, str, bool]], kinds: Iterable[PaymentKind]
) -> dict[PaymentKind, int]:
    """Return the number of payments of those kinds that no category of the company fits, in the order of the kinds.

    Until it is used, the category for everything in the office fits none of them.

    Args:
        texts: from/to, description and whether money came in, of the payments.
    """
    options = list_category_options(company)
    category_by_kind = {kind: find_kind_category(kind, options) for kind in kinds}
    general_ids = {option.id for option in options if option.system_key == GENERAL_SYSTEM_KEY}
    if Categorization.objects.for_company(company.id).filter(category__in=general_ids).exists():
        general_ids = set()
    lacking = [kind for kind, line in category_by_kind.items() if line is None or line[0] in general_ids]
    if not lacking:
        return {}
    counts = Counter(
        find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming)
        for from_to, description, is_incoming in texts
    )
    return {kind: counts[kind] for kind in lacking if counts[kind]}
