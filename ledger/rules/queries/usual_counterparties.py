"""The counterparty of a transaction that a person categorizes without naming one."""

from uuid import UUID

from companies.models import Company
from ledger.categorization.queries.references import find_settled_counterparties
from ledger.models import Transaction
from ledger.rules.calc.category_proposals import COUNTERPARTY, OWN, TEXT, CategoryLine
from ledger.rules.calc.rule_matcher import MatchInput
from ledger.rules.queries.counterparty_names import CounterpartyNames, build_counterparty
from ledger.rules.queries.history_proposals import propose_categories


def find_usual_counterparty(company: Company, transaction: Transaction, choice: CategoryLine) -> UUID | None:
    """Return the counterparty that the history of the name suggests, first with the chosen category, else the known
    one that From / To names, else that of the chosen suggestion by a similar text. None for own transfers, and where
    the transaction settles something, whose counterparty it gets.
    """
    if find_settled_counterparties(company_id=company.id, transaction_ids=[transaction.id]):
        return None
    proposals = propose_categories(company, [transaction.id]).get(transaction.id, [])
    if any(proposal.kind == OWN for proposal in proposals):
        return None
    proposals.sort(key=lambda proposal: proposal.categorization.choice != choice)
    by_name = [proposal.categorization.counterparty_id for proposal in proposals if proposal.kind == COUNTERPARTY]
    if usual_id := next(filter(None, by_name), None):
        return usual_id
    if named_id := find_named_counterparty(company, transaction):
        return named_id
    by_text = (
        proposal.categorization.counterparty_id
        for proposal in proposals
        if proposal.kind == TEXT and proposal.categorization.choice == choice
    )
    return next(by_text, None)


def find_named_counterparty(company: Company, transaction: Transaction) -> UUID | None:
    """Return the known counterparty that From / To names."""
    named = build_counterparty(
        MatchInput(
            transaction.from_to,
            transaction.description,
            transaction.amount_value,
            transaction.amount_currency,
            transaction.account_id,
        )
    )
    return CounterpartyNames(company).find_id(named) if named else None
