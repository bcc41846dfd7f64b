"""The tax rates of suggested categories: from the history of the counterparty, else the company's standard VAT rate."""

from collections.abc import Iterable
from uuid import UUID

from companies.models import Company
from ledger.models import Transaction
from ledger.rules.calc.category_proposals import OWN, CategoryProposal
from ledger.rules.calc.countries import find_company_countries
from ledger.rules.calc.payment_kind_matcher import find_payment_kind
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.calc.standard_tax import (
    TaxBasis,
    TaxSettings,
    TaxSuggestion,
    choose_stated_tax,
    find_standard_tax,
    find_stated_percents,
)
from ledger.rules.queries.history_proposals import ProposalSubject
from ledger.rules.queries.usual_taxes import find_usual_tax_percentages


def add_suggested_taxes(
    company: Company,
    subjects: Iterable[ProposalSubject],
    proposals_by_id: dict[UUID, list[CategoryProposal]],
) -> dict[UUID, list[CategoryProposal]]:
    """Return the proposals with tax rates; one statement.

    An earlier transaction of the counterparty with the category decides, also where it included none; where it included
    tax, a rate that the text states comes first. The others have a rate only in companies with a standard VAT rate.
    """
    subjects_by_id = {subject.id: subject for subject in subjects}
    percents = find_usual_tax_percentages(
        company,
        [
            (row_id, proposal.categorization.choice)
            for row_id, proposals in proposals_by_id.items()
            for proposal in proposals
            if proposal.kind != OWN
        ],
    )
    settings = get_tax_settings(company)
    kinds = {
        row_id: find_payment_kind(
            from_to=subject.from_to, description=subject.description, is_incoming=subject.is_incoming
        )
        for row_id, subject in subjects_by_id.items()
        if settings
    }

    def find_tax(row_id: UUID, proposal: CategoryProposal) -> TaxSuggestion | None:
        choice, subject = proposal.categorization.choice, subjects_by_id.get(row_id)
        if (row_id, choice) in percents:
            past_tax = TaxSuggestion(percents[row_id, choice], TaxBasis.HISTORY)
            stated_percents = find_stated_percents(f"{subject.from_to} {subject.description}") if subject else ()
            return choose_stated_tax(stated_percents) if stated_percents and past_tax.percent else past_tax
        if settings is None or subject is None:
            return None
        return find_standard_tax(
            settings,
            from_to=subject.from_to,
            description=subject.description,
            is_incoming=subject.is_incoming,
            pl_type=proposal.categorization.pl_type,
            kind=kinds[row_id],
        )

    return {
        row_id: [proposal.with_tax(find_tax(row_id, proposal)) for proposal in proposals]
        for row_id, proposals in proposals_by_id.items()
    }


def suggest_customer_taxes(company: Company, rows: Iterable[Transaction]) -> dict[UUID, TaxSuggestion]:
    """Return the tax of payments by customers whose texts do not say for what, as revenue, by transaction id."""
    settings = get_tax_settings(company)
    if settings is None:
        return {}
    taxes: dict[UUID, TaxSuggestion] = {}
    for row in rows:
        texts = {"from_to": row.from_to, "description": row.description}
        is_incoming = row.amount_value > 0
        kind = find_payment_kind(**texts, is_incoming=is_incoming)
        if kind == PaymentKind.CUSTOMER_PAYMENT and (
            tax := find_standard_tax(settings, **texts, is_incoming=is_incoming, pl_type="revenue", kind=kind)
        ):
            taxes[row.id] = tax
    return taxes


def get_tax_settings(company: Company) -> TaxSettings | None:
    """Return what standard taxes are suggested by; None for a company without a standard VAT rate, or with 0."""
    if not company.standard_tax_percent:
        return None
    return TaxSettings(company.standard_tax_percent, find_company_countries(company.name, company.time_zone))
