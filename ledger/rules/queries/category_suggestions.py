"""Suggested categories for review: from the company's history, else from the kind of payment that the texts say."""

from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.models import Category
from ledger.rules.calc.category_proposals import (
    COUNTERPARTY,
    MAX_PROPOSALS,
    CategoryProposal,
    build_payment_kind_proposal,
)
from ledger.rules.calc.kind_categories import CategoryOption, find_kind_category
from ledger.rules.calc.payment_kinds import KIND_CONFIDENCE, SINGLE_TAXES, PaymentKind, find_payment_kind
from ledger.rules.queries.history_proposals import list_proposal_subjects, propose_categories
from ledger.rules.queries.usual_taxes import find_usual_tax_percentages


def suggest_categories(company: Company, transaction_ids: list[UUID]) -> dict[UUID, list[CategoryProposal]]:
    """Return suggestions by transaction id, the best first, without unknown ids.

    Where the history has no likely category, that of the kind of payment comes first. Suggestions from the history of
    a counterparty have the tax rate of its latest transaction. Three more statements than ``propose_categories``.
    """
    proposals_by_id = add_usual_taxes(company, propose_categories(company, transaction_ids))
    unsure_ids = [
        row_id for row_id, proposals in proposals_by_id.items() if get_confidence(proposals) < KIND_CONFIDENCE
    ]
    if not unsure_ids:
        return proposals_by_id
    options = list_category_options(company)
    for subject in list_proposal_subjects(company, unsure_ids):
        kind = find_payment_kind(
            from_to=subject.from_to, description=subject.description, is_incoming=subject.is_incoming
        )
        # A tax office has one name for all taxes, so that one earlier payment says little of the next.
        if is_first_likely(proposals_by_id[subject.id]) and kind not in SINGLE_TAXES:
            continue
        choice = find_kind_category(kind, options) if kind and not is_day_closed(company, subject.date) else None
        if kind and choice:
            others = [each for each in proposals_by_id[subject.id] if each.categorization.choice != choice]
            proposals = [build_payment_kind_proposal(kind, choice), *others]
            proposals_by_id[subject.id] = proposals[:MAX_PROPOSALS]
    return proposals_by_id


def add_usual_taxes(
    company: Company, proposals_by_id: dict[UUID, list[CategoryProposal]]
) -> dict[UUID, list[CategoryProposal]]:
    """Return the proposals with the tax rates that earlier transactions of the counterparties included."""
    percents = find_usual_tax_percentages(
        company,
        [
            (row_id, proposal.categorization.choice)
            for row_id, proposals in proposals_by_id.items()
            for proposal in proposals
            if proposal.kind == COUNTERPARTY
        ],
    )
    return {
        row_id: [proposal.with_tax(percents.get((row_id, proposal.categorization.choice))) for proposal in proposals]
        for row_id, proposals in proposals_by_id.items()
    }


def get_confidence(proposals: list[CategoryProposal]) -> Decimal:
    """Return the confidence of the first suggestion; 0 without any."""
    return proposals[0].confidence if proposals else Decimal(0)


def is_first_likely(proposals: list[CategoryProposal]) -> bool:
    return bool(proposals) and proposals[0].is_likely


def list_category_options(company: Company) -> list[CategoryOption]:
    """Return the categories that may fit a kind of payment, in display order; one statement."""
    rows = Category.objects.for_company(company.id).in_display_order()
    return [
        CategoryOption(row_id, name, system_key, tuple(pl_types))
        for row_id, name, system_key, pl_types in rows.values_list("id", "name", "system_key", "pl_types")
    ]


def find_kinds_without_category(
    company: Company, texts: Iterable[tuple[str, str, bool]], kinds: Iterable[PaymentKind]
) -> list[PaymentKind]:
    """Return those of the kinds that payments have and no category of the company fits.

    Args:
        texts: from/to, description and whether money came in, of the payments.
    """
    options = list_category_options(company)
    lacking = [kind for kind in kinds if find_kind_category(kind, options) is None]
    if not lacking:
        return []
    present = {
        find_payment_kind(from_to=from_to, description=description, is_incoming=is_incoming)
        for from_to, description, is_incoming in texts
    }
    return [kind for kind in lacking if kind in present]
